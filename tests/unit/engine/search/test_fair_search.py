"""What keeps search indexes up serves all of them, whatever one of them does (search §1.3, §7)."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from tests.support.changes import create, put
from tests.unit.engine.search.tables import SCHEMA, engine_of
from tests.unit.engine.search.test_long_work import LockingHost

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.search.live import LiveIndex
from widerow.errors import StoreBusy
from widerow.limits import JOURNAL_STEP_ROWS
from widerow.model.search.requests import CreateSearchIndex
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.values import KeyType
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

FIRST, SECOND = "a", "b"  # in the order in which they are looked at


@pytest.fixture
def engine(store: Store, clock: FakeClock) -> TablestoreEngine:
    """Two tables, each with a search index, for several threads."""
    made = engine_of(store, clock, FakeEntropy(), LockingHost())
    for name in (FIRST, SECOND):
        made.core.run(made.create_table("i", create(name, {"k": KeyType.INTEGER})))
        made.core.run(made.search.create("i", CreateSearchIndex(name, "x", SCHEMA)))
    return made


def fill(engine: TablestoreEngine, name: str, rows: int) -> None:
    for first in range(0, rows, 200):
        keys = range(first, min(rows, first + 200))
        changes = tuple(put(name, {"k": key}, {"n": key}) for key in keys)
        engine.core.run(engine.rows.batch_write_row("i", BatchWrite((TableWrite(name, changes),))))


def rows(engine: TablestoreEngine, name: str) -> int:
    return engine.search.statistics()[f"i/{name}", "x"]["rows"]


def live_of(engine: TablestoreEngine, name: str) -> LiveIndex:
    table = engine.describe_table("i", name)
    return engine.search._live_of(table, table.search[0])


@contextmanager
def in_hand(live: LiveIndex) -> Iterator[None]:
    """Another thread has an index in hand meanwhile, as a search that takes long."""
    has_it, is_over = threading.Event(), threading.Event()

    def hold() -> None:
        with live.lock:
            has_it.set()
            is_over.wait()

    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(hold)
        has_it.wait()
        try:
            yield
        finally:
            is_over.set()
            held.result()


def test_an_index_that_is_searched_for_long_holds_up_no_other(engine: TablestoreEngine) -> None:
    """Who searches brings it up himself, so it is passed over."""
    for name in (FIRST, SECOND):
        fill(engine, name, 3)
    with in_hand(live_of(engine, FIRST)):
        engine.search.work()
        engine.search.merge()
        engine.search.write_down()
        assert (rows(engine, FIRST), rows(engine, SECOND)) == (0, 3)
    engine.search.work()
    assert rows(engine, FIRST) == 3


def test_an_index_that_fails_holds_up_no_other_and_is_told(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = live_of(engine, FIRST)
    for name in (FIRST, SECOND):
        fill(engine, name, 3)

    def fail(live: LiveIndex) -> bool:
        if live is broken:
            raise StoreBusy("its part of the store is away")
        return build_step(live)

    build_step = LiveIndex.build_step
    monkeypatch.setattr(LiveIndex, "build_step", fail)
    with pytest.raises(StoreBusy):
        engine.search.work()
    assert rows(engine, SECOND) == 3


def test_the_build_of_a_large_table_holds_up_no_other_index(engine: TablestoreEngine) -> None:
    fill(engine, FIRST, 4 * JOURNAL_STEP_ROWS)
    engine.search.work()
    fill(engine, SECOND, 3)
    engine.search.work()
    assert rows(engine, SECOND) == 3
    assert rows(engine, FIRST) < 4 * JOURNAL_STEP_ROWS
