"""`show indexes`: the indexes of the store, of a table, or one of them (cli §5)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag, missing
from widerow.cli.kv.faults import CommandFault
from widerow.cli.kv.session import Session
from widerow.model.typed.names import same_name
from widerow.model.typed.table import Index, TypedTable

__all__ = ["INDEXES"]


def _check(_: Session, given: Arguments) -> None:
    if given.has("-name") and not given.has("-table"):
        raise missing("-table", "indexes")


def _indexes(session: Session, given: Arguments) -> str:
    wanted, name = given.get("-table"), given.get("-name")
    if wanted is None:
        tables = [table.definition for table in session.store.tables()]
    else:
        found = session.store.find_table(session.qualified(wanted, given.get("-namespace")))
        if found is None:
            raise CommandFault(f"Table not found: {wanted}")
        tables = [found.definition]
    parts = [_section(table, name) for table in tables]
    return "\n\n".join(part for part in parts if part) or "No index found."


def _section(table: TypedTable, name: str | None) -> str:
    lines = [_line(index) for index in table.indexes if name is None or same_name(index.name, name)]
    return "\n".join((f"Indexes on table {table.qualified}", *lines)) if lines else ""


def _line(index: Index) -> str:
    paths = ", ".join(field.path for field in index.fields)
    state = "" if index.ready else ", not ready"
    described = f" -- {index.comment}" if index.comment else ""
    return f"\t{index.name} ({paths}), type: SECONDARY{state}{described}"


INDEXES: Final = Command(
    name="indexes",
    shortest=3,
    description="Shows the indexes of all tables, of one, or one index of it.",
    run=_indexes,
    flags=(
        Flag("-table", "table-name"),
        Flag("-name", "index-name"),
        Flag("-namespace", "namespace"),
    ),
    check=_check,
)
