"""A connection without a network: a transport that remembers, a handler that can be told."""

import asyncio
from collections.abc import Iterator

import pytest

from widerow.errors import WiderowError
from widerow.server.admission import Admission
from widerow.server.connection import Connection
from widerow.server.message import Reply, Request, Response
from widerow.testing.clock import FakeClock


class Wire(asyncio.Transport):
    """The server's end of a connection, as the connection sees it."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""
        self.writes = 0
        self.reading = True
        self.closed = ""
        self.half_closed = False

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.sent += bytes(data)
        self.writes += 1

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.half_closed = True

    def pause_reading(self) -> None:
        self.reading = False

    def resume_reading(self) -> None:
        self.reading = True

    def get_write_buffer_size(self) -> int:
        return 0

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

    def __init__(self) -> None:
        self.handler = Echo()
        self.admission = Admission(connections_max=2, requests_max=100, bytes_max=1_000_000)
        self.clock = FakeClock()
        self.loop = asyncio.new_event_loop()
        self.connections: set[Connection] = set()
        self.now = 0.0
        self.date_line = b"date: today\r\n"
        self.wire, self.connection = self.connect()

    def connect(self) -> tuple[Wire, Connection]:
        wire = Wire()
        connection = Connection(self)
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


@pytest.fixture
def side() -> Iterator[Side]:
    made = Side()
    yield made
    made.loop.close()
    # Whatever happened, nothing stays counted once nothing is under way.
    if not made.handler.replies:
        for connection in list(made.connections):
            connection.connection_lost(None)
        assert made.admission.requests_in_flight == 0
        assert made.admission.bytes_in_flight == 0
        assert made.admission.connections == 0
