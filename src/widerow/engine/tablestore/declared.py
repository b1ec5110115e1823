"""Checks values against the types of a table's defined columns (change §D1).

Rows are free-form elsewhere: only BulkImport holds every value of a defined column against its
declaration.
"""

from collections.abc import Mapping
from typing import Final

from widerow.errors import InvalidRequest
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.model.values import ColumnType
from widerow.rows.cells import body_value

__all__ = ["check_declared", "declared_types"]

_TYPES: Final[dict[type, ColumnType]] = {
    int: ColumnType.INTEGER,
    float: ColumnType.DOUBLE,
    bool: ColumnType.BOOLEAN,
    str: ColumnType.STRING,
    bytes: ColumnType.BINARY,
}


def declared_types(table: Table) -> Mapping[str, ColumnType] | None:
    """The types of the table's defined columns by their names; None where it defines none."""
    return {column.name: column.type for column in table.defined_columns} or None


def check_declared(declared: Mapping[str, ColumnType], change: RowChange) -> None:
    """Check the values that `change` puts or adds against the declared types.

    Raises `InvalidRequest(DECLARED_TYPE)` for the first value, in the order of the request, of
    another type. Deletes have no value; columns that are not declared take any value.
    """
    for cell in change.cells:
        expected = declared.get(cell.name)
        if expected is None or not cell.body:
            continue
        found = _TYPES[type(body_value(cell.body))]
        if found is not expected:
            raise InvalidRequest(
                TablestoreRule.DECLARED_TYPE,
                column=cell.name,
                expected=expected.name,
                type=found.name,
            )
