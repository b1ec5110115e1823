"""Reads of keys on connections that the server's loop watches itself.

A read on a thread is handed over three times: to the thread that asks, to the one that reads the
connection, and back. That costs more than the read. So the loop sends what many requests ask for
itself, and takes the answer from the socket. It never waits: what a socket does not take is kept
until it does, connections are made on a thread beside, and a read without an answer for
`QUIET_SECONDS_MAX` is given up. Whatever goes wrong is told as None. Whoever asked reads on a
thread then, which finds out what a refusal or a silence means (`regions.py`, `rpc.py`).

Compiled, because every GetRow goes through it.
"""

import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final, final

from widerow.errors import StoreDamaged, WiderowError
from widerow.storage.hbase.encoded import (
    CellPlace,
    FoundRows,
    answer_place,
    call_frame,
    found_rows,
    further_rows,
    single_rows,
)
from widerow.storage.hbase.greeting import Address, Greeted, ServerLost
from widerow.storage.hbase.regions import Region
from widerow.storage.hbase.rows import row_of
from widerow.storage.hbase.sealing import Sealing
from widerow.storage.sockets import KeysTold, Sockets

if TYPE_CHECKING:
    import socket

__all__ = ["HBaseLoopReads", "LoopConnection"]

# as long as a thread waits for an answer before it asks whether the server hangs
QUIET_SECONDS_MAX: Final = 1.0
_CONNECT_PAUSE_SECONDS: Final = 0.2  # after a connection that failed, until the next attempt
_ANSWER_MS_MAX: Final = 10_000  # the time-out that a server is told; this side gives up earlier
_ANSWER_BYTES_MAX: Final = 8 * 1024 * 1024  # of rows, for one read
_FRAME_BYTES_MAX: Final = 256 * 1024 * 1024  # what HBase itself takes in one frame
_BUFFER_BYTES: Final = 256 * 1024
_LENGTH_BYTES: Final = 4
_SCAN: Final = b"Scan"

_Answered = Callable[[FoundRows | None], None]
"""Hears the answer to a scan; None where it failed, or none will come."""


@final
class _Pending:
    """A scan that was sent, and when."""

    __slots__ = ("answered", "began")

    def __init__(self, answered: _Answered, began: float) -> None:
        self.answered = answered
        self.began = began


@final
class LoopConnection:
    """A connection that a loop watches, on whose thread everything here is called."""

    __slots__ = (
        "_buffer",
        "_calls",
        "_filled",
        "_pending",
        "_sealing",
        "_socket",
        "_sockets",
        "_unsent",
    )

    def __init__(self, greeted: Greeted, sockets: Sockets) -> None:
        """`greeted`: the connection's own from now on."""
        connected = greeted.connected
        connected.settimeout(0)
        self._socket: socket.socket | None = connected
        self._sealing = greeted.sealing
        self._sockets = sockets
        self._pending: dict[int, _Pending] = {}
        self._calls = 0
        self._unsent = bytearray()
        self._buffer = bytearray(_BUFFER_BYTES)
        self._filled = 0
        sockets.add_reader(connected.fileno(), self._readable)

    @property
    def usable(self) -> bool:
        """Whether it is worth asking."""
        return self._socket is not None

    def scan(self, request: bytes, answered: _Answered) -> None:
        """Send a scan, and call back when it is answered; never before this returns."""
        connected = self._socket
        assert connected is not None, "a connection that is lost is not asked"
        number = self._calls = (self._calls + 1) & 0x7FFFFFFF
        self._pending[number] = _Pending(answered, monotonic())
        frame = call_frame(number, _SCAN, _ANSWER_MS_MAX, request)
        sent = 0
        try:
            if self._sealing is not None:
                frame = self._sealing.seal(frame)
            if not self._unsent:
                sent = connected.send(frame)
        except BlockingIOError:
            pass
        except OSError:
            self._sockets.call_later(0, self.lose)
            return
        if sent < len(frame):
            if not self._unsent:
                self._sockets.add_writer(connected.fileno(), self._writable)
            self._unsent += frame[sent:]

    def is_silent(self, now: float) -> bool:
        """Whether something was asked for too long ago."""
        for pending in self._pending.values():
            return now - pending.began >= QUIET_SECONDS_MAX
        return False

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is to come."""
        return bool(self._pending)

    def lose(self) -> None:
        """Close the connection; each pending scan is answered with None. Idempotent."""
        connected, self._socket = self._socket, None
        if connected is None:
            return
        self._sockets.remove_reader(connected.fileno())
        self._sockets.remove_writer(connected.fileno())
        connected.close()
        pending, self._pending = self._pending, {}
        for each in pending.values():
            each.answered(None)

    # --- called by the loop ------------------------------------------------------------------

    def _writable(self) -> None:
        connected = self._socket
        if connected is None:
            return
        try:
            sent = connected.send(self._unsent)
        except BlockingIOError:
            return
        except OSError:
            self.lose()
            return
        del self._unsent[:sent]
        if not self._unsent:
            self._sockets.remove_writer(connected.fileno())

    def _readable(self) -> None:
        connected = self._socket
        if connected is None:
            return
        try:
            if self._sealing is None:
                with memoryview(self._buffer) as room:
                    size = connected.recv_into(room[self._filled :])
                self._filled += size
            else:
                size = self._take_sealed(connected.recv(_BUFFER_BYTES), self._sealing)
        except BlockingIOError:
            return
        except OSError:
            self.lose()
            return
        try:
            if not size or not self._take_frames():
                self.lose()
        except StoreDamaged:  # an answer of the server cannot be read
            self.lose()

    def _take_sealed(self, part: bytes, sealing: Sealing) -> int:
        """Put into the buffer what is whole with `part`; the length of `part`. Raises `OSError`."""
        if part:
            plain = sealing.open(part)
            end = self._filled + len(plain)
            if end > len(self._buffer):
                self._buffer += bytes(end - len(self._buffer))
            self._buffer[self._filled : end] = plain
            self._filled = end
        return len(part)

    def _take_frames(self) -> bool:
        """Take every whole answer out of the buffer; False where an answer is too long.

        Raises `StoreDamaged`.
        """
        buffer, at = self._buffer, 0
        while self._filled - at >= _LENGTH_BYTES:
            size = int.from_bytes(buffer[at : at + _LENGTH_BYTES], "big")
            end = at + _LENGTH_BYTES + size
            if size > _FRAME_BYTES_MAX:
                return False
            if end > self._filled:
                break
            with memoryview(buffer) as whole:
                frame = bytes(whole[at + _LENGTH_BYTES : end])
            at = end
            self._take(frame)
            if self._socket is None:  # a callback has closed the connection
                return True
        if at:
            left = buffer[at : self._filled]
            buffer[: len(left)] = left
            self._filled = len(left)
        elif self._filled == len(buffer):
            self._buffer = bytearray(2 * len(buffer))
            self._buffer[: len(buffer)] = buffer
        return True

    def _take(self, frame: bytes) -> None:
        number, is_answer, start, end = answer_place(frame)
        pending = self._pending.get(number)
        if pending is None:
            return
        found = found_rows(frame, start, end) if is_answer else None
        del self._pending[number]
        pending.answered(found)


@final
class _KeysRead:
    """A read of keys that is under way: a scan of each region that has some of them."""

    __slots__ = ("_failed", "_found", "_keys", "_left", "_told")

    def __init__(self, keys: Sequence[bytes], scans: int, told: KeysTold) -> None:
        self._keys = keys
        self._left = scans
        self._told = told
        self._found: dict[bytes, bytes] = {}
        self._failed = False

    def answered(self, connection: LoopConnection, rows: int, found: FoundRows | None) -> None:
        """Take the answer to a scan of `rows` rows; ask for what the server left out."""
        if found is None:
            self._failed = True
        else:
            cells, scanner, more = found
            for key, value, _ in cells:
                self._found[key] = value
            if more:
                self._go_on(connection, rows, scanner)
                return
        self._left -= 1
        if not self._left:
            known = self._found
            self._told(None if self._failed else [known.get(key) for key in self._keys])

    def _go_on(self, connection: LoopConnection, rows: int, scanner: int) -> None:
        if not connection.usable:
            self.answered(connection, rows, None)
            return
        again = partial(self.answered, connection, rows)
        connection.scan(further_rows(scanner, rows), again)


@final
class HBaseLoopReads:
    """Reads of keys by way of a loop, on whose thread everything here is called."""

    __slots__ = (
        "_closed",
        "_connect",
        "_connections",
        "_is_timed",
        "_refused",
        "_region_of",
        "_sockets",
        "_unready",
        "begun",
        "given_up",
    )

    def __init__(
        self,
        region_of: Callable[[bytes], Region | None],
        connect: Callable[[Address], Greeted],
        sockets: Sockets,
    ) -> None:
        """`region_of`: the region of a row as far as it is known; `connect`: waits for a server.

        `connect` raises `ServerLost` or a `WiderowError`, and is called on a thread of its own.
        """
        self._region_of = region_of
        self._connect = connect
        self._sockets = sockets
        self._connections: dict[Address, LoopConnection] = {}
        self._unready: set[Address] = set()  # servers to which a connection is being made
        self._refused: dict[Address, float] = {}  # the time of the last connection that failed
        self._is_timed = False
        self._closed = False
        self.begun = 0  # reads
        self.given_up = 0  # reads given up, to be made on a thread

    def begin(self, keys: Sequence[bytes], told: KeysTold) -> bool:
        """A scan of each region that has some of the keys, all at once."""
        wanted: dict[bytes, tuple[LoopConnection, list[CellPlace]]] = {}
        last: Region | None = None
        places: list[CellPlace] = []
        for key in keys:
            place = row_of(key)
            if last is None or not last.has(place[0]):
                last = self._region_of(place[0])
                connection = None if last is None else self._connected(last.address)
                if last is None or connection is None:
                    return False
                places = wanted.setdefault(last.name, (connection, []))[1]
            places.append(place)
        if not wanted:
            return False
        self.begun += 1
        read = _KeysRead(keys, len(wanted), partial(self._ended, told))
        for name, (connection, few) in wanted.items():
            rows = len({row for row, _ in few}) + 1
            answered = partial(read.answered, connection, rows)
            if connection.usable:
                connection.scan(single_rows(name, few, _ANSWER_BYTES_MAX, None), answered)
            else:
                self._sockets.call_later(0, partial(answered, None))
        self._watch()
        return True

    def _ended(self, told: KeysTold, found: Sequence[bytes | None] | None) -> None:
        if found is None:
            self.given_up += 1
        told(found)

    def close(self) -> None:
        """Close every connection."""
        self._closed = True
        for connection in list(self._connections.values()):
            connection.lose()

    # --- connections -------------------------------------------------------------------------

    def _connected(self, address: Address) -> LoopConnection | None:
        """The connection to a server; None where there is none: a thread begins to make one."""
        found = self._connections.get(address)
        if found is not None and found.usable:
            return found
        refused = self._refused.get(address, 0.0)
        waits = monotonic() - refused < _CONNECT_PAUSE_SECONDS
        if self._closed or waits or address in self._unready:
            return None
        self._unready.add(address)
        name = f"hbase-loop-{address}"
        threading.Thread(target=self._open, args=(address,), name=name, daemon=True).start()
        return None

    def _open(self, address: Address) -> None:
        """Make a connection to a server. Runs on a thread of its own."""
        connected: Greeted | None = None
        with suppress(ServerLost, WiderowError, OSError):
            connected = self._connect(address)
        try:
            self._sockets.call_soon_threadsafe(partial(self._opened, address, connected))
        except RuntimeError:  # the loop has ended
            if connected is not None:
                connected.connected.close()

    def _opened(self, address: Address, connected: Greeted | None) -> None:
        self._unready.discard(address)
        if connected is None:
            self._refused[address] = monotonic()
        elif self._closed:
            connected.connected.close()
        else:
            self._connections[address] = LoopConnection(connected, self._sockets)

    def _watch(self) -> None:
        if not self._is_timed:
            self._is_timed = True
            self._sockets.call_later(QUIET_SECONDS_MAX / 2, self._look)

    def _look(self) -> None:
        """Close the connections whose answers are late; come back while any scan is pending."""
        self._is_timed = False
        now, waits = monotonic(), False
        for connection in list(self._connections.values()):
            if connection.is_silent(now):
                connection.lose()
            waits = waits or connection.is_waiting
        if waits:
            self._watch()
