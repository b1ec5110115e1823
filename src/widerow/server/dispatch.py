"""The handler of the port: finds the operation of a request and starts it on its way.

A request goes one of three ways to its answer: through the stages of a turn of the loop
(`staged_runs.py`), on a thread (`thread_runs.py`), or, over a store whose reads may block, by
attempts with foreseen reads (`foreseen_runs.py`). The dialect (`wire/dialect.py`) knows the form of
requests and answers, the schedule (`schedule.py`) decides which way a request takes, and the
committer (`widerow.commit`) makes plans durable.
"""

from collections.abc import Sequence
from typing import Final, Protocol

from widerow.auth.policy import AccessRules
from widerow.commit.waiting import Waiting, tell_group
from widerow.errors import NotPermitted, Rule, WiderowError
from widerow.server.foreseen_runs import ForeseenRuns
from widerow.server.loopback import names_loopback
from widerow.server.message import Reply, Request, Response
from widerow.server.outcomes import Outcomes, Task
from widerow.server.probes import Probes, plain_text
from widerow.server.recent import RecentRequests
from widerow.server.routes import NO_ACTION, Route, Routes
from widerow.server.schedule import Schedule
from widerow.server.service import Service
from widerow.server.staged_runs import StagedRuns
from widerow.server.thread_runs import ThreadRuns
from widerow.server.verifying import Verifier
from widerow.wire.dialect import Dialect

__all__ = ["Dispatcher", "WebPages"]

_MISDIRECTED: Final = 421


class WebPages(Protocol):
    """Pages on the port, under `path`, whose requests belong to no dialect."""

    @property
    def path(self) -> str:
        """The path of the pages, such as `/console`."""
        ...

    def claims(self, target: bytes) -> bool:
        """Whether a request for this target is for these pages."""
        ...

    def handle(self, request: Request, reply: Reply) -> Response | None:
        """As `Dispatcher.handle`."""
        ...


class Dispatcher:
    """The handler of the port. It belongs to the loop's thread, and no request makes it raise.

    `own_names_only`: answer only requests whose `host` names this machine, or that have none. So no
    web page elsewhere can have its own name resolved to this machine (DNS rebinding) and sign with
    a key that everybody knows. Pages look at names themselves.
    """

    def __init__(
        self,
        service: Service,
        probes: Probes,
        identity: AccessRules,
        schedule: Schedule,
        dialects: Sequence[Dialect],
    ) -> None:
        """Serve these dialects with `service`, each request where `schedule` says."""
        self._clock = service.clock
        self._probes = probes
        self._schedule = schedule
        self.own_names_only = False
        self._pages: WebPages | None = None  # pages of no dialect
        self._routes = Routes(service.engine, service.metrics, dialects)
        outcomes = self._outcomes = Outcomes(service, schedule)
        verifier = self._verifier = Verifier(identity, service.clock)
        threads = ThreadRuns(service, schedule, verifier, outcomes)
        store = service.engine.store
        foreseen = self._foreseen = ForeseenRuns(store, schedule, verifier, threads, outcomes)
        self._staged = StagedRuns(service, schedule, verifier, threads, foreseen, outcomes)

    @property
    def identity(self) -> AccessRules:
        """The keys and instances in force."""
        return self._verifier.identity

    @identity.setter
    def identity(self, identity: AccessRules) -> None:
        """Let in by `identity` from the next request on."""
        self._verifier.identity = identity

    def serve_pages(self, pages: WebPages, recent: RecentRequests) -> None:
        """Serve `pages` on the port as well, and note slow and refused requests in `recent`."""
        self._pages = pages
        self._outcomes.recent = recent

    def stop_reading(self) -> None:
        """End reads on the loop. On the loop's thread, before `close`."""
        self._foreseen.close()

    def close(self) -> None:
        """End the threads after their present work."""
        self._schedule.close()

    def handle(self, request: Request, reply: Reply) -> Response | None:
        """Answer now, or return None and call `reply` on the loop's thread later."""
        if self.own_names_only and not self.is_asked_by_own_name(request):
            return self._answer_foreign_name(request, reply)
        route = self._routes.by_target.get(request.target)
        if route is None or request.method != b"POST":
            if self._pages is not None and self._pages.claims(request.target):
                return self._pages.handle(request, reply)
            found = self._find(request, reply)
            if not isinstance(found, Route):
                return found
            route = found
        outcomes = self._outcomes
        self._staged.add(Task(outcomes, route, request, reply, outcomes.ids.next()))
        return None

    def is_asked_by_own_name(self, request: Request) -> bool:
        """Whether a request may name this server as it does."""
        if not self.own_names_only:
            return True
        host = request.headers.get("host")
        return host is None or names_loopback(host)

    def refuse(self, error: WiderowError) -> Response:
        """The answer to bytes that are not HTTP."""
        dialect = self._routes.unclaimed
        return self._outcomes.refused_unread(dialect, self._clock.monotonic_ns(), error)

    def told(self, ended: Sequence[Waiting]) -> None:
        """Take plans that another thread has committed (`Post`)."""
        tell_group(ended)
        self._outcomes.answers.hand_over()

    def _answer_foreign_name(self, request: Request, reply: Reply) -> Response | None:
        if self._pages is not None and self._pages.claims(request.target):
            return self._pages.handle(request, reply)
        error = NotPermitted(Rule.HOST_FOREIGN)
        if request.method in (b"GET", b"HEAD"):
            answer = plain_text(_MISDIRECTED, Rule.HOST_FOREIGN.value)
            return self._outcomes.counted(request, NO_ACTION, answer)
        return self._outcomes.refused_unread(self._routes.unclaimed, request.received_ns, error)

    def _find(self, request: Request, reply: Reply) -> Route | Response | None:
        """The route of a request whose target alone does not name it, or the answer to it.

        None: `reply` will be called with the answer.
        """
        outcomes, routes = self._outcomes, self._routes
        target = request.target.decode("latin-1").partition("?")[0]
        reads_page = request.method in (b"GET", b"HEAD")
        if reads_page:
            now_us, keyring = self._clock.now_us(), self._verifier.identity.keyring
            page = self._probes.page(target, request.headers, keyring, now_us)
            if isinstance(page, Response):
                return outcomes.counted(request, target[1:], page)
            if page is not None:
                page(lambda made: reply(outcomes.counted(request, target[1:], made)))
                return None
        if target.startswith("/_widerow"):
            return outcomes.counted(request, NO_ACTION, plain_text(404, "not found without --dev"))
        dialect = routes.claiming(target) or routes.marked(request.headers)
        if dialect is None and not reads_page:
            dialect = routes.unclaimed
        if dialect is None:
            pages = "" if self._pages is None else f" {self._pages.path}/"
            words = f"not found; GET serves /livez /readyz /version /metrics{pages}"
            answer = plain_text(404, f"{words}, actions are POSTed")
            return outcomes.counted(request, NO_ACTION, answer)
        try:
            return routes.select(dialect, request.method, target, request.body)
        except Exception as error:  # noqa: BLE001  # every request is answered
            return outcomes.refused_unread(
                dialect, request.received_ns, error, request.headers.get("content-type", "")
            )
