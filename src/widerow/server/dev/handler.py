"""Gets requests before the dispatcher in dev mode: serves its pages, and applies faults.

A request that a fault may strike is opened here as the dispatcher would open it, to know its sender
and its tables; a request that cannot be opened is left to the dispatcher, which refuses it.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from widerow.auth.policy import authorize
from widerow.commit.committer import Committer
from widerow.errors import Injected, WiderowError
from widerow.server.dev.connection import DROPPED
from widerow.server.dev.faults import Arrived, Strike
from widerow.server.dev.mode import DevMode
from widerow.server.dev.pages import DEV_PREFIX, DevPages
from widerow.server.dispatch import Dispatcher
from widerow.server.housekeeper import commit
from widerow.server.message import Reply, Request, Response
from widerow.server.request_ids import RequestIds
from widerow.server.service import Service
from widerow.storage.read_anew import read_anew
from widerow.wire.dialect import Dialect, Opened, WireOperation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from widerow.engine.engine import Engine
from widerow.engine.plan import Plan

__all__ = ["DevHandler"]

_OK: Final = 200


class _Known(NamedTuple):
    """A request that a fault may strike, opened."""

    dialect: Dialect
    operation: WireOperation
    opened: Opened
    asked: Any
    received_ns: int


class DevHandler:
    """The handler of the port in dev mode. It belongs to the loop's thread."""

    def __init__(
        self,
        following: Dispatcher,
        service: Service,
        committer: Committer,
        mode: DevMode,
        dialects: "Sequence[Dialect]",
        *,
        remote: bool,
    ) -> None:
        """`following` gets requests that no fault strikes.

        `remote`: other machines may send commands.
        """
        self._following = following
        self._service = service
        self._engine: Engine = service.engine
        self._committer = committer
        self._mode = mode
        self._dialects = tuple(each for each in dialects if each.fault_parts is not None)
        self._pages = DevPages(mode, remote=remote)
        self._ids = RequestIds(service.entropy)
        self._late: dict[asyncio.TimerHandle, Callable[[], None]] = {}
        self._running: set[asyncio.Task[None]] = set()

    def handle(self, request: Request, reply: Reply) -> Response | None:
        """Answer now, or return None and call `reply` on the loop's thread later."""
        target = request.target
        if target == DEV_PREFIX or target.startswith(DEV_PREFIX + b"/"):
            return self._counted(request, self._pages.answer(request, reply))
        if not self._mode.faults.active or not self._following.is_asked_by_own_name(request):
            return self._following.handle(request, reply)
        known, strike = self._look(request)
        if known is None or strike is None:
            return self._following.handle(request, reply)
        if strike.after and strike.rows is None:
            return self._carry_out_first(request, known, strike, reply)
        if strike.delay_seconds:
            self._later(strike, reply, lambda: self._strike(request, known, strike, reply))
            return None
        return self._strike(request, known, strike, reply)

    def refuse(self, error: WiderowError) -> Response:
        """The answer to bytes that are not HTTP."""
        return self._following.refuse(error)

    def hurry(self) -> None:
        """Answer delayed requests now: the server is stopping."""
        for timer, go_on in list(self._late.items()):
            timer.cancel()
            go_on()

    # --- which fault -------------------------------------------------------------------------

    def _look(self, request: Request) -> tuple[_Known | None, Strike | None]:
        """The opened request, and what a fault does to it."""
        try:
            known = self._open(request)
        except Exception:  # noqa: BLE001  # the dispatcher refuses it
            return None, None
        if known is None or known.dialect.fault_parts is None:
            return None, None
        parts, name = known.dialect.fault_parts(), known.operation.name
        rows = parts.rows(known.asked) if name in parts.batches else ()
        instance = known.opened.instance
        tables = parts.tables(known.dialect.open(self._engine), instance, known.asked)
        arrived = Arrived(name, instance, tables, rows)
        return known, self._mode.faults.strike(arrived)

    def _open(self, request: Request) -> _Known | None:
        """Open a request. Raises what is wrong with it."""
        found = self._operation_of(request)
        if found is None or request.repeated:
            return None
        dialect, operation = found
        identity = self._following.identity
        opened, body = dialect.open_request(
            operation.path,
            request.headers,
            request.body,
            identity.keyring,
            identity.instances,
            self._service.clock.now_us(),
            request.names,
        )
        authorize(opened.key, operation.permission_for(body))
        asked = operation.decode(body)
        return _Known(dialect, operation, opened, asked, request.received_ns)

    def _operation_of(self, request: Request) -> tuple[Dialect, WireOperation] | None:
        method, target = request.method.decode("latin-1"), request.target.decode("latin-1")
        for dialect in self._dialects:
            operation = dialect.paths.get(request.target)
            if operation is not None and method == "POST":
                return dialect, operation
            if dialect.claims(target.partition("?")[0]):
                return dialect, dialect.select(method, target.partition("?")[0], request.body)
        return None

    # --- striking ----------------------------------------------------------------------------

    def _strike(
        self, request: Request, known: _Known, strike: Strike, reply: Reply
    ) -> Response | None:
        """Let a request fail before it runs, or a batch in some of its rows."""
        if strike.drop:
            return self._dropped(known)
        if strike.error is None:
            return self._following.handle(request, reply)
        if strike.rows is None:
            return self._refused(known, strike.error)
        task = asyncio.get_running_loop().create_task(
            self._in_part(known, strike.rows, strike.error, reply, after=strike.after)
        )
        self._running.add(task)
        task.add_done_callback(self._running.discard)
        return None

    def _carry_out_first(
        self, request: Request, known: _Known, strike: Strike, reply: Reply
    ) -> Response | None:
        """Run a request, and give its client another answer, unless the request was refused."""

        def heard(response: Response) -> None:
            if response.status != _OK:
                reply(response)
            elif strike.delay_seconds:
                self._later(strike, reply, lambda: self._instead(known, strike, response))
            else:
                reply(self._instead(known, strike, response))

        response = self._following.handle(request, heard)
        if response is None:
            return None
        if strike.delay_seconds and response.status == _OK:
            self._later(strike, reply, lambda: self._instead(known, strike, response))
            return None
        return self._instead(known, strike, response) if response.status == _OK else response

    def _instead(self, known: _Known, strike: Strike, response: Response) -> Response:
        """The answer for the client of a request that has run."""
        if strike.drop:
            return self._dropped(known)
        return response if strike.error is None else self._refused(known, strike.error)

    def _later(self, strike: Strike, reply: Reply, make: Callable[[], Response | None]) -> None:
        """Make the answer after the delay of the fault."""

        def go_on() -> None:
            del self._late[timer]
            response = make()
            if response is not None:
                reply(response)

        timer = asyncio.get_running_loop().call_later(strike.delay_seconds, go_on)
        self._late[timer] = go_on

    async def _in_part(
        self,
        known: _Known,
        marked: tuple[bool, ...],
        error: Injected,
        reply: Reply,
        *,
        after: bool,
    ) -> None:
        """Run a batch whose marked rows fail; `after`: the marked rows are written, too."""
        operation = known.operation
        assert known.dialect.fault_parts is not None, "it was struck"
        parts = known.dialect.fault_parts()
        try:
            rest = known.asked if after else parts.without(known.asked, marked)
            result = None if rest is None else await self._call(known, rest)
            filled = parts.filled(known.asked, marked, result, error)
            body = operation.encode(filled)
            response = Response(_OK, self._envelope(known, body), body)
            self._count(known, "OK")
            self._consumed(known, filled)
        except Exception as failure:  # noqa: BLE001  # every request is answered
            response = self._refused(known, failure)
        reply(response)

    async def _call(self, known: _Known, asked: Any) -> Any:  # noqa: ANN401  # the operation's own
        """Run the operation in the engine, and commit its plan."""
        operation, instance = known.operation, known.opened.instance
        call = partial(operation.call, known.dialect.open(self._engine), instance, asked)
        result = await asyncio.to_thread(read_anew, call)
        return await commit(self._committer, result) if isinstance(result, Plan) else result

    # --- answers -----------------------------------------------------------------------------

    def _refused(self, known: _Known, error: Exception) -> Response:
        refusal = known.dialect.refuse(error, known.operation.name, "")
        self._count(known, refusal.code)
        head = self._envelope(known, refusal.body)
        return Response(refusal.status, head + refusal.lines, refusal.body)

    def _envelope(self, known: _Known, body: bytes) -> bytes:
        dialect = known.dialect
        date = dialect.answer_date(self._service.clock.now_us())
        return dialect.envelope(known.operation.path, body, self._ids.next(), date, known.opened)

    def _dropped(self, known: _Known) -> Response:
        self._count(known, "dropped")
        return DROPPED

    def _count(self, known: _Known, code: str) -> None:
        counts = self._service.metrics.of(known.dialect.label + known.operation.name)
        counts.answered(code, self._service.clock.monotonic_ns() - known.received_ns)

    def _consumed(self, known: _Known, result: Any) -> None:  # noqa: ANN401  # the operation's own
        if known.operation.consumed is not None:
            counts = self._service.metrics.of(known.dialect.label + known.operation.name)
            counts.consumed(*known.operation.consumed(result))

    def _counted(self, request: Request, response: Response | None) -> Response | None:
        """Count a request to a page of dev mode that was answered at once."""
        if response is not None:
            code = "OK" if response.status < 400 else "-"
            elapsed_ns = self._service.clock.monotonic_ns() - request.received_ns
            self._service.metrics.of("dev").answered(code, elapsed_ns)
        return response
