"""Row changes as a group commit runs them, one for each row (semantics §4.1-4.7)."""

from typing import final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.locks import Locks, check_unlocked
from widerow.engine.observer import Observers
from widerow.engine.partitions.notes import Notes
from widerow.engine.tablestore.expiry import check_versions
from widerow.engine.tablestore.observed import change_observed
from widerow.engine.tablestore.schema import concrete, key_in_shard
from widerow.engine.tablestore.sequences import next_value, note_value
from widerow.engine.tablestore.shard_locks import check_unlocked_shard, lock_key
from widerow.engine.tablestore.writes import RowWrite, write_row
from widerow.errors import InvalidRequest, Replan, Rule
from widerow.keys.layout import ROW_PREFIX_BYTES, sequence_key
from widerow.model.tablestore.answers import RowWritten
from widerow.model.tablestore.row import Modification, RowChange
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyInput, KeyMarker, KeyValue
from widerow.storage.interface import Transaction, Write

__all__ = ["BodyContext", "Planned", "RowBody", "write_observed"]


def write_observed(
    observers: Observers[Table],
    txn: Transaction,
    write: RowWrite,
    tables: tuple[Table, Table],
    asked: tuple[bytes, int],
) -> RowWritten:
    """Make a change, and tell the table's observers.

    `tables`: the definition that the change was planned for, and the newest one. `asked`: the row's
    shard, and when the change was asked for (`RowEvent`). Raises `Replan` where the newest
    observers touch more keys than the planned ones.
    """
    planned, current = tables
    watch = observers.of(current)
    if not watch:
        return write_row(txn, write)
    if not observers.of(planned).covers(watch):
        raise Replan
    shard, asked_us = asked
    row = write.key, shard
    return change_observed(
        txn, row, watch, lambda buffer: write_row(buffer, write), (write, asked_us)
    )


@final
class Planned:
    """The moment that the rows of one request are planned at.

    `epoch`: of the catalogue, -1 in a store of one process. `under_lease`: bodies rely on the read
    lease and read no epoch. `asked_us`: microseconds since 1970; 0 without observers of rows.
    """

    __slots__ = ("asked_us", "epoch", "under_lease")

    def __init__(self, epoch: int, asked_us: int, *, under_lease: bool) -> None:
        self.epoch = epoch
        self.asked_us = asked_us
        self.under_lease = under_lease

    def reads(self, tables: Tables[Table]) -> tuple[bytes, ...]:
        """The keys outside the shard that a body reads which asks for the newest definition."""
        return tables.catalog.reads if self.epoch >= 0 and not self.under_lease else ()

    def newest(self, tables: Tables[Table], table: Table, txn: Transaction) -> Table:
        """The newest definition of a table, in a body. Raises `NotFound`, `Replan`."""
        if self.under_lease:
            return tables.under_lease(table, self.epoch)
        return tables.current(table, txn, self.epoch)


@final
class BodyContext:
    """What all bodies of one engine use."""

    __slots__ = (
        "clock",
        "key_bytes_max",
        "locks",
        "locks_in_shards",
        "notes",
        "observers",
        "tables",
    )

    def __init__(self, tables: Tables[Table], clock: Clock, notes: Notes) -> None:
        """`notes`: where rows are counted for their partitions."""
        self.tables = tables
        self.key_bytes_max = tables.catalog.key_bytes_max  # of the store
        self.clock = clock
        self.notes = notes
        self.observers: Observers[Table] | None = None  # None without observers, which is usual
        self.locks: Locks = {}  # of local transactions, where they are in memory
        self.locks_in_shards = tables.catalog.shared

    def planned(self) -> Planned:
        """The moment that rows are planned at, asked for before their tables are looked up."""
        asked_us = 0 if self.observers is None else self.clock.now_us()
        catalog = self.tables.catalog
        epoch = catalog.planned()
        return Planned(epoch, asked_us, under_lease=epoch >= 0 and catalog.lease_holds())


@final
class RowBody(Write[RowWritten]):
    """The write of one checked row change, which counts the change once it is durable."""

    __slots__ = (
        "asked_us",
        "change",
        "context",
        "may_be_locked",
        "planned",
        "shard",
        "table",
        "values",
    )

    def __init__(
        self,
        context: BodyContext,
        table: Table,
        change: RowChange,
        values: tuple[KeyInput, ...],
        shard: bytes,
        planned: Planned,
    ) -> None:
        """`values`: of the key; `shard`: the prefix of rows with the first of these values."""
        super().__init__((shard,), frees=change.modification is Modification.DELETE)
        self.context = context
        self.table = table
        self.change = change
        self.values = values
        self.shard = shard
        self.planned = planned
        self.asked_us = planned.asked_us
        if planned.epoch >= 0:
            self.reads = planned.reads(context.tables)
        if table.auto_increment is not None:
            self.shards = (shard, sequence_key(table.id, concrete(values)[0]))
        self.may_be_locked = context.locks_in_shards and table.local_transactions
        if self.may_be_locked:
            self.shards += (lock_key(shard),)
        if context.observers is not None:
            watch = context.observers.of(table)
            if watch:
                self.shards += watch.beside(shard)
                self.reads += watch.reads

    def run(self, txn: Transaction) -> RowWritten:
        """Make the change. Raises `Conflict` where a local transaction holds the key by now."""
        context = self.context
        if context.locks:
            check_unlocked(context.locks, self.shard, context.clock)
        if self.may_be_locked:
            check_unlocked_shard(txn, self.shard, self.read_first(), context.clock)
        return self.make(txn, self.prepare(txn))

    def read_first(self) -> bytes:
        """The key that the change reads first: of its row, or of the numbers that are given out."""
        index = self.table.auto_increment
        values = concrete(self.values)
        return key_in_shard(self.shard, values) if index is None else self.shards[1]

    def prepare(self, txn: Transaction) -> RowWrite:
        """The change, checked against the newest definition, with its auto-increment value.

        Raises, before the row is read, `InvalidRequest` for a key that the store does not hold.
        """
        index = self.table.auto_increment
        values = concrete(self.values) if index is None else self._numbered(index, txn)
        context, change = self.context, self.change
        table = self.planned.newest(self.context.tables, self.table, txn)
        now_ms = context.clock.now_us() // 1000
        check_versions(change, table.options, now_ms)
        key = key_in_shard(self.shard, values)
        limit = context.key_bytes_max
        if len(key) > limit:
            raise InvalidRequest(Rule.STORED_KEY_LENGTH, limit=limit, length=len(key))
        return RowWrite(table, change, key, values, now_ms)

    def _numbered(self, index: int, txn: Transaction) -> tuple[KeyValue, ...]:
        """The key of a table with an auto-increment column, with the number that the row gets."""
        partition_key, number = self.values[0], self.values[index]
        assert not isinstance(partition_key, KeyMarker)
        if number is KeyMarker.AUTO_INCREMENT:
            table = self.planned.newest(self.context.tables, self.table, txn)
            number = next_value(txn, table, partition_key, self.context.clock.now_us())
        elif isinstance(number, int) and self.change.modification is not Modification.DELETE:
            note_value(txn, self.table, partition_key, number)
        return concrete((*self.values[:index], number, *self.values[index + 1 :]))

    def make(self, txn: Transaction, write: RowWrite) -> RowWritten:
        """Make a prepared change, and tell the table's observers.

        Raises `Replan` where the newest observers touch more keys than the planned ones.
        """
        observers = self.context.observers
        if observers is None:
            return write_row(txn, write)
        tables = self.table, write.table
        return write_observed(observers, txn, write, tables, (self.shard, self.asked_us))

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
