"""Which call of which vendor's SDK each action is reached by, and what makes the call here.

Indexes, local transactions, streams, tunnels, bulk requests (change §A9, §B4, §C1, §C2, §D) and
searches (search §9). An
SDK that does not stand beside an action has no call for it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

__all__ = ["MATRIX", "OF_EARLIER_SUITES", "SDKS", "Call"]

SDKS: Final = ("python", "node", "go", "java")


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
_HOW_FAR: Final = "test_the_sdk_reads_how_far_a_tunnel_is"

MATRIX: Final[Mapping[str, Mapping[str, Call]]] = MappingProxyType(
    {
        "CreateSearchIndex": _searched("createSearchIndex", _LIFE),
        "ListSearchIndex": _searched("listSearchIndex", _LIFE),
        "DescribeSearchIndex": _searched("describeSearchIndex", _LIFE),
        "UpdateSearchIndex": _searched("updateSearchIndex", _LIFE_CHANGED),
        "DeleteSearchIndex": _searched("deleteSearchIndex", _LIFE),
        "Search": _searched("search", "test_counts_of_the_suites"),
        "ComputeSplits": _searched("computeSplits", _SCANNED),
        "ParallelScan": _searched("parallelScan", _SCANNED),
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
        "tunnel/shutdown": _consumed(".shutdownTunnel("),
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

OF_EARLIER_SUITES: Final = frozenset(
    (
        *("CreateTable", "ListTable", "DescribeTable", "UpdateTable", "DeleteTable"),
        *("AddDefinedColumn", "DeleteDefinedColumn", "ComputeSplitPointsBySize"),
        *("GetRow", "BatchGetRow", "GetRange"),
        *("PutRow", "UpdateRow", "DeleteRow", "BatchWriteRow"),
        "ListTimeseriesTable",
    )
)
"""Served actions of no such family: tables, rows, and the list that is always empty."""
