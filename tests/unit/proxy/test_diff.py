"""The proxy between the vendor's SDK and two servers: what differs is found, and in its class."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
import tablestore as ts
from tests.support.http import Sender, Wire
from tests.unit.proxy.conftest import RunningProxy
from tests.unit.proxy.sessions import TABLE, make_table, put, scan

from widerow.auth.keyring import AccessKey, Keyring, Permission
from widerow.auth.policy import AccessRules, InstancePolicy
from widerow.client.signing import Signer
from widerow.proxy.comparing import DifferenceClass
from widerow.proxy.report import DifferenceReport
from widerow.proxy.service import ProxyService, ServerChoice
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore.sql_messages import SQLQueryRequest

Servers = Callable[..., WiderowServer]


def comparing(upstream: WiderowServer, against: WiderowServer | None = None) -> RunningProxy:
    other = None
    if against is not None:
        other = ServerChoice(against.endpoint, Signer("widerow", "widerow"))
    report = DifferenceReport(upstream.endpoint, "the other")
    return RunningProxy(ProxyService(ServerChoice(upstream.endpoint), against=other, report=report))


def kinds(report: DifferenceReport) -> set[tuple[str, str]]:
    return {(action, kind.value) for action, kind in report.classes}


def test_two_servers_of_one_kind_answer_alike(servers: Servers) -> None:
    with comparing(servers()) as proxy:
        client = proxy.client()
        make_table(client)
        for number in range(20):
            put(client, f"day {number % 3}", number, name="x" * number, size=number)
        scan(client, limit=7)
        assert len(scan(client)[2]) == 20
        client.list_table()
        client.describe_table(TABLE)
        with pytest.raises(ts.OTSServiceError):
            client.get_row("nowhere", [("day", "mon")], max_version=1)
    assert kinds(proxy.report) == set()
    assert proxy.report.compared.total() == 26
    assert not proxy.report.skipped


def test_a_row_that_only_one_has_is_row_content(servers: Servers) -> None:
    upstream, against = servers(), servers()
    make_table(upstream.client())
    make_table(against.client())
    put(against.client(), "mon", 1, name="planted")
    with comparing(upstream, against) as proxy:
        proxy.client().get_row(TABLE, [("day", "mon"), ("id", 1)], max_version=1)
    assert kinds(proxy.report) == {("GetRow", "row content")}
    example = proxy.report.examples[0]
    assert example.upstream_answer["row"] == []
    assert example.other_answer["row"][0]["columns"][0][:2] == ["name", "planted"]
    assert '"planted"' in proxy.report.markdown()


def test_the_place_of_a_difference_is_its_column(servers: Servers) -> None:
    upstream, against = servers(), servers()
    for server, name in ((upstream, "Ada"), (against, "``` | Eve")):
        make_table(server.client())
        put(server.client(), "mon", 1, age=7, name=name)
    put(against.client(), "tue", 1, age=7, extra=1)
    put(upstream.client(), "tue", 1, age=7)
    with comparing(upstream, against) as proxy:
        for day in ("mon", "tue"):
            proxy.client().get_row(TABLE, [("day", day), ("id", 1)], max_version=1)
    first, second = proxy.report.examples
    assert (first.path, first.upstream[1], first.other[1]) == ("row[0].name", "Ada", "``` | Eve")
    assert (second.path, second.upstream, second.other[:2]) == ("row[0].extra", None, ["extra", 1])
    lines = proxy.report.markdown().splitlines()
    (shown,) = [
        line
        for line in lines
        if '"Ada"' in line
        and '"``` | Eve"' in line
        and "|" in line
        and not line.startswith("Request")
    ]
    assert shown.index("Ada") < shown.index(" | ") < shown.index("Eve")


def test_a_table_that_only_one_has_is_status(servers: Servers) -> None:
    upstream, against = servers(), servers()
    make_table(upstream.client())
    with comparing(upstream, against) as proxy:
        put(proxy.client(), "mon", 1)
    assert kinds(proxy.report) == {("PutRow", "status")}
    assert proxy.report.has_differences


def test_other_bounds_are_other_messages_and_fields(servers: Servers) -> None:
    """A server with one option changed, as an operator would find it."""
    upstream = servers(settings={"max_tables_per_instance": 1})
    against = servers(settings={"max_tables_per_instance": 2})
    with comparing(upstream, against) as proxy:
        client = proxy.client()
        make_table(client, "one")
        for name in ("two", "three"):
            with pytest.raises(ts.OTSServiceError):
                make_table(client, name)
    assert {kind for _, kind in kinds(proxy.report)} == {"status", "message"}


def test_another_page_is_paging_and_capacity_may_be_ignored(servers: Servers) -> None:
    upstream, against = servers(), servers()
    for server, rows in ((upstream, 3), (against, 4)):
        make_table(server.client())
        for number in range(rows):
            put(server.client(), "mon", number)
    with comparing(upstream, against) as proxy:
        scan(proxy.client())
    assert kinds(proxy.report) == {("GetRange", "paging")}


def test_requests_on_one_key_reach_both_in_one_order(servers: Servers) -> None:
    """Eight writers of one row, and a reader: the last one is the same on both sides."""
    upstream, against = servers(), servers()
    with comparing(upstream, against) as proxy:
        client = proxy.client()
        make_table(client)

        def write(writer: int) -> None:
            own = proxy.client()
            for number in range(15):
                put(own, "mon", 1, value=writer * 100 + number)
                own.get_row(TABLE, [("day", "mon"), ("id", 1)], max_version=1)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    assert kinds(proxy.report) == set()
    assert proxy.report.compared.total() == 1 + 8 * 30


def test_names_that_servers_make_up_are_put_in_place_of_each_other(servers: Servers) -> None:
    """Transactions, and values of auto-increment columns (semantics §4.5, §6)."""
    upstream, against = servers(), servers()
    # Values count from the other's past.
    make_table(against.client(), automatic=True)
    row = ts.Row([("day", "mon"), ("id", ts.PK_AUTO_INCR)], [("c", 1)])
    ignore = ts.Condition(ts.RowExistenceExpectation.IGNORE)
    against.client().put_row(TABLE, row, ignore)
    against.client().delete_table(TABLE)
    with comparing(upstream, against) as proxy:
        client = proxy.client()
        make_table(client, automatic=True)
        _, made = client.put_row(TABLE, row, ignore, ts.ReturnType.RT_PK)
        _, found, _ = client.get_row(TABLE, made.primary_key, max_version=1)
        assert found.attribute_columns[0][1] == 1
        client.update_row(TABLE, ts.Row(made.primary_key, {"PUT": [("c", 2)]}), ignore)
        client.delete_row(TABLE, ts.Row(made.primary_key), ignore)
        scan(client)
    assert kinds(proxy.report) == set()


def test_a_transaction_is_committed_on_both_sides(servers: Servers) -> None:
    local = {"settings": {"local_transactions_default": True}}
    upstream, against = servers(**local), servers(**local)
    with comparing(upstream, against) as proxy:
        client = proxy.client()
        make_table(client)
        name = client.start_local_transaction(TABLE, [("day", "mon")])
        row = ts.Row([("day", "mon"), ("id", 1)], [("c", 1)])
        ignore = ts.Condition(ts.RowExistenceExpectation.IGNORE)
        client.put_row(TABLE, row, ignore, transaction_id=name)
        client.commit_transaction(name)
        client.get_row(TABLE, row.primary_key, max_version=1)
    assert kinds(proxy.report) == set()
    assert len(scan(against.client())[2]) == 1


def test_without_a_key_the_other_is_asked_as_the_client_signed(servers: Servers) -> None:
    """What names a transaction of the upstream's cannot be signed anew, and is counted."""
    local = {"settings": {"local_transactions_default": True}}
    upstream, against = servers(**local), servers(**local)
    report = DifferenceReport("one", "other")
    service = ProxyService(
        ServerChoice(upstream.endpoint), against=ServerChoice(against.endpoint), report=report
    )
    with RunningProxy(service) as proxy:
        client = proxy.client()
        make_table(client)
        name = client.start_local_transaction(TABLE, [("day", "mon")])
        client.abort_transaction(name)
    assert kinds(report) == set()
    assert report.compared.total() == 2
    assert list(report.skipped.values()) == [1]


def test_whom_the_upstream_does_not_know_reaches_nobody_else(servers: Servers) -> None:
    upstream, against = servers(), servers()
    with comparing(upstream, against) as proxy:
        with pytest.raises(ts.OTSServiceError):
            make_table(proxy.client(secret="wrong"))
        with Wire(proxy.endpoint) as wire:
            answer = wire.ask(b"POST /CreateTable HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n")
            assert answer.status == 400
    assert not against.client().list_table()
    assert sum(proxy.report.skipped.values()) == 2


def test_with_a_key_of_its_own_the_proxy_asks_as_that_and_answers_as_the_client(
    servers: Servers,
) -> None:
    upstream = servers()
    identity_of = _rules("alice", "her secret")
    service = ProxyService(
        ServerChoice(upstream.endpoint, Signer("widerow", "widerow", instance="real")),
        identity=identity_of,
    )
    with RunningProxy(service) as proxy:
        client: Any = ts.OTSClient(proxy.endpoint, "alice", "her secret", "pretended")
        make_table(client)  # the SDK checks the signature of each answer
        client.connection.pool.clear()
        assert list(_client_of(upstream, "real").list_table()) == [TABLE]
        with pytest.raises(ts.OTSServiceError):
            proxy.client().list_table()


def test_an_upstream_that_is_away_is_a_bad_gateway_with_the_reason(servers: Servers) -> None:
    upstream = servers()
    with comparing(upstream) as proxy:
        upstream.stop()
        with Wire(proxy.endpoint) as wire:
            answer = wire.ask(Sender().request("ListTable"))
            again = wire.ask(Sender().request("ListTable"))
    for each in (answer, again):
        status, code, message = each.error
        assert (status, code) == (502, "OTSServerUnavailable")
        assert "cannot be reached" in message
        assert upstream.endpoint in message or "127.0.0.1" in message


def test_what_is_not_of_the_protocol_is_refused_or_passed_on(servers: Servers) -> None:
    with comparing(servers()) as proxy:
        with Wire(proxy.endpoint) as wire:
            assert wire.ask(b"GET /readyz HTTP/1.1\r\nhost: x\r\n\r\n").status == 200
            assert (
                wire.ask(b"PUT /x HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n").status == 405
            )
        with Wire(proxy.endpoint) as wire:  # a body that would be taken for a second request
            inner = b"POST /ListTable HTTP/1.1\r\n"
            framed = b"transfer-encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n"
            request = b"GET /readyz HTTP/1.1\r\nhost: x\r\n" + framed % (len(inner), inner)
            assert [wire.ask(request).status for _ in range(2)] == [200, 200]
        with Wire(proxy.endpoint) as wire:
            far = (
                b"POST http://elsewhere/ListTable HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"
            )
            assert wire.ask(far).status == 400
        with Wire(proxy.endpoint) as wire:
            assert wire.ask(Sender().request("PutRow", b"\xff" * 1000)).status == 400
            assert wire.ask(Sender().request("NoSuchThing", b"")).status == 400
    assert kinds(proxy.report) == set()


def test_a_key_that_may_only_read_writes_nothing_with_the_proxys_key(servers: Servers) -> None:
    upstream = servers()
    reader = AccessKey("widerow", "widerow", permissions=frozenset((Permission.READ,)))
    service = ProxyService(
        ServerChoice(upstream.endpoint, Signer("widerow", "widerow")),
        identity=AccessRules(Keyring((reader,)), InstancePolicy()),
    )
    with RunningProxy(service) as proxy:
        client = proxy.client()
        assert not client.list_table()
        with pytest.raises(ts.OTSServiceError):
            make_table(client)
        with Wire(proxy.endpoint) as wire:
            for text, status in (("DELETE FROM t WHERE a = 1", 403), ("SHOW TABLES", 200)):
                body = SQLQueryRequest(query=text).SerializeToString()
                asked = Sender(instance="test").request("SQLQuery", body)
                assert wire.ask(asked).status == status
    assert not upstream.client().list_table()


def _rules(name: str, secret: str) -> AccessRules:
    return AccessRules(Keyring((AccessKey(name, secret),)), InstancePolicy())


def _client_of(server: WiderowServer, instance: str) -> Any:  # noqa: ANN401  # the SDK has no types
    client: Any = ts.OTSClient(server.endpoint, "widerow", "widerow", instance)
    return client


def test_classes_have_the_names_that_reports_use() -> None:
    assert [each.value for each in DifferenceClass] == [
        *("status", "error code", "message", "row content", "order", "paging", "capacity"),
        "other field",
    ]
