"""Connections to one server, kept for the requests of an event loop: HTTP/1.1, TLS for https.

One request is under way on a connection at a time. An answer is held whole, within bounds. A
connection that breaks before a byte of the answer came is tried once more on a new one, if it was
kept from an earlier request and the request may be repeated; any other failure is told at once,
because a request that was sent may have taken effect.
"""

import asyncio
import ssl
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from httptools import HttpParserError, HttpResponseParser

from widerow.client.failures import RequestFailed
from widerow.client.http import HttpAnswer, server_address
from widerow.clock import Clock
from widerow.limits import (
    PROXY_ANSWER_BYTES_MAX,
    PROXY_ANSWER_SECONDS_MAX,
    PROXY_HEADER_BYTES_MAX,
    PROXY_IDLE_SECONDS_MAX,
)

__all__ = ["ConnectionPool"]

_INTERIM_MAX: Final = 199  # statuses up to here come before the answer
_DEFAULT_PORTS: Final = {"http": 80, "https": 443}


class ConnectionPool:
    """One server, by its URL. For the thread of one loop."""

    def __init__(
        self,
        url: str,
        clock: Clock,
        *,
        authorities: Path | None = None,
        seconds: float = PROXY_ANSWER_SECONDS_MAX,
    ) -> None:
        """Connect to nobody yet.

        `authorities`: certificates that a server of TLS may be signed with, the system's if not
        given. `seconds`: for each answer. Raises: `RequestFailed` for a URL or a file that is
        none.
        """
        place = server_address(url)
        self.url = f"{place.scheme}://{place.netloc}"
        self._host = place.hostname or ""
        self._port = place.port or _DEFAULT_PORTS[place.scheme]
        self._name = place.netloc.encode("idna" if not place.netloc.isascii() else "ascii")
        self._tls = _tls(authorities) if place.scheme == "https" else None
        self._clock = clock
        self._seconds = seconds
        self._idle: list[tuple[int, _Connection]] = []  # since when, the newest last
        self._all: set[_Connection] = set()

    async def ask(
        self,
        target: str,
        headers: Iterable[tuple[str, str]],
        body: bytes,
        *,
        method: str = "POST",
        repeatable: bool = False,
    ) -> HttpAnswer:
        """Send a request and return its answer.

        `repeatable`: it may be sent twice. Raises: `RequestFailed`.
        """
        lines = [f"{method} {target} HTTP/1.1", *(f"{name}: {value}" for name, value in headers)]
        head = "\r\n".join(lines).encode("utf-8", "surrogatepass")
        message = b"%b\r\nhost: %b\r\ncontent-length: %d\r\n\r\n%b" % (
            head,
            self._name,
            len(body),
            body,
        )
        kept = self._take_idle()
        if kept is not None:
            try:
                return await self._ask_on(kept, message)
            except RequestFailed:
                if not repeatable or kept.has_begun:
                    raise
        return await self._ask_on(await self._connect(), message)

    def close(self) -> None:
        """End all connections. Idempotent."""
        for connection in list(self._all):
            connection.abort()
        self._all.clear()
        self._idle.clear()

    def _take_idle(self) -> "_Connection | None":
        oldest = self._clock.monotonic_ns() - int(PROXY_IDLE_SECONDS_MAX * 1e9)
        while self._idle:
            since, connection = self._idle.pop()
            if since >= oldest and connection.is_usable():
                return connection
            connection.abort()
            self._all.discard(connection)
        return None

    async def _connect(self) -> "_Connection":
        loop = asyncio.get_running_loop()
        name = self._host if self._tls is not None else None
        try:
            async with asyncio.timeout(self._seconds):
                _, connection = await loop.create_connection(
                    _Connection, self._host, self._port, ssl=self._tls, server_hostname=name
                )
        except TimeoutError as error:
            raise RequestFailed(f"{self.url} cannot be reached: nobody answers") from error
        except OSError as error:  # of which errors of TLS are
            reason = error.strerror or str(error)
            raise RequestFailed(f"{self.url} cannot be reached: {reason}") from error
        self._all.add(connection)
        return connection

    async def _ask_on(self, connection: "_Connection", message: bytes) -> HttpAnswer:
        try:
            async with asyncio.timeout(self._seconds):
                answer = await connection.ask(message)
        except TimeoutError as error:
            raise RequestFailed(
                f"{self.url} did not answer within {self._seconds:g} s; whether the request took "
                "effect is not known"
            ) from error
        except _Broken as error:
            raise RequestFailed(f"{self.url} gave no answer: {error}") from error
        finally:
            if connection.is_usable():
                self._idle.append((self._clock.monotonic_ns(), connection))
            else:
                connection.abort()
                self._all.discard(connection)
        return answer


def _tls(authorities: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=authorities)
    except OSError as error:
        raise RequestFailed(f"{authorities} holds no certificates: {error}") from error


class _Broken(Exception):
    """What came is not an answer, or too much of one, or it ended early."""


class _Connection(asyncio.Protocol):
    """One connection. `has_begun`: a byte of the answer has come."""

    def __init__(self) -> None:
        self.has_begun = False
        self._transport: asyncio.Transport | None = None
        self._parser = HttpResponseParser(self)
        self._answer: asyncio.Future[HttpAnswer] | None = None
        self._headers: dict[str, str] = {}
        self._header_bytes = 0
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._keep = True

    # --- the pool's calls --------------------------------------------------------------------

    def is_usable(self) -> bool:
        """Whether another request may be sent."""
        transport = self._transport
        return (
            self._keep
            and self._answer is None
            and transport is not None
            and not transport.is_closing()
        )

    async def ask(self, message: bytes) -> HttpAnswer:
        """Send a whole request; its answer. Raises: `_Broken`. Cancelled, it is of no use again."""
        assert self._transport is not None, "it is asked once it is connected"
        self.has_begun = False
        future: asyncio.Future[HttpAnswer] = asyncio.get_running_loop().create_future()
        self._answer = future
        try:
            self._transport.write(message)
            return await future
        except BaseException:
            self._keep = False
            raise
        finally:
            self._answer = None

    def abort(self) -> None:
        """End it now."""
        self._keep = False
        if self._transport is not None:
            self._transport.abort()

    # --- the transport's calls ---------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """It is connected."""
        self._transport = transport  # type: ignore[assignment]  # uvloop's is not a subclass

    def data_received(self, data: bytes) -> None:
        """A part of an answer, or bytes that nobody asked for."""
        if self._answer is None:
            self.abort()
            return
        self.has_begun = True
        try:
            self._parser.feed_data(data)
        except HttpParserError as error:
            cause = error.__context__
            self._fail(cause if isinstance(cause, _Broken) else _Broken("it is not HTTP"))

    def eof_received(self) -> None:
        """The server sends no more."""
        self._keep = False

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection ended; an answer that has not come never will."""
        self._keep = False
        where = "in the middle of it" if self.has_begun else "before it"
        why = f" ({exc})" if exc is not None else ""
        self._fail(_Broken(f"the connection ended {where}{why}"))

    # --- the parser's calls ------------------------------------------------------------------

    def on_message_begin(self) -> None:
        """The first byte of an answer."""
        self._headers = {}
        self._header_bytes = 0
        self._body = []
        self._body_bytes = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """A header."""
        self._header_bytes += len(name) + len(value)
        if self._header_bytes > PROXY_HEADER_BYTES_MAX:
            raise _Broken(f"its headers have more than {PROXY_HEADER_BYTES_MAX} bytes")
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1").strip()

    def on_body(self, part: bytes) -> None:
        """A part of the body."""
        self._body_bytes += len(part)
        if self._body_bytes > PROXY_ANSWER_BYTES_MAX:
            raise _Broken(f"it has more than {PROXY_ANSWER_BYTES_MAX} bytes")
        self._body.append(part)

    def on_message_complete(self) -> None:
        """An answer, or an interim one that is not for us."""
        status = self._parser.get_status_code()
        if status <= _INTERIM_MAX:
            return
        self._keep = self._keep and bool(self._parser.should_keep_alive())
        if self._answer is not None and not self._answer.done():
            self._answer.set_result(HttpAnswer(status, self._headers, b"".join(self._body)))

    def _fail(self, error: _Broken) -> None:
        self._keep = False
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(error)
