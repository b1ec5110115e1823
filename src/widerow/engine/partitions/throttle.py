"""Reserved throughput, enforced partition by partition (seed 003; semantics §9).

The reserve of a table is spread evenly over its partitions, and each partition fills a bucket at
its part of it. A request is let in while the bucket holds anything, and then takes what it
consumes, so one large row may leave a debt that the next second pays. A bucket holds one second's
part, and one unit at least. So a partition that is asked for more than its part answers
OTSNotEnoughCapacityUnit while the rest of the table is idle.

A reserve of 0 is pay-as-you-go: nothing is refused, everything is additional.
"""

from bisect import bisect_right
from typing import Final

from widerow.clock import Clock
from widerow.errors import Exhausted, Rule
from widerow.model.schema import Table

__all__ = ["Throttle"]

_BUCKETS_MAX: Final = 65_536  # of all tables; older ones are forgotten, which fills them


class _Bucket:
    __slots__ = ("filled_ns", "units")

    def __init__(self, units: float, now_ns: int) -> None:
        self.units = units
        self.filled_ns = now_ns


class Throttle:
    """The buckets of all tables. Any thread may call; two at once may let one more through."""

    __slots__ = ("_buckets", "_clock", "refused")

    def __init__(self, clock: Clock) -> None:
        """Every bucket is full."""
        self.refused = 0
        self._clock = clock
        self._buckets: dict[tuple[int, bytes, bool], _Bucket] = {}

    def read(self, table: Table, key: bytes, units: int = 0) -> None:
        """Let a read of `key` in and take `units`. Raises `Exhausted` (NOT_ENOUGH_CAPACITY)."""
        self._take(table, key, table.throughput.reserved.read, units, writes=False)

    def write(self, table: Table, key: bytes, units: int) -> None:
        """Let a write of `key` in and take `units`. Raises `Exhausted` (NOT_ENOUGH_CAPACITY)."""
        self._take(table, key, table.throughput.reserved.write, units, writes=True)

    def charge_read(self, table: Table, key: bytes, units: int) -> None:
        """Take what a read turned out to consume, whatever the bucket holds."""
        reserved = table.throughput.reserved.read
        if reserved:
            self._bucket(table, key, reserved, writes=False).units -= units

    def _take(self, table: Table, key: bytes, reserved: int, units: int, *, writes: bool) -> None:
        if not reserved:
            return
        bucket = self._bucket(table, key, reserved, writes=writes)
        if bucket.units <= 0:
            self.refused += 1
            kind = "write" if writes else "read"
            part = f"{reserved / (len(table.splits) + 1):.3g}"
            raise Exhausted(Rule.NOT_ENOUGH_CAPACITY, table=table.name, kind=kind, part=part)
        bucket.units -= units

    def _bucket(self, table: Table, key: bytes, reserved: int, *, writes: bool) -> _Bucket:
        """The bucket of the partition that `key` lies in, filled up to now."""
        splits = table.splits
        index = bisect_right(splits, key)
        start = splits[index - 1] if index else b""
        rate = reserved / (len(splits) + 1)
        size = max(1.0, rate)
        now_ns = self._clock.monotonic_ns()
        bucket = self._buckets.get((table.id, start, writes))
        if bucket is None:
            if len(self._buckets) >= _BUCKETS_MAX:
                self._buckets.clear()
            bucket = self._buckets[table.id, start, writes] = _Bucket(size, now_ns)
            return bucket
        bucket.units = min(size, bucket.units + rate * (now_ns - bucket.filled_ns) / 1e9)
        bucket.filled_ns = now_ns
        return bucket
