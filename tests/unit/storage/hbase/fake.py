"""A server that speaks HBase's protocol as a test tells it to."""

import socket
import struct
import threading
from collections.abc import Callable
from typing import NamedTuple

from google.protobuf.message import Message

from widerow.storage.hbase.messages import (
    ConnectionHeader,
    ExceptionResponse,
    RequestHeader,
    ResponseHeader,
)
from widerow.storage.hbase.rpc import Address

__all__ = ["FakeServer", "Received", "answer_frame", "failure_frame"]


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


class FakeServer:
    """Takes connections, and hands each to `serve` on a thread of its own."""

    def __init__(self, serve: Callable[["FakeServer", socket.socket], None]) -> None:
        self.services: list[str] = []
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
            assert _exactly(connection, 6) == b"HBas\x00\x50"
            (size,) = struct.unpack("!I", _exactly(connection, 4))
            header = ConnectionHeader.FromString(_exactly(connection, size))
            self.services.append(str(header.service_name))
            self._serve(self, connection)
        except OSError:
            connection.close()

    @staticmethod
    def receive(connection: socket.socket) -> Received:
        """The next call. Raises `OSError` where the other side has gone."""
        (size,) = struct.unpack("!I", _exactly(connection, 4))
        frame = _exactly(connection, size)
        length, start = _length(frame, 0)
        header = RequestHeader.FromString(frame[start : start + length])
        length, start = _length(frame, start + length)
        return Received(header.call_id, str(header.method_name), frame[start : start + length])

    def close(self) -> None:
        self._listener.close()
        for connection in self._accepted:
            connection.close()


def _exactly(connection: socket.socket, size: int) -> bytes:
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
