"""One connection to one server: calls from any thread, answers in any order.

A connection begins with six bytes and a header, which names the service that it is for. Each call
and each answer is a frame: its length in four bytes, then messages that each stand behind a length
of their own. An answer names the call that it is for, so calls do not wait for each other.

**Servers that hang.** A call may take long for good reasons, and the server answers others then.
So whoever waits for an answer on a connection that says nothing asks for something that costs
nothing, and takes the server as lost where that stays without an answer too: after
`QUIET_SECONDS_MAX` and `HUNG_SECONDS` instead of `ANSWER_SECONDS_MAX`.
"""

import socket
import struct
import threading
from concurrent.futures import Future, InvalidStateError
from concurrent.futures import TimeoutError as NoAnswer
from contextlib import suppress
from math import inf
from time import monotonic
from typing import Final, TypeVar, final

from google.protobuf.message import DecodeError, Message

from widerow.errors import StoreDamaged
from widerow.storage.hbase.encoded import answer_place, call_frame
from widerow.storage.hbase.greeting import UNSECURED, Address, Security, ServerLost, greeted
from widerow.storage.hbase.messages import ResponseHeader

__all__ = ["PendingCall", "RemoteFailure", "RpcConnection"]

Answer = TypeVar("Answer", bound=Message)

ANSWER_SECONDS_MAX: Final[float] = 10
QUIET_SECONDS_MAX: Final[float] = 1  # nothing takes longer where nothing is wrong
# Of a server that says nothing for so long, so many calls are waited for, and further ones are
# refused: they would hold the threads that requests of other servers take.
SILENT_SECONDS: Final[float] = 0.5
SILENT_CALLS_MAX: Final = 16
HUNG_SECONDS: Final[float] = 2  # above the pauses of a JVM that collects garbage
FRAME_BYTES_MAX: Final = 256 * 1024 * 1024  # what HBase itself takes in one frame

_LENGTH: Final = struct.Struct("!I")
_NO_CALL: Final = 2**32 - 1  # what an answer is for that refuses the connection itself
_READ_BYTES: Final = 256 * 1024
# Methods of services that ask for nothing with an empty message. Of other services a method is
# called that does not exist: the refusal is an answer too.
_COSTS_NOTHING: Final = {
    "ClientService": "Multi",
    "MasterService": "IsMasterRunning",
    "ClientMetaService": "GetActiveMaster",
}


class RemoteFailure(Exception):
    """The server answers with an exception; `kind`: the name of its class, without its package."""

    def __init__(self, class_name: str, trace: str) -> None:
        first = trace.partition("\n")[0][:500]
        super().__init__(first or class_name)
        self.kind = class_name.rpartition(".")[2]


@final
class PendingCall:
    """A call that was sent."""

    __slots__ = ("_connection", "_future")

    def __init__(self, connection: "RpcConnection", future: "Future[bytes]") -> None:
        self._connection = connection
        self._future = future

    def answer(self, kind: type[Answer]) -> Answer:
        """Wait for the answer. Raises `RemoteFailure`, `ServerLost`.

        A connection that leaves a call without an answer for long is closed.
        """
        found = self._awaited()
        try:
            return kind.FromString(found)
        except DecodeError as error:
            raise self._connection.unreadable(error) from error

    def has_ended(self) -> bool:
        """Whether the call has an answer or was lost by now; to be asked again and again.

        For calls that a server lets wait on purpose: the connection is lost where the server hangs,
        and not because this call has no answer. Waits for nothing.
        """
        if not self._future.done():
            self._connection.see_whether_it_hangs()
        return self._future.done()

    def _awaited(self) -> bytes:
        until = monotonic() + ANSWER_SECONDS_MAX
        while True:
            left = until - monotonic()
            with suppress(NoAnswer):
                return self._future.result(max(0.0, min(left, QUIET_SECONDS_MAX)))
            if left <= 0:
                self._connection.lose("the server does not answer")
            else:
                self._connection.see_whether_it_hangs()


@final
class RpcConnection:
    """A connection for one service of a server. Any thread."""

    def __init__(self, address: Address, service: str, security: Security = UNSECURED) -> None:
        """Connect. Raises `ServerLost`."""
        self.address = address
        self._sending = threading.Lock()
        self._pending: dict[int, Future[bytes]] = {}
        self._calls = 0
        self._lost: ServerLost | None = None
        self._waits_since = -inf  # when a call was sent while none waited
        self._heard = monotonic()  # when the server last sent anything
        self._tried = -inf  # when it was last asked whether it hangs
        self._costs_nothing = _COSTS_NOTHING.get(service, service)
        self._socket, self._sealing = greeted(address, service, security)
        self._socket.settimeout(QUIET_SECONDS_MAX + HUNG_SECONDS)
        name = f"hbase-{address}"
        threading.Thread(target=self._read, name=name, daemon=True).start()

    def usable(self) -> bool:
        """Whether it is worth asking."""
        return self._lost is None

    @property
    def waiting(self) -> int:
        """How many calls have no answer yet."""
        return len(self._pending)

    @property
    def silent_seconds(self) -> float:
        """For how long the server has sent nothing while a call waited; 0 where none waits."""
        if not self._pending:
            return 0.0
        return monotonic() - max(self._heard, self._waits_since)

    @property
    def hung(self) -> bool:
        """Whether it was lost because the server hangs."""
        return self._lost is not None and self._lost.hung

    def send(self, method: str, request: Message | bytes) -> PendingCall:
        """Send a call without waiting for its answer. Raises `ServerLost`.

        `request`: a message, or the bytes of one.
        """
        body = request if isinstance(request, bytes) else request.SerializeToString()
        future: Future[bytes] = Future()
        with self._sending:
            if self._lost is not None:
                raise ServerLost(self._lost, sent=False)
            if self.waiting >= SILENT_CALLS_MAX and self.silent_seconds >= SILENT_SECONDS:
                told = f"{self.address} says nothing, and {self.waiting} calls wait for it"
                raise ServerLost(told, sent=False, hung=True)
            self._send(method, body, future)
        if not self.usable():  # lost since the call was listed: no other thread ends the call
            self.lose("the connection was lost")
        return PendingCall(self, future)

    def call(self, method: str, request: Message | bytes, kind: type[Answer]) -> Answer:
        """Send a call and wait for its answer. Raises `RemoteFailure`, `ServerLost`."""
        return self.send(method, request).answer(kind)

    def _send(self, method: str, body: bytes, future: "Future[bytes]") -> None:
        """Send a call, alone. Raises `ServerLost`."""
        self._calls = (self._calls + 1) & 0x7FFFFFFF
        number = self._calls
        if not self._pending:
            self._waits_since = monotonic()
        self._pending[number] = future
        frame = call_frame(number, method.encode(), int(1000 * ANSWER_SECONDS_MAX), body)
        try:
            left = memoryview(frame if self._sealing is None else self._sealing.seal(frame))
            while left:  # a time-out is of each part: what is long may take long
                left = left[self._socket.send(left) :]
        except OSError as error:
            self.lose(error)
            hung = isinstance(error, TimeoutError)
            raise ServerLost(f"{self.address}: {error}", sent=True, hung=hung) from error

    def see_whether_it_hangs(self) -> None:
        """Lose the connection where the server hangs; to be called again and again while waiting.

        A server that has said nothing lately is asked for what costs nothing. Waits for nothing.
        """
        now = monotonic()
        if now - self._heard < QUIET_SECONDS_MAX:
            return
        if self._tried < self._heard:
            self._tried = now
            if self._sending.acquire(blocking=False):  # else another thread is sending and is stuck
                try:
                    self._send(self._costs_nothing, b"", Future())
                except ServerLost:
                    return  # the callers that wait are told the same
                finally:
                    self._sending.release()
        elif now - self._tried >= HUNG_SECONDS:
            self.lose("the server hangs", hung=True)

    # --- the thread that reads ---------------------------------------------------------------

    def _read(self) -> None:
        buffer = bytearray()
        needed = _LENGTH.size
        while self._lost is None:
            try:
                part = self._socket.recv(_READ_BYTES)
                if not part:
                    self.lose("the server closed the connection")
                    return
                buffer += part if self._sealing is None else self._sealing.open(part)
            except TimeoutError:
                continue  # each caller has a time-out of its own
            except OSError as error:
                self.lose(error)
                return
            self._heard = monotonic()
            try:
                while len(buffer) >= needed:
                    needed = self._take(buffer)
            except (DecodeError, StoreDamaged, ValueError) as error:
                self.lose(f"what the server sends cannot be read: {error!r}")

    def _take(self, buffer: bytearray) -> int:
        """Take one answer out of the buffer, if it is there; how many bytes the next one takes."""
        size: int = _LENGTH.unpack_from(buffer)[0]
        if size > FRAME_BYTES_MAX:
            raise ValueError(f"a frame of {size} bytes")
        end = _LENGTH.size + size
        if len(buffer) < end:
            return end
        with memoryview(buffer) as view:
            frame = bytes(view[_LENGTH.size : end])
        number, is_answer, start, stop = answer_place(frame)
        future = self._pending.pop(number, None)
        failure = None if is_answer else _failure(frame[start:stop])
        if future is not None:
            with suppress(InvalidStateError):
                if failure is None:
                    future.set_result(frame[start:stop])
                else:
                    future.set_exception(failure)
        elif failure is not None and number == _NO_CALL:
            self.lose(f"the server refuses the connection ({failure.kind}): {failure}")
        del buffer[:end]
        return _LENGTH.size

    # --- the end -----------------------------------------------------------------------------

    def unreadable(self, error: Exception) -> ServerLost:
        """Take the connection as lost because an answer cannot be read; what to raise."""
        self.lose(error)
        return ServerLost(f"an answer cannot be read: {error}", sent=True)

    def lose(self, reason: object, *, hung: bool = False) -> None:
        """Take the connection as lost: whoever waits for an answer hears of it. Idempotent."""
        if self._lost is None:
            hung = hung or isinstance(reason, TimeoutError)
            self._lost = ServerLost(f"{self.address}: {reason}", sent=True, hung=hung)
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_RDWR)
            self._socket.close()
        while self._pending:
            with suppress(KeyError, InvalidStateError):
                self._pending.popitem()[1].set_exception(self._lost)

    def close(self) -> None:
        """Close it."""
        self.lose("the store is closed")


def _failure(header: bytes) -> RemoteFailure:
    """What a header tells of an exception. Raises `DecodeError`."""
    told = ResponseHeader.FromString(header).exception
    return RemoteFailure(str(told.exception_class_name), str(told.stack_trace))
