"""Reading a row from its record (semantics §5.1-5.4).

Where nothing but max_versions could hide a cell the record's header decides, and the stored bytes
are the answer. Otherwise the cells are split and `select.py` selects them. A row without a selected
cell is answered with its key alone, unless columns were asked for by name: then the row is left out
(semantics §5.2). Rows that are cut into segments and do not fit one answer are read by `wide.py`, a
page at a time.
"""

from collections.abc import Sequence

from widerow.engine.budget import Budget
from widerow.engine.capacity import units
from widerow.engine.tablestore.select import (
    ReadRule,
    column_selected,
    filter_passes,
    paginate,
    select_cells,
)
from widerow.engine.tablestore.stored import key_section_of, row_cells
from widerow.engine.tablestore.wide import Selected, read_wide
from widerow.limits import ROW_PAGE_BYTES_MAX
from widerow.model.tablestore.answers import RowRead
from widerow.model.tablestore.selection import Resume
from widerow.model.values import KeyValue
from widerow.rows.cells import cell_size
from widerow.rows.record import HEADER_BYTES, Header, RecordKind, header_of, join_row
from widerow.storage.interface import Reader

__all__ = ["ABSENT", "is_copied", "read_record", "read_row"]

ABSENT = RowRead(b"", 1)


def read_row(
    reader: Reader,
    key: bytes,
    values: Sequence[KeyValue],
    rule: ReadRule,
    resume: Resume | None = None,
    budget: Budget | None = None,
) -> RowRead:
    """One row by its key; `ABSENT` where there is no row, or no cell of it was selected.

    Raises `TooLong` where the read exceeds `budget`, if there is one.
    """
    record = reader.get(key)
    if record is None:
        return ABSENT
    read = read_record((reader, budget), (key, record), values, rule, resume)
    return ABSENT if read is None else RowRead(read.row, units(read.size), read.resume)


def is_copied(header: Header, rule: ReadRule) -> bool:
    """Whether a stored row may be answered as it is. Constant time."""
    return (
        rule.copies
        and header.kind == RecordKind.ROW
        and header.versions_max <= rule.versions
        and header.oldest >= rule.live_from
    )


def read_record(
    source: tuple[Reader, Budget | None],
    stored: tuple[bytes, bytes],
    values: Sequence[KeyValue],
    rule: ReadRule,
    resume: Resume | None = None,
    room: int = ROW_PAGE_BYTES_MAX,
) -> Selected | None:
    """What `rule` selects of a stored row, or None where the row has expired.

    `source`: what wide rows are read from, and within which budget; the caller has taken the record
    itself from it. `stored`: the row's key and record. `resume`: where the page before stopped, and
    `room`: bytes of cells in this one, for wide rows.
    """
    key, record = stored
    header = header_of(record)
    if is_copied(header, rule) and resume is None:
        return Selected(record[HEADER_BYTES:], header.key_size + header.data_size)
    if header.kind == RecordKind.WIDE:
        return read_wide(source, (key, record, header), values, rule, resume, room)
    return _read_selected(record, header, values, rule, resume)


def _read_selected(
    record: bytes,
    header: Header,
    values: Sequence[KeyValue],
    rule: ReadRule,
    resume: Resume | None,
) -> Selected | None:
    every = row_cells(record, header)
    if rule.entries:
        if header.latest_server < rule.live_from:
            return None
    elif every and all(cell.version < rule.live_from for cell in every):
        return None
    selection, section = rule.selection, key_section_of(record, header)
    first = "" if resume is None else resume.column
    cells = select_cells(
        [c for c in every if c.name >= first and column_selected(c.name, selection)], rule
    )
    size = section.size + sum([cell_size(cell.wire) for cell in cells])
    if selection.filter is not None and not filter_passes(cells, values, rule):
        return Selected(b"", size)
    if selection.pagination is not None:
        cells = paginate(cells, selection.pagination)
    if not cells and rule.names_columns:
        return Selected(b"", size)
    return Selected(join_row(section.encoded, section.crc, [cell.wire for cell in cells]), size)
