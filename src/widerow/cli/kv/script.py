"""Scripts: commands that are read from a file by `load -file`, or from standard input (cli §1)."""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from widerow.cli.kv.command import Command
from widerow.cli.kv.faults import EXIT_OK, CommandFault, ScriptFault, UnreadableFault
from widerow.cli.kv.session import Session
from widerow.cli.kv.shell import kv_shell
from widerow.cli.shell.command import Arguments, ShellFlag
from widerow.cli.shell.running import run_lines
from widerow.limits import SCRIPT_DEPTH_MAX
from widerow.text_lines import text_lines

__all__ = ["LOAD", "run_script"]


def run_script(session: Session, lines: Iterable[str], *, stop: bool) -> int:
    """Run the commands of `lines`, and leave the modes that they enter without their result.

    Returns the first exit code that is not 0; with `stop` it ends the script (cli §7).
    """
    depth = len(session.modes)
    code = run_lines(kv_shell(session), lines, stop=stop)
    if not session.finished:
        del session.modes[depth:]
    return code


def _load(session: Session, given: Arguments) -> None:
    name = given.need("-file")
    if session.depth == SCRIPT_DEPTH_MAX:
        raise CommandFault(f"Scripts load each other more than {SCRIPT_DEPTH_MAX} deep: {name}")
    try:
        text = Path(name).read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise UnreadableFault(f"Failed to load file: {name}") from error
    session.depth += 1
    try:
        code = run_script(session, text_lines(text), stop=True)
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
