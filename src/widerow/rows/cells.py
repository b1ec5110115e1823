"""One cell: name, value, version, checksum, in the bytes that go to the wire (wire §2.1, §2.2).

    cell   = 03 name value [timestamp] 0A crc8
    name   = 04 length:4 bytes          value = 05 length:4 type:1 payload
    timestamp = 07 milliseconds:8       all numbers little-endian

A *body* is the cell up to its value: what a client sends for a put without a version. Its checksum
state is all that is needed to add the version later (`seal`), so a value that arrives is never
taken apart and put together again on its way to the disk.
"""

import struct
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Final, final

from widerow.errors import StoreDamaged
from widerow.model.values import ColumnType, KeyInput, KeyMarker, KeyValue, Value
from widerow.rows.checksum import crc8, crc8_byte
from widerow.rows.words import double_at, integer_at, length_at

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = [
    "HEADER_NUMBER",
    "PLAIN_HEADER",
    "SEAL_BYTES",
    "TAG_CELL",
    "TAG_CELL_CHECKSUM",
    "TAG_CELL_NAME",
    "TAG_CELL_TIMESTAMP",
    "TAG_CELL_TYPE",
    "TAG_CELL_VALUE",
    "TAG_DELETE_MARKER",
    "TAG_ROW_CHECKSUM",
    "TAG_ROW_DATA",
    "TAG_ROW_KEY",
    "TYPE_AUTO_INCREMENT",
    "TYPE_INF_MAX",
    "TYPE_INF_MIN",
    "Cell",
    "body_size",
    "body_value",
    "cell_body",
    "cell_size",
    "cell_value",
    "decode_variant",
    "encode_key_section",
    "encode_variant",
    "key_section_size",
    "seal",
    "split_cells",
    "version_bytes",
]

HEADER_NUMBER: Final = 0x75
PLAIN_HEADER: Final = HEADER_NUMBER.to_bytes(4, "little")
"""The first bytes of every PlainBuffer (wire §2.1)."""

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
SEAL_BYTES: Final = 11
"""The bytes that a version and a checksum add to a body: 07, eight bytes, 0A, one."""
_FIXED_BYTES: Final = 12  # the fixed bytes of a body: tags, two lengths, type byte
_SIZED_BYTES: Final = _FIXED_BYTES + 4  # plus the length of a text or a binary
# The fixed bytes of a key's cell: tags, two lengths, type byte, checksum.
_KEY_FIXED_BYTES: Final = 14
_KEY_SIZED_BYTES: Final = _KEY_FIXED_BYTES + 4
_BOOLEAN: Final = ColumnType.BOOLEAN.value  # types above it have a length
_MARKERS: Final = {
    KeyMarker.INF_MIN: bytes((TYPE_INF_MIN,)),
    KeyMarker.INF_MAX: bytes((TYPE_INF_MAX,)),
    KeyMarker.AUTO_INCREMENT: bytes((TYPE_AUTO_INCREMENT,)),
}


@final
class Cell:
    """A stored cell. `wire`: all of its bytes, from its tag to its checksum."""

    __slots__ = ("name", "version", "wire")

    def __init__(self, name: str, version: int, wire: bytes) -> None:
        """The caller sees to it that the three agree."""
        self.name = name
        self.version = version
        self.wire = wire

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cell) and self.wire == other.wire

    def __hash__(self) -> int:
        return hash(self.wire)

    def __repr__(self) -> str:
        return f"Cell({self.name!r}, {self.version}, {self.wire!r})"


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


def version_bytes(version: int) -> bytes:
    """A version in the bytes of a cell."""
    return _INT64.pack(version)


def split_cells(
    data: bytes, start: int, stop: int, names: Container[bytes] | None = None
) -> list[Cell]:
    """The cells in `data[start:stop]`; with `names`, in bytes, only those that have one of them.

    Values are not decoded. Raises `StoreDamaged` where the bytes are not cells. Linear in `stop`.
    """
    cells: list[Cell] = []
    position: i64 = start
    last: i64 = stop
    try:
        while position < last:
            name_end = position + 6 + length_at(data, position + 2)
            value_end = name_end + 5 + length_at(data, name_end + 1)
            end = value_end + SEAL_BYTES
            if data[position] != TAG_CELL or data[value_end] != TAG_CELL_TIMESTAMP or end > last:
                raise StoreDamaged(f"a stored cell is malformed at byte {position}")
            name = data[position + 6 : name_end]
            if names is None or name in names:
                version = integer_at(data, value_end + 1)
                cells.append(Cell(name.decode(), version, data[position:end]))
            position = end
    except (IndexError, UnicodeDecodeError) as error:
        raise StoreDamaged(f"a stored cell is malformed at byte {position}") from error
    return cells


def cell_value(cell: Cell) -> Value:
    """The value of a stored cell. Raises `StoreDamaged`. Linear in the value."""
    try:
        return body_value(cell.wire, len(cell.wire) - SEAL_BYTES)
    except (IndexError, UnicodeDecodeError) as error:
        raise StoreDamaged(f"the stored value of column {cell.name!r} is malformed") from error


def body_value(body: bytes, stop: int | None = None) -> Value:
    """The value in a cell's body that was checked before, and ends at `stop`."""
    start = 11 + length_at(body, 2)
    return decode_variant(body, start, len(body) if stop is None else stop)


def decode_variant(data: bytes, start: int, stop: int) -> Value:
    """The value whose type byte stands at `start` and whose payload ends at `stop`.

    Raises `StoreDamaged` for a type that is not one of the five.
    """
    reader = _READERS.get(data[start])
    if reader is None:
        raise StoreDamaged(f"a stored value has the unknown type {data[start]:02x}")
    return reader(data, start, stop)


def _read_integer(data: bytes, start: int, _stop: int) -> int:
    return integer_at(data, start + 1)


def _read_double(data: bytes, start: int, _stop: int) -> float:
    return double_at(data, start + 1)


def _read_boolean(data: bytes, start: int, _stop: int) -> bool:
    return data[start + 1] != 0


def _read_string(data: bytes, start: int, stop: int) -> str:
    return _read_binary(data, start, stop).decode()


def _read_binary(data: bytes, start: int, stop: int) -> bytes:
    if stop < start + 5:
        raise StoreDamaged("a stored value ends inside its length")
    return data[start + 5 : stop]


_READERS: Final[dict[int, Callable[[bytes, int, int], Value]]] = {
    ColumnType.INTEGER.value: _read_integer,
    ColumnType.DOUBLE.value: _read_double,
    ColumnType.BOOLEAN.value: _read_boolean,
    ColumnType.STRING.value: _read_string,
    ColumnType.BINARY.value: _read_binary,
}


def cell_size(wire: bytes) -> int:
    """The size of a stored cell: the bytes of its name and of its value (semantics §9)."""
    return body_size(wire) - SEAL_BYTES


def body_size(body: bytes) -> int:
    """The size of a cell's body: the bytes of its name and of its value (semantics §9)."""
    name_bytes = length_at(body, 2)
    # Bodies of one type have one length besides the name and the payload.
    return len(body) - (_SIZED_BYTES if body[11 + name_bytes] > _BOOLEAN else _FIXED_BYTES)


def encode_key_section(columns: Iterable[tuple[str, KeyInput]]) -> tuple[bytes, int]:
    """The primary key section (01 and its cells) and the row checksum after it (wire §2.1)."""
    parts, row_crc = [b"\x01"], 0
    for name, value in columns:
        variant = _MARKERS[value] if isinstance(value, KeyMarker) else encode_variant(value)
        body, crc = _body(name.encode(), variant)
        parts.append(b"%b\x0a%c" % (body, crc))
        row_crc = crc8_byte(crc, row_crc)
    return b"".join(parts), row_crc


def key_section_size(section: bytes, values: tuple[KeyValue, ...]) -> int:
    """The size of a primary key section of these values: names and values (semantics §9)."""
    size = len(section) - 1
    for value in values:
        size -= _KEY_FIXED_BYTES if isinstance(value, int) else _KEY_SIZED_BYTES
    return size
