"""Reads the rows of a table for a query: chunks of columns, whose cells have the mapped types."""

import json
from collections.abc import Iterator, Sequence
from types import NoneType
from typing import TYPE_CHECKING, Any, Final

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest
from widerow.model.tablestore.mapping import MappedColumn, SqlType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.query.budget import QueryBudget
from widerow.query.plan import Scan
from widerow.query.relation import Chunk, Values

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


class RowReader:
    """Reads for one statement, and counts the bytes of each table that it has read."""

    def __init__(self, engine: TablestoreEngine, budget: QueryBudget) -> None:
        self._engine = engine
        self._budget = budget
        self.bytes: dict[str, int] = {}  # by the names of tables and indexes

    def __call__(self, scan: Scan) -> Iterator[Chunk]:
        """The rows of a table's ranges. Raises `InvalidRequest` for a cell of another type."""
        source: TableScan = scan.source
        scanned = source.scanned.name
        self.bytes.setdefault(scanned, 0)
        wanted = [column.name for column in source.columns]
        key = [column.name for column in source.scanned.key_columns]
        names = wanted + [name for name in key if name not in wanted]  # for messages
        for access in source.ranges.accesses:
            for page in self._engine.scan_columns(source.table, access, names, _FIRST_ROWS):
                self.bytes[scanned] += page.size
                self._budget.read(page.rows, page.size)
                _check_types(source.columns, page.columns, [names.index(name) for name in key], key)
                yield Chunk(page.rows, tuple(page.columns[: len(wanted)]))


def _check_types(
    columns: Sequence[MappedColumn], values: Sequence[Values], places: list[int], key: list[str]
) -> None:
    """Raise `InvalidRequest` for the first cell of another type than its column has."""
    for column, found in zip(columns, values, strict=False):
        kind, expected = _TYPES[column.type]
        if {type(value) for value in found} <= {kind, NoneType}:
            continue
        row = next(at for at, value in enumerate(found) if type(value) not in (kind, NoneType))
        cells = [
            {"ColumnName": name, "Value": _shown(values[place][row]), "PrimaryKeyOption": 0}
            for name, place in zip(key, places, strict=True)
        ]
        shown = json.dumps({"PrimaryKeys": cells}, separators=(",", ":"), ensure_ascii=False)
        raise InvalidRequest(
            TablestoreRule.SQL_FIELD_TYPE,
            actual=_NAMES[type(found[row])],
            expected=expected,
            column=column.name,
            key=shown,
        )


def _shown(value: Any) -> Any:  # noqa: ANN401  # JSON
    return value.hex() if isinstance(value, bytes) else value
