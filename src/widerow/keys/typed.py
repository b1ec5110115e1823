"""Encodes primary keys of typed tables into bytes that sort as the model says: an ENUM by ordinal.

INTEGER    four bytes, big-endian, sign bit flipped; LONG eight
FLOAT      four bytes in IEEE total order: −0.0 below 0.0, NaN last; DOUBLE eight
NUMBER     sign, exponent, digits in pairs: numeric, however long
STRING     UTF-16 code units as three-byte UTF-8 where needed, 00 escaped, terminated
UUID       its sixteen bytes
ENUM       two bytes, the ordinal; BOOLEAN one byte
TIMESTAMP  seconds in eight bytes, sign flipped, then nanoseconds in four
ANYATOMIC  one byte for number, text or boolean, then as NUMBER, STRING or BOOLEAN

A child's row stands behind its parent's, under the parent's key, 02, the child table's number and
its own key columns; so a shard is a prefix, and children lie between their parent and the next
(docs/formats/keys.md, which has vectors).
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from widerow.errors import StoreDamaged
from widerow.keys.decode import unescape
from widerow.keys.encode import after_prefix
from widerow.keys.layout import CHILD_MARK, row_prefix
from widerow.model.typed.table import TypedTable
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import Timestamp, TypedValue, plain_number

__all__ = [
    "Decoder",
    "Encoder",
    "KeyForm",
    "decoder_of",
    "encode_typed",
    "encoder_of",
]

Encoder = Callable[[Any], bytes]
Decoder = Callable[[bytes, int], tuple[TypedValue, int]]

_TERMINATOR: Final = b"\x00\x01"
_FLOAT: Final = struct.Struct(">f")
_DOUBLE: Final = struct.Struct(">d")
_INSTANT: Final = struct.Struct(">QI")
_SIGN_32: Final = 1 << 31
_SIGN_64: Final = 1 << 63
_ALL_32: Final = (1 << 32) - 1
_ALL_64: Final = (1 << 64) - 1
_NAN_32: Final = b"\xff\xc0\x00\x00"
_NAN_64: Final = b"\xff\xf8\x00\x00\x00\x00\x00\x00"
_SURROGATES: Final = 0xFFFF  # code points above take two UTF-16 units

# The first bytes of a NUMBER.
_NEGATIVE, _ZERO, _POSITIVE = 0x40, 0x80, 0xC0
_INVERTED: Final = bytes(range(255, -1, -1))

# The first byte of a value of any kind, in the order that kinds sort by.
_ANY_NUMBER, _ANY_TEXT, _ANY_BOOLEAN = b"\x10", b"\x20", b"\x30"


def encode_typed(kind: FieldType, value: TypedValue) -> bytes:
    """A key value of the type, encoded."""
    return encoder_of(kind)(value)


def encoder_of(kind: FieldType) -> Encoder:
    """The function that encodes values of one type. Its cost is linear in the value."""
    if kind.kind is Kind.ENUM:
        ordinals = {symbol: index.to_bytes(2, "big") for index, symbol in enumerate(kind.symbols)}
        return ordinals.__getitem__
    if kind.uuid:
        return _encode_uuid
    return _ENCODE[kind.kind]


def decoder_of(kind: FieldType) -> Decoder:
    """The function that decodes values of one type, from a key and a position to value and end.

    It raises `StoreDamaged` for bytes that are not a value of the type.
    """
    if kind.kind is Kind.ENUM:
        return _enum_decoder(kind.symbols)
    if kind.uuid:
        return _decode_uuid
    return _DECODE[kind.kind]


class KeyForm:
    """Encodes and decodes the keys of one table; made once for a definition."""

    __slots__ = ("_decoders", "_encoders", "_marks", "_plain", "length", "prefix", "shard_length")

    def __init__(self, table: TypedTable) -> None:
        self.prefix = row_prefix(table.top)
        self.length = len(table.primary_key)
        self.shard_length = len(table.shard_key)
        self._encoders = tuple(encoder_of(kind) for kind in table.key_types)
        self._decoders = tuple(decoder_of(kind) for kind in table.key_types)
        marks = [b""] * (self.length + 1)
        for length, table_id in zip(table.parent_lengths, table.path[1:], strict=True):
            marks[length] = CHILD_MARK + table_id.to_bytes(4, "big")
        # The bytes before each column, and after the last one of a prefix.
        self._marks = tuple(marks)
        self._plain = not any(marks)

    def encode(self, values: Sequence[TypedValue]) -> bytes:
        """The key of a row, or the prefix of all rows that share the leading `values`."""
        if self._plain:
            return self.prefix + b"".join(
                [encode(value) for encode, value in zip(self._encoders, values, strict=False)]
            )
        parts = [self.prefix]
        for mark, encode, value in zip(self._marks, self._encoders, values, strict=False):
            parts.append(mark)
            parts.append(encode(value))
        parts.append(self._marks[len(values)])
        return b"".join(parts)

    def encode_row(self, values: Sequence[TypedValue]) -> tuple[bytes, bytes]:
        """The shard of a row, and its key."""
        if not self._plain:
            return self.shard(values), self.encode(values)
        parts = [encode(values[place]) for place, encode in enumerate(self._encoders)]
        shard = self.prefix + b"".join(parts[: self.shard_length])
        if self.shard_length == self.length:
            return shard, shard
        return shard, shard + b"".join(parts[self.shard_length :])

    def encode_next(self, prefix: bytes, position: int, value: TypedValue) -> bytes:
        """`prefix`, which has `position` leading values, and the next value, without a mark."""
        return prefix + self._encoders[position](value)

    def shard(self, values: Sequence[TypedValue]) -> bytes:
        """The prefix of a row's shard; `values` are at least its shard key."""
        return self.prefix + b"".join(
            [
                encode(value)
                for encode, value in zip(self._encoders, values[: self.shard_length], strict=False)
            ]
        )

    def range(self) -> tuple[bytes, bytes]:
        """The range of keys of all rows of the table's hierarchy."""
        return self.prefix, after_prefix(self.prefix)

    def decode(self, key: bytes) -> tuple[TypedValue, ...]:
        """The values of a row's key. Raises `StoreDamaged` for a key that is none of this table."""
        values: list[TypedValue] = []
        position = len(self.prefix)
        for place, decode in enumerate(self._decoders):
            if not self._plain and self._marks[place]:
                position = self._passed(key, position, self._marks[place])
            value, position = decode(key, position)
            values.append(value)
        if position != len(key):
            raise StoreDamaged(f"bytes behind the last key column: {key.hex()}")
        return tuple(values)

    def decode_shard(self, key: bytes) -> tuple[TypedValue, ...]:
        """The values of the shard key that a key begins with. Raises `StoreDamaged`."""
        values: list[TypedValue] = []
        position = len(self.prefix)
        for decode in self._decoders[: self.shard_length]:
            value, position = decode(key, position)
            values.append(value)
        return tuple(values)

    def shard_of(self, key: bytes) -> bytes:
        """The prefix of the shard that an encoded key lies in."""
        return key[: self.end(key, self.shard_length)]

    def end(self, key: bytes, length: int) -> int:
        """The position behind the first `length` columns of a key, in front of any mark."""
        position = len(self.prefix)
        for mark, decode in zip(self._marks[:length], self._decoders, strict=False):
            if mark:
                position = self._passed(key, position, mark)
            position = decode(key, position)[1]
        return position

    def _passed(self, key: bytes, position: int, mark: bytes) -> int:
        if not key.startswith(mark, position):
            raise StoreDamaged(f"a key of another table: {key.hex()}")
        return position + len(mark)


# --- encoding --------------------------------------------------------------------------------


def _encode_integer(value: int) -> bytes:
    return (value + _SIGN_32).to_bytes(4, "big")


def _encode_long(value: int) -> bytes:
    return (value + _SIGN_64).to_bytes(8, "big")


def _encode_float(value: float) -> bytes:
    if value != value:  # noqa: PLR0124  # all bit patterns of NaN are one value
        return _NAN_32
    bits = int.from_bytes(_FLOAT.pack(value), "big")
    bits = bits ^ _ALL_32 if bits & _SIGN_32 else bits | _SIGN_32
    return bits.to_bytes(4, "big")


def _encode_double(value: float) -> bytes:
    if value != value:  # noqa: PLR0124  # all bit patterns of NaN are one value
        return _NAN_64
    bits = int.from_bytes(_DOUBLE.pack(value), "big")
    bits = bits ^ _ALL_64 if bits & _SIGN_64 else bits | _SIGN_64
    return bits.to_bytes(8, "big")


def _encode_string(value: str) -> bytes:
    data = value.encode()
    if not value.isascii() and ord(max(value)) > _SURROGATES:
        units = value.encode("utf-16-be", "surrogatepass")
        halves = [chr(int.from_bytes(units[i : i + 2], "big")) for i in range(0, len(units), 2)]
        data = "".join(halves).encode("utf-8", "surrogatepass")
    if b"\x00" in data:
        data = data.replace(b"\x00", b"\x00\xff")
    return data + _TERMINATOR


def _encode_uuid(value: str) -> bytes:
    return bytes.fromhex(value.replace("-", ""))


def _encode_boolean(value: bool) -> bytes:  # noqa: FBT001  # the value to encode
    return b"\x01" if value else b"\x00"


def _encode_timestamp(value: Timestamp) -> bytes:
    return _INSTANT.pack(value[0] + _SIGN_64, value[1])


def _encode_number(value: Decimal) -> bytes:
    sign, digits, exponent = value.as_tuple()
    if not any(digits):
        return bytes((_ZERO,))
    assert isinstance(exponent, int)
    # 0.d1d2d3… × 10^adjusted; pairs of digits plus one, so that 00 ends a number.
    adjusted = exponent + len(digits)
    padded = digits if len(digits) % 2 == 0 else (*digits, 0)
    pairs = bytes(10 * high + low + 1 for high, low in zip(padded[::2], padded[1::2], strict=True))
    body = (adjusted + _SIGN_64).to_bytes(8, "big") + pairs + b"\x00"
    if sign:
        return bytes((_NEGATIVE,)) + body.translate(_INVERTED)
    return bytes((_POSITIVE,)) + body


def _encode_any(value: Any) -> bytes:  # noqa: ANN401  # of three kinds
    if isinstance(value, bool):
        return _ANY_BOOLEAN + _encode_boolean(value)
    if isinstance(value, str):
        return _ANY_TEXT + _encode_string(value)
    exact = Decimal(repr(value)) if isinstance(value, float) else Decimal(value)
    return _ANY_NUMBER + _encode_number(plain_number(exact))


_ENCODE: Final[Mapping[Kind, Encoder]] = {
    Kind.INTEGER: _encode_integer,
    Kind.LONG: _encode_long,
    Kind.FLOAT: _encode_float,
    Kind.DOUBLE: _encode_double,
    Kind.NUMBER: _encode_number,
    Kind.STRING: _encode_string,
    Kind.BOOLEAN: _encode_boolean,
    Kind.TIMESTAMP: _encode_timestamp,
    Kind.ANY_ATOMIC: _encode_any,
}


# --- decoding --------------------------------------------------------------------------------


def _taken(key: bytes, start: int, size: int) -> bytes:
    data = key[start : start + size]
    if len(data) != size:
        raise StoreDamaged(f"key ends inside a value: {key.hex()}")
    return data


def _decode_integer(key: bytes, start: int) -> tuple[TypedValue, int]:
    return int.from_bytes(_taken(key, start, 4), "big") - _SIGN_32, start + 4


def _decode_long(key: bytes, start: int) -> tuple[TypedValue, int]:
    return int.from_bytes(_taken(key, start, 8), "big") - _SIGN_64, start + 8


def _decode_float(key: bytes, start: int) -> tuple[TypedValue, int]:
    bits = int.from_bytes(_taken(key, start, 4), "big")
    bits = bits ^ _SIGN_32 if bits & _SIGN_32 else bits ^ _ALL_32
    return _FLOAT.unpack(bits.to_bytes(4, "big"))[0], start + 4


def _decode_double(key: bytes, start: int) -> tuple[TypedValue, int]:
    bits = int.from_bytes(_taken(key, start, 8), "big")
    bits = bits ^ _SIGN_64 if bits & _SIGN_64 else bits ^ _ALL_64
    return _DOUBLE.unpack(bits.to_bytes(8, "big"))[0], start + 8


def _decode_string(key: bytes, start: int) -> tuple[TypedValue, int]:
    data, end = unescape(key, start)
    try:
        if b"\xed" not in data:  # no surrogate: plain UTF-8
            return data.decode(), end
        halves = data.decode("utf-8", "surrogatepass")
        return halves.encode("utf-16-be", "surrogatepass").decode("utf-16-be"), end
    except UnicodeDecodeError as error:
        raise StoreDamaged(f"key holds text that is not Unicode: {key.hex()}") from error


def _decode_uuid(key: bytes, start: int) -> tuple[TypedValue, int]:
    text = _taken(key, start, 16).hex()
    return f"{text[:8]}-{text[8:12]}-{text[12:16]}-{text[16:20]}-{text[20:]}", start + 16


def _decode_boolean(key: bytes, start: int) -> tuple[TypedValue, int]:
    data = _taken(key, start, 1)
    if data not in (b"\x00", b"\x01"):
        raise StoreDamaged(f"key holds a boolean that is none: {key.hex()}")
    return data == b"\x01", start + 1


def _decode_timestamp(key: bytes, start: int) -> tuple[TypedValue, int]:
    seconds, nanoseconds = _INSTANT.unpack(_taken(key, start, 12))
    return Timestamp(seconds - _SIGN_64, nanoseconds), start + 12


def _decode_number(key: bytes, start: int) -> tuple[TypedValue, int]:
    kind = _taken(key, start, 1)[0]
    if kind == _ZERO:
        return Decimal(0), start + 1
    if kind not in (_NEGATIVE, _POSITIVE):
        raise StoreDamaged(f"key holds a number that is none: {key.hex()}")
    end = key.find(b"\x00" if kind == _POSITIVE else b"\xff", start + 9)
    if end < 0:
        raise StoreDamaged(f"key ends inside a number: {key.hex()}")
    body = key[start + 1 : end]
    if kind == _NEGATIVE:
        body = body.translate(_INVERTED)
    digits = [digit for pair in body[8:] for digit in divmod(pair - 1, 10)]
    if not digits or max(body[8:]) > 100:
        raise StoreDamaged(f"key holds a number that is none: {key.hex()}")
    if digits[-1] == 0:
        digits.pop()
    adjusted = int.from_bytes(body[:8], "big") - _SIGN_64
    exponent = adjusted - len(digits)
    return Decimal((int(kind == _NEGATIVE), tuple(digits), exponent)), end + 1


def _enum_decoder(symbols: tuple[str, ...]) -> Decoder:
    def decode(key: bytes, start: int) -> tuple[TypedValue, int]:
        ordinal = int.from_bytes(_taken(key, start, 2), "big")
        if ordinal >= len(symbols):
            raise StoreDamaged(f"key holds an ordinal beyond its enumeration: {key.hex()}")
        return symbols[ordinal], start + 2

    return decode


def _decode_any(key: bytes, start: int) -> tuple[TypedValue, int]:
    tag = _taken(key, start, 1)
    decode = {
        _ANY_NUMBER: _decode_number,
        _ANY_TEXT: _decode_string,
        _ANY_BOOLEAN: _decode_boolean,
    }.get(tag)
    if decode is None:
        raise StoreDamaged(f"key holds a value of no kind: {key.hex()}")
    return decode(key, start + 1)


_DECODE: Final[Mapping[Kind, Decoder]] = {
    Kind.INTEGER: _decode_integer,
    Kind.LONG: _decode_long,
    Kind.FLOAT: _decode_float,
    Kind.DOUBLE: _decode_double,
    Kind.NUMBER: _decode_number,
    Kind.STRING: _decode_string,
    Kind.BOOLEAN: _decode_boolean,
    Kind.TIMESTAMP: _decode_timestamp,
    Kind.ANY_ATOMIC: _decode_any,
}
