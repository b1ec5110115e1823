"""A store in memory that promises no more than a distributed database does.

The embedded drivers give more than the contract promises (`storage/interface.py`): one process,
snapshots that show all shards at one moment, groups that are committed as a whole. Code that relies
on these properties would work on the embedded drivers only. This store does not have them:

* Several handles, which stand for processes, work on one `StrictSpace`. `shared` is true.
* A write is a transaction of its own. Members of a group commit one after the other, and readers
  may see some of them. A write whose prefixes are those of two shards is refused.
* Transactions are optimistic: the body runs on the state in which it began. If another handle has
  changed its shard meanwhile, the body runs again; by chance it does so without a reason as well.
* What `Write.reads` names is read as it is at that moment, and does not make a transaction repeat.
* A snapshot shows each shard at a moment of its own, at or after the one at which it was taken.
  A shard stays as it is once the snapshot has read something in it.
* By chance it is not known whether a commit happened (`OutcomeUnknown`): it did, or it did not.

All chance comes from the entropy that a handle is given: a run of one thread repeats exactly.
`delete_range` is allowed, and costs as much as the keys it removes. Nothing is ever thrown away, so
this is for tests of bounded length.

    space = StrictSpace()
    one = StrictStore(space, FakeEntropy(1), conflicts=0.2, unknown=0.05)
    other = StrictStore(space, FakeEntropy(2))
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

from sortedcontainers import SortedDict

from widerow.clock import Entropy
from widerow.errors import OutcomeUnknown, StorageFailure, StorePoisoned
from widerow.keys.encode import after_prefix
from widerow.storage.group import succeeded
from widerow.storage.interface import Capabilities, Outcome, Store, Write
from widerow.storage.pending import PendingTransaction, WriteSet

__all__ = ["StrictSpace", "StrictStore"]

T = TypeVar("T")

_PAGE_KEYS: Final = 16  # read at once by a scan; keys behind them may still change
_LAST: Final = b"\xff" * 64  # above every key of a test
_MOVES: Final = 0.5  # the chance that a snapshot takes up a change that it may show


class StrictSpace:
    """The data that all handles share: every version of every key, the shards of every commit."""

    def __init__(self) -> None:
        """An empty space."""
        self.lock = threading.RLock()
        self.chains: SortedDict = SortedDict()  # key -> [(commit, value or None)], oldest first
        self.commits: list[tuple[bytes, ...]] = [()]  # the shard of each commit, by its number

    @property
    def newest(self) -> int:
        """The number of the latest commit; 0 before the first."""
        return len(self.commits) - 1

    def value(self, key: bytes, sees: Callable[[int], bool]) -> bytes | None:
        """The newest value of a key among the commits that a view sees."""
        found: bytes | None = None
        for commit, value in self.chains.get(key, ()):
            if sees(commit):
                found = value
        return found

    def add(self, shards: tuple[bytes, ...], changes: WriteSet) -> int:
        """Commit what a body wrote; how many bytes it added."""
        number = len(self.commits)
        written: dict[bytes, bytes | None] = {}
        for start, stop in zip(changes.starts, changes.stops, strict=True):
            written |= dict.fromkeys(self.chains.irange(start, stop, inclusive=(True, False)))
        written |= changes.entries
        self.commits.append(shards)
        for key, value in written.items():
            self.chains.setdefault(key, []).append((number, value))
        return sum(len(key) + len(value) for key, value in written.items() if value is not None)


class _View:
    """Reads of a space as far as `_sees` lets them; `_reading` hears of each before it happens."""

    def __init__(self, store: "StrictStore", since: int) -> None:
        self._store = store
        self._space = store.space
        self._since = since

    def _sees(self, commit: int) -> bool:
        return commit <= self._since

    def _reading(self, start: bytes, stop: bytes) -> None:
        """Keys from `start` up to `stop` are going to be read."""

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        self._store.check_open()
        with self._space.lock:
            self._reading(key, key + b"\x00")
            return self._space.value(key, self._sees)

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent."""
        return [self.get(key) for key in keys]

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Pairs with start ≤ key < stop, a few keys at a time."""
        while start < stop:
            self._store.check_open()
            pairs, reached = self._page(start, stop, reverse=reverse)
            yield from pairs
            if reverse:
                stop = reached
            else:
                start = reached

    def _page(
        self, start: bytes, stop: bytes, *, reverse: bool
    ) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """The pairs among the next keys, and how far they reach."""
        with self._space.lock:
            within = self._space.chains.irange(
                start, stop, inclusive=(True, False), reverse=reverse
            )
            keys = list(islice(within, _PAGE_KEYS))
            full = len(keys) == _PAGE_KEYS
            if reverse:
                reached = keys[-1] if full else start
                self._reading(reached, stop)
            else:
                reached = keys[-1] + b"\x00" if full else stop
                self._reading(start, reached)
            values = [(key, self._space.value(key, self._sees)) for key in keys]
            return [(key, value) for key, value in values if value is not None], reached


class _Base(_View):
    """What a body reads: its shard as it was when the body began, other keys as they are now."""

    def __init__(self, store: "StrictStore", since: int, shards: tuple[bytes, ...]) -> None:
        super().__init__(store, since)
        self._shards = shards

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        if key.startswith(self._shards):
            return super().get(key)
        with self._space.lock:
            return self._space.value(key, lambda _: True)


class _Snapshot(_View):
    """Each shard at a moment of its own.

    Later commits are looked through in their order. One is taken up, by chance, unless its shard
    was read before, or one before it in the same shard was not taken up.
    """

    def __init__(self, store: "StrictStore", since: int) -> None:
        super().__init__(store, since)
        self._looked_through = since
        self._taken_up: set[int] = set()
        self._fixed: list[tuple[bytes, bytes]] = []  # ranges that may not change any more

    def _sees(self, commit: int) -> bool:
        return commit <= self._since or commit in self._taken_up

    def _reading(self, start: bytes, stop: bytes) -> None:
        for number in range(self._looked_through + 1, self._space.newest + 1):
            ranges = [(each, _end(each)) for each in self._space.commits[number]]
            if self._is_fixed(ranges) or not self._store.chance(_MOVES):
                self._fixed += ranges
            else:
                self._taken_up.add(number)
        self._looked_through = self._space.newest
        self._fix(start, stop)

    def _is_fixed(self, ranges: list[tuple[bytes, bytes]]) -> bool:
        return any(
            start < fixed_stop and fixed_start < stop
            for start, stop in ranges
            for fixed_start, fixed_stop in self._fixed
        )

    def _fix(self, start: bytes, stop: bytes) -> None:
        """Let what is read stay. Pages of one scan become one range."""
        if self._fixed and self._fixed[-1][1] == start:
            self._fixed[-1] = (self._fixed[-1][0], stop)
        elif not any(low <= start and stop <= high for low, high in self._fixed):
            self._fixed.append((start, stop))


class StrictStore(Store):
    """One process's handle on a space. See the module."""

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

        `conflicts`: how often a body is run again without a reason, from 0 up to, not including, 1.
        `unknown`: how often it is not known whether a change happened, from 0 to 1.

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

    def snapshot(self) -> _Snapshot:
        """A view of each shard at a moment of its own, now or later."""
        self.check_open()
        return _Snapshot(self, self.space.newest)

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
        """Run a write until nothing came between its body and its commit."""
        if not self._is_one_shard(write.shards):
            told = ", ".join(shard.hex() for shard in write.shards)
            return Outcome(
                None,
                ValueError(f"this store commits one shard at a time; the write names {told}"),
            )
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
        transaction = PendingTransaction(base, changes, write.shards, write.reads)
        try:
            return Outcome(write.run(transaction), None)
        except Exception as error:  # noqa: BLE001  # whatever a body raises is its own outcome
            transaction.take_back()
            return Outcome(None, error)
        finally:
            transaction.finish()

    def _is_one_shard(self, shards: tuple[bytes, ...]) -> bool:
        """Whether the prefixes differ at most in their first byte."""
        return len({shard[1:] for shard in shards}) <= 1

    def _is_overtaken(self, shards: tuple[bytes, ...], since: int) -> bool:
        """Whether somebody committed in the shard after the body began."""
        return any(
            one.startswith(other) or other.startswith(one)
            for later in self.space.commits[since + 1 :]
            for one in later
            for other in shards
        )

    def _commit(self, shards: tuple[bytes, ...], changes: WriteSet) -> Outcome[T] | None:
        """Make a change, or leave open whether it was made, and say so."""
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
        if not 0 < rate < 1:
            return rate >= 1
        return int.from_bytes(self._entropy.token_bytes(4), "big") < rate * 2**32

    def check_open(self) -> None:
        """Raise `StorageFailure` once the handle is closed."""
        if self._closed:
            raise StorageFailure("the store is closed")

    def statistics(self) -> dict[str, int]:
        """Of this handle: `groups`, `writes`, `syncs` (always 0), `bytes` written.

        And `conflicts`: bodies that were run again; `unknown`: outcomes that were left open.
        """
        self.check_open()
        return {**self._counts, "syncs": 0}

    @property
    def writable(self) -> bool:
        """False once the handle is closed or distrusted."""
        return not self._closed and self._poison is None

    def distrust(self, reason: str) -> None:
        """Take no more writes through this handle."""
        if self._poison is None:
            self._poison = f"damage was found in the store ({reason})"

    def close(self) -> None:
        """End this handle; the space stays for the others."""
        with self._writing:
            self._closed = True


def _end(prefix: bytes) -> bytes:
    """The end of a prefix's keys."""
    return after_prefix(prefix) if prefix.strip(b"\xff") else _LAST
