"""Steps of paths: from the items that a path leads to, to those of the next one (ddl §3)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from widerow.errors import InvalidRequest
from widerow.wire.nosql.sql.items import RecordItem, inside, is_number
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.statement_rules import StatementRule
from widerow.wire.nosql.sql.texts import item_type_name

__all__ = ["elements", "entries", "field_items", "filtered", "map_members", "sliced"]

Holds = Callable[[Any, Any, Any], Sequence[Any]]
"""Items of a condition for a member: of its value, its key or position, and what it is in."""


def field_items(items: Sequence[Any], name: str) -> Sequence[Any]:
    """`.name` of each item: of records in any case, of maps and objects as written."""
    found: list[Any] = []
    for item in items:
        _field(item, name, found)
    return found


def _field(item: Any, name: str, found: list[Any]) -> None:  # noqa: ANN401  # any item
    if item is None:
        found.append(None)
    elif isinstance(item, RecordItem):
        if name in item:
            found.append(item[name])
        else:
            found += [item[each] for each in item if each.lower() == name.lower()]
    elif isinstance(item, Mapping):
        if name in item:
            found.append(inside(item, item[name]))
    elif isinstance(item, list):
        for each in item:
            _field(inside(item, each), name, found)


def entries(items: Sequence[Any]) -> Iterator[tuple[Any, Any, Any]]:
    """Key, value and container of each entry of maps and records; None three times for NULL."""
    for item in items:
        if item is None:
            yield None, None, None
        elif isinstance(item, Mapping):
            names = list(item) if isinstance(item, RecordItem) else sorted(item)
            for name in names:
                yield name, inside(item, item[name]), item
        elif isinstance(item, list):
            yield from entries([inside(item, each) for each in item])


def map_members(items: Sequence[Any], holds: Holds | None, *, keys: bool) -> Sequence[Any]:
    """`.keys(condition)` or `.values(condition)`."""
    found: list[Any] = []
    for key, value, container in entries(items):
        if key is None:
            found.append(None)
        elif holds is None or _true(holds(value, key, container)):
            found.append(key if keys else value)
    return found


def elements(item: Any) -> list[Any]:  # noqa: ANN401  # any item
    """The elements of an array; anything else is an array of itself."""
    return [inside(item, each) for each in item] if isinstance(item, list) else [item]


def filtered(items: Sequence[Any], holds: Holds, place: TextPlace) -> Sequence[Any]:
    """`[condition]`: elements that it is true for, or those at the positions that it gives."""
    found: list[Any] = []
    for item in items:
        if item is None:
            found.append(None)
            continue
        for at, element in enumerate(elements(item)):
            given = holds(element, at, item)
            if not given or given[0] is None:
                continue
            if given[0] is True or (_is_position(given[0]) and given[0] == at):
                found.append(element)
            elif not isinstance(given[0], bool) and not _is_position(given[0]):
                raise _wrong(given[0], place)
    return found


def _is_position(item: Any) -> bool:  # noqa: ANN401  # any item
    return isinstance(item, int) and not isinstance(item, bool)


def _wrong(item: Any, place: TextPlace) -> InvalidRequest:  # noqa: ANN401  # any item
    return InvalidRequest(
        StatementRule.STEP_PREDICATE,
        type=item_type_name(item),
        line=place.line,
        column=place.column,
    )


def sliced(
    items: Sequence[Any], low: Sequence[Any] | None, high: Sequence[Any] | None, place: TextPlace
) -> Sequence[Any]:
    """`[low : high]`, both positions inclusive; None: not given."""
    if _is_missing(low) or _is_missing(high):
        return ()
    first = 0 if low is None else max(0, _position(low[0], place))
    found: list[Any] = []
    for item in items:
        if item is None:
            found.append(None)
            continue
        array = elements(item)
        last = len(array) - 1 if high is None else _position(high[0], place)
        found += array[first : last + 1] if last >= first else []
    return found


def _is_missing(bound: Sequence[Any] | None) -> bool:
    return bound is not None and (not bound or bound[0] is None)


def _position(item: Any, place: TextPlace) -> int:  # noqa: ANN401  # any item
    if not is_number(item) or not isinstance(item, int):
        raise _wrong(item, place)
    return int(item)


def _true(items: Sequence[Any]) -> bool:
    return len(items) == 1 and items[0] is True
