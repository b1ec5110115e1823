"""Data in memory as several processes share it, and views that show each shard at its own moment.

The base of `strict.py` and `remote.py`: every version of every key, the commits that made them, and
readers that see some of these commits. All chance comes from the handle that reads.
"""

import threading
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import Final, Protocol

from sortedcontainers import SortedDict

from widerow.keys.encode import after_prefix
from widerow.storage.pending import WriteSet

__all__ = ["Handle", "MovingView", "Space", "SpaceView"]

_PAGE_KEYS: Final = 16  # read at once by a scan; keys behind them may still change
_LAST: Final = b"\xff" * 64  # greater than every key of a test
_MOVES: Final = 0.5  # the chance that a view takes up a commit that it may show


class Handle(Protocol):
    """One process's access to a space, as its views use it."""

    @property
    def space(self) -> "Space":
        """The space that the process works on."""
        ...

    def chance(self, rate: float) -> bool:
        """True in `rate` of all cases."""
        ...

    def check_open(self) -> None:
        """Raise `StorageFailure` once the handle is closed."""
        ...


class Space:
    """The data that all handles share: all versions of all keys, and the shards of each commit."""

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

    def keys(self, start: bytes, stop: bytes) -> list[bytes]:
        """Every key of a range that ever had a value."""
        return list(self.chains.irange(start, stop, inclusive=(True, False)))

    def add(self, shards: tuple[bytes, ...], changes: WriteSet) -> int:
        """Commit the changes of a body; returns the bytes added."""
        number = len(self.commits)
        written: dict[bytes, bytes | None] = {}
        for start, stop in zip(changes.starts, changes.stops, strict=True):
            written |= dict.fromkeys(self.keys(start, stop))
        written |= changes.entries
        self.commits.append(shards)
        for key, value in written.items():
            self.chains.setdefault(key, []).append((number, value))
        return sum(len(key) + len(value) for key, value in written.items() if value is not None)


class SpaceView:
    """Reads of a space: of the commits that `_sees` allows; each read calls `_reading` first."""

    def __init__(self, handle: Handle, since: int) -> None:
        """What was committed up to `since`."""
        self._handle = handle
        self._space = handle.space
        self._since = since

    def _sees(self, commit: int) -> bool:
        return commit <= self._since

    def _reading(self, start: bytes, stop: bytes) -> None:
        """Called before keys from `start` up to `stop` are read."""

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        self._handle.check_open()
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
            self._handle.check_open()
            pairs, reached = self.page(start, stop, _PAGE_KEYS, reverse=reverse)
            yield from pairs
            if reverse:
                stop = reached
            else:
                start = reached

    def page(
        self, start: bytes, stop: bytes, keys_max: int, *, reverse: bool
    ) -> tuple[list[tuple[bytes, bytes]], bytes]:
        """The pairs among the next keys, and where the page ends."""
        with self._space.lock:
            within = self._space.chains.irange(
                start, stop, inclusive=(True, False), reverse=reverse
            )
            keys = list(islice(within, keys_max))
            full = len(keys) == keys_max
            if reverse:
                reached = keys[-1] if full else start
                self._reading(reached, stop)
            else:
                reached = keys[-1] + b"\x00" if full else stop
                self._reading(start, reached)
            values = [(key, self._space.value(key, self._sees)) for key in keys]
            return [(key, value) for key, value in values if value is not None], reached


class MovingView(SpaceView):
    """A view that shows each shard at a moment of its own.

    Later commits are considered in order. A commit is taken up by chance, unless its shard was read
    before, or an earlier commit of its shard was not taken up.
    """

    def __init__(self, handle: Handle, since: int) -> None:
        """A view taken when `since` was the latest commit."""
        super().__init__(handle, since)
        self._looked_through = since
        self._taken_up: set[int] = set()
        # ranges that were read, and may not change any more
        self._fixed: list[tuple[bytes, bytes]] = []

    def _sees(self, commit: int) -> bool:
        return commit <= self._since or commit in self._taken_up

    def _reading(self, start: bytes, stop: bytes) -> None:
        for number in range(self._looked_through + 1, self._space.newest + 1):
            ranges = [(each, _end(each)) for each in self._space.commits[number]]
            if self._is_fixed(ranges) or not self._handle.chance(_MOVES):
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
        """Keep what is read unchanged. Pages of one scan become one range."""
        if self._fixed and self._fixed[-1][1] == start:
            self._fixed[-1] = (self._fixed[-1][0], stop)
        elif not any(low <= start and stop <= high for low, high in self._fixed):
            self._fixed.append((start, stop))


def _end(prefix: bytes) -> bytes:
    """The end of a prefix's keys."""
    return after_prefix(prefix) if prefix.strip(b"\xff") else _LAST
