"""Keys sort as their values do, decode to what was encoded, and any bytes decode or are refused."""

from contextlib import suppress
from typing import Final

from widerow.errors import StoreDamaged
from widerow.keys.decode import decode_key
from widerow.keys.encode import encode_key, model_order
from widerow.model.values import KeyType, KeyValue

__all__ = ["SEEDS", "check"]

_TYPES: Final = tuple(KeyType)
SEEDS: Final = (
    b"\x00\x02ab\x00c\x00\x01abc\x00d",
    b"\x01\x80\x00\x00\x00\x00\x00\x00\x00",
    b"\x02" + bytes(range(0, 256, 5)),
    b"\x05text\x00\x01more\x00\xff\x00\x01",
)


def check(data: bytes) -> None:
    """The first byte chooses the types, the rest is two keys' values, and a key by itself."""
    if not data:
        return
    shape, rest = data[0], data[1:]
    types = tuple(_TYPES[(shape >> (2 * column)) % len(_TYPES)] for column in range(shape % 4 + 1))
    half = len(rest) // 2
    _round_trip(types, rest[:half], rest[half:])
    with suppress(StoreDamaged):
        values, end = decode_key(rest, 0, types)
        assert encode_key(b"", values) == rest[:end], "a key has two encodings"


def _round_trip(types: tuple[KeyType, ...], first: bytes, second: bytes) -> None:
    one, two = _values(types, first), _values(types, second)
    left, right = encode_key(b"p", one), encode_key(b"p", two)
    assert decode_key(left, 1, types) == (one, len(left)), "it decodes to something else"
    assert (left < right) == (model_order(one) < model_order(two)), "it sorts otherwise"


def _values(types: tuple[KeyType, ...], data: bytes) -> tuple[KeyValue, ...]:
    step = len(data) // len(types)
    parts = [data[number * step : (number + 1) * step] for number in range(len(types))]
    return tuple(_value(kind, part) for kind, part in zip(types, parts, strict=True))


def _value(kind: KeyType, part: bytes) -> KeyValue:
    if kind is KeyType.INTEGER:
        return int.from_bytes(part[:8].ljust(8, b"\0"), "big", signed=True)
    return part if kind is KeyType.BINARY else part.decode("utf-8", "replace")
