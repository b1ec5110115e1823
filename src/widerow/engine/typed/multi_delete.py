"""Deleting the rows of a partial key in one transaction (model §6)."""

from typing import NamedTuple

from widerow.engine.observer import Observers, RowEvent
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.row_units import counted_kilobytes
from widerow.engine.typed.scan import MultiRowSelection, scan_rows
from widerow.safepoint import safepoint
from widerow.storage.interface import Transaction

__all__ = ["DeletedRows", "delete_selected"]


class DeletedRows(NamedTuple):
    """The number of rows deleted, and the bytes of their keys and records.

    `kilobytes`: the begun kilobytes of each row, added up. `last`: the key of the last row where
    the bound of kilobytes ended the work, else empty.
    """

    rows: int
    size: int
    kilobytes: int = 0
    last: bytes = b""


def delete_selected(
    txn: Transaction,
    shard: bytes,
    selection: MultiRowSelection,
    now_hour: int,
    observers: Observers[TableForm],
    kilobytes_max: int = 0,
) -> DeletedRows:
    """Delete the rows that `scan_rows` finds, which are all of one shard.

    Rows of child and parent tables are deleted only where the selection includes their tables.
    With `kilobytes_max` it ends behind the row that reaches so many begun kilobytes.
    Cost: one read and one write for each row, and the work of observers; memory: all the rows.
    """
    rows = []
    size = kilobytes = 0
    for row in scan_rows(txn, selection, now_hour):
        rows.append(row)
        length = len(row.encoded_key) + len(row.record)
        size += length
        kilobytes += counted_kilobytes(length)
        if 0 < kilobytes_max <= kilobytes:
            break
    ended = 0 < kilobytes_max <= kilobytes
    forms = (*selection.shown.values(), *selection.ancestors)
    watches = {form.id: observers.of(form) for form in forms}
    is_watched = any(watches.values())
    for row in rows:
        safepoint()
        watch = watches[row.table.id] if is_watched else None
        if watch:
            watch.changed(txn, RowEvent(row.encoded_key, shard, row, None))
        txn.delete(row.encoded_key)
    return DeletedRows(len(rows), size, kilobytes, rows[-1].encoded_key if ended else b"")
