"""Typed tables in the walk of a store (`engine/check.py`): rows, index entries, sequences.

Verified: every record under a typed hierarchy is of a table that lies in it; its key decodes by the
form of that table and encodes to itself; its header is one; its values decode in the layout of
their schema, are values of the columns' types, and encode to the stored bytes; it stands under each
of its entries in every index of its table that is ready. And every entry is one that its row has.
Entries that an intent may still change are not checked. Intents can be decoded.
"""

from collections.abc import Iterator
from functools import partial

from widerow.engine.catalog.catalog import Catalog
from widerow.engine.check_part import CheckPart
from widerow.engine.entry_intents import decode_entry_intent, entry_intents
from widerow.engine.intents import IntentKind, decode_intent
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.plans import check_plan
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.tables import TypedTables
from widerow.errors import StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    PLAN_PREFIX,
    SPACE_INTENTS,
    intent_prefix,
    row_prefix,
    sequence_prefix,
)
from widerow.limits import VALUE_DEPTH_MAX
from widerow.rows.typed import TYPED_HEADER_BYTES, typed_header
from widerow.storage.interface import Snapshot

__all__ = ["typed_parts"]


def typed_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:
    """What a walk visits: plans, rows by hierarchies, then each table's indexes and sequence."""
    yield CheckPart("", PLAN_PREFIX, after_prefix(PLAN_PREFIX), check_plan)
    tables = TypedTables(catalog)
    forms = tables.all()
    indexes = {
        form.id: [IndexForm(form.table, index) for index in form.table.indexes] for form in forms
    }
    walk = _HierarchyWalk(tables, snapshot, indexes)
    for form in forms:
        name = form.table.qualified
        if form.table.parent is None:
            rows = row_prefix(form.id)
            yield CheckPart(name, rows, after_prefix(rows), partial(walk.visit, form))
            intents = intent_prefix(form.id)
            yield CheckPart(name, intents, after_prefix(intents), _check_intent)
        for index in indexes[form.id]:
            visit = partial(_check_entry, snapshot, form, index)
            yield CheckPart(name, index.prefix, after_prefix(index.prefix), visit)
        sequence = sequence_prefix(form.id)
        yield CheckPart(name, sequence, after_prefix(sequence), partial(_check_sequence, form))


class _HierarchyWalk:
    """Checks the rows of one hierarchy after the other."""

    def __init__(
        self, tables: TypedTables, snapshot: Snapshot, indexes: dict[int, list[IndexForm]]
    ) -> None:
        self._tables = tables
        self._snapshot = snapshot
        self._dropped = {leftover.id for leftover in tables.leftovers()}
        self._ready = {
            table_id: [each for each in found if each.index.ready]
            for table_id, found in indexes.items()
        }

    def visit(self, top: TableForm, key: bytes, record: bytes) -> None:
        """Check a row of any table of the hierarchy.

        Raises: `StoreDamaged`, or the error of decoding its key or values.
        """
        header = typed_header(record)
        if header.table_id in self._dropped:
            return
        form = self._tables.by_id(header.table_id)
        if form is None or form.table.top != top.table.id:
            raise StoreDamaged(f"a row of table {header.table_id}, which is not of this hierarchy")
        values = form.key.decode(key)
        if form.key.encode(values) != key:
            raise StoreDamaged("the key is not what its values encode to")
        row = StoredRow(form, key, record)
        _check_values(form, row, header.schema)
        for index in self._ready[form.id]:
            wanted = index.entries(row)
            found = self._snapshot.get_many(list(wanted))
            if found != list(wanted.values()) and not _waits(self._snapshot, form, key):
                raise StoreDamaged(f"index {index.index.name} lacks the row's entry")


def _check_values(form: TableForm, row: StoredRow, schema: int) -> None:
    values = row.values_in_order()
    for value, column in zip(values, form.columns, strict=True):
        if value is not None:
            column.coerce(value, column.type, column.name, VALUE_DEPTH_MAX)
        elif not column.nullable:
            raise StoreDamaged(f"column {column.name} is NULL and may not be")
    if schema == form.table.schema and form.values.pack(values) != row.record[TYPED_HEADER_BYTES:]:
        raise StoreDamaged("the row's bytes are not what its values encode to")


def _check_entry(
    snapshot: Snapshot, form: TableForm, index: IndexForm, key: bytes, value: bytes
) -> None:
    row_key = index.decode(key).row_key
    record = snapshot.get(row_key)
    entries = {} if record is None else index.entries(StoredRow(form, row_key, record))
    if entries.get(key) != value and not _waits(snapshot, form, row_key):
        raise StoreDamaged(f"index {index.index.name} has an entry that its row does not have")


def _waits(snapshot: Snapshot, form: TableForm, row_key: bytes) -> bool:
    """Whether an intent may still change entries of rows of the shard."""
    prefix = SPACE_INTENTS + form.key.shard_of(row_key)[1:]
    return next(entry_intents(snapshot, prefix, IntentKind.INDEX_SPACE_ENTRIES), None) is not None


def _check_intent(key: bytes, record: bytes) -> None:
    decode_entry_intent(decode_intent(key, record))


def _check_sequence(form: TableForm, key: bytes, record: bytes) -> None:
    if key != sequence_prefix(form.id) or not record.lstrip(b"-").isdigit():
        raise StoreDamaged("the table's sequence is not a number")
