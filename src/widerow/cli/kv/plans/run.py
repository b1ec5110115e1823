"""Making plans and running them (cli §4)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from widerow.cli.kv.command import Arguments, Flag
from widerow.cli.kv.faults import CommandFault, Fault, PlainFault
from widerow.cli.kv.plans.refusals import refusal
from widerow.cli.kv.plans.work import WORK
from widerow.cli.kv.session import Session
from widerow.errors import WiderowError
from widerow.model.typed.plans import PlanState, TablePlan

__all__ = ["PLAN_FLAGS", "begin", "chosen", "ended", "held_plans", "resume"]

# What every plan takes (cli §4). -force changes nothing about tables, there as here.
PLAN_FLAGS: Final = (
    Flag("-plan-name", "name"),
    Flag("-wait"),
    Flag("-noexecute"),
    Flag("-force"),
)
_ENDS: Final = {
    PlanState.SUCCEEDED: "Plan {id} ended successfully\n",
    PlanState.ERROR: 'Plan {id} ended with errors. Use "show plan -id {id}" for more information',
    PlanState.INTERRUPTED: "Plan {id} has been interrupted. Please cancel or retry the plan.",
    PlanState.CANCELED: "Plan {id} has been canceled",
    PlanState.PENDING: "Plan {id} has not been executed. Use: plan execute -id {id}",
    PlanState.RUNNING: "Plan {id} is running",
}


def begin(
    session: Session,
    given: Arguments,
    plan: TablePlan,
    created: Callable[[], object] = lambda: None,
) -> str:
    """Make a plan of `plan`, which has no number yet, and run it unless told not to.

    `created` is called once it is sure that there will be a plan. Raises `PlanFault` where the
    store would refuse the change: then there is none.
    """
    _refused(lambda: WORK[plan.kind].check(session, plan))
    created()
    plan = replace(
        plan,
        id=session.store.next_plan_id(),
        name=given.get("-plan-name") or "",
        created_us=session.clock.now_us(),
    )
    session.value = {"plan_id": plan.id}
    if given.has("-noexecute"):
        session.store.save_plan(plan)
        return f"Created plan without execution: {plan.id}"
    return _executed(session, plan, wait=given.has("-wait"))


def resume(session: Session, plan: TablePlan, *, wait: bool) -> str:
    """Run a plan that was made before, or was cut off. Raises `CommandFault` if it has ended."""
    if plan.state in (PlanState.SUCCEEDED, PlanState.CANCELED):
        raise CommandFault(f"Plan {plan.id} is {plan.state.value} and cannot be executed again")
    return _executed(session, plan, wait=wait)


def ended(plan: TablePlan) -> str:
    """What -wait and `plan wait` say of a plan. Raises `PlainFault` unless it succeeded."""
    text = _ENDS[plan.state].format(id=plan.id)
    if plan.state is not PlanState.SUCCEEDED:
        raise PlainFault(text)
    return text


def chosen(session: Session, given: Arguments) -> TablePlan:
    """The plan that -id or -last names. Raises `CommandFault` if there is none."""
    plans = held_plans(session)
    number = given.number("-id")
    if number is None:
        if not plans:
            raise CommandFault("There are no plans")
        return plans[-1]
    plan = next((each for each in plans if each.id == number), None)
    if plan is None:
        raise CommandFault(f"Plan id {number} does not exist")
    return plan


def held_plans(session: Session) -> list[TablePlan]:
    """The plans of the store. One that was cut off with its process is interrupted."""
    return [
        replace(plan, state=PlanState.INTERRUPTED) if plan.state is PlanState.RUNNING else plan
        for plan in session.store.plans()
    ]


def _executed(session: Session, plan: TablePlan, *, wait: bool) -> str:
    if wait:
        session.write(f"Executed plan {plan.id}, waiting for completion...")
    plan = _run(session, plan)
    session.value = {"plan_id": plan.id, "state": plan.state.value}
    if wait:
        return ended(plan)
    return (
        f"Started plan {plan.id}. Use show plan -id {plan.id} to check status.\n"
        f"\tTo wait for completion, use plan wait -id {plan.id}"
    )


def _run(session: Session, plan: TablePlan) -> TablePlan:
    """Run it. What is noted before makes a process that dies in between leave it interrupted."""
    running = replace(
        plan,
        state=PlanState.RUNNING,
        attempts=plan.attempts + 1,
        started_us=session.clock.now_us(),
        error="",
    )
    session.store.save_plan(running)
    state, error = PlanState.SUCCEEDED, ""
    try:
        WORK[plan.kind].run(session, plan)
    except KeyboardInterrupt:
        state, error = PlanState.INTERRUPTED, "interrupted at the terminal"
    except (WiderowError, Fault) as failure:
        told = refusal(failure) if isinstance(failure, WiderowError) else failure
        text = str(failure) if told is None else told.text("", "", "")
        state, error = PlanState.ERROR, text
    plan = replace(running, state=state, error=error, ended_us=session.clock.now_us())
    session.store.save_plan(plan)
    return plan


def _refused(check: Callable[[], None]) -> None:
    try:
        check()
    except WiderowError as error:
        told = refusal(error)
        if told is None:
            raise
        raise told from error
