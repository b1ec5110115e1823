"""The load of one table's partitions: counted from its requests, decayed over time.

The server keeps one for each table; a simulation makes its own and feeds it samples under a time of
its own. Time is in seconds from any origin. Nothing here reads or writes a store.
"""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from widerow.engine.partitions.histogram import KeyHistogram
from widerow.engine.partitions.history import Interval
from widerow.engine.partitions.hot_keys import HotKeys
from widerow.engine.partitions.rules import (
    Decision,
    Merge,
    PartitionFacts,
    Split,
    Thresholds,
    is_cold,
    is_hot,
)
from widerow.engine.partitions.sizes import SizeMap
from widerow.engine.partitions.split_points import AnsweredPoints

__all__ = ["END", "HALF_LIFE_SECONDS", "INTERVALS_MAX", "INTERVAL_SECONDS", "Consumed", "TableLoad"]

HALF_LIFE_SECONDS: Final = 20.0  # of every count: an eighth is left after a minute
TICK_SECONDS: Final = 1.0  # capacity units are counted by the second (semantics §9)
INTERVAL_SECONDS: Final = 10.0  # of the history
INTERVALS_MAX: Final = 2160  # six hours of load
TOP_KEYS: Final = 8
END: Final = b"\xff" * 2048  # above every key: a scan from INF_MAX begins here


@dataclass(slots=True)
class _Part:
    """One partition's counts. `mark`: its largest key at the last tick."""

    start: bytes
    made: float
    load: KeyHistogram = field(default_factory=KeyHistogram)
    fresh: KeyHistogram = field(default_factory=KeyHistogram)
    hot: HotKeys = field(default_factory=HotKeys)
    reads: int = 0
    writes: int = 0
    # read and write units of the running interval
    past: list[int] = field(default_factory=lambda: [0, 0])
    read_rate: float = 0.0
    write_rate: float = 0.0
    hot_since: float | None = None
    cold_since: float | None = None
    inserted: float = 0.0
    appended: float = 0.0
    highest: bytes = b""
    mark: bytes | None = None

    @property
    def rate(self) -> float:
        return self.read_rate + self.write_rate

    def note(self, key: bytes, units: int, rows: int) -> None:
        """Count load at a key; `rows` above the highest key count as appended."""
        self.fresh.add(key, units)
        self.hot.add(key, units)
        if rows > 0:
            self.inserted += rows
            self.highest = max(self.highest, key)
            if self.mark is not None and key > self.mark:
                self.appended += rows

    def tick(self, elapsed: float, factor: float) -> None:
        """Let `elapsed` seconds pass."""
        self.read_rate = self.read_rate * factor + self.reads / elapsed * (1 - factor)
        self.write_rate = self.write_rate * factor + self.writes / elapsed * (1 - factor)
        self.past[0] += self.reads
        self.past[1] += self.writes
        self.reads = self.writes = 0
        if self.load.total or self.fresh.total:
            self.load.absorb(self.fresh, factor)
            self.hot.decay(factor)
            self.fresh = KeyHistogram()
        self.inserted *= factor
        self.appended *= factor
        self.mark = self.highest or None

    def cut(self, at: bytes, now: float) -> "_Part":
        """Keep the load below `at`, and return that of the rest."""
        self.load.absorb(self.fresh)
        self.load, above = self.load.cut(at)
        hot, hot_above = self.hot.cut(at)
        whole = self.load.total + above.total
        share = above.total / whole if whole else 0.5
        right = _Part(
            at,
            now,
            load=above,
            hot=hot_above,
            read_rate=self.read_rate * share,
            write_rate=self.write_rate * share,
            hot_since=self.hot_since,
            highest=self.highest,
            mark=self.mark,
        )
        self.hot, self.fresh, self.made = hot, KeyHistogram(), now
        self.read_rate *= 1 - share
        self.write_rate *= 1 - share
        self.cold_since, self.highest, self.mark = None, b"", None
        self.inserted = self.appended = 0.0
        return right

    def join(self, right: "_Part", now: float) -> None:
        """Add the load of `right`, the next partition."""
        self.load.absorb(right.load)
        self.fresh.absorb(right.fresh)
        self.hot.absorb(right.hot)
        self.reads += right.reads
        self.writes += right.writes
        self.past = [a + b for a, b in zip(self.past, right.past, strict=True)]
        self.read_rate += right.read_rate
        self.write_rate += right.write_rate
        self.inserted += right.inserted
        self.appended += right.appended
        self.highest = max(self.highest, right.highest)
        self.made, self.hot_since, self.mark = now, None, None


@dataclass(slots=True)
class Consumed:
    """Capacity units since counting began: all, and those above the reserve (semantics §9)."""

    read: int = 0
    write: int = 0
    additional_read: float = 0.0
    additional_write: float = 0.0


class TableLoad:
    """Partitions of one table and what they carry. Not for several threads at once."""

    def __init__(
        self,
        bounds: Iterable[bytes] = (),
        now: float = 0.0,
        thresholds: Thresholds | None = None,
        *,
        origin: float = 0.0,
        sizes: SizeMap | None = None,
    ) -> None:
        """Begin at `now` with partitions between these bounds, which are never merged.

        `origin` + now are seconds since 1970, for the history. `sizes`: what is known of sizes.
        """
        self.thresholds = thresholds or Thresholds()
        self.sizes = sizes or SizeMap()
        self._consumed = Consumed()
        self.intervals: deque[Interval] = deque(maxlen=INTERVALS_MAX)
        self._parts = [_Part(b"", now)]
        self._bounds: list[bytes] = []
        self._pinned = frozenset(bounds)
        self._now = self._interval_start = now
        self._origin = origin
        self._spread = KeyHistogram()
        self._followed: Sequence[bytes] = ()
        self._saved = 0  # intervals that `take_unsaved` has handed out
        self._ended = 0  # intervals that have ended
        self.answered = AnsweredPoints()
        for bound in self._pinned:
            self._insert(bound)

    @property
    def bounds(self) -> tuple[bytes, ...]:
        """The encoded partition keys where partitions meet, ascending."""
        return tuple(self._bounds)

    @property
    def consumed(self) -> Consumed:
        """Capacity units until now; the additional ones up to the last whole second."""
        consumed = self._consumed
        return replace(
            consumed,
            read=consumed.read + sum(part.reads for part in self._parts),
            write=consumed.write + sum(part.writes for part in self._parts),
        )

    @property
    def consumed_whole_seconds(self) -> Consumed:
        """Capacity units up to the last whole second: no part of it ever falls."""
        return replace(self._consumed)

    def go_on_from(self, consumed: Consumed) -> None:
        """Add `consumed`, counted before this object was made."""
        self._consumed = replace(consumed)

    @property
    def rate(self) -> float:
        """Units a second of the whole table, decayed."""
        return sum(part.rate for part in self._parts)

    @property
    def largest_share(self) -> float:
        """The part of the table's load that its busiest partition carries; 0 without load."""
        rate = self.rate
        return max(part.rate for part in self._parts) / rate if rate else 0.0

    def note(self, key: bytes, reads: int, writes: int, rows: int = 0, size: int = 0) -> None:
        """Count a request under a partition key value. Cost: one to two microseconds.

        `rows` and `size`: by how much the table grew. The empty key and `END` stand for the ends
        of the table: their load is counted there and says nothing about keys.
        """
        part = self._parts[bisect_right(self._bounds, key)]
        part.reads += reads
        part.writes += writes
        if key and key < END:
            part.note(key, reads + writes, rows)
        if rows or size:
            self.sizes.grow(key, rows, size, self._now)

    def tick(self, now: float, reserved: tuple[int, int] = (0, 0)) -> bool:
        """Let time pass up to `now`; whether a second had passed. `reserved`: units a second."""
        elapsed = now - self._now
        if elapsed < TICK_SECONDS:
            return False
        self._now = now
        self._consume(elapsed, reserved)
        factor = 0.5 ** (elapsed / HALF_LIFE_SECONDS)
        for part in self._parts:
            self._spread.absorb(part.fresh)
            part.tick(elapsed, factor)
        table_rate = self.rate
        for part in self._parts:
            hot = is_hot(part.rate, table_rate, len(self._parts), self.thresholds)
            part.hot_since = (part.hot_since or now) if hot else None
            cold = is_cold(part.rate, self.thresholds)
            part.cold_since = now if cold and part.cold_since is None else part.cold_since
            if not cold:
                part.cold_since = None
        if now - self._interval_start >= INTERVAL_SECONDS:
            self._end_interval(now)
        return True

    def _consume(self, elapsed: float, reserved: tuple[int, int]) -> None:
        reads = sum(part.reads for part in self._parts)
        writes = sum(part.writes for part in self._parts)
        consumed = self._consumed
        consumed.read += reads
        consumed.write += writes
        consumed.additional_read += max(0.0, reads - reserved[0] * elapsed)
        consumed.additional_write += max(0.0, writes - reserved[1] * elapsed)

    def _end_interval(self, now: float) -> None:
        start, self._interval_start = self._interval_start, now
        spread, self._spread = self._spread, KeyHistogram()
        busy = tuple((p.start, p.past[0], p.past[1]) for p in self._parts if any(p.past))
        for part in self._parts:
            part.past = [0, 0]
        if busy:
            wall = round(self._origin + start)
            self._ended += 1
            self.intervals.append(Interval(wall, round(now - start), busy, spread.bins()))

    def keep(self, intervals: int) -> None:
        """Keep at most `intervals` intervals in memory."""
        self.intervals = deque(self.intervals, maxlen=intervals)

    @property
    def unsaved(self) -> bool:
        """Whether `take_unsaved` would hand out anything."""
        return self._saved < self._ended

    def take_unsaved(self) -> list[Interval]:
        """The intervals that ended since the last call, as far as they are in memory."""
        count = min(self._ended - self._saved, len(self.intervals))
        self._saved = self._ended
        return list(self.intervals)[len(self.intervals) - count :]

    def facts(self) -> tuple[PartitionFacts, ...]:
        """The facts that the rules decide from, one for each partition."""
        stops = [*self._bounds, None]
        return tuple(self._facts(part, stop) for part, stop in zip(self._parts, stops, strict=True))

    def _facts(self, part: _Part, stop: bytes | None) -> PartitionFacts:
        pieces = self.sizes.between(part.start, stop)
        total = part.load.total
        single = [(piece.only, piece.size) for piece in pieces if piece.only is not None]
        return PartitionFacts(
            start=part.start,
            stop=stop,
            size=sum(piece.size for piece in pieces),
            rows=sum(piece.rows for piece in pieces),
            read_rate=part.read_rate,
            write_rate=part.write_rate,
            hot_seconds=self._since(part.hot_since),
            cold_seconds=self._since(part.cold_since),
            age_seconds=self._now - part.made,
            pinned=part.start in self._pinned,
            append_share=part.appended / part.inserted if part.inserted >= 1 else 0.0,
            load=part.load.bins(),
            sizes=tuple((piece.key, piece.size) for piece in pieces),
            top=tuple((key, min(1.0, units / total)) for key, units in part.hot.heaviest(TOP_KEYS))
            if total
            else (),
            largest=max(single, key=lambda pair: pair[1], default=None),
        )

    def _since(self, moment: float | None) -> float:
        return 0.0 if moment is None else self._now - moment

    def apply(self, decision: Decision) -> None:
        """Make a split or a merge; a report changes nothing."""
        if isinstance(decision, Split):
            self._insert(decision.at)
        elif isinstance(decision, Merge):
            self._remove(decision.start)

    def follow(self, bounds: Sequence[bytes]) -> bool:
        """Split and merge until partitions meet at `bounds`; whether anything changed."""
        if bounds is self._followed:
            return False
        self._followed = bounds
        wanted = set(bounds)
        for bound in wanted.difference(self._bounds):
            self._insert(bound)
        for bound in [bound for bound in self._bounds if bound not in wanted]:
            self._remove(bound)
        return True

    def _insert(self, at: bytes) -> None:
        index = bisect_left(self._bounds, at)
        self._bounds.insert(index, at)
        self._parts.insert(index + 1, self._parts[index].cut(at, self._now))
        self.sizes.divide(at)

    def _remove(self, bound: bytes) -> None:
        index = bisect_left(self._bounds, bound)
        del self._bounds[index]
        right = self._parts.pop(index + 1)
        self._parts[index].join(right, self._now)
