"""Group commit: one thread hands waiting plans to the store, many at a time, with one sync.

A plan that arrives while nothing is under way starts at once. Plans that arrive while a sync runs
wait for it and then share the next one, so groups grow with the load and no timer is needed. Plans
that arrive together are one entry of the queue, or the first of them would be a group of its own.
A group ends at `GROUP_WRITES_MAX` writes or `GROUP_BYTES_MAX` bytes, and before a plan that wants
a group of its own. After a group: each write's `settled`, then each plan's `finish`, both here,
then one call into the loop with all the answers.

Where nothing waits, the loop's thread or one that has made a large plan commits without the writer
thread. One group is under way at any time, whosever thread it is on.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, Final, TypeVar

from widerow.errors import Exhausted, Rule, StorageFailure
from widerow.limits import (
    ALONE_PATIENCE_SECONDS,
    ALONE_SYNC_NS_MAX,
    GROUP_BYTES_MAX,
    GROUP_WRITES_MAX,
    LOOP_GROUP_WRITES_MAX,
    LOOP_WAIT_NS_MAX,
)
from widerow.server.waiting import (
    Committed,
    Direct,
    Done,
    End,
    Post,
    Waiting,
    call_each,
    ends_of,
    is_quick,
    refusals,
    tell_direct,
    writes_of,
)
from widerow.storage.interface import Outcome, Store, Write

if TYPE_CHECKING:
    from widerow.clock import Clock
    from widerow.engine.plan import Plan
    from widerow.server.metrics import Metrics

__all__ = ["Committer"]

T = TypeVar("T")

_END: Final = None  # behind the last plan
_WAIT_NS_COUNTED_MAX: Final = 2 * LOOP_WAIT_NS_MAX  # what took a second once is not usual


class Committer:
    """The writer thread and its queue. Any thread may submit."""

    def __init__(
        self,
        store: Store,
        clock: "Clock",
        metrics: "Metrics",
        post: Post = call_each,
        failed: Callable[[StorageFailure], None] | None = None,
        resumed: Callable[[], None] | None = None,
    ) -> None:
        """Nothing runs before `start`.

        `post` carries answers to the loop; by default they are told on the writer's thread.
        `failed` hears of what is reported, on whichever thread that is; `resumed` of the first
        group that the store takes after it refused one; also on whichever thread that is.
        """
        self._store = store
        self._clock = clock
        self._metrics = metrics
        self._post = post
        self._failed = failed
        self._resumed = resumed
        self._refused = False  # since the last group that was committed
        self._queue: SimpleQueue[list[Waiting] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._stopped = False
        self._held: deque[Waiting] = deque()  # taken from the queue, for the next group
        self._ended = False  # the end mark was read
        self._waiting = 0  # plans in the queue and held
        self._lock = threading.Lock()  # nothing gets behind the end mark
        self._turning = threading.Lock()  # held while a group is committed, on whichever thread
        self._usual_wait_ns = 0  # of small groups lately, for the disk
        self._usual_sync_ns = 0  # of groups lately

    def start(self) -> None:
        """Start the writer thread."""
        self._thread = threading.Thread(target=self._run, name="widerow-writer", daemon=True)
        self._thread.start()

    def submit(self, plan: "Plan[Any]", done: Done) -> None:
        """Commit `plan` with whatever else waits; `done` gets its answer or its error.

        Raises: `Exhausted` (SERVER_STOPPING) after `stop`.
        """
        self._put([Waiting(plan, done)])

    def submit_all(self, group: list[Waiting]) -> None:
        """`submit` of plans that belong together, as far as they fit into a group.

        Raises: `Exhausted` (SERVER_STOPPING) after `stop`; none of them is committed then.
        """
        self._put(group)

    def flush(self) -> None:
        """The writer thread takes what is submitted as it comes: there is nothing to do."""

    def commit_here(self, group: list[Waiting]) -> bool:
        """Commit these as one group on the caller's thread, if that is soon done; else do nothing.

        It is where the group is small, the disk was quick lately, and the writer thread has nothing
        to do; then a hand-over would cost more than the wait. (What is computed for a group takes
        the interpreter's lock on either thread.) Everyone is told before it returns. Not for plans
        that want a group of their own.
        """
        if (
            self._usual_wait_ns > LOOP_WAIT_NS_MAX
            or not is_quick(group)
            or self._stopped
            or self._waiting
            or not self._turning.acquire(blocking=False)
        ):
            return False
        try:
            self._commit(group, call_each)
        finally:
            self._turning.release()
        return True

    def commit_alone(self, plan: "Plan[Any]") -> End | None:
        """Commit a plan as a group of its own on the caller's thread, behind the one under way.

        For the thread that has just made a large plan: what it is made of is still in its
        processor's caches, and two hand-overs are spared. None if syncs took long lately, so that
        plans should share them, if others keep it from its turn for long, or after `stop`; then
        nothing was done. Waits for the disk. Not for the loop's thread.
        """
        if self._usual_sync_ns > ALONE_SYNC_NS_MAX:
            return None
        if not self._turning.acquire(timeout=ALONE_PATIENCE_SECONDS):
            return None
        ends: SimpleQueue[End] = SimpleQueue()
        try:
            if self._stopped:
                return None
            self._commit([Waiting(plan, Direct(ends))], self._post)
        finally:
            self._turning.release()
        return ends.get()

    def run(self, plan: "Plan[T]") -> T:
        """Commit `plan` and wait for its answer. Not for the loop's thread, nor the writer's.

        Raises what `plan.finish` raises, and `StorageFailure`.
        """
        ends: SimpleQueue[End] = SimpleQueue()
        # `post` may need a loop that this caller does not run: the group tells us by itself.
        waiting = Waiting(plan, Direct(ends))
        if self._thread is None and not self._stopped:
            with self._turning:
                self._commit([waiting], self._post)
        else:
            self._put([waiting])
        answer, error = ends.get()
        if error is not None:
            raise error
        return answer  # type: ignore[no-any-return]  # what this plan's finish returned

    def step(self) -> bool:
        """Commit one group on the caller's thread; False if nothing waits.

        For those who decide themselves when a group is run (a simulation). Not after `start`.
        """
        assert self._thread is None, "the writer thread runs the groups"
        try:
            return self._turn(self._queue.get_nowait)
        except Empty:
            return False

    def report(self, error: StorageFailure) -> None:
        """The store refused a write, here or elsewhere (the engine reserves numbers by itself)."""
        self._refused = True
        if self._failed is not None:
            self._failed(error)

    def stop(self) -> None:
        """Commit what was submitted before, then end the thread. Idempotent; waits.

        Once it has returned nothing is committed on any thread.
        """
        with self._lock:
            if not self._stopped:
                self._stopped = True
                self._queue.put(_END)
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._turning.acquire()  # what another thread committed has ended
        self._turning.release()

    def _put(self, group: list[Waiting]) -> None:
        with self._lock:
            if self._stopped:
                raise Exhausted(Rule.SERVER_STOPPING)
            self._waiting += len(group)
            self._queue.put(group)

    @property
    def waiting(self) -> int:
        """How many plans wait for the writer."""
        return self._waiting

    # --- the writer's thread -----------------------------------------------------------------

    def _run(self) -> None:
        while self._turn(self._queue.get):
            pass

    def _turn(self, next_entry: "Callable[[], list[Waiting] | None]") -> bool:
        """Commit one group; False after the last one."""
        if not self._held and not self._ended:
            self._hold(next_entry())
        if not self._held:
            return False
        group = self._drain()
        with self._turning:
            with self._lock:  # not before: what the loop commits would get ahead of them
                self._waiting -= len(group)
            self._commit(group, self._post)
        return True

    def _hold(self, entry: list[Waiting] | None) -> None:
        if entry is _END:
            self._ended = True
        else:
            self._held.extend(entry)

    def _drain(self) -> list[Waiting]:
        """The next group, of what is held and what the queue has by now."""
        first = self._held.popleft()
        group = [first]
        writes = len(first.plan.writes)
        size = first.plan.size
        while not first.plan.alone:
            if not self._held:
                if self._ended:
                    break
                try:
                    self._hold(self._queue.get_nowait())
                except Empty:
                    break
                continue
            plan = self._held[0].plan
            writes += len(plan.writes)
            size += plan.size
            if plan.alone or writes > GROUP_WRITES_MAX or size > GROUP_BYTES_MAX:
                break
            group.append(self._held.popleft())
        return group

    def _commit(self, group: list[Waiting], post: Post) -> None:
        """Hand a group to the store and tell everyone in it how it ended, by way of `post`."""
        started, worked = self._clock.monotonic_ns(), self._clock.thread_ns()
        try:
            if group[0].plan.alone:
                outcomes = [
                    outcome
                    for writes in group[0].plan.groups()
                    for outcome in self._transact(writes)
                ]
            else:
                outcomes = self._transact(writes_of(group))
        except Exception as error:  # noqa: BLE001  # whatever it is, those who wait must hear it
            self._metrics.commit_failed()
            if isinstance(error, StorageFailure):
                self.report(error)
            self._tell(refusals(group, error), post)
            return
        elapsed_ns = self._clock.monotonic_ns() - started
        self._metrics.committed(len(outcomes), elapsed_ns)
        waited_ns = elapsed_ns - (self._clock.thread_ns() - worked)
        self._note_sync(waited_ns)
        if len(outcomes) <= LOOP_GROUP_WRITES_MAX:
            counted_ns = min(waited_ns, _WAIT_NS_COUNTED_MAX)
            self._usual_wait_ns += (counted_ns - self._usual_wait_ns) // 8
        if self._refused:
            self._refused = False
            if self._resumed is not None:
                self._resumed()
        self._tell(ends_of(group, outcomes), post)

    def _note_sync(self, sync_ns: int) -> None:
        """Learn from what a group waited for: the sync, if nothing else wanted the processor.

        Quick ones count more: what a slow one had to wait for may be us.
        """
        longer_ns = sync_ns - self._usual_sync_ns
        self._usual_sync_ns += longer_ns // (16 if longer_ns > 0 else 2)

    def _transact(self, writes: Sequence[Write[Any]]) -> list[Outcome[Any]]:
        if not writes:
            return []
        return self._store.transact_group(writes)

    def _tell(self, ends: list[Committed], post: Post) -> None:
        others = tell_direct(ends)
        if others:
            post(others)
