"""Deleting the rows of a partial key in one transaction (model §6)."""

from typing import NamedTuple

from widerow.engine.observer import Observers, RowEvent
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.scan import MultiRowSelection, scan_rows
from widerow.storage.interface import Transaction

__all__ = ["DeletedRows", "delete_selected"]


class DeletedRows(NamedTuple):
    """How many rows went, and what they took in the store: keys and records."""

    rows: int
    size: int


def delete_selected(
    txn: Transaction,
    shard: bytes,
    selection: MultiRowSelection,
    now_hour: int,
    observers: Observers[TableForm],
) -> DeletedRows:
    """Delete what `scan_rows` shows, all of it in one shard.

    Rows of child tables go only where they are included, rows of parents likewise. Cost: one read
    and one write for each row, and what observers do; memory: the rows.
    """
    rows = list(scan_rows(txn, selection, now_hour))
    forms = {form.table.id: form for form in (*selection.shown.values(), *selection.ancestors)}
    for row in rows:
        watch = observers.of(forms[row.table.id])
        if watch:
            watch.changed(txn, RowEvent(row.encoded_key, shard, row, None))
        txn.delete(row.encoded_key)
    return DeletedRows(len(rows), sum(len(row.encoded_key) + len(row.record) for row in rows))
