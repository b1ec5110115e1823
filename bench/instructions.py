"""Machine instructions of a request in the server's process: `python -m bench.instructions`.

    PYTHONPATH=build/compiled:. python -m bench.instructions [--json] [--keep FOLDER] [CASE ...]

Cases are get, put, update, and, with a row or a point counted, batch, batch-delete, range,
batch-get and points. Those of NoSQL's drivers are nosql-get, nosql-put, statements about one row by
its key (nosql-point, nosql-update, nosql-insert, nosql-remove), and, with a row counted, statements
about a hundred rows (nosql-query and nosql-fields by the shard key, nosql-ordered by an index) and
MULTI_DELETE of as many (nosql-delete). The goal of one is said where what stands beside it is
counted too.
Connections are handed the bytes of signed requests, a turn of the loop at a time, and their answers
go nowhere; everything between is the server's. Valgrind's callgrind counts what runs, so the figure
is the same at every hour and on every machine with the same libraries, and a change of one in a
thousand shows. It says nothing about caches, nor about the kernel.

`--keep` leaves callgrind's files, for `callgrind_annotate --inclusive=yes` or KCachegrind.
"""

import argparse
import asyncio
import gc
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

from bench import points, rows, typed_rows
from rich.console import Console
from rich.table import Table
from tests.support.engines import open_tablestore

from widerow.auth.keyring import Keyring
from widerow.auth.policy import AccessRules, InstancePolicy
from widerow.commit.committer import Committer
from widerow.commit.waiting import Waiting
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.server.admission import Admission
from widerow.server.connection import Connection
from widerow.server.dispatch import Dispatcher
from widerow.server.headers import KeptHeaders
from widerow.server.metrics import Metrics
from widerow.server.probes import Probes
from widerow.server.schedule import Schedule, rules_for
from widerow.server.service import Service
from widerow.server.shared import Shared, Timeouts
from widerow.storage.opener import open_store
from widerow.system import SystemClock, SystemEntropy
from widerow.wire.dialects import DIALECTS

__all__ = ["BESIDE", "CASES", "Turns", "counted", "main", "ratio_of", "total_of"]

ROWS: Final = 4000
ASKED_ROWS: Final = 640  # about: what is asked for while it is counted


class Case(NamedTuple):
    """What is sent: by `make`, from a row's number on, on so many connections at once.

    `table`, `put`: what makes the table, and each of its rows before; `more`: what changes the
    table before rows come. `once`: asked once for each row, because it is gone then. `sign`: what
    is in every answer that is not an error.
    """

    make: Callable[[int], bytes]
    connections: int
    table: Callable[[], bytes] = rows.table
    put: Callable[[int], bytes] = rows.put
    rows: int = 1  # of one request
    once: bool = False
    sign: bytes = b" 200 OK"
    more: tuple[Callable[[], bytes], ...] = ()

    def requests(self) -> list[bytes]:
        """Those that are counted."""
        step = 1 if self.once else 7
        return [
            self.make(step * number * self.rows % ROWS)
            for number in range(-(-ASKED_ROWS // self.rows))
        ]

    def warming(self) -> list[bytes]:
        """Those that are sent before."""
        if self.once:
            return [self.make(ROWS - 1)]
        return self.requests()[: 4 * self.connections]


_BATCH_GET_ROWS: Final = 100


def _batch(number: int) -> bytes:
    numbers = range(number, number + rows.BATCH_WRITE_ROWS)
    return rows.batch_write([each % ROWS for each in numbers])


def _batch_get(number: int) -> bytes:
    numbers = range(number, number + _BATCH_GET_ROWS)
    return rows.batch_get([each % ROWS for each in numbers])


_TIMES: Final = itertools.count(
    0, points.POINTS
)  # of requests, in the order in which they are made


@cache
def _point_template() -> points.Template:
    return points.Template.of("points", [0] * points.POINTS)


def _points(_number: int) -> bytes:
    first = next(_TIMES)
    steps = range(first, first + points.POINTS)
    return _point_template().at(points.BEGIN_US + step * points.STEP_US for step in steps)


def _batch_delete(number: int) -> bytes:
    return rows.batch_delete(range(number, number + rows.PARTITION_ROWS))


def _typed(
    make: Callable[[int], bytes],
    connections: int,
    count: int = 1,
    *,
    once: bool = False,
    more: tuple[Callable[[], bytes], ...] = (),
) -> Case:
    first, sign = typed_rows.table, typed_rows.SUCCESS
    return Case(make, connections, first, typed_rows.put, count, once, sign, more)


CASES: Final[dict[str, Case]] = {
    "get": Case(rows.get, 32),
    "put": Case(rows.put, 128),
    "batch": Case(_batch, 2, rows=rows.BATCH_WRITE_ROWS),
    "batch-delete": Case(_batch_delete, 2, rows=rows.PARTITION_ROWS, once=True),
    "update": Case(rows.update, 128),
    "range": Case(rows.page, 8, rows=rows.PARTITION_ROWS),
    "batch-get": Case(_batch_get, 8, rows=_BATCH_GET_ROWS),
    "points": Case(
        _points,
        8,
        partial(points.create, "points"),
        lambda number: points.written("points", [(number, 0)]),
        rows=points.POINTS,
    ),
    "nosql-get": _typed(typed_rows.get, 32),
    "nosql-put": _typed(typed_rows.put, 128),
    "nosql-point": _typed(typed_rows.point, 32),
    "nosql-update": _typed(typed_rows.change, 128),
    "nosql-insert": _typed(typed_rows.insert, 128),
    "nosql-remove": _typed(typed_rows.remove, 128, once=True),
    "nosql-query": _typed(typed_rows.page, 8, rows.PARTITION_ROWS),
    "nosql-fields": _typed(typed_rows.fields, 8, rows.PARTITION_ROWS),
    "nosql-ordered": _typed(typed_rows.ordered, 8, rows.PARTITION_ROWS, more=(typed_rows.index,)),
    "nosql-delete": _typed(typed_rows.delete_shard, 8, rows.PARTITION_ROWS, once=True),
}


BESIDE: Final = {
    "nosql-get": "get",
    "nosql-put": "put",
    "nosql-point": "nosql-get",
    "nosql-update": "nosql-put",
    "nosql-insert": "nosql-put",
    "nosql-remove": "nosql-put",
    "nosql-query": "range",
    "nosql-fields": "range",
    "nosql-ordered": "range",
    "nosql-delete": "batch-delete",
}
"""What does as much as a request of NoSQL's drivers: of Tablestore's clients, or without SQL."""
BESIDE_MOST: Final = {"nosql-get": 1.3, "nosql-put": 1.3, "nosql-delete": 1.0}
"""The goals: how many times as many instructions at most."""
STATEMENT_MOST: Final = 1.5  # of other statements


class Turns:
    """As much of a loop as the server needs: what is called soon runs when the turn ends."""

    def __init__(self) -> None:
        self._due: list[tuple[Callable[..., object], tuple[object, ...]]] = []

    def call_soon(self, work: Callable[..., object], *arguments: object) -> None:
        """Call it when the turn ends."""
        self._due.append((work, arguments))

    def end(self) -> None:
        """Call what is due, and what becomes due by that."""
        while self._due:
            due, self._due = self._due, []
            for work, arguments in due:
                work(*arguments)


class _Sink(asyncio.Transport):
    """A transport that keeps the last answer."""

    last: bytes = b""

    def write(self, data: Any) -> None:  # noqa: ANN401  # whatever bytes there are
        self.last = bytes(data)

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        """All that is sent has come."""

    def resume_reading(self) -> None:
        """Nothing more comes by itself."""


def _handler(
    engine: TablestoreEngine,
    committer: Committer,
    metrics: Metrics,
    admission: Admission,
    turns: Turns,
) -> Dispatcher:
    # What is lengthy would run on a thread, and is not counted there.
    rules = replace(rules_for(2, reads_may_block=False), request_threads=0, batch_threads=0)
    return Dispatcher(
        Service(engine.core, committer, SystemClock(), SystemEntropy(), metrics),
        Probes(engine.core, committer, admission, metrics),
        AccessRules(Keyring.default(), InstancePolicy()),
        Schedule(rules, cast("asyncio.AbstractEventLoop", turns)),
        DIALECTS,
    )


def _work(case: str) -> None:
    """In the process that is looked at: fill a table, then ask, with counting on."""
    asked = CASES[case]
    width = asked.connections
    with tempfile.TemporaryDirectory() as folder, open_store(f"rocksdb:{folder}/store") as store:
        clock, metrics, admission, turns = SystemClock(), Metrics(), Admission(), Turns()

        def post(ended: Sequence[Waiting]) -> None:
            handler.told(ended)

        committer = Committer(store, clock, metrics, post)
        engine = open_tablestore(store, clock, SystemEntropy())
        handler = _handler(engine, committer, metrics, admission, turns)
        headers = KeptHeaders(each.headers for each in DIALECTS)
        shared = Shared(handler, admission, clock, Timeouts(), headers)
        shared.date_line = b"date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
        sinks = [_Sink() for _ in range(width)]
        connections = [Connection(shared) for _ in sinks]
        for connection, sink in zip(connections, sinks, strict=True):
            connection.connection_made(sink)

        def ask(requests: Sequence[bytes]) -> None:
            for start in range(0, len(requests), width):
                part = requests[start : start + width]
                for connection, request in zip(connections, part, strict=False):
                    connection.data_received(request)
                turns.end()
                while committer.step():  # what was too slow or too large for the loop
                    turns.end()

        ask([asked.table()])
        for change in asked.more:
            ask([change()])
        ask([asked.put(number) for number in range(ROWS)])
        ask(asked.warming())
        requests = asked.requests()
        if asked.sign not in sinks[0].last:
            raise SystemExit(f"refused: {sinks[0].last!r}")
        gc.collect()
        gc.freeze()
        gc.disable()  # a server's collector runs once in thousands of requests (`cli/process.py`)
        _switch("on")
        ask(requests)
        _switch("off")
        handler.close()


def _switch(state: str) -> None:
    command = [_tool("callgrind_control"), "-i", state, str(os.getpid())]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603  # valgrind's own


def _tool(name: str) -> str:
    found = shutil.which(name)
    if found is None:
        raise SystemExit(f"{name} is not installed: apt-get install valgrind")
    return found


def counted(case: str, keep: Path | None = None) -> float:
    """Instructions of a row of `case`. Raises `SystemExit` where valgrind is missing."""
    with tempfile.TemporaryDirectory() as folder:
        profile = (keep or Path(folder)) / f"callgrind.{case}"
        command = [
            _tool("valgrind"),
            "--quiet",
            "--tool=callgrind",
            "--instr-atstart=no",
            f"--callgrind-out-file={profile}",
            *[sys.executable, "-m", "bench.instructions", "--work", case],
        ]
        # Valgrind's remarks about system calls it does not know are of no use here.
        done = subprocess.run(command, check=False, capture_output=True, text=True)  # noqa: S603  # ours
        if done.returncode:
            raise SystemExit(f"what is counted failed: {done.stderr[-500:]}")
        asked = len(CASES[case].requests()) * CASES[case].rows
        return total_of(profile.read_text(encoding="utf-8")) / asked


def total_of(profile: str) -> int:
    """The instructions that a callgrind profile counts in all. Raises `SystemExit` if none."""
    # `summary` is of what was counted since it was last switched off.
    found = re.search(r"^totals: (\d+)$", profile, re.MULTILINE)
    if found is None:
        raise SystemExit("callgrind counted nothing")
    return int(found[1])


def main(arguments: Sequence[str] | None = None) -> int:
    """Count, and print a table or JSON."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.instructions",
        description="Count the machine instructions of a request inside the server's process.",
        epilog="example: PYTHONPATH=build/compiled:. python -m bench.instructions get",
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help="get, put, batch; default: all")
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="leave callgrind's files here")
    parser.add_argument("--work", choices=list(CASES), help=argparse.SUPPRESS)
    asked = parser.parse_args(arguments)
    if asked.work is not None:
        _work(asked.work)
        return 0
    if unknown := set(asked.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}; there are {', '.join(CASES)}")
    if asked.keep is not None:
        asked.keep.mkdir(parents=True, exist_ok=True)
    found = {case: round(counted(case, asked.keep)) for case in asked.cases or CASES}
    if asked.json:
        print(json.dumps(found))
        return 0
    table = Table("request", "instructions for a row", "beside it", "times", "goal")
    for column in (1, 3, 4):
        table.columns[column].justify = "right"
    for case, number in found.items():
        times, goal = ratio_of(case, found)
        table.add_row(case, f"{number:,}", BESIDE.get(case, ""), times, goal)
    Console().print(table)
    return 0


def ratio_of(case: str, found: Mapping[str, int]) -> tuple[str, str]:
    """How many times as many as beside it, and the goal; "" where that was not counted too."""
    beside = BESIDE.get(case, "")
    if beside not in found:
        return "", ""
    return f"{found[case] / found[beside]:.2f}", str(BESIDE_MOST.get(case, STATEMENT_MOST))


if __name__ == "__main__":
    sys.exit(main())
