"""The cells of a put, kept in the bytes that the client sent (docs/formats/rows.md).

Making ten objects for a row of ten columns costs more than reading and sealing the row. So the
bytes are checked and kept, and read again when the row is sealed; only `split` makes objects.
"""

from typing import Final, final

from librt.strings import BytesWriter, write_i64_le
from mypy_extensions import i64

from widerow.model.tablestore.row import CellChange, CellOperation, RowShape, SentCells
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
"""The bytes after a body without a version: 0A and the checksum."""

_PUT: Final = CellOperation.PUT


@final
class PlainCells(SentCells):
    """The cells in `data[start:stop]`: bodies, each followed by 0A and its checksum."""

    __slots__ = ("data", "start", "stop")

    def __init__(self, data: bytes, start: int, stop: int, shape: RowShape, data_size: int) -> None:
        """`shape`: the columns of the cells; `data_size`: their counted size.

        The caller has checked both.
        """
        super().__init__(shape, data_size, stop - start - PLAIN_TAIL_BYTES * len(shape.names))
        self.data = data
        self.start = start
        self.stop = stop

    def split(self) -> tuple[CellChange, ...]:
        """The cells as objects. Linear in their bytes."""
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
    """The end of the body of the cell that begins at `begin`."""
    name_end = begin + 6 + length_at(data, begin + 2)
    return name_end + 5 + length_at(data, name_end + 1)


def seal_onto(writer: BytesWriter, cells: PlainCells, version: i64, row_crc: int) -> int:
    """Write the cells, each sealed with `version`; the row checksum after them.

    `row_crc`: the checksum of the row before them. The bytes are those of `rows.cells.seal`, at a
    tenth of its cost for each cell.
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
