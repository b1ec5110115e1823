"""A store in memory that promises no more than a distributed database does.

The embedded drivers give more than the contract promises (`storage/interface.py`): one process,
snapshots that show all shards at one moment, groups that are committed as a whole. Code that relies
on these properties would work on the embedded drivers only. This store has none of these
properties:

* Several handles, which stand for processes, work on one `StrictSpace`. `shared` is true.
* A write is a transaction of its own. Members of a group commit one after the other, and readers
  may see some of them. A write whose prefixes are those of two shards is refused.
* Transactions are optimistic: the body runs on the state in which it began. If another handle has
  changed its shard meanwhile, the body runs again; by chance it runs again without such a change as
  well.
* A write names whole partition keys and no longer prefixes: where it names a prefix that begins the
  prefix of another shard of rows, it is refused, except for whole tables (`keys/layout.py`,
  `revision_key`).
* The keys of `Write.reads` are read as they are at that moment, and do not make a transaction
  repeat.
* A snapshot shows each shard at a moment of its own, at or after the one at which it was taken. A
  shard stays as it is once the snapshot has read something in it.
* By chance a commit ends with `OutcomeUnknown`: it was made, or it was not.

All chance comes from the entropy that a handle is given: a run of one thread repeats exactly.
`delete_range` is allowed, and costs as much as the keys it removes. Old versions are never removed,
so tests must be of bounded length.

    space = StrictSpace()
    one = StrictStore(space, FakeEntropy(1), conflicts=0.2, unknown=0.05)
    other = StrictStore(space, FakeEntropy(2))
"""

import threading
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from tests.support.space import MovingView, Space, SpaceView
from tests.support.weather import happens

from widerow.clock import Entropy
from widerow.errors import OutcomeUnknown, StorageFailure, StorePoisoned
from widerow.keys.layout import (
    ROW_PREFIX_BYTES,
    SPACE_INTENTS,
    SPACE_LOCAL_INDEXES,
    SPACE_ROWS,
    SPACE_SEQUENCES,
    SPACE_TRANSACTIONS,
)
from widerow.storage.group import succeeded
from widerow.storage.interface import Capabilities, Outcome, Store, Write
from widerow.storage.pending import PendingTransaction, WriteSet

__all__ = ["StrictSpace", "StrictStore"]

T = TypeVar("T")

_ROWS: Final = (SPACE_ROWS, SPACE_SEQUENCES, SPACE_LOCAL_INDEXES, SPACE_INTENTS, SPACE_TRANSACTIONS)


class StrictSpace(Space):
    """The data that all handles share, and the shards of rows that writes named."""

    def __init__(self) -> None:
        """An empty space."""
        super().__init__()
        self._named: list[bytes] = []  # in order, and none of them begins with another one

    def name(self, shards: tuple[bytes, ...]) -> None:
        """Note shards.

        Raises `ValueError` where a shard of rows contains one that was noted before.
        """
        for shard in shards:
            named = shard[1:]
            if shard[:1] not in _ROWS or len(shard) <= ROW_PREFIX_BYTES:
                continue
            at = bisect_left(self._named, named)
            beside = self._named[max(0, at - 1) : at + 1]
            if named in beside:
                continue
            for other in beside:
                if named.startswith(other) or other.startswith(named):
                    raise ValueError(f"no whole partition key: {shard.hex()}, beside {other.hex()}")
            self._named.insert(at, named)


class _Base(SpaceView):
    """Reads of a body: its shard as it was when the body began, other keys as they are now."""

    def __init__(self, store: "StrictStore", since: int, shards: tuple[bytes, ...]) -> None:
        super().__init__(store, since)
        self._shards = shards

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        if key.startswith(self._shards):
            return super().get(key)
        with self._space.lock:
            return self._space.value(key, lambda _: True)


class StrictStore(Store):
    """One process's handle on a space, which promises only what the module says."""

    capabilities = Capabilities(
        atomic_across_shards=False,
        reads_may_block=False,
        persistent=False,
        checkpoints=False,
        shared=True,
    )

    def __init__(
        self,
        space: StrictSpace,
        entropy: Entropy,
        *,
        conflicts: float = 0.0,
        unknown: float = 0.0,
    ) -> None:
        """A handle on `space`.

        `conflicts`: the share of bodies that run again without a reason, from 0 to below 1.
        `unknown`: the share of commits with an unknown outcome, from 0 to 1.

        Raises: `ValueError` for other rates.
        """
        if not 0 <= conflicts < 1 or not 0 <= unknown <= 1:
            raise ValueError(f"rates lie between 0 and 1: conflicts {conflicts}, unknown {unknown}")
        self.space = space
        self.before_commit: Callable[[], None] | None = None
        """Called between a body and its commit: where a test lets other handles do something."""
        self._entropy = entropy
        self._conflicts = conflicts
        self._unknown = unknown
        self._writing = threading.Lock()
        self._poison: str | None = None
        self._closed = False
        self._counts = dict.fromkeys(("groups", "writes", "bytes", "conflicts", "unknown"), 0)

    def snapshot(self) -> MovingView:
        """A view of each shard at a moment of its own, now or later."""
        self.check_open()
        return MovingView(self, self.space.newest)

    def _run_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        """Run and commit each write by itself, in order."""
        self.check_open()
        if self._poison is not None:
            raise StorePoisoned(self._poison)
        outcomes = [self._run(write) for write in writes]
        self._counts["groups"] += 1
        self._counts["writes"] += succeeded(outcomes)
        return outcomes

    def _run(self, write: Write[T]) -> Outcome[T]:
        """Run a write until no other commit came between its body and its commit."""
        if not self._is_one_shard(write.shards):
            told = ", ".join(shard.hex() for shard in write.shards)
            return Outcome(
                None,
                ValueError(f"this store commits one shard at a time; the write names {told}"),
            )
        try:
            self.space.name(write.shards)
        except ValueError as error:
            return Outcome(None, error)
        while True:
            since = self.space.newest
            changes = WriteSet()
            outcome = self._attempt(write, _Base(self, since, write.shards), changes)
            if self.before_commit is not None:
                self.before_commit()
            with self.space.lock:
                if self.chance(self._conflicts) or self._is_overtaken(write.shards, since):
                    self._counts["conflicts"] += 1
                    continue
                return self._commit(write.shards, changes) or outcome

    def _attempt(self, write: Write[T], base: _Base, changes: WriteSet) -> Outcome[T]:
        transaction = PendingTransaction(
            base, changes, write.shards, write.reads, self.capabilities.key_bytes_max
        )
        try:
            return Outcome(write.run(transaction), None)
        except Exception as error:  # noqa: BLE001  # any error of a body is its outcome
            transaction.take_back()
            return Outcome(None, error)
        finally:
            transaction.finish()

    def _is_one_shard(self, shards: tuple[bytes, ...]) -> bool:
        """Whether the prefixes differ at most in their first byte."""
        return len({shard[1:] for shard in shards}) <= 1

    def _is_overtaken(self, shards: tuple[bytes, ...], since: int) -> bool:
        """Whether another handle committed in the shard after the body began."""
        return any(
            one.startswith(other) or other.startswith(one)
            for later in self.space.commits[since + 1 :]
            for one in later
            for other in shards
        )

    def _commit(self, shards: tuple[bytes, ...], changes: WriteSet) -> Outcome[T] | None:
        """Commit a change, or raise `OutcomeUnknown` with the change made or not."""
        if not changes:
            return None
        open_end = self.chance(self._unknown)
        if not open_end or self.chance(0.5):
            self._counts["bytes"] += self.space.add(shards, changes)
        if not open_end:
            return None
        self._counts["unknown"] += 1
        return Outcome(
            None, OutcomeUnknown("no answer to a commit: read what it wrote before repeating it")
        )

    def chance(self, rate: float) -> bool:
        """True in `rate` of all cases."""
        return happens(self._entropy, rate)

    def check_open(self) -> None:
        """Raise `StorageFailure` once the handle is closed."""
        if self._closed:
            raise StorageFailure("the store is closed")

    def statistics(self) -> dict[str, int]:
        """Of this handle: `groups`, `writes`, `syncs` (always 0) and `bytes` written.

        Also `conflicts`: bodies that were run again; `unknown`: outcomes that were left open.
        """
        self.check_open()
        return {**self._counts, "syncs": 0}

    @property
    def writable(self) -> bool:
        """False once the handle is closed or distrusted."""
        return not self._closed and self._poison is None

    def distrust(self, reason: str) -> None:
        """Refuse every later write of this handle."""
        if self._poison is None:
            self._poison = f"damage was found in the store ({reason})"

    def close(self) -> None:
        """End this handle; the space stays for the others."""
        with self._writing:
            self._closed = True
