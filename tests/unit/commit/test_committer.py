"""Group commit: one sync for all that waits, every caller told how it ended (DURABILITY.md)."""

import threading
from collections.abc import Callable, Iterator, Sequence
from queue import SimpleQueue
from typing import Any

import pytest

from widerow.commit import committer
from widerow.commit.committer import Committer, Uncounted
from widerow.commit.places import Caller
from widerow.commit.waiting import Waiting, tell_group
from widerow.engine.ends import End
from widerow.engine.plan import Plan, failing, single
from widerow.errors import (
    Conflict,
    Exhausted,
    OutcomeUnknown,
    Rule,
    StorageFailure,
    StoreBusy,
    StoreFull,
    StorePoisoned,
)
from widerow.keys.layout import SPACE_ROWS
from widerow.limits import (
    ALONE_WAIT_NS_MAX,
    GROUP_BYTES_MAX,
    GROUP_WRITES_MAX,
    LOOP_GROUP_BYTES_MAX,
    LOOP_GROUP_WRITES_MAX,
    LOOP_WAIT_NS_MAX,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.server.metrics import Metrics
from widerow.storage.interface import Outcome, Transaction, Write
from widerow.storage.memory import MemoryStore
from widerow.storage.opener import open_store
from widerow.system import SystemClock
from widerow.testing.clock import FakeClock

SHARD = SPACE_ROWS + b"shard"


class Gate(MemoryStore):
    """A store whose groups wait until they are let through, or fail as they are told to.

    Each of them waits `durable_ns` for its disk, as it says.
    """

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.groups: list[int] = []
        self.arrived = threading.Semaphore(0)
        self.open = threading.Semaphore(0)
        self.failure: BaseException | None = None

    def transact_group(self, writes: Sequence[Write[Any]]) -> list[Outcome[Any]]:
        self.groups.append(len(writes))
        self.arrived.release()
        self.open.acquire()
        if self.failure is not None:
            raise self.failure
        return super().transact_group(writes)


class World:
    """A committer on a gate, and what it told whom."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.metrics = Metrics()
        self.posts: list[Sequence[Waiting]] = []
        self.failures: list[StorageFailure] = []
        self.told: SimpleQueue[tuple[object, Exception | None]] = SimpleQueue()
        self.committer = Committer(
            self.gate, self.gate.clock, self.metrics, self._post, self.failures.append
        )
        self.committer.start()

    def _post(self, ended: Sequence[Waiting]) -> None:
        self.posts.append(ended)
        tell_group(ended)

    def submit(self, plan: Plan[Any], caller: Caller = Caller.ELSEWHERE) -> End | None:
        return self.committer.submit(plan, self._done, caller)

    def alone(self, plan: Plan[Any]) -> End | None:
        """Submit as the thread of a request that has made a large plan."""
        return self.submit(plan, Caller.REQUEST)

    def turn(self, *plans: Plan[Any]) -> bool:
        """A turn of the loop that brings these plans; whether it committed them itself."""
        for plan in plans:
            assert self.submit(plan, Caller.LOOP) is None
        before = self.metrics.commits + self.metrics.commit_failures
        self.committer.flush()
        return self.metrics.commits + self.metrics.commit_failures > before

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
        raise Conflict(TablestoreRule.CONDITION_FAILED)

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
    assert (world.metrics.commits, sum(world.metrics.commit_seconds.buckets)) == (0, 0)


def test_a_plan_without_writes_does_not_say_that_the_store_takes_writes_again() -> None:
    resumed: list[bool] = []
    gate = Gate()
    committer = Committer(gate, gate.clock, Uncounted(), resumed=lambda: resumed.append(True))
    gate.open.release(2)
    gate.failure = StoreFull("no room")
    with pytest.raises(StoreFull):
        committer.run(put(b"a"))
    committer.run(Plan((), failing))
    assert resumed == []
    gate.failure = None
    committer.run(put(b"a"))
    assert resumed == [True]


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
        raise Conflict(TablestoreRule.CONDITION_FAILED)

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
    for caller in Caller:
        with pytest.raises(Exhausted) as raised:
            world.submit(put(b"a"), caller)
        assert raised.value.rule is Rule.SERVER_STOPPING
    with pytest.raises(Exhausted):
        world.committer.run(put(b"a"))
    assert world.gate.groups == []
    assert world.told.empty()


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
        committer = Committer(store, SystemClock(), Uncounted())
        assert committer.run(put(b"a")) == b"a"
        with pytest.raises(Conflict):
            committer.run(Plan(put(b"b").writes, _refuse))


def _refuse(_: Sequence[Outcome[Any]]) -> bytes:
    raise Conflict(TablestoreRule.CONDITION_FAILED)


def test_without_a_thread_groups_run_when_they_are_asked_for() -> None:
    ended: list[object] = []
    with open_store("memory:") as store:
        committer = Committer(store, SystemClock(), Uncounted())
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


# --- groups on the loop --------------------------------------------------------------------------


def test_a_small_group_is_committed_on_the_loop_when_its_turn_ends(world: World) -> None:
    world.release()
    assert world.turn(put(b"a"), put(b"b"))
    assert world.gate.groups == [2]
    assert [world.next()[1], world.next()[1]] == [None, None]
    assert world.posts == []  # told on the spot


def test_nothing_that_the_loop_brings_starts_before_its_turn_ends(world: World) -> None:
    world.release()
    for key in (b"a", b"b", b"c"):
        world.submit(put(key), Caller.LOOP)
    assert world.gate.groups == []
    world.committer.flush()
    assert world.gate.groups == [3]
    world.committer.flush()  # nothing came since
    assert world.gate.groups == [3]


def test_a_plan_that_wants_to_be_alone_is_for_the_writer(world: World) -> None:
    world.release(2)
    assert not world.turn(put(b"a"), put(b"b", alone=True))
    assert [world.next() for _ in range(2)] == [(b"a", None), (b"b", None)]
    assert world.gate.groups == [1, 1]
    assert [len(told) for told in world.posts] == [1, 1]


@pytest.mark.parametrize(
    "plans",
    [
        [put(str(number).encode()) for number in range(LOOP_GROUP_WRITES_MAX + 1)],
        [put(b"a", size=LOOP_GROUP_BYTES_MAX + 1)],
    ],
)
def test_a_large_turn_is_one_group_of_the_writer(world: World, plans: list[Plan[Any]]) -> None:
    assert not world.turn(*plans)
    world.release()
    assert [world.next()[1] for _ in plans] == [None] * len(plans)
    assert world.gate.groups == [len(plans)]
    assert world.committer.waiting == 0


def test_nothing_overtakes_a_busy_writer(world: World) -> None:
    world.hold()
    assert not world.turn(put(b"a"))
    world.release(2)
    assert [world.next()[0] for _ in range(2)] == [b"held", b"a"]


def test_nothing_overtakes_the_line() -> None:
    """Nobody holds the turn, but somebody waits: the loop stands behind them."""
    told: list[object] = []
    with open_store("memory:") as store:
        committer = Committer(store, SystemClock(), Uncounted())
        committer.submit(put(b"1"), lambda answer, _: told.append(answer))
        committer.submit(put(b"2"), lambda answer, _: told.append(answer), Caller.LOOP)
        committer.flush()
        assert told == []
        assert committer.step()
    assert told == [b"1", b"2"]


def test_a_slow_disk_is_for_the_writer(world: World) -> None:
    world.committer._disk.usual_ns = LOOP_WAIT_NS_MAX + 1
    assert not world.turn(put(b"a"))
    world.release()
    assert world.next() == (b"a", None)
    for number in range(40):  # groups of the writer are quick: that is noticed
        world.submit(put(str(number).encode()))
        world.release()
        assert world.next()[1] is None
    world.release()
    assert world.turn(put(b"a"))


class Turns:
    """A committer on a store whose disk is as slow as it is told to be."""

    def __init__(self) -> None:
        self.store = open_store("memory:")
        self.committer = Committer(self.store, FakeClock(), Uncounted())

    def here(self, wait_ns: int) -> bool:
        """Whether a turn with one write, which waits so long for the disk, commits it itself."""
        self.store.durable_ns = wait_ns
        told: list[object] = []
        self.committer.submit(put(b"a"), lambda answer, _: told.append(answer), Caller.LOOP)
        self.committer.flush()
        here = bool(told)
        while self.committer.step():
            pass
        assert told == [b"a"]
        return here


def test_one_long_wait_is_not_usual() -> None:
    waits = [LOOP_WAIT_NS_MAX // 4] * 10 + [30_000_000_000] + [LOOP_WAIT_NS_MAX // 4] * 10
    turns = Turns()
    assert [turns.here(wait) for wait in waits] == [True] * 21


@pytest.mark.parametrize(("wait_ns", "here_to_stay"), [(2, False), (1, True)])
def test_a_disk_is_slow_by_what_groups_wait_for_it(*, wait_ns: int, here_to_stay: bool) -> None:
    turns = Turns()
    told = [turns.here(wait_ns * LOOP_WAIT_NS_MAX) for _ in range(20)]
    assert told[0]
    assert told[-1] is here_to_stay


def test_the_time_of_bodies_is_no_wait_for_the_disk() -> None:
    """Bodies are computed under the interpreter's lock, on whichever thread."""
    clock = FakeClock()

    def body(txn: Transaction) -> bytes:
        clock.advance(1)
        txn.put(SHARD + b"a", b"a")
        return b"a"

    with open_store("memory:") as store:
        committer = Committer(store, clock, Uncounted())
        for _ in range(20):
            committer.run(Plan((Write((SHARD,), body),), single))
        assert committer._disk.usual_ns == 0


def test_groups_that_write_nothing_say_nothing_of_the_disk() -> None:
    """Nothing is synced for them, so a slow disk looks quick."""

    def refuse(_: Transaction) -> None:
        raise Conflict(TablestoreRule.CONDITION_FAILED)

    turns = Turns()
    while turns.here(2 * LOOP_WAIT_NS_MAX):
        pass
    turns.store.durable_ns = 0
    for _ in range(20):
        with pytest.raises(Conflict):
            turns.committer.run(Plan((Write((SHARD,), refuse),), failing))
    assert not turns.here(0)


def test_what_the_loop_had_gathered_is_refused_after_the_end(world: World) -> None:
    world.submit(put(b"a"), Caller.LOOP)
    world.committer.stop()
    assert not world.turn()
    answer, error = world.next()
    assert (answer, type(error)) == (None, Exhausted)
    assert world.gate.groups == []


# --- a plan that another thread has made ---------------------------------------------------------


def test_a_plan_is_committed_alone_where_it_was_made(world: World) -> None:
    world.release()
    plan = put(b"a", copies=LOOP_GROUP_WRITES_MAX + 1)
    assert world.alone(plan) == (b"a", None)
    assert world.gate.groups == [LOOP_GROUP_WRITES_MAX + 1]
    assert world.posts == []  # the caller is told, nobody else
    assert world.told.empty()
    assert world.metrics.commits == 1


def test_who_commits_alone_hears_of_refusals(world: World) -> None:
    world.gate.failure = StoreFull("no room")
    world.release()
    assert world.alone(put(b"a")) == (None, world.gate.failure)
    assert world.failures == [world.gate.failure]


def test_nobody_commits_alone_beside_a_group_that_takes_long(world: World) -> None:
    """Plans that come meanwhile stand in the line, and share the next sync."""
    world.hold()
    assert world.alone(put(b"a")) is None
    world.submit(put(b"b"))
    world.submit(put(b"c"))
    assert world.alone(put(b"d")) is None
    world.release(2)
    assert [world.next() for _ in range(5)] == [
        (value, None) for value in (b"held", b"a", b"b", b"c", b"d")
    ]
    assert world.gate.groups == [1, 4]


def test_who_commits_alone_waits_for_the_group_under_way(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(committer, "ALONE_PATIENCE_SECONDS", 5)
    ends: SimpleQueue[End | None] = SimpleQueue()
    world.hold()
    threading.Thread(target=lambda: ends.put(world.alone(put(b"alone"))), daemon=True).start()
    assert not world.gate.arrived.acquire(timeout=0.05)  # one group at a time
    world.release(2)
    assert ends.get(timeout=5) == (b"alone", None)
    assert world.gate.groups == [1, 1]


def test_where_syncs_are_slow_plans_share_them() -> None:
    """One slow sync is not a habit; what is quick again is noticed sooner than what is slow."""

    def alone(wait_ns: int) -> bool:
        store.durable_ns = wait_ns
        end = group.submit(put(b"a"), lambda _answer, _error: None, Caller.REQUEST)
        while group.step():
            pass
        return end is not None

    with open_store("memory:") as store:
        group = Committer(store, FakeClock(), Uncounted())
        assert alone(ALONE_WAIT_NS_MAX // 2)
        assert alone(4 * ALONE_WAIT_NS_MAX)
        assert alone(ALONE_WAIT_NS_MAX // 2)
        told = [alone(10 * ALONE_WAIT_NS_MAX) for _ in range(10)]
        assert told[0]
        assert not told[-1]
        told = [alone(ALONE_WAIT_NS_MAX // 2) for _ in range(6)]
        assert not told[0]
        assert told[-1]


def test_the_writer_waits_for_who_commits_alone_and_so_does_the_end(world: World) -> None:
    ends: SimpleQueue[End | None] = SimpleQueue()
    threading.Thread(target=lambda: ends.put(world.alone(put(b"alone"))), daemon=True).start()
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
    with pytest.raises(Exhausted):
        world.alone(put(b"b"))
    assert world.gate.groups == [1, 1]


def test_the_end_waits_for_who_commits_alone_where_nothing_else_is_to_do(world: World) -> None:
    threading.Thread(target=world.alone, args=(put(b"alone"),), daemon=True).start()
    assert world.gate.arrived.acquire(timeout=5)
    stopping = threading.Thread(target=world.committer.stop, daemon=True)
    stopping.start()
    stopping.join(timeout=0.05)
    assert stopping.is_alive()
    world.release()
    stopping.join(timeout=5)
    assert not stopping.is_alive()


# --- threads that wait ---------------------------------------------------------------------------


class Crowd:
    """Threads that wait for their plans, on a committer without a thread of its own."""

    def __init__(self) -> None:
        self.gate = Gate()
        self.committer = Committer(self.gate, SystemClock(), Uncounted())
        self.ends: SimpleQueue[object] = SimpleQueue()
        self.threads: list[threading.Thread] = []

    def run(self, plan: Plan[Any], *, behind: int) -> None:
        """Let a thread run `plan`, and wait until so many plans stand in the line."""
        thread = threading.Thread(target=self._run, args=(plan,), daemon=True)
        thread.start()
        self.threads.append(thread)
        while self.committer.waiting < behind:
            pass

    def _run(self, plan: Plan[Any]) -> None:
        try:
            self.ends.put(self.committer.run(plan))
        except BaseException as error:  # noqa: BLE001  # compared by the tests
            self.ends.put(error)

    def end(self) -> set[object]:
        """What they were answered, once all have been."""
        for thread in self.threads:
            thread.join(timeout=5)
            assert not thread.is_alive()
        return {self.ends.get_nowait() for _ in self.threads}


def test_waiting_threads_share_the_next_sync() -> None:
    """The first one leads; those behind it share a group, whoever of them leads that one."""
    crowd = Crowd()
    crowd.run(put(b"first"), behind=0)
    assert crowd.gate.arrived.acquire(timeout=5)
    for number, value in enumerate((b"a", b"b", b"c"), 1):
        crowd.run(put(value), behind=number)
    for _ in range(2):
        crowd.gate.open.release()
    assert crowd.end() == {b"first", b"a", b"b", b"c"}
    assert crowd.gate.groups == [1, 3]
    assert crowd.ends.empty()


def test_a_group_that_fails_tells_each_of_its_threads() -> None:
    crowd = Crowd()
    crowd.run(put(b"first"), behind=0)
    assert crowd.gate.arrived.acquire(timeout=5)
    crowd.run(put(b"a"), behind=1)
    crowd.gate.failure = StoreFull("no room")
    for _ in range(2):
        crowd.gate.open.release()
    assert crowd.end() == {crowd.gate.failure}


class Interrupted(BaseException):
    """What ends a thread, as an interrupt from the keyboard does."""


def test_whoever_leads_others_and_is_interrupted_leaves_nobody_waiting() -> None:
    crowd = Crowd()
    crowd.gate.failure = Interrupted()
    with crowd.committer._turn:  # both are in the group that one of them leads
        crowd.run(put(b"a"), behind=1)
        crowd.run(put(b"b"), behind=2)
    crowd.gate.open.release()
    assert {type(end) for end in crowd.end()} == {Interrupted, OutcomeUnknown}
    assert crowd.gate.groups == [2]
