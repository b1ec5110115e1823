"""The form of a row in the store: whole, or cut into segments (docs/formats/rows.md).

Reading: `row_cells`, `cells_named` and `segments_from` split cells and decode no value. Writing:
`put_row` and `remove_row` for rows, `update_segments` for columns of a wide row.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, pairwise
from operator import attrgetter
from typing import Final, NamedTuple, final

from widerow.errors import InvalidRequest, StoreDamaged
from widerow.keys.layout import segment_key, segment_range
from widerow.limits import (
    COLUMN_BYTES_MAX,
    SEGMENT_BYTES_MAX,
    SEGMENT_CELLS_MAX,
    WHOLE_ROW_BYTES_MAX,
    WHOLE_ROW_CELLS_MAX,
)
from widerow.model.tablestore.row import SentCells
from widerow.model.tablestore.rules import TablestoreRule
from widerow.rows.cells import SEAL_BYTES, Cell, split_cells
from widerow.rows.plain import PlainCells
from widerow.rows.record import (
    HEADER_BYTES,
    Header,
    RecordKind,
    Summary,
    encode_row,
    encode_sealed,
    encode_segment,
    encode_wide_root,
    summarize,
)
from widerow.storage.interface import Reader, Transaction

__all__ = [
    "KeySection",
    "Segment",
    "cells_named",
    "check_order",
    "key_section_of",
    "named_columns",
    "put_row",
    "put_sealed",
    "put_segment",
    "remove_row",
    "row_cells",
    "segment_cells",
    "segments_from",
    "segments_holding",
    "segments_of",
    "update_segments",
    "whole_or_cut",
    "wide_root",
]


_name_of: Final = attrgetter("name")


@final
class KeySection:
    """The primary key of a stored row: its bytes, the row checksum after it, its counted size."""

    __slots__ = ("crc", "encoded", "size")

    def __init__(self, encoded: bytes, crc: int, size: int) -> None:
        """The caller sees to it that the three agree."""
        self.encoded = encoded
        self.crc = crc
        self.size = size


def key_section_of(record: bytes, header: Header) -> KeySection:
    """The key section of a row's record (whole or wide)."""
    encoded = record[HEADER_BYTES : HEADER_BYTES + header.key_length]
    return KeySection(encoded, header.crc, header.key_size)


def row_cells(record: bytes, header: Header) -> list[Cell]:
    """Every cell of a whole row's record."""
    if header.cell_count == 0:
        return []
    return split_cells(record, HEADER_BYTES + header.key_length + 1, len(record) - 2)


def segment_cells(record: bytes) -> list[Cell]:
    """Every cell of a segment's record."""
    return split_cells(record, HEADER_BYTES, len(record))


def cells_named(
    reader: Reader, key: bytes, record: bytes, header: Header, names: Iterable[str]
) -> list[Cell]:
    """The cells of the named columns, in stored order; touches only segments that may hold them."""
    if header.kind == RecordKind.ROW:
        wanted = frozenset(names)
        return [cell for cell in row_cells(record, header) if cell.name in wanted]
    return [cell for column in named_columns(reader, key, sorted(names)) for cell in column]


def named_columns(reader: Reader, key: bytes, names: Sequence[str]) -> Iterator[list[Cell]]:
    """The columns of a wide row among sorted `names`, in order; one segment is held at a time."""
    for names_inside, segment in segments_holding(reader, key, names):
        wanted = frozenset(names_inside)
        for name, cells in groupby(segment.cells, key=_name_of):
            if name in wanted:
                yield list(cells)


def segments_of(reader: Reader, key: bytes) -> Iterator[tuple[bytes, list[Cell]]]:
    """The segments of a wide row in order: the key of each, and its cells."""
    for segment, record in reader.scan(*segment_range(key)):
        yield segment, segment_cells(record)


def segments_from(reader: Reader, key: bytes, column: str) -> Iterator[list[Cell]]:
    """The segments of a wide row in order, from the one for `column` on."""
    first = _segment_at(reader, key, column)
    for _, record in reader.scan(first.key, segment_range(key)[1]):
        yield segment_cells(record)


class Segment(NamedTuple):
    """One segment of a wide row: where it is and what it holds. A new one has no cells yet."""

    key: bytes
    cells: list[Cell]


def _segment_at(reader: Reader, key: bytes, column: str) -> Segment:
    """The segment that holds `column`, or would hold it."""
    start, _ = segment_range(key)
    stop = segment_key(key, column) + b"\x00"
    for found, record in reader.scan(start, stop, reverse=True):
        return Segment(found, segment_cells(record))
    return Segment(start, [])


def segments_holding(
    reader: Reader, key: bytes, names: Sequence[str]
) -> Iterator[tuple[list[str], Segment]]:
    """The segments for sorted `names` of columns of a wide row, each with the names in it."""
    index = 0
    while index < len(names):
        segment = _segment_at(reader, key, names[index])
        inside = [names[index]]
        index += 1
        # The end of the last name's segment does not matter.
        stop = _next_segment(reader, key, segment.key) if index < len(names) else None
        while index < len(names) and (stop is None or segment_key(key, names[index]) < stop):
            inside.append(names[index])
            index += 1
        yield inside, segment


def _next_segment(reader: Reader, key: bytes, segment: bytes) -> bytes | None:
    for found, _ in reader.scan(segment + b"\x00", segment_range(key)[1]):
        return found
    return None


# --- writing -----------------------------------------------------------------------------------


def put_row(
    txn: Transaction, key: bytes, section: KeySection, cells: Sequence[Cell], latest_server: int
) -> None:
    """Store a row whole, or cut into segments where it is above the bounds.

    `cells` in stored order. Whatever segments the row had before must be gone.
    """
    wires = [cell.wire for cell in cells]
    if (
        sum([len(wire) for wire in wires]) <= WHOLE_ROW_BYTES_MAX
        and len(cells) <= WHOLE_ROW_CELLS_MAX
    ):
        txn.put(key, _record(section, wires, summarize(cells), latest_server))
        return
    for first, part in _cut(cells):
        txn.put(segment_key(key, first), encode_segment(part))
    txn.put(key, wide_root(section, summarize(cells), latest_server))


def whole_or_cut(
    key: bytes, section: KeySection, cells: Sequence[Cell], summary: Summary, latest_server: int
) -> dict[bytes, bytes]:
    """The records, by key, of a row of these cells whose header says `summary`."""
    wires = [cell.wire for cell in cells]
    if (
        sum([len(wire) for wire in wires]) <= WHOLE_ROW_BYTES_MAX
        and len(cells) <= WHOLE_ROW_CELLS_MAX
    ):
        return {key: _record(section, wires, summary, latest_server)}
    records = {segment_key(key, first): encode_segment(part) for first, part in _cut(cells)}
    records[key] = wide_root(section, summary, latest_server)
    return records


def put_sealed(
    txn: Transaction,
    key: bytes,
    section: KeySection,
    cells: SentCells | None,
    version: int,
    latest_server: int,
) -> bytes | None:
    """Store cells as they came, all with `version`, at a third of `put_row`'s cost: the record.

    None, and nothing is written, where there are no cells, where they are not in stored order, or
    where the row is too large to be stored whole.
    """
    if not isinstance(cells, PlainCells) or not cells.shape.is_ordered:
        return None
    count = len(cells.shape.names)
    sealed_bytes = cells.body_bytes + count * SEAL_BYTES
    if count > WHOLE_ROW_CELLS_MAX or sealed_bytes > WHOLE_ROW_BYTES_MAX:
        return None
    record = encode_sealed(
        section.encoded, section.crc, section.size, cells, version, latest_server
    )
    txn.put(key, record)
    return record


def _record(section: KeySection, wires: list[bytes], summary: Summary, latest_server: int) -> bytes:
    return encode_row(section.encoded, section.crc, section.size, wires, summary, latest_server)


def wide_root(section: KeySection, summary: Summary, latest_server: int) -> bytes:
    """The record under the key of a wide row, whose segments sum up to `summary`."""
    return encode_wide_root(section.encoded, section.crc, section.size, summary, latest_server)


def remove_row(txn: Transaction, key: bytes, header: Header) -> None:
    """Remove a row with all its segments."""
    txn.delete(key)
    if header.kind == RecordKind.WIDE:
        txn.delete_range(*segment_range(key))


def _cut(cells: Sequence[Cell], first: str = "") -> Iterator[tuple[str, Sequence[Cell]]]:
    """Cut cells into segments of at most half the bounds, never inside a column.

    Half, so that a segment takes many updates before it is cut again. A column above the bound is
    a segment of its own. The first segment begins at `first`, every other at its first column.
    Raises `InvalidRequest` (COLUMN_SIZE) for a column whose versions are too much for one.
    """
    start = size = 0
    for index, cell in enumerate(cells):
        full = size > SEGMENT_BYTES_MAX // 2 or index - start >= SEGMENT_CELLS_MAX // 2
        if full and cell.name != cells[index - 1].name:
            _check_column(cells[index - 1], size)
            yield first, cells[start:index]
            start, size, first = index, 0, cell.name
        size += len(cell.wire)
    if start < len(cells):
        _check_column(cells[-1], size)
        yield first, cells[start:]


def _check_column(last: Cell, size: int) -> None:
    """Raise `InvalidRequest(COLUMN_SIZE)` for a segment that is too large: its last column is."""
    if size > COLUMN_BYTES_MAX:
        raise InvalidRequest(TablestoreRule.COLUMN_SIZE, column=last.name, limit=COLUMN_BYTES_MAX)


def update_segments(
    txn: Transaction,
    key: bytes,
    holding: Sequence[tuple[list[str], Segment]],
    changed: dict[str, list[Cell]],
) -> tuple[list[Cell], list[Cell]]:
    """Replace the columns `changed` of a wide row; an empty list removes the column.

    `holding`: `segments_holding` of their names. Returns the columns' cells before and after. Cost:
    the segments touched.
    """
    before: list[Cell] = []
    after: list[Cell] = []
    for names, segment in holding:
        columns = frozenset(names)
        cells = [cell for cell in segment.cells if cell.name not in columns]
        before += [cell for cell in segment.cells if cell.name in columns]
        for name in names:
            at = bisect_left(cells, name, key=_name_of)
            cells[at:at] = changed[name]
            after += changed[name]
        put_segment(txn, key, segment.key, cells)
    return before, after


def put_segment(txn: Transaction, key: bytes, segment: bytes, cells: Sequence[Cell]) -> None:
    """Store the cells of a segment; without cells it is removed, too many cells are cut again."""
    if not cells:
        txn.delete(segment)
        return
    size = sum(len(cell.wire) for cell in cells)
    if size <= SEGMENT_BYTES_MAX and len(cells) <= SEGMENT_CELLS_MAX:
        txn.put(segment, encode_segment(cells))
        return
    own_first = segment[len(key) + 1 :].decode()
    for first, part in _cut(cells, own_first):
        txn.put(segment_key(key, first), encode_segment(part))


def _stored_order(cell: Cell) -> tuple[str, int]:
    return cell.name, -cell.version


def check_order(cells: Sequence[Cell]) -> None:
    """Raises `StoreDamaged` unless cells are in stored order, each version once."""
    for left, right in pairwise(cells):
        if _stored_order(left) >= _stored_order(right):
            raise StoreDamaged(f"cells out of order at column {right.name!r}")
