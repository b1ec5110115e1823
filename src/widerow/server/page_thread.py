"""Web pages on the port of the protocols, under a path of their own, on a thread of their own.

A handler of pages may compute and may wait: it runs on one thread, one request at a time, so that
whatever it does costs the protocols a part of one processor at most. It is made with the first
request for it, on that thread, and nothing that it needs is loaded before.
"""

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from widerow.clock import Clock, Entropy
from widerow.commit.committer import Committer
from widerow.engine.engine import Engine
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.limits import PAGE_LOOP_SECONDS_MAX, PAGE_REQUESTS_MAX
from widerow.server.admission import Admission
from widerow.server.message import Reply, Request, Response
from widerow.server.metrics import ActionCounts, Metrics
from widerow.server.recent import RecentRequests
from widerow.server.turn import LOOP_TURN
from widerow.server.unforeseen import log_unforeseen
from widerow.storage.bulk import LONG_WORK

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop

    from widerow.auth.policy import AccessRules
    from widerow.engine.tablestore.engine import TablestoreEngine
    from widerow.engine.typed.engine import TypedEngine
    from widerow.server.console_sessions import ConsoleSessions
    from widerow.server.settings import Settings

__all__ = ["MakePages", "PageThread", "PagesHandler", "ServerParts"]

T = TypeVar("T")

_log = logging.getLogger("widerow.server")
_TEXT: Final = b"content-type: text/plain; charset=utf-8\r\ncache-control: no-store\r\n"
_BUSY: Final = b"retry-after: 1\r\n"


class PagesHandler(Protocol):
    """Answers requests for pages."""

    def answer(self, request: Request) -> Response:
        """The answer. Runs on the thread of the pages, and may take long."""
        ...


@dataclass(frozen=True)
class ServerParts:
    """The parts of a server that pages use.

    `engine_clock` dates stored data, `clock` everything else. `identity`: gives the present keys
    and instances. `endpoint`: where the server listens. `sessions`: those of several processes on
    one port. `worker`: which of these this process is, "" where it is alone.
    """

    settings: "Settings"
    engine: Engine
    committer: Committer
    clock: Clock
    engine_clock: Clock
    entropy: Entropy
    metrics: Metrics
    admission: Admission
    recent: RecentRequests
    identity: "Callable[[], AccessRules]"
    endpoint: Callable[[], str]
    loop: "AbstractEventLoop"
    sessions: "ConsoleSessions | None" = None
    worker: str = ""

    @property
    def tablestore(self) -> "TablestoreEngine":
        """The operations of Tablestore's tables."""
        return self.engine.operations(TABLESTORE)

    @property
    def typed(self) -> "TypedEngine":
        """The operations of typed tables."""
        from widerow.engine.typed.plug import TYPED  # noqa: PLC0415  # few stores have typed tables

        return self.engine.operations(TYPED)

    def on_loop(self, look: Callable[[], T]) -> T:
        """What `look` returns on the loop's thread, to which some parts belong.

        `look` must be short.

        Where reads of the store may block, `look` runs on this thread: it must not block the loop.
        Raises what `look` raises, and `TimeoutError` if the loop does not run it in time.
        """
        if self.engine.store.capabilities.reads_may_block:
            return look()
        found: Future[T] = Future()

        def run() -> None:
            try:
                found.set_result(look())
            except BaseException as error:  # noqa: BLE001  # raised on the waiting thread
                found.set_exception(error)

        self.loop.call_soon_threadsafe(run)
        return found.result(timeout=PAGE_LOOP_SECONDS_MAX)

    def long_work(self) -> AbstractContextManager[object]:
        """The lock to hold while much is read or computed, so that such work takes turns."""
        return nullcontext() if self.engine.store.capabilities.reads_may_block else LONG_WORK


MakePages = Callable[[ServerParts], PagesHandler]
"""Makes a handler of pages; called with the first request for one."""


class PageThread:
    """The pages under one path (`path`, such as `/console`). Lives on the loop's thread."""

    def __init__(self, path: str, make: Callable[[], PagesHandler], parts: ServerParts) -> None:
        """Pages under `path`, on the loop of these parts."""
        self.path = path
        self._path = path.encode()
        self._make = make
        self._parts = parts
        self._counts: ActionCounts = parts.metrics.of(path[1:])
        self._handler: PagesHandler | None = None
        self._waiting = 0
        self._thread: ThreadPoolExecutor | None = None

    def claims(self, target: bytes) -> bool:
        """Whether a request for this target is for these pages."""
        rest = target.removeprefix(self._path)
        return len(rest) < len(target) and rest[:1] in (b"", b"/", b"?")

    def handle(self, request: Request, reply: Reply) -> Response | None:
        """Queue a request for the pages' thread; the refusal, if too many wait."""
        if self._waiting >= PAGE_REQUESTS_MAX:
            return Response(503, _TEXT + _BUSY, b"too many requests for pages wait; try again\n")
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, f"widerow-{self.path[1:]}")
        self._waiting += 1
        loop = self._parts.loop

        def back(done: "Future[Response]") -> None:
            loop.call_soon_threadsafe(self._answered, request, done, reply)

        self._thread.submit(self._work, request).add_done_callback(back)
        return None

    def close(self) -> None:
        """End the thread after its present work. Waits for it."""
        if self._thread is not None:
            self._thread.shutdown()

    def _work(self, request: Request) -> Response:
        LOOP_TURN.give_way()
        if request.gone:
            return Response(503, _TEXT + _BUSY, b"the client is gone\n")
        if self._handler is None:
            self._handler = self._make()
        return self._handler.answer(request)

    def _answered(self, request: Request, done: "Future[Response]", reply: Reply) -> None:
        self._waiting -= 1
        error = done.exception()
        if error is None:
            response = done.result()
        else:
            log_unforeseen(_log, error, page=self._path.decode())
            response = Response(500, _TEXT, b"the page failed; the server's log says where\n")
        code = "OK" if response.status < 400 else "-"
        elapsed_ns = self._parts.clock.monotonic_ns() - request.received_ns
        self._counts.answered(code, elapsed_ns)
        reply(response)
