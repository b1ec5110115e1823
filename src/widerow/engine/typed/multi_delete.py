"""Deleting the rows of a partial key in one transaction (model §6)."""

from typing import NamedTuple

from widerow.engine.typed.observer import RowObserver
from widerow.engine.typed.scan import Selection, scan_rows
from widerow.storage.interface import Transaction

__all__ = ["Deleted", "delete_selected"]


class Deleted(NamedTuple):
    """How many rows went, and what they took in the store: keys and records."""

    rows: int
    size: int


def delete_selected(
    txn: Transaction, selection: Selection, now_hour: int, observer: RowObserver | None
) -> Deleted:
    """Delete what `scan_rows` shows.

    Rows of child tables go only where they are included, rows of parents likewise. Cost: one read
    and one write for each row, and its index entries; memory: the rows.
    """
    rows = list(scan_rows(txn, selection, now_hour))
    forms = {form.table.id: form for form in (*selection.shown.values(), *selection.ancestors)}
    for row in rows:
        if observer is not None and row.table.indexes:
            observer.changed(txn, forms[row.table.id], row.encoded_key, (row, None))
        txn.delete(row.encoded_key)
    return Deleted(len(rows), sum(len(row.encoded_key) + len(row.record) for row in rows))
