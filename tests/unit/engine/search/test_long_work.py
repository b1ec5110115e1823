"""What takes long at an index holds up neither searches nor writers (search §11.5, 4 and 7)."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from tests.support.changes import delete, put
from tests.support.search_host import KeptFiles, RememberingHost
from tests.unit.engine.search.tables import (
    engine_of,
    engine_with_rows,
    keys,
    rows,
    search,
    stored,
    write,
)

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.search.host import IndexLock
from widerow.search import index as index_module
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

SECONDS_MAX = 30.0  # a search behind a lock that is never given back ends the test, not the run


class SlowFiles(KeptFiles):
    """Files of which each is written while something else happens."""

    def __init__(self) -> None:
        super().__init__()
        self.meanwhile: Callable[[], None] = lambda: None

    def write(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        self.meanwhile()
        super().write(name, parts)


class LockingHost(RememberingHost):
    """For several threads, as the server's is."""

    def __init__(self) -> None:
        super().__init__()
        self.slow = SlowFiles()

    def lock(self) -> IndexLock:
        return threading.RLock()

    def files(self, index_id: int) -> KeptFiles:
        return self.directories.setdefault(index_id, self.slow)


@pytest.fixture
def host() -> LockingHost:
    return LockingHost()


@pytest.fixture
def opened(store: Store, clock: FakeClock, host: LockingHost) -> TablestoreEngine:
    return engine_with_rows(store, clock, host)


def on_another_thread(work: Callable[[], Any]) -> Any:  # noqa: ANN401  # what it answers
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work).result(SECONDS_MAX)


def test_searches_are_answered_while_files_are_written(
    opened: TablestoreEngine, host: LockingHost
) -> None:
    """What is written meanwhile is found, and comes back though the files do not have it."""
    host.told.clear()
    found: list[list[int]] = []

    def written_and_found() -> list[int]:
        write(opened, put("t", {"k": 10 + len(found)}, {"n": 0}), delete("t", {"k": 1}))
        return keys(search(opened))

    host.slow.meanwhile = lambda: found.append(on_another_thread(written_and_found))
    opened.search.write_down(all_of_them=True)
    host.slow.meanwhile = lambda: None
    assert found == [[0, 2, *range(10, 11 + at)] for at in range(len(found))]
    assert len(found) >= 3  # the segment, the order, the manifest
    assert rows(search(opened)) == stored(opened)
    after = engine_of(opened.core.store, opened.core.clock, FakeEntropy(2), host)
    assert rows(search(after)) == stored(opened)
    assert host.told == []  # it was opened from its files, which lack what was written meanwhile


def test_what_was_written_meanwhile_is_due_for_the_next_files(
    opened: TablestoreEngine, host: LockingHost
) -> None:
    def written_and_found() -> None:
        write(opened, put("t", {"k": 10}, {"n": 0}))
        search(opened)

    host.slow.meanwhile = written_and_found
    opened.search.write_down(all_of_them=True)
    host.slow.meanwhile = lambda: None
    before = dict(host.slow.files)
    opened.search.write_down(all_of_them=True)
    assert host.slow.files != before
    before = dict(host.slow.files)
    opened.search.write_down(all_of_them=True)
    assert host.slow.files == before, "nothing was taken since"


def test_searches_are_answered_while_segments_are_merged(
    opened: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row that is deleted while its segment is merged stays deleted."""
    monkeypatch.setattr(index_module, "SEARCH_PENDING_DOCUMENTS_MAX", 4)
    monkeypatch.setattr(index_module, "SEARCH_TAIL_DOCUMENTS", 2)
    for k in range(100, 180):
        write(opened, put("t", {"k": k}, {"n": k}))
        if k % 4 == 3:
            search(opened)
            opened.search.gather()
    found: list[list[int]] = []

    def deleted_and_found() -> list[int]:
        write(opened, delete("t", {"k": 101}))
        return keys(search(opened))

    run = index_module.SegmentMerge.run

    def run_beside(merge: index_module.SegmentMerge) -> index_module.Merged:
        found.append(on_another_thread(deleted_and_found))
        return run(merge)

    monkeypatch.setattr(index_module.SegmentMerge, "run", run_beside)
    assert opened.search.merge()
    assert found == [[0, 1, 2, 100, *range(102, 180)]]
    assert rows(search(opened)) == stored(opened)
