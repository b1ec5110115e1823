"""Files of search indexes, and the journal behind them (search §11.5, 4 and 5)."""

import pytest
from tests.support.changes import delete, put
from tests.support.search_host import RememberingHost
from tests.unit.engine.search.tables import (
    engine_of,
    engine_with_rows,
    keys,
    make_index,
    make_table,
    rows,
    search,
    stored,
    tidy,
    write,
)

from widerow.engine.streams.log import LogPosition
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.search.journal import JournalPositions
from widerow.errors import Conflict, StoreDamaged
from widerow.keys.layout import change_prefix
from widerow.limits import JOURNAL_HOURS, SEARCH_CHECKPOINT_SECONDS, SEARCH_RETRY_SECONDS
from widerow.model.search.requests import SearchIndexName
from widerow.model.tablestore.rules import TablestoreRule
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

BUILT = "search index is built"
AGAIN = "search index is built again"


@pytest.fixture
def host() -> RememberingHost:
    return RememberingHost()


@pytest.fixture
def opened(store: Store, clock: FakeClock, host: RememberingHost) -> TablestoreEngine:
    return engine_with_rows(store, clock, host)


def again(engine: TablestoreEngine, host: RememberingHost) -> TablestoreEngine:
    """The next process over the same store."""
    host.told.clear()
    return engine_of(engine.core.store, engine.core.clock, FakeEntropy(2), host)


def journal_records(engine: TablestoreEngine) -> int:
    """How many records the journal has; heads have shorter keys."""
    prefix = change_prefix(engine.describe_table("i", "t").id)
    found = engine.core.store.snapshot().scan(prefix, prefix + b"\xff")
    return sum(len(key) > 17 for key, _ in found)


def test_an_index_is_opened_from_its_files(opened: TablestoreEngine, host: RememberingHost) -> None:
    opened.search.write_down(all_of_them=True)
    write(opened, put("t", {"k": 7}, {"n": 7}), delete("t", {"k": 1}))
    engine = again(opened, host)
    assert keys(search(engine)) == [0, 2, 7]
    assert host.told == []


def test_an_index_without_files_is_built_again(
    opened: TablestoreEngine, host: RememberingHost
) -> None:
    opened.search.write_down(all_of_them=True)
    for files in host.directories.values():
        files.files.clear()
    engine = again(opened, host)
    assert rows(search(engine)) == stored(engine)
    assert [event for event, _ in host.told] == [BUILT]


def test_an_index_of_damaged_files_is_built_again(
    opened: TablestoreEngine, host: RememberingHost
) -> None:
    """Damage that is seen with the first use is told to who saw it; no answer is wrong."""
    opened.search.write_down(all_of_them=True)
    for files in host.directories.values():
        for name, content in files.files.items():
            if name.startswith("segment"):
                files.files[name] = content[:64] + bytes((content[64] ^ 1,)) + content[65:]
    engine = again(opened, host)
    with pytest.raises(Conflict) as refused:
        search(engine)
    assert refused.value.rule is TablestoreRule.SEARCH_INDEX_BUILDING
    assert rows(search(engine)) == stored(engine)
    assert [event for event, _ in host.told] == [AGAIN, BUILT]


def test_what_the_journal_lost_is_noticed(opened: TablestoreEngine, host: RememberingHost) -> None:
    """Another process wrote, and what it wrote is older than the journal keeps."""
    opened.search.write_down(all_of_them=True)
    other = again(opened, RememberingHost())
    write(other, put("t", {"k": 8}, {"n": 8}), delete("t", {"k": 2}))
    tidy(other, JOURNAL_HOURS * 3600 + 61)
    assert journal_records(other) == 0
    engine = again(opened, host)
    assert keys(search(engine)) == [0, 1, 8]
    assert [event for event, _ in host.told] == [AGAIN, BUILT]


def test_files_of_another_store_are_not_taken(
    opened: TablestoreEngine, host: RememberingHost, clock: FakeClock
) -> None:
    """They bear the same numbers and times; only what was written is another thing."""
    write(opened, put("t", {"k": 9}, {"n": 9}))
    assert search(opened).total == 4
    opened.search.write_down(all_of_them=True)
    clock.set(1_468_944_000_000)
    with open_store("memory:") as second:
        engine = engine_of(second, clock, FakeEntropy(1), host)
        make_table(engine)
        write(engine, *[put("t", {"k": k}, {"n": k}) for k in range(3)])
        make_index(engine)
        host.told.clear()
        assert keys(search(engine)) == [0, 1, 2]
        assert host.told[0][0] == AGAIN


def test_a_checkpoint_lets_the_journal_go(opened: TablestoreEngine, clock: FakeClock) -> None:
    write(opened, *[put("t", {"k": k}, {"n": k}) for k in range(5)])
    tidy(opened)
    assert journal_records(opened) == 5
    opened.search.work()
    opened.search.write_down(all_of_them=True)
    write(opened, put("t", {"k": 6}, {"n": 6}))
    tidy(opened)
    assert journal_records(opened) == 1
    make_index(opened, "y")  # needs what comes, and has no files yet
    clock.advance(SEARCH_CHECKPOINT_SECONDS)
    tidy(opened)
    assert search(opened, index="y").total == 6


def test_the_journal_of_an_index_without_files_goes_by_what_it_has(
    store: Store, clock: FakeClock
) -> None:
    engine = engine_of(store, clock, FakeEntropy(), RememberingHost(keeps_files=False))
    make_table(engine)
    make_index(engine)
    assert search(engine).total == 0
    write(engine, put("t", {"k": 1}, {"n": 1}))
    tidy(engine)
    assert journal_records(engine) == 1
    assert search(engine).total == 1
    tidy(engine)
    assert journal_records(engine) == 0


def test_files_are_written_when_it_is_time(
    opened: TablestoreEngine, host: RememberingHost, clock: FakeClock
) -> None:
    opened.search.write_down()
    [files] = host.directories.values()
    first = dict(files.files)
    assert first
    write(opened, put("t", {"k": 5}, {"n": 5}))
    assert search(opened).total == 4
    opened.search.write_down()
    assert files.files == first
    clock.advance(SEARCH_CHECKPOINT_SECONDS)
    files.writes_left = 0
    opened.search.write_down()
    assert host.told[-1][0] == "search index is not written down"
    files.writes_left = None
    opened.search.write_down()
    assert files.files == first  # it waits before it tries again
    clock.advance(SEARCH_RETRY_SECONDS)
    opened.search.write_down()
    assert files.files != first
    assert search(again(opened, host)).total == 4
    assert host.told == []


def test_files_of_an_index_go_with_it(opened: TablestoreEngine, host: RememberingHost) -> None:
    opened.search.write_down(all_of_them=True)
    assert host.kept()
    opened.core.run(opened.search.delete("i", SearchIndexName("t", "x")))
    opened.search.write_down()
    assert host.kept() == []


def test_positions_are_read_as_they_were_written() -> None:
    positions = JournalPositions(7, {0: LogPosition(5, 2), 3: LogPosition(0, 0)}, frozenset((0,)))
    found = JournalPositions.read_document(positions.document())
    assert found.document() == positions.document()
    for wrong in ({}, {"journal": 1, "following": [[1]], "ended": []}):
        with pytest.raises(StoreDamaged):
            JournalPositions.read_document(wrong)
