"""Rows in the order of an index whose entries follow their rows by intents.

Where the transaction of a row does not reach its entries, a page of an index is read so:

1.  The rows whose intents name the index are read: their entries may be old.
2.  After that a view is taken, and the page's entries are read from it, and from the same view the
    rows that these entries name, and those of step 1.
3.  The page is what these rows have in its range, worked out from the rows. The entries have only
    said which rows to look at.

So a page has every row as it was at one moment after the page began, which is what a write that was
answered before asks for. A row without an intent in step 1 has exactly the entries that it should
have; what an entry was changed for after that, was changed while the page was read.
"""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Final, NamedTuple

from widerow.engine.entry_intents import decode_entry_intent
from widerow.engine.intents import IntentKind, decode_intent
from widerow.engine.typed.index_keeper import lenient_entries
from widerow.engine.typed.index_selection import IndexSelection
from widerow.engine.typed.stored import StoredRow
from widerow.errors import Exhausted
from widerow.keys.encode import after_prefix
from widerow.keys.layout import intent_prefix
from widerow.limits import INDEX_INTENTS_MAX, REMOTE_PAGE_ROWS_MAX
from widerow.model.typed.rules import TypedRule
from widerow.rows.typed import typed_table_and_expiry
from widerow.storage.interface import Snapshot, Store
from widerow.storage.read_anew import read_anew

__all__ = ["EntryRow", "late_entry_rows", "waiting_rows"]

_ROWS_TOGETHER: Final = 100  # read by one round trip
_PAGE_MAX: Final = 1000  # entries of one page, where many rows have to be looked at for it


class EntryRow(NamedTuple):
    """An entry of an index, by its key, and the row that it leads to."""

    entry: bytes
    row: StoredRow


def late_entry_rows(
    store: Store,
    selection: IndexSelection,
    now_hour: Callable[[], int],
    page_entries: int,
    *,
    reverse: bool,
) -> Iterator[EntryRow]:
    """The rows of a selection in the order of their entries, in pages. Lazy.

    Raises `Exhausted` where more than `INDEX_INTENTS_MAX` changes wait for the indexes of the
    table. Cost of a page: a read of the intents, and of the rows that have some; it has as many
    entries as there are such rows, but at least `page_entries` and at most 1000.
    """
    left: IndexSelection | None = selection
    while left is not None:
        waiting = waiting_rows(store, left)
        most = max(page_entries, min(len(waiting), _PAGE_MAX))
        page = _Page(left, now_hour(), most, reverse=reverse)
        page.read(store.snapshot(), waiting)
        yield from page.rows()
        left = left.behind(page.part, reverse=reverse)


def waiting_rows(store: Store, selection: IndexSelection) -> list[bytes]:
    """The keys of the rows that have an intent for the index. Raises `Exhausted`."""
    prefix, number = intent_prefix(selection.table.table.top), selection.index.index.id
    start, stop = prefix, after_prefix(prefix)
    rows: dict[bytes, None] = {}
    read = 0
    while True:
        pairs = read_anew(partial(_intents_page, store, start, stop))
        for key, value in pairs:
            if value[0] == IntentKind.INDEX_SPACE_ENTRIES:
                intent = decode_entry_intent(decode_intent(key, value))
                if any(index == number for index, _ in intent.entries):
                    rows[intent.row] = None
        if len(pairs) < REMOTE_PAGE_ROWS_MAX:
            return list(rows)
        read += len(pairs)
        if read > INDEX_INTENTS_MAX:
            table, limit = selection.table.table.qualified, INDEX_INTENTS_MAX
            name = selection.index.index.name
            raise Exhausted(TypedRule.INDEX_BEHIND, index=name, table=table, limit=limit)
        start = pairs[-1][0] + b"\x00"


def _intents_page(store: Store, start: bytes, stop: bytes) -> list[tuple[bytes, bytes]]:
    view = store.brief_snapshot(REMOTE_PAGE_ROWS_MAX)
    return list(islice(view.scan(start, stop), REMOTE_PAGE_ROWS_MAX))


class _Page:
    """A page while it is read. `part`: the range of entries that it has all rows of."""

    def __init__(
        self, selection: IndexSelection, now_hour: int, most: int, *, reverse: bool
    ) -> None:
        self.part = selection
        self._now_hour = now_hour
        self._most = most
        self._reverse = reverse
        self._found: dict[bytes, StoredRow] = {}

    def rows(self) -> Iterator[EntryRow]:
        """The rows in the order of the scan."""
        for entry in sorted(self._found, reverse=self._reverse):
            yield EntryRow(entry, self._found[entry])

    def read(self, view: Snapshot, waiting: list[bytes]) -> None:
        """Find the rows of the page from a view that was taken after `waiting` was read."""
        index, reverse = self.part.index, self._reverse
        found = view.scan(self.part.start, self.part.stop, reverse=reverse)
        entries = [key for key, _ in islice(found, self._most)]
        if len(entries) == self._most:
            self.part = self.part.up_to(entries[-1], reverse=reverse)
        named = [index.decode(key).row_key for key in entries]
        keys = list(dict.fromkeys([*named, *waiting]))
        for first in range(0, len(keys), _ROWS_TOGETHER):
            some = keys[first : first + _ROWS_TOGETHER]
            for key, record in zip(some, view.get_many(some), strict=True):
                if record is not None:
                    self._take(key, record)
            if len(self._found) > 2 * self._most:
                self._shorten()

    def _take(self, key: bytes, record: bytes) -> None:
        """Take a row for each of its entries in the part that has not expired."""
        table_id, hour = typed_table_and_expiry(record)
        if table_id != self.part.table.id or 0 < hour <= self._now_hour:
            return
        row = StoredRow(self.part.table, key, record)
        for entry in lenient_entries(self.part.index, row):
            if self.part.start <= entry < self.part.stop:
                self._found[entry] = row

    def _shorten(self) -> None:
        """Keep the first entries and leave the others to the next page."""
        kept = sorted(self._found, reverse=self._reverse)[: self._most]
        self._found = {entry: self._found[entry] for entry in kept}
        self.part = self.part.up_to(kept[-1], reverse=self._reverse)
