"""Rows and change records of PlainBuffer as values, every checksum verified (wire §2.1, §2.2).

For code that needs values: the walk of a store, delivered files, the commands. The server's own
reads and writes join and split bytes (`record.py`, `plain.py`).
"""

import struct
from collections.abc import Callable
from typing import Final, NamedTuple, TypeVar

from widerow.errors import StoreDamaged
from widerow.model.values import KeyValue, Value
from widerow.rows.cells import (
    PLAIN_HEADER,
    TAG_CELL,
    TAG_CELL_CHECKSUM,
    TAG_CELL_NAME,
    TAG_CELL_TIMESTAMP,
    TAG_CELL_TYPE,
    TAG_CELL_VALUE,
    TAG_ROW_CHECKSUM,
    TAG_ROW_DATA,
    TAG_ROW_KEY,
    decode_variant,
    encode_variant,
)
from widerow.rows.checksum import crc8, crc8_byte

__all__ = [
    "CHANGE_EXTENSION",
    "CellDeletion",
    "ChangedRow",
    "PlainRecord",
    "Row",
    "VersionedValue",
    "decode_plain_change",
    "decode_plain_record",
    "decode_plain_rows",
]

CHANGE_EXTENSION: Final = struct.Struct("<BIBIBiBqBi")
"""Ten fields before the checksum of a record's row, which does not cover them (change §C1.4)."""

C = TypeVar("C")

_UINT32: Final = struct.Struct("<I")
_INT64: Final = struct.Struct("<q")
_DELETE_ALL: Final = 0x01
_DELETE_ONE: Final = 0x03
_UNREADABLE: Final = (struct.error, IndexError, UnicodeDecodeError)


class VersionedValue(NamedTuple):
    """A cell: the column's name, milliseconds since 1970, the value."""

    column: str
    version: int
    value: Value


class Row(NamedTuple):
    """A row: its key, and all its cells by column, the newest version of each first."""

    key: tuple[tuple[str, KeyValue], ...]
    cells: tuple[VersionedValue, ...]


class CellDeletion(NamedTuple):
    """A deletion in an update: of one version of a column, or of all if `version` is None."""

    column: str
    version: int | None


class PlainRecord(NamedTuple):
    """The row of a change record, or a plain row.

    `stands`: the position of a change record in its shard: microseconds since 1970, and the index
    among records of one time. None for a plain row.
    """

    key: tuple[tuple[str, KeyValue], ...]
    cells: tuple[VersionedValue | CellDeletion, ...]
    stands: tuple[int, int] | None


class ChangedRow(NamedTuple):
    """The row of a change record, and its position in its shard (change §C1.4).

    `time_us`: microseconds since 1970. `row_index` orders records of one time.
    """

    key: tuple[tuple[str, KeyValue], ...]
    cells: tuple[VersionedValue | CellDeletion, ...]
    time_us: int
    row_index: int


def decode_plain_rows(data: bytes) -> list[Row]:
    """The rows after one header; an empty list for no bytes.

    Raises: `StoreDamaged` for malformed bytes. Linear.
    """
    rows: list[Row] = []
    position = len(PLAIN_HEADER)
    try:
        if data and data[:position] != PLAIN_HEADER:
            raise _damaged(0)
        while position < len(data):
            row, position = _read_row(data, position)
            rows.append(row)
    except _UNREADABLE as error:
        raise _damaged(position) from error
    return rows


def decode_plain_record(data: bytes) -> PlainRecord:
    """A single row with its header: a plain row, or that of a change record, with deletions.

    Before the checksum of a change record's row stand 29 bytes that no checksum covers (change
    §C1.4, §C1.7). Raises: `StoreDamaged`. Linear.
    """
    position = len(PLAIN_HEADER)
    stands = None
    try:
        if data[:position] != PLAIN_HEADER:
            raise _damaged(0)
        key, sums, position = _read_key(data, position)
        cells, position = _read_cells(data, position, sums, _read_changed_cell)
        if data[position] != TAG_ROW_CHECKSUM:
            fields = CHANGE_EXTENSION.unpack_from(data, position)
            if (*fields[:5], fields[6], fields[8]) != (0x0B, 24, 0x0C, 19, 0x0D, 0x0E, 0x0F):
                raise _damaged(position)
            stands = fields[7], fields[9]
            position += CHANGE_EXTENSION.size
        position = _read_row_checksum(data, position, sums)
    except _UNREADABLE as error:
        raise _damaged(position) from error
    if position != len(data):
        raise _damaged(position)
    return PlainRecord(key, tuple(cells), stands)


def decode_plain_change(data: bytes) -> ChangedRow:
    """The row of a change record. Raises: `StoreDamaged`. Linear."""
    found = decode_plain_record(data)
    if found.stands is None:
        raise _damaged(len(data))
    return ChangedRow(found.key, found.cells, *found.stands)


def _read_row(data: bytes, position: int) -> tuple[Row, int]:
    key, sums, position = _read_key(data, position)
    cells, position = _read_cells(data, position, sums, _read_cell)
    return Row(key, tuple(cells)), _read_row_checksum(data, position, sums)


def _read_key(
    data: bytes, position: int
) -> tuple[tuple[tuple[str, KeyValue], ...], bytearray, int]:
    """The key of the row at `position`, the checksums of its cells, and its end."""
    if data[position] != TAG_ROW_KEY:
        raise _damaged(position)
    key: list[tuple[str, KeyValue]] = []
    position += 1
    sums = bytearray()
    while data[position] == TAG_CELL:
        name, variant, position = _name_and_value(data, position)
        value = _value_of(variant)
        if data[position] != TAG_CELL_CHECKSUM or data[position + 1] != crc8(variant, crc8(name)):
            raise _damaged(position)
        if isinstance(value, float | bool):
            raise _damaged(position)  # values of keys have one of three types
        key.append((name.decode(), value))
        sums.append(data[position + 1])
        position += 2
    if not key:
        raise _damaged(position)
    return tuple(key), sums, position


def _read_cells(
    data: bytes, position: int, sums: bytearray, read: Callable[[bytes, int], tuple[C, int]]
) -> tuple[list[C], int]:
    """The cells after a key, and their end; their checksums are appended to `sums`."""
    cells: list[C] = []
    if data[position] == TAG_ROW_DATA:
        position += 1
        while data[position] == TAG_CELL:
            cell, position = read(data, position)
            cells.append(cell)
            sums.append(data[position - 1])
    return cells, position


def _read_row_checksum(data: bytes, position: int, sums: bytearray) -> int:
    """The end of the row whose checksum is at `position`."""
    if data[position] != TAG_ROW_CHECKSUM or data[position + 1] != crc8_byte(0, crc8(bytes(sums))):
        raise _damaged(position)
    return position + 2


def _read_changed_cell(data: bytes, start: int) -> tuple[VersionedValue | CellDeletion, int]:
    """A put cell, or the deletion of one version or of all versions (change §C1.4)."""
    end = start + 6 + _UINT32.unpack_from(data, start + 2)[0]
    if data[end] == TAG_CELL_VALUE:
        return _read_cell(data, start)
    operation, name = data[end + 1], data[start + 6 : end]
    stamp = b""
    if data[start + 1] != TAG_CELL_NAME or data[end] != TAG_CELL_TYPE:
        raise _damaged(start)
    end += 2
    if operation == _DELETE_ONE and data[end] == TAG_CELL_TIMESTAMP:
        stamp = data[end + 1 : end + 9]
        end += 9
    elif operation != _DELETE_ALL:
        raise _damaged(start)
    # The checksum takes the operation last, after the version (wire §2.2).
    if data[end] != TAG_CELL_CHECKSUM or data[end + 1] != crc8_byte(
        operation, crc8(stamp, crc8(name))
    ):
        raise _damaged(start)
    version = _INT64.unpack(stamp)[0] if stamp else None
    return CellDeletion(name.decode(), version), end + 2


def _read_cell(data: bytes, start: int) -> tuple[VersionedValue, int]:
    name, variant, end = _name_and_value(data, start)
    stamp = data[end + 1 : end + 9]
    if (
        data[end] != TAG_CELL_TIMESTAMP
        or data[end + 9] != TAG_CELL_CHECKSUM
        or data[end + 10] != crc8(stamp, crc8(variant, crc8(name)))
    ):
        raise _damaged(start)
    version: int = _INT64.unpack(stamp)[0]
    return VersionedValue(name.decode(), version, _value_of(variant)), end + 11


def _name_and_value(data: bytes, start: int) -> tuple[bytes, bytes, int]:
    """Name and variant of the cell at `start`, and their end."""
    name_end = start + 6 + _UINT32.unpack_from(data, start + 2)[0]
    if data[start + 1] != TAG_CELL_NAME or data[name_end] != TAG_CELL_VALUE:
        raise _damaged(start)
    end = name_end + 5 + _UINT32.unpack_from(data, name_end + 1)[0]
    return data[start + 6 : name_end], data[name_end + 5 : end], end


def _value_of(variant: bytes) -> Value:
    """The value of a variant.

    Raises `StoreDamaged` unless encoding the value gives these bytes: eight bits of checksum miss
    some damage.
    """
    value = decode_variant(variant, 0, len(variant))
    if encode_variant(value) != variant:
        raise StoreDamaged("a value's length is not that of its bytes")
    return value


def _damaged(position: int) -> StoreDamaged:
    return StoreDamaged(f"a row is damaged at byte {position}")
