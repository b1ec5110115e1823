"""From start to stop: nothing left open, nothing acknowledged lost (DURABILITY.md)."""

import asyncio
import logging
import socket
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.http import Sender, Wire
from tests.support.requests import create_table_request, get_row_request, put_row_request

from widerow.engine.engine import Engine
from widerow.engine.sweep.record import SweepRecord, decode_sweep, encode_sweep
from widerow.errors import StoreDamaged, StoreFull, StoreLocked, StorePoisoned
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_ROWS, sweep_key
from widerow.server.lifecycle import Server
from widerow.server.settings import Settings, SettingsInvalid
from widerow.storage.interface import Outcome, Write
from widerow.storage.memory import MemoryStore
from widerow.storage.opener import open_store
from widerow.system import SystemClock
from widerow.wire.tablestore.messages import ListTableResponse

if TYPE_CHECKING:
    from tests.unit.server.conftest import Running

Serve = Callable[..., "Running"]
SENDER = Sender()


class Moody(MemoryStore):
    """A memory store that waits, or fails, as it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.failure: Exception | None = None
        self.waiting = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def transact_group(self, writes: Sequence[Write[Any]]) -> list[Outcome[Any]]:
        self.waiting.set()
        self.go_on.wait()
        if self.failure is not None:
            raise self.failure
        return super().transact_group(writes)


def status(endpoint: str, path: str) -> int:
    with Wire(endpoint) as wire:
        return wire.ask(f"GET {path} HTTP/1.1\r\n\r\n".encode()).status


def test_a_server_starts_answers_and_stops(serve: Serve) -> None:
    running = serve()
    assert running.endpoint.startswith("http://127.0.0.1:")
    assert status(running.endpoint, "/readyz") == 200
    running.call(running.server.stop())
    running.call(running.server.stop())
    with pytest.raises(ConnectionError):
        Wire(running.endpoint)


def test_what_was_acknowledged_is_there_after_a_restart(
    serve: Serve, tmp_path: Path, table_body: bytes
) -> None:
    store = f"rocksdb:{tmp_path / 'data'}"
    for _ in range(2):
        running = serve(store=store)
        with Wire(running.endpoint) as wire:
            wire.ask(SENDER.request("CreateTable", table_body))
            listed = ListTableResponse.FromString(wire.ask(SENDER.request("ListTable")).body)
            assert list(listed.table_names) == ["t"]
        running.call(running.server.stop())


def test_a_store_that_was_handed_in_stays_open(serve: Serve) -> None:
    store = MemoryStore()
    running = serve(store)
    running.call(running.server.stop())
    assert store.writable
    store.close()


def test_stopping_answers_what_is_in_hand(serve: Serve, table_body: bytes) -> None:
    store = Moody()
    running = serve(store)
    with Wire(running.endpoint) as wire, Wire(running.endpoint) as idle:
        wire.ask(SENDER.request("CreateTable", table_body))
        store.go_on.clear()
        store.waiting.clear()
        wire.send(SENDER.request("DeleteTable", b"\x0a\x01t"))
        assert store.waiting.wait(timeout=10)
        stopped = running.begin(running.server.stop())
        assert idle.ended()
        assert not stopped.done()
        store.go_on.set()
        answer = wire.read()
        assert (answer.status, answer.headers["connection"]) == (200, "close")
        assert wire.ended()
        stopped.result(timeout=10)


def test_whoever_is_in_a_hurry_waits_for_no_client(serve: Serve) -> None:
    running = serve()
    with Wire(running.endpoint) as wire:
        wire.send(SENDER.request("PutRow", b"x" * 100)[:-1])
        while running.server.admission.requests_in_flight == 0:
            status(running.endpoint, "/livez")
        stopped = running.begin(running.server.stop())
        assert not stopped.done()
        running.loop.call_soon_threadsafe(running.server.hurry)
        stopped.result(timeout=10)


def test_a_poisoned_store_is_told_once_and_reads_go_on(
    serve: Serve, table_body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    store = Moody()
    running = serve(store)
    store.failure = StorePoisoned("sync failed: Input/output error")
    with Wire(running.endpoint) as wire:
        for _ in range(3):
            answer = wire.ask(SENDER.request("CreateTable", table_body))
            assert answer.error == (503, "OTSServerUnavailable", "Server is not available.")
        assert wire.ask(SENDER.request("ListTable")).status == 200
    told = [each for each in caplog.records if each.levelno == logging.CRITICAL]
    assert [each.__dict__["facts"]["reason"] for each in told] == [str(store.failure)]


def test_damage_that_a_read_finds_ends_writes(
    serve: Serve, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    # reliability: stored bytes that do not match their checksum stop the writes at once
    with open_store(str(tmp_path / "data")) as store:
        running = serve(store)
        row = put_row_request("t").SerializeToString()
        with Wire(running.endpoint) as wire:
            wire.ask(SENDER.request("CreateTable", create_table_request("t").SerializeToString()))
            assert wire.ask(SENDER.request("PutRow", row)).status == 200
            (pair,) = store.snapshot().scan(SPACE_ROWS, after_prefix(SPACE_ROWS))
            key, cut = pair[0], pair[1][:20]
            store.transact((key,), lambda inside: inside.put(key, cut))
            read = get_row_request("t").SerializeToString()
            assert wire.ask(SENDER.request("GetRow", read)).status == 503
            refused = wire.ask(SENDER.request("PutRow", row)).error
            assert refused == (503, "OTSServerUnavailable", "Server is not available.")
            assert wire.ask(SENDER.request("ListTable")).status == 200
        assert status(running.endpoint, "/readyz") == 503
        assert "damage in the store; run widerow doctor" in caplog.messages
    with pytest.raises(StoreDamaged, match="damage was found"):
        open_store(str(tmp_path / "data"))


def test_a_full_store_is_told_now_and_then(
    serve: Serve, table_body: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    store = Moody()
    running = serve(store)
    store.failure = StoreFull("no room")
    with Wire(running.endpoint) as wire:
        for _ in range(5):
            assert wire.ask(SENDER.request("CreateTable", table_body)).error[1] == "OTSServerBusy"
        store.failure = None
        assert wire.ask(SENDER.request("CreateTable", table_body)).status == 200
        assert wire.ask(SENDER.request("ListTable")).status == 200
    told = [each for each in caplog.records if "refuses writes for now" in each.message]
    assert len(told) == 1
    assert caplog.messages.count("the store takes writes again") == 1


# --- starts that fail --------------------------------------------------------------------------


def failing_start(settings: Settings) -> Exception:
    async def run() -> None:
        await Server(settings).start()

    with pytest.raises(Exception, match=r".") as raised:
        asyncio.run(run())
    return raised.value


def test_a_taken_port_is_said_so_and_the_store_is_let_go(tmp_path: Path) -> None:
    store = f"rocksdb:{tmp_path / 'data'}"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        error = failing_start(Settings(port=port, store=store))
    assert isinstance(error, SettingsInvalid)
    assert f"cannot listen on 127.0.0.1 port {port}" in str(error)
    assert "in use" in str(error)

    async def again() -> None:
        server = Server(Settings(port=0, store=store))
        await server.start()
        await server.stop()

    asyncio.run(again())


def test_a_locked_directory_is_said_so(serve: Serve, tmp_path: Path) -> None:
    store = f"rocksdb:{tmp_path / 'data'}"
    serve(store=store)
    error = failing_start(Settings(port=0, store=store))
    assert isinstance(error, StoreLocked)
    assert str(tmp_path) in str(error)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"store": "carrier:pigeon"}, "unknown kind of store"),
        ({"host": "256.256.256.256"}, "cannot listen on 256.256.256.256"),
        ({"host": "192.0.2.1"}, "cannot listen on 192.0.2.1 port 0: that is not an address of"),
        ({"instances": ("a b",)}, "instances:"),
        ({"credentials": "/nowhere/keys.toml"}, "cannot read credentials /nowhere/keys.toml"),
    ],
)
def test_settings_that_do_not_work_are_named(changes: dict[str, Any], words: str) -> None:
    settings = Settings(**{"port": 0, "store": "memory:", **changes})
    error = failing_start(settings)
    assert isinstance(error, SettingsInvalid)
    assert words in str(error)


def test_a_server_inside_a_process_is_not_several() -> None:
    """docs/operating/cluster.md, Workers: `widerow serve` starts them."""
    error = failing_start(Settings(store="memory:", workers=2))
    assert isinstance(error, SettingsInvalid)
    assert "by widerow serve alone" in str(error)


def test_credentials_replace_the_default_pair(serve: Serve, tmp_path: Path) -> None:
    file = tmp_path / "keys.toml"
    file.write_text("[[key]]\nid = 'a'\nsecret = 's'\n")
    running = serve(credentials=str(file), instances=("shop",))
    with Wire(running.endpoint) as wire:
        assert wire.ask(SENDER.request("ListTable")).status == 403
        assert wire.ask(Sender("a", "s", "shop").request("ListTable")).status == 200
        assert wire.ask(Sender("a", "s", "inst").request("ListTable")).status == 403


def test_dropped_tables_are_cleaned_up_while_serving(
    serve: Serve, table_body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widerow.housekeeping.routines.HOUSEKEEPING_SECONDS", 0.01)
    running = serve()
    name = b"\x0a\x01t"  # DeleteTable's message
    with Wire(running.endpoint) as wire:
        wire.ask(SENDER.request("CreateTable", table_body))
        assert wire.ask(SENDER.request("DeleteTable", name)).status == 200
        page = b""
        while b"sweep_tables_dropped_total 1" not in page:
            page = wire.ask(b"GET /metrics HTTP/1.1\r\n\r\n").body


def test_a_failing_clean_up_does_not_end_the_server(
    serve: Serve,
    table_body: bytes,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("widerow.housekeeping.routines.HOUSEKEEPING_SECONDS", 0.01)
    store = Moody()
    running = serve(store)
    with Wire(running.endpoint) as wire:
        wire.ask(SENDER.request("CreateTable", table_body))
        wire.ask(SENDER.request("DeleteTable", b"\x0a\x01t"))
        store.failure = StoreFull("no room")
        wire.ask(SENDER.request("CreateTable", table_body))
        wire.ask(SENDER.request("DeleteTable", b"\x0a\x01t"))
        store.failure = None
        assert wire.ask(SENDER.request("CreateTable", table_body)).status in (200, 409)
        assert wire.ask(SENDER.request("ListTable")).status == 200
    assert all(each.levelno < logging.ERROR for each in caplog.records)


# --- notes of the sweep ------------------------------------------------------------------------


@pytest.fixture
def noted(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> Callable[[MemoryStore], "Running"]:
    """Starts a server that holds a note about a swept table, which is not in the store yet."""
    engines: list[Engine] = []

    def make(*given: Any) -> Engine:  # noqa: ANN401  # the engine's
        engines.append(Engine(*given))
        return engines[-1]

    def start(store: MemoryStore) -> "Running":
        monkeypatch.setattr("widerow.server.lifecycle.Engine", make)
        running = serve(store)
        made = create_table_request("t").SerializeToString()
        with Wire(running.endpoint) as wire:
            assert wire.ask(SENDER.request("CreateTable", made)).status == 200
        now_us = SystemClock().now_us()
        record, key = encode_sweep(SweepRecord(now_us, now_us, None)), sweep_key(1)
        store.transact((key,), lambda inside: inside.put(key, record))
        engines[-1].sweep.note(1, now_us // 1000)
        assert first_noted(store) is None
        return running

    return start


def first_noted(store: MemoryStore) -> int | None:
    return decode_sweep(store.snapshot().get(sweep_key(1)) or b"").first


def test_stopping_writes_down_what_the_sweep_has_noted(
    noted: Callable[[MemoryStore], "Running"],
) -> None:
    """docs/formats/statistics.md, "Passes": what expires first is known to the next start."""
    store = MemoryStore()
    running = noted(store)
    running.call(running.server.stop())
    assert first_noted(store) is not None


@pytest.mark.parametrize("failure", [StoreFull("no room"), StorePoisoned("sync failed")])
def test_a_store_that_refuses_writes_does_not_hold_up_the_end(
    noted: Callable[[MemoryStore], "Running"],
    caplog: pytest.LogCaptureFixture,
    failure: Exception,
) -> None:
    caplog.set_level(logging.INFO)
    store = Moody()
    running = noted(store)
    store.failure = failure
    running.call(running.server.stop())
    assert first_noted(store) is None
    assert "notes of the sweep are not kept" in caplog.messages
