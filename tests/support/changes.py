"""Requests built from plain Python values, for tests and experiments without a wire.

    put("people", {"id": 7}, {"name": "Ada", "age": [(1000, 36), (2000, 37)]})

A column is a value (the server chooses its version) or a list of (version, value) pairs.
"""

from collections.abc import Iterable, Mapping

from widerow.model.tablestore.condition import UNCONDITIONAL, Condition
from widerow.model.tablestore.requests import (
    CreateTable,
    GetRange,
    GetRow,
    OptionsChange,
    ThroughputChange,
)
from widerow.model.tablestore.row import (
    CellChange,
    CellOperation,
    Modification,
    PrimaryKey,
    ReturnContent,
    RowChange,
)
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.tablestore.selection import RangeDirection, RowRange, Selection
from widerow.model.values import KeyInput, KeyType, Value, value_bytes
from widerow.rows.cells import cell_body

__all__ = [
    "Columns",
    "copied",
    "create",
    "delete",
    "delete_all",
    "delete_one",
    "get",
    "increment",
    "primary_key",
    "put",
    "put_cells",
    "scan_all",
    "update",
]

Key = Mapping[str, KeyInput]
Columns = Mapping[str, Value | list[tuple[int, Value]]]


def primary_key(key: Key) -> PrimaryKey:
    """A primary key, as if decoded from a request; the engine encodes it itself."""
    return PrimaryKey(tuple(key.items()))


def put_cells(columns: Columns) -> tuple[CellChange, ...]:
    """PUT cells of the given columns."""
    cells: list[CellChange] = []
    for name, content in columns.items():
        versions = content if isinstance(content, list) else [(None, content)]
        for version, value in versions:
            cells.append(_change(CellOperation.PUT, name, value, version))
    return tuple(cells)


def delete_all(name: str) -> CellChange:
    """A cell that removes every version of a column."""
    return CellChange(CellOperation.DELETE_ALL_VERSIONS, name, None, len(name.encode()))


def delete_one(name: str, version: int) -> CellChange:
    """A cell that removes one version of a column."""
    return CellChange(CellOperation.DELETE_ONE_VERSION, name, version, len(name.encode()))


def increment(name: str, by: int) -> CellChange:
    """A cell that adds to a column."""
    return _change(CellOperation.INCREMENT, name, by, None)


def _change(operation: CellOperation, name: str, value: Value, version: int | None) -> CellChange:
    size = len(name.encode()) + value_bytes(value)
    return CellChange(operation, name, version, size, *cell_body(name, value))


def put(
    table: str,
    key: Key,
    columns: Columns,
    condition: Condition = UNCONDITIONAL,
    returns: ReturnContent | None = None,
) -> RowChange:
    """PutRow."""
    cells = put_cells(columns)
    answer = returns or ReturnContent()
    return RowChange(table, Modification.PUT, primary_key(key), cells, condition, answer)


def copied(table: str, key: Key, columns: Columns) -> RowChange:
    """A put of a row with a number that it has already, as BulkImport makes it."""
    change = put(table, key, columns)
    change.keeps_number = True
    return change


def update(
    table: str,
    key: Key,
    cells: Iterable[CellChange],
    condition: Condition = UNCONDITIONAL,
    returns: ReturnContent | None = None,
) -> RowChange:
    """UpdateRow."""
    answer = returns or ReturnContent()
    return RowChange(table, Modification.UPDATE, primary_key(key), tuple(cells), condition, answer)


def delete(table: str, key: Key, condition: Condition = UNCONDITIONAL) -> RowChange:
    """DeleteRow."""
    return RowChange(table, Modification.DELETE, primary_key(key), (), condition)


def create(
    name: str,
    key: Mapping[str, KeyType] | Iterable[KeyColumn],
    *,
    time_to_live: int = -1,
    max_versions: int = 1,
    max_version_offset: int | None = None,
    allow_update: bool | None = None,
) -> CreateTable:
    """CreateTable with the options the SDKs send by default."""
    columns = (
        tuple(KeyColumn(column, kind) for column, kind in key.items())
        if isinstance(key, Mapping)
        else tuple(key)
    )
    options = OptionsChange(time_to_live, max_versions, max_version_offset, allow_update)
    return CreateTable(name, columns, (), ThroughputChange(0, 0), options)


def get(table: str, key: Key, selection: Selection | None = None) -> GetRow:
    """GetRow; all columns and versions unless a selection is given."""
    return GetRow(table, primary_key(key), selection or Selection())


def scan_all(
    table: str,
    start: Key,
    end: Key,
    *,
    backward: bool = False,
    limit: int | None = None,
    selection: Selection | None = None,
) -> GetRange:
    """GetRange; all columns and versions unless a selection is given."""
    direction = RangeDirection.BACKWARD if backward else RangeDirection.FORWARD
    bounds = RowRange(primary_key(start), primary_key(end), direction, limit)
    return GetRange(table, bounds, selection or Selection())
