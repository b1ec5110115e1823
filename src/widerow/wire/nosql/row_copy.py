"""Rows copied from the store into answers (docs/formats/rows.md, docs/formats/nson.md).

Texts, integers, doubles, booleans and binaries go from MessagePack to NSON without an object made
of them. Values of other types are read one by one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

from librt.strings import BytesWriter, read_i32_be
from mypy_extensions import i64

from widerow.errors import StoreDamaged
from widerow.keys.layout import ROW_PREFIX_BYTES
from widerow.keys.typed import Decoder, decoder_of
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import TypedValue
from widerow.rows.typed import TYPED_HEADER_BYTES, packed_array_head, packed_end, value_reader
from widerow.wire.nosql.nson import (
    NSON_BINARY,
    NSON_BOOLEAN,
    NSON_DOUBLE,
    NSON_INTEGER,
    NSON_LONG,
    NSON_MAP,
    NSON_NULL,
    NSON_STRING,
    begin_container,
    end_container,
    put_binary,
    put_int,
)
from widerow.wire.nosql.typed_values import EncodedColumn

__all__ = ["RowCopy"]

_CODES: Final[Mapping[Kind, int]] = {
    Kind.STRING: NSON_STRING,
    Kind.INTEGER: NSON_INTEGER,
    Kind.LONG: NSON_LONG,
    Kind.FLOAT: NSON_DOUBLE,
    Kind.DOUBLE: NSON_DOUBLE,
    Kind.BOOLEAN: NSON_BOOLEAN,
    Kind.BINARY: NSON_BINARY,
    Kind.FIXED_BINARY: NSON_BINARY,
}
"""The types of NSON whose values are made of the bytes of MessagePack."""
_NOT_COPIED: Final = -1
_SURROGATE: Final = b"\xed"  # may begin half a character of a key (keys/typed.py)


@final
class _Step:
    """A column of the answer, and how its value is come by.

    `code`: the type of NSON as which it is copied, with `begun`, the name and the code; -1: `read`
    reads it, and `put` appends it. `decode`: reads it from a key; None: it is a stored value.
    `sized`: the first byte of stored bytes behind a length of one byte; 256: none.
    """

    __slots__ = ("begun", "code", "decode", "name", "put", "read", "sized", "type")

    def __init__(self, column: EncodedColumn, decode: Decoder | None) -> None:
        self.name = column.name
        self.put: Callable[[BytesWriter, Any, FieldType], None] = column.put
        self.type = column.type
        self.code = _NOT_COPIED if column.type.uuid else _CODES.get(column.type.kind, _NOT_COPIED)
        self.begun = b"" if self.code < 0 else column.name + bytes((self.code,))
        self.sized = {NSON_STRING: 0xD9, NSON_BINARY: 0xC4}.get(self.code, 0x100)
        self.decode = decode
        self.read = value_reader(column.type)

    def put_value(self, out: BytesWriter, value: TypedValue) -> None:
        """Append the column with a value."""
        out.write(self.name)
        if value is None:
            out.append(NSON_NULL)
        else:
            self.put(out, value, self.type)


@final
class RowCopy:
    """How rows of one definition of a table are copied."""

    __slots__ = ("_head", "_schema", "_steps")

    def __init__(self, table: TypedTable, columns: Sequence[EncodedColumn]) -> None:
        """`columns`: all of the table, in their declared order; of a table for which `can_copy`."""
        decoders = {index: decoder_of(table.fields[index].type) for index in table.key_positions}
        self._schema = table.schema
        self._head = packed_array_head(len(table.value_positions))
        self._steps = [_Step(each, decoders.get(index)) for index, each in enumerate(columns)]

    @staticmethod
    def can_copy(table: TypedTable) -> bool:
        """Whether key columns and values stand in rows in the order in which they are declared.

        Not in child tables, whose keys have marks, nor in collections, which have documents.
        """
        keys, last = table.key_positions, table.layouts[table.schema - 1]
        numbers = tuple([table.fields[index].number for index in table.value_positions])
        return (
            table.parent is None
            and not table.collection
            and keys == tuple(sorted(keys))
            and last == numbers
        )

    def put(self, out: BytesWriter, key: bytes, record: bytes) -> bool:
        """Append the row of a stored key and record as a MAP of its columns.

        False, and nothing is appended: it was written with a former schema. Raises `StoreDamaged`.
        """
        if record[2] << 8 | record[3] != self._schema:
            return False
        value_at: i64 = TYPED_HEADER_BYTES + len(self._head)
        key_at: i64 = ROW_PREFIX_BYTES
        if record[TYPED_HEADER_BYTES:value_at] != self._head:
            raise StoreDamaged("a row's values do not fit the schema of its table")
        begun = begin_container(out, NSON_MAP, len(self._steps))
        try:
            for step in self._steps:
                if step.decode is None:
                    value_at = _put_stored(out, step, record, value_at)
                else:
                    key_at = _put_key(out, step, key, key_at)
        except IndexError as error:
            raise StoreDamaged("a row ends inside a value") from error
        if value_at != len(record) or key_at != len(key):
            raise StoreDamaged("a row ends inside a value, or bytes follow its values")
        end_container(out, begun)
        return True


def _put_key(out: BytesWriter, step: _Step, key: bytes, at: i64) -> i64:
    """Append a column of the key, which stands at a position of it; answers where it ends."""
    if step.code == NSON_STRING:
        stop: i64 = key.find(0, at)
        if stop >= 0 and key[stop + 1] == 1:
            text = key[at:stop]
            if _SURROGATE not in text:
                out.write(step.begun)
                put_binary(out, text)
                return stop + 2
    elif step.code == NSON_INTEGER:
        bits: i64 = i64(read_i32_be(key, at)) & 0xFFFF_FFFF
        out.write(step.begun)
        put_int(out, int(bits - (1 << 31)))
        return at + 4
    assert step.decode is not None
    value, end = step.decode(key, int(at))
    step.put_value(out, value)
    return end


def _put_stored(out: BytesWriter, step: _Step, record: bytes, at: i64) -> i64:
    """Append a column whose value stands at a position of a record; answers where it ends."""
    first: i64 = record[at]
    if step.code == NSON_STRING and 0xA0 <= first <= 0xBF:
        return _put_bytes(out, step, record, at + 1, first - 0xA0)
    if step.sized <= first < step.sized + 3:
        return _put_sized(out, step, record, at)
    if step.code in (NSON_INTEGER, NSON_LONG) and first != 0xC0:
        return _put_integer(out, step, record, at)
    if step.code == NSON_DOUBLE and first == 0xCB:
        out.write(step.begun)
        out.write(record[at + 1 : at + 9])
        return at + 9
    if step.code == NSON_BOOLEAN and 0xC2 <= first <= 0xC3:
        out.write(step.begun)
        out.append(1 if first == 0xC3 else 0)
        return at + 1
    stop: i64 = packed_end(record, at)
    step.put_value(out, step.read(record[at:stop]))
    return stop


def _put_sized(out: BytesWriter, step: _Step, record: bytes, at: i64) -> i64:
    """Append the bytes behind a length of 1, 2 or 4 bytes."""
    start: i64 = at + 1 + (1 << (record[at] - step.sized))
    size: i64 = 0
    at += 1
    while at < start:
        size = size << 8 | record[at]
        at += 1
    return _put_bytes(out, step, record, start, size)


def _put_bytes(out: BytesWriter, step: _Step, record: bytes, start: i64, size: i64) -> i64:
    out.write(step.begun)
    put_binary(out, record[start : start + size])
    return start + size


def _put_integer(out: BytesWriter, step: _Step, record: bytes, at: i64) -> i64:
    """Append an integer of one byte, or of 1, 2, 4 or 8 behind the first one."""
    first: i64 = record[at]
    value: i64 = first
    stop: i64 = at + 1
    if first >= 0xE0:
        value -= 0x100
    elif first > 0x7F:
        if not 0xCC <= first <= 0xD3:
            raise StoreDamaged("a row's values are not of their types")
        stop += 1 << (first & 3)
        value = record[at + 1]
        if first >= 0xD0 and value >= 0x80:  # with a sign
            value -= 0x100
        at += 2
        while at < stop:
            value = value * 256 + record[at]
            at += 1
    out.write(step.begun)
    put_int(out, int(value))
    return stop
