"""Row changes as a client asks for them (semantics §4).

These are made for every request, so they are plain objects with slots, which cost a fifth of a
tuple with names once they are compiled (`setup.py`). They are in no reference cycles, so the
garbage collector need not track them.
"""

from enum import IntEnum
from itertools import pairwise
from typing import Final, NamedTuple, final

from widerow.model.tablestore.condition import Condition
from widerow.model.values import KeyInput

__all__ = [
    "NOTHING_RETURNED",
    "CellChange",
    "CellOperation",
    "Modification",
    "PrimaryKey",
    "ReturnContent",
    "ReturnType",
    "RowChange",
    "RowShape",
    "SentCells",
]


@final
class PrimaryKey:
    """A primary key as it was sent, in the order it was sent.

    `encoded` is the primary key section of a stored row (`docs/formats/rows.md`) when the sender's
    bytes already had that form, and `crc` the row checksum after it; empty and 0 otherwise.
    """

    __slots__ = ("columns", "crc", "encoded")

    def __init__(
        self, columns: tuple[tuple[str, KeyInput], ...], encoded: bytes = b"", crc: int = 0
    ) -> None:
        """`columns`: the values. The caller sees to it that `encoded` and `crc` agree with them."""
        self.columns = columns
        self.encoded = encoded
        self.crc = crc

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrimaryKey) and (self.columns, self.encoded, self.crc) == (
            other.columns,
            other.encoded,
            other.crc,
        )

    def __hash__(self) -> int:
        return hash((self.columns, self.encoded, self.crc))

    def __repr__(self) -> str:
        return f"PrimaryKey({self.columns!r}, {self.encoded!r}, {self.crc})"


class CellOperation(IntEnum):
    """The effect of a cell in a row change. The numbers are those of the wire."""

    PUT = 0
    DELETE_ALL_VERSIONS = 1
    DELETE_ONE_VERSION = 3
    INCREMENT = 4


@final
class CellChange:
    """One cell of a row change.

    `body` is the stored form of name and value (`docs/formats/rows.md`; `rows.cells.body_value`
    reads the value) and `crc` the checksum over it; deletes have none. `size`: the counted bytes of
    name and value (semantics §9). `version` is None where the server chooses (milliseconds since
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
        """A cell that puts or increments; without `body`, one that deletes."""
        self.operation = operation
        self.name = name
        self.version = version
        self.size = size
        self.body = body
        self.crc = crc

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, CellChange)
            and (self.operation, self.name) == (other.operation, other.name)
            and (self.version, self.size, self.body) == (other.version, other.size, other.body)
        )

    def __hash__(self) -> int:
        return hash((self.operation, self.name, self.version, self.size, self.body))

    def __repr__(self) -> str:
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


NOTHING_RETURNED: Final = ReturnContent()
"""The return content of most writes."""


@final
class RowShape:
    """The columns that a row names, in the order of the request.

    Rows of equal columns may share one.

    `is_ordered`: the names of its cells ascend, and none is repeated. Shapes are compared by
    identity, so that checks of a shape are remembered by its identity.
    """

    __slots__ = ("is_ordered", "key_names", "names")

    def __init__(self, key_names: tuple[str, ...], names: tuple[str, ...]) -> None:
        self.key_names = key_names
        self.names = names
        self.is_ordered = all(left < right for left, right in pairwise(names))


class SentCells:
    """Cells that put values without versions, in the bytes that the client sent.

    Most rows have only such cells, and are stored without making an object for any of them
    (`rows/plain.py`). `data_size` and `body_bytes` as `RowChange` has them.
    """

    __slots__ = ("body_bytes", "data_size", "shape")

    def __init__(self, shape: RowShape, data_size: int, body_bytes: int) -> None:
        """`shape`: the columns of the cells."""
        self.shape = shape
        self.data_size = data_size
        self.body_bytes = body_bytes

    def split(self) -> tuple[CellChange, ...]:
        """The cells as objects. Linear in their bytes."""
        raise NotImplementedError


@final
class RowChange:
    """One put, update or delete of one row of one table.

    Facts about all cells are computed in one pass when the change is made: `cell_count`;
    `data_size`, their counted bytes (semantics §9); `body_bytes`, the bytes of their bodies;
    `is_dated`, whether one of them names its version. `sent`: the cells in the client's bytes, if
    they are of the usual form. `keeps_number`: a put may create a row under a number that the
    sender has chosen for an auto-increment column, as a copy of a table does.
    """

    __slots__ = (
        "_cells",
        "body_bytes",
        "cell_count",
        "condition",
        "data_size",
        "is_dated",
        "keeps_number",
        "key",
        "modification",
        "returns",
        "sent",
        "table",
    )

    def __init__(
        self,
        table: str,
        modification: Modification,
        key: PrimaryKey,
        cells: tuple[CellChange, ...] | SentCells,
        condition: Condition,
        returns: ReturnContent = NOTHING_RETURNED,
    ) -> None:
        """A change of the row under `key`, its `cells` in the order of the request."""
        self.table = table
        self.modification = modification
        self.key = key
        self.condition = condition
        self.returns = returns
        self.keeps_number = False
        self.sent: SentCells | None = None
        self._cells: tuple[CellChange, ...] | None = None
        if isinstance(cells, SentCells):
            self.sent = cells
            self.cell_count = len(cells.shape.names)
            self.data_size = cells.data_size
            self.body_bytes = cells.body_bytes
            self.is_dated = False
        else:
            self._cells = cells
            self.cell_count = len(cells)
            self.data_size = sum([cell.size for cell in cells])
            self.body_bytes = sum([len(cell.body) for cell in cells])
            self.is_dated = any(cell.version is not None for cell in cells)

    @property
    def cells(self) -> tuple[CellChange, ...]:
        """The cells as objects. Sent cells are split on the first call."""
        cells = self._cells
        if cells is None:
            assert self.sent is not None
            cells = self._cells = self.sent.split()
        return cells

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RowChange)
            and (self.table, self.modification) == (other.table, other.modification)
            and (self.key, self.cells) == (other.key, other.cells)
            and (self.condition, self.returns) == (other.condition, other.returns)
        )

    def __hash__(self) -> int:
        return hash(
            (self.table, self.modification, self.key, self.cells, self.condition, self.returns)
        )

    def __repr__(self) -> str:
        return f"RowChange({self.table!r}, {self.modification!r}, {self.key!r}, {self.cells!r})"
