"""Local transactions through the vendor's SDK: the assertions of its own tests (change §B4)."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tablestore as ts
from tablestore.retry import NoRetryPolicy
from tests.support.forked import ForkedServer

from widerow.testing.server import WiderowServer

KEY = [("PK0", "a"), ("PK1", 1)]
IGNORE = ts.Condition(ts.RowExistenceExpectation.IGNORE)


def make_table(client: ts.OTSClient, name: str = "T") -> None:
    client.create_table(
        ts.TableMeta(name, [("PK0", "STRING"), ("PK1", "INTEGER")]),
        ts.TableOptions(),
        ts.ReservedThroughput(ts.CapacityUnit(0, 0)),
    )


def start(client: ts.OTSClient, key: str = "a") -> str:
    identity = client.start_local_transaction("T", [("PK0", key)])
    assert isinstance(identity, str)
    return identity


def columns(client: ts.OTSClient, key: Any = None, **inside: str) -> dict[str, Any] | None:  # noqa: ANN401  # as the SDK takes it
    _, row, _ = client.get_row("T", key or KEY, max_version=1, **inside)
    return None if row is None else {name: value for name, value, _ in row.attribute_columns}


def count(client: ts.OTSClient, **inside: str) -> int:
    _, following, rows, _ = client.get_range(
        "T",
        ts.Direction.FORWARD,
        [("PK0", "a"), ("PK1", ts.INF_MIN)],
        [("PK0", "a"), ("PK1", ts.INF_MAX)],
        max_version=1,
        **inside,
    )
    assert following is None
    return len(rows)


def refused(call: Callable[[], object]) -> tuple[int, str, str]:
    with pytest.raises(ts.OTSServiceError) as caught:
        call()
    error = caught.value
    return error.get_http_status(), error.get_error_code(), error.get_error_message()


def put(client: ts.OTSClient, inside: str) -> None:
    client.put_row("T", ts.Row(KEY, [("c", "new")]), IGNORE, transaction_id=inside)


def update(client: ts.OTSClient, inside: str) -> None:
    change = ts.Row(KEY, {"put": [("c", "new")]})
    client.update_row("T", change, IGNORE, transaction_id=inside)


def batch(client: ts.OTSClient, inside: str) -> None:
    request = ts.BatchWriteRowRequest()
    row = ts.PutRowItem(ts.Row(KEY, [("c", "new")]), IGNORE)
    request.add(ts.TableInBatchWriteRowItem("T", [row]))
    request.set_transaction_id(inside)
    assert client.batch_write_row(request).is_all_succeed()


@pytest.mark.parametrize("write", [put, update, batch])
@pytest.mark.parametrize("commits", [True, False])
def test_a_write_is_seen_inside_and_with_the_commit_by_all(
    ots: ts.OTSClient, write: Callable[[ts.OTSClient, str], None], *, commits: bool
) -> None:
    make_table(ots)
    ots.put_row("T", ts.Row(KEY, [("c", "old")]))
    inside = start(ots)
    write(ots, inside)
    assert columns(ots, transaction_id=inside) == {"c": "new"}
    assert columns(ots) == {"c": "old"}
    (ots.commit_transaction if commits else ots.abort_transaction)(inside)
    assert columns(ots) == {"c": "new" if commits else "old"}


@pytest.mark.parametrize("commits", [True, False])
def test_a_delete_is_seen_inside_and_with_the_commit_by_all(
    ots: ts.OTSClient, *, commits: bool
) -> None:
    make_table(ots)
    ots.put_row("T", ts.Row(KEY, [("c", "old")]))
    inside = start(ots)
    ots.delete_row("T", ts.Row(KEY), IGNORE, transaction_id=inside)
    assert (count(ots, transaction_id=inside), count(ots)) == (0, 1)
    assert columns(ots, transaction_id=inside) is None
    (ots.commit_transaction if commits else ots.abort_transaction)(inside)
    assert count(ots) == (0 if commits else 1)


@pytest.mark.parametrize("commits", [True, False])
def test_a_batch_is_written_inside_around_the_rows_that_fail(
    ots: ts.OTSClient, *, commits: bool
) -> None:
    """Rows of the key only; each has its own result, and the transaction stays (change §B3)."""
    make_table(ots)
    for n in (1, 2, 3, 4):
        ots.put_row("T", ts.Row([("PK0", "a"), ("PK1", n)], [("c", "old")]))
    inside = start(ots)
    absent = ts.Condition(ts.RowExistenceExpectation.EXPECT_NOT_EXIST)
    request = ts.BatchWriteRowRequest()
    rows = [
        ts.PutRowItem(ts.Row([("PK0", "a"), ("PK1", 1)], [("c", "put")]), IGNORE),
        ts.UpdateRowItem(ts.Row([("PK0", "a"), ("PK1", 2)], {"put": [("d", "more")]}), IGNORE),
        ts.DeleteRowItem(ts.Row([("PK0", "a"), ("PK1", 3)]), IGNORE),
        ts.PutRowItem(ts.Row([("PK0", "b"), ("PK1", 1)], [("c", "outside")]), IGNORE),
        ts.PutRowItem(ts.Row([("PK0", "a"), ("PK1", 4)], [("c", "there")]), absent),
    ]
    request.add(ts.TableInBatchWriteRowItem("T", rows))
    request.set_transaction_id(inside)
    answer = ots.batch_write_row(request)
    failed = [each.error_code for each in answer.get_put_by_table("T") if not each.is_ok]
    assert failed == ["OTSDataOutOfRange", "OTSConditionCheckFail"]
    others = [*answer.get_update_by_table("T"), *answer.get_delete_by_table("T")]
    assert [each.is_ok for each in others] == [True, True]
    assert (count(ots, transaction_id=inside), count(ots)) == (3, 4)
    (ots.commit_transaction if commits else ots.abort_transaction)(inside)
    assert count(ots) == (3 if commits else 4)
    second = {"c": "old", "d": "more"} if commits else {"c": "old"}
    assert columns(ots, [("PK0", "a"), ("PK1", 2)]) == second
    assert columns(ots) == {"c": "put" if commits else "old"}


def test_what_the_protocol_says_of_ids(ots: ts.OTSClient, other: ts.OTSClient) -> None:
    make_table(ots)
    invalid = (400, "OTSParameterInvalid", "TransactionID is invalid.")
    ended = (404, "OTSSessionNotExist", "Session not exist or may be timeout.")
    assert refused(lambda: put(ots, "not existed transaction id")) == invalid
    assert refused(lambda: ots.commit_transaction("")) == invalid
    assert refused(lambda: ots.abort_transaction("x" * 100_000)) == invalid
    inside = start(ots)
    assert refused(lambda: other.commit_transaction(inside)) == ended
    ots.commit_transaction(inside)
    assert refused(lambda: ots.commit_transaction(inside)) == ended
    assert refused(lambda: ots.abort_transaction(inside)) == ended
    assert refused(lambda: put(ots, inside)) == ended


def test_what_is_no_start(ots: ts.OTSClient) -> None:
    make_table(ots)
    begin = ots.start_local_transaction
    assert refused(lambda: begin("T", KEY)) == (
        400,
        "OTSParameterInvalid",
        "StartLocalTransaction support only one primary key.",
    )
    assert refused(lambda: begin("", [("PK0", "a")])) == (
        400,
        "OTSParameterInvalid",
        "Invalid table name: ''.",
    )
    assert refused(lambda: begin("missing", [("PK0", "a")]))[:2] == (404, "OTSObjectNotExist")
    assert refused(lambda: begin("T", [("PK0", 1)]))[:2] == (400, "OTSInvalidPK")


def test_others_meet_a_conflict(ots: ts.OTSClient) -> None:
    make_table(ots)
    inside = start(ots)
    conflict = (409, "OTSRowOperationConflict", "Data is being modified by the other request.")
    assert refused(lambda: start(ots)) == conflict
    assert refused(lambda: ots.put_row("T", ts.Row(KEY, []), IGNORE)) == conflict
    assert refused(lambda: ots.delete_row("T", ts.Row(KEY), IGNORE)) == conflict
    elsewhere = [("PK0", "b"), ("PK1", 1)]
    request = ts.BatchWriteRowRequest()
    rows = [ts.PutRowItem(ts.Row(key, [("c", 1)]), IGNORE) for key in (KEY, elsewhere)]
    request.add(ts.TableInBatchWriteRowItem("T", rows))
    made, failed = ots.batch_write_row(request).get_put()
    assert [(each.index, each.error_code) for each in failed] == [(0, conflict[1])]
    assert [each.index for each in made] == [1]
    outside = (400, "OTSDataOutOfRange")
    row = ts.Row(elsewhere, [("c", 1)])
    assert refused(lambda: ots.put_row("T", row, IGNORE, transaction_id=inside))[:2] == outside
    ots.delete_table("T")
    make_table(ots)  # a new table, which nobody holds a key of
    ots.abort_transaction(start(ots))


def test_of_three_starts_at_once_one_passes(plain: ts.OTSClient) -> None:
    make_table(plain)
    plain.abort_transaction(start(plain))
    ready = threading.Barrier(3)
    ends: list[str] = []

    def begin() -> None:
        ready.wait()
        try:
            ends.append(start(plain))
        except ts.OTSServiceError as error:
            ends.append(error.get_error_code())

    threads = [threading.Thread(target=begin) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ends.count("OTSRowOperationConflict") == 2
    plain.abort_transaction(next(each for each in ends if each != "OTSRowOperationConflict"))


def test_a_killed_server_forgets_what_was_not_committed(tmp_path: Path) -> None:
    options: dict[str, Any] = {"retry_policy": NoRetryPolicy()}
    identity = ("widerow", "widerow", "demo")
    with ForkedServer("--path", str(tmp_path)) as process:
        client = ts.OTSClient(process.endpoint, *identity, **options)
        make_table(client)
        inside = start(client)
        put(client, inside)
        client.commit_transaction(inside)
        inside = start(client)
        client.delete_row("T", ts.Row(KEY), IGNORE, transaction_id=inside)
        process.kill()
    with ForkedServer("--path", str(tmp_path)) as process:
        client = ts.OTSClient(process.endpoint, *identity, **options)
        assert refused(lambda: client.commit_transaction(inside))[1] == "OTSSessionNotExist"
        assert columns(client) == {"c": "new"}
        client.put_row("T", ts.Row(KEY, [("c", "free")]))
        assert start(client) != inside


def test_tables_have_none_by_default_where_the_server_says_so() -> None:
    with WiderowServer(settings={"local_transactions_default": False}) as server:
        client = server.client()
        make_table(client)
        assert refused(lambda: start(client)) == (
            400,
            "OTSParameterInvalid",
            "Try to call method using explicit transaction on explicit-transaction-disabled table.",
        )


def test_time_ends_what_was_left_open() -> None:
    with WiderowServer() as server:
        client = server.client()
        make_table(client)
        inside = start(client)
        server.clock.advance(60)
        assert refused(lambda: put(client, inside))[1] == "OTSSessionNotExist"
        client.put_row("T", ts.Row(KEY, [("c", 1)]))
