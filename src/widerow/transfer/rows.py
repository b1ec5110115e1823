"""Rows between PlainBuffer and Python, with all versions of their cells (wire §2.1, §2.2)."""

import struct
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from widerow.errors import StoreDamaged
from widerow.limits import CELLS_PER_CHANGE_MAX
from widerow.model.values import KeyInput, KeyValue, Value
from widerow.rows.cells import (
    TAG_CELL,
    TAG_CELL_CHECKSUM,
    TAG_CELL_NAME,
    TAG_CELL_TIMESTAMP,
    TAG_CELL_TYPE,
    TAG_CELL_VALUE,
    TAG_ROW_CHECKSUM,
    TAG_ROW_DATA,
    TAG_ROW_KEY,
    cell_body,
    decode_variant,
    encode_key_section,
    encode_variant,
    seal,
)
from widerow.rows.checksum import crc8, crc8_byte
from widerow.transfer.client import TransferFailed
from widerow.wire.tablestore.plainbuffer import HEADER, encode_primary_key

__all__ = [
    "PIECE_BYTES",
    "CellDeletion",
    "ChangedRow",
    "Row",
    "VersionedValue",
    "decode_change",
    "decode_rows",
    "encode_delete",
    "encode_plain_key",
    "encode_put",
    "pieces",
]

PIECE_BYTES: Final = 3 * 1024 * 1024
"""Encoded bytes of one row change; a batch may have 4 MB (semantics §4.8)."""

_UINT32: Final = struct.Struct("<I")
_INT64: Final = struct.Struct("<q")
_EXTENSION: Final = struct.Struct("<BIBIBiBqBi")
_DELETE_ALL: Final = 0x01
_DELETE_ONE: Final = 0x03


class VersionedValue(NamedTuple):
    """One cell: the column's name, milliseconds since 1970, the value."""

    column: str
    version: int
    value: Value


class Row(NamedTuple):
    """A row: its key, and all its cells by column, the newest version of each first."""

    key: tuple[tuple[str, KeyValue], ...]
    cells: tuple[VersionedValue, ...]


class CellDeletion(NamedTuple):
    """What an update deleted of a column: one version, or all of them where `version` is None."""

    column: str
    version: int | None


class ChangedRow(NamedTuple):
    """The row of a change record, and where the record stands in its shard (change §C1.4).

    `time_us`: microseconds since 1970. `row_index` orders records of one time.
    """

    key: tuple[tuple[str, KeyValue], ...]
    cells: tuple[VersionedValue | CellDeletion, ...]
    time_us: int
    row_index: int


def encode_plain_key(columns: Sequence[tuple[str, KeyInput]]) -> bytes:
    """A primary key alone; bounds of ranges may hold markers."""
    return encode_primary_key(*encode_key_section(columns))


def encode_delete(columns: Sequence[tuple[str, KeyInput]]) -> bytes:
    """The encoded change that deletes the row of this key."""
    section, crc = encode_key_section(columns)
    return b"%b%b\x08\x09%c" % (HEADER, section, crc8_byte(1, crc))


def encode_put(key: Sequence[tuple[str, KeyValue]], cells: Iterable[VersionedValue]) -> bytes:
    """The encoded change that puts these cells into the row of this key.

    Raises: `ValueError` and `struct.error` for values that have no encoding. Linear.
    """
    return _joined(key, [_sealed(each) for each in cells])


def pieces(row: Row) -> list[bytes]:
    """Changes that make the row together: the first puts it, the others update it, in order.

    One, unless the row has more cells or bytes than a change may have.
    """
    if len(row.cells) <= CELLS_PER_CHANGE_MAX:
        whole = encode_put(row.key, row.cells)
        if len(whole) <= PIECE_BYTES:
            return [whole]
    made: list[list[bytes]] = [[]]
    size = 0
    for cell in map(_sealed, row.cells):
        if made[-1] and (len(made[-1]) == CELLS_PER_CHANGE_MAX or size + len(cell) > PIECE_BYTES):
            made.append([])
            size = 0
        made[-1].append(cell)
        size += len(cell)
    return [_joined(row.key, cells) for cells in made]


def _sealed(cell: VersionedValue) -> bytes:
    return seal(*cell_body(cell.column, cell.value), cell.version)


def _joined(key: Sequence[tuple[str, KeyValue]], cells: Sequence[bytes]) -> bytes:
    section, crc = encode_key_section(key)
    if cells:
        crc = crc8(bytes(cell[-1] for cell in cells), crc)
        section += b"\x02"
    return b"".join((HEADER, section, *cells, b"\x09", bytes((crc8_byte(0, crc),))))


def decode_rows(data: bytes) -> list[Row]:
    """The rows of an answer, every checksum verified.

    Raises: `TransferFailed` where the bytes are not what a sender encoded. Linear.
    """
    rows: list[Row] = []
    position = len(HEADER)
    try:
        if data and data[:position] != HEADER:
            raise _damaged(0)
        while position < len(data):
            row, position = _read_row(data, position)
            rows.append(row)
    except (struct.error, IndexError, StoreDamaged, UnicodeDecodeError) as error:
        raise _damaged(position) from error
    return rows


def decode_change(data: bytes) -> ChangedRow:
    """The row of a change record, every checksum verified, with its extension.

    A record is a row whose cells may be deletions, and 29 bytes that no checksum covers stand
    before the checksum of the row (change §C1.4, §C1.7). Raises: `TransferFailed`. Linear.
    """
    position = len(HEADER)
    try:
        if data[:position] != HEADER:
            raise _damaged(0)
        key, sums, position = _read_key(data, position)
        cells: list[VersionedValue | CellDeletion] = []
        if data[position] == TAG_ROW_DATA:
            position += 1
            while data[position] == TAG_CELL:
                cell, position = _read_changed_cell(data, position)
                cells.append(cell)
                sums.append(data[position - 1])
        fields = _EXTENSION.unpack_from(data, position)
        if (*fields[:5], fields[6], fields[8]) != (0x0B, 24, 0x0C, 19, 0x0D, 0x0E, 0x0F):
            raise _damaged(position)
        position = _read_row_checksum(data, position + _EXTENSION.size, sums)
    except (struct.error, IndexError, StoreDamaged, UnicodeDecodeError) as error:
        raise _damaged(position) from error
    if position != len(data):
        raise _damaged(position)
    return ChangedRow(key, tuple(cells), fields[7], fields[9])


def _read_row(data: bytes, position: int) -> tuple[Row, int]:
    key, sums, position = _read_key(data, position)
    cells: list[VersionedValue] = []
    if data[position] == TAG_ROW_DATA:
        position += 1
        while data[position] == TAG_CELL:
            cell, position = _read_cell(data, position)
            cells.append(cell)
            sums.append(data[position - 1])
    return Row(key, tuple(cells)), _read_row_checksum(data, position, sums)


def _read_key(
    data: bytes, position: int
) -> tuple[tuple[tuple[str, KeyValue], ...], bytearray, int]:
    """The key of the row at `position`, the checksums of its cells, and where it ends."""
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
    return tuple(key), sums, position


def _read_row_checksum(data: bytes, position: int, sums: bytearray) -> int:
    """Where the row ends whose checksum stands at `position`."""
    if data[position] != TAG_ROW_CHECKSUM or data[position + 1] != crc8_byte(0, crc8(bytes(sums))):
        raise _damaged(position)
    return position + 2


def _read_changed_cell(data: bytes, start: int) -> tuple[VersionedValue | CellDeletion, int]:
    """A put cell, or the deletion of one version or of all (change §C1.4)."""
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
    # The operation is the last of what the checksum covers, behind the version (wire §2.2).
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
    """Name and variant of the cell at `start`, and where they end."""
    name_end = start + 6 + _UINT32.unpack_from(data, start + 2)[0]
    if data[start + 1] != TAG_CELL_NAME or data[name_end] != TAG_CELL_VALUE:
        raise _damaged(start)
    end = name_end + 5 + _UINT32.unpack_from(data, name_end + 1)[0]
    return data[start + 6 : name_end], data[name_end + 5 : end], end


def _value_of(variant: bytes) -> Value:
    """The value, if these bytes are its encoding: a checksum of eight bits misses some damage."""
    value = decode_variant(variant, 0, len(variant))
    if encode_variant(value) != variant:
        raise StoreDamaged("a value's length is not that of its bytes")
    return value


def _damaged(position: int) -> TransferFailed:
    return TransferFailed(f"an answer is damaged at byte {position}; try again")
