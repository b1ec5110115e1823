"""HTTP/1.1 of one connection, without a connection: bytes in, requests out; answers in, bytes out.

This module has no socket, no loop and no timer. The connection (`connection.py`) has them: it hands
in the bytes that it has read, takes the requests one by one, hands in their answers and writes the
resulting bytes. It reads `state` to see whether the client may send more, `refusal` for the error
that is the last answer, and `awaited` for the part of a request that has not arrived yet.

The rules are listed in `connection.py`. This module keeps rule 1 (order, and the depth of a
pipeline), rule 2 (bounds before the sender is verified) except for the times, rule 3 (nothing is
parsed after a request that breaks a rule) and rule 5 (framing). The requests and the refusal do not
depend on how the input is cut into pieces; only the interim answer 100 does: it is not sent for a
body that has already arrived.

The parser (httptools) refuses the input that request smuggling needs: two lengths, a length beside
a transfer coding, folded or blank-padded header names, bare line feeds, control characters.
"""

from collections import deque
from typing import Final, final

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser

from widerow.clock import Clock
from widerow.errors import InvalidRequest, Rule, WiderowError
from widerow.limits import (
    BODY_BYTES_MAX,
    HEADERS_BYTES_MAX,
    HEADERS_COUNT_MAX,
    LINGER_BYTES_MAX,
    PIPELINE_DEPTH_MAX,
)
from widerow.server.admission import Admission
from widerow.server.headers import HTTP_HEADERS, PAGE_HEADERS, KeptHeaders, Spelling
from widerow.server.message import Request, Response, render

__all__ = ["BODY", "CLOSING", "HEAD", "LAST", "LINGERING", "NOTHING", "READING", "Http1"]

READING: Final = 0
"""A state: bytes are parsed."""
LAST: Final = 1
"""A state: bytes are dropped, and the last answer is still to be written."""
CLOSING: Final = 2
"""A state: the last answer was written, and the connection is to be closed after it."""
LINGERING: Final = 3
"""A state: as `CLOSING`, but the client may still be sending: our half is closed first."""

NOTHING: Final = 0
"""What is awaited: no request has begun."""
HEAD: Final = 1
"""What is awaited: the rest of a request's line and headers."""
BODY: Final = 2
"""What is awaited: the rest of a request's body."""

_SLICE_BYTES: Final = (
    # Bytes parsed at a time outside of bodies, so that bounds are checked within one read.
    4096
)
_PIECE_BYTES: Final = 4096  # bytes of a piece of a body; smaller pieces are joined when they arrive
_VERSIONS: Final = frozenset(("1.0", "1.1"))
_CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"

_SCHEMES: Final = (b"http", b"https")
_NO_PARSER: Final = HttpRequestParser(object())
_SHARED_NAMES_MAX: Final = 256  # sets of header names that are kept: a client sends one or two
_SHARED_NAMES_CHARS_MAX: Final = 1024  # bytes of the names of one set: SDKs send 200
# For every request: found without a method look-up.
_feed_data: Final = HttpRequestParser.feed_data
_method_of: Final = HttpRequestParser.get_method
_keeps_alive: Final = HttpRequestParser.should_keep_alive
_upgrades: Final = HttpRequestParser.should_upgrade
_NO_HEADERS: Final[dict[str, str]] = {}


class _Stop(Exception):
    """Ends the parsing of the input. Raised through the parser, caught in this module."""


@final
class Http1:
    """One client's requests and answers, from the first byte to the last.

    `state` and `awaited` have the constants of this module; `changes` counts how often `awaited`
    was set. `refusal` is the error that ends the connection, once there is one.
    """

    __slots__ = (
        "_active",
        "_admission",
        "_announced",
        "_body",
        "_body_bytes",
        "_clock",
        "_continue_due",
        "_discarded",
        "_entered",
        "_former",
        "_half_closed",
        "_header_count",
        "_headers",
        "_headers_complete",
        "_interim",
        "_keep_alive",
        "_kept",
        "_metered",
        "_names",
        "_parser",
        "_pieces",
        "_raw_bytes",
        "_repeated",
        "_spellings",
        "_stopped",
        "_target",
        "_unread",
        "_waiting",
        "awaited",
        "changes",
        "refusal",
        "state",
    )

    def __init__(self, admission: Admission, clock: Clock, kept: KeptHeaders) -> None:
        """Begin before the first byte.

        `admission`: counts what requests take. `kept`: the headers whose values are kept.
        """
        self._kept = kept
        self._admission = admission
        self._clock = clock
        self._parser = HttpRequestParser(self)
        self.state = READING
        self.awaited = NOTHING
        self.changes = 0
        self.refusal: WiderowError | None = None
        self._waiting: deque[Request] = deque()
        self._active: Request | None = None
        self._unread = b""
        self._half_closed = False
        self._continue_due = False
        self._interim = b""
        # While bytes are parsed: their error.
        self._stopped: WiderowError | None = None
        self._discarded = 0
        self._headers_complete = False
        self._entered = False
        self._metered = False
        self._announced = 0  # read before the first body, if its first bytes are many
        self._body = b""  # the first piece of the body, which usually is the whole body
        # The further pieces, joined when the body is complete.
        self._pieces: list[bytes | bytearray] = []
        self._body_bytes = 0  # the bytes of all pieces
        # The header names of the request before, unless one of them was repeated.
        self._former: list[Spelling] = []
        # The names of the headers that the server acts on, in order.
        self._names: tuple[str, ...] = ()
        # The names of this request, where they are not those of the request before.
        self._spellings: list[Spelling] | None = None

    # --- bytes in ----------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        """Parse new bytes, if there is room for requests; after the end, drop them."""
        if self.state != READING:
            self._discarded += len(data)
        elif len(data) <= _SLICE_BYTES and not self._unread and not self._waiting:
            self._feed(data)
        else:
            self._feed_slices(self._unread + data if self._unread else data)

    def go_on(self) -> None:
        """Parse received bytes that had no room before."""
        if self.state == READING:
            self._feed_slices(self._unread)

    def end(self) -> bool:
        """Note that the client sends no more. Returns whether answers are still to be written."""
        self._half_closed = True
        if self._active is not None:
            self._active.half_closed = True
        return self.state < CLOSING and self.is_busy()

    def close(self) -> None:
        """Parse no more bytes, and answer no more requests."""
        self.state = CLOSING

    def refuse(self, error: WiderowError) -> None:
        """Make `error` the last answer, after the answers that are due."""
        self._abandon_message()
        self.state = LAST
        self._unread = b""
        self.refusal = error

    def abandon(self) -> None:
        """Drop everything but the running request, whose answer comes later."""
        if self._active is not None:
            self._active.gone = True
        self._abandon_message()
        while self._waiting:
            self._admission.leave(self._waiting.popleft().size)
        self.state = CLOSING
        self._parser = _NO_PARSER  # the parser refers to methods of this object: a reference cycle
        self._unread = b""

    # --- what is asked of whoever has the socket -----------------------------------------------

    def is_busy(self) -> bool:
        """Whether a request is running or waiting, or the refusal is to be written."""
        return self._active is not None or bool(self._waiting) or self.state == LAST

    def is_held_up(self) -> bool:
        """Whether the connection must not read: there are bytes that are not parsed yet."""
        return bool(self._unread)

    def has_room(self) -> bool:
        """Whether the bytes that wait may be parsed now."""
        return len(self._waiting) < PIPELINE_DEPTH_MAX

    def is_flooded(self) -> bool:
        """Whether more bytes came after the end than may be read and dropped."""
        return self._discarded > LINGER_BYTES_MAX

    def is_closed_by_client(self) -> bool:
        """Whether the client sends no more."""
        return self._half_closed

    # --- requests out, answers in, bytes out ---------------------------------------------------

    def is_due(self) -> bool:
        """Whether a request is to be run now, or the refusal to be answered."""
        return self._active is None and (bool(self._waiting) or self.state == LAST)

    def has_next(self) -> bool:
        """Whether a request waits."""
        return bool(self._waiting)

    def next_request(self) -> Request:
        """Take the next request, which must be due; it is running until it is answered."""
        request = self._active = self._waiting.popleft()
        request.half_closed = self._half_closed
        return request

    def interim(self) -> bytes:
        """The answer 100 (Continue), where a client waits for it and no answer is due before it."""
        if self._interim:
            interim, self._interim = self._interim, b""
            return interim
        if self._continue_due and self._active is None and not self._waiting:
            self._continue_due = False
            if self.awaited != NOTHING:
                return _CONTINUE
        return b""

    def answer(self, response: Response, date_line: bytes) -> list[bytes]:
        """The bytes that answer the running request, in pieces, of which the last is the body.

        The state is `CLOSING` then if nothing may follow.
        """
        request = self._active
        assert request is not None, "a request is answered once"
        self._active = None
        self._admission.leave(request.size)
        close = not request.keep_alive or (
            (self._half_closed or self._admission.parting)
            and not self._waiting
            and self.refusal is None
            and self.awaited == NOTHING
        )
        if close:
            self.state = CLOSING
        return render(response, date_line, request, close=close)

    def answer_last(self, response: Response, date_line: bytes) -> list[bytes]:
        """The bytes of the refusal, as for `answer`. The state is `LINGERING` then."""
        self.state = LINGERING
        return render(response, date_line, None, close=True)

    # --- the parser's calls ------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """Take the first byte of a request."""
        self._await(HEAD)
        self._headers_complete = False
        self._metered = True
        self._raw_bytes = -_SLICE_BYTES  # this slice may begin with bytes of the request before
        self._header_count = 0
        self._headers: dict[str, str] = {}
        self._spellings = None
        self._repeated = ""
        self._target = b""
        self._announced = 0

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
        """Take a header that differs from that of the request before in its place."""
        if number >= HEADERS_COUNT_MAX:
            self._stop(InvalidRequest(Rule.HTTP_HEADERS_TOO_LARGE))
        spelling = self._kept.spelling(raw_name)
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
        """The headers are complete: decide whether the body is read."""
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
        self._await(BODY)
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
        """Keep a further piece. Small pieces are joined, to save the memory of objects."""
        if len(part) >= _PIECE_BYTES:
            self._pieces.append(part)
            return
        last = self._pieces[-1] if self._pieces else None
        if isinstance(last, bytearray):
            last += part
        else:
            self._pieces.append(bytearray(part))

    def on_message_complete(self) -> None:
        """Take the end of a request."""
        target = self._target
        request = Request(
            _method_of(self._parser),
            target if target.startswith(b"/") else _path_of(target),
            self._headers,
            b"".join([self._body, *self._pieces]) if self._pieces else self._body,
            self._repeated,
            self._keep_alive,
            self._clock.monotonic_ns(),
        )
        request.names = self._names
        self._forget_body()
        self._headers = _NO_HEADERS  # they belong to the request now
        self._await(NOTHING)
        self._entered = False  # the request counts what it took until it is answered
        self._metered = False
        self._announced = 0
        self._waiting.append(request)
        if not self._keep_alive:
            self.state = LAST

    # --- parsing -----------------------------------------------------------------------------

    def _feed(self, data: bytes | memoryview) -> None:
        """Parse one slice."""
        try:
            _feed_data(self._parser, data)
        except (HttpParserError, HttpParserUpgrade):
            # else these bytes follow a request that closes the connection
            if self.state == READING:
                self.refuse(self._stopped or InvalidRequest(Rule.HTTP_MALFORMED))
            return
        if self._metered:
            # These bytes are no complete head and no body: an unfinished head, trailers, chunk
            # extensions. The parser keeps them; they must be bounded.
            self._raw_bytes += len(data)
            if self._raw_bytes > HEADERS_BYTES_MAX:
                self.refuse(InvalidRequest(Rule.HTTP_HEADERS_TOO_LARGE))

    def _feed_slices(self, data: bytes) -> None:
        """Parse `data` piece by piece, and keep the rest when enough requests wait."""
        view = memoryview(data)
        offset = 0
        while offset < len(data) and self.state == READING:
            if len(self._waiting) >= PIPELINE_DEPTH_MAX:
                self._unread = data[offset:]
                return
            stop = offset + max(_SLICE_BYTES, self._announced - self._body_bytes)
            self._feed(view[offset:stop])
            offset = stop
        self._unread = b""

    def _check_framing(self, headers: dict[str, str]) -> None:
        """Refuse a body that another server could delimit differently. Raises: `_Stop`."""
        coding = headers.get("transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            self._stop(InvalidRequest(Rule.HTTP_MALFORMED))
        if _upgrades(self._parser):  # or CONNECT; the parser would not read the body
            self._stop(InvalidRequest(Rule.HTTP_MALFORMED))
        # A request that stays open without a `connection` header can only be of HTTP/1.1.
        unsure = not self._keep_alive or "connection" in headers
        if unsure and self._parser.get_http_version() not in _VERSIONS:
            self._stop(InvalidRequest(Rule.HTTP_MALFORMED))

    def _expect(self, expectation: str) -> None:
        if expectation.lower() != "100-continue":
            self._stop(InvalidRequest(Rule.HTTP_MALFORMED))
        if self._active is None and not self._waiting:
            self._interim = _CONTINUE
        else:
            self._continue_due = True

    def _repeat(self, name: str, value: bytes) -> None:
        """Note a repeated header. Of two headers with one name, only one would be signed."""
        if name in HTTP_HEADERS or name in PAGE_HEADERS:
            self._headers[name] += "," + str(value, "latin-1").strip()
        else:
            self._repeated = name

    def _await(self, what: int) -> None:
        self.awaited = what
        self.changes += 1

    def _stop(self, error: WiderowError) -> None:
        self._stopped = error
        raise _Stop

    def _abandon_message(self) -> None:
        """Give back what an incomplete request has taken."""
        if self._entered:
            self._admission.leave(self._body_bytes)
            self._entered = False
        self._await(NOTHING)
        self._metered = False
        self._forget_body()

    def _forget_body(self) -> None:
        self._body = b""
        self._body_bytes = 0
        if self._pieces:
            self._pieces = []


_SHARED_NAMES: Final[dict[tuple[str, ...], tuple[str, ...]]] = {}


def _path_of(target: bytes) -> bytes:
    """The path and query of a target that begins with scheme and host (RFC 9112).

    Clients of proxies write such, and Oracle's NoSQL driver for Java always does. Another target
    stays as it is, for dispatch to refuse.
    """
    scheme, separator, rest = target.partition(b"://")
    if not separator or scheme.lower() not in _SCHEMES:
        return target
    path = rest.find(b"/")
    return b"/" if path < 0 else rest[path:]


def _shared_names(headers: dict[str, str]) -> tuple[str, ...]:
    """The names of these headers; equal names are one object for all connections.

    The sender is not verified yet, so the number of kept names is bounded.
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
