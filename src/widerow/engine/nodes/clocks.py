"""The difference of two nodes' clocks, as one of them can tell from the other's beats.

A node's record says what its clock was at a beat. Whoever sees a beat for the first time takes it
for one that was made since the last look: so the other clock is ahead of this one by something
between two bounds, which lie as far apart as the two looks.

A beat that took long to become durable was made earlier than that, and makes a clock look behind
that is not. Nothing makes one look ahead. So what counts is the largest of the last few beats.
"""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Skew", "largest"]


class Skew(NamedTuple):
    """By how much another clock is ahead of this clock: between `low_us` and `high_us`."""

    low_us: int
    high_us: int

    @classmethod
    def of(cls, beat_us: int, looked_us: int, seen_us: int) -> "Skew":
        """The skew that a beat at `beat_us` shows, made between `looked_us` and `seen_us`."""
        return cls(beat_us - seen_us, beat_us - looked_us)

    @property
    def least_us(self) -> int:
        """The clocks differ by at least this much, whichever is ahead."""
        return max(self.low_us, -self.high_us, 0)

    @property
    def middle_us(self) -> int:
        """The middle of the bounds; positive where the other clock is ahead."""
        return (self.low_us + self.high_us) // 2


def largest(skews: Sequence[Skew]) -> Skew | None:
    """The skew that counts of several beats; None without beats."""
    return max(skews, default=None)
