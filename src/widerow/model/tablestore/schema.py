"""Tables: key columns, defined columns, options, throughput (semantics §1.1, §2)."""

from dataclasses import dataclass, field

from widerow.model.search.schema import SearchIndex
from widerow.model.tablestore.delivery import DeliveryTask
from widerow.model.tablestore.tunnel import Tunnel
from widerow.model.values import ColumnType, KeyType

__all__ = [
    "DefinedColumn",
    "Encryption",
    "KeyColumn",
    "LogShard",
    "SecondaryIndex",
    "Stream",
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
    """What a table keeps and for how long.

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
class LogShard:
    """A part of a stream: the changes of the partition that begins at `start`, while it is open.

    `number` is never used again in the stream. `parents`: the parts that it goes on from. A part
    that is closed gets no more records. `closed_us`: when it was seen to be closed, in microseconds
    since 1970; 0 before that.
    """

    number: int
    start: bytes
    parents: tuple[int, ...] = ()
    is_open: bool = True
    closed_us: int = 0


@dataclass(frozen=True, slots=True)
class Stream:
    """A change stream: its specification as asked for, and where its records are (change §C1).

    `columns`: of which the values before a change are recorded. `number`: what its records' keys
    begin with behind the table's; no other table, index or stream has it. `shards` by number; the
    open ones are one for each partition.
    """

    id: str
    expiration_hours: int
    enabled_at_us: int
    columns: tuple[str, ...] = ()
    number: int = 0
    shards: tuple[LogShard, ...] = ()


@dataclass(frozen=True, slots=True)
class Encryption:
    """Server-side encryption as asked for; kept and described (docs/protocol/differences.md)."""

    enabled: bool
    key_type: int | None = None
    key_id: bytes | None = None
    role_arn: bytes | None = None


@dataclass(frozen=True, slots=True)
class SecondaryIndex:
    """A secondary index as its table defines it (change §A).

    `id`: the number of the index, which has a `Table` of its own. `key_columns`, `defined_columns`:
    the listed and the covered columns as the client gave them, in that order. `ready`: every row
    that was to be indexed is, so it answers reads. `complete`: every row of the table is to have
    its entry; else rows from before the index have one only once they are written again.
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
    there are search indexes, and which no client sees.
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
    auto_increment: int | None = field(init=False)  # index of the auto-increment key column

    @property
    def qualified(self) -> str:
        """The name by which logs and metrics show it."""
        return f"{self.instance}/{self.name}"

    @property
    def all_tunnels(self) -> tuple[Tunnel, ...]:
        """The tunnels, with those that delivery tasks consume."""
        return (*self.tunnels, *[task.tunnel for task in self.deliveries])

    @property
    def logs(self) -> tuple[Stream, ...]:
        """What its changes are written to: the stream and the journal, where they are there."""
        return tuple([each for each in (self.stream, self.journal) if each is not None])

    @property
    def global_indexes(self) -> tuple[int, ...]:
        """The numbers of its global indexes that are ready: their entries are rows of tables."""
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
