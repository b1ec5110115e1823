"""Orders, pages, metrics and groups of what `search_reference` finds, by plain loops.

Written from the page (search §5, §6), without code of `widerow.search`. Fields are those of rows or
of one level below; keys of groups are as in `model.search.aggregation`.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cmp_to_key
from typing import Any, Final

from tests.support.search_reference import (
    EARTH_METRES,
    SearchReference,
    SeveralAnswers,
    arc_metres,
    operand_of,
    span_nanoseconds,
)
from tests.support.search_rows import PlainDocument

from widerow.model.search import aggregation as a
from widerow.model.search.query import (
    DateTimeUnit,
    DateTimeValue,
    FieldSort,
    GeoDistanceSort,
    GeoDistanceType,
    PrimaryKeySort,
    ScoreSort,
    SearchSort,
    SortMode,
    SortOrder,
)
from widerow.model.search.requests import Search
from widerow.model.search.schema import SearchFieldType
from widerow.model.values import Value

__all__ = [
    "SearchOutcome",
    "clear_scores",
    "compared",
    "placing",
    "plain_breakdown",
    "plain_outcome",
    "sorted_by",
]

_T: Final = SearchFieldType
_GROUPS: Final = 10
_CELLS: Final = 1000
_LETTERS: Final = "0123456789bcdefghjkmnpqrstuvwxyz"
_FIXED: Final = (DateTimeUnit.WEEK, DateTimeUnit.DAY, DateTimeUnit.HOUR, DateTimeUnit.MINUTE)
_MONTHS: Final = {DateTimeUnit.MONTH: 1, DateTimeUnit.QUARTER_YEAR: 3, DateTimeUnit.YEAR: 12}
_MONDAY_NS: Final = 4 * 86_400 * 10**9  # 1970-01-05
_SAME: Final = 1e-6
_SAME_METRES: Final = 1e-3
_ABSENT: Final = object()
"""The value of a document without a value that gets no substitute."""


class SearchOutcome:
    """All rows that a request finds, in its order, with their scores, and its breakdown."""

    def __init__(
        self,
        hits: Sequence[tuple[bytes, float]],
        total: int,
        breakdown: a.BreakdownAnswer,
        places: Sequence[int],
    ) -> None:
        """`hits` before paging and after collapsing, `total` before both.

        `places`: of each hit, equal where no sorter tells two of them apart.
        """
        self.hits = hits
        self.places = places
        self.total = total
        self.breakdown = breakdown


def plain_outcome(reference: SearchReference, request: Search) -> SearchOutcome:
    """What a request finds, without its paging. Raises: `SeveralAnswers`."""
    scores = reference.select(request.query, 10 if request.limit is None else request.limit)
    found = [
        each
        for each in reference.documents
        if each.key in scores
        and (request.filter is None or reference.score(request.filter, each, "") is not None)
    ]
    nested = any(each.type is _T.NESTED for each in reference.schema.fields)
    sort = request.sort if request.sort and request.sort.sorters else None
    if sort is None:
        sort = SearchSort((ScoreSort(),)) if nested else reference.schema.sort or SearchSort()
    compare = _comparison(reference, sort, scores)
    ordered = sorted(found, key=cmp_to_key(compare))  # equal documents in the order of their keys
    if any(isinstance(each, ScoreSort) for each in sort.sorters):
        clear_scores(sorted(scores.values()))
    kept = ordered
    if request.collapse is not None:
        kept, seen = [], set()
        for each in ordered:
            value = each.values.get(request.collapse, [None])[0]
            if value not in seen:
                seen.add(value)
                kept.append(each)
    breakdown = plain_breakdown(reference, found, request.breakdown, ordered)
    ties = [0, *(int(compare(one, other) != 0) for one, other in itertools.pairwise(kept))]
    hits = [(each.key, scores[each.key]) for each in kept]
    return SearchOutcome(hits, len(found), breakdown, list(itertools.accumulate(ties))[: len(hits)])


def clear_scores(scores: Sequence[float]) -> None:
    """Raise `SeveralAnswers` where rounding may decide which of two scores is greater."""
    for one, other in itertools.pairwise(scores):
        if 0 < other - one < _SAME * max(1.0, abs(other)):
            raise SeveralAnswers("two scores differ by less than rounding")


# --- orders ---------------------------------------------------------------------------------------


def _comparison(
    reference: SearchReference, sort: SearchSort, scores: dict[bytes, float]
) -> Callable[[PlainDocument, PlainDocument], int]:
    """Which of two rows comes first (search §5.1), by the sorters alone."""

    def compare(one: PlainDocument, other: PlainDocument) -> int:
        for each in sort.sorters:
            match each:
                case PrimaryKeySort(order):
                    found = compared(one.key, other.key, order)
                case ScoreSort(order):
                    found = compared(scores[one.key], scores[other.key], order)
                case FieldSort() | GeoDistanceSort():
                    mine, theirs = (sorted_by(reference, each, row) for row in (one, other))
                    found = placing(mine, theirs, each)
                    if isinstance(each, GeoDistanceSort) and one.values != other.values:
                        _clear_distances(mine, theirs)
                case _:
                    raise NotImplementedError(f"{each} does not sort rows")
            if found:
                return found
        return 0

    return compare


def _clear_distances(one: Any, other: Any) -> None:  # noqa: ANN401  # values compare
    """Raise `SeveralAnswers` where rounding may decide which of two points is nearer."""
    if one is not _ABSENT and other is not _ABSENT and abs(one - other) < _SAME_METRES:
        raise SeveralAnswers("two points are equally far away")


def compared(one: Any, other: Any, order: SortOrder) -> int:  # noqa: ANN401  # values compare
    """-1, 0 or 1: how one value compares with another in an order."""
    found = int(one > other) - int(one < other)
    return found if order is SortOrder.ASC else -found


def placing(one: Any, other: Any, sorter: FieldSort | GeoDistanceSort) -> int:  # noqa: ANN401  # values compare
    """-1, 0 or 1: how one sort value of a document compares with another's."""
    if one is _ABSENT or other is _ABSENT:
        first = isinstance(sorter, FieldSort) and sorter.missing_value == "_first"
        found = int(one is _ABSENT) - int(other is _ABSENT)
        return -found if first else found
    return compared(one, other, sorter.order)


def sorted_by(
    reference: SearchReference,
    sorter: FieldSort | GeoDistanceSort,
    document: PlainDocument,
    level: str = "",
) -> Any:  # noqa: ANN401  # values compare
    """The sort value of a document of a level (search §5.1), or the mark for none."""
    values = _values_below(reference, sorter, document, level)
    if isinstance(sorter, GeoDistanceSort):
        points = [(float(y), float(x)) for y, x in (each.split(",") for each in sorter.points)]
        metres = _METRES[sorter.distance_type]
        values = [min(metres(each, point) for point in points) for each in values]
    if not values and isinstance(sorter, FieldSort):
        _, asked = reference.fields[sorter.field]
        if sorter.missing_field is not None:
            values = document.values.get(sorter.missing_field, [])
        if not values and sorter.missing_value not in {None, "_first", "_last"}:
            assert sorter.missing_value is not None, "it was asked for just now"
            return operand_of(asked, sorter.missing_value)
    if not values:
        return _ABSENT
    if sorter.mode is SortMode.AVG:
        return sum(values) / len(values)
    return max(values) if sorter.mode is SortMode.MAX else min(values)


def _values_below(
    reference: SearchReference,
    sorter: FieldSort | GeoDistanceSort,
    document: PlainDocument,
    level: str,
) -> list[Any]:
    path, _ = reference.fields[sorter.field]
    if path == level:
        return document.values.get(sorter.field, [])
    kept = [
        each
        for each in document.below(path)
        if sorter.nested_filter is None
        or reference.score(sorter.nested_filter.query, each, path) is not None
    ]
    return [value for each in kept for value in each.values.get(sorter.field, ())]


def _plane_metres(one: tuple[float, float], other: tuple[float, float]) -> float:
    """The equirectangular distance (search §4.6). Raises: `SeveralAnswers` around the world."""
    if abs(one[1] - other[1]) > 180:  # degrees
        raise SeveralAnswers("which way round a plane is, the page does not say")
    (a, b), (c, d) = (tuple(map(math.radians, each)) for each in (one, other))
    return EARTH_METRES * math.hypot(c - a, (d - b) * math.cos((a + c) / 2))


_METRES: Final = {GeoDistanceType.ARC: arc_metres, GeoDistanceType.PLANE: _plane_metres}


# --- metrics --------------------------------------------------------------------------------------


def plain_breakdown(
    reference: SearchReference,
    found: Sequence[PlainDocument],
    asked: a.Breakdown,
    ordered: Sequence[PlainDocument],
) -> a.BreakdownAnswer:
    """Metrics and groups of some rows; `ordered`: these rows in the order of the search."""
    return a.BreakdownAnswer(
        tuple(
            a.AggregationAnswer(each, _metric(reference, found, each, ordered))
            for each in asked.aggregations
        ),
        tuple(_grouped(reference, found, each, ordered) for each in asked.group_bys),
    )


def _metric(
    reference: SearchReference,
    found: Sequence[PlainDocument],
    asked: a.Aggregation,
    ordered: Sequence[PlainDocument],
) -> Any:  # noqa: ANN401  # as AggregationAnswer says
    if isinstance(asked, a.TopRows):
        if asked.sort is not None:
            ordered = sorted(found, key=cmp_to_key(_comparison(reference, asked.sort, {})))
        there = {each.key for each in found}
        return tuple(each.key for each in ordered if each.key in there)[: asked.limit]
    if asked.field == "*":
        return len(found)
    path, field = reference.fields[asked.field]
    values: list[Any] = []
    for row in found:
        own = [v for each in _at(row, path) for v in each.values.get(asked.field, ())]
        if not own and asked.missing is not None:
            own = [operand_of(field, asked.missing)]
        values += own
    if isinstance(asked, a.PercentilesMetric):
        return tuple(_percentiles(field.type, sorted(values), sorted(asked.percentiles)))
    if field.type is _T.DATE and asked.kind not in {
        a.MetricKind.COUNT,
        a.MetricKind.DISTINCT_COUNT,
    }:
        values = [each / 10**6 for each in values]
    return _METRICS[asked.kind](values)


def _at(row: PlainDocument, path: str) -> Iterable[PlainDocument]:
    return row.below(path) if path else (row,)


_METRICS: Final[dict[a.MetricKind, Callable[[list[Any]], float | int]]] = {
    a.MetricKind.AVG: lambda values: math.fsum(values) / len(values) if values else math.inf,
    a.MetricKind.MAX: lambda values: float(max(values, default=-math.inf)),
    a.MetricKind.MIN: lambda values: float(min(values, default=math.inf)),
    a.MetricKind.SUM: math.fsum,
    a.MetricKind.COUNT: len,
    a.MetricKind.DISTINCT_COUNT: lambda values: len(set(values)),
}


def _percentiles(
    kind: SearchFieldType, values: Sequence[Any], asked: Sequence[float]
) -> Iterator[tuple[float, Value]]:
    for each in asked if values else ():
        place = min(max(each / 100 * len(values) - 0.5, 0.0), len(values) - 1.0)
        low = math.floor(place)
        high = min(low + 1, len(values) - 1)
        found = values[low] + (place - low) * (values[high] - values[low])
        if kind is _T.DATE:
            yield each, math.trunc(found / 10**6)
        else:
            yield each, math.trunc(found) if kind is _T.LONG else float(found)


# --- groups ---------------------------------------------------------------------------------------


def _grouped(
    reference: SearchReference,
    found: Sequence[PlainDocument],
    asked: a.GroupBy,
    ordered: Sequence[PlainDocument],
) -> a.GroupByAnswer:
    """The groups of one group-by (search §6.3)."""
    groups, cut = _GROUPINGS[type(asked)](reference, found, asked)
    answered = [
        (sort_key, a.SearchGroup(key, len(members), _below(reference, members, asked, ordered)))
        for sort_key, key, members in groups
    ]
    sort = getattr(asked, "sort", None)
    if sort is None and isinstance(asked, a.GeoGridGroupBy):
        sort = ()
    if sort is not None:
        default = isinstance(asked, a.FieldGroupBy | a.GeoGridGroupBy)
        answered.sort(key=cmp_to_key(_group_order(sort, by_count=default)))
    return a.GroupByAnswer(asked, tuple(group for _, group in answered[:cut]))


def _below(
    reference: SearchReference,
    members: Sequence[PlainDocument],
    asked: a.GroupBy,
    ordered: Sequence[PlainDocument],
) -> a.BreakdownAnswer:
    return plain_breakdown(reference, members, asked.below, ordered)


def _group_order(
    sort: a.GroupSort, *, by_count: bool
) -> Callable[[tuple[Any, a.SearchGroup], tuple[Any, a.SearchGroup]], int]:
    asked = sort or ((a.GroupSorter(a.GroupSortKey.ROW_COUNT, SortOrder.DESC),) if by_count else ())

    def compare(one: tuple[Any, a.SearchGroup], other: tuple[Any, a.SearchGroup]) -> int:
        for each in asked:
            found = compared(_ordered_by(each, one), _ordered_by(each, other), each.order)
            if found:
                return found
        return compared(one[0], other[0], SortOrder.ASC)

    return compare


def _ordered_by(sorter: a.GroupSorter, group: tuple[Any, a.SearchGroup]) -> Any:  # noqa: ANN401  # values compare
    if sorter.key is a.GroupSortKey.KEY:
        return group[0]
    if sorter.key is a.GroupSortKey.ROW_COUNT:
        return group[1].row_count
    return _named(group[1], sorter.metric)


def _named(group: a.SearchGroup, name: str) -> Any:  # noqa: ANN401  # a number
    return next(each.value for each in group.below.aggregations if each.asked.name == name)


Grouping = tuple[list[tuple[Any, Any, list[PlainDocument]]], int | None]
"""Groups as sort value, key and members; and the number of groups that are answered."""


def _members(
    reference: SearchReference,
    found: Sequence[PlainDocument],
    name: str,
    buckets: Callable[[Any], Iterable[Any]],
    missing: Any = None,  # noqa: ANN401  # a value of the field
) -> dict[Any, list[PlainDocument]]:
    """The documents of each bucket, each once, by the buckets of their values."""
    path, _ = reference.fields[name]
    groups: dict[Any, list[PlainDocument]] = {}
    for each in (document for row in found for document in _at(row, path)):
        values = each.values.get(name, ())
        if not values and missing is not None:
            values = [missing]
        for bucket in dict.fromkeys(bucket for value in values for bucket in buckets(value)):
            groups.setdefault(bucket, []).append(each)
    return groups


def _text_of_key(kind: SearchFieldType, value: Any) -> str:  # noqa: ANN401  # a value of the field
    match kind:
        case SearchFieldType.BOOLEAN:
            return "true" if value else "false"
        case SearchFieldType.KEYWORD | SearchFieldType.FUZZY_KEYWORD:
            return bytes(value).decode()
        case SearchFieldType.DATE:
            return str(value // 10**6)
        case _:
            return str(value)


def _by_field(
    reference: SearchReference, found: Sequence[PlainDocument], asked: a.FieldGroupBy
) -> Grouping:
    kind = reference.fields[asked.field][1].type
    groups = _members(reference, found, asked.field, lambda value: (value,))
    least = 1 if asked.min_doc_count is None else asked.min_doc_count
    return [
        (value, _text_of_key(kind, value), members)
        for value, members in groups.items()
        if len(members) >= least
    ], asked.size or _GROUPS


def _bounds(bounds: tuple[float | None, float | None], lowest: float) -> tuple[float, float]:
    low, high = bounds
    return lowest if low is None else low, math.inf if high is None else high


def _by_range(
    reference: SearchReference, found: Sequence[PlainDocument], asked: a.RangeGroupBy
) -> Grouping:
    ranges = sorted(_bounds(each, -math.inf) for each in asked.ranges)
    groups = _members(
        reference,
        found,
        asked.field,
        lambda value: (at for at, (low, high) in enumerate(ranges) if low <= value < high),
    )
    return [(at, each, groups.get(at, [])) for at, each in enumerate(ranges)], None


def _by_distance(
    reference: SearchReference, found: Sequence[PlainDocument], asked: a.DistanceGroupBy
) -> Grouping:
    ranges = [_bounds(each, 0.0) for each in asked.ranges]

    def buckets(value: tuple[float, float]) -> Iterator[int]:
        distance = arc_metres(value, asked.origin)
        return (at for at, (low, high) in enumerate(ranges) if low <= distance < high)

    groups = _members(reference, found, asked.field, buckets)
    return [(at, each, groups.get(at, [])) for at, each in enumerate(ranges)], None


def _by_filter(
    reference: SearchReference, found: Sequence[PlainDocument], asked: a.FilterGroupBy
) -> Grouping:
    return [
        (at, None, [each for each in found if reference.score(query, each, "") is not None])
        for at, query in enumerate(asked.filters)
    ], None


def _by_histogram(
    reference: SearchReference, found: Sequence[PlainDocument], asked: a.HistogramGroupBy
) -> Grouping:
    _, field = reference.fields[asked.field]
    interval: Any = asked.interval
    offset: Any = asked.offset or 0
    low, high = asked.field_range or (None, None)

    def bucket(value: Any) -> Any:  # noqa: ANN401  # int or float, as the field
        return math.floor((value - offset) / interval) * interval + offset

    def buckets(value: Any) -> Iterable[Any]:  # noqa: ANN401  # int or float, as the field
        key = bucket(value)
        outside = (low is not None and key < low) or (high is not None and key > high)
        return () if outside else (key,)

    missing = None if asked.missing is None else operand_of(field, asked.missing)
    groups = _members(reference, found, asked.field, buckets, missing)
    if asked.min_doc_count == 0 and low is not None and high is not None:
        at = bucket(low)
        while at <= bucket(high):
            if at >= low:
                groups.setdefault(at, [])
            at += interval
    least = 1 if asked.min_doc_count is None else asked.min_doc_count
    return [(at, at, there) for at, there in groups.items() if len(there) >= least], None


def _by_date(
    reference: SearchReference, found: Sequence[PlainDocument], asked: a.DateHistogramGroupBy
) -> Grouping:
    zone = _zone_ns(asked.time_zone)
    offset = span_nanoseconds(asked.offset) if asked.offset else 0
    groups = _members(
        reference,
        found,
        asked.field,
        lambda value: (_date_bucket(value, asked.interval, zone, offset),),
    )
    least = 1 if asked.min_doc_count is None else asked.min_doc_count
    return [
        (at, at // 10**6, members) for at, members in groups.items() if len(members) >= least
    ], None


def _zone_ns(text: str | None) -> int:
    if not text:
        return 0
    hours, minutes = text[1:].split(":")
    seconds = int(hours) * 3600 + int(minutes) * 60
    return (-seconds if text.startswith("-") else seconds) * 10**9


def _date_bucket(value: int, interval: DateTimeValue, zone: int, offset: int) -> int:
    local = value + zone - offset
    if interval.unit in _MONTHS:
        moment = datetime.fromtimestamp(local // 10**9, tz=UTC)
        months = interval.value * _MONTHS[interval.unit]
        number = ((moment.year - 1970) * 12 + moment.month - 1) // months * months
        start = datetime(1970 + number // 12, number % 12 + 1, 1, tzinfo=UTC)
        return int(start.timestamp()) * 10**9 - zone + offset
    first = _MONDAY_NS if interval == DateTimeValue(1, DateTimeUnit.WEEK) else 0
    width = span_nanoseconds(interval)
    return (local - first) // width * width + first - zone + offset


def _by_cell(
    reference: SearchReference, found: Sequence[PlainDocument], asked: a.GeoGridGroupBy
) -> Grouping:
    precision = asked.precision or 5
    groups = _members(reference, found, asked.field, lambda point: (_geohash(point, precision),))
    return [(cell, cell, members) for cell, members in groups.items()], asked.size or _CELLS


def _geohash(point: tuple[float, float], precision: int) -> str:
    bounds = [[-180.0, 180.0], [-90.0, 90.0]]
    values, bits = (point[1], point[0]), []
    for at in range(precision * 5):
        low, high = bounds[at % 2]
        middle = (low + high) / 2
        bits.append(values[at % 2] >= middle)
        bounds[at % 2][0 if bits[-1] else 1] = middle
    numbers = (bits[at : at + 5] for at in range(0, len(bits), 5))
    return "".join(_LETTERS[int("".join("01"[bit] for bit in each), 2)] for each in numbers)


def _by_several(
    reference: SearchReference, found: Sequence[PlainDocument], asked: a.CompositeGroupBy
) -> Grouping:
    """All combinations, by their keys; a missing value comes before all others, as null does."""
    groups: dict[tuple[tuple[bool, Any], ...], list[PlainDocument]] = {}
    texts: dict[tuple[tuple[bool, Any], ...], tuple[str | None, ...]] = {}
    for each in found:
        choices: list[list[tuple[tuple[bool, Any], str | None]]] = []
        for source in asked.sources:
            one, _ = _GROUPINGS[type(source)](reference, [each], source)
            choices.append(
                [((True, order), str(key)) for order, key, _ in one] or [((False, 0), None)]
            )
        for chosen in itertools.product(*choices):
            order = tuple(place for place, _ in chosen)
            groups.setdefault(order, []).append(each)
            texts[order] = tuple(text for _, text in chosen)
    return [(order, texts[order], groups[order]) for order in sorted(groups)], None


_GROUPINGS: Final[
    dict[type, Callable[[SearchReference, Sequence[PlainDocument], Any], Grouping]]
] = {
    a.FieldGroupBy: _by_field,
    a.RangeGroupBy: _by_range,
    a.DistanceGroupBy: _by_distance,
    a.FilterGroupBy: _by_filter,
    a.HistogramGroupBy: _by_histogram,
    a.DateHistogramGroupBy: _by_date,
    a.GeoGridGroupBy: _by_cell,
    a.CompositeGroupBy: _by_several,
}
