"""What each stage of a request costs inside the server's process: `python -m bench.stages`.

Sockets are left out: a connection is handed bytes, and takes them to a handler as in the server.
CPU time of this thread, the best of several rounds, in microseconds; everything is warm, so a
server under load is a little dearer. Compiled where `PYTHONPATH` names the compiled modules.
"""

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

from bench import rows
from tests.support.engines import open_tablestore

from widerow.auth.keyring import Keyring
from widerow.auth.policy import InstancePolicy
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.server.admission import Admission
from widerow.server.connection import Connection
from widerow.server.headers import KeptHeaders
from widerow.server.message import Reply, Request, Response
from widerow.server.shared import Patience, Shared
from widerow.server.system import SystemClock, SystemEntropy
from widerow.storage.opener import open_store
from widerow.wire.dialect import Opened
from widerow.wire.dialects import DIALECTS
from widerow.wire.tablestore.envelope import (
    answer_date,
    open_request,
    response_headers,
)
from widerow.wire.tablestore.operations.table import OPERATIONS

T = TypeVar("T")

ROWS: Final = 20_000
REQUESTS: Final = 2_000
ROUNDS: Final = 7
GROUP: Final = 64
KEYRING: Final = Keyring.default()


class Sink(asyncio.Transport):
    """A transport that goes nowhere."""

    def write(self, data: Any) -> None:  # noqa: ANN401  # whatever bytes there are
        """Forget them."""

    def get_write_buffer_size(self) -> int:
        """Nothing waits."""
        return 0


class Desk:
    """Behind a connection: keeps requests, answers with nothing."""

    def __init__(self) -> None:
        """With no request yet."""
        self.requests: list[Request] = []

    def handle(self, request: Request, reply: Reply) -> Response:
        """Keep it."""
        del reply  # answered at once
        self.requests.append(request)
        return Response(200, b"", b"")

    def refuse(self, error: Exception) -> Response:
        """No request here is refused."""
        raise error


def cost(work: Callable[[T], object], items: Sequence[T]) -> float:
    """Microseconds of CPU for each item, the best round of all."""
    best = float("inf")
    for _ in range(ROUNDS):
        start = time.thread_time_ns()
        for item in items:
            work(item)
        best = min(best, (time.thread_time_ns() - start) / len(items) / 1000)
    return best


class Stages:
    """One engine, and the stages of an action before and behind it."""

    def __init__(self, engine: TablestoreEngine, desk: Desk) -> None:
        """Measure on this engine."""
        self.engine = engine
        self.desk = desk
        headers = KeptHeaders(each.headers for each in DIALECTS)
        shared = Shared(desk, Admission(), SystemClock(), Patience(), headers)
        shared.date_line = b"date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
        self.connection = Connection(shared)
        self.connection.connection_made(Sink())

    def receive(self, request: bytes) -> Request:
        """Over the connection."""
        self.desk.requests.clear()
        self.connection.data_received(request)
        return self.desk.requests[0]

    def opened(self, action: str, request: Request) -> tuple[Opened, bytes]:
        """Verified: whose it is, and its body."""
        now = SystemClock().now_us()
        policy = InstancePolicy()
        return open_request(f"/{action}", request.headers, request.body, KEYRING, policy, now)

    def run(self, action: str, request: bytes) -> None:
        """Do what one request asks for."""
        found = OPERATIONS[action]
        opened, body = self.opened(action, self.receive(request))
        result = found.call(self.engine, opened.instance, found.decode(body))
        if found.writes:
            self.engine.core.run(result)

    def measure(self, action: str, requests: Sequence[bytes], share: int = 1) -> dict[str, float]:
        """Each stage's microseconds for `action`, divided by the `share` rows in a request."""
        found = OPERATIONS[action]
        http = [self.receive(each) for each in requests]
        opened = [self.opened(action, each) for each in http]
        asked = [(each.instance, found.decode(body)) for each, body in opened]
        stages = {
            "http": cost(self.receive, requests),
            "verify": cost(lambda each: self.opened(action, each), http),
            "decode": cost(lambda each: found.decode(each[1]), opened),
            "engine": cost(lambda each: found.call(self.engine, *each), asked),
        }
        results = [found.call(self.engine, *each) for each in asked]
        if found.writes:
            size = max(1, GROUP // share)
            groups = [results[at : at + size] for at in range(0, len(results), size)]
            stages["commit"] = cost(self._commit, groups) / size
            results = [self.engine.core.run(each) for each in results]
        path, key, date = f"/{action}", opened[0][0], answer_date(0)
        stages["answer"] = cost(
            lambda each: response_headers(path, found.encode(each), "0" * 36, date, key), results
        )
        return {name: round(each / share, 2) for name, each in stages.items()}

    def _commit(self, plans: Sequence[Any]) -> None:
        self.engine.core.store.transact_group([write for plan in plans for write in plan.writes])


def run(directory: Path) -> dict[str, dict[str, float]]:
    """Every action's stages, on a store in `directory`."""
    with open_store(f"rocksdb:{directory}") as store:
        stages = Stages(open_tablestore(store, SystemClock(), SystemEntropy()), Desk())
        stages.run("CreateTable", rows.table())
        batches = [rows.batch_write(range(at, at + 200)) for at in range(0, ROWS, 200)]
        for batch in batches:
            stages.run("BatchWriteRow", batch)
        numbers = [7 * at % ROWS for at in range(REQUESTS)]
        return {
            "GetRow": stages.measure("GetRow", [rows.get(number) for number in numbers]),
            "PutRow": stages.measure("PutRow", [rows.put(number) for number in numbers]),
            "BatchWriteRow, a row": stages.measure("BatchWriteRow", batches[:20], 200),
        }


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="widerow-bench-") as place:
        json.dump(run(Path(place) / "store"), sys.stdout, indent=2)
        print()
