"""Values read from text: of a command line, or of a literal in a definition (model §2, §5).

`5` for an INTEGER, `blue` for an ENUM, `2024-12-31T23:59:59` for a TIMESTAMP, Base64 for BINARY,
JSON for nested types.
"""

import binascii
from base64 import b64decode
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Final

from widerow.errors import InvalidRequest
from widerow.limits import NUMBER_DIGITS_MAX
from widerow.model.typed.coerce import coerce
from widerow.model.typed.json_rows import parse_json, value_from_json
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import TypedValue
from widerow.written_numbers import real_number, whole_number

__all__ = ["binary_from_text", "value_from_text"]

_DIGITS_MAX: Final = 400  # of an integer or floating number; the largest double has 309
_BOOLEANS: Final = {"true": True, "false": False}


def value_from_text(text: str, kind: FieldType, field: str) -> TypedValue:
    """The value of a type that `text` spells; errors name `field`. Raises `InvalidRequest`."""
    read = _READ.get(kind.kind)
    if read is None:  # strings, symbols, timestamps: `coerce` converts them
        return coerce(text, kind, field)
    return read(text, kind, field)


def binary_from_text(text: str, kind: FieldType, field: str) -> TypedValue:
    """Bytes from Base64. Raises `InvalidRequest`."""
    try:
        data = b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise InvalidRequest(TypedRule.BASE64, field=field) from error
    return coerce(data, kind, field)


def _illegal(text: str, kind: FieldType, field: str) -> InvalidRequest:
    return InvalidRequest(
        TypedRule.VALUE_ILLEGAL, field=field, value=text[:100], type=kind.kind.value
    )


def _integer(text: str, kind: FieldType, field: str) -> TypedValue:
    digits = text.strip()
    try:
        if len(digits) > _DIGITS_MAX:
            raise _illegal(text, kind, field)
        number = whole_number(digits)
    except ValueError as error:
        raise _illegal(text, kind, field) from error
    return coerce(number, kind, field)


def _floating(text: str, kind: FieldType, field: str) -> TypedValue:
    try:
        if len(text) > _DIGITS_MAX:
            raise _illegal(text, kind, field)
        number = real_number(text.strip())
    except ValueError as error:
        raise _illegal(text, kind, field) from error
    return coerce(number, kind, field)


def _number(text: str, kind: FieldType, field: str) -> TypedValue:
    try:
        if len(text) > 2 * NUMBER_DIGITS_MAX:
            raise _illegal(text, kind, field)
        real_number(text.strip())
        number = Decimal(text.strip())
    except ValueError as error:
        raise _illegal(text, kind, field) from error
    return coerce(number, kind, field)


def _boolean(text: str, kind: FieldType, field: str) -> TypedValue:
    value = _BOOLEANS.get(text.strip().lower())
    if value is None:
        raise _illegal(text, kind, field)
    return value


def _document(text: str, kind: FieldType, field: str) -> TypedValue:
    return value_from_json(parse_json(text), kind, field)


_READ: Final[Mapping[Kind, Callable[[str, FieldType, str], TypedValue]]] = {
    Kind.INTEGER: _integer,
    Kind.LONG: _integer,
    Kind.FLOAT: _floating,
    Kind.DOUBLE: _floating,
    Kind.NUMBER: _number,
    Kind.BOOLEAN: _boolean,
    Kind.BINARY: binary_from_text,
    Kind.FIXED_BINARY: binary_from_text,
    Kind.ARRAY: _document,
    Kind.MAP: _document,
    Kind.RECORD: _document,
    Kind.JSON: _document,
}
