"""PlainBuffers as clients send them (wire §2.1), made cell by cell so that a test can spoil one."""

import struct
from collections.abc import Iterable
from functools import reduce
from typing import Final

from widerow.model.values import KeyInput, Value
from widerow.rows.cells import cell_body, encode_key_section
from widerow.rows.checksum import crc8, crc8_byte

__all__ = ["cell", "key_buffer", "row_buffer"]

_HEADER: Final = b"\x75\x00\x00\x00"


def cell(
    name: str,
    value: Value | None = None,
    *,
    operation: int | None = None,
    version: int | None = None,
) -> bytes:
    """An attribute cell with its checksum; `operation` by its number on the wire."""
    if value is None:
        encoded = name.encode()
        body, crc = b"\x03\x04" + struct.pack("<I", len(encoded)) + encoded, crc8(encoded)
    else:
        body, crc = cell_body(name, value)
    if operation is not None:
        body += bytes((6, operation))
    if version is not None:
        stamp = struct.pack("<q", version)
        body, crc = body + b"\x07" + stamp, crc8(stamp, crc)
    if operation is not None:  # checked last although it stands before the version (wire §2.2)
        crc = crc8_byte(operation, crc)
    return body + bytes((10, crc))


def key_buffer(columns: Iterable[tuple[str, KeyInput]]) -> bytes:
    """A primary key: what reads and range bounds carry."""
    return row_buffer(columns)


def row_buffer(
    columns: Iterable[tuple[str, KeyInput]], cells: Iterable[bytes] = (), *, marker: bool = False
) -> bytes:
    """A row: its key, its cells, and with `marker` the mark of a delete."""
    section, crc = encode_key_section(columns)
    cells = tuple(cells)
    crc = reduce(lambda state, each: crc8_byte(each[-1], state), cells, crc)
    data = b"\x02" + b"".join(cells) if cells else b""
    mark = b"\x08" if marker else b""
    return b"".join((_HEADER, section, data, mark, bytes((9, crc8_byte(marker, crc)))))
