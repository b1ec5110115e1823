"""Aggregations and group-bys: the bytes of each type's message, and values (search §6)."""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from google.protobuf.message import Message

from widerow.model.search import aggregation as a
from widerow.model.search.query import SortOrder
from widerow.model.values import Value
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.operations.search.functions import decode_span, optional_span
from widerow.wire.tablestore.operations.search.orders import decode_sort
from widerow.wire.tablestore.operations.search.queries import decode_query
from widerow.wire.tablestore.operations.search.unfolding import (
    Unfolding,
    invalid_field,
    member,
    members,
    named,
    number,
    optional_variant,
    variant,
)

__all__ = [
    "AGGREGATION_READERS",
    "AGGREGATION_TYPES",
    "GROUP_BY_READERS",
    "GROUP_BY_TYPES",
    "decode_breakdown",
]

_ORDERS: Final = members(SortOrder)
_METRICS: Final = (
    (a.MetricKind.AVG, m.AvgAggregation),
    (a.MetricKind.MAX, m.MaxAggregation),
    (a.MetricKind.MIN, m.MinAggregation),
    (a.MetricKind.SUM, m.SumAggregation),
    (a.MetricKind.DISTINCT_COUNT, m.DistinctCountAggregation),
)
_TOP_ROWS, _PERCENTILES = 7, 8  # AggregationType (protos §4)


def decode_breakdown(
    unfolding: Unfolding, aggregations: m.Aggregations, group_bys: m.GroupBys
) -> a.Breakdown:
    """The aggregations and group-bys of one level, and all below them. Raises `InvalidRequest`."""
    return a.Breakdown(
        tuple([_aggregation(unfolding, each) for each in aggregations.aggs]),
        tuple([_group_by(unfolding, each) for each in group_bys.group_bys]),
    )


def _aggregation(unfolding: Unfolding, sent: m.Aggregation) -> a.Aggregation:
    kind = AGGREGATION_READERS.get(sent.type) if sent.HasField("type") else None
    if kind is None:
        raise invalid_field(sent, "type")
    message, reader = kind
    name = text(sent.name)
    return unfolding.below(lambda: reader(unfolding, name, unfolding.parse(message, sent.body)))


def _group_by(unfolding: Unfolding, sent: m.GroupBy) -> a.GroupBy:
    kind = GROUP_BY_READERS.get(sent.type) if sent.HasField("type") else None
    if kind is None:
        raise invalid_field(sent, "type")
    message, reader = kind
    name = text(sent.name)
    return unfolding.below(lambda: reader(unfolding, name, unfolding.parse(message, sent.body)))


# --- aggregations ----------------------------------------------------------------------------

_MetricMessage = (
    m.AvgAggregation
    | m.MaxAggregation
    | m.MinAggregation
    | m.SumAggregation
    | m.DistinctCountAggregation
)


def _metric(kind: a.MetricKind, _: Unfolding, name: str, sent: _MetricMessage) -> a.Aggregation:
    return a.Metric(name, kind, named(sent), optional_variant(sent, "missing"))


def _count(_: Unfolding, name: str, sent: m.CountAggregation) -> a.Aggregation:
    return a.Metric(name, a.MetricKind.COUNT, named(sent))


def _percentiles(_: Unfolding, name: str, sent: m.PercentilesAggregation) -> a.Aggregation:
    return a.PercentilesMetric(
        name, named(sent), tuple(sent.percentiles), optional_variant(sent, "missing")
    )


def _top_rows(unfolding: Unfolding, name: str, sent: m.TopRowsAggregation) -> a.Aggregation:
    limit = sent.limit if sent.HasField("limit") else a.TopRows(name).limit
    return a.TopRows(name, limit, decode_sort(sent.sort, partial(decode_query, unfolding)))


_Aggregating = Callable[[Unfolding, str, Any], a.Aggregation]
AGGREGATION_READERS: Final[Mapping[int, tuple[type[Message], _Aggregating]]] = MappingProxyType(
    {
        **{kind.value: (message, partial(_metric, kind)) for kind, message in _METRICS},
        a.MetricKind.COUNT.value: (m.CountAggregation, _count),
        _TOP_ROWS: (m.TopRowsAggregation, _top_rows),
        _PERCENTILES: (m.PercentilesAggregation, _percentiles),
    }
)
"""The message of each type of aggregation, and what reads it (protos §4, AggregationType)."""

AGGREGATION_TYPES: Final[Mapping[type, int]] = MappingProxyType(
    {a.TopRows: _TOP_ROWS, a.PercentilesMetric: _PERCENTILES}
)
"""The numbers of the wire, by the values; a `Metric` has that of its kind."""


# --- group-bys -------------------------------------------------------------------------------


def _by_field(unfolding: Unfolding, name: str, sent: m.GroupByField) -> a.GroupBy:
    return a.FieldGroupBy(
        name,
        named(sent),
        sent.size if sent.HasField("size") else None,
        _sort(sent.sort),
        sent.min_doc_count if sent.HasField("min_doc_count") else None,
        decode_breakdown(unfolding, sent.sub_aggs, sent.sub_group_bys),
    )


def _by_range(unfolding: Unfolding, name: str, sent: m.GroupByRange) -> a.GroupBy:
    return a.RangeGroupBy(
        name,
        named(sent),
        _ranges(sent.ranges),
        decode_breakdown(unfolding, sent.sub_aggs, sent.sub_group_bys),
    )


def _by_filter(unfolding: Unfolding, name: str, sent: m.GroupByFilter) -> a.GroupBy:
    return a.FilterGroupBy(
        name,
        tuple([decode_query(unfolding, each) for each in sent.filters]),
        decode_breakdown(unfolding, sent.sub_aggs, sent.sub_group_bys),
    )


def _by_geo_distance(unfolding: Unfolding, name: str, sent: m.GroupByGeoDistance) -> a.GroupBy:
    for part in ("lat", "lon"):
        if not sent.origin.HasField(part):
            raise invalid_field(sent, "origin")
    return a.DistanceGroupBy(
        name,
        named(sent),
        (number(sent.origin, "lat", 0.0), number(sent.origin, "lon", 0.0)),
        _ranges(sent.ranges),
        decode_breakdown(unfolding, sent.sub_aggs, sent.sub_group_bys),
    )


def _by_histogram(unfolding: Unfolding, name: str, sent: m.GroupByHistogram) -> a.GroupBy:
    return a.HistogramGroupBy(
        name,
        named(sent),
        variant(sent, "interval"),
        optional_variant(sent, "offset"),
        optional_variant(sent, "missing"),
        sent.min_doc_count if sent.HasField("min_doc_count") else None,
        _sort(sent.sort),
        _field_range(sent.field_range) if sent.HasField("field_range") else None,
        decode_breakdown(unfolding, sent.sub_aggs, sent.sub_group_bys),
    )


def _by_date_histogram(unfolding: Unfolding, name: str, sent: m.GroupByDateHistogram) -> a.GroupBy:
    return a.DateHistogramGroupBy(
        name,
        named(sent),
        decode_span(sent.interval),
        optional_span(sent, "offset", sent.offset),
        text(sent.time_zone) or None,
        optional_variant(sent, "missing"),
        sent.min_doc_count if sent.HasField("min_doc_count") else None,
        _sort(sent.sort),
        _field_range(sent.field_range) if sent.HasField("field_range") else None,
        decode_breakdown(unfolding, sent.sub_aggs, sent.sub_group_bys),
    )


def _by_geo_grid(unfolding: Unfolding, name: str, sent: m.GroupByGeoGrid) -> a.GroupBy:
    """The Go SDK sends a size of 0 where none was set."""
    return a.GeoGridGroupBy(
        name,
        named(sent),
        sent.precision if sent.HasField("precision") else None,
        sent.size or None,
        decode_breakdown(unfolding, sent.sub_aggs, sent.sub_group_bys),
    )


def _by_composite(unfolding: Unfolding, name: str, sent: m.GroupByComposite) -> a.GroupBy:
    sources: list[a.FieldGroupBy | a.HistogramGroupBy | a.DateHistogramGroupBy] = []
    for each in sent.sources.group_bys:
        source = _group_by(unfolding, each)
        if not isinstance(source, a.FieldGroupBy | a.HistogramGroupBy | a.DateHistogramGroupBy):
            raise invalid_field(sent, "sources")
        sources.append(source)
    return a.CompositeGroupBy(
        name,
        tuple(sources),
        sent.size if sent.HasField("size") else None,
        sent.suggested_size if sent.HasField("suggested_size") else None,
        text(sent.next_token) or None,
        decode_breakdown(unfolding, sent.sub_aggs, sent.sub_group_bys),
    )


_Grouping = Callable[[Unfolding, str, Any], a.GroupBy]
GROUP_BY_READERS: Final[Mapping[int, tuple[type[Message], _Grouping]]] = MappingProxyType(
    {
        1: (m.GroupByField, _by_field),
        2: (m.GroupByRange, _by_range),
        3: (m.GroupByFilter, _by_filter),
        4: (m.GroupByGeoDistance, _by_geo_distance),
        5: (m.GroupByHistogram, _by_histogram),
        6: (m.GroupByDateHistogram, _by_date_histogram),
        7: (m.GroupByGeoGrid, _by_geo_grid),
        8: (m.GroupByComposite, _by_composite),
    }
)
"""The message of each type of group-by, and what reads it (protos §4, GroupByType)."""

GROUP_BY_TYPES: Final[Mapping[type, int]] = MappingProxyType(
    {
        a.FieldGroupBy: 1,
        a.RangeGroupBy: 2,
        a.FilterGroupBy: 3,
        a.DistanceGroupBy: 4,
        a.HistogramGroupBy: 5,
        a.DateHistogramGroupBy: 6,
        a.GeoGridGroupBy: 7,
        a.CompositeGroupBy: 8,
    }
)
"""The numbers of the wire, by the values (protos §4, GroupByType)."""


def _ranges(sent: Iterable[m.Range]) -> tuple[tuple[float | None, float | None], ...]:
    """Ranges; an infinite bound is as good as none (search §6.3)."""
    return tuple([(_bound(each, "begin"), _bound(each, "end")) for each in sent])


def _bound(sent: m.Range, name: str) -> float | None:
    if not sent.HasField(name) or math.isinf(getattr(sent, name)):
        return None
    return number(sent, name, 0.0)


def _field_range(sent: m.FieldRange) -> tuple[Value | None, Value | None]:
    return optional_variant(sent, "min"), optional_variant(sent, "max")


def _sort(sent: m.GroupBySort) -> a.GroupSort:
    return tuple([_sorter(each) for each in sent.sorters])


def _sorter(sent: m.GroupBySorter) -> a.GroupSorter:
    kinds = [name for name in _SORTS if sent.HasField(name)]
    if len(kinds) != 1:
        raise invalid_field(sent, "kind")
    by = getattr(sent, kinds[0])
    key = _SORTS[kinds[0]]
    metric = named(by, "sub_agg_name") if key is a.GroupSortKey.METRIC else ""
    return a.GroupSorter(key, member(by, "order", _ORDERS, SortOrder.ASC), metric)


_SORTS: Final = {
    "group_key_sort": a.GroupSortKey.KEY,
    "row_count_sort": a.GroupSortKey.ROW_COUNT,
    "sub_agg_sort": a.GroupSortKey.METRIC,
}
