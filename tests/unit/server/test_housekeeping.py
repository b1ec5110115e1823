"""What a running server does of its own accord, also where a step has nothing to write.

Housekeeping is plans (`engine/plan.py`), and a plan that only looks moves on when it ends.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from time import monotonic, sleep
from typing import TYPE_CHECKING

import pytest
from tests.support.changes import create, put
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store

from widerow.engine.sweep.sweep import Sweep
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.keys.encode import after_prefix
from widerow.keys.layout import row_prefix
from widerow.limits import SWEEP_STEP_RECORDS
from widerow.model.tablestore.requests import (
    BatchWrite,
    CreateIndex,
    IndexDefinition,
    OptionsChange,
    StreamChange,
    TableWrite,
    UpdateTable,
)
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.values import ColumnType, KeyType
from widerow.storage.memory import MemoryStore
from widerow.system import SystemClock, SystemEntropy
from widerow.testing.clock import FakeEntropy

if TYPE_CHECKING:
    from tests.unit.server.conftest import Running

Serve = Callable[..., "Running"]
GLOBAL = IndexDefinition("g", ("s",), ())


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> MemoryStore:
    """For a server that looks for work at once."""
    monkeypatch.setattr("widerow.housekeeping.routines.HOUSEKEEPING_SECONDS", 0.01)
    monkeypatch.setattr("widerow.housekeeping.routines.HOUSEKEEPING_PAUSE_SECONDS", 0.001)
    return MemoryStore()


def engine_of(store: MemoryStore) -> TablestoreEngine:
    return open_tablestore(store, SystemClock(), SystemEntropy())


def engine_in(running: "Running") -> TablestoreEngine:
    """The engine that a server looks after."""
    housekeeper = running.server._housekeeper
    assert housekeeper is not None
    return housekeeper.engine.operations(TABLESTORE)


def comes_true(wanted: Callable[[], bool], seconds: float = 10) -> bool:
    """Whether it does within that time."""
    end = monotonic() + seconds
    while not wanted():
        if monotonic() > end:
            return False
        sleep(0.005)
    return True


def test_a_sweep_goes_on_behind_records_of_which_nothing_is_to_go(
    serve: Serve, store: MemoryStore
) -> None:
    """semantics §1.6: surplus versions go, also of the last row of a table."""
    engine = engine_of(store)
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER}, max_versions=2)))
    rows = range(2 * SWEEP_STEP_RECORDS)
    for first in rows[::200]:
        changes = tuple(put("t", {"k": n}, {"x": n}) for n in rows[first : first + 200])
        engine.core.run(engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", changes),))))
    now_ms = SystemClock().now_us() // 1000
    surplus = put("t", {"k": len(rows)}, {"x": [(now_ms, 1), (now_ms - 1, 2)]})
    engine.core.run(engine.rows.write_row("i", surplus))
    options = OptionsChange(max_versions=1)
    engine.core.run(engine.update_table("i", UpdateTable("t", options=options)))
    swept = engine_in(serve(store))
    assert comes_true(lambda: swept.core.sweep.reclaimed.passes == 1)
    assert swept.core.sweep.reclaimed.rows_trimmed == 1


def test_an_index_on_a_table_without_rows_becomes_ready_while_serving(
    serve: Serve, store: MemoryStore
) -> None:
    """change §A6: over a table without rows, too, a build comes to its end, and those behind it."""
    engine = engine_of(store)
    engine.indexes.hold_back(1)
    for name in ("empty", "filled"):
        asked = replace(
            create(name, {"k": KeyType.INTEGER}),
            defined_columns=(DefinedColumn("s", ColumnType.STRING),),
        )
        engine.core.run(engine.create_table("i", asked))
    engine.core.run(engine.rows.write_row("i", put("filled", {"k": 1}, {"s": "x"})))
    for name in ("empty", "filled"):
        index = replace(GLOBAL, name=f"of_{name}")
        engine.core.run(
            engine.indexes.create("i", CreateIndex(name, index, include_base_data=True))
        )
    assert not any(each.ready for table in engine.tables.all() for each in table.indexes)
    serving = engine_in(serve(store, index_lag=1))
    assert comes_true(
        lambda: all(each.ready for table in serving.tables.all() for each in table.indexes)
    )


def test_what_clients_wait_for_does_not_wait_for_cleaning_up(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass of the sweep that a part of the store does not answer (engine/chores.py)."""
    begun, over = threading.Event(), threading.Event()

    def wait(_: Sweep) -> None:
        begun.set()
        over.wait()

    monkeypatch.setattr(Sweep, "clear", wait)
    running = serve(remote_store(MemoryDriver(RemoteSpace(), FakeEntropy(1))))
    engine = engine_in(running)
    try:
        assert begun.wait(10)
        asked = replace(
            create("t", {"k": KeyType.INTEGER}),
            defined_columns=(DefinedColumn("s", ColumnType.STRING),),
            indexes=(GLOBAL,),
            stream=StreamChange(enable=True),
        )
        engine.core.run(engine.create_table("i", asked))
        engine.core.run(engine.rows.write_row("i", put("t", {"k": 1}, {"s": "x"})))
        table = engine.describe_table("i", "t")
        prefix = row_prefix(engine.describe_table("i", "g").id)

        def followed() -> bool:
            entries = list(engine.core.store.snapshot().scan(prefix, after_prefix(prefix)))
            iterator = engine.streams.iterator(table, "0", None)
            return len(entries) == len(engine.streams.read(table, iterator, None).stored) == 1

        assert comes_true(followed)
    finally:
        over.set()
