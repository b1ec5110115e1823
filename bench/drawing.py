"""Charts of a run as pictures: bars, and lines on two logarithmic scales."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from widerow.pictures.shapes import (
    GRID,
    INK,
    MUTED,
    PAPER,
    Box,
    Dot,
    Line,
    Picture,
    Shape,
    Trace,
    Words,
)
from widerow.pictures.svg import svg

_BLUE: Final = "#0969da"
_BROWN: Final = "#bc4c00"
_OTHER: Final = "#8c959f"
_COLOURS: Final = (_BLUE, _BROWN)  # of lines
_DARK: Final[Mapping[str, str]] = {
    PAPER: "#0d1117",
    INK: "#f0f6fc",
    MUTED: "#9198a1",
    GRID: "#3d444d",
    _BLUE: "#4493f8",
    _BROWN: "#f0883e",
    _OTHER: "#656c76",
}
_WIDTH: Final = 720
_LABEL: Final = 250  # room for the names of bars
_BAR: Final = 26
_DECADE: Final = 10
_LEFT, _TOP, _PLOT_WIDTH, _PLOT_HEIGHT = 64, 56, 620, 250


class Bar(NamedTuple):
    """One bar; `own` ones stand out."""

    name: str
    value: float
    own: bool = False


class Series(NamedTuple):
    """A line through points; `labels` stand at the points."""

    name: str
    points: Sequence[tuple[float, float]]
    labels: Sequence[str] = ()


def _picture(height: int, title: str, shapes: Iterator[Shape]) -> Picture:
    """A picture with its title and a frame."""
    right, bottom = _WIDTH - 1, height - 1
    frame = Trace(((1, 1), (right, 1), (right, bottom), (1, bottom), (1, 1)), GRID, 1)
    name = Words(20, 28, title, size=15, bold=True)
    return Picture(_WIDTH, height, title, (frame, name, *shapes), _DARK)


def bars(title: str, unit: str, panels: Sequence[tuple[str, Sequence[Bar]]]) -> Picture:
    """Panels of horizontal bars on one scale from nought."""
    longest = max(bar.value for _, panel in panels for bar in panel)
    height = 52 + sum(34 + _BAR * len(panel) for _, panel in panels)
    return _picture(height, title, _bars(unit, panels, longest))


def _bars(
    unit: str, panels: Sequence[tuple[str, Sequence[Bar]]], longest: float
) -> Iterator[Shape]:
    y = 36
    for name, panel in panels:
        y += 24
        yield Words(20, y, name, colour=MUTED)
        for bar in panel:
            y += _BAR
            width = max(1, round(bar.value / longest * (_WIDTH - _LABEL - 90)))
            yield Words(_LABEL - 10, y, bar.name, "end", 13)
            yield Box(_LABEL, y - 14, width, 18, _BLUE if bar.own else _OTHER)
            yield Words(_LABEL + width + 8, y, f"{bar.value:,.0f} {unit}", size=13)
        y += 10


class Scale(NamedTuple):
    """From values to places along one side, logarithmic."""

    low: float
    high: float
    start: int
    length: int

    def at(self, value: float) -> int:
        """Where a value lies."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + round(share * self.length)

    def ticks(self) -> list[float]:
        """1, 2 and 5 of every power of ten in the scale, and more of them in a short one."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        steps = (1, 2, 5) if self.high / self.low > _DECADE else (1, 1.5, 2, 3, 4, 5, 6, 8)
        values = [step * 10.0**power for power in powers for step in steps]
        return [value for value in values if self.low <= value <= self.high]


def scale(values: Sequence[float], start: int, length: int) -> Scale:
    """A scale that holds these values, all positive, with a margin."""
    return Scale(min(values) / 1.3, max(values) * 1.3, start, length)


def lines(title: str, across: str, up: str, series: Sequence[Series]) -> Picture:
    """Lines through points, both scales logarithmic."""
    xs = scale([x for each in series for x, _ in each.points], _LEFT, _PLOT_WIDTH)
    ys = scale([y for each in series for _, y in each.points], _TOP + _PLOT_HEIGHT, -_PLOT_HEIGHT)
    shapes = [*_axes((across, up), xs, ys)]
    for at, each in enumerate(series):
        shapes += _line(at, each, xs, ys)
    return _picture(_TOP + _PLOT_HEIGHT + 50, title, iter(shapes))


def _axes(names: tuple[str, str], xs: Scale, ys: Scale) -> Iterator[Shape]:
    right, bottom = _LEFT + _PLOT_WIDTH, _TOP + _PLOT_HEIGHT
    yield Words(20, 46, names[1], colour=MUTED)
    yield Words(right, bottom + 38, names[0], "end", colour=MUTED)
    for value in ys.ticks():
        y = ys.at(value)
        yield Line(_LEFT, y, right, y, GRID)
        yield Words(_LEFT - 8, y + 4, f"{value:,g}", "end", colour=MUTED)
    for value in xs.ticks():
        x = xs.at(value)
        yield Line(x, _TOP, x, bottom, GRID)
        yield Words(x, bottom + 18, f"{value:,.0f}", "middle", colour=MUTED)


def _line(at: int, series: Series, xs: Scale, ys: Scale) -> Iterator[Shape]:
    colour = _COLOURS[at]
    places = [(xs.at(x), ys.at(y)) for x, y in series.points]
    yield Trace(tuple(places), colour)
    for (x, y), label in zip(places, series.labels or [""] * len(places), strict=True):
        yield Dot(x, y, 4, colour)
        if label:
            yield Words(x + 7, y - 7 if at == 0 else y + 16, label, colour=MUTED)
    place = _LEFT + _PLOT_WIDTH - 8 - 110 * at
    yield Words(place, 28, f"● {series.name}", "end", 13, colour)


def charts(results: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Every chart that these results suffice for, as SVG by file name."""
    made = {"speed.svg": speed(results)}
    for name, what in (("GetRow", "reading one row"), ("PutRow", "writing one row, synced")):
        found = [each for each in results if each["group"] == "curve" and each["name"] == name]
        if len(found) > 1:
            made[f"{name.lower()}.svg"] = curve(what, found)
    sizes = [each for each in results if each["group"] == "size"]
    if len(sizes) > 3:
        made["size.svg"] = growth(sizes)
    return {name: svg(chart) for name, chart in made.items() if chart}


def curve(what: str, found: Sequence[dict[str, Any]]) -> Picture:
    """Latency over throughput as connections are added."""
    labels = [str(each["connections"]) for each in found]
    middle = [(each["per_second"], each["p50_us"] / 1000) for each in found]
    slow = [(each["per_second"], each["p99_us"] / 1000) for each in found]
    return lines(
        f"Latency and throughput, {what}",
        "requests a second; numbers at the points: connections",
        "milliseconds",
        [Series("p50", middle, labels), Series("p99", slow)],
    )


def growth(found: Sequence[dict[str, Any]]) -> Picture:
    """Processor time over the rows that a table has."""
    series = []
    for name in ("GetRow", "GetRange"):
        some = [each for each in found if each["name"].startswith(name)]
        points = [(each["also"]["table_rows"], each["cpu_us"]) for each in some]
        series.append(Series(name, points))
    return lines("Cost as a table grows", "rows in the table", "CPU µs a request", series)


_SHOWN: Final = (
    (
        "Read one row of 10 × 100 bytes by its key, 32 connections",
        (
            ("GetRow", "read", "widerow"),
            ("echo of GetRow", "echo", "HTTP alone, no store"),
            ("Redis HGETALL", "peer", "Redis, in memory"),
            ("PostgreSQL select", "peer", "PostgreSQL"),
            ("dynalite GetItem", "peer", "dynalite (DynamoDB)"),
        ),
        32,
    ),
    (
        "Write one such row, 128 connections (dynalite: 32)",
        (
            ("PutRow", "write", "widerow, synced"),
            ("echo of PutRow", "echo", "HTTP alone, no store"),
            ("Redis HSET", "peer", "Redis, synced"),
            ("PostgreSQL upsert", "peer", "PostgreSQL, synced"),
            ("dynalite PutItem", "peer", "dynalite, not synced"),
        ),
        128,
    ),
)


def speed(results: Sequence[dict[str, Any]]) -> Picture | None:
    """Processor time for one row read and one row written, beside that of peers; None if none."""
    panels = []
    for title, shown, connections in _SHOWN:
        panel = [
            Bar(label, each["cpu_us"], own=group in ("read", "write"))
            for name, group, label in shown
            for each in results
            if each["name"] == name
            and each["group"] == group
            and (each["connections"] == connections or name.startswith("dynalite"))
        ]
        if panel:
            panels.append((title, panel))
    return bars("CPU time of the server for one request", "µs", panels) if panels else None
