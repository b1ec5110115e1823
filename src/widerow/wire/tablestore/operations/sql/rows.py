"""Reads the rows of a table for a query: chunks of columns, whose cells have the mapped types."""

import json
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from widerow.engine.scan import ScannedRow
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest
from widerow.model.tablestore.mapping import MappedColumn, SqlType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.query.budget import QueryBudget
from widerow.query.plan import Scan
from widerow.query.relation import CHUNK_ROWS, Chunk

if TYPE_CHECKING:
    from widerow.wire.tablestore.operations.sql.tables import TableScan

__all__ = ["RowReader"]

_FIRST_ROWS: Final = 16  # a query that ends early has read few rows more than it needed
_TYPES: Final = {
    SqlType.BIGINT: (int, "INTEGER"),
    SqlType.DOUBLE: (float, "DOUBLE"),
    SqlType.BOOL: (bool, "BOOLEAN"),
    SqlType.VARCHAR: (str, "STRING"),
    SqlType.MEDIUMTEXT: (str, "STRING"),
    SqlType.VARBINARY: (bytes, "BINARY"),
    SqlType.MEDIUMBLOB: (bytes, "BINARY"),
}
_NAMES: Final = dict(_TYPES.values())
_FIXED_BYTES: Final = {int: 8, float: 8, bool: 1}


class RowReader:
    """Reads for one statement, and counts the bytes of each table that it has read."""

    def __init__(self, engine: TablestoreEngine, budget: QueryBudget) -> None:
        self._engine = engine
        self._budget = budget
        self.bytes: dict[str, int] = {}  # by the names of tables and indexes

    def __call__(self, scan: Scan) -> Iterator[Chunk]:
        """The rows of a table's ranges. Raises `InvalidRequest` for a cell of another type."""
        source: TableScan = scan.source
        name = source.scanned.name
        self.bytes.setdefault(name, 0)
        key = tuple([column.name for column in source.scanned.key_columns])
        size = _FIRST_ROWS
        for access in source.ranges.accesses:
            rows = self._engine.scan(source.table, access)
            while some := list(islice(rows, size)):
                size = min(CHUNK_ROWS, size * 4)
                read = sum(map(_size, some))
                self.bytes[name] += read
                self._budget.read(len(some), read)
                yield Chunk(len(some), _columns(some, source.columns, key))


def _size(row: ScannedRow) -> int:
    return sum(
        len(name) + (_FIXED_BYTES.get(type(value)) or len(value))
        for name, value in row.values.items()
    )


def _columns(
    rows: Sequence[ScannedRow], columns: Sequence[MappedColumn], key: tuple[str, ...]
) -> tuple[list[Any], ...]:
    found = []
    for column in columns:
        values = [row.values.get(column.name) for row in rows]
        kind = _TYPES[column.type][0]
        if not all(value is None or type(value) is kind for value in values):
            _refuse(rows, values, column, key)
        found.append(values)
    return tuple(found)


def _refuse(
    rows: Sequence[ScannedRow], values: Sequence[Any], column: MappedColumn, key: tuple[str, ...]
) -> None:
    """Raise the error for the first cell of another type than the mapping has."""
    kind, expected = _TYPES[column.type]
    for row, value in zip(rows, values, strict=True):
        if value is not None and type(value) is not kind:
            cells = [
                {"ColumnName": name, "Value": _shown(row.values[name]), "PrimaryKeyOption": 0}
                for name in key
            ]
            shown = json.dumps({"PrimaryKeys": cells}, separators=(",", ":"), ensure_ascii=False)
            raise InvalidRequest(
                TablestoreRule.SQL_FIELD_TYPE,
                actual=_NAMES[type(value)],
                expected=expected,
                column=column.name,
                key=shown,
            )


def _shown(value: Any) -> Any:  # noqa: ANN401  # JSON
    return value.hex() if isinstance(value, bytes) else value
