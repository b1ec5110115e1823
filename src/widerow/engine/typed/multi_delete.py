"""Deleting the rows of a partial key in one transaction (model §6)."""

from widerow.engine.typed.observer import RowObserver
from widerow.engine.typed.scan import Selection, scan_rows
from widerow.storage.interface import Transaction

__all__ = ["delete_selected"]


def delete_selected(
    txn: Transaction, selection: Selection, now_hour: int, observer: RowObserver | None
) -> int:
    """Delete what `scan_rows` shows; how many rows that were.

    Rows of child tables go only where they are included, rows of parents likewise. Cost: one read
    and one write for each row, and its index entries; memory: the rows.
    """
    rows = list(scan_rows(txn, selection, now_hour))
    forms = {form.table.id: form for form in (*selection.shown.values(), *selection.ancestors)}
    for row in rows:
        if observer is not None and row.table.indexes:
            observer.changed(txn, forms[row.table.id], row.encoded_key, (row, None))
        txn.delete(row.encoded_key)
    return len(rows)
