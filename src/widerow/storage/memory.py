"""The reference driver: the whole contract in one short file, in memory.

Every key has a chain of versions, oldest first: `(sequence, value)`, or `(sequence, None)` where it
was deleted. A group that writes gets the next sequence number. A snapshot is a number: of each
chain it sees the last version that is not newer. Versions that no living snapshot can see are
dropped when the next group commits.

One lock guards everything; it is held for one operation or one page of a scan, never while a body
or a caller of `scan` runs. Two differences from an engine on disk, both declared: nothing survives
the process, so nothing is synced (`syncs` stays 0), and a committed `delete_range` costs as much as
the keys it removes.
"""

import threading
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

from sortedcontainers import SortedDict

from widerow.errors import StorageFailure, StorePoisoned
from widerow.storage.group import succeeded
from widerow.storage.interface import Capabilities, Outcome, Store, Write
from widerow.storage.pending import WriteSet, run_bodies

__all__ = ["MemoryStore"]

T = TypeVar("T")

_PAGE_KEYS_FIRST: Final = 16  # most scans want few rows; each further page doubles
_PAGE_KEYS_MAX: Final = 512  # keys looked at before the lock is let go


class _Data:
    """The chains and their lock, shared by the store and its snapshots."""

    __slots__ = ("chains", "closed", "lock")

    def __init__(self) -> None:
        self.chains: SortedDict = SortedDict()
        self.lock = threading.Lock()
        self.closed = False

    def check_open(self) -> None:
        if self.closed:
            raise StorageFailure("the store is closed")


def _visible(chain: list[tuple[int, bytes | None]], sequence: int) -> bytes | None:
    """The value that a snapshot of `sequence` sees in a chain."""
    for written, value in reversed(chain):
        if written <= sequence:
            return value
    return None


class _MemorySnapshot:
    """The view after one group."""

    __slots__ = ("__weakref__", "_data", "sequence")

    def __init__(self, data: _Data, sequence: int) -> None:
        self._data = data
        self.sequence = sequence

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        return self.get_many((key,))[0]

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent."""
        data, sequence = self._data, self.sequence
        with data.lock:
            data.check_open()
            return [_visible(data.chains.get(key, ()), sequence) for key in keys]

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Pairs with start ≤ key < stop, a page at a time."""
        keys_max = _PAGE_KEYS_FIRST
        while start < stop:
            keys, values = self._page(start, stop, keys_max, reverse=reverse)
            for key, value in zip(keys, values, strict=True):
                if value is not None:
                    yield key, value
            if len(keys) < keys_max:
                return
            if reverse:
                stop = keys[-1]
            else:
                start = keys[-1] + b"\x00"
            keys_max = min(2 * keys_max, _PAGE_KEYS_MAX)

    def _page(
        self, start: bytes, stop: bytes, keys_max: int, *, reverse: bool
    ) -> tuple[list[bytes], list[bytes | None]]:
        """The next keys of a range, and the values that this view sees under them."""
        data, sequence = self._data, self.sequence
        with data.lock:
            data.check_open()
            within = data.chains.irange(start, stop, inclusive=(True, False), reverse=reverse)
            keys = list(islice(within, keys_max))
            return keys, [_visible(data.chains[key], sequence) for key in keys]


class MemoryStore(Store):
    """A store that lives as long as the process."""

    capabilities = Capabilities(
        atomic_across_shards=True,
        reads_may_block=False,
        persistent=False,
        checkpoints=False,
        shared=False,
    )

    def __init__(self) -> None:
        self._data = _Data()
        self._writing = threading.Lock()
        self._distrusted: str | None = None
        self._published = _MemorySnapshot(self._data, 0)
        # Views in the order they were published; the last is always alive.
        self._views = deque([weakref.ref(self._published)])
        # (sequence, key): from that view on, the key's older versions are of no use.
        self._superseded: deque[tuple[int, bytes]] = deque()
        self._counts = {"groups": 0, "writes": 0, "syncs": 0, "bytes": 0, "versions": 0}

    def snapshot(self) -> _MemorySnapshot:
        """The view after the last finished group."""
        self._data.check_open()
        return self._published

    def _run_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        """Run the bodies in order and make what they changed visible at once."""
        self._data.check_open()
        if self._distrusted is not None:
            raise StorePoisoned(self._distrusted)
        changes, outcomes = run_bodies(self._published, writes)
        with self._data.lock:
            if changes:
                self._commit(changes)
            self._counts["groups"] += 1
            self._counts["writes"] += succeeded(outcomes)
        return outcomes

    def _commit(self, changes: WriteSet) -> None:
        """Append the versions of the next sequence number, publish it, drop what nobody sees."""
        chains, sequence = self._data.chains, self._published.sequence + 1
        for start, stop in zip(changes.starts, changes.stops, strict=True):
            for key in list(chains.irange(start, stop, inclusive=(True, False))):
                self._append(key, sequence, None)
        for key, value in changes.entries.items():
            self._append(key, sequence, value)
        self._published = _MemorySnapshot(self._data, sequence)
        self._views.append(weakref.ref(self._published))
        self._trim()

    def _append(self, key: bytes, sequence: int, value: bytes | None) -> None:
        """Add a version to a key's chain, replacing one of the same group."""
        chain = self._data.chains.get(key)
        before = chain[-1][1] if chain else None
        self._counts["bytes"] += _size(key, value) - _size(key, before)
        if chain is None:
            if value is not None:
                self._data.chains[key] = [(sequence, value)]
                self._counts["versions"] += 1
            return
        if chain[-1][0] == sequence:
            chain[-1] = (sequence, value)
        else:
            chain.append((sequence, value))
            self._counts["versions"] += 1
        self._superseded.append((sequence, key))

    def _trim(self) -> None:
        """Drop versions older than every living view needs. Amortised: once for each version."""
        while (oldest := self._views[0]()) is None:
            self._views.popleft()
        chains, superseded = self._data.chains, self._superseded
        while superseded and superseded[0][0] <= oldest.sequence:
            sequence, key = superseded.popleft()
            chain = chains.get(key)
            if chain is None:
                continue
            while len(chain) > 1 and chain[1][0] <= sequence:
                del chain[0]
                self._counts["versions"] -= 1
            if len(chain) == 1 and chain[0][1] is None:
                del chains[key]
                self._counts["versions"] -= 1

    def statistics(self) -> dict[str, int]:
        """`groups`, `writes`, `syncs` (always 0), `bytes` of live data, `keys` and `versions`."""
        with self._data.lock:
            self._data.check_open()
            return {**self._counts, "keys": len(self._data.chains)}

    @property
    def writable(self) -> bool:
        """False once closed or distrusted; memory does not fail a sync."""
        return not self._data.closed and self._distrusted is None

    def distrust(self, reason: str) -> None:
        """Take no more writes."""
        if self._distrusted is None:
            self._distrusted = f"damage was found in the store ({reason})"

    def close(self) -> None:
        """Forget everything. Waits for the group that is running."""
        with self._writing, self._data.lock:
            self._data.closed = True
            self._data.chains.clear()


def _size(key: bytes, value: bytes | None) -> int:
    """Bytes that a key and its value count for; 0 for a pair that is absent."""
    return 0 if value is None else len(key) + len(value)
