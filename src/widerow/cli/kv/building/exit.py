"""`exit` in build mode: what was built is kept, and the mode around it goes on (cli §3)."""

from typing import Final

from widerow.cli.kv.building.levels import current
from widerow.cli.kv.command import Arguments, Command
from widerow.cli.kv.session import Session

__all__ = ["EXIT"]


def _exit(session: Session, _: Arguments) -> str | None:
    said = current(session).finish(session)
    session.modes.pop()
    return said


EXIT: Final = Command(
    name="exit",
    shortest=2,
    description="Checks what was built, keeps it, and leaves this level of the mode.",
    run=_exit,
)
