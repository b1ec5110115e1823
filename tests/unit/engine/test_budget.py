"""What a read on the server's loop may take: the same answer within its budget, or none at all."""

from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.changes import create, get, primary_key, put, scan_all
from tests.support.engines import open_tablestore
from tests.support.volume import examples

from widerow.engine.budget import Budget, BudgetReader
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import TooLong
from widerow.limits import LOOP_READ_BYTES_MAX, READ_SLICE_ROWS, WHOLE_ROW_BYTES_MAX
from widerow.model.tablestore.filter import Comparator, Comparison
from widerow.model.tablestore.requests import BatchGet, GetRange, GetRow, TableGet
from widerow.model.tablestore.selection import Selection
from widerow.model.values import KeyMarker, KeyType
from widerow.storage.interface import Reader
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

Ask = Callable[[TablestoreEngine, Budget | None], object]

ROWS = 60
FIRST, LAST = {"k": KeyMarker.INF_MIN}, {"k": KeyMarker.INF_MAX}
SELECTIONS = (
    Selection(max_versions=1),
    Selection(max_versions=1, columns=frozenset(("c0001", "c0700"))),
    Selection(max_versions=1, filter=Comparison("c0000", Comparator.EQUAL, "nobody has it")),
    Selection(max_versions=1, filter=Comparison("c0001", Comparator.EQUAL, "x" * 10)),
    Selection(max_versions=1, start_column="c0300", end_column="c0600"),
)


class Counted:
    """A reader that says what was read of it."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self.bytes = self.records = 0

    def get(self, key: bytes) -> bytes | None:
        (record,) = self.get_many([key])
        return record

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        found = self._reader.get_many(keys)
        for record in found:
            self._note(record or b"")
        return found

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        for key, record in self._reader.scan(start, stop, reverse=reverse):
            self._note(record)
            yield key, record

    def _note(self, record: bytes) -> None:
        self.bytes += len(record)
        self.records += 1


@pytest.fixture(scope="module")
def filled() -> Iterator[TablestoreEngine]:
    """Every seventh row is wide, every fifth has sixty columns, the others two."""
    with open_store("memory:") as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
        for number in range(ROWS):
            count = 800 if number % 7 == 0 else 60 if number % 5 == 0 else 2
            columns = {f"c{at:04}": "x" * (number % 30) for at in range(count)}
            engine.core.run(engine.rows.write_row("i", put("t", {"k": number}, columns)))
        yield engine


NUMBERS = st.integers(0, ROWS + 2)
CHOSEN = st.sampled_from(SELECTIONS)


@st.composite
def asks(draw: st.DrawFn) -> Ask:
    """A GetRow, a BatchGetRow or a GetRange."""
    selection = draw(CHOSEN)
    kind = draw(st.integers(0, 2))
    if kind == 0:
        row = get("t", {"k": draw(NUMBERS)}, selection)
        return lambda engine, budget: _row(engine.rows.get_row("i", row, budget))
    if kind == 1:
        keys = tuple(primary_key({"k": each}) for each in draw(st.lists(NUMBERS, min_size=1)))
        batch = BatchGet((TableGet("t", keys, selection),))
        return lambda engine, budget: [
            _row(outcome.read) for outcome in engine.rows.batch_get_row("i", batch, budget)[0]
        ]
    backward = draw(st.booleans())
    ends = (LAST, FIRST) if backward else (FIRST, LAST)
    whole = scan_all("t", *ends, backward=backward)
    start, end, direction, _ = whole.range
    limit = draw(st.none() | st.integers(1, ROWS))
    asked = GetRange("t", type(whole.range)(start, end, direction, limit), selection)
    return lambda engine, budget: _page(engine.rows.get_range("i", asked, budget))


def _row(read: object) -> tuple[object, ...]:
    return tuple(getattr(read, name) for name in ("row", "read_units", "resume"))


def _page(page: object) -> tuple[object, ...]:
    return tuple(getattr(page, name) for name in ("pieces", "next_key", "read_units", "resume"))


@settings(max_examples=examples(300))
@given(asks(), st.integers(0, 20_000), st.integers(0, 2000))
def test_within_a_budget_the_answer_is_the_same_bytes_or_there_is_none(
    filled: TablestoreEngine, ask: Ask, size: int, steps: int
) -> None:
    expected = ask(filled, None)
    try:
        found = ask(filled, Budget(size, steps))
    except TooLong:
        assert ask(filled, None) == expected  # asked again elsewhere, it is as if it never was
    else:
        assert found == expected


@settings(max_examples=examples(200))
@given(asks(), st.integers(0, 20_000), st.integers(0, 300))
def test_what_is_wasted_is_bounded_by_the_budget(
    filled: TablestoreEngine, ask: Ask, size: int, steps: int
) -> None:
    """At most one slice of a batch, and one record, is read beyond it."""
    store = filled.core.store
    snapshot = store.snapshot
    counted = Counted(snapshot())
    patch = pytest.MonkeyPatch()
    patch.setattr(store, "snapshot", lambda: counted)
    try:
        ask(filled, Budget(size, steps))
    except TooLong:
        pass
    else:
        return
    finally:
        patch.undo()
    assert counted.records <= steps + READ_SLICE_ROWS
    assert counted.bytes <= size + READ_SLICE_ROWS * WHOLE_ROW_BYTES_MAX


def test_a_read_that_is_too_long_is_not_counted(
    filled: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    noted: list[object] = []
    monkeypatch.setattr(filled.rows, "_note", lambda *load: noted.append(load))
    keys = tuple(primary_key({"k": number}) for number in range(1, 8))
    batch = BatchGet((TableGet("t", keys, Selection(max_versions=1)),))
    with pytest.raises(TooLong):
        filled.rows.batch_get_row("i", batch, Budget(4000))
    assert noted == []
    filled.rows.batch_get_row("i", batch)
    assert len(noted) == len(keys)


def test_a_wide_row_is_refused_by_its_header(filled: TablestoreEngine) -> None:
    """The size of the whole is known before the first segment is read."""
    counted = Counted(filled.core.store.snapshot())
    patch = pytest.MonkeyPatch()
    patch.setattr(filled.core.store, "snapshot", lambda: counted)
    row: GetRow = get("t", {"k": 7}, Selection(max_versions=1))
    with pytest.raises(TooLong):
        filled.rows.get_row("i", row, Budget(4000))
    patch.undo()
    assert counted.records == 1


def test_every_whole_row_is_within_the_loops_budget() -> None:
    """Only rows in segments, batches and pages are ever too long for the loop."""
    assert LOOP_READ_BYTES_MAX > 2 * WHOLE_ROW_BYTES_MAX


def test_a_reader_within_a_budget_takes_from_it_whatever_is_read(filled: TablestoreEngine) -> None:
    snapshot = filled.core.store.snapshot()
    (key, record), *_ = snapshot.scan(b"", b"\xff")
    budget = Budget(10 * len(record), 10)
    reader = BudgetReader(snapshot, budget, len)
    assert reader.get(key) == record
    assert reader.get_many([key, b"absent"]) == [record, None]
    assert (budget.bytes, budget.steps) == (8 * len(record), 7)
