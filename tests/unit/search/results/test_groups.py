"""Group-bys (search §6.1, §6.3)."""

import json
import math
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search.results.asking import Asked, Index, T, both, fields, key_of
from tests.unit.search.results.conftest import Make
from tests.unit.search.results.plain_index import PlainView

from widerow.errors import AnyRule, InvalidRequest
from widerow.model.search.aggregation import (
    Breakdown,
    CompositeGroupBy,
    DateHistogramGroupBy,
    DistanceGroupBy,
    FieldGroupBy,
    FilterGroupBy,
    GeoCell,
    GeoGridGroupBy,
    GroupBy,
    GroupSorter,
    GroupSortKey,
    HistogramGroupBy,
    Metric,
    MetricKind,
    PercentilesMetric,
    RangeGroupBy,
    TopRows,
)
from widerow.model.search.query import (
    DateTimeUnit,
    DateTimeValue,
    ExistsQuery,
    MatchAllQuery,
    RangeQuery,
    SortOrder,
    TermQuery,
)
from widerow.model.search.schema import SearchField, SearchSchema
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.errors.answers import foreign

K = MetricKind
U = DateTimeUnit
BY_KEY = GroupSorter(GroupSortKey.KEY)
BY_ROWS = GroupSorter(GroupSortKey.ROW_COUNT)


def refused(index: Index, asked: GroupBy) -> AnyRule:
    with pytest.raises(InvalidRequest) as error:
        index.groups(asked)
    assert foreign(error.value)
    rule = error.value.rule
    assert isinstance(rule, AnyRule)
    return rule


# --- by field ---------------------------------------------------------------------------------


def test_groups_of_a_field_by_rows_then_key(make: Make) -> None:
    # search §9: P, group-by l (i % 3)
    index = make(fields(l=T.LONG), [{"l": number % 3} for number in range(100)])
    assert index.counts(FieldGroupBy("g", "l")) == [("0", 34), ("1", 33), ("2", 33)]
    least = FieldGroupBy("g", "l", 2, (BY_ROWS,))
    assert index.counts(least) == [("1", 33), ("2", 33)]
    last = FieldGroupBy("g", "l", sort=(GroupSorter(GroupSortKey.KEY, SortOrder.DESC),))
    assert index.counts(last) == [("2", 33), ("1", 33), ("0", 34)]


def test_numeric_keys_compare_as_numbers(make: Make) -> None:
    # search §6.3
    index = make(fields(l=T.LONG), [{"l": value} for value in (10, 9, -3)])
    assert index.counts(FieldGroupBy("g", "l")) == [("-3", 1), ("9", 1), ("10", 1)]


def test_the_smallest_number_comes_last_from_above(make: Make) -> None:
    # search §6.3: numeric keys numerically, whatever the order
    numbers = (3, -(2**63), 2**63 - 1)
    index = make(fields(l=T.LONG), [{"l": value} for value in numbers])
    asked = FieldGroupBy("g", "l", sort=(GroupSorter(GroupSortKey.KEY, SortOrder.DESC),))
    assert [key for key, _ in index.counts(asked)] == [str(2**63 - 1), "3", str(-(2**63))]


@pytest.mark.parametrize(
    ("kind", "value", "key"),
    [
        (T.LONG, 4, "4"),
        (T.DOUBLE, 1.1, "1.1"),
        (T.BOOLEAN, True, "true"),
        (T.KEYWORD, "text", "text"),
        (T.FUZZY_KEYWORD, "text", "text"),
        (T.IP, "10.0.0.1", "10.0.0.1"),
        (T.IP, "2001:db8::1", "2001:db8::1"),
    ],
)
def test_keys_are_texts(make: Make, kind: T, value: Asked, key: str) -> None:
    # search §6.3
    index = make(SearchSchema((SearchField("f", kind),)), [{"f": value}, {}])
    assert index.counts(FieldGroupBy("g", "f")) == [(key, 1)]


def test_keys_of_dates_are_milliseconds(make: Make) -> None:
    schema = SearchSchema((SearchField("f", T.DATE, date_formats=("epoch_millis",)),))
    index = make(schema, [{"f": 1234}])
    assert index.counts(FieldGroupBy("g", "f")) == [("1234", 1)]


def test_dates_may_be_grouped_though_declared_otherwise(make: Make) -> None:
    # search §1.1: N's composite test
    field = SearchField("f", T.DATE, sort_and_agg=False, date_formats=("epoch_millis",))
    index = make(SearchSchema((field,)), [{"f": 5}])
    assert index.counts(FieldGroupBy("g", "f")) == [("5", 1)]


def test_a_row_counts_once_for_each_of_its_values(make: Make) -> None:
    # search §2.1
    schema = SearchSchema((SearchField("ka", T.KEYWORD, is_array=True),))
    index = make(schema, [{"ka": '["a","b","a"]'}, {"ka": '["a"]'}, {"ka": "[]"}])
    assert index.counts(FieldGroupBy("g", "ka")) == [("a", 2), ("b", 1)]


def test_groups_are_ten_unless_asked_and_bounded(make: Make) -> None:
    # search §6.3
    index = make(fields(l=T.LONG), [{"l": number} for number in range(3000)])
    assert len(index.groups(FieldGroupBy("g", "l"))) == 10
    assert len(index.groups(FieldGroupBy("g", "l", 2000))) == 2000
    for size in (0, -1, 2001):
        assert refused(index, FieldGroupBy("g", "l", size)) is TablestoreRule.GROUP_SIZE


def test_groups_with_few_rows_may_be_left_out(make: Make) -> None:
    index = make(fields(k=T.KEYWORD), [{"k": text} for text in "aabbbc"])
    assert index.counts(FieldGroupBy("g", "k", min_doc_count=2)) == [("b", 3), ("a", 2)]


def test_groups_by_a_metric_then_key(make: Make) -> None:
    # search §6.3: G, min(Col_Long) asc then key desc
    rows = [("a", 3), ("b", 1), ("c", 1), ("d", 2), ("b", 9)]
    index = make(fields(k=T.KEYWORD, l=T.LONG), [{"k": k, "l": value} for k, value in rows])
    below = Breakdown((Metric("least", K.MIN, "l"),))
    sort = (
        GroupSorter(GroupSortKey.METRIC, SortOrder.ASC, "least"),
        GroupSorter(GroupSortKey.KEY, SortOrder.DESC),
    )
    groups = index.groups(FieldGroupBy("g", "k", sort=sort, below=below))
    assert [group.key for group in groups] == ["c", "b", "d", "a"]
    assert [group.below.aggregations[0].value for group in groups] == [1, 1, 2, 3]


@pytest.mark.parametrize("below", [Breakdown(), Breakdown((TopRows("least"),))])
def test_groups_sort_by_metrics_that_are_there(make: Make, below: Breakdown) -> None:
    # search §6.3
    sort = (GroupSorter(GroupSortKey.METRIC, SortOrder.ASC, "least"),)
    asked = FieldGroupBy("g", "k", sort=sort, below=below)
    assert refused(make(fields(k=T.KEYWORD), []), asked) is TablestoreRule.GROUP_SORT_METRIC


def test_texts_and_points_have_no_groups(make: Make) -> None:
    index = make(fields(t=T.TEXT, g=T.GEO_POINT), [])
    for name in "tg":
        assert refused(index, FieldGroupBy("g", name)) is TablestoreRule.AGG_FIELD_TYPE
    with pytest.raises(InvalidRequest) as error:
        index.groups(FieldGroupBy("g", "no"))
    assert foreign(error.value)[-1] == "[groupby_field] field: no does not exist"


# --- ranges, distances, filters ---------------------------------------------------------------


def test_ranges_come_by_their_bounds_and_may_be_empty(make: Make) -> None:
    # search §6.3: G sends (3,4), (−∞,3), (4,∞)
    index = make(fields(l=T.LONG), [{"l": value} for value in (1, 3, 2)])
    asked = RangeGroupBy("g", "l", ((3, 4), (None, 3), (4, None)))
    expected = [((-math.inf, 3), 2), ((3, 4), 1), ((4, math.inf), 0)]
    assert index.counts(asked) == expected


def test_ranges_of_the_python_suite(make: Make) -> None:
    # search §9: P, range on la
    schema = SearchSchema((SearchField("la", T.LONG, is_array=True),))
    index = make(schema, [{"la": f"[-1, {number}]"} for number in range(100)])
    asked = RangeGroupBy("g", "la", ((0, 10), (11, 25)))
    assert index.counts(asked) == [((0, 10), 10), ((11, 25), 14)]
    everything = RangeGroupBy("g", "la", ((None, None),))
    assert index.counts(everything) == [((-math.inf, math.inf), 100)]


def test_distances_come_as_listed(make: Make) -> None:
    # search §6.3: P, 0–300 km and 300–1000 km from 31,116; G's order and bounds
    points = [f"{30 + 0.05 * (i // 100)},{114 + 0.05 * (i % 100)}" for i in range(100)]
    points[99] = "25,116"
    index = make(fields(g=T.GEO_POINT), [{"g": point} for point in points])
    asked = DistanceGroupBy("d", "g", (31, 116), ((0, 300_000), (300_000, 1_000_000)))
    assert index.counts(asked) == [((0, 300_000), 99), ((300_000, 1_000_000), 1)]
    asked = DistanceGroupBy("d", "g", (31, 116), ((100, 5000), (None, 5000), (5000, None)))
    keys = [key for key, _ in index.counts(asked)]
    assert keys == [(100, 5000), (0, 5000), (5000, math.inf)]


def test_filters_come_as_listed_and_may_be_empty(make: Make) -> None:
    # search §9: P, filters 33, 100
    index = make(fields(l=T.LONG), [{"l": number % 3} for number in range(100)])
    asked = FilterGroupBy("f", (TermQuery("l", 1), MatchAllQuery(), TermQuery("l", 7)))
    assert index.counts(asked) == [(None, 33), (None, 100), (None, 0)]


@pytest.mark.parametrize(
    "asked",
    [
        RangeGroupBy("g", "l", ()),
        RangeGroupBy("g", "l", ((0, 1),) * 101),
        DistanceGroupBy("g", "p", (0, 0), ((0, 1),) * 11),
        FilterGroupBy("g", (MatchAllQuery(),) * 11),
        FilterGroupBy("g", ()),
        CompositeGroupBy("g", ()),
    ],
)
def test_listed_groups_are_bounded(make: Make, asked: GroupBy) -> None:
    # search §6.3
    assert refused(make(fields(l=T.LONG, p=T.GEO_POINT), []), asked) is TablestoreRule.GROUP_PARTS


# --- histograms -------------------------------------------------------------------------------


def test_histograms_of_the_python_suite(make: Make) -> None:
    # search §6.3, §9: P
    rows: list[Any] = [{"l": number % 3, "d": 0.1} for number in range(100)]
    index = make(fields(l=T.LONG, d=T.DOUBLE), rows)
    asked = HistogramGroupBy("h", "l", 2, field_range=(0, 3))
    assert index.counts(asked) == [(0, 67), (2, 33)]
    ((key, count),) = index.counts(HistogramGroupBy("h", "d", 2.0, field_range=(0.0, 3.0)))
    assert (key, type(key), count) == (0.0, float, 100)


def test_histograms_have_missing_offset_and_order(make: Make) -> None:
    rows: list[Any] = [{"l": value} for value in (-1, 0, 4, 5, 14)]
    index = make(fields(l=T.LONG), [*rows, {}])
    assert index.counts(HistogramGroupBy("h", "l", 5)) == [(-5, 1), (0, 2), (5, 1), (10, 1)]
    assert index.counts(HistogramGroupBy("h", "l", 5, offset=4)) == [(-1, 2), (4, 2), (14, 1)]
    with_missing = HistogramGroupBy("h", "l", 5, missing=2.0, sort=(BY_ROWS,))
    assert index.counts(with_missing) == [(-5, 1), (5, 1), (10, 1), (0, 3)]
    bounded = HistogramGroupBy("h", "l", 5, field_range=(0, 5))
    assert index.counts(bounded) == [(0, 2), (5, 1)]


def test_a_range_bounds_the_keys_of_groups_and_not_the_values(make: Make) -> None:
    # search §6.3
    index = make(fields(l=T.LONG, d=T.DOUBLE), [{"l": n, "d": float(n)} for n in range(100)])
    asked = HistogramGroupBy("h", "l", 3, offset=1, field_range=(2, 10))
    assert index.counts(asked) == [(4, 3), (7, 3), (10, 3)]
    fractions = HistogramGroupBy("h", "d", 3.0, offset=1.0, field_range=(2.0, 10.0))
    assert index.counts(fractions) == [(4.0, 3), (7.0, 3), (10.0, 3)]
    filled = replace(asked, min_doc_count=0)
    assert index.counts(filled, query=TermQuery("l", 99)) == [(4, 0), (7, 0), (10, 0)]
    assert index.counts(replace(asked, field_range=(5, 6))) == []
    assert index.counts(replace(asked, field_range=(None, 2))) == [(-2, 1), (1, 3)]
    assert index.counts(replace(asked, field_range=(95, None))) == [(97, 3)]


def test_a_range_bounds_the_beginnings_of_spans_of_time(make: Make) -> None:
    # search §6.3
    day = 86_400_000
    schema = SearchSchema((SearchField("t", T.DATE, date_formats=("epoch_millis",)),))
    index = make(schema, [{"t": day // 2 * n} for n in range(10)])
    asked = DateHistogramGroupBy("h", "t", DateTimeValue(1, U.DAY), field_range=(day // 2, 3 * day))
    assert index.counts(asked) == [(day, 2), (2 * day, 2), (3 * day, 2)]


def test_a_fraction_over_whole_numbers_is_refused(make: Make) -> None:
    """And is not silently the whole number below it."""
    index = make(fields(l=T.LONG), [{"l": 1}, {}])
    for asked in (
        HistogramGroupBy("h", "l", 2.5),
        HistogramGroupBy("h", "l", 2, offset=0.5),
        HistogramGroupBy("h", "l", 2, missing=1.5),
        HistogramGroupBy("h", "l", 2, field_range=(0.5, 2)),
    ):
        with pytest.raises(InvalidRequest):
            index.counts(asked)
    assert index.counts(HistogramGroupBy("h", "l", 2.0)) == [(0, 1)]


def test_empty_buckets_are_filled_where_asked(make: Make) -> None:
    # search §6.3: min_doc_count 0
    index = make(fields(l=T.LONG, k=T.KEYWORD), [{"l": 2, "k": "a"}, {"l": 6, "k": "a"}])
    filled = HistogramGroupBy("h", "l", 2, min_doc_count=0)
    assert index.counts(filled) == [(2, 1), (4, 0), (6, 1)]
    wider = HistogramGroupBy("h", "l", 2, min_doc_count=0, field_range=(0, 8))
    assert index.counts(wider) == [(0, 0), (2, 1), (4, 0), (6, 1), (8, 0)]
    assert index.counts(wider, query=TermQuery("l", 99)) == [(key, 0) for key in range(0, 9, 2)]
    assert index.counts(filled, query=TermQuery("l", 99)) == []
    metric = Breakdown((Metric("m", K.SUM, "l"),))
    groups = index.groups(HistogramGroupBy("h", "l", 2, min_doc_count=0, below=metric))
    assert [group.below.aggregations[0].value for group in groups] == [2, 0, 6]
    nested = FieldGroupBy("g", "k", below=Breakdown((), (filled,)))
    (group,) = index.groups(nested)
    inner = group.below.group_bys[0].groups
    assert [(each.key, each.row_count) for each in inner] == [(2, 1), (4, 0), (6, 1)]


@pytest.mark.parametrize("interval", [0, -1, math.nan])
def test_intervals_are_above_zero(make: Make, interval: float) -> None:
    index = make(fields(d=T.DOUBLE), [{"d": 1.0}])
    rule = refused(index, HistogramGroupBy("h", "d", interval))
    assert rule in (
        TablestoreRule.GROUP_INTERVAL,
        TablestoreRule.SEARCH_QUERY_VALUE,
    )  # no field has such a number


@pytest.mark.parametrize(
    "asked",
    [
        HistogramGroupBy("h", "l", 1, field_range=(0, 10**6)),
        HistogramGroupBy("h", "l", 1),
        HistogramGroupBy("h", "l", 1, min_doc_count=0),
        HistogramGroupBy("h", "d", 1e-300),
        HistogramGroupBy("h", "d", 1e-300, field_range=(0.0, 1e300)),
    ],
)
def test_buckets_are_bounded(make: Make, asked: GroupBy) -> None:
    # search §6.3: 2000
    rows: list[Any] = [{"l": number * 3, "d": float(number)} for number in range(2001)]
    index = make(fields(l=T.LONG, d=T.DOUBLE), rows)
    assert refused(index, asked) is TablestoreRule.GROUP_BUCKETS


def test_a_range_has_its_bounds_in_order(make: Make) -> None:
    index = make(fields(l=T.LONG), [])
    asked = HistogramGroupBy("h", "l", 1, field_range=(3, 2))
    assert refused(index, asked) is TablestoreRule.GROUP_RANGE


def test_histograms_reach_the_ends_of_the_numbers(make: Make) -> None:
    index = make(fields(l=T.LONG), [{"l": -(2**63)}, {"l": 2**63 - 1}])
    found = index.counts(HistogramGroupBy("h", "l", 2**62, offset=1))
    assert [count for _, count in found] == [1, 1]
    assert all(-(2**63) <= key < 2**63 for key, _ in found)


DATES = SearchSchema((SearchField("t", T.DATE, date_formats=("yyyy-MM-dd HH:mm:ss",)),))
DAY = 86_400_000


def date_counts(make: Make, times: list[str], asked: GroupBy) -> list[tuple[Any, int]]:
    return make(DATES, [{"t": time} for time in times]).counts(asked)


def test_days_begin_where_offset_and_zone_say(make: Make) -> None:
    # search §6.3: J's sample, one day, offset 6 h, zone +05:30
    times = ["1970-01-02 00:29:59", "1970-01-02 00:30:00", "1970-01-02 05:00:00"]
    asked = DateHistogramGroupBy(
        *("h", "t", DateTimeValue(1, U.DAY), DateTimeValue(6, U.HOUR), "+05:30")
    )
    start = DAY + 30 * 60_000
    assert date_counts(make, times, asked) == [(start - DAY, 1), (start, 2)]
    plain = DateHistogramGroupBy("h", "t", DateTimeValue(1, U.DAY))
    assert date_counts(make, times, plain) == [(DAY, 3)]


def test_weeks_begin_on_monday(make: Make) -> None:
    # search §6.3; 1970-01-05 was one
    times = ["1970-01-04 23:59:59", "1970-01-05 00:00:00", "1970-01-11 23:59:59"]
    one = DateHistogramGroupBy("h", "t", DateTimeValue(1, U.WEEK))
    assert date_counts(make, times, one) == [(-3 * DAY, 1), (4 * DAY, 2)]
    two = DateHistogramGroupBy("h", "t", DateTimeValue(2, U.WEEK))
    assert date_counts(make, times, two) == [(0, 3)]


@pytest.mark.parametrize(
    ("value", "unit", "starts"),
    [
        (1, U.MONTH, [0, 31, 59, 365]),
        (2, U.MONTH, [0, 59, 365]),
        (1, U.QUARTER_YEAR, [0, 365]),
        (1, U.YEAR, [0, 365]),
        (2, U.YEAR, [0]),
    ],
)
def test_months_and_years_are_those_of_the_calendar(
    make: Make, value: int, unit: U, starts: list[int]
) -> None:
    # search §6.3
    times = [f"{day} 12:00:00" for day in ("1970-01-31", "1970-02-28", "1970-03-01", "1971-01-01")]
    asked = DateHistogramGroupBy("h", "t", DateTimeValue(value, unit))
    assert [key for key, _ in date_counts(make, times, asked)] == [DAY * each for each in starts]


def test_months_are_filled_too(make: Make) -> None:
    times = ["1970-01-31 00:00:00", "1970-03-01 00:00:00"]
    asked = DateHistogramGroupBy("h", "t", DateTimeValue(1, U.MONTH), min_doc_count=0)
    assert date_counts(make, times, asked) == [(0, 1), (31 * DAY, 0), (59 * DAY, 1)]


@pytest.mark.parametrize(
    "zone", ["+5:30x", "Asia/Shanghai", "+19:00", "+05:60", "+０８:００", "x" * 100_000]
)
def test_zones_are_offsets(make: Make, zone: str) -> None:
    asked = DateHistogramGroupBy("h", "t", DateTimeValue(1, U.DAY), time_zone=zone)
    assert refused(make(DATES, []), asked) is TablestoreRule.GROUP_ZONE


@pytest.mark.parametrize("unit", U)
def test_spans_of_time_are_bounded(make: Make, unit: U) -> None:
    index = make(DATES, [{"t": "2001-01-01 00:00:00"}])
    for value in (0, -1, 2**62):
        asked = DateHistogramGroupBy("h", "t", DateTimeValue(value, unit))
        assert refused(index, asked) is TablestoreRule.GROUP_INTERVAL
    shifted = DateHistogramGroupBy(
        *("h", "t", DateTimeValue(1, unit), DateTimeValue(2**62, U.SECOND))
    )
    assert refused(index, shifted) is TablestoreRule.GROUP_INTERVAL


# --- geo grid ---------------------------------------------------------------------------------


def test_the_cell_of_the_go_suite(make: Make) -> None:
    # search §6.3 [verified]
    index = make(fields(g=T.GEO_POINT), [{"g": f"30.{n},120.{n}"} for n in range(10)])
    (group,) = index.groups(GeoGridGroupBy("g", "g", 3))
    assert (group.key, group.row_count) == ("wtm", 10)
    assert group.cell == GeoCell((30.9375, 119.53125), (29.53125, 120.9375))


@both
@given(st.floats(-90, 90), st.floats(-180, 180), st.integers(1, 12))
def test_points_lie_in_their_cells(
    build: Asked, latitude: float, longitude: float, precision: int
) -> None:
    index = Index(build, fields(g=T.GEO_POINT), [{"g": f"{latitude:f},{longitude:f}"}])
    (group,) = index.groups(GeoGridGroupBy("g", "g", precision))
    assert isinstance(group.key, str)
    assert len(group.key) == precision
    assert group.cell is not None
    (north, west), (south, east) = group.cell.top_left, group.cell.bottom_right
    slack = 1e-6
    assert south - slack <= latitude <= north + slack
    assert west - slack <= longitude <= east + slack
    if precision > 1:
        (outer,) = index.groups(GeoGridGroupBy("g", "g", precision - 1))
        assert group.key.startswith(str(outer.key))


def test_a_well_known_geohash(make: Make) -> None:
    # The example of the article that introduced geohashes: 57.64911, 10.40744 is u4pruydqqvj.
    index = make(fields(g=T.GEO_POINT), [{"g": "57.64911,10.40744"}])
    assert index.counts(GeoGridGroupBy("g", "g", 11)) == [("u4pruydqqvj", 1)]
    assert index.counts(GeoGridGroupBy("g", "g")) == [("u4pru", 1)]


@pytest.mark.parametrize("precision", [0, 13, -1])
def test_precisions_are_bounded(make: Make, precision: int) -> None:
    index = make(fields(g=T.GEO_POINT), [])
    assert refused(index, GeoGridGroupBy("g", "g", precision)) is TablestoreRule.GROUP_PRECISION


# --- composites -------------------------------------------------------------------------------


def composite_pages(index: Index, asked: CompositeGroupBy) -> list[list[tuple[Any, int]]]:
    pages, token = [], None
    while True:
        breakdown = Breakdown((), (replace(asked, token=token),))
        answer = index.page(breakdown=breakdown).breakdown.group_bys[0]
        pages.append([(group.key, group.row_count) for group in answer.groups])
        token = answer.token
        if token is None:
            return pages


SOURCES = (FieldGroupBy("a", "k"), HistogramGroupBy("b", "l", 10))


def test_composites_count_combinations_and_missing_values(make: Make) -> None:
    # search §6.3
    rows: list[Any] = [{"k": "x", "l": 1}, {"k": "x", "l": 2}, {"k": "y", "l": 11}, {"l": 5}, {}]
    index = make(fields(k=T.KEYWORD, l=T.LONG), rows)
    expected = [
        ((None, None), 1),
        ((None, "0"), 1),
        (("x", "0"), 2),
        (("y", "10"), 1),
    ]
    asked = CompositeGroupBy("c", SOURCES)
    assert composite_pages(index, asked) == [expected]
    for size in (1, 2, 3):
        pages = composite_pages(index, CompositeGroupBy("c", SOURCES, size))
        assert [group for page in pages for group in page] == expected
        assert [len(page) for page in pages[:-1]] == [size] * (len(pages) - 1)
    assert composite_pages(index, CompositeGroupBy("c", SOURCES, 4)) == [expected]


def test_sizes_of_composites(make: Make) -> None:
    # search §6.3: G asserts both
    index = make(fields(k=T.KEYWORD, l=T.LONG), [{"l": number} for number in range(3000)])
    source = (FieldGroupBy("a", "l"),)
    assert refused(index, CompositeGroupBy("c", source, 2001)) is TablestoreRule.GROUP_SIZE
    (answer,) = index.page(
        breakdown=Breakdown((), (CompositeGroupBy("c", source, suggested_size=2001),))
    ).breakdown.group_bys
    assert len(answer.groups) == 2000
    assert answer.token is not None


def test_composites_of_every_kind_of_key_go_on(make: Make) -> None:
    schema = SearchSchema(
        (
            *(SearchField("d", T.DOUBLE), SearchField("b", T.BOOLEAN), SearchField("i", T.IP)),
            SearchField("t", T.DATE, date_formats=("epoch_millis",)),
        )
    )
    rows: list[Any] = [
        {"d": n / 2, "b": n % 2 == 0, "i": f"10.0.{n}.9", "t": n * 1000} for n in (3, 20, 100)
    ]
    index = make(schema, [*rows, {}])
    sources: tuple[FieldGroupBy | DateHistogramGroupBy, ...] = (
        *(FieldGroupBy(name, name) for name in "dbit"),
        DateHistogramGroupBy("h", "t", DateTimeValue(1, U.MINUTE)),
    )
    for order in (sources, sources[::-1], (sources[2],)):
        once = composite_pages(index, CompositeGroupBy("c", order, 10))[0]
        pages = composite_pages(index, CompositeGroupBy("c", order, 1))
        assert [group for page in pages for group in page] == once
        assert len(once) == 4
    assert composite_pages(index, CompositeGroupBy("c", sources))[0][1] == (
        ("1.5", "false", "10.0.3.9", "3000", "0"),
        1,
    )


@pytest.mark.parametrize("token", ["x", "AAAA", "é", "A" * 10**6, "AQ=="])
def test_wrong_tokens_of_composites_are_refused(make: Make, token: str) -> None:
    index = make(fields(k=T.KEYWORD, l=T.LONG), [{"k": "x", "l": 1}])
    assert refused(index, CompositeGroupBy("c", SOURCES, token=token)) is TablestoreRule.GROUP_TOKEN


def test_tokens_of_other_composites_are_refused_or_harmless(make: Make) -> None:
    rows: list[Any] = [{"k": text, "l": 1} for text in "xyz"]
    index = make(fields(k=T.KEYWORD, l=T.LONG), rows)
    breakdown = Breakdown((), (CompositeGroupBy("c", (FieldGroupBy("a", "k"),), 1),))
    token = index.page(breakdown=breakdown).breakdown.group_bys[0].token
    for sources in (SOURCES, (FieldGroupBy("a", "l"),)):
        asked = CompositeGroupBy("c", sources, token=token)
        assert refused(index, asked) is TablestoreRule.GROUP_TOKEN


# --- nested fields ----------------------------------------------------------------------------

NESTED = SearchSchema(
    (
        SearchField("k", T.KEYWORD),
        SearchField("l", T.LONG),
        SearchField(
            "n",
            T.NESTED,
            fields=(
                *(SearchField("l", T.LONG), SearchField("k", T.KEYWORD)),
                SearchField("deep", T.NESTED, fields=(SearchField("l", T.LONG),)),
            ),
        ),
        SearchField("m", T.NESTED, fields=(SearchField("l", T.LONG),)),
    )
)


def nested_rows() -> list[dict[str, Any]]:
    # The rows of the Go SDK's second table: elements 4, 4, 4, 4, 3, 3 and 3, 2, 2, 1.
    values = [("tablestore", value) for value in (4, 4, 4, 4, 3, 3)]
    values += [("hangzhou", value) for value in (3, 2, 2, 1)]
    return [{"k": key, "l": value, "n": f'[{{"l": {value}}}]'} for key, value in values]


def test_nested_fields_of_the_go_suite(make: Make) -> None:
    # search §6.1, last paragraph, and search §9: 11/3 and 2
    index = make(NESTED, nested_rows())
    assert index.value(Metric("m", K.AVG, "n.l")) == 3
    by_value = FieldGroupBy("g", "n.l")
    assert index.counts(by_value) == [("4", 4), ("3", 3), ("2", 2), ("1", 1)]
    below = Breakdown((Metric("m", K.AVG, "n.l"),), (by_value,))
    groups = index.groups(FieldGroupBy("g", "k", below=below))
    assert [group.key for group in groups] == ["tablestore", "hangzhou"]
    assert [group.below.aggregations[0].value for group in groups] == [11 / 3, 2]
    inner = [
        [(each.key, each.row_count) for each in group.below.group_bys[0].groups] for group in groups
    ]
    assert inner == [[("4", 4), ("3", 2)], [("2", 2), ("1", 1), ("3", 1)]]


def test_groups_of_nested_fields_count_elements_and_see_their_rows(make: Make) -> None:
    # search §6.1: counts children; what lies at the same path is of these children
    rows: list[Any] = [
        {"l": 10, "n": '[{"k": "a", "l": 1}, {"k": "a", "l": 2}, {"k": "b", "l": 3}]'},
        {"l": 20, "n": '[{"k": "a", "l": 4}]'},
    ]
    index = make(NESTED, rows)
    below = Breakdown(
        (
            Metric("elements", K.SUM, "n.l"),
            Metric("rows", K.SUM, "l"),
            Metric("all", K.COUNT, "*"),
            TopRows("top", 5),
        ),
        (FieldGroupBy("values", "n.l"), FieldGroupBy("of rows", "l")),
    )
    first, second = index.groups(FieldGroupBy("g", "n.k", below=below))
    assert (first.key, first.row_count) == ("a", 3)
    found = [each.value for each in first.below.aggregations]
    assert found == [7, 30, 3, (key_of(0), key_of(1))]
    counts = [
        [(each.key, each.row_count) for each in answer.groups] for answer in first.below.group_bys
    ]
    assert counts == [[("1", 1), ("2", 1), ("4", 1)], [("10", 1), ("20", 1)]]
    assert [each.value for each in second.below.aggregations] == [3, 10, 1, (key_of(0),)]


def test_nested_fields_below_other_nested_fields_are_refused(make: Make) -> None:
    # search §6.1, exact text
    index = make(NESTED, nested_rows())
    for name in ("n.deep.l", "m.l"):
        below = Breakdown((Metric("m", K.SUM, name),))
        with pytest.raises(InvalidRequest) as error:
            index.groups(FieldGroupBy("g", "n.l", below=below))
        expected = "nested field aggregation/groupby must not be recursive"
        assert foreign(error.value)[-1] == expected


def test_composites_of_nested_fields_stay_at_one_path(make: Make) -> None:
    index = make(NESTED, nested_rows())
    inside = CompositeGroupBy("c", (FieldGroupBy("a", "n.l"), FieldGroupBy("b", "n.k")))
    assert composite_pages(index, inside)[0][0] == (("1", None), 1)
    across = CompositeGroupBy("c", (FieldGroupBy("a", "n.l"), FieldGroupBy("b", "k")))
    assert refused(index, across) is TablestoreRule.GROUP_LEVEL


# --- levels -----------------------------------------------------------------------------------


def levels(depth: int) -> FieldGroupBy:
    below = Breakdown((), (levels(depth - 1),)) if depth > 1 else Breakdown()
    return FieldGroupBy("g", "l", below=below)


def test_three_levels_are_allowed_and_four_are_not(make: Make) -> None:
    # search §6.1
    index = make(fields(l=T.LONG), [{"l": 1}])
    assert index.counts(levels(3)) == [("1", 1)]
    assert refused(index, levels(4)) is TablestoreRule.AGG_DEPTH
    assert refused(index, levels(900)) is TablestoreRule.AGG_DEPTH


def test_the_groups_of_all_levels_are_bounded(make: Make) -> None:
    index = make(fields(l=T.LONG), [{"l": number} for number in range(2000)])
    ranges = tuple((float(number), None) for number in range(100))
    below = Breakdown((), (RangeGroupBy("r", "l", ranges),))
    asked = FieldGroupBy("g", "l", 2000, below=below)
    assert refused(index, asked) is TablestoreRule.GROUP_TOTAL


@pytest.mark.parametrize(
    "below",
    [
        Breakdown(tuple(Metric(str(number), K.AVG, "l") for number in range(100))),
        Breakdown(
            tuple(PercentilesMetric(str(n), "l", tuple(map(float, range(100)))) for n in range(3))
        ),
        Breakdown((TopRows("one"), TopRows("two"))),
    ],
)
def test_what_is_below_all_groups_is_bounded(make: Make, below: Breakdown) -> None:
    index = make(fields(l=T.LONG), [{"l": number} for number in range(100)])
    ranges = RangeGroupBy("r", "l", ((None, None),) * 100, below=below)
    inside = FieldGroupBy("g", "l", 100, below=Breakdown((), (ranges,)))
    assert refused(index, inside) is TablestoreRule.GROUP_TOTAL
    assert index.groups(replace(ranges, ranges=((None, None),)))


@pytest.mark.parametrize(
    "below",
    [
        Breakdown(tuple(Metric(str(number), K.AVG, "l") for number in range(90))),
        Breakdown((), (RangeGroupBy("r", "l", ((None, None),) * 90),)),
    ],
)
def test_what_takes_long_can_be_ended(below: Breakdown) -> None:
    # search §5.7: timeout_ms
    index = Index(PlainView, fields(l=T.LONG), [{"l": 1}])
    index.page(breakdown=below)
    assert index.view.checks > 90
    index.view.patience = index.view.checks + 80
    with pytest.raises(TimeoutError):
        index.page(breakdown=below)


ROWS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "k": st.sampled_from("abc"),
            "l": st.integers(-3, 3) | st.sampled_from([-(2**63), 2**63 - 1, 10**12]),
            "d": st.sampled_from([0.5, 1.25, -7.0]),
            "ka": st.sampled_from(['["a"]', '["a","b"]', "[]", '["b","b","c"]']),
        },
    ),
    max_size=12,
)
SCHEMA = SearchSchema(
    (
        *(SearchField("k", T.KEYWORD), SearchField("l", T.LONG), SearchField("d", T.DOUBLE)),
        SearchField("ka", T.KEYWORD, is_array=True),
    )
)
FIELDS = st.sampled_from(["k", "l", "d", "ka"])
METRICS = (
    *(Metric("sum", K.SUM, "l"), Metric("max", K.MAX, "d"), Metric("kinds", K.DISTINCT_COUNT, "k")),
    Metric("filled", K.AVG, "d", 2.5),
)


@both
@given(ROWS, FIELDS, FIELDS)
def test_groups_are_those_of_their_rows(
    build: Asked, rows: list[dict[str, Any]], one: str, two: str
) -> None:
    """What is below a group is what a search for the group's rows finds, and adds up."""
    index = Index(build, SCHEMA, rows)
    inner = Breakdown(METRICS, (FieldGroupBy("two", two),))
    groups = index.groups(FieldGroupBy("one", one, 100, below=inner))

    def keys(row: dict[str, Any], name: str) -> set[Any]:
        value = row.get(name)
        if value is None:
            return set()
        return set(json.loads(value)) if name == "ka" else {value}

    expected = Counter(key for row in rows for key in keys(row, one))
    order = sorted(expected.items(), key=lambda pair: (-pair[1], pair[0]))
    assert [(group.key, group.row_count) for group in groups] == [
        (key if isinstance(key, str) else repr(key), count) for key, count in order
    ]
    for (key, _), group in zip(order, groups, strict=True):
        own = Index(build, SCHEMA, [row for row in rows if key in keys(row, one)])
        assert own.page(breakdown=inner).breakdown == group.below


@both
@given(ROWS, st.integers(1, 5))
def test_filters_that_divide_rows_add_up(
    build: Asked, rows: list[dict[str, Any]], bound: int
) -> None:
    index = Index(build, SCHEMA, rows)
    below = RangeQuery("l", None, bound)
    above = RangeQuery("l", bound, None, include_start=True)
    asked = FilterGroupBy("f", (below, above, ExistsQuery("l")))
    one, two, both = (count for _, count in index.counts(asked))
    assert one + two == both


@both
@given(ROWS, st.integers(1, 4), FIELDS, FIELDS)
def test_pages_of_composites_join(
    build: Asked, rows: list[dict[str, Any]], size: int, one: str, two: str
) -> None:
    index = Index(build, SCHEMA, rows)
    sources = (FieldGroupBy("one", one), FieldGroupBy("two", two))
    pages = composite_pages(index, CompositeGroupBy("c", sources, size))
    whole = composite_pages(index, CompositeGroupBy("c", sources, 2000))
    assert [group for page in pages for group in page] == whole[0]
