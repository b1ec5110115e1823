"""Typed values of cells and keys, and the order among them.

A value is the Python object of its type: INTEGER `int`, DOUBLE `float`, BOOLEAN `bool`, STRING
`str`, BINARY `bytes`. `bool` is a subclass of `int` in Python and of nothing here: the type of a
value is always asked with `column_type`, never with `isinstance(value, int)`.
(semantics §1.2, §1.3)
"""

from enum import Enum, IntEnum

__all__ = [
    "ColumnType",
    "KeyInput",
    "KeyMarker",
    "KeyType",
    "KeyValue",
    "Value",
    "column_type",
    "value_bytes",
]

Value = int | float | bool | str | bytes
KeyValue = int | str | bytes


class ColumnType(IntEnum):
    """The five types of attribute values. The numbers are written to disk."""

    INTEGER = 0
    DOUBLE = 1
    BOOLEAN = 2
    STRING = 3
    BINARY = 7


class KeyType(Enum):
    """The three types of primary key values. The texts are written to the catalogue."""

    INTEGER = "INTEGER"
    STRING = "STRING"
    BINARY = "BINARY"


class KeyMarker(Enum):
    """A marker in the place of a primary key value."""

    INF_MIN = "INF_MIN"  # below every value; in ranges only
    INF_MAX = "INF_MAX"  # above every value; in ranges only
    AUTO_INCREMENT = "AUTO_INCREMENT"  # the server chooses; in writes only


KeyInput = KeyValue | KeyMarker

_COLUMN_TYPES: dict[type, ColumnType] = {
    int: ColumnType.INTEGER,
    float: ColumnType.DOUBLE,
    bool: ColumnType.BOOLEAN,
    str: ColumnType.STRING,
    bytes: ColumnType.BINARY,
}


def column_type(value: Value) -> ColumnType:
    """The type of a value."""
    return _COLUMN_TYPES[type(value)]


def value_bytes(value: Value) -> int:
    """The counted size of a value: 8, 8, 1, its UTF-8 bytes, its bytes (semantics §9)."""
    if isinstance(value, str):
        return len(value.encode())
    if isinstance(value, bytes):
        return len(value)
    return 1 if isinstance(value, bool) else 8
