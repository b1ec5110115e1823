"""What clients are told of search indexes, queries and their results (search §1, §4, §6, §8).

Of the service's texts for malformed schemas and queries the beginning is known and no more; those
of aggregations begin with their kind, such as `[avg agg]`.
"""

from typing import Final

from widerow.errors import AnyRule
from widerow.limits import (
    GROUP_BY_LEVELS_MAX,
    INNER_HITS_LIMIT_MAX,
    SEARCH_FUNCTIONS_MAX,
    SEARCH_LIMIT_MAX,
    SEARCH_NESTED_DEPTH_MAX,
    SEARCH_PREFIX_BYTES_MAX,
    SEARCH_QUERY_DEPTH_MAX,
    SEARCH_QUERY_NODES_MAX,
    SEARCH_QUERY_TOKENS_MAX,
    SEARCH_REINDEX_SUFFIX,
    SEARCH_SESSIONS_MAX,
    SEARCH_TERMS_MAX,
    SEARCH_TOP_K_MAX,
    SEARCH_TREE_NODES_MAX,
    SEARCH_WINDOW_MAX,
    TOP_ROWS_MAX,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.errors.row import Foreign

__all__ = ["SEARCH_ERRORS"]


def _schema(reason: str, when: str) -> Foreign:
    return c.INVALID.ours(f"invalid parameter: {reason}", when)


def _query(reason: str, when: str) -> Foreign:
    text = f"failed to query index, please check the request parameter: {reason}"
    return c.INVALID.ours(text, when)


SEARCH_ERRORS: Final[dict[AnyRule, Foreign]] = {
    # Schemas and messages
    TablestoreRule.SEARCH_INDEX_NAME: c.INVALID.ours(
        "Invalid search index name: '{name}'.", "a search index name of other characters"
    ),
    TablestoreRule.SEARCH_INDEX_NOT_FOUND: c.META_NOT_MATCH(
        "search index [{index}] does not exist", "any action on a search index that does not exist"
    ),
    TablestoreRule.SEARCH_INDEX_EXISTS: c.INVALID.ours(
        "search index [{index}] already exists", "a search index of a name that is taken"
    ),
    TablestoreRule.SEARCH_INDEX_COUNT: c.INVALID.ours(
        "the number of search indexes of the table exceeds the limit: {limit}",
        "one search index of a table too many",
    ),
    TablestoreRule.SEARCH_TABLE_TTL: c.INVALID(
        "operation is denied as table TTL exists.",
        "a search index of a table with a time_to_live that may be updated",
    ),
    TablestoreRule.SEARCH_TTL_VALUE: _schema(
        "time_to_live must be -1 or positive, current is {count}",
        "another time_to_live of a search index",
    ),
    TablestoreRule.SEARCH_TTL_UPDATES: _schema(
        "time_to_live needs allow_update false on the table",
        "a time_to_live of a search index on a table that may be updated",
    ),
    TablestoreRule.SEARCH_TTL_TABLE: _schema(
        "time_to_live {count} must not exceed that of the table, {maximum}",
        "a search index that outlives the rows of its table",
    ),
    TablestoreRule.SEARCH_REINDEX_NAME: _schema(
        f"the name of an index with source_index_name must end with {SEARCH_REINDEX_SUFFIX}",
        "an index that replaces another one under a name that does not say so",
    ),
    TablestoreRule.SEARCH_SCHEMA_EMPTY: _schema(
        "schema must have a field", "a search index without fields"
    ),
    TablestoreRule.SEARCH_FIELD_COUNT: _schema(
        "the number of fields exceeds the limit: {count}, allow {maximum}",
        "a search index with too many fields, or too many below one",
    ),
    TablestoreRule.SEARCH_FIELD_NAME: _schema(
        "field name [{field}] is invalid", "a field of a search index without a name"
    ),
    TablestoreRule.SEARCH_FIELD_DUPLICATE: _schema(
        "field [{field}] is duplicated", "two fields of one level with one name"
    ),
    TablestoreRule.SEARCH_FIELD_TYPE: _schema(
        "field [{field}] has the invalid {kind} {value}",
        "a field without a type, or with a number that no type or option has",
    ),
    TablestoreRule.SEARCH_FIELD_BELOW: _schema(
        "field [{field}] has field_schemas or json_type that do not go with its type",
        "a nested field without fields below it, or another one with some",
    ),
    TablestoreRule.SEARCH_NESTED_DEPTH: _schema(
        "field [{field}] is nested deeper than {maximum} levels", "fields nested too deeply"
    ),
    TablestoreRule.SEARCH_ANALYZER_FIELD: _schema(
        "field [{field}] must not have an analyzer", "an analyzer of a field that is not a text"
    ),
    TablestoreRule.SEARCH_ANALYZER_NAME: _schema(
        "field [{field}] has the unknown analyzer [{name}]", "an analyzer that is not known"
    ),
    TablestoreRule.SEARCH_ANALYZER_PARAMETER: _schema(
        "field [{field}] has an invalid analyzer_parameter", "parameters of another analyzer"
    ),
    TablestoreRule.SEARCH_ANALYZER_FUZZY: _schema(
        "field [{field}] has invalid min_chars {minimum} and max_chars {maximum}",
        "lengths of fuzzy tokens that do not go together",
    ),
    TablestoreRule.SEARCH_ARRAY_TYPE: _schema(
        "field [{field}] must not be an array", "an array of vectors"
    ),
    TablestoreRule.SEARCH_FIELD_UNSORTED: _schema(
        "field [{field}] of type {type} does not support enable_sort_and_agg",
        "enable_sort_and_agg of a text, a vector or a nested field",
    ),
    TablestoreRule.SEARCH_HIGHLIGHTING_TYPE: _schema(
        "field [{field}] of type {type} does not support enable_highlighting",
        "enable_highlighting of a field that is not a text",
    ),
    TablestoreRule.SEARCH_VECTOR_OPTIONS: _schema(
        "field [{field}] has invalid vector_options",
        "a vector without its options, or options of another field",
    ),
    TablestoreRule.SEARCH_VECTOR_COUNT: _schema(
        "the number of vector fields exceeds the limit: {count}, allow {maximum}",
        "too many vectors of one index",
    ),
    TablestoreRule.SEARCH_DATE_FORMAT: _schema(
        "field [{field}] has invalid date_formats",
        "a date without formats, with one that cannot be read, or formats of another field",
    ),
    TablestoreRule.SEARCH_VIRTUAL_SOURCE: _schema(
        "field [{field}] must have one source field name exactly if it is virtual",
        "a virtual field of no column or several, or below another field",
    ),
    TablestoreRule.SEARCH_VIRTUAL_TYPE: _schema(
        "field [{field}] of type {type} cannot be read from [{column}]",
        "a virtual field of a type that its column does not become",
    ),
    TablestoreRule.SEARCH_ROUTING: _schema(
        "routing field [{name}] is not a primary key column", "routing by another column"
    ),
    TablestoreRule.SEARCH_SORT_NESTED: _schema(
        "index_sort is not supported for an index with nested fields",
        "an order of an index with nested fields",
    ),
    TablestoreRule.SEARCH_SORT_KIND: _schema(
        "index_sort allows PrimaryKeySort and FieldSort only",
        "an order of an index by something else",
    ),
    TablestoreRule.SEARCH_SORT_FIELD: _schema(
        "index_sort field [{field}] does not exist or is not enabled for sort",
        "an order of an index by a field that has none",
    ),
    TablestoreRule.SEARCH_WEIGHTS: _schema(
        "query_flow_weight must name the index and its reindex, with weights that sum up to 100",
        "other weights of an index and its reindex",
    ),
    TablestoreRule.SEARCH_MESSAGE: _query(
        "{kind} is not readable", "bytes that are not the message of the type beside them"
    ),
    TablestoreRule.SEARCH_MESSAGE_VALUE: _query(
        "{kind} has an invalid {name}", "a field of a search that is not there, or cannot be so"
    ),
    TablestoreRule.SEARCH_TREE_SIZE: _query(
        f"more than {SEARCH_TREE_NODES_MAX} queries, aggregations and group-bys, or as large",
        "a search of too many parts",
    ),
    TablestoreRule.SEARCH_TREE_DEPTH: _query(
        "nested deeper than {limit} levels", "a search that is nested too deeply"
    ),
    TablestoreRule.SEARCH_SPLITS_OPTIONS: c.INVALID(
        "[search index splits options] must not be null", "ComputeSplits without the index"
    ),
    TablestoreRule.SEARCH_SCAN_COLUMNS: c.INVALID.ours(
        "[parallel_scan.columns_to_get] must not be RETURN_ALL",
        "ParallelScan of all columns, which an index does not have",
    ),
    # Life of indexes
    TablestoreRule.SEARCH_SWITCH_SELF: c.INVALID.ours(
        "invalid parameter: switch_index_name is the index itself",
        "UpdateSearchIndex that names the index twice",
    ),
    TablestoreRule.TABLE_HAS_SEARCH_INDEXES: c.INVALID(
        "Table[{table}] who has at least one search index cannot be deleted",
        "DeleteTable of a table with search indexes",
    ),
    TablestoreRule.SEARCH_INDEX_BUILDING: c.TABLE_NOT_READY.ours(
        "search index [{index}] is being built: {rows} rows so far",
        "a search of an index that is being built over many rows; SDKs repeat it by themselves",
    ),
    TablestoreRule.SEARCH_TIMEOUT: c.TIMEOUT.ours(
        "Operation timeout.", "a search that takes longer than its timeout_ms"
    ),
    TablestoreRule.SEARCH_ANSWER_SIZE: c.INVALID.ours(
        "the rows of the answer have more than {limit} bytes: ask for fewer rows or columns",
        "a search whose rows are too large together",
    ),
    TablestoreRule.SEARCH_SCAN_PARALLEL_ID: c.INVALID(
        "[parallel_scan.current_parallel_id] must in [0, max_parallel), current max_parallel is "
        "{max_parallel}, current_parallel_id is {parallel_id}",
        "ParallelScan of a part that there is not",
    ),
    TablestoreRule.SEARCH_SCAN_PARALLEL: c.INVALID(
        "[parallel_scan.max_parallel_id] must in (0 ,{splits}], current max_parallel_id is "
        "{max_parallel}",
        "ParallelScan in more parts than ComputeSplits answered",
    ),
    TablestoreRule.SEARCH_SCAN_TOKEN: c.INVALID.ours(
        "[parallel_scan.token] is invalid", "ParallelScan with a token that was not answered to it"
    ),
    TablestoreRule.SEARCH_SESSION_EXPIRED: c.SESSION_EXPIRED(
        "ScanQuery'session is expired, please retry ComputeSplitsRequest and ScanQuery.",
        "ParallelScan in a session that is over, or of an index that was changed since",
    ),
    TablestoreRule.SEARCH_SESSION_COUNT: c.QUOTA_EXHAUSTED.ours(
        f"Number of parallel scans exceeds the quota: {SEARCH_SESSIONS_MAX}.",
        "more parallel scans at once than the server holds",
    ),
    # Queries
    TablestoreRule.SEARCH_QUERY_FIELD: _query(
        "field [{field}] does not exist", "a query of a field that the index does not have"
    ),
    TablestoreRule.SEARCH_QUERY_PATH: _query(
        "nested path [{field}] does not exist", "a nested query of a path that is none"
    ),
    TablestoreRule.SEARCH_QUERY_FIELD_TYPE: _query(
        "field [{field}] of type {type} cannot be read by {query}",
        "a query of a field whose type it does not read",
    ),
    TablestoreRule.SEARCH_QUERY_VALUE: _query(
        "field [{field}] cannot have the value {value}",
        "a query for a value that the field cannot have",
    ),
    TablestoreRule.SEARCH_QUERY_NODES: _query(
        f"more than {SEARCH_QUERY_NODES_MAX} queries", "a query of too many queries"
    ),
    TablestoreRule.SEARCH_QUERY_DEPTH: _query(
        f"more than {SEARCH_NESTED_DEPTH_MAX} nested queries, or {SEARCH_QUERY_DEPTH_MAX} queries, "
        "in each other",
        "queries that are too deep in each other",
    ),
    TablestoreRule.SEARCH_QUERY_TERMS: _query(
        f"{{count}} terms are more than {SEARCH_TERMS_MAX}", "a TermsQuery of too many terms"
    ),
    TablestoreRule.SEARCH_QUERY_PREFIX: _query(
        f"{{count}} bytes are more than {SEARCH_PREFIX_BYTES_MAX}", "a prefix that is too long"
    ),
    TablestoreRule.SEARCH_QUERY_WILDCARD: c.INVALID(
        "length of field value is longer than {limit} for the [WILDCARD_QUERY] query",
        "a wildcard that is too long",
    ),
    TablestoreRule.SEARCH_QUERY_TEXT: _query(
        f"{{count}} tokens are more than {SEARCH_QUERY_TOKENS_MAX}",
        "a text to match that is too long",
    ),
    TablestoreRule.SEARCH_QUERY_MINIMUM: _query(
        "minimum_should_match {value} is not readable", "a minimum_should_match of another form"
    ),
    TablestoreRule.SEARCH_QUERY_GEO: _query(
        "invalid point, or number of points: {value}", "a text of a point that is none"
    ),
    TablestoreRule.SEARCH_QUERY_WEIGHT: _query(
        "invalid number {value}", "a weight, scale, offset or distance out of its range"
    ),
    TablestoreRule.SEARCH_QUERY_FUNCTIONS: _query(
        f"{{value}} is not a number of functions up to {SEARCH_FUNCTIONS_MAX}, "
        "or no decay between 0 and 1",
        "a FunctionsScoreQuery of too many functions, or with another decay",
    ),
    TablestoreRule.SEARCH_QUERY_TOP_K: _query(
        f"top_k is not from 1 to {SEARCH_TOP_K_MAX}", "a vector query of too many neighbours"
    ),
    TablestoreRule.SEARCH_QUERY_VECTOR: _query(
        "field [{field}] has vectors of {expected} finite numbers, and of a direction for COSINE",
        "a vector to compare with that is none of the field's",
    ),
    # Results
    TablestoreRule.SEARCH_LIMIT: c.INVALID.ours(
        f"[limit] must be in [0, {SEARCH_LIMIT_MAX}], current is {{limit}}",
        "a search for fewer rows than none, or for more than a page holds",
    ),
    TablestoreRule.SEARCH_WINDOW: c.INVALID.ours(
        f"Parameter limit + offset must be less than {SEARCH_WINDOW_MAX}",
        "a search for a page too far from the first row, or before it",
    ),
    TablestoreRule.SEARCH_TOKEN: c.INVALID.ours(
        "Invalid token of search.", "a token that no page ended with"
    ),
    TablestoreRule.SORT_FIELD: c.INVALID.ours(
        "[sort] field:{field} {reason}", "a sort by a field that cannot be sorted by"
    ),
    TablestoreRule.SORT_COUNT: c.INVALID.ours(
        "[sort] has {count} sorters or points, allow {maximum}", "a sort with too many parts"
    ),
    TablestoreRule.SORT_SIZE: c.INVALID.ours(
        "[sort] has {size} bytes, allow {maximum}", "a sort that no token of a page can hold"
    ),
    TablestoreRule.SORT_PLACE: c.INVALID.ours(
        "[sort] {sorter} is not allowed here",
        "a sorter of rows in inner hits, or the other way round",
    ),
    TablestoreRule.SORT_MODE: c.INVALID.ours(
        "[sort] field:{field} has no average", "an average of texts as a sort mode"
    ),
    TablestoreRule.SORT_MISSING: c.INVALID.ours(
        "[sort] field:{field} and missing_field:{missing} do not compare",
        "a missing_field of another kind",
    ),
    TablestoreRule.SORT_POINTS: c.INVALID.ours(
        "[sort] field:{field} must have points as latitude,longitude",
        "a sort by distance without points, or with texts that are none",
    ),
    TablestoreRule.SORT_NESTED: c.INVALID.ours(
        "[sort] field:{field} is not below the nested path [{path}]",
        "a nested filter of a sort at a path that the field does not lie below",
    ),
    TablestoreRule.COLLAPSE_FIELD: c.INVALID.ours(
        "[collapse] field:{field} {reason}", "a collapse by a field that does not allow it"
    ),
    TablestoreRule.AGG_NAME_EMPTY: c.INVALID.ours(
        "[{kind}] must have a name", "an aggregation or group-by without a name"
    ),
    TablestoreRule.AGG_NAME_DUPLICATE: c.INVALID.ours(
        "[{kind}] name:{name} is duplicated", "two aggregations or group-bys of one name"
    ),
    TablestoreRule.AGG_COUNT: c.INVALID.ours(
        "[{kind}] exceeds the number allowed in one request: {maximum}",
        "too many aggregations or group-bys",
    ),
    TablestoreRule.AGG_DEPTH: c.INVALID.ours(
        f"[groupby] levels must not exceed {GROUP_BY_LEVELS_MAX}",
        "group-bys too deep within each other",
    ),
    TablestoreRule.AGG_FIELD_UNKNOWN: c.INVALID(
        "[{kind}] field: {field} does not exist", "an aggregation or group-by of an unknown field"
    ),
    TablestoreRule.AGG_FIELD_TYPE: c.INVALID(
        "[{kind}] field_name:{field} type:{type} is invalid, allow [{allowed}]",
        "an aggregation or group-by of a field of another type",
    ),
    TablestoreRule.AGG_FIELD_UNSORTED: c.INVALID(
        "[{kind}] field:{field} must enable enable_sort_and_agg, but enable_sort_and_agg is not "
        "enabled",
        "an aggregation or group-by of a field that is not kept for it",
    ),
    TablestoreRule.AGG_NESTED: c.INVALID(
        "nested field aggregation/groupby must not be recursive",
        "a nested field below a group-by of another nested field",
    ),
    TablestoreRule.AGG_PERCENTILES: c.INVALID.ours(
        "[percentiles agg] percentiles must be in [0, 100]",
        "no percentage, too many, or one out of its range",
    ),
    TablestoreRule.TOP_ROWS_LIMIT: c.INVALID.ours(
        f"[top rows agg] limit must be in [1, {TOP_ROWS_MAX}], current is {{limit}}",
        "top rows with another limit",
    ),
    TablestoreRule.GROUP_SIZE: c.INVALID.ours(
        "[{kind}] size must be in [1, {maximum}], current is {size}", "a group-by with another size"
    ),
    TablestoreRule.GROUP_TOTAL: c.INVALID.ours(
        "[groupby] has more than {maximum} {what} on all levels",
        "group-bys that answer too many groups, values of metrics or top rows",
    ),
    TablestoreRule.GROUP_PARTS: c.INVALID.ours(
        "[{kind}] must have 1 to {maximum} {parts}", "a group-by of no parts or too many"
    ),
    TablestoreRule.GROUP_INTERVAL: c.INVALID.ours(
        "[{kind}] interval and offset are invalid", "a histogram with another interval or offset"
    ),
    TablestoreRule.GROUP_BUCKETS: c.INVALID.ours(
        "[{kind}] has more than {maximum} buckets", "a histogram with too many buckets"
    ),
    TablestoreRule.GROUP_RANGE: c.INVALID.ours(
        "[{kind}] field_range is invalid", "a histogram with an impossible field_range"
    ),
    TablestoreRule.GROUP_ZONE: c.INVALID.ours(
        "[{kind}] time_zone is invalid: {zone}", "a date histogram with another time zone"
    ),
    TablestoreRule.GROUP_PRECISION: c.INVALID.ours(
        "[groupby_geo_grid] precision is invalid: {precision}", "a geo grid of another precision"
    ),
    TablestoreRule.GROUP_SORT_METRIC: c.INVALID.ours(
        "[{kind}] sub_agg_name:{name} does not exist or has no single value",
        "groups sorted by an unknown metric",
    ),
    TablestoreRule.GROUP_TOKEN: c.INVALID.ours(
        "[groupby_composite] next_token is invalid", "a token that no composite page ended with"
    ),
    TablestoreRule.GROUP_LEVEL: c.INVALID.ours(
        "[groupby_composite] sources must lie at one nested path",
        "a composite of fields at several nested paths",
    ),
    TablestoreRule.HIGHLIGHT_FIELD: c.INVALID(
        "highlighting is not supported for field[{field}]",
        "a highlight of a field that is not kept for it",
    ),
    TablestoreRule.HIGHLIGHT_SIZE: c.INVALID.ours(
        "[highlight] field:{field} number_of_fragments or fragment_size is invalid",
        "a highlight of fragments without size",
    ),
    TablestoreRule.INNER_HITS_WINDOW: c.INVALID.ours(
        f"[inner_hits] limit + offset must be in [0, {INNER_HITS_LIMIT_MAX}]",
        "too many inner hits, or fewer than none",
    ),
}
