"""A dispatcher on a memory store, asked without a network."""

import asyncio
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

from tests.support.engines import open_tablestore
from tests.support.http import Answer, Sender

from widerow.auth.keyring import Keyring
from widerow.auth.policy import AccessRules, InstancePolicy
from widerow.commit.committer import Committer, Uncounted
from widerow.commit.places import Caller
from widerow.commit.waiting import Done
from widerow.engine.ends import End
from widerow.engine.plan import Plan
from widerow.server.admission import Admission
from widerow.server.dispatch import Dispatcher
from widerow.server.message import Request, Response
from widerow.server.metrics import Metrics
from widerow.server.probes import Probes
from widerow.server.schedule import Rules, Schedule, rules_for
from widerow.server.service import Service
from widerow.storage.interface import Store
from widerow.system import SystemClock, SystemEntropy
from widerow.wire.tablestore.dialect import TABLESTORE_DIALECT
from widerow.wire.tablestore.operations.table import OPERATIONS

if TYPE_CHECKING:
    from widerow.wire.dialect import WireOperation

__all__ = [
    "BLOCKING",
    "LOCAL",
    "ON_THE_LOOP",
    "SENDER",
    "Desk",
    "Held",
    "bare",
    "compressed",
    "in_one_turn",
    "later",
    "read",
    "signed",
]

SENDER = Sender()


LOCAL = rules_for(2, reads_may_block=False)
ON_THE_LOOP = replace(LOCAL, request_threads=0, batch_threads=0)
BLOCKING = rules_for(2, reads_may_block=True)


class Held(Committer):
    """Commits when told to; the error it was given stands for a store that refuses."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, SystemClock(), Uncounted())
        self.failure: Exception | None = None
        self.held: list[tuple[Plan[Any], Done]] = []
        self.callers: list[Caller] = []

    def submit(
        self, plan: Plan[Any], done: Done | None, caller: Caller = Caller.ELSEWHERE
    ) -> End | None:
        self.callers.append(caller)
        if caller is Caller.REQUEST and self.failure is None:
            end = super().submit(plan, done, caller)
            if end is None:
                self._line.clear()  # it is `settle` that commits
                assert done is not None
                self.held.append((plan, done))
            return end
        assert done is not None
        self.held.append((plan, done))
        return None

    def settle(self) -> None:
        plan, done = self.held.pop(0)
        try:
            if self.failure is not None:
                raise self.failure  # noqa: TRY301  # what the store would raise
            answer, error = super().submit(plan, None, Caller.BLOCKED) or (None, None)
        except Exception as failure:  # noqa: BLE001  # as the writer does
            answer, error = None, failure
        done(answer, error)


class Loop:
    """As much of a loop as a dispatcher needs that runs nothing on threads."""

    def __init__(self) -> None:
        self._due: list[Callable[[], None]] = []

    def call_soon(self, work: Callable[[], None]) -> None:
        self._due.append(work)

    def end_turn(self) -> None:
        due, self._due = self._due, []
        for work in due:
            work()


class Desk:
    """A dispatcher on a memory store, asked without a network."""

    def __init__(self, store: Store) -> None:
        self.clock = SystemClock()
        self.store = store
        self.committer = Held(store)
        self.metrics = Metrics()
        self.admission = Admission()
        self.engine = open_tablestore(store, self.clock, SystemEntropy())
        self.identity = AccessRules(Keyring.default(), InstancePolicy())
        self.dialect = TABLESTORE_DIALECT
        self.served: dict[str, WireOperation] = {}
        self.loop = Loop()
        self.dispatcher = self.made(ON_THE_LOOP, cast("asyncio.AbstractEventLoop", self.loop))
        self.replies: list[Response] = []

    def made(self, rules: Rules, loop: asyncio.AbstractEventLoop) -> Dispatcher:
        """A dispatcher that goes by these rules and serves what the desk does."""
        paths = {f"/{name}".encode(): each for name, each in self.served.items()}
        dialect = replace(self.dialect, paths={**self.dialect.paths, **paths})
        return Dispatcher(
            Service(self.engine.core, self.committer, self.clock, SystemEntropy(), self.metrics),
            Probes(self.engine.core, self.committer, self.admission, self.metrics),
            self.identity,
            Schedule(rules, loop),
            (dialect,),
        )

    def handle(self, request: Request) -> Response | None:
        """The answer if there is one when the turn has ended."""
        response = self.dispatcher.handle(request, self.replies.append)
        self.loop.end_turn()
        if response is None and self.replies:
            response = self.replies.pop()
        return response

    def settle(self) -> Response:
        """Commit, and take the answer as a group's leader has it posted."""
        self.committer.settle()
        self.dispatcher.told(())
        return self.replies.pop()

    def ask(self, request: Request) -> Answer:
        """The answer, whether it comes at once or after a commit."""
        response = self.handle(request)
        return read(self.settle() if response is None else response)

    def serve(self, name: str, **changes: Any) -> None:  # noqa: ANN401  # Operation's fields
        """Let the action `name` be that of the table with changes."""
        self.served[name] = OPERATIONS[name]._replace(**changes)
        self.dispatcher = self.made(ON_THE_LOOP, cast("asyncio.AbstractEventLoop", self.loop))

    def run(
        self, rules: Rules, requests: list[Request], hold: Callable[[], object] = lambda: None
    ) -> list[Answer]:
        """Hand in requests in one turn of a real loop; their answers, in the same order."""

        async def ask() -> list[Response]:
            loop = asyncio.get_running_loop()
            dispatcher = self.made(rules, loop)
            answers: list[asyncio.Future[Response]] = [loop.create_future() for _ in requests]
            try:
                for request, answer in zip(requests, answers, strict=True):
                    assert dispatcher.handle(request, answer.set_result) is None
                while not all(answer.done() for answer in answers):
                    while self.committer.held:
                        hold()
                        self.committer.settle()
                        dispatcher.told(())
                    await asyncio.sleep(0)
            finally:
                dispatcher.close()
            return [await answer for answer in answers]

        return [read(response) for response in asyncio.run(ask())]


def read(response: Response) -> Answer:
    lines = response.head.decode().rstrip("\r\n").split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines)
    headers = {name.lower(): value for name, value in headers.items()}
    return Answer(response.status, headers, response.body)


def signed(action: str, body: bytes = b"", sender: Sender = SENDER, *, target: str = "") -> Request:
    headers = sender.sign(action, sender.headers(body))
    return Request(b"POST", (target or f"/{action}").encode(), headers, body)


def compressed(action: str, body: bytes) -> Request:
    packed = zlib.compress(body)
    headers = SENDER.headers(packed) | {
        "x-ots-request-compress-type": "deflate",
        "x-ots-request-compress-size": str(len(body)),
    }
    return Request(b"POST", f"/{action}".encode(), SENDER.sign(action, headers), packed)


def bare(method: str, target: str) -> Request:
    return Request(method.encode(), target.encode(), {}, b"")


def later(desk: Desk, request: Request, rules: Rules) -> Answer:
    """Ask on a loop."""
    return desk.run(rules, [request])[0]


def in_one_turn(desk: Desk, requests: list[Request]) -> list[Answer]:
    """Hand in requests in one turn of a loop; their answers in the order of the requests."""
    return desk.run(LOCAL, requests)
