"""Scores of functions and of vectors, and what queries refuse (search §4.5, §4.8, §8)."""

import math
from dataclasses import replace
from typing import Final

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.support.search_index import changes_of, index_of

from widerow.errors import AnyRule, InvalidRequest
from widerow.model.search.query import (
    MATCH_ALL,
    BoolQuery,
    ConstScoreQuery,
    DateTimeUnit,
    DateTimeValue,
    DecayDateParam,
    DecayFunction,
    DecayGeoParam,
    DecayMath,
    DecayNumericParam,
    DisMaxQuery,
    ExistsQuery,
    FieldValueFactor,
    FunctionCombineMode,
    FunctionModifier,
    FunctionScoreMode,
    FunctionScoreQuery,
    FunctionsScoreQuery,
    GeoDistanceQuery,
    GeoPolygonQuery,
    KnnVectorQuery,
    MatchQuery,
    MultiValueMode,
    NestedQuery,
    NestedScoreMode,
    PrefixQuery,
    Query,
    RandomScore,
    RangeQuery,
    ScoreFunction,
    SuffixQuery,
    TermQuery,
    TermsQuery,
    WildcardQuery,
)
from widerow.model.search.schema import (
    SearchField,
    SearchFieldType,
    SearchSchema,
    VectorMetric,
    VectorOptions,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.search.fields import SearchFields
from widerow.search.view import SegmentedView

_T = SearchFieldType
_FIELDS: Final = SearchFields(
    SearchSchema(
        (
            SearchField("l", _T.LONG, is_array=True),
            SearchField("d", _T.DOUBLE),
            SearchField("k", _T.KEYWORD),
            SearchField("t", _T.TEXT),
            SearchField("g", _T.GEO_POINT),
            SearchField("at", _T.DATE, date_formats=("epoch_second",)),
            SearchField("off", _T.KEYWORD, index=False),
            SearchField("v", _T.VECTOR, vector=VectorOptions(2, VectorMetric.COSINE)),
            SearchField("n", _T.NESTED, fields=(SearchField("x", _T.LONG),)),
        )
    )
)
_VIEW: Final = index_of(
    _FIELDS,
    {
        b"1": {
            "l": "[4, 16]",
            "d": 1.0,
            "k": "a",
            "g": "0,0",
            "at": 0,
            "n": '[{"x": 1}, {"x": 3}]',
        },
        b"2": {"l": "[100]", "d": 2.0, "k": "b", "g": "0,1", "at": 86_400},
        b"3": {"k": "a"},
    },
).view()


def _scores(view: SegmentedView, query: Query) -> dict[bytes, float]:
    found = view.select(query, scored=True)
    assert found.scores is not None
    keys = found.keys(np.arange(found.count))
    return dict(zip(keys, found.scores.tolist(), strict=True))


def _function(function: ScoreFunction, *more: ScoreFunction) -> FunctionsScoreQuery:
    return FunctionsScoreQuery(MATCH_ALL, (function, *more))


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (FieldValueFactor("l"), (4, 100, 1)),
        (FieldValueFactor("l", 2, FunctionModifier.SQRT), (math.sqrt(8), math.sqrt(200), 1)),
        (FieldValueFactor("l", missing=25), (4, 100, 25)),
        (FieldValueFactor("l", 1, FunctionModifier.LOG), (math.log10(4), 2, 1)),
        (FieldValueFactor("l", 1, FunctionModifier.LOG1P), (math.log10(5), math.log10(101), 1)),
        (FieldValueFactor("l", 1, FunctionModifier.LOG2P), (math.log10(6), math.log10(102), 1)),
        (FieldValueFactor("l", 1, FunctionModifier.LN), (math.log(4), math.log(100), 1)),
        (FieldValueFactor("l", 1, FunctionModifier.LN1P), (math.log(5), math.log(101), 1)),
        (FieldValueFactor("l", 1, FunctionModifier.LN2P), (math.log(6), math.log(102), 1)),
        (FieldValueFactor("l", 1, FunctionModifier.SQUARE), (16, 10_000, 1)),
        (FieldValueFactor("l", 1, FunctionModifier.RECIPROCAL), (0.25, 0.01, 1)),
        (FieldValueFactor("l", -1, FunctionModifier.LN), (0, 0, 1)),
        (DecayFunction("d", DecayMath.GAUSS, DecayNumericParam(1, 1)), (1, 0.5, 1)),
        (DecayFunction("d", DecayMath.EXP, DecayNumericParam(1, 2), 0.25), (1, 0.5, 1)),
        (DecayFunction("d", DecayMath.LINEAR, DecayNumericParam(1, 2, 0.5)), (1, 0.875, 1)),
        (
            DecayFunction("l", DecayMath.LINEAR, DecayNumericParam(0, 20), 0.5, MultiValueMode.AVG),
            (0.75, 0, 1),
        ),
        (
            DecayFunction(
                "at", DecayMath.EXP, DecayDateParam(0, DateTimeValue(1, DateTimeUnit.DAY))
            ),
            (1, 0.5, 1),
        ),
        (
            DecayFunction(
                "at",
                DecayMath.EXP,
                DecayDateParam("1970-01-01", DateTimeValue(24, DateTimeUnit.HOUR)),
            ),
            (1, 0.5, 1),
        ),
        (
            DecayFunction("g", DecayMath.EXP, DecayGeoParam("0,0", 111_195.0802)),
            (1, pytest.approx(0.5, abs=1e-6), 1),
        ),
        (None, (1, 1, 1)),
    ],
)
def test_what_a_function_counts(
    function: FieldValueFactor | DecayFunction | None, expected: tuple[float, ...]
) -> None:
    scores = _scores(_VIEW, _function(ScoreFunction(function)))
    assert [scores[key] for key in (b"1", b"2", b"3")] == pytest.approx(list(expected))


def test_scores_are_single_floats_and_equal_ones_are_ties() -> None:
    """A decay a hair from its origin, with weight 2, is 2.0 (search §4.5)."""
    near = DecayFunction("d", DecayMath.GAUSS, DecayNumericParam(1 + 1e-5, 1))
    assert _scores(_VIEW, _function(ScoreFunction(near, 2.0)))[b"1"] == 2.0
    third = _scores(_VIEW, _function(ScoreFunction(None, 1 / 3)))
    assert set(third.values()) == {float(np.float32(1 / 3))}


_THREE: Final = (
    ScoreFunction(None, 2.0, TermQuery("k", "a")),
    ScoreFunction(None, 3.0, ExistsQuery("d")),
    ScoreFunction(None, 5.0, TermQuery("k", "c")),
)


@pytest.mark.parametrize(
    ("mode", "combine", "expected"),
    [
        (FunctionScoreMode.MULTIPLY, FunctionCombineMode.REPLACE, (6, 3, 2)),
        (FunctionScoreMode.SUM, FunctionCombineMode.REPLACE, (5, 3, 2)),
        (FunctionScoreMode.MAX, FunctionCombineMode.REPLACE, (3, 3, 2)),
        (FunctionScoreMode.MIN, FunctionCombineMode.REPLACE, (2, 3, 2)),
        (FunctionScoreMode.AVG, FunctionCombineMode.REPLACE, (1, 1, 1)),
        (FunctionScoreMode.FIRST, FunctionCombineMode.REPLACE, (2, 3, 2)),
        (FunctionScoreMode.SUM, FunctionCombineMode.SUM, (6, 4, 3)),
        (FunctionScoreMode.SUM, FunctionCombineMode.AVG, (3, 2, 1.5)),
        (FunctionScoreMode.SUM, FunctionCombineMode.MAX, (5, 3, 2)),
        (FunctionScoreMode.SUM, FunctionCombineMode.MIN, (1, 1, 1)),
    ],
)
def test_how_functions_become_one_score(
    mode: FunctionScoreMode, combine: FunctionCombineMode, expected: tuple[float, ...]
) -> None:
    query = FunctionsScoreQuery(MATCH_ALL, _THREE, mode, combine)
    scores = _scores(_VIEW, query)
    assert [scores[key] for key in (b"1", b"2", b"3")] == pytest.approx(list(expected))
    assert max(_scores(_VIEW, replace(query, max_score=2.0)).values()) <= max(3, *expected[1:])
    enough = replace(query, min_score=2.5)
    kept = {b"%d" % (at + 1) for at, score in enumerate(expected) if score >= 2.5}
    assert set(_scores(_VIEW, enough)) == kept
    assert _VIEW.select(enough, scored=False).count == len(kept)


@pytest.mark.parametrize("mode", list(FunctionScoreMode))
def test_no_function_at_all_counts_one(mode: FunctionScoreMode) -> None:
    """At most three, and a factor of 1 where none applies (search §4.5)."""
    below = TermsQuery("k", ("a",), 4.0)
    query = FunctionsScoreQuery(below, (), mode, FunctionCombineMode.SUM)
    assert _scores(_VIEW, query) == {b"1": 5.0, b"3": 5.0}
    assert _scores(_VIEW, replace(query, max_score=0.5)) == {b"1": 4.5, b"3": 4.5}
    assert _scores(_VIEW, replace(query, min_score=5.5)) == {}


def test_random_scores_are_those_of_the_seed() -> None:
    query = _function(ScoreFunction(RandomScore()))
    one, same, other = (_VIEW.select(query, scored=True, seed=seed).scores for seed in (1, 1, 2))
    assert one is not None
    assert same is not None
    assert other is not None
    assert one.tolist() == same.tolist() != other.tolist()
    assert all(0 <= score < 1 for score in one)


@pytest.mark.parametrize(
    ("mode", "score"),
    [
        (NestedScoreMode.NONE, 0),
        (NestedScoreMode.AVG, 2),
        (NestedScoreMode.MAX, 3),
        (NestedScoreMode.MIN, 1),
        (NestedScoreMode.TOTAL, 4),
    ],
)
def test_scores_of_documents_below_become_one(mode: NestedScoreMode, score: float) -> None:
    """Search §4.4."""
    query = NestedQuery("n", FunctionScoreQuery(MATCH_ALL, "n.x"), mode)
    assert _scores(_VIEW, query) == {b"1": score}


def test_scores_of_bool_dis_max_and_const() -> None:
    should = BoolQuery(
        must=(ConstScoreQuery(MATCH_ALL),),
        filter=(ExistsQuery("k"),),
        should=(TermsQuery("d", (1.0,), 3.0), PrefixQuery("k", "a", 2.0)),
        weight=10.0,
    )
    assert _scores(_VIEW, should) == {b"1": 60, b"2": 10, b"3": 30}
    best = DisMaxQuery((TermsQuery("d", (1.0,), 3.0), PrefixQuery("k", "a", 2.0)), 0.5, 10.0)
    assert _scores(_VIEW, best) == {b"1": 40, b"3": 20}
    assert _scores(_VIEW, BoolQuery(must_not=(TermQuery("k", "b"),))) == {b"1": 0, b"3": 0}


# --- vectors -----------------------------------------------------------------------------------


def _vector_rows(vectors: NDArray[np.float32]) -> dict[bytes, dict[str, Value]]:
    return {b"%03d" % at: {"v": vector.tobytes(), "l": at % 3} for at, vector in enumerate(vectors)}


@pytest.mark.parametrize("metric", list(VectorMetric))
@pytest.mark.parametrize("parts", [1, 3])
def test_the_nearest_vectors_are_found_all(metric: VectorMetric, parts: int) -> None:
    """Recall 1 against plain arithmetic in 64 bits, whatever the segments (search §4.8)."""
    random = np.random.default_rng(7)
    vectors = random.normal(size=(300, 8)).astype(np.float32)
    asked = random.normal(size=8).astype(np.float32)
    fields = SearchFields(
        SearchSchema(
            (
                SearchField("v", _T.VECTOR, vector=VectorOptions(8, metric)),
                SearchField("l", _T.LONG),
            )
        )
    )
    rows = _vector_rows(vectors)
    index = index_of(fields, {})
    for part in range(parts):
        chosen = {key: row for key, row in rows.items() if int(key) % parts == part}
        index.apply(changes_of(fields, chosen))
        index.freeze(b"")
    wide, point = vectors.astype(np.float64), asked.astype(np.float64)
    product = wide @ point
    scores = {
        VectorMetric.EUCLIDEAN: 1 / (1 + ((wide - point) ** 2).sum(axis=1)),
        VectorMetric.COSINE: (1 + product / np.linalg.norm(wide, axis=1) / np.linalg.norm(point))
        / 2,
        VectorMetric.DOT_PRODUCT: np.maximum(0, (1 + product) / 2),
    }[metric]
    allowed = [at for at in np.argsort(-scores).tolist() if at % 3 == 1]
    query = KnnVectorQuery(
        "v",
        tuple(asked.tolist()),
        10,
        TermQuery("l", 1),
        min_score=float(scores[allowed[4]]) - 1e-9,
    )
    expected = {b"%03d" % at: pytest.approx(float(scores[at]), abs=1e-6) for at in allowed[:5]}
    assert _scores(index.view(), query) == expected
    more = replace(query, min_score=None, filter=None)
    assert index.view().select(more, scored=False, limit=100).count == 100


# --- refusals ----------------------------------------------------------------------------------


def _deep(query: Query, depth: int) -> Query:
    for _ in range(depth):
        query = BoolQuery(must=(query,))
    return query


def _nested(depth: int) -> Query:
    query: Query = TermQuery("n.x", 1)
    for _ in range(depth):
        query = NestedQuery("n", query)
    return query


@pytest.mark.parametrize(
    ("query", "rule"),
    [
        (TermQuery("none", 1), TablestoreRule.SEARCH_QUERY_FIELD),
        (ExistsQuery("none"), TablestoreRule.SEARCH_QUERY_FIELD),
        (TermQuery("off", "a"), TablestoreRule.SEARCH_QUERY_FIELD),
        (NestedQuery("none", MATCH_ALL), TablestoreRule.SEARCH_QUERY_PATH),
        (NestedQuery("", MATCH_ALL), TablestoreRule.SEARCH_QUERY_PATH),
        (TermQuery("l", "x"), TablestoreRule.SEARCH_QUERY_VALUE),
        (TermQuery("d", float("nan")), TablestoreRule.SEARCH_QUERY_VALUE),
        (TermQuery("at", "x"), TablestoreRule.SEARCH_QUERY_VALUE),
        (TermQuery("k", b"x"), TablestoreRule.SEARCH_QUERY_VALUE),
        (TermQuery("g", "0,0"), TablestoreRule.SEARCH_QUERY_FIELD_TYPE),
        (RangeQuery("g", "0,0"), TablestoreRule.SEARCH_QUERY_FIELD_TYPE),
        (PrefixQuery("l", "1"), TablestoreRule.SEARCH_QUERY_FIELD_TYPE),
        (SuffixQuery("t", "1"), TablestoreRule.SEARCH_QUERY_FIELD_TYPE),
        (GeoDistanceQuery("k", "0,0", 1), TablestoreRule.SEARCH_QUERY_FIELD_TYPE),
        (FunctionScoreQuery(MATCH_ALL, "k"), TablestoreRule.SEARCH_QUERY_FIELD_TYPE),
        (TermsQuery("l", tuple(range(1025))), TablestoreRule.SEARCH_QUERY_TERMS),
        (PrefixQuery("k", "x" * 1001), TablestoreRule.SEARCH_QUERY_PREFIX),
        (WildcardQuery("k", "x" * 33), TablestoreRule.SEARCH_QUERY_WILDCARD),
        (MatchQuery("t", "x " * 1025), TablestoreRule.SEARCH_QUERY_TEXT),
        (MatchQuery("t", "x", minimum_should_match="x"), TablestoreRule.SEARCH_QUERY_MINIMUM),
        (GeoDistanceQuery("g", "x", 1), TablestoreRule.SEARCH_QUERY_GEO),
        (GeoPolygonQuery("g", ("0,0", "1,1")), TablestoreRule.SEARCH_QUERY_GEO),
        (GeoDistanceQuery("g", "0,0", -1), TablestoreRule.SEARCH_QUERY_WEIGHT),
        (TermQuery("k", "a", 0.0), TablestoreRule.SEARCH_QUERY_WEIGHT),
        (TermQuery("k", "a", math.inf), TablestoreRule.SEARCH_QUERY_WEIGHT),
        (FunctionsScoreQuery(MATCH_ALL, _THREE + _THREE), TablestoreRule.SEARCH_QUERY_FUNCTIONS),
        (
            _function(ScoreFunction(DecayFunction("d", DecayMath.EXP, DecayNumericParam(0, 0)))),
            TablestoreRule.SEARCH_QUERY_WEIGHT,
        ),
        (
            _function(
                ScoreFunction(DecayFunction("d", DecayMath.EXP, DecayNumericParam(0, 1), 1.0))
            ),
            TablestoreRule.SEARCH_QUERY_FUNCTIONS,
        ),
        (
            _function(ScoreFunction(DecayFunction("d", DecayMath.EXP, DecayGeoParam("0,0", 1)))),
            TablestoreRule.SEARCH_QUERY_FIELD_TYPE,
        ),
        (KnnVectorQuery("v", (1.0, 0.0), 1001), TablestoreRule.SEARCH_QUERY_TOP_K),
        (KnnVectorQuery("v", (1.0, 0.0), 0), TablestoreRule.SEARCH_QUERY_TOP_K),
        (KnnVectorQuery("v", (1.0,), 1), TablestoreRule.SEARCH_QUERY_VECTOR),
        (KnnVectorQuery("v", (0.0, 0.0), 1), TablestoreRule.SEARCH_QUERY_VECTOR),
        (KnnVectorQuery("v", (math.nan, 0.0), 1), TablestoreRule.SEARCH_QUERY_VECTOR),
        (KnnVectorQuery("k", (1.0, 0.0), 1), TablestoreRule.SEARCH_QUERY_FIELD_TYPE),
        (BoolQuery(must=(MATCH_ALL,) * 1024), TablestoreRule.SEARCH_QUERY_NODES),
        (_deep(MATCH_ALL, 32), TablestoreRule.SEARCH_QUERY_DEPTH),
        (_nested(6), TablestoreRule.SEARCH_QUERY_DEPTH),
    ],
)
@pytest.mark.parametrize("scored", [False, True])
def test_what_a_query_must_not_ask(query: Query, rule: AnyRule, *, scored: bool) -> None:
    with pytest.raises(InvalidRequest) as refused:
        _VIEW.select(query, scored=scored)
    assert refused.value.rule is rule


def test_whoever_waits_can_end_an_evaluation() -> None:
    """A deadline: what `check` raises ends what is being asked."""

    def late() -> None:
        raise TimeoutError

    index = index_of(_FIELDS, {b"1": {"d": 1.0}})
    with pytest.raises(TimeoutError):
        index.view(check=late).select(MATCH_ALL, scored=False)
