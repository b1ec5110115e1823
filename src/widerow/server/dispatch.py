"""From a request to its answer: find the operation, verify the sender, decode, run, encode.

Checks come in the protocol's order (wire §1.2): method, action, headers and identity
(`wire/tablestore/envelope.py`), permission, then decoding and the engine's own rules. Whatever a
client sends is answered with an error of the protocol; an exception that nobody foresaw is
answered as an internal error and logged with its frames, and without its words: they may hold
what the client stored.

Reads run here, on the loop, unless the store says that its reads may block; then requests run on
a few threads. Writes become plans, which the committer carries out; their answers come back on the
loop.

What one turn of the loop reads is gathered and then run stage by stage: all senders verified, then
all messages decoded, all asked of the engine, all answered, all written. A stage's code is fetched
once for many requests that way, and not for each of them again: one request walks through more code
than a processor keeps at hand (docs/internals/performance.md has what it brings).
"""

import logging
import traceback
from asyncio import AbstractEventLoop
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, final

from mypy_extensions import mypyc_attr

from widerow.auth.keyring import Keyring, Permission
from widerow.auth.policy import InstancePolicy, authorize
from widerow.clock import Clock, Entropy
from widerow.engine.engine import Engine
from widerow.errors import InvalidRequest, Rule, StorageFailure, StoreDamaged, WiderowError
from widerow.limits import (
    BATCH_THREADS,
    BLOCKING_THREADS_MAX,
    BUSY_TURNS,
    LENGTHY_BODY_BYTES,
    LENGTHY_THREADS_MAX,
    STAGE_REQUESTS_MAX,
    STAGED_BYTES_MAX,
    STAGED_ROW_BYTES_MAX,
)
from widerow.model.answers import RowRead
from widerow.server.message import Reply, Request, Response
from widerow.server.metrics import ActionCounts, Metrics
from widerow.server.probes import Probes, text
from widerow.server.system import processors
from widerow.server.turn import LOOP_TURN
from widerow.server.waiting import Done, End
from widerow.storage.bulk import LONG_WORK
from widerow.wire.tablestore.envelope import (
    AnswerDate,
    Opened,
    answer_date,
    open_request,
    response_headers,
)
from widerow.wire.tablestore.errors import encode_error, foreign, hint
from widerow.wire.tablestore.operations.table import (
    OPERATIONS,
    OWN,
    UNSUPPORTED,
    Operation,
    operation,
)

if TYPE_CHECKING:
    from widerow.engine.plan import Plan

__all__ = ["Commits", "Dispatcher", "Identity", "RequestIds"]

_log = logging.getLogger("widerow.server")

_NO_ACTION: Final = "other"  # in metrics: what clients make up is no label
_UNIQUE_BYTES: Final = 10  # of a process, in its request ids: 80 bits, written as 20 digits
_TWO_DIGITS: Final = tuple([f"{number:02x}" for number in range(256)])


@dataclass(frozen=True, slots=True)
class Identity:
    """Who may come in: the keys and the instances. A value; replace it whole to change it."""

    keyring: Keyring
    instances: InstancePolicy


class Commits(Protocol):
    """Where writes go. Called on the loop's thread, but for one."""

    def submit(self, plan: "Plan[Any]", done: Done) -> None:
        """Commit `plan`, in a group with others; `done` gets its answer or its error."""
        ...

    def commit_alone(self, plan: "Plan[Any]") -> End | None:
        """On another thread: commit `plan` alone and say how it ended, or None to submit it."""
        ...

    def flush(self) -> None:
        """Nothing more comes in this turn: do not wait for the turn's end."""
        ...

    def report(self, error: StorageFailure) -> None:
        """The store refused a write elsewhere."""
        ...


class RequestIds:
    """Identifiers of requests: 36 characters, shaped as the protocol's clients know them.

    Unique by a random prefix for each process and a counter; nothing about them is secret.
    """

    __slots__ = ("_count", "_front", "_prefix")

    def __init__(self, entropy: Entropy) -> None:
        """Choose the prefix."""
        digits = entropy.token_bytes(_UNIQUE_BYTES).hex()
        self._prefix = f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:]}-"
        self._count = 0
        self._front = f"{self._prefix}{0:010x}"  # all but the last two digits

    def next(self) -> str:
        """One that was not given out before. Cost: a concatenation."""
        count = self._count = self._count + 1
        last = count & 0xFF
        if last == 0:
            self._front = f"{self._prefix}{count >> 8:010x}"
        return self._front + _TWO_DIGITS[last]


@mypyc_attr(acyclic=True)
@final
class _Route:
    """An operation, its counts, who may ask for it, and the signed path, without a prefix.

    The operation's functions are the route's own: to call a tuple's costs a search for a method.
    """

    __slots__ = (
        "call",
        "computes",
        "consumed",
        "counts",
        "decode",
        "encode",
        "lengthy",
        "path",
        "permission",
        "writes",
    )

    def __init__(self, operation: Operation, counts: ActionCounts) -> None:
        self.writes = operation.writes
        self.decode = operation.decode
        self.call = operation.call
        self.encode = operation.encode
        self.consumed = operation.consumed
        self.lengthy = operation.lengthy
        self.computes = operation.writes and operation.lengthy is not None  # and then waits
        self.counts = counts
        self.permission = Permission(operation.permission)
        self.path = "/" + operation.name


@mypyc_attr(acyclic=True)
@final
class _Call:
    """What an answer needs to know of its request; `opened` once that is known."""

    __slots__ = ("counts", "opened", "path", "received_ns", "request_id")

    def __init__(self, counts: ActionCounts, path: str, request_id: str, received_ns: int) -> None:
        self.counts = counts
        self.path = path
        self.request_id = request_id
        self.received_ns = received_ns
        self.opened: Opened | None = None


@mypyc_attr(acyclic=True)
@final
class _Task:
    """One request on its way through the stages. Called with a write's outcome."""

    __slots__ = ("asked", "call", "dispatcher", "reply", "request", "route")

    def __init__(
        self, dispatcher: "Dispatcher", route: _Route, request: Request, reply: Reply, call: _Call
    ) -> None:
        self.dispatcher = dispatcher
        self.route = route
        self.request = request
        self.reply = reply
        self.call = call
        # The body, then what the operation's `decode` made of it, then a read's result.
        self.asked: Any = None

    def __call__(self, answer: Any, error: Exception | None) -> None:  # noqa: ANN401  # the plan's
        """A write is durable, or refused (`Done`)."""
        self.dispatcher.settled(self, answer, error)


_Answer = tuple[Response, tuple[int, int] | None]
"""A response, and the capacity units that it says were consumed."""


class Dispatcher:
    """The handler of the port. Lives on the loop's thread; nothing it is handed makes it raise."""

    def __init__(
        self,
        engine: Engine,
        committer: Commits,
        probes: Probes,
        identity: Identity,
        clock: Clock,
        entropy: Entropy,
        metrics: Metrics,
    ) -> None:
        """Serve `engine`, committing through `committer`."""
        self.identity = identity
        self._engine = engine
        self._committer = committer
        self._probes = probes
        self._clock = clock
        self._metrics = metrics
        self._others = metrics.of(_NO_ACTION)
        self._ids = RequestIds(entropy)
        self._routes = _routes({**OPERATIONS, **OWN}, metrics)
        self._traced = _log.isEnabledFor(logging.DEBUG)
        self._gathered: list[_Task] = []
        self._ended: list[tuple[Reply, Response]] | None = None  # while stages run
        self._ended_bytes = 0
        self._date: AnswerDate | None = None  # of all answers of these stages, once one asks
        self._now_us = 0  # when these stages began
        self._lengthy = 0  # on threads, or written by what a thread has planned
        self._loop: AbstractEventLoop | None = None
        self._threads: ThreadPoolExecutor | None = None
        self._batch_thread: ThreadPoolExecutor | None = None
        self._always = False
        self._crowded = False
        self._turn_of_work: AbstractContextManager[object] = LONG_WORK

    def use_loop(self, loop: AbstractEventLoop, *, always: bool) -> None:
        """Gather the requests of each turn of `loop`, and run lengthy ones on threads.

        Without a loop each request is run as it comes. Lengthy ones share the processor with the
        loop in slices of the interpreter's switch interval instead of holding everyone up. Writes
        among them have a thread of their own: they compute from their first byte to their sync, and
        two of them would do nothing but take the interpreter's lock from each other.
        `always`: every request runs on threads, because the store may block.
        """
        self._loop = loop
        self._always = always
        self._crowded = processors() <= LENGTHY_THREADS_MAX
        if always:
            self._turn_of_work = nullcontext()  # nobody waits for a store with the turn in hand
            self._threads = ThreadPoolExecutor(BLOCKING_THREADS_MAX, "widerow-request")
            self._batch_thread = self._threads
        else:
            self._threads = ThreadPoolExecutor(LENGTHY_THREADS_MAX, "widerow-request")
            self._batch_thread = ThreadPoolExecutor(BATCH_THREADS, "widerow-batch")

    def close(self) -> None:
        """End the threads, if there are any, after the work they have."""
        for threads in (self._threads, self._batch_thread):
            if threads is not None:
                threads.shutdown()

    def handle(self, request: Request, reply: Reply) -> Response | None:
        """Answer now, or return None and call `reply` on the loop's thread later."""
        route = self._routes.get(request.target)
        if route is not None and request.method == b"POST":
            return self._run(route, request, reply)
        target = request.target.decode("latin-1").partition("?")[0]
        if request.method in (b"GET", b"HEAD"):
            page = self._probes.page(target)
            if page is not None:
                return self._counted(request, target[1:], page)
        action = _action_of(target)
        known = action in OPERATIONS or action in OWN or action in UNSUPPORTED
        if request.method in (b"GET", b"HEAD") and not known:
            words = "not found; GET serves /livez /readyz /version /metrics, actions are POSTed"
            return self._counted(request, _NO_ACTION, text(404, words))
        call = _Call(self._others, "/" + action, self._ids.next(), request.received_ns)
        try:
            if request.method != b"POST":
                raise InvalidRequest(Rule.HTTP_METHOD)
            found = operation(action)
        except WiderowError as error:
            return self._failed(call, error)
        return self._run(_Route(found, self._metrics.of(found.name)), request, reply)

    def refuse(self, error: WiderowError) -> Response:
        """The answer to something that never became a request."""
        now_ns = self._clock.monotonic_ns()
        return self._failed(_Call(self._others, "/", self._ids.next(), now_ns), error)

    # --- stages ------------------------------------------------------------------------------

    def _run(self, route: _Route, request: Request, reply: Reply) -> Response | None:
        call = _Call(route.counts, route.path, self._ids.next(), request.received_ns)
        task = _Task(self, route, request, reply, call)
        if self._loop is None:
            ended = self._run_stages([task])
            return ended[0][1] if ended else None
        if self._lengthy and not self._always:
            LOOP_TURN.begin()
        self._gathered.append(task)
        if len(self._gathered) == 1:
            self._loop.call_soon(self._turn)
        return None

    def _turn(self) -> None:
        """Run what was gathered in this turn of the loop."""
        tasks, self._gathered = self._gathered, []
        try:
            for first in range(0, len(tasks), STAGE_REQUESTS_MAX):
                _hand_over(self._run_stages(tasks[first : first + STAGE_REQUESTS_MAX]))
        finally:
            LOOP_TURN.end()
        tasks = []  # what nobody needs any more makes room before a group is committed
        # Reads need not wait for what is synced now.
        ended = self._ended = []
        self._ended_bytes = 0
        self._date = None
        self._committer.flush()
        self._ended = None
        _hand_over(ended)

    def _run_stages(self, tasks: list[_Task]) -> list[tuple[Reply, Response]]:
        """Run requests stage by stage; those that are answered now, and with what."""
        ended = self._ended = []
        self._ended_bytes = 0
        self._date = None
        self._now_us = self._clock.now_us()
        for stage in (self._verify, self._decode, self._ask, self._encode):
            tasks = self._through(stage, tasks)
        self._ended = None
        return ended

    def _through(self, stage: Callable[[_Task], bool], tasks: list[_Task]) -> list[_Task]:
        """The tasks that go on behind this stage; those that fail in it are answered."""
        going_on = []
        for task in tasks:
            try:
                if stage(task):
                    going_on.append(task)
            except Exception as error:  # noqa: BLE001  # every request is answered
                self._end(task.reply, self._failed(task.call, error))
        return going_on

    def _end(self, reply: Reply, response: Response) -> None:
        """Answer a request: behind the stages if they run, else at once."""
        ended = self._ended
        if ended is None:
            reply(response)
            return
        ended.append((reply, response))
        self._ended_bytes += len(response.body)
        if self._ended_bytes > STAGED_BYTES_MAX and self._loop is not None:
            early = ended.copy()
            ended.clear()
            self._ended_bytes = 0
            _hand_over(early)

    def _verify(self, task: _Task) -> bool:
        threaded = self._threads is not None
        # The digest of a large body alone takes as long as ten others' requests.
        if threaded and len(task.request.body) > LENGTHY_BODY_BYTES:
            self._run_on_thread(task)
            return False
        self._admit(task, self._now_us)
        if threaded and self._is_lengthy(task.route, task.asked):
            self._run_on_thread(task)
            return False
        return True

    def _admit(self, task: _Task, now_us: int) -> None:
        """Verify and permit the request, and take its body. On any thread."""
        opened, task.asked = self._open(task.call.path, task.request, now_us)
        task.call.opened = opened
        task.request.let_go()
        authorize(opened.key, task.route.permission)

    def _decode(self, task: _Task) -> bool:
        task.asked = task.route.decode(task.asked)
        return True

    def _ask(self, task: _Task) -> bool:
        """Ask the engine; what it plans to write goes to the committer."""
        route, call = task.route, task.call
        assert call.opened is not None
        result = route.call(self._engine, call.opened.instance, task.asked)
        if route.writes:
            task.asked = None
            self._committer.submit(result, task)
            return False
        task.asked = result
        # What may be large is answered now, so that no turn holds many of them.
        if route.lengthy is not None or _is_large(result):
            return self._encode(task)
        return True

    def _encode(self, task: _Task) -> bool:
        answer = self._answer(task.route, task.call, task.asked)
        self._end(task.reply, self._answered(task.call, answer))
        return False

    def _open(self, path: str, request: Request, now_us: int) -> tuple[Opened, bytes]:
        if request.repeated:
            raise InvalidRequest(Rule.HEADER_DUPLICATE, name=request.repeated)
        identity = self.identity
        return open_request(
            path,
            request.headers,
            request.body,
            identity.keyring,
            identity.instances,
            now_us,
            request.names,
        )

    def _is_lengthy(self, route: _Route, body: bytes) -> bool:
        lengthy = route.lengthy
        return self._always or (lengthy is not None and lengthy(body))

    def _run_on_thread(self, task: _Task) -> None:
        threads = self._batch_thread if task.route.computes else self._threads
        assert threads is not None
        assert self._loop is not None
        loop = self._loop
        task.reply = partial(self._end_lengthy, task.reply)
        back = partial(self._performed, task)
        work = threads.submit(self._work, task)
        self._lengthy += 1
        work.add_done_callback(lambda done: loop.call_soon_threadsafe(back, done))

    def _end_lengthy(self, reply: Reply, response: Response) -> None:
        self._lengthy -= 1
        reply(response)

    def _work(self, task: _Task) -> Any:  # noqa: ANN401  # as below
        """On a thread: the whole of an answer, or the plan of a write that has to be submitted."""
        route, call = task.route, task.call
        # Digests of large bodies let other threads run: they need no turn.
        if call.opened is None:
            self._admit(task, self._clock.now_us())
        assert call.opened is not None
        with self._turn_of_work:
            LOOP_TURN.give_way()
            turns = LOOP_TURN.begun
            asked = route.decode(task.asked)
            task.asked = None
            result = route.call(self._engine, call.opened.instance, asked)
            body = b"" if route.writes else route.encode(result)
            if self._crowded and LOOP_TURN.begun - turns > BUSY_TURNS and not route.writes:
                # Others are served meanwhile, and no processor is left for them if the next one
                # computes while this answer is hashed.
                return _signed(route, call, result, body, answer_date(self._clock.now_us()))
        if route.writes:
            end = None if self._always else self._committer.commit_alone(result)
            if end is None:
                return result
            result, error = end
            if error is not None:
                raise error
            body = route.encode(result)
        return _signed(route, call, result, body, answer_date(self._clock.now_us()))

    def _performed(self, task: _Task, future: "Future[Any]") -> None:
        """Back on the loop."""
        try:
            result = future.result()
            if not isinstance(result, tuple):
                self._committer.submit(result, task)
                return
            response = self._answered(task.call, result)
        except Exception as error:  # noqa: BLE001  # every request is answered
            response = self._failed(task.call, error)
        task.reply(response)

    def settled(
        self,
        task: _Task,
        answer: Any,  # noqa: ANN401  # what the operation's plan returns
        error: Exception | None,
    ) -> None:
        """A write is durable, or refused."""
        call = task.call
        if error is not None:
            self._end(task.reply, self._failed(call, error))
            return
        try:
            response = self._answered(call, self._answer(task.route, call, answer))
        except Exception as failure:  # noqa: BLE001  # every request is answered
            response = self._failed(call, failure)
        self._end(task.reply, response)

    # --- answers -----------------------------------------------------------------------------

    def _answer(
        self,
        route: _Route,
        call: _Call,
        result: Any,  # noqa: ANN401  # what the route's `encode` takes
    ) -> _Answer:
        """On the loop: the answer to a request that succeeded, not yet counted."""
        return _signed(route, call, result, route.encode(result), self._date_now())

    def _date_now(self) -> AnswerDate:
        """On the loop: the date of an answer. What is answered together has one."""
        if self._ended is None:
            return answer_date(self._clock.now_us())
        date = self._date
        if date is None:
            date = self._date = answer_date(self._clock.now_us())
        return date

    def _answered(self, call: _Call, answer: _Answer) -> Response:
        """On the loop: count it."""
        response, consumed = answer
        if consumed is not None:
            read_units, write_units = consumed
            call.counts.consumed(read_units, write_units)
        self._note(call, 200, "OK")
        return response

    def _failed(self, call: _Call, error: Exception) -> Response:
        status, code, message = foreign(error)
        body = encode_error(code, message)
        head = response_headers(call.path, body, call.request_id, self._date_now(), call.opened)
        allow = b"allow: POST\r\n" if status == 405 else b""
        self._note(call, status, code)
        if not isinstance(error, WiderowError):
            frames = "".join(traceback.format_tb(error.__traceback__))
            facts = {"action": call.counts.action, "request_id": call.request_id, "frames": frames}
            _log.error("unforeseen %s", type(error).__name__, extra={"facts": facts})
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
        return Response(
            status, b"%b%bx-widerow-hint: %b\r\n" % (head, allow, hint(error).encode()), body
        )

    def _counted(self, request: Request, action: str, response: Response) -> Response:
        call = _Call(self._metrics.of(action), "", "", request.received_ns)
        self._note(call, response.status, "OK" if response.status == 200 else "-")
        return response

    def _note(self, call: _Call, status: int, code: str) -> None:
        elapsed_ns = self._clock.monotonic_ns() - call.received_ns
        call.counts.answered(code, elapsed_ns)
        if self._traced:
            facts = {
                "action": call.counts.action,
                "status": status,
                "code": code,
                "us": elapsed_ns // 1000,
                "request_id": call.request_id,
            }
            _log.debug("answered", extra={"facts": facts})


def _signed(
    route: _Route,
    call: _Call,
    result: Any,  # noqa: ANN401  # what the route's `encode` takes
    body: bytes,
    date: AnswerDate,
) -> _Answer:
    """On any thread: an answer with its signature, not yet counted."""
    consumed = None if route.consumed is None else route.consumed(result)
    head = response_headers(call.path, body, call.request_id, date, call.opened)
    return Response(200, head, body), consumed


def _is_large(result: object) -> bool:
    return isinstance(result, RowRead) and len(result.row) > STAGED_ROW_BYTES_MAX


def _hand_over(ended: list[tuple[Reply, Response]]) -> None:
    """Write answers; a connection that cannot take its own keeps nobody from theirs."""
    for reply, response in ended:
        try:
            reply(response)
        except Exception as error:  # noqa: BLE001  # see above
            frames = "".join(traceback.format_tb(error.__traceback__))
            _log.error("unforeseen %s", type(error).__name__, extra={"facts": {"frames": frames}})


def _routes(operations: Mapping[str, Operation], metrics: Metrics) -> dict[bytes, _Route]:
    return {
        f"/{name}".encode(): _Route(each, metrics.of(each.name))
        for name, each in operations.items()
    }


def _action_of(target: str) -> str:
    """The action of a target, whatever prefix the endpoint has: its last segment.

    The actions of tunnels are the only ones of two segments.
    """
    before, _, last = target.rpartition("/")
    return f"tunnel/{last}" if before.endswith("/tunnel") else last
