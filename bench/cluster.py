"""What a server over a database costs: `python -m bench.cluster`, or `make bench-cluster`.

    PYTHONPATH=build/compiled:. python -m bench.cluster [--seconds 3] [--turns 5] [--report] [WHAT]

WHAT is hbase, postgres, two, workers, or nothing for all. Each store is started for the run and
ended with it; `--hbase URL` and `--postgres URL` name ones that run already. The client is the bare
one of `bare.py`: the product's own calls of HBase, or psycopg, without a server between, with as
many connections. Both sides take turns, because everything shares the machine, and each ratio is
the median of those of the turns. `two` is of two servers over a store in memory (`standin.py`),
and `workers` of servers of two and of four processes (`serve --workers`) beside one of one, over
the same.
`--report` keeps what the report says of stores that are not measured in this run, so that a machine
that is not quiet for long can measure one after the other.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench import rows
from bench.load import Load, LoadFailed, Outcome, generator, prepared
from bench.machine import describe
from bench.measure import WARM_UP_SECONDS, Case, Settings, timed
from bench.peers import postgres
from bench.servers import Place, counters
from bench.workloads import REQUESTS, ask, fill, parts, scattered
from rich.console import Console
from rich.table import Table
from tests.support.http import Wire

from widerow.testing.process import WiderowProcess

__all__ = ["CASES", "Compared", "Goal", "main", "markdown", "ratio_of"]

ROWS: Final = 10_000
HOT_CONNECTIONS: Final = 128
_HERE: Final = Path(__file__).parent
_ROOT: Final = _HERE.parent
_START_SECONDS: Final = 300
# The bare client's table is not divided either. Each split stops a region of HBase for a second or
# more, and what it had in memory is read from files behind it (docs/operating/cluster.md).
_UNDIVIDED: Final = ("--partitions-max", "1")


class Goal(NamedTuple):
    """What is compared: `what` of widerow with that of the other side, and the bound."""

    what: str
    bound: float
    at_most: bool = False

    def met(self, ratio: float) -> bool:
        """Whether a ratio is good enough."""
        return ratio <= self.bound if self.at_most else ratio >= self.bound


class Work(NamedTuple):
    """One operation: what is sent to widerow, and what the bare client does (none: embedded)."""

    name: str
    connections: int
    bare: str
    goals: Mapping[str, Goal]


_RATE: Final = "requests/s"
# What is read comes before what is written: overwritten rows stay in a database for a while, and
# a server writes more of them in a turn than the bare client.
CASES: Final = (
    Work(
        "GetRow",
        32,
        "get",
        {name: Goal(_RATE, 0.7) for name in ("hbase", "postgres")},
    ),
    Work(
        "GetRange, 100 rows",
        8,
        "page",
        {name: Goal(_RATE, 0.7) for name in ("hbase", "postgres")},
    ),
    Work(
        "PutRow",
        128,
        "put",
        {"hbase": Goal(_RATE, 3.0), "postgres": Goal(_RATE, 0.7)},
    ),
)
CAPACITY_GOAL: Final = Goal("requests for each core's second", 1.7)
_WORKERS: Final = (2, 4)
_SHARE_KEPT: Final = 0.85  # of each further process's second, as `CAPACITY_GOAL` has it for two
CPU_GOAL: Final = Goal("CPU µs", 2.5, at_most=True)


class Side(NamedTuple):
    """What one side of a comparison saw: the medians of its turns."""

    per_second: float
    p50_us: float
    p99_us: float
    cpu_us: float


class Compared(NamedTuple):
    """One operation of widerow beside something else, in turns."""

    store: str
    name: str
    connections: int
    beside: str
    own: Side
    other: Side
    goal: Goal
    ratio: float
    ratios: tuple[float, ...]
    also: Mapping[str, float]


Turns = Sequence[tuple[Outcome, float]]


def ratio_of(own: Turns, other: Turns, what: str) -> tuple[float, ...]:
    """What the first side had in terms of the second, turn by turn."""
    if what == _RATE:
        return tuple(
            (a.requests / a.seconds) / (b.requests / b.seconds)
            for (a, _), (b, _) in zip(own, other, strict=True)
        )
    return tuple(a / b for (_, a), (_, b) in zip(own, other, strict=True))


def _side(turns: Turns) -> Side:
    return Side(
        statistics.median(each.requests / each.seconds for each, _ in turns),
        statistics.median(each.p50_us for each, _ in turns),
        statistics.median(each.p99_us for each, _ in turns),
        statistics.median(cpu for _, cpu in turns),
    )


def requests_of(name: str) -> list[bytes]:
    """What is sent for an operation."""
    numbers = scattered(REQUESTS, ROWS)
    size = rows.PARTITION_ROWS
    made = {
        "GetRow": lambda: [rows.get(number) for number in numbers],
        "PutRow": lambda: [rows.put(number) for number in numbers],
        "GetRange, 100 rows": lambda: [rows.page(each - each % size) for each in numbers],
        "BatchGetRow, 100 rows": lambda: [rows.batch_get(each) for each in parts(numbers, size)],
        "PutRow, a key for each": lambda: [rows.put(each * size) for each in range(REQUESTS)],
        "PutRow, one key": lambda: [rows.put(7)] * REQUESTS,
    }
    return made[name]()


# --- the sides ------------------------------------------------------------------------------------


class Sender:
    """Load for one operation of a widerow server, again and again."""

    def __init__(
        self,
        place: Place,
        name: str,
        connections: int,
        settings: Settings,
        requests: Sequence[bytes] | None = None,
    ) -> None:
        """Nothing is sent yet. `requests`: others than those of the operation."""
        self._case = Case("cluster", name, requests or requests_of(name), connections)
        self._place, self._settings = place, settings

    def turn(self) -> tuple[Outcome, float]:
        """Warm up shortly and send for a while."""
        with prepared(self._case.requests) as file:
            load = Load(self._place.endpoint, self._case.requests, file)
            load.warm_up(self._case.connections, WARM_UP_SECONDS)
            return timed(self._place, load, self._case, self._settings)


def bare(url: str, work: Work, settings: Settings) -> tuple[Outcome, float]:
    """One turn of the bare client, in a process of its own. Raises: `LoadFailed`."""
    said = _bare(
        url, work.bare, "--connections", str(work.connections), "--seconds", str(settings.seconds)
    )
    found: dict[str, Any] = json.loads(said)
    cpu_us = found.pop("cpu_us")
    return Outcome(**found, max_us=0.0, generator="bare"), cpu_us


def _bare(url: str, *arguments: str) -> str:
    command = [sys.executable, "-m", "bench.bare", url, *arguments]
    done = subprocess.run(  # noqa: S603  # our own program
        command, capture_output=True, text=True, check=False, cwd=_HERE.parent
    )
    if done.returncode != 0:
        raise LoadFailed(f"the bare client failed: {done.stderr[-1000:]}")
    return done.stdout


@contextmanager
def filled(*flags: str) -> Iterator[Place]:
    """A widerow server with its rows."""
    with WiderowProcess(*flags) as server:
        with Wire(server.endpoint) as wire:
            ask(wire, rows.table())
        fill(server.endpoint, 0, ROWS)
        yield Place(server.endpoint, server.pid)


# --- the databases --------------------------------------------------------------------------------


class Urls(NamedTuple):
    """Where widerow has its store, and where the bare client has its rows."""

    store: str
    bare: str


@contextmanager
def hbase(given: str | None, folder: Path) -> Iterator[Urls]:
    """HBase at a URL, or a cluster of one region server that is started here."""
    if given is not None:
        base = given.rpartition("/")[0]
        yield Urls(f"{base}/{_fresh('widerow')}", f"{base}/{_fresh('bare')}")
        return
    command = [sys.executable, "-m", "tools.cluster.hbase", "--directory", str(folder / "hbase")]
    try:
        done = subprocess.run(  # noqa: S603  # our own program
            [*command, "start"],
            cwd=_ROOT,
            capture_output=True,
            text=True,
            check=True,
            timeout=_START_SECONDS,
        )
        base = done.stdout.split()[-1].rpartition("/")[0]
        yield Urls(f"{base}/widerow", f"{base}/bare")
    finally:
        subprocess.run([*command, "stop"], cwd=_ROOT, check=False, capture_output=True)  # noqa: S603  # our own program


@contextmanager
def postgresql(given: str | None, folder: Path) -> Iterator[Urls]:
    """PostgreSQL at a URL, or a cluster that is started here."""
    if given is not None:
        yield Urls(given, given)
        return
    programs = postgres.program_folder()
    if programs is None:
        raise LoadFailed("PostgreSQL is not installed")
    home = folder / "postgres"
    home.mkdir()
    folder.chmod(0o755)
    with postgres.cluster(programs, home) as place:
        url = f"postgresql://postgres@127.0.0.1:{place.endpoint}/postgres"
        yield Urls(url, url)


def _fresh(name: str) -> str:
    return f"bench-{name}-{Path(tempfile.mktemp()).name.strip('_')}"  # noqa: S306  # a name alone


STORES: Final = {"hbase": hbase, "postgres": postgresql}
TWO: Final = "two"
WORKERS: Final = "workers"
EVERY: Final = (TWO, WORKERS, *STORES)


# --- the comparison -------------------------------------------------------------------------------


def compare(store: str, urls: Urls, embedded: Place, settings: Settings) -> Iterator[Compared]:
    """Every operation over one store, beside the bare client and the embedded server."""
    _bare(urls.bare, "fill")
    with filled("--store", urls.store, *_UNDIVIDED) as place:
        for work in CASES:
            own, other, inside = _turns(place, urls.bare, embedded, work, settings)
            goal = work.goals[store]
            yield _compared(store, work, "bare client", (own, other), goal)
            if inside:
                yield _compared(store, work, "embedded", (own, inside), CPU_GOAL)
        yield _hot(store, place, urls.bare, settings)


def _turns(
    place: Place, bare_url: str, embedded: Place, work: Work, settings: Settings
) -> tuple[Turns, Turns, Turns]:
    own, other, inside = list[Any](), list[Any](), list[Any]()
    over = Sender(place, work.name, work.connections, settings)
    within = Sender(embedded, work.name, work.connections, settings)
    for turn in range(settings.repeats):
        print(f"{work.name}, turn {turn + 1} of {settings.repeats}", file=sys.stderr, flush=True)
        own.append(over.turn())
        other.append(bare(bare_url, work, settings))
        if work.bare == "get":
            inside.append(within.turn())
    return own, other, inside


def _compared(
    store: str,
    work: Work,
    beside: str,
    sides: tuple[Turns, Turns],
    goal: Goal,
    also: Mapping[str, float] | None = None,
) -> Compared:
    ratios = ratio_of(*sides, goal.what)
    return Compared(
        store,
        work.name,
        work.connections,
        beside,
        _side(sides[0]),
        _side(sides[1]),
        goal,
        statistics.median(ratios),
        tuple(round(each, 3) for each in ratios),
        also or {},
    )


def _hot(store: str, place: Place, bare_url: str, settings: Settings) -> Compared:
    """All connections write one row: how many writes one commit takes."""
    work = Work("PutRow, one key", HOT_CONNECTIONS, "put", {})
    sender = Sender(place, work.name, work.connections, settings)
    before = counters(place.endpoint)
    own, other = list[Any](), list[Any]()
    for _ in range(settings.repeats):
        own.append(sender.turn())
        other.append(bare(bare_url, work, settings))
    after = counters(place.endpoint)
    commits = after["commits_total"] - before["commits_total"]
    writes = after["committed_writes_total"] - before["committed_writes_total"]
    also = {"writes_per_commit": writes / max(1, commits)}
    return _compared(store, work, "bare client, many keys", (own, other), Goal(_RATE, 1.0), also)


# --- two servers ----------------------------------------------------------------------------------


@contextmanager
def standin() -> Iterator[str]:
    """The URL of the store in memory of `standin.py`, in a process of its own."""
    command = [sys.executable, "-m", "bench.standin"]
    with subprocess.Popen(  # noqa: S603  # our own program
        command, stdout=subprocess.PIPE, text=True, cwd=_HERE.parent
    ) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def two_servers(settings: Settings) -> Iterator[Compared]:
    """What two servers can answer together in terms of one, where the store is not the limit.

    A server computes on one core. So it can answer as many requests a second as its processor time
    for one of them fits into a second, and two can twice as many of what a request costs while both
    are asked at the same time. Rates would say what the cores of this machine are shared by.
    """
    for name, connections in (("GetRow", 32), ("PutRow", 128)):
        with (
            standin() as url,
            filled("--store", url) as first,
            WiderowProcess("--store", url) as process,
        ):
            second = Place(process.endpoint, process.pid)
            requests = requests_of(name)
            half = len(requests) // 2
            sides = (
                Sender(first, name, connections, settings, requests),
                Sender(first, name, connections, settings, requests[:half]),
                Sender(second, name, connections, settings, requests[half:]),
            )
            alone, together = list[Any](), list[Any]()
            for _ in range(settings.repeats):
                alone.append(sides[0].turn())
                with ThreadPoolExecutor(2) as threads:
                    left, right = [threads.submit(each.turn) for each in sides[1:]]
                    together.append(_sum_of(left.result(), right.result()))
        ratios = tuple(2 * one / two for (_, one), (_, two) in zip(alone, together, strict=True))
        yield Compared(
            "in memory, a stand-in",
            f"{name}, two servers",
            connections,
            "one server",
            _side(together),
            _side(alone),
            CAPACITY_GOAL,
            statistics.median(ratios),
            tuple(round(each, 3) for each in ratios),
            {},
        )


def several_workers(settings: Settings) -> Iterator[Compared]:
    """What a request costs where several processes share the port, the supervisor's part included.

    One process and the others are asked in turns, each alone, with as many connections for each
    process. The ratio is of what so many cores answer in a second, if each process has one. PutRow
    comes twice: each of 2000 partition key values written once before one is written again, and
    neighbours one after the other, so that all workers write the same few values at any time.
    """
    for name, connections, kept in (
        ("GetRow", 32, _SHARE_KEPT),
        ("PutRow, a key for each", 128, _SHARE_KEPT),
        ("PutRow", 128, 1 / max(_WORKERS)),
    ):
        for count in _WORKERS:
            with (
                standin() as url,
                filled("--store", url, *_UNDIVIDED) as alone,
                WiderowProcess("--store", url, "--workers", str(count), *_UNDIVIDED) as process,
            ):
                many = Place(process.endpoint, process.pid)
                one = Sender(alone, name, connections, settings)
                together = Sender(many, name, count * connections, settings)
                turns = [(one.turn(), together.turn()) for _ in range(settings.repeats)]
            former, own = [each for each, _ in turns], [each for _, each in turns]
            ratios = tuple(count * one / all_ for (_, one), (_, all_) in turns)
            yield Compared(
                "in memory, a stand-in, workers",
                f"{name}, {count} workers",
                count * connections,
                "one process",
                _side(own),
                _side(former),
                Goal("requests for each core's second", kept * count),
                statistics.median(ratios),
                tuple(round(each, 3) for each in ratios),
                {},
            )


def _sum_of(left: tuple[Outcome, float], right: tuple[Outcome, float]) -> tuple[Outcome, float]:
    """Two servers that were asked at the same time, and what a request of either took."""
    (one, one_us), (two, two_us) = left, right
    requests = one.requests + two.requests
    both = one._replace(
        requests=requests,
        p50_us=max(one.p50_us, two.p50_us),
        p99_us=max(one.p99_us, two.p99_us),
        max_us=max(one.max_us, two.max_us),
    )
    return both, (one.requests * one_us + two.requests * two_us) / requests


# --- what is told ---------------------------------------------------------------------------------


def screen(found: Sequence[Compared]) -> Table:
    """For people."""
    drawn = Table("store", "operation", "beside", "own/s", "other/s", "own CPU µs", "ratio", "goal")
    for each in found:
        sign = "≤" if each.goal.at_most else "≥"
        drawn.add_row(
            each.store,
            f"{each.name}, {each.connections} connections",
            each.beside,
            f"{each.own.per_second:,.0f}",
            f"{each.other.per_second:,.0f}",
            f"{each.own.cpu_us:,.0f}",
            f"{each.ratio:.2f} of {each.goal.what}",
            f"{sign} {each.goal.bound} {'met' if each.goal.met(each.ratio) else 'MISSED'}",
        )
    return drawn


def runs_with(former: Sequence[Mapping[str, Any]], run: Mapping[str, Any]) -> list[Any]:
    """A run, and before it those of which no store was measured anew in it."""
    return [*[each for each in former if _stores_of(each).isdisjoint(_stores_of(run))], run]


def _stores_of(run: Mapping[str, Any]) -> set[str]:
    return {each["store"] for each in run["results"]}


def markdown(runs: Sequence[Mapping[str, Any]]) -> str:
    """The report, made of the JSON of runs alone."""
    return "\n".join(["# A server over a database", *map(_table_of, runs), ""])


def _table_of(document: Mapping[str, Any]) -> str:
    head = document["head"]
    machine, settings = head["machine"], head["settings"]
    told = (
        f"Made by `{document['command']}` at commit `{head['commit']}`, {head['date']}, on "
        f"{machine['processor']}, {machine['cores']} cores; load average {head['load_average']} "
        f"when the run began. {settings['repeats']} turns of {settings['seconds']} s of each side; "
        f"widerow's hot modules ran {'compiled' if head['compiled'] else 'as plain Python'}; "
        "a ratio is the median of those of the turns. Database, server and load share the cores: "
        "trust ratios, not rates."
    )
    columns = "store|operation|beside|own/s|other/s|own p50, p99 ms|own CPU µs|ratio|goal"
    lines = ["", told, "", f"|{columns}|", "|" + "---|" * 9]
    for each in document["results"]:
        own, other, goal = each["own"], each["other"], Goal(**each["goal"])
        more = ", ".join(
            f"{name.replace('_', ' ')} {value:.0f}" for name, value in each["also"].items()
        )
        sign = "≤" if goal.at_most else "≥"
        cells = (
            each["store"],
            f"{each['name']}, {each['connections']} connections" + (f" ({more})" if more else ""),
            each["beside"],
            f"{own['per_second']:,.0f}",
            f"{other['per_second']:,.0f}",
            f"{own['p50_us'] / 1000:.1f}, {own['p99_us'] / 1000:.1f}",
            f"{own['cpu_us']:,.0f}",
            f"{each['ratio']:.2f} × {goal.what}",
            f"{sign} {goal.bound}: {'met' if goal.met(each['ratio']) else '**missed**'}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def as_dict(each: Compared) -> dict[str, Any]:
    """For JSON."""
    told = each._asdict()
    return told | {name: told[name]._asdict() for name in ("own", "other", "goal")}


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.cluster", description="What a server over a database costs."
    )
    parser.add_argument("stores", nargs="*", metavar="WHAT", help=", ".join(EVERY))
    parser.add_argument("--seconds", type=float, default=3, help="of a turn (%(default)s)")
    parser.add_argument("--turns", type=int, default=5, help="of each side (%(default)s)")
    parser.add_argument("--hbase", metavar="URL", help="hbase://HOST:PORT/NAME that runs already")
    parser.add_argument("--postgres", metavar="URL", help="an empty database that runs already")
    parser.add_argument("--json", action="store_true", help="print JSON")
    parser.add_argument("--report", action="store_true", help="write bench/CLUSTER.md and its JSON")
    given = parser.parse_args(arguments)
    if unknown := set(given.stores) - set(EVERY):
        parser.error(f"no such store: {min(unknown)}; there are {', '.join(EVERY)}")
    settings = Settings(seconds=given.seconds, repeats=given.turns, rows=ROWS)
    head = describe(settings, generator())
    found: list[Compared] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="widerow-bench-")))
        try:
            embedded = stack.enter_context(filled("--path", str(folder / "embedded")))
            if not given.stores or TWO in given.stores:
                found += two_servers(settings)
            if not given.stores or WORKERS in given.stores:
                found += several_workers(settings)
            for name in [each for each in given.stores or STORES if each in STORES]:
                with STORES[name](getattr(given, name), folder) as urls:
                    found += compare(name, urls, embedded, settings)
        except (LoadFailed, subprocess.CalledProcessError) as error:
            print(f"bench.cluster: {error}", file=sys.stderr)
            return 1
    document = {
        "command": " ".join(("python -m bench.cluster", *(arguments or sys.argv[1:]))),
        "head": head,
        "results": [as_dict(each) for each in found],
    }
    if given.report:
        file = _HERE / "cluster.json"
        runs = runs_with(json.loads(file.read_text()) if file.exists() else (), document)
        file.write_text(json.dumps(runs, indent=1) + "\n")
        (_HERE / "CLUSTER.md").write_text(markdown(runs))
    if given.json:
        print(json.dumps(document, indent=2))
    else:
        Console(width=160).print(screen(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
