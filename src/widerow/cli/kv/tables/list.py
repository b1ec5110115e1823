"""`table list`: the definitions that were built (cli §2)."""

from collections.abc import Mapping
from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.session import Session, Staged
from widerow.model.typed.schema_json import schema_json

__all__ = ["LIST"]


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
    parts = [
        *_section("Tables to be added: ", [each for each in staged.items() if not each[1].before]),
        *_section("Tables to be evolved: ", [each for each in staged.items() if each[1].before]),
    ]
    return "\n".join(parts) or "No tables available."


def _wanted(session: Session, given: Arguments) -> Mapping[str, Staged]:
    if given.has("-create") and given.has("-evolve"):
        raise ArgumentFault("-create and -evolve cannot be used together")
    return {
        name: staged
        for name, staged in sorted(session.staged.items())
        if not (staged.before and given.has("-create"))
        and not (staged.before is None and given.has("-evolve"))
    }


def _section(title: str, staged: list[tuple[str, Staged]]) -> list[str]:
    if not staged:
        return []
    lines = [
        f"\t{name} -- {each.table.comment}" if each.table.comment else f"\t{name}"
        for name, each in staged
    ]
    return [title, *lines]


LIST: Final = Command(
    name="list",
    shortest=3,
    description="Lists the tables that were built and not yet added or evolved by a plan.",
    run=_list,
    flags=(Flag("-name", "table-name"), Flag("-create"), Flag("-evolve")),
)
