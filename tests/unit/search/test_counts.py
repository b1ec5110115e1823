"""Counts that the vendor's Python suite asserts over a thousand rows (search §4.1, §4.6, §9)."""

import pytest
from tests.support.search_index import index_of

from widerow.model.search.query import (
    BoolQuery,
    ConstScoreQuery,
    DisMaxQuery,
    ExistsQuery,
    GeoBoundingBoxQuery,
    GeoDistanceQuery,
    GeoPolygonQuery,
    MatchAllQuery,
    MatchPhraseQuery,
    MatchQuery,
    NestedQuery,
    PrefixQuery,
    Query,
    QueryOperator,
    RangeQuery,
    SuffixQuery,
    TermQuery,
    TermsQuery,
    WildcardQuery,
)
from widerow.model.search.schema import (
    AnalyzerName,
    SearchField,
    SearchFieldType,
    SearchSchema,
    TextAnalyzer,
)
from widerow.model.values import Value
from widerow.search.fields import SearchFields
from widerow.search.view import SegmentedView

_T = SearchFieldType
_NAMES = "赵钱孙李周吴郑王冯陈褚卫蒋沈韩杨朱秦尤许"
_FUZZY = TextAnalyzer(AnalyzerName.FUZZY, min_chars=1, max_chars=7)
_FIELDS = SearchFields(
    SearchSchema(
        (
            SearchField("k", _T.KEYWORD),
            SearchField("t", _T.TEXT),
            SearchField("g", _T.GEO_POINT),
            SearchField("ka", _T.KEYWORD, is_array=True),
            SearchField("la", _T.LONG, is_array=True),
            SearchField("l", _T.LONG),
            SearchField("b", _T.BOOLEAN),
            SearchField("d", _T.DOUBLE),
            SearchField("time", _T.DATE, date_formats=("yyyy-MM-dd",)),
            SearchField("ip", _T.IP),
            SearchField("fk", _T.FUZZY_KEYWORD),
            SearchField("name", _T.TEXT, analyzer=_FUZZY),
            SearchField("hidden", _T.KEYWORD, index=False),
            SearchField(
                "n",
                _T.NESTED,
                fields=(SearchField("nk", _T.KEYWORD), SearchField("nl", _T.LONG)),
            ),
        )
    )
)


def _row(i: int) -> dict[str, Value]:
    row: dict[str, Value] = {
        "k": f"key{i:03}",
        "t": f"this is {i}",
        "g": f"{30.0 + 0.05 * (i // 100)}, {114.0 + 0.05 * (i % 100)}",
        "ka": f'["a", "b", "{i}"]',
        "la": f"[-1, {i}]",
        "l": i,
        "b": i % 2 == 0,
        "d": 0.1,
        "time": f"2022-05-{i % 31 + 1}",
        "ip": f"192.168.{i % 4}.{i % 250}",
        "fk": f"file{i}.txt",
        "name": _NAMES[i % 20] + _NAMES[i // 50],
        "hidden": "x",
        "n": f'[{{"nk": "key{i:03}", "nl": {i}}}]',
    }
    if i % 20 == 0:
        del row["b"]
    return row


@pytest.fixture(scope="module")
def view() -> SegmentedView:
    return index_of(_FIELDS, {b"%06d" % i: _row(i) for i in range(1000)}).view()


_COUNTS: list[tuple[int, Query]] = [
    (1000, MatchAllQuery()),
    (99, RangeQuery("k", "key100", "key200")),
    (101, RangeQuery("k", "key100", "key200", include_start=True, include_stop=True)),
    (201, RangeQuery("la", "100", "300", include_start=True, include_stop=True)),
    (200, RangeQuery("l", 100, 300, include_start=True)),
    (3, RangeQuery("l", None, 2.0, include_stop=True)),
    (2, RangeQuery("l", None, 1.5)),
    (1000, RangeQuery("l")),
    (0, RangeQuery("l", 2**70)),
    (1000, RangeQuery("l", -(2**70))),
    (10, PrefixQuery("k", "key00")),
    (1000, PrefixQuery("k", "")),
    (10, WildcardQuery("k", "key00*")),
    (10, WildcardQuery("k", "*99?")),
    (1, WildcardQuery("k", "?ey*555")),
    (0, WildcardQuery("k", "key\\*")),
    (1000, WildcardQuery("t", "t*")),
    (100, SuffixQuery("fk", "7.txt")),
    (1000, SuffixQuery("fk", "")),
    (1000, PrefixQuery("t", "this")),
    (0, PrefixQuery("t", "this is")),
    (5, TermsQuery("k", ("key001", "key002", "key003", "key004", "key005", "none"))),
    (1000, TermsQuery("t", ("this", "is"))),
    (2, TermsQuery("l", (0, 999, 1000, 1002))),
    (0, TermsQuery("k", ())),
    (1000, TermQuery("d", 0.1)),
    (1000, TermQuery("ka", "a")),
    (1, TermQuery("t", "100")),
    (1, TermQuery("l", "900")),
    (1, TermQuery("la", "900")),
    (1, TermQuery("l", 900.0)),
    (0, TermQuery("l", 900.5)),
    (450, TermQuery("b", term=True)),
    (500, TermQuery("b", "false")),
    (950, ExistsQuery("b")),
    (450, RangeQuery("b", start=False)),
    (950, RangeQuery("b", start=False, include_start=True)),
    (1000, RangeQuery("d", 0.05, "0.1", include_stop=True)),
    (0, RangeQuery("d", 0.1)),
    (6, RangeQuery("ip", "192.168.1.0", "192.168.1.5", include_start=True, include_stop=True)),
    (50, BoolQuery(must_not=(ExistsQuery("b"),))),
    (1000, ExistsQuery("n")),
    (96, RangeQuery("time", "2022-05-06", "2022-05-12", include_start=True, include_stop=True)),
    (32, TermQuery("time", "2022-05-10")),
    (250, TermQuery("ip", "192.168.1.1/24")),
    (2, TermQuery("ip", "192.168.1.1")),
    (668, GeoDistanceQuery("g", "32.5,116.5", 300_000)),
    (500, GeoBoundingBoxQuery("g", "30.9,112.0", "30.2,119.0")),
    (90, GeoPolygonQuery("g", ("30.9,112", "30.5,115", "30.3,117", "30.2,119"))),
    (1, NestedQuery("n", TermQuery("n.nk", "key500"))),
    (
        201,
        NestedQuery("n", RangeQuery("n.nl", 100, 300, include_start=True, include_stop=True)),
    ),
    (0, TermQuery("n.nk", "key500")),
    (0, NestedQuery("n", TermQuery("k", "key500"))),
    (1, MatchQuery("t", "this is 5", QueryOperator.AND)),
    (1, MatchQuery("t", "this is 5", QueryOperator.AND, "0")),
    (1000, MatchQuery("t", "this is 5")),
    (1000, MatchQuery("t", "this is 5", minimum_should_match="2")),
    (1, MatchQuery("t", "this is 5", minimum_should_match="3")),
    (0, MatchQuery("t", "this is 5", minimum_should_match="4")),
    (0, MatchQuery("t", " - ")),
    (1, MatchPhraseQuery("t", "this is 5")),
    (0, MatchPhraseQuery("t", "is this")),
    (1000, MatchPhraseQuery("t", "is this", slop=2)),
    (0, MatchPhraseQuery("t", "is this", slop=1)),
    (1, MatchPhraseQuery("k", "key999")),
    (1, MatchQuery("k", "key999")),
    (1, MatchQuery("l", "999")),
    (98, MatchPhraseQuery("name", "尤")),  # 50 begin with it, 50 end with it, 2 both
    (2, MatchPhraseQuery("name", "尤赵")),
    (0, MatchPhraseQuery("name", "")),
    (
        150,
        BoolQuery(
            must=(RangeQuery("l", 100, 300, include_start=True),),
            must_not=(RangeQuery("l", 150, 200, include_start=True),),
        ),
    ),
    (
        78,
        BoolQuery(
            should=(
                RangeQuery("l", 100, 200, include_start=True),
                RangeQuery("l", 122, 300, include_start=True),
            ),
            minimum_should_match="2",
        ),
    ),
    (1, BoolQuery(should=(TermQuery("l", 1),), minimum_should_match="0")),
    (1, BoolQuery(should=(TermQuery("l", 1),), minimum_should_match="-100%")),
    (1, BoolQuery(should=(TermQuery("l", 1),), must_not=(TermQuery("l", 2),))),
    (
        1000,
        BoolQuery(should=(TermQuery("l", 1),), filter=(MatchAllQuery(),), minimum_should_match="0"),
    ),
    (1, BoolQuery(should=(TermQuery("l", 1),))),
    (1000, BoolQuery(should=(TermQuery("l", 1),), must=(MatchAllQuery(),))),
    (1000, BoolQuery()),
    (0, BoolQuery(should=(TermQuery("l", 1),), minimum_should_match="2")),
    (2, DisMaxQuery((TermQuery("l", 1), TermQuery("l", 2)))),
    (0, DisMaxQuery(())),
    (1, ConstScoreQuery(TermQuery("l", 1))),
]


@pytest.mark.parametrize(("count", "query"), _COUNTS)
def test_a_query_finds_as_many_rows_as_the_service_does(
    view: SegmentedView, count: int, query: Query
) -> None:
    assert view.select(query, scored=False).count == count


@pytest.mark.parametrize(("count", "query"), _COUNTS)
def test_scores_do_not_change_what_is_found(view: SegmentedView, count: int, query: Query) -> None:
    found = view.select(query, scored=True)
    assert found.count == count
    assert found.scores is not None
    assert len(found.scores) == count
