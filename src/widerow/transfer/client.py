"""A small client of the protocol: signs requests, verifies answers, repeats what may be repeated.

One object has one connection and belongs to one thread; threads that work together have one each.
Requests that can be repeated without harm go through `call`: reads, puts whose versions the sender
chose, deletes under a condition whose failure the caller looks into. Any other goes through
`call_once`, which never sends it twice.
"""

import hmac
import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any, Final, Self, TypeVar
from urllib.parse import SplitResult, urlsplit

from google.protobuf.message import DecodeError

from widerow.auth.outgoing import content_digest, sign_outgoing
from widerow.auth.signing import Mac, canonical_response
from widerow.errors import WiderowError
from widerow.server.system import SystemClock
from widerow.wire.tablestore.messages import Error
from widerow.wire.tablestore.operations.bodies import text

__all__ = [
    "FIRST_PATIENCE_SECONDS",
    "PASSING",
    "Client",
    "Endpoint",
    "OutcomeUnclear",
    "Refused",
    "Stopped",
    "TransferFailed",
    "Unreachable",
]

PASSING: Final = frozenset(
    (
        *("OTSServerBusy", "OTSServerUnavailable", "OTSPartitionUnavailable", "OTSTimeout"),
        *("OTSNotEnoughCapacityUnit", "OTSCapacityUnitExhausted", "OTSRowOperationConflict"),
        *("OTSTableNotReady", "OTSInternalServerError", "OTSRequestTimeout"),
    )
)
"""Codes of errors that pass by themselves (semantics §18)."""

TIMEOUT_SECONDS: Final = 60.0  # to wait for one answer; a server under load takes seconds
PATIENCE_SECONDS: Final = 120.0  # how long a request is repeated: a restart takes less
FIRST_PATIENCE_SECONDS: Final = 5.0
"""Patience for the first request of a command: if nobody answers, the endpoint may be wrong."""

FIRST_PAUSE_SECONDS: Final = 0.05
PAUSE_SECONDS_MAX: Final = 5.0

_Message = TypeVar("_Message")


class TransferFailed(WiderowError):
    """Nothing more can be transferred; the message says why and what to do."""


class Unreachable(TransferFailed):
    """There was no answer, or only errors that pass, for `PATIENCE_SECONDS`."""


class Stopped(TransferFailed):
    """Another thread ended the work while this one waited."""


class OutcomeUnclear(TransferFailed):
    """A request was sent once and not answered: nobody here knows whether it took effect."""


class Refused(TransferFailed):
    """The server's answer is an error that repeating does not help.

    `code` and `message` are the vendor's; `hint` is widerow's, and empty from other servers.
    `request_id` names the request in the server's log; it is empty for the error of one row.
    """

    def __init__(self, code: str, message: str, hint: str = "", request_id: str = "") -> None:
        """The error of an answer."""
        super().__init__(f"{code}: {message}" + (f" ({hint})" if hint else ""))
        self.code = code
        self.message = message
        self.hint = hint
        self.request_id = request_id


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
    def place(self) -> SplitResult:
        """Host and port of the address. Raises: `TransferFailed` for text that is no address."""
        place = urlsplit(self.url)
        if place.scheme not in {"http", "https"} or not place.hostname or place.path.strip("/"):
            raise TransferFailed(f"{self.url} is no endpoint; give http://HOST:PORT")
        return place


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

        `stop` ends waits early. `patience`: seconds for which a request is repeated; `timeout`:
        for which one answer is waited for.
        """
        self._endpoint = endpoint
        self._place = endpoint.place
        self._mac = Mac(endpoint.access_key_secret.encode(), "sha1")
        self._stop = stop or Event()
        self._patience = patience
        self._timeout = timeout
        self._clock = SystemClock()
        self._connection: http.client.HTTPConnection | None = None

    def __enter__(self) -> Self:
        """This client."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the connection."""
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

        Raises: `Refused`; `Unreachable`; `Stopped`; `TransferFailed` for an answer that the
        endpoint did not sign.
        """
        body = message.SerializeToString()
        parse: Any = answer
        return parse.FromString(self._persist(action, body))  # type: ignore[no-any-return]  # messages have no common type

    def call_once(self, action: str, message: Any, answer: type[_Message]) -> _Message:  # noqa: ANN401  # messages have no common type
        """Send `message` one time, on a new connection, and return the answer.

        For requests that do more when they are repeated. Raises: `Refused`, also with errors that
        pass; `Unreachable` where nothing could be sent; `OutcomeUnclear`; `TransferFailed`.
        """
        body = message.SerializeToString()
        self.close()  # an old connection may be dead, and that shows only once it is used
        try:
            self._connect().connect()
        except OSError as error:
            self.close()
            raise Unreachable(
                f"nobody answers at {self._endpoint.url} ({error}); is it the --endpoint?"
            ) from error
        try:
            data = self._ask(action, body)
        except (OSError, http.client.HTTPException) as error:
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
            except (OSError, http.client.HTTPException) as error:
                self.close()
                self.pause(attempt, began, error)
            attempt += 1

    def _ask(self, action: str, body: bytes) -> bytes:
        path = f"/{action}"
        connection = self._connect()
        connection.request("POST", path, body, self._headers(path, body))
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        data = answer.read()
        if answer.status != http.client.OK:
            raise _refusal(answer.status, headers, data)
        self._verify(path, headers, data)
        return data

    def _connect(self) -> http.client.HTTPConnection:
        if self._connection is None:
            kind = (
                http.client.HTTPSConnection
                if self._place.scheme == "https"
                else http.client.HTTPConnection
            )
            host = self._place.hostname
            assert host is not None, "an endpoint has a host"
            self._connection = kind(host, self._place.port, timeout=self._timeout)
        return self._connection

    def _headers(self, path: str, body: bytes) -> dict[str, str]:
        """The headers of a request and their V2 signature (wire §1.2, §1.3)."""
        who = {
            "x-ots-accesskeyid": self._endpoint.access_key_id,
            "x-ots-instancename": self._endpoint.instance,
        }
        if self._endpoint.security_token:
            who["x-ots-ststoken"] = self._endpoint.security_token
        return sign_outgoing(path, body, self._mac, self._clock.now_us(), who)

    def _verify(self, path: str, headers: Mapping[str, str], data: bytes) -> None:
        """Check the digest and the signature of an answer (wire §1.5)."""
        shown = sorted(each for each in headers.items() if each[0].startswith("x-ots-"))
        signature = self._mac.sign(canonical_response(path, shown)).decode()
        expected = f"OTS {self._endpoint.access_key_id}:{signature}"
        if not (
            hmac.compare_digest(headers.get("authorization", ""), expected)
            and hmac.compare_digest(headers.get("x-ots-contentmd5", ""), content_digest(data))
        ):
            raise TransferFailed(
                f"the answer of {self._endpoint.url} is not signed with the secret of "
                f"{self._endpoint.access_key_id}; is it the endpoint that you mean?"
            )


def _refusal(status: int, headers: Mapping[str, str], data: bytes) -> Exception:
    try:
        told = Error.FromString(data)
    except DecodeError:
        if status >= http.client.INTERNAL_SERVER_ERROR:
            # A proxy answered; its error may pass.
            return http.client.HTTPException(f"HTTP status {status}")
        return TransferFailed(f"HTTP status {status}; does the endpoint speak Tablestore?")
    hint, request_id = headers.get("x-widerow-hint", ""), headers.get("x-ots-requestid", "")
    return Refused(text(told.code), text(told.message), hint, request_id)
