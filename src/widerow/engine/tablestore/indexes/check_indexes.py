"""Checks secondary indexes in the walk of a store (`engine/check.py`), in both directions.

Verified: each row has, byte for byte, the entries that follow from it, where the index is ready and
complete; each entry follows from a row. Entries of a global index that an intent may still change
are not checked. Memory: one row.
"""

from collections.abc import Iterator
from functools import partial
from typing import final

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.check_part import CheckPart
from widerow.engine.intents import IntentKind, intents_between
from widerow.engine.tablestore.indexes.form import EntryForm, TableForms
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.engine.tablestore.observed import ObservedRow
from widerow.engine.tablestore.schema import row_key
from widerow.errors import StoreDamaged
from widerow.keys.decode import decode_key, key_value_end
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    ROW_PREFIX_BYTES,
    SPACE_INTENTS,
    local_index_prefix,
    row_prefix,
)
from widerow.model.tablestore.schema import Table
from widerow.rows.record import RecordKind, header_of
from widerow.storage.interface import Snapshot

__all__ = ["index_parts"]


def index_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:
    """The parts of a walk for tables with indexes: their rows and their entries."""
    dropped = frozenset(each.id for each in catalog.leftovers())
    tables = {table.id: table for table in Tables(catalog, TABLESTORE_MODEL).all()}
    for table in tables.values():
        if table.index_of:
            if table.index_of not in tables:
                raise StoreDamaged(f"the index {table.qualified} is of no table")
            continue
        walk = _Walk(TableForms(table, catalog.key_bytes_max), tables, snapshot, dropped)
        name, local = table.qualified, local_index_prefix(table.id)
        yield CheckPart(name, local, after_prefix(local), walk.local_entry)
        if not table.indexes:
            continue
        rows = row_prefix(table.id)
        yield CheckPart(name, rows, after_prefix(rows), walk.row)
        for form in walk.forms.forms:
            if not form.index.is_local:
                entries = row_prefix(form.index.id)
                visit = partial(walk.global_entry, form)
                yield CheckPart(name, entries, after_prefix(entries), visit)


@final
class _Walk:
    """One table during its comparison with its indexes."""

    __slots__ = ("_dropped", "_snapshot", "_table", "_tables", "forms")

    def __init__(
        self,
        forms: TableForms,
        tables: dict[int, Table],
        snapshot: Snapshot,
        dropped: frozenset[int],
    ) -> None:
        self._table = forms.table
        self._tables = tables
        self._snapshot = snapshot
        self._dropped = dropped
        self.forms = forms

    def row(self, key: bytes, record: bytes) -> None:
        """Check that a row has its entries. Raises `StoreDamaged`."""
        if header_of(record).kind == RecordKind.SEGMENT:
            return
        shard = self._shard(key)
        row = self.forms.row(ObservedRow(self._snapshot, key, record), shard)
        for form in self.forms.forms:
            index = form.index
            for place, wanted in form.entries(row).items():
                found = self._snapshot.get(place)
                missing = found is None and index.ready and index.complete
                differs = found is not None and found != wanted
                if (missing or differs) and not self._waits(form, shard):
                    what = "no entry" if missing else "another entry"
                    raise StoreDamaged(f"the index {index.name!r} has {what} for the row")

    def local_entry(self, key: bytes, record: bytes) -> None:
        """Check that an entry of a local index follows from a row. Raises `StoreDamaged`."""
        end = key_value_end(key, ROW_PREFIX_BYTES, self._table.key_columns[0].type)
        number = int.from_bytes(key[end : end + 4], "big")
        for form in self.forms.forms:
            if form.index.id == number:
                seen = row_prefix(number) + key[ROW_PREFIX_BYTES:end] + key[end + 4 :]
                self._entry(form, seen, (key, record))
                return
        if number not in self._dropped:
            raise StoreDamaged(f"an entry of the index {number}, which the table does not have")

    def global_entry(self, form: EntryForm, key: bytes, record: bytes) -> None:
        """Check that an entry of a global index follows from a row. Raises `StoreDamaged`."""
        self._entry(form, key, (key, record))

    def _entry(self, form: EntryForm, seen: bytes, stored: tuple[bytes, bytes]) -> None:
        key = self._row_of(form, seen)
        shard = self._shard(key)
        record = self._snapshot.get(key)
        entries: dict[bytes, bytes] = {}
        if record is not None:
            row = self.forms.row(ObservedRow(self._snapshot, key, record), shard)
            entries = form.entries(row)
        place, found = stored
        if entries.get(place) != found and not self._waits(form, shard):
            what = "of no row" if record is None else "that its row does not have"
            raise StoreDamaged(f"the index {form.index.name!r} has an entry {what}")

    def _row_of(self, form: EntryForm, seen: bytes) -> bytes:
        """The key of the row of an entry."""
        columns = self._tables[form.index.id].key_columns
        values, _ = decode_key(seen, ROW_PREFIX_BYTES, [column.type for column in columns])
        named = {column.name: value for column, value in zip(columns, values, strict=True)}
        return row_key(self._table, tuple(named[each.name] for each in self._table.key_columns))

    def _shard(self, key: bytes) -> bytes:
        return key[: key_value_end(key, ROW_PREFIX_BYTES, self._table.key_columns[0].type)]

    def _waits(self, form: EntryForm, shard: bytes) -> bool:
        """Whether an intent may still change entries of a shard in a global index."""
        prefix = SPACE_INTENTS + shard[1:]
        stop = after_prefix(prefix)
        found = intents_between(self._snapshot, prefix, stop, IntentKind.ENTRIES)
        return not form.index.is_local and next(found, None) is not None
