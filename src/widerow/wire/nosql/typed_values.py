"""Values of columns as NSON, by the types of their columns (nosql-wire §2)."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any, Final, NamedTuple

from librt.strings import BytesWriter, write_f64_be

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
    "EncodedColumn",
    "encoded_member",
    "encoded_value",
    "json_document",
    "json_member",
    "put_typed",
]


def encoded_member(name: str, *code: int) -> bytes:
    """The name of a member, encoded, and the code of its value's type."""
    out = BytesWriter()
    put_text(out, name)
    return out.getvalue() + bytes(code)


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
        text = encoded_member(field.name, NSON_STRING) if _PUT[kind] is _text else b""
        return cls(encoded_member(field.name), put or _PUT[kind], field.type, text)


def encoded_value(value: Any, kind: FieldType) -> EncodedValue:  # noqa: ANN401  # a column's value
    """A value of a type, encoded."""
    out = BytesWriter()
    put_typed(out, value, kind)
    return EncodedValue(out.getvalue())


def put_typed(out: BytesWriter, value: Any, kind: FieldType) -> None:  # noqa: ANN401  # a column's value
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
        return {name: json_member(item) for name, item in value.items()}
    if isinstance(value, list):
        return [json_member(item) for item in value]
    return value


def json_member(value: Any) -> Any:  # noqa: ANN401  # a document
    """A value inside a document, where None is a JSON null."""
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
