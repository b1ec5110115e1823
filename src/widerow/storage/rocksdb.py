"""The embedded driver: RocksDB in a directory, through the package `rocksdict`.

A group of writes becomes one batch. It is written without a sync, then the log is synced once, then
a new view is published (measured: one `fdatasync` a group, during which other threads run). RocksDB
shows a write to readers before its log is synced, so readers only ever get the published view.

What a view is made of. Point reads go through a RocksDB snapshot. Scans cannot: in rocksdict 0.3.29
the iterators of a snapshot show later writes, the lower bound of its read options is taken for the
upper one, bounds may outlive the bytes they point to, and its ready-made `items()` ends silently
where a block is damaged. So scans use plain iterators without options, which RocksDB keeps
consistent from their creation, and ask for their status at the end. While nothing was written since
a view was published, a new iterator shows just that view; before a group is written, the writer
pins one iterator in the published view, and scans of that view share it from then on, a page at a
time. An idle store pins no file. Several keys at once are read in one call of the engine under the
same condition, because the binding's snapshots take one key at a time (100 keys in plain Python:
124 instead of 164 µs where they are there, 18 instead of 67 where they are not).

What else is known of the binding: an absent key of a snapshot is an `Exception` with a fixed text;
a batch is consumed by `write` even when that fails; a snapshot or an iterator that is still alive
after `close` holds the directory's lock; every call but `flush_wal`, `flush` and `close` keeps
other threads waiting, so a write that would stall is refused (`no_slowdown`) and tried again here.

A failed sync is never repeated: neither by this driver nor by closing, which then only lets go of
the files. Running out of room inside a commit is the one failure that is healed: RocksDB refuses
everything until it is opened again, and its log, of which only the tail may be torn, tells what
became of the last group.
"""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar
from weakref import ref

from rocksdict import Checkpoint, Rdict, WriteBatch, WriteOptions

from widerow.errors import (
    OutcomeUnknown,
    StorageFailure,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StorePoisoned,
)
from widerow.safepoint import PRECEDENCE
from widerow.storage.bulk import turn_of
from widerow.storage.directory import (
    Acceptance,
    free_bytes,
    mark_damaged,
    refuse_noted_damage,
    sync_directory,
)
from widerow.storage.group import succeeded
from widerow.storage.interface import Capabilities, Outcome, Store, Write
from widerow.storage.pending import WriteSet, run_bodies
from widerow.storage.rocksdb_batch import engine_batch, sync_log, write_batch
from widerow.storage.rocksdb_engine import is_no_space, open_engine, write_options
from widerow.storage.rocksdb_view import View
from widerow.storage.witness import Witness

__all__ = ["RocksDBStore", "Steps"]

T = TypeVar("T")

_MIB: Final = 1024 * 1024
_ROOM_FLOOR_BYTES: Final = 64 * _MIB  # one memtable can still be flushed, one log still end
_VIEWS_LOOKED_THROUGH: Final = 64  # when more were published, those that are gone are forgotten
_STALL_PAUSES: Final = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128)  # seconds


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a commit that can fail from outside; tests replace them with failing ones."""

    write: Callable[[Rdict, WriteBatch, WriteOptions], None] = write_batch
    sync: Callable[[Rdict], None] = sync_log
    free_bytes: Callable[[str], int] = free_bytes
    pause: Callable[[float], None] = time.sleep


_REAL_STEPS: Final = Steps()


class _View(View):
    """A view that the store refers to weakly: it lives as long as a reader holds it."""

    __slots__ = ("__weakref__",)


class RocksDBStore(Store):
    """One directory, open for this process alone.

    No frame that may raise keeps the engine in a local variable: code that keeps the error, with
    its frames, would keep the directory locked.
    """

    capabilities = Capabilities(
        atomic_across_shards=True,
        reads_may_block=False,
        persistent=True,
        checkpoints=True,
        shared=False,
    )

    def __init__(
        self,
        directory: Path,
        *,
        cache_bytes: int,
        room_floor_bytes: int = _ROOM_FLOOR_BYTES,
        acceptance: Acceptance = Acceptance.WHOLE,
        steps: Steps = _REAL_STEPS,
    ) -> None:
        """Open the store in `directory`, creating it if there is none.

        `cache_bytes` bounds the cache of uncompressed blocks. Writes are refused while less than
        `room_floor_bytes` are free, those that give room back while less than half of them are.
        `acceptance`: whether a damaged store may be opened.

        Raises: `StoreLocked`, `StoreDamaged`, `StoreFull`; `StorageFailure` for a directory that
        holds other files or may not be read.
        """
        self._directory = directory
        self._place = str(directory)  # its room is measured before every group
        self._cache_bytes = cache_bytes
        self._room_floor_bytes = room_floor_bytes
        self._acceptance = acceptance
        self._steps = steps
        self._writing = threading.Lock()
        self._write_options = write_options()
        self._views: list[ref[_View]] = []
        self._views_max = _VIEWS_LOOKED_THROUGH
        self._poison: str | None = None
        self._out_of_room = False
        self._closed = False
        self._counts = {"groups": 0, "writes": 0, "syncs": 0, "stalls": 0, "reopenings": 0}
        if acceptance is Acceptance.WHOLE:
            refuse_noted_damage(directory)
        self._engine: Rdict | None = None
        self._published = self._open()

    def snapshot(self) -> _View:
        """The view after the last finished group."""
        if self._closed:
            raise StorageFailure("the store is closed")
        return self._published

    def _run_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        """Run the bodies in order, commit them as one batch with one sync."""
        self._make_ready()
        with turn_of(len(writes)):
            changes, outcomes = run_bodies(self._published, writes)
        if changes and self._free() < self._room_floor_bytes:
            changes, outcomes = self._run_freeing(writes)
        if changes:
            failure = self._commit(changes)
            if failure is not None:
                raise failure
        self._counts["groups"] += 1
        self._counts["writes"] += succeeded(outcomes)
        return outcomes

    def _open(self) -> _View:
        """Open the engine and its witness; publish a view."""
        lax = self._acceptance is Acceptance.DAMAGED
        try:
            self._engine = open_engine(self._directory, self._cache_bytes, lax=lax)
            self._witness = Witness(self._directory, self._engine)
        except OSError as error:
            self._engine = None
            raise StorageFailure(
                f"cannot open the store in {self._directory}: {error.filename or 'a file'}: "
                f"{error.strerror}"
            ) from error
        return self._publish(self._engine)

    def distrust(self, reason: str) -> None:
        """Take no more writes, and note the damage in the directory."""
        if self._acceptance is Acceptance.DAMAGED or self._poison is not None or self._closed:
            return
        self._poison = f"damage was found in the store ({reason}); run widerow doctor"
        mark_damaged(self._directory, reason)

    def _make_ready(self) -> None:
        """Raise unless the engine takes writes; heal it if it had run out of room."""
        if self._closed:
            raise StorageFailure("the store is closed")
        if self._poison is not None:
            raise StorePoisoned(self._poison)
        if self._out_of_room:
            self._reopen()

    def _free(self) -> int:
        return self._steps.free_bytes(self._place)

    def _run_freeing(self, writes: Sequence[Write[T]]) -> tuple[WriteSet, list[Outcome[T]]]:
        """Run only those writes of a group that give room back, out of the reserve.

        Of a chain none is made behind one that is refused. Raises: `StoreFull` where none is left.
        """
        full = self._lack_of(self._room_floor_bytes)
        broken: set[object] = set()
        made: list[Write[T]] = []
        for write in writes:
            if write.frees and write.chain not in broken:
                made.append(write)
            elif write.chain is not None:
                broken.add(write.chain)
        if not made or self._free() < self._room_floor_bytes // 2:
            raise full
        with turn_of(len(made)):
            changes, outcomes = run_bodies(self._published, made)
        of_made = dict(zip(map(id, made), outcomes, strict=True))
        return changes, [of_made.get(id(write)) or Outcome(None, full) for write in writes]

    def _check_room(self, needed: int) -> None:
        if self._free() < needed:
            raise self._lack_of(needed)

    def _lack_of(self, needed: int) -> StoreFull:
        return StoreFull(
            f"{self._free()} bytes are free at {self._directory}, writes need {needed}; "
            "make room, or delete, and they go on"
        )

    def _commit(self, changes: WriteSet) -> StorageFailure | None:
        """Write, sync, publish; or the failure, which leaves the published view as it is."""
        engine = self._engine
        assert engine is not None
        self._published.pin()
        try:
            if not self._write(engine, changes):
                return StoreBusy("the engine is behind with compaction; nothing was written")
            started_ns = time.monotonic_ns()
            self._steps.sync(engine)
            self.durable_ns = time.monotonic_ns() - started_ns
            self._counts["syncs"] += 1
            self._witness.note(engine)
            self._published = self._publish(engine)
        except Exception as error:  # noqa: BLE001  # the binding raises nothing narrower
            return self._failed(str(error))
        except BaseException:
            # An interrupt in between: the engine may hold more than the published view shows.
            self._poison = "a commit was interrupted; open the store again to go on"
            raise
        return None

    def _write(self, engine: Rdict, changes: WriteSet) -> bool:
        """Hand the batch to the engine; False if it stalls for longer than the pauses."""
        for pause in (0.0, *_STALL_PAUSES):
            if pause:
                self._counts["stalls"] += 1
                self._steps.pause(pause)
            try:
                with turn_of(len(changes.entries)):
                    PRECEDENCE.give_way()  # nobody runs while the engine writes
                    self._steps.write(engine, engine_batch(changes), self._write_options)
            except Exception as error:
                if "Write stall" not in str(error):
                    raise
            else:
                return True
        return False

    def _failed(self, reason: str) -> StorageFailure:
        """Record a failed commit. Its outcome is unknown until the engine is opened again."""
        if is_no_space(reason):
            self._out_of_room = True
            return OutcomeUnknown(
                "the disk filled up during a commit, so it is not known whether it happened "
                f"({reason}); make room, read what was written, and go on"
            )
        self._poison = f"a commit failed ({reason}); check the disk, then start again"
        return StorePoisoned(self._poison)

    def _reopen(self) -> None:
        """Open the engine again after it ran out of room, once there is room."""
        # Opening writes the logs' content into tables before it removes the logs. A failed opening
        # would cost readers the view that they still have, so it is not tried with less.
        logs = sum(log.stat().st_size for log in self._directory.glob("*.log"))
        self._check_room(self._room_floor_bytes // 2 + logs)  # for what gives room back
        self._detach_views(
            StoreBusy("the store is being opened again after a full disk; read again")
        )
        # Dropped, not closed: closing would sync and flush what the failed commit left behind.
        self._engine = None
        self._witness.close()
        try:
            self._published = self._open()
        except StoreDamaged as error:
            self._poison = str(error)
            raise StorePoisoned(self._poison) from error
        except StorageFailure as error:
            raise StoreFull(f"not open again yet after a full disk: {error}") from error
        self._out_of_room = False
        self._counts["reopenings"] += 1

    def _publish(self, engine: Rdict) -> _View:
        view = _View(engine)
        self._views.append(ref(view))
        if len(self._views) > self._views_max:
            self._views = [each for each in self._views if each() is not None]
            self._views_max = _VIEWS_LOOKED_THROUGH + 2 * len(self._views)
        return view

    def _detach_views(self, gone: StorageFailure) -> None:
        for each in self._views:
            view = each()
            if view is not None:
                view.detach(gone)

    def statistics(self) -> dict[str, int]:
        """Counts since opening, and sizes now.

        Counted: `groups`, `writes`, `syncs`, `stalls`, `reopenings`. In bytes: `bytes` (data, on
        disk and in memtables), `memtable_bytes`, `cache_bytes`, `compaction_pending_bytes`,
        `free_bytes` (of the file system).
        """
        if self._closed:
            raise StorageFailure("the store is closed")
        if self._engine is None:
            raise StoreBusy("the store is being opened again after a full disk")
        number = self._engine.property_int_value
        memtables = number("rocksdb.cur-size-all-mem-tables") or 0
        return {
            **self._counts,
            "bytes": memtables + (number("rocksdb.live-sst-files-size") or 0),
            "memtable_bytes": memtables,
            "cache_bytes": number("rocksdb.block-cache-usage") or 0,
            "compaction_pending_bytes": number("rocksdb.estimate-pending-compaction-bytes") or 0,
            "free_bytes": self._free(),
        }

    @property
    def full(self) -> str:
        """Why writes are refused until there is room; "" while there is."""
        if self._closed or self._free() >= self._room_floor_bytes:
            return ""
        return f"{self._free()} bytes are free, writes need {self._room_floor_bytes}"

    @property
    def writable(self) -> bool:
        """False once poisoned or closed. True on a full disk: writes resume by themselves."""
        return self._poison is None and not self._closed

    def checkpoint(self, directory: Path) -> None:
        """Write a consistent copy into `directory`: hard links where possible, between two groups.

        Copying writes out what is in memory, and keeps other threads waiting meanwhile; so most of
        it is written out before, while they run.

        Raises: `FileExistsError` if `directory` exists, `StoreFull`, `StorePoisoned`, and
        `StorageFailure` where nothing can be created.
        """
        with self._writing:
            self._make_ready()
            self._check_room(self._room_floor_bytes)
        self._flush()
        with self._writing:
            self._make_ready()
            self._check_room(self._room_floor_bytes)
            if directory.exists():
                raise FileExistsError(f"{directory} exists; a checkpoint makes its own directory")
            reason = self._copy(directory)
            if reason is not None:
                kind = StoreFull if is_no_space(reason) else StorageFailure
                raise kind(f"cannot copy the store into {directory}: {reason}")
            sync_directory(directory.parent)

    def _flush(self) -> None:
        """Write out what is in memory. Should it fail, the next commit fails and says so."""
        with suppress(Exception):
            if self._engine is not None:
                self._engine.flush()

    def _copy(self, directory: Path) -> str | None:
        """Let the engine write a checkpoint; what it said if that failed."""
        assert self._engine is not None
        try:
            Checkpoint(self._engine).create_checkpoint(str(directory))
        except Exception as error:  # noqa: BLE001  # the binding raises nothing narrower
            return str(error)
        return None

    def close(self) -> None:
        """Release files and lock, after the group that is running."""
        with self._writing:
            if self._closed:
                return
            self._closed = True
            self._witness.close()
            self._detach_views(StorageFailure("the store is closed"))
            engine, self._engine = self._engine, None
            if engine is None or self._poison is not None or self._out_of_room:
                return  # dropped, not closed: closing would repeat the sync that failed
            # Closing flushes memtables, which only makes the next opening faster: everything
            # acknowledged is in the synced log, and the files are released either way.
            with suppress(Exception):
                engine.close()
