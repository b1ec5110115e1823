"""One HTTP/1.1 connection: bytes in, requests in order, answers in the same order.

Rules:

1.  Requests of one connection take effect one after another, in the order they were sent. What is
    pipelined behind the running one waits parsed, at most about `PIPELINE_DEPTH_MAX` deep; beyond
    that the rest stays unread, here and then in the kernel.
2.  What a client may cost before it has proved who it is, is bounded: the bytes and the number of
    its headers, the bytes of its body (by its announced length before the first byte, and by what
    comes), the time for either, and the bytes of all bodies together (`admission.py`).
3.  A request that breaks HTTP's own rules, or a bound, is answered with an error after the answers
    to those before it, and nothing after it on the connection is looked at. The connection then
    lingers: its sending half is closed and what still comes is thrown away for a moment, because
    closing at once would reset the connection and take the answer with it.
4.  While an answer waits for a slow reader, no further request of the connection is run. All such
    answers together have a bound too: beyond it, whoever has waited longest is cut off.
5.  A body is taken as it is framed: trailers and chunk extensions are dropped; an `Upgrade` or a
    transfer coding other than chunked is refused.

The parser (httptools) refuses what request smuggling lives on: two lengths, a length beside a
transfer coding, folded or blank-padded header names, bare line feeds, control characters.
"""

import asyncio
import math
from collections import deque
from typing import Final

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from widerow.errors import InvalidRequest, Rule, WiderowError
from widerow.limits import (
    BODY_BYTES_MAX,
    HEADERS_BYTES_MAX,
    HEADERS_COUNT_MAX,
    JOINED_BYTES_MAX,
    LINGER_BYTES_MAX,
    PIPELINE_DEPTH_MAX,
    TURN_REQUESTS_MAX,
)
from widerow.server.headers import HTTP_HEADERS, Spelling
from widerow.server.message import Request, Response, render
from widerow.server.shared import Shared

__all__ = ["Connection"]

_SLICE_BYTES: Final = (
    4096  # parsed at once outside of bodies, so that the bounds hold within a read
)
_PIECE_BYTES: Final = 4096  # of a body; smaller ones are put together as they come
_VERSIONS: Final = frozenset(("1.0", "1.1"))
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

# What a connection does with what it reads.
_READING: Final = 0  # parses it
_LAST: Final = 1  # throws it away: the last answer is still to be written
_LINGERING: Final = 2  # throws it away: the last answer is written
_CLOSED: Final = 3

_NO_PARSER: Final = HttpRequestParser(object())
_SHARED_NAMES_MAX: Final = 256  # sets of names that were seen: a client sends one or two
_SHARED_NAMES_CHARS_MAX: Final = 1024  # of one set: SDKs send 200
# Called for every request: a method at hand is not searched for.
_feed_data: Final = HttpRequestParser.feed_data
_method_of: Final = HttpRequestParser.get_method
_keeps_alive: Final = HttpRequestParser.should_keep_alive
_upgrades: Final = HttpRequestParser.should_upgrade
_NO_HEADERS: Final[dict[str, str]] = {}


class _Stop(Exception):
    """The rest of the input is of no interest. Raised through the parser, never out of here."""


class Connection:
    """One client's connection, from accept to close. Lives on the loop's thread.

    An `asyncio.Protocol` in all but name: compiled classes do not inherit from plain ones, and a
    loop asks for the methods only.
    """

    __slots__ = (
        "_active",
        "_admission",
        "_announced",
        "_body",
        "_body_bytes",
        "_continue_due",
        "_entered",
        "_former",
        "_half_closed",
        "_header_count",
        "_headers",
        "_headers_complete",
        "_in_message",
        "_keep_alive",
        "_lingered",
        "_metered",
        "_names",
        "_parser",
        "_pieces",
        "_pump_due",
        "_raw_bytes",
        "_reading",
        "_refusal",
        "_repeated",
        "_shared",
        "_spellings",
        "_state",
        "_target",
        "_transport",
        "_unread",
        "_waiting",
        "_write_paused",
        "deadline",
        "unsent",
    )

    def __init__(self, shared: Shared) -> None:
        """A connection of the listener behind `shared`."""
        self._shared = shared
        self._admission = shared.admission
        self._transport: asyncio.Transport | None = None
        self._parser = HttpRequestParser(self)
        self._state = _READING
        self._waiting: deque[Request | Response] = deque()
        self._active: Request | None = None
        self._unread = b""
        self._reading = True
        self._write_paused = False
        self._pump_due = False
        self._half_closed = False
        self._continue_due = False
        self._refusal: WiderowError | None = None
        self._lingered = 0
        self._in_message = False
        self._headers_complete = False
        self._entered = False
        self._metered = False
        self._announced = 0  # read before the first request begins if its first bytes are many
        self._body = b""  # its first piece, which mostly is all of it
        self._pieces: list[bytes | bytearray] = []  # the others, joined once the body is whole
        self._body_bytes = 0  # of all pieces
        self._former: list[Spelling] = []  # the names of the request before, if none came twice
        self._names: tuple[str, ...] = ()  # of the headers that the server acts on, in order
        self._spellings: list[Spelling] | None = None  # of this one, where they are others
        self.deadline = math.inf
        self.unsent = 0

    # --- the transport's calls ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin, or say that there are too many."""
        shared = self._shared
        self._transport = transport  # type: ignore[assignment]  # uvloop's is no subclass
        shared.connections.add(self)
        self.deadline = shared.now + shared.patience.idle
        try:
            if not self._admission.connect():
                self.abort()
        except WiderowError as error:
            self._refuse(error)
            self._advance()

    def data_received(self, data: bytes) -> None:
        """Parse what came and run what can be run."""
        if self._state != _READING:
            self._discard(len(data))
            return
        if len(data) <= _SLICE_BYTES and not self._unread and not self._waiting:
            self._feed(data)
        else:
            self._feed_slices(self._unread + data if self._unread else data)
        if self._waiting and self._active is None:
            self._advance()

    def eof_received(self) -> bool:
        """The client sends no more. Keep our half open while there are answers to write."""
        self._half_closed = True
        return self._state < _LINGERING and (self._active is not None or bool(self._waiting))

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget everything but the request that is running: its `reply` will come."""
        del exc  # why a client went away changes nothing
        shared = self._shared
        shared.connections.discard(self)
        self._settle()
        self._admission.disconnect()
        self._abandon_message()
        while self._waiting:
            item = self._waiting.popleft()
            if isinstance(item, Request):
                self._admission.leave(item.size)
        self._state = _CLOSED
        self._transport = None
        self._parser = _NO_PARSER  # ours holds our methods: a cycle
        self._unread = b""
        self.deadline = math.inf

    def pause_writing(self) -> None:
        """The client reads slower than it asks: ask it nothing more until it has caught up."""
        self._write_paused = True
        self.deadline = self._shared.now + self._shared.patience.body
        self._hold_input()
        if self._transport is not None:
            self.unsent = self._transport.get_write_buffer_size()
            if not self._admission.owe(self.unsent):
                self._shared.relieve()

    def resume_writing(self) -> None:
        """The client caught up."""
        self._write_paused = False
        self._settle()
        self._rest()
        self._advance()

    def expire(self) -> None:
        """The deadline passed: say so if a request was under way, and end the connection."""
        if self._transport is None:
            return
        if self._state == _READING and self._in_message and not self._write_paused:
            self._refuse(InvalidRequest(Rule.BODY_TIMEOUT))
            self._advance()
        elif self._state == _READING and not self._write_paused:
            self._close()
        else:
            self._transport.abort()

    def close_if_idle(self) -> None:
        """End the connection unless it has a request in hand (the server is stopping)."""
        if self._active is None and not self._waiting and not self._in_message:
            self._close()

    def is_flushed(self) -> bool:
        """Whether nothing that was written still waits here."""
        return self._transport is None or self._transport.get_write_buffer_size() == 0

    def _settle(self) -> None:
        """What was unsent is sent, or will never be."""
        self._admission.settle(self.unsent)
        self.unsent = 0

    def abort(self) -> None:
        """End the connection now, whatever it has in hand."""
        self._settle()
        if self._transport is not None:
            self._transport.abort()

    # --- the parser's calls ------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """The first byte of a request."""
        self._in_message = True
        self._headers_complete = False
        self._metered = True
        self._raw_bytes = -_SLICE_BYTES  # this slice may hold what is not ours
        self._header_count = 0
        self._headers: dict[str, str] = {}
        self._spellings = None
        self._repeated = ""
        self._target = b""
        self._announced = 0
        self.deadline = self._shared.now + self._shared.patience.headers

    def on_url(self, part: bytes) -> None:
        """A piece of the request target, or all of it."""
        self._target = self._target + part if self._target else part

    def on_header(self, raw_name: bytes, value: bytes) -> None:
        """A header; or a trailer, which is dropped.

        A client sends the same names in the same order every time: they are compared with those of
        the request before, which takes a fraction of looking each of them up twice.
        """
        number = self._header_count
        self._header_count = number + 1
        if self._spellings is None and number < len(self._former) and not self._headers_complete:
            spelling = self._former[number]
            if spelling.raw == raw_name:
                if spelling.name:
                    self._headers[spelling.name] = spelling.read(value)
                return
        self._on_other_header(number, raw_name, value)

    def _on_other_header(self, number: int, raw_name: bytes, value: bytes) -> None:
        """One that the request before did not have in this place."""
        if number >= HEADERS_COUNT_MAX:
            self._stop(InvalidRequest(Rule.HTTP_HEADERS_TOO_LARGE))
        spelling = self._shared.headers.spelling(raw_name)
        if self._headers_complete:
            return
        if self._spellings is None:
            self._spellings = self._former[:number]
        self._spellings.append(spelling)
        name = spelling.name
        if not name:
            return
        if name in self._headers:
            self._repeat(name, value)
        else:
            self._headers[name] = spelling.read(value)

    def on_headers_complete(self) -> None:
        """The body comes next: is it wanted?"""
        self._headers_complete = True
        headers = self._headers
        if self._spellings is not None:
            named = sum([1 for spelling in self._spellings if spelling.name])
            self._former = self._spellings if named == len(headers) else []
            self._spellings = None
            self._names = _shared_names(headers)
        elif len(self._names) != len(headers):  # else they are those of the request before
            self._names = _shared_names(headers)
        length = headers.get("content-length")
        self._metered = length is None
        if length is not None:
            self._announced = int(length)
            if self._announced > BODY_BYTES_MAX:
                self._stop(InvalidRequest(Rule.BODY_TOO_LARGE))
        self._keep_alive = _keeps_alive(self._parser)
        self._check_framing(headers)
        try:
            self._admission.enter(behind=self._active is not None or bool(self._waiting))
        except WiderowError as error:
            self._stop(error)
        self._entered = True
        self.deadline = self._shared.now + self._shared.patience.body
        if "expect" in headers:
            self._expect(headers["expect"])

    def on_body(self, part: bytes) -> None:
        """A piece of the body, or all of it."""
        size = len(part)
        if self._body_bytes + size > BODY_BYTES_MAX:
            self._stop(InvalidRequest(Rule.BODY_TOO_LARGE))
        try:
            self._admission.hold(size)
        except WiderowError as error:
            self._stop(error)
        self._raw_bytes = 0
        if self._body_bytes:
            self._keep_piece(part)
        else:
            self._body = part
        self._body_bytes += size

    def _keep_piece(self, part: bytes) -> None:
        """Keep what is no first piece: small ones in one, so that each costs its bytes only."""
        if len(part) >= _PIECE_BYTES:
            self._pieces.append(part)
            return
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, bytearray):
            last += part
        else:
            self._pieces.append(bytearray(part))

    def on_message_complete(self) -> None:
        """The request is whole."""
        request = Request(
            _method_of(self._parser),
            self._target,
            self._headers,
            b"".join([self._body, *self._pieces]) if self._pieces else self._body,
            self._repeated,
            self._keep_alive,
            self._shared.clock.monotonic_ns(),
        )
        request.names = self._names
        self._forget_body()
        self._headers = _NO_HEADERS  # the request's now, and gone with it
        self._in_message = False
        self._entered = False  # the request gives back what it took once it is answered
        self._metered = False
        self._announced = 0
        self.deadline = math.inf
        self._waiting.append(request)
        if not self._keep_alive:
            self._state = _LAST

    # --- reading -----------------------------------------------------------------------------

    def _feed(self, data: bytes | memoryview) -> None:
        """Parse one slice."""
        try:
            _feed_data(self._parser, data)
        except (HttpParserError, HttpParserUpgrade):
            if self._state == _READING:  # else: bytes behind a request that closes
                self._refuse(self._refusal or InvalidRequest(Rule.HTTP_MALFORMED))
            return
        if self._metered:
            # Bytes that become neither a finished head nor a body: headers under way, trailers,
            # chunk extensions. The parser keeps them; it must not keep them without end.
            self._raw_bytes += len(data)
            if self._raw_bytes > HEADERS_BYTES_MAX:
                self._refuse(InvalidRequest(Rule.HTTP_HEADERS_TOO_LARGE))

    def _feed_slices(self, data: bytes) -> None:
        """Parse `data` piece by piece, and keep the rest when enough requests wait."""
        view = memoryview(data)
        offset = 0
        while offset < len(data) and self._state == _READING:
            if len(self._waiting) >= PIPELINE_DEPTH_MAX:
                self._unread = data[offset:]
                self._hold_input()
                return
            stop = offset + max(_SLICE_BYTES, self._announced - self._body_bytes)
            self._feed(view[offset:stop])
            offset = stop
        self._unread = b""

    def _hold_input(self) -> None:
        if self._reading and self._transport is not None:
            self._transport.pause_reading()
            self._reading = False

    def _go_on_later(self) -> None:
        """Go on in a turn of its own: others want the loop as well."""
        if not self._pump_due:
            self._pump_due = True
            self._shared.loop.call_soon(self._pump)

    def _pump(self) -> None:
        """Go on with what was read and not parsed, or parsed and not run."""
        self._pump_due = False
        if self._state == _READING and not self._write_paused:
            self._feed_slices(self._unread)
        self._advance()

    def _resume_input(self) -> None:
        """Read on after a pause, when there is room again."""
        if self._write_paused or self._transport is None or self._pump_due:
            return
        if self._unread and self._state == _READING:
            if len(self._waiting) < PIPELINE_DEPTH_MAX:
                self._go_on_later()
            return
        self._reading = True
        self._transport.resume_reading()
        if self._in_message:
            self.deadline = self._shared.now + self._shared.patience.body

    def _discard(self, size: int) -> None:
        """Throw away what comes after the end, up to a bound."""
        self._lingered += size
        if self._lingered > LINGER_BYTES_MAX and self._transport is not None:
            self._transport.abort()

    def _check_framing(self, headers: dict[str, str]) -> None:
        """Refuse what we would frame differently from others. Raises: `_Stop`."""
        coding = headers.get("transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            self._stop(InvalidRequest(Rule.HTTP_MALFORMED))
        if _upgrades(self._parser):  # or CONNECT; the parser would not read the body
            self._stop(InvalidRequest(Rule.HTTP_MALFORMED))
        # Without either of the two it can only be HTTP/1.1.
        unsure = not self._keep_alive or "connection" in headers
        if unsure and self._parser.get_http_version() not in _VERSIONS:
            self._stop(InvalidRequest(Rule.HTTP_MALFORMED))

    def _expect(self, expectation: str) -> None:
        if expectation.lower() != "100-continue":
            self._stop(InvalidRequest(Rule.HTTP_MALFORMED))
        if self._active is None and not self._waiting and self._transport is not None:
            self._transport.write(_CONTINUE)
        else:
            self._continue_due = True

    def _repeat(self, name: str, value: bytes) -> None:
        """A header that came before. Of two signed ones, one would go unsigned."""
        if name in HTTP_HEADERS:
            self._headers[name] += "," + str(value, "latin-1").strip()
        else:
            self._repeated = name

    def _stop(self, error: WiderowError) -> None:
        self._refusal = error
        raise _Stop

    def _abandon_message(self) -> None:
        """Give back what a request that will not be whole has taken."""
        if self._entered:
            self._admission.leave(self._body_bytes)
            self._entered = False
        self._in_message = False
        self._metered = False
        self._forget_body()

    def _forget_body(self) -> None:
        self._body = b""
        self._body_bytes = 0
        if self._pieces:
            self._pieces = []

    # --- answering ---------------------------------------------------------------------------

    def _refuse(self, error: WiderowError) -> None:
        """Let `error` be the connection's last answer, behind those that are due."""
        self._abandon_message()
        self._state = _LAST
        self._unread = b""
        self.deadline = math.inf
        self._waiting.append(self._shared.handler.refuse(error))

    def _advance(self) -> None:
        """Run waiting requests for as long as they are answered at once and read by the client.

        After some of them the others' turn comes: a long pipeline must not hold up the loop.
        """
        waiting = self._waiting
        turn = TURN_REQUESTS_MAX
        while waiting and self._active is None and not self._write_paused:
            if turn == 0:
                self._go_on_later()
                return
            turn -= 1
            item = waiting.popleft()
            if isinstance(item, Response):
                self._write(item, None, close=True)
                self._linger()
                return
            self._active = item
            response = self._shared.handler.handle(item, self._reply)
            if response is not None:
                self._finish(response)
        if self._continue_due and self._active is None and not waiting:
            self._continue_due = False
            if self._in_message and self._transport is not None:
                self._transport.write(_CONTINUE)
        if not self._reading:
            self._resume_input()

    def _reply(self, response: Response) -> None:
        """The answer of the running request, some time later."""
        self._finish(response)
        self._advance()

    def _finish(self, response: Response) -> None:
        request = self._active
        assert request is not None, "a request is answered once"
        self._active = None
        self._admission.leave(request.size)
        if self._transport is None:
            return
        close = not request.keep_alive or (
            (self._half_closed or self._admission.stopping)
            and not self._waiting
            and not self._in_message
        )
        self._write(response, request, close=close)
        if close:
            self._close()
        elif not self._write_paused:
            self._rest()

    def _write(self, response: Response, request: Request | None, *, close: bool) -> None:
        if self._transport is None:
            return
        pieces = render(response, self._shared.date_line, request, close=close)
        if len(pieces[-1]) <= JOINED_BYTES_MAX:
            self._transport.write(b"".join(pieces))
        else:
            body = pieces.pop()
            self._transport.writelines((b"".join(pieces), body))

    def _rest(self) -> None:
        """Nothing is asked of the client but its next request, or the rest of the one begun."""
        if not self._in_message:
            self.deadline = self._shared.now + self._shared.patience.idle

    def _close(self) -> None:
        """Close once everything is written; a client that never reads it is cut off."""
        self._state = _LINGERING
        self.deadline = self._shared.now + self._shared.patience.body
        if self._transport is not None:
            self._transport.close()

    def _linger(self) -> None:
        """Close our half; wait a moment for the client to close its own."""
        self._state = _LINGERING
        self.deadline = self._shared.now + self._shared.patience.linger
        transport = self._transport
        if transport is None:
            return
        if self._half_closed or not transport.can_write_eof():
            transport.close()
            return
        transport.write_eof()
        if not self._reading:
            self._reading = True
            transport.resume_reading()


_SHARED_NAMES: Final[dict[tuple[str, ...], tuple[str, ...]]] = {}


def _shared_names(headers: dict[str, str]) -> tuple[str, ...]:
    """The names of these headers; the same object for the same names on every connection.

    Whoever sends them is not known yet: what is kept of strangers' names is bounded.
    """
    names = tuple(headers)
    found = _SHARED_NAMES.get(names)
    if found is None:
        found = names
        if sum(map(len, names)) <= _SHARED_NAMES_CHARS_MAX:
            if len(_SHARED_NAMES) >= _SHARED_NAMES_MAX:
                _SHARED_NAMES.clear()
            _SHARED_NAMES[names] = names
    return found
