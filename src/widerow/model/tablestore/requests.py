"""Requests of clients, one frozen value for each operation.

A wire dialect decodes bytes to a request and encodes the answer; the engine stands between them.
Requests carry what was sent: checking it is the engine's work (`engine/tablestore/static.py` before
a table is looked up, `engine/tablestore/schema.py` after). What row operations are answered is in
`answers.py`. (semantics §2, §4, §5)
"""

from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar, final

from widerow.model.tablestore.row import PrimaryKey, RowChange
from widerow.model.tablestore.schema import DefinedColumn, Encryption, KeyColumn, Table
from widerow.model.tablestore.selection import Resume, RowRange, Selection
from widerow.model.values import KeyInput

__all__ = [
    "BatchGet",
    "BatchWrite",
    "ComputeSplitPoints",
    "CreateIndex",
    "CreateTable",
    "DropIndex",
    "GetRange",
    "GetRow",
    "InTransaction",
    "IndexDefinition",
    "OptionsChange",
    "SplitPoints",
    "StreamChange",
    "TableGet",
    "TableWrite",
    "ThroughputChange",
    "UpdateTable",
]

R = TypeVar("R")


@final
class GetRow:
    """Read one row; `resume` where the last page of a wide row stopped.

    A plain object with slots, as there is one for every read (`row.py` says why).
    """

    __slots__ = ("key", "resume", "selection", "table")

    def __init__(
        self, table: str, key: PrimaryKey, selection: Selection, resume: Resume | None = None
    ) -> None:
        self.table = table
        self.key = key
        self.selection = selection
        self.resume = resume

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GetRow) and (
            (self.table, self.key, self.selection, self.resume)
            == (other.table, other.key, other.selection, other.resume)
        )

    def __hash__(self) -> int:
        return hash((self.table, self.key, self.selection, self.resume))

    def __repr__(self) -> str:
        return f"GetRow({self.table!r}, {self.key!r}, {self.selection!r}, {self.resume!r})"


class TableGet(NamedTuple):
    """The rows of one table in a BatchGetRow; `resumes` is empty or has one for each key."""

    table: str
    keys: tuple[PrimaryKey, ...]
    selection: Selection
    resumes: tuple[Resume | None, ...] = ()


class BatchGet(NamedTuple):
    """BatchGetRow: rows of several tables, answered in order."""

    tables: tuple[TableGet, ...]


class GetRange(NamedTuple):
    """Read one page of a range of rows; `resume` where a wide first row stopped."""

    table: str
    range: RowRange
    selection: Selection
    resume: Resume | None = None


class TableWrite(NamedTuple):
    """The changes that a BatchWriteRow makes to one table."""

    table: str
    changes: tuple[RowChange, ...]


class BatchWrite(NamedTuple):
    """BatchWriteRow: each row is written by itself.

    `atomic`: the rows of each table are written together or not at all; no table waits for another.
    `declared`: the values of defined columns must have the types that the table declares
    (BulkImport, change §D1).
    """

    tables: tuple[TableWrite, ...]
    atomic: bool = False
    declared: bool = False


@dataclass(frozen=True, slots=True)
class OptionsChange:
    """Table options as sent; None where a field was absent."""

    time_to_live: int | None = None
    max_versions: int | None = None
    max_version_offset: int | None = None
    allow_update: bool | None = None
    update_full_row: bool | None = None


@dataclass(frozen=True, slots=True)
class ThroughputChange:
    """Reserved throughput as sent; None where a field was absent."""

    read: int | None = None
    write: int | None = None


@dataclass(frozen=True, slots=True)
class StreamChange:
    """The stream specification as sent."""

    enable: bool
    expiration_hours: int | None = None
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class IndexDefinition:
    """A secondary index as asked for; `kind` and `mode` as the protocol numbers them.

    (0, 0): global and asynchronous; (1, 1): local and synchronous (change §A2).
    """

    name: str
    key_columns: tuple[str, ...]
    defined_columns: tuple[str, ...] = ()
    kind: int = 0
    mode: int = 0


@dataclass(frozen=True, slots=True)
class CreateIndex:
    """CreateIndex (change §A1). `include_base_data`: existing rows get entries, too."""

    table: str
    index: IndexDefinition
    include_base_data: bool = False


class DropIndex(NamedTuple):
    """DropIndex: the index `name` of `table` (change §A7)."""

    table: str
    name: str


@dataclass(frozen=True, slots=True)
class CreateTable:
    """CreateTable. `partitions`: the pre-split as (begin, end) bounds of the partition key.

    `local_transactions`: whether they may be begun on the table; None leaves it to the server.
    """

    name: str
    key_columns: tuple[KeyColumn, ...]
    defined_columns: tuple[DefinedColumn, ...]
    throughput: ThroughputChange
    options: OptionsChange
    partitions: tuple[tuple[KeyInput, KeyInput], ...] = ()
    stream: StreamChange | None = None
    encryption: Encryption | None = None
    local_transactions: bool | None = None
    indexes: tuple[IndexDefinition, ...] = ()


@dataclass(frozen=True, slots=True)
class UpdateTable:
    """UpdateTable: any of the three parts, at least one."""

    name: str
    throughput: ThroughputChange | None = None
    options: OptionsChange | None = None
    stream: StreamChange | None = None


class InTransaction(NamedTuple, Generic[R]):
    """A request on rows inside the local transaction with this id."""

    id: str
    request: R


class ComputeSplitPoints(NamedTuple):
    """ComputeSplitPointsBySize: cut a table into parts of about `split_bytes` (semantics §6)."""

    table: str
    split_bytes: int
    limit: int | None = None


class SplitPoints(NamedTuple):
    """Encoded partition keys, ascending; and where each part lies, as runs of parts."""

    table: Table
    points: tuple[bytes, ...]
    locations: tuple[tuple[str, int], ...]

    @property
    def read_units(self) -> int:
        """One unit for each part (semantics §9)."""
        return len(self.points) + 1
