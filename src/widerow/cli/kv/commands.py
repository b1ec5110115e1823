"""The table of commands: what is understood outside of the modes (cli §7).

A constant has the name that is typed, in capitals: `plan add-table` is `PLAN_ADD_TABLE`. Two modes
have tables of their own: `build_mode` (between `table create` and `exit`) and `put_mode`.
"""

from typing import Final

from widerow.cli.kv.aggregate import AGGREGATE_TABLE
from widerow.cli.kv.command import CommandEntry, Group
from widerow.cli.kv.help import HELP
from widerow.cli.kv.plans import (
    PLAN_ADD_INDEX,
    PLAN_ADD_TABLE,
    PLAN_CANCEL,
    PLAN_EVOLVE_TABLE,
    PLAN_EXECUTE,
    PLAN_REMOVE_INDEX,
    PLAN_REMOVE_TABLE,
    PLAN_WAIT,
)
from widerow.cli.kv.put import PUT_TABLE
from widerow.cli.kv.rows import DELETE_TABLE, GET_TABLE
from widerow.cli.kv.script import LOAD
from widerow.cli.kv.settings import CONNECT, EXIT, HISTORY, NAMESPACE, PAGE, QUIT, TIMER, VERBOSE
from widerow.cli.kv.show import SHOW_INDEXES, SHOW_PLANS, SHOW_TABLES
from widerow.cli.kv.statements import EXECUTE, MODE
from widerow.cli.kv.tables import TABLE_CLEAR, TABLE_CREATE, TABLE_EVOLVE, TABLE_LIST

__all__ = ["COMMANDS"]

_PLAN: Final = Group(
    name="plan",
    shortest=3,
    description="Changes the tables and indexes of the store.",
    commands=(
        PLAN_ADD_INDEX,
        PLAN_ADD_TABLE,
        PLAN_CANCEL,
        PLAN_EVOLVE_TABLE,
        PLAN_EXECUTE,
        PLAN_REMOVE_INDEX,
        PLAN_REMOVE_TABLE,
        PLAN_WAIT,
    ),
)
_SHOW: Final = Group(
    name="show",
    shortest=2,
    description="Shows what the store has.",
    commands=(SHOW_INDEXES, SHOW_PLANS, SHOW_TABLES),
)
_TABLE: Final = Group(
    name="table",
    shortest=3,
    description=(
        "Builds tables in this shell. The plan command then adds them to the store or evolves\n"
        "those that are there. CREATE TABLE by the execute command does both in one step."
    ),
    commands=(TABLE_CLEAR, TABLE_CREATE, TABLE_EVOLVE, TABLE_LIST),
)
COMMANDS: Final[tuple[CommandEntry, ...]] = (
    Group("aggregate", 3, "Counts and adds up.", (AGGREGATE_TABLE,)),
    CONNECT,
    Group("delete", 3, "Deletes rows.", (DELETE_TABLE,)),
    EXECUTE,
    EXIT,
    Group("get", 3, "Reads rows.", (GET_TABLE,)),
    HELP,
    HISTORY,
    LOAD,
    MODE,
    NAMESPACE,
    PAGE,
    _PLAN,
    Group("put", 3, "Writes rows.", (PUT_TABLE,)),
    QUIT,
    _SHOW,
    _TABLE,
    TIMER,
    VERBOSE,
)
