"""A dialect is a value: another one is served by adding it to the list (wire/dialects.py).

The second one here is as different from Tablestore as the protocol of Oracle NoSQL is: one path for
all operations, the operation named in the body, who asks in the `authorization` header, errors in
bytes with the status 200.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from tests.support.http import Sender, Wire

from widerow.auth.keyring import Keyring, Permission
from widerow.auth.policy import InstancePolicy
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.plug import TABLESTORE
from widerow.errors import AnyRule, InvalidRequest, NotPermitted, Rule, Unsupported
from widerow.model.tablestore.requests import CreateTable, OptionsChange, ThroughputChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.server import lifecycle
from widerow.wire.dialect import Dialect, HeaderNames, Opened, Refusal, WireOperation
from widerow.wire.dialects import DIALECTS
from widerow.wire.tablestore.messages import ListTableResponse

PATH = "/V9/tiny"
LENGTHY = b"x" * 40_000  # verified on a thread


def _name(body: bytes) -> str:
    """The first word of a body is its operation."""
    return body.partition(b" ")[0].decode("latin-1")


def _select(method: str, target: str, body: bytes) -> WireOperation:
    if method != "POST" or target != PATH:
        raise InvalidRequest(Rule.HTTP_METHOD)
    found = OPERATIONS.get(_name(body))
    if found is None:
        raise Unsupported(TablestoreRule.ACTION_UNKNOWN, action=_name(body))
    return found


def _open(
    path: str,
    headers: Mapping[str, str],
    body: bytes,
    keyring: Keyring,
    instances: InstancePolicy,
    now_us: int,
    names: tuple[str, ...] | None = None,
    /,
) -> tuple[Opened, bytes]:
    del path, now_us, names
    _, _, name = headers.get("authorization", "").partition("Bearer ")
    if not name:
        raise NotPermitted(Rule.SIGNATURE_MISMATCH)
    key = keyring.find(name)
    instances.admit("shop", key)
    return Opened(key, "shop", headers.get("x-tiny-request-id", "")), body.partition(b" ")[2]


def _envelope(
    path: str,
    body: bytes,
    request_id: str,
    date: bytes,
    opened: Opened | None,
) -> bytes:
    del path, body, request_id
    echoed = "" if opened is None else str(opened.reply)
    return b"content-type: application/octet-stream\r\nx-tiny-date: %b\r\nx-tiny-id: %b\r\n" % (
        date,
        echoed.encode(),
    )


def _refuse(error: Exception, name: str, kind: str) -> Refusal:
    del kind
    rule = getattr(error, "rule", None)
    code = rule.name if isinstance(rule, AnyRule) else "FAULT"
    return Refusal(200, code, b"\x06" + f"{name or '-'}:{code}".encode(), b"x-tiny-refused: 1\r\n")


def _create(engine: TablestoreEngine, instance: str, name: bytes) -> Any:  # noqa: ANN401  # a plan
    key = (KeyColumn("pk", KeyType.STRING),)
    options = OptionsChange(time_to_live=-1, max_versions=1)
    request = CreateTable(name.decode(), key, (), ThroughputChange(0, 0), options)
    return engine.create_table(instance, request)


OPERATIONS: Mapping[str, WireOperation] = {
    each.name: each
    for each in (
        WireOperation(
            "Tables",
            Permission.READ,
            writes=False,
            decode=bytes,
            call=lambda engine, instance, _: engine.list_tables(instance),
            encode=lambda names: ",".join(names).encode(),
            consumed=lambda _: (3, 0),
        ),
        WireOperation(
            "Create",
            Permission.MANAGE,
            writes=True,
            decode=bytes,
            call=_create,
            encode=lambda _: b"created",
        ),
        WireOperation(
            "Long",
            Permission.READ,
            writes=False,
            decode=len,
            call=lambda _engine, _instance, size: size,
            encode=lambda size: b"%d" % size,
            lengthy=lambda _: True,
        ),
    )
}

TINY = Dialect(
    name="Tiny",
    label="tiny/",
    open=lambda engine: engine.operations(TABLESTORE),
    operations=OPERATIONS,
    own={},
    refused={"Drop": "dropping of tables"},
    paths={},
    claims=lambda target: target == PATH,
    select=_select,
    headers=HeaderNames(frozenset(("authorization",)), ("x-tiny-",)),
    open_request=_open,
    answer_date=lambda now_us: b"%d" % now_us,
    envelope=_envelope,
    refuse=_refuse,
    mark="x-tiny-request-id",
)

Ask = Callable[..., tuple[int, bytes, dict[str, str]]]


@pytest.fixture
def endpoint(serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(lifecycle, "DIALECTS", (*DIALECTS, TINY))  # the one list
    return str(serve().endpoint)


@contextmanager
def asking(endpoint: str) -> Iterator[Ask]:
    """Asks in the second dialect, over one connection; status, body and headers of the answer."""
    place = urlsplit(endpoint)
    connection = HTTPConnection(str(place.hostname), place.port, timeout=10)

    def asked(
        body: bytes, key: str = "widerow", method: str = "POST", **headers: str
    ) -> tuple[int, bytes, dict[str, str]]:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if key:
            sent["Authorization"] = f"Bearer {key}"
        connection.request(method, PATH, body, sent)
        answer = connection.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, answer.read(), found

    try:
        yield asked
    finally:
        connection.close()


@pytest.fixture
def ask(endpoint: str) -> Iterator[Ask]:
    with asking(endpoint) as asked:
        yield asked


def test_operations_of_both_dialects_share_one_store(endpoint: str, ask: Ask) -> None:
    assert ask(b"Create first")[:2] == (200, b"created")
    status, body, headers = ask(b"Tables", X_Tiny_Request_Id="17")
    assert (status, body, headers["x-tiny-id"]) == (200, b"first", "17")
    assert headers["x-tiny-date"].isdigit()
    assert not any(name.startswith("x-ots-") for name in headers)
    sender = Sender(instance="shop")
    with Wire(endpoint) as wire:
        answer = wire.ask(sender.request("ListTable"))
    assert sender.signed("ListTable", answer)
    assert list(ListTableResponse.FromString(answer.body).table_names) == ["first"]


def test_what_is_lengthy_runs_on_threads_in_any_dialect(ask: Ask) -> None:
    assert ask(b"Long " + LENGTHY)[:2] == (200, b"%d" % len(LENGTHY))
    assert ask(b"Create " + b"t")[:2] == (200, b"created")


@pytest.mark.parametrize(
    ("body", "key", "refusal"),
    [
        (b"Create first", "widerow", b"Create:TABLE_EXISTS"),
        (b"Tables", "", b"Tables:SIGNATURE_MISMATCH"),
        (b"Tables", "stranger", b"Tables:ACCESS_KEY_UNKNOWN"),
        (b"Drop first", "widerow", b"-:ACTION_UNKNOWN"),
        (b"", "widerow", b"-:ACTION_UNKNOWN"),
    ],
)
def test_errors_are_in_the_words_of_the_dialect(
    ask: Ask, body: bytes, key: str, refusal: bytes
) -> None:
    ask(b"Create first")
    status, answer, headers = ask(body, key)
    assert (status, answer) == (200, b"\x06" + refusal)
    assert headers["x-tiny-refused"] == "1"
    assert "x-widerow-hint" not in headers


def test_another_method_is_the_dialects_affair(ask: Ask) -> None:
    assert ask(b"", method="PUT")[:2] == (200, b"\x06-:HTTP_METHOD")


def test_a_header_of_the_dialect_that_comes_twice_is_refused(endpoint: str) -> None:
    place = urlsplit(endpoint)
    connection = HTTPConnection(str(place.hostname), place.port, timeout=10)
    connection.putrequest("POST", PATH)
    for value in ("Bearer widerow", "Bearer other"):
        connection.putheader("Authorization", value)
    connection.putheader("Content-Length", "6")
    connection.endheaders(b"Tables")
    assert connection.getresponse().read() == b"\x06Tables:HEADER_DUPLICATE"
    connection.close()


def test_permissions_hold_in_every_dialect(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(lifecycle, "DIALECTS", (*DIALECTS, TINY))
    keys = tmp_path / "keys.toml"
    keys.write_text("[[key]]\nid = 'reader'\nsecret = 'secret'\npermissions = ['read']\n")
    with asking(str(serve(credentials=str(keys)).endpoint)) as ask:
        assert ask(b"Tables", "reader")[:2] == (200, b"")
        assert ask(b"Create first", "reader")[1] == b"\x06Create:PERMISSION_MISSING"
        assert ask(b"Tables", "reader")[:2] == (200, b"")


def test_requests_are_counted_under_the_dialects_label(endpoint: str, ask: Ask) -> None:
    ask(b"Tables")
    ask(b"Tables", "stranger")
    ask(b"Nothing")
    with Wire(endpoint) as wire:
        wire.ask(Sender().request("ListTable"))
        page = wire.ask(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n").body.decode()
    assert 'widerow_requests_total{action="tiny/Tables",code="OK"} 1' in page
    assert 'widerow_requests_total{action="tiny/Tables",code="ACCESS_KEY_UNKNOWN"} 1' in page
    assert 'widerow_requests_total{action="other",code="ACTION_UNKNOWN"} 1' in page
    assert 'widerow_requests_total{action="ListTable",code="OK"} 1' in page
    assert 'widerow_capacity_units_total{action="tiny/Tables",kind="read"} 3' in page


NOT_HTTP = b"\x00\r\n\r\n"
PLAIN = "text/plain; charset=utf-8"


def test_what_no_dialect_claims_is_answered_by_the_one_that_says_so(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """wire/dialect.py, `answers_unclaimed`: the place in the list does not matter."""
    monkeypatch.setattr(lifecycle, "DIALECTS", (TINY, *DIALECTS))
    endpoint = serve().endpoint
    with Wire(endpoint) as wire:
        assert wire.ask(Sender().request("Nothing")).error[:2] == (400, "OTSUnsupportOperation")
    with Wire(endpoint) as wire:
        assert wire.ask(NOT_HTTP).error[:2] == (400, "OTSParameterInvalid")


def test_a_mark_tells_whose_what_no_dialect_claims_is(endpoint: str) -> None:
    """wire/dialect.py, `mark`: pages of the port and targets of other dialects are theirs."""
    marked = b" HTTP/1.1\r\nhost: localhost\r\nx-tiny-request-id: 1\r\ncontent-length: 0\r\n\r\n"
    with Wire(endpoint) as wire:
        for line in (b"GET /nope", b"POST /nope"):
            assert wire.ask(line + marked).body == b"\x06-:HTTP_METHOD"
        assert wire.ask(b"GET /livez" + marked).body == b"alive\n"
        assert wire.ask(b"POST /ListTable" + marked).error[1] == "OTSMissingHeader"


@pytest.mark.parametrize("line", ["GET /nope", "HEAD /", "POST /nope", "PUT /V2/nope"])
def test_a_driver_of_oracle_at_a_target_of_nobody_is_refused_without_a_word(
    serve: Callable[..., Any], line: str
) -> None:
    """http-033 of the recorded original. Drivers are known by the id of their requests."""
    with Wire(serve().endpoint) as wire:
        lines = (
            f"{line} HTTP/1.1",
            "host: localhost",
            "x-nosql-request-id: 7",
            "content-length: 0",
        )
        answer = wire.ask("\r\n".join([*lines, "", ""]).encode())
        assert (answer.status, answer.body) == (400, b"")


def test_what_no_dialect_answers_is_answered_in_plain_text(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lifecycle, "DIALECTS", (TINY,))
    endpoint = serve().endpoint
    with Wire(endpoint) as wire:
        nothing = wire.ask(Sender().request("Nothing"))
        assert (nothing.status, nothing.headers["content-type"]) == (404, PLAIN)
        assert nothing.body.startswith(b"not found; ")
    with Wire(endpoint) as wire:
        strange = wire.ask(NOT_HTTP)
        assert (strange.status, strange.headers["content-type"]) == (400, PLAIN)


def test_one_dialect_of_a_port_at_most_answers_what_none_claims(
    serve: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    twice = tuple(replace(each, answers_unclaimed=True) for each in (*DIALECTS, TINY))
    monkeypatch.setattr(lifecycle, "DIALECTS", twice)
    with pytest.raises(ValueError, match="not: Tablestore, Oracle NoSQL, Tiny"):
        serve()


def test_the_list_has_a_label_for_each_dialect() -> None:
    """Names in the metrics must not meet."""
    assert len({each.label for each in DIALECTS}) == len(DIALECTS)
    assert len({each.name for each in DIALECTS}) == len(DIALECTS)
