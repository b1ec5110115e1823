"""Commits that meet a failing store, another definition of their table, or an observer's refusal.

The observer stands for an index or a stream: what it needs of a transaction grows with a table
option, beside the row and where transactions reach over shards elsewhere too, and it refuses what
it is told to (change §B5).
"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from tests.support.changes import create, delete, increment, put, update
from tests.unit.engine.transactions.asking import TABLE, begin, columns, commit, row, write

from widerow.engine.observer import RowEvent
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.observed import ObservedRow
from widerow.errors import InvalidRequest, NotFound, OutcomeUnknown, StorageFailure, StoreFull
from widerow.keys.layout import SPACE_INTENTS, SPACE_LOCAL_INDEXES, index_prefix
from widerow.model.tablestore.requests import OptionsChange, UpdateTable
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.values import Value
from widerow.rows.cells import cell_value
from widerow.storage.interface import Store, Transaction, Write
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
    engine.core.run(engine.create_table("i", create("t", TABLE)))
    return made


def test_observers_hear_of_each_write_in_order_when_it_is_committed(
    engine: TablestoreEngine, recorder: Recorder, clock: FakeClock
) -> None:
    """With the rows that stood there, and one moment for all of them."""
    inside = begin(engine)
    write(engine, put("t", row(1), {"c": 1}), inside)
    write(engine, update("t", row(1), [increment("c", 4)]), inside)
    write(engine, delete("t", row(1)), inside)
    clock.advance(5)
    recorder.told.clear()  # of the writes inside, of which nothing is kept
    commit(engine, inside)
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
    write(engine, put("t", row(1), {"c": 1}), inside)
    recorder.refused = {"c": 2}
    with pytest.raises(InvalidRequest):
        write(engine, put("t", row(1), {"c": 2}), inside)
    commit(engine, inside)
    assert columns(engine, 1) == {"c": 1}


def test_a_commit_that_an_observer_refuses_makes_nothing(
    engine: TablestoreEngine, recorder: Recorder
) -> None:
    inside = begin(engine)
    write(engine, put("t", row(1), {"c": 1}), inside)
    write(engine, put("t", row(2), {"c": 2}), inside)
    recorder.refused = {"c": 2}
    with pytest.raises(InvalidRequest):
        commit(engine, inside)
    assert columns(engine, 1) is None
    with pytest.raises(NotFound):
        commit(engine, inside)
    write(engine, put("t", row(1), {"c": 3}))


def test_a_commit_is_planned_again_where_observers_need_more(
    engine: TablestoreEngine, recorder: Recorder
) -> None:
    """The table's options change between planning and running."""
    inside = begin(engine)
    write(engine, put("t", row(1), {"c": 1}), inside)
    plan = engine.transactions.commit("i", inside)
    options = OptionsChange(max_versions=3)
    engine.core.run(engine.update_table("i", UpdateTable("t", options=options)))
    recorder.told.clear()
    engine.core.run(plan)
    assert columns(engine, 1) == {"c": 1}
    assert len(recorder.told) == 1


@pytest.fixture
def commit_fails(
    engine: TablestoreEngine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str, StorageFailure, bool], None]:
    """Commits a transaction by a group that ends with an error, after or before it is made."""
    run_group = store._run_group  # of this one store

    def failing(inside: str, error: StorageFailure, made: bool) -> None:  # noqa: FBT001  # named below
        def run(writes: Sequence[Write[Any]]) -> Any:  # noqa: ANN401  # as any store's
            if made:
                run_group(writes)
            raise error

        plan = engine.transactions.commit("i", inside)
        with monkeypatch.context() as patch:
            patch.setattr(store, "_run_group", run)
            with pytest.raises(type(error)):
                engine.core.run(plan)

    return failing


@pytest.mark.usefixtures("recorder")
def test_a_commit_for_which_there_is_no_room_may_be_repeated(
    engine: TablestoreEngine, commit_fails: Callable[[str, StorageFailure, bool], None]
) -> None:
    """Nothing was tried: the transaction is as it was, and its key is held."""
    inside = begin(engine)
    write(engine, put("t", row(1), {"c": 1}), inside)
    commit_fails(inside, StoreFull("no room"), False)  # noqa: FBT003  # it was not made
    assert columns(engine, 1) is None
    commit(engine, inside)
    assert columns(engine, 1) == {"c": 1}


@pytest.mark.usefixtures("recorder")
def test_a_commit_of_unknown_outcome_ends_the_transaction(
    engine: TablestoreEngine, commit_fails: Callable[[str, StorageFailure, bool], None]
) -> None:
    """Whether it was made is for the next one on the key to find out."""
    inside = begin(engine)
    write(engine, put("t", row(1), {"c": 1}), inside)
    commit_fails(inside, OutcomeUnknown("the connection is gone"), True)  # noqa: FBT003  # it was made
    with pytest.raises(NotFound):
        commit(engine, inside)
