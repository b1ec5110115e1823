"""The commit's state machine under random arrivals (docs/internals/commit.md).

Whatever comes, in whatever order, with a store that fails and a disk that is slow: every plan is
answered exactly once, what stands in the line in its order, nothing before it is durable, a plan
that wants a group of its own has it, and nothing is committed after the end.
"""

import threading
from collections.abc import Sequence
from functools import partial
from itertools import chain
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from tests.support.volume import examples

from widerow.commit.committer import Committer, Uncounted
from widerow.commit.places import Caller, DiskWait, Place, place_of
from widerow.engine.plan import Plan, single
from widerow.errors import Conflict, Exhausted, StoreFull
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
from widerow.storage.interface import Outcome, Transaction, Write
from widerow.storage.opener import open_store
from widerow.system import SystemClock
from widerow.testing.clock import FakeClock

SHARD = SPACE_ROWS + b"shard"
SMALL = st.integers(0, 3)
COUNTS = SMALL | st.sampled_from([LOOP_GROUP_WRITES_MAX, GROUP_WRITES_MAX // 2, GROUP_WRITES_MAX])
SIZES = st.sampled_from([0, LOOP_GROUP_BYTES_MAX, GROUP_BYTES_MAX // 2, GROUP_BYTES_MAX + 1])


class Machine(RuleBasedStateMachine):
    """One thread plays the loop, requests and the writer; the store fails and waits as told."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FakeClock()
        self.store = open_store("memory:")
        self.commit = self.store.transact_group
        vars(self.store)["transact_group"] = self._transact
        self.committer = Committer(self.store, self.clock, Uncounted())
        self.number = 0
        self.failing = False
        self.wait_seconds = 0.0
        self.stopped = False
        self.groups: list[list[int]] = []
        self.gathered: list[int] = []  # brought by the loop in this turn
        self.order: list[int] = []  # in which plans joined the line, or would have
        self.ahead: set[int] = set()  # those of requests, which may be committed before others
        self.lonely: set[int] = set()
        self.refused: set[int] = set()  # their bodies refuse
        self.sizes: dict[int, tuple[int, int]] = {}
        self.made: list[Write[int]] = []  # all writes; they live as long as their numbers count
        self.owners: dict[int, int] = {}  # by `id` of a write: the number of its plan
        self.ends: dict[int, object] = {}

    # --- what is beneath and above -------------------------------------------------------------

    def _transact(self, writes: Sequence[Write[Any]]) -> list[Outcome[Any]]:
        group = list(dict.fromkeys(self.owners[id(write)] for write in writes))
        assert not self.stopped
        self.groups.append(group)
        self.store.durable_ns = round(self.wait_seconds * 1e9)
        if self.failing:
            raise StoreFull("no room")
        return self.commit(writes)

    def _ended(self, number: int, answer: object, error: Exception | None) -> None:
        assert number not in self.ends, "a plan is answered once"
        if error is None and self.sizes[number][0]:
            shown = self.store.snapshot().get(SHARD + b"%d" % number)
            assert shown == b"%d" % number, "an answer is told when it is durable"
            assert answer == number
        self.ends[number] = answer if error is None else error

    def _plan(self, writes: int, size: int, *, alone: bool, refuse: bool) -> tuple[int, Plan[Any]]:
        number = self.number
        self.number += 1

        def body(txn: Transaction) -> int:
            if refuse:
                raise Conflict(TablestoreRule.CONDITION_FAILED)
            txn.put(SHARD + b"%d" % number, b"%d" % number)
            return number

        count = min(max(writes, 1), 3) if alone else writes
        made = [Write((SHARD,), body, alone=alone) for _ in range(count)]
        self.made += made
        self.owners |= dict.fromkeys(map(id, made), number)
        self.sizes[number] = len(made), size
        if alone:
            self.lonely.add(number)
        if refuse:
            self.refused.add(number)

        def finish(outcomes: Sequence[Outcome[Any]]) -> int:
            assert len(outcomes) == len(made)
            for outcome in outcomes:
                if outcome.error is not None:
                    raise outcome.error
                assert outcome.result == number, "an answer belongs to its plan"
            return number

        return number, Plan(tuple(made), finish, size)

    # --- arrivals -----------------------------------------------------------------------------

    @rule(
        caller=st.sampled_from(Caller),
        writes=COUNTS,
        size=SIZES,
        alone=st.booleans(),
        refuse=st.booleans(),
    )
    def submit(self, caller: Caller, writes: int, size: int, *, alone: bool, refuse: bool) -> None:
        number, plan = self._plan(writes, size, alone=alone, refuse=refuse)

        def done(answer: object, error: Exception | None) -> None:
            self._ended(number, answer, error)

        if self.stopped:
            with pytest.raises(Exhausted):
                self.committer.submit(plan, done, caller)
            self.ends[number] = "never taken"
            return
        blocked = caller is Caller.BLOCKED
        if caller is Caller.LOOP:
            self.gathered.append(number)
        elif caller is Caller.REQUEST:
            self.ahead.add(number)
        else:
            self.order.append(number)
        end = self.committer.submit(plan, None if blocked else done, caller)
        if end is not None:
            assert caller in {Caller.BLOCKED, Caller.REQUEST}
            self._ended(number, *end)
        assert not blocked or end is not None

    @rule(caller=st.sampled_from(Caller), writes=st.integers(1, 3), size=SMALL)
    def submit_a_row(self, caller: Caller, writes: int, size: int) -> None:
        """What comes most."""
        self.submit(caller, writes, size, alone=False, refuse=False)

    @rule(arrivals=st.lists(st.sampled_from(Caller), min_size=1, max_size=6))
    def submit_rows(self, arrivals: list[Caller]) -> None:
        """And many of it."""
        for caller in arrivals:
            self.submit_a_row(caller, 1, 0)

    @rule()
    def flush(self) -> None:
        """The loop's turn is over."""
        self.order += self.gathered
        self.gathered = []
        self.committer.flush()

    @rule()
    def lead(self) -> None:
        """The writer's thread has its turn."""
        waiting = self.committer.waiting
        assert self.committer.step() is (waiting > 0)

    @rule(failing=st.booleans())
    def fail(self, *, failing: bool) -> None:
        self.failing = failing

    @rule(seconds=st.sampled_from([0.0, 0.0003, 0.0015, 0.01, 30.0]))
    def slow_down(self, seconds: float) -> None:
        self.wait_seconds = seconds

    @rule()
    @precondition(lambda self: self.number > 20)
    def stop(self) -> None:
        self.committer.stop()
        assert self.committer.waiting == 0
        self.stopped = True
        self.committer.stop()

    # --- what holds ---------------------------------------------------------------------------

    @invariant()
    def groups_are_as_they_should_be(self) -> None:
        ran = [number for number in chain(*self.groups) if number not in self.ahead]
        expected = [number for number in self.order if self.sizes[number][0]]
        assert list(dict.fromkeys(ran)) == expected[: len(set(ran))], "nobody overtakes"
        for group in self.groups:
            if self.lonely & set(group):
                assert len(group) == 1
            elif len(group) > 1:
                assert sum(self.sizes[number][0] for number in group) <= GROUP_WRITES_MAX
                assert sum(self.sizes[number][1] for number in group) <= GROUP_BYTES_MAX

    def teardown(self) -> None:
        """After the end everyone has been answered, and committed at most once."""
        self.failing = False
        if not self.stopped:
            self.committer.stop()
            self.stopped = True
        self.committer.flush()  # refuses
        self.groups_are_as_they_should_be()
        assert set(self.ends) == set(range(self.number))
        assert {type(end) for end in self.ends.values()} <= {
            int,
            str,
            Conflict,
            Exhausted,
            StoreFull,
        }
        for number, end in self.ends.items():
            if end == number:
                assert number not in self.refused or not self.sizes[number][0]
        committed = [number for number in chain(*self.groups) if number not in self.lonely]
        assert len(committed) == len(set(committed)), "no plan is committed twice"
        self.store.close()


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=examples(40), stateful_step_count=40, deadline=None)


@given(
    caller=st.sampled_from(Caller),
    writes=st.integers(0, 2 * GROUP_WRITES_MAX),
    size=st.integers(0, 2 * GROUP_BYTES_MAX),
    alone=st.booleans(),
    others_wait=st.booleans(),
    usual_wait_ns=st.integers(0, 2 * LOOP_WAIT_NS_MAX),
)
def test_the_rule_for_places(
    caller: Caller, writes: int, size: int, *, alone: bool, others_wait: bool, usual_wait_ns: int
) -> None:
    place = place_of(
        caller, writes, size, alone=alone, others_wait=others_wait, usual_wait_ns=usual_wait_ns
    )
    small = writes <= LOOP_GROUP_WRITES_MAX and size <= LOOP_GROUP_BYTES_MAX
    expected = {
        Caller.LOOP: Place.LOOP
        if small and not alone and not others_wait and usual_wait_ns <= LOOP_WAIT_NS_MAX
        else Place.WRITER,
        Caller.REQUEST: Place.CALLER if usual_wait_ns <= ALONE_WAIT_NS_MAX else Place.WRITER,
        Caller.BLOCKED: Place.CALLER,
        Caller.ELSEWHERE: Place.WRITER,
    }
    assert place is expected[caller]


@given(st.lists(st.integers(0, 60 * 1_000_000_000)))
def test_the_usual_wait_is_between_the_waits_and_bounded(waits: list[int]) -> None:
    disk = DiskWait()
    for wait in waits:
        before = disk.usual_ns
        disk.note(wait)
        low, high = sorted((before, min(wait, 2 * LOOP_WAIT_NS_MAX)))
        assert low <= disk.usual_ns <= high


@given(
    st.lists(st.tuples(st.sampled_from(Caller), st.booleans()), min_size=1, max_size=40),
    st.integers(2, 4),
)
@settings(max_examples=examples(25), deadline=None)
def test_threads_are_each_answered_once(arrivals: list[tuple[Caller, bool]], width: int) -> None:
    """With a writer's thread, a loop, and threads that wait or have made their plan."""
    ends: list[tuple[int, object]] = []
    with open_store("memory:") as store:
        committer = Committer(store, SystemClock(), Uncounted())
        committer.start()

        def note(number: int, answer: object, error: Exception | None) -> None:
            ends.append((number, answer if error is None else error))

        def ask(numbers: range) -> None:
            for number in numbers:
                caller, alone = arrivals[number]
                if caller is Caller.LOOP:  # there is one loop; these are many threads
                    caller = Caller.ELSEWHERE
                blocked = caller is Caller.BLOCKED
                done = None if blocked else partial(note, number)
                end = committer.submit(_put(number, alone=alone), done, caller)
                if end is not None:
                    note(number, *end)

        threads = [
            threading.Thread(target=ask, args=(range(first, len(arrivals), width),))
            for first in range(width)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        committer.stop()
        kept = {bytes(value) for _, value in store.snapshot().scan(SHARD, SHARD + b"\xff")}
    assert sorted(ends) == [(number, number) for number in range(len(arrivals))]
    assert kept == {b"%d" % number for number in range(len(arrivals))}


def _put(number: int, *, alone: bool) -> Plan[int]:
    def body(txn: Transaction) -> int:
        txn.put(SHARD + b"%d" % number, b"%d" % number)
        return number

    return Plan((Write((SHARD,), body, alone=alone),), single)
