"""The goals, as ratios of what one run on one machine measured.

A goal is a name, a bound and a formula over the results; it is not judged where the run has not
what it needs (a peer that is not installed, a case left out).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from bench.driver_requests import GET, GET_ROW, PUT, PUT_ROW, QUERY, RANGE
from bench.floor import ALONE, SYNC_IN_TURNS
from bench.measure import times
from bench.neighbours import DROP, NEIGHBOURS, SWEEP, beside, without
from bench.observed import OBSERVED, PLAIN
from bench.series import INGEST_SERIES
from bench.statements import GET_IN_TURNS, GROUPS, INDEX_IN_TURNS, POINT, SORTED, STATEMENTS

Record = Mapping[str, Any]


class Missing(LookupError):
    """The run does not have this case."""


class Results:
    """The results of a run, found by name."""

    def __init__(self, results: Sequence[Record]) -> None:
        """`results` as they stand in the JSON."""
        self._results = results

    def find(self, name: str, connections: int | None = None, group: str | None = None) -> Record:
        """The case of that name, else the first whose name begins so. Raises: `Missing`."""
        for each in sorted(self._results, key=lambda each: each["name"] != name):
            if (
                each["name"].startswith(name)
                and connections in (None, each["connections"])
                and group in (None, each["group"])
            ):
                return each
        raise Missing(name)

    def cpu(self, name: str, connections: int | None = None) -> float:
        """Microseconds of processor time for a request of a case."""
        return float(self.find(name, connections)["cpu_us"])

    def times(
        self, name: str, other: str, connections: int | None = None, what: str = "cpu_us_each"
    ) -> float:
        """What a case costs, or takes, in terms of another one that ran in turns with it."""
        own, compared = self.find(name, connections), self.find(other, connections)
        return times(own[what], compared[what])

    def also(self, name: str, what: str, connections: int | None = None) -> float:
        """A figure that only some cases have."""
        return float(self.find(name, connections)["also"][what])

    def ends(self, group: str, name: str) -> tuple[Record, Record]:
        """The first and the last case of a group with such a name. Raises: `Missing`."""
        found = [
            each
            for each in self._results
            if each["group"] == group and each["name"].startswith(name)
        ]
        if len(found) < 2:
            raise Missing(name)
        return found[0], found[-1]


class Goal(NamedTuple):
    """`figure` of the results is to be at most, or at least, `bound`."""

    work: str
    what: str
    bound: float
    figure: Callable[[Results], float]
    at_most: bool = True


class Judged(NamedTuple):
    """A goal, its figure in one run, and whether it is met; None where it could not be judged."""

    goal: Goal
    figure: float | None
    met: bool | None


def grown(group: str, name: str, what: str = "cpu_us") -> Callable[[Results], float]:
    """The last of a row of cases in terms of the first."""

    def ratio(results: Results) -> float:
        first, last = results.ends(group, name)
        return float(last[what]) / float(first[what])

    return ratio


def fairness(beside: str, other: str = "GetRow alone") -> Callable[[Results], float]:
    """The 99th percentile beside other load, in terms of that of `other`."""

    def ratio(results: Results) -> float:
        measured = results.find(f"GetRow beside {beside}")["p99_us"]
        return float(measured) / float(results.find(other)["p99_us"])

    return ratio


def neighbourly(name: str) -> Callable[[Results], float]:
    """The 99th percentile beside a neighbour, in terms of that of the runs without it."""

    def ratio(results: Results) -> float:
        own, alone = results.find(beside(name)), results.find(without(name))
        return float(own["p99_us"]) / float(alone["p99_us"])

    return ratio


def batch_floor(results: Results) -> float:
    """Rows a CPU second of what a BatchWriteRow cannot do without (`floor.py`)."""
    alone = results.find(ALONE)
    echo = results.find("echo of BatchWriteRow, 200 rows")
    return float(alone["rows"]) / (float(alone["cpu_us"]) + float(echo["cpu_us"])) * 1e6


def slower(name: str, other: str) -> Callable[[Results], float]:
    """What a case costs in terms of another one that ran in turns with it."""
    return lambda results: results.times(name, other)


def wide_ratio(results: Results) -> float:
    """The last of many calls that widen a row, in terms of the first."""
    grow = results.find("UpdateRow, 100 new columns each")["also"]
    return float(grow["last_us"]) / float(grow["first_us"])


def rows_per_second(name: str) -> Callable[[Results], float]:
    """Rows for a second of processor time."""
    return lambda results: float(results.find(name)["rows_per_cpu_second"])


GOALS: Final = (
    Goal(
        "GetRow, 1 KB",
        "× CPU of the echo",
        3.5,
        lambda r: r.times("GetRow", "echo of GetRow"),
    ),
    Goal(
        "GetRow, 1 KB",
        "× less CPU than dynalite's GetItem",
        6,
        lambda r: r.times("dynalite GetItem", "GetRow in turns with GetItem"),
        at_most=False,
    ),
    Goal(
        "GetRow, 1 KB",
        "× CPU of PostgreSQL's select",
        1,
        lambda r: r.cpu("GetRow") / r.cpu("PostgreSQL select"),
    ),
    Goal(
        "PutRow, 128 connections",
        "× CPU of the echo",
        4,
        lambda r: r.times("PutRow", "echo of PutRow", 128),
    ),
    Goal(
        "PutRow, 128 connections",
        "× less CPU than dynalite's PutItem",
        5,
        lambda r: r.times("dynalite PutItem", "PutRow in turns with PutItem"),
        at_most=False,
    ),
    Goal(
        "PutRow, 128 connections",
        "× CPU of PostgreSQL's upsert",
        0.5,
        lambda r: r.cpu("PutRow", 128) / r.cpu("PostgreSQL upsert", 128),
    ),
    Goal(
        "PutRow, 128 connections",
        "rows to a sync",
        30,
        lambda r: r.also("PutRow", "writes_per_sync", 128),
        at_most=False,
    ),
    Goal(
        "PutRow, 1 connection",
        "× one raw sync (median)",
        1.5,
        lambda r: r.times("PutRow", SYNC_IN_TURNS, 1, "p50_us_each"),
    ),
    Goal(
        "GetRange, 100 rows",
        "rows a CPU second",
        200_000,
        rows_per_second("GetRange, 100 rows"),
        at_most=False,
    ),
    Goal(
        "GetRange, 100 rows",
        "× scanning and hashing alone",
        2,
        lambda r: r.cpu("GetRange, 100 rows") / r.cpu("scan 100 rows"),
    ),
    Goal(
        "BatchWriteRow, 200 rows",
        "rows a CPU second",
        60_000,
        rows_per_second("BatchWriteRow, 200 rows"),
        at_most=False,
    ),
    Goal("GetRow, filter", "× plain GetRow", 2, lambda r: r.times("GetRow, filter", "GetRow")),
    Goal(
        "GetRow, projection",
        "× plain GetRow",
        2,
        lambda r: r.times("GetRow, 3 columns", "GetRow"),
    ),
    Goal(
        "GetRow, versions to trim",
        "× plain GetRow",
        2,
        lambda r: r.times("GetRow, 1 of", "GetRow"),
    ),
    Goal("growth: point read", "× CPU, most rows to fewest", 1.5, grown("size", "GetRow at")),
    Goal("growth: page", "× CPU, most rows to fewest", 1.5, grown("size", "GetRange")),
    Goal("growth: wide row", "× the first 100 of 1000 UpdateRow, last 100", 1.5, wide_ratio),
    Goal(
        "growth: wide row",
        "× CPU, 100 000 columns to 1 000",
        1.5,
        lambda r: r.cpu("UpdateRow, row of 100,000") / r.cpu("UpdateRow, row of 1,000"),
    ),
    Goal(
        "growth: wide row",
        "× CPU, 100 000 columns to 10",
        1.5,
        grown("width", "UpdateRow, row of"),
    ),
    Goal("start", "s to the first PutRow", 0.5, lambda r: r.find("start to first")["p50_us"] / 1e6),
    Goal(
        "start", "MiB resident then", 100, lambda r: r.also("start to first", "resident_mebibytes")
    ),
    Goal(
        "start",
        "s to reopen the largest store",
        1,
        lambda r: r.find("start to ready")["p50_us"] / 1e6,
    ),
    *(Goal(name, "× CPU with neither", 1.6, slower(name, PLAIN)) for name in OBSERVED),
    Goal("fairness: BatchWriteRow", "× p99 of GetRow alone", 5, fairness("BatchWriteRow")),
    Goal("fairness: GetRange of 4 MB", "× p99 of GetRow alone", 5, fairness("GetRange")),
    # Whoever computes as much on the same cores takes that much from the server and its clients.
    Goal(
        "fairness: GetRange of 4 MB",
        "× p99 beside two programs that only hash",
        1.5,
        fairness("GetRange", "GetRow beside programs"),
    ),
    *(
        Goal(f"beside {name}", "× p99 of GetRow without", 5, neighbourly(name))
        for name in (*NEIGHBOURS, SWEEP, DROP, STATEMENTS)
    ),
    Goal(POINT, "× CPU of GetRow", 5, slower(POINT, GET_IN_TURNS)),
    Goal(GROUPS, "rows a CPU second", 400_000, rows_per_second(GROUPS), at_most=False),
    Goal(
        INGEST_SERIES, "points a CPU second", 250_000, rows_per_second(INGEST_SERIES), at_most=False
    ),
    Goal(SORTED, "× CPU of GetRange of the index", 2, slower(SORTED, INDEX_IN_TURNS)),
    Goal(GET, "× CPU of GetRow", 1.3, slower(GET, GET_ROW)),
    Goal(PUT, "× CPU of PutRow", 1.3, slower(PUT, PUT_ROW)),
    Goal(QUERY, "× CPU of GetRange", 1.3, slower(QUERY, RANGE)),
)


FLOORS: Final = (
    Goal(
        "PutRow, 1 connection",
        "× one raw sync: an echo that appends and syncs as much",
        1.5,
        lambda r: r.times("echo of PutRow, appended", SYNC_IN_TURNS, 1, "p50_us_each"),
    ),
    Goal(
        "BatchWriteRow, 200 rows",
        "rows a CPU second: receiving, hashing, and the engine alone",
        60_000,
        batch_floor,
        at_most=False,
    ),
)
"""What a server of this kind cannot do better than, judged as if it were one."""


def judge(records: Sequence[Record], goals: Sequence[Goal] = GOALS) -> list[Judged]:
    """Every goal against the results of a run."""
    results = Results(records)
    return [judge_one(goal, results) for goal in goals]


def judge_one(goal: Goal, results: Results) -> Judged:
    """One goal. The bound itself meets it."""
    try:
        figure = goal.figure(results)
    except (Missing, ZeroDivisionError, KeyError):
        return Judged(goal, None, None)
    return Judged(goal, figure, figure <= goal.bound if goal.at_most else figure >= goal.bound)
