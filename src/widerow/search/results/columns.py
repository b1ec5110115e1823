"""Sort columns: for each sorter, a number for each document (search §5.1).

Ascending numbers are in the order of the request, so that all sorters are compared in one way. A
column also converts the place of a document to and from a token.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widerow.errors import InvalidRequest
from widerow.limits import SEARCH_POINTS_MAX, SEARCH_SORTERS_MAX
from widerow.model.search.query import (
    DocSort,
    FieldSort,
    GeoDistanceSort,
    GeoDistanceType,
    NestedFilter,
    PrimaryKeySort,
    ScoreSort,
    SearchSort,
    Sorter,
    SortMode,
    SortOrder,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.interface import Booleans, DocumentSet, FieldValues, Floats
from widerow.search.places import distances, parse_point
from widerow.search.results.field_rules import TERMS, sorted_field

__all__ = ["EqualNumbers", "Held", "SortColumn", "completed_sort", "sort_columns"]

Held = int | float | bytes | None
"""The token's content for one document in one column; None: it has no value."""

_FIRST: Final = "_first"
_LAST: Final = "_last"
_INT64: Final = 2**63


class EqualNumbers(NamedTuple):
    """The range of a column's numbers that equal the content of a token; greater ones come later.

    `missing`: documents without a value are equal to it.
    """

    first: int | float
    last: int | float
    missing: bool = False


@dataclass(frozen=True, slots=True)
class SortColumn:
    """One sorter over some documents.

    `numbers` ascend in the order of the request. `missing`: documents without a value, first if
    `missing_first`, else last; None: each document has a value.
    """

    numbers: NDArray[Any]
    held: Callable[[int], Held]
    span: Callable[[Held], EqualNumbers]
    missing: Booleans | None = None
    missing_first: bool = False

    def sort_keys(self) -> list[NDArray[Any]]:
        """Arrays to sort by, the most significant first."""
        if self.missing is None:
            return [self.numbers]
        return [self.missing != self.missing_first, self.numbers]

    def compared(self, held: Held) -> tuple[Booleans, Booleans]:
        """Masks of the documents that come after the content of a token, and that equal it."""
        span = self.span(held)
        behind = self.numbers > span.last
        equal = (self.numbers >= span.first) & ~behind
        if self.missing is None:
            if span.missing:  # every document has a value
                return np.full(len(behind), self.missing_first), np.zeros_like(behind)
            return behind, equal
        if span.missing:
            return (~self.missing if self.missing_first else np.zeros_like(behind)), self.missing
        behind = (behind & ~self.missing) if self.missing_first else (behind | self.missing)
        return behind, equal & ~self.missing


def completed_sort(sort: SearchSort) -> SearchSort:
    """The order with the primary key added, unless it is there or was switched off."""
    has_key = any(isinstance(each, PrimaryKeySort) for each in sort.sorters)
    if sort.sorters and (has_key or sort.disable_default_pk_sorter):
        return sort
    return SearchSort((*sort.sorters, PrimaryKeySort()), sort.disable_default_pk_sorter)


def sort_columns(
    documents: DocumentSet,
    sorters: Sequence[Sorter],
    *,
    scores: Floats | None,
    inner: bool = False,
) -> list[SortColumn]:
    """A column for each sorter.

    `scores`: of the documents, None without scores. `inner`: the documents are inner hits, which
    allow other sorters. Raises `InvalidRequest` for a sorter that is not possible.
    """
    _check_count(sorters)
    columns = []
    for sorter in sorters:
        documents.check()
        if isinstance(sorter, DocSort if not inner else PrimaryKeySort | GeoDistanceSort):
            raise InvalidRequest(TablestoreRule.SORT_PLACE, sorter=type(sorter).__name__)
        match sorter:
            case ScoreSort():
                numbers = np.zeros(documents.count) if scores is None else scores
                columns.append(_directed(_numeric(numbers), sorter.order))
            case DocSort():
                columns.append(_directed(_numeric(documents.offsets()), sorter.order))
            case PrimaryKeySort():
                columns.append(_key_column(documents, sorter.order))
            case FieldSort():
                columns.append(_field_column(documents, sorter))
            case GeoDistanceSort():
                columns.append(_distance_column(documents, sorter))
    return columns


def _check_count(sorters: Sequence[Sorter]) -> None:
    if len(sorters) > SEARCH_SORTERS_MAX:
        raise InvalidRequest(
            TablestoreRule.SORT_COUNT, count=len(sorters), maximum=SEARCH_SORTERS_MAX
        )
    for sorter in sorters:
        if isinstance(sorter, GeoDistanceSort) and len(sorter.points) > SEARCH_POINTS_MAX:
            raise InvalidRequest(
                TablestoreRule.SORT_COUNT, count=len(sorter.points), maximum=SEARCH_POINTS_MAX
            )


def _wrong_token() -> InvalidRequest:
    return InvalidRequest(TablestoreRule.SEARCH_TOKEN)


def _numeric(numbers: NDArray[Any]) -> SortColumn:
    """A column of plain numbers."""
    whole = numbers.dtype == np.int64

    def span(held: Held) -> EqualNumbers:
        if held is None:
            return EqualNumbers(0, 0, missing=True)
        if isinstance(held, bool) or not isinstance(held, int if whole else float):
            raise _wrong_token()
        if held != held or (whole and not -_INT64 <= held < _INT64):  # noqa: PLR0124  # not a number
            raise _wrong_token()
        return EqualNumbers(held, held)

    return SortColumn(numbers, lambda place: numbers[place].item(), span)


def _directed(column: SortColumn, order: SortOrder) -> SortColumn:
    """The column, inverted for a descending order."""
    if order is SortOrder.ASC:
        return column
    flip: Callable[[Any], Any] = np.negative if column.numbers.dtype == np.float64 else np.invert

    def span(held: Held) -> EqualNumbers:
        spans = column.span(held)
        if column.numbers.dtype == np.float64:
            return EqualNumbers(-spans.last, -spans.first, spans.missing)
        return EqualNumbers(~int(spans.last), ~int(spans.first), spans.missing)

    return replace(column, numbers=flip(column.numbers), span=span)


def _key_column(documents: DocumentSet, order: SortOrder) -> SortColumn:
    def span(held: Held) -> EqualNumbers:
        if not isinstance(held, bytes):
            raise _wrong_token()
        low, high = documents.rank_bounds(held)
        return EqualNumbers(low, high - 1)

    def held(place: int) -> Held:
        return documents.keys(np.array([place]))[0]

    return _directed(SortColumn(documents.key_ranks(), held, span), order)


class _Chosen(NamedTuple):
    """One number for each document, and a mask of those that have a value."""

    numbers: NDArray[Any]
    present: Booleans | None
    terms: Sequence[bytes] | None = None


def _field_column(documents: DocumentSet, sorter: FieldSort) -> SortColumn:
    chosen = _chosen(documents, sorter.field, sorter)
    if sorter.missing_field is not None:
        _check_second(documents, sorter, sorter.missing_field)
        if chosen.present is not None:
            second = replace(sorter, field=sorter.missing_field, nested_filter=None)
            chosen = _with_second(chosen, _chosen(documents, second.field, second))
    numbers, present, terms = chosen
    literal: Held = None
    if sorter.missing_value is not None and sorter.missing_value not in (_FIRST, _LAST):
        value = documents.literal(sorter.field, sorter.missing_value)
        assert not isinstance(value, tuple)  # points are not sorted by value
        literal = int(value) if isinstance(value, bool) else value
    column = _numeric(numbers) if terms is None else _term_column(numbers, terms, literal)
    if present is not None and literal is not None:
        number = column.span(literal).first if terms is not None else literal
        numbers = np.where(present, column.numbers, number)
        column = _numeric(numbers) if terms is None else _terms_again(numbers, terms, literal)
        present = None
    if present is not None:
        column = _with_missing(column, ~present, first=sorter.missing_value == _FIRST)
    return _directed(column, sorter.order)


def _with_missing(column: SortColumn, missing: Booleans, *, first: bool) -> SortColumn:
    def held(place: int) -> Held:
        return None if missing[place] else column.held(place)

    return replace(column, held=held, missing=missing, missing_first=first)


def _term_column(numbers: NDArray[Any], terms: Sequence[bytes], literal: Held) -> SortColumn:
    """A column of terms' numbers, doubled, so that a text between two terms gets a number, too."""
    return _terms_again(numbers * 2, terms, literal)


def _terms_again(numbers: NDArray[Any], terms: Sequence[bytes], literal: Held) -> SortColumn:
    def held(place: int) -> Held:
        half, between = divmod(int(numbers[place]), 2)
        return literal if between else terms[half]

    def span(held: Held) -> EqualNumbers:
        if held is None:
            return EqualNumbers(0, 0, missing=True)
        if not isinstance(held, bytes):
            raise _wrong_token()
        place = bisect_left(terms, held)
        number = 2 * place if place < len(terms) and terms[place] == held else 2 * place - 1
        return EqualNumbers(number, number)

    return SortColumn(numbers, held, span)


def _check_second(documents: DocumentSet, sorter: FieldSort, name: str) -> None:
    """Raise `InvalidRequest` if values of the `missing_field` do not compare with the field's."""
    first, second = sorted_field(documents, sorter.field), sorted_field(documents, name)
    families = [
        "terms" if each in TERMS[:2] else "numbers" if each.value <= 2 else each.name
        for each in (first.type, second.type)
    ]
    if families[0] != families[1]:
        raise InvalidRequest(TablestoreRule.SORT_MISSING, field=sorter.field, missing=name)


def _with_second(chosen: _Chosen, second: _Chosen) -> _Chosen:
    """`chosen`, with the values of `second` where the first field has none."""
    assert chosen.present is not None
    terms: Sequence[bytes] | None = None
    first_numbers, second_numbers = chosen.numbers, second.numbers
    if chosen.terms is not None and second.terms is not None:
        terms = sorted({*_used(chosen), *_used(second)})
        first_numbers = _renumbered(chosen, terms)
        second_numbers = _renumbered(second, terms)
    elif first_numbers.dtype != second_numbers.dtype:
        first_numbers = first_numbers.astype(np.float64)
        second_numbers = second_numbers.astype(np.float64)
    numbers = np.where(chosen.present, first_numbers, second_numbers)
    if second.present is None:
        return _Chosen(numbers, None, terms)
    return _Chosen(numbers, chosen.present | second.present, terms)


def _used(chosen: _Chosen) -> list[bytes]:
    numbers = chosen.numbers if chosen.present is None else chosen.numbers[chosen.present]
    terms = chosen.terms or ()
    return [terms[number] for number in np.unique(numbers).tolist()]


def _renumbered(chosen: _Chosen, terms: Sequence[bytes]) -> NDArray[Any]:
    found, places = np.unique(chosen.numbers, return_inverse=True)
    old = chosen.terms or ()
    texts = [old[number] if number < len(old) else b"" for number in found.tolist()]
    return np.array([bisect_left(terms, text) for text in texts], np.int64)[places]


def _chosen(documents: DocumentSet, name: str, sorter: FieldSort) -> _Chosen:
    """One number for each document, chosen by the sort mode."""
    field = sorted_field(documents, name)
    found = _values(documents, name, sorter.nested_filter)
    mode = sorter.mode or SortMode.MIN
    if mode is SortMode.AVG and field.type in TERMS:
        raise InvalidRequest(TablestoreRule.SORT_MODE, field=name)
    values = found.values
    if values.dtype not in (np.int64, np.float64):
        values = values.astype(np.int64)
    numbers, present = _reduced(documents.count, values, found, mode)
    return _Chosen(numbers, present, found.terms)


def _reduced(
    count: int, values: NDArray[Any], found: FieldValues, mode: SortMode
) -> tuple[NDArray[Any], Booleans | None]:
    if found.single:
        return (values if mode is not SortMode.AVG else values.astype(np.float64)), None
    starts = np.flatnonzero(np.diff(found.owners, prepend=-1))
    owners = found.owners[starts]
    if len(starts) == 0:
        one = values[:0]
    elif mode is SortMode.AVG:
        sizes = np.diff(np.append(starts, len(values)))
        one = np.add.reduceat(values.astype(np.float64), starts) / sizes
    else:
        one = (np.minimum if mode is SortMode.MIN else np.maximum).reduceat(values, starts)
    numbers = np.zeros(count, np.float64 if mode is SortMode.AVG else values.dtype)
    numbers[owners] = one
    if len(owners) == count:
        return numbers, None
    present = np.zeros(count, np.bool_)
    present[owners] = True
    return numbers, present


def _values(documents: DocumentSet, name: str, nested: NestedFilter | None) -> FieldValues:
    """All values of a field, or those of nested documents that pass a filter."""
    if nested is None:
        return documents.values(name)
    if not (documents.nested_path(name) + ".").startswith(nested.path + "."):
        raise InvalidRequest(TablestoreRule.SORT_NESTED, field=name, path=nested.path)
    children, parents = documents.children(nested.path)
    passed = children.matching(nested.query)
    found = children.take(passed).values(name)
    return FieldValues(found.values, parents[passed][found.owners], found.terms)


def _distance_column(documents: DocumentSet, sorter: GeoDistanceSort) -> SortColumn:
    sorted_field(documents, sorter.field, points=True)
    origins = [parse_point(point) for point in sorter.points]
    known = [origin for origin in origins if origin is not None]
    if not known or len(known) < len(origins):
        raise InvalidRequest(TablestoreRule.SORT_POINTS, field=sorter.field)
    found = _values(documents, sorter.field, sorter.nested_filter)
    plane = sorter.distance_type is GeoDistanceType.PLANE
    nearest = distances(found.values, known[0], plane=plane)
    for origin in known[1:]:
        nearest = np.minimum(nearest, distances(found.values, origin, plane=plane))
    numbers, present = _reduced(documents.count, nearest, found, sorter.mode or SortMode.MIN)
    column = _numeric(numbers)
    if present is not None:
        column = _with_missing(column, ~present, first=False)
    return _directed(column, sorter.order)
