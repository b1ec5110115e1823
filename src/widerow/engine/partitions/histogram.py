"""A histogram of load over a range of keys, in bounded memory.

Bins are real keys in ascending order; a bin stands for the load from its key up to the next bin's.
A key that is new gets a bin of its own, and when there are too many, light neighbours are put
together until each holds about the same. A heavy key therefore keeps its own bin, and a cut at a
bin's key divides the load with an error of at most one bin.
"""

from bisect import bisect_left
from collections.abc import Iterable
from typing import Final

__all__ = ["BINS", "KeyHistogram"]

BINS: Final = 32  # after putting bins together; up to twice as many in between
_NOTHING: Final = 0.01  # units: what is left of a load long ago


class KeyHistogram:
    """Units of load by key. Not for several threads at once."""

    __slots__ = ("keys", "total", "units")

    def __init__(self, bins: Iterable[tuple[bytes, float]] = ()) -> None:
        pairs = list(bins)
        self.keys = [key for key, _ in pairs]
        self.units = [units for _, units in pairs]
        self.total = sum(self.units)

    def add(self, key: bytes, units: float) -> None:
        """Count load at a key. Cost: half a microsecond, now and then twenty."""
        keys = self.keys
        index = bisect_left(keys, key)
        if index < len(keys) and keys[index] == key:
            self.units[index] += units
        else:
            keys.insert(index, key)
            self.units.insert(index, units)
        self.total += units
        if len(keys) > 2 * BINS:
            self._put_together()

    def absorb(self, other: "KeyHistogram", factor: float = 1.0) -> None:
        """Multiply the units here by `factor`, and add those of `other`."""
        if factor < 1.0:
            self.units = [units * factor for units in self.units]
            self.total *= factor
        for key, units in other.bins():
            self.add(key, units)
        if self.total < _NOTHING:
            self.keys, self.units, self.total = [], [], 0.0

    def bins(self) -> tuple[tuple[bytes, float], ...]:
        """Key and units of every bin, ascending."""
        return tuple(zip(self.keys, self.units, strict=True))

    def cut(self, at: bytes) -> tuple["KeyHistogram", "KeyHistogram"]:
        """Two histograms: of the keys below `at`, and of the others."""
        index = bisect_left(self.keys, at)
        bins = self.bins()
        return KeyHistogram(bins[:index]), KeyHistogram(bins[index:])

    def _put_together(self) -> None:
        """Join neighbours while their sum stays below a bin's share."""
        share = self.total / BINS
        keys: list[bytes] = []
        sums: list[float] = []
        for key, units in zip(self.keys, self.units, strict=True):
            if sums and sums[-1] + units <= share:
                sums[-1] += units
            else:
                keys.append(key)
                sums.append(units)
        self.keys, self.units = keys, sums
