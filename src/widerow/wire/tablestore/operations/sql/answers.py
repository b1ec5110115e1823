"""The rows of a result as a FlatBuffer, column by column (sql §9).

Written from front to back, which every reader takes and which costs some microseconds a column:
the library's own writer calls a function for each field, from back to front. Numbers are written as
arrays at once. Equal texts of a column stand once in the answer: what holds them are offsets, and
every reader follows these.
"""

import struct
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from widerow.query.relation import Values
from widerow.wire.tablestore.operations.sql.kinds import SqlKind
from widerow.wire.tablestore.operations.sql.moments import date_text, datetime_text, time_text
from widerow.wire.tablestore.operations.sql.select import ResultColumn

__all__ = ["encode_flat_rows"]

_LONG, _BOOLEAN, _DOUBLE, _STRING, _BINARY, _COMPLEX = 1, 2, 3, 4, 5, 7  # DataType
_DATETIME, _DATE, _TIME = 1, 2, 3  # LogicType


class _Wire(NamedTuple):
    """How a kind is sent: type, logic type, and what makes a number of a value."""

    type: int
    logic: int = 0
    number: Callable[[Any], Any] | None = None


_PLAIN: Final = {
    SqlKind.LONG: _Wire(_LONG),
    SqlKind.DOUBLE: _Wire(_DOUBLE),
    SqlKind.BOOL: _Wire(_BOOLEAN),
    SqlKind.TEXT: _Wire(_STRING),
    SqlKind.BYTES: _Wire(_BINARY),
    SqlKind.NULL: _Wire(_STRING),
}
_AS_NUMBERS: Final = {
    SqlKind.DATETIME: _Wire(_COMPLEX, _DATETIME, lambda value: value),
    SqlKind.DATE: _Wire(_COMPLEX, _DATE, lambda value: value // 1_000_000),
    SqlKind.TIME: _Wire(_COMPLEX, _TIME, lambda value: value * 1000),
}
_AS_TEXTS: Final[dict[SqlKind, Callable[[Any], str | None]]] = {
    SqlKind.DATETIME: datetime_text,
    SqlKind.DATE: date_text,
    SqlKind.TIME: time_text,
}


# The parts of fixed length, each behind the table of its fields' places (FlatBuffers, "vtable").
# The root: where its table is; places of the columns and the number of rows; that table.
_ROOT: Final = struct.Struct("<I 4H 4x iIq")
_ROOT_VALUES: Final = (16, 8, 16, 4, 8, 12, 12)
# A column: its table with name, values, complex type and type; the complex type; the values with
# the flags of NULL and one vector, whose slot says of what type it is.
_COLUMN: Final = struct.Struct("<6H iIIIb3x 4H ibb2x 9H 2x iII")
_COLUMN_TABLE: Final = 12
_COMPLEX_TABLE: Final = 40
_VALUES_TABLE: Final = 68
_VALUES_SLOTS: Final = 7
_U32: Final = struct.Struct("<I")
_BYTES_FIELDS: Final = struct.pack("<4H", 6, 8, 4, 0)
_BYTES_VALUE: Final = struct.Struct("<iII")  # its table, with a vector right behind


def encode_flat_rows(
    columns: Sequence[ResultColumn], values: Sequence[Values], rows: int, *, typed_times: bool
) -> bytes:
    """The FlatBuffer of a result.

    `typed_times`: moments, dates and times are numbers with a logic type, else they are texts.
    Memory: the answer, and an array for each column of numbers.
    """
    out = bytearray(_ROOT.pack(*_ROOT_VALUES, rows))
    listed = len(out) + 4
    out += _U32.pack(len(columns)) + bytes(4 * len(columns))
    for at, (column, given) in enumerate(zip(columns, values, strict=True)):
        place = listed + 4 * at
        _U32.pack_into(out, place, _write_column(out, column, given, typed_times) - place)
    return bytes(out)


def _write_column(
    out: bytearray,
    column: ResultColumn,
    values: Values,
    typed_times: bool,  # noqa: FBT001  # as `encode_flat_rows`
) -> int:
    """Write a column; the place of its table."""
    wire = _PLAIN.get(column.kind) or _AS_NUMBERS[column.kind]
    if wire.number is not None:
        convert = wire.number if typed_times else _AS_TEXTS[column.kind]
        values = [None if value is None else convert(value) for value in values]
        if not typed_times:
            wire = _Wire(_STRING)
    sent = _LONG if wire.number is not None else wire.type
    slot, write = _WRITERS[sent]
    _pad(out, 4)
    base = len(out)
    out += bytes(_COLUMN.size)
    name = len(out)
    data = column.name.encode()
    out += _U32.pack(len(data)) + data + b"\0"
    _pad(out, 4)
    nulls = len(out)
    out += _U32.pack(len(values)) + bytes([value is None for value in values])
    vector = write(out, values)
    slots = [0] * _VALUES_SLOTS
    slots[0], slots[slot] = 4, 8
    _COLUMN.pack_into(
        out,
        base,
        *(12, 20, 4, 16, 8, 12),
        *(12, name - base - 16, _VALUES_TABLE - 20, _COMPLEX_TABLE - 24, wire.type),
        *(8, 8, 4, 5),
        *(8, wire.logic, sent),
        *(18, 12, *slots),
        *(20, nulls - base - 72, vector - base - 76),
    )
    return base + _COLUMN_TABLE


def _pad(out: bytearray, size: int, behind: int = 0) -> None:
    """Write zeros until what follows `behind` more bytes stands at a multiple of `size`."""
    out += bytes(-(len(out) + behind) % size)


def _numbers(dtype: Any, empty: Any, size: int) -> Callable[[bytearray, Values], int]:  # noqa: ANN401  # numpy's
    def write(out: bytearray, values: Values) -> int:
        filled = [empty if value is None else value for value in values]
        _pad(out, max(4, size), 4)
        place = len(out)
        out += _U32.pack(len(filled))
        out += np.array(filled, dtype=dtype).tobytes()
        return place

    return write


def _texts(out: bytearray, values: Values) -> int:
    return _references(out, ["" if value is None else value for value in values], _write_text)


def _write_text(out: bytearray, text: str) -> int:
    place = len(out)
    data = text.encode()
    out += _U32.pack(len(data)) + data + b"\0"
    _pad(out, 4)
    return place


def _binaries(out: bytearray, values: Values) -> int:
    """A table with the bytes for each value."""
    _pad(out, 4)
    fields = len(out)
    out += _BYTES_FIELDS

    def write(out: bytearray, data: bytes) -> int:
        place = len(out)
        out += _BYTES_VALUE.pack(place - fields, 4, len(data)) + data
        _pad(out, 4)
        return place

    return _references(out, [b"" if value is None else value for value in values], write)


def _references(
    out: bytearray, values: Sequence[Any], write: Callable[[bytearray, Any], int]
) -> int:
    """A vector of references, and behind it what they mean, equal values once."""
    _pad(out, 4)
    place, count = len(out), len(values)
    first = place + 4
    out += _U32.pack(count) + bytes(4 * count)
    known: dict[Any, int] = {}
    for value in values:
        if value not in known:
            known[value] = write(out, value)
    targets = np.array([known[value] for value in values], dtype=np.int64)
    distances = targets - (first + 4 * np.arange(count, dtype=np.int64))
    out[first : first + 4 * count] = distances.astype("<u4").tobytes()
    return place


_WRITERS: Final[dict[int, tuple[int, Callable[[bytearray, Values], int]]]] = {
    _LONG: (1, _numbers("<i8", 0, 8)),
    _BOOLEAN: (2, _numbers(np.bool_, empty=False, size=1)),
    _DOUBLE: (3, _numbers("<f8", 0.0, 8)),
    _STRING: (4, _texts),
    _BINARY: (5, _binaries),
}
"""By the type that is sent: the slot of its vector, and what writes it."""
