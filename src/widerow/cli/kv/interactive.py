"""The shell at a terminal: prompts, pages, a history that is kept, completion (cli §1).

Editing, history and completion use `readline`, which is imported only for a person.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from widerow.cli.kv.command import Command, Group, matching, understood
from widerow.cli.kv.dispatch import execute, incomplete
from widerow.cli.kv.scanner import Lines, split_words
from widerow.cli.kv.session import Session

__all__ = ["Terminal", "completions", "converse", "prepare_terminal"]

_HISTORY_LINES: Final = 1000
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


def prepare_terminal(session: Session) -> Callable[[], None]:
    """Load the history and switch completion on; returns the function that saves the history.

    Interrupts are handled even if the parent process has switched them off, as it does for a job
    in the background.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        import readline  # noqa: PLC0415  # only a person needs it, and not every platform has it
    except ImportError:
        return _nothing
    file = _history_file()
    with suppress(OSError):
        readline.read_history_file(file)
    readline.set_history_length(_HISTORY_LINES)
    readline.set_completer_delims(" \t\n;")
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")

    def complete(_: str, state: int) -> str | None:
        found = completions(session, readline.get_line_buffer()[: readline.get_endidx()])
        return found[state] if state < len(found) else None

    readline.set_completer(complete)

    def save() -> None:
        with suppress(OSError):  # the shell works without a history file
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            readline.write_history_file(file)
            file.chmod(0o600)

    return save


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


def _history_file() -> Path:
    """The file with the lines of earlier shells, under XDG_STATE_HOME."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "widerow" / "kv-history"


def _nothing() -> None:
    """Save no history: there is no readline."""
