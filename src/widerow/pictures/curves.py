"""Curves of values over time, as numbers and as places in a picture: pure functions.

Time goes to the right, values go upwards. A curve is thinned so that each column of the picture
keeps its least and its greatest value; it has a gap where values are missing.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Final, NamedTuple

__all__ = ["Axis", "Curve", "Mark", "Sample", "curve", "in_runs", "thinned", "time_ticks"]

_GAP: Final = 3  # times the usual step: a longer one is a gap
_TICKS: Final = 4
_LONG: Final = 1e9  # from which on labels are written with an exponent, if they stay apart
_EVEN: Final = 1e-9  # of the values: a smaller span of reals is not divided into even steps
_HUGE: Final = 1e300
_SECOND: Final = 1_000_000
_TIME_STEPS: Final = (
    *(digit * 10**zeros for zeros in range(6) for digit in (1, 2, 5)),
    *(count * _SECOND for count in (1, 2, 5, 10, 15, 30)),
    *(count * 60 * _SECOND for count in (1, 2, 5, 10, 15, 30)),
    *(count * 3600 * _SECOND for count in (1, 2, 3, 6, 12)),
    *(digit * 10**zeros * 86_400 * _SECOND for zeros in range(9) for digit in (1, 2, 5)),
)


class Sample(NamedTuple):
    """A value at a time (microseconds). `run`: equal for samples that a line connects."""

    time_us: int
    value: int | float
    run: int = 0


class Mark(NamedTuple):
    """A sample at its place in the picture."""

    x: int
    y: int
    sample: Sample


@dataclass(frozen=True, slots=True)
class Axis:
    """The values from bottom to top, and those that are written beside it."""

    low: int | float
    high: int | float
    ticks: tuple[int | float, ...]
    labels: tuple[str, ...]

    def part(self, value: float) -> float:
        """How far up a value is: 0 to 1."""
        whole = self.high - self.low
        if whole == 0:
            return 0.5
        if math.isinf(whole):
            return (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        return (value - self.low) / whole


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve in a picture. `path`: its lines, as the data of one path."""

    axis: Axis
    marks: tuple[Mark, ...]
    path: str


def in_runs(samples: Iterable[tuple[int, int | float]]) -> list[Sample]:
    """Samples of ascending times with the numbers of their runs; those without a number left out.

    A run ends at a value that is not a finite number, and where the step to the next sample is more
    than three times the usual one (the median).
    """
    given = list(samples)
    steps = sorted(later[0] - earlier[0] for earlier, later in pairwise(given))
    longest = _GAP * steps[len(steps) // 2] if steps else 0
    found: list[Sample] = []
    run, last = 0, given[0][0] if given else 0
    for time_us, value in given:
        if time_us - last > longest or not math.isfinite(value):
            run += 1
        last = time_us
        if math.isfinite(value):
            found.append(Sample(time_us, value, run))
    return found


def thinned(samples: Sequence[Sample], since_us: int, until_us: int, columns: int) -> list[Sample]:
    """At most two samples for each column of time: one of its least and one of its greatest value.

    In their order, which is that of time. Linear in the samples.
    """
    found: list[Sample] = []

    def column(sample: Sample) -> int:
        return _place(sample.time_us, since_us, until_us, columns)

    for _, group in groupby(samples, column):
        there = list(group)
        numbers = range(len(there))
        least = min(numbers, key=lambda at: there[at].value)
        greatest = max(numbers, key=lambda at: there[at].value)
        found += [there[at] for at in sorted({least, greatest})]
    return found


def curve(
    samples: Sequence[Sample],
    window: tuple[int, int],
    size: tuple[int, int],
    columns: int,
) -> Curve:
    """The curve of one sample or more in a picture of this width and height.

    `window`: the times of its left and right side.
    """
    since_us, until_us = window
    width, height = size
    axis = _axis([each.value for each in samples])
    marks = [
        Mark(
            _place(each.time_us, since_us, until_us, width),
            height - round(axis.part(each.value) * height),
            each,
        )
        for each in thinned(samples, since_us, until_us, columns)
    ]
    return Curve(axis, tuple(marks), "\n".join(_lines(marks)))


def time_ticks(since_us: int, until_us: int) -> tuple[int, list[int]]:
    """Even times in a window, at most five, and the step between them, in microseconds."""
    span = until_us - since_us
    step = next((each for each in _TIME_STEPS if span <= each * _TICKS), _TIME_STEPS[-1])
    return step, list(range(-(-since_us // step) * step, until_us + 1, step))


def _place(time_us: int, since_us: int, until_us: int, width: int) -> int:
    """Where a time is in a width: 0 to one less than it."""
    span = max(1, until_us - since_us)
    return min(width - 1, max(0, (time_us - since_us) * width // span))


def _lines(marks: Sequence[Mark]) -> Iterator[str]:
    """A line for each run; a run of one sample has a mark and no line."""
    for _, group in groupby(marks, lambda mark: mark.sample.run):
        run = list(group)
        if len(run) > 1:
            yield f"M{run[0].x} {run[0].y}L" + " ".join(f"{each.x} {each.y}" for each in run[1:])


def _axis(values: Sequence[int | float]) -> Axis:
    """An axis with all of these values, from an even number to an even number."""
    low, high = min(values), max(values)
    whole = all(isinstance(each, int) for each in values)
    most = max(abs(low), abs(high))
    if low == high and most < _HUGE:
        pad = max(1, abs(low) // 10) if whole else abs(low) / 10 or 1.0
        low, high = low - pad, high + pad
    span = high - low
    if not whole and not max(_EVEN * most, 1 / _HUGE) < span < _HUGE:
        return _labelled(low, high, (low, high), 17)
    exponent = math.floor(math.log10(span / _TICKS))
    base = span / _TICKS / 10.0**exponent
    digit = next((each for each in (1, 2, 5) if base <= each), 10)
    if exponent >= 0 or whole:
        step = max(1, digit * 10 ** max(0, exponent))
        first, last = math.floor(low) // step, -(-math.ceil(high) // step)
        ticks: tuple[int | float, ...] = tuple(step * n for n in range(first, last + 1))
        return _labelled(ticks[0], ticks[-1], ticks, 0)
    size = digit * 10.0**exponent
    numbers = range(math.floor(low / size), math.ceil(high / size) + 1)
    ticks = tuple(round(size * n, -exponent) for n in numbers)
    return _labelled(min(low, ticks[0]), max(high, ticks[-1]), ticks, -exponent)


def _labelled(low: float, high: float, ticks: tuple[int | float, ...], decimals: int) -> Axis:
    """An axis with the shortest labels that keep its ticks apart."""
    short = [f"{each:.4g}" for each in ticks]
    largest = max(map(abs, ticks))
    if decimals <= 6 and largest < _LONG:
        short = [f"{each:,.{decimals}f}" for each in ticks]
    elif len(set(short)) < len(set(ticks)):
        short = [str(each) for each in ticks]
    return Axis(low, high, ticks, tuple(short))
