"""Plans that are planned again when what they were planned on has changed (engine/plan.py)."""

from collections.abc import Sequence
from typing import Any

import pytest

from widerow.engine.plan import Plan, commit_plan, concluded, failing, single
from widerow.errors import Exhausted, NotFound, Replan, Rule
from widerow.limits import REPLANS_MAX
from widerow.storage.interface import Outcome, Write

STALE: Outcome[Any] = Outcome(None, Replan())


def plan(answers: list[Outcome[Any]]) -> Plan[Any]:
    """A plan of one write, planned again for as long as it is stale; it takes from `answers`."""

    def again(_: Sequence[Outcome[Any]]) -> Plan[Any]:
        return plan(answers)

    return Plan((Write((b"s",), lambda _: None),), single, again=again)


def commit_of(answers: list[Outcome[Any]]) -> list[Outcome[Any]]:
    return [answers.pop(0)]


@pytest.mark.parametrize("stale", [0, 1, REPLANS_MAX])
def test_a_stale_plan_is_planned_again(stale: int) -> None:
    """Its answer is that of the plan that was not stale."""
    answers = [STALE] * stale + [Outcome(5, None)]
    assert commit_plan(plan(answers), lambda _: commit_of(answers)) == 5
    assert answers == []


def test_an_operation_that_is_stale_for_ever_is_refused() -> None:
    """After so many attempts the client may try; nothing was written."""
    answers = [STALE] * (REPLANS_MAX + 5)
    with pytest.raises(Exhausted) as refused:
        commit_plan(plan(answers), lambda _: commit_of(answers))
    assert refused.value.rule is Rule.SERVER_BUSY
    assert len(answers) == 4


def test_a_plan_that_cannot_be_planned_again_is_refused() -> None:
    """`Replan` never leaves the engine."""
    with pytest.raises(Exhausted):
        concluded(Plan((), failing), [STALE])


def test_errors_of_the_operation_pass() -> None:
    """They are its answer, and planned again is nothing."""
    error = NotFound(Rule.TABLE_NOT_FOUND, instance="i", table="t")
    with pytest.raises(NotFound):
        commit_plan(plan([]), lambda _: [Outcome(None, error)])


def test_an_answer_is_converted_after_any_number_of_plans() -> None:
    """`Plan.answering`: what is planned again answers in the same form."""
    answers = [STALE, STALE, Outcome(5, None)]
    converted = plan(answers).answering(lambda answer: f"<{answer}>")
    assert commit_plan(converted, lambda _: commit_of(answers)) == "<5>"
