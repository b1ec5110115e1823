"""The storage contract: ordered `bytes -> bytes`, shard-scoped transactions, durable on return.

Rules every driver keeps; `tests/conformance` proves them.

1.  Keys are ordered as unsigned bytes, shorter first. Keys and values belong to the caller and are
    never changed by the store.
2.  **The shard is the scope of a transaction.** A shard is a key prefix; the prefixes of one shard
    differ at most in their first byte, the space tag (rows, sequences, changes: `keys/layout.py`).
    A write names the prefixes its body may touch, each of them whole (`revision_key` there says
    which they are); a driver refuses any other key with `ValueError`, so that no code comes to rely
    on more than every engine underneath can give. Snapshots read anything.
3.  **Durable means synced.** When `transact` or `transact_group` returns a result, the change is on
    stable storage and survives the loss of the process and of power.
4.  **Readers see only synced data.** `snapshot()` gives the view after the last finished group.
    Data that is written and not yet synced is visible to the bodies of later writes only. Where
    `capabilities.atomic_across_shards` is false, a snapshot shows each shard at a moment of its
    own, at which it was current and which is not before the snapshot was taken. A shard stays as it
    is once the snapshot has read something in it. A snapshot that cannot keep this any more raises
    `ViewLost`, which is a `StoreBusy`.
5.  Bodies run one after another, in the order given, each against the result of those before it
    (serializable). A body is free of side effects: it may run more than once.
6.  A body that raises an `Exception` has written nothing; the others of its group are unaffected.
    Its error is in its `Outcome`. A `BaseException` that is not an `Exception` (an interrupt) is
    raised to the caller of the group.
7.  **A failed sync or commit poisons the store.** The failing call and every later write raise
    `StorePoisoned` until the store is opened again. Nothing is retried. Reads go on from the last
    published view.
8.  A full disk: a write raises `StoreFull` before anything is written; reads go on; writes succeed
    again when there is room. A driver that keeps a reserve leaves half of it to writes that give
    room back (`Write.frees`): of a group those are made, and the others have the error in their
    outcomes. If the disk becomes full during a commit, the outcome of that group is
    unknown (rule 13). Later writes raise `StoreFull` until there is room; the first write after
    that opens the engine again, and reads of older views then raise `StoreBusy`. A write to an
    engine that is stalled raises `StoreBusy`; nothing is written, and the caller may try again.
9.  One process at a time: a second opener gets `StoreLocked` at once.
10. Threads: any thread may take and read snapshots; writes may come from any thread and are run one
    group at a time.
11. A read of a block that does not match its checksum raises `StoreDamaged`; other reads go on.
    Code that finds damage, in a block or in the contents of a record, calls `distrust`. A store on
    disk then keeps a note of the damage, and is opened again only with `Acceptance.DAMAGED`.
12. **Single keys may be read outside the shards.** A write names them (`Write.reads`), its body may
    `get` them and change none of them; any other use is refused as in rule 2. The value is one that
    was current at some moment after the group began. Where `capabilities.atomic_across_shards`, it
    belongs to the view of rule 5: nothing changes it before the write is committed.
13. **An outcome may be unknown.** Where a driver can tell that it does not know whether a change
    happened, the call raises `OutcomeUnknown` for the whole group, or one write's `Outcome.error`
    is one. The store stays `writable`. When the body of a later write runs, it is decided: the
    change is there, whole, or it is not and never will be.
14. **Publication is part of the commit.** `transact_group` tells each write how it ended: before
    the call returns, before the next group starts, and on the thread that ran the group. It calls
    `settle`, with the result of `run`, for each write that is durable, and `doubt` for each write
    whose outcome is unknown (rule 13). It calls neither for a write whose body raised, nor for any
    write of a group that ends with another `StorageFailure`: then nothing was written, or nothing
    will be written until the store is opened again. An interrupt can come at any moment, so after
    an interrupt `doubt` is called for all writes of the group.
15. **Changes by other processes.** If `capabilities.shared` is true, other processes may change the
    store at any time, and code that keeps read data in memory needs a way to notice such a change.
    If it is false, all changes go through this object, and rule 14 tells of all of them.
16. **Where data is kept.** A store over a database that divides its data into ranges has a
    `placement` (`storage/placement.py`), which tells them and changes them. No other rule depends
    on it: a range is divided where no shard is cut, and reads and writes go on meanwhile, though
    some may wait or end with `StoreBusy`.
17. **A key may be too long.** Where a body puts a key above `capabilities.key_bytes_max`, `put`
    raises `InvalidRequest` (STORED_KEY_LENGTH), so rule 6 holds: no other write is concerned.
18. **Writes may be late.** Where a store is divided, `transact_promptly` does not wait for a part
    that is slow: the group ends without its writes. They go on, alone in their shards and in the
    order of their groups, and are told how they ended (rule 14) between two groups, on any thread.
    `transact_group` begins when all of them have ended.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Protocol, Self, TypeVar

from widerow.errors import OutcomeUnknown, StorageFailure
from widerow.limits import INT64_MAX
from widerow.storage.group import Outcome, Write, conclude, doubt
from widerow.storage.late import LateWrites
from widerow.storage.page import Page, PageWanted, first_page
from widerow.storage.placement import DataPlacement
from widerow.storage.server_state import ServerState
from widerow.storage.sockets import LoopReads, Sockets

__all__ = ["Body", "Capabilities", "Outcome", "Reader", "Snapshot", "Store", "Transaction", "Write"]

T = TypeVar("T")


class Reader(Protocol):
    """The reads that both a snapshot and a transaction offer."""

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        ...

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent; one round trip if remote."""
        ...

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Pairs with start ≤ key < stop, ascending, or descending when `reverse`.

        Lazy: memory stays bounded however large the range is. Empty when start ≥ stop. A
        transaction's scan must not be advanced after the transaction wrote inside its range.
        """
        ...


class Snapshot(Reader, Protocol):
    """A view that does not move. Cheap to take; hold it for one request, not for hours."""


class Transaction(Reader, Protocol):
    """Reads and writes of one body. Sees its own writes. Dead after the body returned."""

    def put(self, key: bytes, value: bytes) -> None:
        """Set `key` to `value`."""
        ...

    def delete(self, key: bytes) -> None:
        """Remove `key`; absent keys are fine."""
        ...

    def delete_range(self, start: bytes, stop: bytes) -> None:
        """Remove every key with start ≤ key < stop; cost does not grow with their number.

        Both bounds lie in one shard; `stop` may be that shard's end (its prefix incremented).
        """
        ...


Body = Callable[[Transaction], T]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a driver can do beyond the contract, and what callers must know of it.

    `atomic_across_shards`: a write of several shards happens as a whole, and a snapshot is one
    moment of all shards. `reads_may_block`: they wait for a network. `persistent`: data survives
    the process. `checkpoints`: it makes copies of itself. `shared`: other processes may change the
    store at any time (rule 15). `key_bytes_max`: the length of the longest key that it holds (rule
    17). `one_moment`: a snapshot is one moment of all shards, for as long as it is held, although
    writes reach one shard; it is so anyway where `atomic_across_shards`.
    """

    atomic_across_shards: bool
    reads_may_block: bool
    persistent: bool
    checkpoints: bool
    shared: bool
    key_bytes_max: int = INT64_MAX
    one_moment: bool = False

    @property
    def shows_one_moment(self) -> bool:
        """Whether all that a snapshot shows is of one moment."""
        return self.atomic_across_shards or self.one_moment


class Store(ABC):
    """An open store. See the module's rules; drivers add nothing to this surface.

    A driver defines `_writing` and `_run_group`; it does not call `settle` or `doubt` itself.
    """

    capabilities: Capabilities

    placement: DataPlacement | None = None
    """What divides the data among servers; None where nothing does (rule 16)."""

    put_off: str = ""
    """What could not be checked when the store was opened, and is later, for people."""

    durable_ns: int = 0
    """Nanoseconds that the last group waited for its disk, or for other machines, until it was
    durable; 0 where nothing is waited for. It says whether groups should share such waits."""

    _writing: AbstractContextManager[Any]
    """The driver's lock: held while a group runs and while its writes are told how they ended."""

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """The published view: everything synced when the last group finished."""

    def brief_snapshot(self, rows: int = 0) -> Snapshot:  # noqa: ARG002  # for pages of a network
        """A snapshot for one read, or a few in a row: where reads may block, it costs less.

        Its second read, or a later one, may raise `ViewLost`, because something that it has read
        was changed. Reading all of it again from another one succeeds (`BRIEF_READS_MAX` attempts).
        `rows`: how many a scan will probably give, which are then read together; 0: not known.
        """
        return self.snapshot()

    def get_together(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, each shard at a moment of its own; one round trip.

        For keys that several requests ask for. Where some of the keys are away for a moment, raises
        `StoreBusy` at once, so that no request waits for the keys of another one.
        """
        return self.snapshot().get_many(keys)

    def server_of(self, key: bytes) -> str:  # noqa: ARG002  # for divided stores only
        """The server of a divided store that has a key, as far as is known; asks nobody.

        What is read of several servers together waits for the slowest.
        """
        return ""

    def loop_reads(self, sockets: Sockets) -> LoopReads | None:  # noqa: ARG002  # for some only
        """Reads like `get_together`, on a loop without a thread; None if the driver has none."""
        return None

    def get_pages_together(self, wanted: Sequence[PageWanted]) -> list[Page]:
        """A page for each of these, of its own moment; about one round trip.

        For ranges that several requests ask for, as `get_together`.
        """
        reader = self.snapshot()
        return [first_page(reader.scan, each) for each in wanted]

    def transact_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        """Run the bodies in order, commit them as one batch with one sync, return the outcomes.

        Before it returns, each write was told how it ended (rule 14).

        Raises: `StorePoisoned`, `StoreFull`, `StoreBusy`, `OutcomeUnknown` for the group as a
        whole.
        Cost: the bodies, plus one sync however many there are; no sync when nothing was written.
        """
        with self._writing:
            try:
                outcomes = self._run_group(writes)
                conclude(writes, outcomes)
            except BaseException as error:
                if isinstance(error, OutcomeUnknown) or not isinstance(error, StorageFailure):
                    doubt(writes)
                raise
        return outcomes

    def transact_promptly(
        self, writes: Sequence[Write[T]]
    ) -> tuple[list[Outcome[T]], Sequence[LateWrites]]:
        """What `transact_group` does, without waiting for a part of a divided store that is slow.

        The writes of such a part are late (rule 18); their outcomes mean nothing.
        """
        return self.transact_group(writes), ()

    @abstractmethod
    def _run_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        """The driver's part of `transact_group`, which holds `_writing` meanwhile.

        It returns when the group is durable and readers see it. It calls neither `settle` nor
        `doubt`.
        """

    def transact(self, shards: Sequence[bytes], body: Body[T]) -> T:
        """Run one body; return its result when it is durable, or raise what it raised."""
        outcome = self.transact_group([Write(tuple(shards), body)])[0]
        if outcome.error is not None:
            raise outcome.error
        return outcome.result  # type: ignore[return-value]  # no error means there is a result

    @abstractmethod
    def statistics(self) -> dict[str, int]:
        """Numbers by name, all since opening or now; more than these where a driver has them.

        `groups` run, `writes` whose bodies did not raise, `syncs` made, `bytes` of data (about), or
        `written_bytes` of this process where a database has the data.
        """

    def server_states(self) -> Sequence[ServerState]:
        """The servers of a divided store that were asked so far."""
        return ()

    @property
    def full(self) -> str:
        """Why writes are refused until there is room (rule 8); "" while they are taken.

        It is told to anybody, so it names no place.
        """
        return ""

    @property
    @abstractmethod
    def writable(self) -> bool:
        """False once the store is poisoned for good or closed (rules 7 and 8)."""

    @property
    def may_still_commit(self) -> bool:
        """Whether a commit of a group that has ended may still be made (rule 13).

        At most `TRANSACTION_SECONDS_MAX` after that group.
        """
        return False

    @abstractmethod
    def distrust(self, reason: str) -> None:
        """Take no more writes: what was read is not what was written (rule 11).

        Any thread may call it; a group that is running may still end. Later writes raise
        `StorePoisoned`, reads go on. The call does nothing if the store was opened with
        `Acceptance.DAMAGED`, or if it takes no writes already.
        """

    def checkpoint(self, directory: Path) -> None:
        """Write a consistent copy into `directory`, which must not exist, while writes go on.

        Raises: `NotImplementedError` where `capabilities.checkpoints` is false.
        """
        raise NotImplementedError(f"{type(self).__name__} makes no checkpoints ({directory})")

    @abstractmethod
    def close(self) -> None:
        """Release files and locks. Idempotent. Later calls raise `StorageFailure`."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
