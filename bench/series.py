"""Timeseries: points that are put, the last hour of a series, the newest points of many series.

The points of a request are of one series, or each of another one; all are new. What is timed as a
whole, such as the newest points page by page, is done some times. PostgreSQL and QuestDB do the
same (`peers/postgres_series.py`, `peers/questdb.py`).
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from bench import builtin, points, rows
from bench.load import LoadFailed, Outcome
from bench.measure import Case, Result, Settings, combine, measure, percentile
from bench.points import BEGIN_US, POINTS, STEP_US, Template
from bench.servers import Place, processor_seconds, settle
from bench.workloads import ask
from tests.support.buffers import key_buffer
from tests.support.http import Wire

from widerow.model.values import KeyInput, KeyMarker
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import timeseries_messages as p

__all__ = [
    "CONNECTIONS",
    "DAY_STEPS",
    "HOUR",
    "HOUR_STEPS",
    "INGEST_APART",
    "INGEST_SERIES",
    "LATEST",
    "RUNS",
    "SERIES",
    "Sizes",
    "each_once",
    "filled_points",
    "outcome_of",
    "series_of",
    "series_results",
    "sizes",
    "steps_of",
    "whole",
]

INGEST_SERIES: Final = f"put {POINTS} points of one series"
INGEST_APART: Final = f"put a point of each of {POINTS} series"
HOUR: Final = "get the last hour of a series"
LATEST: Final = "get the newest points of all series"

CONNECTIONS: Final = 8
DAY_STEPS: Final = 24 * 3600 * 1_000_000 // STEP_US
HOUR_STEPS: Final = 3600 * 1_000_000 // STEP_US
"""Points of a series in an hour."""
SERIES: Final = 50  # take turns with requests of one series each
RUNS: Final = 3
_TABLE: Final = "plant"
_NEWEST: Final = "newest"
_PAGE_ROWS: Final = 5000
_KEY: Final = ("_#h", "_m_name", "_data_source", "_tags")
"""The columns of a last-point index."""


class Sizes(NamedTuple):
    """How much is put and read. `puts`: requests of a run; `series` with `steps` points each."""

    puts: int
    series: int
    steps: int


def sizes(settings: Settings) -> Sizes:
    """Those of a run."""
    return Sizes(50, 2_000, 3) if settings.quick else Sizes(1_000, 100_000, 3)


def steps_of(sent: int, *, apart: bool) -> range:
    """The steps of the points of a request, by how many were sent before it."""
    if apart:
        return range(sent, sent + 1)
    first = sent // SERIES * POINTS
    return range(first, first + POINTS)


def series_of(sent: int, *, apart: bool) -> Sequence[int]:
    """The series of its points, of which each has all the steps."""
    return range(POINTS) if apart else (sent % SERIES,)


def series_results(place: Place, settings: Settings) -> Iterator[Result]:
    """All of them on widerow."""
    wanted = sizes(settings)
    for name, apart in ((INGEST_SERIES, False), (INGEST_APART, True)):
        yield ingested(place, name, wanted, apart=apart)
    with Wire(place.endpoint) as wire:
        ask(wire, points.create(_TABLE, _NEWEST))
        for part in filled_points(wanted):
            ask(wire, points.written(_TABLE, part))
    settle(place.process)
    asked = [hour(number) for number in range(SERIES)]
    yield measure(place, Case("series", HOUR, asked, 1, HOUR_STEPS), settings)
    with Wire(place.endpoint) as wire:
        read = partial(read_newest, wire)
        spent = partial(processor_seconds, place.process)
        yield whole("series", LATEST, wanted.series, read, spent)


def ingested(place: Place, name: str, wanted: Sizes, *, apart: bool) -> Result:
    """Points put into a table of their own."""
    table = "apart" if apart else "together"
    with Wire(place.endpoint) as wire:
        ask(wire, points.create(table))
    width = 1 if apart else POINTS
    templates = [
        Template.of(
            table, [number for number in series_of(sent, apart=apart) for _ in range(width)]
        )
        for sent in range(1 if apart else SERIES)
    ]

    def requests(sent: Iterable[int]) -> Iterator[bytes]:
        for each in sent:
            times = [BEGIN_US + step * STEP_US for step in steps_of(each, apart=apart)]
            yield templates[each % len(templates)].at(times * (POINTS // width))

    return each_once(place, Case("series", name, (), CONNECTIONS, POINTS), wanted, requests)


def each_once(
    place: Place,
    case: Case,
    wanted: Sizes,
    requests: Callable[[Iterable[int]], Iterable[bytes]],
    settled: Callable[[int], None] = lambda _: None,
) -> Result:
    """Some runs of requests that are sent once each, behind one that warms up.

    `requests` makes those with such numbers; `settled` returns when all that was sent, so many
    requests, is where it is to be. Raises: `LoadFailed`.
    """
    runs = []
    for first in range(0, (RUNS + 1) * wanted.puts, wanted.puts):
        last = first + wanted.puts
        made = list(requests(range(first, last)))
        before = processor_seconds(place.process)
        try:
            took, elapsed = builtin.send_once(place.endpoint, made, case.connections)
        except OSError as error:
            raise LoadFailed(str(error)) from error
        settled(last)
        used = (processor_seconds(place.process) - before) / len(made) * 1e6
        runs.append((outcome_of([each * 1e6 for each in took], elapsed, "builtin"), used))
    return combine(case, runs[1:])


def outcome_of(took_us: Sequence[float], elapsed: float, generator: str) -> Outcome:
    """What requests that took so long make together."""
    middle, slow = percentile(took_us, 0.5), percentile(took_us, 0.99)
    return Outcome(len(took_us), elapsed, middle, slow, max(took_us), generator)


def whole(
    group: str, name: str, count: int, act: Callable[[], object], spent: Callable[[], float]
) -> Result:
    """Something that reads `count` rows, some times; `spent` tells seconds of processor time."""
    act()
    runs = []
    for _ in range(RUNS):
        before, begun = spent(), time.perf_counter()
        act()
        elapsed = time.perf_counter() - begun
        runs.append((outcome_of([elapsed * 1e6], elapsed, "whole"), (spent() - before) * 1e6))
    return combine(Case(group, name, (), 1, count), runs)


# --- requests -----------------------------------------------------------------------------------


def filled_points(wanted: Sizes) -> Iterator[list[tuple[int, int]]]:
    """Series and steps of the points that are read, as many as a request may have at a time.

    All series have some, and a few a day of them.
    """
    every = ((number, step) for step in range(wanted.steps) for number in range(wanted.series))
    days = ((number, step) for number in range(SERIES) for step in range(wanted.steps, DAY_STEPS))
    for some in (every, days):
        while part := [each for _, each in zip(range(POINTS), some, strict=False)]:
            yield part


def hour(number: int) -> bytes:
    """GetTimeseriesData of the last hour of a series, signed."""
    body = p.GetTimeseriesDataRequest(
        table_name=_TABLE,
        time_series_key=points.key(number),
        begin_time=BEGIN_US + (DAY_STEPS - HOUR_STEPS) * STEP_US,
        end_time=BEGIN_US + DAY_STEPS * STEP_US,
    )
    return rows.SENDER.request("GetTimeseriesData", body.SerializeToString())


def read_newest(wire: Wire) -> int:
    """Walk through the last-point index page by page; how many bytes of rows it has."""
    size = 0
    start: bytes | None = key_buffer(_bound(KeyMarker.INF_MIN))
    while start:
        body = m.GetRangeRequest(
            table_name=_NEWEST,
            direction=0,
            max_versions=1,
            limit=_PAGE_ROWS,
            inclusive_start_primary_key=start,
            exclusive_end_primary_key=key_buffer(_bound(KeyMarker.INF_MAX)),
        )
        page = ask(wire, rows.SENDER.request("GetRange", body.SerializeToString()))
        answer = m.GetRangeResponse.FromString(page)
        size += len(answer.rows)
        start = answer.next_start_primary_key
    return size


def _bound(value: KeyInput) -> list[tuple[str, KeyInput]]:
    return [(name, value) for name in _KEY]
