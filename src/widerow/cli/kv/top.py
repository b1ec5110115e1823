"""The commands that are understood outside build mode (cli §7), one line each."""

from typing import Final

from widerow.cli.kv.command import Entry
from widerow.cli.kv.data.aggregate import AGGREGATE
from widerow.cli.kv.data.delete import DELETE
from widerow.cli.kv.data.execute import EXECUTE
from widerow.cli.kv.data.get import GET
from widerow.cli.kv.help import HELP
from widerow.cli.kv.plans.commands import PLAN
from widerow.cli.kv.put.table import PUT
from widerow.cli.kv.settings.connect import CONNECT
from widerow.cli.kv.settings.exit import EXIT, QUIT
from widerow.cli.kv.settings.history import HISTORY
from widerow.cli.kv.settings.load import LOAD
from widerow.cli.kv.settings.namespace import NAMESPACE
from widerow.cli.kv.settings.page import PAGE
from widerow.cli.kv.settings.switch import TIMER, VERBOSE
from widerow.cli.kv.show.commands import SHOW
from widerow.cli.kv.tables.commands import TABLE

__all__ = ["COMMANDS"]

COMMANDS: Final[tuple[Entry, ...]] = (
    AGGREGATE,
    CONNECT,
    DELETE,
    EXECUTE,
    EXIT,
    GET,
    HELP,
    HISTORY,
    LOAD,
    NAMESPACE,
    PAGE,
    PLAN,
    PUT,
    QUIT,
    SHOW,
    TABLE,
    TIMER,
    VERBOSE,
)
