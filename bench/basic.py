"""How fast a server does the basic operations, and what of that is HTTP alone.

    python bench/basic.py [--quick] [--json] [--path DIR]

Starts `widerow serve` on RocksDB and, for comparison, a server of the same listener that echoes
(`echo.py`). Sends signed requests that were made beforehand, one outstanding on each connection.
Shown for each case: operations per second, the time a request took at the 50th and 99th percentile,
and the processor time that the server's process spent on each, all of its threads together.

Read it with care: server and load share the machine's cores, so operations per second of many
connections are bounded by this program as well; processor time per request is not.
Writes are synced before they are answered; the cost of a sync of the directory's disk is shown.
"""

import argparse
import asyncio
import itertools
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from rich import box
from rich.console import Console
from rich.table import Table

from widerow import __version__
from widerow.cli.serve import loop_factory
from widerow.testing.buffers import cell, key_buffer, row_buffer
from widerow.testing.http import Sender, Wire
from widerow.testing.process import WiderowProcess
from widerow.testing.requests import ANY, create_table
from widerow.wire.tablestore import messages as m

TABLE: Final = "measured"
ROWS: Final = 10_000
REQUESTS: Final = 1000  # made beforehand for each case, sent over and over
STRIDE: Final = 7919  # a prime: visits all rows in an order that no cache expects
RANGE_ROWS: Final = 100
BATCH_ROWS: Final = 200
SECONDS: Final = 3.0
SECONDS_QUICK: Final = 0.5
WARM_UP_SECONDS: Final = 0.2
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_SYNCS: Final = 50

SENDER: Final = Sender()


class Case(NamedTuple):
    """What is measured. `units`: rows in one request."""

    name: str
    requests: Sequence[bytes]
    connections: int
    units: int = 1
    echo: bool = False


class Measured(NamedTuple):
    """What came out; times in microseconds."""

    name: str
    connections: int
    units: int
    operations_per_second: float
    p50_us: float
    p99_us: float
    server_us: float


# --- requests ------------------------------------------------------------------------------------


def key(number: int) -> tuple[tuple[str, str], tuple[str, int]]:
    """The key of a row; a hundred rows in a partition."""
    return ("k", f"card-{number // RANGE_ROWS:06}"), ("n", number % RANGE_ROWS)


def row(number: int) -> bytes:
    """A row of ten columns, about 300 bytes of data."""
    cells = [cell(f"column_{each}", f"value {each} of row {number:08}") for each in range(9)]
    return row_buffer(key(number), [*cells, cell("quantity", number)])


def batch(numbers: Sequence[int]) -> bytes:
    """BatchWriteRow of these rows."""
    rows = [
        m.RowInBatchWriteRowRequest(type=1, row_change=row(number), condition=ANY)
        for number in numbers
    ]
    table = m.TableInBatchWriteRowRequest(table_name=TABLE, rows=rows)
    return m.BatchWriteRowRequest(tables=[table]).SerializeToString()


def get(number: int) -> bytes:
    """GetRow of a whole row."""
    sent = m.GetRowRequest(table_name=TABLE, primary_key=key_buffer(key(number)), max_versions=1)
    return sent.SerializeToString()


def put(number: int) -> bytes:
    """PutRow over a row that is there."""
    sent = m.PutRowRequest(table_name=TABLE, row=row(number), condition=ANY)
    return sent.SerializeToString()


def page(number: int) -> bytes:
    """GetRange of the rows of one partition."""
    first = number - number % RANGE_ROWS
    text = key(first)[0]
    return m.GetRangeRequest(
        table_name=TABLE,
        direction=0,
        max_versions=1,
        limit=RANGE_ROWS,
        inclusive_start_primary_key=key_buffer((text, ("n", 0))),
        exclusive_end_primary_key=key_buffer((text, ("n", RANGE_ROWS))),
    ).SerializeToString()


def scattered(count: int) -> list[int]:
    """Numbers of rows, all over the table."""
    return [index * STRIDE % ROWS for index in range(count)]


def cases() -> list[Case]:
    """Everything that is measured, in the order shown."""
    gets = [SENDER.request("GetRow", get(number)) for number in scattered(REQUESTS)]
    puts = [SENDER.request("PutRow", put(number)) for number in scattered(REQUESTS)]
    pages = [SENDER.request("GetRange", page(number)) for number in scattered(REQUESTS)]
    batches = [
        SENDER.request("BatchWriteRow", batch(scattered((index + 1) * BATCH_ROWS)[-BATCH_ROWS:]))
        for index in range(REQUESTS // BATCH_ROWS)
    ]
    return [
        Case("echo of PutRow", puts, 1, echo=True),
        Case("echo of PutRow", puts, 64, echo=True),
        Case("GetRow", gets, 1),
        Case("GetRow", gets, 64),
        Case("PutRow", puts, 1),
        Case("PutRow", puts, 64),
        Case(f"GetRange, {RANGE_ROWS} rows", pages, 8, RANGE_ROWS),
        Case(f"BatchWriteRow, {BATCH_ROWS} rows", batches, 8, BATCH_ROWS),
    ]


def fill(endpoint: str) -> None:
    """Make the table and its rows."""
    bodies = [("CreateTable", create_table(TABLE).SerializeToString())]
    bodies += [
        ("BatchWriteRow", batch(range(first, first + BATCH_ROWS)))
        for first in range(0, ROWS, BATCH_ROWS)
    ]
    with Wire(endpoint) as wire:
        for action, body in bodies:
            answer = wire.ask(SENDER.request(action, body))
            if answer.status != 200:
                raise SystemExit(f"{action} was answered with {answer.error}")


# --- load ----------------------------------------------------------------------------------------


class Load:
    """What the connections of one case share. It ends at `end` (seconds, as `perf_counter`)."""

    def __init__(self, requests: Sequence[bytes], end: float) -> None:
        """Send `requests` over and over."""
        self.requests: Iterator[bytes] = itertools.cycle(requests)
        self.end = end
        self.took: list[float] = []
        self.failed = ""


class Caller(asyncio.Protocol):
    """One connection that asks, waits, and asks again."""

    def __init__(self, load: Load) -> None:
        """Take part in `load`."""
        self._load = load
        self._transport: asyncio.Transport
        self._missing = 0
        self._started = 0.0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the first time."""
        self._transport = transport  # type: ignore[assignment]  # uvloop's is no subclass
        self._ask()

    def data_received(self, data: bytes) -> None:
        """Take a piece of the answer; heads come in one piece on a connection inside a machine."""
        if self._missing == 0:
            head, _, body = data.partition(b"\r\n\r\n")
            if not head.startswith(b"HTTP/1.1 200"):
                self._load.failed = data.decode("latin-1")
                self._finish()
                return
            start = head.index(b"content-length: ") + 16
            self._missing = int(head[start : head.index(b"\r\n", start)]) - len(body)
        else:
            self._missing -= len(data)
        if self._missing == 0:
            now = time.perf_counter()
            self._load.took.append(now - self._started)
            if now < self._load.end:
                self._ask()
            else:
                self._finish()

    def connection_lost(self, exc: Exception | None) -> None:
        """The server must not hang up."""
        if not self.done.done():
            self._load.failed = f"the connection ended: {exc}"
            self._finish()

    def _ask(self) -> None:
        self._started = time.perf_counter()
        self._transport.write(next(self._load.requests))

    def _finish(self) -> None:
        self.done.set_result(None)
        self._transport.close()


async def call(endpoint: str, case: Case, seconds: float) -> list[float]:
    """Seconds that each request took."""
    place = urlsplit(endpoint)
    assert place.hostname is not None
    assert place.port is not None
    host, port = place.hostname, place.port
    load = Load(case.requests, time.perf_counter() + seconds)
    loop = asyncio.get_running_loop()
    callers = [
        (await loop.create_connection(lambda: Caller(load), host, port))[1]
        for _ in range(case.connections)
    ]
    await asyncio.gather(*(caller.done for caller in callers))
    if load.failed:
        raise SystemExit(f"{case.name}: {load.failed}")
    return load.took


def processor_seconds(process: int) -> float:
    """What all threads of a process have used so far, in the kernel and outside. Linux only."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def measure(endpoint: str, process: int, case: Case, seconds: float) -> Measured:
    """Run one case against the server that is `process`."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(call(endpoint, case, WARM_UP_SECONDS))
        before, started = processor_seconds(process), time.perf_counter()
        took = sorted(runner.run(call(endpoint, case, seconds)))
        elapsed = time.perf_counter() - started
        used = processor_seconds(process) - before
    return Measured(
        case.name,
        case.connections,
        case.units,
        len(took) / elapsed,
        took[len(took) // 2] * 1e6,
        took[len(took) * 99 // 100] * 1e6,
        used / len(took) * 1e6,
    )


# --- the servers ---------------------------------------------------------------------------------


@contextmanager
def echo_server() -> Iterator[tuple[str, int]]:
    """Endpoint and process of the server that echoes."""
    program = Path(__file__).with_name("echo.py")
    with subprocess.Popen(  # noqa: S603  # our own program
        [sys.executable, str(program)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        said = dict(each.split("=", 1) for each in process.stdout.readline().split())
        try:
            yield said["endpoint"], int(said["pid"])
        finally:
            process.terminate()


def sync_us(directory: Path) -> float:
    """The median of writing a few hundred bytes and syncing them, in microseconds."""
    took = []
    with (directory / "sync-probe").open("wb", buffering=0) as file:
        for _ in range(_SYNCS):
            started = time.perf_counter()
            file.write(bytes(512))
            os.fdatasync(file.fileno())
            took.append(time.perf_counter() - started)
    (directory / "sync-probe").unlink()
    return statistics.median(took) * 1e6


def measure_all(directory: Path, seconds: float) -> list[Measured]:
    """Every case, each for `seconds`."""
    measured = []
    with echo_server() as echo, WiderowProcess("--path", str(directory / "store")) as server:
        fill(server.endpoint)
        for case in cases():
            place = echo if case.echo else (server.endpoint, server.pid)
            measured.append(measure(*place, case, seconds))
    return measured


# --- what is shown -------------------------------------------------------------------------------


def show(measured: Sequence[Measured], sync: float) -> None:
    """Print a table."""
    title = f"widerow {__version__}, Python {platform.python_version()}, {os.cpu_count()} cores"
    caption = f"conn.: connections · cpu µs: of the server, a request · a sync: {sync:.0f} µs"
    table = Table(box=box.SIMPLE_HEAD, title=title, caption=caption)
    table.add_column("case", no_wrap=True)
    for heading in ("conn.", "op/s", "rows/s", "p50 µs", "p99 µs", "cpu µs"):
        table.add_column(heading, justify="right", no_wrap=True)
    for each in measured:
        speed = each.operations_per_second
        table.add_row(
            each.name,
            str(each.connections),
            f"{speed:,.0f}",
            f"{speed * each.units:,.0f}" if each.units > 1 else "",
            f"{each.p50_us:,.0f}",
            f"{each.p99_us:,.0f}",
            f"{each.server_us:,.1f}",
        )
    # Where nobody looks, lines need not fit a terminal.
    Console(width=None if sys.stdout.isatty() else 100).print(table)


def as_json(measured: Sequence[Measured], sync: float, seconds: float) -> str:
    """The same as one JSON document."""
    document = {
        "version": __version__,
        "python": platform.python_version(),
        "machine": platform.platform(),
        "cores": os.cpu_count(),
        "seconds_per_case": seconds,
        "sync_us": sync,
        "cases": [each._asdict() for each in measured],
    }
    return json.dumps(document, indent=2)


def main() -> None:
    """Read the command line, measure, print."""
    parser = argparse.ArgumentParser(description="The basic operations, measured over HTTP.")
    parser.add_argument("--quick", action="store_true", help="half a second for each case")
    parser.add_argument("--json", action="store_true", help="one JSON document instead of a table")
    parser.add_argument(
        "--path", help="directory on the disk to measure; a temporary one if not set"
    )
    options = parser.parse_args()
    seconds = SECONDS_QUICK if options.quick else SECONDS
    with tempfile.TemporaryDirectory(dir=options.path) as directory:
        sync = sync_us(Path(directory))
        measured = measure_all(Path(directory), seconds)
    if options.json:
        print(as_json(measured, sync, seconds))
    else:
        show(measured, sync)


if __name__ == "__main__":
    main()
