"""Reading the rows of a selection in pages, each from a view of its own (model §6)."""

from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from widerow.engine.budget import Budget, within
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.scan import MultiRowSelection, scan_rows
from widerow.engine.typed.stored import StoredRow
from widerow.storage.interface import Reader, Store
from widerow.storage.read_anew import read_anew

__all__ = ["RowPages"]

T = TypeVar("T")


class RowPages:
    """Reads of several rows of typed tables. Any thread may call."""

    def __init__(
        self, store: Store, now_hour: Callable[[], int], note: Callable[[bytes, int], None]
    ) -> None:
        """`now_hour`: the hours since 1970. `note` counts a read of a shard, of so many bytes."""
        self._store = store
        self._now_hour = now_hour
        self._note = note

    def rows(
        self,
        selection: MultiRowSelection,
        batch_rows: int,
        *,
        reverse: bool,
        budget: Budget | None = None,
    ) -> Iterator[StoredRow]:
        """The rows in key order, in pages of `batch_rows`. Lazy. Memory: a page.

        Each record that is looked at takes a step of `budget`. Raises `TooLong`.
        """
        told = [b""] * len(selection.ancestors)
        left: MultiRowSelection | None = selection
        while left is not None:
            page, more = self._read(left, batch_rows, told, reverse, budget)
            self._note_page(left.target, page)
            yield from page
            # An ancestor stands before its target, so a page never ends with one.
            left = left.since(page[-1].encoded_key, reverse=reverse) if more else None

    def _read(
        self,
        selection: MultiRowSelection,
        batch_rows: int,
        told: list[bytes],
        reverse: bool,  # noqa: FBT001  # two callers
        budget: Budget | None,
    ) -> tuple[list[StoredRow], bool]:
        """The first `batch_rows` rows of a selection, and whether there may be more."""

        def read(reader: Reader) -> tuple[list[StoredRow], bool]:
            page: list[StoredRow] = []
            shown, now = selection.shown, self._now_hour()
            counted = within(reader, budget, _one_step)
            for row in scan_rows(counted, selection, now, reverse=reverse, told=told):
                page.append(row)
                if len(page) >= batch_rows and row.table.id in shown:
                    return page, True
            return page, False

        return self.briefly(selection, batch_rows, read)

    def briefly(self, selection: MultiRowSelection, rows: int, read: Callable[[Reader], T]) -> T:
        """Read from a brief snapshot, again if that was lost; `rows`: how many are wanted.

        Ancestors take reads of their own: a selection with ancestors gets a snapshot that lasts.
        """
        if selection.ancestors:
            return read(self._store.snapshot())
        return read_anew(lambda: read(self._store.brief_snapshot(rows)))

    def _note_page(self, form: TableForm, page: Sequence[StoredRow]) -> None:
        """Count the read of a whole page at the shard of its first row."""
        if page:
            size = 0
            for row in page:
                size += len(row.record)
            self._note(form.key.shard_of(page[0].encoded_key), size)


def _one_step(_record: bytes) -> int:
    return 1
