"""Creating and dropping secondary indexes, in steps that block nobody (model §11).

`begin_index` puts the index into the definition; from then on every write keeps it. `build_step`
indexes rows that were there before, each read again in a transaction of its own, and `finish_index`
lets the index answer. Every step may be repeated: after a crash the definition has the index, not
ready, and building it again goes through all rows once more.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from widerow.engine.index_builds import BuildStep, next_rows
from widerow.engine.plan import Plan, failing
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.index_keeper import IndexKeeper, agree_with_row
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.tables import TypedTables
from widerow.errors import Conflict, InvalidRequest, NotFound
from widerow.model.typed.index_paths import checked_index
from widerow.model.typed.names import folded, same_name
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import Index, IndexField, TypedTable
from widerow.rows.typed import typed_table_and_expiry
from widerow.storage.interface import Outcome, Store, Transaction, Write

__all__ = ["IndexedTables", "begin_index", "build_step", "drop_index", "finish_index"]


class IndexedTables(Protocol):
    """The part of `TypedEngine` that builds of indexes use."""

    store: Store
    tables: TypedTables
    keeper: IndexKeeper

    def change_table(
        self, form: TableForm, make: Callable[[TypedTable], TypedTable]
    ) -> Plan[TypedTable]:
        """Put what `make` makes of the newest definition."""
        ...


def begin_index(engine: IndexedTables, form: TableForm, index: Index) -> Plan[TypedTable]:
    """Put an index into a table's definition, not ready yet.

    An unready index of the same name and fields stays, to be built further. Raises:
    `InvalidRequest` for fields that cannot be indexed; its plan raises `Conflict` if the index
    exists.
    """
    checked_index(form.table, index)

    def make(newest: TypedTable) -> TypedTable:
        checked = replace(
            checked_index(newest, index), id=0, ready=False
        )  # the write gives it its number
        found = newest.index(index.name)
        if found is None:
            return replace(newest, indexes=(*newest.indexes, checked))
        if found.ready or _asked(found) != _asked(checked):
            raise Conflict(TypedRule.INDEX_EXISTS, index=index.name, table=newest.name)
        return newest

    return engine.change_table(form, make)


def _asked(index: Index) -> Index:
    """An index without what may differ where it is asked for again: number, case of its names."""
    fields = tuple(IndexField(field.path, field.type) for field in index.fields)
    return replace(index, id=0, name=folded(index.name), fields=fields)


def build_step(engine: IndexedTables, form: TableForm, name: str, start: bytes) -> BuildStep:
    """Write the index entries of the next rows, from key `start` on (b"": from the first row).

    Its plan raises `InvalidRequest` for a row that cannot be indexed, `NotFound` when the index was
    dropped meanwhile.
    """
    index = _index(form.table, name)
    made = IndexForm(form.table, index)
    rows, following = _next_rows(engine, form, start)
    if engine.keeper.deferred:
        writes = tuple(_writes_apart(engine, form, made, rows))
    else:
        body = partial(_put_entries, engine, form, made)
        reads = engine.tables.catalog.reads
        writes = tuple([Write((key, made.prefix), partial(body, key), reads=reads) for key in rows])
    return BuildStep(Plan(writes, _nothing_left), len(rows), following)


def _nothing_left(outcomes: Sequence[Outcome[None]]) -> int:
    """0: entries are written with the step. Raises the first error."""
    failing(outcomes)
    return 0


def _next_rows(
    engine: IndexedTables, form: TableForm, start: bytes
) -> tuple[list[bytes], bytes | None]:
    """Keys of the next rows of the table, between which rows of its hierarchy may lie."""
    first, stop = form.key.range()

    def is_row(record: bytes) -> bool:
        return typed_table_and_expiry(record)[0] == form.table.id

    return next_rows(engine.store.snapshot(), max(first, start), stop, is_row)


def _put_entries(
    engine: IndexedTables, form: TableForm, index: IndexForm, key: bytes, txn: Transaction
) -> None:
    current, index = _newest(engine, form, index, txn)
    record = txn.get(key)
    if record is None:
        return  # the row was deleted since the step was planned
    for entry, value in index.entries(StoredRow(current, key, record)).items():
        txn.put(entry, value)


def _newest(
    engine: IndexedTables, form: TableForm, index: IndexForm, txn: Transaction
) -> tuple[TableForm, IndexForm]:
    """The table and the index as they are now. Raises `NotFound`."""
    current = engine.tables.current(form, txn)
    if current is form:
        return form, index
    found = current.table.index(index.index.name)  # the table changed since the step was planned
    if found is None or found.id != index.index.id:
        raise _missing(form.table, index.index.name)
    return current, IndexForm(current.table, found)


def _writes_apart(
    engine: IndexedTables, form: TableForm, index: IndexForm, rows: Sequence[bytes]
) -> Iterator[Write[None]]:
    """The writes of a step where a transaction reaches entries or a row, and not both.

    Entries that a row has by now and had not when it was read are left to the intent of whoever
    changed it. A row that cannot be indexed is read again in its own shard.
    """
    reads = engine.tables.catalog.reads
    for key, record in zip(rows, engine.store.snapshot().get_many(rows), strict=True):
        if record is None:
            continue
        try:
            entries = sorted(index.entries(StoredRow(form, key, record)))
        except InvalidRequest:
            shard = form.key.shard_of(key)
            yield Write((shard,), partial(_check_entries, engine, form, index, key), reads=reads)
        else:
            body = partial(_agree, engine, form, index, key, entries)
            if entries:
                yield Write((index.prefix,), body, reads=(*reads, key))


def _check_entries(
    engine: IndexedTables, form: TableForm, index: IndexForm, key: bytes, txn: Transaction
) -> None:
    """Raise `InvalidRequest` if the row cannot be indexed as it is now."""
    current, index = _newest(engine, form, index, txn)
    record = txn.get(key)
    if record is not None:
        index.entries(StoredRow(current, key, record))


def _agree(
    engine: IndexedTables,
    form: TableForm,
    index: IndexForm,
    row_key: bytes,
    entries: Sequence[bytes],
    txn: Transaction,
) -> None:
    current, index = _newest(engine, form, index, txn)
    agree_with_row(txn, current, index, row_key, entries)


def finish_index(engine: IndexedTables, form: TableForm, name: str) -> Plan[TypedTable]:
    """Mark an index as ready, with every row in it. Its plan raises `NotFound` if it is gone."""
    return engine.change_table(form, _changing(name, lambda index: (replace(index, ready=True),)))


def drop_index(engine: IndexedTables, form: TableForm, name: str) -> Plan[TypedTable]:
    """Remove an index from the definition; housekeeping frees its space.

    Its plan raises `NotFound` if it is gone.
    """
    return engine.change_table(form, _changing(name, lambda _: ()))


def _changing(
    name: str, change: Callable[[Index], tuple[Index, ...]]
) -> Callable[[TypedTable], TypedTable]:
    def make(newest: TypedTable) -> TypedTable:
        _index(newest, name)
        indexes = tuple(
            kept
            for index in newest.indexes
            for kept in (change(index) if same_name(index.name, name) else (index,))
        )
        return replace(newest, indexes=indexes)

    return make


def _index(table: TypedTable, name: str) -> Index:
    index = table.index(name)
    if index is None:
        raise _missing(table, name)
    return index


def _missing(table: TypedTable, name: str) -> NotFound:
    return NotFound(TypedRule.INDEX_MISSING, index=name[:100], table=table.name)
