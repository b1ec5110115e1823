"""Reads parameters of an address, fields of a form, and values as people type them.

A browser writes every line end of a field as CR LF, whatever it was in the page. So a value that a
form only carries along is written as JSON, which has no line ends, and a text counts as changed
only if it differs in more than line ends.
"""

import json
import math
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl

from widerow.console.parts import ConsoleRefused
from widerow.limits import (
    CONSOLE_BODY_BYTES_MAX,
    CONSOLE_FIELDS_MAX,
    CONSOLE_VALUE_CHARACTERS_MAX,
    INT64_MAX,
    INT64_MIN,
)
from widerow.model.values import ColumnType, Value, value_bytes
from widerow.written_numbers import real_number, whole_number

__all__ = [
    "COLUMN_TYPE_NAMES",
    "KIND_NAMES",
    "fields_of",
    "kind_name",
    "numbered",
    "same_text",
    "shown",
    "typed_text",
    "typed_value",
    "value_from_kept",
    "value_to_keep",
]

KIND_NAMES: Final = ("string", "integer", "double", "boolean", "binary")
"""The types that a value of a form may have, the most usual first."""

COLUMN_TYPE_NAMES: Final = {
    ColumnType.INTEGER: "integer",
    ColumnType.DOUBLE: "double",
    ColumnType.BOOLEAN: "boolean",
    ColumnType.STRING: "string",
    ColumnType.BINARY: "binary",
}
"""The types of values in forms, by the types of the model."""

_NAMES: Final = {
    bool: "boolean",
    int: "integer",
    float: "double",
    str: "string",
    bytes: "binary",
}


def fields_of(encoded: bytes) -> dict[str, str]:
    """The parameters of an address or the fields of a form.

    Of two fields with one name, the last counts.

    Raises: `ConsoleRefused`. Cost: linear in the bytes, of which there may be a megabyte.
    """
    if len(encoded) > CONSOLE_BODY_BYTES_MAX:
        raise ConsoleRefused(413, "The form is too large.", "Use the SDK for rows of this size.")
    try:
        pairs = parse_qsl(
            encoded.decode("ascii"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=CONSOLE_FIELDS_MAX,
        )
    except ValueError as error:
        raise ConsoleRefused(
            400,
            "The form or the address cannot be read.",
            "Start again from a page of the console.",
        ) from error
    return dict(pairs)


def kind_name(value: Value) -> str:
    """The name of a value's type in forms."""
    return _NAMES[type(value)]


def typed_text(value: Value) -> str:
    """A value as a person types it, in the form that `typed_value` reads."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else repr(value)


def typed_value(name: str, kind: str, text: str) -> Value:
    """The value that a person typed, of the type `kind`.

    Raises: `ConsoleRefused` with the column.
    """
    text = text.replace("\r\n", "\n") if kind == "string" else text.strip()
    try:
        match kind:
            case "string":
                return text
            case "integer":
                return _integer(text)
            case "double":
                return _double(text)
            case "boolean":
                return {"true": True, "false": False}[text.lower()]
            case "binary":
                return bytes.fromhex(text.removeprefix("0x"))
            case _:
                pass  # not of the type: refused below
    except (ValueError, KeyError) as error:
        raise ConsoleRefused(
            400, f"{name}: {text[:60]!r} is not {_NOUNS[kind]}.", _ADVICE[kind]
        ) from error
    raise ConsoleRefused(
        400, f"{name}: there is no type {kind[:20]!r}.", f"Types are {', '.join(KIND_NAMES)}."
    )


_NOUNS: Final = {
    "integer": "an integer",
    "double": "a double",
    "boolean": "a boolean",
    "binary": "a binary value",
}

_ADVICE: Final = {
    "integer": f"Write a whole number from {INT64_MIN} to {INT64_MAX}.",
    "double": "Write a number such as 1.5 or -2e10. A cell cannot hold Infinity or NaN.",
    "boolean": "Write true or false.",
    "binary": "Write the bytes in hexadecimal digits, two for each: 48656c6c6f.",
}


def _integer(text: str) -> int:
    number = whole_number(text)
    if not INT64_MIN <= number <= INT64_MAX:
        raise ValueError(text)
    return number


def _double(text: str) -> float:
    number = real_number(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def shown(value: Value) -> dict[str, Any]:
    """A value for a document: type, text or number, size; a long value is shortened and marked."""
    document: dict[str, Any] = {"type": kind_name(value), "bytes": value_bytes(value)}
    if isinstance(value, str | bytes):
        text = typed_text(value)
        document["value"] = text[:CONSOLE_VALUE_CHARACTERS_MAX]
        document["cut"] = len(text) > CONSOLE_VALUE_CHARACTERS_MAX
        return document
    is_number = not isinstance(value, float) or math.isfinite(value)
    return {**document, "value": value if is_number else repr(value), "cut": False}


def value_to_keep(value: Value) -> str:
    """A value as a hidden field of a form, on one line."""
    return json.dumps([kind_name(value), value.hex() if isinstance(value, bytes) else value])


def value_from_kept(text: str) -> Value:
    """The value of `value_to_keep`. Raises: `ConsoleRefused` for any other text."""
    try:
        kind, value = json.loads(text)
        if kind == "double" and isinstance(value, float):
            return value
        found = typed_value("value", kind, value if isinstance(value, str) else json.dumps(value))
        return value if isinstance(found, str) else found
    except (ValueError, TypeError, RecursionError) as error:
        raise ConsoleRefused(
            400, "The form does not say what the row was.", "Open the row again."
        ) from error


def same_text(left: str, right: str) -> bool:
    """Whether two texts differ at most in their line ends."""
    return _lines(left) == _lines(right)


def _lines(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def numbered(form: Mapping[str, str], prefix: str) -> list[dict[str, str]]:
    """The fields `PREFIX.NUMBER.NAME` of a form, one mapping for each number, ascending."""
    found: dict[int, dict[str, str]] = {}
    for field, text in form.items():
        parts = field.split(".", 2)
        if len(parts) == 3 and parts[0] == prefix and parts[1].isascii() and parts[1].isdigit():
            found.setdefault(int(parts[1][:6]), {})[parts[2]] = text
    return [found[number] for number in sorted(found)]
