"""The rows of a result as a FlatBuffer, column by column (sql §9).

Numbers are written as arrays at once. Equal texts of a column stand once in the answer: what holds
them are offsets, and every reader follows these.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import flatbuffers
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


def encode_flat_rows(
    columns: Sequence[ResultColumn], values: Sequence[Values], rows: int, *, typed_times: bool
) -> bytes:
    """The FlatBuffer of a result.

    `typed_times`: moments, dates and times are numbers with a logic type, else they are texts.
    Memory: the answer, and an array for each column of numbers.
    """
    builder = flatbuffers.Builder(1024 + 16 * rows * len(columns))
    made = [
        _column(builder, column, given, typed_times)
        for column, given in zip(columns, values, strict=True)
    ]
    builder.StartVector(4, len(made), 4)
    for offset in reversed(made):
        builder.PrependUOffsetTRelative(offset)
    listed = builder.EndVector()
    builder.StartObject(2)
    builder.PrependUOffsetTRelativeSlot(0, listed, 0)
    builder.PrependInt64Slot(1, rows, -1)  # written for every number
    builder.Finish(builder.EndObject())
    return bytes(builder.Output())


def _column(
    builder: flatbuffers.Builder,
    column: ResultColumn,
    values: Values,
    typed_times: bool,  # noqa: FBT001  # as `encode_flat_rows`
) -> int:
    wire = _PLAIN.get(column.kind) or _AS_NUMBERS[column.kind]
    if wire.number is not None:
        convert = wire.number if typed_times else _AS_TEXTS[column.kind]
        values = [None if value is None else convert(value) for value in values]
        if not typed_times:
            wire = _Wire(_STRING)
    sent = _LONG if wire.number is not None else wire.type
    nulls = builder.CreateNumpyVector(np.array([value is None for value in values], dtype=np.bool_))
    slot, write = _WRITERS[sent]
    vector = write(builder, values)
    builder.StartObject(7)
    builder.PrependUOffsetTRelativeSlot(0, nulls, 0)
    builder.PrependUOffsetTRelativeSlot(slot, vector, 0)
    found = builder.EndObject()
    builder.StartObject(2)
    builder.PrependInt8Slot(0, wire.logic, -1)
    builder.PrependInt8Slot(1, sent, -1)
    complex_type = builder.EndObject()
    name = builder.CreateString(column.name)
    builder.StartObject(4)
    builder.PrependUOffsetTRelativeSlot(0, name, 0)
    builder.PrependInt8Slot(1, wire.type, -1)
    builder.PrependUOffsetTRelativeSlot(2, found, 0)
    builder.PrependUOffsetTRelativeSlot(3, complex_type, 0)
    return int(builder.EndObject())


def _numbers(dtype: Any, empty: Any) -> Callable[[flatbuffers.Builder, Values], int]:  # noqa: ANN401  # numpy's
    def write(builder: flatbuffers.Builder, values: Values) -> int:
        filled = [empty if value is None else value for value in values]
        return int(builder.CreateNumpyVector(np.array(filled, dtype=dtype)))

    return write


def _texts(builder: flatbuffers.Builder, values: Values) -> int:
    known: dict[str, int] = {}
    for value in values:
        text = "" if value is None else value
        if text not in known:
            known[text] = builder.CreateString(text)
    return _offsets(builder, [known["" if value is None else value] for value in values])


def _binaries(builder: flatbuffers.Builder, values: Values) -> int:
    """A table with the bytes for each value."""
    known: dict[bytes, int] = {}
    for value in values:
        data = b"" if value is None else value
        if data not in known:
            vector = builder.CreateByteVector(data)
            builder.StartObject(1)
            builder.PrependUOffsetTRelativeSlot(0, vector, 0)
            known[data] = builder.EndObject()
    return _offsets(builder, [known[b"" if value is None else value] for value in values])


def _offsets(builder: flatbuffers.Builder, targets: Sequence[int]) -> int:
    """A vector of references. Each is the distance from where it stands to what it means."""
    count = len(targets)
    builder.Prep(4, 4 * count)
    places = builder.Offset() + 4 * np.arange(count, 0, -1, dtype=np.int64)
    distances = places - np.array(targets, dtype=np.int64)
    return int(builder.CreateNumpyVector(distances.astype(np.uint32)))


_WRITERS: Final[dict[int, tuple[int, Callable[[flatbuffers.Builder, Values], int]]]] = {
    _LONG: (1, _numbers(np.int64, 0)),
    _BOOLEAN: (2, _numbers(np.bool_, empty=False)),
    _DOUBLE: (3, _numbers(np.float64, 0.0)),
    _STRING: (4, _texts),
    _BINARY: (5, _binaries),
}
"""By the type that is sent: the slot of its vector, and what writes it."""
