"""One connection to one server: calls from any thread, answers in any order.

A connection begins with six bytes and a header, which names the service that it is for. Each call
and each answer is a frame: its length in four bytes, then messages that each stand behind a length
of their own. An answer names the call that it is for, so calls do not wait for each other.
"""

import socket
import struct
import threading
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as NoAnswer
from contextlib import suppress
from typing import Final, NamedTuple, TypeVar, final

from google.protobuf.message import DecodeError, Message

from widerow.storage.hbase.messages import (
    ConnectionHeader,
    RequestHeader,
    ResponseHeader,
    UserInformation,
)

__all__ = ["Address", "PendingCall", "RemoteFailure", "RpcConnection", "ServerLost"]

Answer = TypeVar("Answer", bound=Message)

CONNECT_SECONDS_MAX: Final = 3
ANSWER_SECONDS_MAX: Final[float] = 10
FRAME_BYTES_MAX: Final = 256 * 1024 * 1024  # what HBase itself takes in one frame

_PREAMBLE: Final = b"HBas\x00\x50"  # version 0, and who asks is believed
_USER: Final = "widerow"
_LENGTH: Final = struct.Struct("!I")
_READ_BYTES: Final = 256 * 1024


class Address(NamedTuple):
    """Where a server listens."""

    host: str
    port: int

    def __str__(self) -> str:
        """As it is written in a URL."""
        return f"{self.host}:{self.port}"


class ServerLost(Exception):
    """No answer will come. `sent`: whether the server may have got the call."""

    def __init__(self, reason: object, *, sent: bool) -> None:
        """The loss of a connection."""
        super().__init__(str(reason))
        self.sent = sent


class RemoteFailure(Exception):
    """The server answers with an exception; `kind`: the name of its class, without its package."""

    def __init__(self, class_name: str, trace: str) -> None:
        """The failure that a server told of."""
        first = trace.partition("\n")[0][:500]
        super().__init__(first or class_name)
        self.kind = class_name.rpartition(".")[2]


@final
class PendingCall:
    """A call that was sent."""

    __slots__ = ("_connection", "_future")

    def __init__(self, connection: "RpcConnection", future: "Future[bytes]") -> None:
        """The call of a connection, and what its answer will be put into."""
        self._connection = connection
        self._future = future

    def answer(self, kind: type[Answer]) -> Answer:
        """Wait for the answer. Raises `RemoteFailure`, `ServerLost`.

        A connection that leaves a call without an answer for long is closed.
        """
        try:
            found = self._future.result(ANSWER_SECONDS_MAX)
        except NoAnswer:
            self._connection.lose("the server does not answer")
            raise ServerLost("the server does not answer", sent=True) from None
        try:
            return kind.FromString(found)
        except DecodeError as error:
            raise self._connection.unreadable(error) from error


@final
class RpcConnection:
    """A connection for one service of a server. Any thread."""

    def __init__(self, address: Address, service: str) -> None:
        """Connect. Raises `ServerLost`."""
        self.address = address
        self._sending = threading.Lock()
        self._pending: dict[int, Future[bytes]] = {}
        self._calls = 0
        self._lost: ServerLost | None = None
        header = ConnectionHeader(
            user_info=UserInformation(effective_user=_USER), service_name=service
        ).SerializeToString()
        try:
            self._socket = socket.create_connection(address, timeout=CONNECT_SECONDS_MAX)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.settimeout(ANSWER_SECONDS_MAX)
            self._socket.sendall(_PREAMBLE + _LENGTH.pack(len(header)) + header)
        except OSError as error:
            raise ServerLost(f"{address}: {error}", sent=False) from error
        name = f"hbase-{address}"
        threading.Thread(target=self._read, name=name, daemon=True).start()

    def usable(self) -> bool:
        """Whether it is worth asking."""
        return self._lost is None

    def send(self, method: str, request: Message) -> PendingCall:
        """Send a call without waiting for its answer. Raises `ServerLost`."""
        body = request.SerializeToString()
        future: Future[bytes] = Future()
        with self._sending:
            if not self.usable():
                raise ServerLost(f"{self.address}: the connection was lost", sent=False)
            self._calls = (self._calls + 1) & 0x7FFFFFFF
            number = self._calls
            self._pending[number] = future
            header = RequestHeader(
                call_id=number,
                method_name=method,
                request_param=True,
                timeout=int(1000 * ANSWER_SECONDS_MAX),
            ).SerializeToString()
            parts = _varint(len(header)), header, _varint(len(body)), body
            size = sum(map(len, parts))
            try:
                self._socket.sendall(b"".join((_LENGTH.pack(size), *parts)))
            except OSError as error:
                self.lose(error)
                raise ServerLost(f"{self.address}: {error}", sent=True) from error
        if not self.usable():  # lost while the call was listed: nobody else tells it
            self.lose("the connection was lost")
        return PendingCall(self, future)

    def call(self, method: str, request: Message, kind: type[Answer]) -> Answer:
        """Send a call and wait for its answer. Raises `RemoteFailure`, `ServerLost`."""
        return self.send(method, request).answer(kind)

    # --- the thread that reads ---------------------------------------------------------------

    def _read(self) -> None:
        buffer = bytearray()
        needed = _LENGTH.size
        while self._lost is None:
            try:
                part = self._socket.recv(_READ_BYTES)
            except TimeoutError:
                continue  # whoever waits for an answer has a bound of its own
            except OSError as error:
                self.lose(error)
                return
            if not part:
                self.lose("the server closed the connection")
                return
            buffer += part
            try:
                while len(buffer) >= needed:
                    needed = self._take(buffer)
            except (DecodeError, IndexError, ValueError) as error:
                self.lose(f"what the server sends cannot be read: {error!r}")

    def _take(self, buffer: bytearray) -> int:
        """Take one answer out of the buffer, if it is there; how many bytes the next one takes."""
        size: int = _LENGTH.unpack_from(buffer)[0]
        if size > FRAME_BYTES_MAX:
            raise ValueError(f"a frame of {size} bytes")
        end = _LENGTH.size + size
        if len(buffer) < end:
            return end
        start, stop = _delimited(buffer, _LENGTH.size, end)
        header = ResponseHeader.FromString(bytes(buffer[start:stop]))
        future = self._pending.pop(header.call_id, None)
        if future is not None:
            with suppress(InvalidStateError):
                if header.HasField("exception"):
                    told = header.exception
                    failure = RemoteFailure(str(told.exception_class_name), str(told.stack_trace))
                    future.set_exception(failure)
                else:
                    start, stop = _delimited(buffer, stop, end)
                    with memoryview(buffer) as view:
                        answer = bytes(view[start:stop])
                    future.set_result(answer)
        del buffer[:end]
        return _LENGTH.size

    # --- the end -----------------------------------------------------------------------------

    def unreadable(self, error: Exception) -> ServerLost:
        """Take the connection as lost because an answer cannot be read; what to raise."""
        self.lose(error)
        return ServerLost(f"an answer cannot be read: {error}", sent=True)

    def lose(self, reason: object) -> None:
        """Take the connection as lost: whoever waits for an answer hears of it. Idempotent."""
        if self._lost is None:
            self._lost = ServerLost(f"{self.address}: {reason}", sent=True)
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
        while self._pending:
            with suppress(KeyError, InvalidStateError):
                self._pending.popitem()[1].set_exception(self._lost)

    def close(self) -> None:
        """Close it."""
        self.lose("the store is closed")


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    out.append(number)
    return bytes(out)


def _delimited(buffer: bytearray, start: int, end: int) -> tuple[int, int]:
    """Where the message that stands there behind its length begins and ends, before `end`."""
    size = shift = 0
    while True:
        byte = buffer[start]
        start += 1
        size |= (byte & 0x7F) << shift
        shift += 7
        if byte <= 0x7F:
            break
    if start + size > end:
        raise ValueError("a message is longer than its frame")
    return start, start + size
