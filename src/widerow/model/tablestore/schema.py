"""Tables: key columns, defined columns, options, throughput (semantics §1.1, §2)."""

from dataclasses import dataclass, field
from typing import NamedTuple

from widerow.model.search.schema import SearchIndex
from widerow.model.streams import Stream
from widerow.model.tablestore.delivery import DeliveryTask
from widerow.model.tablestore.mapping import SearchMapping, SqlMapping
from widerow.model.tunnels import Tunnel
from widerow.model.values import ColumnType, KeyType

__all__ = [
    "DefinedColumn",
    "Encryption",
    "KeyColumn",
    "NewestView",
    "SecondaryIndex",
    "Table",
    "TableOptions",
    "Throughput",
    "ThroughputState",
]


@dataclass(frozen=True, slots=True)
class KeyColumn:
    """One primary key column. `auto_increment`: the server may choose its value."""

    name: str
    type: KeyType
    auto_increment: bool = False


@dataclass(frozen=True, slots=True)
class DefinedColumn:
    """A typed declaration of an attribute column; rows stay free-form."""

    name: str
    type: ColumnType


@dataclass(frozen=True, slots=True)
class TableOptions:
    """How many versions a table keeps, and for how long.

    `time_to_live` in seconds, -1 for ever; `max_versions` ≥ 1 per column; `max_version_offset` in
    seconds: how far a client's version may lie from now. (semantics §1.5, §1.6)
    """

    time_to_live: int
    max_versions: int
    max_version_offset: int
    allow_update: bool = True
    update_full_row: bool = False


@dataclass(frozen=True, slots=True)
class Throughput:
    """Capacity units per second, reads and writes."""

    read: int
    write: int


@dataclass(frozen=True, slots=True)
class ThroughputState:
    """Reserved throughput and when it last went up or down (seconds since 1970)."""

    reserved: Throughput
    last_increase: int
    last_decrease: int | None = None


@dataclass(frozen=True, slots=True)
class Encryption:
    """Server-side encryption as asked for; kept and described (docs/protocol/differences.md)."""

    enabled: bool
    key_type: int | None = None
    key_id: bytes | None = None
    role_arn: bytes | None = None


class NewestView(NamedTuple):
    """A last-point index of a table (timeseries §10): the newest row of each beginning of its key.

    It is made when it is read. `width`: how many columns of the table's key are its own; the newest
    row is the last one by the others. `since_ms`: cells of older versions are not in it.
    """

    name: str
    width: int
    since_ms: int = 0


@dataclass(frozen=True, slots=True)
class SecondaryIndex:
    """A secondary index as its table defines it (change §A).

    `id`: the number of the index, which has a `Table` of its own. `key_columns`, `defined_columns`:
    the listed and the covered columns as the client gave them, in that order. `ready`: the build
    has ended, so the index answers reads. `complete`: every row gets an entry; else rows from
    before the index get one only when they are written again.
    """

    name: str
    id: int
    is_local: bool
    key_columns: tuple[str, ...]
    defined_columns: tuple[str, ...]
    ready: bool
    complete: bool = True


@dataclass(frozen=True, slots=True)
class Table:
    """A table as the catalogue knows it. Immutable: a change is a new value with the same `id`.

    `id` is never used again after the table is dropped; keys of rows begin with it. `splits` are
    the encoded partition keys where partitions meet, ascending, without the infinite ends; `asked`
    are those of the pre-split, which stay for good. `untrimmed`: options were lowered, and rows may
    still hold more until the sweep has passed. `local_transactions`: whether they may be begun.
    `indexes`: in the order of creation. `index_of`: the number of the table that this one is an
    index of, 0 for every other; `local_index`: it is a local one, whose entries stand beside the
    rows. `tunnels` and `deliveries`: those of the table, by their names. `search`: its search
    indexes, by their names; `journal`: the log of which rows were written, which is there while
    there are search indexes, and which no client sees. `mapping`: how SQL sees the table, if that
    was said (CREATE TABLE); `search_mappings`: how it sees search indexes, by names of their own.
    `newest`: last-point indexes, by their names.
    """

    instance: str
    name: str
    id: int
    key_columns: tuple[KeyColumn, ...]
    defined_columns: tuple[DefinedColumn, ...]
    options: TableOptions
    throughput: ThroughputState
    created_us: int
    splits: tuple[bytes, ...] = ()
    stream: Stream | None = None
    encryption: Encryption | None = None
    untrimmed: bool = False
    asked: tuple[bytes, ...] = ()
    local_transactions: bool = True
    indexes: tuple[SecondaryIndex, ...] = ()
    index_of: int = 0
    local_index: bool = False
    tunnels: tuple[Tunnel, ...] = ()
    deliveries: tuple[DeliveryTask, ...] = ()
    search: tuple[SearchIndex, ...] = ()
    journal: Stream | None = None
    mapping: SqlMapping | None = None
    search_mappings: tuple[SearchMapping, ...] = ()
    newest: tuple[NewestView, ...] = ()
    auto_increment: int | None = field(init=False)  # index of the auto-increment key column

    @property
    def counts_as(self) -> int:
        """How many tables of its instance's quota it takes."""
        return 1

    @property
    def qualified(self) -> str:
        """The table's name in logs and metrics."""
        return f"{self.instance}/{self.name}"

    @property
    def all_tunnels(self) -> tuple[Tunnel, ...]:
        """The tunnels of clients and those of delivery tasks."""
        return (*self.tunnels, *[task.tunnel for task in self.deliveries])

    @property
    def logs(self) -> tuple[Stream, ...]:
        """The logs of the table's changes: stream and journal, if there are any."""
        return tuple([each for each in (self.stream, self.journal) if each is not None])

    @property
    def global_indexes(self) -> tuple[int, ...]:
        """The numbers of the global indexes that are ready."""
        return tuple([each.id for each in self.indexes if each.ready and not each.is_local])

    @property
    def reserved_units(self) -> tuple[int, int]:
        """Reserved capacity units a second: read, write."""
        return self.throughput.reserved.read, self.throughput.reserved.write

    def __post_init__(self) -> None:
        """Find the auto-increment column once."""
        found: int | None = None
        for index, column in enumerate(self.key_columns):
            if column.auto_increment and found is None:
                found = index
        object.__setattr__(self, "auto_increment", found)
