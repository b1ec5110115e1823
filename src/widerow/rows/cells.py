"""One cell: name, value, version, checksum, in the bytes that go to the wire (wire §2.1, §2.2).

    cell   = 03 name value [timestamp] 0A crc8
    name   = 04 length:4 bytes          value = 05 length:4 type:1 payload
    timestamp = 07 milliseconds:8       all numbers little-endian

A *body* is the cell up to its value: what a client sends for a put without a version. Its checksum
state is all that is needed to add the version later (`seal`), so a value that arrives is never
taken apart and put together again on its way to the disk.
"""

import struct
from collections.abc import Iterable
from typing import Final, NamedTuple

from widerow.errors import StoreDamaged
from widerow.model.values import ColumnType, KeyInput, KeyMarker, Value
from widerow.rows.checksum import combine, crc8, crc8_byte

__all__ = [
    "Cell",
    "cell_body",
    "cell_size",
    "cell_value",
    "encode_key_section",
    "encode_variant",
    "seal",
    "seal_all",
    "split_cells",
]

TAG_ROW_KEY: Final = 0x01
TAG_ROW_DATA: Final = 0x02
TAG_CELL: Final = 0x03
TAG_CELL_NAME: Final = 0x04
TAG_CELL_VALUE: Final = 0x05
TAG_CELL_TYPE: Final = 0x06
TAG_CELL_TIMESTAMP: Final = 0x07
TAG_DELETE_MARKER: Final = 0x08
TAG_ROW_CHECKSUM: Final = 0x09
TAG_CELL_CHECKSUM: Final = 0x0A

TYPE_INF_MIN: Final = 0x09
TYPE_INF_MAX: Final = 0x0A
TYPE_AUTO_INCREMENT: Final = 0x0B

_INT64: Final = struct.Struct("<q")
_DOUBLE: Final = struct.Struct("<d")
_UINT32: Final = struct.Struct("<I")
_BODY_HEAD: Final = struct.Struct("<BBI")
_SEAL_BYTES: Final = 11  # 07, eight bytes of version, 0A, checksum
_MARKERS: Final = {
    KeyMarker.INF_MIN: bytes((TYPE_INF_MIN,)),
    KeyMarker.INF_MAX: bytes((TYPE_INF_MAX,)),
    KeyMarker.AUTO_INCREMENT: bytes((TYPE_AUTO_INCREMENT,)),
}


class Cell(NamedTuple):
    """A stored cell. `wire` is all of it, from its tag to its checksum."""

    name: str
    version: int
    wire: bytes


def encode_variant(value: Value) -> bytes:
    """Type byte and payload of a value; texts and binaries with their length (wire §2.5)."""
    if isinstance(value, str):
        data = value.encode()
        return b"\x03" + _UINT32.pack(len(data)) + data
    if isinstance(value, bytes):
        return b"\x07" + _UINT32.pack(len(value)) + value
    if isinstance(value, bool):
        return b"\x02\x01" if value else b"\x02\x00"
    if isinstance(value, int):
        return b"\x00" + _INT64.pack(value)
    return b"\x01" + _DOUBLE.pack(value)


def cell_body(name: str, value: Value) -> tuple[bytes, int]:
    """The body of a cell and its checksum. Linear in the value."""
    return _body(name.encode(), encode_variant(value))


def _body(name: bytes, variant: bytes) -> tuple[bytes, int]:
    body = b"".join(
        (
            _BODY_HEAD.pack(TAG_CELL, TAG_CELL_NAME, len(name)),
            name,
            b"\x05",
            _UINT32.pack(len(variant)),
            variant,
        )
    )
    return body, crc8(variant, crc8(name))


def seal(body: bytes, crc: int, version: int) -> bytes:
    """The whole cell: `body` with its version and checksum. `crc` is the body's checksum."""
    stamp = _INT64.pack(version)
    return b"%b\x07%b\x0a%c" % (body, stamp, crc8(stamp, crc))


def seal_all(bodies: Iterable[tuple[bytes, int]], version: int) -> list[bytes]:
    """`seal` for many bodies of one version, at a quarter of the cost a cell."""
    stamp = _INT64.pack(version)
    suffix, stamp_crc = b"\x07" + stamp + b"\x0a", crc8(stamp)
    return [b"%b%b%c" % (body, suffix, combine(crc, stamp_crc, 8)) for body, crc in bodies]


def split_cells(data: bytes, start: int, stop: int) -> list[Cell]:
    """The cells that stand in `data[start:stop]`.

    Values are not decoded. Raises `StoreDamaged` where the bytes are not cells. Linear in `stop`.
    """
    cells: list[Cell] = []
    position, uint32, int64 = start, _UINT32.unpack_from, _INT64.unpack_from
    try:
        while position < stop:
            name_end = position + 6 + uint32(data, position + 2)[0]
            value_end = name_end + 5 + uint32(data, name_end + 1)[0]
            end = value_end + _SEAL_BYTES
            if data[position] != TAG_CELL or data[value_end] != TAG_CELL_TIMESTAMP or end > stop:
                raise StoreDamaged(f"a stored cell is malformed at byte {position}")
            name = data[position + 6 : name_end].decode()
            cells.append(Cell(name, int64(data, value_end + 1)[0], data[position:end]))
            position = end
    except (struct.error, IndexError, UnicodeDecodeError) as error:
        raise StoreDamaged(f"a stored cell is malformed at byte {position}") from error
    return cells


def cell_value(cell: Cell) -> Value:
    """The value of a stored cell. Linear in the value."""
    wire = cell.wire
    start = 11 + _UINT32.unpack_from(wire, 2)[0]
    return decode_variant(wire, start, len(wire) - _SEAL_BYTES)


def decode_variant(data: bytes, start: int, stop: int) -> Value:
    """The value whose type byte stands at `start` and whose payload ends at `stop`.

    Raises `StoreDamaged` for a type that is not one of the five.
    """
    match data[start]:
        case ColumnType.STRING:
            return data[start + 5 : stop].decode()
        case ColumnType.INTEGER:
            return int(_INT64.unpack_from(data, start + 1)[0])
        case ColumnType.DOUBLE:
            return float(_DOUBLE.unpack_from(data, start + 1)[0])
        case ColumnType.BOOLEAN:
            return data[start + 1] != 0
        case ColumnType.BINARY:
            return data[start + 5 : stop]
        case other:
            raise StoreDamaged(f"a stored value has the unknown type {other:02x}")


def cell_size(wire: bytes) -> int:
    """What a cell counts: bytes of its name and of its value (semantics §9)."""
    name_bytes: int = _UINT32.unpack_from(wire, 2)[0]
    variant_bytes: int = _UINT32.unpack_from(wire, 7 + name_bytes)[0]
    overhead = 1 if wire[11 + name_bytes] <= ColumnType.BOOLEAN else 5
    return name_bytes + variant_bytes - overhead


def encode_key_section(columns: Iterable[tuple[str, KeyInput]]) -> tuple[bytes, int]:
    """The primary key section (01 and its cells) and the row checksum after it (wire §2.1)."""
    parts, row_crc = [b"\x01"], 0
    for name, value in columns:
        variant = _MARKERS[value] if isinstance(value, KeyMarker) else encode_variant(value)
        body, crc = _body(name.encode(), variant)
        parts.append(b"%b\x0a%c" % (body, crc))
        row_crc = crc8_byte(crc, row_crc)
    return b"".join(parts), row_crc
