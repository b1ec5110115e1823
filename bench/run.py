"""The benchmark: start what is measured, send it requests, write down what came out.

    python -m bench.run [--quick] [--full] [--only NAME ...] [--json FILE] [--report]

Groups can be chosen by name (`--only read write`). The goals are printed. Files are written only
where they are asked for: `--json FILE` the results; `--report` `bench/RESULTS.md`, `bench/charts/`
and the results they are made of, in `bench/results.json` without `--json`. Run it from the
repository's top. Everything listens on 127.0.0.1; stores lie in a temporary directory, on the disk
of `--path` if that is given.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final

from bench import growth, neighbours, rows, series, statements, ycsb
from bench.disk import scan_result, sync_results
from bench.drawing import charts
from bench.driver_requests import driver_results
from bench.floor import engine_result, lone_results
from bench.goals import judge
from bench.load import LoadFailed, generator
from bench.machine import describe
from bench.measure import Case, Result, Settings
from bench.observed import observed_results
from bench.peers import dynamodb, postgres, postgres_series, questdb, redis
from bench.report import goals_table, markdown
from bench.search_server import search_results
from bench.servers import Place, echo_server, settle
from bench.workloads import (
    ask,
    cases,
    curve_cases,
    fill,
    fill_versions,
    measure_case,
    measure_together,
)
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn
from tests.support.http import Wire

from widerow.testing.process import WiderowProcess

HERE: Final = Path(__file__).parent
GROUPS: Final = (
    *("disk", "read", "write", "echo", "ycsb", "curve"),
    *(
        "size",
        "width",
        "observed",
        "search",
        "sql",
        "series",
        "nosql",
        "fairness",
        "neighbours",
        "start",
        "peer",
    ),
)
BATCH: Final = f"BatchWriteRow, {rows.BATCH_WRITE_ROWS} rows"
# With the seconds of a turn: a run has ten minutes, and wrk counts whole ones.
ECHOED: Final = {("PutRow", 128): 2.0, (BATCH, 8): 1.0}
ROWS_FULL: Final = 10_000_000
STEPS: Final = 60  # cases of a whole run, about: the length of the bar


class Run:
    """One run: what was chosen, and what came out so far."""

    def __init__(self, settings: Settings, chosen: Iterable[str], bar: Progress) -> None:
        """`chosen` are groups."""
        self.settings = settings
        self.chosen = frozenset(chosen)
        self.results: list[Result] = []
        self.skipped: list[dict[str, str]] = []
        self._bar = bar
        self._task: TaskID = bar.add_task("", total=STEPS)

    def note(self, what: str) -> None:
        """Say what is going on."""
        self._bar.update(self._task, description=what[:60], advance=1)
        if not self._bar.console.is_terminal:
            self._bar.console.print(what)

    def skip(self, name: str, why: str) -> None:
        """Leave something out, visibly."""
        self.skipped.append({"name": name, "why": why})
        self._bar.console.print(f"[yellow]not measured:[/] {name}: {why}")

    def keep(self, results: Iterable[Result]) -> None:
        """Take results as they come; a load that fails is left out visibly."""
        try:
            for each in results:
                self.note(f"{each.group}: {each.name}")
                self.results.append(each)
        except LoadFailed as error:
            self.skip("a case", str(error))

    def keep_all(self, measured: Callable[[], Iterable[Result]]) -> None:
        """Take what is measured together; a load that fails is left out visibly."""
        try:
            self.keep(measured())
        except LoadFailed as error:
            self.skip("a case", str(error))

    def each(self, place: Place, made: Iterable[Case]) -> None:
        """Measure cases on widerow."""
        for case in made:
            if case.group in self.chosen:
                self.keep(measure_case(place, case, self.settings) for _ in range(1))


def measure_all(run: Run, directory: Path) -> None:
    """Everything chosen, in an order in which nothing disturbs what follows."""
    store = directory / "store"
    if "disk" in run.chosen:
        run.keep(sync_results(directory))
    log = directory / "log-of-the-echo"
    with WiderowProcess("--path", str(store)) as server, echo_server(log) as echo:
        place = Place(server.endpoint, server.pid)
        prepare(run, place)
        basics(run, place, echo, directory)
        for group, measured in (
            ("observed", observed_results),
            ("search", search_results),
            ("sql", statements.statement_results),
            ("series", series.series_results),
            ("nosql", driver_results),
        ):
            if group in run.chosen:
                run.keep(measured(place, run.settings))
        if "fairness" in run.chosen:
            run.keep(growth.fairness_results(place, run.settings.rows, run.settings))
        if "neighbours" in run.chosen:
            run.keep(neighbours.neighbour_results(place, run.settings))
        if "ycsb" in run.chosen:
            count = ycsb.REQUESTS // 5 if run.settings.quick else ycsb.REQUESTS
            run.each(place, ycsb.cases(run.settings.rows, count))
        sizes(run, place)
        if "width" in run.chosen:
            run.keep(growth.wide_results(place, run.settings))
    without_server(run, store, directory / "alone")
    for group, compare in (("peer", peers), ("sql", grouping_peers), ("series", series_peers)):
        if group in run.chosen:
            compare(run, directory)


def prepare(run: Run, place: Place) -> None:
    """Make the tables and their first rows."""
    run.note("writing rows")
    with Wire(place.endpoint) as wire:
        ask(wire, rows.table())
        ask(wire, rows.table(rows.VERSIONED))
    fill(place.endpoint, 0, run.settings.rows)
    fill_versions(place.endpoint)


def basics(run: Run, place: Place, echo: Place, directory: Path) -> None:
    """The basic operations, what some are compared with in turns with them, and the curves."""
    made = [case for case in cases(run.settings.rows) if case.group in run.chosen]
    beside = echo if "echo" in run.chosen else None
    reads = [case for case in made if case.name.startswith("GetRow")]
    if reads:
        run.keep_all(partial(measure_together, place, reads, beside, run.settings))
    for case in [each for each in made if each not in reads]:
        if beside and (case.name, case.connections) == ("PutRow", 1):
            run.keep_all(partial(lone_results, place, case, beside, directory, run.settings))
        elif (case.name, case.connections) in ECHOED:
            seconds = min(run.settings.seconds, ECHOED[case.name, case.connections])
            settings = replace(run.settings, seconds=seconds)
            run.keep_all(partial(measure_together, place, [case], beside, settings))
        else:
            run.each(place, [case])
    connections = (1, 32, 128) if run.settings.quick else None
    curve = curve_cases(run.settings.rows, *([connections] if connections else []))
    once = Settings(run.settings.seconds, 1)
    if "curve" in run.chosen:
        run.keep(measure_case(place, case, once) for case in curve)


def sizes(run: Run, place: Place) -> None:
    """Reads at several sizes of the table, which grows meanwhile."""
    settings = run.settings
    if "size" not in run.chosen and "start" not in run.chosen:
        return
    there = settings.rows
    middle = round((settings.rows * settings.rows_large) ** 0.5)
    for wanted in sorted({settings.rows, middle, settings.rows_large}):
        run.note(f"writing rows up to {wanted:,}")
        fill(place.endpoint, there, wanted)
        there = wanted
        if "size" not in run.chosen:
            continue
        run.note("waiting for compactions to end")
        settle(place.process)
        for case in growth.size_cases(wanted):
            run.keep(sized(place, case, settings, wanted) for _ in range(1))


def sized(place: Place, case: Case, settings: Settings, table_rows: int) -> Result:
    """One case, and how many rows the table has."""
    result = measure_case(place, case, settings)
    result.also["table_rows"] = float(table_rows)
    return result


def without_server(run: Run, store: Path, alone: Path) -> None:
    """What needs the store to itself."""
    found = {each.name: each.also for each in run.results}
    if "disk" in run.chosen and "GetRange, 100 rows" in found:
        size = int(found["GetRange, 100 rows"]["answer_bytes"])
        run.keep(scan_result(store, run.settings.rows, size) for _ in range(1))
    if "disk" in run.chosen and BATCH in found:
        size = int(found[BATCH]["request_bytes"])
        run.keep(engine_result(store, run.settings.rows, alone, size) for _ in range(1))
    if "start" in run.chosen:
        repeats = 2 if run.settings.quick else growth.STARTS
        run.keep(growth.start_results(store, run.settings.rows_large, repeats))


_Peer = tuple[str, object | None, Callable[..., Iterable[Result]]]
"""A name, the program of it (None: not installed), and what measures it."""


def _keep_installed(run: Run, directory: Path, found: Iterable[_Peer]) -> None:
    """Measure the peers that are installed, and name the others."""
    for name, program, results in found:
        if program is None:
            run.skip(name, "not installed")
            continue
        run.note(f"peer: {name}")
        try:
            run.keep(results(program, directory, run.settings))
        except (OSError, subprocess.CalledProcessError) as error:
            run.skip(name, str(error))


def peers(run: Run, directory: Path) -> None:
    """Whatever of the peers is installed."""
    directory.chmod(0o755)  # PostgreSQL runs as another user
    found = (
        ("dynalite", dynamodb.dynalite_program(), dynamodb.dynalite_results),
        ("moto", dynamodb.moto_program(), dynamodb.moto_results),
        ("PostgreSQL", postgres.program_folder(), postgres.results),
        ("Redis", redis.program(), redis.results),
    )
    _keep_installed(run, directory, found)


def grouping_peers(run: Run, directory: Path) -> None:
    """Whatever groups the same rows and is installed."""
    directory.chmod(0o755)  # PostgreSQL runs as another user
    programs = postgres.program_folder()
    if programs is None:
        run.skip("PostgreSQL GROUP BY", "not installed")
    else:
        run.note("peer: PostgreSQL GROUP BY")
        run.keep(statements.postgres_results(programs, directory, run.settings))
    if find_spec("duckdb") is None:
        run.skip("DuckDB GROUP BY", "not installed")
    else:
        run.note("peer: DuckDB GROUP BY")
        run.keep(statements.duckdb_results(run.settings))


def series_peers(run: Run, directory: Path) -> None:
    """Whatever keeps the same points and is installed."""
    directory.chmod(0o755)  # PostgreSQL runs as another user
    found = (
        ("PostgreSQL with points", postgres.program_folder(), postgres_series.results),
        ("QuestDB", questdb.program(), questdb.results),
    )
    _keep_installed(run, directory, found)


def options() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.run", description="Measure widerow and what it is compared with."
    )
    parser.add_argument("--quick", action="store_true", help="under a minute, without peers")
    parser.add_argument("--full", action="store_true", help="grow to ten million rows (20 minutes)")
    parser.add_argument("--only", nargs="+", choices=GROUPS, metavar="GROUP", help=" ".join(GROUPS))
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the results there")
    parser.add_argument("--report", action="store_true", help="write RESULTS.md and the charts")
    parser.add_argument("--from", dest="source", type=Path, metavar="FILE", help="report on this")
    parser.add_argument("--path", type=Path, help="a directory on the disk to measure")
    return parser.parse_args()


def settings_of(chosen: argparse.Namespace) -> Settings:
    """How long and how much."""
    if chosen.quick:
        return Settings(seconds=1.0, repeats=1, rows=10_000, rows_large=40_000, quick=True)
    return Settings(rows_large=ROWS_FULL) if chosen.full else Settings()


def execute(chosen: argparse.Namespace, console: Console) -> dict[str, Any]:
    """Measure; the document that is the result."""
    settings = settings_of(chosen)
    default = ("disk", "read", "write", "echo", "start") if chosen.quick else GROUPS
    columns = (TextColumn("{task.description:<60}"), BarColumn(), TimeElapsedColumn())
    document = describe(settings, generator())
    with (
        Progress(*columns, console=console) as bar,
        tempfile.TemporaryDirectory(prefix="widerow-bench-", dir=chosen.path) as directory,
    ):
        run = Run(settings, chosen.only or default, bar)
        measure_all(run, Path(directory))
    document["skipped"] = run.skipped
    document["results"] = [each.as_dict() for each in run.results]
    return document


def write_report(document: dict[str, Any], folder: Path) -> Iterator[Path]:
    """Write RESULTS.md and the charts; gives what was written."""
    report = folder / "RESULTS.md"
    report.write_text(markdown(document), encoding="utf-8")
    yield report
    (folder / "charts").mkdir(exist_ok=True)
    for name, chart in charts(document["results"]).items():
        path = folder / "charts" / name
        path.write_text(chart, encoding="utf-8")
        yield path


def write_asked(
    document: dict[str, Any], target: Path | None, folder: Path, *, report: bool
) -> Iterator[Path]:
    """Write what the command line asks for and nothing else; gives what was written.

    A report has the results that it is made of beside it, unless they go to `target`.
    """
    if report and not target:
        target = folder / "results.json"
    if target:
        target.write_text(json.dumps(document, indent=1) + "\n")
        yield target
    if report:
        yield from write_report(document, folder)


def main() -> None:
    """Read the command line, measure, print the goals, write what was asked for."""
    chosen = options()
    console = Console()
    if chosen.source:
        document = json.loads(chosen.source.read_text())
    else:
        if not shutil.which("wrk"):
            console.print("[yellow]wrk is not installed: the load is made by bench/builtin.py[/]")
        document = execute(chosen, console)
        document["command"] = " ".join(("python -m bench.run", *sys.argv[1:]))
    console.print(Markdown("\n".join(goals_table(judge(document["results"])))))
    for path in write_asked(document, chosen.json, HERE, report=chosen.report):
        console.print(f"written: {path}")
    if not (chosen.json or chosen.report):
        console.print("nothing was written; --json FILE keeps the results, --report the tables")


if __name__ == "__main__":
    main()
