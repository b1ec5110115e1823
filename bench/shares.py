"""Whose code the processor time of an operation goes to: `python -m bench.shares`.

    PYTHONPATH=build/compiled:. python -m bench.shares [--seconds 4] [--json] [CASE ...]

Cases are get, put and batch. A server is put under load as in `bench.run`; Linux's `perf` samples
its process meanwhile, and each sample is counted for the library or the part of the kernel that it
fell into. Shares are multiplied by the processor time of a request. The echo of each case
(`echo.py`) is sampled beside it: what is alike in both is the price of HTTP over a socket.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from bench import rows
from bench.load import Load, LoadFailed, generator, prepared
from bench.measure import WARM_UP_SECONDS, Case
from bench.servers import Place, echo_server, processor_seconds
from bench.workloads import REQUESTS, ask, echo_case, fill, parts, scattered
from rich.console import Console
from rich.table import Table
from tests.support.http import Wire

from widerow.testing.process import WiderowProcess

__all__ = ["SHARES", "Sampled", "main", "share_of", "weigh"]

ROWS: Final = 100_000
SAMPLES_A_SECOND: Final = 1999  # a prime: nothing that the server does is in step with it

# The first whose mark is in the name of the library that a sample fell into.
SHARES: Final[tuple[tuple[str, str], ...]] = (
    ("[kernel", "kernel"),
    ("rocksdict", "RocksDB"),
    ("libcrypto", "OpenSSL: MD5, SHA-1"),
    ("_hashlib", "OpenSSL: MD5, SHA-1"),
    ("__mypyc", "widerow, compiled"),
    ("uvloop", "loop, HTTP parser"),
    ("loop.cpython", "loop, HTTP parser"),
    ("parser.cpython", "loop, HTTP parser"),
    ("_message", "protobuf"),
    ("fastcrc", "CRC-8"),
    ("python", "Python"),
    ("libc", "C library"),
    ("ld-linux", "C library"),
)
_OTHER: Final = "other"


class Sampled(NamedTuple):
    """One case: processor time of a request (or of a row), and how it is shared, in µs."""

    name: str
    cpu_us: float
    shares: dict[str, float]


def share_of(library: str) -> str:
    """The share that a sample in this library counts for."""
    return next((name for mark, name in SHARES if mark in library), _OTHER)


def cases() -> dict[str, Case]:
    """What can be sampled."""
    numbers = scattered(REQUESTS, ROWS)
    batches = [rows.batch_write(part, 2) for part in parts(numbers, rows.BATCH_WRITE_ROWS)]
    return {
        "get": Case("read", "GetRow", [rows.get(each) for each in numbers], 32),
        "put": Case("write", "PutRow", [rows.put(each) for each in numbers], 128),
        "batch": Case("write", "BatchWriteRow", batches, 8, rows.BATCH_WRITE_ROWS),
    }


def sample(place: Place, case: Case, seconds: float) -> Sampled:
    """Put a server under load and see where it is. Raises: `LoadFailed`, `SamplingFailed`."""
    with prepared(case.requests) as file, tempfile.TemporaryDirectory() as folder:
        load = Load(place.endpoint, case.requests, file)
        load.warm_up(case.connections, WARM_UP_SECONDS)
        data = Path(folder, "perf.data")
        before = processor_seconds(place.process)
        with _perf(place.process, data):
            outcome = load.run(case.connections, seconds)
        used = processor_seconds(place.process) - before
        weights = _read(data)
    cpu_us = used / outcome.requests / case.rows * 1e6
    whole = sum(weights.values())
    shares = {name: round(cpu_us * weight / whole, 2) for name, weight in weights.items()}
    return Sampled(case.name, round(cpu_us, 1), shares)


class SamplingFailed(Exception):
    """perf could not be run here; the text says what it said."""


@contextmanager
def _perf(process: int, data: Path) -> Iterator[None]:
    command = ["perf", "record", "-F", str(SAMPLES_A_SECOND), "-p", str(process), "-o", str(data)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as perf:  # noqa: S603  # our own arguments
        try:
            yield
        finally:
            perf.terminate()
            _, said = perf.communicate()
    if not data.exists():
        raise SamplingFailed(said.decode(errors="replace").strip()[-500:])


def _read(data: Path) -> dict[str, float]:
    command = ["perf", "report", "-i", str(data), "--sort", "dso", "--stdio", "-t", ";"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # as above
    weights = weigh(done.stdout)
    if not weights:
        raise SamplingFailed(f"perf took no samples: {done.stderr.strip()[-500:]}")
    return weights


def weigh(said: str) -> dict[str, float]:
    """The percentage of each share in what perf reports by library, the largest first."""
    weights: dict[str, float] = {}
    for line in said.splitlines():
        percent, _, library = line.partition(";")
        if percent.strip().endswith("%"):
            name = share_of(library)
            weights[name] = weights.get(name, 0) + float(percent.strip()[:-1])
    return dict(sorted(weights.items(), key=lambda each: -each[1]))


def run(chosen: Sequence[str], seconds: float, directory: Path) -> list[Sampled]:
    """Every chosen case, and its echo behind it."""
    found: list[Sampled] = []
    with WiderowProcess("--path", str(directory)) as server, echo_server() as echo:
        with Wire(server.endpoint) as wire:
            ask(wire, rows.table())
        fill(server.endpoint, 0, ROWS)
        for name in chosen:
            case = cases()[name]
            found.append(sample(Place(server.endpoint, server.pid), case, seconds))
            with Wire(server.endpoint) as wire:
                answer_bytes = len(wire.ask(case.requests[0]).body)
            found.append(sample(echo, echo_case(case, answer_bytes), seconds))
    return found


def table(found: Sequence[Sampled]) -> Table:
    """For people: a column for each case."""
    drawn = Table("µs of processor", *(each.name for each in found))
    drawn.columns[0].no_wrap = True
    for column in drawn.columns[1:]:
        column.justify = "right"
    names = list(dict.fromkeys(name for each in found for name in each.shares))
    for name in names:
        drawn.add_row(name, *(f"{each.shares.get(name, 0):.1f}" for each in found))
    drawn.add_section()
    drawn.add_row("all", *(f"{each.cpu_us:.1f}" for each in found))
    return drawn


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    every = tuple(cases())
    parser = argparse.ArgumentParser(description="Whose code an operation's time goes to.")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(every))
    parser.add_argument("--seconds", type=float, default=4, help="of load (%(default)s)")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = parser.parse_args(arguments)
    if unknown := set(options.cases) - set(every):
        parser.error(f"no such case: {min(unknown)}; there are {', '.join(every)}")
    if generator() != "wrk" or shutil.which("perf") is None:
        parser.error("needs perf and wrk: apt-get install linux-perf wrk")
    with tempfile.TemporaryDirectory(prefix="widerow-bench-") as folder:
        try:
            found = run(options.cases or every, options.seconds, Path(folder, "store"))
        except (LoadFailed, SamplingFailed) as error:
            print(f"bench.shares: {error}", file=sys.stderr)
            return 1
    if options.json:
        told: list[dict[str, Any]] = [each._asdict() for each in found]
        json.dump(told, sys.stdout, indent=2)
        print()
    else:
        Console().print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
