"""`load -file`: run a script (cli §1)."""

from pathlib import Path
from typing import Final

from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.faults import EXIT_OK, CommandFault, ScriptFault, UnreadableFault
from widerow.cli.kv.script import run_lines
from widerow.cli.kv.session import Session
from widerow.limits import SCRIPT_DEPTH_MAX

__all__ = ["LOAD"]


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
    flags=(Flag("-file", "path", required=True),),
)
