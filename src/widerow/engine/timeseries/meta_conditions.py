"""Conditions on metas: whether one holds, and with what keys begin that it can hold for."""

from collections.abc import Callable, Mapping
from operator import eq, ge, gt, le, lt
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.limits import SERIES_CONDITION_DEPTH_MAX
from widerow.model.timeseries.requests import (
    AllOf,
    AnyOf,
    MetaComparator,
    MetaCondition,
    MetaField,
    MetaMatch,
    NotThis,
)
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesMeta

__all__ = ["check_condition", "holds", "leading_text"]

_COMPARE: Final[Mapping[MetaComparator, Callable[[Any, Any], bool]]] = {
    MetaComparator.EQUAL: eq,
    MetaComparator.GREATER_THAN: gt,
    MetaComparator.GREATER_EQUAL: ge,
    MetaComparator.LESS_THAN: lt,
    MetaComparator.LESS_EQUAL: le,
    MetaComparator.PREFIX: str.startswith,
}


def check_condition(condition: MetaCondition, depth: int = 1) -> None:
    """Raise `InvalidRequest` for a condition that compares what cannot be compared, or is empty."""
    if depth > SERIES_CONDITION_DEPTH_MAX:
        raise InvalidRequest(TimeseriesRule.META_CONDITION, depth=depth)
    if isinstance(condition, NotThis):
        check_condition(condition.part, depth + 1)
    elif isinstance(condition, MetaMatch):
        is_time = condition.field is MetaField.UPDATE_TIME
        is_prefix = condition.comparator is MetaComparator.PREFIX
        if (is_time and is_prefix) or is_time != isinstance(condition.value, int):
            raise InvalidRequest(TimeseriesRule.META_CONDITION, field=condition.field.name)
    else:
        if not condition.parts:
            raise InvalidRequest(TimeseriesRule.META_CONDITION, parts=0)
        for part in condition.parts:
            check_condition(part, depth + 1)


def holds(condition: MetaCondition, meta: SeriesMeta) -> bool:
    """Whether a checked condition holds for a meta. Texts compare as their UTF-8 bytes do."""
    if isinstance(condition, MetaMatch):
        found = _compared(condition, meta)
        return found is not None and _COMPARE[condition.comparator](found, condition.value)
    if isinstance(condition, NotThis):
        return not holds(condition.part, meta)
    if isinstance(condition, AllOf):
        return all(holds(part, meta) for part in condition.parts)
    return any(holds(part, meta) for part in condition.parts)


def _compared(condition: MetaMatch, meta: SeriesMeta) -> str | int | None:
    """What a comparison looks at; None for a tag or an attribute that is not there."""
    field = condition.field
    if field is MetaField.MEASUREMENT:
        return meta.key.measurement
    if field is MetaField.SOURCE:
        return meta.key.source
    if field is MetaField.UPDATE_TIME:
        return meta.updated_us
    pairs = meta.key.tags if field is MetaField.TAG else meta.attributes
    return dict(pairs).get(condition.name)


def leading_text(condition: MetaCondition | None) -> str:
    """What the canonical keys of all metas begin with that a condition can hold for.

    An equality or a prefix of the measurement, and behind an equality that of the data source.
    """
    if isinstance(condition, MetaMatch):
        return _leading((condition,))
    if isinstance(condition, AllOf):
        inner = [leading_text(part) for part in condition.parts if not isinstance(part, MetaMatch)]
        matches = [part for part in condition.parts if isinstance(part, MetaMatch)]
        return max([*inner, _leading(matches)], key=len)
    if isinstance(condition, AnyOf):
        return _common([leading_text(part) for part in condition.parts])
    return ""


def _leading(matches: "list[MetaMatch] | tuple[MetaMatch, ...]") -> str:
    found = ""
    for field in (MetaField.MEASUREMENT, MetaField.SOURCE):
        known = {each.comparator: str(each.value) for each in matches if each.field is field}
        if MetaComparator.EQUAL not in known:
            return found + known.get(MetaComparator.PREFIX, "")
        found += known[MetaComparator.EQUAL] + "\0"
    return found


def _common(texts: list[str]) -> str:
    """The longest text that all of these begin with."""
    low, high = min(texts), max(texts)
    size = next((at for at, each in enumerate(low) if each != high[at : at + 1]), len(low))
    return low[:size]
