"""Who may come in, and what the SDK makes of errors (wire §1.2 to §1.6, semantics §18)."""

import asyncio
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import tablestore
from tablestore import (
    CapacityUnit,
    Condition,
    OTSClient,
    OTSServiceError,
    ReservedThroughput,
    Row,
    RowExistenceExpectation,
    TableMeta,
    TableOptions,
)
from tablestore.retry import DefaultRetryPolicy, NoRetryPolicy
from tests.support.forked import ForkedServer

from widerow.system import SystemClock
from widerow.testing.server import WiderowServer

IGNORE = Condition(RowExistenceExpectation.IGNORE)


def create(ots: OTSClient) -> None:
    none = ReservedThroughput(CapacityUnit(0, 0))
    ots.create_table(TableMeta("t", [("pk", "STRING")]), TableOptions(), none)


def refusal(caught: pytest.ExceptionInfo[OTSServiceError]) -> tuple[int, str, str]:
    error = caught.value
    assert error.get_request_id()
    return error.get_http_status(), error.get_error_code(), error.get_error_message()


@pytest.mark.parametrize("region", [None, "cn-hangzhou"])
def test_a_wrong_secret_is_refused(region: str | None) -> None:
    with WiderowServer() as server:
        server.access_key_secret = "guessed"
        with pytest.raises(OTSServiceError) as caught:
            server.client(region=region).list_table()
    assert refusal(caught) == (403, "OTSAuthFailed", "Signature mismatch.")


def test_an_unknown_access_key_is_refused() -> None:
    with WiderowServer() as server:
        server.access_key_id = "nobody"
        with pytest.raises(OTSServiceError) as caught:
            server.client().list_table()
    assert refusal(caught) == (403, "OTSAuthFailed", "The AccessKeyID does not exist.")


def test_a_clock_that_is_off_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with WiderowServer() as server:
        client = server.client()
        now = datetime.fromtimestamp(SystemClock().now_us() / 1e6, UTC)
        moments = iter((now - timedelta(minutes=16), now))  # for the request, for the answer
        monkeypatch.setattr("tablestore.utils.get_now_utc_datetime", lambda: next(moments))
        with pytest.raises(OTSServiceError) as caught:
            client.list_table()
    status, code, message = refusal(caught)
    assert (status, code) == (403, "OTSAuthFailed")
    assert message.startswith("Mismatch between system time and x-ots-date: ")


def test_errors_are_signed_objects_of_the_sdk(ots: OTSClient) -> None:
    with pytest.raises(OTSServiceError) as caught:
        ots.describe_table("t")
    assert refusal(caught) == (404, "OTSObjectNotExist", "Requested table does not exist.")
    assert len(caught.value.get_request_id()) == 36
    assert str(caught.value).startswith("ErrorCode: OTSObjectNotExist, ErrorMessage: ")


def test_actions_that_are_not_offered_say_so(ots: OTSClient) -> None:
    with pytest.raises(OTSServiceError) as caught:
        ots.exe_sql_query("grant all")
    assert refusal(caught)[:2] == (400, "OTSUnsupportOperation")


def test_a_client_of_json_actions_sees_the_code(ots: OTSClient) -> None:
    # wire §1.6: it reads every answer as JSON
    with pytest.raises(OTSServiceError) as caught:
        ots.list_knowledge_base({})
    assert refusal(caught)[:2] == (400, "OTSUnsupportOperation")


def test_lists_of_what_is_not_offered_are_empty(ots: OTSClient) -> None:
    # search §1.1, timeseries §3: the vendor's suites ask for them to clean up
    assert ots.list_timeseries_table() == []
    assert ots.list_search_index() == []
    with pytest.raises(OTSServiceError) as caught:
        ots.list_search_index("t")
    assert refusal(caught) == (400, "OTSParameterInvalid", "table [t] does not exist")


def test_the_retries_of_the_sdk_end_with_the_error(ots: OTSClient) -> None:
    ots.retry_policy = DefaultRetryPolicy()
    with pytest.raises(OTSServiceError) as caught:  # nothing that repeating would help
        ots.describe_table("t")
    assert refusal(caught)[0] == 404


def test_credentials_and_instances_are_the_ones_configured(tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text(
        '[[key]]\nid = "reader"\nsecret = "r e a d"\npermissions = ["read"]\n'
        '[[key]]\nid = "owner"\nsecret = "o"\nsecurity_token = "token"\ninstances = ["shop"]\n'
    )
    flags = ("--memory", "--credentials", str(keys), "--instances", "shop,audit")
    with ForkedServer(*flags) as process, ExitStack() as ends:

        def client(identity: str, secret: str, instance: str, **options: object) -> OTSClient:
            options["retry_policy"] = NoRetryPolicy()
            made = OTSClient(process.endpoint, identity, secret, instance, **options)
            ends.callback(made.connection.pool.clear)
            return made

        owner = client("owner", "o", "shop", sts_token="token")
        create(owner)
        reader = client("reader", "r e a d", "shop")
        assert list(reader.list_table()) == ["t"]
        row = Row([("pk", "a")], [("c", 1)])
        refused = [
            (lambda: reader.put_row("t", row, IGNORE), "OTSNoPermissionAccess"),
            (lambda: reader.delete_table("t"), "OTSNoPermissionAccess"),
            (client("widerow", "widerow", "shop").list_table, "OTSAuthFailed"),
            (client("owner", "o", "shop").list_table, "OTSAuthFailed"),
            (client("owner", "o", "audit", sts_token="token").list_table, "OTSAuthFailed"),
            (client("reader", "r e a d", "elsewhere").list_table, "OTSAuthFailed"),
        ]
        for action, code in refused:
            with pytest.raises(OTSServiceError) as caught:
                action()
            assert refusal(caught)[:2] == (403, code)


def test_many_requests_at_once_lose_nothing(rocksdb: str, instance: str) -> None:
    async def run() -> int:
        identity = (rocksdb, "widerow", "widerow", instance)
        async with tablestore.AsyncOTSClient(*identity, retry_policy=NoRetryPolicy()) as ots:
            none = ReservedThroughput(CapacityUnit(0, 0))
            await ots.create_table(TableMeta("t", [("pk", "STRING")]), TableOptions(), none)
            change = Row([("pk", "a")], {"INCREMENT": [("n", 1)]})
            await asyncio.gather(*(ots.update_row("t", change, IGNORE) for _ in range(300)))
            _, row, _ = await ots.get_row("t", [("pk", "a")])
            total: int = row.attribute_columns[0][1]
            return total

    assert asyncio.run(run()) == 300
