"""Search indexes through the vendor's Python SDK: what its own suites rely on (search §9, row P).

Rows are those of the page's counts: a thousand with `k` = key000 … key999, `l` = 0 … 999.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
import tablestore as sdk
from tablestore.retry import NoRetryPolicy

from widerow.system import SystemClock

T = sdk.FieldType
NONE = sdk.ReservedThroughput(sdk.CapacityUnit(0, 0))
KEY = [("PK1", "INTEGER"), ("PK2", "STRING")]
ROWS = 1000
PATIENCE_S = 200
FIELDS = [
    sdk.FieldSchema("k", T.KEYWORD, index=True, enable_sort_and_agg=True, store=True),
    sdk.FieldSchema("t", T.TEXT, index=True, store=True, analyzer="single_word"),
    sdk.FieldSchema("g", T.GEOPOINT, index=True, store=True),
    sdk.FieldSchema("ka", T.KEYWORD, index=True, is_array=True, store=True),
    sdk.FieldSchema("la", T.LONG, index=True, is_array=True, store=True),
    sdk.FieldSchema("l", T.LONG, index=True, store=True),
    sdk.FieldSchema("b", T.BOOLEAN, index=True, store=True),
    sdk.FieldSchema("d", T.DOUBLE, index=True, store=True),
    sdk.FieldSchema("date", T.DATE, date_formats=["yyyy-MM-dd"]),
    sdk.FieldSchema("name", T.TEXT, analyzer="fuzzy"),
    sdk.FieldSchema(
        "v",
        T.VECTOR,
        vector_options=sdk.VectorOptions(
            sdk.VectorDataType.VD_FLOAT_32, sdk.VectorMetricType.VM_EUCLIDEAN, 2
        ),
    ),
]
NESTED = sdk.FieldSchema(
    "n",
    T.NESTED,
    sub_field_schemas=[
        sdk.FieldSchema("nk", T.KEYWORD, index=True),
        sdk.FieldSchema("nl", T.LONG, index=True),
    ],
)
ALL = sdk.ColumnsToGet(return_type=sdk.ColumnReturnType.ALL)
ASCENDING = sdk.Sort([sdk.PrimaryKeySort()])
SOME = sdk.RangeQuery("k", "key100", "key200", include_lower=False, include_upper=True)


def row(n: int) -> sdk.Row:
    """One of the thousand."""
    columns = [
        ("k", f"key{n:03}"),
        ("t", f"this is {n}"),
        ("g", f"{30.0 + 0.05 * (n // 100)},{114.0 + 0.05 * (n % 100)}"),
        ("ka", json.dumps(["a", "b", str(n)])),
        ("la", json.dumps([-1, n])),
        ("l", n),
        ("b", n % 2 == 0),
        ("d", 0.1),
        ("date", f"2022-05-{n % 31 + 1}"),
        ("name", "苏州" if n % 5 == 0 else "杭州"),
        ("v", json.dumps([n, 0])),
        ("n", json.dumps([{"nk": f"key{n:03}", "nl": n}])),
    ]
    return sdk.Row([("PK1", n), ("PK2", f"pk_{n}")], columns)


def written(ots: sdk.OTSClient, table: str, rows: list[sdk.Row]) -> None:
    for start in range(0, len(rows), 200):
        batch = sdk.BatchWriteRowRequest()
        puts = [
            sdk.PutRowItem(each, sdk.Condition(sdk.RowExistenceExpectation.IGNORE))
            for each in rows[start : start + 200]
        ]
        batch.add(sdk.TableInBatchWriteRowItem(table, puts))
        assert ots.batch_write_row(batch).is_all_succeed()


def created(ots: sdk.OTSClient, table: str, key: list[tuple[str, str]] = KEY) -> None:
    ots.create_table(sdk.TableMeta(table, key), sdk.TableOptions(), NONE)


# A process that takes tests of this file from another one may set the table up again.
_SETS = count()


@pytest.fixture(scope="module", params=["memory", "rocksdb", "postgres", "hbase"])
def thousand(request: pytest.FixtureRequest) -> Iterator[sdk.OTSClient]:
    """A table with a thousand rows and two indexes: `x`, and `y` with the nested field."""
    endpoint = request.getfixturevalue(request.param)
    native = request.param == "rocksdb"
    ots = sdk.OTSClient(
        endpoint,
        "widerow",
        "widerow",
        f"thousand{next(_SETS)}",
        retry_policy=NoRetryPolicy(),
        enable_native=native,
    )
    created(ots, "t")
    ots.create_search_index("t", "x", sdk.SearchIndexMeta(FIELDS))
    written(ots, "t", [row(n) for n in range(ROWS)])
    ots.create_search_index("t", "y", sdk.SearchIndexMeta([*FIELDS, NESTED]))
    for name in ("x", "y"):
        built(ots, name)
    yield ots
    ots.connection.pool.clear()


def built(ots: sdk.OTSClient, name: str) -> Any:  # noqa: ANN401  # what the SDK describes
    """An index of `t` as soon as it is built: on a shared store not at once."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        meta, sync = ots.describe_search_index("t", name)
        if sync.sync_phase == sdk.SyncPhase.INCR:
            return meta, sync
        assert time.monotonic() < deadline, "the index is not built"
        threading.Event().wait(0.2)


def found(
    ots: sdk.OTSClient,
    query: Any,  # noqa: ANN401  # a query of the SDK
    index: str = "x",
    columns: sdk.ColumnsToGet | None = None,
    **asked: Any,  # noqa: ANN401  # of SearchQuery
) -> Any:  # noqa: ANN401  # a response of the SDK
    request = sdk.SearchQuery(query, **{"limit": 100, "get_total_count": True} | asked)
    return ots.search("t", index, request, columns or sdk.ColumnsToGet())


@pytest.mark.parametrize(
    ("query", "count"),
    [
        (sdk.MatchAllQuery(), 1000),
        (sdk.RangeQuery("k", "key100", "key200", include_lower=False, include_upper=False), 99),
        (sdk.RangeQuery("k", "key100", "key200", include_lower=True, include_upper=True), 101),
        (sdk.RangeQuery("la", 100, 300, include_lower=True, include_upper=True), 201),
        (sdk.RangeQuery("la", "100", "300", include_lower=True, include_upper=True), 201),
        (sdk.RangeQuery("l", 100, 300), 200),
        (sdk.RangeQuery("l", "100", "300"), 200),
        (sdk.PrefixQuery("k", "key00"), 10),
        (sdk.PrefixQuery("t", "this"), 1000),
        (sdk.PrefixQuery("t", "this is"), 0),
        (sdk.WildcardQuery("k", "key00*"), 10),
        (sdk.WildcardQuery("t", "t*"), 1000),
        (sdk.TermsQuery("k", ["key000", "key100", "key888", "key999", "key908", "key1000"]), 5),
        (sdk.TermsQuery("t", ["this", "is"]), 1000),
        (sdk.TermsQuery("l", [0, 999, 1000, 1002]), 2),
        (sdk.TermQuery("d", 0.1), 1000),
        (sdk.TermQuery("ka", "a"), 1000),
        (sdk.TermQuery("l", "900"), 1),
        (sdk.TermQuery("t", "100"), 1),
        (sdk.TermQuery("b", column_value=True), 500),
        (sdk.MatchQuery("t", "this is 0", 3, sdk.QueryOperator.OR), 1),
        (sdk.MatchQuery("t", "this is 0", 1, sdk.QueryOperator.AND), 1),
        (sdk.MatchQuery("t", "this is 0"), 1000),
        (sdk.MatchPhraseQuery("t", "is 5"), 1),
        (sdk.MatchPhraseQuery("t", "5 is"), 0),
        (sdk.MatchPhraseQuery("k", "key999"), 1),
        (sdk.MatchPhraseQuery("name", "苏"), 200),
        (sdk.ExistsQuery("k"), 1000),
        (sdk.BoolQuery(must_not_queries=[sdk.ExistsQuery("k")]), 0),
        (
            sdk.BoolQuery(
                must_queries=[SOME, sdk.ExistsQuery("b")],
                must_not_queries=[sdk.RangeQuery("l", 150, 200)],
            ),
            50,
        ),
        (
            sdk.BoolQuery(
                must_queries=[SOME],
                must_not_queries=[sdk.RangeQuery("l", 150, 200), sdk.ExistsQuery("b")],
            ),
            0,
        ),
        (sdk.GeoDistanceQuery("g", "32.5,116.5", 300_000), 668),
        (sdk.GeoBoundingBoxQuery("g", "30.9,112.0", "30.2,119.0"), 500),
        (sdk.GeoPolygonQuery("g", ["30.9,112.0", "30.5,115.0", "30.3, 117.0", "30.2,119.0"]), 90),
        # dd is strict: days 1 to 9 have one digit and are not dates
        (
            sdk.RangeQuery("date", "2022-05-06", "2022-05-12", include_upper=True),
            96,
        ),
    ],
)
def test_counts_of_the_suites(thousand: sdk.OTSClient, query: Any, count: int) -> None:  # noqa: ANN401  # a query of the SDK
    # search §4.1, §2.3, §4.6
    assert found(thousand, query, limit=0).total_count == count


def numbers(rows: Any) -> list[int]:  # noqa: ANN401  # rows of the SDK
    return [key[0][1] for key, _ in rows]


def test_bools_and_orders(thousand: sdk.OTSClient) -> None:
    # search §4.2, §5.1
    descending = sdk.Sort([sdk.FieldSort("l", sdk.SortOrder.DESC)])
    query = sdk.BoolQuery(
        must_queries=[sdk.RangeQuery("k", "key100", "key500", include_lower=False)],
        must_not_queries=[sdk.RangeQuery("l", 150, 200)],
        filter_queries=[sdk.RangeQuery("l", range_to=250)],
    )
    answer = found(thousand, query, sort=descending)
    assert numbers(answer.rows) == [*range(249, 199, -1), *range(149, 100, -1)]
    query = sdk.BoolQuery(
        should_queries=[
            sdk.RangeQuery("l", 100, 200),
            sdk.RangeQuery("k", "key121", "key900", include_lower=False),
            sdk.TermQuery("l", 5),
        ],
        minimum_should_match=2,
    )
    answer = found(thousand, query, sort=sdk.Sort([sdk.FieldSort("l")]))
    assert numbers(answer.rows) == [*range(122, 200)]
    ascending = found(thousand, sdk.MatchAllQuery(), sort=sdk.Sort([sdk.FieldSort("l")]))
    assert numbers(ascending.rows) == [*range(100)]


def test_pages_lead_through_all_rows_and_end(thousand: sdk.OTSClient) -> None:
    # search §5.2: a token where the page is full
    seen: list[int] = []
    token = None
    while True:
        answer = found(thousand, sdk.MatchAllQuery(), next_token=token, limit=300)
        seen += numbers(answer.rows)
        token = answer.next_token
        if not token:
            break
    assert seen == [*range(ROWS)]
    assert not found(thousand, sdk.RangeQuery("l", 0, 90)).next_token


def test_columns_of_the_rows(thousand: sdk.OTSClient) -> None:
    # search §5.4: by name, and the table's own bytes
    query = sdk.TermQuery("l", 7)
    rows = found(thousand, query, columns=ALL).rows
    assert rows[0][0] == [("PK1", 7), ("PK2", "pk_7")]
    columns = rows[0][1]
    assert [name for name, _, _ in columns] == sorted(name for name, _ in row(7).attribute_columns)
    assert columns[2][:2] == ("date", "2022-05-8")
    assert {name: value for name, value, _ in columns}["ka"] == '["a", "b", "7"]'
    some = sdk.ColumnsToGet(["l", "k", "nothing"], sdk.ColumnReturnType.SPECIFIED)
    rows = found(thousand, query, columns=some).rows
    assert [cell[:2] for cell in rows[0][1]] == [("k", "key007"), ("l", 7)]
    stored = sdk.ColumnsToGet(return_type=sdk.ColumnReturnType.ALL_FROM_INDEX)
    rows = found(thousand, query, columns=stored).rows
    assert {"k", "l", "g"} <= {cell[0] for cell in rows[0][1]}
    assert found(thousand, query).rows[0][1] == []


def test_nested_documents(thousand: sdk.OTSClient) -> None:
    # search §4.4; §5.1: no token where fields are nested
    one = sdk.NestedQuery("n", sdk.TermQuery("n.nk", "key010"))
    assert numbers(found(thousand, one, "y").rows) == [10]
    many = sdk.RangeQuery("n.nl", 100, 300, include_lower=True, include_upper=True)
    answer = found(thousand, sdk.NestedQuery("n", many), "y")
    assert answer.total_count == 201
    assert not answer.next_token
    hits = sdk.InnerHits(None, 0, 3, None)
    answer = found(thousand, sdk.NestedQuery("n", many, inner_hits=hits), "y", limit=1)
    (hit,) = answer.search_hits
    (inner,) = hit.search_inner_hits
    assert inner.path == "n"
    assert inner.search_hits[0].row is None
    assert inner.search_hits[0].nested_doc_offset == 0


def test_nearest_vectors(thousand: sdk.OTSClient) -> None:
    # search §4.8: k is at least the limit, and no total unless it is asked for
    query = sdk.KnnVectorQuery("v", 10, [5.0, 0.0])
    answer = found(thousand, query, get_total_count=False)
    assert len(answer.rows) == 100
    assert answer.next_token
    assert answer.total_count == -1
    nearest = found(thousand, query, limit=3, sort=sdk.Sort([sdk.ScoreSort()]))
    assert numbers(nearest.rows)[0] == 5
    assert nearest.search_hits[0].score == 1.0
    among = sdk.KnnVectorQuery("v", 2, [5.0, 0.0], sdk.RangeQuery("l", 100))
    answer = found(thousand, among, limit=2, sort=sdk.Sort([sdk.ScoreSort()]))
    assert numbers(answer.rows) == [100, 101]


def test_routing_is_a_hint(thousand: sdk.OTSClient) -> None:
    # search §5.7
    request = sdk.SearchQuery(sdk.TermQuery("d", 0.1), limit=10, get_total_count=True)
    answer = thousand.search("t", "x", request, ALL, routing_keys=[[("PK1", 0)]])
    assert answer.total_count == ROWS


# --- aggregations and groups -----------------------------------------------------------------

HUNDRED = sdk.RangeQuery("l", 0, 100)


@pytest.mark.parametrize(
    ("aggregation", "value"),
    [
        (sdk.Avg("l"), 49.5),
        (sdk.Avg("la"), 24.25),
        (sdk.Max("la"), 99.0),
        (sdk.Min("la"), -1.0),
        (sdk.Sum("l"), 4950.0),
        (sdk.Sum("la"), 4850.0),
        (sdk.Sum("d"), 10.0),
        (sdk.Count("la"), 200),
        (sdk.Count("ka"), 300),
        (sdk.DistinctCount("la"), 101),
        (sdk.DistinctCount("ka"), 102),
        (sdk.DistinctCount("b"), 2),
    ],
)
def test_metrics_of_the_suites(
    thousand: sdk.OTSClient,
    aggregation: Any,  # noqa: ANN401  # of the SDK
    value: float,
) -> None:
    # search §6.2
    answer = found(thousand, HUNDRED, limit=0, aggs=[aggregation])
    assert answer.agg_results[0].value == pytest.approx(value, abs=1e-7)


@pytest.mark.parametrize(
    ("field", "items"),
    [("l", [(0.0, 0), (50.0, 49), (90.0, 89)]), ("la", [(0.0, -1), (50.0, 0), (90.0, 79)])],
)
def test_percentiles_of_the_suites(
    thousand: sdk.OTSClient, field: str, items: list[tuple[float, int]]
) -> None:
    # search §6.2
    wanted = sdk.Percentiles(field, [90, 0, 50])
    answer = found(thousand, HUNDRED, limit=0, aggs=[wanted])
    assert [(each.key, each.value) for each in answer.agg_results[0].value] == items


def test_top_rows(thousand: sdk.OTSClient) -> None:
    # search §6.2, §9: primary keys only
    answer = found(thousand, HUNDRED, limit=0, aggs=[sdk.TopRows(2, ASCENDING)])
    assert answer.agg_results[0].value == [
        ([("PK1", 0), ("PK2", "pk_0")], []),
        ([("PK1", 1), ("PK2", "pk_1")], []),
    ]


def grouped(ots: sdk.OTSClient, group_by: Any) -> Any:  # noqa: ANN401  # of the SDK
    answer = found(ots, HUNDRED, limit=0, group_bys=[group_by])
    return answer.group_by_results[0].items


def test_groups_of_the_suites(thousand: sdk.OTSClient) -> None:
    # search §6.3, §9
    by_flag = grouped(thousand, sdk.GroupByField("b"))
    assert {(item.key, item.row_count) for item in by_flag} == {("false", 50), ("true", 50)}
    few = grouped(thousand, sdk.GroupByField("l", 2, [sdk.GroupKeySort(sdk.SortOrder.DESC)]))
    assert [(item.key, item.row_count) for item in few] == [("99", 1), ("98", 1)]
    ranges = grouped(thousand, sdk.GroupByRange("la", [(0, 10), (11, 25)]))
    assert [(item.range_from, item.range_to, item.row_count) for item in ranges] == [
        (0.0, 10.0, 10),
        (11.0, 25.0, 14),
    ]
    filters = [sdk.RangeQuery("l", 0, 33), sdk.TermQuery("d", 0.1)]
    assert [item.row_count for item in grouped(thousand, sdk.GroupByFilter(filters))] == [33, 100]
    distances = sdk.GroupByGeoDistance(
        "g", sdk.GeoPoint(31, 116), [(0, 300_000), (300_000, 1_000_000)]
    )
    assert sum(item.row_count for item in grouped(thousand, distances)) == 100
    histogram = sdk.GroupByHistogram("l", 2, sdk.FieldRange(0, 3))
    assert [(item.key, item.value) for item in grouped(thousand, histogram)] == [(0, 2), (2, 2)]
    grid = sdk.GroupByGeoGrid("g", sdk.GeoHashPrecision.GHP_156KM_156KM_3)
    assert sum(item.row_count for item in grouped(thousand, grid)) == 100


def test_groups_within_groups_and_sorted_by_a_metric(thousand: sdk.OTSClient) -> None:
    # search §6.3
    group_by = sdk.GroupByField(
        "b",
        group_by_sort=[sdk.SubAggSort(sdk.SortOrder.DESC, "most")],
        sub_aggs=[sdk.Max("l", name="most"), sdk.TopRows(1, ASCENDING, name="first")],
        sub_group_bys=[sdk.GroupByRange("l", [(0, 50)], name="low")],
    )
    odd, even = grouped(thousand, group_by)
    assert [(item.key, item.sub_aggs[0].value) for item in (odd, even)] == [
        ("false", 99.0),
        ("true", 98.0),
    ]
    assert odd.sub_aggs[1].value == [([("PK1", 1), ("PK2", "pk_1")], [])]
    assert odd.sub_group_bys[0].items[0].row_count == 25


def test_a_composite_goes_on_until_all_groups_are_seen(thousand: sdk.OTSClient) -> None:
    # search §6.3
    token, keys = None, []
    while True:
        group_by = sdk.GroupByComposite(
            [sdk.GroupByField("b", name="s1"), sdk.GroupByField("l", name="s2")],
            size=30,
            next_token=token,
        )
        answer = found(thousand, HUNDRED, limit=0, group_bys=[group_by])
        result = answer.group_by_results[0]
        assert result.source_group_by_names == ["s1", "s2"]
        keys += [tuple(item.keys) for item in result.items]
        token = result.next_token
        if not token:
            break
    assert len(keys) == len(set(keys)) == 100


# --- scans -----------------------------------------------------------------------------------


def test_a_parallel_scan_sees_every_row_once(thousand: sdk.OTSClient) -> None:
    # search §7: 70 rows and a token, 30 rows and a token, no row and none
    splits = thousand.compute_splits("t", "x")
    assert splits.splits_size == 1
    token, pages, keys = None, [], []
    while True:
        scan = sdk.ScanQuery(HUNDRED, 70, token, 0, splits.splits_size, alive_time=30)
        answer = thousand.parallel_scan(
            "t",
            "x",
            scan,
            splits.session_id,
            sdk.ColumnsToGet(return_type=sdk.ColumnReturnType.ALL_FROM_INDEX),
        )
        keys += numbers(answer.rows)
        pages.append((len(answer.rows), bool(answer.next_token)))
        token = answer.next_token
        if not token:
            break
    assert pages == [(70, True), (30, True), (0, False)]
    assert sorted(keys) == [*range(100)]


# --- errors ----------------------------------------------------------------------------------


def refused(action: Callable[[], object]) -> tuple[int, str, str]:
    with pytest.raises(sdk.OTSServiceError) as caught:
        action()
    error: Any = caught.value
    return error.get_http_status(), error.get_error_code(), error.get_error_message()


OUTSIDE = (
    "[parallel_scan.current_parallel_id] must in [0, max_parallel), current max_parallel is 1, "
    "current_parallel_id is 101"
)


def test_texts_that_suites_compare(thousand: sdk.OTSClient) -> None:
    # search §8
    def scan(current: int, parallel: int) -> Callable[[], object]:
        session = thousand.compute_splits("t", "x").session_id
        asked = sdk.ScanQuery(sdk.MatchAllQuery(), 10, None, current, parallel)
        return lambda: thousand.parallel_scan("t", "x", asked, session, sdk.ColumnsToGet())

    invalid = 400, "OTSParameterInvalid"
    assert refused(lambda: thousand.compute_splits("none", "x")) == (
        *invalid,
        "table [none] does not exist",
    )
    assert refused(lambda: thousand.compute_splits("t", "none")) == (
        400,
        "OTSMetaNotMatch",
        "search index [none] does not exist",
    )
    assert refused(scan(101, 1)) == (
        *invalid,
        OUTSIDE,
    )
    assert refused(scan(0, 2)) == (
        *invalid,
        "[parallel_scan.max_parallel_id] must in (0 ,1], current max_parallel_id is 2",
    )
    assert refused(lambda: found(thousand, HUNDRED, aggs=[sdk.Sum("b")])) == (
        *invalid,
        "[sum agg] field_name:b type:boolean is invalid, allow [long, double]",
    )
    assert refused(lambda: found(thousand, HUNDRED, aggs=[sdk.Avg("Col_Unknown")])) == (
        *invalid,
        "[avg agg] field: Col_Unknown does not exist",
    )
    shown = sdk.Highlight([sdk.HighlightParameter("t")])
    assert refused(lambda: found(thousand, sdk.MatchQuery("t", "this"), highlight=shown)) == (
        *invalid,
        "highlighting is not supported for field[t]",
    )
    assert refused(lambda: thousand.delete_table("t")) == (
        *invalid,
        "Table[t] who has at least one search index cannot be deleted",
    )


# --- the life of an index --------------------------------------------------------------------


def test_an_index_from_its_creation_to_its_end(ots: sdk.OTSClient) -> None:
    # search §1.2, §1.5, §9
    created(ots, "t")
    for name in ("b", "a", "d", "c"):
        ots.create_search_index("t", name, sdk.SearchIndexMeta([*FIELDS, NESTED]))
    assert ots.list_search_index("t") == [("t", name) for name in "abcd"]
    assert ots.list_search_index() == [("t", name) for name in "abcd"]
    meta, sync = built(ots, "a")
    assert [field.field_name for field in meta.fields] == [
        field.field_name for field in [*FIELDS, NESTED]
    ]
    by_name = {field.field_name: field for field in meta.fields}
    assert (by_name["k"].enable_sort_and_agg, by_name["l"].enable_sort_and_agg) == (True, False)
    assert by_name["t"].analyzer == "single_word"
    assert meta.index_sort.sorters == []
    assert SystemClock().now_us() / 1e6 - sync.current_sync_timestamp / 1e9 < 20
    for name in "abcd":
        ots.delete_search_index("t", name)
    assert ots.list_search_index("t") == []
    assert refused(lambda: ots.delete_search_index("t", "a"))[1] == "OTSMetaNotMatch"
    ots.create_search_index("t", "plain", sdk.SearchIndexMeta(FIELDS))
    meta, _ = ots.describe_search_index("t", "plain")
    (sorter,) = meta.index_sort.sorters
    assert isinstance(sorter, sdk.PrimaryKeySort)
    ots.delete_search_index("t", "plain")
    ots.delete_table("t")


def test_what_is_written_is_found_by_the_next_search(ots: sdk.OTSClient) -> None:
    # search §1.3: no lag
    created(ots, "t")
    ots.create_search_index("t", "x", sdk.SearchIndexMeta(FIELDS))
    built(ots, "x")
    for n in range(5):
        ots.put_row("t", row(n))
        assert numbers(found(ots, sdk.TermQuery("l", n)).rows) == [n]
    ots.update_row("t", sdk.Row([("PK1", 3), ("PK2", "pk_3")], {"PUT": [("l", 77)]}), None)
    assert numbers(found(ots, sdk.TermQuery("l", 77)).rows) == [3]
    assert found(ots, sdk.TermQuery("l", 3)).rows == []
    ots.delete_row("t", [("PK1", 3), ("PK2", "pk_3")], None)
    assert found(ots, sdk.MatchAllQuery()).total_count == 4


def test_an_index_that_forgets_rows(ots: sdk.OTSClient) -> None:
    # search §1.4, §1.5
    options = sdk.TableOptions(allow_update=False)
    ots.create_table(sdk.TableMeta("t", KEY), options, NONE)
    ots.create_search_index("t", "x", sdk.SearchIndexMeta(FIELDS, time_to_live=900_000))
    assert ots.describe_search_index("t", "x")[0].time_to_live == 900_000
    ots.update_search_index("t", "x", sdk.SearchIndexMeta(None, time_to_live=8_000_000))
    assert ots.describe_search_index("t", "x")[0].time_to_live == 8_000_000


# --- full text -------------------------------------------------------------------------------

TITLES = {
    1: ("求推荐几款菊花茶店铺", 25),
    2: ("秋天最适合饮用的几种花茶", 30),
    3: ("苕溪边上有一大片野生菊花", 10),
    4: ("菊花茶是一款大部分人都适合的经典花茶", 120),
}


@pytest.fixture
def titles(plain: sdk.OTSClient) -> sdk.OTSClient:
    """Four titles that were written before their index."""
    created(plain, "t", [("id", "INTEGER")])
    for number, (title, views) in TITLES.items():
        plain.put_row("t", sdk.Row([("id", number)], [("title", title), ("pv", views)]))
    fields = [
        sdk.FieldSchema("title", T.TEXT, analyzer="max_word", enable_highlighting=True),
        sdk.FieldSchema("pv", T.LONG),
    ]
    plain.create_search_index("t", "x", sdk.SearchIndexMeta(fields))
    return plain


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (sdk.MatchQuery("title", "菊花茶"), {1, 2, 3, 4}),
        (sdk.MatchQuery("title", "梨花茶"), {1, 2, 4}),
        (sdk.MatchQuery("title", "花茶"), {1, 2, 4}),
        (sdk.MatchQuery("title", "菊花"), {1, 3, 4}),
        (sdk.MatchQuery("title", "饮用花茶", operator=sdk.QueryOperator.AND), {2}),
        (sdk.MatchQuery("title", "饮用花茶", operator=sdk.QueryOperator.OR), {1, 2, 4}),
        (sdk.MatchQuery("title", "饮用花茶", 2, sdk.QueryOperator.OR), {2}),
        (sdk.MatchPhraseQuery("title", "野生菊花"), {3}),
        (sdk.MatchPhraseQuery("title", "秋天菊花"), set()),
    ],
)
def test_chinese_words(titles: sdk.OTSClient, query: Any, rows: set[int]) -> None:  # noqa: ANN401  # of the SDK
    # search §3
    assert set(numbers(found(titles, query).rows)) == rows


def test_scores_and_highlights_of_the_suite(titles: sdk.OTSClient) -> None:
    # search §4.3, §5.6: 53, 11 and 9, and the marks
    parameter = sdk.HighlightParameter("title", 1, 18, "<b>", "</b>")
    query = sdk.FunctionScoreQuery(sdk.MatchQuery("title", "花茶"), sdk.FieldValueFactor("pv"))
    answer = found(
        titles,
        query,
        sort=sdk.Sort([sdk.ScoreSort()]),
        highlight=sdk.Highlight([parameter]),
    )
    assert numbers(answer.rows) == [4, 2, 1]
    assert [int(hit.score) for hit in answer.search_hits] == [53, 11, 9]
    shown = [
        hit.highlight_result.highlight_fields[0].field_fragments[0] for hit in answer.search_hits
    ]
    assert shown[0] == "菊<b>花茶</b>是一款大部分人都适合的经典<b>花茶</b>"
    assert shown[2] == "求推荐几款菊<b>花茶</b>店铺"
    plain = found(titles, query)
    assert len(plain.search_hits) == len(plain.rows)
    assert all(len(hit.highlight_result.highlight_fields) == 0 for hit in plain.search_hits)
