"""Who takes rows into indexes is called when many wait (server/search/thread.py)."""

from time import monotonic, sleep

import pytest
from tests.support.changes import put
from tests.support.engines import open_tablestore
from tests.unit.engine.search.tables import make_index, make_table, search, write

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.limits import JOURNAL_PACED_ROWS_SEARCHED
from widerow.server.search import thread as thread_module
from widerow.server.search.thread import SearchThread
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy


@pytest.fixture
def engine() -> TablestoreEngine:
    engine = open_tablestore(MemoryStore(), FakeClock(), FakeEntropy())
    make_table(engine)
    make_index(engine)
    assert search(engine).total == 0
    return engine


def waiting(engine: TablestoreEngine) -> int:
    return engine.search.statistics()["i/t", "x"]["waiting"]


def test_rows_are_taken_when_many_wait_without_a_pause(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thread_module, "SEARCH_PAUSE_SECONDS", 60)
    follower = SearchThread(engine)
    follower.start()
    try:
        write(
            engine, *[put("t", {"k": k}, {"n": k}) for k in range(JOURNAL_PACED_ROWS_SEARCHED + 2)]
        )
        until = monotonic() + 30
        while waiting(engine) > 1 and monotonic() < until:
            sleep(0.005)  # a thread takes them
        assert waiting(engine) <= 1
    finally:
        follower.stop()
    assert not engine.backlog.is_paced


def test_writers_do_not_wait_where_rows_are_taken_some_time_after_they_were_written(
    engine: TablestoreEngine,
) -> None:
    """`--search-lag`: a writer would wait for the lag."""
    follower = SearchThread(engine, lags=True)
    follower.start()
    try:
        assert engine.backlog.is_bounded
        assert not engine.backlog.is_paced
    finally:
        follower.stop()
