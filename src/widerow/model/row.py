"""Row changes as a client asks for them (semantics §4).

These are made for every request, so they are tuples with names rather than dataclasses: a third of
the cost to create, as immutable.
"""

from enum import IntEnum
from typing import NamedTuple

from widerow.model.condition import Condition
from widerow.model.values import KeyInput, Value

__all__ = [
    "CellChange",
    "CellOperation",
    "Modification",
    "PrimaryKey",
    "ReturnContent",
    "ReturnType",
    "RowChange",
]


class PrimaryKey(NamedTuple):
    """A primary key as it was sent, in the order it was sent.

    `encoded` is the primary key section of a stored row (`docs/formats/rows.md`) when the sender's
    bytes already had that form, and `crc` the row checksum after it; empty and 0 otherwise.
    """

    columns: tuple[tuple[str, KeyInput], ...]
    encoded: bytes = b""
    crc: int = 0


class CellOperation(IntEnum):
    """What a cell of a row change does. The numbers are those of the wire."""

    PUT = 0
    DELETE_ALL_VERSIONS = 1
    DELETE_ONE_VERSION = 3
    INCREMENT = 4


class CellChange(NamedTuple):
    """One cell of a row change.

    `value` and `body` stand together: `body` is the stored form of name and value
    (`docs/formats/rows.md`) and `crc` the checksum over it. Deletes have neither.
    `version` is None where the server chooses (milliseconds since 1970 otherwise).
    """

    operation: CellOperation
    name: str
    value: Value | None
    version: int | None
    body: bytes = b""
    crc: int = 0


class Modification(IntEnum):
    """The three kinds of row change. The numbers are those of the wire."""

    PUT = 1
    UPDATE = 2
    DELETE = 3


class ReturnType(IntEnum):
    """What a write answers besides its success. The numbers are those of the wire."""

    NONE = 0
    PRIMARY_KEY = 1
    AFTER_MODIFY = 2


class ReturnContent(NamedTuple):
    """What a write returns: nothing, the primary key, or incremented columns by name."""

    type: ReturnType = ReturnType.NONE
    columns: tuple[str, ...] = ()


class RowChange(NamedTuple):
    """One put, update or delete of one row of one table."""

    table: str
    modification: Modification
    key: PrimaryKey
    cells: tuple[CellChange, ...]
    condition: Condition
    returns: ReturnContent = ReturnContent()
