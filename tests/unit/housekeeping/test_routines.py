"""The routines of an open store: which is next, when, and what a failure does.

Time is what the loop was told to wait; nothing waits.
"""

import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from widerow.engine.engine import Engine
from widerow.engine.plan import Plan, failing
from widerow.engine.table_models import TABLE_MODELS
from widerow.errors import NotFound, StorageFailure, StoreBusy, StoreDamaged
from widerow.housekeeping.routines import Routine, balancing, chores, keep_house, write_down
from widerow.limits import BALANCE_SECONDS, HOUSEKEEPING_PAUSE_SECONDS, HOUSEKEEPING_SECONDS
from widerow.model.typed.rules import TypedRule
from widerow.storage.interface import Store
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy

NOTHING = Plan((), failing)


class Scripted:
    """A routine that does what a list says, step by step, and then has nothing to do."""

    def __init__(self, store: Store, every: float, *steps: Plan[None] | Exception) -> None:
        self.steps = list(steps)
        self.asked: list[float] = []
        self.now: Callable[[], float] = lambda: 0.0
        self.routine = Routine(
            *(store, self._step, self._step, lambda: every, lambda: None),
            put_off="scripted work is put off",
            not_kept="scripted notes are not kept",
        )

    def _step(self) -> Plan[None] | None:
        self.asked.append(round(self.now(), 6))
        step = self.steps.pop(0) if self.steps else None
        if isinstance(step, Exception):
            raise step
        return step


class Hours:
    """The time of a loop: what it waited for, up to an end."""

    def __init__(self, end: float, *routines: Scripted) -> None:
        self.now = 0.0
        self.end = end
        for routine in routines:
            routine.now = lambda: self.now

    def is_over(self, seconds: float) -> bool:
        self.now += seconds
        return self.now > self.end


@pytest.fixture
def store() -> Iterator[Store]:
    with MemoryStore() as opened:
        yield opened


def run(plan: Plan[Any]) -> None:
    assert plan is NOTHING


def keep(end: float, *scripted: Scripted) -> None:
    keep_house([each.routine for each in scripted], run, Hours(end, *scripted).is_over)


def test_each_routine_comes_when_its_own_pause_is_over(store: Store) -> None:
    often, seldom = Scripted(store, 2.0), Scripted(store, 5.0)
    keep(10.5, seldom, often)
    assert often.asked == [2, 4, 6, 8, 10]
    assert seldom.asked == [5, 10]


def test_what_has_more_to_do_is_asked_again_soon_and_holds_up_nobody(store: Store) -> None:
    busy, other = Scripted(store, 4.0, NOTHING, NOTHING), Scripted(store, 4.01)
    keep(7.0, busy, other)
    assert busy.asked == [4, 4 + HOUSEKEEPING_PAUSE_SECONDS, 4 + 2 * HOUSEKEEPING_PAUSE_SECONDS]
    assert other.asked == [4.01]


def test_a_failure_is_logged_and_tried_again(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    """A table may be dropped while its split is on the way to the store."""
    gone = NotFound(TypedRule.TABLE_MISSING, table="t")
    scripted = Scripted(store, 1.0, gone, StoreBusy("full"))
    keep(3.5, scripted)
    assert scripted.asked == [1, 2, 3]
    assert caplog.messages == ["scripted work is put off"] * 2
    assert store.writable


def test_damage_ends_all_writes_and_the_routines(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    scripted = Scripted(store, 1.0, StoreDamaged("a record is not readable"))
    keep(9.0, scripted)
    assert not store.writable
    assert scripted.asked == [1]  # a store that takes no writes is left alone
    assert [each.levelno for each in caplog.records] == [logging.ERROR]


def test_notes_that_cannot_be_written_down_hold_up_no_other_routine(
    store: Store, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    routines = [Scripted(store, 1.0, NOTHING).routine for _ in range(2)]
    answers: list[Exception | None] = [StorageFailure("no room"), None]

    def commit(_: Plan[Any]) -> None:
        answer = answers.pop(0)
        if answer is not None:
            raise answer

    write_down(routines, commit)
    assert answers == []
    assert caplog.messages == ["scripted notes are not kept"]


def test_notes_do_not_wait_for_a_step_longer_than_they_may(store: Store) -> None:
    routine = Scripted(store, 1.0, NOTHING).routine
    with routine.turn:
        assert routine.flush(0.0) is None
    assert routine.flush(0.0) is NOTHING


def test_a_quiet_store_is_looked_at_at_its_own_pace(store: Store) -> None:
    engine = Engine(store, FakeClock(), FakeEntropy(), TABLE_MODELS)
    routines = chores(engine), balancing(engine)
    while any(routine.do(engine.run) for routine in routines):
        pass  # what opening a store leaves to do
    assert [each.pause(more=False) for each in routines] == [HOUSEKEEPING_SECONDS, BALANCE_SECONDS]
