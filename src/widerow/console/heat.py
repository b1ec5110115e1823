"""A heat map of the range of keys over time, as numbers and as shapes: pure functions.

Time goes to the right, keys go upwards. A row of boxes is a range of keys; the rows are cut so that
each has about the same load over the whole time, as far as keys can be divided: where all load goes
to a few keys, each of these has a row of its own, and the idle rest shares one.
"""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from widerow.engine.partitions.history import Interval

__all__ = ["SHADES", "HeatGrid", "heat_grid", "heat_paths", "shade_of"]

SHADES = 8
"""Shades of a box that has any load, from light to dark; 0 is none."""


@dataclass(frozen=True, slots=True)
class HeatGrid:
    """Units a second by time and key.

    `starts`: of each column, seconds since 1970; `seconds`: that a column lasts. `keys`: where the
    rows begin, ascending, the first b"": the beginning of the table. `cells`: one list for each
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
    intervals: Sequence[Interval], since_s: int, until_s: int, *, columns: int, rows: int
) -> HeatGrid:
    """The load from `since_s` up to `until_s` in at most so many columns and rows.

    Linear in the bins of the intervals, with a search among the rows for each. The load of all
    boxes together is that of the intervals that begin in this time.
    """
    seconds = max(1, -(-(until_s - since_s) // columns))
    count = max(1, -(-(until_s - since_s) // seconds))
    kept = [each for each in intervals if since_s <= each.start_s < until_s]
    keys = _rows(kept, rows)
    sums = [[0.0] * count for _ in keys]
    for interval in kept:
        column = min(count - 1, (interval.start_s - since_s) // seconds)
        for key, units in interval.bins:
            sums[bisect_right(keys, key) - 1][column] += units
    return HeatGrid(
        tuple(since_s + column * seconds for column in range(count)),
        seconds,
        tuple(keys),
        tuple(tuple(units / seconds for units in row) for row in sums),
    )


def _rows(intervals: Iterable[Interval], rows: int) -> list[bytes]:
    """Where rows begin: at b"", and at most so many keys that divide the load evenly.

    A key whose share is above that of a row begins one, and the next key begins another.
    """
    load: dict[bytes, float] = defaultdict(float)
    for interval in intervals:
        for key, units in interval.bins:
            load[key] += units
    whole = sum(load.values())
    heavy = {key for key, units in load.items() if units > whole / rows}
    rest = whole - sum(load[key] for key in heavy)
    share = rest / max(1, rows - 2 * len(heavy))
    starts: list[bytes] = []
    apart: set[bytes] = set()  # where a heavy key has its row, and where the row behind it begins
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
    """At most so many of these, those that stand apart as long as there is room for them."""
    while len(starts) > most:
        others = [each for each in starts if each not in apart]
        if not others:
            return starts[:: -(-len(starts) // max(1, most))][:most]
        gone = set(others[::2])
        starts = [each for each in starts if each not in gone]
    return starts


def shade_of(units: float, most: float) -> int:
    """The shade of a box, 0 where it has no load. Low loads are told apart, too."""
    if units <= 0 or most <= 0:
        return 0
    return 1 + min(SHADES - 1, int((units / most) ** 0.35 * SHADES))


def heat_paths(grid: HeatGrid, width: int, height: int) -> list[tuple[int, str]]:
    """The boxes as paths of an SVG, one for each shade, and boxes of one shade side by side joined.

    All places are whole numbers, so the same grid is the same text everywhere.
    """
    outlines: dict[int, list[str]] = defaultdict(list)
    count, most = len(grid.keys), grid.most
    for number, row in enumerate(grid.cells):
        top, bottom = height - (number + 1) * height // count, height - number * height // count
        shades = [shade_of(units, most) for units in row]
        start = 0
        for at in range(1, len(shades) + 1):
            if at == len(shades) or shades[at] != shades[start]:
                left, right = start * width // len(row), at * width // len(row)
                box = f"M{left} {top}H{right}V{bottom}H{left}Z"
                if shades[start]:
                    outlines[shades[start]].append(box)
                start = at
    return [(shade, "".join(outlines[shade])) for shade in sorted(outlines)]
