"""`exit` and `quit`: leave the shell (cli §6)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command
from widerow.cli.kv.session import Session

__all__ = ["EXIT", "QUIT"]


def _exit(session: Session, _: Arguments) -> None:
    session.finished = True


EXIT: Final = Command(
    name="exit", shortest=2, description="Leaves the shell. So does Control-D.", run=_exit
)
QUIT: Final = Command(name="quit", shortest=2, description=EXIT.description, run=_exit)
