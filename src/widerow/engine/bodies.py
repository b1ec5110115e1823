"""The bodies of row changes: what a group commit runs, one for each row (semantics §4.1-4.7)."""

from collections.abc import Callable
from typing import final

from mypy_extensions import mypyc_attr

from widerow.clock import Clock
from widerow.engine.catalog import Catalog
from widerow.engine.expiry import check_versions
from widerow.engine.schema import concrete, key_in_shard
from widerow.engine.sequences import next_value, note_value
from widerow.engine.writes import RowWrite, write_row
from widerow.keys.layout import ROW_PREFIX_BYTES
from widerow.model.answers import RowWritten
from widerow.model.row import Modification, RowChange
from widerow.model.schema import Table
from widerow.model.values import KeyInput, KeyMarker, KeyValue
from widerow.storage.interface import Transaction

__all__ = ["BodyContext", "RowBody"]

NoteLoad = Callable[[int, bytes, int, int, int, int], None]


@final
class BodyContext:
    """What all bodies of one engine use."""

    __slots__ = ("catalog", "clock", "note_load")

    def __init__(self, catalog: Catalog, clock: Clock, note_load: NoteLoad) -> None:
        """`note_load` counts a row for its partition (`engine/partitions/notes.py`)."""
        self.catalog = catalog
        self.clock = clock
        self.note_load = note_load


@mypyc_attr(acyclic=True)
@final
class RowBody:
    """A checked change on its way: the body that makes it, and who counts it once it is durable."""

    __slots__ = ("change", "context", "shard", "table", "values")

    def __init__(
        self,
        context: BodyContext,
        table: Table,
        change: RowChange,
        values: tuple[KeyInput, ...],
        shard: bytes,
    ) -> None:
        """`values`: those of the key; `shard`: that of the first of them."""
        self.context = context
        self.table = table
        self.change = change
        self.values = values
        self.shard = shard

    def write(self, txn: Transaction) -> RowWritten:
        """The body of a change whose key is all there."""
        return self._write(concrete(self.values), txn)

    def write_numbered(self, txn: Transaction) -> RowWritten:
        """The body where the table has an auto-increment column."""
        index = self.table.auto_increment
        assert index is not None
        partition_key, number = self.values[0], self.values[index]
        assert not isinstance(partition_key, KeyMarker)
        if number is KeyMarker.AUTO_INCREMENT:
            table = self.context.catalog.current(self.table)
            number = next_value(txn, table, partition_key, self.context.clock.now_us())
        elif isinstance(number, int) and self.change.modification is not Modification.DELETE:
            note_value(txn, self.table, partition_key, number)
        values = (*self.values[:index], number, *self.values[index + 1 :])
        return self._write(concrete(values), txn)

    def _write(self, values: tuple[KeyValue, ...], txn: Transaction) -> RowWritten:
        """The change, to the row as it is now and by the time it is now."""
        context, change = self.context, self.change
        table = context.catalog.current(self.table)
        now_ms = context.clock.now_us() // 1000
        check_versions(change, table.options, now_ms)
        key = key_in_shard(self.shard, values)
        return write_row(txn, RowWrite(table, change, key, values, now_ms))

    def settled(self, written: RowWritten) -> None:
        """The row is durable: count it for its partition."""
        self.context.note_load(
            self.table.id,
            self.shard[ROW_PREFIX_BYTES:],
            written.read_units,
            written.write_units,
            written.rows,
            written.size,
        )
