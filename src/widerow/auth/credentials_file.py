"""Adds keys to the text of a credentials file, and removes keys. Pure.

Everything else in the text stays as it was written, comments included. The result is checked to be
a credentials file (`Keyring.load`), so a server can always read it.
Lines are edited without a library because the one that keeps comments, `tomlkit`, sorts tables of
arrays that alternate (`[[key]]`, `[[api_key]]`, `[[key]]`) and leaves their comments behind.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from widerow.auth.keyring import CredentialsInvalid, Keyring
from widerow.text_lines import whole_lines

__all__ = ["API_KEYS", "TEMPORARY_KEYS", "KeyField", "Names", "add_key", "key_names", "remove_keys"]

API_KEYS: Final = "api_key"
TEMPORARY_KEYS: Final = "temporary_key"
_NAME_FIELDS: Final = {"key": "id", TEMPORARY_KEYS: "id", API_KEYS: "name"}

_HEAD: Final = re.compile(r"\s*\[")
_TABLE_HEAD: Final = re.compile(r"\s*\[\[\s*(\w+)\s*\]\]")

KeyField = str | list[str] | datetime
"""The types of a key's fields."""

Names = frozenset[tuple[str, str]]
"""Keys, by the name of their table (`key`, `temporary_key`, `api_key`) and their own name."""


def key_names(text: str) -> Names:
    """All keys of a credentials file, also those that open nothing.

    Raises: `CredentialsInvalid`, as `Keyring.load` does; an empty text has none.
    """
    if not text.strip():
        return frozenset()
    Keyring.load(text)
    document = tomllib.loads(text)
    return frozenset(
        (kind, each[name]) for kind, name in _NAME_FIELDS.items() for each in document.get(kind, ())
    )


def add_key(text: str, kind: str, fields: Mapping[str, KeyField]) -> str:
    """The text with a table `[[kind]]` of these fields at its end.

    Raises: `CredentialsInvalid` if the text is no credentials file, if it has a key of this name in
    any table, or if the fields are not those of a key.
    """
    name = fields[_NAME_FIELDS[kind]]
    if name in {each for _, each in key_names(text)}:
        raise CredentialsInvalid(f"there is a key {name!r} already; revoke it or choose a new name")
    lines = [f"[[{kind}]]", *(f"{each} = {_written(value)}" for each, value in fields.items())]
    front = text if not text or text.endswith("\n") else text + "\n"
    changed = front + ("\n" if front else "") + "\n".join(lines) + "\n"
    Keyring.load(changed)
    return changed


def remove_keys(text: str, names: Iterable[tuple[str, str]]) -> str:
    """The text without the tables of these keys.

    Raises: `CredentialsInvalid` if the text is no credentials file, or would be none afterwards, or
    if the lines of the keys cannot be told.
    """
    unwanted = frozenset(names)
    document = tomllib.loads(text)
    places = {
        (kind, number)
        for kind, name in _NAME_FIELDS.items()
        for number, each in enumerate(document.get(kind, ()))
        if (kind, each[name]) in unwanted
    }
    changed = "".join(_lines_without(whole_lines(text), places))
    if _tables(changed) != _kept(document, places):
        raise CredentialsInvalid("the tables of keys are nested in other forms; edit it by hand")
    Keyring.load(changed)
    return changed


def _lines_without(lines: list[str], places: set[tuple[str, int]]) -> list[str]:
    """The lines without the tables at `places` (the table's name, and its index)."""
    kept: list[str] = []
    seen = dict.fromkeys(_NAME_FIELDS, -1)
    waiting: list[str] = []  # blank lines and comments after a removed table
    going = False
    for line in lines:
        head = _TABLE_HEAD.match(line)
        if _HEAD.match(line):
            kind = head[1] if head else ""
            seen[kind] = seen.get(kind, -1) + 1
            if going:
                kept += waiting  # they belong to the next table
            going = (kind, seen[kind]) in places
            waiting = []
        if not going:
            kept.append(line)
        elif not line.strip() or line.lstrip().startswith("#"):
            waiting.append(line)
        else:
            waiting = []
    return kept


def _tables(text: str) -> dict[str, Any]:
    try:
        return {kind: each for kind, each in tomllib.loads(text).items() if each}
    except tomllib.TOMLDecodeError:
        return {}


def _kept(document: Mapping[str, Any], places: set[tuple[str, int]]) -> dict[str, Any]:
    kept = {
        kind: [each for number, each in enumerate(tables) if (kind, number) not in places]
        for kind, tables in document.items()
    }
    return {kind: tables for kind, tables in kept.items() if tables}


def _written(value: KeyField) -> str:
    """A value in TOML; strings are written as in JSON."""
    if isinstance(value, datetime):
        return f"{value:%Y-%m-%dT%H:%M:%SZ}"
    return json.dumps(value, ensure_ascii=False)
