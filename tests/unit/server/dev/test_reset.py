"""Resets and snapshots over HTTP, beside all that a server does by itself."""

import time
from pathlib import Path

import pytest
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES, SEARCH_BODIES, TUNNEL_BODIES
from tests.unit.server.dev.conftest import Dev

from widerow.engine.check import check_store
from widerow.storage.opener import open_store
from widerow.testing.server import WiderowServer
from widerow.wire.tablestore import tunnel_messages as t

SENDER = Sender(instance="shop")
ALL = {**BODIES, **SEARCH_BODIES, **TUNNEL_BODIES}


def asked(wire: Wire, *actions: str, table: str = "t") -> None:
    for action in actions:
        answer = wire.ask(SENDER.request(action, ALL[action](table)))
        assert answer.status == 200, (action, answer.error)


def answered_within(seconds: float, wire: Wire, action: str, body: bytes, wanted: bytes) -> bool:
    """Whether an action is answered so, at once where `seconds` is 0."""
    deadline = time.monotonic() + seconds
    while wire.ask(SENDER.request(action, body)).body != wanted:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.1)
    return True


def test_an_instance_is_kept_emptied_and_put_back(any_server: WiderowServer) -> None:
    dev = Dev(any_server.endpoint)
    with Wire(any_server.endpoint) as wire:
        asked(wire, "CreateTable", "PutRow")
        kept = dev.ask("POST", "snapshots", instance="shop", name="one")
        assert (kept["tables"], kept["rows"]) == (["t"], 1)
        assert dev.ask("GET", "snapshots") == {"snapshots": [kept]}
        row = wire.ask(SENDER.request("GetRow", BODIES["GetRow"]("t"))).body
        asked(wire, "UpdateRow")
        assert dev.ask("POST", "reset", instance="shop")["tables"] == []
        assert wire.ask(SENDER.request("GetRow", BODIES["GetRow"]("t"))).status == 404
        assert dev.ask("POST", "reset", instance="shop", snapshot="one")["tables"] == ["t"]
        assert wire.ask(SENDER.request("GetRow", BODIES["GetRow"]("t"))).body == row
    assert dev.ask("DELETE", "snapshots", instance="shop", name="one") == {"removed": 1}
    status, field, message = dev.refused("POST", "reset", {"instance": "shop", "snapshot": "one"})
    assert (status, field, message) == (400, "snapshot", "must be one of this instance's: none")


def test_searches_and_tunnels_answer_as_before_the_snapshot(
    any_server: WiderowServer, request: pytest.FixtureRequest
) -> None:
    """The index as it was, the tunnel by the id that it had, and the row that was there.

    At once; where several servers can share a store, a search index is built a moment later.
    """
    patience = 30 if request.node.callspec.params["any_server"] == "postgres" else 0
    dev = Dev(any_server.endpoint)
    with Wire(any_server.endpoint) as wire:
        asked(wire, "CreateTable", "PutRow", "CreateSearchIndex")
        made = wire.ask(SENDER.request("tunnel/create", ALL["tunnel/create"]("t"))).body
        tunnel = str(t.CreateTunnelResponse.FromString(made).tunnel_id)
        of_table = ("ListSearchIndex", "DescribeSearchIndex", "Search", "tunnel/list")
        reads = {each: ALL[each]("t") for each in of_table}
        reads["tunnel/describe"] = ALL["tunnel/describe"](tunnel)
        dev.ask("POST", "snapshots", instance="shop", name="one")
        before = [wire.ask(SENDER.request(*each)) for each in reads.items()]
        for _ in range(3):
            asked(wire, "UpdateRow", "DeleteSearchIndex")
            asked(wire, "tunnel/delete", table=tunnel)
            dev.ask("POST", "reset", instance="shop", snapshot="one")
            for (action, body), one in zip(reads.items(), before, strict=True):
                assert one.status == 200, action
                assert answered_within(patience, wire, action, body, one.body), action
        dev.ask("POST", "reset", instance="shop")
        assert wire.ask(SENDER.request("ListTable")).body == b""


def test_nothing_is_left_in_the_store(tmp_path: Path) -> None:
    """What was counted of former tables comes late, and finds them gone."""
    with WiderowServer(tmp_path / "store") as server:
        dev = Dev(server.endpoint)
        with Wire(server.endpoint) as wire:
            for number in range(5):
                asked(wire, "CreateTable", "PutRow", "BatchWriteRow", "GetRow")
                if number == 2:
                    dev.ask("POST", "snapshots", instance="shop", name="one")
                dev.ask("POST", "reset", instance="shop")
            dev.ask("POST", "reset", instance="shop", snapshot="one")
            asked(wire, "PutRow", "GetRow")
    with open_store(f"rocksdb:{tmp_path / 'store'}") as store:
        assert check_store(store) == []


def test_a_running_clock_goes_on(memory: WiderowServer) -> None:
    dev = Dev(memory.endpoint)
    dev.ask("POST", "clock", run=True)
    before = dev.ask("GET", "clock")["now_ms"]
    deadline = time.monotonic() + 10
    while dev.ask("GET", "clock")["now_ms"] == before:
        assert time.monotonic() < deadline
