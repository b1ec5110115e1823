"""Making plans and running them (cli §4).

A plan is checked, numbered and saved, then run: `_WORK` has the check and the work of each kind.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from widerow.cli.kv.command import number_of
from widerow.cli.kv.faults import Call, CommandFault, Fault, PlainFault, PlanFault
from widerow.cli.kv.session import Session, ShellTable, counting
from widerow.cli.shell.command import Arguments
from widerow.errors import AnyRule, Conflict, InvalidRequest, NotFound, Unsupported, WiderowError
from widerow.model.typed.index_paths import checked_index
from widerow.model.typed.names import folded, same_name
from widerow.model.typed.plans import PlanKind, PlanState, TablePlan
from widerow.model.typed.rules import TypedRule

__all__ = ["ENDED_STATES", "begin", "chosen", "ended", "held_plans", "resume"]

# The states of plans that can be neither run nor canceled.
ENDED_STATES: Final = frozenset((PlanState.SUCCEEDED, PlanState.CANCELED))
_STATE_TEXTS: Final = {
    PlanState.SUCCEEDED: "Plan {id} ended successfully\n",
    PlanState.ERROR: 'Plan {id} ended with errors. Use "show plan -id {id}" for more information',
    PlanState.INTERRUPTED: "Plan {id} has been interrupted. Please cancel or retry the plan.",
    PlanState.CANCELED: "Plan {id} has been canceled",
    PlanState.PENDING: "Plan {id} has not been executed. Use: plan execute -id {id}",
    PlanState.RUNNING: "Plan {id} is running",
}
# The release that the vendor's texts end with; scripts compare whole lines.
_RELEASE: Final = " (25.3.21)"
# The vendor's class names for errors of the store; all others are `_OTHER`.
_FAULT_KINDS: Final[Mapping[AnyRule, str]] = {
    TypedRule.TABLE_EXISTS: "TableAlreadyExistsException",
    TypedRule.INDEX_EXISTS: "IndexAlreadyExistsException",
    TypedRule.INDEX_MISSING: "IndexNotFoundException",
}
_OTHER: Final = "IllegalCommandException"


def begin(
    session: Session,
    given: Arguments,
    plan: TablePlan,
    created: Callable[[], object] = lambda: None,
) -> str:
    """Number and save `plan`, and run it unless -noexecute was given; returns the text to print.

    `created` is called after the check and before the plan is saved. Raises `PlanFault` if the
    store would refuse the change; then no plan was made.
    """
    _check(session, plan)
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
    return _execute(session, plan, wait=given.has("-wait"))


def resume(session: Session, plan: TablePlan, *, wait: bool) -> str:
    """Run a plan that is pending, failed or was interrupted; returns the text to print.

    Raises: `CommandFault` if the plan has succeeded or was canceled.
    """
    if plan.state in ENDED_STATES:
        raise CommandFault(f"Plan {plan.id} is {plan.state.value} and cannot be executed again")
    return _execute(session, plan, wait=wait)


def ended(plan: TablePlan) -> str:
    """The text of -wait and `plan wait` about a plan. Raises `PlainFault` unless it succeeded."""
    text = _STATE_TEXTS[plan.state].format(id=plan.id)
    if plan.state is not PlanState.SUCCEEDED:
        raise PlainFault(text)
    return text


def chosen(session: Session, given: Arguments) -> TablePlan:
    """The plan that -id names, or the last one. Raises `CommandFault` if there is none."""
    plans = held_plans(session)
    number = number_of(given, "-id")
    if number is None:
        if not plans:
            raise CommandFault("There are no plans")
        return plans[-1]
    plan = next((each for each in plans if each.id == number), None)
    if plan is None:
        raise CommandFault(f"Plan id {number} does not exist")
    return plan


def held_plans(session: Session) -> list[TablePlan]:
    """The plans of the store. One that is saved as running was interrupted with its process."""
    return [
        replace(plan, state=PlanState.INTERRUPTED) if plan.state is PlanState.RUNNING else plan
        for plan in session.store.plans()
    ]


def _execute(session: Session, plan: TablePlan, *, wait: bool) -> str:
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
    """Run a plan and save how it ended; returns it in its new state.

    It is saved as running first, so that `held_plans` shows it as interrupted if the process ends.
    """
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
        _WORK[plan.kind].run(session, plan)
    except KeyboardInterrupt:
        state, error = PlanState.INTERRUPTED, "interrupted at the terminal"
    except (WiderowError, Fault) as failure:
        fault = _plan_fault(failure) if isinstance(failure, WiderowError) else failure
        text = str(failure) if fault is None else fault.text(Call())
        state, error = PlanState.ERROR, text
    plan = replace(running, state=state, error=error, ended_us=session.clock.now_us())
    session.store.save_plan(plan)
    return plan


def _check(session: Session, plan: TablePlan) -> None:
    """Raise the vendor's fault if the store would refuse the plan."""
    try:
        _WORK[plan.kind].check(session, plan)
    except WiderowError as error:
        fault = _plan_fault(error)
        if fault is None:
            raise
        raise fault from error


def _plan_fault(error: WiderowError) -> PlanFault | None:
    """The vendor's fault for a plan that meets `error`; None for a failure of the store itself."""
    if not isinstance(error, (InvalidRequest, NotFound, Conflict, Unsupported)):
        return None
    if error.rule is TypedRule.TABLE_MISSING:
        return _no_table(str(error.details["table"]))
    kind = _FAULT_KINDS.get(error.rule)
    return PlanFault(_OTHER, str(error)) if kind is None else PlanFault(kind, f"{error}{_RELEASE}")


def _no_table(name: str) -> PlanFault:
    """The fault of a plan on a table that the store does not have."""
    return PlanFault(_OTHER, f"Could not find table: {name}")


class _Work(NamedTuple):
    """What a kind of plan does: `check` raises what the store would, `run` makes the change."""

    check: Callable[[Session, TablePlan], None]
    run: Callable[[Session, TablePlan], None]


def _table(session: Session, plan: TablePlan) -> ShellTable:
    table = session.store.find_table(plan.table)
    if table is None:
        raise _no_table(plan.table)
    return table


def _check_add(session: Session, plan: TablePlan) -> None:
    if session.store.find_table(plan.table) is not None:
        raise Conflict(TypedRule.TABLE_EXISTS, table=plan.table)
    assert plan.definition is not None
    space, parent = plan.definition.namespace, plan.definition.parent
    if space and not any(same_name(space, name) for name in session.store.namespaces()):
        raise NotFound(TypedRule.NAMESPACE_MISSING, namespace=space)
    if parent is None:
        return
    parent_name = f"{space}:{parent}" if space else parent
    if session.store.find_table(parent_name) is None:
        raise NotFound(TypedRule.PARENT_MISSING, parent=parent_name, table=plan.table)


def _add(session: Session, plan: TablePlan) -> None:
    assert plan.definition is not None
    session.store.create_table(plan.definition)


def _check_evolve(session: Session, plan: TablePlan) -> None:
    _table(session, plan)


def _evolve(session: Session, plan: TablePlan) -> None:
    assert plan.definition is not None
    session.store.alter_table(plan.definition)


def _check_remove(session: Session, plan: TablePlan) -> None:
    prefix = folded(_table(session, plan).definition.qualified) + "."
    held = (folded(table.definition.qualified) for table in session.store.tables())
    if any(name.startswith(prefix) for name in held):
        raise InvalidRequest(TypedRule.PARENT_HAS_CHILDREN, table=plan.table)


def _remove(session: Session, plan: TablePlan) -> None:
    session.store.drop_table(plan.table)


def _check_add_index(session: Session, plan: TablePlan) -> None:
    assert plan.index is not None
    table = _table(session, plan).definition
    found = table.index(plan.index.name)
    if found is not None and found.ready:  # an index that is not ready is completed by the plan
        raise Conflict(TypedRule.INDEX_EXISTS, index=found.name, table=plan.table)
    checked_index(table, plan.index)


def _add_index(session: Session, plan: TablePlan) -> None:
    assert plan.index is not None
    with counting(session, "rows indexed") as report:
        session.store.create_index(plan.table, plan.index, progress=report)


def _check_remove_index(session: Session, plan: TablePlan) -> None:
    assert plan.index is not None
    if _table(session, plan).definition.index(plan.index.name) is None:
        raise NotFound(TypedRule.INDEX_MISSING, index=plan.index.name, table=plan.table)


def _remove_index(session: Session, plan: TablePlan) -> None:
    assert plan.index is not None
    session.store.drop_index(plan.table, plan.index.name)


_WORK: Final[Mapping[PlanKind, _Work]] = {
    PlanKind.ADD_TABLE: _Work(_check_add, _add),
    PlanKind.EVOLVE_TABLE: _Work(_check_evolve, _evolve),
    PlanKind.REMOVE_TABLE: _Work(_check_remove, _remove),
    PlanKind.ADD_INDEX: _Work(_check_add_index, _add_index),
    PlanKind.REMOVE_INDEX: _Work(_check_remove_index, _remove_index),
}
