"""Charts as SVG, written by hand: a few lines, text that stays text, and no library.

Each brings its own background and takes the reader's preference for dark or light, so that it can
be read in either. Scales are logarithmic where values span more than a hundredfold.
"""

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any, Final, NamedTuple

_STYLE: Final = """<style>
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#1f2328}
.t{font-weight:600;font-size:15px}.m{fill:#59636e;font-size:12px}
.b{fill:#ffffff;stroke:#d1d9e0}.g{stroke:#d1d9e0}.o{fill:#8c959f}.x0{fill:#0969da}
.l0{stroke:#0969da}.l1{stroke:#bc4c00}.x1{fill:#bc4c00}.l{fill:none;stroke-width:2}
@media (prefers-color-scheme:dark){text{fill:#f0f6fc}.m{fill:#9198a1}
.b{fill:#0d1117;stroke:#3d444d}.g{stroke:#3d444d}.o{fill:#656c76}.x0{fill:#4493f8}
.l0{stroke:#4493f8}.l1{stroke:#f0883e}.x1{fill:#f0883e}}
</style>"""
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


def document(height: float, body: Iterator[str], title: str) -> str:
    """A whole SVG."""
    size = f'viewBox="0 0 {_WIDTH} {height:.0f}" width="{_WIDTH}" height="{height:.0f}"'
    inner = f'width="{_WIDTH - 1}" height="{height - 1:.0f}"'
    label = f'aria-label="{escape(title)}"'
    return "\n".join(
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size}\nrole="img" {label}>',
            _STYLE,
            f'<rect class="b" x="0.5" y="0.5" {inner} rx="8"/>',
            *body,
            "</svg>\n",
        )
    )


def text(x: float, y: float, words: str, style: str = "", anchor: str = "start") -> str:
    """A piece of text."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{style}" {place}\n>{escape(words)}</text>'


def bars(title: str, unit: str, panels: Sequence[tuple[str, Sequence[Bar]]]) -> str:
    """Panels of horizontal bars on one scale from nought."""
    longest = max(bar.value for _, panel in panels for bar in panel)
    height = 52 + sum(34 + _BAR * len(panel) for _, panel in panels)
    return document(height, _bars(title, unit, panels, longest), title)


def _bars(
    title: str, unit: str, panels: Sequence[tuple[str, Sequence[Bar]]], longest: float
) -> Iterator[str]:
    yield text(20, 28, title, "t")
    y = 36.0
    for name, panel in panels:
        y += 24
        yield text(20, y, name, "m")
        for bar in panel:
            y += _BAR
            width = max(1.0, bar.value / longest * (_WIDTH - _LABEL - 90))
            style = "x0" if bar.own else "o"
            yield text(_LABEL - 10, y, bar.name, anchor="end")
            yield (
                f'<rect class="{style}" x="{_LABEL}" y="{y - 14:.1f}" '
                f'width="{width:.1f}" height="18" rx="2"/>'
            )
            yield text(_LABEL + width + 8, y, f"{bar.value:,.0f} {unit}")
        y += 10


class Scale(NamedTuple):
    """From values to places along one side, logarithmic."""

    low: float
    high: float
    start: float
    length: float

    def at(self, value: float) -> float:
        """Where a value lies."""
        share = math.log(value / self.low) / math.log(self.high / self.low)
        return self.start + share * self.length

    def ticks(self) -> list[float]:
        """1, 2 and 5 of every power of ten in the scale, and more of them in a short one."""
        powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
        steps = (1, 2, 5) if self.high / self.low > _DECADE else (1, 1.5, 2, 3, 4, 5, 6, 8)
        values = [step * 10.0**power for power in powers for step in steps]
        return [value for value in values if self.low <= value <= self.high]


def scale(values: Sequence[float], start: float, length: float) -> Scale:
    """A scale that holds these values, all positive, with a margin."""
    return Scale(min(values) / 1.3, max(values) * 1.3, start, length)


def lines(title: str, across: str, up: str, series: Sequence[Series]) -> str:
    """Lines through points, both scales logarithmic."""
    xs = scale([x for each in series for x, _ in each.points], _LEFT, _PLOT_WIDTH)
    ys = scale([y for each in series for _, y in each.points], _TOP + _PLOT_HEIGHT, -_PLOT_HEIGHT)
    height = _TOP + _PLOT_HEIGHT + 50
    parts = [*_axes(title, (across, up), xs, ys)]
    for at, each in enumerate(series):
        parts += _line(at, each, xs, ys)
    return document(height, iter(parts), title)


def _axes(title: str, names: tuple[str, str], xs: Scale, ys: Scale) -> Iterator[str]:
    bottom = _TOP + _PLOT_HEIGHT
    yield text(20, 28, title, "t")
    yield text(20, 46, names[1], "m")
    yield text(_LEFT + _PLOT_WIDTH, bottom + 38, names[0], "m", "end")
    for value in ys.ticks():
        y = ys.at(value)
        yield f'<line class="g" x1="{_LEFT}" x2="{_LEFT + _PLOT_WIDTH}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield text(_LEFT - 8, y + 4, f"{value:,g}", "m", "end")
    for value in xs.ticks():
        x = xs.at(value)
        yield f'<line class="g" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>'
        yield text(x, bottom + 18, f"{value:,.0f}", "m", "middle")


def _line(at: int, series: Series, xs: Scale, ys: Scale) -> Iterator[str]:
    places = [(xs.at(x), ys.at(y)) for x, y in series.points]
    trace = "\n".join(f"{x:.1f},{y:.1f}" for x, y in places)
    yield f'<polyline class="l l{at}" points="{trace}"/>'
    for (x, y), label in zip(places, series.labels or [""] * len(places), strict=True):
        yield f'<circle class="x{at}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        yield text(x + 7, y - 7 if at == 0 else y + 16, label, "m")
    yield text(_LEFT + _PLOT_WIDTH - 8 - 110 * at, 28, f"● {series.name}", f"x{at}", "end")


def charts(results: Sequence[dict[str, Any]]) -> dict[str, str]:
    """Every chart that these results suffice for, by file name."""
    made = {"speed.svg": speed(results)}
    for name, what in (("GetRow", "reading one row"), ("PutRow", "writing one row, synced")):
        found = [each for each in results if each["group"] == "curve" and each["name"] == name]
        if len(found) > 1:
            made[f"{name.lower()}.svg"] = curve(what, found)
    sizes = [each for each in results if each["group"] == "size"]
    if len(sizes) > 3:
        made["size.svg"] = growth(sizes)
    return {name: chart for name, chart in made.items() if chart}


def curve(what: str, found: Sequence[dict[str, Any]]) -> str:
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


def growth(found: Sequence[dict[str, Any]]) -> str:
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


def speed(results: Sequence[dict[str, Any]]) -> str:
    """Processor time for one row read and one row written, beside that of peers; "" if none."""
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
    return bars("CPU time of the server for one request", "µs", panels) if panels else ""
