"""Requests for what is on its way are answered a moment later, and keep no thread waiting.

Over a shared store the build of a search index begins when all servers have told that they know of
it (docs/operating/cluster.md, "Indexes"), and changes of rows are moved into streams after them.
"""

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import pytest
from tests.support.engines import open_tablestore
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES, SEARCH_BODIES, create_table_request
from tests.support.strict import StrictSpace, StrictStore
from tests.unit.engine.tunnels.log import Consumer

from widerow.engine.nodes.nodes import Nodes
from widerow.engine.streams.mover import ChangeMover
from widerow.limits import LENGTHY_THREADS_MAX, NOT_YET_LOOK_SECONDS, STREAM_WAIT_SECONDS
from widerow.system import SystemClock
from widerow.testing.clock import FakeEntropy
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore import search_messages as s
from widerow.wire.tablestore import tunnel_messages as t

if TYPE_CHECKING:
    from tests.unit.server.conftest import Running

Serve = Callable[..., "Running"]
SENDER: Final = Sender(instance="i")
ask, granted = SENDER.ask, SENDER.granted
WAIT: Final = 0.4  # of servers for each other, in seconds


SEARCH: Final = s.SearchRequest(  # all rows
    table_name="t", index_name="x", search_query=s.SearchQuery(limit=9).SerializeToString()
)


class _Others:
    """What servers know of each other: whether all have told that they know of an index."""

    def __init__(self) -> None:
        self.told_at = 0.0

    def wait(self, seconds: float) -> None:
        self.told_at = time.monotonic() + seconds

    def settled(self, changed_us: int) -> bool:
        del changed_us
        return time.monotonic() >= self.told_at


@pytest.fixture
def others(monkeypatch: pytest.MonkeyPatch) -> _Others:
    made = _Others()
    monkeypatch.setattr(Nodes, "settled", made.settled)
    return made


@pytest.fixture
def space() -> StrictSpace:
    return StrictSpace()


@pytest.fixture
def wires(others: _Others, space: StrictSpace, serve: Serve) -> Iterator[list[Wire]]:
    del others  # before any server
    servers = [serve(StrictStore(space, FakeEntropy(n)), node_name=str(n)) for n in range(2)]
    made = [Wire(each.endpoint) for each in servers]
    table = create_table_request("t")
    table.stream_spec.CopyFrom(m.StreamSpecification(enable_stream=True, expiration_time=1))
    granted(made[0], "CreateTable", table.SerializeToString())
    granted(made[0], "PutRow", BODIES["PutRow"]("t"))
    yield made
    for each in made:
        each.__exit__()


def test_the_first_search_of_a_small_table_answers_at_every_server(
    wires: list[Wire], others: _Others
) -> None:
    """As over the embedded store (search §1.3): clients do not all repeat OTSTableNotReady."""
    others.wait(1e9)
    granted(wires[0], "CreateSearchIndex", SEARCH_BODIES["CreateSearchIndex"]("t"))
    others.wait(WAIT)
    with ThreadPoolExecutor(2) as clients:
        asked = [
            clients.submit(granted, wire, "Search", SEARCH.SerializeToString()) for wire in wires
        ]
    for each in asked:
        assert s.SearchResponse.FromString(each.result()).rows
    others.wait(WAIT)  # an index of another name is built anew
    again = s.CreateSearchIndexRequest.FromString(SEARCH_BODIES["CreateSearchIndex"]("t"))
    again.index_name = "other"
    granted(wires[0], "CreateSearchIndex", again.SerializeToString())
    splits = s.ComputeSplitsRequest(
        table_name="t", search_index_splits_options=s.SearchIndexSplitsOptions(index_name="other")
    )
    found = granted(wires[1], "ComputeSplits", splits.SerializeToString())
    assert s.ComputeSplitsResponse.FromString(found).splits_size == 1


def test_searches_that_wait_keep_nobody_waiting(wires: list[Wire], others: _Others) -> None:
    """More of them than there are threads; each is refused when its time is over."""
    others.wait(1e9)
    granted(wires[0], "CreateSearchIndex", SEARCH_BODIES["CreateSearchIndex"]("t"))
    search = s.SearchRequest.FromString(SEARCH.SerializeToString())
    search.timeout_ms = 1500
    body = search.SerializeToString()
    host, port = wires[0].socket.getpeername()

    def waiting() -> tuple[str, float]:
        began = time.monotonic()
        with Wire(f"http://{host}:{port}") as wire:
            code = ask(wire, "Search", body).error
        return str(code), time.monotonic() - began

    with ThreadPoolExecutor(4 * LENGTHY_THREADS_MAX) as clients:
        asked = [clients.submit(waiting) for _ in range(4 * LENGTHY_THREADS_MAX)]
        time.sleep(0.1)
        began = time.monotonic()
        described = SEARCH_BODIES["DescribeSearchIndex"]("t")  # on a thread, too
        granted(wires[0], "DescribeSearchIndex", described)
        passed = time.monotonic() - began
        told = [each.result() for each in asked]
    assert passed < 1
    assert all("OTSTableNotReady" in code for code, _ in told)
    assert all(1.5 <= seconds < 4 for _, seconds in told)


@pytest.mark.parametrize("waits", [True, False])
def test_rows_from_before_a_tunnel_come_once(
    wires: list[Wire], space: StrictSpace, monkeypatch: pytest.MonkeyPatch, *, waits: bool
) -> None:
    """change §C2.3: as rows, and not as changes; where these do not come in time, as both."""
    seconds = 3 if waits else 0
    monkeypatch.setattr("widerow.wire.tablestore.operations.tunnels.STREAM_WAIT_SECONDS", seconds)
    if not waits:
        monkeypatch.setattr(ChangeMover, "step", lambda _: None)
    row = m.PutRowRequest.FromString(BODIES["PutRow"]("t"))
    for wire in wires:
        granted(wire, "PutRow", row.SerializeToString())
    asked = t.CreateTunnelRequest(
        tunnel=t.Tunnel(table_name="t", tunnel_name="both", tunnel_type=3)
    )
    told = granted(wires[0], "tunnel/create", asked.SerializeToString())
    monkeypatch.undo()
    tunnel = str(t.CreateTunnelResponse.FromString(told).tunnel_id)
    engine = open_tablestore(StrictStore(space, FakeEntropy(7)), SystemClock(), FakeEntropy(8))
    client = engine.core.run(engine.tunnels.connect("i", tunnel, "tag", 60))
    consumer = Consumer(lambda make: engine.core.run(make()), tunnel, client)
    taken: list[str] = []

    def take(name: str, _: object) -> None:
        taken.append(name)

    until = time.monotonic() + (0.5 if waits else 3)
    while time.monotonic() < until and (waits or len(taken) < 2):
        consumer.heartbeat(engine.tunnels)
        for name in consumer.open_channels():
            consumer.work(engine.tunnels, name, take)
    assert (len(taken) == 1) is waits


def test_a_stream_has_what_was_answered_before_it_was_asked(wires: list[Wire]) -> None:
    """change §C1.5: at either server, and no empty page before it."""
    listed = m.ListStreamRequest(table_name="t").SerializeToString()
    (stream,) = m.ListStreamResponse.FromString(granted(wires[0], "ListStream", listed)).streams
    asked = m.GetShardIteratorRequest(stream_id=str(stream.stream_id), shard_id="shard-0")
    found = granted(wires[0], "GetShardIterator", asked.SerializeToString())
    iterator = m.GetShardIteratorResponse.FromString(found).shard_iterator
    for turn in range(6):
        if turn:
            granted(wires[0], "PutRow", BODIES["PutRow"]("t"))
        records = m.GetStreamRecordRequest(shard_iterator=str(iterator)).SerializeToString()
        page = m.GetStreamRecordResponse.FromString(
            granted(wires[turn % 2], "GetStreamRecord", records)
        )
        assert len(page.stream_records) == 1, turn
        iterator = page.next_shard_iterator
    began = time.monotonic()
    records = m.GetStreamRecordRequest(shard_iterator=str(iterator)).SerializeToString()
    page = m.GetStreamRecordResponse.FromString(granted(wires[0], "GetStreamRecord", records))
    assert not page.stream_records
    assert time.monotonic() - began < STREAM_WAIT_SECONDS  # nothing is on its way


def test_a_server_that_stops_in_a_hurry_waits_for_none_of_them(
    others: _Others, serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    running = serve(StrictStore(StrictSpace(), FakeEntropy(1)), node_name="a")
    with Wire(running.endpoint) as wire, ThreadPoolExecutor(1) as clients:
        granted(wire, "CreateTable", create_table_request("t").SerializeToString())
        others.wait(1e9)
        granted(wire, "CreateSearchIndex", SEARCH_BODIES["CreateSearchIndex"]("t"))
        asked = clients.submit(ask, wire, "Search", SEARCH.SerializeToString())
        time.sleep(3 * NOT_YET_LOOK_SECONDS)
        running.server.hurry()
        running.call(running.server.stop())
        with suppress(ConnectionError):  # it may be told yet
            assert "OTSTableNotReady" in str(asked.result().error)
    time.sleep(2 * NOT_YET_LOOK_SECONDS)  # the next look would have been by then
    assert not [each for each in caplog.records if each.levelname == "ERROR"]
