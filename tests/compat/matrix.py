"""Which call of which vendor's SDK each action is reached by, and what makes the call here.

Tables and rows, indexes, local transactions, streams, tunnels, bulk requests (change §A9, §B4, §C1,
§C2, §D), searches (search §9) and SQL (sql §13) and timeseries tables
(timeseries §14). An SDK that does not stand beside an action has no call for it. The page of
actions is made of this table (page.py).
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

__all__ = [
    "DRIVERS",
    "DRIVER_OPERATIONS",
    "MATRIX",
    "SDKS",
    "STORES",
    "Call",
]

SDKS: Final = ("python", "node", "go", "java")
DRIVERS: Final = tuple(f"nosql-{language}" for language in SDKS)
"""Of Oracle NoSQL; all make the same calls (tests/compat/nosql)."""
DRIVER_OPERATIONS: Final = (
    *("GET", "PUT", "PUT_IF_ABSENT", "PUT_IF_PRESENT", "PUT_IF_VERSION"),
    *("DELETE", "DELETE_IF_VERSION", "MULTI_DELETE", "WRITE_MULTIPLE", "PREPARE", "QUERY"),
    *("TABLE_REQUEST", "GET_TABLE", "LIST_TABLES", "GET_INDEXES", "GET_TABLE_USAGE"),
)
"""Those that the drivers' programs call."""
STORES: Final = ("rocksdb", "postgres", "hbase")
"""Over which the programs and clients of all SDKs run; the first is the one of `widerow serve`."""


class Call(NamedTuple):
    """`text` is how `program` makes the call, and `test` of `judge` looks at what came of it.

    Both files by their names below this directory.
    """

    text: str
    program: str
    judge: str
    test: str


_PY_INDEXES: Final = "python/test_indexes.py"
_PY_TRANSACTIONS: Final = "python/test_transactions.py"
_INDEXED: Final = "test_indexes_are_made_read_and_dropped"
_COMMITTED: Final = "test_a_transaction_is_seen_inside_and_after_its_commit"
_TOLD: Final = "test_a_stream_tells_what_was_written"
_DELIVERED: Final = "test_a_delivery_task_from_its_creation_to_its_end"
_MANAGED: Final = "test_tunnels_are_made_listed_described_and_deleted"
_CONSUMED: Final = "test_a_channel_is_consumed_call_by_call"


def _go_index(text: str) -> Call:
    return Call(text, "go/indexes.go", "go/test_go_sdk.py", _INDEXED)


def _java_index(text: str) -> Call:
    return Call(text, "java/Indexes.java", "java/test_java_sdk.py", _INDEXED)


def _node_index(text: str) -> Call:
    return Call(text, "node/changes.js", "node/test_changes.py", _INDEXED)


def _transaction(python: Call, node: str, go: str, java: str) -> dict[str, Call]:
    return {
        "python": python,
        "node": Call(node, "node/changes.js", "node/test_changes.py", _COMMITTED),
        "go": Call(go, "go/transactions.go", "go/test_go_sdk.py", _COMMITTED),
        "java": Call(java, "java/Transactions.java", "java/test_java_sdk.py", _COMMITTED),
    }


def _delivery(what: str) -> dict[str, Call]:
    go, java = f".{what}DeliveryTask(", f".{what.lower()}DeliveryTask("
    return {
        "go": Call(go, "go/delivery.go", "go/test_go_sdk.py", _DELIVERED),
        "java": Call(java, "java/Delivery.java", "java/test_java_sdk.py", _DELIVERED),
    }


def _stream(go: str, java: str) -> dict[str, Call]:
    return {
        "go": Call(go, "go/streams.go", "go/test_go_streams.py", _TOLD),
        "java": Call(java, "java/Streams.java", "java/test_java_streams.py", _TOLD),
    }


def _managed(go: str, java: str) -> dict[str, Call]:
    return {
        "go": Call(go, "go/consumer/manage.go", "go/test_go_tunnels.py", _MANAGED),
        "java": Call(java, "java/Tunnels.java", "java/test_java_sdk.py", _MANAGED),
    }


def _consumed(java: str) -> dict[str, Call]:
    """Go makes these calls out of its worker only."""
    return {
        "go": Call(
            "tunnel.NewTunnelDaemon(",
            "go/consumer/main.go",
            "go/test_go_tunnels.py",
            "test_workers_that_die_and_servers_that_restart_lose_nothing",
        ),
        "java": Call(java, "java/Tunnels.java", "java/test_java_sdk.py", _CONSUMED),
    }


def _go_tunnel(text: str, test: str) -> dict[str, Call]:
    return {"go": Call(text, "go/consumer/manage.go", "go/test_go_tunnels.py", test)}


def _bulk(text: str, test: str) -> dict[str, Call]:
    return {"java": Call(text, "java/Bulk.java", "java/test_java_sdk.py", test)}


class _Judges(NamedTuple):
    """What looks at an action on tables or rows: in Python the file and the test, else the test.

    Nothing where the SDK has no call for it.
    """

    python: tuple[str, str] | None
    node: str = ""
    go: str = ""
    java: str = ""


_GO_FILES: Final = {"Table": "tables.go", "Column": "tables.go", "Batch": "batches.go"}
_JAVA_NAMES: Final = {"ComputeSplitPointsBySize": ".computeSplitsBySize("}
_JAVA_FILES: Final = {"Table": "Tables.java", "Column": "Tables.java", "Batch": "Batches.java"}


def _of_tables_and_rows(action: str, judges: _Judges) -> dict[str, Call]:
    """An action by its name as Go spells it; the others change the case."""
    lower = f".{action[0].lower()}{action[1:]}("
    snake = "".join(f"_{each.lower()}" if each.isupper() else each for each in action)[1:]
    calls: dict[str, Call] = {}
    if judges.python:
        file = f"python/{judges.python[0]}"
        calls["python"] = Call(f".{snake}(", file, file, judges.python[1])
    if judges.node:
        calls["node"] = Call(
            lower, "node/every_action.js", "node/test_every_action.py", judges.node
        )
    go = f"go/{_file_of(action, _GO_FILES, 'ranges.go', 'rows.go')}"
    java = f"java/{_file_of(action, _JAVA_FILES, 'Ranges.java', 'Rows.java')}"
    if judges.go:
        calls["go"] = Call(f".{action}(", go, "go/test_go_sdk.py", judges.go)
    if judges.java:
        calls["java"] = Call(
            _JAVA_NAMES.get(action, lower), java, "java/test_java_sdk.py", judges.java
        )
    return calls


def _file_of(action: str, files: Mapping[str, str], of_ranges: str, of_rows: str) -> str:
    found = [file for word, file in files.items() if word in action]
    ranged = action in ("GetRange", "ComputeSplitPointsBySize")
    return found[0] if found else of_ranges if ranged else of_rows


_DESCRIBED: Final = "test_a_table_is_described_as_it_was_created"
_LISTED: Final = "test_tables_are_listed_and_deleted"
_COLUMNS: Final = "test_defined_columns_come_and_go"
_TYPES: Final = "test_every_type_of_value_comes_back_as_it_was_written"
_UPDATED: Final = "test_an_update_puts_deletes_and_increments"
_DELETED: Final = "test_a_deleted_row_is_gone_and_deleting_none_is_fine"
_AROUND: Final = "test_a_batch_writes_around_the_rows_that_fail"
_BOTH_TABLES: Final = "test_a_batch_reads_rows_of_two_tables"
_BOTH_WAYS: Final = "test_ranges_are_read_in_pages_both_ways"
_OPTIONS: Final = "test_updates_answer_the_options_and_the_stream"
_PARTS: Final = "test_split_points_are_keys_and_parts_have_places"
_TABLES_AND_ROWS: Final[Mapping[str, _Judges]] = MappingProxyType(
    {
        "CreateTable": _Judges(
            ("test_tables.py", "test_a_key_is_described_as_it_was_declared"),
            "test_tables_are_described",
            _DESCRIBED,
            _DESCRIBED,
        ),
        "ListTable": _Judges(
            ("test_tables.py", "test_tables_are_listed_until_they_are_deleted"),
            "test_tables_are_listed",
            _LISTED,
            _LISTED,
        ),
        "DescribeTable": _Judges(
            ("test_tables.py", "test_a_key_is_described_as_it_was_declared"),
            "test_tables_are_described",
            _DESCRIBED,
            _DESCRIBED,
        ),
        "UpdateTable": _Judges(
            ("test_tables.py", "test_options_are_kept_and_changed_at_once"),
            "test_updates_of_tables_are_answered_with_the_options",
            _OPTIONS,
            _OPTIONS,
        ),
        "DeleteTable": _Judges(
            ("test_tables.py", "test_tables_are_listed_until_they_are_deleted"),
            "test_steps_without_an_answer_of_interest_succeed",
            _LISTED,
            _LISTED,
        ),
        "AddDefinedColumn": _Judges(None, "", _COLUMNS, _COLUMNS),
        "DeleteDefinedColumn": _Judges(None, "", _COLUMNS, _COLUMNS),
        "ComputeSplitPointsBySize": _Judges(None, "", _PARTS, _PARTS),
        "PutRow": _Judges(
            ("test_rows.py", "test_every_type_comes_back_as_it_went"),
            "test_values_of_every_type_come_back",
            _TYPES,
            _TYPES,
        ),
        "GetRow": _Judges(
            ("test_rows.py", "test_every_type_comes_back_as_it_went"),
            "test_values_of_every_type_come_back",
            _TYPES,
            _TYPES,
        ),
        "UpdateRow": _Judges(
            ("test_rows.py", "test_update_puts_deletes_and_increments"),
            "test_updates_put_delete_and_count",
            _UPDATED,
            _UPDATED,
        ),
        "DeleteRow": _Judges(
            ("test_rows.py", "test_a_deleted_row_is_gone_and_can_be_written_again"),
            "test_rows_that_are_not_there_are_empty",
            _DELETED,
            _DELETED,
        ),
        "BatchWriteRow": _Judges(
            ("test_batches.py", "test_a_failed_row_does_not_stop_the_others"),
            "test_batches_fail_row_by_row",
            _AROUND,
            _AROUND,
        ),
        "BatchGetRow": _Judges(
            ("test_batches.py", "test_reads_take_repeated_keys_filters_and_columns"),
            "test_batches_read_row_by_row",
            _BOTH_TABLES,
            _BOTH_TABLES,
        ),
        "GetRange": _Judges(
            ("test_ranges.py", "test_pages_follow_one_another"),
            "test_ranges_in_both_directions",
            _BOTH_WAYS,
            _BOTH_WAYS,
        ),
    }
)


_LIFE: Final = "test_an_index_from_its_creation_to_its_end"
_LIFE_CHANGED: Final = "test_an_index_that_forgets_rows"
_SCANNED: Final = "test_a_parallel_scan_sees_every_row_once"
_SEARCH_TESTS: Final = {
    "search": "test_queries_of_every_type",
    "computeSplits": "test_a_scan_sees_every_row",
    "parallelScan": "test_a_scan_sees_every_row",
}


def _searched(name: str, python: str) -> dict[str, Call]:
    """A call by its name as Node and Java spell it; which test judges it in Python."""
    snake = "".join(f"_{each.lower()}" if each.isupper() else each for each in name)
    go = f".{name[0].upper()}{name[1:]}("
    life = name not in _SEARCH_TESTS
    return {
        "python": Call(f".{snake}(", "python/test_search.py", "python/test_search.py", python),
        "node": Call(
            f".{name}(",
            "node/search.js",
            "node/test_search.py",
            "test_indexes_are_listed_and_deleted" if life else _SEARCH_TESTS[name],
        ),
        "go": Call(
            go,
            "go/search.go",
            "go/test_go_search.py",
            "test_indexes_change_places_and_go" if life else _SEARCH_TESTS[name],
        ),
        "java": Call(
            f".{name}(",
            "java/Searches.java",
            "java/test_java_search.py",
            "test_an_index_is_made_changed_and_deleted" if life else _SEARCH_TESTS[name],
        ),
    }


_LATER: Final = Call(
    ".create_secondary_index(",
    _PY_INDEXES,
    _PY_INDEXES,
    "test_a_small_table_is_indexed_when_create_index_answers",
)
_BATCH_WRITTEN: Final = "test_a_batch_is_written_inside_around_the_rows_that_fail"
_SERIES_TABLES: Final = "test_timeseries_tables_from_creation_to_deletion"
_SERIES_STORES: Final = "test_analytical_stores_are_made_changed_and_deleted"
_SERIES_LAST: Final = "test_last_points_are_rows"


def _series(
    action: str,
    test: str,
    of_sdks: str = "python go java",
    files: tuple[str, str] = ("timeseries.go", "Series.java"),
) -> dict[str, Call]:
    """An action on timeseries tables by its name as Go spells it; files of Go and Java."""
    snake = "".join(f"_{each.lower()}" if each.isupper() else each for each in action)[1:]
    python, judge = "python/test_timeseries.py", {"test_points_and_metas": "_through_the_sdk"}
    go, java = files
    calls = {
        "python": Call(f".{snake}(", python, python, test + judge.get(test, "")),
        "go": Call(f".{action}(", f"go/{go}", "go/test_go_timeseries.py", test),
        "java": Call(
            f".{action[0].lower()}{action[1:]}(",
            f"java/{java}",
            "java/test_java_timeseries.py",
            test,
        ),
    }
    return {sdk: calls[sdk] for sdk in of_sdks.split()}


_BESIDE_POINTS: Final = ("lastpoints.go", "LastPoints.java")
_SERIES: Final = {
    **{
        f"{verb}TimeseriesTable": _series(f"{verb}TimeseriesTable", _SERIES_TABLES)
        for verb in ("Create", "List", "Describe", "Update", "Delete")
    },
    **{
        action: _series(action, "test_points_and_metas")
        for action in (
            "PutTimeseriesData",
            "GetTimeseriesData",
            "QueryTimeseriesMeta",
            "UpdateTimeseriesMeta",
            "DeleteTimeseriesMeta",
        )
    },
    **{
        action: _series(action, "test_scans_see_every_point_once", "java", ("", "Scans.java"))
        for action in ("SplitTimeseriesScanTask", "ScanTimeseriesData")
    },
    **{
        f"{verb}TimeseriesAnalyticalStore": _series(
            f"{verb}TimeseriesAnalyticalStore", _SERIES_STORES, "go java", _BESIDE_POINTS
        )
        for verb in ("Create", "Update", "Delete", "Describe")
    },
    **{
        f"{verb}TimeseriesLastpointIndex": _series(
            f"{verb}TimeseriesLastpointIndex", _SERIES_LAST, "go java", _BESIDE_POINTS
        )
        for verb in ("Create", "Delete")
    },
}
_STATED: Final = "test_statements_are_answered"
_HOW_FAR: Final = "test_the_sdk_reads_how_far_a_tunnel_is"

MATRIX: Final[Mapping[str, Mapping[str, Call]]] = MappingProxyType(
    {
        **{action: _of_tables_and_rows(action, each) for action, each in _TABLES_AND_ROWS.items()},
        "CreateSearchIndex": _searched("createSearchIndex", _LIFE),
        "ListSearchIndex": _searched("listSearchIndex", _LIFE),
        "DescribeSearchIndex": _searched("describeSearchIndex", _LIFE),
        "UpdateSearchIndex": _searched("updateSearchIndex", _LIFE_CHANGED),
        "DeleteSearchIndex": _searched("deleteSearchIndex", _LIFE),
        "Search": _searched("search", "test_counts_of_the_suites"),
        "ComputeSplits": _searched("computeSplits", _SCANNED),
        "ParallelScan": _searched("parallelScan", _SCANNED),
        **_SERIES,
        "SQLQuery": {
            "python": Call(
                ".exe_sql_query(",
                "python/test_sql.py",
                "python/test_sql.py",
                "test_statements_through_the_sdk",
            ),
            "node": Call(".sqlQuery(", "node/sql.js", "node/test_sql.py", _STATED),
            "go": Call(".SQLQuery(", "go/sql.go", "go/test_go_sql.py", _STATED),
            "java": Call(".sqlQuery(", "java/Statements.java", "java/test_java_sql.py", _STATED),
        },
        "CreateIndex": {
            "python": _LATER,
            "node": _node_index(".createIndex("),
            "go": _go_index(".CreateIndex("),
            "java": _java_index(".createIndex("),
        },
        "DropIndex": {
            "python": Call(
                ".delete_secondary_index(",
                _PY_INDEXES,
                _PY_INDEXES,
                "test_describe_table_lists_indexes_as_they_were_given",
            ),
            "node": _node_index(".dropIndex("),
            "go": _go_index(".DeleteIndex("),
            "java": _java_index(".deleteIndex("),
        },
        "StartLocalTransaction": _transaction(
            Call(".start_local_transaction(", _PY_TRANSACTIONS, _PY_TRANSACTIONS, _BATCH_WRITTEN),
            ".startLocalTransaction(",
            ".StartLocalTransaction(",
            ".startLocalTransaction(",
        ),
        "CommitTransaction": _transaction(
            Call(".commit_transaction ", _PY_TRANSACTIONS, _PY_TRANSACTIONS, _BATCH_WRITTEN),
            ".commitTransaction(",
            ".CommitTransaction(",
            ".commitTransaction(",
        ),
        "AbortTransaction": _transaction(
            Call(".abort_transaction)", _PY_TRANSACTIONS, _PY_TRANSACTIONS, _BATCH_WRITTEN),
            "[`${end}Transaction`](",
            ".AbortTransaction(",
            ".abortTransaction(",
        ),
        "ListStream": _stream(".ListStream(", ".listStream("),
        "DescribeStream": _stream(".DescribeStream(", ".describeStream("),
        "GetShardIterator": _stream(".GetShardIterator(", ".getShardIterator("),
        "GetStreamRecord": _stream(".GetStreamRecord(", ".getStreamRecord("),
        "BulkImport": _bulk(".bulkImport(", "test_an_import_writes_around_the_rows_that_fail"),
        "BulkExport": _bulk(
            ".bulkExport(", "test_an_export_is_the_matrix_of_the_columns_asked_for"
        ),
        "CreateDeliveryTask": _delivery("Create"),
        "DescribeDeliveryTask": _delivery("Describe"),
        "ListDeliveryTask": _delivery("List"),
        "DeleteDeliveryTask": _delivery("Delete"),
        "tunnel/create": _managed(".CreateTunnel(", ".createTunnel("),
        "tunnel/delete": _managed(".DeleteTunnel(", ".deleteTunnel("),
        "tunnel/list": _managed(".ListTunnel(", ".listTunnel("),
        "tunnel/describe": _managed(".DescribeTunnel(", ".describeTunnel("),
        "tunnel/connect": _consumed(".connectTunnel("),
        "tunnel/heartbeat": _consumed(".heartbeat("),
        "tunnel/shutdown": {
            **_consumed(".shutdownTunnel("),
            "go": Call(
                "daemon.Close()",
                "go/consumer/main.go",
                "go/test_go_tunnels.py",
                "test_a_worker_takes_the_points_of_a_timeseries_table",
            ),
        },
        "tunnel/getcheckpoint": _consumed(".getCheckpoint("),
        "tunnel/readrecords": _consumed(".readRecords("),
        "tunnel/checkpoint": _consumed(".checkpoint("),
        "tunnel/getrpo": _go_tunnel(".GetRpo(", _HOW_FAR),
        "tunnel/getrpobyoffset": _go_tunnel(".GetRpoByOffset(", _HOW_FAR),
        "tunnel/schedule": _go_tunnel(
            ".Schedule(", "test_a_free_channel_is_stopped_resumed_and_ended"
        ),
    }
)
"""From each action to the SDKs that have a call for it."""
