"""What clients are told of secondary indexes (change §A)."""

from typing import Final

from widerow.errors import AnyRule
from widerow.limits import (
    INDEX_COLUMNS_MAX,
    INDEX_KEY_COLUMNS_MAX,
    INDEXES_MAX,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.errors.row import Foreign

__all__ = ["INDEX_ERRORS"]


INDEX_ERRORS: Final[dict[AnyRule, Foreign]] = {
    TablestoreRule.INDEX_KEY_COUNT: c.INVALID(
        "The number of primary key columns must be in range: "
        f"[1, {INDEX_KEY_COLUMNS_MAX}] in index.",
        "no listed column of an index, or too many",
    ),
    TablestoreRule.INDEX_COLUMN_COUNT: c.INVALID(
        f"The number of attribute columns must be in range: [0, {INDEX_COLUMNS_MAX}] in index.",
        "too many covered columns of an index",
    ),
    TablestoreRule.INDEX_COUNT: c.INVALID(
        f"Number of index per table exceeds the quota:{INDEXES_MAX}.", "too many indexes of a table"
    ),
    TablestoreRule.INDEX_COLUMN_UNKNOWN: c.INVALID(
        "Column does not exist:{name}.",
        "an index lists a column that is neither key column nor defined, or covers one that is not "
        "defined",
    ),
    TablestoreRule.INDEX_COLUMN_DUPLICATE: c.INVALID.ours(
        "Duplicated column: {name}.", "an index names a column twice"
    ),
    TablestoreRule.INDEX_KEY_TYPE: c.INVALID(
        "Invalid column type, only STRING,INTEGER,BINARY is allowed.",
        "an index lists a DOUBLE or BOOLEAN column",
    ),
    TablestoreRule.INDEX_AUTO_INCREMENT_FIRST: c.INVALID.ours(
        "The first primary key column of an index can't be the auto-increment column: {name}.",
        "an index lists the auto-increment column first",
    ),
    TablestoreRule.INDEX_LOCAL_FIRST: c.INVALID.ours(
        "The first primary key column of a local index must be the partition key: {expected}.",
        "a local index begins with another column",
    ),
    TablestoreRule.INDEX_TYPE: c.INVALID.ours(
        "Invalid type of index: {kind}, {mode}.",
        "a type and an update mode of an index that do not go together",
    ),
    TablestoreRule.INDEX_OPTIONS: c.INVALID.ours(
        "Table with index must have max_versions 1, and time_to_live -1 or allow_update false.",
        "an index of a table with other options, or the other way round",
    ),
    TablestoreRule.TABLE_HAS_INDEXES: c.INVALID.ours(
        "Table '{table}' has index '{index}', delete its indexes first.",
        "DeleteTable of a table with indexes, on a server that keeps such tables",
    ),
    TablestoreRule.INDEX_IS_NO_TABLE: c.INVALID.ours(
        "Not supported on index table: '{table}'.", "an action on tables that names an index"
    ),
    TablestoreRule.INDEX_WRITE: c.INVALID(
        "Can't write index table directly.", "a row change that names an index"
    ),
    TablestoreRule.INDEX_VALUE_TYPE: c.INVALID(
        "Invalid column type for column {column} expect {expected!v} actual {type!v}",
        "a value of another type than defined, in a column of an index",
    ),
    TablestoreRule.INDEX_VERSION: c.INVALID.ours(
        "Can't specify version of column {column}: the table has index.",
        "a cell with a version in a table with indexes",
    ),
    TablestoreRule.INDEX_COLUMN_USED: c.INVALID.ours(
        "Column {name} is used by index {index}.", "an index names a column that is to go"
    ),
    TablestoreRule.INDEX_BUILDING_GLOBAL: c.TABLE_NOT_READY(
        "Disallow read index table in building base state",
        "a read of a global index that is being built",
    ),
    TablestoreRule.INDEX_BUILDING_LOCAL: c.TABLE_NOT_READY(
        "Disallow read local index table in building base state",
        "a read of a local index that is being built",
    ),
}
