"""How far the clocks of two nodes are apart, from what one sees of the other.

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
    """By how much another clock is ahead of this one: between `low_us` and `high_us`."""

    low_us: int
    high_us: int

    @classmethod
    def of(cls, beat_us: int, looked_us: int, seen_us: int) -> "Skew":
        """Of a beat at `beat_us` that was made between two looks; the others by this clock."""
        return cls(beat_us - seen_us, beat_us - looked_us)

    @property
    def least_us(self) -> int:
        """The clocks are at least so far apart, whichever is ahead."""
        return max(self.low_us, -self.high_us, 0)

    @property
    def middle_us(self) -> int:
        """The likeliest value; positive where the other clock is ahead."""
        return (self.low_us + self.high_us) // 2


def largest(skews: Sequence[Skew]) -> Skew | None:
    """What several beats together tell of a clock; None: there is none."""
    return max(skews, default=None)
