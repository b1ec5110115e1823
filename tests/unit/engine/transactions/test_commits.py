"""Commits that meet a failing store, another definition of their table, or an observer's refusal.

The observer stands for an index or a stream: what it needs of a transaction grows with a table
option, beside the row and where transactions reach over shards elsewhere too, and it refuses what
it is told to (change §B5).
"""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.support.answers import decode_row
from tests.support.changes import create, delete, get, increment, primary_key, put, update

from widerow.engine.observer import RowEvent
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.observed import ObservedRow
from widerow.errors import InvalidRequest, NotFound, OutcomeUnknown, StoreFull
from widerow.keys.layout import SPACE_INTENTS, SPACE_LOCAL_INDEXES, index_prefix
from widerow.model.tablestore.requests import OptionsChange, UpdateTable
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyInput, KeyType, Value
from widerow.rows.cells import cell_value
from widerow.storage.interface import Store, Transaction
from widerow.testing.clock import FakeClock

Columns = dict[str, Value] | None


class Recorder:
    """Hears of everything, inside transactions too; writes records and takes them away again."""

    def __init__(self, *, reaches_far: bool) -> None:
        """Nothing heard. `reaches_far`: over other shards than the row's."""
        self.reaches_far = reaches_far
        self.told: list[tuple[Columns, Columns, int]] = []
        self.refused: Columns = None

    def watches(self, table: Table) -> bool:  # noqa: ARG002  # as the protocol has it
        """Every table."""
        return True

    def shards(self, table: Table) -> tuple[bytes, ...]:
        """One more for each version."""
        if not self.reaches_far:
            return ()
        return tuple(index_prefix(number) for number in range(table.options.max_versions))

    def spaces(self, table: Table) -> bytes:
        """Beside the row; two with more than one version."""
        return SPACE_INTENTS + SPACE_LOCAL_INDEXES * (table.options.max_versions > 1)

    def reads(self, table: Table) -> tuple[bytes, ...]:  # noqa: ARG002  # as the protocol has it
        """Nothing."""
        return ()

    def changed(self, txn: Transaction, table: Table, event: RowEvent[ObservedRow]) -> None:
        """Write one record for each place that the table has, and take it away again."""
        beside = [bytes((space,)) + event.shard[1:] for space in self.spaces(table)]
        for prefix in (*self.shards(table), *beside):
            txn.put(prefix + b"x", b"")
            txn.delete(prefix + b"x")
        new = _columns(event.new)
        self.told.append((_columns(event.old), new, event.asked_us))
        if new is not None and new == self.refused:
            raise InvalidRequest(TablestoreRule.COLUMN_SHADOWS_KEY, name="refused")


def _columns(row: ObservedRow | None) -> Columns:
    return None if row is None else {cell.name: cell_value(cell) for cell in row.cells()}


@pytest.fixture
def recorder(engine: TablestoreEngine, store: Store) -> Recorder:
    """The observer of the table t."""
    made = Recorder(reaches_far=store.capabilities.atomic_across_shards)
    engine.observe([made])
    engine.core.run(
        engine.create_table("i", create("t", {"k": KeyType.STRING, "n": KeyType.INTEGER}))
    )
    return made


def begin(engine: TablestoreEngine) -> str:
    return engine.core.run(engine.transactions.start("i", "t", primary_key({"k": "a"})))


def write(engine: TablestoreEngine, inside: str, change: Any) -> None:  # noqa: ANN401  # a row change
    engine.core.run(engine.transactions.write_row("i", inside, change))


def columns(engine: TablestoreEngine) -> Columns:
    found = decode_row(engine.rows.get_row("i", get("t", {"k": "a", "n": 1})).row)
    return found and {name: cells[0][1] for name, cells in found[1].items()}


def test_observers_hear_of_each_write_in_order_when_it_is_committed(
    engine: TablestoreEngine, recorder: Recorder, clock: FakeClock
) -> None:
    """With the rows that stood there, and one moment for all of them."""
    inside = begin(engine)
    row: dict[str, KeyInput] = {"k": "a", "n": 1}
    write(engine, inside, put("t", row, {"c": 1}))
    write(engine, inside, update("t", row, [increment("c", 4)]))
    write(engine, inside, delete("t", row))
    clock.advance(5)
    recorder.told.clear()  # of the writes inside, of which nothing is kept
    engine.core.run(engine.transactions.commit("i", inside))
    now_us = clock.now_us()
    assert recorder.told == [
        (None, {"c": 1}, now_us),
        ({"c": 1}, {"c": 5}, now_us),
        ({"c": 5}, None, now_us),
    ]


def test_what_an_observer_refuses_is_refused_where_it_is_written(
    engine: TablestoreEngine, recorder: Recorder
) -> None:
    inside = begin(engine)
    write(engine, inside, put("t", {"k": "a", "n": 1}, {"c": 1}))
    recorder.refused = {"c": 2}
    with pytest.raises(InvalidRequest):
        write(engine, inside, put("t", {"k": "a", "n": 1}, {"c": 2}))
    engine.core.run(engine.transactions.commit("i", inside))
    assert columns(engine) == {"c": 1}


def test_a_commit_that_an_observer_refuses_makes_nothing(
    engine: TablestoreEngine, recorder: Recorder
) -> None:
    inside = begin(engine)
    write(engine, inside, put("t", {"k": "a", "n": 1}, {"c": 1}))
    write(engine, inside, put("t", {"k": "a", "n": 2}, {"c": 2}))
    recorder.refused = {"c": 2}
    with pytest.raises(InvalidRequest):
        engine.core.run(engine.transactions.commit("i", inside))
    assert columns(engine) is None
    with pytest.raises(NotFound):
        engine.core.run(engine.transactions.commit("i", inside))
    engine.core.run(engine.rows.write_row("i", put("t", {"k": "a", "n": 1}, {"c": 3})))


def test_a_commit_is_planned_again_where_observers_need_more(
    engine: TablestoreEngine, recorder: Recorder
) -> None:
    """The table's options change between planning and running."""
    inside = begin(engine)
    write(engine, inside, put("t", {"k": "a", "n": 1}, {"c": 1}))
    plan = engine.transactions.commit("i", inside)
    options = OptionsChange(max_versions=3)
    engine.core.run(engine.update_table("i", UpdateTable("t", options=options)))
    recorder.told.clear()
    engine.core.run(plan)
    assert columns(engine) == {"c": 1}
    assert len(recorder.told) == 1


def test_a_commit_for_which_there_is_no_room_may_be_repeated(
    engine: TablestoreEngine, store: Store, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing was tried: the transaction is as it was, and its key is held."""
    del recorder
    inside = begin(engine)
    write(engine, inside, put("t", {"k": "a", "n": 1}, {"c": 1}))
    plan = engine.transactions.commit("i", inside)

    def full(writes: Sequence[object]) -> Any:  # noqa: ANN401  # never
        raise StoreFull(f"no room for {len(writes)}")

    with monkeypatch.context() as patch:
        patch.setattr(store, "_run_group", full)
        with pytest.raises(StoreFull):
            engine.core.run(plan)
    assert columns(engine) is None
    engine.core.run(engine.transactions.commit("i", inside))
    assert columns(engine) == {"c": 1}


def test_a_commit_of_unknown_outcome_ends_the_transaction(
    engine: TablestoreEngine, store: Store, recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether it was made is for the next one on the key to find out."""
    del recorder
    inside = begin(engine)
    write(engine, inside, put("t", {"k": "a", "n": 1}, {"c": 1}))
    run_group = store._run_group  # of this one store
    plan = engine.transactions.commit("i", inside)

    def forget(writes: Any) -> Any:  # noqa: ANN401  # as any store's
        run_group(writes)
        raise OutcomeUnknown("the connection is gone")

    with monkeypatch.context() as patch:
        patch.setattr(store, "_run_group", forget)
        with pytest.raises(OutcomeUnknown):
            engine.core.run(plan)
    with pytest.raises(NotFound):
        engine.core.run(engine.transactions.commit("i", inside))
    assert columns(engine) == {"c": 1}
    assert begin(engine)
