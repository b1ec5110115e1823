"""How accesses move over the range of a key in time.

Partitions are ranges of keys, so a key is good if the accesses of any moment are spread over its
whole range. Two figures measure this:

* the hot range: the range of keys is cut into 32 pieces with equally many rows, the rows into
  intervals of equally many rows by their time. How much of an interval does its busiest piece get,
  on average? 1/32 is even; at 1 all writers always write to one piece;
* the appended share: how many rows lie above nine tenths of the rows before them? A tenth is what
  an even key has, and 1 a key that only grows.

Both are taken from a sample of the rows: at least 65,536 of them, or all. The order of rows with
one time, as those of a batch, is not known, and says nothing.
"""

import math
from bisect import bisect_left, bisect_right, insort
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Final, TypeVar

from widerow.keydesign.sketch import mixed

__all__ = [
    "INTERVALS_MIN",
    "RANGES",
    "appended_share",
    "chance_share",
    "hot_range_share",
    "in_order_of_time",
    "range_starts",
]

Row = TypeVar("Row")

RANGES: Final = 32
"""The pieces into which a range of keys is cut, as if the table had so many partitions."""

INTERVALS_MIN: Final = 8
"""The intervals into which the rows are cut at least: with fewer, a growing key is not seen."""

_INTERVALS_MAX: Final = 24  # with more, each has few rows
_INTERVAL_ROWS: Final = 32 * RANGES  # with fewer, chance makes one piece busier than the others
_TAIL: Final = 0.9
_TAIL_ROWS_MAX: Final = 16_384  # gives a standard error below 0.3 %
_FIRST_ROWS: Final = 100  # the first rows have too few rows before them for a comparison

# Keys of one candidate have one type and an order; typing has no name for such a type.
Key = Any


def range_starts(keys: Sequence[Key], pieces: int = RANGES) -> list[Key]:
    """Where the second and later pieces begin, with equally many rows in each as far as possible.

    A key is never cut, so few different keys give fewer pieces. Costs n log n.
    """
    ordered = sorted(keys)
    starts = (ordered[len(ordered) * piece // pieces] for piece in range(1, pieces))
    return sorted({start for start in starts if start > ordered[0]})


def hot_range_share(keys: Sequence[Key], pieces: int = RANGES) -> float:
    """The share of an interval's rows that its busiest piece gets; `keys` are in order of time."""
    if not keys:
        return 0.0
    starts = range_starts(keys, pieces)
    intervals = _intervals(len(keys))
    bounds = [len(keys) * number // intervals for number in range(intervals + 1)]
    busiest = 0
    for start, end in pairwise(bounds):
        found = Counter(bisect_right(starts, key) for key in keys[start:end])
        busiest += max(found.values(), default=0)
    return busiest / len(keys)


def _intervals(rows: int) -> int:
    return max(INTERVALS_MIN, min(_INTERVALS_MAX, rows // _INTERVAL_ROWS))


def chance_share(rows: int) -> float:
    """The hot range's share that chance alone does not exceed, for an even key with so many rows.

    A piece of an interval has a Poisson number of rows; a quarter is added to what the largest of
    32 such numbers is on average.
    """
    mean = max(1.0, rows / _intervals(rows) / RANGES)
    return 1.25 * (1 + math.sqrt(2 * math.log(RANGES) / mean)) / RANGES


def in_order_of_time(rows: Sequence[Row], time: Callable[[Row], float]) -> list[Row]:
    """The rows sorted by their times; those of one time in an order that means nothing."""
    order = sorted(range(len(rows)), key=lambda at: (time(rows[at]), mixed(at)))
    return [rows[at] for at in order]


def appended_share(keys: Sequence[Key]) -> float:
    """The share of rows above nine tenths of the rows before them; `keys` are in order of time.

    A row that is equal to others stands in their middle. At most 16,384 rows are examined.
    """
    keys = keys[:: -(-len(keys) // _TAIL_ROWS_MAX)] if keys else keys
    before: list[Key] = []
    above = 0
    for key in keys:
        if len(before) >= _FIRST_ROWS:
            rank = (bisect_left(before, key) + bisect_right(before, key)) / 2
            above += rank > _TAIL * len(before)
        insort(before, key)
    return above / max(1, len(keys) - _FIRST_ROWS) if len(keys) > _FIRST_ROWS else 0.0
