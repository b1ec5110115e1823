"""The rules of the dialect that a request can break, with the texts that drivers show.

The value of a rule is the message, with the names of its details in braces. `faults.py` has the
codes.
"""

from collections.abc import Mapping

from widerow.errors import AnyRule, Detail

__all__ = ["NosqlRule"]


class NosqlRule(AnyRule):
    """A rule of the dialect; the value is the text of the error."""

    # Envelope: answered in the older form, as the version is not known yet
    REQUEST_ID = "missing requestId in header"
    BODY_EMPTY = "empty request content"
    SERIAL_VERSION = "Invalid driver serial version {version}, proxy serial version is 5"

    # Frames
    HEADER = "Bad header"
    PATH = "there is nothing at {path}"
    METHOD = "{method} is not answered here"
    OPCODE_UNKNOWN = "unknown opcode: {code}"
    OPCODE_UNSERVED = "Unknown op code: {name}"
    PAYLOAD_MISSING = "Bad protocol: No payload in message"
    NSON = "{text}"
    NUMBER_TEXT = "Invalid decimal number: {text}"
    NUMBER_CHARACTER = (
        "Character {character} is neither a decimal digit number, decimal point, nor "
        '"e" notation exponential mark.'
    )
    MEMBER_MISSING = "Bad protocol: the member {name} is missing"
    MEMBER_TYPE = "Bad protocol: {name} must be of type {type}, but found {found}"
    KEY_TYPE = "PrimaryKey must be of type MAP or ARRAY, but found type {found}"
    AUTHORIZATION_MISSING = "Authorization header is missing"
    AUTHORIZATION_INVALID = "Invalid authorization header {value}"

    # Requests
    TABLE_NAME = "Table name is required"
    TABLE_NOT_FOUND = "Table not found: {table}"
    CONSISTENCY = "Unknown or missing consistency type: {value}"
    MATCH_VERSION = "The value of matchVersion must not be null"
    TTL_TEXT = "No enum constant java.util.concurrent.TimeUnit.{unit}"
    TTL_NUMBER = "Invalid time to live: {text}"
    KEY_EMPTY = "Primary key is empty"
    NOT_NULL = "The field can not be null: {field}"
    ROW_SIZE = "Value size of {size} exceeded the limit of {limit}"
    KEY_SIZE = "Primary key of {size} exceeded the limit of {limit}"
    REQUEST_SIZE = "The size of request exceeded the limit of {limit}: {size}"
    BATCH_COUNT = "The number of operations exceeds the max number of {limit}: {count}"
    BATCH_EMPTY = "WriteMultiple: a request needs at least one operation"
    BATCH_NUMBER = (
        "Bad protocol: WriteMultiple: number of operation elements ({found}) does not equal "
        "expected number of operations ({expected})"
    )
    BATCH_FIRST = "The op field was not first in the operation object, was {name}"
    BATCH_KIND = "Invalid operation for WriteMultipleRequest: {name}"
    BATCH_UNRELATED = (
        "Table '{table}' is not related to table '{first}': All sub requests must operate on the "
        "same table or descendant tables belonging to the same top level table."
    )
    MAX_WRITE_KB = "Invalid maxWriteKB, it can not exceed {limit}: {value}"
    MAX_READ_KB = "Invalid maxReadKB, it can not exceed {limit}: {value}"
    CONTINUATION = "Invalid continuation key"
    RANGE_PATH = "Field does not exist in primary key: {field}"
    RANGE_ORDER = "FieldRange: start value must be less than the end value"

    # Values (nosql-wire §8)
    OVERFLOW = "{type} overflow: {value}"
    LOSES = "Converting {given} to {type} loses information: {value}"
    TEXT_INVALID = "Invalid string for {type}: {value}"
    TYPE_INVALID = "Invalid driver type for {type}: {given}"
    TYPE_MISMATCH = "Type mismatch on input. Expected {type}, got {given}"
    TYPE_RECORD = "Type mismatch on input. Expected MAP or ARRAY, but got {given}"
    TYPE_JSON = "Unsupported type:{code}"
    TYPE_COLLECTION = "Invalid JSON type, {type}, is not allowed in a JSON Collection table"
    BASE64_PADDING = "Invalid string for binary value: {value} is not padded base64 string"
    BASE64_CHARACTER = "Invalid string for binary value: Illegal base64 character {code}"
    BINARY_LENGTH = "Invalid length for FixedBinary array, it must be {expected}, and it is {size}"
    TIMESTAMP_TEXT = (
        "Failed to parse the timestamp string '{value}' with the pattern: "
        "uuuu-MM-dd['T'HH:mm:ss]: {reason}"
    )
    TIMESTAMP_PART = "Invalid {part}, it should be in range from {low} to {high}: {value}"
    TIMESTAMP_DATE = "Invalid timestamp components: Invalid date '{date}'"
    RECORD_ARRAY = (
        "Invalid Array value for Record Type, the number of fields must be {expected}: {found}"
    )
    EXACT_FIELD = "There is no field with name {field}"

    # Tables (nosql-wire §5)
    TABLE_REQUEST = "Table Request must have either statement or limits plus table name"
    CREATE_LIMITS = "Create table requires throughput and capacity"
    ALTER_LIMITS = "Alter table accepts either a statement or limits, but not both"
    LIMITS_READ = "Invalid TableLimits, the read throughput limit must be a value greater than 0"
    LIMITS_WRITE = "Invalid TableLimits, the write throughput limit must be a value greater than 0"
    LIMITS_STORAGE = (
        "Invalid TableLimits, the table storage size limit must be a value greater than 0"
    )
    LIMITS_MODE = "Invalid TableLimits, unknown mode"
    LIMITS_AND_TAGS = "Cannot specify both table limits and tags"
    LIMITS_CHILD = "Cannot set limits on child table: {table}"
    LIMITS_TABLE = "Table does not exist: {table}"
    LIMITS_ONPREM = "Table limit operation is not supported"
    ETAG = "The ETag does not match: the table was changed meanwhile"
    TAGS = "Tags are not supported by widerow"
    NAMESPACE = "Namespaces are not supported"
    NAMESPACE_REQUEST = "Namespaces are created and dropped by system requests"
    QUERY_STATEMENT = "Unsupported query operation {word}"
    OPERATION_ID = "Unable to get status of operation id {id}: no such operation"
    INDEX_FAILED = "Unable to create index {index} of table {table}: {text}"
    INDEX_NOT_FOUND = "Index, {index}, not found in table {table}"
    LIST_START = "Invalid start index, it must be non-negative"
    LIST_LIMIT = "Invalid numTables, it must be non-negative"
    USAGE_TIMES = "The endTime must be greater than startTime"
    USAGE_LIMIT = "The limit must not exceed {limit}: {value}"
    USAGE_ONPREM = "GetTableUsage not supported"
    REPLICA_ADD = "AddReplica is not supported"
    REPLICA_DROP = "DropReplica is not supported"
    REPLICA_STATS = "GetReplicaStats is not supported"
    SYSTEM_CLOUD = "Cloud service cannot accept generic system operations, offset: 2"
    SYSTEM_STATEMENT = "Execute with TableLimits is restricted to DDL operations"
    SYSTEM_PLAN = "SYSTEM_STATUS_REQUEST: Server too busy: Plan id {id} doesn't exist"

    # Queries (nosql-wire §6)
    QUERY_VERSION = "Unsupported query version {version}"
    QUERY_MISSING = "Bad protocol: a query needs a statement or a prepared query"
    QUERY_CONTEXT = "Bad protocol: unknown math context"
    QUERY_PREPARED = "Bad protocol: the prepared query is not one of this server"

    def told(self, details: Mapping[str, Detail]) -> str:
        """The text of the error."""
        return str(self.value).format_map(details)
