"""Several servers of one store know of each other (docs/operating/cluster.md, "Nodes")."""

import asyncio
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner
from tablestore import (
    CapacityUnit,
    NoRetryPolicy,
    OTSClient,
    OTSServiceError,
    ReservedThroughput,
    Row,
    SecondaryIndexMeta,
    TableMeta,
    TableOptions,
)
from tests.support.http import Answer, Wire
from tests.support.strict import StrictSpace, StrictStore

from widerow.cli.main import app
from widerow.engine.nodes.work import NodeWork
from widerow.keys.layout import node_key
from widerow.limits import SILENT_SECONDS
from widerow.server.lifecycle import Server
from widerow.server.membership import node_name
from widerow.server.settings import Settings, SettingsInvalid
from widerow.server.work_meter import WorkMeter
from widerow.system import SystemClock
from widerow.testing.clock import FakeEntropy

if TYPE_CHECKING:
    from tests.unit.server.conftest import Running

Serve = Callable[..., "Running"]


class _Settable:
    """The clock of a machine that somebody sets."""

    def __init__(self, ahead_us: int = 0) -> None:
        self.ahead_us = ahead_us
        self._clock = SystemClock()

    def now_us(self) -> int:
        return self._clock.now_us() + self.ahead_us

    def monotonic_ns(self) -> int:
        return self._clock.monotonic_ns()


@pytest.fixture
def space() -> StrictSpace:
    return StrictSpace()


@pytest.fixture
def servers(serve: Serve, space: StrictSpace) -> "list[Running]":
    names = ("left", "right")
    return [
        serve(StrictStore(space, FakeEntropy(number)), node_name=name)
        for number, name in enumerate(names)
    ]


def _client(running: "Running | Server") -> OTSClient:
    patience = NoRetryPolicy()
    return OTSClient(running.endpoint, "widerow", "widerow", "inst", retry_policy=patience)


def _create(client: OTSClient, name: str) -> None:
    meta = TableMeta(name, [("k", "STRING")])
    client.create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(0, 0)))


def test_what_one_server_answered_every_other_one_goes_by(servers: "list[Running]") -> None:
    """Tables that appear, change and disappear, by turns."""
    clients = [_client(running) for running in servers]
    for turn in range(6):
        one, other = clients[turn % 2], clients[(turn + 1) % 2]
        _create(one, "t")
        other.put_row("t", Row([("k", "a")], [("v", turn)]))
        one.update_table("t", TableOptions(max_version=2 + turn))
        assert other.describe_table("t").table_options.max_version == 2 + turn
        one.delete_table("t")
        with pytest.raises(OTSServiceError) as refused:
            other.get_row("t", [("k", "a")])
        assert refused.value.code == "OTSObjectNotExist"
        assert other.list_table() == ()


def test_every_server_lists_all_of_them(servers: "list[Running]") -> None:
    for asked in servers:
        words = ["nodes", "--endpoint", asked.endpoint]
        shown = CliRunner().invoke(app, [*words, "--json"])
        assert shown.exit_code == 0, shown.output
        found = json.loads(shown.stdout)
        assert {each["name"] for each in found["nodes"]} == {"left", "right"}
        assert {each["state"] for each in found["nodes"]} == {"serves"}
        assert found["clock"] is None
        table = CliRunner().invoke(app, words)
        assert "left" in table.stdout
        assert "2 nodes" in table.stdout


def _nodes(running: "Running", instance: str = "inst") -> dict[str, Any]:
    words = ["nodes", "--endpoint", running.endpoint, "--instance", instance, "--json"]
    found: dict[str, Any] = json.loads(CliRunner().invoke(app, words).stdout)
    return found


def test_a_server_knows_how_busy_the_others_are_and_what_they_work_on(
    servers: "list[Running]",
) -> None:
    client = _client(servers[1])
    meta = TableMeta("t", [("k", "STRING")], [("v", "STRING")])
    client.create_table(meta, TableOptions(), ReservedThroughput(CapacityUnit(0, 0)))
    client.create_secondary_index("t", SecondaryIndexMeta("x", ["v"], []), include_base_data=False)
    until = time.monotonic() + 4 * SILENT_SECONDS
    while True:
        client.put_row("t", Row([("k", "a")], [("v", "b")]))
        found = _nodes(servers[0])
        loads = {each["name"]: each["load"] for each in found["nodes"]}
        if loads["right"] and loads["right"]["p99_ms"] and found["lags"] and found["lease"]:
            break
        assert time.monotonic() < until, found
    assert loads["right"]["memory_bytes"] > 2**20
    (lag,) = found["lags"]
    assert (lag["kind"], lag["table"], lag["name"]) == ("global index", "inst/t", "x")
    assert lag["node"] == found["lease"]["name"]
    (lag,) = _nodes(servers[0], "other")["lags"]
    assert (lag["kind"], lag["table"], lag["name"]) == ("global index", None, None)


def test_a_server_that_cannot_be_measured_beats_all_the_same(
    space: StrictSpace,
    serve: Serve,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The others go by its beats; what it does is unknown to them, and the log says so once."""

    def broken(_: WorkMeter) -> NodeWork:
        raise RuntimeError

    monkeypatch.setattr(WorkMeter, "measure", broken)
    one = serve(StrictStore(space, FakeEntropy(0)), node_name="left")
    serve(StrictStore(space, FakeEntropy(1)), node_name="right")
    ages, until = list[float](), time.monotonic() + SILENT_SECONDS
    while sum(later < age for age, later in pairwise(ages)) < 2:  # two beats after the first
        (_, other) = _nodes(one)["nodes"]
        assert (other["state"], other["load"]) == ("serves", None)
        ages.append(other["beat_age_seconds"])
        assert time.monotonic() < until
    assert caplog.text.count("unforeseen RuntimeError") == 2  # one for each server


def test_a_server_that_stops_is_listed_no_more(servers: "list[Running]") -> None:
    servers[1].call(servers[1].server.stop())
    client = _client(servers[0])
    _create(client, "t")  # is answered at once, because there is nobody to wait for
    shown = CliRunner().invoke(app, ["nodes", "--endpoint", servers[0].endpoint, "--json"])
    found = json.loads(shown.stdout)["nodes"]
    assert [each["name"] for each in found if each["state"] == "serves"][:1] == ["left"]


def _keeper(running: "Running") -> str:
    shown = CliRunner().invoke(app, ["nodes", "--endpoint", running.endpoint, "--json"])
    found = json.loads(shown.stdout)["nodes"]
    return next((each["name"] for each in found if each["keeper"]), "")


def _soon_kept_by(running: "Running", names: set[str], seconds: float) -> str:
    """The keeper, once it is one of `names`; "" if it is none for so long."""
    until = time.monotonic() + seconds
    while (found := _keeper(running)) not in names:
        if time.monotonic() > until:
            return ""
        time.sleep(0.1)
    return found


def test_a_keeper_that_stops_is_followed_by_another_at_once(servers: "list[Running]") -> None:
    """In less than the time after which a silent one is not waited for."""
    keeper = _soon_kept_by(servers[0], {"left", "right"}, SILENT_SECONDS)
    assert keeper
    stopping, other = servers if keeper == "left" else servers[::-1]
    stopping.call(stopping.server.stop())
    heir = {"left", "right"} - {keeper}
    assert {_soon_kept_by(other, heir, SILENT_SECONDS / 2)} == heir


def test_a_server_whose_clock_is_wrong_does_not_start(space: StrictSpace, serve: Serve) -> None:
    serve(StrictStore(space, FakeEntropy(0)), node_name="right")
    late = Server(
        Settings(port=0, store="memory:"),
        store=StrictStore(space, FakeEntropy(1)),
        engine_clock=_Settable(-60_000_000),
    )
    with pytest.raises(SettingsInvalid, match=r"clock of this server .* right \(\+(59|60)"):
        asyncio.run(late.start())


def test_a_server_of_its_own_store_has_no_nodes(serve: Serve) -> None:
    running = serve()
    shown = CliRunner().invoke(app, ["nodes", "--endpoint", running.endpoint])
    assert shown.exit_code == 0
    assert "this server's own" in shown.stdout


def test_a_server_whose_clock_is_set_wrong_writes_no_more(space: StrictSpace, serve: Serve) -> None:
    serve(StrictStore(space, FakeEntropy(0)), node_name="right")
    clock = _Settable()
    store = StrictStore(space, FakeEntropy(1))
    server = Server(Settings(port=0, store="memory:"), store=store, engine_clock=clock)
    with closing_loop() as loop:
        loop.run_until_complete(server.start())
        answers = [_ready(loop, server.endpoint)]
        clock.ahead_us = -60_000_000
        while answers[-1].status == 200:  # until the other one beats
            answers.append(_ready(loop, server.endpoint))
        assert answers[-1].status == 503
        assert b"set it by NTP" in answers[-1].body
        with pytest.raises(OTSServiceError, match="OTSServerBusy"):
            loop.run_until_complete(asyncio.to_thread(_create, _client(server), "t"))
        loop.run_until_complete(server.stop())


def _ready(loop: asyncio.AbstractEventLoop, endpoint: str) -> Answer:
    def ask() -> Answer:
        with Wire(endpoint) as wire:
            return wire.ask(b"GET /readyz HTTP/1.1\r\n\r\n")

    return loop.run_until_complete(asyncio.to_thread(ask))


@contextmanager
def closing_loop() -> Iterator[asyncio.AbstractEventLoop]:
    loop = asyncio.new_event_loop()
    yield loop
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


def test_a_server_that_cannot_look_says_so_and_looks_again(
    servers: "list[Running]", caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever it was: here a record that no server has written."""
    key = node_key(bytes(11))
    store = servers[0].server._store
    assert store is not None
    store.transact((key,), lambda txn: txn.put(key, b"no record"))
    while "the other servers cannot be seen" not in caplog.text:
        time.sleep(0.01)
    store.transact((key,), lambda txn: txn.delete(key))
    while "the other servers are seen again" not in caplog.text:
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("given", "endpoint", "name"),
    [
        ("mine", "http://127.0.0.1:8087", "mine"),
        (None, "http://127.0.0.1:8087", "127.0.0.1:8087"),
        (None, "https://db.example:443", "db.example:443"),
        (None, "http://[::1]:8087", "[::1]:8087"),
    ],
)
def test_a_server_is_called_as_it_was_told_or_by_its_address(
    given: str | None, endpoint: str, name: str
) -> None:
    assert node_name(given, endpoint) == name


def test_an_address_that_is_every_address_is_no_name() -> None:
    assert node_name(None, "http://0.0.0.0:8087") != "0.0.0.0:8087"
