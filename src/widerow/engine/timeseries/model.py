"""Timeseries tables in the catalogue: records, drop notes, hashes of series as partition keys."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from widerow.engine.catalog.model import CatalogModel, RowKeys
from widerow.engine.catalog.notes import decode_note
from widerow.engine.catalog.state import Leftover
from widerow.engine.partitions.partitioned_tables import Bounds, PartitionKey
from widerow.engine.streams.log_shards import divided
from widerow.engine.timeseries.table_record import (
    decode_timeseries_table,
    encode_timeseries_table,
)
from widerow.errors import Conflict, NotFound, Rule, StoreDamaged
from widerow.keys.decode import key_value_end
from widerow.keys.layout import (
    DROPPED_MARK,
    ROW_PREFIX_BYTES,
    SPACE_TIMESERIES_CATALOG,
    table_prefixes,
    timeseries_catalog_key,
    timeseries_dropped_key,
    tunnel_prefix,
)
from widerow.keys.series import HASH_BYTES
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import TimeseriesTable
from widerow.model.values import KeyType

__all__ = ["TIMESERIES_MODEL", "TimeseriesModel"]

_MARK_AT = len(SPACE_TIMESERIES_CATALOG)


class TimeseriesModel(CatalogModel[TimeseriesTable]):
    """Records, names, drop notes and partition keys of timeseries tables.

    A table has two numbers: its points lie under one, its metas under the other.
    """

    space = SPACE_TIMESERIES_CATALOG
    kind = TimeseriesTable
    named_with = "tablestore"

    def name_of(self, table: TimeseriesTable) -> tuple[str, str]:
        """The instance and the name of a table."""
        return table.instance, table.name

    def names_taken(self, table: TimeseriesTable) -> Iterable[str]:
        """The name of the table, and those of its last-point indexes."""
        return table.name, *[index.name for index in table.lastpoints]

    def name_refused(self, table: TimeseriesTable, name: str) -> Conflict:
        """The error for a name that is taken."""
        own = name == table.name
        rule = TimeseriesRule.TABLE_EXISTS if own else TimeseriesRule.LASTPOINT_EXISTS
        return Conflict(rule, instance=table.instance, table=name)

    def record_of(self, table: TimeseriesTable) -> tuple[bytes, bytes]:
        """Key and value of the record."""
        return timeseries_catalog_key(table.instance, table.name), encode_timeseries_table(table)

    def read(self, key: bytes, record: bytes) -> TimeseriesTable | Leftover:
        """A table, or a drop note."""
        if key.startswith(DROPPED_MARK, _MARK_AT):
            number = int.from_bytes(key[_MARK_AT + len(DROPPED_MARK) :], "big")
            return decode_note(number, key, record)
        return decode_timeseries_table(record)

    def leftover_of(self, table: TimeseriesTable, due_us: int) -> Leftover:
        """The drop note of a table: points, series and metas."""
        prefixes = *table_prefixes(table.id), *table_prefixes(table.meta_id)
        return Leftover(table.id, timeseries_dropped_key(table.id), prefixes, due_us=due_us)

    def left_by_change(
        self, before: TimeseriesTable, after: TimeseriesTable, due_us: int
    ) -> Iterable[Leftover]:
        """A drop note for each last-point index and each tunnel that the change removed.

        Records of an index lie among those of the table's series.
        """
        tunnels = {each.number for each in after.tunnels}
        for tunnel in before.tunnels:
            if tunnel.number not in tunnels:
                key = timeseries_dropped_key(tunnel.number)
                prefixes = (tunnel_prefix(before.id, tunnel.number),)
                yield Leftover(tunnel.number, key, prefixes, due_us=due_us)
        kept = {index.number for index in after.lastpoints}
        for index in before.lastpoints:
            if index.number not in kept:
                key = timeseries_dropped_key(index.number)
                yield Leftover(index.number, key, (), before.id, due_us)

    def missing(self, owner: str, name: str) -> NotFound:
        """The error for a name that no table has."""
        return NotFound(Rule.TABLE_NOT_FOUND, instance=owner, table=name)

    def partitioned(self, table: TimeseriesTable) -> TimeseriesTable:
        """The table itself."""
        return table

    def with_bounds(self, table: TimeseriesTable, bounds: Bounds) -> TimeseriesTable:
        """The table with other splits."""
        stream = divided(table.stream, table.splits, bounds)
        return replace(table, splits=bounds, stream=stream)

    def partition_key(self, table: TimeseriesTable) -> PartitionKey:
        """The hash of a series."""
        return PartitionKey(table.instance, table.name, "_#h", "STRING", _hash_end, bytes.hex)

    def row_keys(self, table: TimeseriesTable) -> Sequence[RowKeys]:
        """Points first: what notes beside them say of metas is then true of the metas."""
        return RowKeys(table.id, _hash_end), RowKeys(table.meta_id, _meta_end)


def _hash_end(key: bytes) -> int:
    if len(key) < ROW_PREFIX_BYTES + HASH_BYTES:
        raise StoreDamaged(f"key ends inside the hash of a series: {key.hex()}")
    return ROW_PREFIX_BYTES + HASH_BYTES


def _meta_end(key: bytes) -> int:
    return key_value_end(key, ROW_PREFIX_BYTES, KeyType.STRING)


TIMESERIES_MODEL = TimeseriesModel()
