"""The commands of `widerow`: one table of where each is, and a group that loads the one asked for.

A command costs nothing until it is run, asked for help or completed: `TOP_COMMANDS` names modules,
and a module is imported when its command is looked up. `widerow --help` looks all of them up.
"""

from collections import UserDict
from importlib import import_module
from typing import Any, Final, NamedTuple

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

__all__ = ["TOP_COMMANDS", "CommandGroup", "CommandPlace"]

_ITS_OWN_WORDS: Final = {"allow_interspersed_args": False, "ignore_unknown_options": True}


class CommandPlace(NamedTuple):
    """Where a command is: what `name` is in `module`.

    `name`: a function, or a `typer.Typer` that has commands of its own. `examples`: the name of the
    text below a function's help; empty for none. `own_words`: what stands behind the command is for
    itself to read, flags too.
    """

    module: str
    name: str
    examples: str = ""
    own_words: bool = False


TOP_COMMANDS: Final = {
    "serve": CommandPlace("widerow.cli.serve_command", "serve", "SERVE_EXAMPLES"),
    "ping": CommandPlace("widerow.cli.ping_command", "ping", "PING_EXAMPLES"),
    "doctor": CommandPlace("widerow.cli.store_commands", "doctor", "DOCTOR_EXAMPLES"),
    "backup": CommandPlace("widerow.cli.store_commands", "backup", "BACKUP_EXAMPLES"),
    "restore": CommandPlace("widerow.cli.store_commands", "restore", "RESTORE_EXAMPLES"),
    "version": CommandPlace("widerow.cli.about_commands", "version", "VERSION_EXAMPLES"),
    "compat": CommandPlace("widerow.cli.about_commands", "compat", "COMPAT_EXAMPLES"),
    "kv": CommandPlace("widerow.cli.kv_command", "kv", "KV_EXAMPLES", own_words=True),
    "import": CommandPlace("widerow.cli.transfer", "import_", "IMPORT_EXAMPLES"),
    "export": CommandPlace("widerow.cli.transfer", "export", "EXPORT_EXAMPLES"),
    "archive": CommandPlace("widerow.cli.transfer", "archive", "ARCHIVE_EXAMPLES"),
    "partitions": CommandPlace("widerow.cli.partitions", "partitions", "PARTITIONS_EXAMPLES"),
    "indexes": CommandPlace("widerow.cli.indexes", "indexes", "INDEXES_EXAMPLES"),
    "nodes": CommandPlace("widerow.cli.nodes", "nodes", "NODES_EXAMPLES"),
    "tail": CommandPlace("widerow.cli.tail", "tail", "TAIL_EXAMPLES"),
    "tunnels": CommandPlace("widerow.cli.tunnels", "tunnels", "TUNNELS_EXAMPLES"),
    "simulate": CommandPlace("widerow.cli.design", "simulate_command", "SIMULATE_EXAMPLES"),
    "env": CommandPlace("widerow.cli.settings_commands", "env", "ENV_EXAMPLES"),
    "completion": CommandPlace(
        "widerow.cli.settings_commands", "completion", "COMPLETION_EXAMPLES"
    ),
    "ts": CommandPlace("widerow.cli.ts_command", "ts", "TS_EXAMPLES", own_words=True),
    "table": CommandPlace("widerow.cli.tablestore.table_commands", "table_app"),
    "row": CommandPlace("widerow.cli.tablestore.row_commands", "row_app"),
    "profile": CommandPlace("widerow.cli.settings_commands", "profile_app"),
    "search": CommandPlace("widerow.cli.search", "search_app"),
    "proxy": CommandPlace("widerow.cli.proxy", "proxy_app"),
    "keys": CommandPlace("widerow.cli.design", "keys_app"),
    "credentials": CommandPlace("widerow.cli.credential_commands", "credentials_app"),
    "advise": CommandPlace("widerow.cli.design", "advise_app"),
    "dev": CommandPlace("widerow.cli.dev", "dev_app"),
}
"""Every command by what people type, in the order of `widerow --help`."""


class _Looked(UserDict[str, Any]):
    """Commands by name, each made when it is looked up for the first time."""

    def __init__(self) -> None:
        super().__init__(TOP_COMMANDS)

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401  # a command of click, or of typer's copy of it
        found = self.data[name]
        if isinstance(found, CommandPlace):
            found = self.data[name] = _made(name, found)
        return found


class CommandGroup(TyperGroup):
    """`widerow` itself: a group whose commands are those of the table."""

    def __init__(self, **given: Any) -> None:  # noqa: ANN401  # what typer gives every group
        """A group in which nothing has been looked up."""
        super().__init__(**given)
        self.commands = _Looked()

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ANN401, ARG002  # click's, or typer's copy of it
        """The names, without a look at the commands."""
        return list(self.commands)


def _made(name: str, place: CommandPlace) -> Any:  # noqa: ANN401  # as above
    """The command at this place."""
    module = import_module(place.module)
    found = getattr(module, place.name)
    if isinstance(found, typer.Typer):
        group = get_group(found)
        group.name = name
        return group
    alone = typer.Typer(
        add_completion=False, pretty_exceptions_enable=False, rich_markup_mode="markdown"
    )
    alone.command(
        name,
        epilog=getattr(module, place.examples) if place.examples else None,
        context_settings=_ITS_OWN_WORDS if place.own_words else None,
    )(found)
    return get_command(alone)
