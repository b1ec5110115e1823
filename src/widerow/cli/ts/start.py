"""`widerow ts`: connect; run one command, a script, or the interactive shell."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from widerow.cli.connection import CONNECTION_FIELDS, PROFILE_VARIABLE, endpoint_of
from widerow.cli.profiles import load_profiles, profiles_path, save_profiles
from widerow.cli.shell.running import print_line, run_shell
from widerow.cli.tablestore.words import WordInvalid
from widerow.cli.ts.commands import TS_COMMANDS
from widerow.cli.ts.session import TsSession
from widerow.cli.ts.shell import ask_person, ts_shell

__all__ = ["run_ts"]

_DEFAULT_PROFILE: Final = "default"


def run_ts(words: Sequence[str], given: Mapping[str, Any]) -> int:
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
        script = None if file is None else Path(file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise WordInvalid(f"{file} cannot be read: {error}") from error
    try:
        if given["table"]:
            session.table = session.facts(given["table"]).name
        return run_shell(ts_shell(session), words, script)
    finally:
        session.close()


def _keep(kept: Mapping[str, str]) -> str:
    """Keep a connection in the profile in use, and return its name. Raises: `ProfileInvalid`."""
    path = profiles_path(os.environ)
    profiles = load_profiles(path)
    name = os.environ.get(PROFILE_VARIABLE) or profiles.current or _DEFAULT_PROFILE
    save_profiles(path, profiles.changed(name, kept).using(name))
    return name
