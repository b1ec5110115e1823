"""Row changes as a group commit runs them, one for each row (semantics §4.1-4.7)."""

from typing import final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.expiry import check_versions
from widerow.engine.observed import change_observed
from widerow.engine.observer import Observers
from widerow.engine.partitions.notes import Notes
from widerow.engine.schema import concrete, key_in_shard
from widerow.engine.sequences import next_value, note_value
from widerow.engine.writes import RowWrite, write_row
from widerow.errors import Replan
from widerow.keys.layout import ROW_PREFIX_BYTES, sequence_key
from widerow.model.answers import RowWritten
from widerow.model.row import Modification, RowChange
from widerow.model.schema import Table
from widerow.model.values import KeyInput, KeyMarker, KeyValue
from widerow.storage.interface import Transaction, Write

__all__ = ["BodyContext", "Planned", "RowBody"]


@final
class Planned:
    """The moment that the rows of one request are planned at.

    `epoch`: of the catalogue, -1 where nobody else changes it. `asked_us`: microseconds since 1970;
    0 where nobody observes rows.
    """

    __slots__ = ("asked_us", "epoch")

    def __init__(self, epoch: int, asked_us: int) -> None:
        """This moment."""
        self.epoch = epoch
        self.asked_us = asked_us


@final
class BodyContext:
    """What all bodies of one engine use."""

    __slots__ = ("clock", "notes", "observers", "tables")

    def __init__(self, tables: Tables[Table], clock: Clock, notes: Notes) -> None:
        """`notes`: where rows are counted for their partitions."""
        self.tables = tables
        self.clock = clock
        self.notes = notes
        self.observers: Observers[Table] | None = None  # nobody: the usual case costs a look

    def planned(self) -> Planned:
        """The moment that rows are planned at, asked for before their tables are looked up."""
        asked_us = 0 if self.observers is None else self.clock.now_us()
        return Planned(self.tables.catalog.planned(), asked_us)


@final
class RowBody(Write[RowWritten]):
    """A checked change on its way: makes it, and counts it once it is durable."""

    __slots__ = ("asked_us", "change", "context", "planned", "shard", "table", "values")

    def __init__(
        self,
        context: BodyContext,
        table: Table,
        change: RowChange,
        values: tuple[KeyInput, ...],
        shard: bytes,
        planned: Planned,
    ) -> None:
        """`values`: those of the key; `shard`: that of the first of them."""
        super().__init__((shard,))
        self.context = context
        self.table = table
        self.change = change
        self.values = values
        self.shard = shard
        self.planned = planned.epoch
        self.asked_us = planned.asked_us
        if planned.epoch >= 0:
            self.reads = context.tables.catalog.reads
        if table.auto_increment is not None:
            self.shards = (shard, sequence_key(table.id, concrete(values)[0]))
        if context.observers is not None:
            watch = context.observers.of(table)
            if watch:
                self.shards += watch.beside(shard)
                self.reads += watch.reads

    def run(self, txn: Transaction) -> RowWritten:
        """Make the change."""
        index = self.table.auto_increment
        if index is None:
            return self._write(concrete(self.values), txn)
        return self._write(self._numbered(index, txn), txn)

    def _numbered(self, index: int, txn: Transaction) -> tuple[KeyValue, ...]:
        """The key where the table has an auto-increment column, with the number that it gets."""
        partition_key, number = self.values[0], self.values[index]
        assert not isinstance(partition_key, KeyMarker)
        if number is KeyMarker.AUTO_INCREMENT:
            table = self.context.tables.current(self.table, txn, self.planned)
            number = next_value(txn, table, partition_key, self.context.clock.now_us())
        elif isinstance(number, int) and self.change.modification is not Modification.DELETE:
            note_value(txn, self.table, partition_key, number)
        return concrete((*self.values[:index], number, *self.values[index + 1 :]))

    def _write(self, values: tuple[KeyValue, ...], txn: Transaction) -> RowWritten:
        """The change, to the row as it is now and by the time it is now."""
        context, change = self.context, self.change
        table = context.tables.current(self.table, txn, self.planned)
        now_ms = context.clock.now_us() // 1000
        check_versions(change, table.options, now_ms)
        key = key_in_shard(self.shard, values)
        write = RowWrite(table, change, key, values, now_ms)
        if context.observers is None:
            return write_row(txn, write)
        return self._tell(context.observers, txn, write)

    def _tell(self, observers: Observers[Table], txn: Transaction, write: RowWrite) -> RowWritten:
        """The change, of which the table's observers hear.

        Raises `Replan` where they need more than the change was planned for.
        """
        watch = observers.of(write.table)
        if not watch:
            return write_row(txn, write)
        if not observers.of(self.table).covers(watch):
            raise Replan
        row, asked = (write.key, self.shard), (write, self.asked_us)
        return change_observed(txn, row, watch, lambda buffer: write_row(buffer, write), asked)

    def settle(self, result: RowWritten) -> None:
        """The row is durable: count it for its partition."""
        self.context.notes.add(
            self.table.id,
            self.shard[ROW_PREFIX_BYTES:],
            result.read_units,
            result.write_units,
            result.rows,
            result.size,
        )
