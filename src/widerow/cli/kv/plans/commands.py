"""`plan` and its sub-commands (cli §4)."""

from typing import Final

from widerow.cli.kv.command import Group
from widerow.cli.kv.plans.add_index import ADD_INDEX
from widerow.cli.kv.plans.add_table import ADD_TABLE
from widerow.cli.kv.plans.cancel import CANCEL
from widerow.cli.kv.plans.evolve_table import EVOLVE_TABLE
from widerow.cli.kv.plans.execute import EXECUTE
from widerow.cli.kv.plans.remove_index import REMOVE_INDEX
from widerow.cli.kv.plans.remove_table import REMOVE_TABLE
from widerow.cli.kv.plans.wait import WAIT

__all__ = ["PLAN"]

PLAN: Final = Group(
    name="plan",
    shortest=3,
    description="Changes the tables and indexes of the store.",
    commands=(
        ADD_INDEX,
        ADD_TABLE,
        CANCEL,
        EVOLVE_TABLE,
        EXECUTE,
        REMOVE_INDEX,
        REMOVE_TABLE,
        WAIT,
    ),
)
