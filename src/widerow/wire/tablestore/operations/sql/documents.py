"""Reads rows for a query by a search index: which rows, in what order, and values of its arrays."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numpy.typing import NDArray

from widerow.engine.scan import COLUMN_PAGE_ROWS
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.expiry import live_from
from widerow.engine.tablestore.newest import rows_of
from widerow.model.search.query import Query
from widerow.model.search.schema import SearchIndex
from widerow.model.tablestore.mapping import MappedColumn
from widerow.model.tablestore.schema import Table
from widerow.query.budget import QueryBudget, QueryResource
from widerow.query.relation import Chunk, Values
from widerow.wire.tablestore.operations.sql.cells import check_types

if TYPE_CHECKING:
    from widerow.search.interface import DocumentSet, FieldValues

__all__ = ["SearchScan", "read_documents"]

_FIRST_ROWS: Final = 16  # a query that ends early has read few rows more than it needed


@dataclass(frozen=True, slots=True)
class SearchScan:
    """What is read by a search index.

    `query`: the rows; `shown`: the conditions that it stands for. `columns`: in the order in which
    a row has its values. `stored`: the fields among them whose values the index gives, by the names
    of their columns; the others are read from the rows, if there are any. `order`: fields, and
    whether down, before the primary key; without any `reverse` is the direction of the key.
    `scored`: a last column has the scores. `counted`: each row counts as read, and not only the
    groups that are made of them.
    """

    table: Table
    index: SearchIndex
    query: Query
    shown: tuple[str, ...]
    columns: tuple[MappedColumn, ...]
    stored: dict[str, str]
    order: tuple[tuple[str, bool], ...] = ()
    reverse: bool = False
    scored: bool = False
    counted: bool = True

    @property
    def reads_rows(self) -> bool:
        """Whether a row itself is read."""
        return any(each.name not in self.stored for each in self.columns)


def read_documents(
    engine: TablestoreEngine, scan: SearchScan, budget: QueryBudget, count: Callable[[int], None]
) -> Iterator[Chunk]:
    """The rows of a scan; `count` hears how many bytes were read.

    Raises as `SearchIndexes.viewed`, `InvalidRequest` for a cell of another type than its column,
    and as `budget`.
    """
    with engine.search.viewed(scan.table, scan.index, budget.check) as view:
        found = view.select(scan.query, scored=scan.scored)
        places = _in_order(found, scan)
        stored = {name: _field_reader(found, field) for name, field in scan.stored.items()}
        first, limit = 0, _FIRST_ROWS
        while first < len(places):
            numbers = places[first : first + limit]
            first, limit = first + limit, min(COLUMN_PAGE_ROWS, limit * 4)
            columns = {name: read(numbers) for name, read in stored.items()}
            if scan.reads_rows:
                numbers, columns = _with_rows(engine, scan, (found, numbers), columns)
            values = [columns[each.name] for each in scan.columns]
            if scan.scored:
                assert found.scores is not None
                values.append(found.scores[numbers].tolist())
            size = sum(map(_size, values))
            count(size)
            if scan.counted:
                budget.read(len(numbers), size, QueryResource.DOCUMENTS_READ)
            yield Chunk(len(numbers), tuple(values))


def _size(values: Values) -> int:
    """The bytes of values as capacity units count them, a number 8."""
    return sum([len(each) if isinstance(each, str | bytes) else 8 for each in values])


# --- values of the index ---------------------------------------------------------------------


def _in_order(found: "DocumentSet", scan: SearchScan) -> NDArray[np.int64]:
    """The numbers of the documents in the order of the scan; equal ones by their keys."""
    ranks = found.key_ranks()
    keys: list[NDArray[Any]] = [ranks]
    for field, down in reversed(scan.order):
        values, present = _dense(found.values(field), found.count)
        if down:
            values = -values if values.dtype.kind == "f" else ~values
        keys += [values, ~present if down else present]
    places = np.lexsort(tuple(keys))
    return places[::-1] if scan.reverse and not scan.order else places


def _dense(given: "FieldValues", count: int) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """A value for each document, and whether it has one."""
    values = given.values
    if values.dtype == np.bool_:
        values = values.astype(np.int64)
    if given.single:
        return values, np.ones(count, dtype=np.bool_)
    dense, present = np.zeros(count, dtype=values.dtype), np.zeros(count, dtype=np.bool_)
    dense[given.owners] = values
    present[given.owners] = True
    return dense, present


def _field_reader(found: "DocumentSet", field: str) -> Callable[[NDArray[np.int64]], list[Any]]:
    """What gives the values of a field for some documents; None where one has none."""
    given = found.values(field)
    values, present = _dense(given, found.count)
    is_bool, terms = given.values.dtype == np.bool_, given.terms
    texts: dict[int, str] = {}

    def text(number: int) -> str:
        assert terms is not None
        known = texts.get(number)
        if known is None:
            known = texts[number] = bytes(terms[number]).decode()
        return known

    def read(numbers: NDArray[np.int64]) -> list[Any]:
        taken: list[Any] = values[numbers].tolist()
        if is_bool:
            taken = [value != 0 for value in taken]
        there: list[bool] = present[numbers].tolist()
        if terms is not None:
            return [text(v) if is_there else None for v, is_there in zip(taken, there, strict=True)]
        if all(there):
            return taken
        return [v if is_there else None for v, is_there in zip(taken, there, strict=True)]

    return read


# --- rows ------------------------------------------------------------------------------------


def _with_rows(
    engine: TablestoreEngine,
    scan: SearchScan,
    documents: "tuple[DocumentSet, NDArray[np.int64]]",
    columns: dict[str, list[Any]],
) -> tuple[NDArray[np.int64], dict[str, list[Any]]]:
    """The documents whose rows are still there, with all of the columns."""
    found, numbers = documents
    table, wanted = scan.table, [each for each in scan.columns if each.name not in scan.stored]
    live = live_from(table.options, engine.core.clock.now_us() // 1000)
    reader = engine.core.store.snapshot()
    rows = [row for _, row in rows_of(reader, table, found.keys(numbers), live)]
    kept = [at for at, row in enumerate(rows) if row is not None]
    cells: Sequence[dict[str, Any]] = [
        {**dict(row.key), **row.columns} for row in rows if row is not None
    ]
    key = [[row[each.name] for row in cells] for each in table.key_columns]
    read = [[row.get(each.name) for row in cells] for each in wanted]
    check_types(wanted, read, key, [each.name for each in table.key_columns])
    made = {name: [values[at] for at in kept] for name, values in columns.items()}
    made.update(zip([each.name for each in wanted], read, strict=True))
    return numbers[kept], made
