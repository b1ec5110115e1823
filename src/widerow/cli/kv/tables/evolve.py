"""`table evolve`: begin changes of a table (cli §2)."""

from typing import Final

from widerow.cli.kv.building.commands import EVOLVE_COMMANDS
from widerow.cli.kv.building.levels import EvolveLevel
from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.session import Mode, Session
from widerow.cli.kv.tables.metadata import definition

__all__ = ["EVOLVE"]


def _evolve(session: Session, given: Arguments) -> None:
    full_name = session.qualified(given.need("-name"), given.get("-namespace"))
    table = definition(session, full_name)
    session.modes.append(Mode(table.short_name, EVOLVE_COMMANDS, EvolveLevel(full_name, table)))


EVOLVE: Final = Command(
    name="evolve",
    shortest=3,
    description="Begins changes of a table; exit keeps them for plan evolve-table.",
    run=_evolve,
    flags=(Flag("-name", "table-name", required=True), Flag("-namespace", "namespace")),
)
