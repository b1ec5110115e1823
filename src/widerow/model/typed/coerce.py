"""Python values converted to the values of a type, or refused with the reason (model §2, §5).

A table has one function for each kind. A value that fits is returned in the one form that the model
has for it: a FLOAT rounded to single precision, a NUMBER without trailing zeros, a UUID in lower
case, a TIMESTAMP rounded to its precision. Cost: linear in the value.
"""

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from math import isfinite
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.limits import INT64_MAX, INT64_MIN, NUMBER_DIGITS_MAX, VALUE_DEPTH_MAX
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import JsonNull, Timestamp, TypedValue, plain_number

__all__ = [
    "COERCE",
    "canonical_uuid",
    "check_default",
    "coerce",
    "single_precision",
]

_SINGLE: Final = struct.Struct("<f")
_UUID: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z", re.IGNORECASE
)
_INT_MIN: Final = -(2**31)
_INT_MAX: Final = 2**31 - 1
# What values of each type are called, in the vendor's words.
_GIVEN: Final = (
    (bool, "Boolean"),
    (int, "Long"),
    (float, "Double"),
    (str, "String"),
    (bytes, "Binary"),
    (Decimal, "Number"),
    (datetime, "Timestamp"),
    (Timestamp, "Timestamp"),
    (Mapping, "Map"),
    (Sequence, "Array"),
)


def coerce(value: Any, kind: FieldType, field: str) -> TypedValue:  # noqa: ANN401  # callers' values
    """`value` converted to the type; errors name `field`. Raises `InvalidRequest`.

    None is not a value of any type: whether a column takes NULL is a question of the column.
    """
    return COERCE[kind.kind](value, kind, field, VALUE_DEPTH_MAX)


def check_default(value: Any, kind: FieldType, field: str) -> TypedValue:  # noqa: ANN401  # callers' values
    """A default value converted as by `coerce`; enumerations have another error (model §3)."""
    if kind.kind is Kind.ENUM and isinstance(value, str) and value not in kind.symbols:
        raise _bad_symbol(value, kind)
    return coerce(value, kind, field)


def canonical_uuid(text: str) -> str:
    """A UUID in lower case. Raises `InvalidRequest` for anything but its 36 characters."""
    if not _UUID.match(text):
        raise InvalidRequest(TypedRule.UUID_VALUE, value=text[:100])
    return text.lower()


def single_precision(value: float) -> float:
    """A float rounded to single precision; beyond its range, infinity."""
    try:
        rounded: float = _SINGLE.unpack(_SINGLE.pack(value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return rounded


def _wrong(value: Any, kind: FieldType) -> InvalidRequest:  # noqa: ANN401  # callers' values
    return InvalidRequest(TypedRule.VALUE_KIND, given=_kind_of(value), type=kind.kind.value)


def _kind_of(value: Any) -> str:  # noqa: ANN401  # callers' values
    """What a value is called, in the vendor's words."""
    if isinstance(value, int) and not isinstance(value, bool) and _INT_MIN <= value <= _INT_MAX:
        return "Integer"
    for type_, name in _GIVEN:
        if isinstance(value, type_):
            return name
    return type(value).__name__


def _illegal(value: Any, kind: FieldType, field: str) -> InvalidRequest:  # noqa: ANN401  # callers' values
    shown = str(value) if not isinstance(value, int) or abs(value) < 10**60 else "out of range"
    return InvalidRequest(
        TypedRule.VALUE_ILLEGAL, field=field, value=shown[:100], type=kind.kind.value
    )


def _bad_symbol(value: str, kind: FieldType) -> InvalidRequest:
    values = ", ".join(kind.symbols)
    return InvalidRequest(TypedRule.ENUM_VALUE, value=value[:100], values=values)


def _integer(value: Any, kind: FieldType, field: str, _: int) -> int:  # noqa: ANN401  # callers' values
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(value, kind)
    if not _INT_MIN <= value <= _INT_MAX:
        raise _illegal(value, kind, field)
    return int(value)


def _long(value: Any, kind: FieldType, field: str, _: int) -> int:  # noqa: ANN401  # callers' values
    if not isinstance(value, int) or isinstance(value, bool):
        raise _wrong(value, kind)
    if not INT64_MIN <= value <= INT64_MAX:
        raise _illegal(value, kind, field)
    return int(value)


def _double(value: Any, kind: FieldType, field: str, _: int) -> float:  # noqa: ANN401  # callers' values
    if not isinstance(value, (float, int)) or isinstance(value, bool):
        raise _wrong(value, kind)
    try:
        return float(value)
    except OverflowError as error:
        raise _illegal(value, kind, field) from error


def _float(value: Any, kind: FieldType, field: str, depth: int) -> float:  # noqa: ANN401  # callers' values
    return single_precision(_double(value, kind, field, depth))


def _number(value: Any, kind: FieldType, field: str, _: int) -> Decimal:  # noqa: ANN401  # callers' values
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise _wrong(value, kind)
    if isinstance(value, int) and value.bit_length() > 4 * NUMBER_DIGITS_MAX:  # dear to convert
        raise _illegal(value, kind, field)
    number = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    if not number.is_finite() or len(number.as_tuple().digits) > NUMBER_DIGITS_MAX:
        raise _illegal(value, kind, field)
    return plain_number(number)


def _string(value: Any, kind: FieldType, field: str, _: int) -> str:  # noqa: ANN401  # callers' values
    if not isinstance(value, str):
        raise _wrong(value, kind)
    if kind.uuid:
        return canonical_uuid(value)
    return _text(value, kind, field)


def _text(value: str, kind: FieldType, field: str) -> str:
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError as error:
            raise _illegal(ascii(value), kind, field) from error
    return value


def _enum(value: Any, kind: FieldType, _: str, __: int) -> str:  # noqa: ANN401  # callers' values
    if not isinstance(value, str):
        raise _wrong(value, kind)
    if value not in kind.symbols:
        raise _bad_symbol(value, kind)
    return value


def _boolean(value: Any, kind: FieldType, _: str, __: int) -> bool:  # noqa: ANN401  # callers' values
    if not isinstance(value, bool):
        raise _wrong(value, kind)
    return value


def _binary(value: Any, kind: FieldType, field: str, _: int) -> bytes:  # noqa: ANN401  # callers' values
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise _wrong(value, kind)
    data = bytes(value)
    if kind.kind is Kind.FIXED_BINARY and len(data) != kind.size:
        raise InvalidRequest(TypedRule.VALUE_BYTES, field=field, size=len(data), expected=kind.size)
    return data


def _timestamp(value: Any, kind: FieldType, _: str, __: int) -> Timestamp:  # noqa: ANN401  # callers' values
    if isinstance(value, str):
        moment = Timestamp.parse(value)
    elif isinstance(value, datetime):
        moment = Timestamp.from_datetime(value)
    elif isinstance(value, Timestamp):
        moment = value
    else:
        raise _wrong(value, kind)
    if not _FIRST_SECOND <= moment.seconds <= _LAST_SECOND:
        raise InvalidRequest(TypedRule.TIMESTAMP_RANGE, value=str(moment.seconds))
    return moment.rounded(kind.precision)


_FIRST_SECOND: Final = Timestamp.parse("-6383-01-01").seconds
_LAST_SECOND: Final = Timestamp.parse("9999-12-31T23:59:59").seconds


def _too_deep(field: str) -> InvalidRequest:
    return InvalidRequest(TypedRule.VALUE_DEPTH, field=field[:100], limit=VALUE_DEPTH_MAX)


def _array(value: Any, kind: FieldType, field: str, depth: int) -> list[Any]:  # noqa: ANN401  # callers' values
    if not isinstance(value, Sequence) or isinstance(value, (str, bytes)):
        raise _wrong(value, kind)
    if depth == 0:
        raise _too_deep(field)
    assert kind.element is not None
    make = COERCE[kind.element.kind]
    return [make(item, kind.element, field, depth - 1) for item in value]


def _map(value: Any, kind: FieldType, field: str, depth: int) -> dict[str, Any]:  # noqa: ANN401  # callers' values
    if not isinstance(value, Mapping):
        raise _wrong(value, kind)
    if depth == 0:
        raise _too_deep(field)
    element = kind.element
    assert element is not None
    make = COERCE[element.kind]
    return {
        _string(key, _KEY_TYPE, field, 0): make(item, element, field, depth - 1)
        for key, item in value.items()
    }


def _record(value: Any, kind: FieldType, field: str, depth: int) -> dict[str, Any]:  # noqa: ANN401  # callers' values
    if not isinstance(value, Mapping):
        raise _wrong(value, kind)
    if depth == 0:
        raise _too_deep(field)
    given: dict[str, Any] = {}
    for name, item in value.items():
        declared = kind.field(str(name))
        if declared is None:
            raise InvalidRequest(TypedRule.NO_FIELD, field=str(name)[:100])
        given[declared.name] = item
    record: dict[str, Any] = {}
    for declared in kind.fields:
        item = given.get(declared.name, declared.default)
        if item is None and not declared.nullable:
            raise InvalidRequest(TypedRule.NOT_NULLABLE, field=declared.name)
        record[declared.name] = (
            None
            if item is None
            else COERCE[declared.type.kind](item, declared.type, declared.name, depth - 1)
        )
    return record


def _json(value: Any, kind: FieldType, field: str, depth: int) -> TypedValue:  # noqa: ANN401  # callers' values
    return value if isinstance(value, JsonNull) else _document(value, kind, field, depth)


def _document(value: Any, kind: FieldType, field: str, depth: int) -> TypedValue:  # noqa: ANN401  # any document
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return _text(value, kind, field)
    if isinstance(value, int) and INT64_MIN <= value <= INT64_MAX:
        return int(value)
    if isinstance(value, (int, Decimal)):
        return _number(value, kind, field, 0)  # beyond 64 bits it is a NUMBER, as the vendor has it
    if isinstance(value, float):
        if not isfinite(value):
            raise _illegal(value, kind, field)
        return value
    if depth == 0:
        raise _too_deep(field)
    if isinstance(value, Mapping):
        return {
            _string(key, _KEY_TYPE, field, 0): _document(item, kind, field, depth - 1)
            for key, item in value.items()
        }
    if isinstance(value, Sequence) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [_document(item, kind, field, depth - 1) for item in value]
    raise _wrong(value, kind)


def _any_atomic(value: Any, kind: FieldType, field: str, depth: int) -> TypedValue:  # noqa: ANN401  # any document
    if isinstance(value, (str, bool, int, float, Decimal)):
        return _document(value, kind, field, depth)
    raise _wrong(value, kind)


_KEY_TYPE: Final = FieldType(Kind.STRING)

COERCE: Final[Mapping[Kind, Callable[[Any, FieldType, str, int], TypedValue]]] = {
    Kind.INTEGER: _integer,
    Kind.LONG: _long,
    Kind.FLOAT: _float,
    Kind.DOUBLE: _double,
    Kind.NUMBER: _number,
    Kind.STRING: _string,
    Kind.ENUM: _enum,
    Kind.BOOLEAN: _boolean,
    Kind.TIMESTAMP: _timestamp,
    Kind.BINARY: _binary,
    Kind.FIXED_BINARY: _binary,
    Kind.ARRAY: _array,
    Kind.MAP: _map,
    Kind.RECORD: _record,
    Kind.JSON: _json,
    Kind.ANY_ATOMIC: _any_atomic,
}
