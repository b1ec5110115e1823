"""Makes fields of protobuf messages by hand, where a message object would copy their content.

    field = key length bytes, key = number << 3 | 2; numbers in varints of seven bits a byte

Changes in the log of a stream are stored as fields (docs/formats/streams.md), and the answers of
the row actions are put together from them.
"""

from typing import Final

from widerow.errors import StoreDamaged

__all__ = ["field", "read_varint", "varint"]

_SMALL: Final = tuple(bytes((number,)) for number in range(0x80))
_GOES_ON: Final = tuple(bytes((number | 0x80,)) for number in range(0x80))
_BITS_MAX: Final = 63  # of a length; no stored field is longer


def varint(number: int) -> bytes:
    """A number of zero or more in protobuf's variable length."""
    if number < 0x80:
        return _SMALL[number]
    if number < 0x4000:
        return _GOES_ON[number & 0x7F] + _SMALL[number >> 7]
    parts = bytearray()
    while number >= 0x80:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


def field(key: bytes, *parts: bytes) -> bytes:
    """A field of bytes or of a message: its key, its length, its parts."""
    return b"".join((key, varint(sum(map(len, parts))), *parts))


def read_varint(data: bytes, position: int, bits: int = _BITS_MAX) -> tuple[int, int]:
    """The number at a position, and the position after it.

    Raises `StoreDamaged` where it is cut off, has more than `bits` bits, or is not in its shortest
    form.
    """
    number = 0
    for shift in range(0, bits, 7):
        if position >= len(data):
            break
        byte = data[position]
        position += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            if (byte == 0 and shift) or number >> bits:
                break
            return number, position
    raise StoreDamaged("a number in a field is not readable")
