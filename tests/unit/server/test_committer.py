"""Group commit: one sync for all that waits, every caller told how it ended (design §4, §7)."""

import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any

import pytest

from widerow.engine.plan import Plan, failing, single
from widerow.errors import (
    Conflict,
    Exhausted,
    Rule,
    StorageFailure,
    StoreBusy,
    StoreFull,
    StorePoisoned,
)
from widerow.keys.layout import SPACE_ROWS
from widerow.limits import (
    ALONE_SYNC_NS_MAX,
    GROUP_BYTES_MAX,
    GROUP_WRITES_MAX,
    LOOP_GROUP_BYTES_MAX,
    LOOP_GROUP_WRITES_MAX,
    LOOP_WAIT_NS_MAX,
)
from widerow.server import committer
from widerow.server.committer import Committer
from widerow.server.gathering import Gathering
from widerow.server.metrics import Metrics
from widerow.server.system import SystemClock
from widerow.server.waiting import Committed, End, Waiting
from widerow.storage.interface import Outcome, Transaction, Write
from widerow.storage.memory import MemoryStore
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock

SHARD = SPACE_ROWS + b"shard"


class Gate(MemoryStore):
    """A store whose groups wait until they are let through, or fail as they are told to.

    By the clock each of them waits `wait_ns` for its disk.
    """

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.wait_ns = 0
        self.groups: list[int] = []
        self.arrived = threading.Semaphore(0)
        self.open = threading.Semaphore(0)
        self.failure: Exception | None = None

    def transact_group(self, writes: Sequence[Write[Any]]) -> list[Outcome[Any]]:
        self.groups.append(len(writes))
        self.arrived.release()
        self.open.acquire()
        if self.failure is not None:
            raise self.failure
        self.clock.advance(self.wait_ns / 1e9)
        return super().transact_group(writes)


class World:
    """A committer on a gate, and what it told whom."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.metrics = Metrics()
        self.posts: list[list[Committed]] = []
        self.failures: list[StorageFailure] = []
        self.told: SimpleQueue[tuple[object, Exception | None]] = SimpleQueue()
        self.committer = Committer(
            self.gate, self.gate.clock, self.metrics, self._post, self.failures.append
        )
        self.committer.start()

    def _post(self, ends: list[Committed]) -> None:
        self.posts.append(ends)
        for end in ends:
            end.done(end.answer, end.error)

    def submit(self, plan: Plan[Any]) -> None:
        self.committer.submit(plan, self._done)

    def _done(self, answer: object, error: Exception | None) -> None:
        self.told.put((answer, error))

    def next(self) -> tuple[object, Exception | None]:
        return self.told.get(timeout=5)

    def hold(self) -> None:
        """Keep the writer busy with a group of one, so that what follows has to wait."""
        self.submit(put(b"held"))
        assert self.gate.arrived.acquire(timeout=5)

    def release(self, groups: int = 1) -> None:
        for _ in range(groups):
            self.gate.open.release()


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.release(1000)
    made.committer.stop()
    made.gate.close()


def put(
    value: bytes,
    *,
    alone: bool = False,
    size: int = 0,
    settled: Callable[[bytes], None] | None = None,
    copies: int = 1,
) -> Plan[bytes]:
    """A plan that writes `value`, `copies` times, and answers it."""

    def body(txn: Transaction) -> bytes:
        txn.put(SHARD + value, value)
        return value

    write = Write((SHARD,), body, alone=alone, settled=settled)
    return Plan((write,) * copies, lambda outcomes: single(outcomes[:1]), size)


def test_a_lone_write_starts_at_once(world: World) -> None:
    world.release()
    world.submit(put(b"a"))
    assert world.next() == (b"a", None)
    assert world.gate.snapshot().get(SHARD + b"a") == b"a"
    assert world.gate.groups == [1]


def test_what_waits_shares_one_group_and_one_post(world: World) -> None:
    world.hold()
    for number in range(20):
        world.submit(put(b"%d" % number))
    world.release(2)
    assert [world.next() for _ in range(21)] == [
        (b"held", None),
        *((b"%d" % number, None) for number in range(20)),
    ]
    assert world.gate.groups == [1, 20]
    assert [len(ends) for ends in world.posts] == [1, 20]


def test_nobody_is_told_before_the_group_is_durable(world: World) -> None:
    world.hold()
    assert world.told.empty()
    assert world.posts == []
    world.release()
    assert world.next() == (b"held", None)


def test_a_plan_that_wants_to_be_alone_is(world: World) -> None:
    world.hold()
    for plan in (put(b"a"), put(b"b"), put(b"c", alone=True), put(b"d"), put(b"e")):
        world.submit(plan)
    world.release(4)
    assert [world.next()[0] for _ in range(6)] == [b"held", b"a", b"b", b"c", b"d", b"e"]
    assert world.gate.groups == [1, 2, 1, 2]


def test_a_plan_of_several_groups_keeps_their_order(world: World) -> None:
    first, second, third = (
        put(value, alone=alone).writes[0]
        for value, alone in ((b"a", False), (b"b", True), (b"c", False))
    )
    world.release(3)
    world.submit(Plan((first, second, third), lambda outcomes: [each.result for each in outcomes]))
    assert world.next() == ([b"a", b"b", b"c"], None)
    assert world.gate.groups == [1, 1, 1]


def test_a_group_ends_at_its_bound_of_writes(world: World) -> None:
    world.hold()
    for _ in range(3):
        world.submit(put(b"x", copies=GROUP_WRITES_MAX // 2))
    world.release(3)
    for _ in range(4):
        assert world.next()[1] is None
    assert world.gate.groups == [1, GROUP_WRITES_MAX, GROUP_WRITES_MAX // 2]


def test_a_group_ends_at_its_bound_of_bytes(world: World) -> None:
    world.hold()
    for _ in range(3):
        world.submit(put(b"x", size=GROUP_BYTES_MAX // 2))
    world.release(3)
    for _ in range(4):
        assert world.next()[1] is None
    assert world.gate.groups == [1, 2, 1]


def test_a_plan_above_every_bound_still_runs(world: World) -> None:
    world.release()
    world.submit(put(b"x", copies=GROUP_WRITES_MAX + 1, size=GROUP_BYTES_MAX + 1))
    assert world.next() == (b"x", None)


def test_a_refused_body_concerns_its_plan_alone(world: World) -> None:
    def refuse(_: Transaction) -> None:
        raise Conflict(Rule.CONDITION_FAILED)

    world.hold()
    world.submit(put(b"a"))
    world.submit(Plan((Write((SHARD,), refuse),), failing))
    world.submit(put(b"b"))
    world.release(2)
    ends = [world.next() for _ in range(4)]
    assert [answer for answer, _ in ends] == [b"held", b"a", None, b"b"]
    assert isinstance(ends[2][1], Conflict)


def test_a_plan_without_writes_is_answered(world: World) -> None:
    world.submit(Plan((), len))
    assert world.next() == (0, None)
    assert world.gate.groups == []


@pytest.mark.parametrize("kind", [StorePoisoned, StoreFull, StoreBusy])
def test_a_refused_group_fails_everyone_in_it(world: World, kind: type[StorageFailure]) -> None:
    world.hold()
    world.submit(put(b"a"))
    world.submit(put(b"b"))
    world.gate.failure = kind("no")
    world.release(2)
    ends = [world.next() for _ in range(3)]
    assert [(answer, type(error)) for answer, error in ends] == [(None, kind)] * 3
    assert [type(error) for error in world.failures] == [kind, kind]
    assert (world.metrics.commits, world.metrics.commit_failures) == (0, 2)


def test_the_writer_outlives_what_nobody_foresaw(world: World) -> None:
    world.gate.failure = RuntimeError("a bug")
    world.release()
    world.submit(put(b"a"))
    assert isinstance(world.next()[1], RuntimeError)
    world.gate.failure = None
    world.release()
    world.submit(put(b"b"))
    assert world.next() == (b"b", None)
    assert world.failures == []


def test_settled_runs_after_the_sync_and_before_the_answer(world: World) -> None:
    order: list[str] = []

    def settled(_: bytes) -> None:
        order.append("settled")
        assert world.gate.snapshot().get(SHARD + b"a") == b"a"

    write = put(b"a", settled=settled).writes[0]
    world.release()
    world.submit(Plan((write,), lambda _: order.append("finished")))
    assert world.next() == (None, None)
    assert order == ["settled", "finished"]


def test_a_refused_body_is_not_settled(world: World) -> None:
    seen: list[bytes] = []

    def refuse(_: Transaction) -> bytes:
        raise Conflict(Rule.CONDITION_FAILED)

    world.release()
    world.submit(Plan((Write((SHARD,), refuse, settled=seen.append),), failing))
    assert isinstance(world.next()[1], Conflict)
    assert seen == []


def test_stop_commits_what_was_submitted_before(world: World) -> None:
    world.hold()
    for number in range(5):
        world.submit(put(b"%d" % number))
    stopper = threading.Thread(target=world.committer.stop)
    stopper.start()
    world.release(100)
    stopper.join(timeout=5)
    assert not stopper.is_alive()
    answers = {world.told.get_nowait()[0] for _ in range(6)}
    assert answers == {b"held", *(b"%d" % number for number in range(5))}
    assert world.told.empty()


def test_nothing_is_taken_after_stop(world: World) -> None:
    world.committer.stop()
    world.committer.stop()
    for call in (world.submit, world.committer.run):
        with pytest.raises(Exhausted) as raised:
            call(put(b"a"))
        assert raised.value.rule is Rule.SERVER_STOPPING


def test_stop_waits_for_a_plan_that_did_not_fit_its_group(world: World) -> None:
    world.hold()
    world.submit(put(b"a"))
    world.submit(put(b"b", alone=True))
    world.release(100)
    world.committer.stop()
    assert [world.told.get_nowait()[0] for _ in range(3)] == [b"held", b"a", b"b"]


def test_other_threads_may_wait_for_their_plan(world: World) -> None:
    world.release(100)
    answers: SimpleQueue[bytes] = SimpleQueue()
    threads = [
        threading.Thread(target=lambda n=n: answers.put(world.committer.run(put(b"%d" % n))))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=5)
    assert {answers.get_nowait() for _ in threads} == {b"%d" % n for n in range(8)}
    assert world.posts == []


def test_without_a_thread_plans_run_where_they_are() -> None:
    with open_store("memory:") as store:
        committer = Committer(store, SystemClock(), Metrics())
        assert committer.run(put(b"a")) == b"a"
        with pytest.raises(Conflict):
            committer.run(Plan(put(b"b").writes, _refuse))


def _refuse(_: Sequence[Outcome[Any]]) -> bytes:
    raise Conflict(Rule.CONDITION_FAILED)


def test_without_a_thread_groups_run_when_they_are_asked_for() -> None:
    ended: list[object] = []
    with open_store("memory:") as store:
        committer = Committer(store, SystemClock(), Metrics())
        assert not committer.step()
        for value in (b"1", b"2"):
            committer.submit(put(value), lambda answer, _: ended.append(answer))
        committer.submit(put(b"3", alone=True), lambda answer, _: ended.append(answer))
        assert ended == []
        assert committer.step()
        assert ended == [b"1", b"2"]
        assert committer.step()
        assert ended == [b"1", b"2", b"3"]
        assert not committer.step()


def test_commits_are_counted(world: World) -> None:
    world.release(2)
    world.hold()
    world.next()
    world.submit(put(b"a", copies=3))
    world.next()
    assert (world.metrics.commits, world.metrics.writes) == (2, 4)
    assert sum(world.metrics.commit_seconds.buckets) == 2


# --- groups on the caller's thread ---------------------------------------------------------------


def here(world: World, *plans: Plan[Any]) -> bool:
    """Try to commit on this thread; the gate is open."""
    world.release()
    return world.committer.commit_here([Waiting(plan, world._done) for plan in plans])


def test_a_small_group_is_committed_where_it_is(world: World) -> None:
    assert here(world, put(b"a"), put(b"b"))
    assert world.gate.groups == [2]
    assert [world.next()[1], world.next()[1]] == [None, None]
    assert world.posts == []  # told on the spot


def test_a_plan_that_wants_to_be_alone_is_for_the_writer(world: World) -> None:
    assert not here(world, put(b"a"), put(b"b", alone=True))
    assert world.gate.groups == []


def test_a_large_group_is_for_the_writer(world: World) -> None:
    plans = [put(str(number).encode()) for number in range(LOOP_GROUP_WRITES_MAX + 1)]
    assert not here(world, *plans)
    assert not here(world, put(b"a", size=LOOP_GROUP_BYTES_MAX + 1))
    assert world.gate.groups == []


def test_nothing_overtakes_a_busy_writer(world: World) -> None:
    world.hold()
    assert not here(world, put(b"a"))
    world.release()
    assert world.next()[1] is None


def test_a_slow_disk_is_for_the_writer(world: World) -> None:
    world.committer._usual_wait_ns = LOOP_WAIT_NS_MAX + 1
    assert not here(world, put(b"a"))
    for number in range(40):  # small groups of the writer are quick: that is noticed
        world.submit(put(str(number).encode()))
        world.release()
        assert world.next()[1] is None
    assert here(world, put(b"a"))


def test_one_long_wait_is_not_usual() -> None:
    clock, waits = FakeClock(), [0.0005] * 10 + [30.0] + [0.0005] * 10

    def body(txn: Transaction) -> bytes:
        clock.advance(waits.pop())
        txn.put(SHARD + b"a", b"a")
        return b"a"

    with open_store("memory:") as store:
        committer = Committer(store, clock, Metrics())
        plan = Plan((Write((SHARD,), body),), single)
        while waits:
            assert committer.commit_here([Waiting(plan, lambda _answer, _error: None)])


@pytest.mark.parametrize(("waits", "here_to_stay"), [(True, False), (False, True)])
def test_waiting_makes_a_disk_slow_and_computing_does_not(
    *, waits: bool, here_to_stay: bool
) -> None:
    """Bodies are computed under the interpreter's lock, on whichever thread."""
    clock = FakeClock()
    seconds = 2 * LOOP_WAIT_NS_MAX / 1e9

    def body(txn: Transaction) -> bytes:
        (clock.advance if waits else clock.compute)(seconds)
        txn.put(SHARD + b"a", b"a")
        return b"a"

    with open_store("memory:") as store:
        committer = Committer(store, clock, Metrics())
        plan = Plan((Write((SHARD,), body),), single)
        told = [
            committer.commit_here([Waiting(plan, lambda _answer, _error: None)]) for _ in range(20)
        ]
    assert told[0]
    assert told[-1] is here_to_stay


def test_after_the_end_nothing_is_committed_here(world: World) -> None:
    world.committer.stop()
    assert not here(world, put(b"a"))


# --- a plan that another thread has made ---------------------------------------------------------


def test_a_plan_is_committed_alone_where_it_was_made(world: World) -> None:
    world.release()
    plan = put(b"a", copies=LOOP_GROUP_WRITES_MAX + 1)
    assert world.committer.commit_alone(plan) == (b"a", None)
    assert world.gate.groups == [LOOP_GROUP_WRITES_MAX + 1]
    assert world.posts == []  # the caller is told, nobody else
    assert world.metrics.commits == 1


def test_who_commits_alone_hears_of_refusals(world: World) -> None:
    world.gate.failure = StoreFull("no room")
    world.release()
    assert world.committer.commit_alone(put(b"a")) == (None, world.gate.failure)
    assert world.failures == [world.gate.failure]


def test_nobody_commits_alone_beside_a_group_that_takes_long(world: World) -> None:
    """Plans that come meanwhile go to the queue, and share the next sync."""
    world.hold()
    assert world.committer.commit_alone(put(b"a")) is None
    world.submit(put(b"b"))
    world.submit(put(b"c"))
    assert world.committer.commit_alone(put(b"d")) is None
    world.release(2)
    assert [world.next()[1] for _ in range(3)] == [None] * 3
    assert world.gate.groups == [1, 2]


def test_who_commits_alone_waits_for_the_group_under_way(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committer, "ALONE_PATIENCE_SECONDS", 5)
    ends: SimpleQueue[End | None] = SimpleQueue()
    world.hold()
    threading.Thread(
        target=lambda: ends.put(world.committer.commit_alone(put(b"alone"))), daemon=True
    ).start()
    assert not world.gate.arrived.acquire(timeout=0.05)  # one group at a time
    world.release(2)
    assert ends.get(timeout=5) == (b"alone", None)
    assert world.gate.groups == [1, 1]


def test_where_syncs_are_slow_plans_share_them(world: World) -> None:
    """One slow sync is no habit; what is quick again is noticed sooner than what is slow."""

    def alone(wait_ns: int) -> bool:
        world.gate.wait_ns = wait_ns
        return world.committer.commit_alone(put(b"a")) is not None

    world.release(1000)
    assert alone(ALONE_SYNC_NS_MAX // 2)
    assert alone(4 * ALONE_SYNC_NS_MAX)
    assert alone(ALONE_SYNC_NS_MAX // 2)
    told = [alone(10 * ALONE_SYNC_NS_MAX) for _ in range(10)]
    assert told[0]
    assert not told[-1]
    for _ in range(6):
        world.gate.wait_ns = ALONE_SYNC_NS_MAX // 2
        world.submit(put(b"b"))
        world.next()
    assert alone(0)


def test_the_writer_waits_for_who_commits_alone_and_so_does_the_end(world: World) -> None:
    ends: SimpleQueue[End | None] = SimpleQueue()

    def commit() -> None:
        ends.put(world.committer.commit_alone(put(b"alone")))

    threading.Thread(target=commit, daemon=True).start()
    assert world.gate.arrived.acquire(timeout=5)
    world.submit(put(b"a"))
    stopping = threading.Thread(target=world.committer.stop, daemon=True)
    stopping.start()
    assert not world.gate.arrived.acquire(timeout=0.05)  # one group at a time
    assert stopping.is_alive()
    world.release(2)
    stopping.join(timeout=5)
    assert not stopping.is_alive()
    assert ends.get(timeout=5) == (b"alone", None)
    assert world.next() == (b"a", None)
    assert world.committer.commit_alone(put(b"b")) is None
    assert world.gate.groups == [1, 1]


def test_the_end_waits_for_who_commits_alone_where_nothing_else_is_to_do(world: World) -> None:
    threading.Thread(
        target=world.committer.commit_alone, args=(put(b"alone"),), daemon=True
    ).start()
    assert world.gate.arrived.acquire(timeout=5)
    stopping = threading.Thread(target=world.committer.stop, daemon=True)
    stopping.start()
    stopping.join(timeout=0.05)
    assert stopping.is_alive()
    world.release()
    stopping.join(timeout=5)
    assert not stopping.is_alive()


# --- what a turn of the loop brings --------------------------------------------------------------


def test_a_turn_is_one_group() -> None:
    world, turns = World(), list[Callable[[], None]]()
    gathering = Gathering(world.committer, turns.append)
    world.release(3)
    for key in (b"a", b"b", b"c"):
        gathering.submit(put(key), world._done)
    assert world.gate.groups == []
    (turn,) = turns
    turn()
    assert world.gate.groups == [3]
    gathering.submit(put(b"d", alone=True), world._done)  # goes to the writer by itself
    turns[1]()
    assert [world.next()[1] for _ in range(4)] == [None] * 4
    world.committer.stop()
    gathering.submit(put(b"e"), world._done)
    turns[2]()
    assert isinstance(world.next()[1], Exhausted)


def test_a_turn_that_is_too_large_for_the_loop_is_one_group_of_the_writer() -> None:
    world, turns = World(), list[Callable[[], None]]()
    gathering = Gathering(world.committer, turns.append)
    world.release()
    for number in range(LOOP_GROUP_WRITES_MAX + 1):
        gathering.submit(put(str(number).encode()), world._done)
    turns[0]()
    assert [world.next()[1] for _ in range(LOOP_GROUP_WRITES_MAX + 1)] == [None] * (
        LOOP_GROUP_WRITES_MAX + 1
    )
    assert world.gate.groups == [LOOP_GROUP_WRITES_MAX + 1]
    assert world.committer.waiting == 0
    world.committer.stop()


def test_a_turn_that_is_over_early_is_committed_then() -> None:
    world, turns = World(), list[Callable[[], None]]()
    gathering = Gathering(world.committer, turns.append)
    gathering.flush()  # nothing yet
    world.release(2)
    gathering.submit(put(b"a"), world._done)
    gathering.flush()
    assert world.gate.groups == [1]
    turns[0]()  # the turn's end finds nothing
    assert world.gate.groups == [1]
    gathering.submit(put(b"b"), world._done)
    turns[1]()
    assert world.gate.groups == [1, 1]
    assert [world.next()[1] for _ in range(2)] == [None] * 2
    world.committer.stop()
