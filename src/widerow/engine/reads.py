"""Point reads: which cells of a stored row a request sees (semantics §5.1-5.3).

The rules apply in this order: the table's max_versions and time_to_live, the request's columns,
its time range, its max_versions, then its filter over what is left. Where nothing but max_versions
could hide a cell the record's header decides, and the stored bytes are the answer.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from widerow.engine.capacity import units
from widerow.engine.stored import all_cells, cells_between, cells_named, key_section_of
from widerow.keys.layout import segment_range
from widerow.model.filter import Pagination, passes
from widerow.model.requests import RowRead
from widerow.model.schema import Table
from widerow.model.selection import Selection
from widerow.model.values import KeyValue, Value
from widerow.rows.cells import Cell, cell_size, cell_value
from widerow.rows.record import (
    HEADER_BYTES,
    Header,
    RecordKind,
    header_of,
    join_row,
    join_segments,
)
from widerow.storage.interface import Reader

__all__ = [
    "ABSENT",
    "ReadRule",
    "Selected",
    "is_present",
    "live_cells",
    "read_record",
    "read_row",
    "rule_for",
]

ABSENT = RowRead(b"", 1)


class ReadRule(NamedTuple):
    """A selection against one table at one moment, worked out once for all rows of a request.

    `table_versions` and `versions`: how many versions of a column the table keeps and the request
    wants. `live_from`: the smallest version that has not expired. `key_names`: the primary key
    columns, which filters may name and `columns` may ask for. `copies`: rows whose header allows
    it are returned as stored.
    """

    selection: Selection
    table_versions: int
    versions: int
    live_from: int
    key_names: tuple[str, ...]
    wants_key: bool
    copies: bool


class Selected(NamedTuple):
    """What was read of a row: its bytes (empty: refused, or nothing selected), bytes that count."""

    row: bytes
    size: int


def rule_for(table: Table, selection: Selection, live_from: int) -> ReadRule:
    """The rule of one request against one table."""
    table_versions = table.options.max_versions
    names = tuple([column.name for column in table.key_columns])
    return ReadRule(
        selection,
        table_versions,
        min(table_versions, selection.max_versions),
        live_from,
        names,
        not selection.columns.isdisjoint(names),
        selection.everything,
    )


def read_row(reader: Reader, key: bytes, values: Sequence[KeyValue], rule: ReadRule) -> RowRead:
    """One row by its key; `ABSENT` where there is none or nothing of it was selected."""
    record = reader.get(key)
    if record is None:
        return ABSENT
    read = read_record(reader, key, record, values, rule)
    return ABSENT if read is None else RowRead(read.row, units(read.size))


def read_record(
    reader: Reader, key: bytes, record: bytes, values: Sequence[KeyValue], rule: ReadRule
) -> Selected | None:
    """What `rule` selects of a stored row, or None where the row is not there any more."""
    header = header_of(record)
    if not (
        rule.copies and header.versions_max <= rule.versions and header.oldest >= rule.live_from
    ):
        return _read_selected(reader, key, record, values, rule)
    size = header.key_size + header.data_size
    if header.kind == RecordKind.ROW:
        return Selected(record[HEADER_BYTES:], size)
    segments = (segment for _, segment in reader.scan(*segment_range(key)))
    section = key_section_of(record, header)
    return Selected(join_segments(section.encoded, section.crc, segments), size)


def _read_selected(
    reader: Reader, key: bytes, record: bytes, values: Sequence[KeyValue], rule: ReadRule
) -> Selected | None:
    header = header_of(record)
    if not is_present(reader, key, record, header, rule.live_from):
        return None
    selection, section = rule.selection, key_section_of(record, header)
    cells = select(candidates(reader, key, record, header, rule), rule)
    size = section.size + sum([cell_size(cell.wire) for cell in cells])
    if selection.filter is not None and not _passes(cells, values, rule):
        return Selected(b"", size)
    if selection.pagination is not None:
        cells = paginate(cells, selection.pagination)
    if not cells and not rule.wants_key and (header.cell_count or selection.columns):
        return Selected(b"", size)
    return Selected(join_row(section.encoded, section.crc, [cell.wire for cell in cells]), size)


def candidates(
    reader: Reader, key: bytes, record: bytes, header: Header, rule: ReadRule
) -> list[Cell]:
    """The cells of every column the selection may need, all versions, in stored order."""
    selection = rule.selection
    if header.kind == RecordKind.ROW:
        cells = all_cells(reader, key, record, header)
        return [cell for cell in cells if _column_selected(cell.name, selection)]
    if selection.columns:
        names = [name for name in selection.columns if _column_selected(name, selection)]
        return cells_named(reader, key, record, header, names)
    bounds = (selection.start_column or "", selection.end_column)
    return cells_between(reader, key, record, header, bounds)


def _column_selected(name: str, selection: Selection) -> bool:
    if selection.columns and name not in selection.columns:
        return False
    if selection.start_column is not None and name < selection.start_column:
        return False
    return selection.end_column is None or name < selection.end_column


def select(cells: Iterable[Cell], rule: ReadRule) -> list[Cell]:
    """The cells that `rule` leaves of columns already chosen."""
    window = rule.selection.time_range
    if window is None:
        return live_cells(cells, rule.versions, rule.live_from)
    kept = live_cells(cells, rule.table_versions, rule.live_from)
    inside = (cell for cell in kept if window.start <= cell.version < window.end)
    return live_cells(inside, rule.versions, rule.live_from)


def live_cells(cells: Iterable[Cell], versions: int, live_from: int) -> list[Cell]:
    """The newest `versions` cells of every column, without those that have expired.

    `cells` in stored order: names ascending, versions descending.
    """
    chosen: list[Cell] = []
    column, seen = "", 0
    for cell in cells:
        if cell.name != column:
            column, seen = cell.name, 0
        seen += 1
        if seen <= versions and cell.version >= live_from:
            chosen.append(cell)
    return chosen


def is_present(reader: Reader, key: bytes, record: bytes, header: Header, live_from: int) -> bool:
    """Whether a stored row is still there: it never had attributes, or one of them is alive.

    The header answers for rows without expired cells; others are read cell by cell.
    """
    if header.cell_count == 0 or header.oldest >= live_from:
        return True
    cells = all_cells(reader, key, record, header)
    return any(cell.version >= live_from for cell in cells)


def paginate(cells: Sequence[Cell], pagination: Pagination) -> list[Cell]:
    """Skip `offset` columns and keep `limit`, with all their selected versions."""
    names = list(dict.fromkeys(cell.name for cell in cells))
    wanted = frozenset(names[pagination.offset : pagination.offset + pagination.limit])
    return [cell for cell in cells if cell.name in wanted]


def _passes(cells: Sequence[Cell], values: Sequence[KeyValue], rule: ReadRule) -> bool:
    tree = rule.selection.filter
    assert tree is not None
    columns: dict[str, list[Cell]] = {}
    for cell in cells:
        columns.setdefault(cell.name, []).append(cell)
    keys = dict(zip(rule.key_names, values, strict=False))

    def lookup(name: str) -> list[Value]:
        if name in keys:
            return [keys[name]]
        return [cell_value(cell) for cell in columns.get(name, ())]

    return passes(tree, lookup)
