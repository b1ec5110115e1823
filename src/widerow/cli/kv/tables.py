"""The group `table`: definitions that are built in the shell and are not yet in the store (cli §2).

The plan commands then change the store; `execute` does both in one step.
"""

from collections.abc import Mapping
from typing import Final

from widerow.cli.kv.build_levels import CreateLevel, EvolveLevel
from widerow.cli.kv.build_mode import CREATE_COMMANDS, EVOLVE_COMMANDS
from widerow.cli.kv.command import Command, missing_argument, refuse_both
from widerow.cli.kv.faults import CommandFault
from widerow.cli.kv.session import Mode, Session, Staged
from widerow.cli.kv.values import counted
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.names import split_name
from widerow.model.typed.schema_json import schema_json
from widerow.model.typed.table import TypedTable

__all__ = ["TABLE_CLEAR", "TABLE_CREATE", "TABLE_EVOLVE", "TABLE_LIST"]


def _check_clear(_: Session, given: Arguments) -> None:
    if not given.pairs:
        raise missing_argument("-name|-all", "clear")
    refuse_both(given, "-name", "-all")


def _clear(session: Session, given: Arguments) -> str:
    name = given.get("-name")
    if name is not None:
        if session.staged.pop(session.qualified(name), None) is None:
            return f"Table {name} does not exist."
        return f"Table {name} cleared."
    names = sorted(session.staged)
    session.staged.clear()
    if not names:
        return "No available table."
    return f"{counted(len(names), 'table')} cleared: {', '.join(names)}."


TABLE_CLEAR: Final = Command(
    name="clear",
    shortest=3,
    description="Forgets a table that was built, or all of them. The store is not touched.",
    run=_clear,
    flags=(ShellFlag("-name", "table-name"), ShellFlag("-all")),
    check=_check_clear,
)


def _create(session: Session, given: Arguments) -> None:
    full_name = session.qualified(given.need("-name"), given.get("-namespace"))
    namespace, name = split_name(full_name)
    parent_name, _, short = name.rpartition(".")
    parent = None
    if parent_name:
        parent = _definition(session, f"{namespace}:{parent_name}" if namespace else parent_name)
    builder = TableBuilder(short, namespace=namespace, parent=parent)
    builder.comment(given.get("-desc"))
    level = CreateLevel(full_name, builder)
    session.modes.append(Mode(given.need("-name"), CREATE_COMMANDS, level, after=level.check))


TABLE_CREATE: Final = Command(
    name="create",
    shortest=3,
    description=(
        "Begins a new table; exit keeps it for plan add-table. A child table is named\n"
        "parent.child."
    ),
    run=_create,
    flags=(
        ShellFlag("-name", "table-name", required=True),
        ShellFlag("-namespace", "namespace"),
        ShellFlag("-desc", "description"),
    ),
)


def _evolve(session: Session, given: Arguments) -> None:
    full_name = session.qualified(given.need("-name"), given.get("-namespace"))
    table = _definition(session, full_name)
    session.modes.append(Mode(table.short_name, EVOLVE_COMMANDS, EvolveLevel(full_name, table)))


def _definition(session: Session, full_name: str) -> TypedTable:
    """The definition of a table in the store. Raises `CommandFault` if there is none."""
    table = session.store.find_table(full_name)
    if table is None:
        # In the brackets the vendor prints the server's metadata; the shell prints their size.
        held = len(session.store.tables())
        raise CommandFault(f"Table: {full_name} does not exist in TableMetadata[{held} tables]")
    return table.definition


TABLE_EVOLVE: Final = Command(
    name="evolve",
    shortest=3,
    description="Begins changes of a table; exit keeps them for plan evolve-table.",
    run=_evolve,
    flags=(ShellFlag("-name", "table-name", required=True), ShellFlag("-namespace", "namespace")),
)


def _list(session: Session, given: Arguments) -> str:
    staged = _wanted(session, given)
    name = given.get("-name")
    if name is not None:
        full_name = session.qualified(name)
        found = staged.get(full_name)
        if found is None:
            return f"Table {name} does not exist."
        kind = "Evolve" if found.before else "Add"
        return f"{kind} table {full_name}: \n{schema_json(found.table)}"
    added = [_line(full, each.table) for full, each in staged.items() if not each.before]
    evolved = [_line(full, each.table) for full, each in staged.items() if each.before]
    lines = [
        *(("Tables to be added: ", *added) if added else ()),
        *(("Tables to be evolved: ", *evolved) if evolved else ()),
    ]
    return "\n".join(lines) or "No tables available."


def _wanted(session: Session, given: Arguments) -> Mapping[str, Staged]:
    """The definitions that -create and -evolve select, in the order of their names."""
    refuse_both(given, "-create", "-evolve")
    return {
        name: staged
        for name, staged in sorted(session.staged.items())
        if not (staged.before and given.has("-create"))
        and not (staged.before is None and given.has("-evolve"))
    }


def _line(full_name: str, table: TypedTable) -> str:
    return f"\t{full_name} -- {table.comment}" if table.comment else f"\t{full_name}"


TABLE_LIST: Final = Command(
    name="list",
    shortest=3,
    description="Lists the tables that were built and not yet added or evolved by a plan.",
    run=_list,
    flags=(ShellFlag("-name", "table-name"), ShellFlag("-create"), ShellFlag("-evolve")),
)
