"""The picture of a replay: where in the range of keys the load is, and its effect on nodes.

Above, the heat map: time to the right, keys upwards, each row of boxes a part of the keys with
equally much load over the whole time, as far as keys can be divided. Bounds of partitions are lines
on it. Below, how far the busiest node is from the mean, and when partitions split, merged and
moved.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from widerow.keydesign.replay import Replay, ReplayStep
from widerow.pictures.heat import HEAT_LEVELS, SHADES, heat_boxes, heat_level
from widerow.pictures.shapes import (
    GRID,
    INK,
    MUTED,
    ORANGE,
    PURPLE,
    TEAL,
    Box,
    Line,
    Picture,
    Shape,
    Trace,
    Words,
)

__all__ = ["Legend", "heat_map"]

_WIDTH: Final = 800
_LEFT: Final = 128
_TOP: Final = 88
_PLOT_HEIGHT: Final = 256
_BAR: Final = 702  # where the scale of colours is
_SKEW_HEIGHT: Final = 72
_EVENT_HEIGHT: Final = 16
_TICKS: Final = 6  # on the axis of time
_LABELS: Final = 5  # on the axis of keys
_LABEL_CHARACTERS: Final = 14


@dataclass(frozen=True, slots=True)
class Legend:
    """The texts of a picture. `label` writes a key for the axis, `time` a second of the replay."""

    title: str
    subtitle: str
    lowest: str
    label: Callable[[bytes], str]
    time: Callable[[float], str]


def heat_map(run: Replay, legend: Legend) -> Picture:
    """Draw a replay."""
    column = (_BAR - 30 - _LEFT) // len(run.steps)
    right = _LEFT + column * len(run.steps)
    skew_top = _TOP + _PLOT_HEIGHT + 66
    events_top = skew_top + _SKEW_HEIGHT + 14
    shapes = [
        Words(20, 30, legend.title, size=17, bold=True),
        Words(20, 50, legend.subtitle, size=12, colour=MUTED),
        Words(
            _LEFT,
            _TOP - 10,
            "key, smallest below: each row has equally much load, where keys allow",
            size=11,
            colour=MUTED,
        ),
        *_cells(run, column),
        *_bounds(run, column),
        *_key_axis(run, legend),
        *_scale(_most(run)),
        *_time_axis(run, legend, column, _TOP + _PLOT_HEIGHT),
        *_skew(run, column, right, skew_top),
        *_events(run, column, right, events_top),
    ]
    height = events_top + 3 * _EVENT_HEIGHT + 16
    return Picture(_WIDTH, height, legend.title, tuple(shapes))


def _most(run: Replay) -> float:
    """The load that has the darkest colour."""
    return max((max(step.pieces) for step in run.steps), default=0.0) or 1.0


def _row(run: Replay, number: int) -> int:
    """The lower edge of a row of boxes."""
    return _TOP + _PLOT_HEIGHT - number * _PLOT_HEIGHT // (len(run.pieces) + 1)


def _cells(run: Replay, column: int) -> Iterator[Shape]:
    """The load of each piece and step."""
    most, pieces = _most(run), range(len(run.pieces) + 1)
    found = heat_boxes(
        [[heat_level(step.pieces[piece], most) for step in run.steps] for piece in pieces],
        [_LEFT + number * column for number in range(len(run.steps) + 1)],
        [_row(run, number) for number in range(len(run.pieces) + 2)],
    )
    for _, boxes in found:
        yield from boxes


def _bounds(run: Replay, column: int) -> Iterator[Shape]:
    """A line for each bound, as long as the bound existed."""
    rows: dict[int, list[int]] = {}
    for number, step in enumerate(run.steps):
        for row in {bisect_left(run.pieces, bound) for bound in step.bounds}:
            rows.setdefault(row, []).append(number)
    for row, numbers in sorted(rows.items()):
        y = _row(run, row)
        for start, end in _runs(numbers):
            yield Line(_LEFT + start * column, y, _LEFT + (end + 1) * column, y, ORANGE, 2)


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """First and last of each run of neighbours."""
    start = 0
    for at in range(1, len(numbers) + 1):
        if at == len(numbers) or numbers[at] != numbers[at - 1] + 1:
            yield numbers[start], numbers[at - 1]
            start = at


def _key_axis(run: Replay, legend: Legend) -> Iterator[Shape]:
    count = len(run.pieces) + 1
    for place in range(_LABELS):
        number = place * count // _LABELS
        words = legend.lowest if number == 0 else legend.label(run.pieces[number - 1])
        if len(words) > _LABEL_CHARACTERS:
            words = words[: _LABEL_CHARACTERS - 2] + ".."
        y = _row(run, number)
        yield Line(_LEFT - 4, y, _LEFT, y, MUTED)
        yield Words(_LEFT - 8, y + 4 if number else y, words, "end", 11)


def _scale(most: float) -> Iterator[Shape]:
    """The colours and what they mean."""
    height = 20
    yield Words(_BAR, _TOP - 10, "units per second", size=11, colour=MUTED)
    for step in range(HEAT_LEVELS):
        y = _TOP + (HEAT_LEVELS - 1 - step) * height
        yield Box(_BAR, y, 16, height, SHADES[step + 1])
        if step % 2 == 0:
            yield Words(_BAR + 22, y + height + 4, f"{most * step / HEAT_LEVELS:,.0f}", size=11)
    yield Words(_BAR + 22, _TOP + 8, f"{most:,.0f}", size=11)
    y = _TOP + HEAT_LEVELS * height + 28
    yield Line(_BAR, y - 4, _BAR + 16, y - 4, ORANGE, 2)
    yield Words(_BAR + 22, y, "bound of", size=11)
    yield Words(_BAR + 22, y + 14, "partitions", size=11)


def _time_axis(run: Replay, legend: Legend, column: int, bottom: int) -> Iterator[Shape]:
    count = len(run.steps)
    for tick in range(_TICKS + 1):
        number = tick * count // _TICKS
        x = _LEFT + number * column
        second = run.steps[0].start + number * run.steps[0].seconds
        yield Line(x, bottom, x, bottom + 4, MUTED)
        yield Words(x, bottom + 18, legend.time(second), "middle", 11)


def _skew(run: Replay, column: int, right: int, top: int) -> Iterator[Shape]:
    """A line through the skew of each step, between 1 and the number of nodes."""
    nodes = max(2, len(run.steps[0].nodes))

    def height(step: ReplayStep) -> int:
        return top + _SKEW_HEIGHT - round((step.skew - 1) * _SKEW_HEIGHT / (nodes - 1))

    yield Words(
        _LEFT, top - 12, "load of the busiest node, in means of all nodes", size=11, colour=MUTED
    )
    for value in range(1, nodes + 1, max(1, (nodes - 1) // 3)):
        y = top + _SKEW_HEIGHT - (value - 1) * _SKEW_HEIGHT // (nodes - 1)
        yield Line(_LEFT, y, right, y, GRID)
        meaning = {1: "1 (even)", nodes: f"{nodes} (one node)"}.get(value, f"{value}")
        yield Words(_LEFT - 8, y + 4, meaning, "end", 11)
    middle = _LEFT + column // 2
    points = [(middle + number * column, height(step)) for number, step in enumerate(run.steps)]
    yield Trace(tuple(points), TEAL)


def _events(run: Replay, column: int, right: int, top: int) -> Iterator[Shape]:
    """A mark for each event, in one row for each kind."""
    for row, (what, colour) in enumerate((("splits", ORANGE), ("merges", PURPLE), ("moves", INK))):
        y = top + row * _EVENT_HEIGHT
        yield Words(_LEFT - 8, y + 12, what, "end", 11)
        yield Line(_LEFT, y + 15, right, y + 15, GRID)
        for number, step in enumerate(run.steps):
            if getattr(step, what):
                yield Box(_LEFT + number * column + 1, y + 3, column - 2, 12, colour)
        yield Words(right + 10, y + 12, f"{run.count(what)}", size=11)
