"""Settings: their sources, their defaults, and their checks.

Every setting is a flag (`--log-level`), a variable (`WIDEROW_LOG_LEVEL`) and a key of the
configuration file (`log_level`). The first of these that gives a value wins: flag, variable, file,
default. An unknown flag or key is refused, with the nearest known one. Variables belong to other
programs, too: only known names are read, and `passed_over` finds those that look like misspelt
ones.
"""

import difflib
import os
import tomllib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from widerow.engine.partitions.rules import Thresholds
from widerow.errors import WiderowError
from widerow.limits import DELIVERY_SECONDS, TABLES_PER_INSTANCE_MAX, WORKERS_MAX
from widerow.logging import FORMATS, LEVELS
from widerow.storage.opener import CACHE_BYTES_DEFAULT, shown_url
from widerow.written_numbers import real_number

__all__ = [
    "CLIENT_VARIABLES",
    "DESCRIPTIONS",
    "PREFIX",
    "PassedOver",
    "Settings",
    "SettingsInvalid",
    "passed_over",
    "resolve",
]

PREFIX: Final = "WIDEROW_"

CLIENT_VARIABLES: Final = {
    f"{PREFIX}{name.upper()}": name
    for name in (
        *("endpoint", "instance", "access_key_id", "access_key_secret"),
        *("security_token", "profile"),
    )
}
"""Variables of commands that ask a server, by meaning; a server ignores them."""
_FILE_DEFAULT: Final = Path("widerow.toml")
_MEBIBYTE: Final = 1024 * 1024
_PORT_MAX: Final = 65535
_MISSPELLED: Final = 0.75
"""How much of a name must be that of a setting (`difflib`) to look like it: one letter of four may
be wrong. WIDEROW_SERVICE_HOST, which Kubernetes sets, is far from any."""
_SERVICE_LINK: Final = ("tcp://", "udp://", "sctp://")
"""How WIDEROW_PORT begins where Kubernetes sets it for each pod beside a service named widerow."""


class SettingsInvalid(WiderowError):
    """A setting cannot be used; the message says which one, its source, and the reason."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a server."""

    host: str = "127.0.0.1"
    port: int = 8087
    store: str = "rocksdb:widerow-data"
    credentials: str | None = None
    tls_cert: str | None = None
    tls_key: str | None = None
    api_keys_behind_proxy: bool = False
    instances: tuple[str, ...] | None = None
    log_format: str = "text"
    log_level: str = "info"
    column_names: str = "lenient"
    cache_mb: int = CACHE_BYTES_DEFAULT // _MEBIBYTE
    max_tables_per_instance: int = TABLES_PER_INSTANCE_MAX
    accept_damaged_store: bool = False
    partition_split_mb: int = 10 * 1024
    partition_split_units: int = 1000
    partition_hot_seconds: float = 60
    partition_cold_seconds: float = 600
    partition_key_mb: int = 10 * 1024
    partitions_max: int = 256
    enforce_throughput: bool = False
    nosql_mode: str = "cloud"
    local_transactions_default: bool = True
    index_lag: float = 0
    search_lag: float = 0
    keep_indexed_tables: bool = False
    delivery_root: str | None = None
    delivery_seconds: float = DELIVERY_SECONDS
    node_name: str | None = None
    metrics_open: bool = False
    dev: bool = False
    dev_remote: bool = False
    console: bool = True
    workers: int | Literal["auto"] = 1

    @property
    def thresholds(self) -> Thresholds:
        """The bounds at which partitions split and merge."""
        return Thresholds(
            split_bytes=self.partition_split_mb * _MEBIBYTE,
            split_units=float(self.partition_split_units),
            hot_seconds=self.partition_hot_seconds,
            cold_seconds=self.partition_cold_seconds,
            key_bytes=self.partition_key_mb * _MEBIBYTE,
            partitions_max=self.partitions_max,
        )

    @property
    def cache_bytes(self) -> int:
        """The block cache in bytes."""
        return self.cache_mb * _MEBIBYTE

    @property
    def in_force(self) -> dict[str, object]:
        """The store, and each setting that differs from its default; for the log.

        No password is among them: files of keys are named, and the URL of a store is shown
        without what is secret in it.
        """
        default = asdict(Settings())
        differing = {name: each for name, each in asdict(self).items() if each != default[name]}
        return differing | {"store": shown_url(self.store)}


DESCRIPTIONS: Final[Mapping[str, str]] = {
    "host": "Address to listen on; 127.0.0.1 if not set.",
    "port": "Port to listen on; 8087 if not set, 0 takes a free one.",
    "path": "Directory of the store, made if it is not there; widerow-data if not set.",
    "memory": "Keep everything in memory; short for --store memory:",
    "store": "URL of the store: memory:, rocksdb:DIR, or postgresql://USER@HOST/DATABASE.",
    "credentials": "File with access keys; without it the pair widerow/widerow is valid.",
    "tls_cert": "File with the certificate chain (PEM); with it the port speaks TLS and no HTTP.",
    "tls_key": "File with the certificate's key (PEM), without a password.",
    "api_keys_behind_proxy": (
        "Take API keys on a port without TLS, because a proxy that speaks TLS is the only way to "
        "it; off if not set."
    ),
    "instances": "Instances to serve, separated by commas; any name if not set.",
    "log_format": "text or json; text if not set.",
    "log_level": "debug, info, warning, error or critical; info if not set, debug logs requests.",
    "column_names": (
        "strict or lenient: the documented rule for names of attribute columns, or what the "
        "service was seen to take; lenient if not set."
    ),
    "cache_mb": "Block cache of the store in MiB; 128 if not set.",
    "max_tables_per_instance": "Tables an instance may have; 64 if not set.",
    "accept_damaged_store": "Serve what is left of a damaged store; acknowledged data may be gone.",
    "partition_split_mb": "Split partitions larger than so many MiB; 10240 if not set.",
    "partition_split_units": (
        "Split partitions that carry more read and write units a second; 1000 if not set."
    ),
    "partition_hot_seconds": "How long a load must last before it splits; 60 if not set.",
    "partition_cold_seconds": "How long two neighbours must be idle to merge; 600 if not set.",
    "partition_key_mb": (
        "Report partition key values larger than so many MiB; 10240 if not set, 1024 is the "
        "older advice."
    ),
    "partitions_max": "Partitions that splits may make of one table; 256 if not set.",
    "enforce_throughput": (
        "Refuse what is above a partition's part of the reserved throughput; off if not set."
    ),
    "nosql_mode": (
        "How Oracle NoSQL's drivers are answered: cloud, as by the vendor's cloud simulator, or "
        "onprem, as by a store of one's own, with namespaces and without bounds; cloud if not set."
    ),
    "local_transactions_default": (
        "Whether local transactions may be begun on tables whose definition does not say; true if "
        "not set, the service's default is false."
    ),
    "index_lag": "Keep entries of global indexes back for so many seconds; 0 if not set.",
    "search_lag": "Keep changes back from search indexes for so many seconds; 0 if not set.",
    "keep_indexed_tables": (
        "Refuse DeleteTable while a table has secondary indexes; if not set they go with it."
    ),
    "delivery_root": (
        "Directory for the files of delivery tasks, which must be there; no such tasks if not set."
    ),
    "delivery_seconds": (
        "How long rows may wait for the next file of a delivery task; 120 if not set."
    ),
    "node_name": (
        "What this server is called among those of a shared store; its host and port if not set."
    ),
    "metrics_open": (
        "Show names of instances, tables and indexes at /metrics without a key; off if not set."
    ),
    "dev": (
        "For tests: let whoever reaches the port move the clock, inject faults and empty instances "
        "(/_widerow/); off if not set."
    ),
    "dev_remote": "Let --dev listen on an address that other machines reach; off if not set.",
    "console": "Serve the console, pages for people, under /console/; on if not set.",
    "workers": (
        "Processes that serve the port together, over PostgreSQL or HBase; auto is one for each "
        "processor; 1 if not set."
    ),
}
"""What each setting means; flags, variables and keys have these names."""

_SHORTHANDS: Final = ("path", "memory")
_SERVER_VARIABLES: Final = tuple(f"{PREFIX}{name.upper()}" for name in (*DESCRIPTIONS, "config"))


def resolve(
    flags: Mapping[str, Any],
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> Settings:
    """The settings in force.

    `flags` holds what was given on the command line, by name with underscores; None is "not
    given". `file` defaults to `WIDEROW_CONFIG`, then to `widerow.toml` if that exists.
    Raises: `SettingsInvalid`.
    """
    variables = _variables(os.environ if environment is None else environment)
    named = variables.pop("config", None)
    path = file or (Path(named) if named else None)
    merged: dict[str, Any] = {}
    for source, values in (
        _read_file(path),
        ("environment", variables),
        ("command line", {name: value for name, value in flags.items() if value is not None}),
    ):
        _refuse_unknown(source, values)
        merged |= {name: (source, value) for name, value in _with_store(source, values).items()}
    return Settings(**{name: _checked(name, *given) for name, given in merged.items()})


def _variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The values of settings in variables. Other variables WIDEROW_… are ignored."""
    return {
        name.removeprefix(PREFIX).lower(): value
        for name in _SERVER_VARIABLES
        if (value := environment.get(name)) and not _is_service_link(name, value)
    }


def _is_service_link(name: str, value: str) -> bool:
    return name == f"{PREFIX}PORT" and value.startswith(_SERVICE_LINK)


class PassedOver(NamedTuple):
    """A variable that is not read, and why it may have been meant for a setting."""

    variable: str
    why: str


def passed_over(environment: Mapping[str, str] | None = None) -> list[PassedOver]:
    """The variables that a server does not read although somebody may have meant them for it."""
    given = os.environ if environment is None else environment
    known = (*_SERVER_VARIABLES, *CLIENT_VARIABLES)
    found = []
    for name, value in sorted(given.items()):
        if _is_service_link(name, value):
            found.append(PassedOver(name, "a link to a service, not a port; use --port for a port"))
        elif name.startswith(PREFIX) and name not in known and value:
            near = difflib.get_close_matches(
                name.removeprefix(PREFIX),
                [each.removeprefix(PREFIX) for each in known],
                n=1,
                cutoff=_MISSPELLED,
            )
            found += [PassedOver(name, f"did you mean {PREFIX}{each}?") for each in near]
    return found


def _read_file(path: Path | None) -> tuple[str, dict[str, Any]]:
    if path is None:
        if not _FILE_DEFAULT.exists():
            return str(_FILE_DEFAULT), {}
        path = _FILE_DEFAULT
    try:
        return str(path), tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsInvalid(f"cannot read {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsInvalid(f"{path} is not TOML: {error}") from error


def _refuse_unknown(source: str, values: Iterable[str]) -> None:
    for name in values:
        if name not in DESCRIPTIONS:
            near = difflib.get_close_matches(name, DESCRIPTIONS, n=1)
            advice = f"did you mean {near[0]}?" if near else f"known are {', '.join(DESCRIPTIONS)}"
            raise SettingsInvalid(f"{source}: unknown setting {name!r}; {advice}")


def _with_store(source: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values, with `path` and `memory` replaced by the `store` that they stand for."""
    rest = {name: value for name, value in values.items() if name not in _SHORTHANDS}
    stores = [rest["store"]] if "store" in rest else []
    if "path" in values:
        stores.append(f"rocksdb:{values['path']}")
    if _boolean(source, "memory", values.get("memory", False)):
        stores.append("memory:")
    if len(stores) > 1:
        raise SettingsInvalid(f"{source}: give one of store, path and memory, not several")
    if stores:
        rest["store"] = stores[0]
    return rest


def _boolean(source: str, name: str, value: Any) -> bool:  # noqa: ANN401  # as TOML gives it
    if isinstance(value, bool):
        return value
    words = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
    if isinstance(value, str) and value.lower() in words:
        return words[value.lower()]
    raise SettingsInvalid(f"{source}: {name} must be true or false, not {value!r}")


def _number(source: str, name: str, value: Any, bounds: range) -> int:  # noqa: ANN401  # as TOML gives it
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value not in bounds:
        raise SettingsInvalid(
            f"{source}: {name} must be a number from {bounds[0]} to {bounds[-1]}, not {value!r}"
        )
    return value


def _seconds(source: str, name: str, value: Any, bounds: tuple[int, int]) -> float:  # noqa: ANN401  # as TOML gives it
    least, greatest = bounds
    if isinstance(value, str):
        with suppress(ValueError):
            value = real_number(value)
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or not least <= value <= greatest
    ):
        raise SettingsInvalid(
            f"{source}: {name} must be seconds from {least} to {greatest}, not {value!r}"
        )
    return float(value)


def _names(source: str, name: str, value: Any) -> tuple[str, ...]:  # noqa: ANN401  # as TOML gives it
    parts = value.split(",") if isinstance(value, str) else value
    if not isinstance(parts, list) or not all(isinstance(part, str) for part in parts):
        raise SettingsInvalid(f"{source}: {name} must be a list of names, not {value!r}")
    names = tuple(part.strip() for part in parts if part.strip())
    if not names:
        raise SettingsInvalid(f"{source}: {name} is empty; leave it out to serve any name")
    return names


_NUMBERS: Final = {
    "port": range(_PORT_MAX + 1),
    "cache_mb": range(1, 1024 * 1024),
    "max_tables_per_instance": range(1, 1_000_000),
    "partition_split_mb": range(1, 1024 * 1024),
    "partition_split_units": range(1, 1_000_000),
    "partition_key_mb": range(1, 1024 * 1024),
    "partitions_max": range(1, 1025),
    "workers": range(1, WORKERS_MAX + 1),
}
_SECONDS: Final = {
    "partition_hot_seconds": (1, 86_399),
    "partition_cold_seconds": (1, 86_399),
    "index_lag": (0, 3600),
    "search_lag": (0, 3600),
    "delivery_seconds": (1, 3600),
}
"""Times, the least and the greatest: they may have fractions."""
_BOOLEANS: Final = (
    "accept_damaged_store",
    "api_keys_behind_proxy",
    "dev",
    "dev_remote",
    "console",
    "enforce_throughput",
    "keep_indexed_tables",
    "local_transactions_default",
    "metrics_open",
)
_CHOICES: Final = {
    "log_format": FORMATS,
    "log_level": LEVELS,
    "column_names": ("strict", "lenient"),
    "nosql_mode": ("cloud", "onprem"),
}


def _checked(name: str, source: str, value: Any) -> Any:  # noqa: ANN401  # the field's type
    """The value in the type of the field."""
    if name == "workers" and value == "auto":
        return value
    if name in _NUMBERS:
        return _number(source, name, value, _NUMBERS[name])
    if name in _SECONDS:
        return _seconds(source, name, value, _SECONDS[name])
    if name in _BOOLEANS:
        return _boolean(source, name, value)
    if name == "instances":
        return _names(source, name, value)
    if not isinstance(value, str) or not value:
        raise SettingsInvalid(f"{source}: {name} must be a text, not {value!r}")
    if name in _CHOICES and value not in _CHOICES[name]:
        raise SettingsInvalid(f"{source}: {name} must be one of {', '.join(_CHOICES[name])}")
    return value


assert {field.name for field in fields(Settings)} | set(_SHORTHANDS) == set(DESCRIPTIONS)
