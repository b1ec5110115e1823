"""Signed requests, and a connection that sends them byte by byte.

For requests that no SDK would send: wrong in one place only, half a request, two at once. `Sender`
signs as the protocol's clients do (wire §1.2, §1.3), `Wire` is a socket.
"""

import hmac
import re
import socket
from base64 import b64encode
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import md5
from typing import Final, NamedTuple, Self
from urllib.parse import urlencode, urlsplit

from widerow.auth.signing import SIGNATURE_V2, Mac, canonical_request, canonical_response
from widerow.system import SystemClock
from widerow.wire.tablestore.messages import Error
from widerow.wire.tablestore.operations.bodies import text

__all__ = [
    "Answer",
    "Sender",
    "Wire",
    "assert_healthy",
    "assert_refused",
    "cookie_in",
    "digest",
    "encode_request",
    "send_form",
    "token_in",
]

TIMEOUT_SECONDS: Final = 10.0  # a server without an answer for so long hangs
_READ_BYTES: Final = 65536
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_REQUEST_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_BODILESS: Final = frozenset((100, 204, 304))


def digest(body: bytes) -> str:
    """The value of `x-ots-contentmd5` for `body`."""
    return b64encode(md5(body, usedforsecurity=False).digest()).decode()


def encode_request(path: str, headers: Mapping[str, str], body: bytes = b"") -> bytes:
    """A POST as bytes; Content-Length is added unless `headers` give the body's length."""
    lines = [f"POST {path} HTTP/1.1", "host: 127.0.0.1"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if not {"content-length", "transfer-encoding"} & headers.keys():
        lines.append(f"content-length: {len(body)}")
    return "\r\n".join((*lines, "", "")).encode() + body


class Answer(NamedTuple):
    """One HTTP answer; the names of its headers are in lower case."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def error(self) -> tuple[int, str, str]:
        """Status, code and message. Raises `DecodeError` if the body is no Error (wire §1.6)."""
        told = Error.FromString(self.body)
        return self.status, text(told.code), text(told.message)


@dataclass(frozen=True, slots=True)
class Sender:
    """Someone who signs with one access key, for one instance."""

    access_key_id: str = "widerow"
    access_key_secret: str = "widerow"  # the default pair, which is not a secret
    instance: str = "inst"

    def headers(
        self, body: bytes = b"", *, late_seconds: float = 0, **changes: str
    ) -> dict[str, str]:
        """The headers of a request, not yet signed.

        `late_seconds` is added to the time of day. `changes` replace values of `x-ots-*` headers,
        named without the prefix; an empty value takes the header out.
        """
        date = _EPOCH + timedelta(microseconds=SystemClock().now_us(), seconds=late_seconds)
        values = {
            "date": f"{date:%Y-%m-%dT%H:%M:%S.000Z}",
            "apiversion": "2015-12-31",
            "accesskeyid": self.access_key_id,
            "instancename": self.instance,
            "contentmd5": digest(body),
        } | {name.replace("_", "-"): value for name, value in changes.items()}
        return {f"x-ots-{name}": value for name, value in values.items() if value}

    def sign(self, action: str, headers: Mapping[str, str]) -> dict[str, str]:
        """`headers` and their V2 signature for `action`."""
        mac = Mac(self.access_key_secret.encode(), "sha1")
        signature = mac.sign(canonical_request(f"/{action}", headers)).decode()
        return {**headers, SIGNATURE_V2: signature}

    def request(
        self, action: str, body: bytes = b"", *, late_seconds: float = 0, **changes: str
    ) -> bytes:
        """A whole signed request; see `headers`."""
        headers = self.headers(body, late_seconds=late_seconds, **changes)
        return encode_request(f"/{action}", self.sign(action, headers), body)

    def ask(self, wire: "Wire", action: str, body: bytes) -> Answer:
        """The answer to a request over a connection."""
        return wire.ask(self.request(action, body))

    def granted(self, wire: "Wire", action: str, body: bytes) -> bytes:
        """The body of an answer to a request that is not to be refused."""
        answer = self.ask(wire, action, body)
        assert answer.status == 200, (action, answer.error)
        return answer.body

    def signed(self, action: str, answer: Answer) -> bool:
        """Whether `answer` to `action` carries this sender's signature (wire §1.5)."""
        shown = sorted(each for each in answer.headers.items() if each[0].startswith("x-ots-"))
        mac = Mac(self.access_key_secret.encode(), "sha1")
        signature = mac.sign(canonical_response(f"/{action}", shown)).decode()
        return answer.headers.get("authorization") == f"OTS {self.access_key_id}:{signature}"


class Wire:
    """One connection. A wait longer than its timeout raises `TimeoutError`."""

    def __init__(self, endpoint: str, timeout: float = TIMEOUT_SECONDS) -> None:
        """Connect to `http://host:port`."""
        place = urlsplit(endpoint)
        assert place.hostname is not None
        assert place.port is not None
        self.socket = socket.create_connection((place.hostname, place.port), timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._unread = b""

    def __enter__(self) -> Self:
        """This connection."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.socket.close()

    def send(self, data: bytes) -> None:
        """Send `data` as it is."""
        self.socket.sendall(data)

    def finish(self) -> None:
        """Close the sending half."""
        self.socket.shutdown(socket.SHUT_WR)

    def ask(self, request: bytes, *, head_only: bool = False) -> Answer:
        """Send a request and read its answer."""
        self.send(request)
        return self.read(head_only=head_only)

    def read(self, *, head_only: bool = False) -> Answer:
        """The next answer; `head_only` where it answers HEAD.

        Raises: `ConnectionError` if the connection ends first.
        """
        head = self._read_until(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        status = int(first.split(" ")[1])
        headers = dict(line.split(": ", 1) for line in lines)
        headers = {name.lower(): value for name, value in headers.items()}
        bodiless = head_only or status in _BODILESS
        size = 0 if bodiless else int(headers["content-length"])
        while len(self._unread) < size:
            self._fill()
        body, self._unread = self._unread[:size], self._unread[size:]
        return Answer(status, headers, body)

    def ended(self) -> bool:
        """Read on: True at the end of the connection, False if a byte came."""
        try:
            self._fill()
        except ConnectionError:
            return not self._unread
        return False

    def _read_until(self, mark: bytes) -> bytes:
        while mark not in self._unread:
            self._fill()
        before, _, self._unread = self._unread.partition(mark)
        return before

    def _fill(self) -> None:
        data = self.socket.recv(_READ_BYTES)
        if not data:
            raise ConnectionError("the connection ended")
        self._unread += data


def assert_refused(
    sender: Sender, action: str, answer: Answer, error: tuple[int, str, str], *, signed: bool = True
) -> None:
    """Assert that `answer` is `error` in every part that clients rely on (wire §1.5, §1.6).

    `signed`: the answer carries `sender`'s signature; otherwise it must carry none.
    """
    assert answer.error == error
    headers = answer.headers
    assert _REQUEST_ID.fullmatch(headers["x-ots-requestid"])
    assert _DATE.fullmatch(headers["x-ots-date"])
    assert hmac.compare_digest(headers["x-ots-contentmd5"], digest(answer.body))
    assert headers["x-ots-contenttype"] == "protocol buffer"
    assert headers["x-widerow-hint"]
    assert sender.signed(action, answer) is signed
    assert ("authorization" in headers) is signed


def assert_healthy(endpoint: str, sender: Sender) -> None:
    """Assert that a new connection gets a signed answer, and that the instance has no table."""
    with Wire(endpoint) as wire:
        answer = wire.ask(sender.request("ListTable"))
    assert (answer.status, answer.body) == (200, b"")
    assert sender.signed("ListTable", answer)


# --- pages of the console ------------------------------------------------------------------------


def send_form(
    endpoint: str,
    method: str,
    target: str,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
) -> Answer:
    """One request on a connection of its own, with the host that a browser would name.

    `headers`: more of them, or another host.
    """
    body = urlencode(form or {})
    sent = {"host": urlsplit(endpoint).netloc, **(headers or {})}
    lines = [f"{method} {target} HTTP/1.1", *[f"{name}: {value}" for name, value in sent.items()]]
    with Wire(endpoint) as wire:
        return wire.ask("\r\n".join((*lines, f"content-length: {len(body)}", "", body)).encode())


def token_in(page: Answer) -> str:
    """What the forms of a page have to send."""
    found = re.search(rb'name="csrf" value="([0-9a-f]{64})"', page.body)
    assert found is not None
    return found[1].decode()


def cookie_in(answer: Answer) -> str:
    """The cookie that an answer sets."""
    return answer.headers["set-cookie"].partition(";")[0]
