"""The keys that are asked for most, in bounded memory (Misra and Gries).

Counts are too small by at most the load divided by `KEYS`; no key above that share is missed.
Counters are taken from all keys at once when there are twice too many, so that a key costs a
dictionary look-up and not a search for the smallest.
"""

from collections.abc import Iterable
from typing import Final

__all__ = ["KEYS", "HotKeys"]

KEYS: Final = 32  # a key with three per cent of a partition's load is never missed


class HotKeys:
    """Units of load of the heaviest keys. Not for several threads at once."""

    __slots__ = ("_counts",)

    def __init__(self, counts: Iterable[tuple[bytes, float]] = ()) -> None:
        self._counts = dict(counts)

    def add(self, key: bytes, units: float) -> None:
        """Count load of a key. Cost: a fifth of a microsecond, now and then ten."""
        counts = self._counts
        counts[key] = counts.get(key, 0.0) + units
        if len(counts) > 2 * KEYS:
            least = sorted(counts.values(), reverse=True)[KEYS]
            self._counts = {name: held - least for name, held in counts.items() if held > least}

    def decay(self, factor: float) -> None:
        """Multiply every count."""
        self._counts = {key: units * factor for key, units in self._counts.items()}

    def cut(self, at: bytes) -> tuple["HotKeys", "HotKeys"]:
        """Two counts: of the keys below `at`, and of the others."""
        counts = self._counts.items()
        return (
            HotKeys([(key, units) for key, units in counts if key < at]),
            HotKeys([(key, units) for key, units in counts if key >= at]),
        )

    def absorb(self, other: "HotKeys") -> None:
        """Add the counts of `other`."""
        for key, units in other.heaviest(2 * KEYS):
            self.add(key, units)

    def heaviest(self, count: int) -> list[tuple[bytes, float]]:
        """The heaviest keys and their units, heaviest first; equal ones in key order."""
        return sorted(self._counts.items(), key=lambda pair: (-pair[1], pair[0]))[:count]
