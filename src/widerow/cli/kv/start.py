"""`widerow kv`: open the store; run one command, a script, or the interactive shell (cli §1)."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from widerow.cli.answers import tell_failure
from widerow.cli.command import CommandFailed, Flag, Given, Positional, command, switch
from widerow.cli.flags import SHELL_JSON
from widerow.cli.kv.commands import COMMANDS
from widerow.cli.kv.faults import EXIT_FAILED, EXIT_OK
from widerow.cli.kv.server import KEY_FLAGS_OF_SERVER, open_server
from widerow.cli.kv.session import Mode, Session, ShellStore, open_target
from widerow.cli.kv.shell import kv_shell
from widerow.cli.shell.running import print_line, run_shell
from widerow.errors import WiderowError
from widerow.system import SystemClock

__all__ = ["KV", "new_session"]

PROMPT: Final = "kv"


def _run_kv(words: Sequence[str], given: Given) -> int:
    """Run `words` as one command, or what standard input has, and return the exit code."""
    try:
        store = _opened(given)
    except WiderowError as error:
        return _failed(str(error))
    session = new_session(store)
    session.collects = given["as_json"]
    shell = kv_shell(session)
    try:
        for each in _commands(words, given):
            code = run_shell(shell, each, as_json=given["as_json"])
            if code:
                return code
        return EXIT_OK
    finally:
        session.store.close()


def _commands(words: Sequence[str], given: Given) -> Sequence[Sequence[str]]:
    """The commands to run one after another; one without words is what standard input has."""
    statements, file = given["execute"], given["file"]
    if bool(words) + bool(statements) + (file is not None) > 1:
        raise CommandFailed("give a command, statements by --execute, or a --file, not several")
    if statements:
        return [("execute", each) for each in statements]
    return [words if file is None else ("load", "-file", file)]


def _failed(reason: str) -> int:
    tell_failure(reason, {}, lambda: sys.stderr.write(f"widerow kv: {reason}\n"))
    return EXIT_FAILED


def new_session(store: ShellStore) -> Session:
    """A shell on an open store that prints its answers on standard output."""
    return Session(
        store=store,
        clock=SystemClock(),
        write=print_line,
        modes=[Mode(PROMPT, COMMANDS)],
        reopen=open_target,
    )


def _opened(given: Given) -> ShellStore:
    """The server of --endpoint, or the store of --path. Raises: `CommandFailed`; as these."""
    endpoint, path, create = given["endpoint"], given["path"], given["create"]
    if endpoint is not None:
        if path is not None or create:
            raise CommandFailed("give --endpoint for a server, or --path for a store, not both")
        return open_server(endpoint, given)
    path = path or "widerow-data"
    new = create and not Path(path).exists()
    store = open_target(path, create=create)
    if new:
        sys.stderr.write(f"widerow kv: made a new store in {path}\n")
    return store


KV: Final = command(
    _run_kv,
    Positional("words", "[COMMAND]...", "One command of the shell.", "*"),
    Flag("path", "The store, which no server may have open; widerow-data if left out.", "DIR"),
    switch("create", "Make the store if it is not there."),
    Flag(
        "execute",
        "Run a statement; may be given several times, until one fails.",
        "STATEMENT",
        default=[],
        spelled=("--execute", "-e"),
    ),
    Flag(
        "file", "Run the commands of a script, until one fails.", "FILE", spelled=("--file", "-f")
    ),
    SHELL_JSON,
    Flag("endpoint", "Work through this server instead, http://HOST:PORT.", "URL"),
    *KEY_FLAGS_OF_SERVER,
    examples="""
`widerow kv --path ./products --create` — a conversation, in a new store; `help` lists the commands
`widerow kv --path ./products show tables` — one command
`widerow kv --endpoint http://127.0.0.1:8087` — a conversation with the tables of a server
`widerow kv --path ./products -e "SELECT * FROM stock WHERE size = 'small'"` — one statement
`widerow kv --path ./products -f create-tables.kv` — a script, until a command fails
`widerow kv --path ./products < create-tables.kv` — a script, to its end
Exit codes: 0 done, 1 the command failed, 2 the flags cannot be used, 64 wrong usage,
65 wrong argument or unreadable file.
""",
    own_words=True,
)
