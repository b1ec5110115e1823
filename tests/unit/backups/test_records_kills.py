"""A backup or a restore of records that is broken off is gone on with, and nothing is lost by it.

Broken off is here an exception that nobody expects, at each sync of a file or at each commit; the
command is killed in tests/unit/cli/test_backup.py.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from tests.unit.backups.filled import Filled, backed_up, content, restored
from tests.unit.backups.soundness import BEFORE, rows_in, sound
from tests.unit.backups.stores import STORES, small_parts

from widerow.engine.check import check_store
from widerow.engine.engine import Engine
from widerow.engine.table_models import TABLE_MODELS
from widerow.errors import StorageFailure
from widerow.storage.backup import BackupFailed
from widerow.storage.interface import Outcome, Store, Write
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy

MEANWHILE: Final = [("row", 1), ("no_row", 0), ("row", 4), ("user", 1), ("index", 1)]


class Killed(BaseException):
    """The end of a process."""


@pytest.fixture(autouse=True)
def _small_parts() -> Iterator[None]:
    with small_parts():
        yield


class KilledStore(MemoryStore):
    """A store whose process ends before a commit, or behind it."""

    def __init__(self, left: int, *, behind: bool) -> None:
        super().__init__()
        self.left = left
        self.behind = behind

    def transact_group(self, writes: Sequence[Write[Any]]) -> list[Outcome[Any]]:
        """The last one that is left is made or not, and has no answer."""
        self.left -= 1
        if self.left == 0:
            if self.behind:
                super().transact_group(writes)
            raise Killed
        return super().transact_group(writes)


def killed_at(patch: pytest.MonkeyPatch, sync: int, work: Callable[[], object]) -> bool:
    """Whether `work` was broken off at its sync of that number."""
    left, synced = [sync], os.fsync

    def fsync(descriptor: int) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise Killed
        synced(descriptor)

    with patch.context() as inner:
        inner.setattr(os, "fsync", fsync)
        with suppress(Killed):
            work()
            return False
    return True


@pytest.mark.parametrize("kind", ["memory", "strict"])
def test_a_backup_is_gone_on_with(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for sync in (*range(1, 7), *range(7, 1000, 7)):
        with STORES[kind](tmp_path) as store:
            source = Filled(store)
            for each, number in BEFORE:
                source.change(each, number)
            seen = [rows_in(source)]
            target = tmp_path / f"backup{sync}"
            if not killed_at(monkeypatch, sync, partial(backed_up, store, target)):
                return
            for each, number in MEANWHILE:
                source.change(each, number)
                seen.append(rows_in(source))
            notes = target / "progress.jsonl"
            if not notes.exists():  # the directory was just made
                with pytest.raises(BackupFailed, match="name a new directory"):
                    backed_up(store, target)
                continue
            begun = len(notes.read_text().splitlines()) > 1
            backup = backed_up(store, target)
            with STORES["memory"](tmp_path) as found:
                assert restored(found, target) == []
                sound(Filled.of(found), seen)
            assert backup.facts is not None
            assert backup.facts.one_moment == (kind == "memory" and not begun)
    raise AssertionError("no backup came to its end")


@pytest.mark.parametrize("behind", [False, True])
def test_a_restore_is_gone_on_with(behind: bool, tmp_path: Path) -> None:  # noqa: FBT001  # a parameter
    with STORES["strict"](tmp_path) as store:
        source = Filled(store)
        for each, number in [*BEFORE, ("row", 1), ("user", 2), ("split", 1)]:
            source.change(each, number)
        backed_up(store, tmp_path / "backup")
        source.settle()
        wanted = content(store)
    for left in range(1, 1000, 3):
        target = KilledStore(left, behind=behind)
        with suppress(Killed):
            assert restored(target, tmp_path / "backup") == []
            assert content(target) == wanted
            return
        if (left > 1 or behind) and not refuses_servers(target):
            assert behind  # its last commit was made
            assert content(target) == wanted
            return
        assert restored(target, tmp_path / "backup") == []
        assert check_store(target) == []
        assert content(target) == wanted
    raise AssertionError("no restore came to its end")


def refuses_servers(store: Store) -> bool:
    try:
        Engine(store, FakeClock(), FakeEntropy(), TABLE_MODELS)
    except StorageFailure as error:
        return "run widerow restore again" in str(error)
    return False


def test_a_store_into_which_another_backup_was_being_restored_is_refused(tmp_path: Path) -> None:
    with STORES["memory"](tmp_path) as store:
        source = Filled(store)
        backed_up(store, tmp_path / "first")
        source.row(1)
        backed_up(store, tmp_path / "second")
    target = KilledStore(4, behind=False)
    with pytest.raises(Killed):
        restored(target, tmp_path / "first")
    with pytest.raises(BackupFailed, match="another backup was being restored"):
        restored(target, tmp_path / "second")


class TakenStore(MemoryStore):
    """A store that another process takes before a commit."""

    def __init__(self, left: int, take: Callable[[Store], object]) -> None:
        super().__init__()
        self.left = left
        self.take = take

    def transact_group(self, writes: Sequence[Write[Any]]) -> list[Outcome[Any]]:
        """As the store, behind what another process does."""
        self.left -= 1
        if self.left == 0:
            self.take(self)
        return super().transact_group(writes)


@pytest.mark.parametrize("left", [1, 2, 5, 20])
def test_of_two_restores_at_one_time_the_later_one_goes_on(left: int, tmp_path: Path) -> None:
    with STORES["memory"](tmp_path) as store:
        source = Filled(store)
        for each, number in BEFORE:
            source.change(each, number)
        backed_up(store, tmp_path / "backup")
        source.settle()
        wanted = content(store)
    if left == 1:  # both found it empty
        target = TakenStore(
            1, lambda taken: Engine(taken, FakeClock(), FakeEntropy(), TABLE_MODELS)
        )
        with pytest.raises(BackupFailed, match="another process has begun to use the store"):
            restored(target, tmp_path / "backup")
        assert check_store(target) == []
        return
    target = TakenStore(left, lambda taken: restored(taken, tmp_path / "backup"))
    with pytest.raises(BackupFailed, match="or to restore into it"):
        restored(target, tmp_path / "backup")
    assert check_store(target) == []
    assert content(target) == wanted
