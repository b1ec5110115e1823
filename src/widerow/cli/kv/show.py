"""The group `show`: the tables, indexes and plans of the store (cli §4, §5)."""

from datetime import UTC, datetime
from typing import Final

from widerow.cli.kv.command import Command, missing_argument, number_of, refuse_both
from widerow.cli.kv.plan_run import chosen, held_plans
from widerow.cli.kv.plans import PLAN_CHOICE
from widerow.cli.kv.session import Session
from widerow.cli.kv.values import table_of
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.model.typed.names import DEFAULT_NAMESPACE, folded, same_name
from widerow.model.typed.plans import PlanKind, PlanState, TablePlan
from widerow.model.typed.schema_json import schema_json
from widerow.model.typed.table import Index, TypedTable

__all__ = ["SHOW_INDEXES", "SHOW_PLANS", "SHOW_TABLES"]


def _tables(session: Session, given: Arguments) -> str:
    name = given.get("-name")
    if name is not None:
        found = session.store.find_table(session.qualified(name, given.get("-namespace")))
        if found is None:
            return f"Table {name} does not exist."
        return schema_json(found.definition)
    namespace = given.get("-namespace")
    shown = _selected(session, given)
    if not shown:
        return "No table found."
    session.value = [table.qualified for table in shown]
    title = (
        "Tables in all namespaces: " if namespace is None else f"Tables in namespace: {namespace}"
    )
    lines = (_table_line(table, verbose=session.verbose) for table in shown)
    return "\n".join((title, *lines, "\t"))


def _selected(session: Session, given: Arguments) -> list[TypedTable]:
    """The tables that -namespace, -parent and -level select."""
    namespace, parent = given.get("-namespace"), given.get("-parent")
    level = number_of(given, "-level")
    tables = [table.definition for table in session.store.tables()]
    if namespace is not None:
        tables = [table for table in tables if same_name(table.shown_namespace, namespace)]
    if parent is not None:
        full_name = session.qualified(parent, namespace)
        prefix = folded(full_name.removeprefix(f"{DEFAULT_NAMESPACE}:")) + "."
        tables = [table for table in tables if folded(table.qualified).startswith(prefix)]
    if level is not None:
        tables = [table for table in tables if _depth(table) < level]
    return tables


def _depth(table: TypedTable) -> int:
    """The number of tables above a child table; 0 for a top-level table."""
    return table.name.count(".")


def _table_line(table: TypedTable, *, verbose: bool) -> str:
    described = f" -- {table.comment}" if table.comment else ""
    if verbose:
        described += f" (primary key: {', '.join(table.primary_key)}"
        described += f"; shard key: {', '.join(table.shard_key)})"
    return f"\t{'  ' * _depth(table)}{table.qualified}{described}"


SHOW_TABLES: Final = Command(
    name="tables",
    shortest=3,
    description=(
        "Shows the tables of the store: all, those of a namespace, those below a -parent, those\n"
        "of the first -level levels; -verbose adds their keys. With -name the definition of one."
    ),
    run=_tables,
    flags=(
        ShellFlag("-namespace", "namespace"),
        ShellFlag("-name", "table-name"),
        ShellFlag("-parent", "table-name"),
        ShellFlag("-level", "levels"),
    ),
)


def _check_indexes(_: Session, given: Arguments) -> None:
    if given.has("-name") and not given.has("-table"):
        raise missing_argument("-table", "indexes")


def _indexes(session: Session, given: Arguments) -> str:
    wanted, name = given.get("-table"), given.get("-name")
    tables = (
        session.store.tables()
        if wanted is None
        else [table_of(session, wanted, given.get("-namespace"))]
    )
    parts = [_index_lines(table.definition, name) for table in tables]
    return "\n\n".join(part for part in parts if part) or "No index found."


def _index_lines(table: TypedTable, name: str | None) -> str:
    """The indexes of a table, or the one called `name`; empty if there is none."""
    lines = [
        _index_line(index) for index in table.indexes if name is None or same_name(index.name, name)
    ]
    return "\n".join((f"Indexes on table {table.qualified}", *lines)) if lines else ""


def _index_line(index: Index) -> str:
    paths = ", ".join(field.path for field in index.fields)
    state = "" if index.ready else ", not ready"
    described = f" -- {index.comment}" if index.comment else ""
    return f"\t{index.name} ({paths}), type: SECONDARY{state}{described}"


SHOW_INDEXES: Final = Command(
    name="indexes",
    shortest=3,
    description=(
        "Shows the indexes of all tables, of one, or one index of it. An index that is not ready\n"
        "is being built. It is dropped if a row cannot be indexed: add it again to see the reason."
    ),
    run=_indexes,
    flags=(
        ShellFlag("-table", "table-name"),
        ShellFlag("-name", "index-name"),
        ShellFlag("-namespace", "namespace"),
    ),
    check=_check_indexes,
)


def _check_plans(_: Session, given: Arguments) -> None:
    refuse_both(given, "-id", "-last")


def _plans(session: Session, given: Arguments) -> str:
    if given.pairs:
        return _plan_text(chosen(session, given))
    plans = held_plans(session)
    session.value = [
        {"id": plan.id, "name": plan.shown_name, "state": plan.state.value} for plan in plans
    ]
    if session.verbose:
        return "\n\n".join(_plan_text(plan) for plan in plans) or "There are no plans."
    lines = [f"  {plan.id:>4} {plan.shown_name:<40} {plan.state.value}" for plan in plans]
    return "\n".join(lines) or "There are no plans."


def _plan_text(plan: TablePlan) -> str:
    facts = (
        ("State", plan.state.value),
        ("Table", plan.table),
        ("Attempts", str(plan.attempts)),
        ("Created", _time_text(plan.created_us)),
        ("Started", _time_text(plan.started_us)),
        ("Ended", _time_text(plan.ended_us)),
        ("Failure", plan.error),
        ("To do", _to_do(plan)),
    )
    lines = [f"{f'{name}:':<12}{value}" for name, value in facts if value]
    return "\n".join((f"Plan {plan.shown_name} ({plan.id})", *lines))


def _to_do(plan: TablePlan) -> str:
    """What to do about the index of a plan that was interrupted; empty for other plans.

    Housekeeping builds the index or drops it, and keeps no reason: running the plan again tells it.
    """
    if plan.kind is not PlanKind.ADD_INDEX or plan.state is not PlanState.INTERRUPTED:
        return ""
    return f"run plan execute -id {plan.id}: it builds the index, or says why it cannot be built"


def _time_text(microseconds: int) -> str:
    """A time in UTC, to the second; empty for 0, which stands for no time."""
    if microseconds == 0:
        return ""
    return f"{datetime.fromtimestamp(microseconds // 1_000_000, UTC):%Y-%m-%d %H:%M:%S} UTC"


SHOW_PLANS: Final = Command(
    name="plans",
    shortest=4,
    description=(
        "Shows the plans of the store; with -id or -last all about one, with -verbose about all."
    ),
    run=_plans,
    flags=PLAN_CHOICE,
    check=_check_plans,
)
