"""The shell at a terminal: prompts, pages, completion (cli §1). `terminal` keeps the history."""

import shutil
import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from widerow.cli.kv.command import Command, Group, matching, understood
from widerow.cli.kv.dispatch import execute, incomplete
from widerow.cli.kv.scanner import Lines, split_words
from widerow.cli.kv.session import Session

__all__ = ["Terminal", "completions", "converse"]

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


def converse(session: Session, read: Callable[[str], str]) -> None:
    """Read lines and run their commands until `exit` or the end of input.

    `read` shows a prompt and returns a line, or raises `EOFError`. An interrupt (Control-C) drops
    the command being typed, or stops the command that runs.
    """
    lines = Lines(partial(incomplete, session), blank_ends=False)
    while not session.finished:
        prompt = session.continuation if lines.pending else session.prompt
        try:
            for command in lines.take(read(prompt)):
                execute(session, command)
        except EOFError:
            session.write("")
            if not lines.pending:
                return
            lines.reset()
        except KeyboardInterrupt:
            session.write("^C")
            lines.reset()


def completions(session: Session, line: str) -> list[str]:
    """The words that may end `line`, where the cursor is; a space follows each.

    They are names of commands, flags and tables.
    """
    start = line.rpartition(";")[2]
    words = split_words(start)
    typed = "" if not words or start[-1:].isspace() else words.pop()
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
    flags = entry.own_flags
    last = flags.get(rest[-1]) if rest else None
    if last is not None and last.value:
        return _tables(session) if last.name in _TABLE_FLAGS else []
    return [name for name, flag in flags.items() if flag.repeated or name not in rest]


def _tables(session: Session) -> set[str]:
    held = {table.definition.qualified for table in session.store.tables()}
    return held | set(session.staged)
