"""The uncommitted writes of a group, as the bodies of the group see them.

Two layers, the first read through the second:

    published view          synced, shared with every reader
    group's write set       what the bodies of this group changed, the running one too

The changes of a body that raises are taken out of the write set again. All bodies write and few
raise, so a transaction remembers only the values that it replaced. The keys that it added need no
record: they are the last entries of the write set.

A write set is a dictionary of puts and deletes over a list of removed ranges. The dictionary has
precedence: `delete_range` drops the entries that it covers, so every entry was written after the
ranges that cover it. An engine batch therefore has the ranges first and the entries after them.
Keys are sorted only when a body scans.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Final, TypeVar, final

from widerow.errors import InvalidRequest, Rule
from widerow.limits import INT64_MAX
from widerow.safepoint import safepoint
from widerow.storage.interface import Outcome, Reader, Transaction, Write

__all__ = ["Overlay", "PendingTransaction", "WriteSet", "run_bodies"]

T = TypeVar("T")

# A few new keys are inserted into the ordered list one by one, many are sorted in together.
_INSERT_ONE_BY_ONE_MAX: Final = 32
_NO_KEYS: Final[list[bytes]] = []


class WriteSet:
    """Puts, deletes and removed ranges over some base.

    `entries` maps a key to its new value, or to None where it was deleted; `starts` and `stops`
    are the removed ranges, ascending, disjoint and never empty. Not for more than one thread.
    """

    __slots__ = ("_ordered", "entries", "starts", "stops")

    def __init__(self) -> None:
        self.entries: dict[bytes, bytes | None] = {}
        # These three are replaced, never changed: most bodies remove no range and scan nothing.
        self.starts = _NO_KEYS
        self.stops = _NO_KEYS
        self._ordered = _NO_KEYS

    def __bool__(self) -> bool:
        return bool(self.entries or self.starts)

    def size_in_bytes(self) -> int:
        """Bytes of all keys and values. Linear in their number."""
        values = self.entries.values()
        return (
            sum(map(len, self.entries))
            + sum(len(value) for value in values if value is not None)
            + sum(map(len, chain(self.starts, self.stops)))
        )

    def remove_range(self, start: bytes, stop: bytes) -> None:
        """Remove start ≤ key < stop, whatever was written there before. Nothing if start ≥ stop."""
        if start >= stop:
            return
        dropped = [key for key in self.entries if start <= key < stop]
        for key in dropped:
            del self.entries[key]
        if dropped:
            self._ordered = _NO_KEYS
        # Ranges that touch or overlap the new one become one with it.
        first = bisect_left(self.stops, start)
        last = bisect_right(self.starts, stop)
        if first < last:
            start = min(start, self.starts[first])
            stop = max(stop, self.stops[last - 1])
        self.starts = [*self.starts[:first], start, *self.starts[last:]]
        self.stops = [*self.stops[:first], stop, *self.stops[last:]]

    def covers(self, key: bytes) -> bool:
        """Whether `key` lies in a removed range. Logarithmic in the number of ranges."""
        index = bisect_right(self.starts, key)
        return index > 0 and key < self.stops[index - 1]

    def gaps(self, start: bytes, stop: bytes) -> list[tuple[bytes, bytes]]:
        """The parts of [start, stop) that no removed range covers, ascending."""
        parts = []
        first, last = bisect_right(self.stops, start), bisect_left(self.starts, stop)
        for index in range(first, last):
            if start < self.starts[index]:
                parts.append((start, self.starts[index]))
            start = self.stops[index]
        if start < stop:
            parts.append((start, stop))
        return parts

    def keys_between(self, start: bytes, stop: bytes) -> list[bytes]:
        """Keys of puts and deletes with start ≤ key < stop, ascending."""
        ordered = self._ordered
        # A dictionary keeps the order of insertion, so the keys not yet sorted are its last ones.
        fresh = len(self.entries) - len(ordered)
        if fresh and not ordered:
            ordered = self._ordered = []
        newest = islice(reversed(self.entries), fresh)
        if fresh <= _INSERT_ONE_BY_ONE_MAX:
            for key in newest:
                insort(ordered, key)
        else:
            ordered.extend(newest)
            ordered.sort()
        return ordered[bisect_left(ordered, start) : bisect_left(ordered, stop)]

    def write_to(self, txn: Transaction) -> None:
        """Make these changes in `txn`: ranges first; entries were written after them."""
        for start, stop in zip(self.starts, self.stops, strict=True):
            txn.delete_range(start, stop)
        for key, value in self.entries.items():
            if value is None:
                txn.delete(key)
            else:
                txn.put(key, value)

    def copy(self) -> "WriteSet":
        """An equal write set. The cost grows with the number of entries."""
        made = WriteSet()
        made.entries = self.entries.copy()
        made.starts, made.stops = self.starts, self.stops
        return made

    def become(self, other: "WriteSet") -> None:
        """Take over the contents of `other`, which must not be used afterwards."""
        self.entries, self.starts, self.stops = other.entries, other.starts, other.stops
        self._ordered = _NO_KEYS

    def shrink(self, count: int) -> None:
        """Keep the first `count` entries in the order of insertion, and drop the rest."""
        entries = self.entries
        while len(entries) > count:
            entries.popitem()
        self._ordered = _NO_KEYS


class Overlay:
    """A reader that shows `base` with `changes` applied to it."""

    __slots__ = ("_base", "_changes")

    def __init__(self, base: Reader, changes: WriteSet) -> None:
        """Read `base` through `changes`; neither is copied."""
        self._base = base
        self._changes = changes

    def get(self, key: bytes) -> bytes | None:
        """The value of `key`, or None."""
        changes = self._changes
        if key in changes.entries:
            return changes.entries[key]
        if changes.starts and changes.covers(key):
            return None
        return self._base.get(key)

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order; one call of the base reads all others."""
        changes = self._changes
        if not changes:
            return self._base.get_many(keys)
        entries = changes.entries
        asked = [key for key in keys if key not in entries and not changes.covers(key)]
        below = dict(zip(asked, self._base.get_many(asked), strict=True)) if asked else {}
        return [entries[key] if key in entries else below.get(key) for key in keys]

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Pairs with start ≤ key < stop in order, lazily merged from the base and the changes."""
        changes = self._changes
        if not changes:
            return self._base.scan(start, stop, reverse=reverse)
        below = self._below(start, stop, reverse=reverse)
        own = changes.keys_between(start, stop)
        if not own:
            return below
        # `own` is a stack: the key that comes next is at its end.
        if reverse:
            return _merge_descending(below, own, changes.entries)
        own.reverse()
        return _merge_ascending(below, own, changes.entries)

    def _below(self, start: bytes, stop: bytes, *, reverse: bool) -> Iterator[tuple[bytes, bytes]]:
        """The base's pairs that no removed range hides."""
        if not self._changes.starts:
            return self._base.scan(start, stop, reverse=reverse)
        parts = self._changes.gaps(start, stop)
        if reverse:
            parts.reverse()
        return _one_after_another(self._base, parts, reverse=reverse)


def _one_after_another(
    base: Reader, parts: list[tuple[bytes, bytes]], *, reverse: bool
) -> Iterator[tuple[bytes, bytes]]:
    for first, last in parts:
        yield from base.scan(first, last, reverse=reverse)


def _merge_ascending(
    below: Iterator[tuple[bytes, bytes]], own: list[bytes], entries: dict[bytes, bytes | None]
) -> Iterator[tuple[bytes, bytes]]:
    """Pairs of the base and of the entries, ascending; an entry hides the pair at its key."""
    for pair in below:
        key = pair[0]
        while own and own[-1] < key:
            value = entries[own[-1]]
            if value is not None:
                yield own[-1], value
            own.pop()
        if not (own and own[-1] == key):
            yield pair
    yield from _drain(own, entries)


def _merge_descending(
    below: Iterator[tuple[bytes, bytes]], own: list[bytes], entries: dict[bytes, bytes | None]
) -> Iterator[tuple[bytes, bytes]]:
    """`_merge_ascending` in descending order; written out, because the loop runs for each row."""
    for pair in below:
        key = pair[0]
        while own and own[-1] > key:
            value = entries[own[-1]]
            if value is not None:
                yield own[-1], value
            own.pop()
        if not (own and own[-1] == key):
            yield pair
    yield from _drain(own, entries)


def _drain(own: list[bytes], entries: dict[bytes, bytes | None]) -> Iterator[tuple[bytes, bytes]]:
    """The remaining keys of the stack, when the base has no more pairs."""
    while own:
        key = own.pop()
        value = entries[key]
        if value is not None:
            yield key, value


@final
class PendingTransaction:
    """The transaction of one body: reads `base` through `written`, and writes into that.

    Every key must lie in one of `shards`, or be one of `reads`, which may be read and not written;
    any other key raises `ValueError`, as does every use after the body returned. One at a time on a
    write set.
    """

    __slots__ = (
        "_base",
        "_before",
        "_key_bytes_max",
        "_mark",
        "_reads",
        "_replaced",
        "_shards",
        "_written",
    )

    def __init__(
        self,
        base: Reader,
        written: WriteSet,
        shards: tuple[bytes, ...],
        reads: tuple[bytes, ...] = (),
        key_bytes_max: int = INT64_MAX,
    ) -> None:
        """A transaction on top of `written`, the changes of the bodies before it.

        `key_bytes_max`: of the store (rule 17).
        """
        self._key_bytes_max = key_bytes_max
        self._base = base
        self._written = written
        self._shards = shards
        self._reads = reads
        self._mark = len(written.entries)  # entries after this one are added by this body
        # Made on demand: few bodies overwrite what an earlier one wrote, or remove ranges.
        self._replaced: dict[bytes, bytes | None] | None = None
        self._before: WriteSet | None = None  # the write set before this body removed a range

    @property
    def _reader(self) -> Overlay:
        """Made on demand: most bodies read one key and write it, which needs no overlay."""
        return Overlay(self._base, self._written)

    def get(self, key: bytes) -> bytes | None:
        """The value of `key` as this body left it, or None."""
        self._check_read(key)
        written = self._written
        if key in written.entries:
            return written.entries[key]
        if not written.starts:
            return self._base.get(key)
        return self._reader.get(key)

    def get_many(self, keys: Sequence[bytes]) -> list[bytes | None]:
        """The values of `keys` in their order, None where absent."""
        for key in keys:
            self._check_read(key)
        return self._reader.get_many(keys)

    def scan(
        self, start: bytes, stop: bytes, *, reverse: bool = False
    ) -> Iterator[tuple[bytes, bytes]]:
        """Pairs with start ≤ key < stop. Both bounds lie in one shard, or `stop` at its end."""
        self._check_range(start, stop)
        return self._reader.scan(start, stop, reverse=reverse)

    def put(self, key: bytes, value: bytes) -> None:
        """Set `key` to `value`. Raises `InvalidRequest` (STORED_KEY_LENGTH)."""
        self._check(key)
        if len(key) > self._key_bytes_max:
            raise InvalidRequest(Rule.STORED_KEY_LENGTH, limit=self._key_bytes_max, length=len(key))
        self._write(key, value)

    def delete(self, key: bytes) -> None:
        """Remove `key`; absent keys are fine."""
        self._check(key)
        self._write(key, None)

    def delete_range(self, start: bytes, stop: bytes) -> None:
        """Remove start ≤ key < stop. Both bounds lie in one shard, or `stop` at its end."""
        self._check_range(start, stop)
        if self._before is None:
            before = self._written.copy()
            self._take_back_entries(before)
            self._before = before
        self._written.remove_range(start, stop)

    def _write(self, key: bytes, value: bytes | None) -> None:
        entries = self._written.entries
        if key in entries and self._before is None:
            if self._replaced is None:
                self._replaced = {}
            self._replaced.setdefault(key, entries[key])
        entries[key] = value

    def take_back(self) -> None:
        """Leave the write set as it was before this transaction."""
        if self._before is not None:
            self._written.become(self._before)
        else:
            self._take_back_entries(self._written)

    def _take_back_entries(self, written: WriteSet) -> None:
        if self._replaced is not None:
            written.entries.update(self._replaced)
        written.shrink(self._mark)

    def finish(self) -> None:
        """End the transaction: every later call raises `ValueError`."""
        self._shards = self._reads = ()

    def _check_read(self, key: bytes) -> None:
        """Raise `ValueError` unless `key` is in one of `shards` or is one of `reads`."""
        for shard in self._shards:
            if key.startswith(shard):
                return
        if key not in self._reads:
            raise self._refusal(key)

    def _check(self, key: bytes) -> None:
        """Raise `ValueError` unless `key` is in one of `shards`."""
        for shard in self._shards:
            if key.startswith(shard):
                return
        raise self._refusal(key)

    def _check_range(self, start: bytes, stop: bytes) -> None:
        """Raise `ValueError` unless one shard holds every key from `start` up to `stop`."""
        if not start.startswith(self._shards):
            raise self._refusal(start)
        for shard in self._shards:
            if start.startswith(shard) and (stop.startswith(shard) or _ends_at(shard, stop)):
                return
        raise self._refusal(stop)

    def _refusal(self, key: bytes) -> ValueError:
        if not self._shards:
            return ValueError("this transaction is over: its body has returned")
        shards = ", ".join(shard.hex() for shard in self._shards)
        if key in self._reads:
            return ValueError(
                f"key {key.hex()} may be read alone by this write, and not written or scanned: "
                f"its shards are {shards}"
            )
        return ValueError(f"key {key.hex()} is outside the shards of this write: {shards}")


def _ends_at(shard: bytes, stop: bytes) -> bool:
    """Whether `stop` is the smallest key above every key of the shard."""
    stripped = shard.rstrip(b"\xff")
    return bool(stripped) and stop == stripped[:-1] + bytes((stripped[-1] + 1,))


def run_bodies(view: Reader, writes: Sequence[Write[T]]) -> tuple[WriteSet, list[Outcome[T]]]:
    """Run the bodies in order over `view`; return their changes and their outcomes.

    A body that raises an `Exception` leaves no change behind. Any other `BaseException` passes
    through and the whole group is forgotten.
    """
    changes = WriteSet()
    outcomes: list[Outcome[T]] = []
    for write in writes:
        safepoint()
        transaction = PendingTransaction(view, changes, write.shards, write.reads)
        try:
            outcomes.append(Outcome(write.run(transaction), None))
        except Exception as error:  # noqa: BLE001  # whatever a body raises is its own outcome
            transaction.take_back()
            outcomes.append(Outcome(None, error))
        finally:
            transaction.finish()
    return changes, outcomes
