"""Rows and values read from JSON and written as JSON (model §5).

Numbers keep all digits until a type is known, so a NUMBER loses nothing. Values that JSON does not
have are texts: BINARY in Base64, TIMESTAMP in ISO 8601, NaN and infinities by their names.
"""

import binascii
import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Mapping
from decimal import Decimal
from math import isinf, isnan
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.limits import VALUE_DEPTH_MAX
from widerow.model.typed.coerce import coerce
from widerow.model.typed.names import folded
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import Field, FieldType, Kind
from widerow.model.typed.values import (
    JSON_NULL,
    JsonNull,
    Timestamp,
    TypedValue,
    rounded_number,
)

__all__ = [
    "dumps",
    "json_type_name",
    "json_value_text",
    "parse_json",
    "row_from_json",
    "value_from_json",
    "value_to_json",
]

_NUMERIC: Final = {
    Kind.INTEGER: "INT",
    Kind.LONG: "LONG",
    Kind.FLOAT: "FLOAT",
    Kind.DOUBLE: "DOUBLE",
    Kind.NUMBER: "NUMBER",
}
_WHOLE: Final = frozenset((Kind.INTEGER, Kind.LONG))
_SPECIAL: Final = {"NaN": "nan", "Infinity": "inf", "-Infinity": "-inf"}


def parse_json(text: str | bytes) -> Any:  # noqa: ANN401  # any document
    """A JSON text with its numbers as `Decimal` or `int`. Raises `InvalidRequest`."""
    try:
        return json.loads(text, parse_float=Decimal, parse_int=_whole, parse_constant=_refuse)
    except RecursionError as error:
        raise InvalidRequest(
            TypedRule.VALUE_DEPTH, field="JSON input", limit=VALUE_DEPTH_MAX
        ) from error
    except (ValueError, ArithmeticError) as error:
        raise InvalidRequest(TypedRule.JSON_MALFORMED, reason=str(error)[:200]) from error


def row_from_json(
    text: str | bytes, table: TypedTable, *, exact: bool = False, key_only: bool = False
) -> dict[str, TypedValue]:
    """The columns of a row, or of a (partial) primary key, that a JSON object gives.

    With `exact` the object must have every column and no other one; without it unknown names are
    ignored, and columns may be missing. Raises `InvalidRequest`.
    """
    document = parse_json(text)
    if not isinstance(document, dict):
        raise InvalidRequest(TypedRule.JSON_NOT_OBJECT, given=_token(document))
    positions = table.key_positions if key_only else range(len(table.fields))
    wanted = {folded(table.fields[index].name): table.fields[index] for index in positions}
    row: dict[str, TypedValue] = {}
    for name, value in document.items():
        field = wanted.get(folded(name))
        if field is not None:
            row[field.name] = _field_from_json(value, field)
        elif exact:
            raise InvalidRequest(TypedRule.JSON_FIELD_UNKNOWN, field=name[:100])
    if exact and len(row) < len(wanted):
        raise InvalidRequest(TypedRule.JSON_FIELD_COUNT, found=len(row), expected=len(wanted))
    return row


def value_from_json(value: Any, kind: FieldType, field: str) -> TypedValue:  # noqa: ANN401  # parsed JSON
    """A parsed JSON value as a value of the type. Raises `InvalidRequest`."""
    return coerce(_prepared(value, kind, field, VALUE_DEPTH_MAX), kind, field)


def _field_from_json(value: Any, field: Field) -> TypedValue:  # noqa: ANN401  # parsed JSON
    if value is not None:
        return value_from_json(value, field.type, field.name)
    if field.type.kind is Kind.JSON:
        return JSON_NULL
    if not field.nullable and not field.generated:
        raise InvalidRequest(TypedRule.JSON_NULL, field=field.name)
    return None


def _prepared(value: Any, kind: FieldType, field: str, depth: int) -> Any:  # noqa: ANN401  # parsed JSON
    """The value that `coerce` takes: texts for binary, infinities and the like are decoded."""
    if depth == 0:
        raise InvalidRequest(TypedRule.VALUE_DEPTH, field=field[:100], limit=VALUE_DEPTH_MAX)
    if kind.kind in _NUMERIC:
        return _numeric(value, kind, field)
    if kind.kind in _NESTED:
        return _NESTED[kind.kind](value, kind, field, depth)
    if kind.kind is Kind.BOOLEAN and isinstance(value, bool):
        return value
    if kind.kind is Kind.BOOLEAN or not isinstance(value, str):
        raise _illegal(value, kind, field)
    if kind.kind in (Kind.BINARY, Kind.FIXED_BINARY):
        try:
            return b64decode(value, validate=True)
        except (binascii.Error, ValueError) as error:
            raise InvalidRequest(TypedRule.BASE64, field=field) from error
    return value


def _numeric(value: Any, kind: FieldType, field: str) -> Any:  # noqa: ANN401  # parsed JSON
    floating = kind.kind in (Kind.FLOAT, Kind.DOUBLE)
    if floating and isinstance(value, str) and value in _SPECIAL:
        return float(_SPECIAL[value])
    if isinstance(value, bool) or not isinstance(value, (int, Decimal)):
        raise InvalidRequest(
            TypedRule.JSON_NUMBER, field=field, type=_NUMERIC[kind.kind], given=_token(value)
        )
    if kind.kind in _WHOLE and isinstance(value, Decimal):
        raise InvalidRequest(
            TypedRule.JSON_NUMBER, field=field, type=_NUMERIC[kind.kind], given=_token(value)
        )
    return float(value) if floating and isinstance(value, Decimal) else value


def _array(value: Any, kind: FieldType, field: str, depth: int) -> Any:  # noqa: ANN401  # parsed JSON
    if not isinstance(value, list) or kind.element is None:
        raise _illegal(value, kind, field)
    return [_prepared(item, kind.element, field, depth - 1) for item in value]


def _map(value: Any, kind: FieldType, field: str, depth: int) -> Any:  # noqa: ANN401  # parsed JSON
    if not isinstance(value, dict) or kind.element is None:
        raise _illegal(value, kind, field)
    return {key: _prepared(item, kind.element, field, depth - 1) for key, item in value.items()}


def _record(value: Any, kind: FieldType, field: str, depth: int) -> Any:  # noqa: ANN401  # parsed JSON
    if not isinstance(value, dict):
        raise _illegal(value, kind, field)
    record: dict[str, Any] = {}
    for name, item in value.items():
        inner = kind.field(name)
        if inner is None:
            raise InvalidRequest(TypedRule.JSON_FIELD_UNKNOWN, field=name[:100])
        if item is None and not inner.nullable:
            raise InvalidRequest(TypedRule.JSON_NULL, field=inner.name)
        record[inner.name] = (
            None if item is None else _prepared(item, inner.type, inner.name, depth - 1)
        )
    return record


def _document(value: Any, kind: FieldType, field: str, depth: int) -> Any:  # noqa: ANN401  # parsed JSON
    """Any JSON; floating numbers become doubles (model §12)."""
    if depth == 0:
        raise InvalidRequest(TypedRule.VALUE_DEPTH, field=field[:100], limit=VALUE_DEPTH_MAX)
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, list):
        return [_document(item, kind, field, depth - 1) for item in value]
    if isinstance(value, dict):
        return {key: _document(item, kind, field, depth - 1) for key, item in value.items()}
    return value


_NESTED: Final[Mapping[Kind, Callable[[Any, FieldType, str, int], Any]]] = {
    Kind.ARRAY: _array,
    Kind.MAP: _map,
    Kind.RECORD: _record,
    Kind.JSON: _document,
}


def _illegal(value: Any, kind: FieldType, field: str) -> InvalidRequest:  # noqa: ANN401  # parsed JSON
    shown = value if isinstance(value, str) else json.dumps(value, default=str)
    return InvalidRequest(
        TypedRule.VALUE_ILLEGAL, field=field, value=shown[:100], type=kind.kind.value
    )


def _token(value: Any) -> str:  # noqa: ANN401  # parsed JSON
    """The kind of a JSON value, in the vendor's words."""
    if isinstance(value, bool):
        return "VALUE_TRUE" if value else "VALUE_FALSE"
    for type_, name in _TOKENS:
        if isinstance(value, type_):
            return name
    return "VALUE_NULL"


_TOKENS: Final = (
    (int, "VALUE_NUMBER_INT"),
    (Decimal, "VALUE_NUMBER_FLOAT"),
    (str, "VALUE_STRING"),
    (list, "START_ARRAY"),
    (dict, "START_OBJECT"),
)


def _whole(text: str) -> int | Decimal:
    return int(text) if len(text) < 4000 else Decimal(text)  # longer ones are refused by `int`


def _refuse(name: str) -> Any:  # noqa: ANN401  # never returns
    raise ValueError(f"{name} is not JSON; write it as a text")


def value_to_json(value: TypedValue, kind: FieldType) -> Any:  # noqa: ANN401  # for `json.dumps`
    """A value as `dumps` takes it: dictionaries, lists, texts, numbers, booleans and None."""
    if value is None or isinstance(value, JsonNull):
        return None
    if kind.kind is Kind.TIMESTAMP:
        return Timestamp(*value).text(kind.precision)
    if kind.kind is Kind.RECORD:
        return {field.name: value_to_json(value[field.name], field.type) for field in kind.fields}
    if kind.kind is Kind.ARRAY and kind.element is not None:
        return [value_to_json(item, kind.element) for item in value]
    if kind.kind is Kind.MAP and kind.element is not None:
        return {key: value_to_json(item, kind.element) for key, item in value.items()}
    if isinstance(value, float) and (isnan(value) or isinf(value)):
        return "NaN" if isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return b64encode(value).decode() if isinstance(value, bytes) else value


def dumps(document: Any, *, pretty: bool = False) -> str:  # noqa: ANN401  # from `value_to_json`
    """JSON text as the vendor prints rows: compact, or with two spaces and ` : ` when `pretty`.

    Numbers are written with all their digits, for which `json` has no way with `Decimal`.
    """
    return _written(document, "\n" if pretty else "")


def json_value_text(value: Any) -> str:  # noqa: ANN401  # inside a document
    """The beginning of a value inside JSON for a message: a text as it is, all else as JSON."""
    return (value if isinstance(value, str) else dumps(value))[:_SHOWN]


def json_type_name(value: Any) -> str:  # noqa: ANN401  # inside a document
    """The type of a value inside JSON for a message."""
    if isinstance(value, int) and not isinstance(value, bool):
        return "INTEGER" if -(2**31) <= value < 2**31 else "LONG"
    return next((name for kind, name in _JSON_TYPES if isinstance(value, kind)), "NULL")


_SHOWN: Final = 500  # characters of a value in a message
_JSON_TYPES: Final[tuple[tuple[type, str], ...]] = (
    *((bool, "BOOLEAN"), (float, "DOUBLE"), (Decimal, "NUMBER"), (str, "STRING")),
    *((list, "ARRAY"), (Mapping, "MAP")),
)


def _written(document: Any, line: str) -> str:  # noqa: ANN401  # inside a document
    if isinstance(document, Decimal):
        return rounded_number(document)
    if not document or not isinstance(document, (dict, list)):
        return json.dumps(document, ensure_ascii=False)
    inner = line and line + "  "
    if isinstance(document, dict):
        colon = " : " if line else ":"
        parts = [
            json.dumps(name, ensure_ascii=False) + colon + _written(item, inner)
            for name, item in document.items()
        ]
    else:
        parts = [_written(item, inner) for item in document]
    opening, closing = "{}" if isinstance(document, dict) else "[]"
    return opening + inner + f",{inner}".join(parts) + line + closing
