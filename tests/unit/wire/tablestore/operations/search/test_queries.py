"""Queries and orders of every type: from the vendor's SDK, or by hand (search §4, §5)."""

from typing import Any

import pytest
import tablestore as sdk
from google.protobuf.message import Message
from tablestore.metadata import InnerHits as SdkInnerHits
from tests.unit.wire.tablestore.operations.search.sent import (
    by_hand,
    query_of,
    searched,
    sort_of,
    wrapped,
)

from widerow.errors import InvalidRequest
from widerow.model.search import query as q
from widerow.model.search.highlight import (
    FragmentOrder,
    Highlight,
    HighlightEncoder,
    HighlightParameter,
)
from widerow.model.search.requests import ColumnReturn, ColumnReturnType, Search
from widerow.model.tablestore.rules import TablestoreRule
from widerow.rows.cells import encode_variant
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.errors.answers import foreign
from widerow.wire.tablestore.operations.table import OPERATIONS

search = OPERATIONS["Search"]

TERM = sdk.TermQuery("k", "x")
OURS = q.TermQuery("k", "x")


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (sdk.MatchAllQuery(), q.MatchAllQuery()),
        (sdk.MatchQuery("t", "a b"), q.MatchQuery("t", "a b")),
        (
            sdk.MatchQuery("t", "a b", 1, sdk.QueryOperator.AND, weight=2.0),
            q.MatchQuery("t", "a b", q.QueryOperator.AND, "1", 2.0),
        ),
        (sdk.MatchQuery("t", "a b", "75%"), q.MatchQuery("t", "a b", q.QueryOperator.OR, "75%")),
        (sdk.MatchPhraseQuery("t", "a b"), q.MatchPhraseQuery("t", "a b")),
        (sdk.MatchPhraseQuery("t", "a", 0.5, 3), q.MatchPhraseQuery("t", "a", 3, 0.5)),
        (sdk.TermQuery("l", 7, weight=3.0), q.TermQuery("l", 7, 3.0)),
        (sdk.TermQuery("b", column_value=True), q.TermQuery("b", term=True)),
        (sdk.TermQuery("d", 0.1), q.TermQuery("d", 0.1)),
        (sdk.TermsQuery("k", ["a", 1]), q.TermsQuery("k", ("a", 1))),
        (sdk.TermsQuery("k", []), q.TermsQuery("k", ())),
        (sdk.RangeQuery("l", 1, 5), q.RangeQuery("l", 1, 5, include_start=True)),
        (
            sdk.RangeQuery("l", range_to="z", include_lower=False, include_upper=True),
            q.RangeQuery("l", None, "z", include_stop=True),
        ),
        (sdk.PrefixQuery("k", "ke"), q.PrefixQuery("k", "ke")),
        (sdk.WildcardQuery("k", "k*?"), q.WildcardQuery("k", "k*?")),
        (sdk.ExistsQuery("k"), q.ExistsQuery("k")),
        (
            sdk.BoolQuery([TERM], [TERM], [TERM], [TERM, TERM], 2, weight=1.5),
            q.BoolQuery((OURS,), (OURS,), (OURS,), (OURS, OURS), "2", 1.5),
        ),
        (sdk.BoolQuery(should_queries=[TERM]), q.BoolQuery(should=(OURS,))),
        (sdk.DisMaxQuery([TERM, TERM], 0.5, 2.0), q.DisMaxQuery((OURS, OURS), 0.5, 2.0)),
        (
            sdk.NestedQuery("n", TERM, sdk.ScoreMode.TOTAL, weight=2.0),
            q.NestedQuery("n", OURS, q.NestedScoreMode.TOTAL, 2.0),
        ),
        (
            sdk.FunctionScoreQuery(TERM, sdk.FieldValueFactor("pv")),
            q.FunctionScoreQuery(OURS, "pv"),
        ),
        (
            sdk.GeoBoundingBoxQuery("g", "30.9,112", "30.2,119"),
            q.GeoBoundingBoxQuery("g", "30.9,112", "30.2,119"),
        ),
        (sdk.GeoDistanceQuery("g", "1,2", 300), q.GeoDistanceQuery("g", "1,2", 300.0)),
        (
            sdk.GeoPolygonQuery("g", ["1,2", "3,4", "5,6"]),
            q.GeoPolygonQuery("g", ("1,2", "3,4", "5,6")),
        ),
        (
            sdk.KnnVectorQuery("v", 10, [0.5, 0.25], TERM, 2.0, 0.5, 100),
            q.KnnVectorQuery("v", (0.5, 0.25), 10, OURS, 0.5, 100, 2.0),
        ),
    ],
)
def test_queries_of_the_sdk(sent: Any, read: q.Query) -> None:  # noqa: ANN401  # of the SDK
    # search §4, protos §4
    assert query_of(sent) == read


def decay(number: int, param: Message, **fields: Any) -> m.Function:  # noqa: ANN401  # of a decay
    return m.Function(
        decay=m.DecayFunction(
            field_name="f",
            math_function=1,
            param_type=number,
            param=param.SerializeToString(),
            **fields,
        )
    )


DAYS = m.DateTimeValue(value=2, unit=5)


@pytest.mark.parametrize(
    ("number", "message", "read"),
    [
        (
            7,
            m.ConstScoreQuery(filter=wrapped(16, m.ExistsQuery(field_name="k"))),
            q.ConstScoreQuery(q.ExistsQuery("k")),
        ),
        (19, m.SuffixQuery(field_name="k", suffix="z"), q.SuffixQuery("k", "z")),
        (
            18,
            m.FunctionsScoreQuery(
                functions=[
                    m.Function(weight=2.0, filter=wrapped(16, m.ExistsQuery(field_name="k"))),
                    m.Function(random=m.RandomScoreFunction()),
                    m.Function(
                        field_value_factor=m.FieldValueFactorFunction(
                            field_name="pv", factor=2.0, modifier=3, missing=1.0
                        )
                    ),
                ],
                score_mode=6,
                combine_mode=6,
                min_score=1.0,
                max_score=4.0,
            ),
            q.FunctionsScoreQuery(
                q.MATCH_ALL,
                (
                    q.ScoreFunction(None, 2.0, q.ExistsQuery("k")),
                    q.ScoreFunction(q.RandomScore()),
                    q.ScoreFunction(q.FieldValueFactor("pv", 2.0, q.FunctionModifier.LOG1P, 1.0)),
                ),
                q.FunctionScoreMode.FIRST,
                q.FunctionCombineMode.REPLACE,
                1.0,
                4.0,
            ),
        ),
        (
            18,
            m.FunctionsScoreQuery(
                query=m.Query(type=11),
                functions=[
                    decay(1, m.DecayFuncDateParam(origin_long=5, scale=DAYS, offset=DAYS)),
                    decay(1, m.DecayFuncDateParam(origin_string="2020", scale=DAYS)),
                    decay(
                        2, m.DecayFuncNumericParam(origin=1.3, scale=1.0, offset=0.5), decay=0.25
                    ),
                    decay(3, m.DecayFuncGeoParam(origin="1,2", scale=9.0), multi_value_mode=1),
                ],
            ),
            q.FunctionsScoreQuery(
                q.MATCH_ALL,
                tuple(
                    q.ScoreFunction(function)
                    for function in (
                        q.DecayFunction(
                            "f",
                            q.DecayMath.GAUSS,
                            q.DecayDateParam(
                                5,
                                q.DateTimeValue(2, q.DateTimeUnit.DAY),
                                q.DateTimeValue(2, q.DateTimeUnit.DAY),
                            ),
                        ),
                        q.DecayFunction(
                            "f",
                            q.DecayMath.GAUSS,
                            q.DecayDateParam("2020", q.DateTimeValue(2, q.DateTimeUnit.DAY)),
                        ),
                        q.DecayFunction(
                            "f", q.DecayMath.GAUSS, q.DecayNumericParam(1.3, 1.0, 0.5), 0.25
                        ),
                        q.DecayFunction(
                            "f",
                            q.DecayMath.GAUSS,
                            q.DecayGeoParam("1,2", 9.0),
                            multi_value_mode=q.MultiValueMode.MAX,
                        ),
                    )
                ),
            ),
        ),
    ],
)
def test_queries_that_other_sdks_send(number: int, message: Message, read: q.Query) -> None:
    # search §4.5, protos §4
    assert search.decode(by_hand(wrapped(number, message))).query == read


def test_numbers_of_a_vector_come_packed_or_not() -> None:
    # protos §4: unpacked is what the first compilers of proto2 wrote
    unpacked = b"\x0a\x01v" + b"\x25\x00\x00\x00\x3f" + b"\x25\x00\x00\x80\x3e"
    assert search.decode(by_hand(wrapped(17, unpacked))).query == q.KnnVectorQuery("v", (0.5, 0.25))


# --- orders ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sent", "read"),
    [
        (sdk.FieldSort("l"), q.FieldSort("l")),
        (
            sdk.FieldSort("l", sdk.SortOrder.DESC, sdk.SortMode.AVG, sdk.NestedFilter("n", TERM)),
            q.FieldSort("l", q.SortOrder.DESC, q.SortMode.AVG, q.NestedFilter("n", OURS)),
        ),
        (
            sdk.GeoDistanceSort("g", ["1,2"], sdk.SortOrder.ASC, sdk.SortMode.MIN, 1),
            q.GeoDistanceSort(
                "g", ("1,2",), q.SortOrder.ASC, q.SortMode.MIN, q.GeoDistanceType.PLANE
            ),
        ),
        (sdk.ScoreSort(), q.ScoreSort()),
        (sdk.ScoreSort(sdk.SortOrder.ASC), q.ScoreSort(q.SortOrder.ASC)),
        (sdk.PrimaryKeySort(sdk.SortOrder.DESC), q.PrimaryKeySort(q.SortOrder.DESC)),
    ],
)
def test_sorters_of_the_sdk(sent: Any, read: q.Sorter) -> None:  # noqa: ANN401  # of the SDK
    # search §5.1
    assert sort_of(sdk.Sort([sent])) == q.SearchSort((read,))


def test_missing_values_and_the_last_sorter_as_other_sdks_send_them() -> None:
    # search §5.1: N, G and J
    sorter = m.FieldSort(
        field_name="l", missing_value=encode_variant("_first"), missing_field="other"
    )
    sent = m.Sort(sorter=[m.Sorter(field_sort=sorter)], disable_default_pk_sorter=True)
    assert search.decode(by_hand(sort=sent)).sort == q.SearchSort(
        (q.FieldSort("l", missing_value="_first", missing_field="other"),),
        disable_default_pk_sorter=True,
    )
    sent = m.Sort(sorter=[m.Sorter(score_sort=m.ScoreSort()), m.Sorter(doc_sort=m.DocSort())])
    assert search.decode(by_hand(sort=sent)).sort == q.SearchSort((q.ScoreSort(), q.DocSort()))


def test_a_sort_without_sorters_is_none() -> None:
    assert search.decode(by_hand(sort=m.Sort())).sort is None


@pytest.mark.parametrize(
    "sorter",
    [m.Sorter(), m.Sorter(score_sort=m.ScoreSort(), doc_sort=m.DocSort())],
)
def test_a_sorter_is_of_one_kind(sorter: m.Sorter) -> None:
    with pytest.raises(InvalidRequest) as caught:
        search.decode(by_hand(sort=m.Sort(sorter=[sorter])))
    assert caught.value.rule is TablestoreRule.SEARCH_MESSAGE_VALUE


# --- requests --------------------------------------------------------------------------------


def test_a_search_without_anything_matches_all_rows() -> None:
    # search §4, §5.2, §5.4: an absent query, and what else is left out
    assert search.decode(by_hand()) == Search("t", "i")


def test_a_whole_request_of_the_sdk() -> None:
    # search §5
    parameter = sdk.HighlightParameter("t", 1, 18, "<b>", "</b>", sdk.HighlightFragmentOrder.SCORE)
    asked = sdk.SearchQuery(
        TERM,
        get_total_count=True,
        offset=5,
        limit=0,
        collapse_field=sdk.Collapse("k"),
        highlight=sdk.Highlight([parameter], sdk.HighlightEncoder.HTML_MODE),
    )
    columns = sdk.ColumnsToGet(["a", "b"], sdk.ColumnReturnType.SPECIFIED)
    read = searched(asked, columns)
    assert read == Search(
        "t",
        "i",
        OURS,
        offset=5,
        limit=0,
        get_total_count=True,
        collapse="k",
        highlight=Highlight(
            (HighlightParameter("t", 1, 18, "<b>", "</b>", FragmentOrder.SCORE),),
            HighlightEncoder.HTML,
        ),
        columns=ColumnReturn(ColumnReturnType.SPECIFIED, ("a", "b")),
    )
    assert searched(sdk.SearchQuery(TERM, next_token=b"\x00\xff")).token == b"\x00\xff"


def test_inner_hits() -> None:
    # search §4.4: limit 3 and offset 0 unless they are said
    highlight = sdk.Highlight([sdk.HighlightParameter("n.t")])
    inner = SdkInnerHits(sdk.Sort([sdk.DocSort()]), 2, 9, highlight)
    asked = query_of(sdk.NestedQuery("n", TERM, inner_hits=inner))
    assert isinstance(asked, q.NestedQuery)
    assert asked.inner_hits == q.InnerHits(
        q.SearchSort((q.DocSort(),)), 2, 9, Highlight((HighlightParameter("n.t"),))
    )
    plain = m.NestedQuery(path="n", query=m.Query(type=11), inner_hits=m.InnerHits())
    read = search.decode(by_hand(wrapped(9, plain))).query
    assert read == q.NestedQuery("n", q.MATCH_ALL, inner_hits=q.InnerHits())


@pytest.mark.parametrize(
    ("track", "asked"), [(-1, False), (0, False), (5, True), (2**31 - 1, True)]
)
def test_totals_as_the_java_sdk_asks_for_them(track: int, *, asked: bool) -> None:
    # search §5.3
    assert search.decode(by_hand(track_total_count=track)).get_total_count is asked


def test_a_filter_beside_the_query() -> None:
    # search §5.7, J
    sent = m.SearchFilter(query=wrapped(16, m.ExistsQuery(field_name="k")))
    assert search.decode(by_hand(filter=sent)).filter == q.ExistsQuery("k")
    assert search.decode(by_hand(filter=m.SearchFilter())).filter is None


def test_names_without_a_type_are_the_columns_asked_for() -> None:
    body = m.SearchRequest(columns_to_get=m.ColumnsToGet(column_names=["a"])).SerializeToString()
    assert search.decode(body).columns == ColumnReturn(ColumnReturnType.SPECIFIED, ("a",))


# --- what no query can be --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (m.Query(), "Query has an invalid type"),
        (m.Query(type=0), "Query has an invalid type"),
        (m.Query(type=21), "Query has an invalid type"),
        (m.Query(type=3), "TermQuery has an invalid field_name"),
        (wrapped(3, m.TermQuery(field_name="k")), "TermQuery has an invalid term"),
        (wrapped(3, m.TermQuery(field_name="k", term=b"\x09")), "TermQuery has an invalid term"),
        (
            wrapped(3, m.TermQuery(field_name="k", term=b"\x02\x01", weight=0.0)),
            "TermQuery has an invalid weight",
        ),
        (
            wrapped(1, m.MatchQuery(field_name="t", operator=3)),
            "MatchQuery has an invalid operator",
        ),
        (
            wrapped(2, m.MatchPhraseQuery(field_name="t", slop=-1)),
            "MatchPhraseQuery has an invalid slop",
        ),
        (m.Query(type=7), "ConstScoreQuery has an invalid filter"),
        (wrapped(9, m.NestedQuery(path="n")), "NestedQuery has an invalid query"),
        (m.Query(type=1, query=b"\x0a\x05a"), "MatchQuery is not readable"),
        (m.Query(type=11, query=b"\xff"), "MatchAllQuery is not readable"),
        (
            wrapped(13, m.GeoDistanceQuery(field_name="g", distance=float("nan"))),
            "GeoDistanceQuery has an invalid distance",
        ),
        (
            wrapped(18, m.FunctionsScoreQuery(functions=[decay(2, m.DecayFuncNumericParam())])),
            "DecayFuncNumericParam has an invalid scale",
        ),
        (
            wrapped(18, m.FunctionsScoreQuery(functions=[decay(4, m.DecayFuncNumericParam())])),
            "DecayFunction has an invalid param_type",
        ),
    ],
)
def test_what_is_no_query_is_refused_by_name(query: m.Query, message: str) -> None:
    # search §8: the text that users of the service saw, and what is wrong behind it
    with pytest.raises(InvalidRequest) as caught:
        search.decode(by_hand(query))
    expected = f"failed to query index, please check the request parameter: {message}"
    assert foreign(caught.value) == (400, "OTSParameterInvalid", expected)
