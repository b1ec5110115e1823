"""`table create`: begin a new table (cli §2)."""

from typing import Final

from widerow.cli.kv.building.commands import CREATE_COMMANDS
from widerow.cli.kv.building.levels import CreateLevel
from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.session import Mode, Session
from widerow.cli.kv.tables.metadata import definition
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.names import split_name

__all__ = ["CREATE"]


def _create(session: Session, given: Arguments) -> None:
    full_name = session.qualified(given.need("-name"), given.get("-namespace"))
    namespace, name = split_name(full_name)
    above, _, short = name.rpartition(".")
    parent = definition(session, f"{namespace}:{above}" if namespace else above) if above else None
    builder = TableBuilder(short, namespace=namespace, parent=parent)
    builder.comment(given.get("-desc"))
    level = CreateLevel(full_name, builder)
    session.modes.append(
        Mode(given.need("-name"), CREATE_COMMANDS, level, after=lambda _: level.check())
    )


CREATE: Final = Command(
    name="create",
    shortest=3,
    description=(
        "Begins a new table; exit keeps it for plan add-table. A child table is named\n"
        "parent.child."
    ),
    run=_create,
    flags=(
        Flag("-name", "table-name", required=True),
        Flag("-namespace", "namespace"),
        Flag("-desc", "description"),
    ),
)
