"""A backup of records while the store is written (docs/operating/backup.md, "What it is of").

Every write that was acknowledged before the backup began is in it; no shard is torn; what is read
of several shards at several moments is put right again: indexes have the entries of their rows, a
stream has the changes of the rows that are there, and no number is given out twice.
"""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.volume import examples
from tests.unit.backups.filled import Filled, restored
from tests.unit.backups.soundness import BEFORE, Rows, rows_in, sound, told_in
from tests.unit.backups.stores import CHANGES, KINDS, QUICK, STORES, small_parts

from widerow.backups import making
from widerow.backups.making import back_up_records
from widerow.errors import StoreBusy, ViewLost
from widerow.storage.backup import BackupFailed
from widerow.storage.interface import Snapshot
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeEntropy

MEANWHILE: Final = [("row", 1), ("settle", 0), ("user", 1), ("no_row", 2), ("count", 1)]


@pytest.fixture(autouse=True)
def _small_parts() -> Iterator[None]:
    with small_parts():
        yield


def during(source: Filled, folder: Path, change: Callable[[], None]) -> Path:
    """Make a backup, and call `change` after each record of it."""
    target = folder / "backup"
    back_up_records(
        source.store,
        target,
        "it",
        created="2026-01-01",
        version="1",
        told=lambda *_: change(),
        rest=lambda _: None,
    )
    return target


@given(CHANGES, CHANGES, QUICK, st.integers(1, 7))
@example(BEFORE, MEANWHILE * 30, "strict", 1)
@example(BEFORE, [("row", 1), ("settle", 1)] * 60, "remote", 2)
@example(BEFORE, [("user", 1)] * 60, "remote", 1)
@example(BEFORE, [("split", 1), ("no_row", 1), ("split", 2), ("row", 2)], "remote", 9)
@example(BEFORE, [("index", 1), ("row", 2)], "remote", 20)
@example(BEFORE, [("index", 1), ("no_row", 0), ("row", 4)], "remote", 20)
@example(BEFORE, [("index", 0), ("row", 2)], "strict", 9)
@settings(max_examples=examples(60), deadline=None)
def test_a_backup_has_what_was_acknowledged_before_it_and_is_sound(
    before: list[tuple[str, int]], meanwhile: list[tuple[str, int]], kind: str, pace: int
) -> None:
    with TemporaryDirectory() as name, STORES[kind](Path(name) / "a") as store:
        source = Filled(store)
        for each, number in before:
            source.change(each, number)
        had, waiting, calls = rows_in(source), list(meanwhile), 0
        seen: list[Rows] = [had]

        def change() -> None:
            nonlocal calls
            calls += 1
            if waiting and calls % pace == 0:
                source.change(*waiting.pop(0))
                seen.append(rows_in(source))

        backup = during(source, Path(name), change)
        with STORES["memory"](Path(name) / "b") as target:
            assert restored(target, backup) == []
            found = Filled.of(target)
            sound(found, seen)


@pytest.mark.parametrize("kind", KINDS)
def test_threads_write_while_a_backup_is_made(kind: str, tmp_path: Path) -> None:
    with STORES[kind](tmp_path / "a") as store:
        source = Filled(store)
        for each, number in BEFORE:
            source.change(each, number)
        source.wide(0)
        had = rows_in(source)
        over = threading.Event()

        def write() -> None:
            number = 0
            while not over.is_set():
                number += 1
                for each in ("wide", "row", "user", "count"):
                    source.change(each, 20 + number % 10)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            backup = during(source, tmp_path, lambda: None)
        finally:
            over.set()
            writer.join()
    with STORES["rocksdb"](tmp_path / "b") as target:
        assert restored(target, backup) == []
        found = Filled.of(target)
        rows = rows_in(found)
        assert had.items() <= rows.items()
        assert set(rows.items()) <= told_in(found)


def test_a_table_that_changes_all_the_time_ends_a_backup(tmp_path: Path) -> None:
    with STORES["strict"](tmp_path / "a") as store:
        source = Filled(store)
        numbers = iter(range(10_000))
        with pytest.raises(BackupFailed, match="change all the time"):
            during(source, tmp_path, lambda: source.alter(next(numbers)))


def test_a_database_that_is_away_is_asked_again(tmp_path: Path) -> None:
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1))
    source = Filled(remote_store(driver))
    for each, number in BEFORE:
        source.change(each, number)
    rests: list[float] = []

    def told(records: int, _: int) -> None:
        driver.is_reachable &= bool(rests) or not records

    def rest(seconds: float) -> None:
        rests.append(seconds)
        driver.is_reachable = len(rests) > 1

    target = tmp_path / "backup"
    back_up_records(source.store, target, "it", created="", version="", told=told, rest=rest)
    assert rests == [making.PAUSE_SECONDS, 2 * making.PAUSE_SECONDS]
    with STORES["memory"](tmp_path) as store:
        assert restored(store, target) == []
        assert rows_in(Filled.of(store)) == rows_in(source)


def test_a_database_that_stays_away_ends_a_backup_which_is_gone_on_with(tmp_path: Path) -> None:
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1))
    source = Filled(remote_store(driver))
    driver.is_reachable = False
    target = tmp_path / "backup"
    with pytest.raises(StoreBusy):
        back_up_records(source.store, target, "it", created="", version="", rest=lambda _: None)
    driver.is_reachable = True
    back_up_records(source.store, target, "it", created="", version="")
    with STORES["memory"](tmp_path) as store:
        assert restored(store, target) == []


class LostView:
    """A snapshot that is lost after some scans."""

    def __init__(self, inner: Snapshot, scans: int) -> None:
        self.get, self.get_many = inner.get, inner.get_many
        self._inner = inner
        self._left = scans

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """As the snapshot, until it is lost."""
        self._left -= 1
        if self._left < 0:
            raise ViewLost("the connection of the snapshot was lost")
        return self._inner.scan(start, stop, reverse=reverse)


class LosingStore(MemoryStore):
    """A store whose snapshots are one moment, and one of which is lost."""

    scans: int | None = None

    def snapshot(self) -> Snapshot:  # type: ignore[override]  # as the contract has it
        """A snapshot; the first one after `scans` was set is lost."""
        inner, scans = super().snapshot(), self.scans
        self.scans = None
        return inner if scans is None else LostView(inner, scans)


@pytest.mark.parametrize("scans", [0, 20, 40])
def test_a_backup_whose_moment_was_lost_goes_on_and_says_so(scans: int, tmp_path: Path) -> None:
    source = Filled(LosingStore())
    for each, number in BEFORE:
        source.change(each, number)
    seen, waiting = [rows_in(source)], [("index", 1), *MEANWHILE, ("row", 4)]
    assert isinstance(source.store, LosingStore)
    source.store.scans = scans

    def rest(_: float) -> None:
        while waiting:
            source.change(*waiting.pop(0))
            seen.append(rows_in(source))

    target = tmp_path / "backup"
    backup = back_up_records(source.store, target, "it", created="", version="", rest=rest)
    assert backup.facts is not None
    assert backup.facts.one_moment is False
    assert waiting == []
    with STORES["memory"](tmp_path) as store:
        assert restored(store, target) == []
        sound(Filled.of(store), seen)
