"""How long a server takes from the start of its process to its first acknowledged write.

    python -m bench.startup [--runs 7] [--json]

Each run starts `widerow serve` on an empty directory, creates a table with a signed request and
puts a row with another. Time is from before the process exists until the row's answer is read;
memory is what the server then holds, and processor time what it has used by then, which other work
on the machine changes less than the time. Runs are reported one by one, because the first of them
reads the program from the disk and the others from the system's cache.

The exit code is 0 whether or not the goals are met: a shared machine is not a judge.
"""

import argparse
import json
import os
import platform
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from bench.servers import processor_seconds
from rich import box
from rich.console import Console
from rich.table import Table
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES

from widerow import __version__
from widerow.testing.process import WiderowProcess

SECONDS_GOAL: Final = 0.5
MEBIBYTES_GOAL: Final = 100
TABLE: Final = "started"
_RESIDENT: Final = re.compile(r"^VmRSS:\s+(\d+) kB$", re.MULTILINE)


class Start(NamedTuple):
    """One start: seconds until the ready line and until the answer, and what it took by then.

    `processor_seconds`: of all its threads; `resident_mebibytes`: what it holds.
    """

    ready_seconds: float
    written_seconds: float
    processor_seconds: float
    resident_mebibytes: float


def measure() -> Start:
    """Start a server on an empty directory, write a row, stop it."""
    with tempfile.TemporaryDirectory() as directory:
        server = WiderowProcess("--path", directory)
        started = time.perf_counter()
        with server:
            ready = time.perf_counter()
            write_row(server.endpoint)
            written = time.perf_counter()
            resident = resident_mebibytes(server.pid)
            processor = processor_seconds(server.pid)
    return Start(ready - started, written - started, processor, resident)


def write_row(endpoint: str) -> None:
    """Create a table and put a row into it; return when it is acknowledged."""
    sender = Sender()
    with Wire(endpoint) as wire:
        for action in ("CreateTable", "PutRow"):
            answer = wire.ask(sender.request(action, BODIES[action](TABLE)))
            if answer.status != 200:
                raise SystemExit(f"{action} was answered with {answer.error}")


def resident_mebibytes(process: int) -> float:
    """What the process holds in memory now. Linux only."""
    found = _RESIDENT.search(Path(f"/proc/{process}/status").read_text())
    assert found is not None, "the kernel says how much"
    return int(found[1]) / 1024


def show(starts: Sequence[Start]) -> None:
    """Print the runs, their medians and the goals as a table."""
    table = Table(
        box=box.SIMPLE_HEAD,
        title=f"widerow {__version__}: start to first PutRow, Python {platform.python_version()}",
    )
    for heading in ("run", "ready s", "PutRow answered s", "processor s", "resident MiB"):
        table.add_column(heading, justify="right")
    for number, start in enumerate(starts, 1):
        table.add_row(str(number), *_shown(start))
    table.add_section()
    middle = median(starts)
    in_time, in_memory = ("yes" if each else "no" for each in goals_met(middle))
    table.add_row("median", *_shown(middle))
    table.add_row("goal", "", f"≤ {SECONDS_GOAL}", "", f"≤ {MEBIBYTES_GOAL}")
    table.add_row("met", "", in_time, "", in_memory)
    # Where nobody looks, lines need not fit a terminal.
    Console(width=None if sys.stdout.isatty() else 100).print(table)


def _shown(start: Start) -> tuple[str, ...]:
    return (*(f"{seconds:.3f}" for seconds in start[:3]), f"{start.resident_mebibytes:.1f}")


def median(starts: Sequence[Start]) -> Start:
    """The median of each value by itself."""
    return Start(*(statistics.median(values) for values in zip(*starts, strict=True)))


def goals_met(start: Start) -> tuple[bool, bool]:
    """Whether time and memory stay within their goals."""
    return start.written_seconds <= SECONDS_GOAL, start.resident_mebibytes <= MEBIBYTES_GOAL


def as_json(starts: Sequence[Start]) -> str:
    """The same as one JSON document."""
    middle = median(starts)
    in_time, in_memory = goals_met(middle)
    document = {
        "version": __version__,
        "python": platform.python_version(),
        "machine": platform.platform(),
        "cores": os.cpu_count(),
        "runs": [start._asdict() for start in starts],
        "median": middle._asdict(),
        "goal": {"written_seconds": SECONDS_GOAL, "resident_mebibytes": MEBIBYTES_GOAL},
        "met": {"written_seconds": in_time, "resident_mebibytes": in_memory},
    }
    return json.dumps(document, indent=2)


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description="From process start to the first PutRow.")
    parser.add_argument("--runs", type=int, default=7, help="how often to start; 7 if not given")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    options = parser.parse_args()
    starts = [measure() for _ in range(max(1, options.runs))]
    if options.json:
        print(as_json(starts))
    else:
        show(starts)


if __name__ == "__main__":
    main()
