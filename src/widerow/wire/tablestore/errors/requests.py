"""What clients are told of tables, rows, bytes of requests and their senders (semantics §18)."""

from typing import Final

from widerow.errors import AnyRule, Rule
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
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.errors.row import Foreign

__all__ = ["REQUEST_ERRORS"]


REQUEST_ERRORS: Final[dict[AnyRule, Foreign]] = {
    # Names (semantics §1.4)
    TablestoreRule.TABLE_NAME: c.INVALID(
        "Invalid table name: '{name}'.", "a table name of other characters, or too long"
    ),
    TablestoreRule.COLUMN_NAME: c.INVALID(
        "Invalid column name: '{name}'.",
        "a key or defined column name of other characters, or too long; any column under `strict`",
    ),
    TablestoreRule.ATTRIBUTE_NAME: c.INVALID(
        "Invalid column name: '{name}'.", "an attribute column name that begins with #, or too long"
    ),
    TablestoreRule.COLUMN_SHADOWS_KEY: c.INVALID(
        "Duplicated attribute column name with primary key column: '{name}'.",
        "an attribute named like a primary key column",
    ),
    # Primary keys (semantics §3)
    TablestoreRule.SEARCH_TABLE_NOT_FOUND: c.INVALID(
        "table [{table}] does not exist", "an action of search indexes on an unknown table"
    ),
    TablestoreRule.KEY_SIZE: c.INVALID_PK(
        "Validate PK size fail. Input: {count}, Meta: {expected}.",
        "another number of key columns than the table has",
    ),
    TablestoreRule.KEY_NAME: c.INVALID_PK(
        "Validate PK name fail. Input: {name}, Meta: {expected}.",
        "another name or order of key columns",
    ),
    TablestoreRule.KEY_TYPE: c.INVALID_PK(
        "Validate PK type fail. Input: {type!v}, Meta: {expected!v}.", "a key value of another type"
    ),
    TablestoreRule.KEY_LENGTH: c.INVALID(
        f"The length of primary key column: '{{column}}' exceeds the "
        f"MaxLength:{KEY_VALUE_BYTES_MAX} with CurrentLength:{{length}}.",
        "a key value that is too long",
    ),
    TablestoreRule.KEY_MARKER: c.INVALID(
        "VT_{marker} is an invalid type for the primary key.", "INF_MIN or INF_MAX outside a range"
    ),
    TablestoreRule.KEY_AUTO_INCREMENT_READ: c.INVALID(
        "PKAutoIncr can't be used for read operations.", "the auto-increment marker in a read"
    ),
    TablestoreRule.KEY_VALUE_MISSING: c.INVALID(
        "No value is given for primary key name:{name}.", "a key cell without a value"
    ),
    TablestoreRule.KEY_OPERATION: c.INVALID(
        "OpType cannot be given for primary key name :{name}.", "a key cell with an operation"
    ),
    TablestoreRule.KEY_VERSION: c.INVALID(
        "Timestamp cannot be given for primary key name:{name}.", "a key cell with a version"
    ),
    # Table definitions (semantics §2.1, §2.4)
    TablestoreRule.KEY_COLUMN_COUNT: c.INVALID(
        f"The number of primary key columns must be in range: [1, {KEY_COLUMNS_MAX}].",
        "no key column, or too many",
    ),
    TablestoreRule.KEY_COLUMN_TYPE: c.INVALID(
        "{type} is an invalid type for the primary key.", "a key column of another type"
    ),
    TablestoreRule.KEY_COLUMN_DUPLICATE: c.INVALID(
        "Duplicated primary key name: '{name}'.", "two key columns of one name"
    ),
    TablestoreRule.AUTO_INCREMENT_TYPE: c.INVALID(
        "AUTO_INCREMENT primary key must be integer.", "an auto-increment column of another type"
    ),
    TablestoreRule.AUTO_INCREMENT_COUNT: c.INVALID(
        "AUTO_INCREMENT primary key count must <= 1.", "several auto-increment columns"
    ),
    TablestoreRule.AUTO_INCREMENT_FIRST: c.INVALID(
        "First primary key can't be auto increment, table: {table}.",
        "an auto-increment partition key",
    ),
    TablestoreRule.DEFINED_COLUMN_COUNT: c.INVALID(
        f"The number of defined columns must be in range: [0, {DEFINED_COLUMNS_MAX}].",
        "too many defined columns",
    ),
    TablestoreRule.DEFINED_COLUMN_TYPE: c.INVALID(
        "Invalid column type: {type}.", "a defined column of an unknown type"
    ),
    TablestoreRule.DEFINED_COLUMN_DUPLICATE: c.INVALID.ours(
        "Duplicated defined column name: '{name}'.", "a defined column named like another column"
    ),
    TablestoreRule.DEFINED_COLUMN_UNKNOWN: c.INVALID(
        "Column does not exist:{name}.", "DeleteDefinedColumn of a column that is not defined"
    ),
    TablestoreRule.DEFINED_COLUMN_MISSING: c.INVALID.ours(
        "No column is specified.", "AddDefinedColumn or DeleteDefinedColumn without columns"
    ),
    TablestoreRule.THROUGHPUT_MISSING: c.INVALID(
        "Both read and write capacity unit are required to create table.",
        "CreateTable without both capacity units",
    ),
    TablestoreRule.THROUGHPUT_READ_NEGATIVE: c.INVALID(
        "The value of read capacity unit can not be less than 0.", "a negative read capacity unit"
    ),
    TablestoreRule.THROUGHPUT_WRITE_NEGATIVE: c.INVALID(
        "The value of write capacity unit can not be less than 0.", "a negative write capacity unit"
    ),
    TablestoreRule.THROUGHPUT_TOO_LARGE: c.INVALID.ours(
        f"The value of capacity unit can not be greater than {CAPACITY_UNITS_MAX}.",
        "a capacity unit above the limit",
    ),
    TablestoreRule.THROUGHPUT_UPDATE: c.INVALID(
        "Invalid Capacity Unit for UpdateTable: Either read({read}) or write({write}) should be "
        "non-negative.",
        "UpdateTable with neither capacity unit",
    ),
    TablestoreRule.TIME_TO_LIVE_MISSING: c.INVALID(
        "Time-to-live is missing while creating table.", "CreateTable without time_to_live"
    ),
    TablestoreRule.MAX_VERSIONS_MISSING: c.INVALID(
        "MaxVersions is missing while creating table.", "CreateTable without max_versions"
    ),
    TablestoreRule.TIME_TO_LIVE_VALUE: c.INVALID(
        "TimeToLive cannot be 0 or less than -1.", "time_to_live of 0 or below -1"
    ),
    TablestoreRule.MAX_VERSIONS_VALUE: c.INVALID(
        "The maximum versions cannot be less than or equal to 0.", "max_versions of 0 or below"
    ),
    TablestoreRule.MAX_VERSION_OFFSET: c.INVALID(
        "The maximum deviation must be in range [0, INT64_MAX/1000000].",
        "a version offset outside its range",
    ),
    TablestoreRule.TABLE_OPTIONS_EMPTY: c.INVALID(
        "No parameter is specified in table options.", "UpdateTable with empty options"
    ),
    TablestoreRule.TABLE_UPDATE_EMPTY: c.INVALID.ours(
        "No parameter is specified in UpdateTable.", "UpdateTable that changes nothing"
    ),
    TablestoreRule.UPDATE_FULL_ROW_FIXED: c.INVALID.ours(
        "Table options of UpdateTable cannot contain updateFullRow.",
        "UpdateTable with update_full_row",
    ),
    TablestoreRule.SPLIT_COUNT: c.INVALID(
        f"The count of partitions cannot be greater than {PARTITIONS_MAX}",
        "a pre-split into too many ranges",
    ),
    TablestoreRule.SPLIT_INFINITE: c.INVALID(
        "The value of partition range can not be INT64_MIN or INT64_MAX.",
        "an infinite or extreme inner bound of the pre-split",
    ),
    TablestoreRule.SPLIT_EMPTY_STRING: c.INVALID(
        "The value of partition range can not be empty string.", "an empty STRING bound"
    ),
    TablestoreRule.SPLIT_EMPTY_BINARY: c.INVALID(
        "The value of partition range can not be empty binary.", "an empty BINARY bound"
    ),
    TablestoreRule.SPLIT_TYPE: c.INVALID(
        "The value type of partition does not match with primary key.",
        "a bound of another type than the partition key",
    ),
    TablestoreRule.SPLIT_LENGTH: c.INVALID(
        f"The value of partition range exceeds the MaxLength:{SPLIT_BYTES_MAX} with "
        f"CurrentLength:{{length}}.",
        "a bound that is too long",
    ),
    TablestoreRule.SPLIT_CONTIGUOUS: c.INVALID.ours(
        "The partition ranges must be contiguous from INF_MIN to INF_MAX.",
        "ranges with gaps, overlaps or open ends",
    ),
    TablestoreRule.STREAM_EXPIRATION: c.INVALID.ours(
        f"The expiration time of stream must be in range [1, {STREAM_HOURS_MAX}].",
        "stream hours outside their range",
    ),
    # Cells (semantics §1.3, §4)
    TablestoreRule.VALUE_LENGTH: c.INVALID(
        f"The length of attribute column: '{{column}}' exceeds the MaxLength:{VALUE_BYTES_MAX} "
        f"with CurrentLength:{{length}}.",
        "an attribute value or filter constant that is too long",
    ),
    TablestoreRule.VALUE_TEXT: c.INVALID(
        "Value of column {column} must be UTF8 encoding.", "a STRING that is not UTF-8"
    ),
    TablestoreRule.VALUE_NAN: c.INVALID(
        "NaN can't be set to double value.", "a DOUBLE that is not a number"
    ),
    TablestoreRule.VALUE_INFINITY: c.INVALID(
        "Infinity can't be set to double value.", "a DOUBLE that is infinite"
    ),
    TablestoreRule.VALUE_MISSING: c.INVALID(
        "No value is given for column name.", "a cell without a value"
    ),
    TablestoreRule.VALUE_TYPE: c.INVALID(
        "data format is invalid, unknown variant type occured.", "a value of an unknown type"
    ),
    TablestoreRule.VALUE_ON_DELETE: c.INVALID(
        "Column value cannot be given when type is DELETE_ONE_VERSION,DELETE_ALL_VERSION.",
        "a value in a cell that deletes",
    ),
    TablestoreRule.VERSION_RANGE: c.INVALID(
        "Timestamp must be in range [0, INT64_MAX/1000).", "a version or time outside its range"
    ),
    TablestoreRule.VERSION_WINDOW: c.INVALID(
        "Invalid timestamp. Cell:{column}. Timestamp:{version}. "
        "MinTimestamp:{minimum}. MaxTimestamp:{maximum}.",
        "a version too far from now, or expired",
    ),
    TablestoreRule.VERSION_MISSING: c.INVALID(
        "Timestamp must be given when type is DELETE_ONE_VERSION.",
        "DELETE_ONE_VERSION without a version",
    ),
    TablestoreRule.VERSION_ON_DELETE_ALL: c.INVALID(
        "Timestamp cannot be given when type is DELETE_ALL_VERSION.",
        "DELETE_ALL_VERSION with a version",
    ),
    TablestoreRule.VERSION_ON_INCREMENT: c.INVALID.ours(
        "Timestamp cannot be given when type is INCREMENT.", "INCREMENT with a version"
    ),
    TablestoreRule.OPERATION_IN_PUT: c.INVALID(
        "OpType cannot be given for column name: {name} in PutRow.",
        "a cell with an operation in PutRow",
    ),
    TablestoreRule.OPERATION_UNKNOWN: c.INVALID(
        "Invalid op type of cell: {operation}.", "an unknown operation of a cell"
    ),
    TablestoreRule.COLUMN_COUNT: c.INVALID(
        "The number of attribute columns exceeds the limit, limit count: "
        f"{CELLS_PER_CHANGE_MAX}, column count: {{count}}.",
        "a row change of too many cells",
    ),
    TablestoreRule.COLUMN_SIZE: c.OUT_OF_ROW_SIZE_LIMIT(
        "The total data size of columns in one row exceeded the limit.",
        "versions of one column of one row above 32 MB, ours",
    ),
    TablestoreRule.DELETE_MARKER_IN_WRITE: c.INVALID(
        "Invalid request of put/update row: unexpected RowDeleteMarker in request.",
        "a delete marker outside DeleteRow",
    ),
    TablestoreRule.DELETE_WITH_CELLS: c.INVALID(
        "Invalid delete row request: unexpected cells in request", "DeleteRow with cells"
    ),
    TablestoreRule.UPDATE_WITHOUT_CELLS: c.INVALID(
        "Attribute column is missing.", "UpdateRow without cells"
    ),
    TablestoreRule.UPDATE_NOT_ALLOWED: c.INVALID(
        "Update operation is not allowed in this table",
        "UpdateRow on a table with allow_update=false",
    ),
    TablestoreRule.INCREMENT_OPERAND: c.INVALID.ours(
        "The value of INCREMENT must be integer, column name: {column}.",
        "an increment by another type",
    ),
    TablestoreRule.INCREMENT_TYPE: c.INVALID.ours(
        "INCREMENT requires an integer column, column name: {column}.",
        "an increment of a column of another type",
    ),
    TablestoreRule.INCREMENT_OVERFLOW: c.INVALID.ours(
        "INCREMENT exceeds the range of integer, column name: {column}.",
        "an increment past 64 bits",
    ),
    TablestoreRule.INCREMENT_COMBINED: c.INVALID.ours(
        "INCREMENT cannot be combined with other operations on column: {column}.",
        "an increment and another operation on one column",
    ),
    TablestoreRule.RETURN_TYPE: c.INVALID(
        "Invalid return type: {value}.", "an unknown return type"
    ),
    TablestoreRule.RETURN_COLUMNS: c.INVALID.ours(
        "Invalid return column: '{column}'.", "a return column that the request does not increment"
    ),
    # Auto-increment writes (semantics §4.7)
    TablestoreRule.AUTO_INCREMENT_EXPECTATION: c.INVALID(
        "Invalid expect:{expectation} when modify row with pk auto increment",
        "a new auto-increment row with an expectation",
    ),
    TablestoreRule.AUTO_INCREMENT_CONDITION: c.INVALID(
        "Can't set condition when modify row with pk auto increment",
        "a new auto-increment row with a column condition",
    ),
    TablestoreRule.AUTO_INCREMENT_DELETE: c.INVALID(
        "Invalid row to delete which with pk auto increment",
        "a delete with the auto-increment marker",
    ),
    TablestoreRule.AUTO_INCREMENT_SPECIFIC: c.INVALID(
        "Invalid expect: {expectation} when modify a specific row for table with pk auto increment",
        "EXPECT_NOT_EXIST with a concrete key of an auto-increment table",
    ),
    TablestoreRule.AUTO_INCREMENT_MARKER: c.INVALID.ours(
        "VT_AUTO_INCREMENT is an invalid type for the primary key.",
        "the auto-increment marker in another column",
    ),
    TablestoreRule.AUTO_INCREMENT_EXHAUSTED: c.INVALID.ours(
        "AUTO_INCREMENT primary key is exhausted, table: {table}.",
        "no larger 64-bit value under this partition key",
    ),
    # Conditions and filters (semantics §4.1, §5.3)
    TablestoreRule.ROW_EXISTS: c.CONDITION_CHECK_FAIL(
        "Row exists which is expected nonexistent", "EXPECT_NOT_EXIST, and the row exists"
    ),
    TablestoreRule.ROW_ABSENT: c.CONDITION_CHECK_FAIL(
        "Row does not exist which is expected existent", "EXPECT_EXIST, and the row does not exist"
    ),
    TablestoreRule.CONDITION_FAILED: c.CONDITION_CHECK_FAIL(
        "Condition check failed.", "a column condition that does not hold"
    ),
    TablestoreRule.ROW_EXPECTATION: c.INVALID(
        "Invalid row-existence expectation: {value}.", "an unknown row expectation"
    ),
    TablestoreRule.FILTER_DECODE: c.INVALID(
        "Deserialize filter failed.", "bytes that are not a Filter"
    ),
    TablestoreRule.FILTER_RELATION_DECODE: c.INVALID(
        "Deserialize relation filter failed.", "bytes that are not a SingleColumnValueFilter"
    ),
    TablestoreRule.FILTER_COMPOSITE_DECODE: c.INVALID(
        "Deserialize composite filter failed.", "bytes that are not a CompositeColumnValueFilter"
    ),
    TablestoreRule.FILTER_PAGINATION_DECODE: c.INVALID(
        "Deserialize column pagination filter failed.", "bytes that are no ColumnPaginationFilter"
    ),
    TablestoreRule.FILTER_TYPE: c.INVALID(
        "Invalid type of filter: {type}.", "an unknown type of filter"
    ),
    TablestoreRule.FILTER_COMPARATOR: c.INVALID(
        "Invalid relation operator: {comparator}.", "an unknown comparator"
    ),
    TablestoreRule.FILTER_COUNT: c.INVALID(
        f"The count of filter exceeds the max: {FILTER_NODES_MAX}.", "a filter of too many nodes"
    ),
    TablestoreRule.FILTER_NOT_ARITY: c.INVALID(
        "Invalid NOT operator: the number of sub-filters must be 1.",
        "NOT with another number of sub-filters",
    ),
    TablestoreRule.FILTER_LOGIC_ARITY: c.INVALID(
        "Invalid AND/OR operator: the number of sub-filters must be more than 1.",
        "AND or OR with fewer than two sub-filters",
    ),
    TablestoreRule.FILTER_PAGINATION_OFFSET: c.INVALID(
        "Offset in ColumnPaginationFilter must be greater than or equal to 0.",
        "a negative pagination offset",
    ),
    TablestoreRule.FILTER_PAGINATION_LIMIT: c.INVALID(
        "Limit in ColumnPaginationFilter must be greater than 0.",
        "a pagination limit of 0 or below",
    ),
    TablestoreRule.FILTER_PAGINATION_PLACE: c.INVALID(
        "Invalid type of sub-filter: FT_COLUMN_PAGINATION.",
        "pagination in a condition or composite",
    ),
    TablestoreRule.FILTER_REGEX: c.INVALID.ours(
        "Invalid regex of ValueTransferRule.",
        "a regular expression that does not compile, or is too long",
    ),
    # Reads (semantics §5)
    TablestoreRule.VERSION_CONDITION_MISSING: c.INVALID(
        "No version condition is specified.", "GetRow or GetRange without versions or times"
    ),
    TablestoreRule.VERSION_CONDITION_MISSING_IN_BATCH: c.INVALID(
        "No version condition is specified while querying row.",
        "BatchGetRow without versions or times",
    ),
    TablestoreRule.READ_MAX_VERSIONS: c.INVALID(
        "Invalid max versions: {value} . Reason: Max versions must be positive.",
        "max_versions of 0 or below",
    ),
    TablestoreRule.TIME_RANGE_INCOMPLETE: c.INVALID(
        "Start and end time must be given at the same time.", "a time range with one end"
    ),
    TablestoreRule.TIME_RANGE_ORDER: c.INVALID.ours(
        "Start time cannot be greater than end time.", "a time range that ends before it starts"
    ),
    TablestoreRule.TIME_SPECIFIC_AND_RANGE: c.INVALID(
        "Specific tiemstamp and time range cannot be given at the same time.",
        "a specific time and a range",
    ),
    TablestoreRule.TIME_SPECIFIC_AND_VERSIONS: c.INVALID(
        "Specific tiemstamp and max versions cannot be given at the same time.",
        "a specific time and max_versions",
    ),
    TablestoreRule.TIME_SPECIFIC_NEGATIVE: c.INVALID(
        "Specific timestamp cannot be less than 0.", "a negative specific time"
    ),
    TablestoreRule.READ_COLUMN_COUNT: c.INVALID(
        "The number of columns from the request exceeds the limit, limit count: "
        f"{READ_COLUMNS_MAX}, column count: {{count}}.",
        "a read of too many columns",
    ),
    TablestoreRule.READ_WITH_CELLS: c.INVALID(
        "Attribute column cannot be given while reading data.", "attribute cells in a read's key"
    ),
    TablestoreRule.READ_DELETE_MARKER: c.INVALID(
        "Delete marker cannot be given.", "a delete marker in a read's key"
    ),
    TablestoreRule.RANGE_FORWARD_ORDER: c.INVALID(
        "Begin key must less than end key in FORWARD",
        "a forward range whose start is not below its end",
    ),
    TablestoreRule.RANGE_BACKWARD_ORDER: c.INVALID(
        "Begin key must more than end key in BACKWARD",
        "a backward range whose start is not above its end",
    ),
    TablestoreRule.RANGE_DIRECTION: c.INVALID.ours(
        "Invalid direction: {value}.", "an unknown direction"
    ),
    TablestoreRule.RANGE_LIMIT: c.INVALID(
        "The limit must be greater than 0.", "a limit of 0 or below"
    ),
    TablestoreRule.READ_TOKEN: c.INVALID.ours(
        "Invalid token.", "a continuation token that the server did not give out"
    ),
    # Split points (semantics §6)
    TablestoreRule.SPLIT_SIZE: c.INVALID(
        "The split_size should be greater than 0.", "ComputeSplitPointsBySize without a size"
    ),
    TablestoreRule.SPLIT_SIZE_UNIT: c.INVALID(
        f"The split_size_unit_in_byte should be greater equal than: {SPLIT_UNIT_BYTES_MIN}",
        "ComputeSplitPointsBySize in a smaller unit",
    ),
    TablestoreRule.SPLIT_POINT_LIMIT: c.INVALID.ours(
        "The split_point_limit should be greater than 0.", "ComputeSplitPointsBySize of no points"
    ),
    TablestoreRule.TRANSACTION_ID: c.INVALID(
        "TransactionID is invalid.", "a transaction id that the server did not give out"
    ),
    # Batches (semantics §4.8, §5.5)
    TablestoreRule.BATCH_GET_EMPTY: c.INVALID(
        "No row specified in the request of BatchGetRow.", "BatchGetRow without tables"
    ),
    TablestoreRule.BATCH_GET_COUNT: c.INVALID(
        f"Rows count exceeds the upper limit: {BATCH_GET_ROWS_MAX}.", "BatchGetRow of too many rows"
    ),
    TablestoreRule.BATCH_GET_SIZE: c.INVALID.ours(
        "The total data size of BatchGetRow response exceeds the limit, limit size: {limit}.",
        "a wide row of a BatchGetRow whose answer is full",
    ),
    TablestoreRule.EXPORT_COLUMNS_MISSING: c.INVALID(
        "DBT_SIMPLE_ROW_MATRIX need at least one column to get.",
        "BulkExport of a row matrix without columns",
    ),
    TablestoreRule.EXPORT_ROW_SIZE: c.INVALID.ours(
        "The row is too large for BulkExport.", "BulkExport of a row that one answer cannot hold"
    ),
    TablestoreRule.EXPORT_BLOCK_TYPE: c.INVALID.ours(
        "Invalid data block type: {value}.", "BulkExport in a form that there is not"
    ),
    TablestoreRule.BATCH_WRITE_EMPTY: c.INVALID(
        "No row is specified in BatchWriteRow.", "BatchWriteRow without tables"
    ),
    TablestoreRule.BATCH_WRITE_TABLE_EMPTY: c.INVALID(
        "No operation is specified for table: '{table}'.", "BatchWriteRow with a table without rows"
    ),
    TablestoreRule.BATCH_WRITE_COUNT: c.INVALID(
        f"Rows count exceeds the upper limit: {BATCH_WRITE_ROWS_MAX}.",
        "BatchWriteRow of too many rows",
    ),
    TablestoreRule.DECLARED_TYPE: c.INVALID(
        "Invalid column type for column {column} expect {expected!v} actual {type!v}",
        "BulkImport of a value of another type than the defined column's",
    ),
    TablestoreRule.BATCH_WRITE_SIZE: c.INVALID(
        "The total data size of BatchWriteRow request exceeds the limit, limit size: "
        f"{BATCH_WRITE_BYTES_MAX}, data size: {{size}}.",
        "BatchWriteRow of too much data",
    ),
    TablestoreRule.BATCH_WRITE_TYPE: c.INVALID(
        "The type of row in batch write operation is invalid.", "an unknown kind of row change"
    ),
    TablestoreRule.BATCH_REPEATED_EXPECTATION: c.INVALID(
        "Repeated rows do not support row exist expectation check in BatchModify.",
        "a repeated row with an expectation",
    ),
    TablestoreRule.BATCH_REPEATED_CONDITION: c.INVALID(
        "Repeated rows do not support row condition check in BatchModify.",
        "a repeated row with a column condition",
    ),
    TablestoreRule.BATCH_ATOMIC_SCOPE: c.DATA_OUT_OF_RANGE(
        "Data out of scope of atomic. Atomic PartKey:{atomic}. Data PartKey:{data}",
        "an atomic batch over several partition keys",
    ),
    # Bytes on the wire (wire §1.2, §1.7, §2; semantics §18.1)
    TablestoreRule.BODY_UNREADABLE: c.INVALID(
        "Failed to parse the ProtoBuf message.", "a body that is not the action's message"
    ),
    TablestoreRule.REQUEST_ELEMENTS: c.INVALID.ours(
        "The number of elements of {field} in the request exceeds the limit, limit count: {limit}.",
        "a field that is repeated far more often than any request needs",
    ),
    TablestoreRule.ROW_ENCODING: c.INVALID(
        "{message}", "bytes that are not PlainBuffer; the text says where they break"
    ),
    TablestoreRule.ROW_CHECKSUM: c.INVALID(
        "Cell data broken, checksum is mismatch, {user} :{service} :",
        "a checksum that does not fit",
    ),
    Rule.BODY_TOO_LARGE: c.REQUEST_BODY_TOO_LARGE(
        "The size of POST data is too large.", "a body above the limit"
    ),
    TablestoreRule.BODY_COMPRESSION: c.INVALID(
        "Cannot deserialize the request data.",
        "a compressed body that does not inflate as announced",
    ),
    Rule.BODY_TIMEOUT: c.REQUEST_TIMEOUT(
        "Request timeout.", "a body that takes too long to arrive"
    ),
    Rule.HTTP_METHOD: c.METHOD_NOT_ALLOWED(
        "Only POST method for requests is supported.", "another method than POST"
    ),
    Rule.HTTP_MALFORMED: c.INVALID.ours(
        "The HTTP request is malformed.", "bytes that are not an HTTP/1.1 request"
    ),
    Rule.HTTP_HEADERS_TOO_LARGE: c.HEADERS_TOO_LARGE.ours(
        "The size of HTTP headers is too large.", "too many headers, or too long"
    ),
    TablestoreRule.ACTION_UNKNOWN: c.UNSUPPORT_OPERATION(
        "Unsupported operation: '{action}'.", "a path that is not an action of the protocol"
    ),
    TablestoreRule.ACTION_UNSUPPORTED: c.UNSUPPORT_OPERATION(
        "Unsupported operation: '{action}'.",
        "an action of the protocol that widerow does not offer",
    ),
    TablestoreRule.FEATURE_UNSUPPORTED: c.UNSUPPORT_OPERATION.ours(
        "Unsupported feature: {feature}.", "a field whose feature widerow does not offer"
    ),
    # Identity (wire §1.2-1.4)
    TablestoreRule.HEADER_MISSING: c.MISSING_HEADER(
        "Missing header: '{name}'.", "a mandatory header is absent"
    ),
    Rule.HEADER_DUPLICATE: c.INVALID.ours("Duplicated header: '{name}'.", "a header given twice"),
    TablestoreRule.DATE_FORMAT: c.INVALID("Invalid date format: {date}.", "a date in another form"),
    TablestoreRule.API_VERSION_OLD: c.UNSUPPORT_OPERATION.ours(
        "The protocol of API version {version} is not served, only that of 2015-12-31 and later: "
        "use a newer SDK, or set newVersion to true (DataX).",
        "a date as protocols before 2015-12-31 write it, from a client of one",
    ),
    TablestoreRule.DATE_SKEW: c.AUTH_FAILED(
        "Mismatch between system time and x-ots-date: {date}.", "a date too far from the server's"
    ),
    Rule.ACCESS_KEY_UNKNOWN: c.AUTH_FAILED(
        "The AccessKeyID does not exist.", "an unknown access key"
    ),
    Rule.SIGNATURE_MISMATCH: c.AUTH_FAILED(
        "Signature mismatch.", "a signature made with another secret or of other headers"
    ),
    TablestoreRule.BODY_DIGEST: c.AUTH_FAILED(
        "Mismatch between MD5 value of request body and x-ots-contentmd5 in header.",
        "a body that is not what was signed",
    ),
    Rule.INSTANCE_NAME: c.INVALID(
        "Invalid instance name: '{name}'.", "an instance name of other characters"
    ),
    Rule.INSTANCE_UNKNOWN: c.AUTH_FAILED(
        "The instance is not found.", "an instance that is not on the server's list"
    ),
    Rule.INSTANCE_FORBIDDEN: c.AUTH_FAILED(
        "The user has no privilege to access the instance.",
        "an access key limited to other instances",
    ),
    Rule.PERMISSION_MISSING: c.NO_PERMISSION_ACCESS(
        "You have no permission to access the requested resource, please contact the resource "
        "owner",
        "an access key without the permission",
    ),
    TablestoreRule.SECURITY_TOKEN: c.AUTH_FAILED.ours(
        "The security token is invalid.", "another security token than the key's"
    ),
    TablestoreRule.SECURITY_TOKEN_EXPIRED: c.AUTH_FAILED.ours(
        "The security token is expired.", "a temporary key that has ended"
    ),
    Rule.API_KEY: c.AUTH_FAILED.ours(
        "The API key is invalid.",
        "an API key that is wrong, has expired, is of other instances, or is not taken here",
    ),
    Rule.HOST_FOREIGN: c.AUTH_FAILED.ours(
        "The host of the request is not this machine.",
        "a foreign `host`, at a server on a loopback address with the default key",
    ),
    # State
    TablestoreRule.TABLE_EXISTS: c.OBJECT_ALREADY_EXIST(
        "Requested table already exists.", "CreateTable of a table that exists"
    ),
    Rule.TABLE_NOT_FOUND: c.OBJECT_NOT_EXIST(
        "Requested table does not exist.", "any action on a table that does not exist"
    ),
    TablestoreRule.TABLE_QUOTA: c.QUOTA_EXHAUSTED(
        "Number of tables exceeds the quota:{limit}.", "one table too many"
    ),
    Rule.STORED_KEY_LENGTH: c.INVALID.ours(
        "The key is stored with {length} bytes, and the store holds keys of {limit} bytes at most.",
        "a row, or its entry in an index, with a longer key than the server's database holds",
    ),
    Rule.NOT_ENOUGH_CAPACITY: c.NOT_ENOUGH_CAPACITY_UNIT(
        "Remaining capacity unit is not enough.",
        "a partition used its part of the reserved throughput, and it is enforced",
    ),
    TablestoreRule.THROUGHPUT_CHANGE_RATE: c.TOO_FREQUENT_ADJUSTMENT(
        "Capacity unit adjustment is too frequent.", "two changes of throughput within two minutes"
    ),
    # Our own capacity
    Rule.SERVER_BUSY: c.SERVER_BUSY(
        "Server is busy.", "as much work in hand as the server allows itself"
    ),
    Rule.CLIENT_GONE: c.SERVER_BUSY(
        "Server is busy.", "a client that closed its side, and waited long"
    ),
    Rule.SERVER_STOPPING: c.SERVER_UNAVAILABLE(
        "Server is not available.", "the server is shutting down"
    ),
}
