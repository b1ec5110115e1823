"""NSON: the values of requests and answers as bytes (docs/formats/nson.md).

| code | type | Python |
|---|---|---|
| 0 | ARRAY | `list` |
| 1 | BINARY | `bytes` |
| 2 | BOOLEAN | `bool` |
| 3 | DOUBLE | `float` |
| 4, 5 | INTEGER, LONG | `int` |
| 6 | MAP | `dict`, in the order sent; of names that come twice the last |
| 7 | STRING | `str` |
| 8 | TIMESTAMP | `TimestampText` |
| 9 | NUMBER | `Decimal` |
| 10, 11, 12 | JSON null, NULL, EMPTY | `JSON_NULL`, None, `EMPTY_VALUE` |

Reading costs no more than the bytes that are there: a length or a count that promises more than
follows is refused before anything is made for it, and depth is bounded.
"""

import struct
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple, final

from librt.strings import BytesWriter, read_i32_be, write_f64_be, write_i32_be
from mypy_extensions import i64, u8

from widerow.errors import InvalidRequest
from widerow.limits import NSON_DEPTH_MAX, NUMBER_DIGITS_MAX
from widerow.model.typed.values import JSON_NULL, JsonNull
from widerow.safepoint import safepoint
from widerow.wire.nosql.rules import NosqlRule

__all__ = [
    "EMPTY_CODE",
    "EMPTY_VALUE",
    "NSON_ARRAY",
    "NSON_BINARY",
    "NSON_BOOLEAN",
    "NSON_DOUBLE",
    "NSON_INTEGER",
    "NSON_LONG",
    "NSON_MAP",
    "NSON_NULL",
    "NSON_NUMBER",
    "NSON_STRING",
    "NSON_TIMESTAMP",
    "NULL_JSON",
    "TYPE_NAMES",
    "EmptyValue",
    "EncodedValue",
    "Long",
    "TimestampText",
    "begin_container",
    "decode_map",
    "decode_value",
    "encode",
    "end_container",
    "map_member",
    "member_place",
    "put_binary",
    "put_int",
    "put_text",
    "put_value",
    "read_int",
    "read_text",
]

NSON_ARRAY: Final = 0
NSON_BINARY: Final = 1
NSON_BOOLEAN: Final = 2
NSON_DOUBLE: Final = 3
NSON_INTEGER: Final = 4
NSON_LONG: Final = 5
NSON_MAP: Final = 6
NSON_STRING: Final = 7
NSON_TIMESTAMP: Final = 8
NSON_NUMBER: Final = 9
NULL_JSON: Final = 10
NSON_NULL: Final = 11
EMPTY_CODE: Final = 12

TYPE_NAMES: Final = (
    *(
        "ARRAY",
        "BINARY",
        "BOOLEAN",
        "DOUBLE",
        "INTEGER",
        "LONG",
        "MAP",
        "STRING",
        "TIMESTAMP",
    ),
    *("NUMBER", "JSON_NULL", "NULL", "EMPTY"),
)
"""The names of the types, by their codes."""

_DOUBLE: Final = struct.Struct(">d")
_INT_MIN: Final = -(2**31)
_INT_MAX: Final = 2**31 - 1
_LONG_MASK: Final = (1 << 64) - 1
_PACKED_ZERO: Final = 127  # the byte of 0; one byte holds -119 to 120
_LEAST_OF_ONE: Final = -119
_MOST_OF_ONE: Final = 120
_FIRST_OF_ONE: Final = 0x08
_LAST_OF_ONE: Final = 0xF7
_LONG_BYTES: Final = 8
_MEMBERS_AT_ONCE: Final = 100  # are read before others may have their turn


class EmptyValue:
    """The value EMPTY: a query's result without an item."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "EMPTY"

    def __bool__(self) -> bool:
        return False


EMPTY_VALUE: Final = EmptyValue()


class TimestampText(NamedTuple):
    """A value of type TIMESTAMP, as it is written: ISO 8601 in UTC."""

    text: str


class Long(NamedTuple):
    """A value to be written as LONG however small it is."""

    value: int


@final
class EncodedValue:
    """A value that is encoded already, with the byte of its type."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data


# --- writing -------------------------------------------------------------------------------------


def encode(message: Mapping[str, Any]) -> bytes:
    """A message as bytes: one MAP."""
    out = BytesWriter()
    put_value(out, message)
    return out.getvalue()


def put_int(out: BytesWriter, value: int) -> None:
    """Append a packed integer in its shortest form."""
    if _LEAST_OF_ONE <= value <= _MOST_OF_ONE:
        out.append(value + _PACKED_ZERO)
    elif value > 0:
        beyond = value - _MOST_OF_ONE - 1
        size = max(1, (beyond.bit_length() + 7) // 8)
        out.append(_LAST_OF_ONE + size)
        out.write(beyond.to_bytes(size, "big"))
    else:
        beyond = -(value - _LEAST_OF_ONE) - 1  # 0 for -120
        size = max(1, (beyond.bit_length() + 7) // 8)
        out.append(_FIRST_OF_ONE - size)
        out.write(((1 << (8 * size)) - 1 - beyond).to_bytes(size, "big"))


def put_text(out: BytesWriter, text: str) -> None:
    """Append a packed length and UTF-8, as names and texts have them, without a type."""
    data = text.encode()
    size = len(data)
    if size <= _MOST_OF_ONE:  # most texts are short
        out.append(size + _PACKED_ZERO)
    else:
        put_int(out, size)
    out.write(data)


def put_binary(out: BytesWriter, data: bytes) -> None:
    """Append a packed length and bytes, without a type."""
    put_int(out, len(data))
    out.write(data)


def put_value(out: BytesWriter, value: Any) -> None:  # noqa: ANN401, C901, PLR0912  # every type
    """Append a value with its type. An `int` of 32 bits is an INTEGER, another one a LONG."""
    if value is None:
        out.append(NSON_NULL)
    elif isinstance(value, str):
        out.append(NSON_STRING)
        put_text(out, value)
    elif isinstance(value, bool):
        out.append(NSON_BOOLEAN)
        out.append(1 if value else 0)
    elif isinstance(value, int):
        out.append(NSON_INTEGER if _INT_MIN <= value <= _INT_MAX else NSON_LONG)
        put_int(out, value)
    elif isinstance(value, float):
        out.append(NSON_DOUBLE)
        write_f64_be(out, value)
    elif isinstance(value, EncodedValue):
        out.write(value.data)
    elif isinstance(value, Long):
        out.append(NSON_LONG)
        put_int(out, value.value)
    elif isinstance(value, TimestampText):
        out.append(NSON_TIMESTAMP)
        put_text(out, value.text)
    elif isinstance(value, (bytes, bytearray)):
        out.append(NSON_BINARY)
        put_binary(out, bytes(value))
    elif isinstance(value, (dict, Mapping)):  # dict first: asking it costs least
        _put_map(out, value)
    elif isinstance(value, Decimal):
        out.append(NSON_NUMBER)
        put_text(out, str(value))
    elif isinstance(value, JsonNull):
        out.append(NULL_JSON)
    elif isinstance(value, EmptyValue):
        out.append(EMPTY_CODE)
    elif isinstance(value, (list, tuple)):
        _put_array(out, value)
    else:
        raise TypeError(f"no NSON type for {type(value).__name__}")


def _put_map(out: BytesWriter, entries: Mapping[str, Any]) -> None:
    at = begin_container(out, NSON_MAP, len(entries))
    for name, value in entries.items():
        put_text(out, name)
        put_value(out, value)
    end_container(out, at)


def _put_array(out: BytesWriter, items: "list[Any] | tuple[Any, ...]") -> None:
    at = begin_container(out, NSON_ARRAY, len(items))
    for item in items:
        put_value(out, item)
    end_container(out, at)


def begin_container(out: BytesWriter, code: int, count: int) -> int:
    """Begin an ARRAY or a MAP of `count` members; what is returned is for `end_container`."""
    out.append(code)
    at = len(out)
    write_i32_be(out, 0)
    write_i32_be(out, count)
    return at


def end_container(out: BytesWriter, at: int) -> None:
    """Write the length of an ARRAY or a MAP whose members were appended since `begin_container`."""
    start: i64 = at
    size: i64 = len(out) - start - 4
    out[start] = u8(size >> 24)
    out[start + 1] = u8((size >> 16) & 0xFF)
    out[start + 2] = u8((size >> 8) & 0xFF)
    out[start + 3] = u8(size & 0xFF)


# --- reading -------------------------------------------------------------------------------------


def decode_map(data: bytes, at: int = 0) -> dict[str, Any]:
    """The MAP that begins at `at` and ends with `data`.

    Raises: `InvalidRequest` (NSON) for anything else.
    """
    value, stop = decode_value(data, at, NSON_DEPTH_MAX)
    if not isinstance(value, dict):
        raise _bad(f"a message must be a MAP, found {TYPE_NAMES[data[at]]}")
    if stop != len(data):
        raise _bad(f"{len(data) - stop} bytes follow the message")
    return value


def read_int(data: bytes, at: int) -> tuple[int, int]:
    """The packed integer at `at`, of up to 8 bytes in any form, and where it ends."""
    if at >= len(data):
        raise _ended()
    first = data[at]
    at += 1
    if _FIRST_OF_ONE <= first <= _LAST_OF_ONE:
        return first - _PACKED_ZERO, at
    size = first - _LAST_OF_ONE if first > _LAST_OF_ONE else _FIRST_OF_ONE - first
    stop = at + size
    if stop > len(data):
        raise _ended()
    payload = int.from_bytes(data[at:stop], "big")
    if first > _LAST_OF_ONE:
        return payload + _MOST_OF_ONE + 1, stop
    # The bytes before the payload are ff: numbers of any length below zero.
    return payload - (1 << (8 * size)) + _LEAST_OF_ONE, stop


def read_text(data: bytes, at: int) -> tuple[str | None, int]:
    """The text at `at` with its packed length, None for the length -1; and where it ends."""
    if at < len(data) and _PACKED_ZERO <= data[at] <= _LAST_OF_ONE:  # most lengths have one byte
        start = at + 1
        stop = start + data[at] - _PACKED_ZERO
        if stop <= len(data):
            return _decoded(data[start:stop]), stop
    found, at = _read_bytes(data, at, "String")
    return None if found is None else _decoded(found), at


def _decoded(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise _bad("a String is not UTF-8") from error


def _read_bytes(data: bytes, at: int, kind: str) -> tuple[bytes | None, int]:
    size, at = read_int(data, at)
    if size == -1:
        return None, at
    if size < 0:
        raise _bad(f"Invalid length of {kind}: {size}")
    stop = at + size
    if stop > len(data):
        raise _bad(f"fieldSize is too long! Length is {size}, but maximum is {len(data) - at}")
    return data[at:stop], stop


def decode_value(data: bytes, at: int, depth: int) -> tuple[Any, int]:  # noqa: C901, PLR0911, PLR0912  # every type
    """The value at `at` and where it ends; containers may be nested `depth` deep.

    Raises: `InvalidRequest` (NSON).
    """
    if at >= len(data):
        raise _ended()
    code = data[at]
    at += 1
    if code == NSON_STRING:
        return read_text(data, at)
    if code in (NSON_INTEGER, NSON_LONG):
        value, stop = read_int(data, at)
        if code == NSON_INTEGER and not _INT_MIN <= value <= _INT_MAX:
            raise _bad(f"Invalid INTEGER: {value}")
        return (_wrapped(value) if stop - at > _LONG_BYTES else value), stop
    if code == NSON_MAP:
        return _read_map(data, at, depth)
    if code == NSON_ARRAY:
        return _read_array(data, at, depth)
    if code == NSON_BOOLEAN:
        return _fixed(data, at, 1) != b"\0", at + 1
    if code == NSON_DOUBLE:
        return _DOUBLE.unpack(_fixed(data, at, 8))[0], at + 8
    if code == NSON_BINARY:
        return _read_bytes(data, at, "Binary")
    if code == NSON_NULL:
        return None, at
    if code == NULL_JSON:
        return JSON_NULL, at
    if code == NSON_TIMESTAMP:
        text, at = read_text(data, at)
        return None if text is None else TimestampText(text), at
    if code == NSON_NUMBER:
        text, at = read_text(data, at)
        return None if text is None else _number(text), at
    if code == EMPTY_CODE:
        return EMPTY_VALUE, at
    raise _bad(f"Unknown value type code: {code - 256 if code > 127 else code}")  # a signed byte


def _wrapped(value: int) -> int:
    """A number of 64 bits: drivers of languages with longer ones send their lowest 64 bits."""
    if -(2**63) <= value < 2**63:
        return value
    cut = value & _LONG_MASK
    return cut - (1 << 64) if cut >> 63 else cut


def _number(text: str) -> Decimal:
    try:
        number = Decimal(text)
    except InvalidOperation as error:
        raise InvalidRequest(NosqlRule.NUMBER_TEXT, text=text[:100]) from error
    if not number.is_finite():
        raise InvalidRequest(NosqlRule.NUMBER_CHARACTER, character=text.lstrip("-+")[:1])
    if len(number.as_tuple().digits) > NUMBER_DIGITS_MAX:
        raise InvalidRequest(NosqlRule.NUMBER_TEXT, text=text[:100])
    return number


def _fixed(data: bytes, at: int, size: int) -> bytes:
    if at + size > len(data):
        raise _ended()
    return data[at : at + size]


def _head(data: bytes, at: int, least: int) -> tuple[int, int, int]:
    """Count of members, where they begin, and where they end; each has at least `least` bytes."""
    if at + 8 > len(data):
        raise _ended()
    size, count = int(read_i32_be(data, at)), int(read_i32_be(data, at + 4))
    stop = at + 4 + size
    if size < 4 or stop > len(data):  # the count is part of it
        raise _bad(
            f"Invalid length value, length is {size}, but maximum bytes is {len(data) - at - 4}"
        )
    if not 0 <= count * least <= size - 4:
        raise _bad(f"{count} members do not fit into {size} bytes")
    return count, at + 8, stop


def _read_map(data: bytes, at: int, depth: int) -> tuple[dict[str, Any], int]:
    if depth == 0:
        raise _too_deep()
    count, at, stop = _head(data, at, 2)
    found: dict[str, Any] = {}
    for number in range(count):
        if number % _MEMBERS_AT_ONCE == _MEMBERS_AT_ONCE - 1:
            safepoint()
        name, at = read_text(data, at)
        if name is None:
            raise _bad("a name is null")
        found[name], at = decode_value(data, at, depth - 1)
    if at != stop:
        raise _map_length(stop - at)
    return found, at


def _map_length(wrong: int) -> InvalidRequest:
    return _bad(f"a MAP ends {abs(wrong)} bytes from where its length says")


def map_member(data: bytes, at: int, name: bytes, depth: int) -> Any:  # noqa: ANN401  # a value
    """The value of a short name in the MAP at `at`, None without it; of several ones the last.

    Other values are passed over. Raises: `InvalidRequest` (NSON).
    """
    place = member_place(data, at, name)
    return None if place < 0 else decode_value(data, place, depth - 1)[0]


def member_place(data: bytes, at: int, name: bytes) -> int:
    """Where the value of a short name begins in the MAP at `at`, of several ones the last; or -1.

    What is in other values is not looked at. Raises: `InvalidRequest` (NSON).
    """
    count, at, stop = _head(data, at + 1, 2)
    size = len(name)
    length_byte = size + _PACKED_ZERO
    found = -1
    for _ in range(count):
        behind = at + 1 + size
        # `startswith` would cost several times of this
        if at < len(data) and data[at] == length_byte and data[at + 1 : behind] == name:
            found = at = behind
        else:
            at = _behind_text(data, at)
        at = _behind(data, at)
    if at != stop:
        raise _map_length(stop - at)
    return found


def _behind(data: bytes, at: int) -> int:
    """Where the value at `at` ends."""
    if at < len(data):
        code = data[at]
        if code in (NSON_INTEGER, NSON_LONG):
            return read_int(data, at + 1)[1]
        if code == NSON_STRING:
            return _behind_text(data, at + 1)
        if code in (NSON_MAP, NSON_ARRAY):
            return _head(data, at + 1, 0)[2]
    return decode_value(data, at, 1)[1]


def _behind_text(data: bytes, at: int) -> int:
    if at < len(data) and _PACKED_ZERO <= data[at] <= _LAST_OF_ONE:
        stop = at + 1 + data[at] - _PACKED_ZERO
        if stop <= len(data):
            return stop
    return _read_bytes(data, at, "String")[1]


def _read_array(data: bytes, at: int, depth: int) -> tuple[list[Any], int]:
    if depth == 0:
        raise _too_deep()
    count, at, stop = _head(data, at, 1)
    found: list[Any] = []
    for number in range(count):
        if number % _MEMBERS_AT_ONCE == _MEMBERS_AT_ONCE - 1:
            safepoint()
        item, at = decode_value(data, at, depth - 1)
        found.append(item)
    if at != stop:
        raise _bad(f"an ARRAY ends {abs(stop - at)} bytes from where its length says")
    return found, at


def _bad(text: str) -> InvalidRequest:
    return InvalidRequest(NosqlRule.NSON, text=text)


def _ended() -> InvalidRequest:
    return _bad("the message ends inside a value")


def _too_deep() -> InvalidRequest:
    return _bad(f"values are nested more than {NSON_DEPTH_MAX} deep")
