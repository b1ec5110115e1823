"""The vendor's Go worker: a table is written, a worker dies, a server restarts.

Two workers share a BaseAndStream tunnel (change §C2.4). One is killed, the server is stopped and
started again: what both took, replayed in the order in which it was taken, is the table
(change §E2 4).
"""

import json
import shutil
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from tests.compat.go.conftest import fetch_modules, run

from widerow.server.system import SystemClock
from widerow.testing.buffers import cell, row_buffer
from widerow.testing.http import Sender, Wire
from widerow.testing.requests import ANY, create_table_request
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import tunnel_messages as t

pytestmark = pytest.mark.timeout(600)
SOURCES: Final = Path(__file__).parent / "consumer"
TIMEOUT_S, HEARTBEAT_S = 10, 3
PATIENCE_S: Final = 90  # a dead worker's channels are free after its timeout; machines are busy
PUT, DELETE = 0, 2  # as the SDK numbers them, from zero
Taken = tuple[str, int, str, dict[str, Any]]


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    go = shutil.which("go")
    if go is None:
        pytest.skip("the Go tunnel client is not tested: go is not installed")
    fetch_modules(go, SOURCES)
    made = tmp_path_factory.mktemp("consumer") / "consumer"
    run(go, "build", "-buildvcs=false", "-o", str(made), ".", place=SOURCES)
    return made


class Worker:
    """The program, and the records that it printed."""

    def __init__(self, command: list[str], place: Path) -> None:
        """Start it in a directory of its own, into which the SDK writes its log."""
        place.mkdir()
        self.taken: list[Taken] = []
        self.process = subprocess.Popen(  # noqa: S603  # our own program
            command, cwd=place, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        self.taken.extend(tuple(json.loads(line)) for line in self.process.stdout)

    def end(self) -> None:
        """Let it shut down."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(30)
        finally:
            self.kill()

    def kill(self) -> None:
        """Without a word to the server."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            pipe.close()


class Table:
    """The table of the test, and what must be in it."""

    def __init__(self, server: WiderowServer) -> None:
        self.server, self.sender = server, Sender(instance=server.instance)
        self.rows: dict[str, Any] = {}
        self.ask("CreateTable", create_table_request("T"))

    def ask(self, action: str, sent: Any) -> bytes:  # noqa: ANN401  # any message
        with Wire(self.server.endpoint) as wire:
            answer = wire.ask(self.sender.request(action, sent.SerializeToString()))
        assert answer.status == 200, answer.error
        return bytes(answer.body)

    def put(self, key: str, value: str) -> None:
        row = row_buffer((("k", key), ("n", 1)), [cell("c", value)])
        self.ask("PutRow", m.PutRowRequest(table_name="T", row=row, condition=ANY))
        self.rows[key] = {"c": value}

    def delete(self, key: str) -> None:
        row = row_buffer((("k", key), ("n", 1)), marker=True)
        self.ask("DeleteRow", m.DeleteRowRequest(table_name="T", primary_key=row, condition=ANY))
        self.rows.pop(key, None)

    def create_tunnel(self) -> str:
        tunnel = t.Tunnel(table_name="T", tunnel_name="tunnel", tunnel_type=3)
        body = self.ask("tunnel/create", t.CreateTunnelRequest(tunnel=tunnel))
        return str(t.CreateTunnelResponse.FromString(body).tunnel_id)


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = int(free.getsockname()[1])
    server = WiderowServer(tmp_path / "store", clock=SystemClock(), port=port)
    with server:
        yield Table(server)


def replayed(workers: list[Worker]) -> dict[str, Any]:
    """What the records make, in the order in which they were taken."""
    rows: dict[str, Any] = {}
    for worker in workers:
        for _, action, key, columns in list(worker.taken):
            if action == DELETE:
                rows.pop(key, None)
            else:
                rows[key] = columns if action == PUT else {**rows.get(key, {}), **columns}
    return rows


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < deadline, "it did not come about in time"
        threading.Event().wait(0.1)


def test_workers_that_die_and_servers_that_restart_lose_nothing(
    program: Path, table: Table, tmp_path: Path
) -> None:
    for n in range(1500):  # two pages of rows
        table.put(f"{n % 300:05}" if n >= 1200 else f"{n:05}", str(n))
    tunnel = table.create_tunnel()
    command = [str(program), table.server.endpoint, table.server.instance, tunnel]
    command += [str(TIMEOUT_S), str(HEARTBEAT_S)]
    first = Worker(command, tmp_path / "first")
    try:
        for n in range(200):
            table.put(f"{n % 50:05}", f"while {n}")
        eventually(lambda: len(first.taken) > 1200)
    finally:
        first.kill()
    table.server.stop()
    table.server.start()
    second = Worker(command, tmp_path / "second")
    try:
        for n in range(50):
            table.delete(f"{n:05}")
        for n in range(40, 60):
            table.put(f"{n:05}", f"after {n}")
        eventually(lambda: replayed([first, second]) == table.rows)
    finally:
        second.end()
    assert not {key for _, _, key, _ in second.taken} - {key for _, _, key, _ in first.taken}
