"""From the bytes of keys to primary key values, as `encode.py` made them (docs/formats/keys.md)."""

from collections.abc import Sequence

from widerow.errors import StoreDamaged
from widerow.model.values import KeyType, KeyValue

__all__ = ["decode_key", "decode_key_value", "key_value_end", "unescape"]

_SIGN = 1 << 63


def decode_key(
    key: bytes, start: int, types: Sequence[KeyType]
) -> tuple[tuple[KeyValue, ...], int]:
    """The values of columns of `types` that stand at `start`, and where they end.

    Raises `StoreDamaged` when the bytes are not such a key.
    """
    values: list[KeyValue] = []
    for kind in types:
        value, start = decode_key_value(key, start, kind)
        values.append(value)
    return tuple(values), start


def decode_key_value(key: bytes, start: int, kind: KeyType) -> tuple[KeyValue, int]:
    """One value of type `kind` at `start`, and where it ends. Raises `StoreDamaged`."""
    if kind is KeyType.INTEGER:
        if start + 8 > len(key):
            raise StoreDamaged(f"key ends inside an integer: {key.hex()}")
        return int.from_bytes(key[start : start + 8], "big") - _SIGN, start + 8
    data, end = unescape(key, start)
    if kind is KeyType.BINARY:
        return data, end
    try:
        return data.decode(), end
    except UnicodeDecodeError as error:
        raise StoreDamaged(f"key holds text that is not UTF-8: {key.hex()}") from error


def key_value_end(key: bytes, start: int, kind: KeyType) -> int:
    """Where a value of type `kind` that begins at `start` ends, without decoding it.

    Raises `StoreDamaged`. Inside a value 00 is always followed by FF, so 00 01 ends it.
    """
    end = start + 8 if kind is KeyType.INTEGER else key.find(b"\x00\x01", start) + 2
    if not start + 2 <= end <= len(key):
        raise StoreDamaged(f"key ends inside a value: {key.hex()}")
    return end


def unescape(key: bytes, start: int) -> tuple[bytes, int]:
    """The bytes of an escaped value at `start`, and where it ends. Raises `StoreDamaged`."""
    parts: list[bytes] = []
    while True:
        zero = key.find(0, start)
        if zero < 0 or zero + 1 >= len(key):
            raise StoreDamaged(f"key ends inside a text: {key.hex()}")
        parts.append(key[start:zero])
        mark = key[zero + 1]
        if mark == 1:
            return b"\x00".join(parts), zero + 2
        if mark != 0xFF:
            raise StoreDamaged(f"key holds the unknown escape 00 {mark:02x}: {key.hex()}")
        start = zero + 2
