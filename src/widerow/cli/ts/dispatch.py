"""Running one line of `widerow ts`, and scripts of them.

Exit codes: 0 done, 1 the server's answer is an error or no, 2 the line is none of the language or
there was no answer. A script has that of the first line that failed, and runs to its end.
"""

import difflib
import sys
from collections.abc import Iterable, Sequence
from typing import Final

from widerow.cli.ts.command import (
    LineReader,
    TsArguments,
    TsCommand,
    line_words,
    parse_arguments,
)
from widerow.cli.ts.commands import find_ts_command
from widerow.cli.ts.faults import TsUsage
from widerow.cli.ts.session import TsSession
from widerow.client.failures import Refused
from widerow.errors import WiderowError

__all__ = ["help_command", "run_ts_line", "run_ts_lines", "run_ts_words"]

_REFUSED: Final = 1
_FAILED: Final = 2


def help_command(commands: Sequence[TsCommand]) -> TsCommand:
    """`help`, about these commands."""

    def show(session: TsSession, given: TsArguments) -> None:
        if given.words:
            session.write(_found(given.words[0], commands).usage)
            return
        width = max(len(each.name) for each in commands)
        for each in commands:
            session.write(f"{each.name:<{width}}  {each.help}")
        session.write("`help COMMAND` or `COMMAND help` says more of one.")

    return TsCommand("help", "Lists the commands, or says more of one.", show, takes=1)


def _found(name: str, commands: Sequence[TsCommand]) -> TsCommand:
    command = find_ts_command(name, commands)
    if command is None:
        near = difflib.get_close_matches(name.lower(), [each.name for each in commands], 1)
        meant = f"did you mean {near[0]}? " if near else ""
        raise TsUsage(f"there is no command {name}; {meant}`help` lists them")
    return command


def run_ts_lines(session: TsSession, commands: Sequence[TsCommand], lines: Iterable[str]) -> int:
    """Run the commands of a script to its end, or to `exit`; the first exit code that is not 0."""
    first = 0
    for line in LineReader().commands(lines):
        code = run_ts_line(session, commands, line)
        first = first or code
        if session.finished:
            break
    return first


def run_ts_line(session: TsSession, commands: Sequence[TsCommand], line: str) -> int:
    """Run one line; its exit code. What is wrong is told on stderr."""
    try:
        words = line_words(line)
    except ValueError as error:
        return _told(TsUsage(f"{error}: {line}"))
    return run_ts_words(session, commands, words)


def run_ts_words(session: TsSession, commands: Sequence[TsCommand], words: Sequence[str]) -> int:
    """Run one command whose words these are; its exit code."""
    if not words:
        return 0
    try:
        command = _found(words[0], commands)
        given = parse_arguments(command, words[1:])
        if given is None:
            session.write(command.usage)
        else:
            command.run(session, given)
    except WiderowError as error:
        return _told(error)
    except UnicodeEncodeError:
        return _told(TsUsage("a text of the line is not Unicode, and tables store nothing else"))
    return 0


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
