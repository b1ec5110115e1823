"""Applies the intents of global indexes of Tablestore's tables (change §A10).

Where transactions reach over shards, which is so with a lag that was asked for, entries are
compared with the row and the intents removed in one transaction.

A wide row has more than one key, so its entries are computed from a view beforehand, and given up
if the row has changed since; then the row is tried again from a newer view.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.entry_applier import EntryApplier, FollowedIndex, IntentRow, Portion
from widerow.engine.intents import IntentKind, pass_over
from widerow.engine.lease import Lease
from widerow.engine.plan import Plan
from widerow.engine.tablestore.indexes.form import TableForms
from widerow.engine.tablestore.indexes.keeper import SecondaryIndexKeeper
from widerow.engine.tablestore.observed import ObservedRow
from widerow.errors import Replan
from widerow.keys.decode import key_value_end
from widerow.keys.layout import ROW_PREFIX_BYTES, intent_prefix, row_prefix, segment_range
from widerow.model.tablestore.schema import Table
from widerow.rows.record import RecordKind, header_of
from widerow.storage.interface import Outcome, Reader, Store, Transaction, Write

__all__ = ["IntentApplier"]


@final
class _Row(IntentRow):
    """A row with intents, and its entries as computed from its state when it was read."""

    __slots__ = ("_forms", "_known", "_planned", "table")

    def __init__(self, table: Table, forms: TableForms, key: bytes) -> None:
        super().__init__(key)
        self.table = table
        self._forms = forms
        self._known: tuple[bytes, dict[bytes, bytes]] | None = None
        self._planned: tuple[bytes, dict[bytes, bytes]] | None = None

    def look(self, reader: Reader) -> None:
        """Compute the entries of a wide row from a view."""
        record = reader.get(self.key)
        if record is not None and header_of(record).kind == RecordKind.WIDE:
            self._planned = record, self._made(ObservedRow(reader, self.key, record))

    def wanted(self, txn: Transaction) -> dict[bytes, bytes]:
        """The records of all entries that the row has in global indexes, by key, read in a body.

        Raises `Replan` for a wide row that has changed since `look`.
        """
        record = txn.get(self.key)
        if record is None:
            return {}
        for known in (self._known, self._planned):
            if known is not None and known[0] == record:
                return known[1]
        if header_of(record).kind == RecordKind.WIDE:
            raise Replan
        self._known = record, self._made(ObservedRow(txn, self.key, record))
        return self._known[1]

    def _made(self, row: ObservedRow) -> dict[bytes, bytes]:
        end = key_value_end(self.key, ROW_PREFIX_BYTES, self.table.key_columns[0].type)
        indexed = self._forms.row(row, self.key[:end])
        records: dict[bytes, bytes] = {}
        for form in self._forms.forms:
            if not form.index.is_local:
                records |= form.entries(indexed)
        return records


@final
class IntentApplier(EntryApplier[Table, _Row]):
    """Applies the intents of all Tablestore tables. `step` is for one caller at a time."""

    kind: ClassVar[IntentKind] = IntentKind.ENTRIES

    def __init__(
        self,
        store: Store,
        tables: Tables[Table],
        clock: Clock,
        keeper: SecondaryIndexKeeper,
        lease: Lease,
    ) -> None:
        """The intents that `keeper` leaves. `lease`: of the process that applies intents."""
        super().__init__(store, tables, clock, lease)
        self._keeper = keeper

    def follows(self) -> bool:
        """Whether entries of global indexes follow their rows."""
        return self._keeper.deferred

    def followed(self) -> Iterable[FollowedIndex]:
        """All global indexes."""
        for table in self._tables.all():
            for index in table.indexes:
                if not index.is_local:
                    yield FollowedIndex(table.id, table.qualified, index.name, index.id)

    def numbers(self, table: Table) -> set[int]:
        """The numbers of a table's indexes."""
        return {index.id for index in table.indexes}

    def row(self, table: Table, key: bytes) -> _Row:
        """A row of a table that has intents."""
        return _Row(table, self._keeper.forms(table), key)

    def plan(self, portions: Sequence[Portion[Table]]) -> Plan[None]:
        """What applies these intents: at once where transactions reach over shards."""
        if self._store.capabilities.atomic_across_shards:
            return self._together(portions)
        return super().plan(portions)

    def _together(self, portions: Sequence[Portion[Table]]) -> Plan[None]:
        writes = tuple([self._agreement(each) for each in portions])

        def finish(outcomes: Sequence[Outcome[Any]]) -> None:
            for portion, outcome in zip(portions, outcomes, strict=True):
                if outcome.error is None:
                    self._rounds.done(intent.key for intent in portion.intents)
            pass_over(outcomes)

        return Plan(writes, finish)

    def _agreement(self, portion: Portion[Table]) -> Write[None]:
        """The write that makes all entries of a portion agree and removes its intents."""
        table = portion.table
        indexes = sorted([index.id for index in table.indexes if not index.is_local])
        shards = (row_prefix(table.id), intent_prefix(table.id), *map(row_prefix, indexes))

        def body(txn: Transaction) -> None:
            rows = self.rows(self._tables.current(table, txn), portion.intents)
            for row in rows:
                row.look(txn)
                wanted = row.wanted(txn)
                for number, key in row.entries():
                    if number in indexes:
                        _make_agree(txn, key, wanted)
                for intent in row.intents:
                    txn.delete(intent.key)

        return Write(shards, body, reads=self._tables.catalog.reads)

    def writes(self, row: _Row) -> Iterator[Write[Any]]:
        """A write for each entry that a row's intents name, unless its index was dropped."""
        reads = (*self._tables.catalog.reads, row.key)
        for number, key in row.entries():
            index = self._tables.by_id(number)
            if index is not None:
                end = key_value_end(key, ROW_PREFIX_BYTES, index.key_columns[0].type)
                body = partial(self._agree, row, index, key)
                yield Write((key[:end],), body, reads=reads)

    def _agree(self, row: _Row, index: Table, key: bytes, txn: Transaction) -> None:
        self._tables.current(index, txn)
        _make_agree(txn, key, row.wanted(txn))


def _make_agree(txn: Transaction, key: bytes, wanted: dict[bytes, bytes]) -> None:
    """Put the entry under `key` as in `wanted`, or remove it; with the segments of wide entries.

    The entry is written even if it is unchanged: then a body of another process that has read an
    older state of the row cannot be committed after this one.
    """
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
