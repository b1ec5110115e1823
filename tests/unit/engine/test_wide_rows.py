"""Rows above the segment bound (docs/formats/rows.md)."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.answers import decode_answer_rows, decode_row, plain
from tests.support.changes import (
    create,
    delete,
    delete_all,
    get,
    increment,
    primary_key,
    put,
    put_cells,
    scan_all,
    update,
)
from tests.support.engines import open_tablestore
from tests.support.volume import examples

from widerow.engine.check import check_store
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.reads import read_row
from widerow.engine.tablestore.schema import row_key
from widerow.engine.tablestore.select import ReadRule
from widerow.engine.tablestore.wide import read_wide
from widerow.errors import Conflict, InvalidRequest
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_ROWS
from widerow.limits import INT64_MIN, SEGMENT_CELLS_MAX, WHOLE_ROW_BYTES_MAX, WHOLE_ROW_CELLS_MAX
from widerow.model.tablestore.answers import RowRead
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.filter import Comparator, Comparison, Pagination
from widerow.model.tablestore.requests import BatchGet, GetRow, TableGet
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import Selection
from widerow.model.values import KeyMarker, KeyType
from widerow.rows.record import RecordKind, header_of
from widerow.storage.interface import Reader, Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

KEY = {"k": "wide"}


@pytest.fixture(autouse=True)
def _table(engine: TablestoreEngine) -> None:
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.STRING}, max_versions=2)))


def write(engine: TablestoreEngine, change: RowChange) -> None:
    engine.core.run(engine.rows.write_row("i", change))


def columns(engine: TablestoreEngine) -> dict[str, object] | None:
    found = plain(decode_row(engine.rows.get_row("i", get("t", KEY)).row))
    return None if found is None else dict(found)


def records(store: Store) -> list[bytes]:
    return [record for _, record in store.snapshot().scan(SPACE_ROWS, after_prefix(SPACE_ROWS))]


def test_a_row_is_cut_above_the_bound_and_not_below(engine: TablestoreEngine, store: Store) -> None:
    write(engine, put("t", KEY, {f"c{n:04}": n for n in range(WHOLE_ROW_CELLS_MAX)}))
    assert [record[0] for record in records(store)] == [RecordKind.ROW]
    write(engine, update("t", KEY, put_cells({"one_more": 1})))
    kinds = [record[0] for record in records(store)]
    assert kinds == [RecordKind.WIDE] + [RecordKind.SEGMENT] * (len(kinds) - 1)
    assert max(header_of(r).cell_count for r in records(store)[1:]) <= SEGMENT_CELLS_MAX
    assert columns(engine) == {f"c{n:04}": n for n in range(WHOLE_ROW_CELLS_MAX)} | {"one_more": 1}
    assert check_store(store) == []


def test_a_large_value_makes_a_row_wide(engine: TablestoreEngine, store: Store) -> None:
    write(engine, put("t", KEY, {"a": "x" * WHOLE_ROW_BYTES_MAX, "b": 1}))
    assert [record[0] for record in records(store)] == [RecordKind.WIDE] + [RecordKind.SEGMENT] * 2
    assert columns(engine) == {"a": "x" * WHOLE_ROW_BYTES_MAX, "b": 1}


def test_replacing_and_deleting_take_the_segments_along(
    engine: TablestoreEngine, store: Store
) -> None:
    many = {f"c{n:04}": n for n in range(1000)}
    write(engine, put("t", KEY, many))
    write(engine, put("t", KEY, {"a": 1}))
    assert [record[0] for record in records(store)] == [RecordKind.ROW]
    write(engine, put("t", KEY, many))
    write(engine, delete("t", KEY))
    assert records(store) == []
    assert columns(engine) is None


def test_one_column_of_a_wide_row_touches_one_segment(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    for start in range(0, 10_000, 1000):
        cells = put_cells({f"c{n:05}": n for n in range(start, start + 1000)})
        write(engine, update("t", KEY, cells))
    before = set(records(store))
    clock.advance(1)
    write(engine, update("t", KEY, [*put_cells({"c05000": -1}), increment("c05001", 5)]))
    changed = set(records(store)) - before
    assert sorted(record[0] for record in changed) == [RecordKind.WIDE, RecordKind.SEGMENT]
    selection = Selection(frozenset({"c05000", "c05001", "c09999"}), max_versions=1)
    row = decode_row(engine.rows.get_row("i", get("t", KEY, selection)).row)
    assert plain(row) == {"c05000": -1, "c05001": 5006, "c09999": 9999}
    between = Selection(start_column="c07000", end_column="c07003", max_versions=1)
    row = decode_row(engine.rows.get_row("i", get("t", KEY, between)).row)
    assert plain(row) == {"c07000": 7000, "c07001": 7001, "c07002": 7002}


class CountingReader:
    """A snapshot that notes what is read from it."""

    def __init__(self, below: Reader) -> None:
        self._below = below
        self.read: list[bytes] = []

    def get(self, key: bytes) -> bytes | None:
        self.read.append(key)
        return self._below.get(key)

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        return [self.get(key) for key in keys]

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        for key, value in self._below.scan(start, stop, reverse=reverse):
            self.read.append(key)
            yield key, value


def test_reading_one_column_touches_one_segment(engine: TablestoreEngine, store: Store) -> None:
    # issue "Complete row semantics", item 6
    for start in range(0, 5000, 1000):
        write(
            engine, update("t", KEY, put_cells({f"c{n:05}": n for n in range(start, start + 1000)}))
        )
    table = engine.describe_table("i", "t")
    key = row_key(table, ("wide",))
    reader = CountingReader(store.snapshot())
    rule = ReadRule(table, Selection(frozenset({"c02500"}), max_versions=1), INT64_MIN)
    row = decode_row(read_row(reader, key, ("wide",), rule).row)
    assert plain(row) == {"c02500": 2500}
    segments = {found for found in reader.read if found != key}
    assert len(segments) == 1
    assert len(records(store)) > 10


@pytest.mark.parametrize(
    "selection",
    [
        Selection(max_versions=1),
        Selection(start_column="c02500", max_versions=1),
        Selection(start_column="c02500", end_column="c04900", max_versions=1),
        Selection(pagination=Pagination(offset=5, limit=3), max_versions=1),
    ],
    ids=["all", "from", "between", "paginated"],
)
def test_a_page_touches_the_segments_it_shows(
    engine: TablestoreEngine, store: Store, selection: Selection
) -> None:
    # semantics §5.4; issue "Complete row semantics", item 5: memory is a page and a segment
    for start in range(0, 5000, 1000):
        write(
            engine, update("t", KEY, put_cells({f"c{n:05}": n for n in range(start, start + 1000)}))
        )
    table = engine.describe_table("i", "t")
    reader = CountingReader(store.snapshot())
    rule = ReadRule(table, selection, INT64_MIN)
    key = row_key(table, ("wide",))
    record = reader.get(key)
    assert record is not None
    found = read_wide(
        (reader, None), (key, record, header_of(record)), ("wide",), rule, None, room=200
    )
    assert found is not None
    assert found.resume is not None or selection.pagination is not None
    cells = plain(decode_row(found.row))
    assert cells is not None
    assert 1 <= len(cells) <= 10
    assert min(cells) == (
        selection.start_column or ("c00005" if selection.pagination else "c00000")
    )
    # the row, the segment where it begins, and what a scan reads ahead of the one that it shows
    assert len(set(reader.read)) <= 4
    assert len(records(store)) > 50


def test_a_wide_row_that_loses_every_column_still_exists(
    engine: TablestoreEngine, store: Store
) -> None:
    names = [f"c{n:04}" for n in range(1000)]
    write(engine, put("t", KEY, dict.fromkeys(names, 1)))
    write(engine, update("t", KEY, [delete_all(name) for name in names]))
    assert decode_row(engine.rows.get_row("i", get("t", KEY)).row) == (KEY, {})
    assert len(records(store)) == 1


def test_ranges_pass_wide_rows_in_both_directions(engine: TablestoreEngine) -> None:
    for key in ("a", "m", "z"):
        size = 700 if key == "m" else 1
        write(engine, put("t", {"k": key}, {f"c{n:04}": n for n in range(size)}))
    ends = ({"k": KeyMarker.INF_MIN}, {"k": KeyMarker.INF_MAX})
    up = engine.rows.get_range("i", scan_all("t", ends[0], ends[1]))
    down = engine.rows.get_range("i", scan_all("t", ends[1], ends[0], backward=True))
    rows = decode_answer_rows(up.rows)
    assert [row[0]["k"] for row in rows] == ["a", "m", "z"]
    assert len(rows[1][1]) == 700
    assert decode_answer_rows(down.rows) == rows[::-1]


@settings(max_examples=examples(25), deadline=None)
@given(
    steps=st.lists(
        st.tuples(
            st.booleans(),  # delete the columns, or put them
            st.integers(0, 1499),  # first column
            st.integers(1, 7),  # stride
            st.integers(1, 400),  # how many
        ),
        min_size=1,
        max_size=8,
    )
)
def test_wide_rows_agree_with_a_dictionary(steps: list[tuple[bool, int, int, int]]) -> None:
    expected: dict[str, int] = {}
    with open_store("memory:") as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        engine.core.run(engine.create_table("i", create("t", {"k": KeyType.STRING})))
        for deleting, first, stride, count in steps:
            names = [f"c{(first + n * stride) % 1500:04}" for n in range(count)]
            if deleting:
                write(engine, update("t", KEY, [delete_all(name) for name in names]))
                for name in names:
                    expected.pop(name, None)
            else:
                write(engine, update("t", KEY, put_cells(dict.fromkeys(names, first))))
                expected |= dict.fromkeys(names, first)
            assert (columns(engine) or {}) == expected
            assert check_store(store) == []


def _pages(engine: TablestoreEngine, selection: Selection) -> list[RowRead]:
    """Every page of the wide row, following `resume` as a client follows tokens."""
    request = get("t", KEY, selection)
    found = []
    while True:
        page = engine.rows.get_row("i", request)
        found.append(page)
        if page.resume is None:
            return found
        request = GetRow(request.table, request.key, request.selection, page.resume)


def _names(pages: list[RowRead]) -> list[str]:
    return [name for page in pages for name in (decode_row(page.row) or ({}, {}))[1]]


def test_a_very_wide_row_is_read_in_pages(engine: TablestoreEngine) -> None:
    # semantics §5.4: whole columns, in order, each exactly once; up to the bound in one answer
    for n in range(18):
        write(engine, update("t", KEY, put_cells({f"c{n:02}": "v" * 2_000_000})))
        if n == 7:
            assert len(_pages(engine, Selection())) == 1
    names = [f"c{n:02}" for n in range(18)]
    pages = _pages(engine, Selection())
    assert [len((decode_row(page.row) or ({}, {}))[1]) for page in pages] == [8, 8, 2]
    assert _names(pages) == names
    for selection, expected in (
        (Selection(frozenset({*names[2:14], "none"})), names[2:14]),
        (Selection(start_column="c01", end_column="c15"), names[1:15]),
        (Selection(pagination=Pagination(1, 12)), names[1:13]),
        (Selection(filter=Comparison("c17", Comparator.EXIST, 0)), names),
        (Selection(filter=Comparison("c18", Comparator.EXIST, 0)), []),
    ):
        assert _names(_pages(engine, selection)) == expected


def test_a_batch_of_very_wide_rows_is_bounded(engine: TablestoreEngine) -> None:
    for n in range(8):
        write(engine, update("t", KEY, put_cells({f"c{n:02}": "v" * 2_000_000})))
    keys = (primary_key(KEY),) * 4
    (outcomes,) = engine.rows.batch_get_row("i", BatchGet((TableGet("t", keys, Selection()),)))
    reads = [outcome.read for outcome in outcomes if outcome.read is not None]
    counts = [len((decode_row(read.row) or ({}, {}))[1]) for read in reads]
    assert counts == [8, 8, 1]  # the third begins in what room is left
    assert [read.resume is None for read in reads] == [True, True, False]
    error = outcomes[3].error
    assert isinstance(error, InvalidRequest)
    assert error.rule is TablestoreRule.BATCH_GET_SIZE


def test_a_range_goes_on_inside_a_very_wide_row(engine: TablestoreEngine) -> None:
    for key, count in (("a", 1), ("m", 10), ("z", 1)):
        for n in range(count):
            write(engine, update("t", {"k": key}, put_cells({f"c{n}": "v" * 2_000_000})))
    request = scan_all("t", {"k": KeyMarker.INF_MIN}, {"k": KeyMarker.INF_MAX})
    found: list[tuple[object, int]] = []
    pages = 0
    while True:
        page = engine.rows.get_range("i", request)
        pages += 1
        found += [(row[0]["k"], len(row[1])) for row in decode_answer_rows(page.rows)]
        if page.next_key is None:
            break
        encoded, crc = page.next_key
        row = decode_answer_rows(encoded + b"\x09" + bytes((crc,)))[0][0]
        start = primary_key(row)  # type: ignore[arg-type]  # key columns hold key values
        request = request._replace(range=request.range._replace(start=start), resume=page.resume)
    assert found == [("a", 1), ("m", 8), ("m", 2), ("z", 1)]
    assert pages == 4


def test_expired_wide_rows_are_gone(engine: TablestoreEngine, clock: FakeClock) -> None:
    engine.core.run(
        engine.create_table("i", create("brief", {"k": KeyType.STRING}, time_to_live=10)),
    )
    many = {f"c{n:04}": n for n in range(1000)}
    write(engine, put("brief", KEY, many))
    clock.advance(5)
    write(engine, update("brief", KEY, put_cells({"c0500": -1})))
    clock.advance(5)
    found = decode_row(engine.rows.get_row("i", get("brief", KEY)).row)
    assert plain(found) == {"c0500": -1}
    clock.advance(5)
    assert engine.rows.get_row("i", get("brief", KEY)).row == b""
    with pytest.raises(Conflict):
        write(engine, delete("brief", KEY, Condition(RowExpectation.EXPECT_EXIST)))
    write(engine, update("brief", KEY, put_cells({"x": 1})))
    assert plain(decode_row(engine.rows.get_row("i", get("brief", KEY)).row)) == {"x": 1}


def test_versions_of_one_column_are_bounded_in_bytes(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    # ours: limits.COLUMN_BYTES_MAX; the refused write changes nothing
    engine.core.run(
        engine.create_table("i", create("deep", {"k": KeyType.STRING}, max_versions=100)),
    )
    for _ in range(16):
        clock.advance(1)
        cells = put_cells({"a": 1, "big": "v" * 2_000_000, "c": 1})
        write(engine, update("deep", KEY, cells))
    clock.advance(1)
    before = engine.rows.get_row("i", get("deep", KEY, Selection(max_versions=1))).row
    with pytest.raises(InvalidRequest) as refused:
        write(engine, update("deep", KEY, put_cells({"a": 2, "big": "v" * 2_000_000})))
    assert refused.value.rule is TablestoreRule.COLUMN_SIZE
    assert refused.value.details["column"] == "big"
    assert engine.rows.get_row("i", get("deep", KEY, Selection(max_versions=1))).row == before
    write(engine, update("deep", KEY, [delete_all("big"), *put_cells({"big": "small"})]))
