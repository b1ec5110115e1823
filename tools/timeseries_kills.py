"""Puts of points killed at random moments: nothing told is lost, and metas come back.

    python -m tools.timeseries_kills --kills 200      # the recorded run, and its control

A child process writes rounds: a point of two fields into each of some series of a table with a
last-point index; before every fifth round it deletes the metas. It is killed (SIGKILL) at a random
moment and the store is opened. Every point of a round that was told must be there, each point with
both fields; the stream must have each point that is there, once and in order; the last-point index
must have the newest point of each series, and the next put must bring back every meta. The control
puts one field after the other, and must be caught in between.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from tools.evidence import record
from tools.killing import fraction, live_and_die

from widerow.engine.check import check_store
from widerow.engine.engine import Engine
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.timeseries.engine import TimeseriesEngine
from widerow.engine.timeseries.plug import TIMESERIES
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import MetaQuery, MetaUpdateMode, PointQuery, TableRequest
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import TimeseriesOptions, TimeseriesTable
from widerow.model.values import KeyMarker
from widerow.rows.plain_values import VersionedValue, decode_plain_record
from widerow.storage.opener import open_store
from widerow.system import SystemClock, SystemEntropy

__all__ = ["Outcome", "kill_many", "main"]

LIFE_SECONDS_MAX: Final = 0.15  # after the child's first round; a round takes about a millisecond
SERIES: Final = tuple(SeriesKey("cpu", f"host{at}", (("os", "linux"),)) for at in range(4))
ROUNDS_BETWEEN_DELETES: Final = 5
LOWEST: Final = (KeyMarker.INF_MIN,) * 4
HIGHEST: Final = (KeyMarker.INF_MAX,) * 4


@dataclass(slots=True)
class Outcome:
    """What a run of kills showed.

    `mistold`: series whose points the stream has not, or not as they are. `iterator`: where the
    stream is read from behind the next kill.
    """

    kills: int = 0
    rounds: int = 0
    torn: int = 0
    lost: int = 0
    mistold: int = 0
    iterator: str = ""
    damaged: int = 0
    seconds: float = 0.0


class _Tables(NamedTuple):
    engine: TimeseriesEngine
    table: TimeseriesTable

    def put(self, number: int, *, control: bool = False) -> None:
        """A point of a round for each series; its fields one after the other in the control."""
        steps = ("a",), ("b",)
        for names in steps if control else (("a", "b"),):
            points = [Point(each, number, dict.fromkeys(names, number)) for each in SERIES]
            plan = self.engine.put(self.table, points, MetaUpdateMode.NORMAL)
            result = self.engine.core.run(plan)
            assert not result.failed, "a store of one process fails a put as a whole"


@contextmanager
def _opened(directory: Path) -> Iterator[_Tables]:
    with open_store(f"rocksdb:{directory}") as store:
        core = Engine(store, SystemClock(), SystemEntropy(), TABLE_MODELS)
        engine = core.operations(TIMESERIES)
        if engine.tables.get("i", "t") is None:
            request = TableRequest("t", TimeseriesOptions(), lastpoints=("last",))
            core.run(engine.create("i", request))
        yield _Tables(engine, engine.find("i", "t"))


def _work(directory: Path, first: int, *, control: bool) -> None:
    """The child: rounds without end, each told on stdout when it is durable."""
    with _opened(directory) as tables:
        number = first
        while True:
            if number % ROUNDS_BETWEEN_DELETES == 0:
                tables.engine.core.run(tables.engine.delete_metas(tables.table, SERIES))
            tables.put(number, control=control)
            print(number, flush=True)
            number += 1


def _judge(directory: Path, first: int, told: int, outcome: Outcome) -> int:
    """Look at the store behind a kill, and put one more round into it: its number.

    `first`: the first round of the child that was killed.
    """
    with _opened(directory) as tables:
        engine, table = tables
        indexed = engine.find_lastpoint("i", "last")
        assert indexed is not None, "the table was made with it"
        rows = engine.lastpoint_rows(indexed, LOWEST, HIGHEST)
        newest = {row.key[0]: dict(row.cells) for row in rows}
        last = told
        told_by = _changes(tables, outcome.iterator)[0]
        for series in SERIES:
            points = _points(tables, series, first)
            outcome.lost += not {*range(first, told + 1)} <= points.keys()
            outcome.torn += any(fields != {"a": at, "b": at} for at, fields in points.items())
            expected = {name: (at, at) for at in points for name in ("_time", *points[at])}
            outcome.lost += newest.get(engine.hash_of(series), {}) != expected
            last = max(last, *points)
            outcome.mistold += told_by.pop(series.source, []) != sorted(points.items())
        tables.put(last + 1)
        outcome.iterator = _changes(tables, outcome.iterator)[1]
        metas = engine.query_metas(table, MetaQuery()).metas
        outcome.lost += [meta.key for meta in metas] != list(SERIES)
        outcome.damaged += bool(check_store(engine.core.store))
        return last + 1


def _changes(
    tables: _Tables, iterator: str
) -> tuple[dict[str, list[tuple[int, dict[str, object]]]], str]:
    """Times and fields in the stream from an iterator on, by data source, and the next iterator."""
    streams, table = tables.engine.streams, tables.table
    found: dict[str, list[tuple[int, dict[str, object]]]] = {}
    following = iterator or streams.iterator(table, "0", None)
    while True:
        page = streams.read(table, following, None)
        for each in page.records():
            row = decode_plain_record(each.record)
            key = dict(row.key)
            cells = [cell for cell in row.cells if isinstance(cell, VersionedValue)]
            fields = {cell.column.removesuffix(":l"): cell.value for cell in cells}
            found.setdefault(str(key["_data_source"]), []).append((int(key["_time"]), {**fields}))
        assert page.following is not None, "the shard stays open"
        following = page.following
        if not page.more:
            return found, following


def _points(tables: _Tables, series: SeriesKey, first: int) -> dict[int, dict[str, object]]:
    found: dict[int, dict[str, object]] = {}
    query = PointQuery(series, first, 2**62)
    while True:
        page = tables.engine.read(tables.table, query)
        found.update((point.time_us, dict(point.fields)) for point in page.points)
        if not page.next:
            return found
        query = query._replace(after=page.next)


def kill_many(kills: int, seed: int, *, control: bool = False) -> Outcome:
    """Kill a child so many times over one store, and look at its table after each.

    A control ends with the first kill that left a point without its second field.
    """
    outcome = Outcome()
    began = time.monotonic()
    following = 1
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name) / "store"
        for kill in range(kills):
            seconds = LIFE_SECONDS_MAX * fraction(seed, kill)
            command = [sys.executable, "-m", "tools.timeseries_kills", "--child", str(directory)]
            command += ["--first", str(following), *(["--control"] if control else [])]
            told = live_and_die(command, seconds, following - 1)
            outcome.kills += 1
            outcome.rounds += told - following + 1
            following = _judge(directory, following, told, outcome) + 1
            if control and outcome.torn:
                break
    outcome.seconds = time.monotonic() - began
    return outcome


def main() -> int:
    """Run both, record both; 1 if a point was torn, lost, or the control was not caught."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--controls", type=int, default=200, help="kills of the control at most")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--child", type=Path)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--control", action="store_true")
    given = parser.parse_args()
    if given.child is not None:
        _work(given.child, given.first, control=given.control)
    return _recorded(given.kills, given.seed) + _recorded_control(given.controls, given.seed) > 0


def _recorded(kills: int, seed: int) -> int:
    """Run the puts; violations."""
    run = kill_many(kills, seed)
    violations = run.torn + run.lost + run.mistold + run.damaged
    record(
        "timeseries puts: kill -9",
        volume=run.kills,
        unit="kills",
        violations=violations,
        seconds=run.seconds,
        seed=seed,
        facts={"rounds": run.rounds, "torn": run.torn, "lost": run.lost, "mistold": run.mistold},
    )
    return violations


def _recorded_control(kills: int, seed: int) -> int:
    """Put fields one by one: 1 if no kill found a point without its second field."""
    run = kill_many(kills, seed, control=True)
    missed = int(run.torn == 0)
    record(
        "control: fields of points put one by one",
        volume=1,
        unit="runs",
        violations=missed,
        seconds=run.seconds,
        seed=seed,
        facts={"kills": run.kills, "torn": run.torn},
    )
    return missed


if __name__ == "__main__":
    sys.exit(main())
