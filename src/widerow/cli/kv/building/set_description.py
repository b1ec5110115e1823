"""`set-description`: describe the table (cli §3)."""

from typing import Final

from widerow.cli.kv.building.levels import create_level
from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.session import Session

__all__ = ["SET_DESCRIPTION"]


def _set_description(session: Session, given: Arguments) -> None:
    create_level(session).builder.comment(given.need("-desc"))


SET_DESCRIPTION: Final = Command(
    name="set-description",
    shortest=5,
    description="Sets the description of the table.",
    run=_set_description,
    flags=(Flag("-desc", "description", required=True),),
)
