"""From a request to its answer: find the operation, verify the sender, decode, run, encode.

The dialect (`wire/dialect.py`) knows the form of requests and answers, the schedule (`schedule.py`)
decides which thread runs a request, and the committer (`widerow.commit`) makes plans durable; this
module joins them. A request that cannot be carried out is answered with an error of its dialect. An
unexpected exception is answered as an internal error and logged with its frames, but without its
message, which may hold data of the client.

The requests that one turn of the loop reads are gathered and then run stage by stage: first all
senders are verified, then all messages are decoded, all reads and plans are made, all answers are
encoded, and all are written. A stage takes a task and returns whether the task goes on to the next
stage; if not, the task is answered, runs on a thread, or waits for the committer. The processor's
caches cannot hold the code of all stages at once, so in this way the code of a stage is loaded once
for many requests (measured in docs/internals/performance.md).
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, final

from widerow.auth.policy import AccessRules, authorize
from widerow.clock import Clock, Entropy
from widerow.commit.places import Caller
from widerow.commit.waiting import Done, Waiting, tell_group
from widerow.engine.budget import Budget
from widerow.engine.engine import Engine
from widerow.errors import (
    Exhausted,
    InvalidRequest,
    Rule,
    StorageFailure,
    StoreDamaged,
    TooLong,
    WiderowError,
)
from widerow.limits import HALF_CLOSED_SECONDS_MAX, STAGE_REQUESTS_MAX
from widerow.server.answering import AnswersTogether
from widerow.server.gathering import GatheredReads, of_keys, of_pages
from widerow.server.message import Reply, Request, Response
from widerow.server.metrics import ActionCounts, Metrics
from widerow.server.pacing import PacedAnswers
from widerow.server.probes import Probes, plain_text
from widerow.server.recent import SLOW_NS, RecentRequests
from widerow.server.request_ids import RequestIds
from widerow.server.schedule import Schedule
from widerow.server.turn import LOOP_TURN
from widerow.server.unforeseen import log_unforeseen
from widerow.storage.foresight import ForeseenReads, NotForeseen
from widerow.storage.page import Page, PageWanted
from widerow.storage.read_anew import read_anew
from widerow.wire.dialect import Dialect, Opened, WireOperation

if TYPE_CHECKING:
    from concurrent.futures import Future

    from widerow.engine.ends import End
    from widerow.engine.plan import Plan

__all__ = ["Commits", "Dispatcher", "PagesBeside", "Service"]

_log = logging.getLogger("widerow.server")

# The label in metrics of all unknown actions: a client must not choose labels.
_NO_ACTION: Final = "other"
_LOOP: Final = Caller.LOOP


class Commits(Protocol):
    """The part of a `Committer` that dispatching uses."""

    def submit(self, plan: "Plan[Any]", done: Done | None, caller: Caller) -> "End | None":
        """Commit `plan`: its end, or None if `done` will be called with it."""
        ...

    def flush(self) -> None:
        """End the loop's turn: commit the plans that it submitted."""
        ...

    def report(self, error: StorageFailure) -> None:
        """Note that the store refused a request outside of a commit."""
        ...


@dataclass(frozen=True, slots=True)
class Service:
    """What requests are carried out with."""

    engine: Engine
    committer: Commits
    clock: Clock
    entropy: Entropy
    metrics: Metrics


class PagesBeside(Protocol):
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


@final
class _Route:
    """An operation of a dialect, and the counts of its requests.

    The functions are attributes, which compiled code calls faster than elements of a tuple.
    """

    __slots__ = (
        "answer_date",
        "call",
        "call_within",
        "computes",
        "consumed",
        "counts",
        "decode",
        "dialect",
        "encode",
        "envelope",
        "foreseen",
        "is_large",
        "lengthy",
        "name",
        "open_request",
        "operations",
        "path",
        "permission",
        "writes",
    )

    def __init__(
        self,
        dialect: Dialect,
        operations: Any,  # noqa: ANN401  # of the dialect's model
        operation: WireOperation,
        counts: ActionCounts,
    ) -> None:
        self.dialect = dialect
        self.operations = operations
        self.open_request = dialect.open_request
        self.envelope = dialect.envelope
        self.answer_date = dialect.answer_date
        self.name = operation.name
        self.writes = operation.writes
        self.decode = operation.decode
        self.call = operation.call
        self.call_within = operation.call_within
        self.encode = operation.encode
        self.consumed = operation.consumed
        self.lengthy = operation.lengthy
        self.foreseen = operation.foreseen
        self.is_large = operation.is_large
        # and then waits for its commit
        self.computes = operation.writes and operation.lengthy is not None
        self.counts = counts
        self.permission = operation.permission
        self.path = operation.path


@final
class _Call:
    """A request until its answer; `opened` is set when the sender is verified."""

    __slots__ = ("counts", "dialect", "name", "opened", "path", "received_ns", "request_id")

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


@final
class _Task:
    """A request in the stages. Called with the outcome of its write."""

    __slots__ = (
        "asked",
        "call",
        "decoded",
        "dispatcher",
        "on_thread",
        "pace",
        "reads",
        "reply",
        "request",
        "route",
    )

    def __init__(
        self, dispatcher: "Dispatcher", route: _Route, request: Request, reply: Reply, call: _Call
    ) -> None:
        self.dispatcher = dispatcher
        self.route = route
        self.request = request
        self.reply = reply
        self.call = call
        self.on_thread = False
        self.decoded = False
        self.pace: Callable[[], bool] | None = None  # of the plan being committed
        # values read for it before it was handed to a thread
        self.reads: ForeseenReads | None = None
        # First the body, then the operation's decoded request, then the result of a read.
        self.asked: Any = None

    def __call__(self, answer: Any, error: Exception | None) -> None:  # noqa: ANN401  # the plan's
        """Take the outcome of the write (`Done`). On the loop's thread."""
        self.dispatcher.settled(self, answer, error)


_Answer = tuple[Response, tuple[int, int] | None]
"""A response, and the capacity units that it says were consumed."""


class Dispatcher:
    """The handler of the port. It belongs to the loop's thread, and no request makes it raise."""

    def __init__(
        self,
        service: Service,
        probes: Probes,
        identity: AccessRules,
        schedule: Schedule,
        dialects: Sequence[Dialect],
    ) -> None:
        """Serve these dialects with `service`, each request where `schedule` says."""
        self.identity = identity
        self._engine = service.engine
        self._committer = service.committer
        self._clock = service.clock
        self._metrics = service.metrics
        self._probes = probes
        self._schedule = schedule
        self._dialects = tuple(dialects)
        self._unclaimed = _unclaimed_of(dialects)
        self.beside: PagesBeside | None = None  # pages of no dialect
        self.recent: RecentRequests | None = None  # keeps slow and refused requests
        self._others = service.metrics.of(_NO_ACTION)
        self._ids = RequestIds(service.entropy)
        self._routes: dict[bytes, _Route] = {}  # by the whole target of a request
        self._selected: dict[tuple[str, str], _Route] = {}  # by dialect and operation
        # If two dialects have the same path, the first one gets it.
        for dialect in reversed(self._dialects):
            for path, operation in dialect.paths.items():
                self._routes[path] = self._route_of(dialect, operation)
        self._traced = _log.isEnabledFor(logging.DEBUG)
        self._gathered: list[_Task] = []
        self._now_us = 0  # when the present stages began
        self._answers = AnswersTogether(service.clock)
        self._paced = PacedAnswers(schedule, self._answers.hand_over)
        self._keys: GatheredReads[_Task, bytes, bytes | None] | None = None
        self._pages: GatheredReads[_Task, PageWanted, Page] | None = None
        if schedule.rules.all_on_threads:
            store = service.engine.store
            keys = of_keys(store.get_together, store.loop_reads(schedule.sockets))
            self._keys = GatheredReads(keys, schedule, self._keys_read)
            pages = of_pages(store.get_pages_together)
            self._pages = GatheredReads(pages, schedule, self._pages_read)

    def stop_reading(self) -> None:
        """End reads on the loop. On the loop's thread, before `close`."""
        if self._keys is not None:
            self._keys.close()

    def close(self) -> None:
        """End the threads after their present work."""
        self._schedule.close()

    def handle(self, request: Request, reply: Reply) -> Response | None:
        """Answer now, or return None and call `reply` on the loop's thread later."""
        route = self._routes.get(request.target)
        if route is None or request.method != b"POST":
            if self.beside is not None and self.beside.claims(request.target):
                return self.beside.handle(request, reply)
            found = self._find(request)
            if isinstance(found, Response):
                return found
            route = found
        call = _Call(
            route.dialect,
            route.counts,
            route.name,
            route.path,
            self._ids.next(),
            request.received_ns,
        )
        self._schedule.request_came()
        self._gathered.append(_Task(self, route, request, reply, call))
        if len(self._gathered) == 1:
            self._schedule.when_turn_ends(self._turn)
        return None

    def refuse(self, error: WiderowError) -> Response:
        """The answer to bytes that are not HTTP."""
        now_ns = self._clock.monotonic_ns()
        if self._unclaimed is None:
            self._count(self._others, "", now_ns, 400, "-")
            return plain_text(400, str(error))
        return self._refused_unread(self._unclaimed, now_ns, error)

    def told(self, ended: Sequence[Waiting]) -> None:
        """Take plans that another thread has committed (`Post`)."""
        tell_group(ended)
        self._answers.hand_over()

    # --- which operation ---------------------------------------------------------------------

    def _find(self, request: Request) -> _Route | Response:
        """The route of a request whose target alone does not name it, or the answer to it."""
        target = request.target.decode("latin-1").partition("?")[0]
        if request.method in (b"GET", b"HEAD"):
            page = self._probes.page(target)
            if page is not None:
                return self._counted(request, target[1:], page)
        if target.startswith("/_widerow"):
            return self._counted(request, _NO_ACTION, plain_text(404, "not found without --dev"))
        dialect = self._claiming(target)
        if dialect is None:
            if request.method in (b"GET", b"HEAD") or self._unclaimed is None:
                pages = "" if self.beside is None else f" {self.beside.path}/"
                words = f"not found; GET serves /livez /readyz /version /metrics{pages}"
                answer = plain_text(404, f"{words}, actions are POSTed")
                return self._counted(request, _NO_ACTION, answer)
            dialect = self._unclaimed
        try:
            method = request.method.decode("latin-1")
            operation = dialect.select(method, target, request.body)
        except Exception as error:  # noqa: BLE001  # every request is answered
            return self._refused_unread(dialect, request.received_ns, error)
        return self._route_of(dialect, operation)

    def _claiming(self, target: str) -> Dialect | None:
        for dialect in self._dialects:
            if dialect.claims(target):
                return dialect
        return None

    def _route_of(self, dialect: Dialect, operation: WireOperation) -> _Route:
        name = (dialect.name, operation.name)
        route = self._selected.get(name)
        if route is None:
            counts = self._metrics.of(dialect.label + operation.name)
            route = self._selected[name] = _Route(
                dialect, dialect.open(self._engine), operation, counts
            )
        return route

    # --- stages ------------------------------------------------------------------------------

    def _turn(self) -> None:
        """Run the requests gathered in this turn of the loop, or the first of them."""
        tasks, self._gathered = self._schedule.first_of(
            self._gathered, lambda task: task.route.lengthy is not None
        )
        if self._gathered:
            self._schedule.when_turn_ends(self._turn)
        try:
            for first in range(0, len(tasks), STAGE_REQUESTS_MAX):
                self._run_stages(tasks[first : first + STAGE_REQUESTS_MAX])
        finally:
            self._schedule.turn_ends()
        tasks = []  # frees finished tasks before the commit
        # Reads need not wait for the sync of this turn.
        self._committer.flush()
        self._answers.hand_over()

    def _run_stages(self, tasks: list[_Task]) -> None:
        """Run requests stage by stage, and answer those that are finished."""
        self._now_us = self._clock.now_us()
        for stage in (self._verify, self._decode, self._ask, self._encode):
            tasks = self._through(stage, tasks)
        self._answers.hand_over()

    def _through(self, stage: Callable[[_Task], bool], tasks: list[_Task]) -> list[_Task]:
        """The tasks that go on to the next stage; those that fail in this stage are answered."""
        going_on = []
        for task in tasks:
            try:
                if stage(task):
                    going_on.append(task)
            except Exception as error:  # noqa: BLE001  # every request is answered
                self._end(task, self._failed(task.call, error))
        return going_on

    def _end(self, task: _Task, response: Response) -> None:
        """Add the answer to a request to the answers of this turn."""
        if task.on_thread:
            self._schedule.answered()
        self._answers.add(task.reply, response)

    def _verify(self, task: _Task) -> bool:
        schedule = self._schedule
        if schedule.verifies_on_thread(len(task.request.body)):
            self._run_on_thread(task)
            return False
        self._admit(task, self._now_us)
        if schedule.verifies_on_thread(len(task.asked)):  # it has grown: it came compressed
            self._run_on_thread(task)
            return False
        if schedule.runs_on_thread(task.route.lengthy, task.asked):
            self._run_elsewhere(task)
            return False
        return True

    def _admit(self, task: _Task, now_us: int) -> None:
        """Verify and permit the request, and take its body. On any thread."""
        request, route = task.request, task.route
        self._check_wanted(request)
        if request.repeated:
            raise InvalidRequest(Rule.HEADER_DUPLICATE, name=request.repeated)
        identity = self.identity
        opened, task.asked = route.open_request(
            route.path,
            request.headers,
            request.body,
            identity.keyring,
            identity.instances,
            now_us,
            request.names,
        )
        task.call.opened = opened
        request.let_go()
        authorize(opened.key, route.permission)

    def _check_wanted(self, request: Request) -> None:
        """Raise `Exhausted` where nobody waits for the answer any more. On any thread.

        Programs that give up close their connections, which looks as if they only send no more:
        they are believed to wait for a moment.
        """
        if request.gone:
            raise Exhausted(Rule.CLIENT_GONE)
        if request.half_closed:
            waited_ns = self._clock.monotonic_ns() - request.received_ns
            if waited_ns > HALF_CLOSED_SECONDS_MAX * 1_000_000_000:
                raise Exhausted(Rule.CLIENT_GONE)

    def _decode(self, task: _Task) -> bool:
        task.asked = task.route.decode(task.asked)
        task.decoded = True
        return True

    def _ask(self, task: _Task) -> bool:
        """Run the operation in the engine; its plan goes to the committer."""
        route, call = task.route, task.call
        assert call.opened is not None
        if route.call_within is not None and self._schedule.has_threads:
            try:
                result = route.call_within(
                    route.operations, call.opened.instance, task.asked, Budget()
                )
            except TooLong:
                self._run_on_thread(task)
                return False
        else:
            result = route.call(route.operations, call.opened.instance, task.asked)
        if route.writes:
            self._submit(task, result)
            return False
        task.asked = result
        # A large answer is sent now, so that no turn holds many of them.
        if route.lengthy is not None or (route.is_large is not None and route.is_large(result)):
            return self._encode(task)
        return True

    def _submit(self, task: _Task, plan: "Plan[Any]") -> None:
        task.asked, task.pace = None, plan.pace
        self._committer.submit(plan, task, _LOOP)

    def _encode(self, task: _Task) -> bool:
        self._end(task, self._succeeded(task, task.asked))
        return False

    def settled(
        self,
        task: _Task,
        answer: Any,  # noqa: ANN401  # what the operation's plan returns
        error: Exception | None,
    ) -> None:
        """Take the outcome of a write: durable, or refused."""
        pace = task.pace
        if pace is not None and pace():
            task.pace = None
            self._paced.hold(pace, partial(self.settled, task, answer, error))
            return
        if error is not None:
            self._end(task, self._failed(task.call, error))
            return
        try:
            response = self._succeeded(task, answer)
        except Exception as failure:  # noqa: BLE001  # every request is answered
            response = self._failed(task.call, failure)
        self._end(task, response)

    # --- of a store whose reads may block ----------------------------------------------------

    def _run_elsewhere(self, task: _Task) -> None:
        """Attempt a request whose reads are foreseen; run another, or a lengthy one, on a thread.

        Handing a request to a thread and back costs more than the rest of the request.
        """
        route = task.route
        lengthy = route.lengthy is not None and route.lengthy(task.asked)
        if self._keys is None or lengthy or not route.foreseen:
            self._run_on_thread(task)
        else:
            self._decode(task)
            self._attempt(task, ForeseenReads())

    def _attempt(self, task: _Task, reads: ForeseenReads) -> None:
        """Run a request as far as these reads reach: to its end, or until it asks for others."""
        self._check_wanted(task.request)
        route = task.route
        try:
            result = reads.attempt(partial(self._within_budget, task))
        except NotForeseen:
            if not reads.knows_nothing or route.writes or not self._gathers(task, reads):
                self._run_on_thread(task)
        except TooLong:
            self._run_on_thread(task, reads)
        else:
            if route.writes:
                self._submit(task, result)
            else:
                self._end(task, self._succeeded(task, result))

    def _within_budget(self, task: _Task) -> Any:  # noqa: ANN401  # what the operation's call returns
        route, opened = task.route, task.call.opened
        assert opened is not None
        if route.call_within is not None:
            return route.call_within(route.operations, opened.instance, task.asked, Budget())
        return route.call(route.operations, opened.instance, task.asked)

    def _gathers(self, task: _Task, reads: ForeseenReads) -> bool:
        """Gather a request's reads with those of others; False: it asks for none."""
        assert self._keys is not None, "a request is tried where reads are gathered"
        assert self._pages is not None, "as before"
        if reads.wanted:
            self._keys.add(task, reads.wanted)
        elif reads.wanted_page is not None:
            self._pages.add(task, (reads.wanted_page,))
        else:
            return False
        return True

    def _keys_read(
        self, tasks: Sequence[_Task], values: Mapping[bytes, bytes | None] | None
    ) -> None:
        self._foreseen(tasks, None if values is None else partial(ForeseenReads, values))

    def _pages_read(self, tasks: Sequence[_Task], pages: Mapping[PageWanted, Page] | None) -> None:
        self._foreseen(tasks, None if pages is None else partial(ForeseenReads, pages=pages))

    def _foreseen(self, tasks: Sequence[_Task], reads: Callable[[], ForeseenReads] | None) -> None:
        """Attempt requests again, with their reads; without, each runs on a thread."""
        for task in tasks:
            try:
                if reads is None:
                    self._run_on_thread(task)
                else:
                    self._attempt(task, reads())
            except Exception as error:  # noqa: BLE001  # every request is answered
                self._end(task, self._failed(task.call, error))
        self._answers.hand_over()

    # --- on threads --------------------------------------------------------------------------

    def _run_on_thread(self, task: _Task, reads: ForeseenReads | None = None) -> None:
        task.on_thread = True
        task.reads = reads
        work, back = partial(self._work, task), partial(self._performed, task)
        self._schedule.start(work, back, computes=task.route.computes)

    def _work(self, task: _Task) -> _Answer | None:
        """Run a request on a thread: the answer, or None if another thread commits its write."""
        route, call, schedule = task.route, task.call, self._schedule
        # Digests of large bodies release the interpreter's lock: no turn is needed.
        if call.opened is None:
            self._admit(task, self._clock.now_us())
        assert call.opened is not None
        with schedule.long_turn():
            LOOP_TURN.give_way()
            self._check_wanted(task.request)
            turns = LOOP_TURN.begun
            asked = task.asked if task.decoded else route.decode(task.asked)
            task.asked = None
            result = self._called(task, call.opened.instance, asked)
            body = b"" if route.writes else route.encode(result)
            if not route.writes and schedule.hashes_in_turn(LOOP_TURN.begun - turns):
                return self._enveloped(route, call, result, body)
        if route.writes:
            task.pace = result.pace
            end = self._committer.submit(result, task, schedule.rules.caller)
            if end is None:
                return None
            result, error = end
            if error is not None:
                raise error
            body = route.encode(result)
        return self._enveloped(route, call, result, body)

    def _called(self, task: _Task, instance: str, asked: Any) -> Any:  # noqa: ANN401  # the route's own
        """Run the operation on a thread, again if its view was lost."""
        route, reads = task.route, task.reads
        if reads is not None:
            task.reads = None
            with suppress(NotForeseen):
                return reads.attempt(lambda: route.call(route.operations, instance, asked))
        return read_anew(lambda: route.call(route.operations, instance, asked))

    def _enveloped(
        self,
        route: _Route,
        call: _Call,
        result: Any,  # noqa: ANN401  # what the route's `encode` takes
        body: bytes,
    ) -> _Answer:
        """Make an answer on a thread, with a date of its own."""
        return _answer(route, call, result, body, route.answer_date(self._clock.now_us()))

    def _performed(self, task: _Task, future: "Future[_Answer | None]") -> None:
        """Write an answer that a thread has made. On the loop."""
        pace = task.pace
        if pace is not None and future.exception() is None and future.result() and pace():
            task.pace = None
            self._paced.hold(pace, partial(self._performed, task, future))
            return
        try:
            answer = future.result()
            if answer is None:
                return
            response = self._answered(task.call, answer)
        except Exception as error:  # noqa: BLE001  # every request is answered
            response = self._failed(task.call, error)
        self._end(task, response)
        self._answers.hand_over()

    # --- answers -----------------------------------------------------------------------------

    def _succeeded(
        self,
        task: _Task,
        result: Any,  # noqa: ANN401  # what the route's `encode` takes
    ) -> Response:
        """Make the answer to a request, and count it. On the loop."""
        route, call = task.route, task.call
        body, date = route.encode(result), self._answers.date(route.dialect)
        return self._answered(call, _answer(route, call, result, body, date))

    def _answered(self, call: _Call, answer: _Answer) -> Response:
        """Count an answer. On the loop."""
        response, consumed = answer
        if consumed is not None:
            read_units, write_units = consumed
            call.counts.consumed(read_units, write_units)
        elapsed_ns = self._note(call, 200, "OK")
        if elapsed_ns >= SLOW_NS:
            self._remember(call, 200, "OK", elapsed_ns, b"")
        return response

    def _refused_unread(self, dialect: Dialect, received_ns: int, error: Exception) -> Response:
        """The answer to a request without a known operation. Written at once."""
        call = _Call(dialect, self._others, "", "/", self._ids.next(), received_ns)
        return self._refused(call, error, dialect.answer_date(self._clock.now_us()))

    def _failed(self, call: _Call, error: Exception) -> Response:
        """The answer to a refused request, added to the answers of this turn."""
        return self._refused(call, error, self._answers.date(call.dialect))

    def _refused(
        self,
        call: _Call,
        error: Exception,
        date: Any,  # noqa: ANN401  # the dialect's own
    ) -> Response:
        refusal = call.dialect.refuse(error, call.name)
        head = call.dialect.envelope(call.path, refusal.body, call.request_id, date, call.opened)
        elapsed_ns = self._note(call, refusal.status, refusal.code)
        self._remember(call, refusal.status, refusal.code, elapsed_ns, refusal.lines)
        if not isinstance(error, WiderowError):
            facts = {"action": call.counts.action, "request_id": call.request_id}
            log_unforeseen(_log, error, **facts)
        elif isinstance(error, StoreDamaged):
            facts = {
                "action": call.counts.action,
                "request_id": call.request_id,
                "reason": str(error),
            }
            _log.error("damage in the store; run widerow doctor", extra={"facts": facts})
            self._engine.store.distrust(str(error))
        elif isinstance(error, StorageFailure):
            self._committer.report(error)
        return Response(refusal.status, head + refusal.lines, refusal.body)

    def _counted(self, request: Request, action: str, response: Response) -> Response:
        """Count the answer of a page (`/metrics` and others)."""
        self._count(
            self._metrics.of(action),
            "",
            request.received_ns,
            response.status,
            "OK" if response.status == 200 else "-",
        )
        return response

    def _remember(self, call: _Call, status: int, code: str, elapsed_ns: int, lines: bytes) -> None:
        """Keep a slow or refused request in the recent ones."""
        if self.recent is not None:
            instance = "" if call.opened is None else call.opened.instance
            request = call.counts.action, instance, call.request_id
            self.recent.notice(request, (status, code), elapsed_ns, lines)

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


def _answer(
    route: _Route,
    call: _Call,
    result: Any,  # noqa: ANN401  # what the route's `encode` takes
    body: bytes,
    date: Any,  # noqa: ANN401  # the dialect's own
) -> _Answer:
    """Make an answer in its envelope, without counting it. On any thread."""
    consumed = None if route.consumed is None else route.consumed(result)
    head = route.envelope(call.path, body, call.request_id, date, call.opened)
    return Response(200, head, body), consumed


def _unclaimed_of(dialects: Sequence[Dialect]) -> Dialect | None:
    """The dialect that answers what none claims. Raises `ValueError` where several would."""
    found = [each for each in dialects if each.answers_unclaimed]
    if len(found) > 1:
        names = ", ".join(each.name for each in found)
        raise ValueError(f"one dialect of a port may answer what none claims, not: {names}")
    return found[0] if found else None
