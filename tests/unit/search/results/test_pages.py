"""Which rows a page has, in what order, and what follows (search §4.3, §5.1 to §5.5)."""

import math
from dataclasses import replace
from typing import Any
from zlib import crc32

import msgpack
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.search.results.asking import Asked, Index, T, both, fields, key_of, numbers
from tests.unit.search.results.conftest import Make
from tests.unit.search.results.plain_index import PlainView

from widerow.errors import AnyRule, InvalidRequest
from widerow.limits import (
    SEARCH_QUERY_DEPTH_MAX,
    SEARCH_SORT_BYTES_MAX,
    SEARCH_SORTERS_MAX,
    SEARCH_TOKEN_BYTES_MAX,
)
from widerow.model.search.query import (
    BoolQuery,
    DocSort,
    FieldSort,
    FunctionScoreQuery,
    FunctionsScoreQuery,
    GeoDistanceSort,
    GeoDistanceType,
    MatchAllQuery,
    NestedFilter,
    NestedQuery,
    PrimaryKeySort,
    RangeQuery,
    ScoreFunction,
    ScoreSort,
    SearchSort,
    Sorter,
    SortMode,
    SortOrder,
    TermQuery,
)
from widerow.model.search.requests import Search
from widerow.model.search.schema import SearchField, SearchSchema
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.results.tokens import (
    open_token,
    read_page_token,
    sealed_token,
    write_page_token,
)
from widerow.wire.tablestore.errors.answers import foreign

ASC, DESC = SortOrder.ASC, SortOrder.DESC


def by(*sorters: Sorter, keyless: bool = False) -> SearchSort:
    return SearchSort(sorters, disable_default_pk_sorter=keyless)


def refused(index: Index, **request: Asked) -> AnyRule:
    with pytest.raises(InvalidRequest) as error:
        index.page(**request)
    assert foreign(error.value)[1] == "OTSParameterInvalid"
    rule = error.value.rule
    assert isinstance(rule, AnyRule)
    return rule


LONGS = fields(l=T.LONG)


# --- orders -----------------------------------------------------------------------------------


def test_rows_come_by_primary_key_where_nothing_else_is_said(make: Make) -> None:
    # search §5.1
    rows: list[Any] = [{"l": value} for value in (3, 1, 2)]
    assert make(LONGS, rows).numbers() == [0, 1, 2]
    assert make(replace(LONGS, sort=by(PrimaryKeySort(DESC))), rows).numbers() == [2, 1, 0]
    assert make(replace(LONGS, sort=by(FieldSort("l"))), rows).numbers() == [1, 2, 0]
    assert make(LONGS, rows).numbers(sort=SearchSort()) == [0, 1, 2]


def test_sorters_count_in_their_order_and_then_the_key(make: Make) -> None:
    # search §5.1; §9: P, FieldSort desc gives l = 249…200 and then 149…101
    rows: list[Any] = [{"l": value, "k": key} for value, key in [(1, "b"), (2, "a"), (1, "a")]]
    index = make(fields(l=T.LONG, k=T.KEYWORD), [*rows, rows[0]])
    assert index.numbers(sort=by(FieldSort("l", DESC))) == [1, 0, 2, 3]
    assert index.numbers(sort=by(FieldSort("l"), FieldSort("k"))) == [2, 0, 3, 1]
    keys = by(FieldSort("l"), PrimaryKeySort(DESC))
    assert index.numbers(sort=keys) == [3, 2, 0, 1]


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (T.LONG, [-(2**63), -1, 2**53, 2**53 + 1, 2**63 - 1]),
        (T.DOUBLE, [-1e300, -0.5, 0.25, 1e300]),
        (T.BOOLEAN, [False, True]),
        (T.KEYWORD, ["", "a", "a ", "é", "水", "😀"]),
        (T.FUZZY_KEYWORD, ["a", "b"]),
        (T.IP, ["1.2.3.4", "10.0.0.1", "2001:db8::1"]),
        (T.DATE, [1, 2, 3_000_000_000_000]),
    ],
)
def test_every_type_with_an_order_pages_in_both_directions(
    make: Make, kind: T, values: list[Any]
) -> None:
    # search §5.1, §4.7
    schema = SearchSchema((SearchField("f", kind, date_formats=("epoch_millis",)),))
    rows = [{"f": value} for value in values]
    index = make(schema, [*rows, {}])
    expected = list(range(len(values)))
    last = [len(values)]
    for order, found in ((ASC, expected + last), (DESC, expected[::-1] + last)):
        for limit in (1, 2, 100):
            pages = index.pages(sort=by(FieldSort("f", order)), limit=limit)
            assert [number for page in pages for number in page] == found


def test_the_mode_chooses_among_values(make: Make) -> None:
    # search §5.1: MIN always, unless said
    schema = SearchSchema((SearchField("la", T.LONG, is_array=True),))
    index = make(schema, [{"la": text} for text in ("[0, 10]", "[1, 2, 12]", "[4]")])
    for mode, expected in (
        (None, [0, 1, 2]),
        (SortMode.MIN, [0, 1, 2]),
        (SortMode.MAX, [2, 0, 1]),
        (SortMode.AVG, [2, 0, 1]),
    ):
        assert index.numbers(sort=by(FieldSort("la", mode=mode))) == expected
    assert index.numbers(sort=by(FieldSort("la", DESC))) == [2, 1, 0]
    pages = index.pages(sort=by(FieldSort("la", mode=SortMode.AVG)), limit=1)
    assert pages[:3] == [[2], [0], [1]] or pages[:3] == [[2], [1], [0]]
    index = make(fields(k=T.KEYWORD), [])
    assert refused(index, sort=by(FieldSort("k", mode=SortMode.AVG))) is TablestoreRule.SORT_MODE


def test_rows_without_a_value_come_last_unless_said(make: Make) -> None:
    # search §5.1
    rows: list[Any] = [{"l": 5, "k": "m"}, {}, {"l": 3, "k": "c"}]
    index = make(fields(l=T.LONG, k=T.KEYWORD), rows)
    for order, expected in ((ASC, [2, 0, 1]), (DESC, [0, 2, 1])):
        for name in "lk":
            assert index.numbers(sort=by(FieldSort(name, order))) == expected
            last = FieldSort(name, order, missing_value="_last")
            assert index.numbers(sort=by(last)) == expected
            first = FieldSort(name, order, missing_value="_first")
            assert index.numbers(sort=by(first)) == [1, *expected[:2]]
            assert index.pages(sort=by(first), limit=1)[:3] == [
                [each] for each in (1, *expected[:2])
            ]
    for value in (4, "4"):
        assert index.numbers(sort=by(FieldSort("l", missing_value=value))) == [2, 1, 0]
    for value, expected in (("d", [2, 1, 0]), ("c", [1, 2, 0]), ("a", [1, 2, 0])):
        sort = by(FieldSort("k", missing_value=value))
        assert index.numbers(sort=sort) == expected
        assert [row for page in index.pages(sort=sort, limit=1) for row in page] == expected
    assert index.numbers(sort=by(FieldSort("k", missing_value=""))) == [1, 2, 0]


def test_another_field_stands_in_for_a_missing_one(make: Make) -> None:
    # search §5.1: N, 30 rows with col_long 0..29, 7 with only col_long_sec 31..37
    rows: list[Any] = [{"a": number} for number in range(30)]
    rows += [{"b": number} for number in range(31, 38)]
    index = make(fields(a=T.LONG, b=T.LONG), [*rows, {}])
    sort = by(FieldSort("a", DESC, missing_field="b", missing_value="_last"))
    found = [row for page in index.pages(sort=sort, limit=5) for row in page]
    assert found == [*range(36, 29, -1), *range(29, -1, -1), 37]
    value = by(FieldSort("a", DESC, missing_field="b", missing_value=50))
    assert index.numbers(sort=value, limit=2) == [37, 36]


def test_fields_that_stand_in_have_the_same_kind(make: Make) -> None:
    schema = fields(k=T.KEYWORD, f=T.FUZZY_KEYWORD, l=T.LONG, d=T.DOUBLE)
    index = make(schema, [{"k": "b"}, {"f": "a"}, {"f": "c"}, {"l": 2}, {"d": 1.5}])
    texts = by(FieldSort("k", missing_field="f"))
    assert index.numbers(sort=texts, limit=3) == [1, 0, 2]
    assert [row for page in index.pages(sort=texts, limit=2) for row in page] == [1, 0, 2, 3, 4]
    assert index.numbers(sort=by(FieldSort("l", missing_field="d")), limit=2) == [4, 3]
    wrong = by(FieldSort("l", missing_field="k"))
    assert refused(index, sort=wrong) is TablestoreRule.SORT_MISSING
    assert refused(make(schema, [{"l": 1}]), sort=wrong) is TablestoreRule.SORT_MISSING, (
        "nothing is missing"
    )


def test_distances_to_the_nearest_point(make: Make) -> None:
    # search §5.1, §4.6
    index = make(fields(g=T.GEO_POINT), [{"g": "0,3"}, {"g": "0,1"}, {}, {"g": "0,-178"}])
    near = GeoDistanceSort("g", ("0,0",))
    assert index.numbers(sort=by(near)) == [1, 0, 3, 2]
    assert index.numbers(sort=by(replace(near, order=DESC))) == [3, 0, 1, 2]
    several = GeoDistanceSort("g", ("0,0", " 0, 180 "))
    assert index.numbers(sort=by(several))[:3] == [1, 3, 0]
    plane = GeoDistanceSort("g", ("0,179",), distance_type=GeoDistanceType.PLANE)
    assert index.numbers(sort=by(plane))[0] == 3
    pages = index.pages(sort=by(near), limit=1)
    assert [row for page in pages for row in page] == [1, 0, 3, 2]
    for points in ((), ("0,0", "91,0"), ("x",)):
        assert refused(index, sort=by(GeoDistanceSort("g", points))) is TablestoreRule.SORT_POINTS


NESTED = SearchSchema(
    (
        SearchField("l", T.LONG),
        SearchField("n", T.NESTED, fields=(SearchField("l", T.LONG), SearchField("k", T.KEYWORD))),
    )
)


def test_nested_fields_sort_by_their_elements(make: Make) -> None:
    # search §5.1
    rows = ['[{"k":"a","l":5},{"k":"b","l":1}]', '[{"k":"a","l":3}]', '[{"k":"b","l":0}]']
    index = make(NESTED, [{"n": text} for text in rows])
    assert index.numbers(sort=by(FieldSort("n.l"))) == [2, 0, 1]
    passed = NestedFilter("n", TermQuery("n.k", "a"))
    filtered = by(FieldSort("n.l", nested_filter=passed))
    assert index.numbers(sort=filtered) == [1, 0, 2]
    pages = index.pages(sort=filtered, limit=1)
    assert [row for page in pages for row in page] == [1, 0, 2]
    outside = by(FieldSort("l", nested_filter=passed))
    assert refused(index, sort=outside) is TablestoreRule.SORT_NESTED


@pytest.mark.parametrize("name", ["t", "n", "g", "off", "no"])
def test_fields_without_an_order_are_refused(make: Make, name: str) -> None:
    # search §5.1, §8
    schema = SearchSchema(
        (
            *(SearchField("t", T.TEXT), SearchField("g", T.GEO_POINT)),
            SearchField("n", T.NESTED, fields=(SearchField("l", T.LONG),)),
            SearchField("off", T.LONG, sort_and_agg=False),
        )
    )
    index = make(schema, [])
    assert refused(index, sort=by(FieldSort(name))) is TablestoreRule.SORT_FIELD
    with pytest.raises(InvalidRequest) as error:
        index.page(sort=by(FieldSort("off")))
    text = "must enable enable_sort_and_agg, but enable_sort_and_agg is not enabled"
    assert foreign(error.value)[-1].endswith(f"field:off {text}")


def test_sorters_of_elements_are_refused_for_rows(make: Make) -> None:
    assert refused(make(LONGS, []), sort=by(DocSort())) is TablestoreRule.SORT_PLACE


def test_sorters_are_bounded(make: Make) -> None:
    index = make(fields(l=T.LONG, g=T.GEO_POINT), [])
    assert refused(index, sort=by(*[FieldSort("l")] * 33)) is TablestoreRule.SORT_COUNT
    points = GeoDistanceSort("g", ("0,0",) * 101)
    assert refused(index, sort=by(points)) is TablestoreRule.SORT_COUNT


# --- scores -----------------------------------------------------------------------------------

SCORED = FunctionScoreQuery(MatchAllQuery(), "l")


def test_scores_are_computed_where_something_asks_for_them(make: Make) -> None:
    # search §4.3
    rows: list[Any] = [{"l": value} for value in (3, 1, 2)]
    index = make(LONGS, rows)
    assert all(math.isnan(hit.score) for hit in index.page(query=SCORED).hits)
    hits = index.page(query=SCORED, sort=by(ScoreSort())).hits
    assert [(int(hit.key), hit.score) for hit in hits] == [(0, 3), (2, 2), (1, 1)]
    ascending = by(ScoreSort(ASC))
    pages = index.pages(query=SCORED, sort=ascending, limit=1)
    assert pages == [[1], [2], [0], []]
    functions = FunctionsScoreQuery(MatchAllQuery(), (ScoreFunction(),))
    assert [hit.score for hit in index.page(query=functions).hits] == [1, 1, 1]
    by_value = index.page(query=functions, sort=by(FieldSort("l"))).hits
    assert all(math.isnan(hit.score) for hit in by_value)


def test_an_index_with_nested_fields_answers_the_best_first(make: Make) -> None:
    # search §5.1, last case: N; and no token, P
    rows: list[Any] = [{"l": value} for value in (1, 3, 2, 3)]
    page = make(NESTED, rows).page(query=SCORED, limit=3)
    assert [(int(hit.key), hit.score) for hit in page.hits] == [(1, 3), (3, 3), (2, 2)]
    assert page.token == b""
    assert make(NESTED, rows).page(query=SCORED, limit=3, sort=by(PrimaryKeySort())).token


def test_the_seed_reaches_the_query() -> None:
    index = Index(PlainView, LONGS, [])
    index.page()
    assert index.view.seeds == [7]


# --- pages ------------------------------------------------------------------------------------


def test_pages_are_ten_rows_unless_said(make: Make) -> None:
    # search §5.2
    index = make(LONGS, [{"l": number} for number in range(1200)])
    assert len(index.numbers()) == 10
    assert len(index.numbers(limit=1000)) == 1000
    assert len(index.numbers(limit=-1)) == 1000
    assert index.numbers(limit=0) == []
    assert index.numbers(offset=1198) == [1198, 1199]
    assert index.numbers(offset=1300) == []
    assert index.numbers(limit=1000, offset=99_000) == []


@pytest.mark.parametrize("limit", [-2, 1001, 2**31 - 1])
def test_limits_are_bounded(make: Make, limit: int) -> None:
    assert refused(make(LONGS, []), limit=limit) is TablestoreRule.SEARCH_LIMIT


@pytest.mark.parametrize(("offset", "limit"), [(99_991, 10), (-1, 10), (2**31 - 1, 0)])
def test_the_window_is_bounded(make: Make, offset: int, limit: int) -> None:
    # search §8
    index = make(LONGS, [])
    assert refused(index, offset=offset, limit=limit) is TablestoreRule.SEARCH_WINDOW
    with pytest.raises(InvalidRequest) as error:
        index.page(offset=offset, limit=limit)
    assert foreign(error.value)[-1] == "Parameter limit + offset must be less than 100000"


def test_full_pages_have_a_token_and_others_none(make: Make) -> None:
    # search §5.2
    index = make(LONGS, [{"l": number} for number in range(20)])
    assert index.page(limit=10).token
    assert index.page(limit=20).token
    assert not index.page(limit=21).token
    assert not index.page(limit=0).token
    assert index.pages(limit=10) == [[*range(10)], [*range(10, 20)], []]


def test_ties_are_lost_without_the_primary_key(make: Make) -> None:
    # search §5.2: G, ten equal rows, limit 6
    index = make(LONGS, [{"l": 1}] * 10)
    lost = index.pages(sort=by(FieldSort("l"), keyless=True), limit=6)
    assert sum(map(len, lost)) == 6
    kept = index.pages(sort=by(FieldSort("l")), limit=6)
    assert [row for page in kept for row in page] == list(range(10))


def test_a_token_replaces_sort_and_offset(make: Make) -> None:
    # search §5.1, §5.2
    index = make(LONGS, [{"l": -number} for number in range(6)])
    first = index.page(sort=by(FieldSort("l")), limit=2)
    assert numbers(first) == [5, 4]
    second = index.page(sort=by(PrimaryKeySort()), offset=3, limit=2, token=first.token)
    assert numbers(second) == [3, 2]
    counted = index.page(token=first.token, get_total_count=True)
    assert counted.total == 6


def test_a_token_goes_on_where_its_row_was(make: Make) -> None:
    # search §5.2: rows that come and go in between move nothing
    rows: list[Any] = [{"k": text} for text in "bdfh"]
    schema = fields(k=T.KEYWORD)
    token = make(schema, rows).page(sort=by(FieldSort("k")), limit=2).token
    later = make(schema, [{"k": "b"}, {"k": "e"}, {"k": "c"}, {"k": "h"}])
    assert later.numbers(token=token) == [1, 3]
    token = make(schema, rows).page(sort=by(FieldSort("k", DESC)), limit=2).token
    assert later.numbers(token=token) == [1, 2, 0]
    token = make(LONGS, [{}] * 3).page(limit=2).token
    assert make(LONGS, [{}]).numbers(token=token) == []
    assert make(LONGS, [{}] * 4).numbers(token=token) == [2, 3]


def test_totals_are_answered_where_asked(make: Make) -> None:
    # search §5.3
    index = make(LONGS, [{"l": number % 2} for number in range(50)])
    assert index.page().total == -1
    query = TermQuery("l", 1)
    assert index.page(query=query, get_total_count=True, limit=0).total == 25
    assert index.page(query=query, get_total_count=True, filter=RangeQuery("l", 5)).total == 0


def test_every_sorter_survives_a_token() -> None:
    nested = NestedFilter("n", BoolQuery(must=(TermQuery("n.k", "a"), RangeQuery("n.l", 1, 2.5))))
    sort = by(
        FieldSort("l", DESC, SortMode.AVG, nested, 3, "m"),
        FieldSort("k", missing_value="_first"),
        GeoDistanceSort("g", ("1,2", "3,4"), DESC, SortMode.MAX, GeoDistanceType.PLANE, nested),
        *(ScoreSort(ASC), PrimaryKeySort(DESC)),
        keyless=True,
    )
    held = (1, None, 2.5, -1.0, b"key")
    assert read_page_token(write_page_token(sort, held)) == (sort, held)


def resealed(content: object) -> bytes:
    data: bytes = b"\x01" + msgpack.packb(content)
    return data + crc32(data).to_bytes(4, "big")


def deep(depth: int) -> Asked:
    query: Any = ["MatchAllQuery"]
    for _ in range(depth):
        query = ["ConstScoreQuery", query]
    return ["FieldSort", "l", 0, None, ["NestedFilter", "n", query], None, None]


HOSTILE: list[Any] = [
    None,
    [],
    [["SearchSort", [], False], []],
    [["SearchSort", [["DocSort", 0]], False], [1]],
    [["SearchSort", [["PrimaryKeySort", 0]], False], []],
    [["SearchSort", [["PrimaryKeySort", 0]], False], [1]],
    [["SearchSort", [["PrimaryKeySort", 9]], False], [b"x"]],
    [["SearchSort", [["PrimaryKeySort", True]], False], [b"x"]],
    [["SearchSort", [["PrimaryKeySort"]], False], [b"x"]],
    [["SearchSort", [["Highlight", [], 1]], False], [b"x"]],
    [["SearchSort", [["FieldSort", "l", 0, None, None, None, None]], False], [math.nan]],
    [["SearchSort", [["FieldSort", "l", 0, None, None, None, None]], False], [2**63]],
    [["SearchSort", [["FieldSort", "l", 0, None, None, None, None]], False], [b"x"]],
    [["SearchSort", [["FieldSort", 5, 0, None, None, None, None]], False], [1]],
    [["SearchSort", [["ScoreSort", 0]], False], [math.nan]],
    [["SearchSort", [["ScoreSort", 0]] * 1000, False], [1.0] * 1000],
    [["SearchSort", [deep(400)], False], [1]],
    {"a": 1},
]


@pytest.mark.parametrize("content", HOSTILE, ids=range(len(HOSTILE)))
def test_tokens_made_on_purpose_are_refused(make: Make, content: Asked) -> None:
    index = make(LONGS, [{"l": 1}])
    rule = refused(index, token=resealed(content))
    assert rule in (
        TablestoreRule.SEARCH_TOKEN,
        TablestoreRule.SORT_COUNT,
        TablestoreRule.SORT_PLACE,
    )


@given(st.binary(max_size=200) | st.builds(lambda data: b"\x01" + data, st.binary()))
def test_random_tokens_are_refused(data: bytes) -> None:
    with pytest.raises(InvalidRequest) as error:
        read_page_token(data)
    assert error.value.rule is TablestoreRule.SEARCH_TOKEN


PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text() | st.binary(),
    lambda below: st.lists(below, max_size=4) | st.just("SearchSort") | st.just("FieldSort"),
)


@given(PLAIN)
def test_sealed_nonsense_is_refused(content: object) -> None:
    assert open_token(sealed_token(content)) is not Ellipsis
    with pytest.raises(InvalidRequest):
        read_page_token(sealed_token(content))


def test_every_token_that_is_given_is_taken(make: Make) -> None:
    """However long the values are that it holds; a sort that none can hold is refused at once."""
    names = [f"k{number:02}" for number in range(SEARCH_SORTERS_MAX)]
    rows: list[Any] = [dict.fromkeys(names, f"{row}" * 4096) for row in range(3)]
    index = make(fields(**dict.fromkeys(names, T.KEYWORD)), rows)
    sort = by(*[FieldSort(name) for name in names], keyless=True)
    assert index.pages(sort=sort, limit=1) == [[0], [1], [2], []]
    nested: TermQuery | BoolQuery = TermQuery("n.k", "a")
    for _ in range(SEARCH_QUERY_DEPTH_MAX - 2):
        nested = BoolQuery(must=(nested,))
    deep = write_page_token(by(FieldSort("n.l", nested_filter=NestedFilter("n", nested))), [1])
    assert read_page_token(deep).held == (1,)
    long = by(FieldSort("k00", missing_value="x" * SEARCH_SORT_BYTES_MAX))
    with pytest.raises(InvalidRequest) as error:
        index.page(sort=long)
    assert error.value.rule is TablestoreRule.SORT_SIZE
    assert foreign(error.value)[1] == "OTSParameterInvalid"


def test_changed_and_long_tokens_are_refused() -> None:
    token = write_page_token(by(PrimaryKeySort()), [b"key"])
    for place in range(len(token)):
        changed = bytearray(token)
        changed[place] ^= 0x40
        with pytest.raises(InvalidRequest):
            read_page_token(bytes(changed))
    with pytest.raises(InvalidRequest):
        read_page_token(token + bytes(SEARCH_TOKEN_BYTES_MAX))


ROWS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "l": st.integers(-2, 2),
            "d": st.sampled_from([-0.5, 0.0, 1.5]),
            "k": st.sampled_from(["", "a", "b", "水"]),
            "la": st.sampled_from(["[]", "[1]", "[2, -1]", "[1, 1, 3]"]),
        },
    ),
    max_size=15,
)
SCHEMA = SearchSchema(
    (
        *(SearchField("l", T.LONG), SearchField("d", T.DOUBLE), SearchField("k", T.KEYWORD)),
        SearchField("la", T.LONG, is_array=True),
    )
)
MISSING = st.sampled_from([None, "_first", "_last"])
SORTERS = st.builds(
    FieldSort,
    st.sampled_from(["l", "d", "la"]),
    st.sampled_from(SortOrder),
    st.sampled_from(SortMode) | st.none(),
    missing_value=MISSING | st.just(1),
    missing_field=st.sampled_from([None, "l", "d"]),
) | st.builds(FieldSort, st.just("k"), st.sampled_from(SortOrder), missing_value=MISSING)


@both
@given(ROWS, st.lists(SORTERS, min_size=1, max_size=3), st.integers(1, 6))
def test_pages_join_to_one(
    build: Asked, rows: list[Any], sorters: list[Sorter], limit: int
) -> None:
    """Pages that follow each other by tokens are one large page (search §11.7)."""
    index = Index(build, SCHEMA, rows)
    whole = index.numbers(sort=by(*sorters), limit=1000)
    assert sorted(whole) == list(range(len(rows)))
    pages = index.pages(sort=by(*sorters), limit=limit)
    assert [row for page in pages for row in page] == whole
    parts = [
        index.numbers(sort=by(*sorters), limit=limit, offset=offset)
        for offset in range(0, len(rows), limit)
    ]
    assert [row for part in parts for row in part] == whole


@both
@given(ROWS, st.sampled_from(SortOrder), MISSING)
def test_orders_are_those_of_the_values(
    build: Asked, rows: list[Any], order: SortOrder, missing: str | None
) -> None:
    index = Index(build, SCHEMA, rows)
    sort = by(FieldSort("d", order, missing_value=missing))
    found = index.numbers(sort=sort, limit=1000)
    with_value = [number for number, row in enumerate(rows) if "d" in row]
    with_value.sort(key=lambda number: rows[number]["d"], reverse=False)
    if order is DESC:
        with_value.sort(key=lambda number: -rows[number]["d"])
    without = [number for number, row in enumerate(rows) if "d" not in row]
    assert found == (without + with_value if missing == "_first" else with_value + without)


# --- collapse ---------------------------------------------------------------------------------


def test_one_row_for_each_value_and_one_for_none(make: Make) -> None:
    # search §5.5: N, 12 values and missing, 13 rows
    rows: list[Any] = [{"k": f"v{number % 12}", "l": -number} for number in range(60)]
    index = make(fields(k=T.KEYWORD, l=T.LONG), [*rows, {}, {}])
    page = index.page(collapse="k", limit=100, get_total_count=True)
    assert numbers(page) == [*range(12), 60]
    assert page.total == 62
    assert page.token == b""
    best = index.numbers(collapse="k", sort=by(FieldSort("l")), limit=3)
    assert best == [59, 58, 57]
    assert index.numbers(collapse="k", limit=5, offset=10) == [10, 11, 60]
    assert index.page(collapse="k", limit=13).token == b""


def test_collapse_of_few_values_in_many_rows(make: Make) -> None:
    rows: list[Any] = [{"d": 1.0 + (number > 900) + (number > 998)} for number in range(1000)]
    index = make(fields(d=T.DOUBLE), rows)
    assert index.numbers(collapse="d", limit=10) == [0, 901, 999]
    assert index.numbers(collapse="d", limit=2) == [0, 901]


@both
@given(ROWS, st.sampled_from(["l", "d", "k"]), SORTERS, st.integers(1, 5), st.integers(0, 4))
def test_collapsed_pages_are_the_first_rows_of_their_values(
    build: Asked, rows: list[Any], name: str, sorter: Sorter, limit: int, offset: int
) -> None:
    index = Index(build, SCHEMA, rows)
    seen: dict[Any, int] = {}
    for number in index.numbers(sort=by(sorter), limit=1000):
        seen.setdefault(rows[number].get(name), number)
    found = index.numbers(sort=by(sorter), collapse=name, limit=limit, offset=offset)
    assert found == list(seen.values())[offset : offset + limit]


@pytest.mark.parametrize("name", ["t", "ka", "b", "off", "no", "n.l"])
def test_other_fields_do_not_collapse(make: Make, name: str) -> None:
    # search §5.5
    schema = SearchSchema(
        (
            *(SearchField("t", T.TEXT), SearchField("ka", T.KEYWORD, is_array=True)),
            *(SearchField("b", T.BOOLEAN), SearchField("off", T.LONG, sort_and_agg=False)),
            SearchField("n", T.NESTED, fields=(SearchField("l", T.LONG),)),
        )
    )
    index = make(schema, [{"b": True}])
    assert refused(index, collapse=name) is TablestoreRule.COLLAPSE_FIELD


def test_a_request_is_refused_before_anything_is_looked_for() -> None:
    index = Index(PlainView, LONGS, [])
    for request in ({"limit": 5000}, {"offset": -1}, {"token": b"x"}):
        with pytest.raises(InvalidRequest):
            index.page(**request)
    assert index.view.seeds == []
    assert Search("t", "i").limit is None
    assert key_of(1) == b"00000001"
    assert NestedQuery("n", MatchAllQuery()).inner_hits is None
