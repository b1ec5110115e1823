"""A connection to a server that speaks Oracle NoSQL's protocol (nosql-wire §1, §3).

One object has one connection, or several for requests that are sent together, and belongs to one
thread. An operation that only reads is sent again when a kept connection turns out to be dead; any
other is sent once, and what became of it is told.
"""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from http.client import HTTPConnection
from threading import Event
from typing import Any, Final, NamedTuple, Self

from widerow.client.failures import (
    OutcomeUnclear,
    Refused,
    RequestFailed,
    Unreachable,
    no_answer_words,
)
from widerow.client.http import (
    NO_ANSWER,
    OK,
    HttpAnswer,
    HttpRequest,
    ask_over,
    new_connection,
    server_address,
)
from widerow.client.pool import ConnectionPool
from widerow.errors import InvalidRequest
from widerow.system import SystemClock
from widerow.wire.nosql.faults import OPERATION_LIMIT, UNAVAILABLE
from widerow.wire.nosql.requests import DATA_PATH, answer_of, request_frame

__all__ = ["NosqlAsked", "NosqlConnection", "bearer_of"]

_TIMEOUT_SECONDS: Final = 60.0  # to wait for one answer; a statement takes seconds
_PATIENCE_SECONDS: Final = 30.0  # how long a request is repeated that the server was too busy for
_IDLE_SECONDS_MAX: Final = 2.0  # a connection kept for longer may be dead; writes take a new one
_PAUSES: Final = (0.05, 0.1, 0.2, 0.5, 1.0)  # seconds between two tries; the last for all others
_BUSY: Final = frozenset((OPERATION_LIMIT, UNAVAILABLE))  # nothing was done


class NosqlAsked(NamedTuple):
    """A request: an operation code, its payload, and the table of its header."""

    code: int
    payload: Mapping[str, Any]
    table: str = ""


def bearer_of(identity: str, secret: str) -> str:
    """The token of an access key; that of an API key is the key itself (nosql-wire §1)."""
    return f"{identity}:{secret}"


class _Tries:
    """How often a request is sent that the server is too busy for."""

    def __init__(self, clock: SystemClock) -> None:
        self._clock = clock
        self._end_ns = clock.monotonic_ns() + int(_PATIENCE_SECONDS * 1e9)
        self._pauses = itertools.chain(_PAUSES, itertools.repeat(_PAUSES[-1]))

    def pause(self, answer: Mapping[str, Any]) -> float | None:
        """The seconds until the next try; None: there is none. Raises `Refused`."""
        refused = answer.get("e", 0)
        if not refused:
            return None
        if refused not in _BUSY or self._clock.monotonic_ns() > self._end_ns:
            raise Refused(str(refused), str(answer.get("x", "")))
        return next(self._pauses)


class NosqlConnection:
    """One connection to an endpoint, opened when it is needed and again when it breaks."""

    def __init__(self, url: str, token: str) -> None:
        """Connect to nobody yet.

        `token`: who asks (`bearer_of`). Raises `RequestFailed` for a URL that is none.
        """
        self.url = url
        self._place = server_address(url)
        self._token = token
        self._clock = SystemClock()
        self._numbers = itertools.count(1)
        self._kept: HTTPConnection | None = None
        self._runner: asyncio.Runner | None = None
        self._pool: ConnectionPool | None = None
        self._used_ns = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. Idempotent; the next request opens another."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None
        if self._pool is not None:
            self._pool.close()
            self._pool = None
        if self._runner is not None:
            self._runner.close()
            self._runner = None

    def ask(
        self, code: int, payload: Mapping[str, Any], table: str = "", *, reads: bool = False
    ) -> dict[str, Any]:
        """The answer to an operation; `reads`: it changes nothing, and may be sent twice.

        Raises: `Refused`, whose code is the protocol's number as a text; `Unreachable`;
        `OutcomeUnclear` for what was sent and not answered; `RequestFailed`.
        """
        body = request_frame(code, payload, table, int(_TIMEOUT_SECONDS * 1000))
        tries = _Tries(self._clock)
        while True:
            answer = self._asked(body, reads=reads)
            pause = tries.pause(answer)
            if pause is None:
                return answer
            Event().wait(pause)

    def ask_together(self, asked: Sequence[NosqlAsked]) -> list[dict[str, Any] | RequestFailed]:
        """The answers to requests that are sent at once, each over a connection of its own.

        Each is sent once, and again while the server is too busy for it. In place of an answer
        stands the error that `ask` would raise.
        """
        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(self._together(asked))

    async def _together(self, asked: Sequence[NosqlAsked]) -> list[dict[str, Any] | RequestFailed]:
        if self._pool is None:
            self._pool = ConnectionPool(self.url, self._clock, seconds=_TIMEOUT_SECONDS)
        pool = self._pool
        return await asyncio.gather(*(self._patiently(pool, each) for each in asked))

    async def _patiently(
        self, pool: ConnectionPool, asked: NosqlAsked
    ) -> dict[str, Any] | RequestFailed:
        body = request_frame(asked.code, asked.payload, asked.table, int(_TIMEOUT_SECONDS * 1000))
        tries = _Tries(self._clock)
        while True:
            try:
                sent = await pool.ask(DATA_PATH, self._headers().items(), body)
            except RequestFailed as error:
                return OutcomeUnclear(
                    f"{error}: look whether it took effect, and repeat it if it did not"
                )
            try:
                answer = self._read(sent)
                pause = tries.pause(answer)
            except RequestFailed as error:
                return error
            if pause is None:
                return answer
            await asyncio.sleep(pause)

    def _asked(self, body: bytes, *, reads: bool) -> dict[str, Any]:
        if self._clock.monotonic_ns() - self._used_ns > _IDLE_SECONDS_MAX * 1e9:
            self.close()
        was_kept = self._kept is not None
        try:
            connection = self._connected()
            return self._exchanged(connection, body)
        except NO_ANSWER as error:
            self.close()
            if reads and was_kept and not isinstance(error, TimeoutError):
                return self._asked(body, reads=True)
            if reads:
                raise Unreachable(no_answer_words(self.url, error)) from error
            raise OutcomeUnclear(
                f"{self.url} did not answer ({type(error).__name__} {error}); whether it took "
                "effect is not known: look, then repeat it if it did not"
            ) from error
        except BaseException:
            self.close()  # an answer may be on its way
            raise

    def _connected(self) -> HTTPConnection:
        """The connection. Raises `Unreachable` where there can be none, so that nothing is sent."""
        if self._kept is None:
            made = new_connection(self._place, _TIMEOUT_SECONDS)
            try:
                made.connect()
            except OSError as error:
                raise Unreachable(no_answer_words(self.url, error)) from error
            self._kept = made
        return self._kept

    def _exchanged(self, connection: HTTPConnection, body: bytes) -> dict[str, Any]:
        answer = ask_over(connection, HttpRequest(DATA_PATH, "POST", self._headers(), body))
        self._used_ns = self._clock.monotonic_ns()
        return self._read(answer)

    def _headers(self) -> dict[str, str]:
        return {
            "authorization": f"Bearer {self._token}",
            "content-type": "application/octet-stream",
            "accept": "application/octet-stream",
            "x-nosql-request-id": str(next(self._numbers)),
        }

    def _read(self, answer: HttpAnswer) -> dict[str, Any]:
        """The members of an answer. Raises: `RequestFailed` for what is none."""
        told = f"{self.url} answers with the status {answer.status}"
        if answer.status != OK:
            raise RequestFailed(f"{told}; does it speak the protocol of Oracle NoSQL?")
        try:
            return answer_of(answer.body)
        except InvalidRequest as error:
            raise RequestFailed(f"{told} and bytes that are not an answer: {error}") from error
