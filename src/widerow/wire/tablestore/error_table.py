"""What clients of the dialect are told when something goes wrong: one row for each rule.

Clients branch on the code and some compare the text, so both are the service's own wherever a
public test or document shows them (semantics §18); where tests and documents differ in a dot or a
quote, the tests' form stands. Texts that are shown nowhere are ours (`published=False`).
The page of errors is made of this table (docs/internals/generated.md). What to do about an error is
not told in the text but in a hint beside it (`x-widerow-hint`).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from widerow.errors import (
    OutcomeUnknown,
    Rule,
    StorageFailure,
    StoreBusy,
    StoreDamaged,
    StoreFull,
    StoreLocked,
    StorePoisoned,
)
from widerow.limits import (
    BATCH_GET_ROWS_MAX,
    BATCH_WRITE_BYTES_MAX,
    BATCH_WRITE_ROWS_MAX,
    CAPACITY_UNITS_MAX,
    CELLS_PER_CHANGE_MAX,
    DEFINED_COLUMNS_MAX,
    FILTER_NODES_MAX,
    KEY_COLUMNS_MAX,
    KEY_VALUE_BYTES_MAX,
    PARTITIONS_MAX,
    READ_COLUMNS_MAX,
    SPLIT_BYTES_MAX,
    SPLIT_UNIT_BYTES_MIN,
    STREAM_HOURS_MAX,
    VALUE_BYTES_MAX,
)
from widerow.wire.tablestore.delivery_errors import DELIVERY_ERRORS
from widerow.wire.tablestore.index_errors import INDEX_ERRORS
from widerow.wire.tablestore.search_errors import SEARCH_ERRORS
from widerow.wire.tablestore.search_life_errors import SEARCH_LIFE_ERRORS
from widerow.wire.tablestore.search_query_errors import SEARCH_QUERY_ERRORS
from widerow.wire.tablestore.search_result_errors import SEARCH_RESULT_ERRORS
from widerow.wire.tablestore.stream_errors import STREAM_ERRORS
from widerow.wire.tablestore.transaction_errors import TRANSACTION_ERRORS
from widerow.wire.tablestore.tunnel_errors import TUNNEL_ERRORS

__all__ = ["FAILURES", "FOREIGN", "UNEXPECTED", "FailureAnswer", "Foreign"]


class Foreign(NamedTuple):
    """What one error looks like to a client.

    `template` takes its facts from the error's details, in braces; `{fact!v}` names a type of key
    value as the protocol does. `when` says in a few words what happened. `published`: the text is
    the service's own, as far as tests and documents show it.
    """

    code: str
    status: int
    template: str
    when: str
    published: bool = True


class FailureAnswer(NamedTuple):
    """What a failure of ours looks like, and its hint."""

    foreign: Foreign
    hint: str


def _invalid(template: str, when: str, *, published: bool = True) -> Foreign:
    return Foreign("OTSParameterInvalid", 400, template, when, published)


def _denied(template: str, when: str, *, published: bool = True) -> Foreign:
    return Foreign("OTSAuthFailed", 403, template, when, published)


_ROWS: Final[dict[Rule, Foreign]] = {
    # Names (semantics §1.4)
    Rule.TABLE_NAME: _invalid(
        "Invalid table name: '{name}'.", "a table name of other characters, or too long"
    ),
    Rule.COLUMN_NAME: _invalid(
        "Invalid column name: '{name}'.",
        "a key or defined column name of other characters, or too long; any column under `strict`",
    ),
    Rule.ATTRIBUTE_NAME: _invalid(
        "Invalid column name: '{name}'.", "an attribute column name that begins with #, or too long"
    ),
    Rule.COLUMN_NAME_MISSING: _invalid(
        "No name is given for attribute column.", "an attribute cell without a name"
    ),
    Rule.COLUMN_SHADOWS_KEY: _invalid(
        "Duplicated attribute column name with primary key column: '{name}'.",
        "an attribute named like a primary key column",
    ),
    # Primary keys (semantics §3)
    Rule.SEARCH_TABLE_NOT_FOUND: _invalid(
        "table [{table}] does not exist", "an action of search indexes on an unknown table"
    ),
    Rule.KEY_SIZE: Foreign(
        "OTSInvalidPK",
        400,
        "Validate PK size fail. Input: {count}, Meta: {expected}.",
        "another number of key columns than the table has",
    ),
    Rule.KEY_NAME: Foreign(
        "OTSInvalidPK",
        400,
        "Validate PK name fail. Input: {name}, Meta: {expected}.",
        "another name or order of key columns",
    ),
    Rule.KEY_TYPE: Foreign(
        "OTSInvalidPK",
        400,
        "Validate PK type fail. Input: {type!v}, Meta: {expected!v}.",
        "a key value of another type",
    ),
    Rule.KEY_LENGTH: _invalid(
        f"The length of primary key column: '{{column}}' exceeds the "
        f"MaxLength:{KEY_VALUE_BYTES_MAX} with CurrentLength:{{length}}.",
        "a key value that is too long",
    ),
    Rule.KEY_MARKER: _invalid(
        "VT_{marker} is an invalid type for the primary key.", "INF_MIN or INF_MAX outside a range"
    ),
    Rule.KEY_AUTO_INCREMENT_READ: _invalid(
        "PKAutoIncr can't be used for read operations.", "the auto-increment marker in a read"
    ),
    Rule.KEY_VALUE_MISSING: _invalid(
        "No value is given for primary key name:{name}.", "a key cell without a value"
    ),
    Rule.KEY_OPERATION: _invalid(
        "OpType cannot be given for primary key name :{name}.", "a key cell with an operation"
    ),
    Rule.KEY_VERSION: _invalid(
        "Timestamp cannot be given for primary key name:{name}.", "a key cell with a version"
    ),
    # Table definitions (semantics §2.1, §2.4)
    Rule.KEY_COLUMN_COUNT: _invalid(
        f"The number of primary key columns must be in range: [1, {KEY_COLUMNS_MAX}].",
        "no key column, or too many",
    ),
    Rule.KEY_COLUMN_TYPE: _invalid(
        "{type} is an invalid type for the primary key.", "a key column of another type"
    ),
    Rule.KEY_COLUMN_DUPLICATE: _invalid(
        "Duplicated primary key name: '{name}'.", "two key columns of one name"
    ),
    Rule.AUTO_INCREMENT_TYPE: _invalid(
        "AUTO_INCREMENT primary key must be integer.", "an auto-increment column of another type"
    ),
    Rule.AUTO_INCREMENT_COUNT: _invalid(
        "AUTO_INCREMENT primary key count must <= 1.", "several auto-increment columns"
    ),
    Rule.AUTO_INCREMENT_FIRST: _invalid(
        "First primary key can't be auto increment, table: {table}.",
        "an auto-increment partition key",
    ),
    Rule.DEFINED_COLUMN_COUNT: _invalid(
        f"The number of defined columns must be in range: [0, {DEFINED_COLUMNS_MAX}].",
        "too many defined columns",
    ),
    Rule.DEFINED_COLUMN_TYPE: _invalid(
        "Invalid column type: {type}.", "a defined column of an unknown type"
    ),
    Rule.DEFINED_COLUMN_DUPLICATE: _invalid(
        "Duplicated defined column name: '{name}'.",
        "a defined column named like another column",
        published=False,
    ),
    Rule.DEFINED_COLUMN_UNKNOWN: _invalid(
        "Column does not exist:{name}.", "DeleteDefinedColumn of a column that is not defined"
    ),
    Rule.DEFINED_COLUMN_MISSING: _invalid(
        "No column is specified.",
        "AddDefinedColumn or DeleteDefinedColumn without columns",
        published=False,
    ),
    Rule.THROUGHPUT_MISSING: _invalid(
        "Both read and write capacity unit are required to create table.",
        "CreateTable without both capacity units",
    ),
    Rule.THROUGHPUT_READ_NEGATIVE: _invalid(
        "The value of read capacity unit can not be less than 0.", "a negative read capacity unit"
    ),
    Rule.THROUGHPUT_WRITE_NEGATIVE: _invalid(
        "The value of write capacity unit can not be less than 0.", "a negative write capacity unit"
    ),
    Rule.THROUGHPUT_TOO_LARGE: _invalid(
        f"The value of capacity unit can not be greater than {CAPACITY_UNITS_MAX}.",
        "a capacity unit above the limit",
        published=False,
    ),
    Rule.THROUGHPUT_UPDATE: _invalid(
        "Invalid Capacity Unit for UpdateTable: Either read({read}) or write({write}) should be "
        "non-negative.",
        "UpdateTable with neither capacity unit",
    ),
    Rule.TIME_TO_LIVE_MISSING: _invalid(
        "Time-to-live is missing while creating table.", "CreateTable without time_to_live"
    ),
    Rule.MAX_VERSIONS_MISSING: _invalid(
        "MaxVersions is missing while creating table.", "CreateTable without max_versions"
    ),
    Rule.TIME_TO_LIVE_VALUE: _invalid(
        "TimeToLive cannot be 0 or less than -1.", "time_to_live of 0 or below -1"
    ),
    Rule.MAX_VERSIONS_VALUE: _invalid(
        "The maximum versions cannot be less than or equal to 0.", "max_versions of 0 or below"
    ),
    Rule.MAX_VERSION_OFFSET: _invalid(
        "The maximum deviation must be in range [0, INT64_MAX/1000000].",
        "a version offset outside its range",
    ),
    Rule.TABLE_OPTIONS_EMPTY: _invalid(
        "No parameter is specified in table options.", "UpdateTable with empty options"
    ),
    Rule.TABLE_UPDATE_EMPTY: _invalid(
        "No parameter is specified in UpdateTable.",
        "UpdateTable that changes nothing",
        published=False,
    ),
    Rule.UPDATE_FULL_ROW_FIXED: _invalid(
        "Table options of UpdateTable cannot contain updateFullRow.",
        "UpdateTable with update_full_row",
        published=False,
    ),
    Rule.SPLIT_COUNT: _invalid(
        f"The count of partitions cannot be greater than {PARTITIONS_MAX}",
        "a pre-split into too many ranges",
    ),
    Rule.SPLIT_INFINITE: _invalid(
        "The value of partition range can not be INT64_MIN or INT64_MAX.",
        "an infinite or extreme inner bound of the pre-split",
    ),
    Rule.SPLIT_EMPTY_STRING: _invalid(
        "The value of partition range can not be empty string.", "an empty STRING bound"
    ),
    Rule.SPLIT_EMPTY_BINARY: _invalid(
        "The value of partition range can not be empty binary.", "an empty BINARY bound"
    ),
    Rule.SPLIT_TYPE: _invalid(
        "The value type of partition does not match with primary key.",
        "a bound of another type than the partition key",
    ),
    Rule.SPLIT_LENGTH: _invalid(
        f"The value of partition range exceeds the MaxLength:{SPLIT_BYTES_MAX} with "
        f"CurrentLength:{{length}}.",
        "a bound that is too long",
    ),
    Rule.SPLIT_CONTIGUOUS: _invalid(
        "The partition ranges must be contiguous from INF_MIN to INF_MAX.",
        "ranges with gaps, overlaps or open ends",
        published=False,
    ),
    Rule.STREAM_EXPIRATION: _invalid(
        f"The expiration time of stream must be in range [1, {STREAM_HOURS_MAX}].",
        "stream hours outside their range",
        published=False,
    ),
    # Cells (semantics §1.3, §4)
    Rule.VALUE_LENGTH: _invalid(
        f"The length of attribute column: '{{column}}' exceeds the MaxLength:{VALUE_BYTES_MAX} "
        f"with CurrentLength:{{length}}.",
        "an attribute value or filter constant that is too long",
    ),
    Rule.VALUE_TEXT: _invalid(
        "Value of column {column} must be UTF8 encoding.", "a STRING that is not UTF-8"
    ),
    Rule.VALUE_NAN: _invalid("NaN can't be set to double value.", "a DOUBLE that is not a number"),
    Rule.VALUE_INFINITY: _invalid(
        "Infinity can't be set to double value.", "a DOUBLE that is infinite"
    ),
    Rule.VALUE_MISSING: _invalid("No value is given for column name.", "a cell without a value"),
    Rule.VALUE_TYPE: _invalid(
        "data format is invalid, unknown variant type occured.", "a value of an unknown type"
    ),
    Rule.VALUE_ON_DELETE: _invalid(
        "Column value cannot be given when type is DELETE_ONE_VERSION,DELETE_ALL_VERSION.",
        "a value in a cell that deletes",
    ),
    Rule.VERSION_RANGE: _invalid(
        "Timestamp must be in range [0, INT64_MAX/1000).", "a version or time outside its range"
    ),
    Rule.VERSION_WINDOW: _invalid(
        "Invalid timestamp. Cell:{column}. Timestamp:{version}. "
        "MinTimestamp:{minimum}. MaxTimestamp:{maximum}.",
        "a version too far from now, or expired",
    ),
    Rule.VERSION_MISSING: _invalid(
        "Timestamp must be given when type is DELETE_ONE_VERSION.",
        "DELETE_ONE_VERSION without a version",
    ),
    Rule.VERSION_ON_DELETE_ALL: _invalid(
        "Timestamp cannot be given when type is DELETE_ALL_VERSION.",
        "DELETE_ALL_VERSION with a version",
    ),
    Rule.VERSION_ON_INCREMENT: _invalid(
        "Timestamp cannot be given when type is INCREMENT.",
        "INCREMENT with a version",
        published=False,
    ),
    Rule.OPERATION_IN_PUT: _invalid(
        "OpType cannot be given for column name: {name} in PutRow.",
        "a cell with an operation in PutRow",
    ),
    Rule.OPERATION_UNKNOWN: _invalid(
        "Invalid op type of cell: {operation}.", "an unknown operation of a cell"
    ),
    Rule.COLUMN_COUNT: _invalid(
        "The number of attribute columns exceeds the limit, limit count: "
        f"{CELLS_PER_CHANGE_MAX}, column count: {{count}}.",
        "a row change of too many cells",
    ),
    Rule.COLUMN_SIZE: Foreign(
        "OTSOutOfRowSizeLimit",
        400,
        "The total data size of columns in one row exceeded the limit.",
        "versions of one column of one row above 32 MB, ours",
    ),
    Rule.DELETE_MARKER_IN_WRITE: _invalid(
        "Invalid request of put/update row: unexpected RowDeleteMarker in request.",
        "a delete marker outside DeleteRow",
    ),
    Rule.DELETE_WITH_CELLS: _invalid(
        "Invalid delete row request: unexpected cells in request", "DeleteRow with cells"
    ),
    Rule.UPDATE_WITHOUT_CELLS: _invalid(
        "Invalid update row request: missing cells in request", "UpdateRow without cells"
    ),
    Rule.UPDATE_NOT_ALLOWED: _invalid(
        "UpdateRow is not allowed: allow_update of table '{table}' is false.",
        "UpdateRow on a table with allow_update=false",
        published=False,
    ),
    Rule.INCREMENT_OPERAND: _invalid(
        "The value of INCREMENT must be integer, column name: {column}.",
        "an increment by another type",
        published=False,
    ),
    Rule.INCREMENT_TYPE: _invalid(
        "INCREMENT requires an integer column, column name: {column}.",
        "an increment of a column of another type",
        published=False,
    ),
    Rule.INCREMENT_OVERFLOW: _invalid(
        "INCREMENT exceeds the range of integer, column name: {column}.",
        "an increment past 64 bits",
        published=False,
    ),
    Rule.INCREMENT_COMBINED: _invalid(
        "INCREMENT cannot be combined with other operations on column: {column}.",
        "an increment and another operation on one column",
        published=False,
    ),
    Rule.RETURN_TYPE: _invalid("Invalid return type: {value}.", "an unknown return type"),
    Rule.RETURN_COLUMNS: _invalid(
        "Invalid return column: '{column}'.",
        "a return column that the request does not increment",
        published=False,
    ),
    # Auto-increment writes (semantics §4.7)
    Rule.AUTO_INCREMENT_EXPECTATION: _invalid(
        "Invalid expect:{expectation} when modify row with pk auto increment",
        "a new auto-increment row with an expectation",
    ),
    Rule.AUTO_INCREMENT_CONDITION: _invalid(
        "Can't set condition when modify row with pk auto increment",
        "a new auto-increment row with a column condition",
    ),
    Rule.AUTO_INCREMENT_DELETE: _invalid(
        "Invalid row to delete which with pk auto increment",
        "a delete with the auto-increment marker",
    ),
    Rule.AUTO_INCREMENT_SPECIFIC: _invalid(
        "Invalid expect: {expectation} when modify a specific row for table with pk auto increment",
        "EXPECT_NOT_EXIST with a concrete key of an auto-increment table",
    ),
    Rule.AUTO_INCREMENT_MARKER: _invalid(
        "VT_AUTO_INCREMENT is an invalid type for the primary key.",
        "the auto-increment marker in another column",
        published=False,
    ),
    Rule.AUTO_INCREMENT_EXHAUSTED: _invalid(
        "AUTO_INCREMENT primary key is exhausted, table: {table}.",
        "no larger 64-bit value under this partition key",
        published=False,
    ),
    # Conditions and filters (semantics §4.1, §5.3)
    Rule.CONDITION_FAILED: Foreign(
        "OTSConditionCheckFail",
        403,
        "Condition check failed.",
        "an existence or column condition that does not hold",
    ),
    Rule.ROW_EXPECTATION: _invalid(
        "Invalid row-existence expectation: {value}.", "an unknown row expectation"
    ),
    Rule.FILTER_DECODE: _invalid("Deserialize filter failed.", "bytes that are no Filter"),
    Rule.FILTER_RELATION_DECODE: _invalid(
        "Deserialize relation filter failed.", "bytes that are no SingleColumnValueFilter"
    ),
    Rule.FILTER_COMPOSITE_DECODE: _invalid(
        "Deserialize composite filter failed.", "bytes that are no CompositeColumnValueFilter"
    ),
    Rule.FILTER_PAGINATION_DECODE: _invalid(
        "Deserialize column pagination filter failed.", "bytes that are no ColumnPaginationFilter"
    ),
    Rule.FILTER_TYPE: _invalid("Invalid type of filter: {type}.", "an unknown type of filter"),
    Rule.FILTER_COMPARATOR: _invalid(
        "Invalid relation operator: {comparator}.", "an unknown comparator"
    ),
    Rule.FILTER_COUNT: _invalid(
        f"The count of filter exceeds the max: {FILTER_NODES_MAX}.", "a filter of too many nodes"
    ),
    Rule.FILTER_NOT_ARITY: _invalid(
        "Invalid NOT operator: the number of sub-filters must be 1.",
        "NOT with another number of sub-filters",
    ),
    Rule.FILTER_LOGIC_ARITY: _invalid(
        "Invalid AND/OR operator: the number of sub-filters must be more than 1.",
        "AND or OR with fewer than two sub-filters",
    ),
    Rule.FILTER_PAGINATION_OFFSET: _invalid(
        "Offset in ColumnPaginationFilter must be greater than or equal to 0.",
        "a negative pagination offset",
    ),
    Rule.FILTER_PAGINATION_LIMIT: _invalid(
        "Limit in ColumnPaginationFilter must be greater than 0.",
        "a pagination limit of 0 or below",
    ),
    Rule.FILTER_PAGINATION_PLACE: _invalid(
        "Invalid type of sub-filter: FT_COLUMN_PAGINATION.",
        "pagination in a condition or composite",
    ),
    Rule.FILTER_REGEX: _invalid(
        "Invalid regex of ValueTransferRule.",
        "a regular expression that does not compile, has no group, or is too long",
        published=False,
    ),
    # Reads (semantics §5)
    Rule.VERSION_CONDITION_MISSING: _invalid(
        "No version condition is specified.", "GetRow or GetRange without versions or times"
    ),
    Rule.VERSION_CONDITION_MISSING_IN_BATCH: _invalid(
        "No version condition is specified while querying row.",
        "BatchGetRow without versions or times",
    ),
    Rule.READ_MAX_VERSIONS: _invalid(
        "Invalid max versions: {value} . Reason: Max versions must be positive.",
        "max_versions of 0 or below",
    ),
    Rule.TIME_RANGE_INCOMPLETE: _invalid(
        "Start and end time must be given at the same time.", "a time range with one end"
    ),
    Rule.TIME_RANGE_ORDER: _invalid(
        "Start time cannot be greater than end time.",
        "a time range that ends before it starts",
        published=False,
    ),
    Rule.TIME_SPECIFIC_AND_RANGE: _invalid(
        "Specific tiemstamp and time range cannot be given at the same time.",
        "a specific time and a range",
    ),
    Rule.TIME_SPECIFIC_AND_VERSIONS: _invalid(
        "Specific tiemstamp and max versions cannot be given at the same time.",
        "a specific time and max_versions",
    ),
    Rule.TIME_SPECIFIC_NEGATIVE: _invalid(
        "Specific timestamp cannot be less than 0.", "a negative specific time"
    ),
    Rule.READ_COLUMN_COUNT: _invalid(
        "The number of columns from the request exceeds the limit, limit count: "
        f"{READ_COLUMNS_MAX}, column count: {{count}}.",
        "a read of too many columns",
    ),
    Rule.READ_WITH_CELLS: _invalid(
        "Attribute column cannot be given while reading data.", "attribute cells in a read's key"
    ),
    Rule.READ_DELETE_MARKER: _invalid(
        "Delete marker cannot be given.", "a delete marker in a read's key"
    ),
    Rule.RANGE_FORWARD_ORDER: _invalid(
        "Begin key must less than end key in FORWARD",
        "a forward range whose start is not below its end",
    ),
    Rule.RANGE_BACKWARD_ORDER: _invalid(
        "Begin key must more than end key in BACKWARD",
        "a backward range whose start is not above its end",
    ),
    Rule.RANGE_DIRECTION: _invalid(
        "Invalid direction: {value}.", "an unknown direction", published=False
    ),
    Rule.RANGE_LIMIT: _invalid("The limit must be greater than 0.", "a limit of 0 or below"),
    Rule.READ_TOKEN: _invalid(
        "Invalid token.", "a continuation token that the server did not give out", published=False
    ),
    # Split points (semantics §6)
    Rule.SPLIT_SIZE: _invalid(
        "The split_size should be greater than 0.", "ComputeSplitPointsBySize without a size"
    ),
    Rule.SPLIT_SIZE_UNIT: _invalid(
        f"The split_size_unit_in_byte should be greater equal than: {SPLIT_UNIT_BYTES_MIN}",
        "ComputeSplitPointsBySize in a smaller unit",
    ),
    Rule.SPLIT_POINT_LIMIT: _invalid(
        "The split_point_limit should be greater than 0.",
        "ComputeSplitPointsBySize of no points",
        published=False,
    ),
    Rule.TRANSACTION_ID: _invalid(
        "TransactionID is invalid.", "a transaction id that the server did not give out"
    ),
    # Batches (semantics §4.8, §5.5)
    Rule.BATCH_GET_EMPTY: _invalid(
        "No row specified in the request of BatchGetRow.", "BatchGetRow without tables"
    ),
    Rule.BATCH_GET_COUNT: _invalid(
        f"Rows count exceeds the upper limit: {BATCH_GET_ROWS_MAX}.", "BatchGetRow of too many rows"
    ),
    Rule.BATCH_GET_SIZE: _invalid(
        "The total data size of BatchGetRow response exceeds the limit, limit size: {limit}.",
        "a wide row of a BatchGetRow whose answer is full",
        published=False,
    ),
    Rule.EXPORT_COLUMNS_MISSING: _invalid(
        "DBT_SIMPLE_ROW_MATRIX need at least one column to get.",
        "BulkExport of a row matrix without columns",
    ),
    Rule.EXPORT_KEY_SIZE: _invalid(
        "Validate PK size fail. Input: {count}, Meta: {expected}.",
        "BulkExport with another number of key columns than the table has",
    ),
    Rule.EXPORT_ROW_SIZE: _invalid(
        "The row is too large for BulkExport.",
        "BulkExport of a row that one answer cannot hold",
        published=False,
    ),
    Rule.EXPORT_BLOCK_TYPE: _invalid(
        "Invalid data block type: {value}.",
        "BulkExport in a form that there is not",
        published=False,
    ),
    Rule.BATCH_WRITE_EMPTY: _invalid(
        "No row is specified in BatchWriteRow.", "BatchWriteRow without tables"
    ),
    Rule.BATCH_WRITE_TABLE_EMPTY: _invalid(
        "No operation is specified for table: '{table}'.", "BatchWriteRow with a table without rows"
    ),
    Rule.BATCH_WRITE_COUNT: _invalid(
        f"Rows count exceeds the upper limit: {BATCH_WRITE_ROWS_MAX}.",
        "BatchWriteRow of too many rows",
    ),
    Rule.DECLARED_TYPE: _invalid(
        "Invalid column type for column {column} expect {expected!v} actual {type!v}",
        "BulkImport of a value of another type than the defined column's",
    ),
    Rule.BATCH_WRITE_SIZE: _invalid(
        "The total data size of BatchWriteRow request exceeds the limit, limit size: "
        f"{BATCH_WRITE_BYTES_MAX}, data size: {{size}}.",
        "BatchWriteRow of too much data",
    ),
    Rule.BATCH_WRITE_TYPE: _invalid(
        "The type of row in batch write operation is invalid.", "an unknown kind of row change"
    ),
    Rule.BATCH_TABLE_DUPLICATE: _invalid(
        "Duplicated table name: '{table}'.", "one table listed twice"
    ),
    Rule.BATCH_REPEATED_EXPECTATION: _invalid(
        "Repeated rows do not support row exist expectation check in BatchModify.",
        "a repeated row with an expectation",
    ),
    Rule.BATCH_REPEATED_CONDITION: _invalid(
        "Repeated rows do not support row condition check in BatchModify.",
        "a repeated row with a column condition",
    ),
    Rule.BATCH_ATOMIC_SCOPE: Foreign(
        "OTSDataOutOfRange",
        400,
        "Data out of scope of atomic. Atomic PartKey:{atomic}. Data PartKey:{data}",
        "an atomic batch over several partition keys",
    ),
    # Bytes on the wire (wire §1.2, §1.7, §2; semantics §18.1)
    Rule.BODY_UNREADABLE: _invalid(
        "Failed to parse the ProtoBuf message.", "a body that is not the action's message"
    ),
    Rule.REQUEST_ELEMENTS: _invalid(
        "The number of elements of {field} in the request exceeds the limit, limit count: {limit}.",
        "a field that is repeated far more often than any request needs",
        published=False,
    ),
    Rule.ROW_ENCODING: _invalid(
        "{message}", "bytes that are no PlainBuffer; the text says where they break"
    ),
    Rule.ROW_CHECKSUM: _invalid(
        "Cell data broken, checksum is mismatch, {user} :{service} :",
        "a checksum that does not fit",
    ),
    Rule.BODY_TOO_LARGE: Foreign(
        "OTSRequestBodyTooLarge",
        413,
        "The size of POST data is too large.",
        "a body above the limit",
    ),
    Rule.BODY_COMPRESSION: _invalid(
        "Cannot deserialize the request data.",
        "a compressed body that does not inflate as announced",
    ),
    Rule.BODY_TIMEOUT: Foreign(
        "OTSRequestTimeout", 408, "Request timeout.", "a body that takes too long to arrive"
    ),
    Rule.HTTP_METHOD: Foreign(
        "OTSMethodNotAllowed",
        405,
        "Only POST method for requests is supported.",
        "another method than POST",
    ),
    Rule.HTTP_MALFORMED: _invalid(
        "The HTTP request is malformed.", "bytes that are no HTTP/1.1 request", published=False
    ),
    Rule.HTTP_HEADERS_TOO_LARGE: Foreign(
        "OTSParameterInvalid",
        431,
        "The size of HTTP headers is too large.",
        "too many headers, or too long",
        published=False,
    ),
    Rule.ACTION_UNKNOWN: Foreign(
        "OTSUnsupportOperation",
        400,
        "Unsupported operation: '{action}'.",
        "a path that is no action of the protocol",
    ),
    Rule.ACTION_UNSUPPORTED: Foreign(
        "OTSUnsupportOperation",
        400,
        "Unsupported operation: '{action}'.",
        "an action of the protocol that widerow does not offer",
    ),
    Rule.FEATURE_UNSUPPORTED: Foreign(
        "OTSUnsupportOperation",
        400,
        "Unsupported feature: {feature}.",
        "a field whose feature widerow does not offer",
        published=False,
    ),
    # Identity (wire §1.2-1.4)
    Rule.HEADER_MISSING: Foreign(
        "OTSMissingHeader", 400, "Missing header: '{name}'.", "a mandatory header is absent"
    ),
    Rule.HEADER_DUPLICATE: _invalid(
        "Duplicated header: '{name}'.", "a header given twice", published=False
    ),
    Rule.DATE_FORMAT: _invalid("Invalid date format: {date}.", "a date in another form"),
    Rule.DATE_SKEW: _denied(
        "Mismatch between system time and x-ots-date: {date}.", "a date too far from the server's"
    ),
    Rule.ACCESS_KEY_UNKNOWN: _denied("The AccessKeyID does not exist.", "an unknown access key"),
    Rule.SIGNATURE_MISMATCH: _denied(
        "Signature mismatch.", "a signature made with another secret or of other headers"
    ),
    Rule.BODY_DIGEST: _denied(
        "Mismatch between MD5 value of request body and x-ots-contentmd5 in header.",
        "a body that is not what was signed",
    ),
    Rule.INSTANCE_NAME: _invalid(
        "Invalid instance name: '{name}'.", "an instance name of other characters"
    ),
    Rule.INSTANCE_UNKNOWN: _denied(
        "The instance is not found.", "an instance that is not on the server's list"
    ),
    Rule.INSTANCE_FORBIDDEN: _denied(
        "The user has no privilege to access the instance.",
        "an access key limited to other instances",
    ),
    Rule.PERMISSION_MISSING: Foreign(
        "OTSNoPermissionAccess",
        403,
        "You have no permission to access the requested resource, please contact the resource "
        "owner",
        "an access key without the permission",
    ),
    Rule.SECURITY_TOKEN: _denied(
        "The security token is invalid.", "another security token than the key's", published=False
    ),
    Rule.SECURITY_TOKEN_EXPIRED: _denied(
        "The security token is expired.", "a temporary key that has ended", published=False
    ),
    Rule.API_KEY: _denied(
        "The API key is invalid.",
        "an API key that is wrong, has expired, is of other instances, or is not taken here",
        published=False,
    ),
    # State
    Rule.TABLE_EXISTS: Foreign(
        "OTSObjectAlreadyExist",
        409,
        "Requested table already exists.",
        "CreateTable of a table that exists",
    ),
    Rule.TABLE_NOT_FOUND: Foreign(
        "OTSObjectNotExist",
        404,
        "Requested table does not exist.",
        "any action on a table that does not exist",
    ),
    Rule.TABLE_QUOTA: Foreign(
        "OTSQuotaExhausted",
        403,
        "Number of tables exceeds the quota:{limit}.",
        "one table too many",
    ),
    Rule.NOT_ENOUGH_CAPACITY: Foreign(
        "OTSNotEnoughCapacityUnit",
        403,
        "Remaining capacity unit is not enough.",
        "a partition used its part of the reserved throughput, and it is enforced",
    ),
    Rule.THROUGHPUT_CHANGE_RATE: Foreign(
        "OTSTooFrequentReservedThroughputAdjustment",
        403,
        "Capacity unit adjustment is too frequent.",
        "two changes of throughput within two minutes",
    ),
    # Our own capacity
    Rule.SERVER_BUSY: Foreign(
        "OTSServerBusy", 503, "Server is busy.", "as much work in hand as the server allows itself"
    ),
    Rule.CLIENT_GONE: Foreign(
        "OTSServerBusy", 503, "Server is busy.", "a client that closed its side, and waited long"
    ),
    Rule.SERVER_STOPPING: Foreign(
        "OTSServerUnavailable", 503, "Server is not available.", "the server is shutting down"
    ),
}

for _errors in (
    *(INDEX_ERRORS, STREAM_ERRORS, TRANSACTION_ERRORS, TUNNEL_ERRORS),
    *(DELIVERY_ERRORS, SEARCH_ERRORS, SEARCH_LIFE_ERRORS, SEARCH_RESULT_ERRORS),
    SEARCH_QUERY_ERRORS,
):
    _ROWS.update((rule, Foreign(*row)) for rule, row in _errors.items())

FOREIGN: Final[Mapping[Rule, Foreign]] = MappingProxyType(
    {rule: _ROWS[rule] for rule in Rule if rule in _ROWS}
)
"""Every rule, in the order of `Rule`."""

_UNAVAILABLE: Final = "Server is not available."
_BUSY: Final = "Server is busy."

FAILURES: Final[Mapping[type[StorageFailure], FailureAnswer]] = MappingProxyType(
    {
        StorePoisoned: FailureAnswer(
            Foreign("OTSServerUnavailable", 503, _UNAVAILABLE, "a sync or commit failed"),
            "A write to the disk failed, so no more are taken. Look at the disk and the server's "
            "log, then start the server again.",
        ),
        OutcomeUnknown: FailureAnswer(
            Foreign("OTSServerUnavailable", 503, _UNAVAILABLE, "it is not known what a commit did"),
            "It is not known whether the write happened: read the rows before writing them again.",
        ),
        StoreFull: FailureAnswer(
            Foreign("OTSServerBusy", 503, _BUSY, "the disk is full"),
            "The disk is full: make room. Reads go on, and writes do within seconds of it.",
        ),
        StoreBusy: FailureAnswer(
            Foreign("OTSServerBusy", 503, _BUSY, "the store asks for a pause"),
            "The store is catching up with its writes; try again in a moment.",
        ),
        StoreLocked: FailureAnswer(
            Foreign("OTSServerUnavailable", 503, _UNAVAILABLE, "another process holds the store"),
            "Another process holds the store's directory; stop it.",
        ),
        StoreDamaged: FailureAnswer(
            Foreign(
                "OTSServerUnavailable", 503, _UNAVAILABLE, "stored bytes contradict themselves"
            ),
            "Stored bytes are damaged: run widerow doctor, and restore a backup if it says so.",
        ),
        StorageFailure: FailureAnswer(
            Foreign("OTSServerUnavailable", 503, _UNAVAILABLE, "the store failed in another way"),
            "The store failed; the server's log says how.",
        ),
    }
)
"""Failures of the store. A kind that is not listed counts as the nearest above it that is."""

UNEXPECTED: Final = FailureAnswer(
    Foreign("OTSInternalServerError", 500, "Internal server error.", "a defect of widerow"),
    "This is a defect of widerow; please report what the server's log says under the request id.",
)
