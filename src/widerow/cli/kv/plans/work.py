"""What plans do: for each kind, what refuses it at once, and the change itself (cli §4)."""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from widerow.cli.kv.plans.refusals import no_table
from widerow.cli.kv.progress import counting
from widerow.cli.kv.session import Session
from widerow.errors import Conflict, InvalidRequest, NotFound
from widerow.model.typed.index_paths import checked_index
from widerow.model.typed.names import folded, same_name
from widerow.model.typed.plans import PlanKind, TablePlan
from widerow.model.typed.rules import TypedRule
from widerow.nosql import Table

__all__ = ["WORK", "Work"]


class Work(NamedTuple):
    """`check` raises what the store would; `run` makes the change."""

    check: Callable[[Session, TablePlan], None]
    run: Callable[[Session, TablePlan], None]


def _table(session: Session, plan: TablePlan) -> Table:
    table = session.store.find_table(plan.table)
    if table is None:
        raise no_table(plan.table)
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
    above = f"{space}:{parent}" if space else parent
    if session.store.find_table(above) is None:
        raise NotFound(TypedRule.PARENT_MISSING, parent=above, table=plan.table)


def _add(session: Session, plan: TablePlan) -> None:
    assert plan.definition is not None
    session.store.create_table(plan.definition)


def _check_evolve(session: Session, plan: TablePlan) -> None:
    _table(session, plan)


def _evolve(session: Session, plan: TablePlan) -> None:
    assert plan.definition is not None
    session.store.alter_table(plan.definition)


def _check_remove(session: Session, plan: TablePlan) -> None:
    parent = folded(_table(session, plan).definition.qualified) + "."
    held = (folded(table.definition.qualified) for table in session.store.tables())
    if any(name.startswith(parent) for name in held):
        raise InvalidRequest(TypedRule.PARENT_HAS_CHILDREN, table=plan.table)


def _remove(session: Session, plan: TablePlan) -> None:
    session.store.drop_table(plan.table)


def _check_add_index(session: Session, plan: TablePlan) -> None:
    assert plan.index is not None
    table = _table(session, plan).definition
    found = table.index(plan.index.name)
    if found is not None and found.ready:  # one that was cut off is gone on with
        raise Conflict(TypedRule.INDEX_EXISTS, index=found.name, table=plan.table)
    checked_index(table, plan.index)


def _add_index(session: Session, plan: TablePlan) -> None:
    assert plan.index is not None
    with counting(session, "rows indexed") as told:
        session.store.create_index(plan.table, plan.index, progress=told)


def _check_remove_index(session: Session, plan: TablePlan) -> None:
    assert plan.index is not None
    if _table(session, plan).definition.index(plan.index.name) is None:
        raise NotFound(TypedRule.INDEX_MISSING, index=plan.index.name, table=plan.table)


def _remove_index(session: Session, plan: TablePlan) -> None:
    assert plan.index is not None
    session.store.drop_index(plan.table, plan.index.name)


WORK: Final[Mapping[PlanKind, Work]] = {
    PlanKind.ADD_TABLE: Work(_check_add, _add),
    PlanKind.EVOLVE_TABLE: Work(_check_evolve, _evolve),
    PlanKind.REMOVE_TABLE: Work(_check_remove, _remove),
    PlanKind.ADD_INDEX: Work(_check_add_index, _add_index),
    PlanKind.REMOVE_INDEX: Work(_check_remove_index, _remove_index),
}
