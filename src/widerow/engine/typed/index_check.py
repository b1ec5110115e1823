"""Verifying secondary indexes: part of the walk of `engine/check.py`.

Verified both ways: every row stands under each of its entries in every index that is ready, and
every entry is one that its row has. Of an index being built only the second.
"""

from collections.abc import Callable, Iterator
from typing import Final

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.stored import StoredRow
from widerow.engine.typed.tables import TypedTables
from widerow.errors import InvalidRequest, StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_INDEXES, index_prefix
from widerow.rows.typed import typed_table_and_expiry
from widerow.storage.interface import Snapshot

__all__ = ["check_indexes"]

PROGRESS_RECORDS: Final = 1000
Found = tuple[str, str, str]


def check_indexes(
    snapshot: Snapshot, tables: TypedTables, progress: Callable[[int], None]
) -> Iterator[Found]:
    """Table, key and problem of every entry that is missing, wrong or too many."""
    known = {leftover.id for leftover in tables.leftovers()}
    for form in tables.all():
        indexes = [IndexForm(form.table, index) for index in form.table.indexes]
        known |= {index.index.id for index in indexes}
        if indexes:
            yield from _check_rows(snapshot, form, indexes, progress)
        for index in indexes:
            yield from _check_entries(snapshot, form, index, progress)
    yield from _check_unknown(snapshot, known)


def _check_rows(
    snapshot: Snapshot, form: TableForm, indexes: list[IndexForm], progress: Callable[[int], None]
) -> Iterator[Found]:
    first, stop = form.key.range()
    ready = [index for index in indexes if index.index.ready]
    for count, (key, record) in enumerate(snapshot.scan(first, stop), 1):
        if count % PROGRESS_RECORDS == 0:
            progress(count)
        try:
            if typed_table_and_expiry(record)[0] == form.table.id:
                _check_row(snapshot, StoredRow(form, key, record), ready)
        except (StoreDamaged, InvalidRequest) as error:
            yield form.table.qualified, key.hex(), str(error)


def _check_row(snapshot: Snapshot, row: StoredRow, indexes: list[IndexForm]) -> None:
    for index in indexes:
        wanted = index.entries(row)
        if snapshot.get_many(list(wanted)) != list(wanted.values()):
            raise StoreDamaged(f"index {index.index.name} lacks the row's entry")


def _check_entries(
    snapshot: Snapshot, form: TableForm, index: IndexForm, progress: Callable[[int], None]
) -> Iterator[Found]:
    scanned = snapshot.scan(index.prefix, after_prefix(index.prefix))
    for count, (key, value) in enumerate(scanned, 1):
        if count % PROGRESS_RECORDS == 0:
            progress(count)
        try:
            row_key = index.decode(key).row_key
            record = snapshot.get(row_key)
            entries = {} if record is None else index.entries(StoredRow(form, row_key, record))
        except (StoreDamaged, InvalidRequest) as error:
            yield form.table.qualified, key.hex(), str(error)
            continue
        if entries.get(key) != value:
            problem = f"index {index.index.name} has an entry that its row does not have"
            yield form.table.qualified, key.hex(), problem


def _check_unknown(snapshot: Snapshot, known: set[int]) -> Iterator[Found]:
    """Entries of indexes that nobody knows; one finding for each number."""
    at, stop = SPACE_INDEXES, after_prefix(SPACE_INDEXES)
    while at < stop:
        found = next(iter(snapshot.scan(at, stop)), None)
        if found is None:
            return
        number = int.from_bytes(found[0][1:5], "big")
        if number not in known:
            yield "", found[0].hex(), f"entries of index {number}, which no table has"
        at = after_prefix(index_prefix(number))
