"""Rows of a page as a row matrix: each column named once, values without versions (wire §2.6).

    matrix  = "SRM0" rows_at:4 options_at:4 keys:4 attributes:4 name* options row* 01 crc8
    name    = length:2 bytes                 of the key columns, then of the attribute columns
    options = 0A whole:1 03 rows:4           whether all of the key is there; how many rows
    row     = 02 value*                      one for each name, in the order of the names
    value   = type:1 payload | 06            as in a cell, or missing

Numbers are little-endian. The checksum is over every byte before it. A value has the bytes that it
has in a stored cell, so it is cut out of there and never decoded.
"""

import struct
from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from widerow.errors import StoreDamaged
from widerow.rows.cells import SEAL_BYTES, TAG_CELL, TAG_ROW_DATA
from widerow.rows.checksum import crc8
from widerow.rows.words import length_at
from widerow.safepoint import safepoint

__all__ = ["encode_matrix"]

_MAGIC: Final = b"SRM0"
_HEAD: Final = struct.Struct("<4sIIII")
_NAME_LENGTH: Final = struct.Struct("<H")
_OPTIONS: Final = struct.Struct("<BBBI")
_OPTION_WHOLE_KEYS: Final = 0x0A
_OPTION_ROWS: Final = 0x03
_ROW: Final = b"\x02"
_MISSING: Final = b"\x06"
_CHECKSUM: Final = b"\x01"
_NAME_AT: Final = 6  # of a cell: its tag, that of its name, the name's length
_VALUE_AT: Final = 5  # behind the name: the tag of the value, its length
_KEY_SEAL_BYTES: Final = 2  # behind the value of a key column: the checksum with its tag


def encode_matrix(
    rows: Sequence[bytes],
    key_names: Sequence[str],
    columns: Sequence[str],
    wanted: Sequence[str] | None = None,
) -> tuple[bytes, bytes]:
    """The matrix of stored `rows` (docs/formats/rows.md), and its checksum behind it.

    A row lacks the `columns` that it has no cell of; other cells of it are left out. Of one column
    a row has at most one cell. `key_names` are those of the whole key, in its order, and `wanted`
    those of them that the matrix has; None: all. Raises `StoreDamaged` where bytes are not a row.
    Linear in the rows.
    """
    shown = [name for name in key_names if wanted is None or name in wanted]
    names = [name.encode() for name in (*shown, *columns)]
    places = {name: place for place, name in enumerate(names) if place >= len(shown)}
    key_places = [shown.index(name) if name in shown else len(names) for name in key_names]
    named = b"".join([_NAME_LENGTH.pack(len(name)) + name for name in names])
    options_at = _HEAD.size + len(named)
    rows_at = options_at + _OPTIONS.size
    parts = [
        _HEAD.pack(_MAGIC, rows_at, options_at, len(shown), len(columns)),
        named,
        _OPTIONS.pack(
            _OPTION_WHOLE_KEYS, int(len(shown) == len(key_names)), _OPTION_ROWS, len(rows)
        ),
    ]
    missing = [_MISSING] * (len(names) + 1)  # and the place of key columns that are not wanted
    for row in rows:
        safepoint()
        parts.append(_ROW)
        values = _values(row, key_places, places, missing)
        values.pop()
        parts += values
    parts.append(_CHECKSUM)
    matrix = b"".join(parts)
    return matrix, bytes((crc8(matrix),))


def _values(
    row: bytes, key_places: list[int], places: dict[bytes, int], missing: list[bytes]
) -> list[bytes]:
    """The values of a stored row in the order of the names, and one that is not wanted."""
    values = missing.copy()
    at = i64(1)
    try:
        for place in key_places:
            name_end = at + _NAME_AT + length_at(row, at + 2)
            at = name_end + _VALUE_AT + length_at(row, name_end + 1)
            values[place] = row[name_end + _VALUE_AT : at]
            at += _KEY_SEAL_BYTES
        if row[at] == TAG_ROW_DATA:
            at += 1
        while row[at] == TAG_CELL:
            name_end = at + _NAME_AT + length_at(row, at + 2)
            end = name_end + _VALUE_AT + length_at(row, name_end + 1)
            found = places.get(row[at + _NAME_AT : name_end])
            if found is not None:
                values[found] = row[name_end + _VALUE_AT : end]
            at = end + SEAL_BYTES
    except IndexError as error:
        raise StoreDamaged(f"a stored row of {len(row)} bytes is malformed") from error
    return values
