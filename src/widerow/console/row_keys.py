"""Primary keys in addresses and forms, of both table models.

A whole key is a JSON array of its values in their order; a binary value is its hexadecimal digits.
"""

import json
from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Final

from widerow.console.forms import typed_value
from widerow.console.parts import ConsoleRefused
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.schema import KeyColumn, Table
from widerow.model.values import KeyInput, KeyMarker, KeyType, KeyValue

__all__ = [
    "KEY_TYPE_NAMES",
    "key_bounds",
    "key_from_text",
    "key_prefix",
    "key_text_of",
    "typed_key",
]

KEY_TYPE_NAMES: Final = {
    KeyType.INTEGER: "integer",
    KeyType.STRING: "string",
    KeyType.BINARY: "binary",
}
"""The types of keys, by their names in forms."""


def typed_key(column: KeyColumn, text: str) -> KeyValue:
    """The value of a key column that a person typed. Raises: `ConsoleRefused`."""
    found = typed_value(column.name, KEY_TYPE_NAMES[column.type], text)
    assert not isinstance(found, bool | float), "keys are of three types"
    return found


def key_text_of(values: Sequence[Any]) -> str:
    """A whole key as one text, which `key_from_text` reads."""
    plain = [each.hex() if isinstance(each, bytes) else each for each in values]
    return json.dumps(plain, ensure_ascii=False, separators=(",", ":"))


def key_from_text(table: Table, text: str) -> PrimaryKey:
    """The key of `key_text_of`. Raises: `ConsoleRefused` for any other text."""
    columns = table.key_columns
    try:
        values = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable(text) from error
    if not isinstance(values, list) or len(values) != len(columns):
        raise _unreadable(text)
    if not all(type(each) in (str, int) for each in values):
        raise _unreadable(text)
    found = [
        value
        if column.type is KeyType.STRING and isinstance(value, str)
        else typed_key(column, str(value))
        for column, value in zip(columns, values, strict=True)
    ]
    names = (column.name for column in columns)
    return PrimaryKey(tuple(zip(names, found, strict=True)))


def _unreadable(text: str) -> ConsoleRefused:
    return ConsoleRefused(
        400,
        f"{text[:60]!r} is not a primary key of this table.",
        "Choose a row on the page of rows.",
    )


def key_prefix(table: Table, asked: Mapping[str, str]) -> list[str]:
    """The values of the first key columns, `k0`, `k1`, …, as they were typed, up to one without."""
    given = (asked.get(f"k{number}", "") for number in range(len(table.key_columns)))
    return list(takewhile(bool, given))


def key_bounds(table: Table, asked: Mapping[str, str]) -> tuple[PrimaryKey, PrimaryKey]:
    """The lower and the upper end of the range of keys in an address.

    `k0`, `k1`, … are values of the first so many key columns, which have to be given in order;
    `from` and `to` are bounds of the column behind them, `begins` the beginning of its text.
    Raises: `ConsoleRefused`.
    """
    columns = table.key_columns
    fixed = list(map(typed_key, columns, key_prefix(table, asked)))
    _check_no_gap(table, asked, len(fixed))
    low: KeyInput = KeyMarker.INF_MIN
    high: KeyInput = KeyMarker.INF_MAX
    if len(fixed) < len(columns):
        low, high = _open_bounds(columns[len(fixed)], asked)
    elif asked.get("from") or asked.get("to") or asked.get("begins"):
        raise ConsoleRefused(
            400,
            "All key columns have a value, so no bounds apply.",
            "Empty the last key column, or the bounds.",
        )
    return _ended(table, fixed, low), _ended(table, fixed, high, upper=True)


def _check_no_gap(table: Table, asked: Mapping[str, str], given: int) -> None:
    for number in range(given + 1, len(table.key_columns)):
        if asked.get(f"k{number}"):
            raise ConsoleRefused(
                400,
                f"{table.key_columns[number].name} has a value and "
                f"{table.key_columns[given].name} has none.",
                "Fill the key columns from the first one on, without a gap.",
            )


def _open_bounds(column: KeyColumn, asked: Mapping[str, str]) -> tuple[KeyInput, KeyInput]:
    """The bounds of the first key column without a value."""
    begins = asked.get("begins", "")
    if begins and column.type is not KeyType.STRING:
        raise ConsoleRefused(
            400, f"{column.name} is not a text, so it has no beginning.", "Use from and below."
        )
    if begins:
        after = _behind(begins)
        return begins, KeyMarker.INF_MAX if after is None else after
    low, high = asked.get("from", ""), asked.get("to", "")
    return (
        typed_key(column, low) if low else KeyMarker.INF_MIN,
        typed_key(column, high) if high else KeyMarker.INF_MAX,
    )


def _behind(prefix: str) -> str | None:
    """The smallest text above all texts that begin with `prefix`, in the order of code points."""
    for cut in range(len(prefix), 0, -1):
        last = ord(prefix[cut - 1])
        if last < 0x10FFFF:
            following = 0xE000 if last + 1 == 0xD800 else last + 1  # skips surrogates
            return prefix[: cut - 1] + chr(following)
    return None


def _ended(
    table: Table, fixed: list[KeyValue], bound: KeyInput, *, upper: bool = False
) -> PrimaryKey:
    """A key for one end of a range: the fixed values, the bound, and the other columns.

    If all columns are fixed, the upper end excludes the row itself; the caller reads that row.
    """
    rest = KeyMarker.INF_MAX if upper and bound is KeyMarker.INF_MAX else KeyMarker.INF_MIN
    values: list[KeyInput] = [*fixed]
    if len(values) < len(table.key_columns):
        values.append(bound)
    values += [rest] * (len(table.key_columns) - len(values))
    names = (column.name for column in table.key_columns)
    return PrimaryKey(tuple(zip(names, values, strict=True)))
