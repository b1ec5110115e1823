"""One HTTP request and its answer, by the standard library's client; TLS where the URL is https."""

from collections.abc import Mapping
from contextlib import closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ssl import SSLContext
from types import MappingProxyType
from typing import Final, NamedTuple
from urllib.parse import SplitResult, urlsplit

from widerow.client.failures import RequestFailed

__all__ = [
    "NO_ANSWER",
    "OK",
    "HttpAnswer",
    "HttpRequest",
    "ask_over",
    "ask_url",
    "new_connection",
    "server_address",
]

OK: Final = 200

NO_ANSWER: Final = (OSError, HTTPException)
"""The exceptions of a server that does not answer, or not in HTTP."""


class HttpRequest(NamedTuple):
    """A request to a path; `headers` beside those of HTTP itself."""

    path: str
    method: str = "GET"
    headers: Mapping[str, str] = MappingProxyType({})
    body: bytes | None = None


class HttpAnswer(NamedTuple):
    """An answer: `headers` by lower-case names, `body` as it was sent, perhaps compressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def server_address(url: str) -> SplitResult:
    """Scheme, host and port of a server. Raises: `RequestFailed` for text that is no such URL."""
    with suppress(ValueError):  # of a port that is not a number
        place = urlsplit(url)
        port = place.port
        whole = place.hostname and not place.path.strip("/") and not place.query
        if place.scheme in {"http", "https"} and whole and not place.username and port != 0:
            return place._replace(netloc=place.netloc.lower())
    raise RequestFailed(f"{url} is not an endpoint; give http://HOST:PORT or https://HOST:PORT")


def new_connection(
    place: SplitResult, timeout: float, tls: SSLContext | None = None
) -> HTTPConnection:
    """A connection that opens with its first request.

    `timeout`: seconds, for each wait. `tls`: what certificates are checked with, of https; the
    system's authorities if it is not given.
    """
    host = place.hostname or ""
    if place.scheme == "https":
        return HTTPSConnection(host, place.port, timeout=timeout, context=tls)
    return HTTPConnection(host, place.port, timeout=timeout)


def ask_over(
    connection: HTTPConnection, request: HttpRequest, limit: int | None = None
) -> HttpAnswer:
    """Send a request and read its answer, of the body no more than `limit` bytes if it is given.

    Raises: those of `NO_ANSWER`.
    """
    path, method, headers, body = request
    connection.request(method, path, body, dict(headers))
    answer = connection.getresponse()
    told = {name.lower(): value for name, value in answer.getheaders()}
    return HttpAnswer(answer.status, told, answer.read(limit))


def ask_url(
    url: str,
    request: HttpRequest,
    timeout: float,
    *,
    limit: int | None = None,
    tls: SSLContext | None = None,
) -> HttpAnswer:
    """Ask a server one thing, on a connection of its own (`new_connection`, `ask_over`).

    Raises: `RequestFailed` for a `url` that is none; those of `NO_ANSWER`.
    """
    with closing(new_connection(server_address(url), timeout, tls)) as connection:
        return ask_over(connection, request, limit)
