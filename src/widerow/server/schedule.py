"""The rules that say on which thread a request runs, and the threads themselves.

Short requests run on the loop: handing them to a thread would cost more than it saves. Requests
that take a millisecond or more run on threads, which share the processor with the loop in slices:
two threads for reads and one for long writes. Writes compute from their first byte to their sync,
so two threads of them would only take the interpreter's lock from each other. One of the threads
computes at a time (`storage/bulk.py`), and it pauses for the loop's turns (`turn.py`).

A store whose reads may block has other rules and the same code: a request whose reads are foreseen
is tried on the loop, and waits without a thread (`storage/foresight.py`). Every other one runs on
one of many threads, and no thread holds the lock of long work while it waits for such a store.

Compiled, because it is called for every request.
"""

from asyncio import AbstractEventLoop
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Final, TypeVar, final

from widerow.commit.places import Caller
from widerow.limits import (
    BATCH_THREADS,
    BLOCKING_THREADS_MAX,
    BUSY_TURNS,
    CALM_TURNS,
    LENGTHY_BODY_BYTES,
    LENGTHY_THREADS_MAX,
    SHARED_TURN_REQUESTS,
    STATEMENTS_MAX,
)
from widerow.server.turn import LOOP_TURN
from widerow.storage.bulk import LONG_WORK
from widerow.storage.sockets import Sockets

_R = TypeVar("_R")

__all__ = ["Rules", "Schedule", "rules_for"]


@final
@dataclass(frozen=True)
class Rules:
    """The rules of a schedule.

    `request_threads`: for requests, 0 to run all on the loop; `batch_threads`: for writes that
    compute, 0 if they run on the request threads. `all_on_threads`: every request runs on a thread.
    `caller`: the kind of caller with which a request's thread submits its plan. `takes_turns`: one
    thread computes at a time. `crowded`: threads that compute leave no processor to the loop.
    """

    request_threads: int
    batch_threads: int
    all_on_threads: bool
    caller: Caller
    takes_turns: bool
    crowded: bool


def rules_for(
    processors: int, *, reads_may_block: bool, blocking_threads: int = BLOCKING_THREADS_MAX
) -> Rules:
    """The rules for a store and a machine.

    `blocking_threads`: how many requests may wait for a store at one time, where reads may block.
    """
    if reads_may_block:
        return Rules(
            request_threads=blocking_threads,
            batch_threads=0,
            all_on_threads=True,
            caller=Caller.ELSEWHERE,
            takes_turns=False,
            crowded=False,
        )
    return Rules(
        request_threads=LENGTHY_THREADS_MAX,
        batch_threads=BATCH_THREADS,
        all_on_threads=False,
        caller=Caller.REQUEST,
        takes_turns=True,
        crowded=processors <= LENGTHY_THREADS_MAX,
    )


_NOTHING: Final = nullcontext()


class Schedule:
    """The threads of a port and the rules for using them. Lives on the loop's thread.

    `long_turn`, `pass_turn` and `hashes_in_turn` are called on the threads.
    """

    __slots__ = (
        "_batches",
        "_calm",
        "_loop",
        "_requests",
        "_running",
        "_statements",
        "has_threads",
        "rules",
    )

    def __init__(self, rules: Rules, loop: AbstractEventLoop) -> None:
        self.rules = rules
        self.has_threads = rules.request_threads > 0  # else all requests run on the loop
        self._loop = loop
        self._running = (
            0  # requests on threads, and plans of such requests that are not committed yet
        )
        self._calm = CALM_TURNS  # turns without a request on a thread, counted up to a bound
        self._requests: ThreadPoolExecutor | None = None
        self._batches: ThreadPoolExecutor | None = None
        self._statements: ThreadPoolExecutor | None = None
        if rules.request_threads:
            self._requests = ThreadPoolExecutor(rules.request_threads, "widerow-request")
            self._statements = ThreadPoolExecutor(STATEMENTS_MAX, "widerow-statement")
        if rules.batch_threads:
            self._batches = ThreadPoolExecutor(rules.batch_threads, "widerow-batch")

    def close(self) -> None:
        """End the threads after their present work."""
        for threads in (self._requests, self._batches, self._statements):
            if threads is not None:
                threads.shutdown()

    @property
    def sockets(self) -> Sockets:
        """The part of the loop that watches sockets."""
        return self._loop

    # --- turns of the loop -------------------------------------------------------------------

    def when_turn_ends(self, work: Callable[[], None]) -> None:
        """Call `work` when the loop has read all that there is to read now."""
        self._loop.call_soon(work)

    def when_passed(self, seconds: float, work: Callable[[], None]) -> None:
        """Call `work` on the loop after `seconds`."""
        self._loop.call_later(seconds, work)

    def request_came(self) -> None:
        """Begin the loop's turn if a request runs on a thread: that thread pauses until its end.

        Without the pause, each read on the loop would wait for the interpreter's lock.
        """
        if self._running and not self.rules.all_on_threads:
            LOOP_TURN.begin()

    def first_of(
        self, requests: list[_R], may_be_long: Callable[[_R], bool]
    ) -> tuple[list[_R], list[_R]]:
        """The requests of a turn to be answered before the loop reads further ones, and the rest.

        While requests run on threads these are few: a thread's request waits for the loop twice, to
        be read and to be answered. That goes on for some turns, because a client is idle between
        two of its requests. Requests that may run on threads are among the first.
        """
        self.request_came()
        self._calm = 0 if self._running else min(self._calm + 1, CALM_TURNS)
        few = self._calm < CALM_TURNS and not self.rules.all_on_threads
        if not few or len(requests) <= SHARED_TURN_REQUESTS:
            return requests, []
        first: list[_R] = []
        rest: list[_R] = []
        for request in requests:
            into = first if len(first) < SHARED_TURN_REQUESTS or may_be_long(request) else rest
            into.append(request)
        return first, rest

    def turn_ends(self) -> None:
        """End the loop's turn: all requests that it has read are answered."""
        LOOP_TURN.end()

    # --- threads -----------------------------------------------------------------------------

    def verifies_on_thread(self, size: int) -> bool:
        """Whether the digest of a body of this size takes as long as about ten short requests."""
        return size > LENGTHY_BODY_BYTES and self._requests is not None

    def runs_on_thread(self, lengthy: Callable[[bytes], bool] | None, body: bytes) -> bool:
        """Whether a request with that body runs on a thread; `lengthy` is its operation's."""
        if self._requests is None:
            return False
        return self.rules.all_on_threads or (lengthy is not None and lengthy(body))

    def start(
        self, work: Callable[[], Any], back: Callable[["Future[Any]"], None], *, computes: bool
    ) -> None:
        """Run `work` on a thread and then `back` on the loop; `computes`: a write that is long."""
        threads = self._batches if computes and self._batches is not None else self._requests
        self._start(threads, work, back)

    def start_statement(
        self, work: Callable[[], Any], back: Callable[["Future[Any]"], None]
    ) -> None:
        """As `start`, on one of the `STATEMENTS_MAX` threads for statements of SQL."""
        self._start(self._statements, work, back)

    def _start(
        self,
        threads: ThreadPoolExecutor | None,
        work: Callable[[], Any],
        back: Callable[["Future[Any]"], None],
    ) -> None:
        assert threads is not None, "rules without threads run nothing on them"
        loop = self._loop
        future = threads.submit(work)
        self._running += 1
        future.add_done_callback(lambda done: loop.call_soon_threadsafe(back, done))

    def answered(self) -> None:
        """Count a request as answered that was started on a thread."""
        self._running -= 1

    def long_turn(self) -> AbstractContextManager[object]:
        """The lock that a thread holds while it computes."""
        return LONG_WORK if self.rules.takes_turns else _NOTHING

    def pass_turn(self) -> None:
        """Let those compute that wait for the thread that holds `long_turn`, then go on."""
        if self.rules.takes_turns:
            LONG_WORK.pass_on()

    def hashes_in_turn(self, turns: int) -> bool:
        """Whether a page is hashed before the next one is read.

        `turns`: the number of the loop's turns during the read. Hashing releases the interpreter's
        lock, so one page could be hashed while the next is read. But if the loop serves other
        requests and the threads leave it no processor, those requests would wait for both.
        """
        return self.rules.crowded and turns > BUSY_TURNS
