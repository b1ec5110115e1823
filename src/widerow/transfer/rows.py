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
    "Row",
    "VersionedValue",
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


class VersionedValue(NamedTuple):
    """One cell: the column's name, milliseconds since 1970, the value."""

    column: str
    version: int
    value: Value


class Row(NamedTuple):
    """A row: its key, and all its cells by column and from the newest version on."""

    key: tuple[tuple[str, KeyValue], ...]
    cells: tuple[VersionedValue, ...]


def encode_plain_key(columns: Sequence[tuple[str, KeyInput]]) -> bytes:
    """A primary key alone; bounds of ranges may hold markers."""
    return encode_primary_key(*encode_key_section(columns))


def encode_delete(columns: Sequence[tuple[str, KeyInput]]) -> bytes:
    """What deletes the row of this key."""
    section, crc = encode_key_section(columns)
    return b"%b%b\x08\x09%c" % (HEADER, section, crc8_byte(1, crc))


def encode_put(key: Sequence[tuple[str, KeyValue]], cells: Iterable[VersionedValue]) -> bytes:
    """What puts these cells in the row of this key.

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


def _read_row(data: bytes, position: int) -> tuple[Row, int]:
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
            raise _damaged(position)  # keys are of three kinds
        key.append((name.decode(), value))
        sums.append(data[position + 1])
        position += 2
    cells: list[VersionedValue] = []
    if data[position] == TAG_ROW_DATA:
        position += 1
        while data[position] == TAG_CELL:
            cell, position = _read_cell(data, position)
            cells.append(cell)
            sums.append(data[position - 1])
    if data[position] != TAG_ROW_CHECKSUM or data[position + 1] != crc8_byte(0, crc8(bytes(sums))):
        raise _damaged(position)
    return Row(tuple(key), tuple(cells)), position + 2


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
    """The value whose one encoding this is: eight bits of checksum let some damage through."""
    value = decode_variant(variant, 0, len(variant))
    if encode_variant(value) != variant:
        raise StoreDamaged("a value's length is not that of its bytes")
    return value


def _damaged(position: int) -> TransferFailed:
    return TransferFailed(f"an answer is damaged at byte {position}; try again")
