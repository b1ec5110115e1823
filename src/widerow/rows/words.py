"""Compares bytes eight at a time, without making a slice or calling a method.

This is faster only when the module is compiled. Uncompiled, slices and methods are used instead.
"""

from typing import Final

from librt.strings import read_f64_le, read_i32_le, read_i64_be, read_i64_le
from mypy_extensions import i64

__all__ = ["COMPILED", "WORD_BYTES", "double_at", "integer_at", "length_at", "stands_at"]

COMPILED: Final = not __file__.endswith(".py")
"""Whether this module runs as machine arithmetic (`setup.py`)."""

WORD_BYTES: Final = 8
"""How many bytes are compared at a time."""

_COMPILED: Final = COMPILED  # a name of this module costs no look-up


def length_at(data: bytes, at: i64) -> i64:
    """Four bytes, little-endian. Raises `IndexError`."""
    return i64(read_i32_le(data, at)) & 0xFFFF_FFFF  # a signed read


def integer_at(data: bytes, at: i64) -> i64:
    """Eight bytes with a sign, little-endian. Raises `IndexError`."""
    return read_i64_le(data, at)


def double_at(data: bytes, at: i64) -> float:
    """Eight bytes of a floating-point number, little-endian. Raises `IndexError`."""
    return read_f64_le(data, at)


def stands_at(data: bytes, start: i64, part: bytes) -> bool:
    """`data.startswith(part, start)`, for a `part` of four bytes or more."""
    if not _COMPILED:
        return data.startswith(part, start)
    last: i64 = len(part) - WORD_BYTES
    if last < 0:
        half: i64 = last + WORD_BYTES // 2
        if start + last + WORD_BYTES > len(data):
            return False
        return read_i32_le(data, start) == read_i32_le(part, 0) and read_i32_le(
            data, start + half
        ) == read_i32_le(part, half)
    if start + last + WORD_BYTES > len(data):
        return False
    position: i64 = 0
    while position < last:
        if read_i64_be(data, start + position) != read_i64_be(part, position):
            return False
        position += WORD_BYTES
    return read_i64_be(data, start + last) == read_i64_be(part, last)
