"""`show tables`: the tables of the store, or the definition of one (cli §5)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.session import Session
from widerow.model.typed.names import DEFAULT_NAMESPACE, folded, same_name
from widerow.model.typed.schema_json import schema_json
from widerow.model.typed.table import TypedTable

__all__ = ["TABLES"]


def _tables(session: Session, given: Arguments) -> str:
    name = given.get("-name")
    if name is not None:
        found = session.store.find_table(session.qualified(name, given.get("-namespace")))
        if found is None:
            return f"Table {name} does not exist."
        return schema_json(found.definition)
    namespace = given.get("-namespace")
    shown = [
        table
        for table in (each.definition for each in session.store.tables())
        if namespace is None or same_name(table.shown_namespace, namespace)
    ]
    parent = given.get("-parent")
    if parent is not None:
        shown = _below(shown, session.qualified(parent, namespace))
    level = given.number("-level")
    if level is not None:
        shown = [table for table in shown if _depth(table) < level]
    if not shown:
        return "No table found."
    session.value = [table.qualified for table in shown]
    title = (
        "Tables in all namespaces: " if namespace is None else f"Tables in namespace: {namespace}"
    )
    return "\n".join((title, *(_line(table, verbose=session.verbose) for table in shown), "\t"))


def _below(tables: list[TypedTable], parent: str) -> list[TypedTable]:
    prefix = folded(parent.removeprefix(f"{DEFAULT_NAMESPACE}:")) + "."
    return [table for table in tables if folded(table.qualified).startswith(prefix)]


def _depth(table: TypedTable) -> int:
    return table.name.count(".")


def _line(table: TypedTable, *, verbose: bool) -> str:
    described = f" -- {table.comment}" if table.comment else ""
    if verbose:
        described += f" (primary key: {', '.join(table.primary_key)}"
        described += f"; shard key: {', '.join(table.shard_key)})"
    return f"\t{'  ' * _depth(table)}{table.qualified}{described}"


TABLES: Final = Command(
    name="tables",
    shortest=3,
    description=(
        "Shows the tables of the store: all, those of a namespace, those below a -parent, those\n"
        "of the first -level levels; -verbose adds their keys. With -name the definition of one."
    ),
    run=_tables,
    flags=(
        Flag("-namespace", "namespace"),
        Flag("-name", "table-name"),
        Flag("-parent", "table-name"),
        Flag("-level", "levels"),
    ),
)
