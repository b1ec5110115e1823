"""TLS on the port: the certificate, and connections until their handshake has ended.

A handshake costs the server more than the client, and its client is not verified. So a handshake
has a deadline, and the number of handshakes under way is bounded; a further one takes the place of
the oldest.
Only after the handshake a connection is one of `connection.py`, and counted as one.
"""

import asyncio
import ssl
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import cast

from widerow.limits import HANDSHAKE_SECONDS_MAX, HANDSHAKES_MAX
from widerow.server.connection import Connection
from widerow.server.settings import SettingsInvalid

__all__ = ["Handshake", "Handshakes", "TlsFiles"]


class TlsFiles:
    """A certificate chain and its key, in files."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Read the files. Raises: `SettingsInvalid`."""
        self._certificate = certificate
        self._key = key
        self.context = self._load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))

    def reload(self) -> None:
        """Read the files again, for later connections.

        Raises: `SettingsInvalid`, and keeps the former pair.

        The new pair is tried first: half of one must not be used.
        """
        self._load(ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER))
        self._load(self.context)

    def _load(self, context: ssl.SSLContext) -> ssl.SSLContext:
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        context.set_alpn_protocols(["http/1.1"])
        try:
            context.load_cert_chain(self._certificate, self._key, password=_no_password)
        except OSError as error:  # errors of TLS are `OSError`s, too
            raise SettingsInvalid(
                f"cannot use certificate {self._certificate} with key {self._key}: "
                f"{error.strerror or error}"
            ) from None
        return context


def _no_password() -> str:
    raise SettingsInvalid("the key of the certificate has a password; give one without")


class Handshakes:
    """The handshakes under way of one listener."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        context: ssl.SSLContext,
        connect: Callable[[], Connection],
        handshakes_max: int = HANDSHAKES_MAX,
    ) -> None:
        """`connect` makes the connection that follows a handshake.

        `ended` counts the handshakes that are over: a connection follows at once, or none does.
        """
        self.loop = loop
        self.context = context
        self.connect = connect
        self._handshakes_max = handshakes_max
        self._under_way: dict[Handshake, None] = {}  # in the order in which they began
        self.ended = 0

    def enter(self, handshake: "Handshake") -> None:
        """Count a handshake, and cut off the oldest one if it is one too many.

        Those of clients that mean it take milliseconds, and those that say nothing their time.
        """
        if len(self._under_way) >= self._handshakes_max:
            oldest = next(iter(self._under_way))
            self.leave(oldest)
            oldest.abort()
        self._under_way[handshake] = None

    def leave(self, handshake: "Handshake") -> None:
        """Count the end of a handshake, once."""
        if handshake in self._under_way:
            del self._under_way[handshake]
            self.ended += 1

    def close(self) -> None:
        """Cut off all handshakes under way."""
        for handshake in list(self._under_way):
            handshake.abort()


class Handshake(asyncio.Protocol):
    """An accepted connection whose handshake has not ended."""

    def __init__(self, handshakes: Handshakes) -> None:
        self._handshakes = handshakes
        self._transport: asyncio.Transport | None = None
        self._task: asyncio.Task[None] | None = None
        self._early = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin the handshake."""
        self._transport = cast("asyncio.Transport", transport)
        self._handshakes.enter(self)
        self._transport.pause_reading()  # uvloop reads on until the next turn, see below
        self._task = self._handshakes.loop.create_task(self._shake_hands())

    def data_received(self, data: bytes) -> None:
        """Keep the bytes of the handshake that came before it began."""
        self._early += data
        if self._transport is not None:
            self._transport.pause_reading()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client went away before the handshake began."""
        del exc  # the reason does not matter
        self._handshakes.leave(self)

    def abort(self) -> None:
        """Cut the connection off."""
        if self._task is not None:
            self._task.cancel()
        if self._transport is not None:
            self._transport.abort()

    async def _shake_hands(self) -> None:
        assert self._transport is not None
        handshakes, early = self._handshakes, _EarlyData()
        if self._early:  # before the calls that `start_tls` schedules: the handshake, and reading
            handshakes.loop.call_soon(self._pass_on)
        try:
            secured = await handshakes.loop.start_tls(
                self._transport,
                early,
                handshakes.context,
                server_side=True,
                ssl_handshake_timeout=HANDSHAKE_SECONDS_MAX,
            )
        except (OSError, EOFError):  # no TLS, no common version, too slow, or gone
            self._transport.abort()
            return
        finally:
            handshakes.leave(self)
        if secured is not None:
            early.hand_over(secured, handshakes.connect())

    def _pass_on(self) -> None:
        """Hand the early bytes to the handshake's protocol, as a transport would."""
        assert self._transport is not None
        protocol = self._transport.get_protocol()
        if not isinstance(protocol, Handshake):
            taking = cast("asyncio.BufferedProtocol", protocol)
            while self._early:
                room = memoryview(taking.get_buffer(len(self._early)))
                size = min(len(room), len(self._early))
                room[:size] = self._early[:size]
                taking.buffer_updated(size)
                self._early = self._early[size:]


class _EarlyData(asyncio.Protocol):
    """Keeps bytes that arrive between the end of a handshake and the callback that tells of it."""

    def __init__(self) -> None:
        self._said = b""
        self._lost = False

    def data_received(self, data: bytes) -> None:
        self._said += data

    def connection_lost(self, exc: Exception | None) -> None:
        del exc  # the reason does not matter
        self._lost = True

    def hand_over(self, secured: asyncio.Transport, connection: Connection) -> None:
        """Let `connection` take over."""
        if self._lost:
            with suppress(OSError):
                secured.abort()
            return
        secured.set_protocol(cast("asyncio.BaseProtocol", connection))
        connection.connection_made(secured)
        if self._said:
            connection.data_received(self._said)
