"""PlainBuffers as clients send them (wire §2.1), made cell by cell so that a test can spoil one."""

import struct
from collections.abc import Iterable
from typing import Final

from widerow.model.tablestore.row import CellChange, Modification, PrimaryKey
from widerow.model.values import KeyInput, KeyMarker, Value
from widerow.rows.cells import encode_variant
from widerow.rows.checksum import crc8, crc8_byte
from widerow.wire.tablestore.plainbuffer import decode_row_change

__all__ = ["FLAT_POINT", "cell", "decoded_row", "key_buffer", "row_buffer", "row_of_cells"]

FLAT_POINT: Final = bytes.fromhex(
    "100000000000000000000600080004000600000004000000010000000400000054ffffff34000000140000001800"
    "000004000000010000006d000000040000000203010404000000f0000000e4000000d8000000cc00000001000000"
    "14000000100020001c0018000800140000000400100000002c0000000000a40731af050000000000540000000800"
    "00000c00000000000000000000000100000073000000010000000c00000008000c00080004000800000008000000"
    "0c000000020000007631000002000000743100000c00140010000c00080004000c00000010000000140000002000"
    "000024000000010000002800000001000000000000000000f83f0000000001000000010000000100000007000000"
    "0000000001000000780000000100000073000000010000006c00000001000000640000000100000062000000"
)
"""A point as a FlatBuffer (wire §4.2): key (m, s, {t1: v1}), 1600000000000000 µs, four fields."""


_HEADER: Final = b"\x75\x00\x00\x00"
_MARKERS: Final = {
    KeyMarker.INF_MIN: b"\x09",
    KeyMarker.INF_MAX: b"\x0a",
    KeyMarker.AUTO_INCREMENT: b"\x0b",
}


def cell(
    name: str,
    value: Value | KeyMarker | None = None,
    *,
    variant: bytes | None = None,
    operation: int | None = None,
    version: int | None = None,
) -> bytes:
    """A cell with a right checksum.

    `variant` is a value already encoded, right or not; `operation` is its number on the wire.
    """
    encoded = name.encode()
    body, crc = b"\x03\x04" + struct.pack("<I", len(encoded)) + encoded, crc8(encoded)
    if variant is None and value is not None:
        variant = _MARKERS[value] if isinstance(value, KeyMarker) else encode_variant(value)
    if variant is not None:
        body += b"\x05" + struct.pack("<I", len(variant)) + variant
        crc = crc8(variant, crc)
    if operation is not None:
        body += bytes((6, operation))
    if version is not None:
        stamp = struct.pack("<q", version)
        body, crc = body + b"\x07" + stamp, crc8(stamp, crc)
    if operation is not None:  # checked last although it stands before the version (wire §2.2)
        crc = crc8_byte(operation, crc)
    return body + bytes((10, crc))


def row_of_cells(
    key_cells: Iterable[bytes], cells: Iterable[bytes] = (), *, marker: bool = False
) -> bytes:
    """A row: the cells of its key, its other cells, and with `marker` the mark of a delete.

    Its checksum is right for the checksums of the cells, whatever these are.
    """
    keys, others = tuple(key_cells), tuple(cells)
    crc = crc8(bytes(each[-1] for each in keys + others) + bytes((marker,)))
    data = b"\x02" + b"".join(others) if others else b""
    mark = b"\x08" if marker else b""
    return b"".join((_HEADER, b"\x01", *keys, data, mark, bytes((9, crc))))


def row_buffer(
    columns: Iterable[tuple[str, KeyInput]], cells: Iterable[bytes] = (), *, marker: bool = False
) -> bytes:
    """`row_of_cells` with the key given by its values."""
    return row_of_cells([cell(name, value) for name, value in columns], cells, marker=marker)


def key_buffer(columns: Iterable[tuple[str, KeyInput]]) -> bytes:
    """A primary key alone: what reads and range bounds carry."""
    return row_buffer(columns)


def decoded_row(
    data: bytes, modification: Modification
) -> tuple[PrimaryKey, tuple[CellChange, ...]]:
    """What `decode_row_change` makes of a buffer, with every cell taken apart."""
    key, cells = decode_row_change(data, modification)
    return key, cells if isinstance(cells, tuple) else cells.split()
