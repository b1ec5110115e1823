"""Metrics and groups over what a search matches: asked for and answered (search §6)."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from widerow.model.search.query import DateTimeValue, Query, SearchSort, SortOrder
from widerow.model.values import Value

__all__ = [
    "NO_BREAKDOWN",
    "Aggregation",
    "AggregationAnswer",
    "Breakdown",
    "BreakdownAnswer",
    "CompositeGroupBy",
    "DateHistogramGroupBy",
    "DistanceGroupBy",
    "FieldGroupBy",
    "FilterGroupBy",
    "GeoCell",
    "GeoGridGroupBy",
    "GroupBy",
    "GroupByAnswer",
    "GroupSort",
    "GroupSortKey",
    "GroupSorter",
    "HistogramGroupBy",
    "Metric",
    "MetricKind",
    "PercentilesMetric",
    "RangeGroupBy",
    "SearchGroup",
    "TopRows",
]


class MetricKind(IntEnum):
    """Metrics of one field whose answer is a number. The numbers are those of the wire."""

    AVG = 1
    MAX = 2
    MIN = 3
    SUM = 4
    COUNT = 5
    DISTINCT_COUNT = 6


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric of a field. `missing`: the value of documents without one.

    COUNT of "*" counts documents.
    """

    name: str
    kind: MetricKind
    field: str
    missing: Value | None = None


@dataclass(frozen=True, slots=True)
class PercentilesMetric:
    """The values below which given percentages of all values lie."""

    name: str
    field: str
    percentiles: tuple[float, ...]
    missing: Value | None = None


@dataclass(frozen=True, slots=True)
class TopRows:
    """The first rows in an order; None: in the order of the search."""

    name: str
    limit: int = 1
    sort: SearchSort | None = None


Aggregation = Metric | PercentilesMetric | TopRows


class GroupSortKey(IntEnum):
    """The keys that groups are sorted by."""

    KEY = 1
    ROW_COUNT = 2
    METRIC = 3


@dataclass(frozen=True, slots=True)
class GroupSorter:
    """A sorter of groups. `metric`: the name of a metric, if `key` is METRIC."""

    key: GroupSortKey
    order: SortOrder = SortOrder.ASC
    metric: str = ""


GroupSort = tuple[GroupSorter, ...]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """The aggregations and group-bys of one level, in the order of the request."""

    aggregations: tuple[Aggregation, ...] = ()
    group_bys: "tuple[GroupBy, ...]" = ()

    def __bool__(self) -> bool:
        return bool(self.aggregations or self.group_bys)


NO_BREAKDOWN: Final = Breakdown()
"""No aggregations and no group-bys."""


@dataclass(frozen=True, slots=True)
class FieldGroupBy:
    """One group for each value of a field. `sort` empty: most rows first."""

    name: str
    field: str
    size: int | None = None
    sort: GroupSort = ()
    min_doc_count: int | None = None
    below: Breakdown = NO_BREAKDOWN


@dataclass(frozen=True, slots=True)
class RangeGroupBy:
    """One group for each range [from, to); None: without a bound."""

    name: str
    field: str
    ranges: tuple[tuple[float | None, float | None], ...]
    below: Breakdown = NO_BREAKDOWN


@dataclass(frozen=True, slots=True)
class FilterGroupBy:
    """One group for each query."""

    name: str
    filters: tuple[Query, ...]
    below: Breakdown = NO_BREAKDOWN


@dataclass(frozen=True, slots=True)
class DistanceGroupBy:
    """One group for each range of metres from `origin` (latitude, longitude)."""

    name: str
    field: str
    origin: tuple[float, float]
    ranges: tuple[tuple[float | None, float | None], ...]
    below: Breakdown = NO_BREAKDOWN


@dataclass(frozen=True, slots=True)
class HistogramGroupBy:
    """Groups of equal width."""

    name: str
    field: str
    interval: Value
    offset: Value | None = None
    missing: Value | None = None
    min_doc_count: int | None = None
    sort: GroupSort = ()
    field_range: tuple[Value | None, Value | None] | None = None
    below: Breakdown = NO_BREAKDOWN


@dataclass(frozen=True, slots=True)
class DateHistogramGroupBy:
    """Groups of equal spans of time, also of months and years."""

    name: str
    field: str
    interval: DateTimeValue
    offset: DateTimeValue | None = None
    time_zone: str | None = None
    missing: Value | None = None
    min_doc_count: int | None = None
    sort: GroupSort = ()
    field_range: tuple[Value | None, Value | None] | None = None
    below: Breakdown = NO_BREAKDOWN


@dataclass(frozen=True, slots=True)
class GeoGridGroupBy:
    """One group for each geohash of `precision` characters."""

    name: str
    field: str
    precision: int | None = None
    size: int | None = None
    below: Breakdown = NO_BREAKDOWN


@dataclass(frozen=True, slots=True)
class CompositeGroupBy:
    """One group for each combination of the keys of its sources, page by page."""

    name: str
    sources: tuple[FieldGroupBy | HistogramGroupBy | DateHistogramGroupBy, ...]
    size: int | None = None
    suggested_size: int | None = None
    token: str | None = None
    below: Breakdown = NO_BREAKDOWN


GroupBy = (
    FieldGroupBy
    | RangeGroupBy
    | FilterGroupBy
    | DistanceGroupBy
    | HistogramGroupBy
    | DateHistogramGroupBy
    | GeoGridGroupBy
    | CompositeGroupBy
)


@dataclass(frozen=True, slots=True)
class AggregationAnswer:
    """The answer of one aggregation.

    `value`: of a metric, a float (AVG, MAX, MIN, SUM) or an int (COUNT, DISTINCT_COUNT); of
    percentiles, pairs of percentage and value by percentage; of top rows, encoded primary keys.
    """

    asked: Aggregation
    value: float | int | tuple[tuple[float, Value], ...] | tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class GeoCell:
    """Two corners of a geohash: greatest latitude and least longitude, and the opposite one.

    Pairs of latitude and longitude.
    """

    top_left: tuple[float, float]
    bottom_right: tuple[float, float]


@dataclass(frozen=True, slots=True)
class SearchGroup:
    """A group and the answers below it.

    `key`: for a field the text of its value; for a histogram the value; for a date histogram its
    start in milliseconds since 1970; for ranges the two bounds; for a geo grid the geohash; for a
    composite one text for each source, None where the value is missing; None for filters.
    """

    key: Value | tuple[float, float] | tuple[str | None, ...] | None
    row_count: int
    below: "BreakdownAnswer"
    cell: GeoCell | None = None


@dataclass(frozen=True, slots=True)
class GroupByAnswer:
    """The groups in their order. `token`: for a composite with further groups."""

    asked: GroupBy
    groups: tuple[SearchGroup, ...]
    token: str | None = None


@dataclass(frozen=True, slots=True)
class BreakdownAnswer:
    """The answers of one level, in the order of the request."""

    aggregations: tuple[AggregationAnswer, ...] = ()
    group_bys: tuple[GroupByAnswer, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.aggregations or self.group_bys)
