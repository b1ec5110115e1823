"""Kilobytes that a change of a row writes, as the vendor counts them (nosql-wire §4.2)."""

from collections.abc import Sequence

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.stored import StoredRow
from widerow.errors import InvalidRequest
from widerow.wire.nosql.sql.scans import row_kilobytes

__all__ = ["index_forms", "written_kb"]


def index_forms(form: TableForm) -> tuple[IndexForm, ...]:
    """The forms of a table's indexes."""
    return tuple(IndexForm(form.table, index) for index in form.table.indexes)


def written_kb(indexes: Sequence[IndexForm], old: StoredRow | None, new: StoredRow | None) -> int:
    """Kilobytes of the old row and the new one, and one for each index entry that changes."""
    kb = sum(row_kilobytes(row) for row in (old, new) if row is not None)
    for index in indexes:
        kb += len(_entries(index, old) ^ _entries(index, new))
    return kb


def _entries(index: IndexForm, row: StoredRow | None) -> set[bytes]:
    if row is None:
        return set()
    try:
        return set(index.entries(row))
    except InvalidRequest:  # a row from before the index, which cannot be indexed
        return set()
