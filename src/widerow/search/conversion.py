"""Values of columns and of JSON texts as values of fields (search §2).

Each converter answers the value in the form that documents hold it, or None for a value that the
field cannot have; none raises. LONG and DATE: int. DOUBLE: float. BOOLEAN: bool. KEYWORD,
FUZZY_KEYWORD, IP: bytes. TEXT: str, which is analysed later. GEO_POINT: the stored pair. VECTOR:
the bytes of its 32-bit floats, of length 1 for COSINE.
"""

import json
import math
from collections.abc import Callable, Iterable
from contextlib import suppress
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from widerow.limits import (
    INT64_MAX,
    INT64_MIN,
    SEARCH_ARRAY_ELEMENTS_MAX,
    SEARCH_FUZZY_KEYWORD_BYTES_MAX,
    SEARCH_KEYWORD_BYTES_MAX,
    SEARCH_TEXT_BYTES_MAX,
)
from widerow.model.search.schema import SearchFieldType, VectorMetric
from widerow.model.values import Value
from widerow.search.fields import IndexedField
from widerow.search.places import parse_point, quantised
from widerow.written_numbers import real_number, whole_number

__all__ = ["address_bytes", "column_reader", "json_values", "number_text", "parsed_json"]

_Type = SearchFieldType
_Convert = Callable[[IndexedField, object], Any]
_MAPPED: Final = b"\0" * 10 + b"\xff\xff"


def parsed_json(text: str) -> Any:  # noqa: ANN401  # what JSON can say
    """The value of a JSON text. Raises ValueError where it is none, however it is malformed."""
    with suppress(RecursionError):
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    raise ValueError("nested too deeply")


def _refuse(_constant: str) -> float:
    raise ValueError("not a number")


def _finite(text: str) -> float | None:
    """A number of JSON; None, as null, for one above all doubles."""
    value = float(text)
    return value if math.isfinite(value) else None


def number_text(value: object) -> str:
    """The shortest decimal text of a number (search §2.5).

    A parameter of type `float` would make floating-point numbers of integers in a compiled module.
    """
    return repr(value)


def address_bytes(text: str) -> bytes | None:
    """An address of version 4 or 6 as 16 bytes; version 4 is mapped into version 6."""
    try:
        if ":" in text:
            return None if "%" in text else IPv6Address(text).packed
        return _MAPPED + IPv4Address(text).packed
    except AddressValueError:
        return None


def column_reader(field: IndexedField) -> Callable[[Value], list[Any]]:
    """How the values of a field of the row are read from the newest value of its column."""
    if field.type is _Type.VECTOR:
        return lambda value: _kept([_vector(field, value)])
    if field.definition.is_array:
        return lambda value: _array(field, value)
    by_kind = {kind: convert for kind, convert in _by_kind(field).items() if convert is not None}

    def read(value: Value) -> list[Any]:
        convert = by_kind.get(type(value))
        found = None if convert is None else convert(field, value)
        return [] if found is None else [found]

    return read


def json_values(field: IndexedField, value: object) -> list[Any]:
    """The values of a field, read from a member of an object; arrays are always read."""
    convert = _FROM_JSON[field.type]
    if not isinstance(value, list) or field.type is _Type.VECTOR:
        return _kept([convert(field, value)])
    if len(value) > SEARCH_ARRAY_ELEMENTS_MAX:
        return []
    return _kept([convert(field, element) for element in value])


def _kept(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def _array(field: IndexedField, value: Value) -> list[Any]:
    if not isinstance(value, str):
        return []
    try:
        return json_values(field, parsed_json(value))
    except ValueError:
        return []


def _by_kind(field: IndexedField) -> dict[type, _Convert | None]:
    """Converters by type of value: a field takes its own type, a virtual field some others, too.

    (search §2, §2.5)
    """
    convert, virtual = _FROM_JSON[field.type], field.definition.source is not None
    texts = field.type in _FROM_TEXT or field.type is _Type.DATE
    numbers = _of_number(convert) if virtual and field.type in _FROM_TEXT else None
    parsed_too = virtual and field.type in (_Type.LONG, _Type.DOUBLE)
    return {
        str: convert if texts or parsed_too else None,
        int: convert if field.type in (_Type.LONG, _Type.DATE) else numbers,
        float: convert if field.type is _Type.DOUBLE else numbers,
        bool: convert if field.type is _Type.BOOLEAN else None,
    }


def _of_number(convert: _Convert) -> _Convert:
    return lambda field, value: convert(field, number_text(value))


# --- one value ---------------------------------------------------------------------------------


def _read(read: Callable[[str], object], text: str) -> object:
    """The number that a text says, as it is made; None if it says none."""
    try:
        return read(text)
    except ValueError:
        return None


def _long(_field: IndexedField, value: object) -> int | None:
    if type(value) is str:
        value = _read(whole_number, value)
    elif type(value) is float:
        value = int(value) if value.is_integer() else None
    if type(value) is not int or not INT64_MIN <= value <= INT64_MAX:
        return None
    return value


def _double(_field: IndexedField, value: object) -> float | None:
    if type(value) is str:
        value = _finite(value) if _read(real_number, value) is not None else None
    if type(value) is int:
        try:
            value = float(value)
        except OverflowError:
            return None
    if type(value) is not float or math.isnan(value):
        return None
    return value


def _boolean(_field: IndexedField, value: object) -> bool | None:
    return value if type(value) is bool else None


def _text_of(value: object) -> str | None:
    if type(value) is str:
        return value
    return json.dumps(value) if type(value) in (int, float, bool) else None


def _encoded(value: object, longest: int) -> bytes | None:
    text = _text_of(value)
    if text is None or len(text) > longest:
        return None
    try:
        encoded = text.encode()
    except UnicodeEncodeError:  # a lone surrogate, which only JSON can hold
        return None
    return encoded if len(encoded) <= longest else None


def _keyword(_field: IndexedField, value: object) -> bytes | None:
    return _encoded(value, SEARCH_KEYWORD_BYTES_MAX)


def _fuzzy_keyword(_field: IndexedField, value: object) -> bytes | None:
    return _encoded(value, SEARCH_FUZZY_KEYWORD_BYTES_MAX)


def _text(_field: IndexedField, value: object) -> str | None:
    encoded = _encoded(value, SEARCH_TEXT_BYTES_MAX)
    return None if encoded is None else _text_of(value)


def _date(field: IndexedField, value: object) -> int | None:
    if type(value) is int:
        return field.dates.of_number(value)
    return field.dates.of_text(value) if type(value) is str else None


def _address(_field: IndexedField, value: object) -> bytes | None:
    return address_bytes(value) if type(value) is str else None


def _point(_field: IndexedField, value: object) -> tuple[int, int] | None:
    point = parse_point(value) if type(value) is str else None
    return None if point is None else quantised(point)


def _vector(field: IndexedField, value: object) -> bytes | None:
    options = field.definition.vector
    if isinstance(value, str):
        try:
            value = parsed_json(value)
        except ValueError:
            return None
    if options is None:
        return None
    if isinstance(value, bytes):
        if len(value) != 4 * options.dimension:
            return None
        vector = np.frombuffer(value, dtype="<f4")
    else:
        if not isinstance(value, list) or len(value) != options.dimension:
            return None
        if not all(type(each) is int or type(each) is float for each in value):
            return None
        with np.errstate(over="ignore"):
            try:
                vector = np.array(value, dtype=np.float64).astype("<f4")
            except OverflowError:
                return None
    return _of_length_one(vector, options.metric)


def _of_length_one(vector: NDArray[np.float32], metric: VectorMetric) -> bytes | None:
    """The bytes of a vector of finite numbers; for COSINE scaled to length 1."""
    if not np.isfinite(vector).all():
        return None
    if metric is VectorMetric.COSINE:
        wide = vector.astype(np.float64)
        length = math.sqrt(float(wide @ wide))
        if length == 0.0:
            return None
        vector = (wide / length).astype("<f4")
    return bytes(vector.tobytes())


_FROM_TEXT: Final = frozenset(
    (_Type.KEYWORD, _Type.FUZZY_KEYWORD, _Type.TEXT, _Type.IP, _Type.GEO_POINT)
)
_FROM_JSON: Final[dict[SearchFieldType, _Convert]] = {
    _Type.LONG: _long,
    _Type.DOUBLE: _double,
    _Type.BOOLEAN: _boolean,
    _Type.KEYWORD: _keyword,
    _Type.FUZZY_KEYWORD: _fuzzy_keyword,
    _Type.TEXT: _text,
    _Type.DATE: _date,
    _Type.IP: _address,
    _Type.GEO_POINT: _point,
    _Type.VECTOR: _vector,
    _Type.FLATTENED: lambda _field, _value: None,
}
