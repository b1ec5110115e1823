"""Changes as rows in the bytes that clients read (change §C1.4, wire §2.1).

    row = header key-section [02 cells] extension 09 checksum
    extension = 0B length 0C length 0D epoch 0E timestamp 0F row-index

The row checksum does not cover the extension.
"""

from collections.abc import Sequence
from typing import Final

from widerow.engine.streams.log import LogPosition, decode_record, encode_record
from widerow.engine.streams.logged import LogForm, one
from widerow.rows.cells import PLAIN_HEADER, TAG_ROW_CHECKSUM, TAG_ROW_DATA
from widerow.rows.checksum import crc8, crc8_byte
from widerow.rows.plain_values import CHANGE_EXTENSION

__all__ = ["CHANGES", "change_row", "placed"]

_END_BYTES: Final = 2  # behind the extension: the row checksum with its tag


def change_row(key: tuple[bytes, int], cells: Sequence[bytes], position: LogPosition) -> bytes:
    """The row of a change. `key`: the section of its primary key, and the checksum behind it."""
    section, key_crc = key
    crc = crc8_byte(0, crc8(bytes([cell[-1] for cell in cells]), key_crc))
    data = bytes((TAG_ROW_DATA,)) + b"".join(cells) if cells else b""
    end = bytes((TAG_ROW_CHECKSUM, crc))
    return b"".join((PLAIN_HEADER, section, data, _extension(position), end))


def placed(data: bytes, position: LogPosition) -> bytes:
    """A row at another position. Its checksum stays: it does not cover the position."""
    start = len(data) - _END_BYTES - CHANGE_EXTENSION.size
    return b"".join((data[:start], _extension(position), data[-_END_BYTES:]))


def _extension(position: LogPosition) -> bytes:
    return CHANGE_EXTENSION.pack(
        *(0x0B, 24, 0x0C, 19, 0x0D, 0, 0x0E, position.timestamp_us, 0x0F, position.row_index)
    )


def _record_at(value: bytes, position: LogPosition) -> bytes:
    """The record of a change at a position."""
    record = decode_record(value)
    return encode_record(record._replace(record=placed(record.record, position)))


CHANGES: Final = LogForm(_record_at, one)
"""The form of a log whose records are a row each."""
