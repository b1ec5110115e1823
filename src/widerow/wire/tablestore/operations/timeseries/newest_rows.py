"""Rows of the last-point indexes of ordinary tables, made when they are read (timeseries §10).

A row has the key columns of the index, the columns of the newest row of the table that begins with
them, and the other key columns of that row as columns. A row without columns is not looked at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.keys.encode import model_order
from widerow.limits import INT64_MAX
from widerow.model.tablestore.answers import RangePage
from widerow.model.tablestore.requests import GetRange
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.schema import NewestView, Table
from widerow.model.tablestore.selection import (
    RangeDirection,
    Resume,
    RowRange,
    Selection,
    TimeRange,
)
from widerow.model.values import KeyInput, KeyMarker, Value
from widerow.rows.plain_values import Row, decode_plain_rows
from widerow.wire.tablestore.operations.timeseries.made_row import MadeRow
from widerow.wire.tablestore.plainbuffer import encode_primary_key, encode_rows

__all__ = ["NewestRows"]

_LOOKED_AT: Final = (1, 16, 256, 4096)  # rows of one beginning, until one has columns


class NewestRows:
    """The rows of a last-point index. `table`: as clients see it."""

    def __init__(self, engine: TablestoreEngine, table: Table, view: NewestView) -> None:
        self._engine = engine
        self._base = table
        self._width = view.width
        since = None if view.since_ms == 0 else TimeRange(view.since_ms, INT64_MAX)
        self._selection = Selection(max_versions=1, time_range=since)
        self.table = Table(
            instance=table.instance,
            name=view.name,
            id=table.id,
            key_columns=table.key_columns[: view.width],
            defined_columns=(),
            options=replace(table.options, max_versions=1),
            throughput=table.throughput,
            created_us=table.created_us,
            stream=table.stream,
            index_of=table.id,
        )

    def rows(
        self, start: Sequence[KeyInput], end: Sequence[KeyInput], *, reverse: bool
    ) -> Iterator[MadeRow]:
        """The newest row of each beginning; one look-up of the next, and one of its newest row."""
        first, last = model_order(start), model_order(end)
        begin = self._bound(start, KeyMarker.INF_MAX if reverse else KeyMarker.INF_MIN)
        stop = self._bound(end, KeyMarker.INF_MAX if reverse else KeyMarker.INF_MIN)
        way = RangeDirection.BACKWARD if reverse else RangeDirection.FORWARD
        following: Sequence[KeyInput] | None = begin
        while following is not None:
            found, following = self._page(following, stop, way, 1)
            if not found:
                continue
            own = tuple([value for _, value in found[0].key[: self._width]])
            order = model_order(own)
            inside = (last < order <= first) if reverse else (first <= order < last)
            newest = self._newest(own) if inside else None
            if newest is not None:
                yield MadeRow(own, self._cells(newest))
            following = self._bound(own, KeyMarker.INF_MIN if reverse else KeyMarker.INF_MAX)

    def _bound(self, own: Sequence[KeyInput], rest: KeyMarker) -> tuple[KeyInput, ...]:
        return (*own, *[rest] * (len(self._base.key_columns) - self._width))

    def _newest(self, own: Sequence[KeyInput]) -> Row | None:
        begin: Sequence[KeyInput] | None = self._bound(own, KeyMarker.INF_MAX)
        stop = self._bound(own, KeyMarker.INF_MIN)
        pages = 0
        while begin is not None:
            limit = _LOOKED_AT[min(pages, len(_LOOKED_AT) - 1)]
            rows, begin = self._page(begin, stop, RangeDirection.BACKWARD, limit)
            pages += 1
            for row in rows:
                if row.cells:
                    return row
        return None

    def _page(
        self, begin: Sequence[KeyInput], stop: Sequence[KeyInput], way: RangeDirection, limit: int
    ) -> tuple[list[Row], Sequence[KeyInput] | None]:
        """Rows of the table, and where they go on."""
        if _is_empty(begin, stop, way):
            return [], None
        page = self._read(begin, stop, way, limit)
        rows = decode_plain_rows(encode_rows(page.pieces))
        while page.resume is not None:  # the rest of a wide row
            own = [value for _, value in rows[-1].key]
            page = self._read(own, stop, way, 1, page.resume)
            for more in decode_plain_rows(encode_rows(page.pieces)):
                rows[-1] = rows[-1]._replace(cells=(*rows[-1].cells, *more.cells))
        if page.next_key is None:
            return rows, None
        (following,) = decode_plain_rows(encode_primary_key(*page.next_key))
        return rows, [value for _, value in following.key]

    def _read(
        self,
        begin: Sequence[KeyInput],
        stop: Sequence[KeyInput],
        way: RangeDirection,
        limit: int,
        resume: Resume | None = None,
    ) -> RangePage:
        names = [column.name for column in self._base.key_columns]
        first, last = [PrimaryKey(tuple(zip(names, each, strict=True))) for each in (begin, stop)]
        asked = RowRange(first, last, way, limit)
        request = GetRange(self._base.name, asked, self._selection, resume)
        return self._engine.rows.get_range(self._base.instance, request)

    def _cells(self, row: Row) -> list[tuple[str, Value, int]]:
        """The columns in their order, and the other key columns among them."""
        newest = max(cell.version for cell in row.cells)
        cells = [(cell.column, cell.value, cell.version) for cell in row.cells]
        cells += [(name, value, newest) for name, value in row.key[self._width :]]
        return sorted(cells)


def _is_empty(begin: Sequence[KeyInput], stop: Sequence[KeyInput], way: RangeDirection) -> bool:
    """Whether no key is between two bounds, which a range may not have."""
    low, high = model_order(begin), model_order(stop)
    return low >= high if way is RangeDirection.FORWARD else low <= high
