"""Shells at a terminal: line editing, a history that is kept, completion, by `readline`.

`readline` is imported only for a person, and not every platform has it: without it lines are read
as they are typed.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

__all__ = ["history_file", "lines_of_history"]

_HISTORY_LINES: Final = 1000


@contextmanager
def lines_of_history(name: str, complete: Callable[[str], list[str]]) -> Iterator[None]:
    """Load the history file of this name and complete lines; at the end the history is kept.

    `complete`: the words that may end a line, where the cursor is. Interrupts are handled even if
    the parent process has switched them off, as it does for a job in the background.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        import readline  # noqa: PLC0415  # only a person needs it, and not every platform has it
    except ImportError:
        yield
        return
    file = history_file(name)
    with suppress(OSError):
        readline.read_history_file(file)
    readline.set_history_length(_HISTORY_LINES)
    readline.set_completer_delims(" \t\n;")
    libedit = "libedit" in (readline.__doc__ or "")
    readline.parse_and_bind("bind ^I rl_complete" if libedit else "tab: complete")

    def completer(_: str, state: int) -> str | None:
        found = complete(readline.get_line_buffer()[: readline.get_endidx()])
        return found[state] if state < len(found) else None

    readline.set_completer(completer)
    try:
        yield
    finally:
        with suppress(OSError):  # the shell works without a history file
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            readline.write_history_file(file)
            file.chmod(0o600)


def history_file(name: str) -> Path:
    """The file with the lines of earlier shells, under XDG_STATE_HOME."""
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "widerow" / name
