"""Rows as the newest values of their columns, for search indexes and scans."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple

from widerow.engine.tablestore.stored import row_cells, segments_from
from widerow.keys.decode import decode_key
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix
from widerow.limits import READ_SLICE_ROWS
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyValue, Value
from widerow.rows.cells import Cell, cell_value
from widerow.rows.record import RecordKind, header_of
from widerow.safepoint import safepoint
from widerow.storage.interface import Reader

__all__ = ["NewestRow", "newest_row", "rows_of"]


class NewestRow(NamedTuple):
    """A row at a moment: its key, the newest value of each column, its newest version.

    `written_ms`: its newest version; for a row without columns, the last one that the server chose.
    In milliseconds since 1970.
    """

    key: tuple[tuple[str, KeyValue], ...]
    columns: dict[str, Value]
    written_ms: int


def rows_of(
    reader: Reader, table: Table, keys: Sequence[bytes], live_from: int
) -> Iterator[tuple[bytes, NewestRow | None]]:
    """The rows of some encoded primary keys, in their order; None where there is none.

    One read for each `READ_SLICE_ROWS` of them, and those of wide rows.
    """
    prefix = row_prefix(table.id)
    for start in range(0, len(keys), READ_SLICE_ROWS):
        safepoint()
        part = [prefix + each for each in keys[start : start + READ_SLICE_ROWS]]
        for key, record in zip(part, reader.get_many(part), strict=True):
            row = None if record is None else newest_row(reader, table, (key, record), live_from)
            yield key[ROW_PREFIX_BYTES:], row


def newest_row(
    reader: Reader, table: Table, stored: tuple[bytes, bytes], live_from: int
) -> NewestRow | None:
    """A row from its record, without cells below the version `live_from`.

    None where it has cells and all of them are below. Linear in the row.
    """
    key, record = stored
    header = header_of(record)
    columns: dict[str, Value] = {}
    written = header.latest_server
    newest = -1
    last = None
    for cell in _cells(reader, key, record):
        if cell.name == last:
            continue  # only the first cell of a column, which is the newest
        last = cell.name
        if cell.version >= live_from:
            columns[last] = cell_value(cell)
            newest = max(newest, cell.version)
    if header.cell_count and not columns:
        return None
    values, _ = decode_key(key, ROW_PREFIX_BYTES, [column.type for column in table.key_columns])
    named = zip([column.name for column in table.key_columns], values, strict=True)
    return NewestRow(tuple(named), columns, newest if columns else written)


def _cells(reader: Reader, key: bytes, record: bytes) -> Iterable[Cell]:
    header = header_of(record)
    if header.kind == RecordKind.WIDE:
        return chain.from_iterable(segments_from(reader, key, ""))
    return row_cells(record, header)
