"""Values of requests made into values of columns, by the column's type (nosql-wire §8).

Drivers send the type that their language has; a column takes every type from which its value can be
made without loss. One function for each kind, in a table.
"""

import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from math import isfinite
from typing import Any, Final

from widerow.engine.typed.form import TableForm
from widerow.errors import InvalidRequest
from widerow.limits import (
    INT64_MAX,
    INT64_MIN,
    NOSQL_KEY_BYTES_MAX,
    NUMBER_DIGITS_MAX,
    VALUE_DEPTH_MAX,
)
from widerow.model.typed.coerce import single_precision
from widerow.model.typed.java_text import double_text
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import Field, FieldType, Kind
from widerow.model.typed.values import JSON_NULL, JsonNull, Timestamp, plain_number
from widerow.wire.nosql.moments import timestamp_of
from widerow.wire.nosql.nson import EMPTY_VALUE, TYPE_NAMES, EmptyValue, TimestampText
from widerow.wire.nosql.rules import NosqlRule

__all__ = ["column_value", "key_columns", "row_columns", "sent_type"]

_INT_MIN: Final = -(2**31)
_INT_MAX: Final = 2**31 - 1
_SINGLE_MAX: Final = 3.4028234663852886e38
_WHOLE: Final = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
_JSON_TYPE: Final = FieldType(Kind.JSON)
_BASE64: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")


def sent_type(value: Any) -> str:  # noqa: ANN401  # any value of a request
    """The name of the type that a value was sent as."""
    return TYPE_NAMES[_code(value)]


def _code(value: Any) -> int:  # noqa: ANN401  # any value of a request
    if isinstance(value, bool):
        return 2
    if isinstance(value, int):
        return 4 if _INT_MIN <= value <= _INT_MAX else 5
    for kind, code in _CODES:
        if isinstance(value, kind):
            return code
    return 11


_CODES: Final = (
    *((str, 7), (float, 3), (TimestampText, 8), (Mapping, 6), (Decimal, 9), (bytes, 1)),
    *((list, 0), (JsonNull, 10), (EmptyValue, 12)),
)


# --- rows and keys -------------------------------------------------------------------------------


def row_columns(table: TypedTable, given: Any, *, exact: bool) -> dict[str, Any]:  # noqa: ANN401  # a value
    """The columns of a row by name, converted. A column that is not given is not among them.

    Names that no column has are dropped, or refused if `exact`. Raises: `InvalidRequest`.
    """
    if isinstance(given, list):
        given = _positional(given, [field.name for field in table.shown_fields])
    if not isinstance(given, dict):
        raise InvalidRequest(NosqlRule.TYPE_RECORD, given=sent_type(given))
    if table.collection:
        return _document_of(table, given)
    if exact:
        _check_exact(given, table.fields)
    row: dict[str, Any] = {}
    fields, positions, keys = table.fields, table.positions, table.key_positions
    texts = table.text_names
    for name, value in given.items():
        if type(value) is str:  # most values
            declared = texts.get(name)
            if declared is not None:
                row[declared] = value
                continue
        position = positions.get(name.lower())
        if position is None:
            continue
        field = fields[position]
        made = column_value(value, field.type)
        if made is None:
            _check_null(field, position in keys)
        row[field.name] = made
    return row


def _document_of(table: TypedTable, given: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a collection: its key by the columns' types, the rest as JSON."""
    row: dict[str, Any] = {}
    for name, value in given.items():
        position = table.positions.get(name.lower())
        if position is not None and position in table.key_positions:
            field = table.fields[position]
            row[field.name] = _element(value, field.type, VALUE_DEPTH_MAX)
        elif isinstance(value, bytes):
            raise InvalidRequest(NosqlRule.TYPE_COLLECTION, type="binary")
        else:
            row[name] = None if value is None else _json(value, _JSON_TYPE, VALUE_DEPTH_MAX)
    return row


def _check_exact(given: Mapping[str, Any], fields: Sequence[Field]) -> None:
    """Refuse names that no column has, and that no field of a record has (nosql-wire §8)."""
    known = {field.name.lower(): field.type for field in fields}
    for name, value in given.items():
        kind = known.get(name.lower())
        if kind is None:
            raise InvalidRequest(NosqlRule.EXACT_FIELD, field=name[:100])
        if kind.kind is Kind.RECORD and isinstance(value, dict):
            _check_exact(value, kind.fields)


def _check_null(field: Field, is_key: bool) -> None:  # noqa: FBT001  # one caller
    """Refuse NULL in a column that does not take it; one whose value is made may be NULL."""
    if field.generated:
        return
    if is_key:
        raise InvalidRequest(TypedRule.KEY_MISSING, field=field.name)
    if not field.nullable:
        raise InvalidRequest(NosqlRule.NOT_NULL, field=field.name)


def key_columns(
    form: TableForm,
    given: Any,  # noqa: ANN401  # a value
    bytes_max: int = NOSQL_KEY_BYTES_MAX,
) -> dict[str, Any]:
    """The key columns of a whole or partial key; other names are ignored (nosql-wire §4.1).

    Raises: `InvalidRequest`, also where no key column is given.
    """
    table = form.table
    if isinstance(given, list):
        given = _positional(given, list(table.primary_key))
    if not isinstance(given, dict):
        raise InvalidRequest(NosqlRule.KEY_TYPE, found=sent_type(given))
    keys = table.key_positions
    key: dict[str, Any] = {}
    for name, value in given.items():
        position = table.positions.get(name.lower())
        if position is None or position not in keys:
            continue
        field = table.fields[position]
        made = column_value(value, field.type)
        if made is None:
            raise InvalidRequest(TypedRule.KEY_MISSING, field=field.name)
        key[field.name] = made
    if not key:
        raise InvalidRequest(NosqlRule.KEY_EMPTY)
    size = sum(len(value) if isinstance(value, str) else 1 for value in key.values())
    if size > bytes_max:
        raise InvalidRequest(NosqlRule.KEY_SIZE, size=size, limit=bytes_max)
    return key


def _positional(values: Sequence[Any], names: Sequence[str]) -> dict[str, Any]:
    if len(values) != len(names):
        raise InvalidRequest(NosqlRule.RECORD_ARRAY, expected=len(names), found=len(values))
    return dict(zip(names, values, strict=True))


def column_value(value: Any, kind: FieldType, depth: int = VALUE_DEPTH_MAX) -> Any:  # noqa: ANN401  # values
    """A value in the form of the model; None for NULL. Raises `InvalidRequest`."""
    if value is None or isinstance(value, JsonNull):
        return JSON_NULL if kind.kind is Kind.JSON else None
    return _CONVERT[kind.kind](value, kind, depth)


# --- numbers -------------------------------------------------------------------------------------


def _integer(value: Any, kind: FieldType, depth: int) -> int:  # noqa: ANN401, ARG001  # every converter takes all three
    return _whole(value, "Integer", "int", _INT_MIN, _INT_MAX)


def _long(value: Any, kind: FieldType, depth: int) -> int:  # noqa: ANN401, ARG001  # every converter takes all three
    return _whole(value, "Long", "long", INT64_MIN, INT64_MAX)


def _whole(value: Any, name: str, short: str, least: int, most: int) -> int:  # noqa: ANN401  # values
    if isinstance(value, (int, Decimal)) and not isinstance(value, bool):
        if least <= value <= most and value == int(value):
            return int(value)
        kind = "Int" if short == "int" else "Long"
        raise InvalidRequest(NosqlRule.OVERFLOW, type=kind, value=str(value)[:100])
    if isinstance(value, float):
        if least <= value <= most and value.is_integer():
            return int(value)
        raise _loses("double", short, double_text(value))
    if isinstance(value, str):
        if _WHOLE.fullmatch(value) and least <= int(value) <= most:
            return int(value)
        raise InvalidRequest(NosqlRule.TEXT_INVALID, type=name, value=value[:100])
    raise InvalidRequest(NosqlRule.TYPE_INVALID, type=name, given=sent_type(value))


def _loses(given: str, kind: str, value: str) -> InvalidRequest:
    return InvalidRequest(NosqlRule.LOSES, given=given, type=kind, value=value[:100])


def _double(value: Any, kind: FieldType, depth: int) -> float:  # noqa: ANN401, ARG001  # every converter takes all three
    return _real(value, "Double", "double")


def _float(value: Any, kind: FieldType, depth: int) -> float:  # noqa: ANN401, ARG001  # every converter takes all three
    if isinstance(value, int) and not isinstance(value, bool):
        if int(single_precision(float(value))) != value:
            raise _loses("long", "float", str(value))
        return float(value)
    number = _real(value, "Float", "float")
    if abs(number) > _SINGLE_MAX and number not in (float("inf"), float("-inf")):
        raise _loses("double", "float", double_text(number))
    return single_precision(number)


def _real(value: Any, name: str, short: str) -> float:  # noqa: ANN401  # values
    if isinstance(value, float):
        return value
    if isinstance(value, bool):
        raise InvalidRequest(NosqlRule.TYPE_INVALID, type=name, given="BOOLEAN")
    if isinstance(value, int):
        if int(float(value)) != value:
            raise _loses("long", short, str(value))
        return float(value)
    if isinstance(value, Decimal):
        number = float(value)  # beyond the range it is infinite, as with the original
        if isfinite(number) and Decimal(repr(number)) != value:
            raise _loses("decimal", short, str(value))
        return number
    if isinstance(value, str):
        try:
            return _REALS[value] if value in _REALS else float(_checked_number(value))
        except (ValueError, InvalidOperation) as error:
            raise InvalidRequest(NosqlRule.TEXT_INVALID, type=name, value=value[:100]) from error
    raise InvalidRequest(NosqlRule.TYPE_INVALID, type=name, given=sent_type(value))


_REALS: Final = {
    "NaN": float("nan"),
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
}


def _checked_number(text: str) -> str:
    """A text that is a number in every language. Raises `ValueError`."""
    if not text.isascii() or "_" in text or not any(map(str.isdigit, text)):
        raise ValueError(text)
    return text.strip()


def _number(value: Any, kind: FieldType, depth: int) -> Decimal:  # noqa: ANN401, ARG001  # every converter takes all three
    if isinstance(value, bool):
        raise InvalidRequest(NosqlRule.TYPE_INVALID, type="Number", given="BOOLEAN")
    if isinstance(value, Decimal):
        return plain_number(value)
    if isinstance(value, int):
        return plain_number(Decimal(value))
    if isinstance(value, float):
        made = Decimal(repr(value))
        if not made.is_finite():
            character = double_text(value).lstrip("-")[:1]
            raise InvalidRequest(NosqlRule.NUMBER_CHARACTER, character=character)
        return plain_number(made)
    if isinstance(value, str):
        try:
            made = Decimal(_checked_number(value))
        except (ValueError, InvalidOperation) as error:
            raise InvalidRequest(
                NosqlRule.TEXT_INVALID, type="Decimal", value=value[:100]
            ) from error
        if not made.is_finite() or len(made.as_tuple().digits) > NUMBER_DIGITS_MAX:
            raise InvalidRequest(NosqlRule.TEXT_INVALID, type="Decimal", value=value[:100])
        return plain_number(made)
    raise InvalidRequest(NosqlRule.TYPE_INVALID, type="Number", given=sent_type(value))


# --- texts, bytes, instants ----------------------------------------------------------------------


def _boolean(value: Any, kind: FieldType, depth: int) -> bool:  # noqa: ANN401, ARG001  # every converter takes all three
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return value.lower() == "true"
    raise InvalidRequest(NosqlRule.TYPE_INVALID, type="Boolean", given=sent_type(value))


def _string(value: Any, kind: FieldType, depth: int) -> str:  # noqa: ANN401, ARG001  # every converter takes all three
    if isinstance(value, str):
        return value
    raise InvalidRequest(NosqlRule.TYPE_MISMATCH, type="STRING", given=sent_type(value))


def _binary(value: Any, kind: FieldType, depth: int) -> bytes:  # noqa: ANN401, ARG001  # every converter takes all three
    if isinstance(value, str):
        value = _base64(value)
    if not isinstance(value, bytes):
        raise InvalidRequest(NosqlRule.TYPE_INVALID, type="Binary", given=sent_type(value))
    if kind.kind is Kind.FIXED_BINARY and len(value) != kind.size:
        raise InvalidRequest(NosqlRule.BINARY_LENGTH, expected=kind.size, size=len(value))
    return value


def _base64(text: str) -> bytes:
    if not text or len(text) % 4:
        raise InvalidRequest(NosqlRule.BASE64_PADDING, value=text[:100])
    for character in text.rstrip("="):
        if character not in _BASE64:
            raise InvalidRequest(NosqlRule.BASE64_CHARACTER, code=f"{ord(character):x}")
    try:
        return b64decode(text, validate=True)
    except Base64Error as error:
        raise InvalidRequest(NosqlRule.BASE64_PADDING, value=text[:100]) from error


def _timestamp(value: Any, kind: FieldType, depth: int) -> Timestamp:  # noqa: ANN401, ARG001  # every converter takes all three
    text = value.text if isinstance(value, TimestampText) else value
    if isinstance(text, str):
        return timestamp_of(text, kind.precision)
    if isinstance(value, int) and not isinstance(value, bool):
        seconds, milliseconds = divmod(value, 1000)
        return Timestamp(seconds, milliseconds * 1_000_000)
    raise InvalidRequest(NosqlRule.TYPE_INVALID, type="Timestamp", given=sent_type(value))


# --- containers ----------------------------------------------------------------------------------


def _array(value: Any, kind: FieldType, depth: int) -> list[Any]:  # noqa: ANN401  # values
    if not isinstance(value, list):
        raise InvalidRequest(NosqlRule.TYPE_MISMATCH, type="ARRAY", given=sent_type(value))
    assert kind.element is not None
    return [_element(item, kind.element, depth - 1) for item in value]


def _map(value: Any, kind: FieldType, depth: int) -> dict[str, Any]:  # noqa: ANN401  # values
    if not isinstance(value, dict):
        raise InvalidRequest(NosqlRule.TYPE_MISMATCH, type="MAP", given=sent_type(value))
    assert kind.element is not None
    return {name: _element(item, kind.element, depth - 1) for name, item in value.items()}


_JAVA_NAMES: Final = {
    Kind.INTEGER: "Integer",
    Kind.LONG: "Long",
    Kind.FLOAT: "Float",
    Kind.DOUBLE: "Double",
    Kind.NUMBER: "Number",
    Kind.BOOLEAN: "Boolean",
    Kind.BINARY: "Binary",
    Kind.FIXED_BINARY: "Binary",
    Kind.TIMESTAMP: "Timestamp",
}


def _element(value: Any, kind: FieldType, depth: int) -> Any:  # noqa: ANN401  # values
    """An element of an ARRAY or MAP, which is never NULL."""
    if kind.kind is not Kind.JSON and (value is None or isinstance(value, JsonNull)):
        given = sent_type(value)
        if kind.kind is Kind.RECORD:
            raise InvalidRequest(NosqlRule.TYPE_RECORD, given=given)
        name = _JAVA_NAMES.get(kind.kind)
        if name is not None:
            raise InvalidRequest(NosqlRule.TYPE_INVALID, type=name, given=given)
        expected = kind.kind.value if kind.kind in (Kind.ARRAY, Kind.MAP) else "STRING"
        raise InvalidRequest(NosqlRule.TYPE_MISMATCH, type=expected, given=given)
    made = column_value(value, kind, depth)
    return None if made is JSON_NULL else made


def _record(value: Any, kind: FieldType, depth: int) -> dict[str, Any]:  # noqa: ANN401  # values
    if isinstance(value, list):
        value = _positional(value, [field.name for field in kind.fields])
    if not isinstance(value, dict):
        raise InvalidRequest(NosqlRule.TYPE_RECORD, given=sent_type(value))
    record: dict[str, Any] = {}
    for name, item in value.items():
        field = kind.field(name)
        if field is not None:
            made = column_value(item, field.type, depth - 1)
            if made is None:
                _check_null(field, is_key=False)
            record[field.name] = made
    return record


def _json(value: Any, kind: FieldType, depth: int) -> Any:  # noqa: ANN401  # values
    if depth == 0:
        raise InvalidRequest(TypedRule.VALUE_DEPTH, field="JSON", limit=VALUE_DEPTH_MAX)
    if isinstance(value, dict):
        return {name: _json(item, kind, depth - 1) for name, item in value.items()}
    if isinstance(value, list):
        return [_json(item, kind, depth - 1) for item in value]
    if isinstance(value, JsonNull):
        return None
    if isinstance(value, bytes):
        return b64encode(value).decode()
    if isinstance(value, TimestampText):
        return value.text
    if value is EMPTY_VALUE:
        raise InvalidRequest(NosqlRule.TYPE_JSON, code=12)
    return value


_CONVERT: Final[Mapping[Kind, Callable[[Any, FieldType, int], Any]]] = {
    Kind.INTEGER: _integer,
    Kind.LONG: _long,
    Kind.FLOAT: _float,
    Kind.DOUBLE: _double,
    Kind.NUMBER: _number,
    Kind.STRING: _string,
    Kind.ENUM: _string,
    Kind.BOOLEAN: _boolean,
    Kind.TIMESTAMP: _timestamp,
    Kind.BINARY: _binary,
    Kind.FIXED_BINARY: _binary,
    Kind.ARRAY: _array,
    Kind.MAP: _map,
    Kind.RECORD: _record,
    Kind.JSON: _json,
}
