"""Queries that look values up: terms, ranges, prefixes, wildcards, existence (search §4.1)."""

import math
from collections.abc import Callable, Sequence
from ipaddress import ip_network
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widerow.errors import InvalidRequest
from widerow.limits import (
    INT64_MAX,
    INT64_MIN,
    SEARCH_PREFIX_BYTES_MAX,
    SEARCH_TERMS_MAX,
    SEARCH_WILDCARD_CHARACTERS_MAX,
)
from widerow.model.search.query import (
    PrefixQuery,
    RangeQuery,
    SuffixQuery,
    TermsQuery,
    WildcardQuery,
)
from widerow.model.search.schema import SearchFieldType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.search.columns import TermColumn, TextColumn, ValueColumn
from widerow.search.conversion import address_bytes
from widerow.search.fields import FUZZY_TYPES, KEYWORD_TYPES, NUMBER_TYPES, TERM_TYPES, IndexedField
from widerow.search.interface import Booleans, Integers
from widerow.search.queries.node import NO_MATCH, Asked, Matched, Node, NoneNode, hits
from widerow.search.queries.values import asked_number, asked_term, refused_type, refused_value
from widerow.search.queries.wildcards import Wildcard
from widerow.search.segments import TableView
from widerow.search.terms import SortedTerms

__all__ = [
    "ExistsNode",
    "LookupNode",
    "Span",
    "exact",
    "prefix_node",
    "range_node",
    "suffix_node",
    "terms_node",
    "wildcard_node",
]

_Type = SearchFieldType
_BETWEEN_CHECKS: Final = 4096  # terms looked at one by one


class Span(NamedTuple):
    """A range of terms, or terms with certain numbers."""

    first: int
    beyond: int
    numbers: Integers | None = None


_FindTerms = Callable[[SortedTerms], Span]
_FindValues = Callable[[NDArray[Any]], Booleans]


class LookupNode(Node):
    """Documents with a value that `find` accepts."""

    def __init__(
        self,
        tables: list[TableView],
        field: IndexedField,
        find: _FindTerms | _FindValues,
    ) -> None:
        """`find` gets the terms of a field with terms, else the values."""
        self._tables = tables
        self._field = field
        self._find: Callable[[Any], Any] = find

    def run(self, at: int) -> Matched:
        """The documents of a segment."""
        table = self._tables[at]
        column = table.table.column(self._field)
        if isinstance(column, TermColumn | TextColumn):
            return _documents(column, self._find(column.terms), table.count)
        assert isinstance(column, ValueColumn)
        return Matched(None, column.owned(self._find(column.values)))


def _documents(column: TermColumn | TextColumn, span: Span, count: int) -> Matched:
    """The documents of a span of terms; of one term of a keyword, as ascending numbers."""
    if span.numbers is not None:
        return hits(column.documents_of(span.numbers), count) if len(span.numbers) else NO_MATCH
    if span.first >= span.beyond:
        return NO_MATCH
    found = column.documents(span.first, span.beyond)
    if isinstance(column, TermColumn) and span.beyond - span.first == 1:
        return Matched(found.astype(np.int64))
    return hits(found, count)


class ExistsNode(Node):
    """Documents with a value of a field."""

    def __init__(self, tables: list[TableView], field: IndexedField) -> None:
        self._tables = tables
        self._field = field

    def run(self, at: int) -> Matched:
        """The documents of a segment."""
        return Matched(None, self._tables[at].table.column(self._field).existing())


# --- what is looked for ------------------------------------------------------------------------


def exact(field: IndexedField, values: tuple[Value, ...]) -> _FindTerms | _FindValues:
    """A function that finds any of `values`. Raises `InvalidRequest` for impossible values."""
    if field.type in NUMBER_TYPES:
        return _equal_numbers(field, values)
    if field.type is _Type.IP:
        ranges = [_addresses(field, value) for value in values]
        return lambda terms: _in_ranges(terms, ranges)
    if field.type not in FUZZY_TYPES:
        raise refused_type(field, "TERM")
    wanted = sorted({asked_term(field, value) for value in values})
    return lambda terms: _among(terms, wanted)


def _among(terms: SortedTerms, wanted: list[bytes]) -> Span:
    numbers = [number for term in wanted if (number := terms.find(term)) is not None]
    if len(numbers) == 1:
        return Span(numbers[0], numbers[0] + 1)
    return Span(0, 0, np.array(numbers, dtype=np.int64))


def _equal_numbers(field: IndexedField, values: tuple[Value, ...]) -> _FindValues:
    asked = [asked_number(field, value) for value in values]
    if field.type is _Type.DOUBLE:
        wanted = np.array(asked, dtype=np.float64)
    else:  # a value that no LONG can have matches nothing
        whole = [int(each) for each in asked if math.isfinite(each) and each == int(each)]
        wanted = np.array([n for n in whole if INT64_MIN <= n <= INT64_MAX], dtype=np.int64)
    if len(wanted) == 1:
        return lambda stored: np.asarray(stored == wanted[0])
    return lambda stored: np.isin(stored, wanted)


def _addresses(field: IndexedField, value: Value) -> tuple[bytes, bytes]:
    """The first and the last address of an address, or of a network."""
    if isinstance(value, str) and "/" in value:
        try:
            network = ip_network(value, strict=False)
        except ValueError:
            raise refused_value(field, value) from None
        first = address_bytes(str(network.network_address))
        last = address_bytes(str(network.broadcast_address))
        assert first is not None
        assert last is not None
        return first, last
    address = asked_term(field, value)
    return address, address


def _in_ranges(terms: SortedTerms, ranges: list[tuple[bytes, bytes]]) -> Span:
    spans = [_between(terms, first, last) for first, last in ranges]
    if len(spans) == 1:
        return spans[0]
    numbers = [np.arange(each.first, max(each.beyond, each.first)) for each in spans]
    return Span(0, 0, np.unique(np.concatenate(numbers)) if numbers else np.zeros(0, np.int64))


def _between(terms: SortedTerms, first: bytes, last: bytes) -> Span:
    beyond = terms.place(last)
    if beyond < len(terms) and terms[beyond] == last:
        beyond += 1
    return Span(terms.place(first), beyond)


def terms_node(asked: TermsQuery, field: IndexedField, tables: list[TableView]) -> Node:
    """TermsQuery: any of at most SEARCH_TERMS_MAX values."""
    if len(asked.terms) > SEARCH_TERMS_MAX:
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_TERMS, count=len(asked.terms))
    if not asked.terms:
        return NoneNode()
    return LookupNode(tables, field, exact(field, asked.terms))


# --- ranges ------------------------------------------------------------------------------------


def range_node(asked: RangeQuery, field: IndexedField, tables: list[TableView]) -> Node:
    """RangeQuery; without bounds every document that has a value."""
    if asked.start is None and asked.stop is None:
        return ExistsNode(tables, field)
    if field.type in NUMBER_TYPES:
        return LookupNode(tables, field, _number_range(asked, field))
    if field.type not in TERM_TYPES and field.type is not _Type.TEXT:
        raise refused_type(field, "RANGE")
    start = None if asked.start is None else asked_term(field, asked.start)
    stop = None if asked.stop is None else asked_term(field, asked.stop)

    def find(terms: SortedTerms) -> Span:
        first, beyond = 0, len(terms)
        if start is not None:
            first = _after(terms, start) if not asked.include_start else terms.place(start)
        if stop is not None:
            beyond = _after(terms, stop) if asked.include_stop else terms.place(stop)
        return Span(first, beyond)

    return LookupNode(tables, field, find)


def _after(terms: SortedTerms, term: bytes) -> int:
    at = terms.place(term)
    return at + 1 if at < len(terms) and terms[at] == term else at


def _number_range(asked: RangeQuery, field: IndexedField) -> _FindValues:
    start = None if asked.start is None else asked_number(field, asked.start)
    stop = None if asked.stop is None else asked_number(field, asked.stop)
    if field.type is _Type.DOUBLE:
        return _float_range(asked, start, stop)
    low, high = INT64_MIN, INT64_MAX
    if start is not None:
        low = _whole(start, up=True)
        low += not asked.include_start and low == start
    if stop is not None:
        high = _whole(stop, up=False)
        high -= not asked.include_stop and high == stop
    if low > INT64_MAX or high < INT64_MIN or low > high:
        return lambda stored: np.zeros(len(stored), dtype=np.bool_)
    low, high = max(low, INT64_MIN), min(high, INT64_MAX)

    def find(stored: NDArray[Any]) -> Booleans:
        found = stored >= low
        if high < INT64_MAX:
            found &= stored <= high
        return np.asarray(found)

    return find


def _whole(number: float, *, up: bool) -> int:
    """The number rounded up or down; beyond every number of 64 bits if infinite."""
    if isinstance(number, int):
        return number
    if math.isinf(number):
        return 2**64 if number > 0 else -(2**64)
    return math.ceil(number) if up else math.floor(number)


def _float_range(asked: RangeQuery, start: float | None, stop: float | None) -> _FindValues:
    def find(stored: NDArray[Any]) -> Booleans:
        found: Any = np.ones(len(stored), dtype=np.bool_)
        if start is not None:
            found = stored >= start if asked.include_start else stored > start
        if stop is not None:
            found &= stored <= stop if asked.include_stop else stored < stop
        return np.asarray(found)

    return find


# --- forms of terms ----------------------------------------------------------------------------


def prefix_node(asked: PrefixQuery, field: IndexedField, tables: list[TableView]) -> Node:
    """PrefixQuery: values, or tokens, which are not analysed."""
    prefix = _bounded(asked.prefix)
    if field.type not in FUZZY_TYPES:
        raise refused_type(field, "PREFIX")
    return LookupNode(tables, field, lambda terms: Span(*terms.beginning_with(prefix)))


def suffix_node(asked: SuffixQuery, field: IndexedField, tables: list[TableView]) -> Node:
    """SuffixQuery: values of keywords that end with a text."""
    suffix = _bounded(asked.suffix)
    if field.type not in KEYWORD_TYPES:
        raise refused_type(field, "SUFFIX")

    def find(terms: SortedTerms) -> Span:
        if not suffix:
            return Span(0, len(terms))
        candidates = terms.containing(suffix).tolist()
        numbers = [number for number in candidates if terms[number].endswith(suffix)]
        return Span(0, 0, np.array(numbers, dtype=np.int64))

    return LookupNode(tables, field, find)


def _bounded(text: str) -> bytes:
    encoded = text.encode(errors="replace")
    if len(encoded) > SEARCH_PREFIX_BYTES_MAX:
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_PREFIX, count=len(encoded))
    return encoded


def wildcard_node(
    asked: WildcardQuery, field: IndexedField, tables: list[TableView], run: Asked
) -> Node:
    """WildcardQuery: whole values of keywords, or tokens."""
    if len(asked.value) > SEARCH_WILDCARD_CHARACTERS_MAX:
        raise InvalidRequest(
            TablestoreRule.SEARCH_QUERY_WILDCARD, limit=SEARCH_WILDCARD_CHARACTERS_MAX
        )
    if field.type not in FUZZY_TYPES:
        raise refused_type(field, "WILDCARD")
    wildcard = Wildcard(asked.value)
    return LookupNode(tables, field, lambda terms: _of_form(terms, wildcard, run.check))


def _of_form(terms: SortedTerms, wildcard: Wildcard, check: Callable[[], None]) -> Span:
    """The terms that match a wildcard; only terms with its fixed parts are looked at."""
    prefix, part = (each.encode(errors="replace") for each in (wildcard.prefix, wildcard.longest))
    if wildcard.is_prefix:
        return Span(*terms.beginning_with(prefix))
    if wildcard.is_part:
        return Span(0, 0, terms.containing(part))
    candidates: Sequence[int] = range(len(terms))
    if prefix:
        candidates = range(*terms.beginning_with(prefix))
    elif part:
        candidates = terms.containing(part).tolist()
    numbers: list[int] = []
    for count, number in enumerate(candidates):
        if count % _BETWEEN_CHECKS == 0:
            check()
        if wildcard.matches(terms[number].decode()):
            numbers.append(number)
    return Span(0, 0, np.array(numbers, dtype=np.int64))
