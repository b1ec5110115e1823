"""Aggregations and group-bys of every type, asked for and answered (search §6)."""

import math
from typing import Any

import pytest
import tablestore as sdk
from tablestore.decoder import OTSProtoBufferDecoder
from tablestore.protobuf import search_pb2
from tests.unit.wire.tablestore.operations.search.sent import by_hand, searched

from widerow.errors import InvalidRequest
from widerow.model.search import aggregation as a
from widerow.model.search import query as q
from widerow.model.search.requests import Hit, InnerHit, SearchAnswer
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.rows.cells import encode_variant
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.table import OPERATIONS

search = OPERATIONS["Search"]

ALL = sdk.MatchAllQuery()


def asked(aggs: list[Any] | None = None, group_bys: list[Any] | None = None) -> a.Breakdown:
    """What the server reads of aggregations and group-bys of the SDK."""
    return searched(sdk.SearchQuery(ALL, aggs=aggs, group_bys=group_bys)).breakdown


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (sdk.Avg("l", 8), a.Metric("avg", a.MetricKind.AVG, "l", 8)),
        (sdk.Max("l"), a.Metric("max", a.MetricKind.MAX, "l")),
        (sdk.Min("l", name="x"), a.Metric("x", a.MetricKind.MIN, "l")),
        (sdk.Sum("d", 0.5), a.Metric("sum", a.MetricKind.SUM, "d", 0.5)),
        (sdk.Count("k"), a.Metric("count", a.MetricKind.COUNT, "k")),
        (
            sdk.DistinctCount("k", "none"),
            a.Metric("distinct_count", a.MetricKind.DISTINCT_COUNT, "k", "none"),
        ),
        (
            sdk.Percentiles("l", [0, 50.5, 100]),
            a.PercentilesMetric("percentiles", "l", (0.0, 50.5, 100.0)),
        ),
        (
            sdk.TopRows(3, sdk.Sort([sdk.PrimaryKeySort()])),
            a.TopRows("top_rows", 3, q.SearchSort((q.PrimaryKeySort(),))),
        ),
    ],
)
def test_aggregations_of_the_sdk(sent: Any, read: a.Aggregation) -> None:  # noqa: ANN401  # of the SDK
    # search §6.2
    assert asked(aggs=[sent]) == a.Breakdown((read,))


def test_values_for_percentiles_of_rows_without_one() -> None:
    # search §6.1
    message = m.PercentilesAggregation(field_name="l", missing=encode_variant(7))
    agg = m.Aggregation(name="p", type=8, body=message.SerializeToString())
    read = search.decode(by_hand(aggs=m.Aggregations(aggs=[agg]))).breakdown
    assert read.aggregations == (a.PercentilesMetric("p", "l", (), 7),)


def test_top_rows_that_say_nothing() -> None:
    # search §6.2: limit 1, in the order of the query
    body = by_hand(aggs=m.Aggregations(aggs=[m.Aggregation(name="n", type=7)]))
    assert search.decode(body).breakdown == a.Breakdown((a.TopRows("n"),))


BELOW = a.Breakdown(
    (a.Metric("avg", a.MetricKind.AVG, "d"),), (a.FieldGroupBy("group_by_field", "k"),)
)
SUB: dict[str, Any] = {"sub_aggs": [sdk.Avg("d")], "sub_group_bys": [sdk.GroupByField("k")]}
SORTED = (
    a.GroupSorter(a.GroupSortKey.METRIC, q.SortOrder.ASC, "avg"),
    a.GroupSorter(a.GroupSortKey.KEY, q.SortOrder.DESC),
    a.GroupSorter(a.GroupSortKey.ROW_COUNT, q.SortOrder.ASC),
)
SORT = [
    sdk.SubAggSort(sdk.SortOrder.ASC, "avg"),
    sdk.GroupKeySort(sdk.SortOrder.DESC),
    sdk.RowCountSort(sdk.SortOrder.ASC),
]
DAY = q.DateTimeValue(1, q.DateTimeUnit.DAY)
HOURS = q.DateTimeValue(6, q.DateTimeUnit.HOUR)


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (
            sdk.GroupByField("l", 2, SORT, **SUB),
            a.FieldGroupBy("group_by_field", "l", 2, SORTED, None, BELOW),
        ),
        (
            sdk.GroupByRange("l", [(0, 10), (float("-inf"), 3)], **SUB),
            a.RangeGroupBy("group_by_range", "l", ((0.0, 10.0), (None, 3.0)), BELOW),
        ),
        (
            sdk.GroupByFilter([sdk.ExistsQuery("k")], **SUB),
            a.FilterGroupBy("group_by_filter", (q.ExistsQuery("k"),), BELOW),
        ),
        (
            sdk.GroupByGeoDistance("g", sdk.GeoPoint(31, 116), [(0, 300000)], **SUB),
            a.DistanceGroupBy(
                "group_by_geo_distance", "g", (31.0, 116.0), ((0.0, 300000.0),), BELOW
            ),
        ),
        (
            sdk.GroupByHistogram("l", 2, sdk.FieldRange(0, 3), 1, 4, **SUB),
            a.HistogramGroupBy("group_by_histogram", "l", 2, None, 1, 4, (), (0, 3), BELOW),
        ),
        (
            sdk.GroupByDateHistogram(
                "t",
                sdk.DateTimeValue(1, sdk.DateTimeUnit.DAY),
                sdk.FieldRange("2020-01-01", "2021-01-01"),
                "2020-06-01",
                0,
                "+05:30",
                SORT,
                sdk.DateTimeValue(6, sdk.DateTimeUnit.HOUR),
                **SUB,
            ),
            a.DateHistogramGroupBy(
                "group_by_date_histogram",
                "t",
                DAY,
                HOURS,
                "+05:30",
                "2020-06-01",
                0,
                SORTED,
                ("2020-01-01", "2021-01-01"),
                BELOW,
            ),
        ),
        (
            sdk.GroupByGeoGrid("g", sdk.GeoHashPrecision.GHP_156KM_156KM_3, 10, **SUB),
            a.GeoGridGroupBy("group_by_geo_grid", "g", 3, 10, BELOW),
        ),
        (
            sdk.GroupByComposite(
                [sdk.GroupByField("k", name="s1"), sdk.GroupByField("l", name="s2")],
                5,
                "token",
                7,
                **SUB,
            ),
            a.CompositeGroupBy(
                "group_by_composite",
                (a.FieldGroupBy("s1", "k"), a.FieldGroupBy("s2", "l")),
                5,
                7,
                "token",
                BELOW,
            ),
        ),
    ],
)
def test_group_bys_of_the_sdk(sent: Any, read: a.GroupBy) -> None:  # noqa: ANN401  # of the SDK
    # search §6.3
    assert asked(group_bys=[sent]) == a.Breakdown((), (read,))


def grouped(number: int, message: Any) -> bytes:  # noqa: ANN401  # a message of a group-by
    group = m.GroupBy(name="g", type=number, body=message.SerializeToString())
    return by_hand(group_bys=m.GroupBys(group_bys=[group]))


def test_what_other_sdks_say_of_groups() -> None:
    # search §6.3: min_doc_count of a field and offset of a histogram (N, J); open ranges
    read = search.decode(grouped(1, m.GroupByField(field_name="l", min_doc_count=3)))
    assert read.breakdown.group_bys == (a.FieldGroupBy("g", "l", min_doc_count=3),)
    histogram = m.GroupByHistogram(
        field_name="d",
        interval=encode_variant(2.5),
        offset=encode_variant(0.5),
        sort=m.GroupBySort(sorters=[m.GroupBySorter(row_count_sort=m.RowCountSort(order=1))]),
    )
    read = search.decode(grouped(5, histogram))
    fewest = a.GroupSorter(a.GroupSortKey.ROW_COUNT, q.SortOrder.DESC)
    assert read.breakdown.group_bys == (a.HistogramGroupBy("g", "d", 2.5, 0.5, sort=(fewest,)),)
    read = search.decode(grouped(2, m.GroupByRange(field_name="l", ranges=[m.Range(end=1.0)])))
    assert read.breakdown.group_bys == (a.RangeGroupBy("g", "l", ((None, 1.0),)),)


def test_a_grid_of_the_go_sdk_that_says_no_size() -> None:
    read = search.decode(grouped(7, m.GroupByGeoGrid(field_name="g", size=0)))
    assert read.breakdown.group_bys == (a.GeoGridGroupBy("g", "g"),)


@pytest.mark.parametrize(
    "body",
    [
        by_hand(aggs=m.Aggregations(aggs=[m.Aggregation(name="x")])),
        by_hand(aggs=m.Aggregations(aggs=[m.Aggregation(name="x", type=9)])),
        by_hand(aggs=m.Aggregations(aggs=[m.Aggregation(name="x", type=1)])),
        by_hand(group_bys=m.GroupBys(group_bys=[m.GroupBy(name="x", type=9)])),
        grouped(2, m.GroupByRange(field_name="l", ranges=[m.Range(begin=math.nan)])),
        grouped(4, m.GroupByGeoDistance(field_name="g")),
        grouped(5, m.GroupByHistogram(field_name="l")),
        grouped(6, m.GroupByDateHistogram(field_name="l")),
        grouped(1, m.GroupByField(field_name="l", sort=m.GroupBySort(sorters=[m.GroupBySorter()]))),
        grouped(
            8,
            m.GroupByComposite(sources=m.GroupBys(group_bys=[m.GroupBy(name="x", type=3)])),
        ),
    ],
)
def test_what_is_no_aggregation_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidRequest) as caught:
        search.decode(body)
    assert caught.value.rule is TablestoreRule.SEARCH_MESSAGE_VALUE


# --- answers ---------------------------------------------------------------------------------


def answered(breakdown: a.BreakdownAnswer, rows: dict[bytes, bytes] | None = None) -> Any:  # noqa: ANN401  # of the SDK
    """A response as the SDK reads it."""
    data = search.encode(SearchAnswer(-1, (), b"", breakdown, rows or {}, 1))
    decoder = OTSProtoBufferDecoder("utf-8", enable_native=False)
    return decoder.decode_response("Search", data, "request")[0]


def test_metrics_are_answered_with_their_zeros() -> None:
    # search §6: Go dereferences every number
    kinds = [*a.MetricKind]
    values: list[float | int] = [math.inf, -math.inf, math.inf, 0.0, 0, 0]
    answers = tuple(
        a.AggregationAnswer(a.Metric(kind.name, kind, "l"), value)
        for kind, value in zip(kinds, values, strict=True)
    )
    read = answered(a.BreakdownAnswer(answers))
    assert [(each.name, each.value) for each in read.agg_results] == [
        (kind.name, value) for kind, value in zip(kinds, values, strict=True)
    ]
    sent = m.SearchResponse.FromString(
        search.encode(SearchAnswer(-1, (), b"", a.BreakdownAnswer(answers), {}, 1))
    )
    results = m.AggregationsResult.FromString(sent.aggs)
    assert all(
        getattr(search_pb2, name).FromString(result.agg_result).HasField("value")
        for name, result in zip(
            (
                "AvgAggregationResult",
                "MaxAggregationResult",
                "MinAggregationResult",
                "SumAggregationResult",
                "CountAggregationResult",
                "DistinctCountAggregationResult",
            ),
            results.agg_results,
            strict=True,
        )
    )


def test_percentiles_are_answered_as_values() -> None:
    # search §6.2
    asked_for = a.PercentilesMetric("p", "l", (50.0,))
    answer = a.AggregationAnswer(asked_for, ((0.0, -1), (50.0, 49)))
    read = answered(a.BreakdownAnswer((answer,))).agg_results[0]
    assert [(each.key, each.value) for each in read.value] == [(0.0, -1), (50.0, 49)]


def _group(key: Any, count: int = 0, cell: a.GeoCell | None = None) -> a.SearchGroup:  # noqa: ANN401  # by the group-by
    return a.SearchGroup(key, count, a.BreakdownAnswer(), cell)


@pytest.mark.parametrize(
    ("group_by", "groups", "seen"),
    [
        (
            a.FieldGroupBy("g", "l"),
            (_group("4"), _group("", 2)),
            lambda item: (item.key, item.row_count),
        ),
        (
            a.RangeGroupBy("g", "l", ()),
            (_group((-math.inf, 0.0)), _group((0.0, math.inf), 2)),
            lambda item: ((item.range_from, item.range_to), item.row_count),
        ),
        (a.FilterGroupBy("g", ()), (_group(None, 3),), lambda item: (None, item.row_count)),
        (
            a.DistanceGroupBy("g", "p", (0.0, 0.0), ()),
            (_group((0.0, math.inf)),),
            lambda item: ((item.range_from, item.range_to), item.row_count),
        ),
        (
            a.HistogramGroupBy("g", "l", 2),
            (_group(0, 2), _group(-2)),
            lambda item: (item.key, item.value),
        ),
        (
            a.DateHistogramGroupBy("g", "t", DAY),
            (_group(0), _group(86_400_000, 1)),
            lambda item: (item.timestamp, item.row_count),
        ),
        (
            a.CompositeGroupBy("g", (a.FieldGroupBy("s", "l"), a.FieldGroupBy("u", "k"))),
            (_group(("1", None), 2), _group(("", "x"))),
            lambda item: (tuple(item.keys), item.row_count),
        ),
    ],
)
def test_groups_are_answered_as_the_sdk_reads_them(
    group_by: a.GroupBy,
    groups: tuple[a.SearchGroup, ...],
    seen: Any,  # noqa: ANN401  # of an item of the SDK
) -> None:
    # search §6.3
    read = answered(a.BreakdownAnswer((), (a.GroupByAnswer(group_by, groups),)))
    assert [seen(item) for item in read.group_by_results[0].items] == [
        (group.key, group.row_count) for group in groups
    ]


def test_cells_of_a_grid() -> None:
    # search §6.3: top_left is the largest latitude with the smallest longitude
    cell = a.GeoCell((30.9375, 119.53125), (29.53125, 120.9375))
    answer = a.GroupByAnswer(a.GeoGridGroupBy("g", "p"), (_group("wtm", 10, cell),))
    item = answered(a.BreakdownAnswer((), (answer,))).group_by_results[0].items[0]
    assert (item.key, item.row_count) == ("wtm", 10)
    assert (item.geo_grid.top_left.lat, item.geo_grid.top_left.lon) == cell.top_left
    assert (item.geo_grid.bottom_right.lat, item.geo_grid.bottom_right.lon) == cell.bottom_right


def test_a_composite_names_its_sources_and_goes_on() -> None:
    # search §6.3: is_null_keys for every item, because SDKs compare the lengths
    asked_for = a.CompositeGroupBy("g", (a.FieldGroupBy("s", "l"), a.FieldGroupBy("u", "k")))
    answer = a.GroupByAnswer(asked_for, (_group(("1", None), 2),), "further")
    data = search.encode(SearchAnswer(-1, (), b"", a.BreakdownAnswer((), (answer,)), {}, 1))
    sent = m.GroupBysResult.FromString(m.SearchResponse.FromString(data).group_bys)
    result = m.GroupByCompositeResult.FromString(sent.group_by_results[0].group_by_result)
    assert list(result.source_group_by_names) == ["s", "u"]
    assert result.next_token == "further"
    item = result.group_by_composite_result_items[0]
    assert (list(item.keys), list(item.is_null_keys)) == (["1", ""], [False, True])
    assert not item.HasField("sub_aggs_result")
    assert not item.HasField("sub_group_bys_result")


def test_groups_below_groups() -> None:
    # search §6.3: recursion, with the rows of top rows by their keys; one that went is left out
    top = a.AggregationAnswer(a.TopRows("top", 2), (b"one", b"gone"))
    below = a.BreakdownAnswer((top,), (a.GroupByAnswer(a.FilterGroupBy("f", ()), (_group(None),)),))
    group = a.SearchGroup("x", 1, below)
    answer = a.BreakdownAnswer((), (a.GroupByAnswer(a.FieldGroupBy("g", "k"), (group,)),))
    data = search.encode(SearchAnswer(-1, (), b"", answer, {b"one": b"row"}, 1))
    outer = m.GroupBysResult.FromString(m.SearchResponse.FromString(data).group_bys)
    item = m.GroupByFieldResult.FromString(
        outer.group_by_results[0].group_by_result
    ).group_by_field_result_items[0]
    found = item.sub_aggs_result.agg_results[0]
    assert list(m.TopRowsAggregationResult.FromString(found.agg_result).rows) == [b"row"]
    assert [each.name for each in item.sub_group_bys_result.group_by_results] == ["f"]


# --- hits ------------------------------------------------------------------------------------


def response(answer: SearchAnswer) -> m.SearchResponse:
    return m.SearchResponse.FromString(search.encode(answer))


def test_an_answer_sets_what_clients_read_unseen() -> None:
    # search §5.3, §5.7, protos §0 rule 6: Go dereferences totals, success and units
    sent = response(SearchAnswer(0, (), b"", a.BreakdownAnswer(), {}, 3))
    assert sent.HasField("total_hits")
    assert sent.is_all_succeeded
    assert sent.consumed.capacity_unit.read == 3
    assert sent.consumed.capacity_unit.HasField("write")
    assert sent.reserved_consumed.capacity_unit.HasField("read")
    assert sent.reserved_consumed.capacity_unit.HasField("write")
    assert not sent.HasField("next_token")
    assert not sent.HasField("aggs")
    assert not sent.HasField("group_bys")


def test_each_row_has_a_hit_with_a_score() -> None:
    # search §4.3: no number where none was computed, and hits all the same
    hits = (Hit(math.nan, b"r1"), Hit(0.0, b"r2", highlights=()))
    sent = response(SearchAnswer(-1, hits, b"token", a.BreakdownAnswer(), {}, 1))
    assert list(sent.rows) == [b"r1", b"r2"]
    first, second = sent.search_hits
    assert math.isnan(first.score)
    assert not first.HasField("highlight_result")
    assert second.HasField("score")
    assert second.HasField("highlight_result")
    assert not first.HasField("nested_doc_offset")
    assert sent.next_token == b"token"


def test_hits_below_a_row() -> None:
    # search §4.4, §5.6
    deepest = Hit(0.5, highlights=(("n.m.t", ("<em>a</em>",)),), nested_offset=1)
    below = Hit(1.5, inner=(InnerHit("n.m", (deepest,)),), nested_offset=0)
    hit = Hit(2.0, b"row", inner=(InnerHit("n", (below,)),))
    sent = response(SearchAnswer(1, (hit,), b"", a.BreakdownAnswer(), {}, 1))
    inner = sent.search_hits[0].search_inner_hits[0]
    assert inner.path == "n"
    assert inner.search_hits[0].HasField("nested_doc_offset")
    last = inner.search_hits[0].search_inner_hits[0].search_hits[0]
    assert last.nested_doc_offset == 1
    field = last.highlight_result.highlight_fields[0]
    assert (field.field_name, list(field.field_fragments)) == ("n.m.t", ["<em>a</em>"])


@pytest.mark.parametrize("value", [5, 0.5, "x", True])
def test_values_of_a_missing_are_variants(value: Value) -> None:
    # wire §2.5
    message = m.AvgAggregation(field_name="l", missing=encode_variant(value))
    agg = m.Aggregation(name="x", type=1, body=message.SerializeToString())
    read = search.decode(by_hand(aggs=m.Aggregations(aggs=[agg]))).breakdown
    assert read == a.Breakdown((a.Metric("x", a.MetricKind.AVG, "l", value),))
