"""Flags that are settings of the server, made from the table of settings.

So a setting is a flag, a variable and a key of the file by being in that table.
"""

import inspect
from collections.abc import Callable, Iterable
from typing import Annotated, Final

from widerow.server.settings import DESCRIPTIONS, PREFIX

__all__ = ["METAVARS", "ON_IF_NOT_SET", "with_settings"]

_CONFIG_HELP: Final = "TOML file with these settings; widerow.toml is read if it is there."
METAVARS: Final = {
    "host": "ADDRESS",
    "port": "NUMBER",
    "path": "DIR",
    "store": "URL",
    "credentials": "FILE",
    "tls_cert": "FILE",
    "tls_key": "FILE",
    "instances": "A,B",
    "log_format": "FORMAT",
    "log_level": "LEVEL",
    "column_names": "RULE",
    "cache_mb": "MIB",
    "max_tables_per_instance": "NUMBER",
    "partition_split_mb": "MIB",
    "partition_split_units": "NUMBER",
    "partition_hot_seconds": "SECONDS",
    "partition_cold_seconds": "SECONDS",
    "partition_key_mb": "MIB",
    "partitions_max": "NUMBER",
    "local_transactions_default": "BOOLEAN",
    "index_lag": "SECONDS",
    "search_lag": "SECONDS",
    "delivery_root": "DIR",
    "delivery_seconds": "SECONDS",
    "node_name": "NAME",
}
"""What a value is called in the help of a flag; a setting that is not here is a switch."""
ON_IF_NOT_SET: Final = ("console",)
"""Switches that are on by default: their flags come with one that says no."""

_Command = Callable[..., None]


def with_settings(names: Iterable[str]) -> Callable[[_Command], _Command]:
    """Give a command the flags of these settings, and `--config`."""

    def give(command: _Command) -> _Command:
        own = [
            each
            for each in inspect.signature(command).parameters.values()
            if each.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        flags = [
            _parameter(name, f"{DESCRIPTIONS[name]} ({PREFIX}{name.upper()})") for name in names
        ]
        config = _parameter("config", f"{_CONFIG_HELP} ({PREFIX}CONFIG)", "FILE")
        parameters = sorted([*flags, config, *own], key=lambda each: each.kind)
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # typer reads it
        command.__annotations__ = {each.name: each.annotation for each in parameters}
        return command

    return give


def _parameter(name: str, text: str, metavar: str | None = None) -> inspect.Parameter:
    flag = "--" + name.replace("_", "-")
    if name in ON_IF_NOT_SET:
        flag += f"/--no-{name}"
    if name in METAVARS:
        metavar = METAVARS[name]
    import typer  # noqa: PLC0415  # `METAVARS` is read without it, too

    option = typer.Option(flag, help=text, metavar=metavar, show_default=False)
    kind = str if metavar else bool
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[kind | None, option],
    )
