"""What the RocksDB driver does when the disk fails it (storage/interface.py, rules 3, 7 and 8)."""

import errno
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final
from unittest.mock import patch

import pytest
from rocksdict import Options, Rdict, WriteBatch, WriteOptions

from widerow.engine.in_order import in_order
from widerow.errors import OutcomeUnknown, StorageFailure, StoreBusy, StoreFull, StorePoisoned
from widerow.limits import LOOP_GROUP_WRITES_MAX
from widerow.storage import rocksdb_engine
from widerow.storage.bulk import LONG_WORK
from widerow.storage.interface import Store, Transaction, Write
from widerow.storage.pending import WriteSet
from widerow.storage.rocksdb import RocksDBStore, Steps

SHARD: Final = b"\x10s"
MIB: Final = 1024 * 1024
NO_SPACE: Final = "IO error: No space left on device: While appending to file: 000004.log"


class Fault:
    """Stands before one step and makes it fail while `reason` is set."""

    def __init__(self) -> None:
        self.reason: str | None = None
        self.interrupts = False
        self.calls = 0

    def strike(self) -> None:
        self.calls += 1
        if self.interrupts:
            raise KeyboardInterrupt
        if self.reason is not None:
            raise Exception(self.reason)  # noqa: TRY002  # as the binding does


class Disk:
    """The steps of a store with a fault before each, a settable room, and pauses that are noted."""

    def __init__(self) -> None:
        self.write, self.sync = Fault(), Fault()
        self.free = 1 << 40
        self.pauses: list[float] = []

    def steps(self) -> Steps:
        real = Steps()

        def write(engine: Rdict, batch: WriteBatch, options: WriteOptions) -> None:
            self.write.strike()
            real.write(engine, batch, options)

        def sync(engine: Rdict) -> None:
            self.sync.strike()
            real.sync(engine)

        return Steps(write, sync, lambda _: self.free, self.pauses.append)

    def open(self, directory: Path, kind: type[RocksDBStore] = RocksDBStore) -> RocksDBStore:
        return kind(directory, cache_bytes=8 * MIB, steps=self.steps())


def put(store: Store, name: bytes, value: bytes = b"v") -> None:
    store.transact((SHARD,), lambda transaction: transaction.put(SHARD + name, value))


def names(store: Store) -> list[bytes]:
    return [name[len(SHARD) :] for name, _ in store.snapshot().scan(SHARD, b"\x10t")]


# --- rule 3: one sync ----------------------------------------------------------------------------


def test_group_is_synced_once_and_reads_not_at_all(tmp_path: Path) -> None:
    disk = Disk()
    with disk.open(tmp_path / "s") as store:

        def body_of(number: int) -> Callable[[Transaction], None]:
            return lambda transaction: transaction.put(SHARD + b"%d" % number, b"v")

        store.transact_group([Write((SHARD,), body_of(number)) for number in range(50)])
        assert (disk.write.calls, disk.sync.calls) == (1, 1)
        store.transact((SHARD,), lambda transaction: transaction.get(SHARD))
        assert (disk.write.calls, disk.sync.calls) == (1, 1)


def test_the_wait_until_a_group_is_durable_is_that_of_its_sync(tmp_path: Path) -> None:
    """Whether plans share a sync is decided by it; bodies and the write are not wait."""
    disk = Disk()
    with disk.open(tmp_path / "s") as store:
        now_ns = iter((1000, 1000 + 250_000))
        with patch("widerow.storage.rocksdb.time.monotonic_ns", lambda: next(now_ns)):
            put(store, b"a")
        assert store.durable_ns == 250_000
        store.transact((SHARD,), lambda transaction: transaction.get(SHARD))  # no sync, no clock
        assert store.durable_ns == 250_000


@pytest.mark.parametrize("long", [False, True])
def test_a_long_group_computes_in_its_turn_and_syncs_out_of_it(
    tmp_path: Path, *, long: bool
) -> None:
    # performance.md: one thread at a time computes at length, and nobody waits for a sync meanwhile
    disk = Disk()
    held: list[tuple[str, bool]] = []

    def note(what: str) -> None:
        held.append((what, LONG_WORK.locked()))

    with disk.open(tmp_path / "s") as store:
        real = store._steps

        def write(engine: Rdict, batch: WriteBatch, options: WriteOptions) -> None:
            note("write")
            real.write(engine, batch, options)

        def sync(engine: Rdict) -> None:
            note("sync")
            real.sync(engine)

        store._steps = replace(real, write=write, sync=sync)

        def body_of(number: int) -> Callable[[Transaction], None]:
            def body(transaction: Transaction) -> None:
                if number == 0:
                    note("body")
                transaction.put(SHARD + b"%d" % number, b"v")

            return body

        store.transact_group(
            [Write((SHARD,), body_of(number)) for number in range(LOOP_GROUP_WRITES_MAX + long)]
        )
    assert held == [("body", long), ("write", long), ("sync", False)]


def test_nothing_is_published_before_the_sync_returned(tmp_path: Path) -> None:
    disk = Disk()
    seen: list[list[bytes]] = []
    with disk.open(tmp_path / "s") as store:
        put(store, b"1")
        real_sync = store._steps.sync

        def sync(engine: Rdict) -> None:
            seen.append(names(store))
            assert engine.get(SHARD + b"2") == b"v"  # the engine has it, readers do not
            seen.append(names(store))
            real_sync(engine)

        store._steps = replace(store._steps, sync=sync)
        put(store, b"2")
        assert seen == [[b"1"], [b"1"]]
        assert names(store) == [b"1", b"2"]


# --- rule 7: a failed sync -----------------------------------------------------------------------


def failed_sync_poisons_and_hides(store: RocksDBStore, disk: Disk) -> None:
    put(store, b"1")
    view = store.snapshot()
    disk.sync.reason = "IO error: While fdatasync: 000004.log: Input/output error"
    with pytest.raises(StorePoisoned, match="Input/output error"):
        put(store, b"2")
    disk.sync.reason = None
    calls = disk.sync.calls
    for _ in range(2):
        with pytest.raises(StorePoisoned):
            put(store, b"3")
        with pytest.raises(StorePoisoned):
            store.transact((SHARD,), lambda transaction: transaction.get(SHARD))
    assert disk.sync.calls == calls, "a failed sync is never tried again"
    assert not store.writable
    assert names(store) == [b"1"]
    assert store.snapshot().get_many([SHARD + b"1", SHARD + b"2"]) == [b"v", None]
    assert view.get(SHARD + b"2") is None
    assert store.statistics()["groups"] == 1


def test_failed_sync_poisons_until_opened_again(tmp_path: Path) -> None:
    disk = Disk()
    with disk.open(tmp_path / "s") as store:
        failed_sync_poisons_and_hides(store, disk)
        with pytest.raises(StorePoisoned):
            store.checkpoint(tmp_path / "copy")
    assert disk.sync.calls == 2
    with disk.open(tmp_path / "s") as store:
        # Whether the failed group survived is unknown; what was acknowledged must have.
        assert names(store)[0] == b"1"
        put(store, b"4")
        assert names(store)[-1] == b"4"


class PublishesBeforeSync(RocksDBStore):
    """Shows readers what a power cut may take back."""

    def _commit(self, changes: WriteSet) -> StorageFailure | None:
        assert self._engine is not None
        self._write(self._engine, changes)
        self._published = self._publish(self._engine)
        return super()._commit(WriteSet())


class RetriesTheSync(RocksDBStore):
    """Takes a second sync for the answer to the first."""

    def _failed(self, reason: str) -> StorePoisoned:
        return StorePoisoned(reason)


@pytest.mark.parametrize("broken", [PublishesBeforeSync, RetriesTheSync])
def test_driver_that_trusts_a_failed_sync_is_caught(
    broken: type[RocksDBStore], tmp_path: Path
) -> None:
    disk = Disk()
    with (
        disk.open(tmp_path / "s", broken) as store,
        pytest.raises((AssertionError, pytest.fail.Exception)),
    ):
        failed_sync_poisons_and_hides(store, disk)


def test_failed_write_poisons(tmp_path: Path) -> None:
    disk = Disk()
    with disk.open(tmp_path / "s") as store:
        put(store, b"1")
        disk.write.reason = "IO error: Input/output error"
        with pytest.raises(StorePoisoned):
            put(store, b"2")
        disk.write.reason = None
        with pytest.raises(StorePoisoned):
            put(store, b"3")
        assert names(store) == [b"1"]


@pytest.mark.parametrize("step", ["write", "sync"])
def test_interrupted_commit_poisons(step: str, tmp_path: Path) -> None:
    disk = Disk()
    fault: Fault = getattr(disk, step)
    with disk.open(tmp_path / "s") as store:
        put(store, b"1")
        fault.interrupts = True
        with pytest.raises(KeyboardInterrupt):
            put(store, b"2")
        fault.interrupts = False
        with pytest.raises(StorePoisoned, match="interrupted"):
            put(store, b"3")
        assert names(store) == [b"1"]


def test_keeping_the_error_does_not_keep_the_lock(tmp_path: Path) -> None:
    disk = Disk()
    store = disk.open(tmp_path / "s")
    view = store.snapshot()
    disk.sync.reason = "IO error"
    with pytest.raises(StorePoisoned) as kept:
        put(store, b"1")
    store.close()
    with Disk().open(tmp_path / "s") as again:
        assert again.writable
    assert kept.value.__traceback__ is not None
    with pytest.raises(StorageFailure, match="closed"):
        view.get(SHARD)


# --- rule 8: no room -----------------------------------------------------------------------------


def test_full_disk_refuses_before_writing_and_resumes(tmp_path: Path) -> None:
    disk = Disk()
    with disk.open(tmp_path / "s") as store:
        put(store, b"1")
        disk.free = 64 * MIB - 1
        for _ in range(2):
            with pytest.raises(StoreFull, match="make room"):
                put(store, b"2")
        assert disk.write.calls == 1
        assert store.writable
        assert store.transact((SHARD,), lambda transaction: transaction.get(SHARD + b"1")) == b"v"
        assert names(store) == [b"1"]
        disk.free = 64 * MIB
        put(store, b"3")
        assert names(store) == [b"1", b"3"]


def test_a_full_disk_leaves_half_of_its_reserve_to_what_gives_room_back(tmp_path: Path) -> None:
    disk = Disk()
    with disk.open(tmp_path / "s") as store:
        for name in (b"1", b"2", b"3"):
            put(store, name)

        def removal(name: bytes) -> Write[None]:
            return Write((SHARD,), lambda txn: txn.delete(SHARD + name), frees=True)

        def addition(name: bytes) -> Write[None]:
            return Write((SHARD,), lambda txn: txn.put(SHARD + name, b"v"))

        assert store.full == ""
        disk.free = 32 * MIB
        assert store.full == f"{32 * MIB} bytes are free, writes need {64 * MIB}"
        made = store.transact_group([removal(b"1"), addition(b"4"), removal(b"2")])
        assert [type(each.error) for each in made] == [type(None), StoreFull, type(None)]
        assert names(store) == [b"3"]
        chained = in_order([removal(b"5"), addition(b"4"), removal(b"3")])
        made = store.transact_group(chained)
        assert [type(each.error) for each in made] == [type(None), StoreFull, StoreFull]
        disk.free = 32 * MIB - 1
        with pytest.raises(StoreFull):
            store.transact_group([removal(b"3")])
        assert names(store) == [b"3"]
        disk.free = 64 * MIB
        assert store.full == ""


@pytest.mark.parametrize("step", ["write", "sync"])
def test_running_out_of_room_in_a_commit_heals_when_room_is_back(step: str, tmp_path: Path) -> None:
    disk = Disk()
    fault: Fault = getattr(disk, step)
    with disk.open(tmp_path / "s") as store:
        put(store, b"1")
        view = store.snapshot()
        fault.reason = NO_SPACE
        with pytest.raises(OutcomeUnknown, match="not known whether"):
            put(store, b"2")
        fault.reason = None
        disk.free = 0
        with pytest.raises(StoreFull):
            put(store, b"3")
        assert names(store) == [b"1"]
        assert view.get(SHARD + b"1") == b"v"
        disk.free = 1 << 40
        put(store, b"4")
        assert names(store)[0] == b"1"
        assert names(store)[-1] == b"4"
        assert store.statistics()["reopenings"] == 1
        with pytest.raises(StoreBusy, match="read again"):
            view.get(SHARD + b"1")


def run_out_of_room(store: RocksDBStore, disk: Disk) -> None:
    disk.sync.reason = NO_SPACE
    with pytest.raises(OutcomeUnknown):
        put(store, b"2")
    disk.sync.reason = None


def test_failed_reopening_is_tried_again(tmp_path: Path) -> None:
    disk = Disk()
    with disk.open(tmp_path / "s") as store:
        put(store, b"1")
        run_out_of_room(store, disk)
        assert store._engine is not None
        holds_the_lock = store._engine.iter()
        with pytest.raises(StoreFull, match="in use"):
            put(store, b"3")
        with pytest.raises(StoreBusy):
            store.statistics()
        with pytest.raises(StoreBusy):
            names(store)
        del holds_the_lock
        put(store, b"4")
        assert names(store)[-1] == b"4"


def test_damage_found_while_reopening_poisons(tmp_path: Path) -> None:
    disk = Disk()
    with disk.open(tmp_path / "s") as store:
        put(store, b"1")
        run_out_of_room(store, disk)
        (tmp_path / "s" / "CURRENT").write_text("MANIFEST-999999\n")
        for _ in range(2):
            with pytest.raises(StorePoisoned, match="damaged"):
                put(store, b"3")
        assert not store.writable


# Fills a file system of 40 MB, makes room, goes on. The floor is off, so that the engine itself
# meets the end of the disk.
FILLER: Final = """
import os, sys
from pathlib import Path
from widerow.errors import StorageFailure, StoreFull
from widerow.storage.rocksdb import RocksDBStore
mount = Path(sys.argv[1])
ballast = mount / "ballast"
ballast.write_bytes(bytes(24 << 20))
store = RocksDBStore(mount / "store", cache_bytes=8 << 20, room_floor_bytes=0)
def put(number):
    name = b"\\x10s" + number.to_bytes(4, "big")
    store.transact((b"\\x10s",), lambda transaction: transaction.put(name, os.urandom(50_000)))
def found():
    pairs = store.snapshot().scan(b"\\x10s", b"\\x10t")
    return [int.from_bytes(name[2:], "big") for name, _ in pairs]
number = 0
try:
    while True:
        put(number)
        number += 1
except StorageFailure as error:
    print(type(error).__name__, number > 50, store.writable)
try:
    put(10_000)
except StoreFull:
    print("refused", found() == list(range(number)))
ballast.unlink()
put(20_000)
print("resumed", set(range(number)) <= set(found()) <= {*range(number + 1), 20_000})
store.close()
"""


@pytest.mark.skipif(
    shutil.which("unshare") is None or os.geteuid() != 0, reason="mounts a small file system"
)
def test_full_file_system_loses_nothing_and_resumes(tmp_path: Path) -> None:
    mounted = 'mount -t tmpfs -o size=40m none "$1" && exec "$2" -c "$3" "$1"'
    command = ["unshare", "-m", "sh", "-c", mounted, "sh", str(tmp_path), sys.executable, FILLER]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=50)  # noqa: S603  # our own program
    if "mount" in done.stderr:
        pytest.skip("may not mount here")
    assert done.stdout.splitlines() == ["OutcomeUnknown True True", "refused True", "resumed True"]


# --- rule 8: stalls ------------------------------------------------------------------------------


def test_short_stall_is_waited_out(tmp_path: Path) -> None:
    disk = Disk()
    with disk.open(tmp_path / "s") as store:
        real = store._steps.write

        def write(engine: Rdict, batch: WriteBatch, options: WriteOptions) -> None:
            if len(disk.pauses) < 3:
                raise Exception("Result incomplete: Write stall")  # noqa: TRY002  # as the binding
            real(engine, batch, options)

        store._steps = replace(store._steps, write=write)
        put(store, b"1")
        assert names(store) == [b"1"]
        assert disk.pauses == sorted(disk.pauses)
        assert store.statistics()["stalls"] == 3


def test_long_stall_is_busy_and_writes_nothing(tmp_path: Path) -> None:
    disk = Disk()
    with disk.open(tmp_path / "s") as store:
        disk.write.reason = "Result incomplete: Write stall"
        with pytest.raises(StoreBusy, match="nothing was written"):
            put(store, b"1")
        assert 0.1 < sum(disk.pauses) < 1
        assert store.writable
        disk.write.reason = None
        put(store, b"2")
        assert names(store) == [b"2"]
        assert disk.sync.calls == 1


def test_writes_are_handed_over_so_that_they_do_not_wait(tmp_path: Path) -> None:
    # Without no_slowdown a stalled write would hold every other thread of the process.
    handed: list[tuple[bool, bool]] = []
    disk = Disk()
    with disk.open(tmp_path / "s") as store:
        real = store._steps.write

        def write(engine: Rdict, batch: WriteBatch, options: WriteOptions) -> None:
            handed.append((options.no_slowdown, options.sync))
            real(engine, batch, options)

        store._steps = replace(store._steps, write=write)
        put(store, b"1")
    assert handed == [(True, False)]


def test_engine_that_stalls_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Memtables of 64 KB and a stop at two files make RocksDB refuse writes again and again.
    right = rocksdb_engine._options

    def tight(cache_bytes: int, *, create: bool) -> Options:
        options = right(cache_bytes, create=create)
        options.set_write_buffer_size(64 * 1024)
        options.set_level_zero_file_num_compaction_trigger(1)
        options.set_level_zero_slowdown_writes_trigger(1)
        options.set_level_zero_stop_writes_trigger(2)
        return options

    monkeypatch.setattr(rocksdb_engine, "_options", tight)
    written = []
    with RocksDBStore(tmp_path / "s", cache_bytes=8 * MIB) as store:
        for number in range(120):
            try:
                put(store, b"%03d" % number, os.urandom(20_000))
            except StoreBusy:
                continue
            written.append(b"%03d" % number)
        assert store.statistics()["stalls"] > 0
        assert names(store) == written
    with RocksDBStore(tmp_path / "s", cache_bytes=8 * MIB) as store:
        assert names(store) == written


# --- opening -------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", ["read_note", "_wrong_settings", "sync_directory"])
def test_what_cannot_be_read_at_the_opening_is_named_and_lets_go(
    step: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error", "some file")

    if step != "sync_directory":
        Disk().open(tmp_path / "s").close()
    with monkeypatch.context() as patch:
        patch.setattr(rocksdb_engine, step, fails)
        with pytest.raises(StorageFailure, match="some file: Input/output error"):
            Disk().open(tmp_path / "s")
    with Disk().open(tmp_path / "s") as store:
        put(store, b"1")
