"""Metrics over what a search matches (search §6.1, §6.2)."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search.results.asking import Asked, Index, T, both, fields, key_of
from tests.unit.search.results.conftest import Make

from widerow.errors import AnyRule, InvalidRequest
from widerow.model.search.aggregation import (
    Breakdown,
    FieldGroupBy,
    Metric,
    MetricKind,
    PercentilesMetric,
    TopRows,
)
from widerow.model.search.query import (
    FieldSort,
    FunctionScoreQuery,
    MatchAllQuery,
    PrimaryKeySort,
    RangeQuery,
    ScoreSort,
    SearchSort,
    SortOrder,
    TermQuery,
)
from widerow.model.search.schema import SearchField, SearchSchema
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.results.sums import exact_sums
from widerow.wire.tablestore.errors.answers import foreign

K = MetricKind
SUITE = SearchSchema(
    (
        SearchField("k", T.KEYWORD),
        SearchField("l", T.LONG),
        SearchField("la", T.LONG, is_array=True),
        SearchField("ka", T.KEYWORD, is_array=True),
        SearchField("d", T.DOUBLE),
        SearchField("b", T.BOOLEAN),
        SearchField("time", T.DATE, date_formats=("epoch_millis",)),
        SearchField("t", T.TEXT),
        SearchField("g", T.GEO_POINT),
        SearchField("off", T.LONG, sort_and_agg=False),
    )
)


def suite_rows() -> list[dict[str, int | float | bool | str]]:
    # The rows of the Python SDK's aggregation suite.
    return [
        {
            "k": f"key{number:03d}",
            "l": number,
            "la": f"[-1, {number}]",
            "ka": f'["a","b","{number}"]',
            "d": 0.1,
            "b": number % 2 == 0,
            "time": number * 1000,
            "t": f"this is {number}",
            "g": f"30.{number:02d},114.0",
        }
        for number in range(100)
    ]


@pytest.mark.parametrize(
    ("kind", "field", "expected"),
    [
        (K.AVG, "l", 49.5),
        (K.AVG, "la", 24.25),
        (K.MAX, "la", 99.0),
        (K.MIN, "la", -1.0),
        (K.SUM, "l", 4950.0),
        (K.SUM, "la", 4850.0),
        (K.SUM, "d", 10.0),
        (K.MAX, "time", 99_000.0),
        (K.AVG, "time", 49_500.0),
        (K.COUNT, "la", 200),
        (K.COUNT, "ka", 300),
        (K.COUNT, "*", 100),
        (K.COUNT, "g", 100),
        (K.DISTINCT_COUNT, "la", 101),
        (K.DISTINCT_COUNT, "ka", 102),
        (K.DISTINCT_COUNT, "b", 2),
        (K.DISTINCT_COUNT, "g", 100),
    ],
)
def test_the_numbers_of_the_python_suite(
    make: Make, kind: MetricKind, field: str, expected: float
) -> None:
    # search §6.2, checks of P
    value = make(SUITE, suite_rows()).value(Metric("m", kind, field))
    assert value == expected
    assert type(value) is type(expected)


def test_averages_and_sums_are_rounded_once(make: Make) -> None:
    # search §6.2: G expects exactly 4.6 and 46.0. Ten times 0.1, added one by one, is not 1.
    rows = [{"d": number + 0.1} for number in range(10)]
    index = make(fields(d=T.DOUBLE), rows)
    assert index.value(Metric("m", K.AVG, "d")) == 4.6
    assert index.value(Metric("m", K.SUM, "d")) == 46.0
    index = make(fields(d=T.DOUBLE), [{"d": 0.1}] * 10)
    assert index.value(Metric("m", K.SUM, "d")) == 1.0
    below = Breakdown((Metric("m", K.SUM, "d"),))
    (group,) = index.groups(FieldGroupBy("g", "d", below=below))
    assert group.below.aggregations[0].value == 1.0


def test_metrics_of_nothing(make: Make) -> None:
    # search §6.2: G's HasValue tests exactly these
    index = make(fields(l=T.LONG, d=T.DOUBLE), [])
    for field in "ld":
        found = [index.value(Metric("m", kind, field)) for kind in K]
        assert found == [math.inf, -math.inf, math.inf, 0.0, 0, 0]
        assert index.value(PercentilesMetric("p", field, (50.0,))) == ()


def test_missing_values_are_replaced(make: Make) -> None:
    # search §6.1, and G's metrics with missing
    rows: list[Any] = [{"l": 5, "k": "a"}, {"l": 9, "k": "b"}, {"other": 1}]
    index = make(fields(l=T.LONG, k=T.KEYWORD), rows)
    assert index.value(Metric("m", K.AVG, "l")) == 7
    assert index.value(Metric("m", K.AVG, "l", 10)) == 8
    assert index.value(Metric("m", K.MIN, "l", 1.0)) == 1  # N sends doubles
    assert index.value(Metric("m", K.COUNT, "l", 10)) == 3
    assert index.value(Metric("m", K.DISTINCT_COUNT, "l", 9)) == 2
    assert index.value(Metric("m", K.DISTINCT_COUNT, "k", "b")) == 2
    assert index.value(Metric("m", K.DISTINCT_COUNT, "k", "c")) == 3
    assert index.value(PercentilesMetric("p", "l", (0.0, 100.0), 20)) == ((0.0, 5), (100.0, 20))


def test_percentiles_of_the_python_suite(make: Make) -> None:
    # search §6.2: six assertions; by percentage, whole numbers of LONG and DATE truncated
    index = make(SUITE, suite_rows())
    asked = [("l", (90.0, 50.0), ((50.0, 49), (90.0, 89)))]
    asked.append(("la", (50.0, 90.0), ((50.0, 0), (90.0, 79))))
    for field, shares, expected in asked:
        assert index.value(PercentilesMetric("p", field, shares)) == expected
    ((_, value),) = index.value(PercentilesMetric("p", "d", (50.0,)))
    assert value == 0.1
    ((_, value),) = index.value(PercentilesMetric("p", "time", (90.0,)))
    assert (value, type(value)) == (89_500, int)


@both
@given(st.lists(st.integers(-(2**63), 2**63 - 1), min_size=1), st.floats(0, 100))
def test_percentiles_lie_between_values(build: Asked, values: list[int], share: float) -> None:
    index = Index(build, fields(l=T.LONG), [{"l": value} for value in values])
    ((_, found),) = index.value(PercentilesMetric("p", "l", (share,)))
    last = Fraction(len(values) - 1)
    place = min(max(Fraction(share / 100 * len(values) - 0.5), Fraction(0)), last)
    ordered = sorted(values)
    assert ordered[math.floor(place)] <= found <= ordered[math.ceil(place)]


FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(st.integers(0, 4), FINITE | st.floats(-2.0, 2.0))))
def test_sums_are_those_of_exact_numbers(pairs: list[tuple[int, float]]) -> None:
    values = np.array([value for _, value in pairs], np.float64)
    groups = np.array([group for group, _ in pairs], np.int64)
    exact = [sum((Fraction(v) for g, v in pairs if g == group), Fraction(0)) for group in range(5)]
    assert exact_sums(values, groups, 5).tolist() == list(map(_rounded, exact))
    assert exact_sums(values, None, 1).tolist() == [_rounded(sum(exact))]


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(-(2**63), 2**63 - 1))))
def test_sums_of_whole_numbers_are_exact_too(pairs: list[tuple[int, int]]) -> None:
    values = np.array([value for _, value in pairs], np.int64)
    groups = np.array([group for group, _ in pairs], np.int64)
    exact = [float(sum(v for g, v in pairs if g == group)) for group in range(3)]
    assert exact_sums(values, groups, 3).tolist() == exact


def _rounded(value: Fraction | int) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf  # copysign would convert the value again


def test_sums_with_infinities_are_infinite() -> None:
    assert exact_sums(np.array([1.0, math.inf]), None, 1).tolist() == [math.inf]


@pytest.mark.parametrize("kind", [K.AVG, K.MAX, K.MIN, K.SUM])
@pytest.mark.parametrize("field", ["k", "ka", "t", "b", "g"])
def test_numbers_are_computed_of_numbers_only(make: Make, kind: MetricKind, field: str) -> None:
    # search §6.2: P lists these types
    with pytest.raises(InvalidRequest) as refused:
        make(SUITE, suite_rows()).value(Metric("m", kind, field))
    assert refused.value.rule is TablestoreRule.AGG_FIELD_TYPE


def test_the_texts_of_wrong_fields(make: Make) -> None:
    # search §6.1, §8: exact texts of G
    index = make(SUITE, [])
    texts = {
        Metric("m", K.SUM, "b"): (
            "[sum agg] field_name:b type:boolean is invalid, allow [long, double]"
        ),
        Metric("m", K.AVG, "no"): "[avg agg] field: no does not exist",
        Metric("m", K.DISTINCT_COUNT, "no"): "[distinct count agg] field: no does not exist",
        Metric("m", K.MIN, "off"): (
            "[min agg] field:off must enable enable_sort_and_agg, but enable_sort_and_agg is not "
            "enabled"
        ),
    }
    for asked, text in texts.items():
        with pytest.raises(InvalidRequest) as refused:
            index.value(asked)
        assert foreign(refused.value) == (400, "OTSParameterInvalid", text)


@pytest.mark.parametrize("shares", [(), (101.0,), (-1.0,), (math.nan,), (50.0,) * 101])
def test_percentages_are_bounded(make: Make, shares: tuple[float, ...]) -> None:
    with pytest.raises(InvalidRequest) as refused:
        make(SUITE, suite_rows()).value(PercentilesMetric("p", "l", shares))
    assert refused.value.rule is TablestoreRule.AGG_PERCENTILES


def test_top_rows_of_the_python_suite(make: Make) -> None:
    # search §9: `TopRows([PK asc], 2)`, and PK desc below a group of l % 3: 97, 94, 91
    index = make(fields(l=T.LONG), [{"l": number % 3} for number in range(100)])
    top = TopRows("t", 2, SearchSort((PrimaryKeySort(),)))
    assert index.value(top) == (key_of(0), key_of(1))
    below = Breakdown((TopRows("t", 3, SearchSort((PrimaryKeySort(SortOrder.DESC),))),))
    groups = index.groups(FieldGroupBy("g", "l", below=below))
    assert groups[1].key == "1"
    found = groups[1].below.aggregations[0].value
    assert found == (key_of(97), key_of(94), key_of(91))


def test_top_rows_follow_the_search_where_they_name_no_order(make: Make) -> None:
    # search §6.2
    index = make(fields(l=T.LONG), [{"l": value} for value in (3, 1, 2)])
    by_value = SearchSort((FieldSort("l", SortOrder.DESC),))
    assert index.value(TopRows("t", 3)) == (key_of(0), key_of(1), key_of(2))
    assert index.value(TopRows("t", 2), sort=by_value) == (key_of(0), key_of(2))


def test_top_rows_by_score_are_scored_though_hits_are_not(make: Make) -> None:
    index = make(fields(l=T.LONG), [{"l": value} for value in (3, 5, 4)])
    query = FunctionScoreQuery(MatchAllQuery(), "l")
    top = TopRows("t", 2, SearchSort((ScoreSort(),)))
    page = index.page(query=query, breakdown=Breakdown((top,)))
    assert page.breakdown.aggregations[0].value == (key_of(1), key_of(2))
    assert all(math.isnan(hit.score) for hit in page.hits)


@pytest.mark.parametrize("limit", [0, -1, 101, 10_000])
def test_top_rows_are_bounded(make: Make, limit: int) -> None:
    # search §6.2: P, limit 10000
    with pytest.raises(InvalidRequest) as refused:
        make(SUITE, []).value(TopRows("t", limit))
    assert refused.value.rule is TablestoreRule.TOP_ROWS_LIMIT


def test_what_the_filter_drops_is_not_counted(make: Make) -> None:
    # search §5.7: applied after the query and before aggregations
    index = make(SUITE, suite_rows())
    asked = Metric("m", K.COUNT, "l")
    query = RangeQuery("l", 10, 20, include_start=True)
    assert index.value(asked, query=query) == 10
    assert index.value(asked, query=query, filter=TermQuery("b", value := True)) == 5
    assert value


@pytest.mark.parametrize(
    ("names", "rule"),
    [(("",), TablestoreRule.AGG_NAME_EMPTY), (("a", "a"), TablestoreRule.AGG_NAME_DUPLICATE)],
)
def test_names_are_given_and_different(make: Make, names: tuple[str, ...], rule: AnyRule) -> None:
    # search §6.1
    index = make(SUITE, [])
    metrics = tuple(Metric(name, K.AVG, "l") for name in names)
    groups = tuple(FieldGroupBy(name, "l") for name in names)
    for asked in (Breakdown(metrics), Breakdown((), groups)):
        with pytest.raises(InvalidRequest) as refused:
            index.page(breakdown=asked)
        assert refused.value.rule is rule


def test_an_aggregation_and_a_group_by_may_have_one_name(make: Make) -> None:
    asked = Breakdown((Metric("a", K.AVG, "l"),), (FieldGroupBy("a", "l"),))
    found = make(SUITE, suite_rows()).page(breakdown=asked).breakdown
    assert found.aggregations[0].value == 49.5
    assert len(found.group_bys[0].groups) == 10


def test_many_on_one_level_are_allowed_and_too_many_are_not(make: Make) -> None:
    # search §6.1: N sends 8 and 5
    index = make(SUITE, suite_rows())

    def asked(metrics: int, groups: int) -> Breakdown:
        return Breakdown(
            tuple(Metric(str(number), K.AVG, "l") for number in range(metrics)),
            tuple(FieldGroupBy(str(number), "l") for number in range(groups)),
        )

    assert len(index.page(breakdown=asked(100, 20)).breakdown.aggregations) == 100
    for too_many in (asked(101, 0), asked(0, 21)):
        with pytest.raises(InvalidRequest) as refused:
            index.page(breakdown=too_many)
        assert refused.value.rule is TablestoreRule.AGG_COUNT
