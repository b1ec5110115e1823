"""`widerow ts`: connect; run one command, a script, or the interactive shell."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from widerow.cli.command import Flag, Given, Positional, command
from widerow.cli.connection import CONNECTION_FIELDS, PROFILE_VARIABLE, endpoint_of
from widerow.cli.flags import SHELL_JSON, server_flags
from widerow.cli.profiles import load_profiles, profiles_path, save_profiles
from widerow.cli.shell.running import print_line, run_shell
from widerow.cli.tablestore.words import WordInvalid
from widerow.cli.ts.commands import TS_COMMANDS
from widerow.cli.ts.session import TsSession
from widerow.cli.ts.shell import ask_person, ts_shell
from widerow.text_lines import text_lines

__all__ = ["TS"]

_DEFAULT_PROFILE: Final = "default"


def _run_ts(words: Sequence[str], given: Given) -> int:
    """Run `words` as one command, or a script, or talk with a person; the exit code.

    Raises: `WiderowError` where there is no such table to use.
    """
    kept = {field.name: given[field.name] for field in CONNECTION_FIELDS}
    session = TsSession(endpoint_of(given), kept, TS_COMMANDS, print_line, _keep)
    file = given["file"]
    if words and file is not None:
        raise WordInvalid("give a command or --file, not both")
    if words and sys.stdin.isatty():
        session.ask = ask_person
    try:
        script = None if file is None else text_lines(Path(file).read_bytes().decode())
    except (OSError, UnicodeDecodeError) as error:
        raise WordInvalid(f"{file} cannot be read: {error}") from error
    try:
        if given["table"]:
            session.table = session.facts(given["table"]).name
        return run_shell(ts_shell(session), words, script, as_json=given["as_json"])
    finally:
        session.close()


def _keep(kept: Mapping[str, str]) -> str:
    """Keep a connection in the profile in use, and return its name. Raises: `ProfileInvalid`."""
    path = profiles_path(os.environ)
    profiles = load_profiles(path)
    name = os.environ.get(PROFILE_VARIABLE) or profiles.current or _DEFAULT_PROFILE
    save_profiles(path, profiles.changed(name, kept).using(name))
    return name


TS: Final = command(
    _run_ts,
    Positional("words", "[COMMAND]...", "One command of the shell.", "*"),
    Flag("table", "The table.", "TABLE", spelled=("--table", "-t")),
    Flag("file", "Run the commands of this file.", "FILE"),
    SHELL_JSON,
    *server_flags("The server; any that speaks Tablestore."),
    examples="""
`widerow ts` — a conversation: `help` lists the commands, Tab completes
`widerow ts list` — one command
`widerow ts -t cards get --pk '["c-1",7]'` — one command about a table
`widerow ts < script.ts` — a script, a command on each line; so does `--file script.ts`
`widerow ts config --endpoint http://db:8087 --instance shop --id reporting --key SECRET` — kept as
the profile that is used from then on
Exit codes: 0 done, 1 the server's answer is an error, 2 the command cannot be understood or there
was no answer; of a script that of the first command that failed.
""",
    own_words=True,
)
