"""`table clear`: forget definitions that were built (cli §2)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag, missing
from widerow.cli.kv.faults import ArgumentFault
from widerow.cli.kv.session import Session

__all__ = ["CLEAR"]


def _check(_: Session, given: Arguments) -> None:
    if not given.pairs:
        raise missing("-name|-all", "clear")
    if given.has("-name") and given.has("-all"):
        raise ArgumentFault("-name and -all cannot be used together")


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
    noun = "table" if len(names) == 1 else "tables"
    return f"{len(names)} {noun} cleared: {', '.join(names)}."


CLEAR: Final = Command(
    name="clear",
    shortest=3,
    description="Forgets a table that was built, or all of them. The store is not touched.",
    run=_clear,
    flags=(Flag("-name", "table-name"), Flag("-all")),
    check=_check,
)
