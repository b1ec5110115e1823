"""`show plans` and `show plan`: the plans of the store (cli §4)."""

from datetime import UTC, datetime
from typing import Final

from widerow.cli.kv.command import Arguments, Command
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.plans.choose import CHOICE
from widerow.cli.kv.plans.run import chosen, held_plans
from widerow.cli.kv.session import Session
from widerow.model.typed.plans import TablePlan

__all__ = ["PLANS"]


def _check(_: Session, given: Arguments) -> None:
    if given.has("-id") and given.has("-last"):
        raise ArgumentFault("-id and -last cannot be used together")


def _plans(session: Session, given: Arguments) -> str:
    if given.pairs:
        return _one(chosen(session, given))
    plans = held_plans(session)
    session.value = [
        {"id": plan.id, "name": plan.shown_name, "state": plan.state.value} for plan in plans
    ]
    if session.verbose:
        return "\n\n".join(_one(plan) for plan in plans) or "There are no plans."
    lines = [f"  {plan.id:>4} {plan.shown_name:<40} {plan.state.value}" for plan in plans]
    return "\n".join(lines) or "There are no plans."


def _one(plan: TablePlan) -> str:
    facts = (
        ("State", plan.state.value),
        ("Table", plan.table),
        ("Attempts", str(plan.attempts)),
        ("Created", _moment(plan.created_us)),
        ("Started", _moment(plan.started_us)),
        ("Ended", _moment(plan.ended_us)),
        ("Failure", plan.error),
    )
    lines = [f"{f'{name}:':<12}{value}" for name, value in facts if value]
    return "\n".join((f"Plan {plan.shown_name} ({plan.id})", *lines))


def _moment(microseconds: int) -> str:
    if microseconds == 0:
        return ""
    return f"{datetime.fromtimestamp(microseconds // 1_000_000, UTC):%Y-%m-%d %H:%M:%S} UTC"


PLANS: Final = Command(
    name="plans",
    shortest=4,
    description=(
        "Shows the plans of the store; with -id or -last all about one, with -verbose about all."
    ),
    run=_plans,
    flags=CHOICE,
    check=_check,
)
