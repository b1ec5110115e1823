"""The rules of Tablestore's model that a request can break.

Rules that hold for every table model are `errors.Rule`. The codes and texts that clients are told
belong to the dialect (`wire/tablestore/errors`).
"""

from widerow.errors import AnyRule

__all__ = ["TablestoreRule"]


class TablestoreRule(AnyRule):
    """A rule a request can break. The value says what to do about it, and is sent as a hint."""

    # Names (semantics §1.4)
    TABLE_NAME = "Table names are 1 to 255 of A-Z a-z 0-9 _ and do not start with a digit."
    COLUMN_NAME = (
        "Primary key and defined columns, and with --column-names strict all columns, are named "
        "with 1 to 255 of A-Z a-z 0-9 _ and do not start with a digit."
    )
    ATTRIBUTE_NAME = "Attribute columns are named with 1 to 255 bytes that do not begin with #."
    COLUMN_SHADOWS_KEY = "Rename the attribute: a primary key column already has this name."

    # Search indexes (search §1.1)
    SEARCH_TABLE_NOT_FOUND = "Create the table first, or check its name and the instance."

    # Primary keys (semantics §3)
    KEY_SIZE = "Give one value for every primary key column of the table, in its order."
    KEY_NAME = "Name the primary key columns as the table does, in the same order."
    KEY_TYPE = "Use the type that the table declares for this primary key column."
    KEY_LENGTH = "Shorten the value: a primary key value holds at most 1024 bytes."
    KEY_MARKER = "INF_MIN and INF_MAX exist in ranges only; use a concrete value here."
    KEY_AUTO_INCREMENT_READ = "Read with the concrete value that the write returned."
    KEY_VALUE_MISSING = "Give the primary key column a value."
    KEY_OPERATION = "Remove the operation: primary key cells carry a name and a value only."
    KEY_VERSION = "Remove the timestamp: primary key cells have no version."

    # Table definitions (semantics §2.1)
    KEY_COLUMN_COUNT = "A primary key has between one and four columns."
    KEY_COLUMN_TYPE = "Primary key columns are INTEGER, STRING or BINARY."
    KEY_COLUMN_DUPLICATE = "Give every primary key column a name of its own."
    AUTO_INCREMENT_TYPE = "Declare the auto-increment column as INTEGER."
    AUTO_INCREMENT_COUNT = "Declare at most one auto-increment column."
    AUTO_INCREMENT_FIRST = "The partition key cannot be auto-increment; move the column."
    DEFINED_COLUMN_COUNT = "Declare at most 32 defined columns."
    DEFINED_COLUMN_TYPE = "Define columns as INTEGER, DOUBLE, BOOLEAN, STRING or BLOB."
    DEFINED_COLUMN_DUPLICATE = (
        "Give every defined column a name that nothing else in the table has."
    )
    DEFINED_COLUMN_UNKNOWN = "Name defined columns of the table; DescribeTable lists them."
    DEFINED_COLUMN_MISSING = "Name at least one column."
    THROUGHPUT_MISSING = "Set both the read and the write capacity unit."
    THROUGHPUT_READ_NEGATIVE = "Set the read capacity unit to 0 or more."
    THROUGHPUT_WRITE_NEGATIVE = "Set the write capacity unit to 0 or more."
    THROUGHPUT_TOO_LARGE = "Reserve at most 100000 capacity units."
    THROUGHPUT_UPDATE = "Give a non-negative read or write capacity unit, or leave both out."
    TIME_TO_LIVE_MISSING = "Set time_to_live; -1 keeps data for ever."
    MAX_VERSIONS_MISSING = "Set max_versions; 1 keeps the latest version only."
    TIME_TO_LIVE_VALUE = "Use -1 (never expires) or a positive number of seconds."
    MAX_VERSIONS_VALUE = "Keep at least one version."
    MAX_VERSION_OFFSET = "Use 0 to INT64_MAX/1000000 seconds."
    TABLE_OPTIONS_EMPTY = "Set at least one of the table options, or leave the message out."
    TABLE_UPDATE_EMPTY = "Give the throughput, the options or the stream specification to change."
    UPDATE_FULL_ROW_FIXED = "update_full_row is chosen when the table is created."
    SPLIT_COUNT = "Pre-split into at most ten partitions."
    SPLIT_INFINITE = "Bounds inside the table are concrete; use INF_MIN and INF_MAX at its ends."
    SPLIT_EMPTY_STRING = "Use a non-empty bound."
    SPLIT_EMPTY_BINARY = "Use a bound of one byte or more."
    SPLIT_TYPE = "Use bounds of the partition key's type."
    SPLIT_LENGTH = "Use bounds of at most 64 bytes."
    SPLIT_CONTIGUOUS = "The ranges must touch, in order, from INF_MIN to INF_MAX."
    STREAM_EXPIRATION = "Keep stream records between 1 and 168 hours."

    # Streams (change §C1)
    SHARD_LIMIT = "Ask for 1 to 100 shards."

    # Secondary indexes (change §A)
    INDEX_KEY_COUNT = "List between one and four columns as the key of an index."
    INDEX_COLUMN_COUNT = "Cover at most 32 columns by an index."
    INDEX_COUNT = "A table has at most five indexes: drop one first."
    INDEX_COLUMN_UNKNOWN = (
        "List primary key columns and defined columns of the table, and cover defined columns only."
    )
    INDEX_COLUMN_DUPLICATE = "Name every column once: list it, or cover it."
    INDEX_KEY_TYPE = "List columns that are defined as STRING, INTEGER or BINARY."
    INDEX_AUTO_INCREMENT_FIRST = (
        "List another column first: the auto-increment one spreads no rows."
    )
    INDEX_LOCAL_FIRST = "A local index begins with the table's partition key: list it first."
    INDEX_TYPE = "Ask for a global asynchronous index (0, 0) or a local synchronous one (1, 1)."
    INDEX_OPTIONS = (
        "A table with indexes keeps one version, and its rows expire only with allow_update=false "
        "or update_full_row=true."
    )
    TABLE_HAS_INDEXES = (
        "Drop the table's indexes first (DropIndex), or start the server without "
        "--keep-indexed-tables."
    )
    INDEX_IS_NO_TABLE = "This is an index: name its table. DropIndex removes it."
    INDEX_WRITE = "Write the table: its indexes follow by themselves."
    INDEX_VALUE_TYPE = "Write the type that the column is defined as: an index uses the column."
    INDEX_VERSION = "Leave the version out: the table has indexes."
    INDEX_COLUMN_USED = "Drop the index first."
    INDEX_BUILDING_GLOBAL = "The index is being built from the rows there are: try again later."
    INDEX_BUILDING_LOCAL = (
        "The local index is being built from the rows there are: try again later."
    )

    # Cells (semantics §1.3, §4)
    VALUE_LENGTH = "Split the value: one attribute value holds at most 2 MB."
    VALUE_TEXT = "Encode STRING values as UTF-8, or store the bytes as BINARY."
    VALUE_NAN = "Store NaN as a missing column or a STRING."
    VALUE_INFINITY = "Store infinities as a missing column or a STRING."
    VALUE_MISSING = "Give the column a value."
    VALUE_TYPE = "Use INTEGER, DOUBLE, BOOLEAN, STRING or BINARY."
    VALUE_ON_DELETE = "Remove the value: a delete names the column (and version) only."
    VERSION_RANGE = "Versions are milliseconds since 1970, from 0 up to INT64_MAX/1000."
    VERSION_WINDOW = (
        "Write versions within max_version_offset of now and not older than time_to_live, "
        "or leave the version out."
    )
    VERSION_MISSING = "Name the version that DELETE_ONE_VERSION removes."
    VERSION_ON_DELETE_ALL = "Remove the timestamp: DELETE_ALL_VERSION removes every version."
    VERSION_ON_INCREMENT = (
        "Remove the timestamp: an increment is stored under the server's version."
    )
    OPERATION_IN_PUT = "PutRow replaces the row: its cells carry no operation."
    OPERATION_UNKNOWN = "Use put, delete one version, delete all versions or increment."
    COLUMN_COUNT = "Split the request: one row change carries at most 1024 attribute cells."
    COLUMN_SIZE = "Keep fewer versions (max_versions), or spread them over more columns or rows."
    DELETE_MARKER_IN_WRITE = "Send the delete marker with DeleteRow only."
    DELETE_WITH_CELLS = "DeleteRow removes the whole row; use UpdateRow to delete columns."
    UPDATE_WITHOUT_CELLS = "Name at least one column to change."
    UPDATE_NOT_ALLOWED = "The table was set to allow_update=false; use PutRow."
    INCREMENT_OPERAND = "Increment by an INTEGER."
    INCREMENT_TYPE = "Increment INTEGER columns only; put the column first to change its type."
    INCREMENT_OVERFLOW = "The sum leaves the range of a 64-bit INTEGER."
    INCREMENT_COMBINED = "Do not combine an increment with another operation on its column."
    RETURN_TYPE = "Use RT_NONE, RT_PK or RT_AFTER_MODIFY."
    RETURN_COLUMNS = "RT_AFTER_MODIFY returns columns that this request increments."

    # Auto-increment writes (semantics §4.7)
    AUTO_INCREMENT_EXPECTATION = "Write new rows of this table with the IGNORE expectation."
    AUTO_INCREMENT_CONDITION = "Remove the column condition: the row does not exist yet."
    AUTO_INCREMENT_DELETE = "Delete by the concrete value that the write returned."
    AUTO_INCREMENT_SPECIFIC = "Address an existing row with IGNORE or EXPECT_EXIST."
    AUTO_INCREMENT_MARKER = "Only the table's auto-increment column takes the marker."
    AUTO_INCREMENT_EXHAUSTED = "The partition key value has used every 64-bit sequence number."

    # Conditions and filters (semantics §4.1, §5.3)
    ROW_EXISTS = "The row is there already; read it, or write without EXPECT_NOT_EXIST."
    ROW_ABSENT = "There is no such row; write without EXPECT_EXIST to make it."
    CONDITION_FAILED = "The row is not in the state that the condition asks for; read it again."
    ROW_EXPECTATION = "Use IGNORE, EXPECT_EXIST or EXPECT_NOT_EXIST."
    FILTER_DECODE = "Send the filter as a serialized Filter message."
    FILTER_RELATION_DECODE = "Send comparator, column name and value of the single-column filter."
    FILTER_COMPOSITE_DECODE = "Send combinator and sub-filters of the composite filter."
    FILTER_PAGINATION_DECODE = "Send offset and limit of the pagination filter."
    FILTER_TYPE = "Use a single-column, composite or pagination filter."
    FILTER_COMPARATOR = "Use one of the eight comparators."
    FILTER_COUNT = "Simplify the filter: at most 32 nodes, composites included."
    FILTER_NOT_ARITY = "NOT takes exactly one sub-filter."
    FILTER_LOGIC_ARITY = "AND and OR take two or more sub-filters."
    FILTER_PAGINATION_OFFSET = "Use an offset of 0 or more."
    FILTER_PAGINATION_LIMIT = "Use a limit of 1 or more."
    FILTER_PAGINATION_PLACE = (
        "Pagination is a read filter of its own: not in conditions, not nested."
    )
    FILTER_REGEX = "Use a regular expression that compiles."

    # Reads (semantics §5)
    VERSION_CONDITION_MISSING = "Set max_versions or a time range."
    VERSION_CONDITION_MISSING_IN_BATCH = "Set max_versions or a time range for every table."
    READ_MAX_VERSIONS = "Ask for at least one version."
    TIME_RANGE_INCOMPLETE = "Give both the start and the end time."
    TIME_RANGE_ORDER = "The start time must not be after the end time."
    TIME_SPECIFIC_AND_RANGE = "Give either a specific time or a range."
    TIME_SPECIFIC_AND_VERSIONS = "Give either a specific time or max_versions."
    TIME_SPECIFIC_NEGATIVE = "Times are milliseconds since 1970."
    READ_COLUMN_COUNT = "Ask for at most 1024 columns, or for all."
    READ_WITH_CELLS = "Send the primary key only."
    READ_DELETE_MARKER = "Send the primary key only, without a delete marker."
    RANGE_FORWARD_ORDER = "Start must be smaller than end when reading FORWARD."
    RANGE_BACKWARD_ORDER = "Start must be greater than end when reading BACKWARD."
    RANGE_DIRECTION = "Use FORWARD or BACKWARD."
    RANGE_LIMIT = "Ask for at least one row, or leave the limit out."
    READ_TOKEN = "Send the token exactly as the last response returned it."  # noqa: S105  # a hint

    # Split points (semantics §6)
    SPLIT_SIZE = "Use a split_size of one or more."
    SPLIT_SIZE_UNIT = "Use a unit of 1 MiB (1048576 bytes) or more, or leave it out for 100 MB."
    SPLIT_POINT_LIMIT = "Use a limit of one or more, or leave it out."

    # Local transactions (semantics §7)
    TRANSACTION_ID = "Send the id exactly as StartLocalTransaction answered it."
    TRANSACTION_KEY = "Begin a transaction with the partition key column and no other."
    TRANSACTIONS_DISABLED = (
        "The table was created with enable_local_txn=false, or without it under "
        "--local-transactions-default false; create it with enable_local_txn=true."
    )
    TRANSACTION_ENDED = (
        "The transaction was committed or aborted, its 60 seconds are over, its table was deleted "
        "or the server was started again; begin another one."
    )
    TRANSACTION_BUSY = "Wait for the answer to the transaction's last request before the next one."
    TRANSACTION_SIZE = "Commit, and go on in another transaction: one writes at most 4 MB."
    TRANSACTION_SCOPE = (
        "A transaction is on one table and writes one partition key value of it, that of its start."
    )
    TRANSACTION_ATOMIC_BATCH = (
        "Leave is_atomic out: a transaction is atomic as a whole when it is committed."
    )
    TRANSACTION_COUNT = (
        "Commit or abort transactions: an instance has at most 1000 open, for 60 seconds each."
    )
    TRANSACTION_MEMORY = (
        "Commit or abort transactions, or try again when others have ended: what is written in "
        "all of them takes at most 256 MB."
    )

    # Batches (semantics §4.8, §5.5)
    BATCH_GET_EMPTY = "Name at least one table."
    BATCH_GET_COUNT = "Split the request: at most 100 rows."
    BATCH_GET_SIZE = "Ask for this row in a request of its own: the answer to this one is full."
    EXPORT_COLUMNS_MISSING = "Name columns in columns_to_get, or ask for PlainBuffer."
    EXPORT_ROW_SIZE = "Name fewer columns, or read the row with GetRow, which goes on by tokens."
    EXPORT_BLOCK_TYPE = "Ask for PlainBuffer (0) or for a simple row matrix (1)."
    BATCH_WRITE_EMPTY = "Name at least one table with one row."
    BATCH_WRITE_TABLE_EMPTY = "Give every table at least one row, or leave it out."
    BATCH_WRITE_COUNT = "Split the request: at most 200 rows."
    DECLARED_TYPE = "Send a value of the declared type, or delete the column's declaration."
    BATCH_WRITE_SIZE = "Split the request: at most 4 MB of data."
    BATCH_WRITE_TYPE = "Use PUT, UPDATE or DELETE."
    BATCH_REPEATED_EXPECTATION = "Rows that repeat in one batch must use IGNORE."
    BATCH_REPEATED_CONDITION = "Rows that repeat in one batch cannot carry column conditions."
    BATCH_ATOMIC_SCOPE = "An atomic batch writes one partition key value of each of its tables."

    # Bytes on the wire (wire §1.2, §1.7, §2)
    BODY_UNREADABLE = (
        "The body is not the protobuf message of this action; check the SDK's version."
    )
    REQUEST_ELEMENTS = "Ask for less in one request; no request needs as many elements."
    ROW_ENCODING = "The row is not a PlainBuffer; if a proxy rewrites bodies, take it away."
    ROW_CHECKSUM = "The row was damaged on its way; send it again."
    BODY_COMPRESSION = "Send a zlib stream whose inflated size is the announced one."
    ACTION_UNKNOWN = "See docs/protocol/tablestore.md for the actions that widerow serves."
    ACTION_UNSUPPORTED = "widerow does not offer this action; see docs/protocol/tablestore.md."
    FEATURE_UNSUPPORTED = "See docs/protocol/differences.md; remove the field to go on without it."

    # Identity (wire §1.2–1.4)
    HEADER_MISSING = "Use a vendor SDK, or send every header the protocol names."
    DATE_FORMAT = "Send x-ots-date as 2024-01-02T03:04:05.000Z."
    API_VERSION_OLD = (
        "Use a client of protocol 2015-12-31 or later: an SDK of 2016 or later, or newVersion=true "
        "of DataX."
    )
    DATE_SKEW = "Set this machine's clock: it differs by more than 15 minutes from the server's."
    BODY_DIGEST = "The body changed on its way, or x-ots-contentmd5 was made from other bytes."
    SECURITY_TOKEN = "Send the token that belongs to this access key."  # noqa: S105  # a hint
    SECURITY_TOKEN_EXPIRED = "Get new temporary keys and send all three parts of them."  # noqa: S105  # a hint

    # Tunnels (change §C2)
    STREAM_HAS_TUNNELS = (
        "Delete the tunnels and delivery tasks that hand out the table's changes first."
    )

    # Delivery tasks (change §D3)
    DELIVERY_OFF = "Start the server with --delivery-root DIR, where the files are to go."
    DELIVERY_LIBRARY = "Install pyarrow where the server runs: pip install pyarrow."
    DELIVERY_NAME = (
        "Tasks are named with 3 to 16 of a-z 0-9 and hyphen; a letter or digit stands at both ends."
    )
    DELIVERY_TYPE = "Use BASE, INC or BASE_INC."
    DELIVERY_BUCKET = "Buckets are named with 3 to 63 of a-z 0-9 and hyphen."
    DELIVERY_PREFIX = (
        "Use at most 128 bytes; between slashes no empty part, no . or .., no ~ in front and no "
        "control character."
    )
    DELIVERY_COLUMN_COUNT = "Name between one and 1024 columns in the schema."
    DELIVERY_COLUMN_NAME = "Name every column of the schema with 1 to 255 bytes."
    DELIVERY_COLUMN_TYPE = "Use BOOL, INT64, UTF8 or DOUBLE."
    DELIVERY_COLUMN_DUPLICATE = "Give every column of the files a name of its own."
    DELIVERY_EVENT_TIME = "Name the event column, and RFC822, RFC850, RFC1123, RFC3339 or Unix."
    DELIVERY_FORMAT = "Leave format and formatter out, or send 0: Parquet is the only format."
    DELIVERY_TEXT = "Shorten the endpoint or the role."
    DELIVERY_COUNT = "Delete a delivery task of the table first."
    DELIVERY_EXISTS = "Choose another name, or delete the task first."
    DELIVERY_NOT_FOUND = "Create the task, or check the names of the table and the task."

    # search: queries (search §4, §8)
    SEARCH_QUERY_FIELD = "Ask a field of the index whose option index is not false."
    SEARCH_QUERY_PATH = "Use the full path of a field of type NESTED, from the root of the index."
    SEARCH_QUERY_FIELD_TYPE = "Ask fields of this type with a query that reads them."
    SEARCH_QUERY_VALUE = "Use values that the type of the field can have."
    SEARCH_QUERY_NODES = "Ask with at most 1024 queries."
    SEARCH_QUERY_DEPTH = "Put at most 5 nested queries, and at most 32 of all, into each other."
    SEARCH_QUERY_TERMS = "Use at most 1024 terms."
    SEARCH_QUERY_PREFIX = "Use at most 1000 bytes."
    SEARCH_QUERY_WILDCARD = "Use at most 32 characters."
    SEARCH_QUERY_TEXT = "Ask with a text of at most 1024 tokens."
    SEARCH_QUERY_MINIMUM = "Use a form of minimum_should_match such as 2, -1, 75%, -25% or 2<75%."
    SEARCH_QUERY_GEO = "Write points as latitude,longitude in degrees, and 3 to 1024 of a polygon."
    SEARCH_QUERY_WEIGHT = "Use finite numbers: weights and scales above 0, distances of at least 0."
    SEARCH_QUERY_FUNCTIONS = "Use at most 3 functions, and a decay between 0 and 1."
    SEARCH_QUERY_TOP_K = "Use a top_k of 1 to 1000."
    SEARCH_QUERY_VECTOR = "Send a vector with as many finite numbers as the field has dimensions."

    # State
    TABLE_EXISTS = "Choose another name, or delete the table first."
    TABLE_QUOTA = "Delete a table, or raise the quota (max_tables_per_instance)."
    THROUGHPUT_CHANGE_RATE = "Wait two minutes between changes of the reserved throughput."

    # search: life of indexes, and answering requests
    SEARCH_SWITCH_SELF = "Name another index to change places with."
    TABLE_HAS_SEARCH_INDEXES = "Delete the search indexes of the table first."
    SEARCH_INDEX_BUILDING = "Try again in a moment: the index is being built over the table's rows."
    SEARCH_TIMEOUT = "Ask for less, or send a larger timeout_ms."
    SEARCH_ANSWER_SIZE = "Ask for fewer rows, or for fewer columns."
    SEARCH_SCAN_PARALLEL_ID = "Number the parts of a parallel scan from 0 to max_parallel - 1."
    SEARCH_SCAN_PARALLEL = "Use at most as many parts as ComputeSplits answered."
    SEARCH_SCAN_TOKEN = "Send the token as it was answered, with the same query."  # noqa: S105  # a rule
    SEARCH_SESSION_EXPIRED = "Ask ComputeSplits for a new session and begin again."
    SEARCH_SESSION_COUNT = "Let some parallel scans end first."

    # search: indexes and their schemas (search §1, §2)
    SEARCH_INDEX_NAME = (
        "Search indexes are named as tables: 1 to 255 of A-Z a-z 0-9 _, not a digit first."
    )
    SEARCH_INDEX_NOT_FOUND = "Create the index, or check its name; ListSearchIndex shows them."
    SEARCH_INDEX_EXISTS = "Choose another name, or delete the index first."
    SEARCH_INDEX_COUNT = "Delete a search index of the table first."
    SEARCH_TABLE_TTL = (
        "A table whose rows expire and may be updated has no search index: use time_to_live -1, or "
        "allow_update=false."
    )
    SEARCH_TTL_VALUE = "Use -1 (rows of the index never expire) or a positive number of seconds."
    SEARCH_TTL_UPDATES = "Rows of an index expire only where the table has allow_update=false."
    SEARCH_TTL_TABLE = "Let rows of the index expire no later than those of the table."
    SEARCH_REINDEX_NAME = (
        "An index that is to replace another one has a name that ends with _reindex."
    )
    SEARCH_SCHEMA_EMPTY = "Give the schema at least one field."
    SEARCH_FIELD_COUNT = "Index fewer fields: 1000 in all, 100 below one of them."
    SEARCH_FIELD_NAME = "Name every field with 1 to 255 bytes."
    SEARCH_FIELD_DUPLICATE = "Give every field of one level a name of its own."
    SEARCH_FIELD_TYPE = "Give every field a type that the service has."
    SEARCH_FIELD_BELOW = (
        "Give fields of type NESTED and JSON fields below them, and no others; JSON a json_type."
    )
    SEARCH_NESTED_DEPTH = "Nest fields at most five levels deep."
    SEARCH_ANALYZER_FIELD = "Give an analyzer to fields of type TEXT only."
    SEARCH_ANALYZER_NAME = "Use single_word, split, min_word, max_word or fuzzy."
    SEARCH_ANALYZER_PARAMETER = "Send the parameter message of the analyzer that is named."
    SEARCH_ANALYZER_FUZZY = (
        "Let fuzzy begin at min_chars 1 or more and end at max_chars, at most 6 above it."
    )
    SEARCH_ARRAY_TYPE = "A vector is not an array: leave is_array out."
    SEARCH_FIELD_UNSORTED = "Leave enable_sort_and_agg out: this type has no order."
    SEARCH_HIGHLIGHTING_TYPE = "Ask for highlights of fields of type TEXT only."
    SEARCH_VECTOR_OPTIONS = (
        "Give a vector the data type VD_FLOAT_32, a dimension of 1 to 4096 and a metric."
    )
    SEARCH_VECTOR_COUNT = "Index at most five vectors."
    SEARCH_DATE_FORMAT = "Give a date formats of epoch_... or letters of yyyy-MM-dd HH:mm:ss.SSS X."
    SEARCH_VIRTUAL_SOURCE = "Give a virtual field exactly one source column, and others none."
    SEARCH_VIRTUAL_TYPE = "Read a virtual field from a column whose type becomes its own."
    SEARCH_ROUTING = "Route by primary key columns of the table."
    SEARCH_SORT_NESTED = (
        "An index with nested fields has no order of its own: leave index_sort out."
    )
    SEARCH_SORT_KIND = "Order an index by its primary key and by fields only."
    SEARCH_SORT_FIELD = "Order an index by fields of it with enable_sort_and_agg."
    SEARCH_WEIGHTS = (
        "Give two weights of 0 to 100 that sum up to 100, of the index and its reindex."
    )

    # search: messages (search §4 to §7)
    SEARCH_MESSAGE = "Send each query, aggregation and group-by as the message of its type."
    SEARCH_MESSAGE_VALUE = "Give the field a value that it can have; see docs/protocol/search.md."
    SEARCH_TREE_SIZE = (
        "Simplify the request: at most 1024 queries, aggregations and group-bys in all."
    )
    SEARCH_TREE_DEPTH = "Simplify the request: it is nested too deeply."
    SEARCH_SPLITS_OPTIONS = "Name the search index whose splits are asked for."
    SEARCH_SCAN_COLUMNS = (
        "Scan with RETURN_NONE, RETURN_SPECIFIED or RETURN_ALL_FROM_INDEX, or use Search."
    )

    # The results of searches (search §5, §6, §8)
    SEARCH_LIMIT = "Ask for 0 to 1000 rows, or -1 for as many as one page holds."
    SEARCH_WINDOW = "Go on with next_token instead of large offsets."
    SEARCH_TOKEN = "Send the token exactly as the page before returned it."  # noqa: S105  # a hint
    SORT_FIELD = "Sort by a field of the index whose type has an order, with enable_sort_and_agg."
    SORT_COUNT = "Name fewer sorters."
    SORT_SIZE = "Sort by fewer fields, or with smaller nested filters: a page's token has them all."
    SORT_PLACE = "Sort by DocSort in inner hits only, and by keys and distances in rows only."
    SORT_MODE = "Sort texts by their smallest or largest value: they have no average."
    SORT_MISSING = "Use a missing_field whose values compare with those of the field."
    SORT_POINTS = "Give one point or more, each as 'latitude,longitude'."
    SORT_NESTED = "Name a nested path that the sorted field lies below."
    COLLAPSE_FIELD = "Collapse by a KEYWORD, LONG or DOUBLE field that is not an array, with sort."
    AGG_NAME_EMPTY = "Give every aggregation and every group-by a name."
    AGG_NAME_DUPLICATE = "Give those of one level different names."
    AGG_COUNT = "Ask for less in one request."
    AGG_DEPTH = "Put group-bys into each other three levels deep at most."
    AGG_FIELD_UNKNOWN = "Name a field of the index by its full path."
    AGG_FIELD_TYPE = "Use a field of one of the types that are named."
    AGG_FIELD_UNSORTED = "Create the index with enable_sort_and_agg for this field."
    AGG_NESTED = "Below a group-by of a nested field, use fields of that path or of the row."
    AGG_PERCENTILES = "Ask for percentages from 0 to 100."
    TOP_ROWS_LIMIT = "Ask for 1 to 100 rows of each group."
    GROUP_SIZE = "Ask for fewer groups; a composite group-by goes on with its next_token."
    GROUP_TOTAL = "Ask for fewer groups on each level, for fewer levels, or for less below groups."
    GROUP_PARTS = "Use fewer ranges, filters or sources, and one at least."
    GROUP_INTERVAL = "Use an interval above 0, and an offset of its kind."
    GROUP_BUCKETS = "Use a larger interval or a smaller field_range."
    GROUP_RANGE = "Let the first bound of a field_range not be above the second one, and give both."
    GROUP_ZONE = "Give a time zone as +hh:mm or -hh:mm."
    GROUP_PRECISION = "Use a precision of 1 to 12 characters."
    GROUP_SORT_METRIC = (
        "Sort by a metric with one number for each group, asked for below the group."
    )
    GROUP_TOKEN = "Send next_token exactly as the groups before came with it."  # noqa: S105  # a hint
    GROUP_LEVEL = "Use sources that lie at one nested path, or none that do."
    HIGHLIGHT_FIELD = "Create the index with enable_highlighting for this TEXT field."
    HIGHLIGHT_SIZE = "Use a fragment_size of 1 or more, and 0 fragments or more."
    INNER_HITS_WINDOW = "Ask for fewer inner hits, and not for less than none."

    # SQL (sql §3 to §12)
    SQL_SYNTAX = "Write the statement in MySQL's dialect; the message says near which text it ends."
    SQL_SIZE = "Shorten the statement: it has at most a megabyte."
    SQL_TOKENS = "Shorten the statement: it has at most 100000 words."
    SQL_SEVERAL = "Send one statement in a request."
    SQL_DEPTH = "Simplify the statement: its expressions are nested too deeply."
    SQL_UNSUPPORTED = "Leave out what the message names: the service's SQL has no such thing."
    SQL_TABLE_UNKNOWN = "Create the table first, or check its name and the instance; SHOW TABLES."
    SQL_DATABASE_UNKNOWN = "Leave the database out: it is the instance of the request."
    SQL_TABLE_AMBIGUOUS = "Rename a table: SQL does not tell capital letters from small ones."
    SQL_TABLE_EXISTS = "Remove the mapping first (DROP MAPPING TABLE), or add IF NOT EXISTS."
    SQL_TABLE_TWICE = "Give the tables behind FROM aliases that differ."
    SQL_TABLES = "Name fewer tables in one statement."
    SQL_ALIAS_MISSING = "Give the query behind FROM an alias."
    SQL_COLUMN_UNKNOWN = "DESCRIBE lists the columns; CREATE TABLE makes a mapping with more."
    SQL_COLUMN_AMBIGUOUS = "Write the table's name or alias before the column's name."
    SQL_COLUMNS = "Ask for fewer columns."
    SQL_LIMIT = "Give LIMIT and OFFSET as whole numbers from 0 on."
    SQL_ARGUMENTS = "Call the function with as many arguments as it takes."
    SQL_AGGREGATE_PLACE = (
        "Use aggregate functions in the list, HAVING and ORDER BY, not inside others."
    )
    SQL_SUBQUERY_ROWS = "Let a query that stands for a value have one row."
    SQL_SUBQUERY_COLUMNS = "Let a query inside an expression have one column."
    SQL_PATTERN = "Write the pattern in RE2's syntax."
    SQL_OVERFLOW = "Integers have 64 bits; multiply with 1.0 for a DOUBLE."
    SQL_VALUE_SIZE = "Make shorter texts: a value has at most two megabytes."
    SQL_FIELD_TYPE = "Map the column with the type that its cells have, or leave it out."
    SQL_TOKEN = "Send a search_token with the statement whose answer had it, letter by letter."  # noqa: S105  # a hint
    SQL_MAPPING = "DESCRIBE the table, and give its primary key and its columns as they are."
    SQL_CHANGE = "Change rows with PutRow, UpdateRow and DeleteRow where SQL does not offer it."
    SQL_POINT_CHANGE = "Name every primary key column in WHERE, each with = and one value."
    SQL_DUPLICATE = "Delete the row first, or write it with PutRow."
    SQL_INSERT_ROWS = "Insert the rows with several statements."
    SQL_VALUE_COUNT = "Give each row a value for each column, in the order of the columns."
    SQL_VALUE_TYPE = "Give a value of the column's type."
    SQL_KEY_NULL = "Give every primary key column a value."
    SQL_KEY_LARGEST = "Use a smaller integer: the largest one is not a key of rows that SQL writes."
    SQL_SEARCH_FUNCTION = (
        "Give the table a search index with the field, and let the function be a condition."
    )
    SQL_INDEX_UNKNOWN = "SHOW INDEX IN the table lists its indexes."
    SQL_DOCUMENTS_READ = "Let the index decide more: compare columns with values in WHERE."
    SQL_ROWS_READ = (
        "Restrict the leading primary key columns, or make an index that serves the query."
    )
    SQL_BYTES_READ = "Restrict the leading primary key columns, or let rows be smaller."
    SQL_VALUES_HELD = "Sort, group or join fewer rows."
    SQL_TIME = "Restrict the leading primary key columns, or join and sort fewer rows."
