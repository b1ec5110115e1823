"""A shell for a person: prompts, a history that stays, completion (cli §1).

Editing, history and completion are those of `readline`, which is loaded only here.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from widerow.cli.kv.complete import completions
from widerow.cli.kv.dispatch import execute, incomplete
from widerow.cli.kv.lines import Lines
from widerow.cli.kv.session import Session

__all__ = ["Terminal", "converse", "prepare_terminal"]

_HISTORY_LINES: Final = 1000


class Terminal:
    """The terminal on standard input and output."""

    @property
    def height(self) -> int:
        """How many lines it shows, less the one that asks."""
        return max(2, shutil.get_terminal_size().lines - 1)

    def more(self, prompt: str) -> bool:
        """Wait for Enter; a line that begins with q, or the end of input, is enough."""
        sys.stdout.write(prompt)
        sys.stdout.flush()
        line = sys.stdin.readline()
        return line != "" and not line.lower().startswith("q")


def converse(session: Session, read: Callable[[str], str]) -> None:
    """Read lines and run them until `exit` or the end of input.

    `read` shows a prompt and returns a line, or raises `EOFError`. An interrupt forgets the line,
    and stops the command that runs.
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
    """Load the history and switch completion on; returns what saves the history.

    An interrupt is taken even by a shell whose parent ignores it, as a job in the background does.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        import readline  # noqa: PLC0415  # only for a person; not on every platform
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
        with suppress(OSError):  # a history that cannot be kept is no reason to fail
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            readline.write_history_file(file)
            file.chmod(0o600)

    return save


def _history_file() -> Path:
    """Where the lines of earlier shells are kept: under XDG_STATE_HOME."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "widerow" / "kv-history"


def _nothing() -> None:
    """Nothing to save where there is no readline."""
