"""Flags that are settings of the server, made from the table of settings.

So a setting is a flag, a variable and a key of the file by being in that table.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Final

from widerow.cli.command import Flag, Given
from widerow.server.settings import DESCRIPTIONS, PREFIX, Settings, resolve

__all__ = ["asked_settings", "setting_flags"]

_METAVARS: Final = {
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
    "nosql_mode": "MODE",
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
    "workers": "NUMBER",
}
"""What a value is called in the help of a flag; a setting that is not here is a switch."""
_ON_IF_NOT_SET: Final = ("console",)
"""Switches that are on by default: their flags come with one that says no."""


def setting_flags(names: Iterable[str]) -> tuple[Flag, ...]:
    """The flags of these settings, and `--config`."""
    config = Flag(
        "config",
        f"TOML file with these settings; widerow.toml is read if it is there. ({PREFIX}CONFIG)",
        "FILE",
    )
    return (*map(_flag, names), config)


def _flag(name: str) -> Flag:
    plain = name.replace("_", "-")
    return Flag(
        name,
        f"{DESCRIPTIONS[name]} ({PREFIX}{name.upper()})",
        _METAVARS.get(name),
        str if name in _METAVARS else bool,
        spelled=(f"--{plain}/--no-{plain}",) if name in _ON_IF_NOT_SET else (),
    )


def asked_settings(given: Given) -> Settings:
    """The settings that flags, environment and file make together. Raises: `SettingsInvalid`."""
    file = given.get("config")
    flags = {name: value for name, value in given.items() if name in DESCRIPTIONS}
    return resolve(flags, file=Path(file) if file else None)
