"""Injected faults are answered as by the service, and strike what they are for and nothing else."""

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tablestore import (
    INF_MAX,
    INF_MIN,
    BatchGetRowRequest,
    BatchWriteRowRequest,
    CapacityUnit,
    Condition,
    DefaultRetryPolicy,
    DeleteRowItem,
    OTSClient,
    OTSServiceError,
    PutRowItem,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    TableInBatchGetRowItem,
    TableInBatchWriteRowItem,
    TableMeta,
    TableOptions,
)
from tests.support.engines import open_tablestore
from tests.support.http import Sender, Wire, assert_refused
from tests.support.requests import (
    BODIES,
    DELIVERY_BODIES,
    SEARCH_BODIES,
    SERIES_BODIES,
    SQL_BODIES,
    STREAM_BODIES,
    TUNNEL_BODIES,
)
from urllib3.exceptions import ProtocolError

from widerow.server.dev.faults import Arrived, FaultBook, RequestFault
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore.errors.table import FAILURES, FOREIGN
from widerow.wire.tablestore.faults import FAULT_PARTS
from widerow.wire.tablestore.operations.table import OPERATIONS

IGNORE = Condition(RowExistenceExpectation.IGNORE)
SENDER = Sender(instance="test")
ALL_BODIES = {
    **BODIES,
    **SEARCH_BODIES,
    **STREAM_BODIES,
    **TUNNEL_BODIES,
    **DELIVERY_BODIES,
    **SERIES_BODIES,
    **SQL_BODIES,
}
# They name a transaction, a tunnel by its number, a stream, or nothing.
NAMELESS = {
    *("AbortTransaction", "CommitTransaction", "ListTable", "ListTimeseriesTable"),
    *("DescribeStream", "GetShardIterator", "GetStreamRecord"),
}


def make(client: OTSClient, *names: str) -> OTSClient:
    for name in names or ("t",):
        client.create_table(
            TableMeta(name, [("id", "INTEGER")]),
            TableOptions(time_to_live=-1),
            ReservedThroughput(CapacityUnit(0, 0)),
        )
    return client


def put(client: OTSClient, number: int, table: str = "t", value: int = 1) -> None:
    client.put_row(table, Row([("id", number)], [("v", value)]), IGNORE)


def held(client: OTSClient, table: str = "t") -> dict[int, int]:
    low, high = [("id", INF_MIN)], [("id", INF_MAX)]
    _, _, rows, _ = client.get_range(table, "FORWARD", low, high, [], None, max_version=1)
    return {row.primary_key[0][1]: row.attribute_columns[0][1] for row in rows}


@pytest.fixture
def client(server: WiderowServer) -> OTSClient:
    return make(server.client())


@pytest.mark.parametrize("code", list(FAULT_PARTS.codes))
def test_every_code_is_answered_as_the_service_does(memory: WiderowServer, code: str) -> None:
    memory.faults.add(code, action="ListTable")
    status, message = FAULT_PARTS.codes[code]
    with Wire(memory.endpoint) as wire:
        answer = wire.ask(SENDER.request("ListTable"))
        assert_refused(SENDER, "ListTable", answer, (status, code, message))
        other = wire.ask(SENDER.request("CreateTable", BODIES["CreateTable"]("t")))
        assert other.status == 200


def test_every_code_that_widerow_answers_can_be_injected() -> None:
    answered = [*FOREIGN.values(), *[each.foreign for each in FAILURES.values()]]
    for row in answered:
        assert FAULT_PARTS.codes[row.code][0] in {
            each.status for each in answered if each.code == row.code
        }
    for code, (status, message) in {
        "OTSServerBusy": (503, "Server is busy."),
        "OTSPartitionUnavailable": (503, "The partition is not available."),
        "OTSRowOperationConflict": (409, "Data is being modified by the other request."),
        "OTSTimeout": (503, "Operation timeout."),
        "OTSInternalServerError": (500, "Internal server error."),
        "OTSTableNotReady": (404, "The table is not ready."),
        "OTSNotEnoughCapacityUnit": (403, "Remaining capacity unit is not enough."),
    }.items():  # semantics §18.1
        assert FAULT_PARTS.codes[code] == (status, message)


@pytest.mark.parametrize("action", sorted(set(ALL_BODIES) & set(OPERATIONS)))
def test_the_table_of_every_action_is_known(action: str) -> None:
    """Of those that name a transaction, a tunnel or a stream: `test_fault_families.py`."""
    engine = open_tablestore(MemoryStore(), FakeClock(), FakeEntropy())
    asked = OPERATIONS[action].decode(ALL_BODIES[action]("named"))
    expected = set() if action in NAMELESS or action.startswith("tunnel/") else {"named"}
    found = set(FAULT_PARTS.tables(engine, "test", asked))
    assert found >= expected, asked


def test_a_message_of_ones_own(memory: WiderowServer) -> None:
    memory.faults.add("OTSQuotaExhausted", message="No more.")
    with pytest.raises(OTSServiceError) as told:
        memory.client().list_table()
    assert told.value.get_error_message() == "No more."


def test_before_a_write_nothing_is_written(server: WiderowServer, client: OTSClient) -> None:
    server.faults.add("OTSTimeout", action="PutRow", count=1)
    with pytest.raises(OTSServiceError, match="OTSTimeout"):
        put(client, 1)
    assert held(client) == {}
    put(client, 1)
    assert held(client) == {1: 1}


def test_after_a_write_it_is_written(server: WiderowServer, client: OTSClient) -> None:
    server.faults.add("OTSTimeout", action="PutRow", when="after", count=1)
    with pytest.raises(OTSServiceError, match="OTSTimeout"):
        put(client, 1)
    assert held(client) == {1: 1}


def test_after_a_refusal_the_refusal_is_answered(memory: WiderowServer) -> None:
    client = make(memory.client())
    memory.faults.add("OTSTimeout", when="after")
    with pytest.raises(OTSServiceError, match="OTSObjectNotExist"):
        put(client, 1, "other")


@pytest.mark.parametrize(("when", "there"), [("before", {}), ("after", {1: 1})])
def test_a_connection_is_cut(memory: WiderowServer, when: str, there: dict[int, int]) -> None:
    client = make(memory.client())
    memory.faults.add(drop=True, action="PutRow", when=when, count=1)
    body = BODIES["PutRow"]("u")
    with Wire(memory.endpoint) as wire:
        wire.ask(SENDER.request("CreateTable", BODIES["CreateTable"]("u")))
        wire.send(SENDER.request("PutRow", body))
        assert wire.ended()
    with Wire(memory.endpoint) as wire:
        assert wire.ask(SENDER.request("PutRow", body)).status == 200
    memory.faults.add(drop=True, action="PutRow", when=when, count=1)
    with pytest.raises(ProtocolError):
        put(client, 1)
    assert held(client) == there


@pytest.mark.parametrize("when", ["before", "after"])
def test_latency_holds_back_one_request_and_not_the_others(
    memory: WiderowServer, when: str
) -> None:
    memory.faults.add(latency_ms=300, action="PutRow", when=when, table="t")
    with Wire(memory.endpoint) as slow, Wire(memory.endpoint) as quick:
        slow.ask(SENDER.request("CreateTable", BODIES["CreateTable"]("t")))
        began = time.monotonic()
        slow.send(SENDER.request("GetRow", BODIES["GetRow"]("missing")))
        assert slow.read().status == 404
        slow.send(SENDER.request("ListTable"))
        assert slow.read().status == 200
        slow.send(SENDER.request("PutRow", BODIES["PutRow"]("t")))
        assert quick.ask(SENDER.request("ListTable")).status == 200
        assert slow.read().status == 200
        assert time.monotonic() - began >= 0.29


def test_a_server_that_stops_answers_what_is_held_back() -> None:
    server = WiderowServer()
    server.start()
    make(server.client())
    server.faults.add("OTSServerBusy", latency_ms=60_000)
    with Wire(server.endpoint) as wire, Wire(server.endpoint) as other:
        wire.send(SENDER.request("ListTable"))
        other.ask(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n")
        while not server.faults.all()[0]["struck"]:
            other.ask(b"GET /livez HTTP/1.1\r\nhost: localhost\r\n\r\n")
        began = time.monotonic()
        server.stop()
        assert time.monotonic() - began < 30
        assert wire.read().error[1] == "OTSServerBusy"


# --- batches --------------------------------------------------------------------------------------


def written(client: OTSClient, numbers: dict[str, range]) -> dict[str, list[str]]:
    """What a BatchWriteRow says of each row: its code, or nothing."""
    request = BatchWriteRowRequest()
    for table, rows in numbers.items():
        items = [PutRowItem(Row([("id", number)], [("v", 1)]), IGNORE) for number in rows]
        request.add(TableInBatchWriteRowItem(table, items))
    answer = client.batch_write_row(request)
    return {
        table: [item.error_code or "" for item in answer.get_put_by_table(table)]
        for table in numbers
    }


@pytest.mark.parametrize(
    ("when", "there"), [("before", {0: 1, 2: 1, 4: 1}), ("after", dict.fromkeys(range(5), 1))]
)
def test_some_rows_of_a_batch_fail(
    server: WiderowServer, client: OTSClient, when: str, there: dict[int, int]
) -> None:
    server.faults.add("OTSPartitionUnavailable", rows=[1, 3], when=when, count=1)
    lost = "OTSPartitionUnavailable"
    assert written(client, {"t": range(5)}) == {"t": ["", lost, "", lost, ""]}
    assert held(client) == there
    assert written(client, {"t": range(5)}) == {"t": [""] * 5}


def test_all_rows_of_a_batch_fail(memory: WiderowServer) -> None:
    client = make(memory.client())
    memory.faults.add("OTSServerBusy", rows=1.0, count=1)
    assert written(client, {"t": range(3)}) == {"t": ["OTSServerBusy"] * 3}
    assert held(client) == {}


def test_rows_of_one_table_of_a_batch_fail(memory: WiderowServer) -> None:
    client = make(memory.client(), "t", "u")
    memory.faults.add("OTSServerBusy", rows=1.0, table="u", action="BatchWriteRow")
    assert written(client, {"t": range(2), "u": range(3)}) == {
        "t": ["", ""],
        "u": ["OTSServerBusy"] * 3,
    }
    assert (held(client), held(client, "u")) == ({0: 1, 1: 1}, {})
    assert written(client, {"t": range(2)}) == {"t": ["", ""]}


@pytest.mark.parametrize("when", ["before", "after"])
def test_some_rows_of_a_batch_of_reads_fail(memory: WiderowServer, when: str) -> None:
    client = make(memory.client(), "t", "u")
    for number in range(4):
        put(client, number)
    put(client, 0, "u", 5)
    memory.faults.add("OTSTimeout", rows=[0, 2], when=when, action="BatchGetRow", table="t")
    request = BatchGetRowRequest()
    request.add(
        TableInBatchGetRowItem("t", [[("id", number)] for number in range(4)], max_version=1)
    )
    request.add(TableInBatchGetRowItem("u", [[("id", 0)]], max_version=1))
    answer = client.batch_get_row(request)
    rows = answer.get_result_by_table("t")
    assert [row.error_code or row.row.primary_key[0][1] for row in rows] == [
        "OTSTimeout",
        1,
        "OTSTimeout",
        3,
    ]
    assert [row.row.attribute_columns[0][1] for row in answer.get_result_by_table("u")] == [5]


def test_rows_of_a_batch_that_fail_by_themselves_still_do(memory: WiderowServer) -> None:
    client = make(memory.client())
    put(client, 1)
    memory.faults.add("OTSServerBusy", rows=[0])
    request = BatchWriteRowRequest()
    expect = Condition(RowExistenceExpectation.EXPECT_EXIST)
    items = [
        PutRowItem(Row([("id", 0)], [("v", 1)]), IGNORE),
        PutRowItem(Row([("id", 9)], [("v", 1)]), expect),
        DeleteRowItem(Row([("id", 1)]), IGNORE),
    ]
    request.add(TableInBatchWriteRowItem("t", items))
    answer = client.batch_write_row(request)
    codes = [item.error_code for item in answer.get_put_by_table("t")]
    assert codes == ["OTSServerBusy", "OTSConditionCheckFail"]
    assert held(client) == {}


def test_rows_of_other_actions_do_not_fail(memory: WiderowServer) -> None:
    client = make(memory.client())
    memory.faults.add("OTSServerBusy", rows=1.0)
    put(client, 1)
    assert held(client) == {1: 1}
    assert memory.faults.all()[0]["struck"] == 0


# --- which requests -------------------------------------------------------------------------------


def test_no_fault_leaks_into_another_instance_or_table(memory: WiderowServer) -> None:
    make(memory.client(), "t", "u")
    memory.faults.add("OTSServerBusy", instance="test", table="t")
    other = Sender(instance="other")
    with Wire(memory.endpoint) as wire:
        wire.ask(other.request("CreateTable", BODIES["CreateTable"]("t")))
        for action in ("PutRow", "GetRow", "UpdateRow", "GetRange", "DescribeTable"):
            body = BODIES[action]("t")
            assert wire.ask(other.request(action, body)).status == 200
            assert wire.ask(SENDER.request(action, body)).error[1] == "OTSServerBusy"
        assert wire.ask(SENDER.request("DescribeTable", BODIES["DescribeTable"]("u"))).status == 200
        assert wire.ask(SENDER.request("ListTable")).status == 200


def test_a_request_that_is_refused_anyway_is_not_struck(memory: WiderowServer) -> None:
    """A stranger learns nothing of faults, and uses none up."""
    memory.faults.add("OTSServerBusy", count=1)
    stranger = Sender(access_key_secret="wrong", instance="test")
    with Wire(memory.endpoint) as wire:
        assert wire.ask(stranger.request("ListTable")).error[1] == "OTSAuthFailed"
        assert wire.ask(SENDER.request("PutRow", b"\xff")).error[1] == "OTSParameterInvalid"
        assert wire.ask(SENDER.request("Nonsense")).error[1] == "OTSUnsupportOperation"
    assert memory.faults.all()[0]["seen"] == 0


def test_faults_are_counted_as_answers(memory: WiderowServer) -> None:
    memory.faults.add("OTSTimeout", action="ListTable")
    with Wire(memory.endpoint) as wire:
        wire.ask(SENDER.request("ListTable"))
        page = wire.ask(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n").body.decode()
    assert 'widerow_requests_total{action="ListTable",code="OTSTimeout"} 1\n' in page
    assert "widerow_faults_struck_total 1\n" in page


ARRIVED = Arrived("BatchWriteRow", "i", frozenset("t"), ("t",) * 8)


def strikes(fault: RequestFault, requests: int = 40) -> list[Any]:
    book = FaultBook()
    book.add(fault, FAULT_PARTS)
    found = [book.strike(ARRIVED) for _ in range(requests)]
    return [None if strike is None else strike.rows or True for strike in found]


@given(st.integers(0, 10), st.integers(1, 10))
def test_so_many_pass_and_so_many_are_struck(skip: int, count: int) -> None:
    found = strikes(RequestFault("OTSTimeout", skip=skip, count=count))
    assert found == [None] * skip + [True] * count + [None] * (40 - skip - count)


@given(st.floats(0, 1), st.integers(0, 2**63 - 1))
def test_the_same_seed_strikes_the_same_requests(probability: float, seed: int) -> None:
    fault = RequestFault("OTSTimeout", probability=probability, seed=seed, rows=0.5)
    assert strikes(fault) == strikes(fault)


def test_probabilities_and_shares_are_what_they_say() -> None:
    assert strikes(RequestFault("OTSTimeout", probability=0.0)) == [None] * 40
    half = strikes(RequestFault("OTSTimeout", probability=0.5, seed=1), 4000)
    assert 1800 < sum(each is not None for each in half) < 2200
    rows = strikes(RequestFault("OTSTimeout", rows=0.25, seed=2), 1000)
    assert 1700 < sum(sum(each) for each in rows if each) < 2300


def test_the_first_fault_that_strikes_is_the_one(memory: WiderowServer) -> None:
    first = memory.faults.add("OTSTimeout", count=1)
    second = memory.faults.add("OTSServerBusy", count=1)
    with Wire(memory.endpoint) as wire:
        codes = [wire.ask(SENDER.request("ListTable")).error[1] for _ in range(2)]
        assert wire.ask(SENDER.request("ListTable")).status == 200
    assert codes == ["OTSTimeout", "OTSServerBusy"]
    assert [memory.faults.struck(each) for each in (first, second)] == [1, 1]


def test_the_sdk_asks_again(memory: WiderowServer) -> None:
    client = make(memory.client(retry_policy=DefaultRetryPolicy()))
    fault = memory.faults.add("OTSRowOperationConflict", action="PutRow", count=2)
    put(client, 1)
    assert memory.faults.struck(fault) == 2
