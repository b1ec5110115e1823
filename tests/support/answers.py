"""Rows of answers as plain Python values."""

import struct

from widerow.model.values import Value
from widerow.rows.cells import Cell, cell_value, decode_variant, split_cells

__all__ = ["AnsweredRow", "decode_answer_rows", "decode_row", "plain"]

AnsweredRow = tuple[dict[str, Value], dict[str, list[tuple[int, Value]]]]
"""Primary key columns, and for each attribute its versions, newest first."""

_UINT32 = struct.Struct("<I")


def decode_row(data: bytes) -> AnsweredRow | None:
    """The one row of an answer, or None where it is empty."""
    rows = decode_answer_rows(data)
    assert len(rows) <= 1
    return rows[0] if rows else None


def decode_answer_rows(data: bytes) -> list[AnsweredRow]:
    """Every row of an answer, in its order."""
    rows: list[AnsweredRow] = []
    position = 0
    while position < len(data):
        key: dict[str, Value] = {}
        assert data[position] == 0x01
        position += 1
        while data[position] == 0x03:
            name, value, position = _key_cell(data, position)
            key[name] = value
        start = stop = position
        if data[position] == 0x02:
            start = stop = position + 1
            while data[stop] == 0x03:
                stop = _cell_end(data, stop)
        rows.append((key, _columns(split_cells(data, start, stop))))
        assert data[stop] == 0x09
        position = stop + 2
    return rows


def _key_cell(data: bytes, position: int) -> tuple[str, Value, int]:
    name_end = position + 6 + _UINT32.unpack_from(data, position + 2)[0]
    value_end = name_end + 5 + _UINT32.unpack_from(data, name_end + 1)[0]
    name = data[position + 6 : name_end].decode()
    return name, decode_variant(data, name_end + 5, value_end), value_end + 2


def _cell_end(data: bytes, position: int) -> int:
    name_end = position + 6 + int(_UINT32.unpack_from(data, position + 2)[0])
    return name_end + 5 + int(_UINT32.unpack_from(data, name_end + 1)[0]) + 11


def _columns(cells: list[Cell]) -> dict[str, list[tuple[int, Value]]]:
    columns: dict[str, list[tuple[int, Value]]] = {}
    for cell in cells:
        columns.setdefault(cell.name, []).append((cell.version, cell_value(cell)))
    return columns


def plain(row: AnsweredRow | None) -> dict[str, Value] | None:
    """The newest value of every column of a row, without its key."""
    return None if row is None else {name: cells[0][1] for name, cells in row[1].items()}
