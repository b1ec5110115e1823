"""Row changes as a client asks for them (semantics §4).

These are made for every request, so they are tuples with names rather than dataclasses: a third of
the cost to create, as immutable. Cells are made ten times as often, and are plain objects, which
cost a fifth of a tuple once they are compiled.
"""

from enum import IntEnum
from typing import NamedTuple, final

from widerow.model.condition import Condition
from widerow.model.values import KeyInput

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


@final
class CellChange:
    """One cell of a row change.

    `body` is the stored form of name and value (`docs/formats/rows.md`; `rows.cells.body_value`
    reads the value) and `crc` the checksum over it; deletes have none. `size`: what name and value
    count, in bytes (semantics §9). `version` is None where the server chooses (milliseconds since
    1970 otherwise).
    """

    __slots__ = ("body", "crc", "name", "operation", "size", "version")

    def __init__(
        self,
        operation: CellOperation,
        name: str,
        version: int | None,
        size: int,
        body: bytes = b"",
        crc: int = 0,
    ) -> None:
        """A cell that puts or increments, or without `body` one that deletes."""
        self.operation = operation
        self.name = name
        self.version = version
        self.size = size
        self.body = body
        self.crc = crc

    def __eq__(self, other: object) -> bool:
        """Whether it asks for the same."""
        return (
            isinstance(other, CellChange)
            and (self.operation, self.name) == (other.operation, other.name)
            and (self.version, self.size, self.body) == (other.version, other.size, other.body)
        )

    def __hash__(self) -> int:
        """Of what is compared."""
        return hash((self.operation, self.name, self.version, self.size, self.body))

    def __repr__(self) -> str:
        """For messages of tests and failures."""
        return f"CellChange({self.operation!r}, {self.name!r}, {self.version}, {self.body!r})"


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
