"""What suites of the SDKs assert that no other test repeats (search §9; search-coverage.md)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.support.changes import create, put
from tests.unit.engine.search.tables import engine_of, keys, make_index, search, write
from tests.unit.search.results.asking import Index, core_view, key_of

from widerow.model.search.aggregation import (
    Aggregation,
    Breakdown,
    CompositeGroupBy,
    DateHistogramGroupBy,
    DistanceGroupBy,
    FieldGroupBy,
    FilterGroupBy,
    GeoGridGroupBy,
    HistogramGroupBy,
    Metric,
    MetricKind,
    PercentilesMetric,
    RangeGroupBy,
    TopRows,
)
from widerow.model.search.query import (
    MATCH_ALL,
    BoolQuery,
    ConstScoreQuery,
    DateTimeUnit,
    DateTimeValue,
    DecayFunction,
    DecayMath,
    DecayNumericParam,
    ExistsQuery,
    FieldSort,
    FunctionCombineMode,
    FunctionScoreMode,
    FunctionScoreQuery,
    FunctionsScoreQuery,
    GeoBoundingBoxQuery,
    GeoDistanceQuery,
    GeoPolygonQuery,
    KnnVectorQuery,
    MatchPhraseQuery,
    MatchQuery,
    NestedQuery,
    PrefixQuery,
    Query,
    RangeQuery,
    ScoreFunction,
    ScoreSort,
    SearchSort,
    SortOrder,
    TermQuery,
    TermsQuery,
    WildcardQuery,
)
from widerow.model.search.requests import ComputeSplits, ParallelScan
from widerow.model.search.schema import (
    AnalyzerName,
    SearchField,
    SearchFieldType,
    SearchSchema,
    TextAnalyzer,
    VectorMetric,
    VectorOptions,
)
from widerow.model.values import KeyType
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.search.breakdowns import decode_breakdown
from widerow.wire.tablestore.operations.search.unfolding import Unfolding

T, K = SearchFieldType, MetricKind
FLAT = (
    SearchField("l", T.LONG),
    SearchField("second", T.LONG),
    SearchField("d", T.DOUBLE),
    SearchField("k", T.KEYWORD),
    SearchField("t", T.TEXT, analyzer=TextAnalyzer()),
    SearchField("g", T.GEO_POINT),
    SearchField("date", T.DATE, date_formats=("yyyy-MM-dd",)),
    SearchField("v", T.VECTOR, vector=VectorOptions(2, VectorMetric.EUCLIDEAN)),
)
CHILD = SearchField("o", T.NESTED, fields=(SearchField("n", T.LONG),))
NESTED, SUITE = SearchSchema((*FLAT, CHILD)), SearchSchema(FLAT)


def rows(count: int = 30) -> list[dict[str, Any]]:
    return [
        {
            "l": number,
            "d": float(number),
            "k": ("even", "odd")[number % 2],
            "t": f"street {number}",
            "g": f"{number * 0.1:.1f},0.0",
            "v": f"[{number}, 1]",
            "o": f'[{{"n": {number}}}]',
        }
        for number in range(count)
    ]


def index(schema: SearchSchema, found: Sequence[dict[str, Any]]) -> Index:
    return Index(core_view, schema, found)


def test_a_request_of_everything() -> None:
    """N: eight aggregations and five group-bys on a level, three levels of them (search §6.1)."""
    kinds = (K.AVG, K.MAX, K.MIN, K.SUM, K.COUNT, K.DISTINCT_COUNT)
    metrics: tuple[Aggregation, ...] = (
        *[Metric(kind.name, kind, "l", missing=7.0) for kind in kinds],
        PercentilesMetric("percentiles", "d", (50.0,)),
        TopRows("top", 2),
    )
    least = Breakdown((Metric("least", K.MIN, "d"),))
    third = Breakdown((), (FilterGroupBy("third", (MATCH_ALL,), least),))
    second = Breakdown((), (RangeGroupBy("second", "l", ((0.0, 15.0),), third),))
    groups = (
        FieldGroupBy("field", "k", min_doc_count=1, below=second),
        HistogramGroupBy("steps", "l", 10, missing=0, offset=5),
        DistanceGroupBy("near", "g", (0.0, 0.0), ((None, 150_000.0),)),
        FilterGroupBy("filter", (TermQuery("k", "odd"),)),
        CompositeGroupBy("pairs", (FieldGroupBy("k", "k"),)),
    )
    found = index(NESTED, rows()).page(breakdown=Breakdown(metrics, groups), limit=0).breakdown
    assert [each.value for each in found.aggregations[:6]] == [14.5, 29.0, 0.0, 435.0, 30, 30]
    assert len(found.aggregations) == 8
    field, steps, near, odd, pairs = (each.groups for each in found.group_bys)
    assert [(each.key, each.row_count) for each in field] == [("even", 15), ("odd", 15)]
    below = field[1].below.group_bys[0].groups[0]
    assert below.row_count == 7
    assert below.below.group_bys[0].groups[0].below.aggregations[0].value == 1.0
    assert [(each.key, each.row_count) for each in steps] == [(-5, 5), (5, 10), (15, 10), (25, 5)]
    assert (near[0].row_count, odd[0].row_count) == (14, 15)
    assert [each.key for each in pairs] == [("even",), ("odd",)]


def test_pages_of_a_composite_end() -> None:
    """N: a loop over pages of one group ends with the last one (search §6.3)."""
    of, token, seen = index(SUITE, rows()), None, list[object]()
    for _ in range(3):
        asked = CompositeGroupBy("pairs", (FieldGroupBy("k", "k"),), size=1, token=token)
        page = of.page(breakdown=Breakdown((), (asked,)), limit=0).breakdown.group_bys[0]
        seen += [each.key for each in page.groups]
        token = page.token
        if token is None:
            break
    assert (seen, token) == ([("even",), ("odd",)], None)


def test_a_field_without_data_has_no_buckets() -> None:
    """N: a date histogram of a field that no row has (search §6.3)."""
    day = DateTimeValue(1, DateTimeUnit.DAY)
    assert index(SUITE, rows()).groups(DateHistogramGroupBy("days", "date", day)) == ()


def test_a_grid_with_members_that_nobody_knows() -> None:
    """N sends a grid with a sort, which the message does not have (search §6.3)."""
    known = m.GroupByGeoGrid(field_name="g").SerializeToString()
    sort = m.GroupBySort().SerializeToString()
    unknown = bytes((15 << 3 | 2, len(sort))) + sort
    for body in (known, known + unknown):
        sent = m.GroupBys()
        sent.group_bys.add(name="grid", type=7, body=body)
        found = decode_breakdown(Unfolding(), m.Aggregations(), sent)
        assert found.group_bys == (GeoGridGroupBy("grid", "g"),)


def test_the_best_row_of_two_functions_comes_first() -> None:
    """N: 1.0 of an exists and a linear decay, as if nested (search §4.5)."""
    param = DecayNumericParam(1.3, 1.0, 0.5)
    functions = (
        ScoreFunction(DecayFunction("d", DecayMath.LINEAR, param, 0.5)),
        ScoreFunction(None, 1.0, TermQuery("d", -1.0)),
    )
    query = FunctionsScoreQuery(
        ExistsQuery("d"),
        functions,
        FunctionScoreMode.SUM,
        FunctionCombineMode.SUM,
        min_score=1.0,
    )
    (hit,) = index(NESTED, rows()).page(query=query, limit=1).hits
    assert (hit.key, hit.score) == (key_of(1), 2.0)


def test_another_field_stands_in() -> None:
    """N: thirty rows with `l`, seven with `second` only, up to 37 (search §5.1)."""
    found = [*rows(), *[{"second": number} for number in range(31, 38)]]
    sort = SearchSort((FieldSort("l", SortOrder.DESC, missing_field="second"),))
    assert index(SUITE, found).numbers(sort=sort, limit=2) == [36, 35]


def test_rows_without_the_field_collapse_to_one() -> None:
    """N: twelve values and rows without one are thirteen groups (search §5.5)."""
    found: list[dict[str, Any]] = [{"l": number % 12} for number in range(30)]
    found += [{"k": "none"}] * 5
    page = index(SUITE, found).page(collapse="l", limit=100, get_total_count=True)
    assert (len(page.hits), page.total) == (13, 35)


SEVEN: tuple[Query, ...] = (
    TermQuery("k", "odd"),
    TermsQuery("k", ("odd", "even")),
    MatchQuery("t", "street"),
    MatchPhraseQuery("t", "street 7"),
    PrefixQuery("k", "o"),
    WildcardQuery("k", "*d"),
    KnnVectorQuery("v", (1.0, 1.0), 5),
)


@pytest.mark.parametrize("query", SEVEN, ids=lambda query: type(query).__name__)
def test_weights_multiply_scores(query: Any) -> None:  # noqa: ANN401  # of those with a weight
    """N: weights on seven kinds of queries (search §4)."""
    of = index(SUITE, rows())
    sort = SearchSort((ScoreSort(),))
    once = of.page(query=query, sort=sort).hits
    twice = of.page(query=replace(query, weight=2.0), sort=sort).hits
    assert [each.key for each in twice] == [each.key for each in once]
    assert [each.score for each in twice] == pytest.approx([2 * each.score for each in once])
    assert once[0].score > 0


RANGE = RangeQuery("l", 3, include_start=True)
KINDS: tuple[Query, ...] = (
    PrefixQuery("k", "ev"),
    BoolQuery(
        must=(RANGE,),
        filter=(PrefixQuery("k", "e"),),
        must_not=(RangeQuery("l", 90),),
        should=(PrefixQuery("k", "ev"),),
    ),
    ConstScoreQuery(RANGE),
    FunctionScoreQuery(RANGE, "d"),
    NestedQuery("o", TermQuery("o.n", 4)),
    WildcardQuery("k", "e*n"),
    MATCH_ALL,
    GeoBoundingBoxQuery("g", "1,0", "0,1"),
    GeoDistanceQuery("g", "0,0", 100_000),
    GeoPolygonQuery("g", ("-1,-1", "1,-1", "0,5")),
    TermsQuery("k", ("even",)),
    ExistsQuery("d"),
)


@pytest.mark.parametrize("query", KINDS, ids=lambda query: type(query).__name__)
def test_every_kind_of_query_finds_something(query: Query) -> None:
    """N search_old: each finds some rows, and but for all of them not every row (search §4)."""
    total = index(NESTED, rows()).page(query=query, get_total_count=True).total
    assert 0 < total <= 30
    assert (total == 30) == isinstance(query, type(MATCH_ALL) | ExistsQuery)


def test_averages_with_and_without_missing_values() -> None:
    """G: 7 and 7.1 become 8 and 8.1 where rows without a value count (search §6.2)."""
    found: list[dict[str, Any]] = [{"l": 6, "d": 6.1}, {"l": 8, "d": 8.1}, {"k": "none"}]
    of = index(SUITE, found)
    assert of.value(Metric("a", K.AVG, "l")) == 7.0
    assert of.value(Metric("a", K.AVG, "d")) == 7.1
    assert of.value(Metric("a", K.AVG, "l", missing=10)) == 8.0
    assert of.value(Metric("a", K.AVG, "d", missing=10.1)) == pytest.approx(8.1, abs=1e-15)


def test_the_titles_of_a_timeline() -> None:
    """J: ten titles of 表格存储, whose words are found by Match and by Term (search §3)."""
    words = TextAnalyzer(AnalyzerName.MAX_WORD)
    schema = SearchSchema((SearchField("t", T.TEXT, analyzer=words),))
    of = index(schema, [{"t": f"表格存储{number}"} for number in range(10)])
    asked = (MatchQuery("t", "表格"), MatchQuery("t", "存储"), TermQuery("t", "表格"))
    totals = [of.page(query=each, get_total_count=True).total for each in asked]
    assert totals == [10, 10, 10]


def test_totals_of_and_or_and_not() -> None:
    """J: what must hold, what may and what must not is counted as sets are (search §4.2)."""
    one, other = RangeQuery("l", 0, 7), TermQuery("k", "odd")
    of = index(SUITE, rows(20))
    first, second = set(range(1, 7)), set(range(1, 20, 2))
    asked = {
        BoolQuery(must=(one, other)): first & second,
        BoolQuery(should=(one, other)): first | second,
        BoolQuery(must_not=(one, other)): set(range(20)) - first - second,
    }
    for query, numbers in asked.items():
        page = of.page(query=query, get_total_count=True, limit=100)
        assert {int(each.key) for each in page.hits} == numbers
        assert page.total == len(numbers)


# --- with a table --------------------------------------------------------------------------------


def test_a_scan_of_thirty_rows_by_three() -> None:
    """N: pages of three until there is no token, every row once (search §7)."""
    with open_store("memory:") as store:
        engine = engine_of(store, FakeClock(), FakeEntropy())
        engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
        make_index(engine)
        write(engine, *[put("t", {"k": number}, {"n": number}) for number in range(30)])
        session = engine.search.compute_splits("i", ComputeSplits("t", "x"))
        assert session.splits >= 1
        asked, pages = ParallelScan("t", "x", session_id=session.session_id, limit=3), []
        while True:
            page = engine.search.parallel_scan("i", asked)
            if not page.token:
                break
            pages.append(page.rows)
            asked = replace(asked, token=page.token)
        assert [len(each) for each in pages] == [3] * 10
        assert len({row for each in pages for row in each}) == 30


def test_a_key_column_is_a_keyword() -> None:
    """N search_old: a column of the primary key is a field by its name (search §1.1)."""
    schema = SearchSchema((SearchField("pic", T.KEYWORD),))
    with open_store("memory:") as store:
        engine = engine_of(store, FakeClock(), FakeEntropy())
        key = {"k": KeyType.INTEGER, "pic": KeyType.STRING}
        engine.core.run(engine.create_table("i", create("t", key)))
        make_index(engine, schema=schema)
        write(engine, *[put("t", {"k": n, "pic": f"p{n}"}, {"x": n}) for n in range(3)])
        assert keys(search(engine, TermQuery("pic", "p1"))) == [1]
