"""Deleting the rows of a partial key in one transaction (model §6)."""

from typing import NamedTuple

from widerow.engine.observer import Observers, RowEvent
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.scan import MultiRowSelection, scan_rows
from widerow.storage.interface import Transaction

__all__ = ["DeletedRows", "delete_selected"]


class DeletedRows(NamedTuple):
    """The number of rows deleted, and the bytes of their keys and records."""

    rows: int
    size: int


def delete_selected(
    txn: Transaction,
    shard: bytes,
    selection: MultiRowSelection,
    now_hour: int,
    observers: Observers[TableForm],
) -> DeletedRows:
    """Delete the rows that `scan_rows` finds, which are all of one shard.

    Rows of child and parent tables are deleted only where the selection includes their tables.
    Cost: one read and one write for each row, and the work of observers; memory: all the rows.
    """
    rows = list(scan_rows(txn, selection, now_hour))
    forms = {form.table.id: form for form in (*selection.shown.values(), *selection.ancestors)}
    for row in rows:
        watch = observers.of(forms[row.table.id])
        if watch:
            watch.changed(txn, RowEvent(row.encoded_key, shard, row, None))
        txn.delete(row.encoded_key)
    return DeletedRows(len(rows), sum(len(row.encoded_key) + len(row.record) for row in rows))
