"""Primary key values to bytes whose order is the order of the values (docs/formats/keys.md).

INTEGER  eight bytes, big-endian, sign bit flipped.
STRING   UTF-8 with every 00 written 00 FF, then the terminator 00 01.
BINARY   the bytes, escaped and terminated the same way.

The terminator sorts below every continuation of the value (00 FF and 01…FF), so a shorter value
comes first and columns can be joined without changing the order of either.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from librt.strings import BytesWriter, write_i64_be

from widerow.model.values import KeyInput, KeyMarker, KeyValue

__all__ = ["after_prefix", "encode_bound", "encode_key", "encode_key_value", "model_order"]

_RANKS: Final = {KeyMarker.INF_MIN: -1, KeyMarker.INF_MAX: 1, KeyMarker.AUTO_INCREMENT: 0}

_SIGN: Final = 0x80
_TERMINATOR: Final = b"\x00\x01"


def encode_key_value(value: KeyValue) -> bytes:
    """One value, encoded. Raises `OverflowError` for integers outside 64 bits.

    Linear in the value.
    """
    if isinstance(value, int):
        return _integer(value)
    data = value.encode() if isinstance(value, str) else value
    if 0 in data:  # a search for a byte costs as much as the rest of the function
        data = data.replace(b"\x00", b"\x00\xff")
    return data + _TERMINATOR


def _integer(value: int) -> bytes:
    writer = BytesWriter()
    try:
        write_i64_be(writer, value)
    except (ValueError, OverflowError) as error:  # compiled code raises the latter
        raise OverflowError(f"{value} does not fit into 64 bits") from error
    writer[0] ^= _SIGN
    return writer.getvalue()


def encode_key(prefix: bytes, values: Iterable[KeyValue]) -> bytes:
    """`prefix` and the values of all key columns, in their order."""
    return prefix + b"".join([encode_key_value(value) for value in values])


def after_prefix(prefix: bytes) -> bytes:
    """The smallest key that is above every key beginning with `prefix`.

    Raises `ValueError` for a prefix of FF only, above which no key exists.
    """
    stripped = prefix.rstrip(b"\xff")
    if not stripped:
        raise ValueError("no key is above a prefix of FF bytes only")
    return stripped[:-1] + bytes((stripped[-1] + 1,))


def encode_bound(prefix: bytes, values: Sequence[KeyInput], *, after: bool) -> bytes:
    """The place of a range bound among the encoded keys.

    A concrete key is placed before its own row, or after everything of the row if `after`. At the
    first infinite column the bound lies before or behind all keys that share the columns so far;
    later columns do not matter.
    """
    key = prefix
    for value in values:
        if isinstance(value, KeyMarker):
            return key if value is KeyMarker.INF_MIN else after_prefix(key)
        key += encode_key_value(value)
    return after_prefix(key) if after else key


def model_order(values: Sequence[KeyInput]) -> tuple[tuple[int, KeyValue], ...]:
    """A tuple that Python compares as the model orders bounds: INF_MIN < every value < INF_MAX.

    Only keys of one schema may be compared, so values of different types never meet.
    """
    return tuple(
        [(_RANKS[value], 0) if isinstance(value, KeyMarker) else (0, value) for value in values]
    )
