"""`primary-key`: declare columns of the primary key, behind those declared before (cli §3)."""

from typing import Final

from widerow.cli.kv.building.levels import create_level
from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.session import Session

__all__ = ["PRIMARY_KEY"]


def _primary_key(session: Session, given: Arguments) -> None:
    builder = create_level(session).builder
    builder.primary_key(*builder.key, *given.all("-field"))


PRIMARY_KEY: Final = Command(
    name="primary-key",
    shortest=4,
    description="Declares columns of the primary key, in their order.",
    run=_primary_key,
    flags=(Flag("-field", "field-name", required=True, repeated=True),),
)
