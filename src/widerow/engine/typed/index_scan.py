"""Rows and keys in the order of a secondary index (model §11).

Entries sort by the indexed values, then by primary key. A row that stands under several entries,
for the members of an array or map, is found once for each, as with the vendor.
"""

from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from widerow.engine.typed.index_late import EntryRow, late_entry_rows
from widerow.engine.typed.index_selection import IndexSelection
from widerow.engine.typed.stored import Key, StoredRow
from widerow.errors import StoreDamaged
from widerow.model.typed.values import TypedValue
from widerow.storage.interface import Snapshot, Store

__all__ = ["IndexKey", "scan_entry_rows", "scan_index_keys"]

ENTRIES_PAGE: Final = 100  # entries of one page, which is read from one view with its rows


class IndexKey(NamedTuple):
    """An entry of an index: the indexed values by their paths, and the row's primary key."""

    values: dict[str, TypedValue]
    primary: Key


def scan_entry_rows(
    store: Store, selection: IndexSelection, now_hour: Callable[[], int], *, reverse: bool
) -> Iterator[EntryRow]:
    """The rows of a selection, in pages that are each read from one view. Lazy; bounded memory.

    What was answered before is found, also where entries follow their rows by intents. Raises
    `StoreDamaged` for an entry without its row, `Exhausted` where too many intents wait.
    """
    if not store.capabilities.atomic_across_shards:
        yield from late_entry_rows(store, selection, now_hour, ENTRIES_PAGE, reverse=reverse)
        return
    for snapshot, keys in _index_pages(store.snapshot, selection, now_hour, reverse=reverse):
        rows = [selection.index.decode(key).row_key for key in keys]
        for entry, row_key, record in zip(keys, rows, snapshot.get_many(rows), strict=True):
            if record is None:
                raise StoreDamaged(f"an index entry without its row: {row_key.hex()}")
            yield EntryRow(entry, StoredRow(selection.table, row_key, record))


def scan_index_keys(
    store: Store, selection: IndexSelection, now_hour: Callable[[], int], *, reverse: bool
) -> Iterator[IndexKey]:
    """The indexed values and primary keys of what `scan_entry_rows` returns.

    Reads no row, except where entries follow their rows by intents.
    """
    names = [path.text for path in selection.index.paths]
    for key in _entries(store, selection, now_hour, reverse=reverse):
        entry = selection.index.decode(key)
        values = dict(zip(names, entry.values, strict=True))
        yield IndexKey(values, Key(selection.table, entry.row_key))


def _entries(
    store: Store, selection: IndexSelection, now_hour: Callable[[], int], *, reverse: bool
) -> Iterator[bytes]:
    if not store.capabilities.atomic_across_shards:
        found = late_entry_rows(store, selection, now_hour, ENTRIES_PAGE, reverse=reverse)
        for each in found:
            yield each.entry
        return
    for _, keys in _index_pages(store.snapshot, selection, now_hour, reverse=reverse):
        yield from keys


def _index_pages(
    view: Callable[[], Snapshot],
    selection: IndexSelection,
    now_hour: Callable[[], int],
    *,
    reverse: bool,
) -> Iterator[tuple[Snapshot, list[bytes]]]:
    """Keys of the selected entries whose rows have not expired, in pages, each from one view."""
    left: IndexSelection | None = selection
    while left is not None:
        snapshot, now = view(), now_hour()
        keys: list[bytes] = []
        read, last = 0, b""
        for key, value in snapshot.scan(left.start, left.stop, reverse=reverse):
            read, last = read + 1, key
            expiry_hour = int.from_bytes(value, "big")
            if not 0 < expiry_hour <= now:
                keys.append(key)
            if read == ENTRIES_PAGE:
                break
        yield snapshot, keys
        full = read == ENTRIES_PAGE
        left = left.behind(left.up_to(last, reverse=reverse), reverse=reverse) if full else None
