"""One HTTP/1.1 connection: bytes in, requests in order, answers in the same order.

Rules:

1.  Requests of one connection take effect one after another, in the order they were sent. What is
    pipelined behind the running one waits parsed, at most about `PIPELINE_DEPTH_MAX` deep; beyond
    that the rest stays unread, here and then in the kernel.
2.  The cost of a client that is not verified yet is bounded: the bytes and the number of its
    headers, the bytes of its body (by the announced length before the first byte, and by the bytes
    that arrive), the time for either, and the bytes of all bodies together (`admission.py`).
3.  A request that breaks HTTP's own rules, or a bound, is answered with an error after the answers
    to the requests before it, and all later bytes of the connection are ignored. The connection
    then lingers: its sending half is closed, and bytes that still arrive are thrown away for a
    moment, because closing at once would reset the connection and the answer would be lost.
4.  While an answer waits for a slow reader, no further request of the connection is run. All such
    answers together have a bound too: beyond it, the connection that has waited longest is closed.
    A long answer is written in parts, each in a turn of the loop, so that others are served between
    them; the client has one time for all of them.
5.  A body is read by its framing: trailers and chunk extensions are dropped; an `Upgrade` or a
    transfer coding other than chunked is refused.

`http1.py`, which knows no socket, decides what the bytes mean and which bytes follow. This module
does the work that needs a socket, the loop or the time: it pauses and resumes reading, runs the
requests in their order, keeps deadlines, holds answers that wait for a slow reader, and closes.
"""

import asyncio
import math
from typing import Final

from widerow.errors import InvalidRequest, Rule, WiderowError
from widerow.limits import (
    EXCESS_SECONDS_MAX,
    JOINED_BYTES_MAX,
    STRANGER_SECONDS,
    TURN_REQUESTS_MAX,
    WRITTEN_BYTES_MAX,
)
from widerow.server.http1 import BODY, CLOSING, HEAD, NOTHING, READING, Http1
from widerow.server.message import Response
from widerow.server.shared import Shared

__all__ = ["Connection"]

_NEVER: Final = math.inf
_OK: Final = 200
_PAGE: Final = b"GET /"  # how a request for a page begins


class Connection:
    """One client's connection, from accept to close. Lives on the loop's thread.

    Has the methods of an `asyncio.Protocol`, and is none: a compiled class cannot inherit from it.
    """

    __slots__ = (
        "_admission",
        "_blocked",
        "_changes",
        "_counted",
        "_excess",
        "_http",
        "_is_post",
        "_last",
        "_later",
        "_pump_due",
        "_reading",
        "_send_due",
        "_shared",
        "_transport",
        "_write_paused",
        "deadline",
        "since",
        "unsent",
    )

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._admission = shared.admission
        self._http = Http1(shared.admission, shared.clock, shared.headers)
        self._changes = 0  # `Http1.changes` when the deadline was set
        self._last: Response | None = None  # the refusal, once the connection has one
        self._transport: asyncio.Transport | None = None
        self._reading = True
        self._later: memoryview | None = None  # the part of an answer that is not written yet
        self._blocked = False  # by a client that reads slower than the transport writes
        self._write_paused = False  # blocked, or with a part of an answer for later
        self._send_due = False
        self._pump_due = False
        self._counted = True  # among the connections that the bound is for
        self._excess = False  # above that bound, so that only a page is answered
        self._is_post = False  # the running request, while the connection is a stranger's
        self.deadline = _NEVER
        self.since = shared.now
        self.unsent = 0

    # --- the transport's calls ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to read, or refuse the connection if there are too many.

        Above the bound the oldest stranger goes. Where there is none, the connection may ask for
        one page (probes have to be answered by a server that is busy), and is refused otherwise.
        """
        shared = self._shared
        self._transport = transport  # type: ignore[assignment]  # uvloop's transport is no subclass
        shared.connections.add(self)
        self.since = shared.now
        self.deadline = shared.now + shared.timeouts.headers
        try:
            self._admission.connect()
        except WiderowError as error:
            self._refuse(error)
            return
        if self._admission.is_crowded() and not shared.evict_stranger(STRANGER_SECONDS):
            self._excess = True
            self.deadline = shared.now + EXCESS_SECONDS_MAX
            if self._admission.is_overcrowded() and not shared.evict_stranger(0):
                self.evict()
                return
        shared.strangers[self] = None

    def data_received(self, data: bytes) -> None:
        """Parse new bytes, and run the requests that can run."""
        http = self._http
        if self._excess and self._is_silent() and data[: len(_PAGE)] != _PAGE[: len(data)]:
            self._refuse_excess()
        if http.state != READING:
            http.receive(data)
            if http.is_flooded() and self._transport is not None:
                self._transport.abort()
            return
        http.receive(data)
        self._look()
        if http.is_due():
            self._advance()

    def eof_received(self) -> bool:
        """The client sends no more. Keep our half open while there are answers to write."""
        return self._http.end() or self._later is not None

    def connection_lost(self, exc: Exception | None) -> None:
        """Drop everything but the running request, whose `reply` comes later."""
        del exc  # the reason does not matter
        self._shared.connections.discard(self)
        self._settle()
        self._leave()
        self._http.abandon()
        self._later = None
        self._transport = None
        self.deadline = _NEVER

    def pause_writing(self) -> None:
        """The client reads slowly: run none of its requests until it has caught up."""
        self._blocked = True
        self._hold_answers()
        if self._transport is not None:
            later = 0 if self._later is None else len(self._later)
            self.unsent = self._transport.get_write_buffer_size() + later
            if not self._admission.owe(self.unsent):
                self._shared.relieve()

    def resume_writing(self) -> None:
        """The client has caught up: go on."""
        self._blocked = False
        self._settle()
        if self._later is None:
            self._go_on_answering()
        else:
            self._send_soon()

    # --- the listener's calls ----------------------------------------------------------------

    def expire(self) -> None:
        """Refuse the request that is under way, if there is one, and end the connection."""
        if self._transport is None:
            return
        if self._http.state != READING or self._write_paused:
            self._transport.abort()
        elif self._http.awaited != NOTHING:
            self._refuse(InvalidRequest(Rule.BODY_TIMEOUT))
        elif self._excess and self._is_silent():
            self._refuse_excess()
        else:
            self._close()

    def close_if_idle(self) -> None:
        """End the connection unless it has a request in hand (the server is stopping)."""
        if self._later is None and not self._http.is_busy() and self._http.awaited == NOTHING:
            self._close()

    def is_flushed(self) -> bool:
        """Whether no part of an answer waits in this object."""
        if self._transport is None:
            return True
        return self._later is None and self._transport.get_write_buffer_size() == 0

    def abort(self) -> None:
        """End the connection now, whatever it holds."""
        self._settle()
        if self._transport is not None:
            self._transport.abort()

    def is_running(self) -> bool:
        """Whether a request is in hand."""
        return self._http.is_busy()

    def _is_silent(self) -> bool:
        """Whether no request has begun, or is in hand."""
        http = self._http
        return http.state == READING and http.awaited == NOTHING and not http.is_busy()

    def evict(self) -> None:
        """End the connection now, for lack of room; it is counted no more."""
        self._admission.refused += 1
        self._leave()
        self.abort()

    def _leave(self) -> None:
        """Be counted no more."""
        self._shared.strangers.pop(self, None)
        if self._counted:
            self._counted = False
            self._admission.disconnect()

    # --- reading -----------------------------------------------------------------------------

    def _look(self) -> None:
        """Apply what new bytes change: the deadline, the last answer, the pause of reading."""
        http = self._http
        if http.changes != self._changes:
            self._changes = http.changes
            self.deadline = self._owed(http.awaited)
        if http.refusal is not None and self._last is None:
            self._last = self._shared.handler.refuse(http.refusal)
        if http.is_held_up():
            self._hold_input()
        self._send_interim()

    def _owed(self, awaited: int) -> float:
        """The deadline for the part of a request that is awaited."""
        shared = self._shared
        if awaited == HEAD:
            return shared.now + shared.timeouts.headers
        return shared.now + shared.timeouts.body if awaited == BODY else _NEVER

    def _refuse(self, error: WiderowError) -> None:
        """Make `error` the connection's last answer, after the answers that are due."""
        self._http.refuse(error)
        self._look()
        self._advance()

    def _refuse_excess(self) -> None:
        """Refuse a connection above the bound."""
        self._excess = False
        try:
            self._admission.refuse_connection()
        except WiderowError as error:
            self._refuse(error)

    def _hold_input(self) -> None:
        if self._reading and self._transport is not None:
            self._transport.pause_reading()
            self._reading = False

    def _go_on_later(self) -> None:
        """Go on in another turn of the loop, so that other connections have theirs."""
        if not self._pump_due:
            self._pump_due = True
            self._shared.loop.call_soon(self._pump)

    def _pump(self) -> None:
        """Parse the bytes that wait, and run the requests that wait."""
        self._pump_due = False
        if not self._write_paused:
            self._http.go_on()
            self._look()
        self._advance()

    def _resume_input(self) -> None:
        """Read on after a pause, when there is room again."""
        if self._write_paused or self._transport is None or self._pump_due:
            return
        if self._http.is_held_up():
            if self._http.has_room():
                self._go_on_later()
            return
        self._reading = True
        self._transport.resume_reading()
        if self._http.awaited != NOTHING:
            self.deadline = self._shared.now + self._shared.timeouts.body

    # --- answering ---------------------------------------------------------------------------

    def _advance(self) -> None:
        """Run waiting requests for as long as they are answered at once and read by the client.

        After `TURN_REQUESTS_MAX` requests, other connections have their turn: a long pipeline must
        not block the loop.
        """
        http = self._http
        turn = TURN_REQUESTS_MAX
        while http.is_due() and not self._write_paused and http.state != CLOSING:
            if turn == 0:
                self._go_on_later()
                return
            turn -= 1
            last = self._last
            if last is not None and not http.has_next():
                self._write(http.answer_last(last, self._shared.date_line))
                self._linger()
                return
            request = http.next_request()
            self._is_post = request.method == b"POST"
            if self._excess:
                request.keep_alive = False
            response = self._shared.handler.handle(request, self._reply)
            if response is not None:
                self._finish(response)
        self._send_interim()
        if not self._reading:
            self._resume_input()

    def _reply(self, response: Response) -> None:
        """Take the answer of the running request, which was not answered at once."""
        self._finish(response)
        self._advance()

    def _finish(self, response: Response) -> None:
        http = self._http
        if self._is_post and response.status == _OK:
            self._is_post = False
            self._shared.strangers.pop(self, None)
        pieces = http.answer(response, self._shared.date_line)
        if self._transport is None:
            return
        self._write(pieces)
        if self._later is not None:
            return
        if http.state == CLOSING:
            self._close()
        elif not self._write_paused:
            self._rest()

    def _write(self, pieces: list[bytes]) -> None:
        """Write an answer; of a long one only the first part, the others in later turns.

        The system copies what it is given in one call, and the loop waits for that.
        """
        if self._transport is None:
            return
        body = pieces[-1]
        if len(body) <= JOINED_BYTES_MAX:
            self._transport.write(b"".join(pieces))
        elif len(body) <= WRITTEN_BYTES_MAX:
            pieces.pop()
            self._transport.writelines((b"".join(pieces), body))
        else:
            pieces.pop()
            self._later = memoryview(body)
            self._hold_answers()
            self._transport.write(b"".join(pieces))
            self._send_soon()

    def _hold_answers(self) -> None:
        """Run no request until the pending output is written; the deadline is the client's."""
        if not self._write_paused:
            self._write_paused = True
            self.deadline = self._shared.now + self._shared.timeouts.body
            self._hold_input()

    def _send_soon(self) -> None:
        if not self._send_due:
            self._send_due = True
            self._shared.loop.call_soon(self._send_part)

    def _send_part(self) -> None:
        """Write the next part of a long answer, unless the client reads too slowly for it."""
        self._send_due = False
        later = self._later
        if later is None or self._transport is None or self._blocked:
            return
        if len(later) > WRITTEN_BYTES_MAX:
            self._later = later[WRITTEN_BYTES_MAX:]
            self._transport.write(later[:WRITTEN_BYTES_MAX])
            self._send_soon()
            return
        self._later = None
        self._transport.write(later)
        if not self._blocked:
            self._go_on_answering()

    def _go_on_answering(self) -> None:
        """All output is written: go on with the next request, or close after the last answer."""
        self._write_paused = False
        http = self._http
        no_more = http.is_closed_by_client() or self._admission.parting
        idle = not http.is_busy() and http.awaited == NOTHING
        if http.state == CLOSING or (no_more and idle):
            self._close()
            return
        self._rest()
        self._advance()

    def _send_interim(self) -> None:
        interim = self._http.interim()
        if interim and self._transport is not None:
            self._transport.write(interim)

    def _settle(self) -> None:
        """Take the unsent bytes off the sum of waiting answers."""
        self._admission.settle(self.unsent)
        self.unsent = 0

    def _rest(self) -> None:
        """Set the deadline for the client's next request, if no part of one is awaited."""
        if self._http.awaited == NOTHING:
            self.deadline = self._shared.now + self._shared.timeouts.idle

    def _close(self) -> None:
        """Close once all output is written; a client that never reads it is cut off."""
        self._http.close()
        self.deadline = self._shared.now + self._shared.timeouts.body
        if self._transport is not None:
            self._transport.close()

    def _linger(self) -> None:
        """Close the sending half, and wait a moment for the client to close its own."""
        self.deadline = self._shared.now + self._shared.timeouts.linger
        transport = self._transport
        if transport is None:
            return
        if self._http.is_closed_by_client() or not transport.can_write_eof():
            transport.close()
            return
        transport.write_eof()
        if not self._reading:
            self._reading = True
            transport.resume_reading()
