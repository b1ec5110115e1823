"""What searches answer: hits, metrics and groups as messages (search §5.3 to §5.7, §6).

Every number is set, also zeros: an SDK dereferences them (search §6). Messages that hold nothing
are left out, because another one asks whether they are there.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final

from google.protobuf.message import Message

from widerow.model.search import aggregation as a
from widerow.model.search.requests import Hit, SearchAnswer
from widerow.rows.cells import encode_variant
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.search.breakdowns import (
    AGGREGATION_TYPES,
    GROUP_BY_TYPES,
)

__all__ = ["encode_answer"]

Rows = Mapping[bytes, bytes]
"""Rows as complete PlainBuffers, by their encoded primary keys."""


def encode_answer(answer: SearchAnswer) -> bytes:
    """SearchResponse: one hit for each row, always: SDKs build their results of the hits."""
    sent = m.SearchResponse(
        total_hits=answer.total,
        rows=[hit.row for hit in answer.hits],
        is_all_succeeded=True,
        search_hits=[_hit(hit) for hit in answer.hits],
        consumed=_consumed(answer.read_units),
        reserved_consumed=_consumed(0),
    )
    if answer.token:
        sent.next_token = answer.token
    aggregations, group_bys = _parts(answer.breakdown, answer.rows)
    if aggregations is not None:
        sent.aggs = aggregations.SerializeToString()
    if group_bys is not None:
        sent.group_bys = group_bys.SerializeToString()
    return sent.SerializeToString()


def _consumed(read: int) -> m.ConsumedCapacity:
    return m.ConsumedCapacity(capacity_unit=m.CapacityUnit(read=read, write=0))


def _hit(hit: Hit) -> m.SearchHit:
    sent = m.SearchHit(
        score=hit.score,
        nested_doc_offset=hit.nested_offset,
        search_inner_hits=[
            m.SearchInnerHit(path=inner.path, search_hits=[_hit(each) for each in inner.hits])
            for inner in hit.inner
        ],
    )
    if hit.highlights is not None:
        sent.highlight_result.SetInParent()  # there, if empty (search §5.6)
        for name, fragments in hit.highlights:
            sent.highlight_result.highlight_fields.add(field_name=name, field_fragments=fragments)
    return sent


# --- aggregations and group-bys --------------------------------------------------------------


def _parts(
    answer: a.BreakdownAnswer, rows: Rows
) -> tuple[m.AggregationsResult | None, m.GroupBysResult | None]:
    """What one level came to; None for what was not asked for."""
    aggregations = group_bys = None
    if answer.aggregations:
        results = [_aggregation(each, rows) for each in answer.aggregations]
        aggregations = m.AggregationsResult(agg_results=results)
    if answer.group_bys:
        groups = [_group_by(each, rows) for each in answer.group_bys]
        group_bys = m.GroupBysResult(group_by_results=groups)
    return aggregations, group_bys


def _aggregation(answer: a.AggregationAnswer, rows: Rows) -> m.AggregationResult:
    asked, value = answer.asked, answer.value
    if isinstance(asked, a.Metric):
        number, result = asked.kind.value, _METRIC_RESULTS[asked.kind](value=value)
    else:
        number = AGGREGATION_TYPES[type(asked)]
        result = _rows(value, rows) if isinstance(asked, a.TopRows) else _percentiles(value)
    return m.AggregationResult(name=asked.name, type=number, agg_result=result.SerializeToString())


_METRIC_RESULTS: Final[Mapping[a.MetricKind, Callable[..., Message]]] = MappingProxyType(
    {
        a.MetricKind.AVG: m.AvgAggregationResult,
        a.MetricKind.MAX: m.MaxAggregationResult,
        a.MetricKind.MIN: m.MinAggregationResult,
        a.MetricKind.SUM: m.SumAggregationResult,
        a.MetricKind.COUNT: m.CountAggregationResult,
        a.MetricKind.DISTINCT_COUNT: m.DistinctCountAggregationResult,
    }
)


def _rows(keys: Any, rows: Rows) -> Message:  # noqa: ANN401  # a tuple of keys, by the aggregation
    """Rows that went since they were found are left out."""
    return m.TopRowsAggregationResult(rows=[rows[key] for key in keys if key in rows])


def _percentiles(pairs: Any) -> Message:  # noqa: ANN401  # a tuple of pairs, by the aggregation
    items = [
        m.PercentilesAggregationItem(key=key, value=encode_variant(value)) for key, value in pairs
    ]
    return m.PercentilesAggregationResult(percentiles_aggregation_items=items)


def _group_by(answer: a.GroupByAnswer, rows: Rows) -> m.GroupByResult:
    asked = answer.asked
    result = _GROUP_BY_RESULTS[type(asked)](answer, rows)
    return m.GroupByResult(
        name=asked.name,
        type=GROUP_BY_TYPES[type(asked)],
        group_by_result=result.SerializeToString(),
    )


def _below(group: a.SearchGroup, rows: Rows) -> dict[str, Any]:
    """What every group has under these names; None leaves a field out."""
    aggregations, group_bys = _parts(group.below, rows)
    return {"sub_aggs_result": aggregations, "sub_group_bys_result": group_bys}


def _counted(group: a.SearchGroup, rows: Rows) -> dict[str, Any]:
    return {"row_count": group.row_count, **_below(group, rows)}


def _key(group: a.SearchGroup) -> Any:  # noqa: ANN401  # by the group-by (`SearchGroup`)
    return group.key


def _fields(answer: a.GroupByAnswer, rows: Rows) -> Message:
    return m.GroupByFieldResult(
        group_by_field_result_items=[
            m.GroupByFieldResultItem(key=_key(group), **_counted(group, rows))
            for group in answer.groups
        ]
    )


def _ranges(answer: a.GroupByAnswer, rows: Rows) -> Message:
    return m.GroupByRangeResult(
        group_by_range_result_items=[
            m.GroupByRangeResultItem(**_bounds(group), **_counted(group, rows))
            for group in answer.groups
        ]
    )


def _distances(answer: a.GroupByAnswer, rows: Rows) -> Message:
    return m.GroupByGeoDistanceResult(
        group_by_geo_distance_result_items=[
            m.GroupByGeoDistanceResultItem(**_bounds(group), **_counted(group, rows))
            for group in answer.groups
        ]
    )


def _bounds(group: a.SearchGroup) -> dict[str, Any]:
    start, stop = _key(group)
    return {"range_from": start, "range_to": stop}


def _filters(answer: a.GroupByAnswer, rows: Rows) -> Message:
    return m.GroupByFilterResult(
        group_by_filter_result_items=[
            m.GroupByFilterResultItem(**_counted(group, rows)) for group in answer.groups
        ]
    )


def _histogram(answer: a.GroupByAnswer, rows: Rows) -> Message:
    return m.GroupByHistogramResult(
        group_by_histogram_items=[
            m.GroupByHistogramItem(
                key=encode_variant(_key(group)), value=group.row_count, **_below(group, rows)
            )
            for group in answer.groups
        ]
    )


def _date_histogram(answer: a.GroupByAnswer, rows: Rows) -> Message:
    return m.GroupByDateHistogramResult(
        group_by_date_histogram_items=[
            m.GroupByDateHistogramItem(timestamp=_key(group), **_counted(group, rows))
            for group in answer.groups
        ]
    )


def _geo_grid(answer: a.GroupByAnswer, rows: Rows) -> Message:
    return m.GroupByGeoGridResult(
        group_by_geo_grid_result_items=[
            m.GroupByGeoGridResultItem(
                key=_key(group), geo_grid=_cell(group.cell), **_counted(group, rows)
            )
            for group in answer.groups
        ]
    )


def _cell(cell: a.GeoCell | None) -> m.GeoGrid | None:
    if cell is None:
        return None
    (top, left), (bottom, right) = cell.top_left, cell.bottom_right
    return m.GeoGrid(
        top_left=m.GeoPoint(lat=top, lon=left), bottom_right=m.GeoPoint(lat=bottom, lon=right)
    )


def _composite(answer: a.GroupByAnswer, rows: Rows) -> Message:
    """Two lists for the keys of a group: SDKs tell a missing one by the second (search §6.3)."""
    asked = answer.asked
    sources = asked.sources if isinstance(asked, a.CompositeGroupBy) else ()
    items = []
    for group in answer.groups:
        keys = _key(group)
        items.append(
            m.GroupByCompositeResultItem(
                keys=[key or "" for key in keys],
                is_null_keys=[key is None for key in keys],
                **_counted(group, rows),
            )
        )
    return m.GroupByCompositeResult(
        group_by_composite_result_items=items,
        source_group_by_names=[source.name for source in sources],
        next_token=answer.token,
    )


_GROUP_BY_RESULTS: Final[Mapping[type, Callable[[a.GroupByAnswer, Rows], Message]]] = (
    MappingProxyType(
        {
            a.FieldGroupBy: _fields,
            a.RangeGroupBy: _ranges,
            a.FilterGroupBy: _filters,
            a.DistanceGroupBy: _distances,
            a.HistogramGroupBy: _histogram,
            a.DateHistogramGroupBy: _date_histogram,
            a.GeoGridGroupBy: _geo_grid,
            a.CompositeGroupBy: _composite,
        }
    )
)
