"""`shard-key`: declare columns of the shard key, behind those declared before (cli §3)."""

from typing import Final

from widerow.cli.kv.building.levels import create_level
from widerow.cli.kv.command import Arguments, Command, Flag
from widerow.cli.kv.session import Session

__all__ = ["SHARD_KEY"]


def _shard_key(session: Session, given: Arguments) -> None:
    builder = create_level(session).builder
    builder.shard_key(*builder.shard, *given.all("-field"))


SHARD_KEY: Final = Command(
    name="shard-key",
    shortest=4,
    description=(
        "Declares columns of the shard key: the first columns of the primary key, in its order.\n"
        "Rows with equal shard keys are stored together. Without it, all of the primary key."
    ),
    run=_shard_key,
    flags=(Flag("-field", "field-name", required=True, repeated=True),),
)
