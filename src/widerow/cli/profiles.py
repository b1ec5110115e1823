"""Profiles: named connections in a file of the user's, `$XDG_CONFIG_HOME/widerow/profiles.toml`.

    current = "shop"

    [profile.shop]
    endpoint = "http://db:8087"
    instance = "shop"
    access_key_id = "reporting"
    access_key_secret = "…"

Only the owner may read the file, because it holds secrets.
"""

import json
import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from widerow.cli.connection import (
    CONNECTION_FIELDS,
    PROFILE_VARIABLE,
    ServerConnection,
    resolve_connection,
)
from widerow.errors import WiderowError

__all__ = [
    "ProfileInvalid",
    "Profiles",
    "asked_connection",
    "load_profiles",
    "parse_profiles",
    "profiles_path",
    "profiles_text",
    "save_profiles",
]

_FIELDS: Final = tuple(field.name for field in CONNECTION_FIELDS)
_OWNER_ONLY: Final = 0o600


class ProfileInvalid(WiderowError):
    """A profile or the file of profiles cannot be used; the message says why and what to do."""


class Profiles(NamedTuple):
    """All profiles by their names, in the order of the file; `current` is empty or one of them."""

    current: str
    named: Mapping[str, Mapping[str, str]]

    def named_or_current(self, name: str) -> tuple[str, Mapping[str, str]]:
        """The profile of this name, or the current one if it is empty, with its name.

        Without any the name and the profile are empty. Raises: `ProfileInvalid` for a name that
        is none.
        """
        name = name or self.current
        if name and name not in self.named:
            known = ", ".join(self.named) or "none yet"
            raise ProfileInvalid(
                f"there is no profile {name} (there are: {known}); make it with "
                f"`widerow profile add {name}`"
            )
        return name, self.named.get(name, {})

    def changed(self, name: str, fields: Mapping[str, str]) -> "Profiles":
        """These profiles with one more, or another one of that name. The first becomes current."""
        kept = {each: value for each, value in fields.items() if value}
        return Profiles(self.current or name, {**self.named, name: kept})

    def without(self, name: str) -> "Profiles":
        """These profiles without that one. Raises: `ProfileInvalid` where there is none."""
        self.named_or_current(name)
        rest = {each: value for each, value in self.named.items() if each != name}
        return Profiles("" if name == self.current else self.current, rest)

    def using(self, name: str) -> "Profiles":
        """These profiles with that one as the current one. Raises: `ProfileInvalid`."""
        self.named_or_current(name)
        return Profiles(name, self.named)


def parse_profiles(text: str) -> Profiles:
    """The profiles that a file holds. Raises: `ProfileInvalid`, whose message names the mistake."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ProfileInvalid(f"it is not TOML: {error}") from error
    unknown = document.keys() - {"current", "profile"}
    if unknown:
        raise ProfileInvalid(f"unknown keys: {', '.join(sorted(unknown))}")
    tables = document.get("profile", {})
    current = document.get("current", "")
    if not isinstance(tables, dict) or not isinstance(current, str):
        raise ProfileInvalid('write current = "NAME" and [profile.NAME]')
    named = {name: _fields(name, table) for name, table in tables.items()}
    if current and current not in named:
        raise ProfileInvalid(f"the current profile {current} is not in it")
    return Profiles(current, named)


def _fields(name: str, table: Any) -> dict[str, str]:  # noqa: ANN401  # whatever TOML holds
    if not isinstance(table, dict):
        raise ProfileInvalid(f"profile.{name} is not a table")
    for key, value in table.items():
        if key not in _FIELDS:
            raise ProfileInvalid(f"profile.{name}: unknown key {key}; it has {', '.join(_FIELDS)}")
        if not isinstance(value, str):
            raise ProfileInvalid(f"profile.{name}: {key} is not a text")
    return dict(table)


def profiles_text(profiles: Profiles) -> str:
    """The text of a file that `parse_profiles` reads as these profiles."""
    parts = [f"current = {_quoted(profiles.current)}\n"] if profiles.current else []
    for name, fields in profiles.named.items():
        lines = [f"{key} = {_quoted(value)}\n" for key, value in fields.items()]
        parts.append("".join((f"[profile.{_quoted(name)}]\n", *lines)))
    return "\n".join(parts)


def _quoted(text: str) -> str:
    """A text as TOML has it: as JSON's, and one more character escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def profiles_path(environment: Mapping[str, str]) -> Path:
    """Where the file of profiles is."""
    base = environment.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "widerow" / "profiles.toml"


def load_profiles(path: Path) -> Profiles:
    """The profiles of a file; none where there is no file. Raises: `ProfileInvalid`."""
    try:
        return parse_profiles(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Profiles("", {})
    except (OSError, UnicodeDecodeError) as error:
        raise ProfileInvalid(f"{path} cannot be read: {error}") from error
    except ProfileInvalid as error:
        raise ProfileInvalid(f"{path}: {error}") from error


def save_profiles(path: Path, profiles: Profiles) -> None:
    """Replace the file by one of these profiles that only its owner can read; never half of it.

    Raises: `ProfileInvalid`.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        new.unlink(missing_ok=True)
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _OWNER_ONLY)
        with open(descriptor, "w", encoding="utf-8") as file:  # noqa: PTH123  # of a descriptor
            file.write(profiles_text(profiles))
            file.flush()
            os.fsync(descriptor)
        new.replace(path)
    except OSError as error:
        raise ProfileInvalid(f"{path} cannot be written: {error}") from error


def asked_connection(flags: Mapping[str, str | None], profile: str | None) -> ServerConnection:
    """The connection that flags, environment and profiles ask for. Reads the file of profiles.

    Raises: `ProfileInvalid`.
    """
    profiles = load_profiles(profiles_path(os.environ))
    name, fields = profiles.named_or_current(profile or os.environ.get(PROFILE_VARIABLE, ""))
    return resolve_connection(flags, os.environ, fields, name)
