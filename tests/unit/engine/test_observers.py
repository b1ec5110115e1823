"""What hears of row changes of Tablestore's tables, in their transactions.

For typed tables: `test_typed_check.py`, and every test of indexes.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.changes import (
    create,
    delete,
    delete_all,
    get,
    increment,
    put,
    put_cells,
    update,
)

from widerow.engine.observer import RowEvent
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.observed import ObservedRow
from widerow.errors import Conflict
from widerow.keys.layout import SPACE_INTENTS, index_prefix
from widerow.limits import SWEEP_PAUSE_SECONDS
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.requests import BatchWrite, OptionsChange, TableWrite, UpdateTable
from widerow.model.tablestore.schema import KeyColumn, Table
from widerow.model.values import KeyMarker, KeyType, Value
from widerow.rows.cells import cell_value
from widerow.rows.record import RecordKind, header_of
from widerow.storage.interface import Store, Transaction
from widerow.testing.clock import FakeClock

Heard = tuple[dict[str, Value] | None, dict[str, Value] | None]
BESIDE = index_prefix(9_999)  # where the observer keeps its own records


class Recorder:
    """Keeps old and new rows, writes a record of its own, and refuses what it is told to."""

    def __init__(self, watched: str = "t") -> None:
        """Nothing heard."""
        self.heard: list[Heard] = []
        self.asked: list[tuple[bool, int]] = []
        self.kinds: list[tuple[int | None, int | None]] = []
        self.refuse: Exception | None = None
        self.watched = watched

    def watches(self, table: Table) -> bool:
        """One table."""
        return table.name == self.watched

    def shards(self, table: Table) -> tuple[bytes, ...]:
        """Its own records, by definition of the table: another one needs more."""
        return (
            BESIDE,
            *(BESIDE[:-1] + bytes([each]) for each in range(table.options.max_versions - 1)),
        )

    def reads(self, table: Table) -> tuple[bytes, ...]:  # noqa: ARG002  # as the protocol has it
        """Nothing."""
        return ()

    def spaces(self, table: Table) -> bytes:  # noqa: ARG002  # as the protocol has it
        """One that is of nobody."""
        return SPACE_INTENTS

    def changed(self, txn: Transaction, table: Table, event: RowEvent[ObservedRow]) -> None:  # noqa: ARG002  # as the protocol has it
        """Keep both, and what is beside."""
        old, new = event.old, event.new
        self.asked.append((event.write is not None, event.asked_us))
        self.kinds.append((_kind(old), _kind(new)))
        self.heard.append((_columns(old), _columns(new)))
        txn.put(BESIDE + event.key, b"" if new is None else b"row")
        txn.put(SPACE_INTENTS + event.shard[1:], b"")
        txn.delete(SPACE_INTENTS + event.shard[1:])
        if self.refuse is not None:
            raise self.refuse


def _kind(row: ObservedRow | None) -> int | None:
    return None if row is None else header_of(row.record).kind


def _columns(row: ObservedRow | None) -> dict[str, Value] | None:
    return None if row is None else {cell.name: cell_value(cell) for cell in row.cells()}


@pytest.fixture
def heard(engine: TablestoreEngine, store: Store) -> Iterator[Recorder]:
    """An observer of table t, which has one key column and a time to live."""
    recorder = Recorder()
    engine.observe([recorder])
    engine.core.run(
        engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=1000))
    )
    engine.core.run(engine.create_table("i", create("other", {"k": KeyType.INTEGER})))
    yield recorder
    # What the observer kept belongs to no table, as the check of the store would find.
    store.transact((BESIDE,), lambda txn: txn.delete_range(BESIDE, BESIDE + b"\xff"))


def write(engine: TablestoreEngine, change: Any) -> None:  # noqa: ANN401  # a row change
    engine.core.run(engine.rows.write_row("i", change))


def test_put_update_increment_and_delete_show_both_rows(
    engine: TablestoreEngine, heard: Recorder
) -> None:
    write(engine, put("t", {"k": 1}, {"a": 1, "b": "x"}))
    write(engine, update("t", {"k": 1}, [*put_cells({"b": "y"}), increment("a", 5)]))
    write(engine, update("t", {"k": 1}, [delete_all("b")]))
    write(engine, put("t", {"k": 1}, {"c": 3}))
    write(engine, delete("t", {"k": 1}))
    assert heard.heard == [
        (None, {"a": 1, "b": "x"}),
        ({"a": 1, "b": "x"}, {"a": 6, "b": "y"}),
        ({"a": 6, "b": "y"}, {"a": 6}),
        ({"a": 6}, {"c": 3}),
        ({"c": 3}, None),
    ]


def test_a_write_that_changes_nothing_is_told_too(
    engine: TablestoreEngine, heard: Recorder
) -> None:
    """A stream records the delete of a row that is not there (change §C1.4)."""
    write(engine, delete("t", {"k": 1}))
    write(engine, update("t", {"k": 1}, [delete_all("b")]))
    assert heard.heard == [(None, None), (None, None)]


def test_nobody_hears_of_other_tables_nor_of_refused_writes(
    engine: TablestoreEngine, heard: Recorder
) -> None:
    write(engine, put("other", {"k": 1}, {"a": 1}))
    expecting = Condition(RowExpectation.EXPECT_EXIST)
    with pytest.raises(Conflict):
        write(engine, delete("t", {"k": 1}, expecting))
    assert heard.heard == []


def test_the_rows_of_a_request_were_asked_for_at_one_moment(
    engine: TablestoreEngine, heard: Recorder, clock: FakeClock
) -> None:
    changes = tuple(put("t", {"k": number}, {"a": number}) for number in range(3))
    plan = engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", changes),)))
    asked_us = clock.now_us()
    clock.advance(1)
    engine.core.run(plan)
    assert heard.asked == [(True, asked_us)] * 3


def test_a_batch_is_told_row_by_row(engine: TablestoreEngine, heard: Recorder) -> None:
    changes = tuple(put("t", {"k": number}, {"a": number}) for number in range(3))
    engine.core.run(engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", changes),))))
    one_shard = (put("t", {"k": 1}, {"a": 7}), update("t", {"k": 1}, [increment("a", 1)]))
    engine.core.run(
        engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", one_shard),), atomic=True))
    )
    assert heard.heard == [
        *((None, {"a": number}) for number in range(3)),
        ({"a": 1}, {"a": 7}),
        ({"a": 7}, {"a": 8}),
    ]


def test_wide_rows_show_all_their_columns(engine: TablestoreEngine, heard: Recorder) -> None:
    """Also those in segments that the change does not touch, and when the row changes its form."""
    small: dict[str, Any] = {"c0001": 1}
    wide: dict[str, Any] = {f"c{n:04}": n for n in range(900)}
    write(engine, put("t", {"k": 1}, small))
    write(engine, put("t", {"k": 1}, wide))
    write(engine, update("t", {"k": 1}, put_cells({"c0500": -1})))
    write(engine, put("t", {"k": 1}, small))
    assert heard.heard == [
        (None, small),
        (small, wide),
        (wide, {**wide, "c0500": -1}),
        ({**wide, "c0500": -1}, small),
    ]
    row, many = RecordKind.ROW, RecordKind.WIDE
    assert heard.kinds == [(None, row), (row, many), (many, many), (many, row)]


def test_the_sweep_tells_what_it_takes_away(
    engine: TablestoreEngine, heard: Recorder, clock: FakeClock
) -> None:
    write(engine, put("t", {"k": 1}, {"a": 1}))
    write(engine, put("t", {"k": 2}, {f"c{n:04}": n for n in range(900)}))
    clock.advance(SWEEP_PAUSE_SECONDS)
    write(engine, update("t", {"k": 2}, put_cells({"new": 1})))
    del heard.heard[:]
    clock.advance(SWEEP_PAUSE_SECONDS)
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)
    assert heard.heard[0] == ({"a": 1}, None)
    assert heard.heard[1][1] == {"new": 1}
    assert len(heard.heard[1][0] or ()) == 901
    assert len(heard.heard) == 2


def test_numbers_that_the_store_gives_are_in_the_key(
    engine: TablestoreEngine, heard: Recorder
) -> None:
    columns = (KeyColumn("p", KeyType.STRING), KeyColumn("n", KeyType.INTEGER, auto_increment=True))
    heard.watched = "numbered"
    engine.core.run(engine.create_table("i", create("numbered", columns)))
    write(engine, put("numbered", {"p": "a", "n": KeyMarker.AUTO_INCREMENT}, {"a": 1}))
    assert heard.heard == [(None, {"a": 1})]


@pytest.mark.parametrize("how", ["write", "sweep"])
def test_a_refusal_leaves_row_and_observers_records_as_they_were(
    engine: TablestoreEngine, store: Store, heard: Recorder, clock: FakeClock, how: str
) -> None:
    write(engine, put("t", {"k": 1}, {"a": 1}))
    before = list(store.snapshot().scan(b"\x10", b"\x15"))
    heard.refuse = Conflict("taken", table="t")  # type: ignore[arg-type]  # any rule
    if how == "write":
        with pytest.raises(Conflict):
            write(engine, put("t", {"k": 1}, {"a": 2}))
    else:
        clock.advance(2000)
        while (plan := engine.core.housekeeping()) is not None:
            engine.core.run(plan)
        assert engine.core.sweep.reclaimed.passes == 1
        assert engine.core.sweep.reclaimed.rows_removed == 0
    assert list(store.snapshot().scan(b"\x10", b"\x15")) == before
    heard.refuse = None
    clock.advance(2000)
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)
    assert engine.rows.get_row("i", get("t", {"k": 1})).row == b""
    beside = [value for _, value in store.snapshot().scan(BESIDE, BESIDE + b"\xff")]
    assert beside == [b""]
    assert heard.heard[-1][1] is None


def test_a_write_planned_for_less_than_its_observers_need_is_planned_again(
    engine: TablestoreEngine, heard: Recorder
) -> None:
    """Here an option decides what the observer touches; an index would do the same."""
    changes = (put("t", {"k": 2}, {"a": 2}),)
    plans: list[Any] = [
        engine.rows.write_row("i", put("t", {"k": 1}, {"a": 1})),
        engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", changes),))),
    ]
    options = OptionsChange(max_versions=3)
    engine.core.run(engine.update_table("i", UpdateTable("t", options=options)))
    for plan in plans:
        engine.core.run(plan)
    assert heard.heard == [(None, {"a": 1}), (None, {"a": 2})]
