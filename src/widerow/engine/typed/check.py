"""Verifying typed tables: part of the walk of `engine/check.py`.

Verified: every record under a typed hierarchy is of a table that lies in it; its key decodes by the
form of that table and encodes to itself; its header is one; its values decode in the layout of
their schema, are values of the columns' types, and encode to the stored bytes.
"""

from collections.abc import Callable, Iterator

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.tables import TypedTables
from widerow.errors import InvalidRequest, StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import row_prefix
from widerow.limits import VALUE_DEPTH_MAX
from widerow.rows.typed import TYPED_HEADER_BYTES, typed_header
from widerow.storage.interface import Snapshot

__all__ = ["check_typed_rows", "typed_prefixes"]

PROGRESS_RECORDS = 1000


def typed_prefixes(tables: TypedTables) -> list[bytes]:
    """Where rows of typed tables may lie, dropped ones included."""
    numbers = {form.table.top for form in tables.all()}
    numbers |= {leftover.top or leftover.id for leftover in tables.leftovers()}
    return [row_prefix(number) for number in numbers]


def check_typed_rows(
    snapshot: Snapshot, tables: TypedTables, progress: Callable[[int], None]
) -> Iterator[tuple[str, str, str]]:
    """Table, key and problem of every record that is not as it must be."""
    dropped = {leftover.id for leftover in tables.leftovers()}
    for top in tables.all():
        if top.table.parent is not None:
            continue
        prefix = row_prefix(top.table.id)
        for count, (key, record) in enumerate(snapshot.scan(prefix, after_prefix(prefix)), 1):
            if count % PROGRESS_RECORDS == 0:
                progress(count)
            try:
                _check_record(tables, top, dropped, key, record)
            except (StoreDamaged, InvalidRequest, ArithmeticError, ValueError) as error:
                yield top.table.qualified, key.hex(), str(error)


def _check_record(
    tables: TypedTables, top: TableForm, dropped: set[int], key: bytes, record: bytes
) -> None:
    header = typed_header(record)
    if header.table_id in dropped:
        return
    form = tables.by_id(header.table_id)
    if form is None or form.table.top != top.table.id:
        raise StoreDamaged(f"a row of table {header.table_id}, which is not of this hierarchy")
    values = form.key.decode(key)
    if form.key.encode(values) != key:
        raise StoreDamaged("the key is not what its values encode to")
    row = StoredRow(form, key, record).values_in_order()
    for value, column in zip(row, form.columns, strict=True):
        if value is not None:
            column.coerce(value, column.type, column.name, VALUE_DEPTH_MAX)
        elif not column.nullable:
            raise StoreDamaged(f"column {column.name} is NULL and may not be")
    if header.schema == form.table.schema and form.values.pack(row) != record[TYPED_HEADER_BYTES:]:
        raise StoreDamaged("the row's bytes are not what its values encode to")
