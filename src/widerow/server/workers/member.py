"""A worker as its own server sees it: its place among the others, and what it asks of them."""

import asyncio
import logging
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, final

from widerow.clock import Clock, Entropy
from widerow.errors import StorageFailure
from widerow.limits import WORKER_SCRAPE_SECONDS, WORKER_TICK_SECONDS
from widerow.server.console_sessions import ConsoleSessions
from widerow.server.scrapes import NamesShown
from widerow.server.workers.channel import WorkerChannel, WorkerMessage, take_over
from widerow.server.workers.sums import add_pages

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

_log = logging.getLogger("widerow.server")

__all__ = ["Member", "Serves", "SystemParts", "WorkerPlace"]

_SECRET_BYTES: Final = 32
_PATIENCE_SECONDS: Final = 2 * WORKER_SCRAPE_SECONDS  # the supervisor's, and as long for itself


@dataclass(frozen=True)
class WorkerPlace:
    """The place of a worker: its number from 1 on, of so many, and the endpoint of all."""

    number: int
    count: int
    endpoint: str

    def node_name(self, name: str) -> str:
        """The name of this worker's node, where the server has this one."""
        return f"{name}/{self.number}"

    def __str__(self) -> str:
        """As pages name it."""
        return f"{self.number} of {self.count}"


class SystemParts(NamedTuple):
    """Time and chance."""

    clock: Clock
    entropy: Entropy

    def new_secret(self) -> bytes:
        """A secret for the console's sessions."""
        return self.entropy.token_bytes(_SECRET_BYTES)


class Serves(Protocol):
    """What the supervisor asks of a worker's server."""

    def reload(self) -> None:
        """Read its files again."""
        ...

    def hurry(self) -> None:
        """Wait no longer for requests in hand."""
        ...

    def figures(self, shown: NamesShown) -> bytes:
        """Its own page of metrics."""
        ...

    def open_connections(self) -> int:
        """How many connections it has: those in the making are among them."""
        ...


@final
class Member:
    """One worker's part. On the loop's thread, but `sessions`.

    `drained`: set when no connection will be handed over any more.
    """

    def __init__(
        self, start: WorkerMessage, channel: WorkerChannel, hand: socket.socket, parts: SystemParts
    ) -> None:
        """What the supervisor said first, and the ends of its channels."""
        self.place = WorkerPlace(start["number"], start["count"], start["endpoint"])
        self.drained = asyncio.Event()
        self._loop: AbstractEventLoop = asyncio.get_running_loop()
        self._channel = channel
        self._hand = hand
        self._clock = parts.clock
        self._taken = 0
        self._numbers = count(1)
        self._asked: dict[int, asyncio.Future[list[str]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self.sessions = ConsoleSessions(parts.new_secret, self._tell_ended)
        self.sessions.replace(bytes.fromhex(start["secret"]), start["ended"])
        hand.setblocking(False)  # noqa: FBT003  # as `socket` has it

    # --- connections -------------------------------------------------------------------------

    def begin(self, take: Callable[[socket.socket], None], server: Serves, **facts: int) -> None:
        """Say that this worker is ready, and take connections from now on; beat."""

        def handed() -> None:
            if not take_over(self._hand, counted):
                self._loop.remove_reader(self._hand)
                self.drained.set()

        def counted(accepted: socket.socket | None) -> None:
            self._taken += 1  # also in vain: the supervisor compares it with what it handed over
            if accepted is not None:
                take(accepted)

        self._loop.add_reader(self._hand, handed)
        self._channel.say("ready", **facts)
        self._do(self._beat(server))

    def leave(self) -> None:
        """Ask for the end of this worker, where another process asked for it."""
        self._channel.say("leaving")

    async def _beat(self, server: Serves) -> None:
        while True:
            connections = server.open_connections()
            self._channel.say("beat", connections=connections, taken=self._taken)
            await asyncio.sleep(WORKER_TICK_SECONDS)

    # --- messages ----------------------------------------------------------------------------

    async def listen(self, server: Serves) -> None:
        """Do what the supervisor says, until it is gone; then drain."""
        try:
            async for message in self._channel.messages():
                self._hear(server, message)
        finally:
            self.drained.set()

    def _hear(self, server: Serves, message: WorkerMessage) -> None:
        match message["kind"]:
            case "reload":
                server.reload()
            case "hurry":
                server.hurry()
            case "page?":
                with suppress(StorageFailure):  # the store is lost: the last figures do
                    page = server.figures(_shown_of(message["shown"])).decode()
                    self._channel.say("page", id=message["id"], page=page)
            case "pages":
                waiting = self._asked.pop(message["id"], None)
                if waiting is not None and not waiting.done():
                    waiting.set_result(message["pages"])
            case "ended":
                now_s = self._clock.now_us() // 1_000_000
                self.sessions.note(message["session"], message["ends"], now_s)
            case "secret":
                self.sessions.replace(bytes.fromhex(message["secret"]), {})
            case _:  # of a supervisor of another version
                pass

    async def end(self, last_page: bytes) -> None:
        """Leave the last figures with the supervisor."""
        for task in self._tasks:
            task.cancel()
        self._channel.say("page", id=0, page=last_page.decode())
        await self._channel.close()

    def _tell_ended(self, session: str, end_s: int) -> None:
        """On the thread of pages: tell the others of a session that is over."""
        told = {"session": session, "ends": end_s}
        self._loop.call_soon_threadsafe(lambda: self._channel.say("ended", **told))

    # --- metrics -----------------------------------------------------------------------------

    def scrape(self, shown: NamesShown, own: bytes, then: Callable[[bytes | None], None]) -> None:
        """Call `then` with one page for this one and those of all others; None: not to be had."""
        self._do(self._scrape(shown, own.decode(), then))

    async def _scrape(
        self, shown: NamesShown, own: str, then: Callable[[bytes | None], None]
    ) -> None:
        number = next(self._numbers)
        pages = self._asked[number] = self._loop.create_future()
        names = None if shown.instances is None else sorted(shown.instances)
        self._channel.say("scrape", id=number, shown=names, page=own)
        whole: bytes | None = None
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                whole = (await asyncio.to_thread(add_pages, await pages)).encode()
        except (TimeoutError, ValueError, LookupError) as error:  # the latter: no page of metrics
            facts = {"kind": type(error).__name__}
            _log.warning("the figures of all workers are not to be had", extra={"facts": facts})
        self._asked.pop(number, None)
        then(whole)

    def _do(self, work: "asyncio._CoroutineLike[None]") -> None:
        task = self._loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _shown_of(names: list[str] | None) -> NamesShown:
    return NamesShown(None if names is None else frozenset(names))
