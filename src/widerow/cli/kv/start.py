"""`widerow kv`: open the store; run one command, a script, or the interactive shell (cli §1)."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from widerow.cli.kv.commands import COMMANDS
from widerow.cli.kv.faults import EXIT_FAILED
from widerow.cli.kv.session import NO_SERVER, Mode, Session, open_target
from widerow.cli.kv.shell import kv_shell
from widerow.cli.shell.running import print_line, run_shell
from widerow.errors import WiderowError
from widerow.nosql import TypedStore
from widerow.system import SystemClock

__all__ = ["new_session", "run_kv"]

PROMPT: Final = "kv"


def run_kv(
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
        return run_shell(kv_shell(session), words)
    finally:
        session.store.close()


def new_session(store: TypedStore) -> Session:
    """A shell on an open store that prints its answers on standard output."""
    return Session(
        store=store,
        clock=SystemClock(),
        write=print_line,
        modes=[Mode(PROMPT, COMMANDS)],
        reopen=open_target,
    )


def _opened(path: str, *, create: bool) -> TypedStore:
    new = create and not Path(path).exists()
    store = open_target(path, create=create)
    if new:
        sys.stderr.write(f"widerow kv: made a new store in {path}\n")
    return store
