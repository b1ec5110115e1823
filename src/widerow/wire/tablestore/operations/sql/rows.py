"""Reads the rows of a table or an index for a query: chunks of columns of the mapped types."""

from collections import Counter
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Final, TypeVar

from widerow.engine.budget import Budget
from widerow.engine.scan import COLUMN_PAGE_ROWS, ColumnPage, RowAccess
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.query.budget import QueryBudget
from widerow.query.plan import Limit, Operator, Project, RowFilter, Scan
from widerow.query.relation import Chunk
from widerow.wire.tablestore.operations.sql.cells import check_types, have_types
from widerow.wire.tablestore.operations.sql.documents import SearchScan, read_documents
from widerow.wire.tablestore.operations.sql.series_rows import read_series_rows
from widerow.wire.tablestore.operations.sql.series_tables import SeriesScan, SeriesView

if TYPE_CHECKING:
    from widerow.wire.tablestore.operations.sql.tables import TableScan

__all__ = ["RowReader", "first_page_rows", "limit_of"]

_FIRST_ROWS: Final = 16  # a query that ends early has read few rows more than it needed

T = TypeVar("T")


def limit_of(plan: Operator) -> int | None:
    """How many rows of a scan give the rows of a plan, unless conditions refuse some; None: all."""
    most: int | None = None
    while isinstance(plan, Limit | Project | RowFilter):
        if isinstance(plan, Limit) and plan.count is not None:
            own = plan.count + plan.offset
            most = own if most is None else min(own, most)
        plan = plan.below
    return most if isinstance(plan, Scan) else None


def first_page_rows(most: int | None) -> int:
    """How many rows the first page of a table has, where so many are wanted; None: all."""
    return min(COLUMN_PAGE_ROWS, max(_FIRST_ROWS, most or 0))


class RowReader:
    """Reads for one statement, and counts the bytes that it has read.

    `bytes`: by the names of tables and secondary indexes. `search_bytes`: by the names of a table
    and its search index. `meta_bytes`: of metas, by the names of timeseries tables.
    """

    def __init__(
        self, engine: TablestoreEngine, budget: QueryBudget, on_loop: Budget | None = None
    ) -> None:
        """`on_loop`: what may be read of tables without holding up others; None: they wait."""
        self._engine = engine
        self._budget = budget
        self._on_loop = on_loop
        self._first_rows = _FIRST_ROWS
        self.bytes: Counter[str] = Counter()
        self.search_bytes: Counter[tuple[str, str]] = Counter()
        self.meta_bytes: Counter[str] = Counter()
        self._rows_read: Counter[int] = Counter()  # by the identities of what was scanned

    def begin(self, plan: Operator) -> None:
        """Read for this plan from now on."""
        self._first_rows = first_page_rows(limit_of(plan))

    def rows_of(self, source: object) -> int:
        """How many rows were read of the source of a scan."""
        return self._rows_read[id(source)]

    def __call__(self, scan: Scan) -> Iterator[Chunk]:
        """The rows of a scan. Raises `InvalidRequest` for a cell of another type."""
        return self._counted(scan, self._read(scan))

    def _counted(self, scan: Scan, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            self._rows_read[id(scan.source)] += chunk.rows
            yield chunk

    def _read(self, scan: Scan) -> Iterator[Chunk]:
        source: TableScan | SearchScan | SeriesScan = scan.source
        if isinstance(source, SearchScan):
            place = (source.table.name, source.index.name)
            self.search_bytes[place] += 0
            count = partial(_add, self.search_bytes, place)
            return read_documents(self._engine, source, self._budget, count)
        if isinstance(source, SeriesScan):
            of_metas = source.mapping.view is SeriesView.METAS
            counted = self.meta_bytes if of_metas else self.bytes
            of_index = source.mapping.view is SeriesView.LAST
            name = source.mapping.name if of_index else source.mapping.table.name
            counted[name] += 0
            count = partial(_add, counted, name)
            return read_series_rows(self._engine, source, self._budget, count)
        self.bytes[source.scanned.name] += 0
        return self._rows(source)

    def _rows(self, source: "TableScan") -> Iterator[Chunk]:
        """The rows of a table's ranges."""
        scanned = source.scanned.name
        wanted = [column.name for column in source.columns]
        for access in source.ranges.accesses:
            pages = self._engine.scan_columns(
                source.table, access, wanted, self._first_rows, self._on_loop
            )
            for page in pages:
                self.bytes[scanned] += page.size
                self._budget.read(page.rows, page.size)
                if not have_types(source.columns, page.columns):
                    self._refuse(source, access, page)
                yield Chunk(page.rows, tuple(page.columns))

    def _refuse(self, source: "TableScan", access: RowAccess, page: ColumnPage) -> None:
        """Raise `InvalidRequest` for a cell of another type: the rows are read again with keys.

        Where they have changed meanwhile the message names no key.
        """
        wanted = [column.name for column in source.columns]
        key = [column.name for column in source.scanned.key_columns]
        names = wanted + [name for name in key if name not in wanted]
        places = [names.index(name) for name in key]
        pages = self._engine.scan_columns(
            source.table, access, names, COLUMN_PAGE_ROWS, self._on_loop
        )
        for found in pages:
            self._budget.check()
            keys = [found.columns[at] for at in places]
            check_types(source.columns, found.columns[: len(wanted)], keys, key)
        check_types(source.columns, page.columns, (), ())


def _add(counted: Counter[T], name: T, size: int) -> None:
    counted[name] += size
