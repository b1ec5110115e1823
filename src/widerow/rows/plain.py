"""Cells of a put as they came, on their way to the disk in one piece (docs/formats/rows.md).

A row of ten columns as ten objects costs more than reading and sealing it. So the bytes that were
sent are kept, checked and walked through again: no cell of them is an object before somebody asks.
"""

from typing import Final, final

from librt.strings import BytesWriter, write_i64_le
from mypy_extensions import i64, mypyc_attr

from widerow.model.row import CellChange, CellOperation, RowShape, SentCells
from widerow.rows.cells import (
    TAG_CELL_CHECKSUM,
    TAG_CELL_TIMESTAMP,
    body_size,
    version_bytes,
)
from widerow.rows.checksum import crc8, crc8_byte, shift_table
from widerow.rows.words import length_at

__all__ = ["PLAIN_TAIL_BYTES", "PlainCells", "seal_onto"]

PLAIN_TAIL_BYTES: Final = 2
"""What stands behind a body where no version is sent: 0A and the checksum."""

_PUT: Final = CellOperation.PUT


@mypyc_attr(acyclic=True)
@final
class PlainCells(SentCells):
    """The cells in `data[start:stop]`: bodies, each with 0A and its checksum behind it."""

    __slots__ = ("data", "start", "stop")

    def __init__(self, data: bytes, start: int, stop: int, shape: RowShape, data_size: int) -> None:
        """Cells of the columns of `shape`, counting `data_size`; that it is so is the caller's."""
        super().__init__(shape, data_size, stop - start - PLAIN_TAIL_BYTES * len(shape.names))
        self.data = data
        self.start = start
        self.stop = stop

    def split(self) -> tuple[CellChange, ...]:
        """The cells one by one. Linear in their bytes."""
        cells: list[CellChange] = []
        data = self.data
        begin: i64 = self.start
        for name in self.shape.names:
            end = _body_end(data, begin)
            body = data[begin:end]
            cells.append(CellChange(_PUT, name, None, body_size(body), body, data[end + 1]))
            begin = end + PLAIN_TAIL_BYTES
        return tuple(cells)


def _body_end(data: bytes, begin: i64) -> i64:
    """Where the body of the cell at `begin` ends."""
    name_end = begin + 6 + length_at(data, begin + 2)
    return name_end + 5 + length_at(data, name_end + 1)


def seal_onto(writer: BytesWriter, cells: PlainCells, version: i64, row_crc: int) -> int:
    """Write the cells, each sealed with `version`; the row checksum after them.

    `row_crc`: that before them. What `rows.cells.seal` makes, at a tenth of its cost a cell.
    """
    stamp_crc, shifted = crc8(version_bytes(version)), shift_table(8)
    data = cells.data
    state: i64 = row_crc
    position: i64 = cells.start
    stop: i64 = cells.stop
    while position < stop:
        end = _body_end(data, position)
        crc = shifted[data[end + 1]] ^ stamp_crc
        writer.write(data[position:end])
        writer.append(TAG_CELL_TIMESTAMP)
        write_i64_le(writer, version)
        writer.append(TAG_CELL_CHECKSUM)
        writer.append(crc)
        state = crc8_byte(crc, state)
        position = end + PLAIN_TAIL_BYTES
    return state
