"""The mode of statements in `widerow ts` (ts-cli): `sql` begins it, `exit;` ends it."""

from collections.abc import Sequence
from typing import Final

from widerow.cli.shell.command import Arguments
from widerow.cli.sql import SqlLines
from widerow.cli.ts.command import TsCommand, TsLines
from widerow.cli.ts.session import TsSession

__all__ = ["SQL_MODE", "ModeLines", "run_in_mode"]

_LEAVING: Final = frozenset(("exit", "quit"))


def _enter(session: TsSession, given: Arguments) -> str | None:
    if given.words:
        session.statements.ask(" ".join(given.words))
        return None
    session.in_sql = True
    return None if session.ask is None else "Statements end with ; and `exit;` leaves."


SQL_MODE: Final = TsCommand(
    "sql",
    "Takes statements of SQL until `exit;`, or runs one.",
    _enter,
    example='sql "SELECT count(*) FROM mytable"',
    takes=(0, 1 << 10),
)


def run_in_mode(session: TsSession, statement: str) -> int:
    """Run a statement and print its answer, or leave the mode; the exit code."""
    if statement.strip().lower() in _LEAVING:
        session.in_sql = False
        return 0
    return session.statements.run(statement)


class ModeLines:
    """Collects lines: to statements in the mode of statements, else to commands."""

    def __init__(self, session: TsSession) -> None:
        self._session = session
        self._commands = TsLines()
        self._statements = SqlLines()

    @property
    def _lines(self) -> TsLines | SqlLines:
        return self._statements if self._session.in_sql else self._commands

    @property
    def pending(self) -> bool:
        """Whether a command or a statement was begun."""
        return self._lines.pending

    def take(self, line: str) -> Sequence[str]:
        """What this line completes."""
        return self._lines.take(line)

    def end(self) -> Sequence[str]:
        """What has been collected."""
        return self._lines.end()
