"""The indexes of Tablestore's tables for builds (change §A6, `engine/index_builds.py`)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import final

from widerow.clock import Clock
from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.entry_intents import decode_entry_intent
from widerow.engine.index_builds import STEP_RECORDS, BuildStep, Unready, next_rows
from widerow.engine.intents import IntentKind, decode_intent
from widerow.engine.plan import Plan, failing
from widerow.engine.tablestore.indexes.index_definitions import remove_index
from widerow.engine.tablestore.indexes.keeper import SecondaryIndexKeeper
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.engine.tablestore.observed import ObservedRow
from widerow.errors import NotFound, Rule
from widerow.keys.decode import key_value_end
from widerow.keys.encode import after_prefix
from widerow.keys.layout import ROW_PREFIX_BYTES, intent_prefix, row_prefix
from widerow.model.tablestore.schema import SecondaryIndex, Table
from widerow.rows.record import RecordKind, header_of
from widerow.storage.interface import Outcome, Store, Transaction, Write

__all__ = ["TablestoreBuilds"]


@final
class TablestoreBuilds:
    """The `BuildSource` of Tablestore's tables.

    A build begins `lag_us` microseconds after its index was created, and not before every write
    that used an older catalogue has ended (`Nodes.settled`).
    """

    def __init__(
        self,
        store: Store,
        tables: Tables[Table],
        clock: Clock,
        keeper: SecondaryIndexKeeper,
        settled: Callable[[int], bool],
    ) -> None:
        """The indexes of `tables`, whose entries `keeper` makes. `settled`: see `Nodes.settled`."""
        self.lag_us = 0
        self._store = store
        self._tables = tables
        self._clock = clock
        self._keeper = keeper
        self._settled = settled

    def epoch(self) -> int:
        """The epoch of the catalogue."""
        return self._tables.catalog.seen().epoch

    def unready(self) -> list[tuple[Table, Unready]]:
        """Tables with each index that is not ready."""
        return [
            (table, Unready(index.id, index.name, table.qualified))
            for table in self._tables.all()
            for index in table.indexes
            if not index.ready
        ]

    def is_due(self, table: Table, index: Unready) -> bool:  # noqa: ARG002  # as the protocol has it
        """Whether the index has waited for `lag_us` and for writes that used an older catalogue."""
        entry = self._tables.by_id(index.id)
        return entry is not None and self._is_old(entry)

    def _is_old(self, entry: Table) -> bool:
        is_old = self._clock.now_us() >= entry.created_us + self.lag_us
        return is_old and self._settled(entry.created_us)

    def index_id(self, table: Table, name: str) -> int:
        """The number of an index by its name; 0 where the table has none."""
        return next((index.id for index in table.indexes if index.name == name), 0)

    def current(self, table: Table) -> Table:
        """The table as it is now. Raises `NotFound`."""
        return self._tables.current(table)

    def build_step(self, table: Table, name: str, start: bytes) -> BuildStep:
        """The entries of the next rows from key `start` on. Raises `NotFound`."""
        index = _named(table, name)
        prefix = row_prefix(table.id)
        reader = self._store.snapshot()
        rows, following = next_rows(reader, max(prefix, start), after_prefix(prefix), _is_row)
        writes = tuple(self._write(table, index, key) for key in rows)
        return BuildStep(Plan(writes, _newest), len(rows), following)

    def _write(self, table: Table, index: SecondaryIndex, key: bytes) -> Write[int]:
        shard = key[: key_value_end(key, ROW_PREFIX_BYTES, table.key_columns[0].type)]
        beside = [bytes((space,)) + shard[1:] for space in self._keeper.spaces(table)]
        shards = (shard, *beside, *self._keeper.shards(table))
        body = partial(self._add, table, index, (key, shard))
        return Write(shards, body, reads=self._tables.catalog.reads)

    def _add(
        self, table: Table, index: SecondaryIndex, row: tuple[bytes, bytes], txn: Transaction
    ) -> int:
        """Put the entry of a row as it is now; no entry where the row was deleted meanwhile.

        Returns the same as `SecondaryIndexKeeper.add`.
        """
        current = self._tables.current(table, txn)
        key, shard = row
        found = _named(current, index.name)
        if found.id != index.id:
            raise _missing(table, index.name)
        record = txn.get(key)
        if record is None:
            return 0
        return self._keeper.add(txn, current, found, (ObservedRow(txn, key, record), shard))

    def unsettled(self, table: Table, index: Unready, mark: int, start: bytes) -> bytes | None:
        """Where to look next for an intent of the index that was left up to time `mark`.

        The position is that of the first such intent, or the end of the records that one call
        reads. A removed intent never comes back, and new intents have times above the mark.
        """
        prefix = intent_prefix(table.id)
        found = self._store.snapshot().scan(max(start, prefix), after_prefix(prefix))
        for count, (key, value) in enumerate(found):
            if count == STEP_RECORDS:
                return key
            if value[0] != IntentKind.ENTRIES:
                continue
            each = decode_entry_intent(decode_intent(key, value))
            if each.intent.time_us <= mark and index.id in dict(each.entries):
                return key
        return None

    def finish(self, table: Table, name: str) -> Plan[None]:
        """Let an index answer queries. Its plan raises `NotFound` if the index was dropped."""

        def make(draft: Draft) -> None:
            newest = draft.current(TABLESTORE_MODEL, table)
            _named(newest, name)
            indexes = tuple(
                replace(each, ready=True) if each.name == name else each for each in newest.indexes
            )
            draft.put(TABLESTORE_MODEL, replace(newest, indexes=indexes))

        return Plan((self._tables.catalog.change(make),), failing)

    def drop(self, table: Table, name: str) -> Plan[None]:
        """Remove an index. Its plan raises `NotFound` if the index was dropped."""

        def make(draft: Draft) -> None:
            remove_index(draft, draft.current(TABLESTORE_MODEL, table), name)

        due_us = self._tables.catalog.due_us(self._clock.now_us())
        return Plan((self._tables.catalog.change(make, due_us=due_us),), failing)


def _newest(outcomes: Sequence[Outcome[int]]) -> int:
    """The largest result; 0 without results. Raises the first error."""
    failing(outcomes)
    return max([outcome.result or 0 for outcome in outcomes], default=0)


def _is_row(record: bytes) -> bool:
    return header_of(record).kind != RecordKind.SEGMENT


def _named(table: Table, name: str) -> SecondaryIndex:
    for index in table.indexes:
        if index.name == name:
            return index
    raise _missing(table, name)


def _missing(table: Table, name: str) -> NotFound:
    return NotFound(Rule.TABLE_NOT_FOUND, instance=table.instance, table=name)
