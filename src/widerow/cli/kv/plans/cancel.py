"""`plan cancel`: give up a plan that was not run, or was cut off (cli §4)."""

from dataclasses import replace
from typing import Final

from widerow.cli.kv.command import Arguments, Command
from widerow.cli.kv.faults import CommandFault
from widerow.cli.kv.plans.choose import CHOICE, one_chosen
from widerow.cli.kv.plans.run import chosen
from widerow.cli.kv.session import Session
from widerow.model.typed.plans import PlanState

__all__ = ["CANCEL"]


def _cancel(session: Session, given: Arguments) -> str:
    plan = chosen(session, given)
    if plan.state in (PlanState.SUCCEEDED, PlanState.CANCELED):
        raise CommandFault(f"Plan {plan.id} is {plan.state.value} and cannot be canceled")
    session.store.save_plan(replace(plan, state=PlanState.CANCELED))
    return f"Plan {plan.id} was canceled"


CANCEL: Final = Command(
    name="cancel",
    shortest=3,
    description="Gives up a plan that was not run, or was interrupted or failed.",
    run=_cancel,
    flags=CHOICE,
    check=one_chosen("cancel"),
    strange="Invalid argument",
)
