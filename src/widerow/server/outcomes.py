"""Requests on their way, and what becomes of them: writes that end, answers that are made.

A request that cannot be carried out is answered with an error of its dialect. An unexpected
exception is answered as an internal error and logged with its frames, but without its message,
which may hold data of the client. Every answer is counted, and written with others of its turn.
"""

import logging
from functools import partial
from typing import TYPE_CHECKING, Any, Final, final

from widerow.commit.places import Caller
from widerow.errors import NotYet, StorageFailure, StoreDamaged, WiderowError
from widerow.limits import NOTICED_BODY_BYTES_MAX
from widerow.server.answering import AnswersTogether
from widerow.server.message import Reply, Request, Response
from widerow.server.metrics import ActionCounts
from widerow.server.pacing import PacedAnswers
from widerow.server.probes import plain_text
from widerow.server.recent import SLOW_NS, RecentRequests
from widerow.server.request_ids import RequestIds
from widerow.server.routes import NO_ACTION, Route
from widerow.server.schedule import Schedule
from widerow.server.service import Service
from widerow.server.unforeseen import log_unforeseen
from widerow.wire.dialect import Dialect, Opened, Refusal

if TYPE_CHECKING:
    from widerow.engine.plan import Pace, Plan
    from widerow.storage.foresight import ForeseenReads

__all__ = ["Answer", "Outcomes", "Task"]

_log = logging.getLogger("widerow.server")
_LOOP: Final = Caller.LOOP


@final
class _Call:
    """What an answer has to know of its request; `opened` is set when the sender is verified.

    `kind`: the content type of the request, "" where it has none. `body`: what is decoded, where
    that is short (`NOTICED_BODY_BYTES_MAX`).
    """

    __slots__ = (
        "body",
        "counts",
        "dialect",
        "kind",
        "name",
        "opened",
        "path",
        "received_ns",
        "request_id",
    )

    def __init__(
        self,
        dialect: Dialect,
        counts: ActionCounts,
        name: str,
        path: str,
        request_id: str,
        received_ns: int,
    ) -> None:
        self.dialect = dialect
        self.counts = counts
        self.name = name
        self.path = path
        self.request_id = request_id
        self.received_ns = received_ns
        self.opened: Opened | None = None
        self.kind = ""
        self.body = b""


@final
class Task:
    """One request on its way to its answer. It is called with the outcome of its write."""

    __slots__ = (
        "asked",
        "call",
        "decoded",
        "on_thread",
        "outcomes",
        "pace",
        "reads",
        "reply",
        "request",
        "route",
    )

    def __init__(
        self, outcomes: "Outcomes", route: Route, request: Request, reply: Reply, request_id: str
    ) -> None:
        self.outcomes = outcomes
        self.route = route
        self.request = request
        self.reply = reply
        self.call = _Call(
            route.dialect, route.counts, route.name, route.path, request_id, request.received_ns
        )
        self.call.kind = request.headers.get("content-type", "")
        self.on_thread = False
        self.decoded = False
        self.pace: Pace | None = None  # of the plan being committed
        # values read for it before it was handed to a thread
        self.reads: ForeseenReads | None = None
        # First the body, then the operation's decoded request, then the result of a read.
        self.asked: Any = None

    def decode(self) -> None:
        """Make the operation's request of the body."""
        if len(self.asked) <= NOTICED_BODY_BYTES_MAX:
            self.call.body = self.asked
        self.asked = self.route.decode(self.asked)
        self.decoded = True

    def __call__(self, answer: Any, error: Exception | None) -> None:  # noqa: ANN401  # the plan's
        """Take the outcome of the write (`Done`). On the loop's thread."""
        self.outcomes.settled(self, answer, error)


Answer = tuple[Response, tuple[int, int] | None]
"""A response, and the capacity units that it says were consumed."""


@final
class Outcomes:
    """Makes the answers to requests and counts them. On the loop's thread."""

    def __init__(self, service: Service, schedule: Schedule) -> None:
        self.recent: RecentRequests | None = None  # keeps slow and refused requests
        self.ids = RequestIds(service.entropy)
        self.answers = AnswersTogether(service.clock)
        self.paced = PacedAnswers(schedule, self.answers.hand_over, service.metrics.paced)
        self._schedule = schedule
        self._store = service.engine.store
        self._committer = service.committer
        self._clock = service.clock
        self._metrics = service.metrics
        self._others = service.metrics.of(NO_ACTION)
        self._traced = _log.isEnabledFor(logging.DEBUG)

    def end(self, task: Task, response: Response) -> None:
        """Add the answer to a request to the answers of this turn."""
        if task.on_thread:
            self._schedule.answered()
        self.answers.add(task.reply, response)

    # --- writes ------------------------------------------------------------------------------

    def submit(self, task: Task, plan: "Plan[Any]") -> None:
        """Commit the plan of a request, which `settled` answers."""
        task.asked, task.pace = None, plan.pace
        self._committer.submit(plan, task, _LOOP)

    def settled(
        self,
        task: Task,
        answer: Any,  # noqa: ANN401  # what the operation's plan returns
        error: Exception | None,
    ) -> None:
        """Take the outcome of a write: durable, or refused."""
        pace = task.pace
        if pace is not None and pace.waits():
            task.pace = None
            self.paced.hold(pace, partial(self.settled, task, answer, error))
            return
        if error is not None:
            self.end(task, self.failed(task, error))
            return
        try:
            response = self.succeeded(task, answer)
        except Exception as failure:  # noqa: BLE001  # every request is answered
            response = self.failed(task, failure)
        self.end(task, response)

    # --- answers -----------------------------------------------------------------------------

    def succeeded(
        self,
        task: Task,
        result: Any,  # noqa: ANN401  # what the route's `encode` takes
    ) -> Response:
        """Make the answer to a request, and count it."""
        body, date = task.route.encode(result), self.answers.date(task.route.dialect)
        return self.answered(task, self.enveloped(task, result, body, date))

    def enveloped(
        self,
        task: Task,
        result: Any,  # noqa: ANN401  # what the route's `encode` takes
        body: bytes,
        date: Any,  # noqa: ANN401  # the dialect's own
    ) -> Answer:
        """Make an answer in its envelope, without counting it. On any thread."""
        route, call = task.route, task.call
        consumed = None if route.consumed is None else route.consumed(result)
        head = route.envelope(call.path, body, call.request_id, date, call.opened)
        return Response(200, head, body), consumed

    def answered(self, task: Task, answer: Answer) -> Response:
        """Count an answer."""
        call = task.call
        response, consumed = answer
        if consumed is not None:
            read_units, write_units = consumed
            call.counts.consumed(read_units, write_units)
        elapsed_ns = self._note(call, 200, "OK")
        if elapsed_ns >= SLOW_NS:
            self._remember(call, 200, "OK", elapsed_ns, b"")
        return response

    def failed(self, task: Task, error: Exception) -> Response:
        """Make the answer to a refused request, and count it.

        To one that has waited long enough (`NotYet`) the answer that there is.
        """
        if isinstance(error, NotYet):
            if not isinstance(error.answer, Exception):
                return self.succeeded(task, error.answer)
            error = error.answer
        date = self.answers.date(task.route.dialect)
        return self._refused(task.call, error, date)

    def refused_unread(
        self,
        dialect: Dialect | None,
        received_ns: int,
        error: Exception,
        kind: str = "",
    ) -> Response:
        """The answer to a request without a known operation. Written at once.

        It is plain text without a dialect. `kind`: the content type of the request.
        """
        if dialect is None:
            self._count(self._others, "", received_ns, 400, "-")
            return plain_text(400, str(error))
        call = _Call(dialect, self._others, "", "/", self.ids.next(), received_ns)
        call.kind = kind
        return self._refused(call, error, dialect.answer_date(self._clock.now_us()))

    def _refused(
        self,
        call: _Call,
        error: Exception,
        date: Any,  # noqa: ANN401  # the dialect's own
    ) -> Response:
        error, refusal = _told(call, error)
        head = call.dialect.envelope(call.path, refusal.body, call.request_id, date, call.opened)
        elapsed_ns = self._note(call, refusal.status, refusal.code)
        self._remember(call, refusal.status, refusal.code, elapsed_ns, refusal.lines)
        facts = {"action": call.counts.action, "request_id": call.request_id}
        if not isinstance(error, WiderowError):
            log_unforeseen(_log, error, **facts)
        elif isinstance(error, StoreDamaged):
            facts["reason"] = str(error)
            _log.error("damage in the store; run widerow doctor", extra={"facts": facts})
            self._store.distrust(str(error))
        elif isinstance(error, StorageFailure):
            self._committer.report(error)
        return Response(refusal.status, head + refusal.lines, refusal.body)

    # --- counts ------------------------------------------------------------------------------

    def counted(self, request: Request, action: str, response: Response) -> Response:
        """Count the answer of a page (`/metrics` and others)."""
        code = "OK" if response.status == 200 else "-"
        counts = self._metrics.of(action)
        self._count(counts, "", request.received_ns, response.status, code)
        return response

    def _remember(self, call: _Call, status: int, code: str, elapsed_ns: int, lines: bytes) -> None:
        """Keep a slow or refused request in the recent ones."""
        if self.recent is not None:
            instance = "" if call.opened is None else call.opened.instance
            request = call.counts.action, instance, call.request_id
            self.recent.notice(request, (status, code), elapsed_ns, lines, call.body)

    def _note(self, call: _Call, status: int, code: str) -> int:
        """Count an answer; its duration in nanoseconds."""
        return self._count(call.counts, call.request_id, call.received_ns, status, code)

    def _count(
        self, counts: ActionCounts, request_id: str, received_ns: int, status: int, code: str
    ) -> int:
        elapsed_ns = self._clock.monotonic_ns() - received_ns
        counts.answered(code, elapsed_ns)
        if self._traced:
            facts = {
                "action": counts.action,
                "status": status,
                "code": code,
                "us": elapsed_ns // 1000,
                "request_id": request_id,
            }
            _log.debug("answered", extra={"facts": facts})
        return elapsed_ns


def _told(call: _Call, error: Exception) -> tuple[Exception, Refusal]:
    """An error and its refusal; where its text cannot be made, the fault in it and its refusal."""
    try:
        return error, call.dialect.refuse(error, call.name, call.kind)
    except Exception as fault:  # noqa: BLE001  # without an answer the client would wait
        return fault, call.dialect.refuse(fault, call.name, call.kind)
