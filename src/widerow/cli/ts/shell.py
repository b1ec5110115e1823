"""Running the lines of `widerow ts`: one, a script, or what a person types.

Exit codes: 0 done, 1 the server's answer is an error or no, 2 the line is none of the language or
there was no answer. A script has that of the first line that failed, and runs to its end.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import Final

from widerow.cli.shell.command import ShellFlag, offered_words
from widerow.cli.shell.running import Shell
from widerow.cli.ts.command import (
    COLUMNS_VALUE,
    TABLE_VALUE,
    TsLines,
    TsUsage,
    find_ts_command,
    known_command,
    line_words,
    parse_arguments,
)
from widerow.cli.ts.session import TsSession
from widerow.client.failures import Refused
from widerow.client.tables import list_tables
from widerow.errors import WiderowError

__all__ = ["TsShell", "ask_person"]

_REFUSED: Final = 1
_FAILED: Final = 2


class TsShell(Shell):
    """The shell on one session."""

    history = "ts-history"
    mark = "> "

    def __init__(self, session: TsSession) -> None:
        """Work in this session."""
        self._session = session

    @property
    def finished(self) -> bool:
        """Whether `exit` was called."""
        return self._session.finished

    @property
    def prompt(self) -> str:
        """The instance, and the table in use."""
        instance, table = self._session.endpoint.instance, self._session.table
        return f"{instance}{':' if table else ''}{table}{self.mark}"

    def reader(self, *, scripted: bool) -> TsLines:
        """A reader that joins lines while a quote is open."""
        del scripted  # persons and scripts write alike
        return TsLines()

    def run(self, command: str) -> int:
        """Run one line. What is wrong is told on stderr."""
        try:
            return self.run_words(line_words(command))
        except ValueError as error:
            return _told(TsUsage(f"{error}: {command}"))

    def run_words(self, words: Sequence[str]) -> int:
        """Run one command."""
        if not words:
            return 0
        try:
            command = known_command(words[0], self._session.commands)
            given = parse_arguments(command, words[1:])
            answer = command.usage if given is None else command.run(self._session, given)
        except WiderowError as error:
            return _told(error)
        except UnicodeEncodeError:
            return _told(TsUsage("a text of the line is not Unicode; tables store no other"))
        if answer is not None:
            self.write(answer)
        return 0

    def write(self, line: str) -> None:
        """Print a line."""
        self._session.write(line)

    def meet(self) -> None:
        """Say where the shell is connected."""
        self._session.ask = ask_person
        endpoint = self._session.endpoint
        self.write(f"{endpoint.url}, instance {endpoint.instance}; `help` lists commands")

    def interrupted(self) -> None:
        """Close the connection: an answer may be on its way."""
        self._session.close()

    def completions(self, line: str) -> list[str]:
        """Names of commands, of flags, of tables behind `-t`, and of columns that were seen."""
        words = line.split()
        typed = "" if not words or line[-1:].isspace() else words.pop()
        begun, _, last = typed.rpartition(",")
        front = f"{begun}," if begun else ""
        found = sorted(self._candidates(words))
        return [f"{front}{each} " for each in found if each.startswith(last)]

    def _candidates(self, words: Sequence[str]) -> Iterable[str]:
        if not words or words == ["help"]:
            return [name for each in self._session.commands for name in (each.name, *each.aliases)]
        command = find_ts_command(words[0], self._session.commands)
        return [] if command is None else offered_words(command, words[1:], self._values)

    def _values(self, flag: ShellFlag) -> Iterable[str]:
        if flag.value == TABLE_VALUE:
            try:
                return list_tables(self._session.client)
            except WiderowError:  # nothing to offer, and no place to say why
                return []
        if flag.value == COLUMNS_VALUE:
            return self._session.columns.get(self._session.table, set())
        return []


def ask_person(question: str) -> str:
    """What a person at the terminal answers."""
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip()


def _told(error: WiderowError) -> int:
    sys.stdout.flush()
    if isinstance(error, Refused):
        sys.stderr.write(f"{error.code}: {error.message}\n")
        if error.hint:
            sys.stderr.write(f"  {error.hint}\n")
        if error.request_id:
            sys.stderr.write(f"  request {error.request_id}\n")
        return _REFUSED
    sys.stderr.write(f"{error}\n")
    return _FAILED
