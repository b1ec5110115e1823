"""Metrics: one number, or a few, for each group of a level (search §6.2)."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from widerow.errors import InvalidRequest
from widerow.limits import PERCENTILES_MAX
from widerow.model.search.aggregation import Metric, MetricKind, PercentilesMetric
from widerow.model.search.schema import SearchFieldType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.search.interface import Floats, Integers
from widerow.search.results.field_rules import NUMBERS, TERMS, aggregated_field
from widerow.search.results.grouping import Grouping, Spread, group_sizes
from widerow.search.results.scope import Scope
from widerow.search.results.sums import exact_sums

__all__ = ["COUNT_ALL", "NS_PER_MS", "metric_numbers", "percentile_values"]

COUNT_ALL: Final = "*"
"""Stands for a field: COUNT counts documents."""

NS_PER_MS: Final = 1_000_000
"""DATE values are kept in nanoseconds and answered in milliseconds (search §2.3)."""

_T = SearchFieldType
_ORDERED: Final = (*NUMBERS, _T.DATE)
_COUNTED: Final = (*NUMBERS, _T.BOOLEAN, _T.GEO_POINT, _T.DATE, *TERMS)
_KINDS: Final[dict[MetricKind, tuple[str, tuple[SearchFieldType, ...]]]] = {
    MetricKind.AVG: ("avg agg", _ORDERED),
    MetricKind.MAX: ("max agg", _ORDERED),
    MetricKind.MIN: ("min agg", _ORDERED),
    MetricKind.SUM: ("sum agg", NUMBERS),
    MetricKind.COUNT: ("count agg", _COUNTED),
    MetricKind.DISTINCT_COUNT: ("distinct count agg", _COUNTED),
}
_TABLE_MAX: Final = 1 << 23  # entries of a table; beyond that, values are sorted
_FLOAT_EXACT: Final = 2**53


def metric_numbers(scope: Scope, asked: Metric) -> Floats | Integers:
    """The metric of each group; search §6.2 says what a group without values has.

    Whole numbers for COUNT and DISTINCT_COUNT. Raises `InvalidRequest` for an unsuitable field.
    """
    if asked.field == COUNT_ALL and asked.kind is MetricKind.COUNT:
        return scope.level.counts()
    kind, allowed = _KINDS[asked.kind]
    field = aggregated_field(scope.context.rows, kind, asked.field, allowed)
    level, spread = scope.filled(asked.field, asked.missing)
    values = spread.values
    if field.type is SearchFieldType.DATE and asked.kind not in _WHOLE:
        values = values // NS_PER_MS
    groups = None if level.groups is None else level.group_numbers(spread.entries)
    return _COMPUTED[asked.kind](values, groups, level.size)


def _count(values: NDArray[Any], groups: Integers | None, size: int) -> Integers:
    return np.array([len(values)], np.int64) if groups is None else group_sizes(groups, size)


def _average(values: NDArray[Any], groups: Integers | None, size: int) -> Floats:
    counts = _count(values, groups, size)
    sums = exact_sums(values, groups, size)
    averages: Floats = np.divide(sums, counts, out=np.full(size, np.inf), where=counts > 0)
    return averages


def _largest(values: NDArray[Any], groups: Integers | None, size: int) -> Floats:
    largest = np.full(size, -np.inf)
    if groups is None:
        largest[0] = values.max() if len(values) else -np.inf
    else:
        np.maximum.at(largest, groups, values.astype(np.float64, copy=False))
    return largest


def _smallest(values: NDArray[Any], groups: Integers | None, size: int) -> Floats:
    smallest: Floats = -_largest(-values.astype(np.float64, copy=False), groups, size)
    return smallest


def _distinct(values: NDArray[Any], groups: Integers | None, size: int) -> Integers:
    if values.ndim > 1:  # points: equal if both numbers are
        values = values[:, 0] + 1j * values[:, 1]
    if _is_dense(values):
        codes, kinds = values, int(values.max()) + 1
    elif groups is None:
        return np.array([len(np.unique(values))], np.int64)
    else:
        found, codes = np.unique(values, return_inverse=True)
        kinds = max(len(found), 1)
    places = codes if groups is None else groups * kinds + codes
    if size * kinds > max(_TABLE_MAX, len(places)):
        return group_sizes(np.unique(places) // kinds, size)
    seen = np.zeros(size * kinds, np.bool_)
    seen[places] = True
    return group_sizes(np.flatnonzero(seen) // kinds, size)


def _is_dense(values: NDArray[Any]) -> bool:
    """Whether values are small integers, which can be told apart without sorting."""
    if values.dtype != np.int64 or len(values) == 0:
        return False
    return int(values.min()) >= 0 and int(values.max()) < _TABLE_MAX


_WHOLE: Final = (MetricKind.COUNT, MetricKind.DISTINCT_COUNT)
_Computation = Callable[[NDArray[Any], Integers | None, int], Floats | Integers]
_COMPUTED: Final[dict[MetricKind, _Computation]] = {
    MetricKind.AVG: _average,
    MetricKind.MAX: _largest,
    MetricKind.MIN: _smallest,
    MetricKind.SUM: exact_sums,
    MetricKind.COUNT: _count,
    MetricKind.DISTINCT_COUNT: _distinct,
}


def percentile_values(
    scope: Scope, asked: PercentilesMetric
) -> list[tuple[tuple[float, Value], ...]]:
    """For each group, the percentages, ascending, with their values; empty without values.

    Interpolated linearly at the place q / 100 · n − 1/2 of n values. For LONG and DATE truncated to
    integers; for DATE in milliseconds. Raises `InvalidRequest`.
    """
    shares = sorted(set(asked.percentiles))
    if not 1 <= len(asked.percentiles) <= PERCENTILES_MAX:
        raise InvalidRequest(TablestoreRule.AGG_PERCENTILES)
    if not all(0 <= share <= 100 for share in shares):
        raise InvalidRequest(TablestoreRule.AGG_PERCENTILES)
    field = aggregated_field(scope.context.rows, "percentiles agg", asked.field, _ORDERED)
    level, spread = scope.filled(asked.field, asked.missing)
    values, counts = _sorted_in_groups(level, spread)
    stops = np.cumsum(counts)
    scale = NS_PER_MS if field.type is SearchFieldType.DATE else 1
    whole = field.type is not SearchFieldType.DOUBLE
    return [
        tuple(
            (
                share,
                _between(values, stop - count, count, share, scale)
                if whole
                else _between_floats(values, stop - count, count, share),
            )
            for share in (shares if count else ())
        )
        for stop, count in zip(stops.tolist(), counts.tolist(), strict=True)
    ]


def _sorted_in_groups(level: Grouping, spread: Spread) -> tuple[NDArray[Any], Integers]:
    if level.groups is None:
        return np.sort(spread.values), np.array([len(spread.values)], np.int64)
    groups = level.group_numbers(spread.entries)
    return spread.values[np.lexsort((spread.values, groups))], group_sizes(groups, level.size)


def _place(count: int, share: float) -> tuple[int, float]:
    place = min(max(share / 100 * count - 0.5, 0.0), count - 1.0)
    return int(place), place - int(place)


def _between_floats(values: NDArray[Any], start: int, count: int, share: float) -> float:
    place, part = _place(count, share)
    lower = float(values[start + place])
    upper = float(values[start + min(place + 1, count - 1)])
    return lower * (1 - part) + upper * part if part else lower


def _between(values: NDArray[Any], start: int, count: int, share: float, scale: int) -> int:
    place, part = _place(count, share)
    lower = int(values[start + place])
    upper = int(values[start + min(place + 1, count - 1)])
    if max(abs(lower), abs(upper)) < _FLOAT_EXACT:
        return int((lower + (upper - lower) * part) / scale)
    return int((lower + (upper - lower) * Fraction(part)) / scale)
