"""Values of requests, converted into the form of a field's values (search §2)."""

import math
from collections.abc import Callable
from typing import Final

from widerow.errors import InvalidRequest
from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.search.schema import SearchFieldType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.search.conversion import address_bytes, number_text
from widerow.search.fields import IndexedField
from widerow.search.interface import FieldLiteral
from widerow.search.places import parse_point
from widerow.written_numbers import real_number, whole_number

__all__ = ["asked_number", "asked_term", "literal_of", "point_of", "refused_type", "refused_value"]

_Type = SearchFieldType


def refused_value(field: IndexedField, value: object) -> InvalidRequest:
    """The error for a value that a field cannot have."""
    return InvalidRequest(
        TablestoreRule.SEARCH_QUERY_VALUE, field=field.name, value=repr(value)[:100]
    )


def refused_type(field: IndexedField, query: str) -> InvalidRequest:
    """The error for a query that does not read fields of a type."""
    return InvalidRequest(
        TablestoreRule.SEARCH_QUERY_FIELD_TYPE, field=field.name, type=field.type.name, query=query
    )


def asked_number(field: IndexedField, value: Value) -> int | float:
    """A number that LONG, DOUBLE, BOOLEAN or DATE is compared with; any size, never NaN.

    A LONG may be compared with a float. Raises `InvalidRequest` for any other value.
    """
    found = _NUMBERS[field.type](field, value)
    if found is None or (isinstance(found, float) and math.isnan(found)):
        raise refused_value(field, value)
    return found


def asked_term(field: IndexedField, value: Value) -> bytes:
    """A term for KEYWORD, FUZZY_KEYWORD, TEXT or IP.

    Raises `InvalidRequest` for any other value.
    """
    if field.type is _Type.IP:
        address = address_bytes(value) if isinstance(value, str) else None
        if address is None:
            raise refused_value(field, value)
        return address
    if isinstance(value, bytes):
        raise refused_value(field, value)
    if isinstance(value, bool):
        return b"true" if value else b"false"
    return (value if isinstance(value, str) else number_text(value)).encode(errors="replace")


def point_of(text: str) -> tuple[float, float]:
    """A point of a request. Raises `InvalidRequest` for a malformed text (search §4.6)."""
    point = parse_point(text)
    if point is None:
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_GEO, value=text[:100])
    return point


def literal_of(field: IndexedField, value: Value) -> FieldLiteral:
    """A value in the form of `FieldValues` (`search.interface`)."""
    if field.type is _Type.GEO_POINT and isinstance(value, str):
        return point_of(value)
    if field.type not in _NUMBERS:
        return asked_term(field, value)
    number = asked_number(field, value)
    if field.type is _Type.BOOLEAN:
        return bool(number)
    if field.type is _Type.DOUBLE:
        return float(number)
    if isinstance(number, float):
        if math.isfinite(number) and not number.is_integer():
            raise refused_value(field, value)  # the number nearby was not asked for
        number = int(number) if math.isfinite(number) else (INT64_MAX if number > 0 else INT64_MIN)
    return min(max(number, INT64_MIN), INT64_MAX)


def _number(_field: IndexedField, value: Value) -> int | float | None:
    if isinstance(value, bool | bytes):
        return None
    if not isinstance(value, str):
        return value
    for read in (whole_number, real_number):
        try:
            return read(value)
        except ValueError:
            continue
    return None


def _double(field: IndexedField, value: Value) -> float | None:
    found = _number(field, value)
    if found is None:
        return None
    try:
        return float(found)
    except OverflowError:
        return math.inf if found > 0 else -math.inf


def _boolean(_field: IndexedField, value: Value) -> bool | None:
    if isinstance(value, str):
        return {"true": True, "false": False}.get(value.lower())
    return value if isinstance(value, bool) else None


def _date(field: IndexedField, value: Value) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    return field.dates.asked(value)


_NUMBERS: Final[dict[SearchFieldType, Callable[[IndexedField, Value], int | float | None]]] = {
    _Type.LONG: _number,
    _Type.DOUBLE: _double,
    _Type.BOOLEAN: _boolean,
    _Type.DATE: _date,
}
