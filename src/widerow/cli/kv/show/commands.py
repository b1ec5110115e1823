"""`show` and its sub-commands (cli §5)."""

from typing import Final

from widerow.cli.kv.command import Group
from widerow.cli.kv.show.indexes import INDEXES
from widerow.cli.kv.show.plans import PLANS
from widerow.cli.kv.show.tables import TABLES

__all__ = ["SHOW"]

SHOW: Final = Group(
    name="show",
    shortest=2,
    description="Shows what the store has.",
    commands=(INDEXES, PLANS, TABLES),
)
