"""`cancel` in build mode: leave it, and what was built (cli §3)."""

from typing import Final

from widerow.cli.kv.command import Arguments, Command
from widerow.cli.kv.session import Session

__all__ = ["CANCEL"]


def _cancel(session: Session, _: Arguments) -> None:
    session.modes.pop()


CANCEL: Final = Command(
    name="cancel",
    shortest=4,
    description="Leaves this level of the mode and forgets what was built in it.",
    run=_cancel,
)
