"""PlainBuffer: rows and primary keys as clients send and read them (wire §2).

    buffer = 75 00 00 00  row
    row    = 01 cell+  [02 cell+]  [08]  09 crc8
    cell   = 03 name  [05 length:4 value]  [06 operation]  [07 version:8]  0A crc8

Stored rows have this form already (`docs/formats/rows.md`), so encoding is joining, and decoding
keeps slices of what arrived: the primary key section whole, of every value the cell's body.

Rules of the decoder. Every length is compared with the buffer before anything is copied. A cell's
checksum is compared before its content is looked at, so damage is reported as damage. Each cell
has one encoding only (lengths exact, booleans 00 or 01), or bytes that differ would be stored
for values that are equal. Whatever the input, nothing but `InvalidRequest` is raised.
"""

import struct
from collections.abc import Callable, Sequence
from math import isfinite, isnan
from typing import Final, NamedTuple

from widerow.errors import InvalidRequest
from widerow.limits import CELLS_PER_CHANGE_MAX, KEY_COLUMNS_MAX, REPEATED_ROOM
from widerow.model.tablestore.row import (
    CellChange,
    CellOperation,
    Modification,
    PrimaryKey,
    SentCells,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import ColumnType, KeyInput, KeyMarker, Value, value_bytes
from widerow.rows.cells import (
    PLAIN_HEADER,
    TAG_CELL,
    TAG_CELL_CHECKSUM,
    TAG_CELL_NAME,
    TAG_CELL_TIMESTAMP,
    TAG_CELL_TYPE,
    TAG_CELL_VALUE,
    TAG_DELETE_MARKER,
    TAG_ROW_CHECKSUM,
    TAG_ROW_DATA,
    TAG_ROW_KEY,
    TYPE_AUTO_INCREMENT,
    TYPE_INF_MAX,
    TYPE_INF_MIN,
)
from widerow.rows.checksum import crc8, crc8_byte
from widerow.wire.tablestore.plain_row import plain_key, plain_row, remember_name

__all__ = [
    "decode_primary_key",
    "decode_row_change",
    "decode_variant_value",
    "encode_primary_key",
    "encode_rows",
]

_uint32_at: Final = struct.Struct("<I").unpack_from
_int64_at: Final = struct.Struct("<q").unpack_from
_cell_head_at: Final = struct.Struct("<HI").unpack_from  # CELL, CELL_NAME as one number; length
_PUT: Final = CellOperation.PUT
# Somewhat more than a row may have are decoded, and then refused by the rule of their number.
_CELLS_MAX: Final = CELLS_PER_CHANGE_MAX * REPEATED_ROOM
_KEY_COLUMNS_MAX: Final = KEY_COLUMNS_MAX * REPEATED_ROOM
_BOOLEANS: Final = frozenset((b"\x02\x00", b"\x02\x01"))
_CELL_TAGS: Final = TAG_CELL | TAG_CELL_NAME << 8
_integer_of: Final = struct.Struct("<Bq").unpack  # type byte and payload, of exactly this length
_double_of: Final = struct.Struct("<Bd").unpack
_sized_at: Final = struct.Struct("<BI").unpack_from  # type byte and length of a text or binary

# The service's own words (semantics §18.1); clients show them and some compare them.
_NO_KEY: Final = "Cell data broken, PK is empty."
_NO_KEY_CELL: Final = "Cell data broken, no PK follow PKTag."
_NO_CELL: Final = "Cell data broken, no Cells follow CellTag."
_NO_NAME: Final = "Cell data broken, attr has no name."
_NO_CELL_CHECKSUM: Final = 'Cell data broken, cell is not end with checksum[<0x0A>]"] tag.'
_NO_ROW_CHECKSUM: Final = "Cell data broken, row is not end with checksum tag."
_MORE_DATA: Final = "Cell data broken, has more data in cell, but they can't be parsed."
_BAD_FORMAT: Final = "data format is invalid."
_BAD_TYPE: Final = "data format is invalid, unknown variant type occured."
_BAD_TEXT: Final = "Cell data broken, wrong string format, size: {size}."
_KEY_TYPE: Final = "Unknown or unsupported CellType in primary key: {name}."
_KEY_TYPE_TEXTS: Final = {
    ColumnType.DOUBLE.value: "double can not be used as primary key.",
    0x06: "Cell data broken, PK value cannot be NULL, name: {name}.",
}
_FORMAT_TEXTS: Final = {
    ColumnType.BOOLEAN.value: "Invalid boolean real value, value length: {size}.",
    ColumnType.STRING.value: _BAD_TEXT,
    ColumnType.BINARY.value: _BAD_TEXT,
}


_RawCell = tuple[str, bytes | None, int | None, int | None, int, int, int]
"""A cell taken apart and its checksum verified; value and operation not yet looked at.

Name, variant (type byte and payload), operation, version, where the value ends, checksum of name
and value, where the cell ends. A bare tuple: one is made for every cell that arrives.
"""


class _Shape(NamedTuple):
    """What cells of one operation carry besides their name, and the rules that say so."""

    value: bool
    value_rule: TablestoreRule
    version: bool
    version_rule: TablestoreRule


_SHAPES: Final = {
    CellOperation.DELETE_ONE_VERSION.value: _Shape(
        value=False,
        value_rule=TablestoreRule.VALUE_ON_DELETE,
        version=True,
        version_rule=TablestoreRule.VERSION_MISSING,
    ),
    CellOperation.DELETE_ALL_VERSIONS.value: _Shape(
        value=False,
        value_rule=TablestoreRule.VALUE_ON_DELETE,
        version=False,
        version_rule=TablestoreRule.VERSION_ON_DELETE_ALL,
    ),
    CellOperation.INCREMENT.value: _Shape(
        value=True,
        value_rule=TablestoreRule.VALUE_MISSING,
        version=False,
        version_rule=TablestoreRule.VERSION_ON_INCREMENT,
    ),
}


# --- encoding --------------------------------------------------------------------------------


def encode_primary_key(section: bytes, crc: int) -> bytes:
    """A buffer of one primary key. `crc`: the row checksum after `section` (wire §2.1)."""
    return b"%b%b\x09%c" % (PLAIN_HEADER, section, crc8_byte(0, crc))


def encode_rows(rows: Sequence[bytes]) -> bytes:
    """One header and all rows behind it; no bytes at all where there is no row (wire §2.1)."""
    return b"".join((PLAIN_HEADER, *rows)) if any(rows) else b""


# --- decoding --------------------------------------------------------------------------------


def decode_primary_key(data: bytes, start: int = 0, stop: int = -1) -> PrimaryKey:
    """The primary key that is all of a buffer: what reads and range bounds carry.

    The buffer is `data[start:stop]`, or all of `data`. Infinite bounds and the auto-increment
    marker come out as `KeyMarker`; who may use them is for the engine to say. Raises
    `InvalidRequest`. Linear in the buffer. (wire §2.1)
    """
    if stop < 0:
        stop = len(data)
    key = plain_key(data, start, stop, deletes=False)
    return _decode_primary_key(data[start:stop]) if key is None else key


def _decode_primary_key(data: bytes) -> PrimaryKey:
    try:
        key, position = _read_key(data)
        tag = data[position]
        if tag == TAG_ROW_DATA:
            raise InvalidRequest(TablestoreRule.READ_WITH_CELLS)
        if tag == TAG_DELETE_MARKER:
            raise InvalidRequest(TablestoreRule.READ_DELETE_MARKER)
        _finish(data, position, crc8_byte(0, key.crc))
    except (struct.error, IndexError) as error:
        raise _broken(_NO_ROW_CHECKSUM) from error
    return key


def decode_row_change(
    data: bytes, modification: Modification, start: int = 0, stop: int = -1
) -> tuple[PrimaryKey, tuple[CellChange, ...] | SentCells]:
    """The row that is all of a buffer: its primary key and its cells, in the order sent.

    The buffer is `data[start:stop]`, or all of `data`. Cells are held against what `modification`
    allows; a delete is taken with or without its marker. Lengths of values are not bounded here.
    Raises `InvalidRequest`. Linear in the buffer. (wire §2.1; semantics §4.2-4.4)
    """
    if stop < 0:
        stop = len(data)
    if modification is Modification.DELETE:
        key = plain_key(data, start, stop, deletes=True)
        if key is not None:
            return key, ()
    else:
        row = plain_row(data, start, stop)
        if row is not None:
            return row
    return _decode_row_change(data[start:stop], modification)


def _decode_row_change(
    data: bytes, modification: Modification
) -> tuple[PrimaryKey, tuple[CellChange, ...]]:
    try:
        key, position = _read_key(data)
        cells: list[CellChange] = []
        crc = key.crc
        if data[position] == TAG_ROW_DATA:
            if modification is Modification.DELETE:
                raise InvalidRequest(TablestoreRule.DELETE_WITH_CELLS)
            cells, crc, position = _read_cells(data, position + 1, crc, modification)
        marker = data[position] == TAG_DELETE_MARKER
        _finish(data, position + marker, crc8_byte(marker, crc))
    except (struct.error, IndexError) as error:
        raise _broken(_NO_ROW_CHECKSUM) from error
    if marker and modification is not Modification.DELETE:
        raise InvalidRequest(TablestoreRule.DELETE_MARKER_IN_WRITE)
    if not cells and modification is Modification.UPDATE:
        raise InvalidRequest(TablestoreRule.UPDATE_WITHOUT_CELLS)
    return key, tuple(cells)


def decode_variant_value(
    data: bytes, rule: TablestoreRule = TablestoreRule.ROW_ENCODING
) -> KeyInput | Value:
    """The value or marker that is all of `data` (wire §2.5).

    Raises `InvalidRequest` with `rule` where the bytes are no such value. NaN and infinities are
    values here: they may be compared with, though never stored. Linear in `data`.
    """
    try:
        return _VARIANT_READERS[data[0]](data)
    except (KeyError, IndexError) as error:
        raise InvalidRequest(rule, message=_BAD_TYPE) from error
    except (ValueError, struct.error) as malformed:
        raise InvalidRequest(rule, message=_BAD_FORMAT) from malformed


# --- rows ------------------------------------------------------------------------------------


def _read_key(data: bytes) -> tuple[PrimaryKey, int]:
    """The primary key, and where it ends."""
    if data[:4] != PLAIN_HEADER:
        actual = int.from_bytes(data[:4], "little")
        raise _broken(f"Cell data broken, mismatch header, actual: {actual} , expect: 117.")
    if len(data) == 4:
        raise _broken(_NO_KEY)
    if data[4] != TAG_ROW_KEY:
        raise _mismatch(data[4], TAG_ROW_KEY)
    columns: list[tuple[str, KeyInput]] = []
    crc = 0
    position = 5
    while data[position] == TAG_CELL:
        column, position = _key_column(data, position)
        columns.append(column)
        if len(columns) > _KEY_COLUMNS_MAX:
            raise _crowded("a primary key", _KEY_COLUMNS_MAX)
        crc = crc8_byte(data[position - 1], crc)
    if not columns:
        raise _broken(_NO_KEY_CELL)
    return PrimaryKey(tuple(columns), data[4:position], crc), position


def _key_column(data: bytes, start: int) -> tuple[tuple[str, KeyInput], int]:
    """The key column whose cell begins at `start`, and where that ends. Raises `InvalidRequest`."""
    cell = _read_cell(data, start)
    name, variant, operation, version, _, _, end = cell
    if variant is None or operation is not None or version is not None:
        raise _key_cell_refused(cell)
    try:
        value = _KEY_READERS[variant[0]](variant)
    except _UNREADABLE as error:
        raise _key_value_refused(name, variant, error) from error
    remember_name(name)
    return (name, value), end


def _read_cells(
    data: bytes, position: int, row_crc: int, modification: Modification
) -> tuple[list[CellChange], int, int]:
    """The cells from `position`, the row checksum after them, and where they end."""
    cells: list[CellChange] = []
    crc = row_crc
    while data[position] == TAG_CELL:
        cell = _read_cell(data, position)
        cells.append(_change_of(data, position, cell, modification))
        if len(cells) > _CELLS_MAX:
            raise _crowded("a row", _CELLS_MAX)
        position = cell[6]
        crc = crc8_byte(data[position - 1], crc)
    if not cells:
        raise _broken(_NO_CELL)
    return cells, crc, position


def _change_of(data: bytes, start: int, cell: _RawCell, modification: Modification) -> CellChange:
    """What a cell does. Raises `InvalidRequest` where it may not."""
    name, variant, operation, version, body_end, crc, _ = cell
    if operation is not None:
        return _operation_cell(operation, data[start:body_end], cell, modification)
    if variant is None:
        raise InvalidRequest(TablestoreRule.VALUE_MISSING, name=name)
    size = len(name.encode()) + value_bytes(_value_of(name, variant))
    remember_name(name)
    return CellChange(_PUT, name, version, size, data[start:body_end], crc)


def _value_of(name: str, variant: bytes) -> Value:
    """The value of a column. Raises `InvalidRequest`."""
    try:
        return _VALUE_READERS[variant[0]](variant)
    except _UNREADABLE as error:
        raise _value_refused(name, variant, error) from error


def _finish(data: bytes, position: int, crc: int) -> None:
    """Hold the end of the row against `crc`: the row checksum, then nothing but padding."""
    if data[position] != TAG_ROW_CHECKSUM:
        raise _mismatch(data[position], TAG_ROW_CHECKSUM)
    if data[position + 1] != crc:
        raise InvalidRequest(TablestoreRule.ROW_CHECKSUM, user=data[position + 1], service=crc)
    # The Node SDK makes its buffers too long and leaves the rest zero (wire §2.3).
    if position + 2 != len(data) and data[position + 2 :].strip(b"\x00"):
        raise _broken(_MORE_DATA)


# --- cells -----------------------------------------------------------------------------------


def _read_cell(data: bytes, start: int) -> _RawCell:
    """The cell at `start`, where the caller has seen its tag.

    Raises `IndexError` or `struct.error` where the buffer ends before the cell does: a length is
    first used to read the byte behind what it measures, so no hostile length reaches a slice.
    """
    tags, size = _cell_head_at(data, start)
    if tags != _CELL_TAGS:
        raise _broken(_NO_NAME)
    name_end = position = start + 6 + size
    tag = data[position]
    encoded_name = data[start + 6 : name_end]
    body_crc = crc8(encoded_name)
    variant = operation = version = None
    if tag == TAG_CELL_VALUE:
        position += 5 + _uint32_at(data, position + 1)[0]
        tag = data[position]
        variant = data[name_end + 5 : position]
        body_crc = crc8(variant, body_crc)
    crc, body_end = body_crc, position
    if tag == TAG_CELL_TYPE:
        operation = data[position + 1]
        position += 2
        tag = data[position]
    if tag == TAG_CELL_TIMESTAMP:
        version = _int64_at(data, position + 1)[0]
        crc = crc8(data[position + 1 : position + 9], crc)
        position += 9
        tag = data[position]
    if operation is not None:  # checked last although it stands before the version (wire §2.2)
        crc = crc8_byte(operation, crc)
    if tag != TAG_CELL_CHECKSUM:
        raise _broken(_NO_CELL_CHECKSUM)
    if data[position + 1] != crc:
        raise InvalidRequest(TablestoreRule.ROW_CHECKSUM, user=data[position + 1], service=crc)
    try:
        name = encoded_name.decode()
    except UnicodeDecodeError as error:
        raise _broken(_BAD_TEXT.format(size=size)) from error
    return name, variant, operation, version, body_end, body_crc, position + 2


def _operation_cell(
    operation: int, body: bytes, cell: _RawCell, modification: Modification
) -> CellChange:
    """A cell that carries an operation, held against the operation's shape."""
    name, variant, _, version, _, crc, _ = cell
    if modification is Modification.PUT:
        raise InvalidRequest(TablestoreRule.OPERATION_IN_PUT, name=name)
    shape = _SHAPES.get(operation)
    if shape is None:
        raise InvalidRequest(TablestoreRule.OPERATION_UNKNOWN, name=name, operation=operation)
    if (variant is not None) is not shape.value:
        raise InvalidRequest(shape.value_rule, name=name)
    if (version is not None) is not shape.version:
        raise InvalidRequest(shape.version_rule, name=name)
    size = len(name.encode())
    if variant is None:
        return CellChange(CellOperation(operation), name, version, size)
    size += value_bytes(_value_of(name, variant))
    return CellChange(CellOperation(operation), name, version, size, body, crc)


# --- values ----------------------------------------------------------------------------------

# What a reader of the tables below raises: the type is unknown, the payload has another length or
# is not a text, the number is not finite, the type is missing.
_UNREADABLE: Final = (KeyError, ValueError, struct.error, ArithmeticError, IndexError)


def _read_integer(variant: bytes) -> int:
    value: int = _integer_of(variant)[1]
    return value


def _read_double(variant: bytes) -> float:
    value: float = _double_of(variant)[1]
    return value


def _read_stored_double(variant: bytes) -> float:
    value: float = _double_of(variant)[1]
    if not isfinite(value):
        raise ArithmeticError(value)
    return value


def _read_boolean(variant: bytes) -> bool:
    if variant not in _BOOLEANS:
        raise ValueError(variant[:2])
    return variant[1] == 1


def _read_binary(variant: bytes) -> bytes:
    if _sized_at(variant)[1] != len(variant) - 5:
        raise ValueError(len(variant))
    return variant[5:]


def _read_string(variant: bytes) -> str:
    if _sized_at(variant)[1] != len(variant) - 5:
        raise ValueError(len(variant))
    return variant[5:].decode()


def _read_marker(variant: bytes) -> KeyMarker:
    if len(variant) != 1:
        raise ValueError(len(variant))
    return _MARKERS[variant[0]]


_MARKERS: Final = {
    TYPE_INF_MIN: KeyMarker.INF_MIN,
    TYPE_INF_MAX: KeyMarker.INF_MAX,
    TYPE_AUTO_INCREMENT: KeyMarker.AUTO_INCREMENT,
}
_VALUE_READERS: Final[dict[int, Callable[[bytes], Value]]] = {
    ColumnType.INTEGER.value: _read_integer,
    ColumnType.DOUBLE.value: _read_stored_double,
    ColumnType.BOOLEAN.value: _read_boolean,
    ColumnType.STRING.value: _read_string,
    ColumnType.BINARY.value: _read_binary,
}
_KEY_READERS: Final[dict[int, Callable[[bytes], KeyInput]]] = {
    ColumnType.INTEGER.value: _read_integer,
    ColumnType.STRING.value: _read_string,
    ColumnType.BINARY.value: _read_binary,
    **dict.fromkeys(_MARKERS, _read_marker),
}
_VARIANT_READERS: Final[dict[int, Callable[[bytes], KeyInput | Value]]] = {
    **_VALUE_READERS,
    **_KEY_READERS,
    ColumnType.DOUBLE.value: _read_double,
}


# --- refusals --------------------------------------------------------------------------------


def _crowded(what: str, limit: int) -> InvalidRequest:
    return InvalidRequest(TablestoreRule.REQUEST_ELEMENTS, field=what, limit=limit)


def _broken(message: str) -> InvalidRequest:
    return InvalidRequest(TablestoreRule.ROW_ENCODING, message=message)


def _mismatch(actual: int, expected: int) -> InvalidRequest:
    return _broken(f"Cell data broken, mismatch tag, actual tag({actual}), expect({expected}).")


def _key_cell_refused(cell: _RawCell) -> InvalidRequest:
    """Why a primary key cell is not name and value."""
    name, variant, operation, _, _, _, _ = cell
    if operation is not None:
        return InvalidRequest(TablestoreRule.KEY_OPERATION, name=name)
    rule = TablestoreRule.KEY_VALUE_MISSING if variant is None else TablestoreRule.KEY_VERSION
    return InvalidRequest(rule, name=name)


def _key_value_refused(name: str, variant: bytes, error: Exception) -> InvalidRequest:
    """Why `variant` is not a primary key value, where reading it failed with `error`."""
    if not isinstance(error, KeyError):
        return _value_refused(name, variant, error)
    text = _KEY_TYPE_TEXTS.get(variant[0], _KEY_TYPE)
    return _broken(text.format(name=name))


def _value_refused(name: str, variant: bytes, error: Exception) -> InvalidRequest:
    """Why `variant` is not a value, where reading it failed with `error`."""
    if isinstance(error, KeyError):
        return InvalidRequest(TablestoreRule.VALUE_TYPE, column=name)
    if isinstance(error, UnicodeDecodeError):
        return InvalidRequest(TablestoreRule.VALUE_TEXT, column=name)
    if isinstance(error, ArithmeticError):
        rule = (
            TablestoreRule.VALUE_NAN
            if isnan(_read_double(variant))
            else TablestoreRule.VALUE_INFINITY
        )
        return InvalidRequest(rule, column=name)
    text = _FORMAT_TEXTS.get(variant[0], _BAD_FORMAT) if variant else _BAD_FORMAT
    return _broken(text.format(size=len(variant)))
