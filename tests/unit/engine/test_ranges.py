"""GetRange (semantics §5.6)."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.answers import AnsweredRow, decode_answer_rows
from tests.support.changes import create, put, scan_all
from tests.support.engines import open_tablestore
from tests.support.volume import examples

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest
from widerow.model.tablestore.answers import RangePage
from widerow.model.tablestore.filter import Comparator, Comparison
from widerow.model.tablestore.requests import BatchWrite, GetRange, TableWrite
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import Selection
from widerow.model.values import KeyInput, KeyMarker, KeyType
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

MIN, MAX = KeyMarker.INF_MIN, KeyMarker.INF_MAX


def fill(engine: TablestoreEngine, count: int, *, value: str = "v") -> None:
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
    for start in range(0, count, 200):
        changes = tuple(
            put("t", {"k": k}, {"n": k, "v": value}) for k in range(start, min(start + 200, count))
        )
        engine.core.run(engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", changes),))))


def pages(engine: TablestoreEngine, request: GetRange) -> list[RangePage]:
    """Every page of a range, following the next key as a client does."""
    found = []
    while True:
        page = engine.rows.get_range("i", request)
        found.append(page)
        if page.next_key is None:
            return found
        encoded, crc = page.next_key
        row = decode_answer_rows(encoded + b"\x09" + bytes((crc,)))[0][0]
        start = PrimaryKey(tuple(row.items()))  # type: ignore[arg-type]  # key columns hold key values
        request = request._replace(range=request.range._replace(start=start))


def keys(page: RangePage) -> list[object]:
    return [row[0]["k"] for row in decode_answer_rows(page.rows)]


def test_both_directions_with_exclusive_ends(engine: TablestoreEngine) -> None:
    fill(engine, 10)
    assert keys(engine.rows.get_range("i", scan_all("t", {"k": 2}, {"k": 5}))) == [2, 3, 4]
    assert keys(engine.rows.get_range("i", scan_all("t", {"k": 5}, {"k": 2}, backward=True))) == [
        5,
        4,
        3,
    ]
    everything = engine.rows.get_range("i", scan_all("t", {"k": MIN}, {"k": MAX}))
    assert keys(everything) == list(range(10))
    assert everything.next_key is None
    backward = engine.rows.get_range("i", scan_all("t", {"k": MAX}, {"k": MIN}, backward=True))
    assert keys(backward) == list(range(9, -1, -1))


@pytest.mark.parametrize("backward", [False, True])
def test_wrong_order_and_equal_bounds(engine: TablestoreEngine, *, backward: bool) -> None:
    fill(engine, 1)
    rule = TablestoreRule.RANGE_BACKWARD_ORDER if backward else TablestoreRule.RANGE_FORWARD_ORDER
    low, high = ({"k": MAX}, {"k": MIN}) if not backward else ({"k": MIN}, {"k": MAX})
    for start, end in ((low, high), ({"k": 3}, {"k": 3})):
        with pytest.raises(InvalidRequest) as refused:
            engine.rows.get_range("i", scan_all("t", start, end, backward=backward))
        assert refused.value.rule is rule


def test_limit_and_next_key(engine: TablestoreEngine) -> None:
    fill(engine, 10)
    request = scan_all("t", {"k": MIN}, {"k": MAX}, limit=4)
    assert [keys(page) for page in pages(engine, request)] == [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9],
    ]
    exact = pages(engine, scan_all("t", {"k": MIN}, {"k": MAX}, limit=5))
    assert [len(keys(page)) for page in exact] == [5, 5]  # the last row carries no next key
    down = pages(engine, scan_all("t", {"k": MAX}, {"k": 1}, backward=True, limit=4))
    assert [keys(page) for page in down] == [[9, 8, 7, 6], [5, 4, 3, 2]]
    for limit in (0, -1):
        with pytest.raises(InvalidRequest) as refused:
            engine.rows.get_range("i", scan_all("t", {"k": MIN}, {"k": MAX}, limit=limit))
        assert refused.value.rule is TablestoreRule.RANGE_LIMIT


def test_ten_thousand_filtered_rows_are_two_pages(engine: TablestoreEngine) -> None:
    # semantics §5.6: however few rows the filter keeps
    fill(engine, 10_000)
    for backward, kept in zip(itertools.cycle((False, True)), (0, 4999, 5000, 5001, 10_000)):
        start, end = ({"k": MAX}, {"k": MIN}) if backward else ({"k": MIN}, {"k": MAX})
        smaller = Comparison("n", Comparator.LESS_THAN, kept)
        request = scan_all("t", start, end, backward=backward, selection=Selection(filter=smaller))
        found = pages(engine, request)
        assert len(found) == 2
        assert sum(len(keys(page)) for page in found) == kept


def test_a_page_holds_at_most_four_megabytes(engine: TablestoreEngine) -> None:
    fill(engine, 10, value="v" * 1_000_000)
    found = pages(engine, scan_all("t", {"k": MIN}, {"k": MAX}))
    assert [len(keys(page)) for page in found] == [4, 4, 2]


def test_rows_without_a_selected_column_are_left_out(engine: TablestoreEngine) -> None:
    # semantics §5.2
    fill(engine, 3)
    bounds: tuple[dict[str, KeyInput], dict[str, KeyInput]] = ({"k": MIN}, {"k": MAX})
    assert (
        keys(
            engine.rows.get_range("i", scan_all("t", *bounds, selection=Selection(frozenset("x"))))
        )
        == []
    )
    with_key = Selection(frozenset({"x", "k"}))
    assert keys(engine.rows.get_range("i", scan_all("t", *bounds, selection=with_key))) == [0, 1, 2]


def test_capacity_units_are_summed_before_rounding(engine: TablestoreEngine) -> None:
    # semantics §9: an empty range costs 1
    fill(engine, 100)
    assert engine.rows.get_range("i", scan_all("t", {"k": MIN}, {"k": MAX})).read_units == 1
    assert engine.rows.get_range("i", scan_all("t", {"k": 1000}, {"k": MAX})).read_units == 1


part = st.one_of(st.integers(-3, 3), st.just(MIN), st.just(MAX))
text = st.one_of(st.text("a\0b", max_size=2), st.just(MIN), st.just(MAX))


@settings(max_examples=examples(150))
@given(
    rows=st.sets(st.tuples(st.text("a\0b", max_size=2), st.integers(-3, 3)), max_size=12),
    first=st.tuples(text, part),
    second=st.tuples(text, part),
    limit=st.integers(1, 4),
)
def test_ranges_agree_with_a_sorted_list(
    rows: set[tuple[str, int]],
    first: tuple[KeyInput, KeyInput],
    second: tuple[KeyInput, KeyInput],
    limit: int,
) -> None:
    def rank(key: tuple[KeyInput, ...]) -> tuple[tuple[int, object], ...]:
        ranks = {MIN: -1, MAX: 1}
        return tuple((ranks[v], 0) if isinstance(v, KeyMarker) else (0, v) for v in key)

    with open_store("memory:") as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        schema = {"k": KeyType.STRING, "n": KeyType.INTEGER}
        engine.core.run(engine.create_table("i", create("t", schema)))
        for k, n in rows:
            engine.core.run(engine.rows.write_row("i", put("t", {"k": k, "n": n}, {"v": 1})))
        low, high = sorted((first, second), key=rank)
        if rank(low) == rank(high):
            return
        expected = sorted(row for row in rows if rank(low) <= rank(row) < rank(high))
        names = ("k", "n")
        up = scan_all(
            "t",
            dict(zip(names, low, strict=True)),
            dict(zip(names, high, strict=True)),
            limit=limit,
        )
        assert _walk(engine, up) == expected
        expected = sorted((r for r in rows if rank(low) < rank(r) <= rank(high)), reverse=True)
        down = scan_all(
            "t",
            dict(zip(names, high, strict=True)),
            dict(zip(names, low, strict=True)),
            backward=True,
            limit=limit,
        )
        assert _walk(engine, down) == expected


def _walk(engine: TablestoreEngine, request: GetRange) -> list[tuple[object, ...]]:
    found: list[AnsweredRow] = []
    for page in pages(engine, request):
        found += decode_answer_rows(page.rows)
    return [tuple(row[0].values()) for row in found]
