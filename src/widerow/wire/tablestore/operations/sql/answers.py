"""The rows of a result as a FlatBuffer, column by column (sql §9).

Written from front to back, which every reader takes: the library's own writer calls a function for
each field, from back to front. A column is a block of bytes that begins at a multiple of eight, and
all places in it are told from there; so what stands before its values depends on its name, its kind
and the number of rows alone, and is made once. Equal texts of a column stand once: what holds them
are offsets, and every reader follows these. Compiled: an answer of one row costs little else.
"""

import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

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
_ALIGNED: Final = 8  # bytes: the largest number
_HEADS_KEPT: Final = 1024  # of a hundred bytes and a name
_U32: Final = struct.Struct("<I")
_BYTES_FIELDS: Final = struct.pack("<4H", 6, 8, 4, 0)
_BYTES_VALUE: Final = struct.Struct("<iII")  # its table, with a vector right behind
_ZEROS: Final = tuple([bytes(count) for count in range(_ALIGNED)])
_SLOTS: Final = {_LONG: 1, _BOOLEAN: 2, _DOUBLE: 3, _STRING: 4, _BINARY: 5}
"""Of the vectors of values, by the types that are sent."""


def encode_flat_rows(
    columns: Sequence[ResultColumn], values: Sequence[Values], rows: int, *, typed_times: bool
) -> bytes:
    """The FlatBuffer of a result.

    `typed_times`: moments, dates and times are numbers with a logic type, else they are texts.
    Memory: the answer twice.
    """
    listed = _ROOT.size + _U32.size
    at = listed + 4 * len(columns)
    places: list[int] = []
    parts: list[bytes] = [b""]
    for column, given in zip(columns, values, strict=True):
        _pad(parts, at)
        at += -at % _ALIGNED
        places.append(at + _COLUMN_TABLE - listed - 4 * len(places))
        at += _add_column(parts, column, given, typed_times)
    start = (_ROOT.pack(*_ROOT_VALUES, rows), _U32.pack(len(places)))
    parts[0] = b"".join((*start, struct.pack(f"<{len(places)}I", *places)))
    return b"".join(parts)


def _pad(parts: list[bytes], size: int) -> None:
    """Add zeros behind what has this size, until it ends at a multiple of eight."""
    parts.append(_ZEROS[-size % _ALIGNED])


def _add_column(
    parts: list[bytes],
    column: ResultColumn,
    values: Values,
    typed_times: bool,  # noqa: FBT001  # as `encode_flat_rows`
) -> int:
    """Add the block of a column; its size."""
    kind = column.kind
    wire = _PLAIN.get(kind)
    if wire is None:
        wire = _AS_NUMBERS[kind]
        convert = wire.number if typed_times else _AS_TEXTS[kind]
        assert convert is not None, "what is sent as a number says how"
        values = [None if value is None else convert(value) for value in values]
        wire = wire if typed_times else _Wire(_STRING)
    sent = _LONG if wire.number is not None else wire.type
    head, vector = _head(column.name, wire.type, wire.logic, sent, len(values))
    parts.append(head)
    nulls = bytes([value is None for value in values])
    parts.append(nulls)
    parts.append(bytes(vector - len(head) - len(nulls)))
    return vector + _add_values(parts, sent, values, 1 in nulls)


@lru_cache(_HEADS_KEPT)
def _head(name: str, kind: int, logic: int, sent: int, count: int) -> tuple[bytes, int]:
    """What stands before the flags of NULL of so many values, and where their vector begins."""
    data = name.encode()
    nulls = _COLUMN.size + 4 + len(data) + 1
    nulls += -nulls % 4
    vector = nulls + 4 + count
    vector += (_ALIGNED - 4 - vector) % _ALIGNED  # the values behind its length are aligned
    slots = [0] * _VALUES_SLOTS
    slots[0], slots[_SLOTS[sent]] = 4, 8
    fixed = _COLUMN.pack(
        *(12, 20, 4, 16, 8, 12),
        *(12, _COLUMN.size - 16, _VALUES_TABLE - 20, _COMPLEX_TABLE - 24, kind),
        *(8, 8, 4, 5),
        *(8, logic, sent),
        *(18, 12, *slots),
        *(20, nulls - 72, vector - 76),
    )
    named = b"".join((fixed, _U32.pack(len(data)), data, b"\0"))
    return named + _ZEROS[-len(named) % 4] + _U32.pack(count), vector


def _add_values(parts: list[bytes], sent: int, values: Values, has_nulls: bool) -> int:  # noqa: FBT001  # of one caller
    """Add the vector of a column's values; its size."""
    if has_nulls:
        empty = _EMPTY[sent]
        values = [empty if value is None else value for value in values]
    count = len(values)
    if sent == _STRING:
        return _add_texts(parts, values)
    if sent == _BINARY:
        return _add_binaries(parts, values)
    parts.append(_U32.pack(count))
    packed = struct.pack(f"<{count}{_FORMATS[sent]}", *values)
    parts.append(packed)
    return 4 + len(packed)


_EMPTY: Final[dict[int, Any]] = {
    _LONG: 0,
    _BOOLEAN: False,
    _DOUBLE: 0.0,
    _STRING: "",
    _BINARY: b"",
}
_FORMATS: Final = {_LONG: "q", _BOOLEAN: "?", _DOUBLE: "d"}


def _add_texts(parts: list[bytes], texts: Sequence[str]) -> int:
    """Add references to texts, and behind them the texts, equal ones once; the size of all."""
    count = len(texts)
    end = 4 + 4 * count
    known: dict[str, int] = {}
    distances: list[int] = []
    written: list[bytes] = []
    at = 4
    for text in texts:
        place = known.get(text, 0)
        if place == 0:
            known[text] = place = end
            data = text.encode()
            size = len(data)
            written += (_U32.pack(size), data, _ZEROS[4 - size % 4])
            end += 4 + size + 4 - size % 4
        distances.append(place - at)
        at += 4
    parts += (_U32.pack(count), struct.pack(f"<{count}I", *distances), *written)
    return end


def _add_binaries(parts: list[bytes], values: Sequence[bytes]) -> int:
    """As `_add_texts`: a table with the bytes for each value, before them that of its fields."""
    count = len(values)
    fields = 4 + 4 * count
    end = fields + len(_BYTES_FIELDS)
    known: dict[bytes, int] = {}
    distances: list[int] = []
    written: list[bytes] = []
    at = 4
    for data in values:
        place = known.get(data, 0)
        if place == 0:
            known[data] = place = end
            size = len(data)
            written += (_BYTES_VALUE.pack(place - fields, 4, size), data, _ZEROS[-size % 4])
            end += _BYTES_VALUE.size + size + -size % 4
        distances.append(place - at)
        at += 4
    packed = struct.pack(f"<{count}I", *distances)
    parts += (_U32.pack(count), packed, _BYTES_FIELDS, *written)
    return end
