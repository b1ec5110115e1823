"""Which worker is started, replaced and ended when (docs/operating/cluster.md, Workers)."""

from collections.abc import Callable

import pytest

from widerow.limits import (
    WORKER_HUNG_SECONDS,
    WORKER_PAUSE_SECONDS_MAX,
    WORKER_QUICK_DEATHS_MAX,
    WORKER_QUICK_SECONDS,
    WORKER_SILENT_SECONDS,
    WORKER_START_SECONDS_MAX,
    WORKER_STOP_SECONDS_MAX,
    WORKER_TICK_SECONDS,
)
from widerow.server.workers.roster import Roster, Step, StepKind

START, DRAIN, KILL = StepKind.START, StepKind.DRAIN, StepKind.KILL
SILENT_TICKS = round(WORKER_SILENT_SECONDS / WORKER_TICK_SECONDS)
HUNG_TICKS = round(WORKER_HUNG_SECONDS / WORKER_TICK_SECONDS)
LONG = 10.0 * WORKER_QUICK_SECONDS


def opened(roster: Roster) -> bool:
    """A call, because a checker takes a property for what it was."""
    return roster.opened


def plain(steps: list[Step]) -> list[tuple[StepKind, int, int]]:
    return [(each.kind, each.id, each.number) for each in steps]


@pytest.fixture
def roster() -> Roster:
    """Three workers that serve since the time 0; their ids are their numbers."""
    made = Roster(3)
    made.due(0)
    made.ready(1, 0)
    made.due(0)
    made.ready(2, 0)
    made.ready(3, 0)
    assert made.opened
    assert made.due(0) == []
    return made


# --- the start ------------------------------------------------------------------------------------


def test_the_first_starts_alone_and_the_others_when_it_is_ready() -> None:
    roster = Roster(3)
    assert plain(roster.due(0)) == [(START, 1, 1)]
    assert roster.due(1) == []
    assert roster.ready(1, 2)
    assert not opened(roster)
    assert plain(roster.due(2)) == [(START, 2, 2), (START, 3, 3)]
    roster.ready(3, 3)
    assert not opened(roster)
    roster.ready(2, 4)
    assert opened(roster)
    assert roster.offered() == [1, 2, 3]


@pytest.mark.parametrize("dies", [1, 2])
def test_an_end_before_all_are_ready_is_the_end_of_all_with_its_reason(dies: int) -> None:
    roster = Roster(2)
    roster.due(0)
    if dies == 2:
        roster.ready(1, 1)
        roster.due(1)
    assert roster.ended(dies, 2, "cannot read credentials") is None
    assert roster.failure == "cannot read credentials"
    assert plain(roster.due(2)) == [(DRAIN, 1, 1)] * (dies - 1)


def test_one_that_is_never_ready_is_killed() -> None:
    roster = Roster(1)
    roster.due(0)
    assert roster.due(WORKER_START_SECONDS_MAX) == []
    (step,) = roster.due(WORKER_START_SECONDS_MAX + 1)
    assert (step.kind, step.id) == (KILL, 1)
    assert "not ready" in step.why
    assert roster.due(WORKER_START_SECONDS_MAX + 2) == []  # once


# --- deaths ---------------------------------------------------------------------------------------


def test_one_that_served_for_a_while_is_replaced_at_once(roster: Roster) -> None:
    assert roster.ended(2, LONG, "SIGKILL") == 0
    assert plain(roster.due(LONG)) == [(START, 4, 2)]
    assert roster.offered() == [1, 3]
    roster.ready(4, LONG + 1)
    assert roster.offered() == [1, 3, 4]


def test_the_pause_after_quick_deaths_doubles_up_to_a_bound(roster: Roster) -> None:
    now, worker, pauses = LONG, 2, []
    roster.ended(2, now, "SIGSEGV")
    for _ in range(9):
        (step,) = roster.due(now)
        worker = step.id
        pause = roster.ended(worker, now + 1, "SIGSEGV")
        assert pause is not None
        pauses.append(pause)
        assert roster.due(now + 1 + pause - 0.01) == []
        now += 1 + pause
    assert pauses == [0.5, 1, 2, 4, 8, 16, 30, 30, 30]
    assert max(pauses) == WORKER_PAUSE_SECONDS_MAX
    assert roster.failure is None  # others serve, and have for a while


def die_again_and_again(roster: Roster, now: float, deaths: int) -> float:
    """The worker of place 1 dies so often, quickly each time."""
    for _ in range(deaths):
        now += WORKER_PAUSE_SECONDS_MAX
        (step,) = roster.due(now)
        roster.ended(step.id, now, "SIGSEGV")
    return now


def test_many_quick_deaths_in_a_row_end_the_whole() -> None:
    roster = Roster(1)
    roster.due(0)
    roster.ready(1, 0)
    roster.ended(1, LONG, "SIGKILL")
    now = die_again_and_again(roster, LONG, WORKER_QUICK_DEATHS_MAX - 1)
    assert not roster.failure
    die_again_and_again(roster, now, 1)
    said = str(roster.failure)
    assert f"{WORKER_QUICK_DEATHS_MAX} workers in a row" in said
    assert "SIGSEGV" in said


def test_a_worker_that_serves_for_a_while_ends_the_row() -> None:
    roster = Roster(1)
    roster.due(0)
    roster.ready(1, 0)
    roster.ended(1, LONG, "SIGKILL")
    now = die_again_and_again(roster, LONG, WORKER_QUICK_DEATHS_MAX - 1)
    now += WORKER_PAUSE_SECONDS_MAX
    (step,) = roster.due(now)
    roster.ready(step.id, now)
    now += WORKER_QUICK_SECONDS
    roster.tick(now)
    assert roster.ended(step.id, now, "SIGKILL") == 0
    die_again_and_again(roster, now, WORKER_QUICK_DEATHS_MAX - 1)
    assert roster.failure is None


# --- silence --------------------------------------------------------------------------------------


def tick(roster: Roster, ticks: int, beating: Callable[[int], bool]) -> list[Step]:
    steps = []
    for number in range(ticks):
        now = LONG + number * WORKER_TICK_SECONDS
        roster.tick(now)
        for worker in filter(beating, list(roster.workers)):
            roster.beat(worker)
        steps += roster.due(now)
    return steps


def test_a_silent_one_is_given_nothing_and_is_killed_later(roster: Roster) -> None:
    assert tick(roster, SILENT_TICKS - 1, lambda worker: worker != 2) == []
    assert roster.offered() == [1, 2, 3]
    tick(roster, 1, lambda worker: worker != 2)
    assert roster.offered() == [1, 3]
    (step,) = tick(roster, HUNG_TICKS - SILENT_TICKS, lambda worker: worker != 2)
    assert (step.kind, step.id, step.number) == (KILL, 2, 2)
    assert roster.ended(2, LONG, "SIGKILL") == 0
    assert plain(roster.due(LONG)) == [(START, 4, 2)]


def test_one_that_speaks_again_is_given_connections_again(roster: Roster) -> None:
    tick(roster, HUNG_TICKS - 1, lambda worker: worker != 2)
    assert tick(roster, HUNG_TICKS, lambda _: True) == []
    assert roster.offered() == [1, 2, 3]


def test_where_all_are_silent_all_are_offered(roster: Roster) -> None:
    tick(roster, SILENT_TICKS, lambda _: False)
    assert roster.offered() == [1, 2, 3]


# --- restarts -------------------------------------------------------------------------------------


def test_a_restart_replaces_one_after_the_other(roster: Roster) -> None:
    roster.restart(LONG)
    for old, new in ((1, 4), (2, 5), (3, 6)):
        assert roster.restarting
        assert plain(roster.due(LONG)) == [(START, new, old)]
        assert old in roster.offered()  # until its successor is ready
        assert roster.due(LONG + 1) == []
        roster.ready(new, LONG + 1)
        assert plain(roster.due(LONG + 1)) == [(DRAIN, old, old)]
        assert old not in roster.offered()
        assert roster.due(LONG + 2) == []  # it drains
        assert roster.ended(old, LONG + 2, "exit code 0") is None
    assert not roster.restarting
    assert roster.due(LONG + 3) == []
    assert roster.offered() == [4, 5, 6]


def test_one_that_cannot_start_leaves_the_former_ones_in_place(roster: Roster) -> None:
    roster.restart(LONG)
    roster.due(LONG)
    assert roster.ended(4, LONG + 1, "cannot read credentials") is None
    assert not roster.restarting
    assert roster.due(LONG + 1) == []
    assert roster.offered() == [1, 2, 3]
    assert roster.failure is None


def test_a_second_restart_replaces_those_of_the_first(roster: Roster) -> None:
    roster.restart(LONG)
    roster.due(LONG)
    roster.ready(4, LONG + 1)
    roster.due(LONG + 1)
    roster.restart(LONG + 2)
    roster.ended(1, LONG + 2, "exit code 0")
    replaced = []
    while roster.restarting:
        ((_, new, number),) = plain(roster.due(LONG + 3))
        roster.ready(new, LONG + 3)
        ((_, old, _),) = plain(roster.due(LONG + 3))
        roster.ended(old, LONG + 3, "exit code 0")
        replaced.append((number, old))
    assert replaced == [(2, 2), (3, 3), (1, 4)]


def test_one_that_was_asked_by_others_to_end_is_replaced_while_it_drains(roster: Roster) -> None:
    roster.leaves(2)
    assert plain(roster.due(LONG)) == [(START, 4, 2), (DRAIN, 2, 2)]
    assert roster.offered() == [1, 3]
    assert roster.ended(2, LONG + 1, "exit code 0") is None


def test_one_that_does_not_end_is_killed(roster: Roster) -> None:
    roster.stop()
    assert plain(roster.due(LONG)) == [(DRAIN, 1, 1), (DRAIN, 2, 2), (DRAIN, 3, 3)]
    roster.ended(1, LONG, "exit code 0")
    roster.ended(2, LONG, "SIGKILL")
    (step,) = roster.due(LONG + WORKER_STOP_SECONDS_MAX + 1)
    assert (step.kind, step.id) == (KILL, 3)
    roster.ended(3, LONG + WORKER_STOP_SECONDS_MAX + 1, "SIGKILL")
    assert roster.due(2 * LONG) == []  # and none is started
    assert roster.workers == {}
