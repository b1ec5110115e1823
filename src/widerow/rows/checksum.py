"""CRC-8 with polynomial 07, as every cell and row carries it (wire §2.2).

A CRC is linear: the checksum of `a + b` follows from that of `a`, that of `b` and the length of
`b`. So the row checksum over the cells' checksums is joined from parts without reading the cells.
"""

from typing import Final

from fastcrc.crc8 import smbus
from librt.strings import BytesWriter, read_i64_be
from mypy_extensions import i64

from widerow.rows.words import COMPILED, WORD_BYTES

__all__ = [
    "BEYOND_ASCII",
    "combine",
    "crc8",
    "crc8_byte",
    "crc8_with_ascii",
    "crc8_within",
    "crc8_written",
    "shift_table",
]

_PERIOD: Final = 127  # multiplication by x^8 repeats after 127 steps (the order of x is 127)


crc8: Final = smbus
"""`crc8(data, state=0)`: the checksum after `data`. A name and no wrapper, which would cost as much
again as the checksum of a short text."""

_TABLE: Final = bytes(smbus(bytes((state,)), 0) for state in range(256))


def crc8_byte(byte: i64, state: i64) -> i64:
    """The checksum after one more byte."""
    return _TABLE[state ^ byte]


def crc8_written(writer: BytesWriter, start: i64, state: i64) -> i64:
    """The checksum after what was written from `start` on: for a few bytes."""
    end = len(writer)
    while start < end:
        state = _TABLE[state ^ i64(writer[start])]
        start += 1
    return state


def _shifted() -> list[bytes]:
    rows = [bytes(range(256))]
    for _ in range(_PERIOD - 1):
        rows.append(bytes([_TABLE[state] for state in rows[-1]]))
    return rows


_SHIFT: Final = _shifted()
# of a byte followed by 0 to 15 bytes, from end to front
_REMAINDERS: Final = b"".join(_SHIFT[1:17])
BEYOND_ASCII: Final = 0x100
"""Added by `crc8_with_ascii` if not all bytes are ASCII."""

_LOW_BITS: Final = 0x0101_0101_0101_0101  # the lowest bit of each byte
_SEVEN_BYTES: Final = 0x00FF_FFFF_FFFF_FFFF
_COMPILED: Final = COMPILED


def crc8_within(data: bytes, start: i64, stop: i64, state: i64) -> i64:
    """`crc8(data[start:stop], state)`, without the slice. Raises `IndexError` beyond `data`."""
    return crc8_with_ascii(data, start, stop, state) & 0xFF


def crc8_with_ascii(data: bytes, start: i64, stop: i64, state: i64) -> i64:
    """`crc8_within`, and `BEYOND_ASCII` added unless all bytes are ASCII, in the same pass.

    Compiled, this is machine arithmetic, sixteen bytes at a step: x^127 is 1, so the polynomial of
    what came so far, moved on by 128 bits, is itself moved on by one.
    """
    if not _COMPILED:
        part = data[start:stop]
        return smbus(part, state) | (0 if part.isascii() else BEYOND_ASCII)
    if stop - start < 2 * WORD_BYTES:
        return _few(data, start, stop, state)
    # The bytes beyond a multiple of sixteen come first. The state goes into the first byte.
    rest = (stop - start) & 15
    head = rest & 7
    position = start
    high: i64 = 0
    low: i64 = 0
    seen: i64 = 0
    if head:
        bits = 8 * head
        seen = (read_i64_be(data, position) >> (64 - bits)) & (_SEVEN_BYTES >> (56 - bits))
        low = seen ^ (state << (bits - 8))
        position += head
        state = 0
    if rest >= WORD_BYTES:
        high = low
        low = read_i64_be(data, position)
        seen |= low
        low ^= state << 56
        position += WORD_BYTES
        state = 0
    state <<= 56  # is put into the first byte if sixteen divides the length
    while position < stop:
        over = (high >> 62) & 2
        front = read_i64_be(data, position)
        back = read_i64_be(data, position + WORD_BYTES)
        high = (high << 1) ^ ((low >> 63) & 1) ^ front ^ state
        low = (low << 1) ^ over ^ back
        seen |= front | back
        position += 2 * WORD_BYTES
        state = 0
    if (seen >> 7) & _LOW_BITS:
        return _remainder(high, low) | BEYOND_ASCII
    return _remainder(high, low)


def _few(data: bytes, start: i64, stop: i64, state: i64) -> i64:
    position = start
    seen: i64 = 0
    while position < stop:
        byte: i64 = data[position]
        state = _TABLE[state ^ byte]
        seen |= byte
        position += 1
    if seen >= 0x80:
        return state | BEYOND_ASCII
    return state


def _remainder(high: i64, low: i64) -> i64:
    """The checksum of sixteen bytes, from state 0."""
    table = _REMAINDERS
    crc: i64 = 0
    row: i64 = 0
    while row < 0x800:
        front: i64 = table[row | 0x800 | (high & 0xFF)]
        back: i64 = table[row | (low & 0xFF)]
        crc ^= front ^ back
        low >>= 8
        high >>= 8
        row += 0x100
    return crc


def combine(first: int, second: int, second_length: int) -> int:
    """The checksum of two joined strings from their checksums; that of `second` is from state 0.

    Constant time. `second_length` in bytes.
    """
    return _SHIFT[second_length % _PERIOD][first] ^ second


def shift_table(length: int) -> bytes:
    """`combine` as a table, for many strings before ends of one length (in bytes).

    The checksum of `a + b` is `shift_table(len(b))[checksum of a] ^ checksum of b`.
    """
    return _SHIFT[length % _PERIOD]
