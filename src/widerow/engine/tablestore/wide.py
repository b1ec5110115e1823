"""Reading wide rows, a page at a time (semantics §5.4).

A wide row has no bound, an answer has one. A page holds whole columns up to the bound, at least
one; where columns are left, `Resume` says which comes next and travels to the client and back as an
opaque token. Memory: one page and one segment, however wide the row is.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import final

from widerow.engine.budget import Budget, within
from widerow.engine.tablestore.select import ReadRule, column_selected, filter_passes, select_cells
from widerow.engine.tablestore.stored import (
    cells_named,
    key_section_of,
    named_columns,
    segments_from,
)
from widerow.keys.layout import segment_range
from widerow.model.tablestore.filter import columns_of
from widerow.model.tablestore.selection import Resume, Selection
from widerow.model.values import KeyValue
from widerow.rows.cells import Cell, cell_size
from widerow.rows.record import Header, join_row, join_segments
from widerow.storage.interface import Reader

__all__ = ["Selected", "is_present", "read_wide"]


@final
class Selected:
    """The part of a row that was read: its bytes (empty: filtered out, or no cell), counted size.

    `resume`: where the row goes on; None at its end.
    """

    __slots__ = ("resume", "row", "size")

    def __init__(self, row: bytes, size: int, resume: Resume | None = None) -> None:
        self.row = row
        self.size = size
        self.resume = resume


def read_wide(
    source: tuple[Reader, Budget | None],
    row: tuple[bytes, bytes, Header],
    values: Sequence[KeyValue],
    rule: ReadRule,
    resume: Resume | None,
    room: int,
) -> Selected | None:
    """One page of at most `room` bytes of a wide row (its key, record and header).

    None where the row has expired. Raises `TooLong` where the read exceeds the budget in `source`,
    if there is one.
    """
    key, record, header = row
    reader, budget = source
    section = key_section_of(record, header)
    fits = header.data_size <= room and resume is None
    fresh = header.versions_max <= rule.versions and header.oldest >= rule.live_from
    if rule.copies and fits and fresh:
        if budget is not None:
            budget.take(header.data_size, 0)
        wire = join_segments(section.encoded, section.crc, _records(reader, key))
        return Selected(wire, section.size + header.data_size)
    reader = within(reader, budget)
    if rule.entries:
        if header.latest_server < rule.live_from:
            return None
    elif not is_present(reader, key, header, rule.live_from):
        return None
    if not _filter_passes(reader, row, values, rule):
        return Selected(b"", section.size)
    cells, after = _page(_columns(reader, key, rule, resume), rule, resume, room)
    size = section.size + sum([cell_size(cell.wire) for cell in cells])
    if not cells and rule.names_columns:
        return Selected(b"", size)
    wire = join_row(section.encoded, section.crc, [cell.wire for cell in cells])
    return Selected(wire, size, after)


def is_present(reader: Reader, key: bytes, header: Header, live_from: int) -> bool:
    """Whether a wide row has not expired: it has no attributes, or one of them is alive.

    Reads segments only where the header's bound leaves it open, and stops at the first live cell.
    """
    if header.cell_count == 0 or header.oldest >= live_from:
        return True
    return any(
        cell.version >= live_from for segment in segments_from(reader, key, "") for cell in segment
    )


def _filter_passes(
    reader: Reader, row: tuple[bytes, bytes, Header], values: Sequence[KeyValue], rule: ReadRule
) -> bool:
    """Whether a row passes the filter. Reads the filter's columns, wherever pages are cut."""
    tree, selection = rule.selection.filter, rule.selection
    if tree is None:
        return True
    names = [name for name in columns_of(tree) if column_selected(name, selection)]
    return filter_passes(select_cells(cells_named(reader, *row, names), rule), values, rule)


def _columns(
    reader: Reader, key: bytes, rule: ReadRule, resume: Resume | None
) -> Iterator[list[Cell]]:
    """The selected columns from where the last page stopped, each with its visible cells."""
    selection = rule.selection
    first = _first_column(selection, resume)
    if selection.columns:
        names = sorted(name for name in selection.columns if name >= first)
        found = named_columns(reader, key, names)
    else:
        found = _columns_from(reader, key, first)
    for column in found:
        name = column[0].name
        if selection.end_column is not None and name >= selection.end_column:
            return
        if name >= first:
            visible = select_cells(column, rule)
            if visible:
                yield visible


def _records(reader: Reader, key: bytes) -> Iterator[bytes]:
    """The records of a wide row's segments in order."""
    for _, record in reader.scan(*segment_range(key)):
        yield record


def _columns_from(reader: Reader, key: bytes, column: str) -> Iterator[list[Cell]]:
    """The columns of the segments from the one that holds `column`; one segment is held."""
    for cells in segments_from(reader, key, column):  # no column is cut
        for _, group in groupby(cells, key=attrgetter("name")):
            yield list(group)


def _first_column(selection: Selection, resume: Resume | None) -> str:
    start = selection.start_column or ""
    return start if resume is None else max(start, resume.column)


def _page(
    columns: Iterator[list[Cell]], rule: ReadRule, resume: Resume | None, room: int
) -> tuple[list[Cell], Resume | None]:
    """The cells of one page, and where the next one begins."""
    cells: list[Cell] = []
    seen = 0 if resume is None else resume.seen
    offset, stop = _column_window(rule.selection)
    for column in columns:
        if stop is not None and seen >= stop:
            break
        if seen < offset:
            seen += 1
            continue
        size = sum([len(cell.wire) for cell in column])
        if cells and size > room:
            return cells, Resume(column[0].name, seen)
        cells += column
        room -= size
        seen += 1
    return cells, None


def _column_window(selection: Selection) -> tuple[int, int | None]:
    pagination = selection.pagination
    if pagination is None:
        return 0, None
    return pagination.offset, pagination.offset + pagination.limit
