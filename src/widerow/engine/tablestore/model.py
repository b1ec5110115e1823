"""Tablestore's tables in the catalogue: their records, drop notes and partition keys."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

from widerow.engine.catalog.model import CatalogModel, RowKeys
from widerow.engine.catalog.notes import decode_note
from widerow.engine.catalog.state import Leftover
from widerow.engine.partitions.partitioned_tables import Bounds, KeyText, Partitioned, PartitionKey
from widerow.engine.streams.log_shards import divided
from widerow.engine.tablestore.table_record import decode_table, encode_table
from widerow.errors import Conflict, NotFound, Rule
from widerow.keys.decode import decode_key_value, key_value_end
from widerow.keys.layout import (
    DROPPED_MARK,
    ROW_PREFIX_BYTES,
    SPACE_CATALOG,
    catalog_key,
    change_prefix,
    dropped_key,
    table_prefixes,
    tunnel_prefix,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyType

__all__ = ["TABLESTORE_MODEL", "TablestoreModel"]


class TablestoreModel(CatalogModel[Table]):
    """Tablestore's tables in the catalogue. No table lies in the rows of another one."""

    space = SPACE_CATALOG
    kind = Table
    named_with = "tablestore"

    def name_of(self, table: Table) -> tuple[str, str]:
        """The instance and the name of a table."""
        return table.instance, table.name

    def names_taken(self, table: Table) -> Iterable[str]:
        """Its own, and those of its last-point indexes."""
        return (table.name, *[each.name for each in table.newest])

    def name_refused(self, table: Table, name: str) -> Conflict:
        """The error for a name that is taken."""
        return Conflict(TablestoreRule.TABLE_EXISTS, instance=table.instance, table=name)

    def record_of(self, table: Table) -> tuple[bytes, bytes]:
        """Key and value of the record."""
        return catalog_key(table.instance, table.name), encode_table(table)

    def read(self, key: bytes, record: bytes) -> Table | Leftover:
        """A table, or a drop note; an empty note stands for everything of the dropped table."""
        _, end = decode_key_value(key, len(SPACE_CATALOG), KeyType.STRING)
        if not key.startswith(DROPPED_MARK, end):
            return decode_table(record)
        number = int.from_bytes(key[end + len(DROPPED_MARK) :], "big")
        if record:
            return decode_note(number, key, record)
        return Leftover(number, key, table_prefixes(number))

    def leftover_of(self, table: Table, due_us: int) -> Leftover:
        """The drop note of a table; a local index's entries lie among those of other indexes."""
        key = dropped_key(table.instance, table.id)
        top = table.index_of if table.local_index else 0
        return Leftover(table.id, key, table_prefixes(table.id), top, due_us)

    def left_by_change(self, before: Table, after: Table, due_us: int) -> Iterable[Leftover]:
        """Drop notes for the records of logs that were switched off, and for deleted tunnels."""
        logs = {log.number for log in after.logs}
        for old in before.logs:
            if old.number not in logs:
                prefix = change_prefix(before.id) + old.number.to_bytes(4, "big")
                key = dropped_key(before.instance, old.number)
                yield Leftover(old.number, key, (prefix,), due_us=due_us)
        kept = {tunnel.number for tunnel in after.all_tunnels}
        for tunnel in before.all_tunnels:
            if tunnel.number not in kept:
                key = dropped_key(before.instance, tunnel.number)
                prefixes = (tunnel_prefix(before.id, tunnel.number),)
                yield Leftover(tunnel.number, key, prefixes, due_us=due_us)

    def missing(self, owner: str, name: str) -> NotFound:
        """The error for a name that no table has."""
        return NotFound(Rule.TABLE_NOT_FOUND, instance=owner, table=name)

    def partitioned(self, table: Table) -> Partitioned | None:
        """The table itself; entries of a local index lie in the partitions of its rows."""
        return None if table.local_index else table

    def with_bounds(self, table: Table, bounds: Bounds) -> Table:
        """The table with other splits."""
        stream, journal = table.stream, table.journal
        if stream is not None:
            stream = divided(stream, table.splits, bounds)
        if journal is not None:
            journal = divided(journal, table.splits, bounds)
        return replace(table, splits=bounds, stream=stream, journal=journal)

    def partition_key(self, table: Table) -> PartitionKey:
        """The first column of the primary key."""
        column = table.key_columns[0]
        return PartitionKey(
            table.instance,
            table.name,
            column.name,
            column.type.value,
            lambda key: key_value_end(key, ROW_PREFIX_BYTES, column.type),
            partial(_key_text, column.type),
        )

    def row_keys(self, table: Table) -> Sequence[RowKeys]:
        """Rows of a table or a global index; a local index's entries stand beside its rows."""
        if table.local_index:
            return ()
        return (RowKeys(table.id, self.partition_key(table).end, bool(table.index_of)),)

    def unbuilt(self, table: Table) -> Table:
        """Global indexes are still to be built, and then have every row's entry."""
        indexes = [
            each if each.is_local else replace(each, ready=False, complete=True)
            for each in table.indexes
        ]
        return replace(table, indexes=tuple(indexes))

    def copy_mark(self, table: Table) -> bytes:
        """The shards of logs follow the bounds, so a table with logs is whole beside itself."""
        alike = table if table.logs or table.local_index else self.with_bounds(table, ())
        return self.record_of(alike)[1]


def _key_text(kind: KeyType, key: bytes) -> KeyText:
    value = decode_key_value(key, 0, kind)[0]
    return {"binary": value.hex()} if isinstance(value, bytes) else value


TABLESTORE_MODEL = TablestoreModel()
