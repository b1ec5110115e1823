"""The table of actions is whole, and each asks the engine for what it is named after."""

from operator import attrgetter
from types import FunctionType, SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from unittest.mock import Mock, create_autospec

import pytest

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.row_operations import RowOperations
from widerow.engine.tablestore.transactions.transactions import Transactions
from widerow.errors import Unsupported
from widerow.model.tablestore.requests import (
    BatchGet,
    BatchWrite,
    InTransaction,
    TableGet,
    TableWrite,
)
from widerow.model.tablestore.row import PrimaryKey
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.tablestore.selection import Selection
from widerow.model.values import ColumnType
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.operations.batches import BatchAnswer
from widerow.wire.tablestore.operations.table import OPERATIONS, UNSUPPORTED, operation
from widerow.wire.tablestore.operations.tables import AddDefinedColumn, DeleteDefinedColumn
from widerow.wire.tablestore.operations.transactions import StartTransaction

get_row = OPERATIONS["GetRow"]

if TYPE_CHECKING:
    from widerow.model.tablestore.answers import RowOutcome

SERVED = {
    "CreateTable": ("manage", True, "create_table"),
    "ListTable": ("read", False, "list_tables"),
    "DescribeTable": ("read", False, "describe_table"),
    "UpdateTable": ("manage", True, "update_table"),
    "DeleteTable": ("manage", True, "delete_table"),
    "CreateIndex": ("manage", True, "create"),
    "DropIndex": ("manage", True, "drop"),
    "AddDefinedColumn": ("manage", True, "add_defined_columns"),
    "DeleteDefinedColumn": ("manage", True, "delete_defined_columns"),
    "ComputeSplitPointsBySize": ("read", False, "compute_split_points"),
    "GetRow": ("read", False, "rows.get_row"),
    "BatchGetRow": ("read", False, "rows.batch_get_row"),
    "GetRange": ("read", False, "rows.get_range"),
    "PutRow": ("write", True, "rows.write_row"),
    "UpdateRow": ("write", True, "rows.write_row"),
    "DeleteRow": ("write", True, "rows.write_row"),
    "BatchWriteRow": ("write", True, "rows.batch_write_row"),
    "StartLocalTransaction": ("write", True, ""),
    "CommitTransaction": ("write", True, ""),
    "AbortTransaction": ("write", True, ""),
    "BulkImport": ("write", True, "rows.batch_write_row"),
    "BulkExport": ("read", False, "rows.get_range"),
    "ListStream": ("read", False, ""),
    "DescribeStream": ("read", False, ""),
    "GetShardIterator": ("read", False, ""),
    "GetStreamRecord": ("read", False, ""),
}
TUNNELS = {
    "tunnel/create": ("manage", True),
    "tunnel/delete": ("manage", True),
    "tunnel/list": ("read", False),
    "tunnel/describe": ("read", False),
    "tunnel/connect": ("read", True),
    "tunnel/heartbeat": ("read", True),
    "tunnel/shutdown": ("read", True),
    "tunnel/getcheckpoint": ("read", False),
    "tunnel/readrecords": ("read", False),
    "tunnel/checkpoint": ("read", True),
    "tunnel/getrpo": ("read", False),
    "tunnel/getrpobyoffset": ("read", False),
    "tunnel/schedule": ("manage", True),
}
DELIVERY = {
    "CreateDeliveryTask": ("manage", True),
    "DeleteDeliveryTask": ("manage", True),
    "DescribeDeliveryTask": ("read", False),
    "ListDeliveryTask": ("read", False),
}
SEARCHES = {
    "CreateSearchIndex": ("manage", True),
    "ListSearchIndex": ("read", False),
    "DescribeSearchIndex": ("read", False),
    "UpdateSearchIndex": ("manage", True),
    "DeleteSearchIndex": ("manage", True),
    "Search": ("read", False),
    "ComputeSplits": ("read", False),
    "ParallelScan": ("read", False),
    "SQLQuery": ("read", False),
}
SERIES = {
    **dict.fromkeys(
        (
            *("CreateTimeseriesTable", "UpdateTimeseriesTable", "DeleteTimeseriesTable"),
            *("CreateTimeseriesAnalyticalStore", "UpdateTimeseriesAnalyticalStore"),
            *("DeleteTimeseriesAnalyticalStore", "CreateTimeseriesLastpointIndex"),
            "DeleteTimeseriesLastpointIndex",
        ),
        ("manage", True),
    ),
    **dict.fromkeys(
        ("PutTimeseriesData", "UpdateTimeseriesMeta", "DeleteTimeseriesMeta"), ("write", True)
    ),
    **dict.fromkeys(
        (
            *("ListTimeseriesTable", "DescribeTimeseriesTable", "GetTimeseriesData"),
            *("QueryTimeseriesMeta", "SplitTimeseriesScanTask", "ScanTimeseriesData"),
            "DescribeTimeseriesAnalyticalStore",
        ),
        ("read", False),
    ),
}
BATCHES = ("BatchGetRow", "BatchWriteRow", "BulkImport")
LISTS = ("BulkExport",)
INDEXES = ("CreateIndex", "DropIndex")
STREAMS = ("ListStream", "DescribeStream", "GetShardIterator", "GetStreamRecord")
COLUMNS = ("AddDefinedColumn", "DeleteDefinedColumn")
TRANSACTIONS = ("StartLocalTransaction", "CommitTransaction", "AbortTransaction")


def test_the_actions_served() -> None:
    assert {o.name: (o.permission.value, o.writes) for o in OPERATIONS.values()} == {
        name: (permission, writes) for name, (permission, writes, _) in SERVED.items()
    } | TUNNELS | DELIVERY | SEARCHES | SERIES
    assert all(name == entry.name for name, entry in OPERATIONS.items())


def test_every_action_of_the_protocol_is_in_one_table_or_the_other() -> None:
    # protos §1 lists 78 actions
    assert not set(OPERATIONS) & set(UNSUPPORTED)
    assert len(OPERATIONS) + len(UNSUPPORTED) == 78


takes_a_stand_in = pytest.mark.skipif(
    not isinstance(get_row.call, FunctionType),
    reason="compiled actions take an engine only: the plain run has these",
)


def stand_in() -> Any:  # noqa: ANN401  # a stand-in for an engine
    engine = create_autospec(TablestoreEngine, instance=True)
    engine.rows = create_autospec(RowOperations, instance=True)
    return engine


@takes_a_stand_in
@pytest.mark.parametrize(
    "name",
    sorted(
        SERVED.keys() - {*BATCHES, *COLUMNS, *INDEXES, *LISTS, *STREAMS, *TRANSACTIONS},
    ),
)
def test_actions_ask_the_engine(name: str) -> None:
    engine = stand_in()
    answer, request = object(), object()
    method = attrgetter(SERVED[name][2])(engine)
    method.return_value = answer
    assert operation(name).call(engine, "instance", request) is answer
    expected = ("instance",) if name == "ListTable" else ("instance", request)
    if operation(name).call_within is not None:
        expected = (*expected, None)  # no budget
    method.assert_called_once_with(*expected)
    assert len(engine.mock_calls) == 1


@takes_a_stand_in
@pytest.mark.parametrize("name", INDEXES)
def test_actions_on_indexes_ask_the_indexes(name: str) -> None:
    engine, answer, request = Mock(), object(), object()
    method = getattr(engine.indexes, SERVED[name][2])
    method.return_value = answer
    assert operation(name).call(engine, "instance", request) is answer
    method.assert_called_once_with("instance", request)


def test_changes_of_defined_columns_ask_the_engine() -> None:
    engine = stand_in()
    column = DefinedColumn("c", ColumnType.INTEGER)
    added = AddDefinedColumn("T", (column,))
    answer = operation("AddDefinedColumn").call(engine, "instance", added)
    assert answer is engine.add_defined_columns.return_value
    engine.add_defined_columns.assert_called_once_with("instance", "T", (column,))
    deleted = DeleteDefinedColumn("T", ("c",))
    answer = operation("DeleteDefinedColumn").call(engine, "instance", deleted)
    assert answer is engine.delete_defined_columns.return_value
    engine.delete_defined_columns.assert_called_once_with("instance", "T", ("c",))


@takes_a_stand_in
def test_batches_of_reads_carry_the_names_of_their_tables() -> None:
    engine = stand_in()
    outcomes: list[list[RowOutcome]] = [[], []]
    engine.rows.batch_get_row.return_value = outcomes
    everything = Selection()
    request = BatchGet((TableGet("B", (), everything), TableGet("A", (), everything)))
    answer = operation("BatchGetRow").call(engine, "instance", request)
    assert answer == BatchAnswer(("B", "A"), outcomes)
    engine.rows.batch_get_row.assert_called_once_with("instance", request, None)


class _Finished(NamedTuple):
    """What the engine's plan was given."""

    outcomes: list[object]


@takes_a_stand_in
def test_batches_of_writes_carry_the_names_of_their_tables() -> None:
    engine = stand_in()
    plan = Plan((), lambda outcomes: _Finished(list(outcomes)), 17)
    engine.rows.batch_write_row.return_value = plan
    request = BatchWrite((TableWrite("B", ()), TableWrite("A", ())), atomic=True)
    named = operation("BatchWriteRow").call(engine, "instance", request)
    assert (named.writes, named.size) == (plan.writes, 17)
    answer = named.finish(["outcome"])
    assert answer.tables == ("B", "A")
    assert cast("_Finished", answer.outcomes).outcomes == ["outcome"]
    engine.rows.batch_write_row.assert_called_once_with("instance", request)


@pytest.mark.parametrize("name", sorted(UNSUPPORTED))
def test_actions_that_are_not_offered_say_so(name: str) -> None:
    with pytest.raises(Unsupported) as caught:
        operation(name)
    assert caught.value.rule is TablestoreRule.ACTION_UNSUPPORTED
    assert caught.value.details == {"action": name, "feature": UNSUPPORTED[name]}


@pytest.mark.parametrize("name", ["", "HelloWorld", "getrow", "GetRow/", "tunnel"])
def test_other_names_are_no_actions(name: str) -> None:
    with pytest.raises(Unsupported) as caught:
        operation(name)
    assert caught.value.rule is TablestoreRule.ACTION_UNKNOWN
    assert caught.value.details == {"action": name}


@takes_a_stand_in
def test_what_names_a_transaction_is_asked_of_the_transactions() -> None:
    """And everything about one (change §B1)."""
    transactions = create_autospec(Transactions, instance=True)
    engine: Any = SimpleNamespace(transactions=transactions)
    key = PrimaryKey((("k", "a"),))
    operation("StartLocalTransaction").call(engine, "i", StartTransaction("T", key))
    transactions.start.assert_called_once_with("i", "T", key)
    operation("CommitTransaction").call(engine, "i", "id")
    transactions.commit.assert_called_once_with("i", "id")
    operation("AbortTransaction").call(engine, "i", "id")
    transactions.abort.assert_called_once_with("i", "id")
    inside: InTransaction[object] = InTransaction("id", object())
    for name, method in (
        ("PutRow", transactions.write_row),
        ("UpdateRow", transactions.write_row),
        ("DeleteRow", transactions.write_row),
    ):
        method.reset_mock()
        operation(name).call(engine, "i", inside)
        method.assert_called_once_with("i", "id", inside.request)
    for name, method in (("GetRow", transactions.get_row), ("GetRange", transactions.get_range)):
        operation(name).call(engine, "i", inside)
        method.assert_called_once_with("i", "id", inside.request, None)


def test_answers_about_transactions() -> None:
    """Each tells what it consumed, as the service's do (change §B1)."""
    start = operation("StartLocalTransaction").encode("id")
    started = messages.StartLocalTransactionResponse.FromString(start)
    assert started.transaction_id == "id"
    commit = operation("CommitTransaction").encode(None)
    abort = operation("AbortTransaction").encode("id")
    for told in (
        started.consumed,
        messages.CommitTransactionResponse.FromString(commit).consumed,
        messages.AbortTransactionResponse.FromString(abort).consumed,
    ):
        units = told.capacity_unit
        assert (units.HasField("read"), units.read, units.write) == (True, 0, 1)
    # One client reads the answer of an abort as its request, whose field must be there (change §0).
    assert messages.AbortTransactionRequest.FromString(abort).IsInitialized()
    for name in TRANSACTIONS:
        consumed = operation(name).consumed
        assert consumed is not None
        assert consumed("id") == (0, 1)
