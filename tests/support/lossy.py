"""A store on a simulated disk that loses what was not synced: for tests of crashes.

The fault model. `LossyDisk` is a directory of files that are only appended to.

* A write reaches the cache. It is cut into sectors of 512 bytes, and each may reach the platter at
  any time, or never, until a sync of its file succeeds. Reads show the cache.
* A new or removed name is as uncertain as a write until the directory is synced: a file whose
  content was synced may be gone with its name.
* `cut` is a loss of power. Of what no sync covered it keeps nothing, all, a prefix, an arbitrary
  subset of sectors (those before a kept one read as zeros) or a prefix whose last sector is torn at
  any byte. What a sync covered is always kept.
* `kill` is the death of the process: the cache stays, and what was not synced still is not.
* A call fails when the fault plan says so. A write that fails has written nothing or a part. A sync
  that fails leaves its writes in the cache and **marks them clean, as Linux does: no later sync
  covers them**, although it succeeds. So a repeated sync reports success for data that is lost.
* `spoil` flips one bit of what was written: rot that a checksum has to find.
* `capacity` bounds the bytes of all files; what does not fit fails with ENOSPC, half written.

`LossyStore` is a driver with a log on this disk: a frame with a checksum for each group, synced
before the group is published. Opening reads the newest log, drops an unfinished tail, refuses
damage before it, and writes what it found into a new log before anything else, so that what readers
see next does not depend on the cache.
"""

import errno
import threading
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from random import Random  # noqa: TID251  # seeded: a crash must repeat
from struct import Struct
from typing import Final, NamedTuple, TypeVar
from zlib import crc32

from tests.support.faults import FaultPlan

from widerow.errors import (
    OutcomeUnknown,
    StorageFailure,
    StoreDamaged,
    StoreFull,
    StorePoisoned,
)
from widerow.storage.group import succeeded
from widerow.storage.interface import Capabilities, Outcome, Snapshot, Store, Transaction, Write
from widerow.storage.opener import open_store
from widerow.storage.pending import WriteSet, run_bodies

__all__ = ["CAPACITY_BYTES_DEFAULT", "Keep", "LossyDisk", "LossyStore"]

T = TypeVar("T")

SECTOR_BYTES: Final = 512
CAPACITY_BYTES_DEFAULT: Final = 1 << 30


class Keep(Enum):
    """What a loss of power leaves of the writes that no sync covered."""

    NOTHING = "nothing"
    EVERYTHING = "everything"
    PREFIX = "prefix"
    SUBSET = "subset"
    TORN = "torn"


class _Piece(NamedTuple):
    """A write, or the part of one that lies in one sector."""

    offset: int
    data: bytes


class _File:
    """The synced content of a file, and its later writes in order."""

    __slots__ = ("cached", "clean", "content", "safe")

    def __init__(self) -> None:
        self.safe = b""
        self.content = b""  # what a read returns
        self.cached: list[_Piece] = []
        # in the cache, but marked as written: no sync will write them
        self.clean: list[_Piece] = []

    def append(self, data: bytes) -> None:
        position, content = len(self.content), self.content + data
        while position < len(content):
            stop = min(len(content), (position // SECTOR_BYTES + 1) * SECTOR_BYTES)
            self.cached.append(_Piece(position, content[position:stop]))
            position = stop
        self.content = content

    def sync(self) -> None:
        self.safe = _with(self.safe, self.cached)
        self.cached.clear()

    def cut(self, keep: Keep, random: Random) -> None:
        loose = sorted(self.clean + self.cached)
        self.safe = self.content = _with(self.safe, _kept(loose, keep, random))
        self.cached.clear()
        self.clean.clear()


def _with(content: bytes, pieces: Sequence[_Piece]) -> bytes:
    """`content` with the pieces written into it; a hole reads as zeros."""
    image = bytearray(content)
    for offset, data in pieces:
        image.extend(bytes(max(0, offset + len(data) - len(image))))
        image[offset : offset + len(data)] = data
    return bytes(image)


def _kept(loose: list[_Piece], keep: Keep, random: Random) -> list[_Piece]:
    """The pieces that reached the platter, by chance."""
    match keep:
        case Keep.NOTHING:
            return []
        case Keep.EVERYTHING:
            return loose
        case Keep.SUBSET:
            return [piece for piece in loose if random.random() < 0.5]
        case Keep.PREFIX | Keep.TORN:
            kept = loose[: random.randint(0, len(loose))]
            if keep is Keep.TORN and kept:
                offset, data = kept.pop()
                kept.append(_Piece(offset, data[: random.randrange(len(data))]))
            return kept


class LossyDisk:
    """A directory of files with a synced and an unsynced state. For one thread at a time."""

    def __init__(
        self, plan: FaultPlan | None = None, *, capacity: int = CAPACITY_BYTES_DEFAULT
    ) -> None:
        """An empty disk.

        `plan` is visited with the kinds `read`, `create`, `write`, `sync`, `synced` (after a sync
        that succeeded), `rename`, `sync directory` and `remove`.
        """  # one sentence each
        self.plan = plan or FaultPlan()
        self.capacity = capacity
        self.during_sync: Callable[[], None] = lambda: None
        self._names: dict[str, _File] = {}
        self._safe_names: dict[str, _File] = {}

    # --- what a program does -----------------------------------------------------------------

    def names(self) -> list[str]:
        """The names of the files, sorted."""
        return sorted(self._names)

    def read(self, name: str) -> bytes:
        """The content of a file, as the cache has it."""
        self.plan.visit("read")
        return self._names[name].content

    def create(self, name: str) -> None:
        """Make an empty file; it replaces a file of that name."""
        self.plan.visit("create")
        self._names[name] = _File()

    def append(self, name: str, data: bytes) -> None:
        """Write at the end of a file. Raises `OSError`, with none or a part of `data` written."""
        self.plan.visit("write")
        room = self.free_bytes()
        self._names[name].append(data[:room])
        if room < len(data):
            raise OSError(errno.ENOSPC, "No space left on device")

    def sync(self, name: str) -> None:
        """Write the cached pieces of a file to the platter.

        Raises `OSError`; later syncs skip them.
        """
        file = self._names[name]
        try:
            self.plan.visit("sync")
        except OSError:
            file.clean += file.cached
            file.cached.clear()
            raise
        self.during_sync()
        file.sync()
        self.plan.visit("synced")

    def rename(self, name: str, to: str) -> None:
        """Give a file another name."""
        self.plan.visit("rename")
        self._names[to] = self._names.pop(name)

    def remove(self, name: str) -> None:
        """Remove a name from the directory."""
        self.plan.visit("remove")
        del self._names[name]

    def sync_directory(self) -> None:
        """Make the directory's names durable."""
        self.plan.visit("sync directory")
        self._safe_names = dict(self._names)

    def free_bytes(self) -> int:
        """The bytes that can still be written."""
        return max(0, self.capacity - sum(len(file.content) for file in self._names.values()))

    # --- what happens to it ------------------------------------------------------------------

    def loose_bytes(self) -> int:
        """The bytes written that no sync has covered."""
        return sum(
            len(piece.data)
            for file in self._names.values()
            for piece in (*file.cached, *file.clean)
        )

    def cut(self, keep: Keep, seed: int) -> None:
        """Lose the power; programs that have the disk open must not use it any more.

        For equal writes, an equal `seed` keeps equal pieces.
        """
        random = Random(seed)  # noqa: S311  # no secret
        for name in sorted(self._names.keys() | self._safe_names.keys()):
            now, then = self._names.get(name), self._safe_names.get(name)
            if now is not then and (keep is Keep.NOTHING or random.random() < 0.5):
                self._names.pop(name, None)
                if then is not None:
                    self._names[name] = then
        for name in sorted(self._names):
            self._names[name].cut(keep, random)
        self._safe_names = dict(self._names)

    def spoil(self, name: str, position: int) -> None:
        """Flip a bit of the byte at `position` of a file."""
        file = self._names[name]
        flipped = bytes((file.content[position] ^ 0x10,))
        file.content = file.content[:position] + flipped + file.content[position + 1 :]
        if position < len(file.safe):
            file.safe = file.safe[:position] + flipped + file.safe[position + 1 :]


# --- frames ---------------------------------------------------------------------------------------

_MAGIC: Final = b"\xf7WR\x1a"
_HEAD: Final = Struct("<4sQII")  # magic, number of the group, length and checksum of the body
_HEAD_CRC: Final = Struct("<I")
_HEAD_BYTES: Final = _HEAD.size + _HEAD_CRC.size
_PAIR: Final = Struct("<BII")
_LOG: Final = ".log"
_UNFINISHED: Final = "log.new"
_PUT, _DELETE, _DELETE_RANGE = range(3)


def _frame(number: int, body: bytes) -> bytes:
    head = _HEAD.pack(_MAGIC, number, len(body), crc32(body))
    return head + _HEAD_CRC.pack(crc32(head)) + body


def _body(changes: WriteSet) -> bytes:
    """The encoded changes of a group: removed ranges first, then the entries over them."""
    parts = []
    for start, stop in zip(changes.starts, changes.stops, strict=True):
        parts += [_PAIR.pack(_DELETE_RANGE, len(start), len(stop)), start, stop]
    for key, value in changes.entries.items():
        if value is None:
            parts += [_PAIR.pack(_DELETE, len(key), 0), key]
        else:
            parts += [_PAIR.pack(_PUT, len(key), len(value)), key, value]
    return b"".join(parts)


def _replay(transaction: Transaction, body: bytes) -> None:
    """Apply the changes that `_body` encoded."""
    position = 0
    while position < len(body):
        kind, key_length, length = _PAIR.unpack_from(body, position)
        middle = position + _PAIR.size + key_length
        key, value = body[position + _PAIR.size : middle], body[middle : middle + length]
        position = middle + length
        if kind == _PUT:
            transaction.put(key, value)
        elif kind == _DELETE:
            transaction.delete(key)
        else:
            transaction.delete_range(key, value)


def _frame_at(content: bytes, position: int) -> tuple[int, bytes] | None:
    """Number and body of the frame at `position`, or None where no whole frame is."""
    if len(content) < position + _HEAD_BYTES:
        return None
    magic, number, length, crc = _HEAD.unpack_from(content, position)
    (head_crc,) = _HEAD_CRC.unpack_from(content, position + _HEAD.size)
    if magic != _MAGIC or head_crc != crc32(content[position : position + _HEAD.size]):
        return None
    body = content[position + _HEAD_BYTES : position + _HEAD_BYTES + length]
    return (number, body) if len(body) == length and crc32(body) == crc else None


def _frames(content: bytes) -> tuple[list[tuple[int, bytes]], int]:
    """The frames of a log in order, and where they end. Raises `StoreDamaged`.

    A frame that is not whole is the unfinished tail if no whole frame comes after it: the next
    group is written when the one before it is safe.
    """
    frames: list[tuple[int, bytes]] = []
    position = 0
    while (frame := _frame_at(content, position)) is not None:
        if frames and frame[0] != frames[-1][0] + 1:
            raise StoreDamaged(f"the log has group {frame[0]} behind group {frames[-1][0]}")
        frames.append(frame)
        position += _HEAD_BYTES + len(frame[1])
    later = content.find(_MAGIC, position + 1)
    while later >= 0:
        if _frame_at(content, later) is not None:
            raise StoreDamaged(f"the log is damaged at byte {position}, and goes on at {later}")
        later = content.find(_MAGIC, later + 1)
    return frames, position


# --- the store ------------------------------------------------------------------------------------


class LossyStore(Store):
    """A store on a `LossyDisk`. After `cut` or `kill`, open another one on the disk."""

    capabilities = Capabilities(
        atomic_across_shards=True,
        reads_may_block=False,
        persistent=True,
        checkpoints=False,
        shared=False,
    )

    def __init__(self, disk: LossyDisk) -> None:
        """Open the disk's content. Raises `StoreDamaged`, `StoreFull`, `StorageFailure`."""
        self._disk = disk
        self._writing = threading.Lock()
        self._poison: str | None = None
        self._out_of_room = False
        self._closed = False
        self._counts = {
            "groups": 0,
            "writes": 0,
            "syncs": 0,
            "bytes": 0,
            "repaired": 0,
            "reopenings": 0,
        }
        self._generations: list[Store] = []
        self._name = ""
        self._number = 0
        self._shown = self._recover()

    def snapshot(self) -> Snapshot:
        """The state after the last published group."""
        return self._shown.snapshot()

    def _run_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        """Run the bodies in order, write their changes as one frame, sync it, publish it."""
        self._make_ready()
        changes, outcomes = run_bodies(self._shown.snapshot(), writes)
        if changes:
            body = _body(changes)
            self._commit(body)
            self._shown.transact((b"",), lambda transaction: _replay(transaction, body))
            self._counts["bytes"] += changes.size_in_bytes()
        self._counts["groups"] += 1
        self._counts["writes"] += succeeded(outcomes)
        return outcomes

    def _make_ready(self) -> None:
        if self._closed:
            raise StorageFailure("the store is closed")
        if self._poison is not None:
            raise StorePoisoned(self._poison)
        if self._out_of_room:
            self._shown = self._recover()
            self._out_of_room = False
            self._counts["reopenings"] += 1

    def _commit(self, body: bytes) -> None:
        """Write a group's frame and sync it.

        Raises: `StoreFull` before anything is written, `OutcomeUnknown` where the disk filled up
        meanwhile, `StorePoisoned` where it failed.
        """
        frame = _frame(self._number + 1, body)
        if self._disk.free_bytes() < len(frame):
            raise StoreFull("no room for the group; make room and writes go on")
        try:
            self._disk.append(self._name, frame)
            self._disk.sync(self._name)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                self._out_of_room = True
                raise OutcomeUnknown(
                    "the disk filled up during a commit, so it is not known whether it happened: "
                    f"{error}"
                ) from error
            self._poison = f"a commit failed ({error}); open the store again"
            raise StorePoisoned(self._poison) from error
        except BaseException:
            self._poison = "a commit was interrupted; open the store again"
            raise
        self._number += 1
        self._counts["syncs"] += 1

    # --- opening -----------------------------------------------------------------------------

    def _recover(self) -> Store:
        """The state of the newest log, written into a new one."""
        try:
            frames, newest = self._newest()
            shown = open_store("memory:")
            for number, body in frames:
                self._number = number
                shown.transact((b"",), lambda transaction, body=body: _replay(transaction, body))  # type: ignore[misc]  # bound here, for this turn
            self._rewrite(shown, newest + 1)
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise StoreFull(f"no room to open the store: {error}") from error
            raise StorageFailure(f"the store could not be opened: {error}") from error
        self._generations.append(shown)
        return shown

    def _newest(self) -> tuple[list[tuple[int, bytes]], int]:
        """The frames of the newest log and the number of the newest file. Raises `StoreDamaged`."""
        logs = [name for name in self._disk.names() if name.endswith(_LOG)]
        if not logs:
            return [], 0
        content = self._disk.read(logs[-1])
        frames, end = _frames(content)
        if not frames:
            raise StoreDamaged("the log is damaged where it begins")
        if end < len(content):
            self._counts["repaired"] += 1
        return frames, int(logs[-1].removesuffix(_LOG))

    def _rewrite(self, shown: Store, newest: int) -> None:
        """Begin this opening's log with the whole state, then remove the older logs."""
        disk, former = self._disk, self._disk.names()
        everything = WriteSet()
        everything.entries.update(shown.snapshot().scan(b"", b"\xff" * 32))
        # The log gets its name when it is whole, so a log with a broken beginning is damaged.
        disk.create(_UNFINISHED)
        disk.append(_UNFINISHED, _frame(self._number, _body(everything)))
        disk.sync(_UNFINISHED)
        self._name = f"{newest:08d}{_LOG}"
        disk.rename(_UNFINISHED, self._name)
        disk.sync_directory()
        for name in former:
            if name != _UNFINISHED:
                disk.remove(name)

    # --- statistics and closing ------------------------------------------------------------------

    def statistics(self) -> dict[str, int]:
        """`groups`, `writes`, `syncs`, `bytes` written, torn tails `repaired`, `reopenings`.

        And `number`, of the last group in the log since it was first begun.
        """
        self.snapshot()  # raises where the store is closed
        return {**self._counts, "number": self._number}

    @property
    def writable(self) -> bool:
        """False once the store is poisoned or closed; True on a full disk."""
        return self._poison is None and not self._closed

    def distrust(self, reason: str) -> None:
        """Refuse every later write."""
        if self._poison is None:
            self._poison = f"damage was found in the store ({reason})"

    def close(self) -> None:
        """Release the disk, without a sync."""
        with self._writing:
            self._closed = True
            for shown in self._generations:
                shown.close()

    def pairs(self) -> Iterator[tuple[bytes, bytes]]:
        """Every pair that readers see, in key order."""
        return self.snapshot().scan(b"", b"\xff" * 32)
