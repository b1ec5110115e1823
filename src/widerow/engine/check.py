"""Walk a store and verify what must always hold. Tests call it, operators through `widerow doctor`.

Verified: every record belongs to a table or to a noted drop; keys decode; a row's key section says
what its key says; headers tell the truth about their cells; checksums are right; cells are in
order; segments belong to a wide row, lie in order and add up to its header; the bounds of a table's
partitions are whole partition keys in order, so that each key lies in exactly one
(`partitions/check.py`). Typed tables: `typed/check.py`.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from widerow.engine.catalog.catalog import Tables
from widerow.engine.catalog.partitioned import CatalogPartitions
from widerow.engine.partitions.check import check_partitions
from widerow.engine.stored import check_order, key_section_of, row_cells, segment_cells
from widerow.engine.table_models import open_catalog
from widerow.engine.tablestore_model import TABLESTORE
from widerow.engine.typed.check import check_typed_rows, typed_prefixes
from widerow.engine.typed.index_check import check_indexes
from widerow.engine.typed.plans import check_plans
from widerow.engine.typed.tables import TypedTables
from widerow.errors import StoreDamaged
from widerow.keys.decode import decode_key
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    SPACE_CATALOG,
    SPACE_INDEXES,
    SPACE_ROWS,
    SPACE_SEQUENCES,
    SPACE_STATISTICS,
    SPACE_STORE,
    SPACE_TYPED_CATALOG,
    row_prefix,
    statistics_prefix,
)
from widerow.limits import INT64_MAX
from widerow.model.schema import Table
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
from widerow.storage.interface import Snapshot, Store

__all__ = ["PROGRESS_RECORDS", "Finding", "check_store"]

PROGRESS_RECORDS: Final = 1000


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that must not be: where, and what is wrong with it."""

    table: str
    key: str
    problem: str


def check_store(store: Store, *, progress: Callable[[int], None] = lambda _: None) -> list[Finding]:
    """Every violation found; an empty list is a clean store.

    `progress` is called with the number of a table's records read, every thousand. Cost: one
    pass over the store; memory: one wide row.
    """
    if next(store.snapshot().scan(b"", b"\xff" * 8), None) is None:
        return []
    try:
        catalog = open_catalog(store)
    except StoreDamaged as error:
        return [Finding("", SPACE_CATALOG.hex(), str(error))]
    tables, typed = Tables(catalog, TABLESTORE), TypedTables(catalog)
    snapshot = store.snapshot()
    findings = list(_unknown_spaces(snapshot))
    numbers = [table.id for table in tables.all()]
    numbers += [leftover.id for leftover in tables.leftovers()]
    rows = sorted([*map(row_prefix, numbers), *typed_prefixes(typed)])
    findings += _orphans(snapshot, SPACE_ROWS, rows, "a row")
    counted = sorted(statistics_prefix(int.from_bytes(prefix[1:], "big")) for prefix in rows)
    findings += _orphans(snapshot, SPACE_STATISTICS, counted, "statistics")
    divided = CatalogPartitions(catalog)
    findings += [Finding(*found) for found in check_partitions(snapshot, divided)]
    for table in tables.all():
        findings += _check_table(snapshot, table, progress)
    findings += [Finding(*found) for found in check_typed_rows(snapshot, typed, progress)]
    findings += [Finding(*found) for found in check_indexes(snapshot, typed, progress)]
    findings += [Finding(*found) for found in check_plans(snapshot)]
    return findings


def _unknown_spaces(snapshot: Snapshot) -> Iterator[Finding]:
    known = (
        *(SPACE_STORE, SPACE_CATALOG, SPACE_TYPED_CATALOG),
        *(SPACE_ROWS, SPACE_SEQUENCES, SPACE_INDEXES, SPACE_STATISTICS),
    )
    position = b""
    while True:
        key = next((key for key, _ in snapshot.scan(position, b"\xff" * 8)), None)
        if key is None:
            return
        if key[:1] not in known:
            yield Finding("", key.hex(), "a record in a space that this version does not know")
        position = after_prefix(key[:1])


def _orphans(
    snapshot: Snapshot, space: bytes, known: Iterable[bytes], what: str
) -> Iterator[Finding]:
    position = space
    for prefix in [*known, after_prefix(space)]:
        for key, _ in snapshot.scan(position, prefix):
            yield Finding("", key.hex(), f"{what} of a table that the catalogue does not know")
            break
        position = after_prefix(prefix)


def _check_table(
    snapshot: Snapshot, table: Table, progress: Callable[[int], None]
) -> Iterator[Finding]:
    prefix = row_prefix(table.id)
    walk = _TableWalk(table)
    name = f"{table.instance}/{table.name}"
    for count, (key, record) in enumerate(snapshot.scan(prefix, after_prefix(prefix)), 1):
        if count % PROGRESS_RECORDS == 0:
            progress(count)
        try:
            walk.visit(key, record)
        except StoreDamaged as error:
            yield Finding(name, key.hex(), str(error))
    try:
        walk.finish_wide()
    except StoreDamaged as error:
        yield Finding(name, prefix.hex(), str(error))


class _TableWalk:
    """A table being walked: remembers the wide row whose segments are passing."""

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
        """Check what a wide row's segments add up to. Raises `StoreDamaged`."""
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
    """A wide row being walked: what its segments add up to so far."""

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
        """Check the sum of the segments. Raises `StoreDamaged`."""
        header = self.header
        if (self.count, self.size) != (header.cell_count, header.data_size):
            raise StoreDamaged(
                f"the wide row counts {header.cell_count} cells of {header.data_size} bytes, "
                f"its segments {self.count} of {self.size}"
            )
        if self.versions > header.versions_max or self.oldest < header.oldest:
            raise StoreDamaged("the wide row's bounds do not cover its segments")
