r"""Values and columns as they are typed: `name=value`, `name:type=value`, `name@version=value`.

A value whose column has a type, by the table or by what is typed, is read as that type: a text
stands for itself, a binary is `0x…` or `@FILE`. Any other value is what it looks like: 42 is an
integer, 1.5 a double, true a boolean, the rest text; a text in double quotes, with JSON's escapes,
is always text. `shown_value` is the way back.
"""

import json
import re
from collections.abc import Callable
from typing import Final, NamedTuple

from widerow.errors import WiderowError
from widerow.limits import INT64_MAX
from widerow.model.values import Value
from widerow.transfer.columns import kind_named, kind_of_text
from widerow.transfer.layout import KINDS

__all__ = [
    "Assignment",
    "ReadBytes",
    "WordInvalid",
    "kind_of",
    "parse_assignment",
    "parse_column_word",
    "parse_value",
    "shown_value",
]

ReadBytes = Callable[[str], bytes]
"""Reads the file of a name, for values that are `@FILE`."""

_VERSIONED: Final = re.compile(r"(?P<name>.+)@(?P<version>[0-9]{1,19})", re.DOTALL)
_SHOWN_KINDS: Final = {
    bool: "boolean",
    int: "integer",
    float: "double",
    str: "string",
    bytes: "binary",
}


class WordInvalid(WiderowError):
    """What was typed cannot be used; the message says what is wrong and what to write."""


class Assignment(NamedTuple):
    """A column and the text of its value. `kind` and `version` are None where none is typed."""

    name: str
    kind: str | None
    version: int | None
    text: str


def parse_assignment(word: str) -> Assignment:
    """Take `name[:type][@version]=value` apart. Raises: `WordInvalid`."""
    left, equals, text = word.partition("=")
    if not equals:
        raise WordInvalid(f"{word!r} is not a column; write NAME=VALUE or NAME:TYPE=VALUE")
    name, kind, version = parse_column_word(left)
    return Assignment(name, kind, version, text)


def parse_column_word(word: str) -> tuple[str, str | None, int | None]:
    """Name, type and version of `name[:type][@version]`. Raises: `WordInvalid`."""
    name, kind, version = word, None, None
    if found := _VERSIONED.fullmatch(name):
        name, version = found["name"], int(found["version"])
        if version > INT64_MAX:
            raise WordInvalid(f"{word}: a version is milliseconds since 1970, of 64 bits")
    if ":" in name:
        name, _, told = name.rpartition(":")
        kind = kind_named(told)
        if kind is None:
            raise WordInvalid(
                f"{told!r} in {word!r} is not a type; they are {', '.join(KINDS)} (a column with a "
                "colon in its name: give the row as JSON)"
            )
    if not name:
        raise WordInvalid(f"{word!r} names no column")
    return name, kind, version


def parse_value(name: str, text: str, kind: str | None, read: ReadBytes) -> Value:
    """The value that `text` is for the column `name`. Raises: `WordInvalid`."""
    if kind is None and text.startswith('"'):
        return _quoted(name, text)
    kind = kind or kind_of_text(text)
    try:
        if kind == "binary":
            return _binary_word(name, text, read)
        return KINDS[kind](name, text)
    except ValueError as error:
        raise WordInvalid(str(error)) from error


def _quoted(name: str, text: str) -> str:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise WordInvalid(f"{name}: {text} begins with a quote and is not a JSON text") from error
    if not isinstance(value, str):
        raise WordInvalid(f"{name}: {text} is not a JSON text")
    return value


def _binary_word(name: str, text: str, read: ReadBytes) -> bytes:
    if text.startswith("@"):
        return read(text[1:])
    if text.startswith(("0x", "0X")):
        return bytes.fromhex(text[2:])
    raise WordInvalid(f"{name} is binary; write {name}=0x6869 or {name}=@FILE")


def kind_of(value: Value) -> str:
    """The name of a value's type."""
    return _SHOWN_KINDS[type(value)]


def shown_value(value: Value, *, typed: bool = False) -> str:
    """A value as `parse_value` reads it; nothing in it moves a terminal's cursor.

    A binary needs its type beside it: `0x…` without one is text. `typed`: the type is shown beside
    it or is that of its column, so a text that looks like a number needs no quotes.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        return f"0x{value.hex()}"
    if not isinstance(value, str):
        return repr(value)
    if typed and value and value.isprintable():
        return value
    plain = value.isprintable() and not value.startswith(('"', "0x", "0X"))
    if plain and value and value == value.strip() and kind_of_text(value) == "string":
        return value
    return _escaped(value)


def _escaped(text: str) -> str:
    """A JSON text; what is not printable is escaped, and characters of all scripts are not."""
    escaped = json.dumps(text, ensure_ascii=False)
    return "".join(each if each.isprintable() else json.dumps(each)[1:-1] for each in escaped)
