"""Values of requests to typed tables: choices, versions, ranges (model §5-§7)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple, Self

from widerow.errors import InvalidRequest
from widerow.limits import TYPED_ROW_BYTES_MAX
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TimeToLive

__all__ = [
    "VERSION_MAGIC",
    "Direction",
    "FieldRange",
    "OperationKind",
    "ReturnRow",
    "Version",
    "WriteChoice",
]


class Direction(Enum):
    """The order of rows by primary key; UNORDERED: whichever costs least."""

    FORWARD = "FORWARD"
    REVERSE = "REVERSE"
    UNORDERED = "UNORDERED"


class ReturnRow(Enum):
    """The parts of the former row that a write returns (model §5)."""

    NONE = "NONE"
    VALUE = "VALUE"
    VERSION = "VERSION"
    ALL = "ALL"


class OperationKind(Enum):
    """The writes of a single row; the value names it in messages (model §7)."""

    PUT = "PUT"
    PUT_IF_ABSENT = "PUT_IF_ABSENT"
    PUT_IF_PRESENT = "PUT_IF_PRESENT"
    PUT_IF_VERSION = "PUT_IF_VERSION"
    DELETE = "DELETE"
    DELETE_IF_VERSION = "DELETE_IF_VERSION"


VERSION_MAGIC: Final = b"\x01"
"""What the bytes of a version begin with."""
_UNIQUE_BYTES: Final = 16


class Version(NamedTuple):
    """The version of a row: every write makes a new one, also without a change (model §5)."""

    unique: bytes

    def to_bytes(self) -> bytes:
        """The version as bytes that `from_bytes` takes; nothing else is promised of them."""
        return VERSION_MAGIC + self.unique

    @classmethod
    def from_bytes(cls, data: bytes) -> Self:
        """The version of such bytes. Raises `InvalidRequest` for any others."""
        if len(data) != 1 + _UNIQUE_BYTES or data[:1] != VERSION_MAGIC:
            raise InvalidRequest(TypedRule.VERSION_FORMAT)
        return cls(data[1:])


@dataclass(frozen=True, slots=True)
class FieldRange:
    """Bounds of the first key column behind a partial key (model §6); None: no bound.

    Raises `InvalidRequest` when there is no bound at all.
    """

    field: str
    start: Any = None
    end: Any = None
    start_inclusive: bool = True
    end_inclusive: bool = True

    def __post_init__(self) -> None:
        """Refuse a range without a bound."""
        if self.start is None and self.end is None:
            raise InvalidRequest(TypedRule.RANGE_UNBOUNDED)


class WriteChoice(NamedTuple):
    """How one row is to be written. A tuple, because one is made for every row.

    `values`: the row of a put, the key of a delete. `version`: of the kinds that ask for one.
    `ttl`: of inserted rows, and with `update_ttl` of replaced ones; None: the table's default.
    `abort_if_unsuccessful`: undo the whole sequence when this write of it does not succeed.
    `bytes_max`: of the row's values.
    """

    kind: OperationKind
    values: Mapping[str, Any]
    version: Version | None = None
    ttl: TimeToLive | None = None
    update_ttl: bool = False
    returning: ReturnRow = ReturnRow.NONE
    abort_if_unsuccessful: bool = False
    bytes_max: int = TYPED_ROW_BYTES_MAX
