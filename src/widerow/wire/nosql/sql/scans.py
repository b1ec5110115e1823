"""Reading the rows of ranges of a primary key or an index, in their order, from any place on."""

from collections.abc import Iterator, Sequence
from typing import final

from widerow.engine.budget import Budget
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_form import IndexForm
from widerow.engine.typed.index_late import EntryRow
from widerow.engine.typed.index_scan import scan_entry_rows
from widerow.engine.typed.index_selection import IndexSelection
from widerow.engine.typed.row_units import counted_kilobytes
from widerow.engine.typed.scan import MultiRowSelection
from widerow.engine.typed.stored import StoredRow
from widerow.wire.nosql.sql.key_ranges import ByteRange

__all__ = ["Scanned", "ranges_left", "row_kilobytes", "scan_entries", "scan_keys"]

PAGE_ROWS = 100


@final
class Scanned:
    """A row that a scan gives. `position`: its key, or the entry that led to it.

    `is_first`: it has not come before in the scan, by another entry.
    """

    __slots__ = ("is_first", "position", "row")

    def __init__(self, row: StoredRow, position: bytes, is_first: bool) -> None:  # noqa: FBT001  # one for each row
        self.row = row
        self.position = position
        self.is_first = is_first


def row_kilobytes(row: StoredRow) -> int:
    """The kilobytes that reading or writing a row counts, at least 1 (nosql-wire §4.1)."""
    return counted_kilobytes(len(row.record) + len(row.encoded_key))


def ranges_left(
    ranges: Sequence[ByteRange], position: bytes, *, inclusive: bool, reverse: bool
) -> list[ByteRange]:
    """The ranges in the order of the scan, without what stands in front of a position; b"": all."""
    if not position:
        return list(reversed(ranges)) if reverse else list(ranges)
    if reverse:
        stop = position + b"\x00" if inclusive else position
        cut = [ByteRange(start, min(end, stop)) for start, end in reversed(ranges)]
    else:
        first = position if inclusive else position + b"\x00"
        cut = [ByteRange(max(start, first), end) for start, end in ranges]
    return [each for each in cut if each.start < each.stop]


def scan_keys(
    engine: TypedEngine,
    form: TableForm,
    ranges: Sequence[ByteRange],
    *,
    reverse: bool,
    budget: Budget | None = None,
) -> Iterator[StoredRow]:
    """The rows of a table in ranges of keys, which are in the order of the scan.

    Raises `TooLong` where the records are more than `budget`.
    """
    for start, stop in ranges:
        if stop == start + b"\x00":  # no other key is between them
            row = engine.stored_row(form, start, budget)
            if row is not None:
                yield row
            continue
        part = MultiRowSelection(form, start, stop, 0, {form.id: form})
        yield from engine.scan_selection(part, PAGE_ROWS, reverse=reverse, budget=budget)


def scan_entries(
    engine: TypedEngine,
    form: TableForm,
    index: IndexForm,
    ranges: Sequence[ByteRange],
    *,
    reverse: bool,
) -> Iterator[EntryRow]:
    """The rows that entries of an index lead to; a row of several entries comes for each of them.

    Raises as `scan_entry_rows`.
    """
    for start, stop in ranges:
        part = IndexSelection(form, index, start, stop)
        yield from scan_entry_rows(engine.store, part, engine.now_hour, reverse=reverse)
