"""Ranges of a space in memory, which are split, merged and moved as a database does it.

By chance, as often as a `Weather` says, a change is refused, finds the database busy, or is begun
without an answer; a change that was begun is made some calls later, or given up. Ranges move
between servers at any time, as by a database's own balancing.
"""

from bisect import bisect_right
from contextlib import AbstractContextManager
from typing import Final, NamedTuple, Protocol

from tests.support.weather import Weather

from widerow.errors import StorageFailure, StoreBusy
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    SPACE_CATALOG,
    SPACE_ROWS,
    SPACE_STORE,
    SPACE_TYPED_CATALOG,
    may_begin_range,
    revision_key,
)
from widerow.storage.placement import PlacedRange

__all__ = ["SERVERS", "MemoryPlacement", "RangeWay", "Ranges"]

SERVERS: Final = ("one", "two", "three")
_PORT: Final = 16020
_ENDS: Final = 0.5  # the chance that a begun change ends at this call
_MOVES: Final = 0.2  # the chance that a range moves when ranges are listed
_CATALOG_SPACES: Final = (SPACE_STORE, SPACE_CATALOG, SPACE_TYPED_CATALOG)


class _Change(NamedTuple):
    key: bytes
    is_split: bool


class Ranges:
    """The start of each range of rows, and the begun changes, of a whole space.

    `made`: every change that was made, in order: its key, and whether it was a split.
    """

    def __init__(self) -> None:
        """One range."""
        self.starts = [SPACE_ROWS]
        self.servers = {SPACE_ROWS: 0}
        self.under_way: dict[int, _Change] = {}
        self.failed: set[int] = set()
        self.made: list[tuple[bytes, bool]] = []
        self.numbers = 0

    def place(self, key: bytes) -> bytes:
        """The name of a key's range; the catalogue's is empty."""
        if key[:1] in _CATALOG_SPACES or key == revision_key(SPACE_STORE):
            return b""
        return self.starts[bisect_right(self.starts, SPACE_ROWS + key[1:]) - 1]

    def split(self, key: bytes) -> None:
        """Split a range at once, as an operator could."""
        if key not in self.starts:
            self.servers[key] = self.servers[self.place(key)]
            self.starts = sorted([*self.starts, key])

    def merge(self, key: bytes) -> None:
        """Merge two ranges at once, as an operator could."""
        if key in self.starts:
            self.starts.remove(key)
            del self.servers[key]


class RangeWay(Protocol):
    """What a placement needs of one process's driver."""

    is_reachable: bool
    weather: Weather

    def chance(self, rate: float) -> bool:
        """True in `rate` of all cases."""
        ...

    def trip(self) -> None:
        """Count a round trip. Raises `StorageFailure` once it is closed."""
        ...


class MemoryPlacement:
    """One process's placement of the ranges of a space.

    `weather`: of changes of ranges; None: the driver's weather.
    """

    def __init__(self, way: RangeWay, ranges: Ranges, lock: AbstractContextManager[bool]) -> None:
        """Those of a space, whose lock is given."""
        self._way = way
        self._ranges = ranges
        self._lock = lock
        self.weather: Weather | None = None

    def _chance(self, name: str) -> bool:
        return self._way.chance(getattr(self.weather or self._way.weather, name))

    def ranges(self) -> tuple[PlacedRange, ...]:
        """The ranges as they are now."""
        self._asked()
        found = self._ranges
        with self._lock:
            for start in found.starts:
                if self._way.chance(_MOVES):
                    found.servers[start] = (found.servers[start] + 1) % len(SERVERS)
            stops = [*found.starts[1:], after_prefix(SPACE_ROWS)]
            return tuple(
                PlacedRange(start, stop, SERVERS[found.servers[start]], _PORT)
                for start, stop in zip(found.starts, stops, strict=True)
            )

    def begin_split(self, key: bytes) -> int | None:
        """Begin to split the range that has `key`."""
        if not may_begin_range(key):
            raise ValueError(f"a range that begins at {key.hex()} could cut a shard")
        return self._begin(_Change(key, is_split=True))

    def begin_merge(self, key: bytes) -> int | None:
        """Begin to merge the ranges that meet at `key`."""
        if key == SPACE_ROWS:
            raise ValueError("the first range of rows is not merged with that of the catalogue")
        return self._begin(_Change(key, is_split=False))

    def has_ended(self, number: int) -> bool:
        """Whether a change has ended."""
        self._asked()
        if number in self._ranges.failed:
            raise StorageFailure("the change was given up")
        return number not in self._ranges.under_way

    def _begin(self, change: _Change) -> int | None:
        self._asked()
        found = self._ranges
        with self._lock:
            if (change.key in found.starts) == change.is_split:
                return None
            if self._chance("refused") or found.under_way:
                raise StorageFailure("the change is refused")
            found.numbers += 1
            found.under_way[found.numbers] = change
            if self._chance("unknown"):
                raise StoreBusy("the connection was lost")
            return found.numbers

    def _asked(self) -> None:
        """Count a call: begun changes may end, and the call itself may fail."""
        found = self._ranges
        self._way.trip()
        with self._lock:
            for number, change in list(found.under_way.items()):
                if self._way.chance(_ENDS):
                    del found.under_way[number]
                    self._end(number, change)
        if not self._way.is_reachable or self._chance("busy"):
            raise StoreBusy("the database cannot be reached")

    def _end(self, number: int, change: _Change) -> None:
        if self._chance("refused"):
            self._ranges.failed.add(number)
            return
        self._ranges.made.append((change.key, change.is_split))
        (self._ranges.split if change.is_split else self._ranges.merge)(change.key)
