"""What clients are told of queries of search indexes: rows of the table of errors.

Code, status, template, when, and whether the text is the service's own (`Foreign`). Its texts for
malformed queries are known by their beginning only (search §4, §8).
"""

from typing import Final

from widerow.errors import Rule
from widerow.limits import (
    SEARCH_FUNCTIONS_MAX,
    SEARCH_NESTED_DEPTH_MAX,
    SEARCH_PREFIX_BYTES_MAX,
    SEARCH_QUERY_DEPTH_MAX,
    SEARCH_QUERY_NODES_MAX,
    SEARCH_QUERY_TOKENS_MAX,
    SEARCH_TERMS_MAX,
    SEARCH_TOP_K_MAX,
)
from widerow.wire.tablestore.error_rows import ErrorRow, invalid_row

__all__ = ["SEARCH_QUERY_ERRORS"]


def _query(reason: str, when: str) -> ErrorRow:
    text = f"failed to query index, please check the request parameter: {reason}"
    return invalid_row(text, when)


SEARCH_QUERY_ERRORS: Final[dict[Rule, ErrorRow]] = {
    Rule.SEARCH_QUERY_FIELD: _query(
        "field [{field}] does not exist", "a query of a field that the index does not have"
    ),
    Rule.SEARCH_QUERY_PATH: _query(
        "nested path [{field}] does not exist", "a nested query of a path that is none"
    ),
    Rule.SEARCH_QUERY_FIELD_TYPE: _query(
        "field [{field}] of type {type} cannot be read by {query}",
        "a query of a field whose type it does not read",
    ),
    Rule.SEARCH_QUERY_VALUE: _query(
        "field [{field}] cannot have the value {value}",
        "a query for a value that the field cannot have",
    ),
    Rule.SEARCH_QUERY_NODES: _query(
        f"more than {SEARCH_QUERY_NODES_MAX} queries", "a query of too many queries"
    ),
    Rule.SEARCH_QUERY_DEPTH: _query(
        f"more than {SEARCH_NESTED_DEPTH_MAX} nested queries, or {SEARCH_QUERY_DEPTH_MAX} queries, "
        "in each other",
        "queries that are too deep in each other",
    ),
    Rule.SEARCH_QUERY_TERMS: _query(
        f"{{count}} terms are more than {SEARCH_TERMS_MAX}", "a TermsQuery of too many terms"
    ),
    Rule.SEARCH_QUERY_PREFIX: _query(
        f"{{count}} bytes are more than {SEARCH_PREFIX_BYTES_MAX}", "a prefix that is too long"
    ),
    Rule.SEARCH_QUERY_WILDCARD: (
        "OTSParameterInvalid",
        400,
        "length of field value is longer than {limit} for the [WILDCARD_QUERY] query",
        "a wildcard that is too long",
        True,
    ),
    Rule.SEARCH_QUERY_TEXT: _query(
        f"{{count}} tokens are more than {SEARCH_QUERY_TOKENS_MAX}",
        "a text to match that is too long",
    ),
    Rule.SEARCH_QUERY_MINIMUM: _query(
        "minimum_should_match {value} is not readable", "a minimum_should_match of another form"
    ),
    Rule.SEARCH_QUERY_GEO: _query(
        "invalid point, or number of points: {value}", "a text of a point that is none"
    ),
    Rule.SEARCH_QUERY_WEIGHT: _query(
        "invalid number {value}", "a weight, scale, offset or distance out of its range"
    ),
    Rule.SEARCH_QUERY_FUNCTIONS: _query(
        f"{{value}} is no number of functions up to {SEARCH_FUNCTIONS_MAX}, "
        "or no decay between 0 and 1",
        "a FunctionsScoreQuery of too many functions, or with another decay",
    ),
    Rule.SEARCH_QUERY_TOP_K: _query(
        f"top_k is not from 1 to {SEARCH_TOP_K_MAX}", "a vector query of too many neighbours"
    ),
    Rule.SEARCH_QUERY_VECTOR: _query(
        "field [{field}] has vectors of {expected} finite numbers, and of a direction for COSINE",
        "a vector to compare with that is none of the field's",
    ),
}
"""The rules of queries, in the order of `Rule`."""
