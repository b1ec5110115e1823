"""The client of the commands: what it repeats, what it believes (wire §1.3, §1.5)."""

import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import pytest
from tests.support.http import digest

from widerow.auth.signing import Mac, canonical_response
from widerow.client.connection import Client, Endpoint
from widerow.client.failures import OutcomeUnclear, Refused, RequestFailed, Unreachable
from widerow.client.writing import PUT, Change, WriteIf, send, send_once
from widerow.model.tablestore.condition import RowExpectation
from widerow.wire.tablestore import messages as m

Answer = tuple[int, bytes]
LISTED = m.ListTableResponse(table_names=["t"]).SerializeToString()
SIZE = m.ConsumedCapacity(capacity_unit=m.CapacityUnit(read=0, write=1))


def error(code: str, status: int = 503) -> Answer:
    return status, m.Error(code=code, message="said").SerializeToString()


NEW: Final = WriteIf(RowExpectation.EXPECT_NOT_EXIST)


def batch(*codes: str) -> Answer:
    rows = [
        m.RowInBatchWriteRowResponse(is_ok=False, error=m.Error(code=code, message="said"))
        if code
        else m.RowInBatchWriteRowResponse(is_ok=True, consumed=SIZE)
        for code in codes
    ]
    table = m.TableInBatchWriteRowResponse(table_name="t", rows=rows)
    return 200, m.BatchWriteRowResponse(tables=[table]).SerializeToString()


def imported(*codes: str) -> Answer:
    """The answer of BulkImport: what changes without conditions are sent by once."""
    rows = [
        m.RowInBulkImportResponse(is_ok=False, error=m.Error(code=code, message="said"))
        if code
        else m.RowInBulkImportResponse(is_ok=True, consumed=SIZE)
        for code in codes
    ]
    return 200, m.BulkImportResponse(table_name="t", rows=rows).SerializeToString()


class Scripted(ThreadingHTTPServer):
    """A server that gives the answers of a list, signed with `secret`, and keeps the requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.answers: list[Answer] = []
        self.bodies: list[bytes] = []
        self.secret = b"secret"

    def client(self, patience: float = 30.0) -> Client:
        url = f"http://127.0.0.1:{self.server_address[1]}"
        return Client(Endpoint(url, "inst", "id", "secret"), patience=patience)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:  # the name that http.server looks for
        server = self.server
        assert isinstance(server, Scripted)
        server.bodies.append(self.rfile.read(int(self.headers["content-length"])))
        status, body = server.answers.pop(0)
        headers = {"x-ots-contentmd5": digest(body), "x-ots-requestid": "1"}
        mac = Mac(server.secret, "sha1")
        signature = mac.sign(canonical_response(self.path, sorted(headers.items()))).decode()
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("authorization", f"OTS id:{signature}")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing: the test says what went wrong."""


@pytest.fixture
def server() -> Iterator[Scripted]:
    with Scripted() as scripted:
        thread = threading.Thread(target=scripted.serve_forever, args=(0.01,))
        thread.start()
        yield scripted
        scripted.shutdown()
        thread.join()


def ask(client: Client) -> list[str]:
    with client:
        found = client.call("ListTable", m.ListTableRequest(), m.ListTableResponse)
        return list(found.table_names)


def test_what_passes_is_asked_again(server: Scripted) -> None:
    server.answers = [error("OTSServerBusy"), (502, b"<html>"), error("OTSTimeout"), (200, LISTED)]
    assert ask(server.client()) == ["t"]
    assert len(server.bodies) == 4


def test_what_does_not_pass_is_told_at_once(server: Scripted) -> None:
    server.answers = [error("OTSParameterInvalid", 400), (200, LISTED)]
    with pytest.raises(Refused, match="said"):
        ask(server.client())
    assert len(server.bodies) == 1


def test_patience_ends(server: Scripted) -> None:
    server.answers = [error("OTSServerBusy")] * 9
    with pytest.raises(Unreachable, match="OTSServerBusy"):
        ask(server.client(patience=0))
    assert len(server.bodies) == 1


def test_an_answer_that_another_signed_is_not_believed(server: Scripted) -> None:
    server.answers, server.secret = [(200, LISTED)], b"another"
    with pytest.raises(RequestFailed, match="not signed"):
        ask(server.client())


def test_what_is_no_endpoint_is_said() -> None:
    for url in ("db:8087", "ftp://db", "http://", "http://db/path"):
        with pytest.raises(RequestFailed, match="not an endpoint"):
            Client(Endpoint(url, "i", "a", "b"))


def test_rows_whose_error_passes_are_sent_again_alone(server: Scripted) -> None:
    server.answers = [
        batch("", "OTSServerBusy", "OTSConditionCheckFail"),
        error("OTSServerBusy"),
        batch(""),
    ]
    with server.client() as client:
        refused = send(client, "t", [Change(PUT, bytes([number])) for number in range(3)])
    assert {number: each.code for number, each in refused.items()} == {2: "OTSConditionCheckFail"}
    last = m.BatchWriteRowRequest.FromString(server.bodies[-1]).tables[0].rows
    assert [row.row_change for row in last] == [b"\x01"]


def test_the_row_to_blame_for_a_batch_is_found(server: Scripted) -> None:
    bad = error("OTSInvalidPK", 400)
    server.answers = [bad, batch("", ""), bad, batch(""), bad]
    with server.client() as client:
        refused = send(client, "t", [Change(PUT, bytes([number])) for number in range(4)])
    assert list(refused) == [3]


def test_an_error_that_every_row_would_meet_ends_it(server: Scripted) -> None:
    for answer in (error("OTSObjectNotExist", 404), batch("", "OTSObjectNotExist")):
        server.answers = [answer]
        with server.client() as client, pytest.raises(Refused, match="OTSObjectNotExist"):
            send(client, "t", [Change(PUT, b"a"), Change(PUT, b"b")])


# --- requests that are sent once -----------------------------------------------------------------


def test_what_may_do_more_when_repeated_is_sent_once(server: Scripted) -> None:
    server.answers = [error("OTSServerBusy"), (200, LISTED)]
    with server.client() as client, pytest.raises(Refused, match="OTSServerBusy") as caught:
        client.call_once("ListTable", m.ListTableRequest(), m.ListTableResponse)
    assert caught.value.request_id == "1"
    assert len(server.bodies) == 1


def test_an_answer_that_never_comes_leaves_the_outcome_unclear(server: Scripted) -> None:
    server.answers = [(502, b"<html>"), (200, LISTED)]
    with server.client() as client, pytest.raises(OutcomeUnclear, match="took effect is not known"):
        client.call_once("PutRow", m.ListTableRequest(), m.ListTableResponse)
    assert len(server.bodies) == 1


def test_nobody_at_the_endpoint_is_no_unclear_outcome() -> None:
    client = Client(Endpoint("http://127.0.0.1:1", "i", "a", "b"))
    with pytest.raises(Unreachable, match="nothing listens at http://127"):
        client.call_once("ListTable", m.ListTableRequest(), m.ListTableResponse)


def test_where_nothing_listens_is_said_at_once_and_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Client, "pause", lambda *_: pytest.fail("waited"))
    client = Client(Endpoint("http://127.0.0.1:1", "i", "a", "b"))
    told = "nothing listens at http://127.0.0.1:1; .*`widerow serve`.*--endpoint"
    with pytest.raises(Unreachable, match=told):
        ask(client)


def test_a_server_that_has_answered_is_waited_for_while_it_starts_again(
    server: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[object] = []

    def pause(*given: object) -> None:
        waits.append(given[-1])
        if len(waits) == 3:
            raise Unreachable("enough")

    monkeypatch.setattr(Client, "pause", pause)
    server.answers = [(200, LISTED)]
    client = server.client()
    ask(client)
    client.close()
    server.shutdown()
    server.server_close()
    for patient in (client, Client(client._endpoint, stop=threading.Event())):
        waits.clear()
        with pytest.raises(Unreachable, match="enough"):
            ask(patient)
        assert [type(each) for each in waits] == [ConnectionRefusedError] * 3


@pytest.mark.parametrize(("answer", "condition"), [(imported, WriteIf()), (batch, NEW)])
def test_a_batch_that_is_sent_once_has_an_error_for_each_row(
    server: Scripted, answer: Callable[..., Answer], condition: WriteIf
) -> None:
    server.answers = [answer("", "OTSServerBusy", "OTSConditionCheckFail")]
    changes = [Change(PUT, bytes([number]), condition.message) for number in range(3)]
    with server.client() as client:
        refused = send_once(client, "t", changes)
    codes = {number: each.code for number, each in refused.items()}
    assert codes == {1: "OTSServerBusy", 2: "OTSConditionCheckFail"}
    assert len(server.bodies) == 1


def test_the_row_that_spoils_a_batch_is_found_without_sending_another_twice(
    server: Scripted,
) -> None:
    spoilt = error("OTSParameterInvalid", 400)
    server.answers = [spoilt, imported("", ""), spoilt, imported(""), spoilt]
    with server.client() as client:
        refused = send_once(client, "t", [Change(PUT, bytes([number])) for number in range(4)])
    assert {number: each.code for number, each in refused.items()} == {3: "OTSParameterInvalid"}


def test_a_batch_whose_error_passes_is_not_cut_and_sent_again(server: Scripted) -> None:
    server.answers = [error("OTSTimeout"), imported("")]
    with server.client() as client, pytest.raises(Refused, match="OTSTimeout"):
        send_once(client, "t", [Change(PUT, b"a"), Change(PUT, b"b")])
    assert len(server.bodies) == 1
