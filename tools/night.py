"""The long run: every suite at full volume, on two quiet cores in two hours.

    python -m tools.night             # or: make night
    python -m tools.night --scale 0.1 # a tenth of every volume
    python -m tools.night --list      # what would run

Three lanes run beside each other, as much of their time is waiting for disks and servers. What is
measured in milliseconds runs after them, by itself, and so does what starts a cluster (without
Java, Maven or PostgreSQL: skipped, and said so). With PYTHONPATH on a compiled copy (as `make
night` has it) the servers are compiled ones.

Each suite prints JSON lines (`evidence.py`); all of them are kept in build/night, with what the
suites wrote otherwise. At the end a table says how each ended; the exit code is 1 if one failed.
`python -m tools.evidence` makes tables of them; docs/internals/evidence.md is a summary of such.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from tools.evidence import VARIABLE

__all__ = ["ALONE", "CLUSTERS", "LANES", "Step", "main"]

ROOT: Final = Path(__file__).resolve().parents[1]
KEPT: Final = ROOT / "build" / "night"
_SECONDS_MAX: Final = 60 * 60  # for one step; what takes longer hangs


class Step(NamedTuple):
    """A command, and the volume that `--scale` applies to.

    `program` is the dotted name of a module. `volume` is
    the name and the number of an argument; `sparse`: it says how many are left out, so less is
    more work. A `plain` step runs the modules as they stand in src, as it patches or watches them.
    """

    program: str
    arguments: tuple[str, ...]
    volume: tuple[str, int] | None = None
    sparse: bool = False
    plain: bool = False

    def command(self, scale: float) -> list[str]:
        """What is run."""
        words = [sys.executable, "-m", self.program, *self.arguments]
        if self.volume is not None:
            name, number = self.volume
            words += [name, str(max(1, round(number / scale if self.sparse else number * scale)))]
        return words

    @property
    def title(self) -> str:
        """For people."""
        return " ".join((self.program, *self.arguments))


# All tests, and all that they draw at random.
_WHOLE: Final = ("-q", "-m", "night or not night", "--hypothesis-profile=night")
_BESIDE: Final = ("-n", "2", "--dist", "worksteal")  # processes, beside those of other lanes
_ALONE: Final = ("-n", "4", "--dist", "worksteal")
_SESSIONS: Final = ("tests/compat", "tests/conformance", "tests/crash", "tests/package")
_PLAIN: Final = ("tests/compat/python", "tests/conformance", "tests/crash")
# What has a bound of time, a second or a minute, and nothing may run beside it.
_TIMED: Final = ("tests/conformance/test_hot_row.py", "tests/conformance/test_hbase_room.py")
_APART: Final = tuple(f"--ignore={folder}" for folder in _SESSIONS)  # as they start clusters
_COMPILED: Final = (
    *("tests/fuzz", "tests/golden", "tests/security", "tests/wire_limits"),
    *(f"tests/unit/{name}" for name in ("auth", "engine", "keys", "rows", "search", "server")),
    *("tests/unit/storage", "tests/unit/wire"),
    *(f"tests/nosql/test_{name}.py" for name in ("single_rows", "write_many", "multi_rows")),
)

# Each night simulates seeds that no other night has.
_FIRST_SEED: Final = str(2_500 * datetime.now(UTC).toordinal())  # noqa: TID251  # of this night

# Minutes as measured on two cores, two lanes running.
LANES: Final[tuple[tuple[Step, ...], ...]] = (
    (
        Step("tools.trust", ("power", "--disk", "ext4"), ("--cycles", 200)),  # 2
        Step("tools.trust", ("power", "--disk", "xfs"), ("--cycles", 200)),  # 2
        Step("tools.trust", ("control", "--disk", "ext4"), ("--times", 5)),  # 0.4
        Step("tools.trust", ("control", "--disk", "xfs"), ("--times", 5)),  # 0.4
        Step("tools.trust", ("kill",), ("--cycles", 300)),  # 4
        Step("tools.linearize", (), ("--histories", 60)),  # 4
        Step("tools.change_kills", (), ("--kills", 200)),  # 4
        Step("tools.change_kills", ("--disk", "ext4"), ("--cuts", 60)),  # 1
        Step("tools.change_kills", ("--disk", "xfs"), ("--cuts", 60)),  # 1
        Step("tools.search_kills", (), ("--kills", 100)),  # 4
        Step("tools.search_kills", ("--disk", "ext4"), ("--cuts", 30)),  # 2
        Step("tools.nosql_kills", (), ("--kills", 200)),  # 2
        Step("tools.nosql_server_kills", (), ("--kills", 100)),  # 3
        Step("tools.timeseries_kills", (), ("--kills", 200)),  # 2
        Step("tools.trust", ("damage",), ("--each", 60)),  # 2
        Step("tools.trust", ("full",), ("--cycles", 20)),  # 0.4
        Step("tools.simulate", ("--first", _FIRST_SEED), ("--seeds", 2_500)),  # 5
    ),
    (
        Step("pytest", (*_WHOLE, *_BESIDE, *_APART), plain=True),  # 20
        Step("pytest", (*_WHOLE, *_BESIDE, *_COMPILED)),
        Step("tools.model_steps", (), ("--steps", 200_000)),  # 6
    ),
    (
        Step("tools.trust", ("faults",), ("--every", 1), sparse=True),  # 11
        Step("tools.teeth", (), plain=True),  # 10
        Step("tests.fuzz.run", (), ("--seconds", 30), plain=True),  # 5
        Step("tools.mutate", ("--seed", "1"), ("--cases", 60_000)),  # 1
        Step("tools.nosql_mutate", ("--seed", "1"), ("--cases", 30_000)),  # 3
        Step("tools.hostile", ("attacks",)),  # 0.2
    ),
)
ALONE: Final = (
    Step("tools.hostile", ("bombs",)),  # 0.1
    Step("tools.trust", ("restart",), ("--cycles", 50)),  # 2
    Step("tools.slow", (), ("--seconds", 60)),  # 8
)

_DISTURBED: Final = ("--disturb", "--operations", "300", "--minutes", "5")
CLUSTERS: Final = (
    Step("tools.linearize", ("--store", "postgresql", *_DISTURBED), ("--histories", 200)),
    Step("tools.linearize", ("--store", "hbase", *_DISTURBED), ("--histories", 200)),
    Step(
        "tools.linearize", ("--store", "hbase", "--servers", "3", *_DISTURBED), ("--histories", 100)
    ),
    Step("pytest", (*_WHOLE, *_ALONE, *_SESSIONS, *(f"--ignore={each}" for each in _TIMED))),
    Step("pytest", (*_WHOLE, "-n", "0", *_TIMED)),
    Step("pytest", ("-q", *_ALONE, *_PLAIN), plain=True),
)


class _Ended(NamedTuple):
    lane: str
    title: str
    code: int
    seconds: float


def _run(step: Step, scale: float, place: Path, number: int) -> int:
    """Run one step; its exit code, or 124 where it took too long."""
    environment = {**os.environ, VARIABLE: str(place / "lines.jsonl")}
    if step.plain:
        environment.pop("PYTHONPATH", None)
    said = place / f"{number:03d}-{step.program.removesuffix('.py')}.log"
    with said.open("wb") as file:
        try:
            done = subprocess.run(  # noqa: S603  # our own programs
                step.command(scale),
                cwd=ROOT,
                env=environment,
                stdout=file,
                stderr=subprocess.STDOUT,
                timeout=_SECONDS_MAX,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return 124
    return done.returncode


def _run_all(scale: float, place: Path) -> list[_Ended]:
    """Run the lanes beside each other, the steps of each one after another; then what is alone."""
    ends: list[_Ended] = []
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:

        def go(letter: str, steps: Sequence[Step], first: int) -> None:
            for number, step in enumerate(steps, first):
                task = progress.add_task(f"{letter}  {step.title}", total=1)
                begun = time.monotonic()
                code = _run(step, scale, place, number)
                ends.append(_Ended(letter, step.title, code, time.monotonic() - begun))
                progress.update(task, completed=1)

        with ThreadPoolExecutor(len(LANES)) as pool:
            waiting = [
                pool.submit(go, letter, steps, 100 * index)
                for index, (letter, steps) in enumerate(zip("ABC", LANES, strict=True), 1)
            ]
        for end in waiting:
            end.result()
        go("D", ALONE, 400)
        go("E", CLUSTERS, 500)
    return ends


def _table(ends: Sequence[_Ended], lines: Path) -> Table:
    table = Table("lane", "step", "ended", "seconds")
    for end in ends:
        word = "well" if end.code == 0 else f"with exit code {end.code}"
        table.add_row(end.lane, end.title, word, f"{end.seconds:.0f}")
    if lines.exists():
        skipped = [json.loads(text) for text in lines.read_text(encoding="utf-8").splitlines()]
        for line in skipped:
            if line["skipped"]:
                table.add_row("", line["check"], f"skipped: {line['skipped']}", "")
    return table


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(description="Every trust suite at full volume.")
    parser.add_argument("--scale", type=float, default=1.0, help="of every volume (%(default)s)")
    parser.add_argument("--list", action="store_true", help="say what would run")
    options = parser.parse_args(arguments)
    if options.list:
        for lane in (*LANES, ALONE, CLUSTERS):
            for step in lane:
                print(" ".join(step.command(options.scale)))
        return 0
    now = datetime.now(UTC)  # noqa: TID251  # names the directory of this run
    place = KEPT / f"{now:%Y-%m-%dT%H%M%S}"
    place.mkdir(parents=True)
    begun = time.monotonic()
    ends = _run_all(options.scale, place)
    Console().print(_table(sorted(ends), place / "lines.jsonl"))
    minutes = (time.monotonic() - begun) / 60
    print(f"{minutes:.1f} minutes; kept in {place.relative_to(ROOT)}")
    return int(any(end.code for end in ends))


if __name__ == "__main__":
    sys.exit(main())
