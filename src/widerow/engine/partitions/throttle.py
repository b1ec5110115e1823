"""Reserved throughput, enforced partition by partition (seed 003; semantics §9).

The reserve of a table is spread evenly over its partitions, and each partition fills a bucket at
its part of it. A request is let in while the bucket holds anything, and then takes what it
consumes, so one large row may leave a debt that the next second pays. A bucket holds one second's
part, and one unit at least. So a partition that is asked for more than its part answers
OTSNotEnoughCapacityUnit while the rest of the table is idle.

A reserve of 0 is pay-as-you-go: nothing is refused, everything is additional.

Where several servers share a store, each tells the others about once a second what it lets through
of each partition. A server fills a bucket at what the others leave of the partition's part, and at
an equal share of it where they leave less. So all together let through no more than the part, but
for the seconds in which a load begins: until the others have heard of it, each may let through as
much as it did before, and all together that many times the part as there are servers.
"""

from bisect import bisect_right
from collections.abc import Sequence
from typing import Final, NamedTuple

from widerow.clock import Clock
from widerow.engine.partitions.partitioned_tables import Partitioned
from widerow.errors import Exhausted, Rule
from widerow.limits import NODE_TAKEN_MAX

__all__ = ["Taken", "Throttle"]

# of all tables; the oldest are dropped, and are full when they are asked again
_BUCKETS_MAX: Final = 65_536


class Taken(NamedTuple):
    """Capacity units a second that a server lets through of one partition of a reserve.

    `start`: where the partition begins, the encoded key.
    """

    table_id: int
    start: bytes
    writes: bool
    units: float


class _Bucket:
    """What a partition may still consume. `taken`: units since the other servers were last told."""

    __slots__ = ("filled_ns", "taken", "units")

    def __init__(self, units: float, now_ns: int) -> None:
        self.units = units
        self.filled_ns = now_ns
        self.taken = 0.0


class Throttle:
    """The buckets of all tables. Any thread may call; two at once may let one more through."""

    __slots__ = ("_buckets", "_clock", "_others", "_servers", "_told_ns", "refused")

    def __init__(self, clock: Clock) -> None:
        self.refused = 0
        self._clock = clock
        self._buckets: dict[tuple[int, bytes, bool], _Bucket] = {}
        self._told_ns = clock.monotonic_ns()
        self._servers = 1
        # of other servers: units a second, by bucket
        self._others: dict[tuple[int, bytes, bool], float] = {}

    # --- with other servers ------------------------------------------------------------------

    def tell(self) -> tuple[Taken, ...]:
        """The units a second let through since the last call, of the busiest partitions."""
        now_ns = self._clock.monotonic_ns()
        seconds, self._told_ns = (now_ns - self._told_ns) / 1e9, now_ns
        if seconds <= 0:
            return ()
        found = []
        for name, bucket in list(self._buckets.items()):
            units, bucket.taken = bucket.taken, 0.0
            if units > 0:
                found.append(Taken(*name, units / seconds))
        found.sort(key=lambda each: -each.units)
        return tuple(found[:NODE_TAKEN_MAX])

    def hear(self, others: Sequence[Sequence[Taken]]) -> None:
        """Take over what each of the other servers lets through, one sequence a server."""
        sums: dict[tuple[int, bytes, bool], float] = {}
        for taken in others:
            for each in taken:
                sums[each[:3]] = sums.get(each[:3], 0.0) + each.units
        self._servers, self._others = 1 + len(others), sums

    # --- requests ----------------------------------------------------------------------------

    def read(self, table: Partitioned, key: bytes, units: int = 0) -> None:
        """Let a read of `key` in and take `units`. Raises `Exhausted` (NOT_ENOUGH_CAPACITY)."""
        self._take(table, key, table.reserved_units[0], units, writes=False)

    def write(self, table: Partitioned, key: bytes, units: int) -> None:
        """Let a write of `key` in and take `units`. Raises `Exhausted` (NOT_ENOUGH_CAPACITY)."""
        self._take(table, key, table.reserved_units[1], units, writes=True)

    def charge_read(self, table: Partitioned, key: bytes, units: int) -> None:
        """Take what a read turned out to consume, even more than the bucket holds."""
        reserved = table.reserved_units[0]
        if reserved:
            bucket = self._bucket(table, key, reserved, writes=False)
            bucket.units -= units
            bucket.taken += units

    def _take(
        self, table: Partitioned, key: bytes, reserved: int, units: int, *, writes: bool
    ) -> None:
        if not reserved:
            return
        bucket = self._bucket(table, key, reserved, writes=writes)
        if bucket.units <= 0:
            self.refused += 1
            kind = "write" if writes else "read"
            part = f"{reserved / (len(table.splits) + 1):.3g}"
            raise Exhausted(
                Rule.NOT_ENOUGH_CAPACITY,
                table=table.qualified.rpartition("/")[2],
                kind=kind,
                part=part,
            )
        bucket.units -= units
        bucket.taken += units

    def _bucket(self, table: Partitioned, key: bytes, reserved: int, *, writes: bool) -> _Bucket:
        """The bucket of the partition that `key` lies in, filled up to now."""
        splits = table.splits
        index = bisect_right(splits, key)
        start = splits[index - 1] if index else b""
        rate = reserved / (len(splits) + 1)
        name = (table.id, start, writes)
        if self._servers > 1:
            rate = max(rate / self._servers, rate - self._others.get(name, 0.0))
        size = max(1.0, rate)
        now_ns = self._clock.monotonic_ns()
        bucket = self._buckets.get(name)
        if bucket is None:
            if len(self._buckets) >= _BUCKETS_MAX:
                self._buckets.clear()
            bucket = self._buckets[name] = _Bucket(size, now_ns)
            return bucket
        bucket.units = min(size, bucket.units + rate * (now_ns - bucket.filled_ns) / 1e9)
        bucket.filled_ns = now_ns
        return bucket
