"""`show`, `cancel` and `exit` in put mode: the row is written at `exit` (cli §6)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command
from widerow.cli.kv.put.levels import current
from widerow.cli.kv.session import Session

__all__ = ["CANCEL", "EXIT", "SHOW"]


def _show(session: Session, _: Arguments) -> str:
    return current(session).shown()


def _cancel(session: Session, _: Arguments) -> None:
    session.modes.pop()


def _exit(session: Session, _: Arguments) -> str | None:
    said = current(session).finish(session)
    session.modes.pop()
    return said


SHOW: Final = Command("show", 2, "Shows the values so far.", _show)
CANCEL: Final = Command("cancel", 4, "Leaves this level and forgets its values.", _cancel)
EXIT: Final = Command("exit", 2, "Leaves this level; at the row's own it is written.", _exit)
