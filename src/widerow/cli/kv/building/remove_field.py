"""`remove-field`: take a field back, or remove it from a table that is evolved (cli §3)."""

from typing import Final

from widerow.cli.kv.building.levels import current
from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.session import Session

__all__ = ["REMOVE_FIELD"]


def _remove_field(session: Session, given: Arguments) -> None:
    current(session).remove(given.need("-name"))


REMOVE_FIELD: Final = Command(
    name="remove-field",
    shortest=4,
    description="Removes a field.",
    run=_remove_field,
    flags=(Flag("-name", "field-name", required=True),),
)
