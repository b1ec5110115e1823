"""A heat map of the range of keys over time, as numbers and as shapes: pure functions.

Time goes to the right, keys go upwards. A row of boxes is a range of keys; the rows are cut so that
each has about the same load over the whole time, as far as keys can be divided: where all load goes
to a few keys, each of these has a row of its own, and the idle rest shares one.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final

from widerow.pictures.shapes import Box

__all__ = [
    "HEAT_LEVELS",
    "SHADES",
    "HeatGrid",
    "KeyedLoad",
    "heat_boxes",
    "heat_grid",
    "heat_level",
]

HEAT_LEVELS: Final = 8
"""Levels of a box that has any load, from little to most; level 0 is no load."""
SHADES: Final = (
    # One hue from light to dark, so that it reads in grey too (ColorBrewer, Blues).
    *("#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6"),
    *("#4292c6", "#2171b5", "#08519c", "#08306b"),
)
"""The colour of each level."""

KeyedLoad = tuple[int, Sequence[tuple[bytes, float]]]
"""The second since 1970 at which some load began, and its units by key."""


@dataclass(frozen=True, slots=True)
class HeatGrid:
    """Units a second by time and key.

    `starts`: of each column, seconds since 1970; `seconds`: the length of a column. `keys`: where
    the rows begin, ascending, the first b"": the beginning of the table. `cells`: one list for each
    of the rows.
    """

    starts: tuple[int, ...]
    seconds: int
    keys: tuple[bytes, ...]
    cells: tuple[tuple[float, ...], ...]

    @property
    def most(self) -> float:
        """The load of the busiest box."""
        return max((max(row, default=0.0) for row in self.cells), default=0.0)


def heat_grid(
    loads: Sequence[KeyedLoad], since_s: int, until_s: int, *, columns: int, rows: int
) -> HeatGrid:
    """The load from `since_s` up to `until_s` in at most so many columns and rows.

    Linear in the keys of the loads, with a search among the rows for each. The load of all boxes
    together is that of the loads that begin in this time.
    """
    seconds = max(1, -(-(until_s - since_s) // columns))
    count = max(1, -(-(until_s - since_s) // seconds))
    kept = [(start_s, bins) for start_s, bins in loads if since_s <= start_s < until_s]
    keys = _rows(kept, rows)
    sums = [[0.0] * count for _ in keys]
    for start_s, bins in kept:
        column = min(count - 1, (start_s - since_s) // seconds)
        for key, units in bins:
            sums[bisect_right(keys, key) - 1][column] += units
    return HeatGrid(
        tuple(since_s + column * seconds for column in range(count)),
        seconds,
        tuple(keys),
        tuple(tuple(units / seconds for units in row) for row in sums),
    )


def _rows(loads: Iterable[KeyedLoad], rows: int) -> list[bytes]:
    """The starts of rows: b"" and at most so many keys that divide the load evenly.

    A key with more load than a row's share has a row of its own.
    """
    load: dict[bytes, float] = defaultdict(float)
    for _, bins in loads:
        for key, units in bins:
            load[key] += units
    whole = sum(load.values())
    heavy = {key for key, units in load.items() if units > whole / rows}
    rest = whole - sum(load[key] for key in heavy)
    share = rest / max(1, rows - 2 * len(heavy))
    starts: list[bytes] = []
    apart: set[bytes] = set()  # first keys of the rows of heavy keys, and of the rows after them
    held = 0.0
    alone = False
    for key, units in sorted(load.items()):
        if key in heavy or alone:
            apart.add(key)
        if key in apart or (held and held + units > share):
            starts.append(key)
            held = 0.0
        held += units
        alone = key in heavy
    return [b"", *_thinned(starts, apart, rows - 1)]


def _thinned(starts: list[bytes], apart: set[bytes], most: int) -> list[bytes]:
    """At most `most` of these keys; keys that are `apart` are kept as long as there is room."""
    while len(starts) > most:
        others = [each for each in starts if each not in apart]
        if not others:
            return starts[:: -(-len(starts) // max(1, most))][:most]
        gone = set(others[::2])
        starts = [each for each in starts if each not in gone]
    return starts


def heat_level(units: float, most: float, curve: float = 1.0) -> int:
    """The level of a box: 0 without load, then 1 to `HEAT_LEVELS` by its part of the most.

    A `curve` below 1 tells low loads apart, and high ones less.
    """
    if units <= 0 or most <= 0:
        return 0
    return 1 + min(HEAT_LEVELS - 1, int((units / most) ** curve * HEAT_LEVELS))


def heat_boxes(
    levels: Sequence[Sequence[int]], across: Sequence[int], upwards: Sequence[int]
) -> list[tuple[int, list[Box]]]:
    """Boxes by level, ascending; boxes of one level side by side are joined.

    `levels`: one list for each row, the lowest first. `across`: where the columns begin and the
    last one ends, from the left. `upwards`: where the rows begin and the last one ends, from below.
    """
    found: dict[int, list[Box]] = defaultdict(list)
    for row, (bottom, top) in zip(levels, pairwise(upwards), strict=True):
        start = 0
        for level, run in groupby(row):
            stop = start + len(list(run))
            left, right = across[start], across[stop]
            found[level].append(Box(left, top, right - left, bottom - top, SHADES[level]))
            start = stop
    return sorted(found.items())
