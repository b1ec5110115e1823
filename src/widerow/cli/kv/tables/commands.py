"""`table` and its sub-commands (cli §2)."""

from typing import Final

from widerow.cli.kv.command import Group
from widerow.cli.kv.tables.clear import CLEAR
from widerow.cli.kv.tables.create import CREATE
from widerow.cli.kv.tables.evolve import EVOLVE
from widerow.cli.kv.tables.list import LIST

__all__ = ["TABLE"]

TABLE: Final = Group(
    name="table",
    shortest=3,
    description=(
        "Builds tables in this shell. The plan command then adds them to the store or evolves\n"
        "those that are there. CREATE TABLE by the execute command does both in one step."
    ),
    commands=(CLEAR, CREATE, EVOLVE, LIST),
)
