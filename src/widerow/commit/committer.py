"""Group commit as one state machine: plans come in by `submit`, groups go to the store one by one.

A plan is in one of these states:

    GATHERED    the loop brought it in this turn, which is not over
    IN LINE     behind those that came before it; any number of threads add to the line
    COMMITTING  in the one group that is under way
    LATE        some of its writes go on behind the group, at a server of the store that is slow
    DURABLE     not acknowledged by every server of a shared store (`acknowledgement.py`)
    ENDED       durable or refused, and its caller is told, once

and moves only so:

    submit by the loop           -> GATHERED
    submit by a blocked thread   -> IN LINE, and that thread leads until its plan has ended
    submit by anyone else        -> COMMITTING if `place_of` says so and the turn is free soon,
                                    else IN LINE
    flush (the turn is over)     -> all that is GATHERED, as one group: COMMITTING or IN LINE,
                                    decided in the same way; ENDED (refused) after `stop`
    the turn is taken by a leader-> the first group of the line: COMMITTING
    the store has answered       -> ENDED, told where the group ran, or by way of `post`; or DURABLE
    the store has answered, but for writes that are late -> LATE
    its late writes have ended   -> as if the store had answered then, by whoever has the turn next
    all have acknowledged it     -> ENDED, told by way of `post`, or to the thread that waits

The turn is a lock: whoever holds it commits one group, and nobody takes from the line without it.
Leaders are the writer's thread, once it has been started, blocked callers, and `step`. Plans that
arrive while a sync runs wait in the line and share the next one, so groups grow with the load and
no timer is needed. Plans that arrive together join the line together, or the first of them would be
a group of its own.

The committer itself is open, then stopping (`submit` refuses; what was submitted before is
committed), then stopped: nothing is committed on any thread.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from widerow.commit.acknowledgement import Unacknowledged, wait_for_acknowledgement
from widerow.commit.late import LatePlans
from widerow.commit.places import Caller, DiskWait, Place, place_of
from widerow.commit.waiting import (
    Done,
    Post,
    Waiting,
    end_group,
    load_of,
    next_group,
    refuse_group,
    tell_group,
    writes_of,
)
from widerow.engine.ends import outcomes_of
from widerow.errors import Exhausted, OutcomeUnknown, Rule, StorageFailure
from widerow.limits import ACKNOWLEDGEMENT_SECONDS, ALONE_PATIENCE_SECONDS
from widerow.storage.interface import Outcome, Store, Write
from widerow.storage.late import LateWrites

if TYPE_CHECKING:
    from widerow.clock import Clock
    from widerow.engine.ends import End
    from widerow.engine.plan import Plan

__all__ = ["CommitCounts", "Committer", "Uncounted"]

T = TypeVar("T")


class CommitCounts(Protocol):
    """The counters of committed groups. Called by one thread at a time."""

    def committed(self, writes: int, nanoseconds: int) -> None:
        """Count a group of `writes` writes that took `nanoseconds`."""
        ...

    def commit_failed(self) -> None:
        """Count a group that the store refused."""
        ...


class Uncounted:
    """Counts nothing."""

    def committed(self, writes: int, nanoseconds: int) -> None:
        """Counts nothing."""

    def commit_failed(self) -> None:
        """Counts nothing."""


class _Call(Enum):
    """A message to the writer's thread."""

    LOOK = "a plan was added to the line"
    END = "no plan will be added any more"


class Committer:
    """The line of plans, the turn, and the writer's thread. Any thread may submit."""

    def __init__(
        self,
        store: Store,
        clock: "Clock",
        counts: CommitCounts,
        post: Post = tell_group,
        failed: Callable[[StorageFailure], None] | None = None,
        resumed: Callable[[], None] | None = None,
    ) -> None:
        """Open, without a thread of its own until `start`.

        `post` is given the ended plans that the loop has not committed itself; the default calls
        their `done` on the thread that committed them. `failed` is called with each reported
        failure, `resumed` for the first group that the store takes after it refused one; both on
        the thread that committed the group.
        """
        self._store = store
        self._clock = clock
        self._counts = counts
        self._post = post
        self._failed = failed
        self._resumed = resumed
        # A commit that waits for other machines never runs on the loop.
        waits = store.capabilities.reads_may_block
        self._flushes_as = Caller.ELSEWHERE if waits else Caller.LOOP
        self._refused = False  # since the last group that the store took
        self._gathered: list[Waiting] = []  # for the loop's thread only
        self._line: deque[Waiting] = deque()  # added to under `_joining`, taken from in a turn
        self._joining = threading.Lock()  # no plan joins the line once it is stopped
        self._stopped = False
        self._turn = threading.Lock()  # held by the thread that commits a group
        self._disk = DiskWait()
        self._unacknowledged = Unacknowledged()
        self._late = LatePlans(self._look)
        self._thread: threading.Thread | None = None
        self._calls: SimpleQueue[_Call] = SimpleQueue()  # for the writer's thread

    def start(self) -> None:
        """Start the writer's thread."""
        self._thread = threading.Thread(target=self._write, name="widerow-writer", daemon=True)
        self._thread.start()

    # --- the entry ---------------------------------------------------------------------------

    def submit(
        self, plan: "Plan[Any]", done: Done | None, caller: Caller = Caller.ELSEWHERE
    ) -> "End | None":
        """Commit `plan`, in a group with others or alone. Its end, or None: `done` is told later.

        LOOP: always None. The plan waits for `flush`, which the loop calls when its turn ends.
        REQUEST: the end if this thread has committed it; it waits for the disk then, and for the
        groups of others a moment. BLOCKED: always the end; `done` is None. ELSEWHERE: always None.

        Raises: `Exhausted` (SERVER_STOPPING) after `stop`; nothing was committed then.
        """
        waiting = Waiting(plan, done)
        if caller is Caller.LOOP:
            if self._stopped:
                raise Exhausted(Rule.SERVER_STOPPING)
            self._gathered.append(waiting)
            return None
        if caller is Caller.BLOCKED:
            self._join([waiting])
            self._lead_until_ended(waiting)
            wait_for_acknowledgement(waiting)
            return waiting.end()
        if self._place([waiting], caller) is Place.CALLER:
            waiting.done = None  # the caller reads the end from the result
            if self._commit_here([waiting], ALONE_PATIENCE_SECONDS):
                wait_for_acknowledgement(waiting)
                return waiting.end()
            waiting.done = done
        self._join([waiting])
        return None

    def flush(self) -> None:
        """Commit what the loop has submitted in this turn. Only on the loop's thread."""
        gathered, self._gathered = self._gathered, []
        if not gathered:
            return
        if self._place(gathered, self._flushes_as) is Place.LOOP and self._commit_here(gathered, 0):
            return
        try:
            self._join(gathered)
        except Exhausted as error:
            refuse_group(gathered, error)
            tell_group(gathered)

    def run(self, plan: "Plan[T]") -> T:
        """`submit` for a blocked thread: the answer. Raises what `plan.finish` raises.

        Also `StorageFailure` where the store refused the plan, `Exhausted` after `stop`.
        """
        end = self.submit(plan, None, Caller.BLOCKED)
        assert end is not None, "a blocked caller waits for the end"
        answer, error = end
        if error is not None:
            raise error
        return answer  # type: ignore[no-any-return]  # what this plan's finish returned

    def step(self) -> bool:
        """Commit the first group of the line on the caller's thread; False if the line is empty.

        For callers that decide themselves when a group is run (a simulation).
        """
        with self._turn:
            return self._lead()

    def report(self, error: StorageFailure) -> None:
        """Note that the store refused a write, of this committer or of other code."""
        self._refused = True
        if self._failed is not None:
            self._failed(error)

    def stop(self) -> None:
        """Commit what was submitted before, then end the thread. Idempotent; waits.

        What the loop has gathered and not flushed is refused by its `flush`. Once this has returned
        nothing is committed on any thread.
        """
        with self._joining:
            self._stopped = True
        if self._thread is not None:
            self._calls.put(_Call.END)
            self._thread.join()
            self._thread = None
        while self.step() or self._late:  # waits for the group of another thread, too
            self._late.wait(ACKNOWLEDGEMENT_SECONDS)
        self._unacknowledged.stop()

    @property
    def waiting(self) -> int:
        """How many plans stand in the line."""
        return len(self._line)

    # --- transitions -------------------------------------------------------------------------

    def _place(self, group: Sequence[Waiting], caller: Caller) -> Place:
        load = load_of(group)
        return place_of(
            caller,
            load.writes,
            load.size,
            alone=load.alone,
            others_wait=bool(self._line),
            usual_wait_ns=self._disk.usual_ns,
        )

    def _join(self, group: list[Waiting]) -> None:
        """Add plans to the line in one step, and wake the writer's thread."""
        with self._joining:
            if self._stopped:
                raise Exhausted(Rule.SERVER_STOPPING)
            self._line.extend(group)
        self._look()

    def _look(self) -> None:
        """Let the writer's thread look at the line, and at late plans."""
        if self._thread is not None:
            self._calls.put(_Call.LOOK)

    def _commit_here(self, group: list[Waiting], patience_seconds: float) -> bool:
        """Commit a group that is not in the line, and tell it; False if the turn is taken."""
        if not self._turn.acquire(blocking=bool(patience_seconds), timeout=patience_seconds or -1):
            return False
        try:
            if self._stopped:
                return False
            self._commit(group, tell_group)
        finally:
            self._turn.release()
        return True

    def _lead_until_ended(self, waiting: Waiting) -> None:
        """Commit group after group until this plan has ended, in turn with other threads."""
        while not (waiting.ended or waiting.unacknowledged):
            with self._turn:
                ended = waiting.ended or bool(waiting.unacknowledged)
                is_late = not ended and not self._lead()
            if is_late:  # and the line is empty
                self._late.wait(ACKNOWLEDGEMENT_SECONDS)

    def _write(self) -> None:
        """The writer's thread."""
        call = _Call.LOOK
        while call is not _Call.END:
            call = self._calls.get()
            while self._line or self._late.any_ended:
                self.step()

    def _lead(self) -> bool:
        """Commit the first group of the line, and end late plans; False if there was nothing.

        The caller has the turn.
        """
        ended = self._late.taken()
        for waiting, outcomes in ended:
            again = end_group([waiting], outcomes)
            self._tell([waiting], self._post)
            for each in again:
                self._commit([each], self._post)
        group = next_group(self._line)
        if group:
            self._commit(group, self._post)
        return bool(group or ended)

    def _commit(self, group: list[Waiting], post: Post) -> None:
        """Commit a group and tell each of its plans how it ended. The caller has the turn.

        A plan that was made again is committed next, before the turn is given up.
        """
        again: list[Waiting] = []
        late: Sequence[LateWrites] = ()
        started_ns = self._clock.monotonic_ns()
        try:
            if group[0].plan.alone:
                outcomes = outcomes_of(group[0].plan, self._transact)
            else:
                outcomes, late = self._transact_promptly(writes_of(group))
        except Exception as error:  # noqa: BLE001  # each waiting caller must be told of any error
            self._counts.commit_failed()
            if isinstance(error, StorageFailure):
                self.report(error)
            refuse_group(group, error)
        except BaseException:
            # This thread ends now. Callers on other threads must not wait for ever.
            refuse_group(group, OutcomeUnknown("the thread that made the write was interrupted"))
            raise
        else:
            if outcomes:
                self._note_group(outcomes, self._clock.monotonic_ns() - started_ns)
            if late:
                group, outcomes = self._late.set_aside(group, outcomes, late)
            again = end_group(group, outcomes)
        self._tell(group, post)
        for waiting in again:
            self._commit([waiting], post)

    def _note_group(self, outcomes: Sequence[Outcome[Any]], nanoseconds: int) -> None:
        """Count a group that the store has taken; call `resumed` if it refused the one before."""
        self._counts.committed(len(outcomes), nanoseconds)
        if any(outcome.error is None for outcome in outcomes):  # else nothing was synced
            self._disk.note(self._store.durable_ns)
        if self._refused and not self._store.full:  # else it took what gives room back
            self._refused = False
            if self._resumed is not None:
                self._resumed()

    def _transact(self, writes: Sequence[Write[Any]]) -> list[Outcome[Any]]:
        if not writes:
            return []
        return self._store.transact_group(writes)

    def _transact_promptly(
        self, writes: Sequence[Write[Any]]
    ) -> tuple[list[Outcome[Any]], Sequence[LateWrites]]:
        return self._store.transact_promptly(writes) if writes else ([], ())

    def _tell(self, group: list[Waiting], post: Post) -> None:
        """Pass the ended plans of the group that have a `done` to `post`."""
        if not group:  # all of it is late
            return
        told = [waiting for waiting in group if waiting.ended and waiting.done is not None]
        if told:
            post(told)
        first = group[0]  # a plan that waits for acknowledgement is alone in its group
        if first.unacknowledged and first.done is not None:
            self._unacknowledged.add(first, post)
