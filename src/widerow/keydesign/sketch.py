"""Counts the keys of a stream of any length in bounded memory.

Up to 65,536 different keys everything is exact. Beyond that

* the number of different keys is estimated from those whose hash is below a threshold, which is
  lowered as more come. Those are a uniform sample of the keys, each with its exact count, because a
  key that is in the sample at the end has been in it from its first row. Standard error:
  1/sqrt(size of the sample), which is at most 0.6 %;
* the busiest keys are counted by frequent items: at most 16,384 counters, from which a median is
  taken off when they run out. What was taken off is the most by which any count can be too low, at
  most 1/8,192 of all rows;
* the Gini coefficient joins both: the frequent keys, and the sample for all others.

No choice is random: equal rows give equal figures.
"""

from collections.abc import Hashable, Iterable
from hashlib import blake2b
from math import sqrt
from typing import Any, Final, NamedTuple

__all__ = ["Estimate", "FrequentItems", "KeyCounts", "RowSample", "gini", "mixed"]

EXACT_KEYS_MAX: Final = 65_536
COUNTERS_MAX: Final = 16_384
SAMPLE_ROWS: Final = 65_536  # at least, for a longer stream; at most twice as many are kept
_WHOLE: Final = 1 << 64
_MASK: Final = _WHOLE - 1


class Estimate(NamedTuple):
    """A figure and how far it may be off: a bound for shares and bytes, else a standard error."""

    value: float
    error: float = 0.0


def gini(weighted: Iterable[tuple[float, float]]) -> float:
    """The Gini coefficient of amounts, each with the number of keys that have it.

    0 where all keys have equal amounts, near 1 where a few keys have nearly all. Costs n log n.
    """
    total = weight = area = 0.0
    for amount, count in sorted(weighted):
        before, total = total, total + amount * count
        weight += count
        area += count * (before + total)
    return 1 - area / (weight * total) if total else 0.0


def mixed(number: int, seed: int = 0) -> int:
    """A pseudo-random number of 64 bits, determined by the number and the seed (splitmix64)."""
    bits = (number * 0x9E3779B97F4A7C15 + seed * 0xD1342543DE82EF95 + 0x632BE59BD9B4E019) & _MASK
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & _MASK
    return bits ^ (bits >> 31)


class FrequentItems:
    """Amounts by key, in a bounded number of counters."""

    def __init__(self, counters: int = COUNTERS_MAX) -> None:
        self._counters = counters
        self._amounts: dict[Hashable, int] = {}
        self.taken_off = 0
        """The most by which any amount can be too low."""

    def add(self, key: Hashable, amount: int) -> None:
        """Count a positive amount. Constant time on average."""
        amounts = self._amounts
        amounts[key] = amounts.get(key, 0) + amount
        if len(amounts) > self._counters:
            middle = sorted(amounts.values())[len(amounts) // 2]
            self.taken_off += middle
            self._amounts = {
                each: found - middle for each, found in amounts.items() if found > middle
            }

    def largest(self) -> tuple[Hashable, Estimate]:
        """The key with the largest known amount, and the amount; (None, 0) without keys."""
        if not self._amounts:
            return None, Estimate(self.taken_off, self.taken_off)
        key, least = max(self._amounts.items(), key=lambda pair: pair[1])
        return key, Estimate(least + self.taken_off, self.taken_off)

    def certain(self) -> dict[Hashable, int]:
        """The keys whose amount is known within a factor of two, with the middle of its range."""
        off = self.taken_off
        return {key: low + off // 2 for key, low in self._amounts.items() if low >= off}


class KeyCounts:
    """How rows and bytes are spread over the values of a key."""

    def __init__(self, exact_keys: int = EXACT_KEYS_MAX, counters: int = COUNTERS_MAX) -> None:
        self._keys_max = exact_keys
        self._counters = counters
        self._sample: dict[Hashable, list[int]] = {}
        self._threshold = _WHOLE
        self._frequent: tuple[FrequentItems, FrequentItems] | None = None
        self.rows = 0
        self.bytes = 0

    @property
    def exact(self) -> bool:
        """Whether every key has its own counter."""
        return self._frequent is None

    def add(self, key: Hashable, size: int) -> None:
        """Count a row of `size` bytes under a key. Constant time on average."""
        self.rows += 1
        self.bytes += size
        if self._frequent is not None:
            self._frequent[0].add(key, 1)
            self._frequent[1].add(key, max(1, size))
        found = self._sample.get(key)
        if found is not None:
            found[0] += 1
            found[1] += size
        elif self._threshold == _WHOLE or _hash(key) < self._threshold:
            self._sample[key] = [1, size]
            if len(self._sample) > self._keys_max:
                self._narrow()

    def _narrow(self) -> None:
        """Drop half of the sample; the first time, begin to count frequent keys."""
        if self._frequent is None:
            self._frequent = (FrequentItems(self._counters), FrequentItems(self._counters))
            for key, (rows, size) in self._sample.items():
                self._frequent[0].add(key, rows)
                self._frequent[1].add(key, max(1, size))
        self._threshold //= 2
        limit = self._threshold
        self._sample = {key: each for key, each in self._sample.items() if _hash(key) < limit}

    @property
    def distinct(self) -> Estimate:
        """The number of different keys."""
        kept = len(self._sample)
        if self.exact:
            return Estimate(kept)
        value = kept * _WHOLE / self._threshold
        return Estimate(value, value / sqrt(max(1, kept)))

    @property
    def top_share(self) -> Estimate:
        """The share of all rows under the busiest key."""
        found = self._largest(0)[1]
        return Estimate(found.value / max(1, self.rows), found.error / max(1, self.rows))

    @property
    def largest_share(self) -> Estimate:
        """The share of all bytes under the largest key."""
        found = self._largest(1)[1]
        return Estimate(found.value / max(1, self.bytes), found.error / max(1, self.bytes))

    @property
    def busiest(self) -> Hashable:
        """The key with most rows."""
        return self._largest(0)[0]

    def _largest(self, what: int) -> tuple[Hashable, Estimate]:
        if self._frequent is not None:
            return self._frequent[what].largest()
        if not self._sample:
            return None, Estimate(0)
        key, found = max(self._sample.items(), key=lambda pair: pair[1][what])
        return key, Estimate(found[what])

    @property
    def gini(self) -> float:
        """The Gini coefficient of rows over keys: 0 for equal shares, near 1 for few busy keys."""
        if self._frequent is None:
            return gini((rows, 1) for rows, _ in self._sample.values())
        heavy = self._frequent[0].certain()
        light = [each[0] for key, each in self._sample.items() if key not in heavy]
        share = (self.distinct.value - len(heavy)) / max(1, len(light))
        return gini([*((rows, 1.0) for rows in heavy.values()), *((rows, share) for rows in light)])


def _hash(key: Hashable) -> int:
    """64 bits of a key: an integer, a text, or a tuple of them."""
    return int.from_bytes(blake2b(repr(key).encode(), digest_size=8).digest(), "big")


class RowSample:
    """A uniform sample of a stream, in bounded memory."""

    def __init__(self, rows: int = SAMPLE_ROWS, seed: int = 0) -> None:
        self._rows = rows
        self._seed = seed
        self._threshold = _WHOLE
        self._kept: list[tuple[int, Any]] = []
        self.seen = 0

    def add(self, row: object) -> None:
        """Offer a row to the sample. Constant time on average."""
        drawn = mixed(self.seen, self._seed)
        self.seen += 1
        if drawn < self._threshold:
            self._kept.append((drawn, row))
            if len(self._kept) >= 2 * self._rows:
                self._threshold //= 2
                self._kept = [each for each in self._kept if each[0] < self._threshold]

    @property
    def rows(self) -> list[Any]:
        """The rows of the sample, in the order they came."""
        return [row for _, row in self._kept]
