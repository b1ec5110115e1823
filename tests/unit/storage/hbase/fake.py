"""A server that speaks HBase's protocol as a test tells it to."""

import socket
import struct
import threading
from collections.abc import Callable
from typing import NamedTuple

from google.protobuf.message import Message

from widerow.storage.hbase.greeting import UNSECURED, Address, Security
from widerow.storage.hbase.messages import (
    ConnectionHeader,
    ExceptionResponse,
    RequestHeader,
    ResponseHeader,
)

__all__ = [
    "UNSECURED_SERVER",
    "FakeServer",
    "Received",
    "Secured",
    "answer_frame",
    "exactly",
    "failure_frame",
    "unsecured",
]


class Received(NamedTuple):
    """A call that came in."""

    number: int
    method: str
    body: bytes


def _delimited(message: Message) -> bytes:
    body = message.SerializeToString()
    size, head = len(body), bytearray()
    while size > 127:
        head.append(size & 127 | 128)
        size >>= 7
    return bytes((*head, size)) + body


def _frame(*messages: Message) -> bytes:
    body = b"".join(map(_delimited, messages))
    return struct.pack("!I", len(body)) + body


def answer_frame(number: int, answer: Message) -> bytes:
    """The answer to a call."""
    return _frame(ResponseHeader(call_id=number), answer)


def failure_frame(number: int, class_name: str) -> bytes:
    """The answer that tells of an exception."""
    told = ExceptionResponse(
        exception_class_name=class_name, stack_trace=f"{class_name}: told\n\tat Somewhere"
    )
    return _frame(ResponseHeader(call_id=number, exception=told))


def unsecured(connection: socket.socket) -> socket.socket:
    """A connection of which nobody wants to know whose it is."""
    assert exactly(connection, 6) == b"HBas\x00\x50"
    return connection


class Secured(NamedTuple):
    """How both sides begin a connection: the server, which `secure` is called for, and widerow."""

    secure: Callable[[socket.socket], socket.socket]
    security: Security


UNSECURED_SERVER = Secured(unsecured, UNSECURED)


class FakeServer:
    """Takes connections, and hands each to `serve` on a thread of its own.

    `secure` takes what stands in front of the header, and gives what is spoken through then.
    """

    def __init__(
        self,
        serve: Callable[["FakeServer", socket.socket], None],
        secure: Callable[[socket.socket], socket.socket] = unsecured,
    ) -> None:
        self.services: list[str] = []
        self.users: list[str] = []
        self._secure = secure
        self._serve = serve
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._accepted: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def address(self) -> Address:
        host, port = self._listener.getsockname()
        return Address(host, port)

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._accepted.append(connection)
            threading.Thread(target=self._greet, args=(connection,), daemon=True).start()

    def _greet(self, connection: socket.socket) -> None:
        try:
            connection = self._secure(connection)
            self._accepted.append(connection)
            (size,) = struct.unpack("!I", exactly(connection, 4))
            header = ConnectionHeader.FromString(exactly(connection, size))
            self.services.append(str(header.service_name))
            self.users.append(str(header.user_info.effective_user))
            self._serve(self, connection)
        except OSError:
            connection.close()

    @staticmethod
    def receive(connection: socket.socket) -> Received:
        """The next call. Raises `OSError` where the other side has gone."""
        (size,) = struct.unpack("!I", exactly(connection, 4))
        frame = exactly(connection, size)
        length, start = _length(frame, 0)
        header = RequestHeader.FromString(frame[start : start + length])
        length, start = _length(frame, start + length)
        return Received(header.call_id, str(header.method_name), frame[start : start + length])

    def close(self) -> None:
        self._listener.close()
        for connection in self._accepted:
            connection.close()


def exactly(connection: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        part = connection.recv(size - len(found))
        if not part:
            raise OSError("gone")
        found += part
    return found


def _length(frame: bytes, start: int) -> tuple[int, int]:
    size = shift = 0
    while True:
        byte = frame[start]
        size, shift, start = size | (byte & 127) << shift, shift + 7, start + 1
        if byte < 128:
            return size, start
