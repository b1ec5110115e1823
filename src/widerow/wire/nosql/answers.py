"""Rows and what stands around them in answers (nosql-wire §3, §4)."""

import struct
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from widerow.engine.typed.stored import StoredRow
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import JSON_NULL
from widerow.wire.nosql.moments import answer_text
from widerow.wire.nosql.nson import (
    NSON_ARRAY,
    NSON_BINARY,
    NSON_BOOLEAN,
    NSON_DOUBLE,
    NSON_INTEGER,
    NSON_LONG,
    NSON_MAP,
    NSON_NULL,
    NSON_NUMBER,
    NSON_STRING,
    NSON_TIMESTAMP,
    EncodedValue,
    Long,
    begin_container,
    end_container,
    put_binary,
    put_int,
    put_text,
    put_value,
)

__all__ = [
    "Cost",
    "begun_message",
    "encoded_value",
    "json_document",
    "put_typed",
    "row_value",
    "stored_row",
]

_DOUBLE: Final = struct.Struct(">d")
_COLUMNS_KEPT: Final = 1000  # tables whose columns are kept


class Cost(NamedTuple):
    """What a request consumed: read units, and kilobytes read and written (nosql-wire §4)."""

    read_units: int = 0
    read_kb: int = 0
    write_kb: int = 0

    def members(self) -> dict[str, int]:
        """The members of an answer that tell it."""
        return {"ru": self.read_units, "rk": self.read_kb, "wk": self.write_kb}


def begun_message(cost: Cost, *, tells_cost: bool) -> dict[str, Any]:
    """The first members of an answer that succeeded; a store of one's own tells no cost."""
    return {"e": 0, "c": cost.members()} if tells_cost else {"e": 0}


def row_value(row: StoredRow, *, by_name: bool = False) -> EncodedValue:
    """All columns of a row in their declared order, encoded by their types.

    Of a collection the key, and behind it what the document has. `by_name`: names inside JSON are
    sorted; else they are in the order in which they were written.
    """
    out = bytearray()
    columns, document = _columns_of(row.table), row.document()
    at = begin_container(out, NSON_MAP, len(columns) + len(document))
    for (name, put, kind), value in zip(columns, row.values_in_order(), strict=False):
        out += name
        if value is None:
            out.append(NSON_NULL)
        elif by_name and kind.kind is Kind.JSON:
            put(out, _sorted(value), kind)
        else:
            put(out, value, kind)
    for field, value in document.items():
        put_text(out, field)
        put_value(out, _inner(value))
    end_container(out, at)
    return EncodedValue(bytes(out))


class _Column(NamedTuple):
    """A column as answers have it: its name, encoded, and what appends a value."""

    name: bytes
    put: Callable[[bytearray, Any, FieldType], None]
    type: FieldType


_COLUMNS: Final[dict[int, tuple[TypedTable, tuple[_Column, ...]]]] = {}


def _columns_of(table: TypedTable) -> tuple[_Column, ...]:
    """The columns of a row in their order, worked out once for a definition of a table."""
    known = _COLUMNS.get(table.id)
    if known is not None and known[0] is table:
        return known[1]
    made: list[_Column] = []
    for field in table.shown_fields:
        name = bytearray()
        put_text(name, field.name)
        made.append(_Column(bytes(name), _PUT[field.type.kind], field.type))
    if len(_COLUMNS) >= _COLUMNS_KEPT:
        _COLUMNS.clear()
    columns = tuple(made)
    _COLUMNS[table.id] = table, columns
    return columns


def _sorted(value: Any) -> Any:  # noqa: ANN401  # a document
    """A document with the names of its objects in order."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def stored_row(row: StoredRow) -> dict[str, Any]:
    """A row with its times and its version, as GET answers it."""
    return {
        "ct": Long(0),
        "md": Long(row.modified_ms),
        "xp": Long(row.expires_ms),
        "rv": row.version.to_bytes(),
        "l": row_value(row),
    }


def encoded_value(value: Any, kind: FieldType) -> EncodedValue:  # noqa: ANN401  # a column's value
    """A value of a type, encoded."""
    out = bytearray()
    put_typed(out, value, kind)
    return EncodedValue(bytes(out))


def put_typed(out: bytearray, value: Any, kind: FieldType) -> None:  # noqa: ANN401  # same
    """Append a value of a type; None is NULL."""
    if value is None:
        out.append(NSON_NULL)
    else:
        _PUT[kind.kind](out, value, kind)


def _integer(out: bytearray, value: int, _: FieldType) -> None:
    out.append(NSON_INTEGER)
    put_int(out, value)


def _long(out: bytearray, value: int, _: FieldType) -> None:
    out.append(NSON_LONG)
    put_int(out, value)


def _double(out: bytearray, value: float, _: FieldType) -> None:
    out.append(NSON_DOUBLE)
    out += _DOUBLE.pack(value)


def _number(out: bytearray, value: Decimal, _: FieldType) -> None:
    out.append(NSON_NUMBER)
    put_text(out, str(value))


def _text(out: bytearray, value: str, _: FieldType) -> None:
    out.append(NSON_STRING)
    put_text(out, value)


def _boolean(out: bytearray, value: bool, _: FieldType) -> None:  # noqa: FBT001  # a value
    out.append(NSON_BOOLEAN)
    out.append(1 if value else 0)


def _timestamp(out: bytearray, value: Any, kind: FieldType) -> None:  # noqa: ANN401  # a Timestamp
    out.append(NSON_TIMESTAMP)
    put_text(out, answer_text(value, kind.precision))


def _binary(out: bytearray, value: bytes, _: FieldType) -> None:
    out.append(NSON_BINARY)
    put_binary(out, value)


def _array(out: bytearray, value: list[Any], kind: FieldType) -> None:
    assert kind.element is not None
    at = begin_container(out, NSON_ARRAY, len(value))
    for item in value:
        put_typed(out, item, kind.element)
    end_container(out, at)


def _map(out: bytearray, value: Mapping[str, Any], kind: FieldType) -> None:
    assert kind.element is not None
    at = begin_container(out, NSON_MAP, len(value))
    for name, item in value.items():
        put_text(out, name)
        put_typed(out, item, kind.element)
    end_container(out, at)


def _record(out: bytearray, value: Mapping[str, Any], kind: FieldType) -> None:
    at = begin_container(out, NSON_MAP, len(kind.fields))
    for field in kind.fields:
        put_text(out, field.name)
        put_typed(out, value.get(field.name), field.type)
    end_container(out, at)


def _json(out: bytearray, value: Any, _: FieldType) -> None:  # noqa: ANN401  # a document
    put_value(out, json_document(value))


def json_document(value: Any) -> Any:  # noqa: ANN401  # a document
    """A document whose nulls are JSON nulls, which inside documents are None."""
    if isinstance(value, dict):
        return {name: _inner(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_inner(item) for item in value]
    return value


def _inner(value: Any) -> Any:  # noqa: ANN401  # same
    return JSON_NULL if value is None else json_document(value)


_PUT: Final[Mapping[Kind, Callable[[bytearray, Any, FieldType], None]]] = {
    Kind.INTEGER: _integer,
    Kind.LONG: _long,
    Kind.FLOAT: _double,
    Kind.DOUBLE: _double,
    Kind.NUMBER: _number,
    Kind.STRING: _text,
    Kind.ENUM: _text,
    Kind.BOOLEAN: _boolean,
    Kind.TIMESTAMP: _timestamp,
    Kind.BINARY: _binary,
    Kind.FIXED_BINARY: _binary,
    Kind.ARRAY: _array,
    Kind.MAP: _map,
    Kind.RECORD: _record,
    Kind.JSON: _json,
}
