"""What clients are told of secondary indexes: rows of the table of errors (`error_table.py`).

Code, status, template, when, and whether the text is the service's own (`Foreign`).
"""

from typing import Final

from widerow.errors import Rule
from widerow.limits import INDEX_COLUMNS_MAX, INDEX_KEY_COLUMNS_MAX, INDEXES_MAX
from widerow.wire.tablestore.error_rows import ErrorRow, invalid_row

__all__ = ["INDEX_ERRORS"]


def _building(template: str, when: str) -> ErrorRow:
    return "OTSTableNotReady", 404, template, when, True


INDEX_ERRORS: Final[dict[Rule, ErrorRow]] = {
    Rule.INDEX_KEY_COUNT: invalid_row(
        "The number of primary key columns must be in range: "
        f"[1, {INDEX_KEY_COLUMNS_MAX}] in index.",
        "no listed column of an index, or too many",
        published=True,
    ),
    Rule.INDEX_COLUMN_COUNT: invalid_row(
        f"The number of attribute columns must be in range: [0, {INDEX_COLUMNS_MAX}] in index.",
        "too many covered columns of an index",
        published=True,
    ),
    Rule.INDEX_COUNT: invalid_row(
        f"Number of index per table exceeds the quota:{INDEXES_MAX}.",
        "too many indexes of a table",
        published=True,
    ),
    Rule.INDEX_COLUMN_UNKNOWN: invalid_row(
        "Column does not exist:{name}.",
        "an index lists a column that is neither key column nor defined, or covers one that is not "
        "defined",
        published=True,
    ),
    Rule.INDEX_COLUMN_DUPLICATE: invalid_row(
        "Duplicated column: {name}.", "an index names a column twice"
    ),
    Rule.INDEX_KEY_TYPE: invalid_row(
        "Invalid column type, only STRING,INTEGER,BINARY is allowed.",
        "an index lists a DOUBLE or BOOLEAN column",
        published=True,
    ),
    Rule.INDEX_AUTO_INCREMENT_FIRST: invalid_row(
        "The first primary key column of an index can't be the auto-increment column: {name}.",
        "an index lists the auto-increment column first",
    ),
    Rule.INDEX_LOCAL_FIRST: invalid_row(
        "The first primary key column of a local index must be the partition key: {expected}.",
        "a local index begins with another column",
    ),
    Rule.INDEX_TYPE: invalid_row(
        "Invalid type of index: {kind}, {mode}.",
        "a type and an update mode of an index that do not go together",
    ),
    Rule.INDEX_OPTIONS: invalid_row(
        "Table with index must have max_versions 1, and time_to_live -1 or allow_update false.",
        "an index of a table with other options, or the other way round",
    ),
    Rule.TABLE_HAS_INDEXES: invalid_row(
        "Table '{table}' has index '{index}', delete its indexes first.",
        "DeleteTable of a table with indexes, on a server that keeps such tables",
    ),
    Rule.INDEX_IS_NO_TABLE: invalid_row(
        "Not supported on index table: '{table}'.", "an action on tables that names an index"
    ),
    Rule.INDEX_WRITE: invalid_row(
        "Can't write index table directly.", "a row change that names an index", published=True
    ),
    Rule.INDEX_VALUE_TYPE: invalid_row(
        "Invalid column type for column {column} expect {expected!v} actual {type!v}",
        "a value of another type than defined, in a column of an index",
        published=True,
    ),
    Rule.INDEX_VERSION: invalid_row(
        "Can't specify version of column {column}: the table has index.",
        "a cell with a version in a table with indexes",
    ),
    Rule.INDEX_COLUMN_USED: invalid_row(
        "Column {name} is used by index {index}.", "an index names a column that is to go"
    ),
    Rule.INDEX_BUILDING_GLOBAL: _building(
        "Disallow read index table in building base state",
        "a read of a global index that is being built",
    ),
    Rule.INDEX_BUILDING_LOCAL: _building(
        "Disallow read local index table in building base state",
        "a read of a local index that is being built",
    ),
}
