"""`widerow ts`: connect; run one command, a script, or the interactive shell."""

import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Final

from widerow.cli.connection import CONNECTION_FIELDS, PROFILE_VARIABLE, endpoint_of
from widerow.cli.profiles import load_profiles, profiles_path, save_profiles
from widerow.cli.tablestore.words import WordInvalid
from widerow.cli.terminal import lines_of_history
from widerow.cli.ts.command import TsCommand
from widerow.cli.ts.commands import TS_COMMANDS
from widerow.cli.ts.dispatch import help_command, run_ts_lines, run_ts_words
from widerow.cli.ts.interactive import talk, ts_completions
from widerow.cli.ts.session import TsSession
from widerow.cli.ts.shell import CONFIG, config_command

__all__ = ["run_ts", "ts_commands"]

_DEFAULT_PROFILE: Final = "default"
_INTERRUPTED: Final = 130  # what shells say of a command that was ended with Ctrl-C
_PIPE_CLOSED: Final = 1
_HISTORY: Final = "ts-history"


def ts_commands() -> tuple[TsCommand, ...]:
    """All commands; `config` keeps what it is given in the profile in use."""

    def keep(kept: Mapping[str, str]) -> str:
        path = profiles_path(os.environ)
        profiles = load_profiles(path)
        name = os.environ.get(PROFILE_VARIABLE) or profiles.current or _DEFAULT_PROFILE
        save_profiles(path, profiles.changed(name, kept).using(name))
        return name

    own = tuple(config_command(keep) if each is CONFIG else each for each in TS_COMMANDS)
    return (help_command(own), *own)


def run_ts(words: Sequence[str], given: Mapping[str, Any]) -> int:
    """Run `words` as one command, or a script, or talk with a person; the exit code.

    Raises: `WiderowError` where there is no such table to use.
    """
    kept = {field.name: given[field.name] for field in CONNECTION_FIELDS}
    session = TsSession(endpoint_of(given), kept, _print)
    commands = ts_commands()
    try:
        if given["table"]:
            session.table = session.facts(given["table"]).name
        return _run(session, commands, words, given["file"])
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        # The reader of the answers has closed the pipe. Without the next line Python would write
        # to it once more, and report the error, when it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _PIPE_CLOSED
    finally:
        session.close()


def _run(
    session: TsSession, commands: Sequence[TsCommand], words: Sequence[str], file: str | None
) -> int:
    if words and file is not None:
        raise WordInvalid("give a command or --file, not both")
    if words:
        session.ask = _asked if sys.stdin.isatty() else None
        return run_ts_words(session, commands, words)
    if file is not None:
        try:
            with open(file, encoding="utf-8") as lines:  # noqa: PTH123  # a name that was typed
                return run_ts_lines(session, commands, lines)
        except (OSError, UnicodeDecodeError) as error:
            raise WordInvalid(f"{file} cannot be read: {error}") from error
    if not sys.stdin.isatty():
        return run_ts_lines(session, commands, sys.stdin)
    session.ask = _asked
    _print(f"{session.endpoint.url}, instance {session.endpoint.instance}; `help` lists commands")
    with lines_of_history(_HISTORY, lambda line: ts_completions(session, commands, line)):
        talk(session, commands, input)
    return 0


def _asked(question: str) -> str:
    sys.stdout.write(question)
    sys.stdout.flush()
    return sys.stdin.readline().strip()


def _print(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
