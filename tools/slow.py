"""Clients that are slow on purpose, and how a healthy one fares beside them.

    python -m tools.slow                              # every mode, 500 connections, 60 s each
    python -m tools.slow --mode body --seconds 10
    python -m tools.slow --crowd body --endpoint http://127.0.0.1:8087   # the slow ones alone

Modes: `connect` opens connections and says nothing; `header` sends a header line now and then;
`body` proves who it is by a signed head and then drips the body; `read` asks for a page of rows and
reads a few bytes now and then; `pipeline` asks many times at once and reads nothing. What the
server ends is opened again at once. Slow clients and the server each have a process; the healthy
client writes and reads a row in turns, over one connection that must never end, first alone (its
baseline) and then beside the slow ones, once they are all there and their first requests are
answered. No error is allowed, and the 99th percentile of its latencies may be three times the
baseline's. Prints a line of JSON for each mode; the exit code is 1 if one failed.
"""

import argparse
import asyncio
import resource
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from tests.support.buffers import cell, key_buffer, row_buffer
from tests.support.http import Sender, Wire, encode_request
from tests.support.requests import (
    ANY,
    create_table_request,
    get_range_request,
    get_row_request,
    put_row_request,
)
from tools.evidence import record

from widerow.testing.process import WiderowProcess
from widerow.wire.tablestore import messages as m

__all__ = ["MODES", "Health", "Outcome", "main", "run"]

TABLE: Final = "T"
SENDER: Final = Sender()
CONNECTIONS: Final = 500
SECONDS: Final = 60.0
DRIP_SECONDS: Final = 1.0  # between two bytes, or lines, of one slow client
ARRIVALS: Final = 250  # of slow clients, a second
LOOK_SECONDS: Final = 0.5  # between two looks at what the server is doing
QUIET_SHARE: Final = 0.5  # of a processor: what the slow ones asked for when they came is done
SETTLE_SECONDS: Final = 1.0  # of the healthy client before it counts
RATIO_MAX: Final = 3.0
ROWS: Final = 20
PAGE_ROWS: Final = 10
PIPELINED: Final = 4  # more, from so many, would be refused as too many in hand
ROW_BYTES: Final = 10_000
CROWD_SECONDS_MAX: Final = 60.0
PAUSE_SECONDS: Final = 0.002  # between two requests of the healthy client
_SMALL_BUFFER: Final = 4096


class Health(NamedTuple):
    """How the healthy client fared."""

    requests: int
    errors: int
    p50_ms: float
    p99_ms: float


class Outcome(NamedTuple):
    """One mode: the healthy client alone, and beside the slow ones, and how many these were."""

    mode: str
    alone: Health
    beside: Health
    connections: int

    @property
    def violations(self) -> int:
        """Errors, and one for a 99th percentile that is too far from the baseline."""
        too_slow = self.beside.p99_ms > RATIO_MAX * self.alone.p99_ms
        return self.alone.errors + self.beside.errors + int(too_slow)


# --- slow clients --------------------------------------------------------------------------------

Slow = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


async def _connect(reader: asyncio.StreamReader, _: asyncio.StreamWriter) -> None:
    await reader.read()


async def _drip(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, begin: bytes, piece: bytes
) -> None:
    """Send `begin`, then a piece now and then, until the server has had enough."""
    writer.write(begin)
    ended = asyncio.ensure_future(reader.read())
    while not ended.done():
        writer.write(piece)
        await writer.drain()
        await asyncio.wait((ended,), timeout=DRIP_SECONDS)


async def _header(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    await _drip(reader, writer, b"POST /GetRow HTTP/1.1\r\nhost: localhost\r\n", b"x-a: b\r\n")


async def _body(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    body = bytes(4 * 1024 * 1024)
    whole = encode_request("/PutRow", SENDER.sign("PutRow", SENDER.headers(body)), body)
    await _drip(reader, writer, whole[: -len(body)], b"\0")


async def _read(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(SENDER.request("GetRange", _page()))
    while await reader.read(16):  # noqa: ASYNC110  # being slow is the point
        await asyncio.sleep(DRIP_SECONDS)


async def _pipeline(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    writer.write(SENDER.request("GetRange", _page()) * PIPELINED)
    while await reader.read(1):  # noqa: ASYNC110  # being slow is the point
        await asyncio.sleep(60)


MODES: Final[dict[str, Slow]] = {
    "connect": _connect,
    "header": _header,
    "body": _body,
    "read": _read,
    "pipeline": _pipeline,
}


def _page() -> bytes:
    message = get_range_request(TABLE)
    message.limit = PAGE_ROWS
    message.inclusive_start_primary_key = key_buffer((("k", ""), ("n", -(2**63))))
    message.exclusive_end_primary_key = key_buffer((("k", "\U0010ffff"), ("n", 0)))
    return message.SerializeToString()


async def _socket(host: str, port: int) -> socket.socket:
    """A connection whose end takes little, so that what is not read stays with the server."""
    connected = socket.socket()
    try:
        connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _SMALL_BUFFER)
        connected.settimeout(0)
        await asyncio.get_running_loop().sock_connect(connected, (host, port))
    except BaseException:
        connected.close()
        raise
    return connected


async def _crowd(endpoint: str, slow: Slow, connections: int) -> None:
    """So many slow clients, each of which comes back when it is ended."""
    place = urlsplit(endpoint)

    async def one(number: int) -> None:
        # Each has a beat of its own: clients that are slow by nature do not speak in chorus.
        await asyncio.sleep(number / ARRIVALS)
        while True:
            with suppress(OSError, EOFError):
                reader, writer = await asyncio.open_connection(
                    sock=await _socket(str(place.hostname), place.port or 0), limit=_SMALL_BUFFER
                )
                try:
                    await slow(reader, writer)
                finally:
                    writer.close()
            await asyncio.sleep(0.1)

    await asyncio.gather(*(one(number) for number in range(connections)))


@contextmanager
def _beside(endpoint: str, mode: str, connections: int) -> Iterator[None]:
    """The crowd, in a process of its own."""
    command = [sys.executable, "-m", "tools.slow", "--crowd", mode, "--endpoint", endpoint]
    command += ["--connections", str(connections)]
    process = subprocess.Popen(command)  # noqa: S603  # this program
    try:
        yield
    finally:
        process.kill()
        process.wait()


# --- the healthy client --------------------------------------------------------------------------


def _fill(endpoint: str) -> None:
    with Wire(endpoint) as wire:
        create = create_table_request(TABLE).SerializeToString()
        if wire.ask(SENDER.request("CreateTable", create)).status != 200:
            raise RuntimeError("the server refused a table")
        for number in range(ROWS):
            key = (("k", f"{number:05}"), ("n", number))
            row = row_buffer(key, [cell("c", "x" * ROW_BYTES)])
            put = m.PutRowRequest(table_name=TABLE, row=row, condition=ANY)
            wire.ask(SENDER.request("PutRow", put.SerializeToString()))


def _fare(wire: Wire, seconds: float) -> Health:
    """Write and read a row in turns for a while."""
    put, get = (
        put_row_request(TABLE).SerializeToString(),
        get_row_request(TABLE).SerializeToString(),
    )
    latencies: list[float] = []
    errors = 0
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for action, body in (("PutRow", put), ("GetRow", get)):
            request = SENDER.request(action, body)
            begun = time.perf_counter()
            try:
                errors += wire.ask(request).status != 200
            except OSError:
                return Health(len(latencies), errors + 1, 0.0, float("inf"))
            latencies.append(1000 * (time.perf_counter() - begun))
            time.sleep(PAUSE_SECONDS)
    latencies.sort()
    count = len(latencies)
    return Health(count, errors, latencies[count // 2], latencies[count * 99 // 100])


def _gauge(endpoint: str, name: str) -> float:
    """What the server says of itself."""
    with Wire(endpoint) as wire:
        page = wire.ask(b"GET /metrics HTTP/1.1\r\n\r\n").body.decode()
    (line,) = (line for line in page.splitlines() if line.startswith(f"widerow_{name} "))
    return float(line.split()[1])


def _await_crowd(endpoint: str, connections: int) -> None:
    """Until all are there, and the server has done what they asked for when they came."""
    end = time.monotonic() + CROWD_SECONDS_MAX
    spent = 0.0
    while time.monotonic() < end:
        there = _gauge(endpoint, "connections")
        before, spent = spent, _gauge(endpoint, "process_cpu_seconds_total")
        if there >= connections and spent - before < QUIET_SHARE * LOOK_SECONDS:
            return
        time.sleep(LOOK_SECONDS)


def run(mode: str, connections: int, seconds: float) -> Outcome:
    """One mode against a server of its own."""
    with (
        tempfile.TemporaryDirectory(prefix="widerow-slow-") as folder,
        WiderowProcess("--path", str(Path(folder) / "data")) as server,
    ):
        _fill(server.endpoint)
        with Wire(server.endpoint) as wire:
            _fare(wire, min(seconds, SETTLE_SECONDS))  # everything loaded, everything warm
            alone = _fare(wire, seconds / 2)
            with _beside(server.endpoint, mode, connections):
                _await_crowd(server.endpoint, connections)
                _fare(wire, min(seconds, SETTLE_SECONDS))
                there = _gauge(server.endpoint, "connections")
                beside = _fare(wire, seconds)
                there = min(there, _gauge(server.endpoint, "connections"))
        server.stop()
    return Outcome(mode, alone, beside, round(there) - 2)  # the healthy one and the one that looks


def main(arguments: Sequence[str] | None = None) -> int:
    """The command. Returns the exit code."""
    parser = argparse.ArgumentParser(description="A healthy client beside slow ones.")
    parser.add_argument("--mode", choices=MODES, action="append", help="(default: all)")
    parser.add_argument("--connections", type=int, default=CONNECTIONS, help="(%(default)s)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="a mode (%(default)s)")
    parser.add_argument("--crowd", choices=MODES, help="be the slow clients of this mode")
    parser.add_argument("--endpoint", help="with --crowd: where")
    options = parser.parse_args(arguments)
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    if options.crowd is not None:
        if options.endpoint is None:
            parser.error("--crowd needs --endpoint")
        asyncio.run(_crowd(options.endpoint, MODES[options.crowd], options.connections))
        return 0
    found = 0
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        for mode in options.mode or MODES:
            progress.add_task(mode, total=None)
            outcome = run(mode, options.connections, options.seconds)
            found += outcome.violations
            record(
                f"slow clients: {mode}",
                volume=outcome.beside.requests,
                unit="requests of a healthy client",
                violations=outcome.violations,
                seconds=options.seconds,
                facts={
                    "connections": outcome.connections,
                    "errors": outcome.beside.errors,
                    "alone_p99_ms": round(outcome.alone.p99_ms, 2),
                    "beside_p99_ms": round(outcome.beside.p99_ms, 2),
                    "p50_ms": round(outcome.beside.p50_ms, 2),
                },
            )
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
