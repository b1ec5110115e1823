"""Looking a table up for building on it, in the words of the shell (cli §2)."""

from widerow.cli.kv.faults import CommandFault
from widerow.cli.kv.session import Session
from widerow.model.typed.table import TypedTable

__all__ = ["definition"]


def definition(session: Session, full_name: str) -> TypedTable:
    """The definition of a table in the store. Raises `CommandFault` if there is none."""
    table = session.store.find_table(full_name)
    if table is None:
        # Inside the brackets the vendor prints the inner state of a server; here it is the number.
        held = len(session.store.tables())
        raise CommandFault(f"Table: {full_name} does not exist in TableMetadata[{held} tables]")
    return table.definition
