"""Scripts: commands that are read from a file by `load -file`, or from standard input (cli §1)."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from widerow.cli.kv.command import Arguments, Command, ShellFlag
from widerow.cli.kv.dispatch import execute, incomplete
from widerow.cli.kv.faults import EXIT_OK, CommandFault, ScriptFault, UnreadableFault
from widerow.cli.kv.scanner import Lines
from widerow.cli.kv.session import Session
from widerow.limits import SCRIPT_DEPTH_MAX

__all__ = ["LOAD", "run_lines"]


def run_lines(session: Session, lines: Iterable[str], *, stop: bool) -> int:
    """Run the commands of `lines`; with `stop`, end the script at the first that fails.

    Returns the exit code of the first command that failed, or 0. At the end of the lines a command
    that was begun is run as it is, and modes that were entered are left without their result
    (cli §7).
    """
    depth = len(session.modes)
    first = EXIT_OK
    for command in _commands(session, lines):
        code = execute(session, command)
        first = first or code
        if session.finished:
            return first
        if code != EXIT_OK and stop:
            session.write(f'Script error in line "{command}", ending execution')
            break
    del session.modes[depth:]
    return first


def _commands(session: Session, lines: Iterable[str]) -> Iterator[str]:
    reader = Lines(partial(incomplete, session), blank_ends=True)
    for line in lines:
        yield from reader.take(line.rstrip("\r\n"))
    yield from reader.end()


def _load(session: Session, given: Arguments) -> None:
    name = given.need("-file")
    if session.depth == SCRIPT_DEPTH_MAX:
        raise CommandFault(f"Scripts load each other more than {SCRIPT_DEPTH_MAX} deep: {name}")
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFault(f"Failed to load file: {name}") from error
    session.depth += 1
    try:
        code = run_lines(session, text.splitlines(), stop=True)
    finally:
        session.depth -= 1
    if code != EXIT_OK:
        raise ScriptFault(code)


LOAD: Final = Command(
    name="load",
    shortest=3,
    description="Runs the commands of a file, and stops at the first that fails.",
    run=_load,
    flags=(ShellFlag("-file", "path", required=True),),
)
