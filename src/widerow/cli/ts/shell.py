"""Running the lines of `widerow ts`: one, a script, or what a person types.

Exit codes: 0 done, 1 the server's answer is an error or no, 2 the line is none of the language or
there was no answer. A script has that of the first line that failed, and runs to its end.
"""

import sys
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from widerow.cli.shell.command import ShellFlag, offered_words
from widerow.cli.shell.running import Shell
from widerow.cli.sql import completed_names
from widerow.cli.ts.command import (
    COLUMNS_VALUE,
    TABLE_VALUE,
    TsUsage,
    find_ts_command,
    known_command,
    line_words,
    parse_arguments,
)
from widerow.cli.ts.session import TsSession
from widerow.cli.ts.statements import ModeLines, run_in_mode
from widerow.client.failures import Refused
from widerow.client.tables import list_tables
from widerow.errors import WiderowError

__all__ = ["ask_person", "ts_shell"]

_REFUSED: Final = 1
_FAILED: Final = 2


def ts_shell(session: TsSession) -> Shell:
    """The shell on a session."""

    def meet() -> None:
        session.ask = ask_person
        endpoint = session.endpoint
        session.write(f"{endpoint.url}, instance {endpoint.instance}; `help` lists commands")

    return Shell(
        session,
        history="ts-history",
        mark="> ",
        reader=partial(ModeLines, session),
        script_reader=partial(ModeLines, session),
        run=partial(_run, session),
        run_words=partial(_run_words, session),
        completions=partial(_completions, session),
        meet=meet,
        interrupted=session.close,  # an answer may be on its way
    )


def _run(session: TsSession, line: str) -> int:
    if session.in_sql:
        return run_in_mode(session, line)
    try:
        return _run_words(session, line_words(line))
    except ValueError as error:
        return _told(TsUsage(f"{error}: {line}"))


def _run_words(session: TsSession, words: Sequence[str]) -> int:
    if not words:
        return 0
    try:
        command = known_command(words[0], session.commands)
        given = parse_arguments(command, words[1:])
        answer = command.usage if given is None else command.run(session, given)
    except WiderowError as error:
        return _told(error)
    except UnicodeEncodeError:
        return _told(TsUsage("a text of the line is not Unicode, and tables store nothing else"))
    if answer is not None:
        session.write(answer)
    return 0


def _completions(session: TsSession, line: str) -> list[str]:
    """Names of commands, of flags, of tables behind `-t`, and of columns that were seen."""
    if session.in_sql:
        return completed_names(session.statements, line)
    words = line.split()
    typed = "" if not words or line[-1:].isspace() else words.pop()
    begun, _, last = typed.rpartition(",")
    front = f"{begun}," if begun else ""
    found = sorted(_candidates(session, words))
    return [f"{front}{each} " for each in found if each.startswith(last)]


def _candidates(session: TsSession, words: Sequence[str]) -> Iterable[str]:
    if not words or words == ["help"]:
        return [name for each in session.commands for name in (each.name, *each.aliases)]
    command = find_ts_command(words[0], session.commands)
    return [] if command is None else offered_words(command, words[1:], partial(_values, session))


def _values(session: TsSession, flag: ShellFlag) -> Iterable[str]:
    if flag.value == TABLE_VALUE:
        try:
            return list_tables(session.client)
        except WiderowError:  # nothing to offer, and no place to say why
            return []
    return session.columns.get(session.table, set()) if flag.value == COLUMNS_VALUE else []


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
