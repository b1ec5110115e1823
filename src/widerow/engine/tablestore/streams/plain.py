"""Change records in the bytes that clients read (change §C1.4, wire §2.1).

(`engine/streams/change_rows.py` has their form.) A record holds the results of the change: an
increment is a put of the sum, and versions chosen by the server are set.
"""

import struct
from collections.abc import Iterator, Sequence
from operator import attrgetter
from typing import Final

from widerow.engine.observer import RowEvent
from widerow.engine.streams.change_rows import change_row
from widerow.engine.streams.log import LogPosition, LogRecord
from widerow.engine.tablestore.expiry import live_from
from widerow.engine.tablestore.observed import ObservedRow
from widerow.engine.tablestore.select import live_cells
from widerow.engine.tablestore.stored import KeySection
from widerow.engine.tablestore.writes import RowWrite, key_section_for
from widerow.model.tablestore.row import CellChange, CellOperation, Modification
from widerow.model.tablestore.schema import Table
from widerow.rows.cells import (
    PLAIN_HEADER,
    TAG_CELL,
    TAG_CELL_CHECKSUM,
    TAG_CELL_NAME,
    TAG_CELL_TIMESTAMP,
    TAG_CELL_TYPE,
    Cell,
    seal,
    version_bytes,
)
from widerow.rows.checksum import crc8, crc8_byte
from widerow.rows.record import header_of, join_row

__all__ = ["change_record"]

_ACTIONS: Final = {Modification.PUT: 1, Modification.UPDATE: 2, Modification.DELETE: 3}
_DELETE_ALL: Final = 0x01
_DELETE_ONE: Final = 0x03
_UINT32: Final = struct.Struct("<I")


def change_record(
    table: Table, event: RowEvent[ObservedRow], position: LogPosition, columns: Sequence[str]
) -> LogRecord:
    """The record of a client's change; `columns`: the columns whose former values it has.

    Cost: the cells of the change; for a put, those of the row; with `columns`, the former row.
    """
    write: RowWrite = event.write
    section = key_section_for(write)
    cells = _CELLS[write.change.modification](write, event.new)
    record = change_row((section.encoded, section.crc), cells, position)
    origin = _origin(table, section, event.old, write.now_ms, columns) if columns else b""
    return LogRecord(_ACTIONS[write.change.modification], record, origin)


# --- the cells of a change -----------------------------------------------------------------------


def _put_cells(write: RowWrite, new: ObservedRow | None) -> list[bytes]:
    """The cells of a put: those of the stored row."""
    del write
    return [] if new is None else [cell.wire for cell in new.cells()]


def _update_cells(write: RowWrite, new: ObservedRow | None) -> list[bytes]:
    """Each change of a cell, in the order of names; sums of increments are read in the new row."""
    changes = sorted(write.change.cells, key=attrgetter("name"))
    version = 0 if new is None else header_of(new.record).latest_server
    summed = {each.name for each in changes if each.operation is CellOperation.INCREMENT}
    sums = dict(_newest(new, summed)) if summed and new is not None else {}
    return [_changed_cell(each, version, sums) for each in changes]


def _changed_cell(change: CellChange, version: int, sums: dict[str, bytes]) -> bytes:
    if change.operation is CellOperation.INCREMENT:
        return sums[change.name]
    if change.operation is CellOperation.PUT:
        return seal(change.body, change.crc, version if change.version is None else change.version)
    if change.operation is CellOperation.DELETE_ALL_VERSIONS:
        return _operation_cell(change.name, _DELETE_ALL, b"")
    assert change.version is not None  # a delete of one version names it
    return _operation_cell(change.name, _DELETE_ONE, version_bytes(change.version))


def _operation_cell(name: str, operation: int, stamp: bytes) -> bytes:
    """A cell without a value. The checksum takes the operation last, behind the timestamp."""
    data = name.encode()
    crc = crc8_byte(operation, crc8(data + stamp, 0))
    head = bytes((TAG_CELL, TAG_CELL_NAME)) + _UINT32.pack(len(data)) + data
    time = bytes((TAG_CELL_TIMESTAMP,)) + stamp if stamp else b""
    return b"".join(
        (head, bytes((TAG_CELL_TYPE, operation)), time, bytes((TAG_CELL_CHECKSUM, crc)))
    )


def _no_cells(write: RowWrite, new: ObservedRow | None) -> list[bytes]:
    """The cells of a delete: none, the key says it."""
    del write, new
    return []


_CELLS: Final = {
    Modification.PUT: _put_cells,
    Modification.UPDATE: _update_cells,
    Modification.DELETE: _no_cells,
}


def _newest(row: ObservedRow, names: set[str]) -> Iterator[tuple[str, bytes]]:
    """The newest cell of each of these columns: the first of a column in stored order."""
    seen: set[str] = set()
    for cell in row.cells():
        if cell.name in names and cell.name not in seen:
            seen.add(cell.name)
            yield cell.name, cell.wire


# --- the row before ------------------------------------------------------------------------------


def _origin(
    table: Table,
    section: KeySection,
    old: ObservedRow | None,
    now_ms: int,
    columns: Sequence[str],
) -> bytes:
    """The former row's newest cells of these columns; b"" where there was no row."""
    if old is None:
        return b""
    alive = live_from(table.options, now_ms)
    wanted = frozenset(columns)
    kept: list[Cell] = []
    exists = header_of(old.record).cell_count == 0
    for cell in old.cells():
        exists = exists or cell.version >= alive
        if cell.name in wanted:
            kept.append(cell)
    if not exists:
        return b""  # every cell has expired
    shown = live_cells(kept, 1, alive)
    return PLAIN_HEADER + join_row(section.encoded, section.crc, [cell.wire for cell in shown])
