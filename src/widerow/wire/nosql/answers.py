"""Rows and what stands around them in answers (nosql-wire §3, §4)."""

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final, NamedTuple, final

from librt.strings import BytesWriter, write_f64_be

from widerow.engine.typed.stored import StoredRow
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import Field, FieldType, Kind
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
    begin_container,
    end_container,
    put_binary,
    put_int,
    put_text,
    put_value,
)

__all__ = [
    "Cost",
    "EncodedColumn",
    "begun_message",
    "encoded_columns",
    "encoded_value",
    "json_document",
    "put_typed",
    "row_value",
    "stored_row",
]

_COLUMNS_KEPT: Final = 1000  # tables whose columns are kept


@final
class Cost:
    """What a request consumed: read units, and kilobytes read and written (nosql-wire §4)."""

    __slots__ = ("read_kb", "read_units", "write_kb")

    def __init__(self, read_units: int = 0, read_kb: int = 0, write_kb: int = 0) -> None:
        self.read_units = read_units
        self.read_kb = read_kb
        self.write_kb = write_kb

    def encoded(self) -> EncodedValue:
        """The member of an answer that tells it."""
        out = BytesWriter()
        at = begin_container(out, NSON_MAP, 3)
        out.write(_READ_UNITS)
        put_int(out, self.read_units)
        out.write(_READ_KB)
        put_int(out, self.read_kb)
        out.write(_WRITE_KB)
        put_int(out, self.write_kb)
        end_container(out, at)
        return EncodedValue(out.getvalue())


def _name(name: str, *code: int) -> bytes:
    """The name of a member, encoded, and the code of its value's type."""
    out = BytesWriter()
    put_text(out, name)
    return out.getvalue() + bytes(code)


_READ_UNITS: Final = _name("ru", NSON_INTEGER)
_READ_KB: Final = _name("rk", NSON_INTEGER)
_WRITE_KB: Final = _name("wk", NSON_INTEGER)
_CREATED: Final = _name("ct", NSON_LONG) + b"\x7f"  # 0, which says that it is not known
_MODIFIED: Final = _name("md", NSON_LONG)
_EXPIRES: Final = _name("xp", NSON_LONG)
_VERSION: Final = _name("rv", NSON_BINARY)
_ROW: Final = _name("l")


def begun_message(cost: Cost, *, tells_cost: bool) -> dict[str, Any]:
    """The first members of an answer that succeeded; a store of one's own tells no cost."""
    return {"e": 0, "c": cost.encoded()} if tells_cost else {"e": 0}


def row_value(row: StoredRow, *, by_name: bool = False) -> EncodedValue:
    """All columns of a row in their declared order, encoded by their types.

    Of a collection the key, and behind it what the document has. `by_name`: names inside JSON are
    sorted; else they are in the order in which they were written.
    """
    out = BytesWriter()
    _put_row(out, row, by_name=by_name)
    return EncodedValue(out.getvalue())


def _put_row(out: BytesWriter, row: StoredRow, *, by_name: bool) -> None:
    columns, values, document = _columns_of(row.table), row.values_in_order(), row.document()
    if by_name:
        values = [
            _sorted(value) if column.type.kind is Kind.JSON else value
            for column, value in zip(columns, values, strict=False)
        ]
    at = begin_container(out, NSON_MAP, len(columns) + len(document))
    _put_columns(out, columns, values)
    for field, value in document.items():
        put_text(out, field)
        put_value(out, _inner(value))
    end_container(out, at)


class EncodedColumn(NamedTuple):
    """A column as answers have it: its name, encoded, and what appends a value.

    `text`: the name with the code of a text behind it, where the values are texts.
    """

    name: bytes
    put: Callable[[BytesWriter, Any, FieldType], None]
    type: FieldType
    text: bytes = b""

    @classmethod
    def of(
        cls, field: Field, put: Callable[[BytesWriter, Any, FieldType], None] | None = None
    ) -> "EncodedColumn":
        """A column of a table; `put`: where its values are not sent as GET sends them."""
        kind = field.type.kind
        text = _name(field.name, NSON_STRING) if _PUT[kind] is _text else b""
        return cls(_name(field.name), put or _PUT[kind], field.type, text)


def encoded_columns(columns: Sequence[EncodedColumn], values: Sequence[Any]) -> EncodedValue:
    """Columns with their values, encoded."""
    out = BytesWriter()
    at = begin_container(out, NSON_MAP, len(columns))
    _put_columns(out, columns, values)
    end_container(out, at)
    return EncodedValue(out.getvalue())


def _put_columns(out: BytesWriter, columns: Sequence[EncodedColumn], values: Sequence[Any]) -> None:
    """Append the columns, to which the first of the values belong."""
    for index, (name, put, kind, text) in enumerate(columns):
        value = values[index]
        if text and type(value) is str:
            out.write(text)
            put_text(out, value)
            continue
        out.write(name)
        if value is None:
            out.append(NSON_NULL)
        else:
            put(out, value, kind)


_COLUMNS: Final[dict[int, tuple[TypedTable, tuple[EncodedColumn, ...]]]] = {}


def _columns_of(table: TypedTable) -> tuple[EncodedColumn, ...]:
    """The columns of a row in their order, worked out once for a definition of a table."""
    known = _COLUMNS.get(table.id)
    if known is not None and known[0] is table:
        return known[1]
    columns = tuple([EncodedColumn.of(field) for field in table.shown_fields])
    if len(_COLUMNS) >= _COLUMNS_KEPT:
        _COLUMNS.clear()
    _COLUMNS[table.id] = table, columns
    return columns


def _sorted(value: Any) -> Any:  # noqa: ANN401  # a document
    """A document with the names of its objects in order."""
    if isinstance(value, dict):
        return {name: _sorted(value[name]) for name in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value


def stored_row(row: StoredRow) -> EncodedValue:
    """A row with its times and its version, as GET answers it."""
    out = BytesWriter()
    modified_ms, expires_ms = row.times_ms
    at = begin_container(out, NSON_MAP, 5)
    out.write(_CREATED + _MODIFIED)
    put_int(out, modified_ms)
    out.write(_EXPIRES)
    put_int(out, expires_ms)
    out.write(_VERSION)
    put_binary(out, row.version_bytes)
    out.write(_ROW)
    _put_row(out, row, by_name=False)
    end_container(out, at)
    return EncodedValue(out.getvalue())


def encoded_value(value: Any, kind: FieldType) -> EncodedValue:  # noqa: ANN401  # a column's value
    """A value of a type, encoded."""
    out = BytesWriter()
    put_typed(out, value, kind)
    return EncodedValue(out.getvalue())


def put_typed(out: BytesWriter, value: Any, kind: FieldType) -> None:  # noqa: ANN401  # same
    """Append a value of a type; None is NULL."""
    if value is None:
        out.append(NSON_NULL)
    else:
        _PUT[kind.kind](out, value, kind)


def _integer(out: BytesWriter, value: int, _: FieldType) -> None:
    out.append(NSON_INTEGER)
    put_int(out, value)


def _long(out: BytesWriter, value: int, _: FieldType) -> None:
    out.append(NSON_LONG)
    put_int(out, value)


def _double(out: BytesWriter, value: float, _: FieldType) -> None:
    out.append(NSON_DOUBLE)
    write_f64_be(out, value)


def _number(out: BytesWriter, value: Decimal, _: FieldType) -> None:
    out.append(NSON_NUMBER)
    put_text(out, str(value))


def _text(out: BytesWriter, value: str, _: FieldType) -> None:
    out.append(NSON_STRING)
    put_text(out, value)


def _boolean(out: BytesWriter, value: bool, _: FieldType) -> None:  # noqa: FBT001  # a value
    out.append(NSON_BOOLEAN)
    out.append(1 if value else 0)


def _timestamp(out: BytesWriter, value: Any, kind: FieldType) -> None:  # noqa: ANN401  # a Timestamp
    out.append(NSON_TIMESTAMP)
    put_text(out, answer_text(value, kind.precision))


def _binary(out: BytesWriter, value: bytes, _: FieldType) -> None:
    out.append(NSON_BINARY)
    put_binary(out, value)


def _array(out: BytesWriter, value: list[Any], kind: FieldType) -> None:
    assert kind.element is not None
    at = begin_container(out, NSON_ARRAY, len(value))
    for item in value:
        put_typed(out, item, kind.element)
    end_container(out, at)


def _map(out: BytesWriter, value: Mapping[str, Any], kind: FieldType) -> None:
    assert kind.element is not None
    at = begin_container(out, NSON_MAP, len(value))
    for name, item in value.items():
        put_text(out, name)
        put_typed(out, item, kind.element)
    end_container(out, at)


def _record(out: BytesWriter, value: Mapping[str, Any], kind: FieldType) -> None:
    at = begin_container(out, NSON_MAP, len(kind.fields))
    for field in kind.fields:
        put_text(out, field.name)
        put_typed(out, value.get(field.name), field.type)
    end_container(out, at)


def _json(out: BytesWriter, value: Any, _: FieldType) -> None:  # noqa: ANN401  # a document
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


_PUT: Final[Mapping[Kind, Callable[[BytesWriter, Any, FieldType], None]]] = {
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
