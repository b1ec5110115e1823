"""CRC-8 with polynomial 07, as every cell and row carries it (wire §2.2).

A CRC is linear: the checksum of `a + b` follows from that of `a`, that of `b` and the length of
`b`. So the row checksum over the cells' checksums is joined from parts without reading the cells.
"""

from typing import Final

from fastcrc.crc8 import smbus

__all__ = ["combine", "crc8", "crc8_byte", "shift_table"]

_PERIOD: Final = 127  # multiplying by x^8 comes back to itself after 127 steps (order of x is 127)


crc8: Final = smbus
"""`crc8(data, state=0)`: the checksum after `data`. A name and no wrapper, which would cost as much
again as the checksum of a short text."""

_TABLE: Final = bytes(smbus(bytes((state,)), 0) for state in range(256))


def crc8_byte(byte: int, state: int) -> int:
    """The checksum after one more byte."""
    return _TABLE[state ^ byte]


def _shifted() -> list[bytes]:
    rows = [bytes(range(256))]
    for _ in range(_PERIOD - 1):
        rows.append(bytes(_TABLE[state] for state in rows[-1]))
    return rows


_SHIFT: Final = _shifted()


def combine(first: int, second: int, second_length: int) -> int:
    """The checksum of two joined strings from theirs; `second` was made from state 0.

    Constant time. `second_length` in bytes.
    """
    return _SHIFT[second_length % _PERIOD][first] ^ second


def shift_table(length: int) -> bytes:
    """`combine` as a table, for many strings before ends of one length (in bytes).

    The checksum of `a + b` is `shift_table(len(b))[checksum of a] ^ checksum of b`.
    """
    return _SHIFT[length % _PERIOD]
