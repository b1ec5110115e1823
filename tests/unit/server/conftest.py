"""A connection without a network, a server with one, and what both are asked."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from widerow.errors import WiderowError
from widerow.server.admission import Admission
from widerow.server.connection import Connection
from widerow.server.headers import KeptHeaders
from widerow.server.lifecycle import Server
from widerow.server.message import Reply, Request, Response
from widerow.server.settings import Settings
from widerow.server.shared import Shared, Timeouts
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock
from widerow.wire.dialects import DIALECTS
from widerow.wire.tablestore.messages import (
    CapacityUnit,
    CreateTableRequest,
    PrimaryKeySchema,
    ReservedThroughput,
    TableMeta,
    TableOptions,
)

if TYPE_CHECKING:
    from concurrent.futures import Future


class Wire(asyncio.Transport):
    """The server's end of a connection, as the connection sees it."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.writes = 0
        self.pieces: list[int] = []  # of each write
        self.reading = True
        self.closed = ""
        self.half_closed = False
        self.unsent = 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.writelines((data,))

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        pieces = [bytes(data) for data in list_of_data]
        self.sent += b"".join(pieces)
        self.writes += 1
        self.pieces.append(len(pieces))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.half_closed = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def get_write_buffer_size(self) -> int:
        return self.unsent

    def close(self) -> None:
        self.closed = self.closed or "closed"

    def abort(self) -> None:
        self.closed = "aborted"


class Echo:
    """Answers with method, target and body; keeps requests back while `held`."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.refused: list[WiderowError] = []
        self.replies: list[Reply] = []
        self.held = False

    def handle(self, request: Request, reply: Reply) -> Response | None:
        self.requests.append(request)
        if self.held:
            self.replies.append(reply)
            return None
        return self.answer(request)

    def refuse(self, error: WiderowError) -> Response:
        self.refused.append(error)
        return Response(400, b"x-kind: refusal\r\n", str(error).encode())

    @staticmethod
    def answer(request: Request) -> Response:
        return Response(200, b"", b" ".join((request.method, request.target, request.body)))

    def release(self) -> None:
        """Answer the oldest request that is kept back."""
        self.replies.pop(0)(self.answer(self.requests[-1]))


class Side:
    """The server's side: what connections share, and one connection on a `Wire`."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.handler = Echo()
        self.admission = Admission(connections_max=2, requests_max=100, bytes_max=1_000_000)
        self.clock = FakeClock()
        self.loop = loop
        headers = KeptHeaders(each.headers for each in DIALECTS)
        self.shared = Shared(self.handler, self.admission, self.clock, Timeouts(), headers)
        self.shared.loop = loop
        self.shared.date_line = b"date: today\r\n"
        self.wire, self.connection = self.connect()

    def connect(self) -> tuple[Wire, Connection]:
        wire = Wire()
        connection = Connection(self.shared)
        connection.connection_made(wire)
        return wire, connection

    def send(self, data: bytes, *, piece: int | None = None) -> bytes:
        """Hand `data` to the connection, whole or in pieces; what it answered."""
        before = len(self.wire.sent)
        step = piece or max(1, len(data))
        for start in range(0, len(data), step):
            self.connection.data_received(data[start : start + step])
        return self.wire.sent[before:]

    def turn(self) -> None:
        """Let what was put off to the loop's next turn happen."""
        self.loop.call_soon(self.loop.stop)
        self.loop.run_forever()


@pytest.fixture(scope="session")
def make_side() -> Iterator[Callable[[], Side]]:
    """Makes as many as a test wants."""
    loop = asyncio.new_event_loop()
    yield lambda: Side(loop)
    loop.close()


@pytest.fixture
def side(make_side: Callable[[], Side]) -> Iterator[Side]:
    made = make_side()
    yield made
    # Whatever happened, nothing stays counted once nothing is under way.
    if not made.handler.replies:
        for connection in list(made.shared.connections):
            assert isinstance(connection, Connection)
            connection.connection_lost(None)
        assert made.admission.requests_in_flight == 0
        assert made.admission.bytes_in_flight == 0
        assert made.admission.connections == 0
        assert made.admission.unsent_bytes == 0


async def _few_turns() -> None:
    """What was accepted or closed last gives its socket back in one of the loop's next turns."""
    for _ in range(5):
        await asyncio.sleep(0)


class Running:
    """A server on a thread of its own, as the process of `widerow serve` has it on its main one."""

    def __init__(self, settings: Settings, store: Store | None = None) -> None:
        self.server = Server(settings, store=store)
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self._thread.start()
        self.call(self.server.start())
        self.endpoint = self.server.endpoint

    def call(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` on the server's loop and wait for its end."""
        asyncio.run_coroutine_threadsafe(work, self.loop).result(timeout=20)

    def begin(self, work: Coroutine[Any, Any, None]) -> "Future[None]":
        """Run `work` on the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop)

    def end(self) -> None:
        """Stop the server and its loop, after what it still has to open, and to close.

        The standard loop forgets a socket that it accepted just before its server is closed: the
        task that would make a transport of it finds no server any more, and nobody closes it.
        """
        self.call(_few_turns())
        self.call(self.server.stop())
        self.call(_few_turns())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(timeout=20)
        self.loop.close()


@pytest.fixture
def serve() -> Iterator[Callable[..., Running]]:
    """Starts servers and ends them when the test is over."""
    started: list[Running] = []

    def start(given: Store | None = None, /, **settings: Any) -> Running:  # noqa: ANN401  # Settings'
        running = Running(Settings(**{"port": 0, "store": "memory:", **settings}), given)
        started.append(running)
        return running

    yield start
    for running in started:
        running.end()


@pytest.fixture
def table_body() -> bytes:
    """A CreateTable request for the table `t` with the key column `pk`, a STRING."""
    return CreateTableRequest(
        table_meta=TableMeta(table_name="t", primary_key=[PrimaryKeySchema(name="pk", type=2)]),
        reserved_throughput=ReservedThroughput(capacity_unit=CapacityUnit(read=0, write=0)),
        table_options=TableOptions(time_to_live=-1, max_versions=1),
    ).SerializeToString()
