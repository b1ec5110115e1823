"""Deleting the expired rows of typed tables (model §8).

A pass goes over a hierarchy of tables, whose rows lie in one range. `SweepRecord.first` is the
first hour since 1970 at which a row of it expires: the pass found it, and writers lower it, in
memory at once and in the record within half a minute. The next pass is due at that hour, but not
sooner after the last one than an hour or a sixteenth of the shortest time to live that tables of
the hierarchy give their rows; so rows stay so much longer than they live, and hidden.

A crash loses what was noted in its last half minute. So a hierarchy in which rows are known to
expire, or get a time to live from their table, has a pass once a day at least, and any other one,
whose rows might bring their own, every thirty days.
"""

from functools import partial
from typing import Final

from widerow.clock import Clock
from widerow.engine.observer import Observers, RowEvent
from widerow.engine.sweep.model import NOTHING_FREED, STAYS, Freed, SweptModel, SweptRecord
from widerow.engine.sweep.record import SweepRecord
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.model import shard_end
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.tables import TypedTables
from widerow.errors import NotFound, Replan
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix
from widerow.limits import (
    SWEEP_PAUSE_SHARE,
    SWEEP_RENEWAL_HOURS,
    SWEEP_RENEWAL_HOURS_UNLIKELY,
)
from widerow.rows.typed import typed_table_and_expiry
from widerow.storage.interface import Reader, Transaction

__all__ = ["TypedSweep"]

_HOUR_US: Final = 3_600_000_000


class TypedSweep(SweptModel[TableForm]):
    """The sweep's view of typed tables: a hierarchy is swept as one table, its top one."""

    kind = TableForm

    def __init__(self, tables: TypedTables, clock: Clock, observers: Observers[TableForm]) -> None:
        """A sweep of `tables`; `observers` are told of each row that is deleted."""
        self._tables = tables
        self._clock = clock
        self._observers = observers
        self._shortest: tuple[int, dict[int, int]] = (
            -1,
            {},
        )  # hours by top table, for the epoch of the catalogue in front

    def is_swept(self, table: TableForm) -> bool:
        """Whether the table is a top one, for which passes are made."""
        return table.table.parent is None

    def ranges(self, table: TableForm) -> tuple[tuple[bytes, bytes], ...]:
        """The range of keys of all rows of the hierarchy."""
        prefix = row_prefix(table.id)
        return ((prefix, after_prefix(prefix)),)

    def due_us(self, table: TableForm, last: SweepRecord | None) -> int:
        """When the next pass is due, by the module's rule; at once where there was none yet."""
        if last is None:
            return 0
        hours = self._shortest_hours(table.id)
        if last.first is None and not hours:
            return last.started_us + SWEEP_RENEWAL_HOURS_UNLIKELY * _HOUR_US
        renewal = last.started_us + SWEEP_RENEWAL_HOURS * _HOUR_US
        if last.first is None:
            return renewal
        pause = min(max(1, hours // SWEEP_PAUSE_SHARE), SWEEP_RENEWAL_HOURS)
        return min(renewal, max(last.first * _HOUR_US, last.ended_us + pause * _HOUR_US))

    def examine(self, table: TableForm, key: bytes, record: bytes, reader: Reader) -> SweptRecord:  # noqa: ARG002  # the record says all
        """Decide over a row by the expiry hour in its header."""
        table_id, hour = typed_table_and_expiry(record)
        if hour == 0:
            return STAYS
        if hour > self._clock.now_us() // _HOUR_US:
            return SweptRecord(hour)
        owner = self._tables.by_id(table_id)
        if owner is None:
            return STAYS  # of a dropped table, whose rows its drop note deletes
        watch = self._observers.of(owner)
        body = partial(self._remove, table, owner, key)
        shard = key[: shard_end(table, key)]
        return SweptRecord(hour, (shard, *watch.beside(shard)), body, reads=watch.reads)

    def place_of(self, record: bytes, key: bytes, table_id: int) -> bytes | None:
        """The shard key of a row of the dropped table; None for rows of other tables."""
        found = typed_table_and_expiry(record)[0]
        top = self._tables.by_id(int.from_bytes(key[1:ROW_PREFIX_BYTES], "big"))
        if found != table_id or top is None:
            return None
        return key[ROW_PREFIX_BYTES : shard_end(top, key)]

    def _remove(self, top: TableForm, owner: TableForm, key: bytes, txn: Transaction) -> Freed:
        try:
            current = self._tables.current(owner, txn)
        except NotFound:
            return NOTHING_FREED  # the table was dropped: its drop note deletes the row
        record = txn.get(key)
        if record is None:
            return NOTHING_FREED
        hour = typed_table_and_expiry(record)[1]
        if not 0 < hour <= self._clock.now_us() // _HOUR_US:
            return Freed(first=hour or None)  # the row was written again since it was scanned
        watch = self._observers.of(current)
        if not self._observers.of(owner).covers(watch):
            raise Replan  # the table got an index since: left to the next pass
        shard = key[: shard_end(top, key)]
        watch.changed(txn, RowEvent(key, shard, StoredRow(current, key, record), None))
        txn.delete(key)
        return Freed(shard[ROW_PREFIX_BYTES:], rows=1, size=len(key) + len(record))

    def _shortest_hours(self, top: int) -> int:
        """The shortest time to live that tables of a hierarchy give their rows; 0: none does."""
        epoch = self._tables.catalog.seen().epoch
        if self._shortest[0] != epoch:
            found: dict[int, int] = {}
            for form in self._tables.all():
                # From the start of an hour on: what is left of the first one is given on top.
                hours = 0 if form.table.ttl is None else form.table.ttl.expiry_hour(0)
                if hours:
                    known = found.get(form.table.top, hours)
                    found[form.table.top] = min(known, hours)
            self._shortest = epoch, found
        return self._shortest[1].get(top, 0)
