"""Rows that are made of something else when they are read (timeseries §9). Compiled."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, final

from widerow.keys.encode import encode_key
from widerow.keys.layout import row_prefix
from widerow.model.tablestore.schema import Table
from widerow.model.values import KeyInput, KeyValue, Value
from widerow.rows.cells import Cell, cell_body, encode_key_section, key_section_size, seal
from widerow.rows.record import encode_row, summarize

__all__ = ["MadeRow", "MadeRows", "StoredForm"]


class MadeRow(NamedTuple):
    """A row: the values of its key, and cells by names in their order, each with its version."""

    key: tuple[KeyValue, ...]
    cells: Sequence[tuple[str, Value, int]]


class MadeRows(Protocol):
    """Rows that are made of something else. `table`: as clients see it."""

    table: Table

    def rows(
        self, start: Sequence[KeyInput], end: Sequence[KeyInput], *, reverse: bool
    ) -> Iterator[MadeRow]:
        """The rows from `start`, with it, to before `end`, which is the smaller one if reversed."""
        ...


@final
class StoredForm:
    """Made rows as a table of Tablestore's would store them. `table`: as clients see it."""

    __slots__ = ("_names", "_prefix")

    def __init__(self, table: Table) -> None:
        self._names = [column.name for column in table.key_columns]
        self._prefix = row_prefix(table.id)

    def record(self, row: MadeRow) -> tuple[bytes, bytes]:
        """Key and record of a row."""
        section, crc = encode_key_section(zip(self._names, row.key, strict=True))
        cells = []
        for name, value, version in row.cells:
            body, body_crc = cell_body(name, value)
            cells.append(Cell(name, version, seal(body, body_crc, version)))
        size = key_section_size(section, row.key)
        wires = [cell.wire for cell in cells]
        record = encode_row(section, crc, size, wires, summarize(cells), 0)
        return encode_key(self._prefix, row.key), record
