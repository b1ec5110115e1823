"""A request as the listener hands it over, an answer as it takes it, and the bytes of an answer."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Final, final

__all__ = ["Reply", "Request", "Response", "render"]


_NO_HEADERS: Final[dict[str, str]] = {}


@final
class Request:
    """One whole HTTP request.

    `headers` holds what the server acts on, names lowered (`http.py` says which); `repeated` names
    one of a dialect's that came twice, "" if none did. `received_ns` is the monotonic time at
    which its last byte was read. `names` are those of the headers in their order, where the
    listener has them at hand; `size`: bytes of the body as it came; `says_connection`: there is a
    header of that name. `gone`: its connection has ended. `half_closed`: its client sends no more,
    and may be gone. Both are set on the loop, and looked at on any thread.
    """

    __slots__ = (
        "body",
        "gone",
        "half_closed",
        "headers",
        "keep_alive",
        "method",
        "names",
        "received_ns",
        "repeated",
        "says_connection",
        "size",
        "target",
    )

    def __init__(
        self,
        method: bytes,
        target: bytes,
        headers: dict[str, str],
        body: bytes,
        repeated: str = "",
        keep_alive: bool = True,  # noqa: FBT001, FBT002  # in the order of the head's lines
        received_ns: int = 0,
    ) -> None:
        self.method = method
        self.target = target
        self.headers = headers
        self.body = body
        self.repeated = repeated
        self.keep_alive = keep_alive
        self.received_ns = received_ns
        self.names: tuple[str, ...] | None = None
        self.size = len(body)
        self.says_connection = "connection" in headers
        self.gone = False
        self.half_closed = False

    def let_go(self) -> None:
        """Drop headers and body, once they are not needed any more.

        A request lives until it is answered, with a hundred others, and most of its bytes are in
        these. Memory freed early is used again while it is in the processor's cache.
        """
        self.headers = _NO_HEADERS
        self.body = b""


@final
class Response:
    """An answer: status, complete header lines (`name: value` CR LF …) and body.

    The listener adds content-length, date and connection.
    """

    __slots__ = ("body", "head", "status")

    def __init__(self, status: int, head: bytes, body: bytes) -> None:
        self.status = status
        self.head = head
        self.body = body


Reply = Callable[[Response], None]
"""Hands over the answer of one request, on the loop's thread, exactly once."""

_STATUS_LINES: Final = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\ncontent-length: ".encode()
    for status in HTTPStatus
}
_OK: Final = HTTPStatus.OK.value
_CLOSE: Final = b"connection: close\r\n"
_KEEP: Final = b"connection: keep-alive\r\n"


def render(
    response: Response, date_line: bytes, request: Request | None, *, close: bool
) -> list[bytes]:
    """The answer's bytes in pieces, of which the last one is the body.

    A HEAD request gets the headers alone. A client that asked for keep-alive by name (HTTP/1.0
    does) is told that it got it.
    """
    body = response.body
    if close:
        connection = _CLOSE
    elif request is not None and request.says_connection:
        connection = _KEEP
    else:
        connection = b""
    return [
        _front(response.status, len(body)),
        connection,
        date_line,
        response.head,
        b"\r\n",
        b"" if request is not None and request.method == b"HEAD" else body,
    ]


_FRONTS: Final[dict[int, bytes]] = {}  # of 200 answers, by the body's length
_FRONTS_MAX: Final = 4096  # about sixty bytes each


def _front(status: int, length: int) -> bytes:
    """The status line and the content length. Most answers are 200, with a length seen before."""
    found = _FRONTS.get(length) if status == _OK else None
    if found is None:
        found = b"%b%d\r\n" % (_STATUS_LINES[status], length)
        if status == _OK and len(_FRONTS) < _FRONTS_MAX:
            _FRONTS[length] = found
    return found
