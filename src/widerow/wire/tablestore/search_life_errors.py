"""What clients are told of the life of search indexes: rows of the table of errors.

Code, status, template, when, and whether the text is the service's own (`Foreign`); search §8.
"""

from typing import Final

from widerow.errors import Rule
from widerow.limits import SEARCH_SESSIONS_MAX
from widerow.wire.tablestore.error_rows import ErrorRow, invalid_row

__all__ = ["SEARCH_LIFE_ERRORS"]


SEARCH_LIFE_ERRORS: Final[dict[Rule, ErrorRow]] = {
    Rule.SEARCH_SWITCH_SELF: invalid_row(
        "invalid parameter: switch_index_name is the index itself",
        "UpdateSearchIndex that names the index twice",
    ),
    Rule.TABLE_HAS_SEARCH_INDEXES: invalid_row(
        "Table[{table}] who has at least one search index cannot be deleted",
        "DeleteTable of a table with search indexes",
        published=True,
    ),
    Rule.SEARCH_INDEX_BUILDING: (
        "OTSTableNotReady",
        404,
        "search index [{index}] is being built: {rows} rows so far",
        "a search of an index that is being built over many rows; SDKs repeat it by themselves",
        False,
    ),
    Rule.SEARCH_TIMEOUT: (
        "OTSTimeout",
        503,
        "Operation timeout.",
        "a search that takes longer than its timeout_ms",
        False,
    ),
    Rule.SEARCH_ANSWER_SIZE: invalid_row(
        "the rows of the answer have more than {limit} bytes: ask for fewer rows or columns",
        "a search whose rows are too large together",
    ),
    Rule.SEARCH_SCAN_PARALLEL_ID: invalid_row(
        "[parallel_scan.current_parallel_id] must in [0, max_parallel), current max_parallel is "
        "{max_parallel}, current_parallel_id is {parallel_id}",
        "ParallelScan of a part that there is not",
        published=True,
    ),
    Rule.SEARCH_SCAN_PARALLEL: invalid_row(
        "[parallel_scan.max_parallel_id] must in (0 ,{splits}], current max_parallel_id is "
        "{max_parallel}",
        "ParallelScan in more parts than ComputeSplits answered",
        published=True,
    ),
    Rule.SEARCH_SCAN_TOKEN: invalid_row(
        "[parallel_scan.token] is invalid", "ParallelScan with a token that was not answered to it"
    ),
    Rule.SEARCH_SESSION_EXPIRED: (
        "OTSSessionExpired",
        400,
        "ScanQuery'session is expired, please retry ComputeSplitsRequest and ScanQuery.",
        "ParallelScan in a session that is over, or of an index that was changed since",
        True,
    ),
    Rule.SEARCH_SESSION_COUNT: (
        "OTSQuotaExhausted",
        403,
        f"Number of parallel scans exceeds the quota: {SEARCH_SESSIONS_MAX}.",
        "more parallel scans at once than the server holds",
        False,
    ),
}
