"""The listener: accepts connections, applies their deadlines, and closes them."""

import asyncio
from email.utils import formatdate
from typing import TYPE_CHECKING, Final, cast

from widerow.limits import HANDSHAKES_MAX
from widerow.server.addresses import endpoint_at
from widerow.server.connection import Connection
from widerow.server.headers import KeptHeaders
from widerow.server.shared import Handler, Shared, Timeouts
from widerow.server.tls import Handshake, Handshakes

if TYPE_CHECKING:
    import socket
    import ssl
    from collections.abc import Callable

    from widerow.clock import Clock
    from widerow.server.admission import Admission

__all__ = ["Listener"]

_TICK_SECONDS: Final = 1.0  # how late a timeout may be; one timer for all connections
_TIMEOUTS: Final = Timeouts()
_BACKLOG: Final = 1024  # kept by the kernel while the loop is busy
_BACKLOG_MIN: Final = 8


class Listener:
    """One port. Everything happens on the thread of the loop that `start` ran on."""

    def __init__(
        self,
        handler: Handler,
        admission: "Admission",
        clock: "Clock",
        headers: KeptHeaders,
        connection: type[Connection] = Connection,
    ) -> None:
        """Does not listen yet. `connection`: the class of connections."""
        self._connection = connection
        self._shared = Shared(handler, admission, clock, _TIMEOUTS, headers)
        self._server: asyncio.Server | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._handshakes: Handshakes | None = None
        self._factory: Callable[[], asyncio.Protocol] | None = None
        self._taking: set[asyncio.Task[None]] = set()
        self._taken = 0  # connections that another process accepted
        self._lost = 0  # those of them whose client was gone

    def begin(self, tls: "ssl.SSLContext | None" = None) -> None:
        """Be ready for connections that another process accepts: `take`."""
        self._shared.loop = asyncio.get_running_loop()
        self._tick()
        self._factory = self._protocols(tls)

    def take(self, accepted: "socket.socket") -> None:
        """Serve a connection that was accepted elsewhere, after `begin`."""
        self._taken += 1
        task = self._shared.loop.create_task(self._take(accepted))
        self._taking.add(task)
        task.add_done_callback(self._taking.discard)

    async def _take(self, accepted: "socket.socket") -> None:
        assert self._factory is not None, "it has begun"
        try:
            await self._shared.loop.connect_accepted_socket(self._factory, accepted)
        except OSError:  # its client is gone
            accepted.close()
            self._lost += 1

    def in_the_making(self) -> int:
        """How many connections were taken, by `take`, and are not open yet.

        With TLS a connection is made behind its handshake.
        """
        if self._factory is None:  # the port is its own
            return 0
        handshakes = self._handshakes
        made = self._shared.admission.connections_made if handshakes is None else handshakes.ended
        return self._taken - self._lost - made

    async def start(self, host: str, port: int, tls: "ssl.SSLContext | None" = None) -> str:
        """Take an address, and return the endpoint, `http://host:port`. Port 0 takes a free one.

        No connection is accepted before `accept`. With `tls` the port speaks only TLS, and the
        endpoint begins with `https`.

        Raises: `OSError` if the address is taken or not this machine's.
        """
        loop = self._shared.loop = asyncio.get_running_loop()
        self._tick()
        self._server = await loop.create_server(
            self._protocols(tls),
            host,
            port,
            backlog=self._backlog(),
            start_serving=False,
        )
        scheme = "http" if tls is None else "https"
        return endpoint_at(scheme, self._server.sockets[0].getsockname())

    async def accept(self) -> None:
        """Take connections from now on."""
        if self._server is not None:
            await self._server.start_serving()

    def _protocols(self, tls: "ssl.SSLContext | None") -> "Callable[[], asyncio.Protocol]":
        """The factory of protocols for accepted connections."""
        shared, connection = self._shared, self._connection
        if tls is None:
            return lambda: cast("asyncio.Protocol", connection(shared))
        most = min(HANDSHAKES_MAX, shared.admission.connections_max)
        handshakes = Handshakes(shared.loop, tls, lambda: connection(shared), most)
        self._handshakes = handshakes
        return lambda: Handshake(handshakes)

    def _backlog(self) -> int:
        """How many connections the kernel may keep.

        A loop accepts all of them at once: few descriptors allow few.
        """
        return min(_BACKLOG, max(_BACKLOG_MIN, self._shared.admission.connections_max))

    async def make_accepted(self) -> None:
        """Accept nothing more, and make the connections that were accepted; the port stays open.

        The standard loop makes a connection in the turn behind the one that accepts it, and drops
        it with a warning where the port is closed between them. Other loops are left alone.
        """
        loop = self._shared.loop
        if self._server is not None and isinstance(loop, asyncio.SelectorEventLoop):
            for accepting in self._server.sockets:
                loop.remove_reader(accepting)
            await asyncio.sleep(0)

    def stop_accepting(self) -> None:
        """Refuse new connections, and end idle ones."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for connection in list(self._shared.connections):
            connection.close_if_idle()

    def is_flushed(self) -> bool:
        """Whether every answer has been handed to the kernel."""
        return all(connection.is_flushed() for connection in self._shared.connections)

    def close(self) -> None:
        """End every connection now. Idempotent."""
        self.stop_accepting()
        if self._handshakes is not None:
            self._handshakes.close()
        for connection in list(self._shared.connections):
            connection.abort()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tick(self) -> None:
        """Once a second: the time of day for `date` headers, and the deadlines."""
        shared = self._shared
        shared.now = shared.clock.monotonic_ns() / 1e9
        seconds = shared.clock.now_us() / 1e6
        shared.date_line = f"date: {formatdate(seconds, usegmt=True)}\r\n".encode()
        self.expire(shared.now)
        self._timer = shared.loop.call_later(_TICK_SECONDS, self._tick)

    def expire(self, now: float) -> None:
        """Act on every connection whose deadline is before `now` (seconds, monotonic)."""
        for connection in [each for each in self._shared.connections if each.deadline <= now]:
            connection.expire()
