"""What clients are told of the results of searches: rows of the table of errors (`error_table.py`).

Code, status, template, when, and whether the text is the service's own (`Foreign`). The texts of
aggregations begin with their kind, such as `[avg agg]` (search §6.1).
"""

from typing import Final

from widerow.errors import Rule
from widerow.limits import (
    GROUP_BY_LEVELS_MAX,
    INNER_HITS_LIMIT_MAX,
    SEARCH_LIMIT_MAX,
    SEARCH_WINDOW_MAX,
    TOP_ROWS_MAX,
)
from widerow.wire.tablestore.error_rows import ErrorRow, invalid_row

__all__ = ["SEARCH_RESULT_ERRORS"]


SEARCH_RESULT_ERRORS: Final[dict[Rule, ErrorRow]] = {
    Rule.SEARCH_LIMIT: invalid_row(
        f"[limit] must be in [0, {SEARCH_LIMIT_MAX}], current is {{limit}}",
        "a search for fewer rows than none, or for more than a page holds",
    ),
    Rule.SEARCH_WINDOW: invalid_row(
        f"Parameter limit + offset must be less than {SEARCH_WINDOW_MAX}",
        "a search for a page too far from the first row, or before it",
    ),
    Rule.SEARCH_TOKEN: invalid_row("Invalid token of search.", "a token that no page ended with"),
    Rule.SORT_FIELD: invalid_row(
        "[sort] field:{field} {reason}", "a sort by a field that cannot be sorted by"
    ),
    Rule.SORT_COUNT: invalid_row(
        "[sort] has {count} sorters or points, allow {maximum}", "a sort with too many parts"
    ),
    Rule.SORT_PLACE: invalid_row(
        "[sort] {sorter} is not allowed here",
        "a sorter of rows in inner hits, or the other way round",
    ),
    Rule.SORT_MODE: invalid_row(
        "[sort] field:{field} has no average", "an average of texts as a sort mode"
    ),
    Rule.SORT_MISSING: invalid_row(
        "[sort] field:{field} and missing_field:{missing} do not compare",
        "a missing_field of another kind",
    ),
    Rule.SORT_POINTS: invalid_row(
        "[sort] field:{field} must have points as latitude,longitude",
        "a sort by distance without points, or with texts that are none",
    ),
    Rule.SORT_NESTED: invalid_row(
        "[sort] field:{field} is not below the nested path [{path}]",
        "a nested filter of a sort at a path that the field does not lie below",
    ),
    Rule.COLLAPSE_FIELD: invalid_row(
        "[collapse] field:{field} {reason}", "a collapse by a field that does not allow it"
    ),
    Rule.AGG_NAME_EMPTY: invalid_row(
        "[{kind}] must have a name", "an aggregation or group-by without a name"
    ),
    Rule.AGG_NAME_DUPLICATE: invalid_row(
        "[{kind}] name:{name} is duplicated", "two aggregations or group-bys of one name"
    ),
    Rule.AGG_COUNT: invalid_row(
        "[{kind}] exceeds the number allowed in one request: {maximum}",
        "too many aggregations or group-bys",
    ),
    Rule.AGG_DEPTH: invalid_row(
        f"[groupby] levels must not exceed {GROUP_BY_LEVELS_MAX}",
        "group-bys too deep within each other",
    ),
    Rule.AGG_FIELD_UNKNOWN: invalid_row(
        "[{kind}] field: {field} does not exist",
        "an aggregation or group-by of an unknown field",
        published=True,
    ),
    Rule.AGG_FIELD_TYPE: invalid_row(
        "[{kind}] field_name:{field} type:{type} is invalid, allow [{allowed}]",
        "an aggregation or group-by of a field of another type",
        published=True,
    ),
    Rule.AGG_FIELD_UNSORTED: invalid_row(
        "[{kind}] field:{field} must enable enable_sort_and_agg, but enable_sort_and_agg is not "
        "enabled",
        "an aggregation or group-by of a field that is not kept for it",
        published=True,
    ),
    Rule.AGG_NESTED: invalid_row(
        "nested field aggregation/groupby must not be recursive",
        "a nested field below a group-by of another nested field",
        published=True,
    ),
    Rule.AGG_PERCENTILES: invalid_row(
        "[percentiles agg] percentiles must be in [0, 100]",
        "no percentage, too many, or one out of its range",
    ),
    Rule.TOP_ROWS_LIMIT: invalid_row(
        f"[top rows agg] limit must be in [1, {TOP_ROWS_MAX}], current is {{limit}}",
        "top rows with another limit",
    ),
    Rule.GROUP_SIZE: invalid_row(
        "[{kind}] size must be in [1, {maximum}], current is {size}",
        "a group-by with another size",
    ),
    Rule.GROUP_TOTAL: invalid_row(
        "[groupby] has more than {maximum} {what} on all levels",
        "group-bys that answer too many groups, values of metrics or top rows",
    ),
    Rule.GROUP_PARTS: invalid_row(
        "[{kind}] must have 1 to {maximum} {parts}", "a group-by of no parts or too many"
    ),
    Rule.GROUP_INTERVAL: invalid_row(
        "[{kind}] interval and offset are invalid", "a histogram with another interval or offset"
    ),
    Rule.GROUP_BUCKETS: invalid_row(
        "[{kind}] has more than {maximum} buckets", "a histogram with too many buckets"
    ),
    Rule.GROUP_RANGE: invalid_row(
        "[{kind}] field_range is invalid", "a histogram with an impossible field_range"
    ),
    Rule.GROUP_ZONE: invalid_row(
        "[{kind}] time_zone is invalid: {zone}", "a date histogram with another time zone"
    ),
    Rule.GROUP_PRECISION: invalid_row(
        "[groupby_geo_grid] precision is invalid: {precision}", "a geo grid of another precision"
    ),
    Rule.GROUP_SORT_METRIC: invalid_row(
        "[{kind}] sub_agg_name:{name} does not exist or has no single value",
        "groups sorted by an unknown metric",
    ),
    Rule.GROUP_TOKEN: invalid_row(
        "[groupby_composite] next_token is invalid", "a token that no composite page ended with"
    ),
    Rule.GROUP_LEVEL: invalid_row(
        "[groupby_composite] sources must lie at one nested path",
        "a composite of fields at several nested paths",
    ),
    Rule.HIGHLIGHT_FIELD: invalid_row(
        "highlighting is not supported for field[{field}]",
        "a highlight of a field that is not kept for it",
        published=True,
    ),
    Rule.HIGHLIGHT_SIZE: invalid_row(
        "[highlight] field:{field} number_of_fragments or fragment_size is invalid",
        "a highlight of fragments without size",
    ),
    Rule.INNER_HITS_WINDOW: invalid_row(
        f"[inner_hits] limit + offset must be in [0, {INNER_HITS_LIMIT_MAX}]",
        "too many inner hits, or fewer than none",
    ),
}
