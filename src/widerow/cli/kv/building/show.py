"""`show` in build mode: the definition so far (cli §3)."""

from typing import Final

from widerow.cli.kv.building.levels import current
from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.session import Session

__all__ = ["SHOW"]


def _show(session: Session, given: Arguments) -> str:
    return current(session).shown(original=given.has("-original"))


SHOW: Final = Command(
    name="show",
    shortest=2,
    description="Shows the definition so far; with -original the table before its evolution.",
    run=_show,
    flags=(Flag("-original"),),
)
