"""`/_widerow/…`: what it answers, and what it refuses with the field and what is allowed."""

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.forked import ForkedServer
from tests.support.volume import examples
from tests.unit.server.dev.conftest import JSON, Dev

from widerow.limits import (
    COPIES_MAX,
    DEV_BODY_BYTES_MAX,
    FAULT_DELAY_MS_MAX,
    FAULTS_MAX,
)
from widerow.server.dev.fields import FieldRefused, duration_seconds, read_document
from widerow.server.loopback import names_loopback
from widerow.server.settings import SettingsInvalid
from widerow.testing.process import ServeFailed
from widerow.testing.server import WiderowServer


def test_the_clock_is_set_advanced_frozen_and_run(dev: Dev, memory: WiderowServer) -> None:
    assert dev.ask("GET", "clock")["running"] is False
    at = dev.ask("POST", "clock", set="2030-01-02T03:04:05+00:00")
    assert at == {"now_ms": 1893553445000, "now": "2030-01-02T03:04:05.000+00:00", "running": False}
    assert dev.ask("POST", "clock", set=1000)["now_ms"] == 1000
    assert dev.ask("POST", "clock", advance="1h1m1s1ms")["now_ms"] == 1000 + 3661001
    assert dev.ask("POST", "clock", advance=-1.5)["now_ms"] == 1000 + 3659501
    assert dev.ask("POST", "clock", run=True)["running"] is True
    assert dev.ask("POST", "clock", run=True, advance=1)["running"] is True
    assert dev.ask("POST", "clock", freeze=True)["running"] is False
    assert memory.clock.now_us() // 1000 == dev.ask("GET", "clock")["now_ms"]


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "body"),
        ({"set": "2030-01-02T03:04:05"}, "set"),
        ({"set": "soon"}, "set"),
        ({"set": -1}, "set"),
        ({"set": 2**63}, "set"),
        ({"set": True}, "set"),
        ({"set": 1.5}, "set"),
        ({"advance": "1y"}, "advance"),
        ({"advance": "1h 1m"}, "advance"),
        ({"advance": ""}, "advance"),
        ({"advance": [1]}, "advance"),
        ({"advance": 10**30}, "advance"),
        ({"advance": -(10**10)}, "advance"),
        ({"freeze": False}, "freeze"),
        ({"run": 1}, "run"),
        ({"run": True, "freeze": True}, "run"),
        ({"set": 1, "advance": 1}, "advance"),
        ({"sett": 1}, "sett"),
    ],
)
def test_the_clock_refuses(dev: Dev, fields: dict[str, Any], field: str) -> None:
    before = dev.ask("GET", "clock")
    status, named, message = dev.refused("POST", "clock", fields)
    assert (status, named) == (400, field)
    assert message
    assert dev.ask("GET", "clock") == before


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({}, "error"),
        ({"error": "OTSNonsense"}, "error"),
        ({"error": 5}, "error"),
        ({"error": "OTSServerBusy", "drop": True}, "drop"),
        ({"latency_ms": FAULT_DELAY_MS_MAX + 1}, "latency_ms"),
        ({"latency_ms": -1}, "latency_ms"),
        ({"latency_ms": "1"}, "latency_ms"),
        ({"error": "OTSTimeout", "when": "during"}, "when"),
        ({"error": "OTSTimeout", "action": "Nonsense"}, "action"),
        ({"error": "OTSTimeout", "action": "PutRow", "rows": [0]}, "action"),
        ({"error": "OTSTimeout", "rows": 0}, "rows"),
        ({"error": "OTSTimeout", "rows": 1.1}, "rows"),
        ({"error": "OTSTimeout", "rows": []}, "rows"),
        ({"error": "OTSTimeout", "rows": [-1]}, "rows"),
        ({"drop": True, "rows": [0]}, "rows"),
        ({"drop": True, "message": "gone"}, "message"),
        ({"error": "OTSTimeout", "message": ""}, "message"),
        ({"error": "OTSTimeout", "table": "\ud800"}, "table"),
        ({"error": "OTSTimeout", "probability": 2}, "probability"),
        ({"error": "OTSTimeout", "probability": True}, "probability"),
        ({"error": "OTSTimeout", "count": 0}, "count"),
        ({"error": "OTSTimeout", "skip": -1}, "skip"),
        ({"error": "OTSTimeout", "seed": -1}, "seed"),
        ({"error": "OTSTimeout", "instance": 5}, "instance"),
        ({"error": "OTSTimeout", "id": 5}, "id"),
    ],
)
def test_a_fault_that_makes_no_sense_is_refused(
    dev: Dev, fields: dict[str, Any], field: str
) -> None:
    assert dev.refused("POST", "faults", fields)[:2] == (400, field)
    assert dev.ask("GET", "faults") == {"faults": []}


def test_a_refusal_says_what_is_allowed(dev: Dev) -> None:
    _, _, message = dev.refused("POST", "faults", {"error": "OTSNonsense"})
    assert message.startswith("must be one of ")
    for code in (
        "OTSServerBusy",
        "OTSPartitionUnavailable",
        "OTSTimeout",
        "OTSRowOperationConflict",
    ):
        assert code in message
    _, _, message = dev.refused("POST", "faults", {"errors": "OTSServerBusy"})
    assert "known are error, message, drop" in message


def test_faults_are_listed_and_removed(dev: Dev) -> None:
    first = dev.ask("POST", "faults", error="OTSServerBusy", rows=[3, 1], action="BatchGetRow")
    second = dev.ask("POST", "faults", latency_ms=5, instance="a", table=None)
    assert (first["id"], first["rows"], first["struck"]) == (1, [1, 3], 0)
    assert dev.ask("GET", "faults")["faults"] == [first, second]
    assert dev.ask("DELETE", "faults/1") == {"removed": 1}
    assert dev.refused("DELETE", "faults/1", {})[:2] == (404, "path")
    assert dev.refused("DELETE", "faults/1/2", {})[:2] == (404, "path")
    assert dev.refused("DELETE", "faults/x", {})[:2] == (404, "path")
    assert dev.ask("DELETE", "faults") == {"removed": 1}
    assert dev.ask("GET", "faults") == {"faults": []}


def test_there_is_a_bound_on_faults(dev: Dev, memory: WiderowServer) -> None:
    for _ in range(FAULTS_MAX):
        memory.faults.add(latency_ms=1)
    assert dev.refused("POST", "faults", {"drop": True})[:2] == (400, "body")


def test_there_is_a_bound_on_snapshots(dev: Dev, memory: WiderowServer) -> None:
    for number in range(COPIES_MAX):
        memory.keep(f"s{number}", "a")
    assert dev.refused("POST", "snapshots", {"instance": "a", "name": "more"})[:2] == (400, "name")
    dev.ask("POST", "snapshots", instance="a", name="s0")  # in the place of the former
    dev.ask("DELETE", "snapshots", instance="a", name="s0")
    dev.ask("POST", "snapshots", instance="a", name="more")
    assert len(dev.ask("GET", "snapshots")["snapshots"]) == COPIES_MAX


@pytest.mark.parametrize(
    ("method", "page", "fields", "refusal"),
    [
        ("POST", "reset", {}, (400, "instance")),
        ("POST", "reset", {"instance": "a b"}, (400, "instance")),
        ("POST", "reset", {"instance": "a", "snapshot": "none"}, (400, "snapshot")),
        ("POST", "reset", {"instance": "a", "table": "t"}, (400, "table")),
        ("POST", "snapshots", {"instance": "a"}, (400, "name")),
        ("DELETE", "snapshots", {"instance": "a", "name": "b"}, (404, "name")),
        ("GET", "reset", {}, (405, "method")),
        ("PUT", "clock", {}, (405, "method")),
        ("GET", "nonsense", {}, (404, "path")),
        ("GET", "clock/now", {}, (404, "path")),
        ("GET", "clock?now", {}, (404, "path")),
        ("GET", "clock", {"set": 1}, (400, "set")),
    ],
)
def test_pages_refuse(
    dev: Dev, method: str, page: str, fields: dict[str, Any], refusal: tuple[int, str]
) -> None:
    assert dev.refused(method, page, fields)[:2] == refusal


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"1",
        b"\xff",
        b'"set"',
        b'{"set": 1, "set": 2}',
        b'{"advance": NaN}',
        b'{"advance": Infinity}',
        b'{"advance": 1e999}',
        b'{"advance": %b}' % (b"9" * 5000),
        '{"advance": "５s"}'.encode(),  # digits of another script
        b'{"set": %b}' % (b"[" * 30_000),
    ],
)
def test_hostile_bodies_are_refused(dev: Dev, body: bytes) -> None:
    before = dev.ask("GET", "clock")
    status, document = dev.raw("POST", "/_widerow/clock", body)
    assert status == 400
    assert document["error"]["field"] in {"body", "set", "advance"}
    assert dev.ask("GET", "clock") == before


def test_a_large_body_is_refused(dev: Dev) -> None:
    status, document = dev.raw("POST", "/_widerow/clock", b" " * (DEV_BODY_BYTES_MAX + 1))
    assert (status, document["error"]["field"]) == (413, "body")


@given(st.binary(max_size=200))
@settings(max_examples=examples(200))
def test_any_bytes_are_a_document_or_refused(body: bytes) -> None:
    try:
        assert isinstance(read_document(body), dict)
    except FieldRefused as refused:
        assert (refused.field, refused.allowed) > ("", "")  # noqa: PT017  # either end is fine


@given(st.floats(0, 10**9).map(lambda seconds: round(seconds, 3)))
def test_spans_are_read_as_they_are_written(seconds: float) -> None:
    whole, part = divmod(round(seconds * 1000), 1000)
    assert duration_seconds(f"{whole}s{part}ms") == pytest.approx(seconds)
    assert duration_seconds(f"-{whole}s{part}ms") == pytest.approx(-seconds)


# --- who may command ------------------------------------------------------------------------------


def test_a_page_in_a_browser_cannot_command(dev: Dev) -> None:
    """A form can send text/plain to any port, and a name can be bound to this machine's address."""
    plain = {"content-type": "text/plain"}
    status, document = dev.raw("POST", "/_widerow/reset", b'{"instance": "a"}', plain)
    assert (status, document["error"]["field"]) == (400, "content-type")
    status, document = dev.raw("GET", "/_widerow/clock", b"", {"host": "evil.example:80"})
    assert (status, document["error"]["field"]) == (403, "host")


@pytest.mark.parametrize(
    ("host", "here"),
    [
        ("127.0.0.1:8087", True),
        ("127.9.9.9", True),
        ("localhost", True),
        ("LOCALHOST:1", True),
        ("[::1]:8087", True),
        ("[::1]", True),
        ("10.0.0.1", False),
        ("localhost.evil.example", False),
        ("evil.example:127", False),
        ("", False),
    ],
)
def test_names_of_this_machine(host: str, here: bool) -> None:  # noqa: FBT001  # a case
    assert names_loopback(host) is here


def test_without_dev_there_is_nothing() -> None:
    with WiderowServer(settings={"dev": False}) as server:
        other = Dev(server.endpoint)
        for method, path in (
            ("GET", "/_widerow/clock"),
            ("POST", "/_widerow/clock"),
            ("POST", "/_widerow/reset"),
            ("DELETE", "/_widerow/faults"),
            ("POST", "/_widerow"),
        ):
            with pytest.raises(json.JSONDecodeError):
                other.raw(method, path)
            with socket.create_connection(tuple(other.address.split(":"))) as wire:  # type: ignore[arg-type]  # host and port
                wire.sendall(f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode())
                assert wire.recv(100).startswith(b"HTTP/1.1 404 ")
        with pytest.raises(RuntimeError, match="dev mode"):
            server.reset()


def test_other_machines_are_kept_out_unless_allowed(tmp_path: Path) -> None:
    settings = {"host": "0.0.0.0"}  # noqa: S104  # what is refused
    server = WiderowServer(settings=settings)
    with pytest.raises(SettingsInvalid, match="dev_remote"):
        server.start()
    with WiderowServer(settings=settings | {"dev_remote": True}) as allowed:
        port = allowed.endpoint.rpartition(":")[2]
        status, _ = Dev(f"http://127.0.0.1:{port}").raw(
            "GET", "/_widerow/clock", b"", {"host": "somewhere.example"}
        )
        assert status == 200
    with pytest.raises(ServeFailed, match="set dev too"):
        ForkedServer("--path", str(tmp_path), "--dev-remote").start()


def test_dev_mode_says_so_everywhere() -> None:
    with ForkedServer("--memory", "--dev") as process:
        assert process.ready_line.endswith(" mode=dev")
        assert "DEV MODE" in process.written()
        connection_of = Dev(process.endpoint)
        assert connection_of.ask("GET", "clock")["running"] is True
        page, ready = (_text(process.endpoint, path) for path in ("/metrics", "/readyz"))
        assert "widerow_dev_mode 1\n" in page
        assert ready == "ready, in dev mode\n"


def test_a_server_without_dev_does_not_say_so() -> None:
    with WiderowServer(settings={"dev": False}) as server:
        assert "dev_mode" not in _text(server.endpoint, "/metrics")
        assert _text(server.endpoint, "/readyz") == "ready\n"


def _text(endpoint: str, path: str) -> str:
    import http.client  # noqa: PLC0415  # beside the only use

    connection = http.client.HTTPConnection(endpoint.removeprefix("http://"), timeout=20)
    try:
        connection.request("GET", path)
        return connection.getresponse().read().decode()
    finally:
        connection.close()


def test_requests_need_no_key_and_are_counted(dev: Dev, memory: WiderowServer) -> None:
    dev.ask("GET", "clock")
    assert 'widerow_requests_total{action="dev",code="OK"}' in _text(memory.endpoint, "/metrics")
    assert JSON


def test_without_dev_nothing_of_it_is_loaded_or_stands_before_requests() -> None:
    """So it costs a server without dev mode nothing, neither at its start nor for a request."""
    code = (
        "import asyncio, sys\n"
        "from widerow.server.lifecycle import Server\n"
        "from widerow.server.settings import Settings\n"
        "async def serve():\n"
        "    server = Server(Settings(port=0, store='memory:'))\n"
        "    await server.start()\n"
        "    print(type(server._listener._shared.handler).__name__)\n"
        "    print(server._listener._connection.__name__)\n"
        "    await server.stop()\n"
        "asyncio.run(serve())\n"
        "print([name for name in sys.modules if name.startswith('widerow.server.dev')])\n"
    )
    ran = subprocess.run(  # noqa: S603  # our own interpreter
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout.splitlines() == ["Dispatcher", "Connection", "[]"]
