"""Columns of many rows, as queries read them: no more of a record is decoded than is asked for.

Compiled: a query that counts or groups spends most of its time here.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, final

from widerow.engine.budget import Budget, within
from widerow.engine.scan import ColumnPage
from widerow.engine.tablestore.newest import newest_row
from widerow.errors import StoreDamaged
from widerow.keys.decode import decode_key_value
from widerow.keys.layout import ROW_PREFIX_BYTES
from widerow.model.tablestore.schema import Table
from widerow.model.values import Value
from widerow.rows.cells import SEAL_BYTES, TAG_CELL, TAG_CELL_TIMESTAMP, decode_variant
from widerow.rows.record import HEADER_BYTES, Header, RecordKind, header_of
from widerow.rows.words import length_at
from widerow.safepoint import safepoint
from widerow.storage.interface import Reader

if TYPE_CHECKING:
    from mypy_extensions import i64

__all__ = ["ColumnReader"]

_ROWS_BETWEEN_PAUSES: Final = 128
_PAGE_BYTES: Final = 1024 * 1024


@final
class ColumnReader:
    """Reads some columns of a table's rows, or of an index's entries, page by page.

    A column that is neither of the primary key nor in a row is None there, as is one whose newest
    version is below `live_from`; a row whose cells have all expired is not there.
    """

    def __init__(
        self,
        table: Table,
        names: Sequence[str],
        live_from: int,
        budget: Budget | None = None,
    ) -> None:
        """`names`: the columns, in the order of their values; `budget`: for all pages together."""
        self._table = table
        self._budget = budget
        self._live_from = live_from
        key = [column.name for column in table.key_columns]
        self._key_places = [names.index(name) if name in names else -1 for name in key]
        while self._key_places and self._key_places[-1] < 0:
            self._key_places.pop()  # nothing behind the last wanted column is decoded
        cells = [(name, place) for place, name in enumerate(names) if name not in key]
        self._cell_places = {name.encode(): place for name, place in cells}
        self._last_name = max(self._cell_places, default=b"")
        self._names = tuple(names)

    def page(
        self, reader: Reader, start: bytes, stop: bytes, limit: int, *, reverse: bool
    ) -> tuple[ColumnPage, bytes | None]:
        """At most `limit` rows of a range of keys, about a megabyte of them, and the last key.

        None for the key where no row follows. Raises `StoreDamaged`; `TooLong` above the budget.
        """
        columns: list[list[Value | None]] = [[] for _ in self._names]
        size: i64 = 0
        rows: i64 = 0
        looked: i64 = 0
        last = b""
        for key, record in reader.scan(start, stop, reverse=reverse):
            looked += 1
            if looked % _ROWS_BETWEEN_PAUSES == 0:
                safepoint()
            header = header_of(record)
            if header.kind == RecordKind.SEGMENT:
                continue  # a segment is read with its row
            if rows >= limit or size >= _PAGE_BYTES:
                return ColumnPage(int(rows), int(size), columns), last
            size += len(key) + len(record)
            last = key
            if self._take(reader, key, record, header, columns):
                rows += 1
        return ColumnPage(int(rows), int(size), columns), None

    def row(self, reader: Reader, key: bytes) -> ColumnPage:
        """The row of a key, if it is there: one read of the store. Raises as `page`."""
        columns: list[list[Value | None]] = [[] for _ in self._names]
        record = reader.get(key)
        if record is None:
            return ColumnPage(0, 0, columns)
        rows = int(self._take(reader, key, record, header_of(record), columns))
        return ColumnPage(rows, len(key) + len(record), columns)

    def _take(
        self,
        reader: Reader,
        key: bytes,
        record: bytes,
        header: Header,
        columns: list[list[Value | None]],
    ) -> bool:
        """Add a row's values to the columns, if it is there."""
        budget = self._budget
        if budget is not None:
            budget.take(len(record), 1)
        if self._table.index_of:
            if header.latest_server < self._live_from:
                return False  # headers of entries say when they expire (docs/formats/rows.md)
        elif header.oldest < self._live_from or header.kind == RecordKind.WIDE:
            return self._take_decoded(reader, key, record, columns)
        for column in columns:
            column.append(None)
        self._take_key(key, columns)
        if header.cell_count and self._cell_places:
            self._take_cells(record, HEADER_BYTES + header.key_length + 1, columns)
        return True

    def _take_decoded(
        self, reader: Reader, key: bytes, record: bytes, columns: list[list[Value | None]]
    ) -> bool:
        """Add a row of segments, or with cells that have expired."""
        whole = within(reader, self._budget)
        row = newest_row(whole, self._table, (key, record), self._live_from)
        if row is None:
            return False
        values: dict[str, Value] = {**dict(row.key), **row.columns}
        for name, column in zip(self._names, columns, strict=True):
            column.append(values.get(name))
        return True

    def _take_key(self, key: bytes, columns: list[list[Value | None]]) -> None:
        position = ROW_PREFIX_BYTES
        kinds = self._table.key_columns
        for number, place in enumerate(self._key_places):
            value, position = decode_key_value(key, position, kinds[number].type)
            if place >= 0:
                columns[place][-1] = value

    def _take_cells(self, record: bytes, start: int, columns: list[list[Value | None]]) -> None:
        """Add the newest value of each wanted column, which is in the first of its cells."""
        position: i64 = start
        stop: i64 = len(record) - 2
        places = self._cell_places
        met = b""
        try:
            while position < stop:
                name_end = position + 6 + length_at(record, position + 2)
                value_end = name_end + 5 + length_at(record, name_end + 1)
                if record[position] != TAG_CELL or record[value_end] != TAG_CELL_TIMESTAMP:
                    raise StoreDamaged(f"a stored cell is malformed at byte {position}")
                name = record[position + 6 : name_end]
                place = places.get(name, -1)
                if place >= 0 and name != met:
                    columns[place][-1] = decode_variant(record, name_end + 5, value_end)
                    met = name
                if name >= self._last_name:
                    return
                position = value_end + SEAL_BYTES
        except (IndexError, UnicodeDecodeError) as error:
            raise StoreDamaged(f"a stored cell is malformed at byte {position}") from error
