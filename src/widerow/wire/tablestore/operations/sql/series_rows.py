"""Reads rows of timeseries tables for a query: fields of points, and metas (timeseries §12)."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any, Final

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.timeseries.engine import TimeseriesEngine
from widerow.engine.timeseries.lastpoints import LastpointRow, lastpoint_named
from widerow.model.timeseries.points import HASH_COLUMN, POINT_TIME_COLUMN, StoredPoint
from widerow.model.timeseries.requests import PointPage, PointQuery, PointScan
from widerow.model.timeseries.series import SeriesKey, SeriesMeta, tags_text
from widerow.model.timeseries.table import TimeseriesTable
from widerow.model.values import KeyMarker
from widerow.query.budget import QueryBudget
from widerow.query.relation import Chunk
from widerow.wire.tablestore.operations.sql.cells import value_or_null
from widerow.wire.tablestore.operations.sql.series_tables import (
    ATTRIBUTES_COLUMN,
    FIELD_COLUMN,
    UPDATED_COLUMN,
    VALUE_COLUMNS,
    SeriesScan,
    SeriesView,
)
from widerow.wire.tablestore.operations.timeseries.found import timeseries

__all__ = ["read_series_rows"]

_FIRST_POINTS: Final = 16  # a query that ends early has read few points more than it needed
_PAGE_POINTS: Final = 1024

Count = Callable[[int], None]
Metas = dict[SeriesKey, SeriesMeta | None]


def read_series_rows(
    engine: TablestoreEngine, scan: SeriesScan, budget: QueryBudget, count: Count
) -> Iterator[Chunk]:
    """The rows of a scan; `count` hears how many bytes were read.

    Raises `Unsupported` for metas of a table without them, and as `budget`, between pages.
    """
    reader = _Reader(timeseries(engine), scan, budget, count)
    if scan.mapping.view is SeriesView.LAST:
        return reader.last_points()
    return reader.metas() if scan.mapping.view is SeriesView.METAS else reader.values()


class _Reader:
    """The reads of one scan."""

    def __init__(
        self, engine: TimeseriesEngine, scan: SeriesScan, budget: QueryBudget, count: Count
    ) -> None:
        self._engine = engine
        self._scan = scan
        self._table: TimeseriesTable = scan.mapping.table
        self._budget = budget
        self._count = count
        self._limit = _FIRST_POINTS
        names = {each.name for each in scan.columns}
        self._shows_metas = bool(names & {ATTRIBUTES_COLUMN, UPDATED_COLUMN})

    def _read(self, rows: int, size: int) -> None:
        self._count(size)
        self._budget.read(rows, size)
        self._budget.check()

    # --- metas -------------------------------------------------------------------------------

    def metas(self) -> Iterator[Chunk]:
        """A row for each meta."""
        for found in self._found_metas():
            self._read(len(found), 0)
            yield self._meta_chunk(found)

    def _found_metas(self) -> Iterator[list[SeriesMeta]]:
        scan = self._scan
        if scan.series is not None:
            for series in scan.series:
                found = self._engine.find_meta(self._table, series)
                self._read(0, found.size)
                if found.metas:
                    yield found.metas
            return
        for part in self._engine.read_metas(self._table, scan.condition):
            self._read(0, part.size)
            yield part.metas

    def _meta_chunk(self, metas: list[SeriesMeta]) -> Chunk:
        rows = [_meta_columns(self._table, each.key, each) for each in metas]
        return Chunk(len(rows), tuple([[r[c.name] for r in rows] for c in self._scan.columns]))

    # --- last-point indexes ------------------------------------------------------------------

    def last_points(self) -> Iterator[Chunk]:
        """A row for each series of an index."""
        found = self._last_rows()
        while rows := list(islice(found, self._limit)):
            self._limit = min(_PAGE_POINTS, self._limit * 4)
            self._read(len(rows), sum([each.size for each in rows]))
            yield self._last_chunk(rows)

    def _last_rows(self) -> Iterator[LastpointRow]:
        name, table = self._scan.mapping.name, self._table
        indexed = table, lastpoint_named(table, name)
        if self._scan.series is None:
            width = 1 + len(table.key)
            low, high = (KeyMarker.INF_MIN,) * width, (KeyMarker.INF_MAX,) * width
            yield from self._engine.lastpoint_rows(indexed, low, high)
            return
        for series in self._scan.series:
            key = (self._engine.hash_of(series), *table.key_values(series))
            row = self._engine.lastpoint_row(indexed, key)
            if row is not None:
                yield row

    def _last_chunk(self, rows: list[LastpointRow]) -> Chunk:
        """NULL for fields that are missing, or of another type."""
        key = [HASH_COLUMN, *self._table.key]
        columns: list[list[Any]] = []
        for each in self._scan.columns:
            if each.name in key:
                place = key.index(each.name)
                columns.append([row.key[place] for row in rows])
                continue
            found = [row.cells.get(each.name, (None, 0))[0] for row in rows]
            columns.append([value_or_null(each, value) for value in found])
        return Chunk(len(rows), tuple(columns))

    # --- points ------------------------------------------------------------------------------

    def values(self) -> Iterator[Chunk]:
        """A row for each field of each point, or for each point."""
        scan = self._scan
        if scan.begin_us >= scan.end_us:
            return
        if scan.series is None and scan.condition is None:
            ask = PointScan(b"", scan.begin_us, scan.end_us)
            yield from self._chunks(self._pages(partial(self._scan_page, ask)), {})
            return
        if scan.series is not None:
            for series in scan.series:
                yield from self._chunks(self._of_series(series), {})
            return
        for metas in self._found_metas():
            for meta in metas:
                yield from self._chunks(self._of_series(meta.key), {meta.key: meta})

    def _of_series(self, series: SeriesKey) -> Iterator[PointPage]:
        scan = self._scan
        asked = PointQuery(series, scan.begin_us, scan.end_us, backward=scan.reverse)
        return self._pages(partial(self._page, asked))

    def _page(self, asked: PointQuery, limit: int, after: bytes) -> PointPage:
        return self._engine.read(self._table, asked._replace(limit=limit, after=after))

    def _scan_page(self, asked: PointScan, limit: int, after: bytes) -> PointPage:
        return self._engine.scan_points(self._table, asked._replace(limit=limit, after=after))

    def _pages(self, read: Callable[[int, bytes], PointPage]) -> Iterator[PointPage]:
        after = b""
        while True:
            page = read(self._limit, after)
            self._limit = min(_PAGE_POINTS, self._limit * 4)
            yield page
            after = page.next
            if not after:
                return

    def _chunks(self, pages: Iterator[PointPage], metas: Metas) -> Iterator[Chunk]:
        for page in pages:
            if self._scan.mapping.view is SeriesView.FIELDS:
                rows, make = len(page.points), self._field_chunk
            else:
                rows, make = sum([len(each.fields) for each in page.points]), self._value_chunk
            self._read(rows, page.size)
            if rows:
                yield make(page, rows, metas)

    def _field_chunk(self, page: PointPage, rows: int, metas: Metas) -> Chunk:
        """A row for each point; NULL for fields that are missing, or of another type."""
        columns: list[list[Any]] = [[] for _ in self._scan.columns]
        for point in page.points:
            shared = self._point_columns(point, metas)
            for each, values in zip(self._scan.columns, columns, strict=True):
                known = each.name in shared
                found = shared[each.name] if known else point.fields.get(each.name)
                values.append(found if known else value_or_null(each, found))
        return Chunk(rows, tuple(columns))

    def _value_chunk(self, page: PointPage, rows: int, metas: Metas) -> Chunk:
        of_points = [self._point_columns(point, metas) for point in page.points]
        sizes = [len(point.fields) for point in page.points]
        names = [name for point in page.points for name in point.fields]
        values = [value for point in page.points for value in point.fields.values()]
        columns: list[list[Any]] = []
        for each in self._scan.columns:
            kind = VALUE_COLUMNS.get(each.name)
            if each.name == FIELD_COLUMN:
                columns.append(names)
            elif kind is not None:
                columns.append([value if type(value) is kind else None for value in values])
            else:
                columns.append(
                    [
                        shared
                        for found, size in zip(of_points, sizes, strict=True)
                        for shared in [found[each.name]] * size
                    ]
                )
        return Chunk(rows, tuple(columns))

    def _point_columns(self, point: StoredPoint, metas: Metas) -> dict[str, Any]:
        """What all rows of a point have, by columns. `metas`: those known, of few series."""
        table, series = self._table, point.series
        meta = None
        if self._shows_metas:
            if series not in metas:
                metas.clear()  # the points of a series follow each other
                read = self._engine.find_meta(table, series)
                self._read(0, read.size)
                metas[series] = read.metas[0] if read.metas else None
            meta = metas[series]
        found = _meta_columns(table, series, meta)
        found[POINT_TIME_COLUMN] = point.time_us
        found.update(zip([each.name for each in table.field_keys], point.keys, strict=True))
        return found


def _meta_columns(
    table: TimeseriesTable, series: SeriesKey, meta: SeriesMeta | None
) -> dict[str, Any]:
    found: dict[str, Any] = dict(zip(table.key, table.key_values(series), strict=True))
    found[ATTRIBUTES_COLUMN] = None if meta is None else tags_text(meta.attributes)
    found[UPDATED_COLUMN] = None if meta is None else meta.updated_us
    return found
