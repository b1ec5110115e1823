"""The group of each value, as a number that ascends with the group's key (search §6.3)."""

from collections.abc import Callable, Sequence
from ipaddress import IPv6Address
from typing import Any, Final, NamedTuple, assert_never

import numpy as np

from widerow.errors import InvalidRequest
from widerow.limits import GEO_GRID_PRECISION_DEFAULT, GROUPS_MAX
from widerow.model.search.aggregation import (
    DateHistogramGroupBy,
    FieldGroupBy,
    GeoGridGroupBy,
    HistogramGroupBy,
)
from widerow.model.search.schema import SearchField, SearchFieldType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.search.interface import Integers
from widerow.search.results.breakdown_rules import group_kind
from widerow.search.results.field_rules import NUMBERS, TERMS, aggregated_field
from widerow.search.results.geohash import cells, geohash
from widerow.search.results.grouping import Grouping
from widerow.search.results.groups.calendar import Calendar, calendar_of
from widerow.search.results.metrics import NS_PER_MS
from widerow.search.results.scope import Scope

__all__ = ["Coded", "Keyed", "coded", "group_key_text"]

_T = SearchFieldType
_GROUPED: Final = (*NUMBERS, _T.BOOLEAN, _T.DATE, *TERMS)
_CODES_MAX: Final = 2**62
_Number = Any  # a number, or an array of numbers
_Edges = tuple[int | None, int | None]

Keyed = FieldGroupBy | HistogramGroupBy | DateHistogramGroupBy | GeoGridGroupBy


class Coded(NamedTuple):
    """Entries of a level with the codes of their groups.

    An entry comes once for each of its groups; entries ascend; None: each entry once. `key`: the
    key of a code. `span`: the first and last code of a bounded histogram. `mark`: the form of a key
    in tokens, ordered as codes are; None: the key itself.
    """

    level: Grouping
    entries: Integers | None
    codes: Integers
    key: Callable[[int], Value]
    span: tuple[int, int] | None = None
    mark: Callable[[int], Value] | None = None


def coded(scope: Scope, asked: Keyed) -> Coded:
    """The entries and codes of a group-by. Raises `InvalidRequest`."""
    match asked:
        case FieldGroupBy():
            found = _by_value(scope, asked)
        case HistogramGroupBy():
            found = _by_width(scope, asked)
        case DateHistogramGroupBy():
            found = _by_time(scope, asked)
        case GeoGridGroupBy():
            found = _by_cell(scope, asked)
        case _:
            assert_never(asked)
    return _once(found)


def group_key_text(key: Value) -> str:
    """A key as text: numbers as short as possible, booleans as `true` and `false`."""
    if isinstance(key, bool):
        return "true" if key else "false"
    return key if isinstance(key, str) else repr(key)


def _once(found: Coded) -> Coded:
    """`found`, with each entry only once in each group, even if several values lead there."""
    entries = found.entries
    if entries is None or not (entries[1:] == entries[:-1]).any():
        if entries is not None and (entries[1:] < entries[:-1]).any():
            order = np.argsort(entries, kind="stable")
            return found._replace(entries=entries[order], codes=found.codes[order])
        return found
    least, kinds = _span_of(found.codes)
    if kinds * found.level.entries > _CODES_MAX:
        distinct, dense = np.unique(found.codes, return_inverse=True)
        pairs = _distinct(entries * len(distinct) + dense)
        entries, places = np.divmod(pairs, len(distinct))
        return found._replace(entries=entries, codes=distinct[places])
    pairs = _distinct(entries * kinds + (found.codes - least))
    entries = pairs // kinds
    return found._replace(entries=entries, codes=pairs - entries * kinds + least)


def _span_of(codes: Integers) -> tuple[int, int]:
    """The smallest code, and how many there are up to the largest."""
    least = int(codes.min())
    return least, int(codes.max()) - least + 1


def _distinct(numbers: Integers) -> Integers:
    """The distinct numbers, ascending."""
    ordered = np.sort(numbers)
    first = np.ones(len(ordered), np.bool_)
    first[1:] = ordered[1:] != ordered[:-1]
    return ordered[first]


def _by_value(scope: Scope, asked: FieldGroupBy) -> Coded:
    field = aggregated_field(scope.context.rows, group_kind(asked), asked.field, _GROUPED)
    level, spread = scope.spread(asked.field)
    values = spread.values
    if spread.terms is not None:
        key, mark = _term_names(field, spread.terms)
        return Coded(level, spread.entries, values, key, mark=mark)
    if field.type is SearchFieldType.DATE:
        return Coded(level, spread.entries, values // NS_PER_MS, lambda code: code)
    if field.type is SearchFieldType.BOOLEAN:
        return Coded(level, spread.entries, values.astype(np.int64), bool)
    if field.type is SearchFieldType.LONG:
        return Coded(level, spread.entries, values, lambda code: code)
    found, codes = np.unique(values, return_inverse=True)
    return Coded(level, spread.entries, codes, lambda code: float(found[code]))


def _term_names(
    field: SearchField, terms: Sequence[bytes]
) -> tuple[Callable[[int], str], Callable[[int], str] | None]:
    """Functions from a term's code to its key in answers, and to its form in tokens."""
    if field.type is not SearchFieldType.IP:
        return (lambda code: str(terms[code], "utf-8")), None
    return (lambda code: _address(bytes(terms[code]))), (lambda code: bytes(terms[code]).hex())


def _address(packed: bytes) -> str:
    """The text of an address of 16 bytes; of a mapped IPv4 address in the form of IPv4."""
    address = IPv6Address(packed)
    return str(address.ipv4_mapped or address)


def _by_width(scope: Scope, asked: HistogramGroupBy) -> Coded:
    kind = group_kind(asked)
    field = aggregated_field(scope.context.rows, kind, asked.field, NUMBERS)
    interval = _number(scope, asked.field, asked.interval)
    offset = 0 if asked.offset is None else _number(scope, asked.field, asked.offset)
    if not interval > 0 or not -_CODES_MAX < offset < _CODES_MAX:
        raise InvalidRequest(TablestoreRule.GROUP_INTERVAL, kind=kind)
    level, spread = scope.filled(asked.field, asked.missing)
    if field.type is SearchFieldType.LONG and spread.values.dtype == np.int64:
        whole, shift = int(interval), int(offset) % int(interval)

        def code_of(value: _Number) -> _Number:
            return value // whole - (value % whole < shift)

        def key(code: int) -> _Number:
            return max(code * whole + shift, -(2**63))
    else:

        def code_of(value: _Number) -> _Number:
            return np.floor((value - offset) / interval)

        def key(code: int) -> _Number:
            return float(code * interval + offset)

    edges = _edges(kind, _field_range(scope, asked), code_of, key)
    entries, codes = _within(spread.entries, code_of(spread.values), edges)
    if len(codes) and not -_CODES_MAX < codes.min() <= codes.max() < _CODES_MAX:
        raise _too_many(kind)
    return Coded(level, entries, codes.astype(np.int64, copy=False), key, _span(kind, edges))


def _by_time(scope: Scope, asked: DateHistogramGroupBy) -> Coded:
    kind = group_kind(asked)
    aggregated_field(scope.context.rows, kind, asked.field, (SearchFieldType.DATE,))
    calendar: Calendar = calendar_of(asked)
    level, spread = scope.filled(asked.field, asked.missing)
    low, high = _field_range(scope, asked)
    bounds = (
        None if low is None else -(-low // NS_PER_MS),
        None if high is None else high // NS_PER_MS,
    )

    def code_of(moment: _Number) -> _Number:
        return calendar.codes(np.array([moment], np.int64))[0]

    edges = _edges(kind, bounds, code_of, calendar.start)
    entries, codes = _within(spread.entries, calendar.codes(spread.values // NS_PER_MS), edges)
    return Coded(level, entries, codes, calendar.start, _span(kind, edges))


def _by_cell(scope: Scope, asked: GeoGridGroupBy) -> Coded:
    kind = group_kind(asked)
    aggregated_field(scope.context.rows, kind, asked.field, (SearchFieldType.GEO_POINT,))
    precision = asked.precision or GEO_GRID_PRECISION_DEFAULT
    level, spread = scope.spread(asked.field)
    codes = cells(spread.values, precision)
    return Coded(level, spread.entries, codes, lambda code: geohash(code, precision))


def _number(scope: Scope, name: str, value: Value) -> int | float:
    """A number in a request, in the field's type."""
    literal = scope.context.rows.literal(name, value)
    assert isinstance(literal, int | float)  # the field's type is a number
    return literal


def _field_range(
    scope: Scope, asked: HistogramGroupBy | DateHistogramGroupBy
) -> tuple[_Number | None, _Number | None]:
    if asked.field_range is None:
        return None, None
    low, high = (
        None if bound is None else _number(scope, asked.field, bound) for bound in asked.field_range
    )
    if low is not None and high is not None and not low <= high:
        raise InvalidRequest(TablestoreRule.GROUP_RANGE, kind=group_kind(asked))
    return low, high


def _edges(
    kind: str,
    bounds: tuple[_Number | None, _Number | None],
    code_of: Callable[[_Number], _Number],
    key: Callable[[int], _Number],
) -> _Edges:
    """The first and the last code whose keys lie between two bounds, both inclusive."""
    low, high = (None if bound is None else float(code_of(bound)) for bound in bounds)
    if any(code is not None and not abs(code) < _CODES_MAX for code in (low, high)):
        raise _too_many(kind)
    first = None if low is None else int(code_of(bounds[0]))
    if first is not None and key(first) < bounds[0]:
        first += 1
    return first, None if high is None else int(code_of(bounds[1]))


def _within(
    entries: Integers | None, codes: Integers, edges: _Edges
) -> tuple[Integers | None, Integers]:
    """The entries and codes of the groups between two codes, both inclusive."""
    first, last = edges
    if first is None and last is None:
        return entries, codes
    kept = np.ones(len(codes), np.bool_)
    if first is not None:
        kept &= codes >= first
    if last is not None:
        kept &= codes <= last
    return np.flatnonzero(kept) if entries is None else entries[kept], codes[kept]


def _span(kind: str, edges: _Edges) -> tuple[int, int] | None:
    first, last = edges
    if first is None or last is None or first > last:
        return None
    if last - first > GROUPS_MAX:
        raise _too_many(kind)
    return first, last


def _too_many(kind: str) -> InvalidRequest:
    return InvalidRequest(TablestoreRule.GROUP_BUCKETS, kind=kind, maximum=GROUPS_MAX)
