"""What clients are told of SQL statements (sql §11, §12)."""

from typing import Final

from widerow.errors import AnyRule
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.errors.row import Foreign

__all__ = ["SQL_ERRORS"]


SQL_ERRORS: Final[dict[AnyRule, Foreign]] = {
    TablestoreRule.SQL_SYNTAX: c.INVALID.ours(
        "You have an error in your SQL syntax; check the statement near '{near}'.",
        "a statement that is not of MySQL's dialect",
    ),
    TablestoreRule.SQL_SIZE: c.INVALID.ours(
        "The length of the SQL statement exceeds the limit of {limit} bytes.", "a longer statement"
    ),
    TablestoreRule.SQL_TOKENS: c.INVALID.ours(
        "The SQL statement exceeds the limit of {limit} words.", "a statement of more words"
    ),
    TablestoreRule.SQL_SEVERAL: c.INVALID.ours(
        "Only one SQL statement is allowed in a request.", "several statements in one request"
    ),
    TablestoreRule.SQL_DEPTH: c.INVALID.ours(
        "The SQL statement is nested too deeply.", "expressions or queries nested more deeply"
    ),
    TablestoreRule.SQL_UNSUPPORTED: c.UNSUPPORT_OPERATION.ours(
        "Operation not supported: {detail}.",
        "a statement, a clause or a function that is not there",
    ),
    TablestoreRule.SQL_TABLE_UNKNOWN: c.INVALID(
        "Table '{instance}.{table}' doesn't exist", "a table of a statement that is not there"
    ),
    TablestoreRule.SQL_DATABASE_UNKNOWN: c.INVALID.ours(
        "Unknown database '{database}'", "a database in a statement that is not its instance"
    ),
    TablestoreRule.SQL_TABLE_AMBIGUOUS: c.INVALID.ours(
        "Table '{table}' is ambiguous: table names differ only in case.",
        "a table's name in a statement, where another one differs from it in case only",
    ),
    TablestoreRule.SQL_TABLE_EXISTS: c.INVALID.ours(
        "Table '{instance}.{table}' already exists", "CREATE TABLE for a table that has a mapping"
    ),
    TablestoreRule.SQL_TABLE_TWICE: c.INVALID.ours(
        "Not unique table/alias in 'from clause'.", "two tables behind FROM with one name"
    ),
    TablestoreRule.SQL_TABLES: c.INVALID.ours(
        "The number of tables in the SQL statement exceeds the limit of {limit}.",
        "a statement that names more tables",
    ),
    TablestoreRule.SQL_ALIAS_MISSING: c.INVALID.ours(
        "Every derived table must have its own alias", "a query behind FROM without an alias"
    ),
    TablestoreRule.SQL_COLUMN_UNKNOWN: c.INVALID.ours(
        "Unknown column '{column}' in '{clause}'", "a column that none of the tables has"
    ),
    TablestoreRule.SQL_COLUMN_AMBIGUOUS: c.INVALID.ours(
        "Column '{column}' in field list is ambiguous", "a column that several tables have"
    ),
    TablestoreRule.SQL_COLUMNS: c.INVALID.ours(
        "The number of columns exceeds the limit of {limit}.", "a longer list behind SELECT"
    ),
    TablestoreRule.SQL_LIMIT: c.INVALID.ours(
        "LIMIT and OFFSET must be non-negative integers.", "another LIMIT or OFFSET"
    ),
    TablestoreRule.SQL_ARGUMENTS: c.INVALID.ours(
        "Incorrect parameter count in the call to native function '{function}'",
        "a function with more or fewer arguments than it takes",
    ),
    TablestoreRule.SQL_AGGREGATE_PLACE: c.INVALID.ours(
        "Invalid use of group function", "an aggregate function inside another one, or in WHERE"
    ),
    TablestoreRule.SQL_SUBQUERY_ROWS: c.INVALID.ours(
        "Subquery returns more than 1 row", "a query that stands for a value and has several rows"
    ),
    TablestoreRule.SQL_SUBQUERY_COLUMNS: c.INVALID.ours(
        "Operand should contain 1 column(s)", "a query in an expression with several columns"
    ),
    TablestoreRule.SQL_PATTERN: c.INVALID.ours(
        "Invalid regular expression: '{pattern}'.", "a pattern of REGEXP that cannot be read"
    ),
    TablestoreRule.SQL_OVERFLOW: c.INVALID.ours(
        "The value is out of range.", "a number that has no place in its type"
    ),
    TablestoreRule.SQL_VALUE_SIZE: c.INVALID.ours(
        "The value exceeds the limit of {limit} bytes.", "a function that makes a longer text"
    ),
    TablestoreRule.SQL_FIELD_TYPE: c.INVALID(
        "Field type mismatch, actual: {actual}, expect: {expected}, col: {column}, "
        "primary key: {key}",
        "a cell of another type than the mapping says, in a column that the statement needs",
    ),
    TablestoreRule.SQL_TOKEN: c.INVALID.ours(
        "Invalid search token.", "a search_token that is not of the last page of the statement"
    ),
    TablestoreRule.SQL_MAPPING: c.INVALID.ours(
        "The mapping is invalid: {reason}.", "a statement that does not fit its table or mapping"
    ),
    TablestoreRule.SQL_CHANGE: c.UNSUPPORT_OPERATION(
        "{detail}", "an INSERT, UPDATE or DELETE of a form that is not there"
    ),
    TablestoreRule.SQL_POINT_CHANGE: c.INVALID(
        "Non-transactional tables currently support atomic batch inserts within a single partition "
        "key, and single-row updates or deletes specified by the full primary key without any "
        "attribute column conditions.",
        "an UPDATE or DELETE whose WHERE is not the whole primary key",
    ),
    TablestoreRule.SQL_DUPLICATE: c.INVALID(
        "Duplicate entry for key 'PRIMARY'", "an INSERT of a row that is there"
    ),
    TablestoreRule.SQL_INSERT_ROWS: c.INVALID.ours(
        "The number of rows exceeds the limit of {limit}.", "an INSERT of more rows"
    ),
    TablestoreRule.SQL_VALUE_COUNT: c.INVALID.ours(
        "Column count doesn't match value count", "a row of VALUES with more or fewer values"
    ),
    TablestoreRule.SQL_VALUE_TYPE: c.INVALID.ours(
        "Incorrect value for column '{column}'", "a value of another type than its column"
    ),
    TablestoreRule.SQL_KEY_NULL: c.INVALID.ours(
        "Column '{column}' cannot be null", "a row without a value for a primary key column"
    ),
    TablestoreRule.SQL_KEY_LARGEST: c.INVALID(
        "The input parameter is invalid.", "the largest integer as a value of the primary key"
    ),
    TablestoreRule.SQL_SEARCH_FUNCTION: c.UNSUPPORT_OPERATION(
        "{function} is only supported for {field} in filter conditions in search index",
        "TEXT_MATCH and its kin without a search index, outside of WHERE, or for another field",
    ),
    TablestoreRule.SQL_INDEX_UNKNOWN: c.INVALID.ours(
        "Index '{index}' doesn't exist in table '{table}'.", "an index behind USE INDEX"
    ),
    TablestoreRule.SQL_DOCUMENTS_READ: c.QUOTA_EXHAUSTED(
        "The sql scanned rows of search exceeds the quota! Search quota is {limit} rows, "
        "table quota is {limit} rows",
        "a statement that reads more rows of a search index",
    ),
    TablestoreRule.SQL_ROWS_READ: c.QUOTA_EXHAUSTED(
        "The sql scanned rows of kv exceeds the quota! Search quota is {limit} rows, "
        "table quota is {limit} rows",
        "a statement that reads more rows of tables",
    ),
    TablestoreRule.SQL_BYTES_READ: c.QUOTA_EXHAUSTED.ours(
        "The sql scanned bytes of kv exceeds the quota! Quota is {limit} bytes",
        "a statement that reads more bytes of tables",
    ),
    TablestoreRule.SQL_VALUES_HELD: c.QUOTA_EXHAUSTED.ours(
        "The sql needs more memory than the quota! Quota is {limit} values",
        "a statement that sorts, groups or joins more",
    ),
    TablestoreRule.SQL_TIME: c.QUOTA_EXHAUSTED(
        "The sql duration time exceed the quota! Quota is {limit} seconds",
        "a statement that takes longer",
    ),
}
