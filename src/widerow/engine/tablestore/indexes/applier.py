"""Working off intents: making entries of global indexes agree with their rows (change §A10).

Where transactions reach over shards, entries are compared with the row and the intents removed in
one transaction. Elsewhere an entry is written in the transaction of its own shard, which reads the
row and its intent there: it is planned from a view, and given up if either has changed since. The
intent goes in a transaction behind it. Doing any of it again does no harm.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, Final, final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.intents import pass_over, removals, tables_waiting
from widerow.engine.plan import Plan
from widerow.engine.tablestore.indexes.intents import EntryIntent, entry_intents
from widerow.engine.tablestore.indexes.keeper import SecondaryIndexKeeper
from widerow.engine.tablestore.observed import ObservedRow
from widerow.errors import Replan
from widerow.keys.decode import key_value_end
from widerow.keys.layout import ROW_PREFIX_BYTES, intent_prefix, row_prefix, segment_range
from widerow.limits import FIRST_LOOK_SECONDS, HOUSEKEEPING_PAUSE_SECONDS
from widerow.model.tablestore.schema import Table
from widerow.rows.record import RecordKind
from widerow.storage.interface import Outcome, Reader, Store, Transaction, Write

__all__ = ["IntentApplier"]

STEP_INTENTS: Final = 256  # worked off in one step, as rows of a build
WAITING_SHOWN: Final = 1000  # intents counted at most for a report


@final
class IntentApplier:
    """Works off the intents of all tables. `step` is for one caller at a time."""

    def __init__(
        self,
        store: Store,
        tables: Tables[Table],
        clock: Clock,
        keeper: SecondaryIndexKeeper,
    ) -> None:
        """Each intent is worked off when it is `lag_us` microseconds old: at once."""
        self._store = store
        self._tables = tables
        self._clock = clock
        self._keeper = keeper
        self.lag_us = 0
        self._first = True

    def pause(self, seconds: float) -> float:
        """How long to wait at most for the next look, where there was nothing to do."""
        if not self._keeper.deferred:
            return seconds
        if not any(each.indexes for each in self._tables.all()):
            return min(seconds, FIRST_LOOK_SECONDS)
        return min(seconds, max(HOUSEKEEPING_PAUSE_SECONDS, self.lag_us / 4_000_000))

    def waiting(self, table: Table) -> int:
        """How many intents of a table wait; at most `WAITING_SHOWN` are counted."""
        found = entry_intents(self._store.snapshot(), table)
        return sum(1 for _ in islice(found, WAITING_SHOWN))

    def step(self) -> Plan[None] | None:
        """The next step; None where no intent is due.

        Without a lag none is left where a transaction reaches the indexes, once all were looked at.
        """
        if not self._keeper.deferred and not self._first:
            return None
        reader = self._store.snapshot()
        due_us = self._clock.now_us() - self.lag_us
        for table in self._waiting_tables(reader):
            found = (each for each in entry_intents(reader, table) if each.intent.time_us <= due_us)
            due = list(islice(found, STEP_INTENTS))
            if due and not table.indexes:  # they were dropped
                return Plan(removals(each.intent for each in due), pass_over)
            if due and self._store.capabilities.atomic_across_shards:
                return self._together(table, due)
            if due:
                return self._apart(table, due, reader)
        self._first = False
        return None

    def _waiting_tables(self, reader: Reader) -> Iterator[Table]:
        """The tables with intents, as they are after these were left."""
        for number in tables_waiting(reader):
            table = self._tables.by_id(number)
            if table is not None:
                yield table

    # --- where transactions reach over shards ------------------------------------------------

    def _together(self, table: Table, due: Sequence[EntryIntent]) -> Plan[None]:
        numbers = {index.id for index in table.indexes if not index.is_local}
        shards = (row_prefix(table.id), intent_prefix(table.id), *map(row_prefix, sorted(numbers)))

        def body(txn: Transaction) -> None:
            current = self._tables.current(table, txn)
            for intent in due:
                if txn.get(intent.key) is None:
                    continue
                wanted = self._entries(txn, current, intent)
                for number, key in intent.entries:
                    if number in numbers:
                        _make_agree(txn, key, wanted)
                txn.delete(intent.key)

        write = Write(shards, body, reads=self._tables.catalog.reads)
        return Plan((write,), pass_over)

    def _entries(self, reader: Reader, table: Table, intent: EntryIntent) -> dict[bytes, bytes]:
        """The records of all entries of global indexes that the intent's row has now."""
        record = reader.get(intent.row)
        if record is None:
            return {}
        forms = self._keeper.forms(table)
        end = key_value_end(intent.row, ROW_PREFIX_BYTES, table.key_columns[0].type)
        row = forms.row(ObservedRow(reader, intent.row, record), intent.row[:end])
        records: dict[bytes, bytes] = {}
        for form in forms.forms:
            if not form.index.is_local:
                records |= form.entries(row)
        return records

    # --- where they do not -------------------------------------------------------------------

    def _apart(self, table: Table, due: Sequence[EntryIntent], reader: Reader) -> Plan[None]:
        """The writes of the entries, and behind them those that remove the intents."""
        writes: list[Write[Any]] = []
        owners: list[int] = []
        for place, intent in enumerate(due):
            for write in self._entry_writes(table, intent, reader):
                writes.append(write)
                owners.append(place)

        def settled(outcomes: Sequence[Outcome[Any]]) -> list[EntryIntent]:
            open_still = {
                place
                for place, each in zip(owners, outcomes, strict=True)
                if each.error is not None
            }
            return [intent for place, intent in enumerate(due) if place not in open_still]

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            pass_over(outcomes)
            if settled(outcomes):
                raise Replan  # what follows is planned by `again`

        def remove(outcomes: Sequence[Outcome[Any]]) -> Plan[None]:
            return Plan(removals(each.intent for each in settled(outcomes)), pass_over)

        return Plan(tuple(writes), finish, again=remove)

    def _entry_writes(
        self, table: Table, intent: EntryIntent, reader: Reader
    ) -> Iterator[Write[None]]:
        root = reader.get(intent.row)
        wanted = self._entries(reader, table, intent)
        reads = (*self._tables.catalog.reads, intent.row, intent.key)
        for number, key in intent.entries:
            index = self._tables.by_id(number)
            if index is None:
                continue  # dropped: what it had goes with it
            end = key_value_end(key, ROW_PREFIX_BYTES, index.key_columns[0].type)
            body = partial(
                self._write_entry, index, intent, root, partial(_make_agree, key=key, wanted=wanted)
            )
            yield Write((key[:end],), body, reads=reads)

    def _write_entry(
        self,
        index: Table,
        intent: EntryIntent,
        root: bytes | None,
        make: Callable[[Transaction], None],
        txn: Transaction,
    ) -> None:
        self._tables.current(index, txn)
        if txn.get(intent.key) is None:
            return  # somebody else has done it
        if txn.get(intent.row) != root:
            raise Replan
        make(txn)


def _make_agree(txn: Transaction, key: bytes, wanted: dict[bytes, bytes]) -> None:
    """Make the entry under `key` what `wanted` says, or remove it; with the segments of either."""
    before = txn.get(key)
    if before is not None and before[0] == RecordKind.WIDE:
        txn.delete_range(*segment_range(key))
    if key not in wanted:
        txn.delete(key)
        return
    start, stop = segment_range(key)
    for place, record in wanted.items():
        if place == key or start <= place < stop:
            txn.put(place, record)
