"""Points in PostgreSQL: a btree of series and time, where a later point replaces; a BRIN of time.

Points are put by sessions with prepared statements that take arrays, each committed and synced; the
last hour is asked for by pgbench, the newest points by psql.
"""

import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg
from bench.measure import Case, Result, Settings, combine
from bench.peers import postgres
from bench.points import BEGIN_US, POINTS, STEP_US, fields, hall, source
from bench.series import (
    CONNECTIONS,
    DAY_STEPS,
    HOUR,
    HOUR_STEPS,
    INGEST_APART,
    INGEST_SERIES,
    LATEST,
    RUNS,
    SERIES,
    Sizes,
    filled_points,
    outcome_of,
    series_of,
    sizes,
    steps_of,
    whole,
)
from bench.servers import Place, processor_seconds

__all__ = ["results"]

_TABLE: Final = "points"
_COLUMNS: Final = "source text, hall text, time bigint, celsius float8, parts bigint"
_KEY: Final = "measurement text, " + _COLUMNS
_TYPES: Final = ("text", "text", "text", "bigint", "float8", "bigint")
_ARRAYS: Final = ", ".join(f"%s::{kind}[]" for kind in _TYPES)
_REPLACED: Final = "celsius = excluded.celsius, parts = excluded.parts"
_CONFLICT: Final = f"ON CONFLICT (measurement, source, hall, time) DO UPDATE SET {_REPLACED}"
_TABLES: Final = {
    "btree": (f"CREATE TABLE {_TABLE} ({_KEY}, PRIMARY KEY (measurement, source, hall, time))",),
    "BRIN": (
        f"CREATE TABLE {_TABLE} ({_KEY})",
        f"CREATE INDEX ON {_TABLE} USING brin (time)",
    ),
}
_END_US: Final = BEGIN_US + DAY_STEPS * STEP_US
_HOUR: Final = (
    f"\\set i random(0, {SERIES - 1})\n\\set p 1000000 + :i\n\\set h :i % 10\n"
    f"SELECT * FROM {_TABLE} WHERE measurement = 'machine' "
    "AND source = 'press-' || substr((:p)::text, 2) AND hall = 'hall ' || :h "
    f"AND time >= {_END_US - HOUR_STEPS * STEP_US} AND time < {_END_US};\n"
)
_NEWEST: Final = (
    f"SELECT found.* FROM series, LATERAL (SELECT * FROM {_TABLE} each "  # noqa: S608  # our own text
    "WHERE each.measurement = series.measurement AND each.source = series.source "
    "AND each.hall = series.hall ORDER BY time DESC LIMIT 1) found"
)


def results(programs: Path, directory: Path, settings: Settings) -> Iterator[Result]:
    """The cases of `bench.series`."""
    home = directory / "postgres-points"
    home.mkdir()
    wanted = sizes(settings)
    with postgres.cluster(programs, home) as place:
        for index, made in _TABLES.items():
            for name, apart in ((INGEST_SERIES, False), (INGEST_APART, True)):
                create(place, made)
                yield ingested(place, f"PostgreSQL, {index}: {name}", index, wanted, apart=apart)
        create(place, _TABLES["btree"])
        fill(place, wanted)
        path = home / "hour.sql"
        path.write_text(_HOUR)
        path.chmod(0o644)
        bench = postgres.Bench(place, home, path, 1)
        runs = [bench.timed(settings.seconds) for _ in range(settings.repeats)]
        yield combine(Case("series", f"PostgreSQL, btree: {HOUR}", (), 1, HOUR_STEPS), runs)
        read = partial(said, place, _NEWEST)
        spent = partial(processor_seconds, place.process)
        yield whole("series", f"PostgreSQL, btree: {LATEST}", wanted.series, read, spent)


def said(place: Place, text: str) -> str:
    """What psql prints of a statement."""
    return postgres.run(["psql", *postgres.at(place), "-q", "-A", "-t", "-c", text])


def create(place: Place, made: Iterable[str]) -> None:
    """Make the table anew."""
    for text in (f"DROP TABLE IF EXISTS {_TABLE}", *made):
        said(place, text)


def fill(place: Place, wanted: Sizes) -> None:
    """The points that are read, and a table of their series."""
    put = statement("BRIN")
    with session(place) as opened:
        for part in filled_points(wanted):
            opened.execute(put, arrays(part))
    said(place, f"CREATE TABLE series AS SELECT DISTINCT measurement, source, hall FROM {_TABLE}")  # noqa: S608  # our own text
    said(place, "VACUUM ANALYZE")


def ingested(place: Place, name: str, index: str, wanted: Sizes, *, apart: bool) -> Result:
    """Points put by some sessions at once, in some runs behind one that warms up."""
    put = statement(index)
    runs = []
    with ThreadPoolExecutor(CONNECTIONS) as threads:
        opened = [session(place) for _ in range(CONNECTIONS)]
        for first in range(0, (RUNS + 1) * wanted.puts, wanted.puts):
            requests = [
                arrays(
                    [
                        (n, step)
                        for n in series_of(each, apart=apart)
                        for step in steps_of(each, apart=apart)
                    ]
                )
                for each in range(first, first + wanted.puts)
            ]
            shares = [requests[at::CONNECTIONS] for at in range(CONNECTIONS)]
            before, begun = processor_seconds(place.process), time.perf_counter()
            took = [
                each for some in threads.map(partial(timed, put), opened, shares) for each in some
            ]
            elapsed = time.perf_counter() - begun
            used = (processor_seconds(place.process) - before) / len(took) * 1e6
            runs.append((outcome_of(took, elapsed, "psycopg"), used))
        for each in opened:
            each.close()
    return combine(Case("series", name, (), CONNECTIONS, POINTS), runs[1:])


def timed(
    put: str, opened: "psycopg.Connection[Any]", requests: Iterable[list[list[Any]]]
) -> list[float]:
    """Microseconds that each of these puts took in a session."""
    took = []
    for each in requests:
        begun = time.perf_counter()
        opened.execute(put, each, prepare=True)
        took.append((time.perf_counter() - begun) * 1e6)
    return took


def session(place: Place) -> "psycopg.Connection[Any]":
    """A session that commits each statement."""
    return psycopg.connect(
        host="127.0.0.1", port=place.endpoint, user="postgres", dbname="postgres", autocommit=True
    )


def statement(index: str) -> str:
    """What puts points; with the btree a point of the same series and time is replaced."""
    text = f"INSERT INTO {_TABLE} SELECT * FROM unnest({_ARRAYS})"  # noqa: S608  # our own text
    return f"{text} {_CONFLICT}" if index == "btree" else text


def arrays(some: Iterable[tuple[int, int]]) -> list[list[Any]]:
    """The columns of points."""
    made = [
        ("machine", source(number), hall(number), BEGIN_US + step * STEP_US, *fields(step))
        for number, step in some
    ]
    return [list(each) for each in zip(*made, strict=True)]
