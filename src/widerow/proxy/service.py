"""A proxy from start to stop: its port, the servers that it asks, what it writes down."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, NamedTuple

from widerow.auth.policy import AccessRules
from widerow.client.pool import ConnectionPool
from widerow.client.signing import Signer
from widerow.limits import (
    DRAIN_SECONDS_MAX,
    PROXY_ANSWER_SECONDS_MAX,
    PROXY_OTHER_SECONDS_MAX,
)
from widerow.proxy.claims import TrafficFacts
from widerow.proxy.comparison import AnswerComparer, ProxySide
from widerow.proxy.exchange import ProxyFailed
from widerow.proxy.handling import ProxyCounts, ProxyHandler
from widerow.proxy.recording import RecordingWriter
from widerow.proxy.report import DifferenceReport
from widerow.server.admission import Admission
from widerow.server.headers import KeptHeaders
from widerow.server.http import Listener
from widerow.server.lifecycle import Server
from widerow.server.settings import Settings
from widerow.system import SystemClock, SystemEntropy
from widerow.wire.dialect import HeaderNames

__all__ = ["EMBEDDED", "ProxyService", "ServerChoice", "embedded_side"]

EMBEDDED: Final = "a widerow inside the proxy, in memory"
"""What a report calls a server that was started for it."""

_KEY: Final = "widerow"  # both halves of the pair that a server without credentials knows
_HEADERS: Final = HeaderNames(frozenset(("user-agent",)), ("x-",))
_POLL_SECONDS: Final = 0.005  # while the last requests are answered


class ServerChoice(NamedTuple):
    """A server to ask: its URL, who asks, and which certificates it may have."""

    url: str
    signer: Signer | None = None
    authorities: Path | None = None

    def side(self, seconds: float = PROXY_ANSWER_SECONDS_MAX) -> ProxySide:
        """The server, not connected; `seconds` for each answer. Raises: `RequestFailed`."""
        clock = SystemClock()
        upstream = ConnectionPool(self.url, clock, authorities=self.authorities, seconds=seconds)
        return ProxySide(upstream, self.signer)


async def embedded_side(stack: AsyncExitStack) -> ProxySide:
    """A widerow in memory, which ends with `stack`. Raises: `SettingsInvalid`."""
    server = Server(Settings(port=0, store="memory:"))
    await server.start()
    stack.push_async_callback(server.stop)
    return ServerChoice(server.endpoint, Signer(_KEY, _KEY)).side()


class ProxyService:
    """One proxy. `report` is what was compared, in the mode that compares."""

    def __init__(
        self,
        upstream: ServerChoice,
        *,
        against: ServerChoice | None = None,
        recording: RecordingWriter | None = None,
        report: DifferenceReport | None = None,
        identity: AccessRules | None = None,
    ) -> None:
        """Start nothing yet. With a `report`, answers are compared with those of `against`.

        Without `against` they are compared with those of a widerow that starts empty. `recording`
        is the caller's to close.
        """
        self.report = report
        self._upstream = upstream
        self._against = against
        self._recording = recording
        self._identity = identity
        self._stack = AsyncExitStack()
        self._handler: ProxyHandler | None = None
        self._admission = Admission()

    @property
    def counts(self) -> ProxyCounts:
        """What went by."""
        return self._handler.counts if self._handler is not None else ProxyCounts()

    async def start(self, host: str, port: int) -> str:
        """Listen, and return the endpoint.

        Raises: `ProxyFailed`, `RequestFailed`; nothing is left open then.
        """
        try:
            return await self._start(host, port)
        except BaseException:
            await self._stack.aclose()
            raise

    async def _start(self, host: str, port: int) -> str:
        clock, facts = SystemClock(), TrafficFacts()
        upstream = self._upstream.side()
        self._stack.callback(upstream.upstream.close)
        comparison = None
        if self.report is not None:
            other = await self._other()
            self._stack.callback(other.upstream.close)
            comparison = AnswerComparer(other, facts, self.report, clock)
        handler = self._handler = ProxyHandler(
            upstream,
            clock,
            SystemEntropy(),
            identity=self._identity,
            comparison=comparison,
            recording=self._recording,
            facts=facts,
        )
        self._stack.callback(handler.close)
        listener = Listener(handler, self._admission, clock, KeptHeaders((_HEADERS,)))
        self._stack.callback(listener.close)
        self._stack.push_async_callback(self._drain, listener, handler)
        try:
            endpoint = await listener.start(host, port)
        except OSError as error:
            reason = error.strerror or str(error)
            raise ProxyFailed(f"cannot listen on {host} port {port}: {reason}") from error
        await listener.accept()
        return endpoint

    def replace_identity(self, identity: AccessRules) -> None:
        """Let others ask from now on; once it has started."""
        if self._handler is not None:
            self._handler.replace_identity(identity)

    async def _other(self) -> ProxySide:
        if self._against is not None:
            return self._against.side(PROXY_OTHER_SECONDS_MAX)
        return await embedded_side(self._stack)

    async def stop(self) -> None:
        """Answer and compare what is in hand, for `DRAIN_SECONDS_MAX` at most, and close."""
        await self._stack.aclose()

    async def _drain(self, listener: Listener, handler: ProxyHandler) -> None:
        self._admission.stop()
        await listener.make_accepted()
        listener.stop_accepting()
        try:
            async with asyncio.timeout(DRAIN_SECONDS_MAX):
                while not self._is_done(listener, handler):  # noqa: ASYNC110  # nothing tells us
                    await asyncio.sleep(_POLL_SECONDS)
        except TimeoutError:
            return

    def _is_done(self, listener: Listener, handler: ProxyHandler) -> bool:
        busy = handler.pending or self._admission.requests_in_flight
        return not busy and listener.is_flushed()
