"""What clients are told of search indexes: rows of the table of errors (`error_table.py`).

Code, status, template, when, and whether the text is the service's own (`Foreign`). Those of
queries and of results stand beside it. The service's texts for malformed schemas are not known
beyond their beginning (search §1.1).
"""

from typing import Final

from widerow.errors import Rule
from widerow.limits import SEARCH_REINDEX_SUFFIX, SEARCH_TREE_NODES_MAX
from widerow.wire.tablestore.error_rows import ErrorRow, invalid_row

__all__ = ["SEARCH_ERRORS"]


def _schema(reason: str, when: str) -> ErrorRow:
    return invalid_row(f"invalid parameter: {reason}", when)


def _query(reason: str, when: str) -> ErrorRow:
    return invalid_row(f"failed to query index, please check the request parameter: {reason}", when)


SEARCH_ERRORS: Final[dict[Rule, ErrorRow]] = {
    Rule.SEARCH_INDEX_NAME: invalid_row(
        "Invalid search index name: '{name}'.", "a search index name of other characters"
    ),
    Rule.SEARCH_INDEX_NOT_FOUND: (
        "OTSMetaNotMatch",
        400,
        "search index [{index}] does not exist",
        "any action on a search index that does not exist",
        True,
    ),
    Rule.SEARCH_INDEX_EXISTS: invalid_row(
        "search index [{index}] already exists", "a search index of a name that is taken"
    ),
    Rule.SEARCH_INDEX_COUNT: invalid_row(
        "the number of search indexes of the table exceeds the limit: {limit}",
        "one search index of a table too many",
    ),
    Rule.SEARCH_TABLE_TTL: invalid_row(
        "operation is denied as table TTL exists.",
        "a search index of a table with a time_to_live that may be updated",
        published=True,
    ),
    Rule.SEARCH_TTL_VALUE: _schema(
        "time_to_live must be -1 or positive, current is {count}",
        "another time_to_live of a search index",
    ),
    Rule.SEARCH_TTL_UPDATES: _schema(
        "time_to_live needs allow_update false on the table",
        "a time_to_live of a search index on a table that may be updated",
    ),
    Rule.SEARCH_TTL_TABLE: _schema(
        "time_to_live {count} must not exceed that of the table, {maximum}",
        "a search index that outlives the rows of its table",
    ),
    Rule.SEARCH_REINDEX_NAME: _schema(
        f"the name of an index with source_index_name must end with {SEARCH_REINDEX_SUFFIX}",
        "an index that replaces another one under a name that does not say so",
    ),
    Rule.SEARCH_SCHEMA_EMPTY: _schema("schema must have a field", "a search index without fields"),
    Rule.SEARCH_FIELD_COUNT: _schema(
        "the number of fields exceeds the limit: {count}, allow {maximum}",
        "a search index with too many fields, or too many below one",
    ),
    Rule.SEARCH_FIELD_NAME: _schema(
        "field name [{field}] is invalid", "a field of a search index without a name"
    ),
    Rule.SEARCH_FIELD_DUPLICATE: _schema(
        "field [{field}] is duplicated", "two fields of one level with one name"
    ),
    Rule.SEARCH_FIELD_TYPE: _schema(
        "field [{field}] has the invalid {kind} {value}",
        "a field without a type, or with a number that no type or option has",
    ),
    Rule.SEARCH_FIELD_BELOW: _schema(
        "field [{field}] has field_schemas or json_type that do not go with its type",
        "a nested field without fields below it, or another one with some",
    ),
    Rule.SEARCH_NESTED_DEPTH: _schema(
        "field [{field}] is nested deeper than {maximum} levels", "fields nested too deeply"
    ),
    Rule.SEARCH_ANALYZER_FIELD: _schema(
        "field [{field}] must not have an analyzer", "an analyzer of a field that is no text"
    ),
    Rule.SEARCH_ANALYZER_NAME: _schema(
        "field [{field}] has the unknown analyzer [{name}]", "an analyzer that is not known"
    ),
    Rule.SEARCH_ANALYZER_PARAMETER: _schema(
        "field [{field}] has an invalid analyzer_parameter", "parameters of another analyzer"
    ),
    Rule.SEARCH_ANALYZER_FUZZY: _schema(
        "field [{field}] has invalid min_chars {minimum} and max_chars {maximum}",
        "lengths of fuzzy tokens that do not go together",
    ),
    Rule.SEARCH_ARRAY_TYPE: _schema("field [{field}] must not be an array", "an array of vectors"),
    Rule.SEARCH_FIELD_UNSORTED: _schema(
        "field [{field}] of type {type} does not support enable_sort_and_agg",
        "enable_sort_and_agg of a text, a vector or a nested field",
    ),
    Rule.SEARCH_HIGHLIGHTING_TYPE: _schema(
        "field [{field}] of type {type} does not support enable_highlighting",
        "enable_highlighting of a field that is no text",
    ),
    Rule.SEARCH_VECTOR_OPTIONS: _schema(
        "field [{field}] has invalid vector_options",
        "a vector without its options, or options of another field",
    ),
    Rule.SEARCH_VECTOR_COUNT: _schema(
        "the number of vector fields exceeds the limit: {count}, allow {maximum}",
        "too many vectors of one index",
    ),
    Rule.SEARCH_DATE_FORMAT: _schema(
        "field [{field}] has invalid date_formats",
        "a date without formats, with one that cannot be read, or formats of another field",
    ),
    Rule.SEARCH_VIRTUAL_SOURCE: _schema(
        "field [{field}] must have one source field name exactly if it is virtual",
        "a virtual field of no column or several, or below another field",
    ),
    Rule.SEARCH_VIRTUAL_TYPE: _schema(
        "field [{field}] of type {type} cannot be read from [{column}]",
        "a virtual field of a type that its column does not become",
    ),
    Rule.SEARCH_ROUTING: _schema(
        "routing field [{name}] is not a primary key column", "routing by another column"
    ),
    Rule.SEARCH_SORT_NESTED: _schema(
        "index_sort is not supported for an index with nested fields",
        "an order of an index with nested fields",
    ),
    Rule.SEARCH_SORT_KIND: _schema(
        "index_sort allows PrimaryKeySort and FieldSort only",
        "an order of an index by something else",
    ),
    Rule.SEARCH_SORT_FIELD: _schema(
        "index_sort field [{field}] does not exist or is not enabled for sort",
        "an order of an index by a field that has none",
    ),
    Rule.SEARCH_WEIGHTS: _schema(
        "query_flow_weight must name the index and its reindex, with weights that sum up to 100",
        "other weights of an index and its reindex",
    ),
    Rule.SEARCH_MESSAGE: _query(
        "{kind} is not readable", "bytes that are not the message of the type beside them"
    ),
    Rule.SEARCH_MESSAGE_VALUE: _query(
        "{kind} has an invalid {name}", "a field of a search that is not there, or cannot be so"
    ),
    Rule.SEARCH_TREE_SIZE: _query(
        f"more than {SEARCH_TREE_NODES_MAX} queries, aggregations and group-bys, or as large",
        "a search of too many parts",
    ),
    Rule.SEARCH_TREE_DEPTH: _query(
        "nested deeper than {limit} levels", "a search that is nested too deeply"
    ),
    Rule.SEARCH_SPLITS_OPTIONS: invalid_row(
        "[search index splits options] must not be null",
        "ComputeSplits without the index",
        published=True,
    ),
    Rule.SEARCH_SCAN_COLUMNS: invalid_row(
        "[parallel_scan.columns_to_get] must not be RETURN_ALL",
        "ParallelScan of all columns, which an index does not have",
    ),
}
"""The rules of search indexes, in the order of `Rule`."""
