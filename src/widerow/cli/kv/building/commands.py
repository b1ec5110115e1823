"""The commands of build mode, for new tables and for tables that are evolved (cli §3)."""

from typing import Final

from widerow.cli.kv.building.add_field import ADD_FIELD
from widerow.cli.kv.building.add_nested import ADD_ARRAY_FIELD, ADD_MAP_FIELD, ADD_RECORD_FIELD
from widerow.cli.kv.building.cancel import CANCEL
from widerow.cli.kv.building.exit import EXIT
from widerow.cli.kv.building.primary_key import PRIMARY_KEY
from widerow.cli.kv.building.remove_field import REMOVE_FIELD
from widerow.cli.kv.building.set_description import SET_DESCRIPTION
from widerow.cli.kv.building.shard_key import SHARD_KEY
from widerow.cli.kv.building.show import SHOW
from widerow.cli.kv.help import HELP

__all__ = ["CREATE_COMMANDS", "EVOLVE_COMMANDS"]

EVOLVE_COMMANDS: Final = (
    ADD_ARRAY_FIELD,
    ADD_FIELD,
    ADD_MAP_FIELD,
    ADD_RECORD_FIELD,
    CANCEL,
    EXIT,
    HELP,
    REMOVE_FIELD,
    SHOW,
)
CREATE_COMMANDS: Final = (*EVOLVE_COMMANDS, PRIMARY_KEY, SET_DESCRIPTION, SHARD_KEY)
