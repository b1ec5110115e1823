"""A small client of the protocol: signs requests, verifies answers, repeats what may be repeated.

One object has one connection and belongs to one thread; threads that work together have one each.
Requests that can be repeated without harm go through `call`: reads, puts whose versions the sender
chose, deletes under a condition whose failure the caller looks into. Any other goes through
`call_once`, which never sends it twice.
"""

import json
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from threading import Event
from typing import Any, Final, Self, TypeVar

from google.protobuf.message import DecodeError

from widerow.client.failures import (
    OutcomeUnclear,
    Refused,
    RequestFailed,
    Stopped,
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
from widerow.client.signing import Signer
from widerow.system import SystemClock
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.messages import Error
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["FIRST_PATIENCE_SECONDS", "PASSING", "Client", "Endpoint", "refusal"]

PASSING: Final = frozenset(
    (
        *(c.SERVER_BUSY, c.SERVER_UNAVAILABLE, c.PARTITION_UNAVAILABLE, c.TIMEOUT),
        *(c.NOT_ENOUGH_CAPACITY_UNIT, c.CAPACITY_UNIT_EXHAUSTED, c.ROW_OPERATION_CONFLICT),
        *(c.TABLE_NOT_READY, c.INTERNAL_SERVER_ERROR, c.REQUEST_TIMEOUT),
    )
)
"""Codes of errors that pass by themselves (semantics §18)."""

TIMEOUT_SECONDS: Final = 60.0  # to wait for one answer; a server under load takes seconds
PATIENCE_SECONDS: Final = 120.0  # how long a request is repeated: a restart takes less
FIRST_PATIENCE_SECONDS: Final = 5.0
"""Patience for the first request of a command: if nobody answers, the endpoint may be wrong."""

FIRST_PAUSE_SECONDS: Final = 0.05
PAUSE_SECONDS_MAX: Final = 5.0
_SERVER_ERROR: Final = 500  # statuses from here on are faults of the server

_Message = TypeVar("_Message")


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The address of the tables, and the access key of the requests.

    `security_token` goes with a temporary key and is empty for any other.
    """

    url: str
    instance: str
    access_key_id: str
    access_key_secret: str
    security_token: str = ""

    @property
    def signer(self) -> Signer:
        """Who signs the requests."""
        return Signer(
            self.access_key_id, self.access_key_secret, self.security_token, self.instance
        )


class Client:
    """One connection to an endpoint, opened when it is needed and again when it breaks."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        stop: Event | None = None,
        patience: float = PATIENCE_SECONDS,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        """A client that is not connected yet.

        `stop` ends waits early; it is for threads of a command that the endpoint has answered
        already. Without it a refused connection is no restart before the first answer, and is not
        tried again. `patience`: seconds for which a request is repeated; `timeout`:
        for which one answer is waited for. Raises: `RequestFailed` for a URL that is none.
        """
        self._endpoint = endpoint
        self._place = server_address(endpoint.url)
        self._signer = endpoint.signer
        self._stop = stop or Event()
        self._was_answered = stop is not None
        self._patience = patience
        self._timeout = timeout
        self._clock = SystemClock()
        self._connection: HTTPConnection | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. Idempotent; the next call opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @property
    def instance(self) -> str:
        """The instance whose tables are worked on."""
        return self._endpoint.instance

    def no_table(self, name: str) -> str:
        """The message for a table that does not exist: its name, the instance, the endpoint."""
        return f"there is no table {name} in the instance {self.instance} at {self._endpoint.url}"

    def call(self, action: str, message: Any, answer: type[_Message]) -> _Message:  # noqa: ANN401  # messages have no common type
        """Send `message` and return the answer, repeated with growing pauses while errors pass.

        Raises: `Refused`; `Unreachable`; `Stopped`; `RequestFailed` for an answer that the
        endpoint did not sign.
        """
        body = message.SerializeToString()
        parse: Any = answer
        return parse.FromString(self._persist(action, body))  # type: ignore[no-any-return]  # messages have no common type

    def call_once(self, action: str, message: Any, answer: type[_Message]) -> _Message:  # noqa: ANN401  # messages have no common type
        """Send `message` one time, on a new connection, and return the answer.

        For requests that do more when they are repeated. Raises: `Refused`, also with errors that
        pass; `Unreachable` where nothing could be sent; `OutcomeUnclear`; `RequestFailed`.
        """
        body = message.SerializeToString()
        self.close()  # an old connection may be dead, and that shows only once it is used
        try:
            self._connect().connect()
        except OSError as error:
            self.close()
            raise Unreachable(no_answer_words(self._endpoint.url, error)) from error
        try:
            data = self._ask(action, body)
        except NO_ANSWER as error:
            self.close()
            raise OutcomeUnclear(
                f"{self._endpoint.url} did not answer ({type(error).__name__} {error}); whether "
                f"the {action} took effect is not known: look, then repeat it if it did not"
            ) from error
        parse: Any = answer
        return parse.FromString(data)  # type: ignore[no-any-return]  # messages have no common type

    def pause(self, attempt: int, began_ns: int, error: Exception) -> None:
        """Wait before attempt `attempt + 1` of something begun at `began_ns` (monotonic).

        Raises: `Stopped`, and `Unreachable` from `error` once patience is at an end.
        """
        if self._clock.monotonic_ns() - began_ns > self._patience * 1e9:
            raise Unreachable(
                f"{self._endpoint.url} does not answer as it should for {self._patience:.0f} s; "
                f"is it the --endpoint? The last try: {error}"
            ) from error
        if self._stop.wait(min(PAUSE_SECONDS_MAX, FIRST_PAUSE_SECONDS * 2 ** min(attempt, 10))):
            raise Stopped("stopped by another thread") from error

    def now_ns(self) -> int:
        """The monotonic time that `pause` counts from."""
        return self._clock.monotonic_ns()

    def _persist(self, action: str, body: bytes) -> bytes:
        began, attempt = self.now_ns(), 0
        while True:
            try:
                return self._ask(action, body)
            except Refused as error:
                if error.code not in PASSING:
                    raise
                self.pause(attempt, began, error)
            except NO_ANSWER as error:
                self.close()
                if isinstance(error, ConnectionRefusedError) and not self._was_answered:
                    raise Unreachable(no_answer_words(self._endpoint.url, error)) from error
                self.pause(attempt, began, error)
            attempt += 1

    def _ask(self, action: str, body: bytes) -> bytes:
        path = f"/{action}"
        headers = self._signer.sign(path, body, self._clock.now_us())
        answer = ask_over(self._connect(), HttpRequest(path, "POST", headers, body))
        self._was_answered = True
        if answer.status != OK:
            raise refusal(answer)
        if not self._signer.has_signed(path, answer.headers, answer.body):
            raise RequestFailed(
                f"the answer of {self._endpoint.url} is not signed with the secret of "
                f"{self._endpoint.access_key_id}; is it the endpoint that you mean?"
            )
        return answer.body

    def _connect(self) -> HTTPConnection:
        if self._connection is None:
            self._connection = new_connection(self._place, self._timeout)
        return self._connection


def refusal(answer: HttpAnswer) -> RequestFailed | HTTPException:
    """The exception for an answer whose status is not 200.

    `Refused` where the server says why; an `HTTPException`, which may pass, where a proxy before
    the server failed; else `RequestFailed`.
    """
    try:
        code, message = _told(answer)
    except (DecodeError, ValueError):
        if answer.status >= _SERVER_ERROR:
            return HTTPException(f"HTTP status {answer.status}")
        return RequestFailed(f"HTTP status {answer.status}; does the endpoint speak Tablestore?")
    hint = answer.headers.get("x-widerow-hint", "")
    request_id = answer.headers.get("x-ots-requestid", "")
    return Refused(code, message, hint, request_id)


def _told(answer: HttpAnswer) -> tuple[str, str]:
    """Code and message of an error. Raises `DecodeError` or `ValueError` where there are none."""
    if answer.headers.get("content-type", "").startswith("application/json"):
        found = json.loads(answer.body)
        if not isinstance(found, dict) or "code" not in found:
            raise ValueError("no error in JSON")
        return str(found["code"]), str(found.get("message", ""))
    told = Error.FromString(answer.body)
    return text(told.code), text(told.message)
