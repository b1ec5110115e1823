"""`widerow kv`: open the store; run one command, a script, or the interactive shell (cli §1)."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from widerow.cli.kv.commands import COMMANDS
from widerow.cli.kv.dispatch import execute_words
from widerow.cli.kv.faults import EXIT_FAILED, EXIT_INTERRUPTED, EXIT_OK
from widerow.cli.kv.interactive import Terminal, completions, converse
from widerow.cli.kv.script import run_lines
from widerow.cli.kv.session import NO_SERVER, Mode, Session, open_target
from widerow.cli.terminal import lines_of_history
from widerow.errors import WiderowError
from widerow.nosql import TypedStore
from widerow.server.system import SystemClock

__all__ = ["new_session", "run_shell"]

PROMPT: Final = "kv"
_HISTORY: Final = "kv-history"


def run_shell(
    path: str | None, endpoint: str | None, words: Sequence[str], *, create: bool = False
) -> int:
    """Run `words` as one command, or what standard input has, and return the exit code.

    `create`: make the store if it is not there; else a directory without one is refused.
    """
    if endpoint is not None:
        sys.stderr.write(f"widerow kv: {NO_SERVER}\n")
        return EXIT_FAILED
    try:
        store = _opened(path or "widerow-data", create=create)
    except WiderowError as error:
        sys.stderr.write(f"widerow kv: {error}\n")
        return EXIT_FAILED
    session = new_session(store)
    try:
        return _run(session, words)
    except KeyboardInterrupt:
        return EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of the answers has closed the pipe. Without the next line Python would write
        # to it once more, and report the error, when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return EXIT_FAILED
    finally:
        session.store.close()


def new_session(store: TypedStore) -> Session:
    """A shell on an open store that prints its answers on standard output."""
    return Session(
        store=store,
        clock=SystemClock(),
        write=_print,
        modes=[Mode(PROMPT, COMMANDS)],
        reopen=open_target,
    )


def _opened(path: str, *, create: bool) -> TypedStore:
    new = create and not Path(path).exists()
    store = open_target(path, create=create)
    if new:
        sys.stderr.write(f"widerow kv: made a new store in {path}\n")
    return store


def _run(session: Session, words: Sequence[str]) -> int:
    if len(words) == 1:
        return run_lines(session, words, stop=False)
    if words:
        return execute_words(session, " ".join(words), words)
    if not sys.stdin.isatty():
        return run_lines(session, sys.stdin, stop=False)
    session.screen = Terminal()
    with lines_of_history(_HISTORY, lambda line: completions(session, line)):
        converse(session, input)
    return EXIT_OK


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
