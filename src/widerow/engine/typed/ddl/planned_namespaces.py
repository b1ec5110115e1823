"""CREATE NAMESPACE and DROP NAMESPACE as plans, for callers who must not wait (ddl §1)."""

from collections.abc import Sequence
from typing import Any

from widerow.engine.plan import Plan
from widerow.engine.typed.ddl.faults import failed
from widerow.engine.typed.ddl.statements import (
    CreateNamespaceStatement,
    DropNamespaceStatement,
    Statement,
)
from widerow.engine.typed.engine import TypedEngine
from widerow.errors import Conflict, InvalidRequest, NotFound
from widerow.model.typed.names import folded
from widerow.model.typed.rules import TypedRule
from widerow.storage.interface import Outcome

__all__ = ["is_about_namespace", "planned_namespace"]

_KINDS = (CreateNamespaceStatement, DropNamespaceStatement)


def is_about_namespace(statement: Statement) -> bool:
    """Whether a statement creates or drops a namespace."""
    return isinstance(statement, _KINDS)


def planned_namespace(engine: TypedEngine, statement: Statement) -> "str | Plan[str]":
    """The plan of a statement, which answers the namespace's name; "" where nothing is to be done.

    Raises, or its plan does: `InvalidRequest`, `NotFound`, `Conflict`.
    """
    if isinstance(statement, CreateNamespaceStatement):
        return _created(engine, statement)
    assert isinstance(statement, DropNamespaceStatement)
    missing = folded(statement.name) not in map(folded, engine.tables.namespaces())
    if missing and statement.if_exists:
        return ""
    return _dropped(engine, statement)


def _created(engine: TypedEngine, statement: CreateNamespaceStatement) -> Plan[str]:
    what = f"namespace '{statement.name}'"
    try:
        plan = engine.create_namespace(statement.name)
    except (Conflict, InvalidRequest) as error:
        raise failed("CREATE NAMESPACE", what, error) from error

    def finish(outcomes: Sequence[Outcome[Any]]) -> str:
        try:
            plan.finish(outcomes)
        except Conflict as error:
            if statement.if_not_exists:
                return ""
            raise failed("CREATE NAMESPACE", what, error) from error
        return statement.name

    return Plan(plan.writes, finish, again=lambda _: _created(engine, statement))


def _dropped(engine: TypedEngine, statement: DropNamespaceStatement) -> Plan[str]:
    """The tables first, where they are to go too, child tables before their parents."""
    name, what = statement.name, f"namespace '{statement.name}'"
    if folded(name) not in map(folded, engine.tables.namespaces()):
        missing = NotFound(TypedRule.NAMESPACE_MISSING, namespace=name)
        raise failed("DROP NAMESPACE", what, missing) from missing
    forms = reversed(engine.tables.in_namespace(name)) if statement.cascade else ()
    plans = [*(engine.drop_table(form) for form in forms), engine.drop_namespace(name)]

    def finish(outcomes: Sequence[Outcome[Any]]) -> str:
        at = 0
        try:
            for plan in plans:
                plan.finish(outcomes[at : at + len(plan.writes)])
                at += len(plan.writes)
        except (NotFound, Conflict, InvalidRequest) as error:
            raise failed("DROP NAMESPACE", what, error) from error
        return name

    writes = tuple(write for plan in plans for write in plan.writes)
    return Plan(writes, finish, again=lambda _: _dropped(engine, statement))
