"""Whatever bytes come: nothing is raised, and pieces of them mean what the whole means.

The answers, which tell what was understood, their order, and whether the connection ends are the
same, byte by byte, in pieces, and at once.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Final, cast

from tools.frames import FRAMES

from widerow.errors import WiderowError
from widerow.server.admission import Admission
from widerow.server.connection import Connection
from widerow.server.headers import KeptHeaders
from widerow.server.message import Reply, Request, Response
from widerow.server.shared import Shared, Timeouts
from widerow.testing.clock import FakeClock
from widerow.wire.dialects import DIALECTS

__all__ = ["SEEDS", "check"]

_BYTES_MAX: Final = 3000  # bounds on headers are looked at every 4 KiB, and so depend on pieces
SEEDS: Final = (
    *FRAMES.values(),
    b"POST /A HTTP/1.1\r\nx-ots-date: d\r\ncontent-length: 1\r\n\r\naGET /livez HTTP/1.1\r\n\r\n",
    b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nt: u\r\n\r\n",
    b"HEAD / HTTP/1.0\r\nconnection: keep-alive\r\nX-OTS-A: 1\r\nx-ots-a: 2\r\n\r\n",
)


class _Transport(asyncio.Transport):
    """Takes what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.ended = False
        self.written: list[bytes] = []

    def write(self, data: bytes | bytearray | memoryview) -> None:
        # Leave to go on is given where the body is not there yet, which depends on the pieces.
        if not bytes(data).startswith(b"HTTP/1.1 100 "):
            self.written.append(bytes(data))

    def can_write_eof(self) -> bool:
        return True

    def write_eof(self) -> None:
        self.ended = True

    def get_write_buffer_size(self) -> int:
        return 0

    def pause_reading(self) -> None:
        raise AssertionError("so few requests are never too many")

    def resume_reading(self) -> None:
        """Reading never paused."""

    def close(self) -> None:
        self.ended = True

    def abort(self) -> None:
        self.ended = True


class _Handler:
    """Answers everything with what it was asked."""

    def handle(self, request: Request, reply: Reply) -> Response | None:
        del reply  # everything is answered at once
        asked = (request.method, request.target, request.headers, request.body)
        return Response(200, b"", repr((*asked, request.repeated, request.keep_alive)).encode())

    def refuse(self, error: WiderowError) -> Response:
        return Response(400, b"", str(error).encode())


class _Turns:
    """As much of a loop as connections need."""

    def __init__(self) -> None:
        self.later: list[Callable[[], object]] = []

    def call_soon(self, act: Callable[[], object]) -> None:
        self.later.append(act)


def check(data: bytes) -> None:
    """Feed `data` in three ways."""
    data = data[:_BYTES_MAX]
    results = [_outcome(_pieces(data, size)) for size in (len(data) or 1, 1, 7)]
    assert results[0] == results[1], "byte by byte it means something else"
    assert results[0] == results[2], "in pieces of seven it means something else"


def _pieces(data: bytes, size: int) -> Iterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


def _outcome(pieces: Iterator[bytes]) -> tuple[list[bytes], bool]:
    turns, transport = _Turns(), _Transport()
    headers = KeptHeaders(each.headers for each in DIALECTS)
    shared = Shared(_Handler(), Admission(), FakeClock(), Timeouts(), headers)
    shared.loop = cast("asyncio.AbstractEventLoop", turns)
    connection = Connection(shared)
    connection.connection_made(transport)
    for piece in pieces:
        connection.data_received(piece)
        while turns.later:
            turns.later.pop(0)()
    ended = transport.ended
    connection.connection_lost(None)
    admission = shared.admission
    left = (admission.connections, admission.requests_in_flight, admission.bytes_in_flight)
    assert left == (0, 0, 0), "something stays counted"
    return transport.written, ended
