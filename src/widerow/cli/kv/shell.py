"""The shell as it is run: lines to commands, pages of a terminal, completion (cli §1)."""

import shutil
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Final

from widerow.cli.kv.command import Command, Group, matching, understood
from widerow.cli.kv.dispatch import execute, execute_words, incomplete
from widerow.cli.kv.scanner import Lines, split_words
from widerow.cli.kv.session import Session
from widerow.cli.kv.statements import EXECUTE, SQL_WORDS
from widerow.cli.shell.command import ShellFlag, offered_words
from widerow.cli.shell.running import Shell, run_lines

__all__ = ["Terminal", "kv_shell"]

# The flags that take the name of a table in the store, or of a table that was built.
_TABLE_FLAGS: Final = frozenset(("-name", "-table", "-ancestor", "-child", "-parent"))


class Terminal:
    """The terminal on standard input and output."""

    @property
    def height(self) -> int:
        """The number of lines on the screen without the line of the prompt; at least 2."""
        return max(2, shutil.get_terminal_size().lines - 1)

    def more(self, prompt: str) -> bool:
        """Show `prompt` and wait for Enter; False if the line begins with q, or the input ends."""
        sys.stdout.write(prompt)
        sys.stdout.flush()
        line = sys.stdin.readline()
        return line != "" and not line.lower().startswith("q")


def kv_shell(session: Session) -> Shell:
    """The shell on a session. A word alone may be a whole line, or several commands."""

    def run_words(words: Sequence[str]) -> int:
        if len(words) == 1:
            return run_lines(shell, words)
        return execute_words(session, " ".join(words), words)

    def meet() -> None:
        session.screen = Terminal()

    shell = Shell(
        session,
        history="kv-history",
        mark="-> ",
        reader=lambda: Lines(partial(incomplete, session), blank_ends=False),
        script_reader=lambda: Lines(partial(incomplete, session), blank_ends=True),
        run=partial(execute, session),
        run_words=run_words,
        completions=partial(_completions, session),
        meet=meet,
        answer=lambda: session.value,
    )
    return shell


def _completions(session: Session, line: str) -> list[str]:
    """Names of commands, flags and tables; in a statement also of columns, and words of SQL."""
    words = split_words(line.rpartition(";")[2])
    if len(words) > 1 and matching(words[0], understood(session)) is EXECUTE:
        begun = line.rpartition(" ")[2]
        quote = begun[: len(begun) - len(begun.lstrip("'\""))]
        word = begun[len(quote) :].lower()
        offered = sorted((*_columns_and_tables(session), *SQL_WORDS))
        return [f"{quote}{each} " for each in offered if each.lower().startswith(word)]
    typed = "" if not words or line[-1:].isspace() else words.pop()
    candidates = _candidates(session, words)
    return [f"{each} " for each in sorted(candidates) if each.lower().startswith(typed.lower())]


def _candidates(session: Session, words: list[str]) -> Iterable[str]:
    entries = understood(session)
    if not words:
        return [entry.name for entry in entries]
    entry = matching(words[0], entries)
    rest = words[1:]
    if isinstance(entry, Group):
        if not rest:
            return [command.name for command in entry.commands]
        entry = matching(rest[0], entry.commands)
        rest = rest[1:]
    if not isinstance(entry, Command):
        return []

    def values(flag: ShellFlag) -> Iterable[str]:
        return _tables(session) if flag.name in _TABLE_FLAGS else ()

    return offered_words(entry, rest, values)


def _columns_and_tables(session: Session) -> set[str]:
    definitions = [table.definition for table in session.store.tables()]
    columns = {field.name for each in definitions for field in each.shown_fields}
    return columns | {each.qualified for each in definitions}


def _tables(session: Session) -> set[str]:
    held = {table.definition.qualified for table in session.store.tables()}
    return held | set(session.staged)
