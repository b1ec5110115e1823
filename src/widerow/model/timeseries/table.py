"""A timeseries table: its options, its key, its analytical store and its last-point indexes."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import ClassVar, Final

from widerow.model.streams import Stream
from widerow.model.tablestore.mapping import MappedColumn
from widerow.model.timeseries.series import (
    MEASUREMENT_COLUMN,
    SOURCE_COLUMN,
    TAGS_COLUMN,
    SeriesKey,
    tags_text,
)
from widerow.model.tunnels import Tunnel
from widerow.model.values import KeyType

__all__ = [
    "DEFAULT_KEY",
    "TABLES_OF_TIMESERIES",
    "AnalyticalStore",
    "FieldKey",
    "FieldMapping",
    "LastpointIndex",
    "SyncOption",
    "TimeseriesOptions",
    "TimeseriesTable",
]

DEFAULT_KEY = (MEASUREMENT_COLUMN, SOURCE_COLUMN, TAGS_COLUMN)
"""The columns of a key of series where a table names none."""


_FULL_SECONDS = 60  # as long as clients are shown that a new store catches up (timeseries §11)

TABLES_OF_TIMESERIES: Final = 2  # of its instance: one for data, one for metas (timeseries §1)


class SyncOption(IntEnum):
    """What an analytical store begins with; the numbers are those of the protocol."""

    FULL = 1
    INCREMENTAL = 2


@dataclass(frozen=True, slots=True)
class TimeseriesOptions:
    """How long points and metas are kept, in seconds, -1 for ever (timeseries §3.1)."""

    ttl_s: int = -1
    meta_ttl_s: int = -1
    update_attributes: bool = True


@dataclass(frozen=True, slots=True)
class FieldKey:
    """A field that is a key column behind the time (timeseries §8)."""

    name: str
    type: KeyType


@dataclass(frozen=True, slots=True)
class AnalyticalStore:
    """An analytical store (timeseries §11). `created_us`: microseconds since 1970.

    `with_table`: made together with the table.
    """

    name: str
    ttl_s: int = -1
    sync: SyncOption = SyncOption.FULL
    created_us: int = 0
    with_table: bool = True

    def phase(self, now_us: int) -> SyncOption:
        """What the store takes in at a time: for its first minute, if it began with everything.

        A store that was made with its table has nothing to catch up with.
        """
        is_new = now_us < self.created_us + _FULL_SECONDS * 1_000_000
        if self.sync is SyncOption.FULL and not self.with_table and is_new:
            return SyncOption.FULL
        return SyncOption.INCREMENTAL


@dataclass(frozen=True, slots=True)
class LastpointIndex:
    """A last-point index (timeseries §10). `number`: names its records among those of the table.

    `ready`: whether points from before its creation are in it, or none were asked for.
    `created_us`: microseconds since 1970.
    """

    name: str
    number: int
    ready: bool = True
    created_us: int = 0


@dataclass(frozen=True, slots=True)
class FieldMapping:
    """How SQL sees the points of a table, with a column for each of some fields (timeseries §12).

    `name`: of the table in SQL. `of_store`: it has the points that the analytical store has.
    """

    name: str
    columns: tuple[MappedColumn, ...]
    of_store: bool = False


@dataclass(frozen=True, slots=True)
class TimeseriesTable:
    """A timeseries table of an instance.

    `id`: the number of its points, `meta_id`: that of its metas by names. `key`: the columns of a
    key of series, in order. `splits`, `asked`: bounds of partitions, as partitions see them.
    `hashed`, `meta_index`: what was asked for with the table (`disable_hash_partition_key` and
    `disable_timeseries_meta_index`, negated). `mappings`: those of SQL beside the
    automatic ones. `stream`: the log of what is put, which every table has (timeseries §9).
    `tunnels`: by their names.
    """

    id: int
    meta_id: int
    instance: str
    name: str
    options: TimeseriesOptions = TimeseriesOptions()
    key: tuple[str, ...] = DEFAULT_KEY
    field_keys: tuple[FieldKey, ...] = ()
    stores: tuple[AnalyticalStore, ...] = ()
    lastpoints: tuple[LastpointIndex, ...] = ()
    hashed: bool = True
    meta_index: bool = True
    splits: tuple[bytes, ...] = ()
    asked: tuple[bytes, ...] = ()
    mappings: tuple[FieldMapping, ...] = ()
    stream: Stream = field(kw_only=True)
    tunnels: tuple[Tunnel, ...] = ()
    journal: ClassVar[None] = None
    global_indexes: ClassVar[tuple[int, ...]] = ()
    reserved_units: ClassVar[tuple[int, int]] = (0, 0)

    @property
    def counts_as(self) -> int:
        """How many tables of its instance's quota it takes: data and metas (timeseries §1)."""
        return TABLES_OF_TIMESERIES

    @property
    def qualified(self) -> str:
        """The table's name in logs and metrics."""
        return f"{self.instance}/{self.name}"

    @property
    def logs(self) -> tuple[Stream, ...]:
        """The logs of the table's changes: its stream."""
        return (self.stream,)

    @property
    def custom_key(self) -> bool:
        """Whether the table names the columns of its key."""
        return self.key != DEFAULT_KEY

    def key_values(self, series: SeriesKey) -> list[str]:
        """The values of the columns of `key` for a series; tags with a column are in no other."""
        measurement, source, tags = series
        values: dict[str, str] = {}
        if self.custom_key:
            values = dict(tags)
            tags = tuple([tag for tag in tags if tag[0] not in self.key])
        values[MEASUREMENT_COLUMN] = measurement
        values[SOURCE_COLUMN] = source
        values[TAGS_COLUMN] = tags_text(tags)
        return [values[name] for name in self.key]
