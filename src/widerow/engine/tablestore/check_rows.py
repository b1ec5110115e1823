"""Tablestore's tables in the walk of a store (`check.py`): rows, segments, sequence records.

Verified: keys decode; a row's key section says what its key says; headers agree with their cells;
checksums are right; cells are in order; segments belong to a wide row, lie in order and add up to
its header; sequence records are numbers under a partition key value.
"""

from collections.abc import Iterator
from functools import partial

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.check_part import CheckPart
from widerow.engine.tablestore.model import TABLESTORE_MODEL
from widerow.engine.tablestore.stored import check_order, key_section_of, row_cells, segment_cells
from widerow.errors import StoreDamaged
from widerow.keys.decode import decode_key, decode_key_value
from widerow.keys.encode import after_prefix
from widerow.keys.layout import row_prefix, sequence_prefix
from widerow.limits import INT64_MAX
from widerow.model.tablestore.schema import Table
from widerow.rows.cells import Cell, encode_key_section
from widerow.rows.record import (
    HEADER_BYTES,
    Header,
    RecordKind,
    encode_segment,
    header_of,
    join_row,
    summarize,
)
from widerow.storage.interface import Snapshot

__all__ = ["tablestore_parts"]


def tablestore_parts(catalog: Catalog, snapshot: Snapshot) -> Iterator[CheckPart]:  # noqa: ARG001  # as every model's
    """What a walk visits of each table: its rows, and its sequence records."""
    for table in Tables(catalog, TABLESTORE_MODEL).all():
        if table.index_of:
            continue  # entries of an index are compared with their rows
        walk = _TableWalk(table)
        rows, sequences = row_prefix(table.id), sequence_prefix(table.id)
        yield CheckPart(table.qualified, rows, after_prefix(rows), walk.visit, walk.finish_wide)
        visit = partial(_check_sequence, table)
        yield CheckPart(table.qualified, sequences, after_prefix(sequences), visit)


def _check_sequence(table: Table, key: bytes, record: bytes) -> None:
    if table.auto_increment is None:
        raise StoreDamaged("a sequence record of a table without an auto-increment column")
    start = len(sequence_prefix(table.id))
    _, end = decode_key_value(key, start, table.key_columns[0].type)
    if end != len(key) or len(record) != 8:
        raise StoreDamaged("a sequence record that is not a number under a partition key value")


class _TableWalk:
    """The walk through one table: keeps the wide row whose segments are being read."""

    __slots__ = ("table", "wide")

    def __init__(self, table: Table) -> None:
        self.table = table
        self.wide: _WideRow | None = None

    def visit(self, key: bytes, record: bytes) -> None:
        """Check one record. Raises `StoreDamaged`."""
        header = header_of(record)
        if header.kind == RecordKind.SEGMENT:
            if self.wide is None or not key.startswith(self.wide.key):
                raise StoreDamaged("a segment without its row")
            self.wide.add(key, record, header)
            return
        self.finish_wide()
        _check_row(self.table, key, record, header)
        if header.kind == RecordKind.WIDE:
            self.wide = _WideRow(key, header)

    def finish_wide(self) -> None:
        """Compare the header of the last wide row with its segments. Raises `StoreDamaged`."""
        wide, self.wide = self.wide, None
        if wide is not None:
            wide.close()


def _check_row(table: Table, key: bytes, record: bytes, header: Header) -> None:
    types = [column.type for column in table.key_columns]
    values, end = decode_key(key, len(row_prefix(table.id)), types)
    if end != len(key):
        raise StoreDamaged("bytes behind the last key column")
    names = [column.name for column in table.key_columns]
    encoded, crc = encode_key_section(zip(names, values, strict=True))
    section = key_section_of(record, header)
    if (encoded, crc) != (section.encoded, section.crc):
        raise StoreDamaged("the row's key section differs from its key")
    if header.kind == RecordKind.WIDE:
        if len(record) != HEADER_BYTES + header.key_length:
            raise StoreDamaged("bytes behind a wide row's key section")
        return
    if header.kind != RecordKind.ROW:
        raise StoreDamaged(f"a record of the unknown kind {header.kind}")
    cells = row_cells(record, header)
    _check_cells(cells, header)
    if record[HEADER_BYTES:] != join_row(encoded, crc, [cell.wire for cell in cells]):
        raise StoreDamaged("the row's bytes or its checksum are wrong")


def _check_cells(cells: list[Cell], header: Header) -> None:
    check_order(cells)
    told = (header.cell_count, header.versions_max, header.data_size, header.oldest)
    if told != tuple(summarize(cells)):
        raise StoreDamaged(f"the header says {told}, the cells {tuple(summarize(cells))}")


class _WideRow:
    """A wide row in the walk: the sums of its segments so far."""

    __slots__ = ("count", "header", "key", "last", "oldest", "size", "versions")

    def __init__(self, key: bytes, header: Header) -> None:
        self.key, self.header = key, header
        self.count = self.size = self.versions = 0
        self.oldest = INT64_MAX
        self.last: Cell | None = None

    def add(self, key: bytes, record: bytes, header: Header) -> None:
        """Check one segment and count it. Raises `StoreDamaged`."""
        cells = segment_cells(record)
        _check_cells(cells, header)
        if record != encode_segment(cells):
            raise StoreDamaged("the segment's bytes or its checksum are wrong")
        first = key[len(self.key) + 1 :].decode()
        if not cells or cells[0].name < first:
            raise StoreDamaged("a segment holds a column that sorts before it, or nothing")
        if self.last is not None and self.last.name >= cells[0].name:
            raise StoreDamaged("segments overlap")
        self.last = cells[-1]
        self.count += header.cell_count
        self.size += header.data_size
        self.versions = max(self.versions, header.versions_max)
        self.oldest = min(self.oldest, header.oldest)

    def close(self) -> None:
        """Compare the header of the wide row with its segments. Raises `StoreDamaged`."""
        header = self.header
        if (self.count, self.size) != (header.cell_count, header.data_size):
            raise StoreDamaged(
                f"the wide row counts {header.cell_count} cells of {header.data_size} bytes, "
                f"its segments {self.count} of {self.size}"
            )
        if self.versions > header.versions_max or self.oldest < header.oldest:
            raise StoreDamaged("the wide row's bounds do not cover its segments")
