"""Definition statements as plans, for callers who must not wait for a commit (ddl §1).

The checks and the texts are those of `run`; an index of many rows is left to housekeeping.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from typing import Any, Final, NamedTuple, TypeVar

from widerow.engine.plan import Plan
from widerow.engine.typed.ddl.faults import ModelError, failed
from widerow.engine.typed.ddl.indexes import index_of
from widerow.engine.typed.ddl.result import Context
from widerow.engine.typed.ddl.statements import (
    AlterTableStatement,
    CreateIndexStatement,
    CreateTableStatement,
    DropIndexStatement,
    DropTableStatement,
    Statement,
)
from widerow.engine.typed.ddl.tables import altered_table, declared_table
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.first_build import with_first_build
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_build import begin_index, drop_index
from widerow.errors import Conflict, InvalidRequest, NotFound, Replan, Unsupported
from widerow.model.typed.names import split_name
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TableLimits
from widerow.storage.interface import Outcome

__all__ = ["ChangedDefinition", "DefinitionChange", "is_planned", "planned"]

T = TypeVar("T")

_FRAMED: Final = (InvalidRequest, NotFound, Conflict, Unsupported)


class DefinitionChange(Enum):
    """What a statement does to a table."""

    CREATE = "create"
    ALTER = "alter"
    DROP = "drop"
    ADD_INDEX = "add index"
    DROP_INDEX = "drop index"


class ChangedDefinition(NamedTuple):
    """What a statement did. `form`: the table as it was before, or as it was created.

    `executed`: whether there was something to do. `index_name`: of the index it is about.
    """

    change: DefinitionChange
    name: str
    form: TableForm | None
    executed: bool = True
    index_name: str = ""


def planned(
    engine: TypedEngine, context: Context, statement: Statement, limits: TableLimits | None
) -> "ChangedDefinition | Plan[ChangedDefinition]":
    """The plan of a statement; an answer at once where there is nothing to do.

    `limits`: of a table that is created. Raises, or its plan does: `InvalidRequest`, `NotFound`,
    `Conflict`, `Unsupported` with the texts of `run`.
    """
    return _PLAN[type(statement)](engine, context, statement, limits)


def is_planned(statement: Statement) -> bool:
    """Whether a statement changes a table or its indexes, as those of `planned` do."""
    return type(statement) in _PLAN


def _framed(
    statement: str,
    what: str,
    make: Callable[[], Plan[T]],
    stale: Callable[[], Plan[T]] | None = None,
) -> Plan[T]:
    """The plan that `make` makes, whose errors are told as those of the statement.

    `stale`: plans again where the table was changed meanwhile.
    """

    def told(error: ModelError) -> ModelError:
        return failed(statement, what, error)

    def framed(make: Callable[[], Plan[T]]) -> Plan[T]:
        try:
            plan = make()
        except _FRAMED as error:
            raise told(error) from error

        def finish(outcomes: Sequence[Outcome[Any]]) -> T:
            try:
                return plan.finish(outcomes)
            except _FRAMED as error:
                if stale is not None and error.rule is TypedRule.EVOLVE_STALE:
                    raise Replan from error
                raise told(error) from error

        def again(outcomes: Sequence[Outcome[Any]]) -> Plan[T]:
            following = plan.again
            if stale is not None:
                return framed(stale)
            return framed(make if following is None else lambda: following(outcomes))

        return Plan(plan.writes, finish, plan.size, again, prepares=plan.prepares)

    return framed(make)


def _create_table(
    engine: TypedEngine,
    context: Context,
    statement: CreateTableStatement,
    limits: TableLimits | None,
) -> "ChangedDefinition | Plan[ChangedDefinition]":
    definition = declared_table(context, statement)
    name = definition.qualified
    found = context.tables.get_qualified(name)
    if statement.if_not_exists and found is not None:
        return ChangedDefinition(DefinitionChange.CREATE, name, found, executed=False)
    if definition.parent is None:
        definition = replace(definition, limits=limits)
    plan = _framed(
        "CREATE TABLE", f"table {definition.name}", lambda: engine.create_table(definition)
    )
    return plan.answering(
        lambda made: ChangedDefinition(
            DefinitionChange.CREATE, name, engine.tables.get_qualified(made.qualified)
        )
    )


def _alter_table(
    engine: TypedEngine,
    context: Context,
    statement: AlterTableStatement,
    _: TableLimits | None,
) -> "ChangedDefinition | Plan[ChangedDefinition]":
    def plan() -> Plan[ChangedDefinition]:
        form = context.form(statement.name)
        changed = altered_table(form.table, statement)
        made = _framed(
            "ALTER TABLE",
            f"table {form.table.name}",
            lambda: engine.alter_table(form, changed),
            lambda: plan_again(form),
        )
        return made.answering(
            lambda _: ChangedDefinition(DefinitionChange.ALTER, form.table.qualified, form)
        )

    def plan_again(form: TableForm) -> Any:  # noqa: ANN401  # a plan of the changed table
        current = engine.tables.current(form)
        return engine.alter_table(current, altered_table(current.table, statement))

    return plan()


def _drop_table(
    engine: TypedEngine,
    context: Context,
    statement: DropTableStatement,
    _: TableLimits | None,
) -> "ChangedDefinition | Plan[ChangedDefinition]":
    name = context.qualified(statement.name)
    found = context.tables.get_qualified(name)
    if found is None and statement.if_exists:
        return ChangedDefinition(DefinitionChange.DROP, name, None, executed=False)
    what = f"table {split_name(name)[1]}"
    plan = _framed(
        "DROP TABLE", what, lambda: engine.drop_table(context.tables.find_qualified(name))
    )
    return plan.answering(lambda _: ChangedDefinition(DefinitionChange.DROP, name, found))


def _indexed(context: Context, name: str) -> TableForm:
    """The table of a statement about an index. Raises `NotFound`, without a place."""
    found = context.tables.get_qualified(context.qualified(name))
    if found is None:
        raise NotFound(TypedRule.DDL_TABLE_NOT_FOUND, table=split_name(name)[1][:300])
    return found


def _create_index(
    engine: TypedEngine,
    context: Context,
    statement: CreateIndexStatement,
    _: TableLimits | None,
) -> "ChangedDefinition | Plan[ChangedDefinition]":
    form = _indexed(context, statement.table)
    name, index = form.table.qualified, statement.name
    found = form.table.index(index)
    if statement.if_not_exists and found is not None and found.ready:
        return ChangedDefinition(
            DefinitionChange.ADD_INDEX, name, form, executed=False, index_name=index
        )
    plan = _framed(
        "CREATE INDEX",
        f"table {form.table.name}, index {index}",
        lambda: with_first_build(
            engine,
            begin_index(engine, engine.tables.current(form), index_of(statement)),
            form,
            index,
        ),
    )
    return plan.answering(
        lambda _: ChangedDefinition(DefinitionChange.ADD_INDEX, name, form, index_name=index)
    )


def _drop_index(
    engine: TypedEngine,
    context: Context,
    statement: DropIndexStatement,
    _: TableLimits | None,
) -> "ChangedDefinition | Plan[ChangedDefinition]":
    form, index = _indexed(context, statement.table), statement.name
    if statement.if_exists and form.table.index(index) is None:
        return ChangedDefinition(
            DefinitionChange.DROP_INDEX, statement.table, form, executed=False, index_name=index
        )
    plan = _framed(
        "DROP INDEX",
        f"table {form.table.name}, index {index}",
        lambda: drop_index(engine, engine.tables.current(form), index),
    )
    return plan.answering(
        lambda _: ChangedDefinition(
            DefinitionChange.DROP_INDEX, form.table.qualified, form, index_name=index
        )
    )


_PLAN: Final[
    Mapping[type[Statement], Callable[..., "ChangedDefinition | Plan[ChangedDefinition]"]]
] = {
    CreateTableStatement: _create_table,
    AlterTableStatement: _alter_table,
    DropTableStatement: _drop_table,
    CreateIndexStatement: _create_index,
    DropIndexStatement: _drop_index,
}
