"""The console of servers that share a PostgreSQL database (docs/operating/cluster.md, "Nodes")."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, Final

import pytest
from tests.console.chromium import browsing
from tests.console.conftest import Asker
from tests.console.looking import ROOT, Looking
from tests.console.stocked import engine_of
from tests.postgres import fresh_url
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES
from tools.debian import INSTALL_SECONDS

from widerow.storage.placement import PlacedRange
from widerow.system import SystemClock
from widerow.testing.server import WiderowServer

pytestmark = pytest.mark.timeout(INSTALL_SECONDS + 120)

NAMES: Final = ("left", "right")
PICTURES: Final = ROOT / "docs/operating/pictures"
SECONDS: Final = 20  # for two servers to hear of each other, and of who has the lease


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[WiderowServer, ...]]:
    url = fresh_url()
    with ExitStack() as stack:
        yield tuple(
            stack.enter_context(
                WiderowServer(
                    clock=SystemClock(),
                    instance="inst",
                    settings={"store": url, "node_name": name, "dev": False},
                )
            )
            for name in NAMES
        )


@pytest.fixture(scope="module")
def asker(servers: Sequence[WiderowServer]) -> Asker:
    sender = Sender()
    with Wire(servers[0].endpoint) as wire:
        for action in ("CreateTable", "CreateIndex", "PutRow"):
            assert wire.ask(sender.request(action, BODIES[action]("t"))).status == 200, action
    return Asker(servers[0].endpoint)


def until(asker: Asker, ready: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The document of the nodes, once it is as it is to be."""
    last = time.monotonic() + SECONDS
    while not ready(found := asker.read("nodes")):
        assert time.monotonic() < last, found
    return found


def test_every_server_shows_all_of_them_with_beat_lease_and_clock(
    servers: Sequence[WiderowServer],
) -> None:
    for server, name in zip(servers, NAMES, strict=True):
        found = until(
            Asker(server.endpoint),
            lambda seen: (
                any(each["keeper"] for each in seen["nodes"])
                and all(each["ahead_seconds"] is not None for each in seen["nodes"])
                and len(seen["nodes"]) == 2
            ),
        )
        assert (found["shared"], found["clock"], found["sight"]) == (True, None, True)
        nodes = {each["name"]: each for each in found["nodes"]}
        assert set(nodes) == set(NAMES)
        assert [each for each in nodes if nodes[each]["asked"]] == [name]
        assert sum(each["keeper"] for each in nodes.values()) == 1
        assert found["lease"]["name"] in NAMES
        assert found["lease"]["expires_seconds"] > 0
        for each in nodes.values():
            assert each["load"]["memory_bytes"] > 2**20
            assert each["state"] == "serves"
            assert 0 <= each["beat_age_seconds"] < 15
            assert abs(each["ahead_seconds"]) <= each["ahead_within"] + 1  # one machine, one clock


def test_the_page_says_what_the_document_does(asker: Asker) -> None:
    found = until(asker, lambda seen: seen["lease"] is not None and seen["lags"])
    page = asker.get("nodes").text
    rows = re.findall(r"<tr><td class=\"wrap\">.*?</tr>", page, re.DOTALL)
    assert len(rows) == 4  # of the load, and of leases and clocks
    assert "left</b>" in rows[0]
    assert "this one" in rows[0]
    assert "MiB" in rows[1]
    assert "s ago" in rows[3]
    assert page.count(">has the lease<") == 1
    assert "by_n of inst/t" in page
    assert f"{found['lags'][0]['node']}</td></tr>" in page
    assert "unless renewed" in page


def test_workers_stand_under_their_server_the_slowest_has_its_reason_the_dead_its_time(
    servers: Sequence[WiderowServer], asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = until(asker, lambda seen: seen["lease"] is not None)
    left, right = found["nodes"]
    workers = [
        {**left, "name": f"db1/{number}", "server": "db1", "worker": number} for number in (1, 2)
    ]
    slow = {**right, "slowest": "99 of 100 requests took up to 90 ms, elsewhere 5: it gets more"}
    server = {**found["servers"][0], "server": "db1", "nodes": [left["id"], "2"]}
    workers[1] |= {"id": "2", "load": None, "catalogue_lease_seconds": 9.0}  # of an earlier version
    dead = {**right, "id": "3", "name": "far", "state": "silent", "seen_us": 1_468_944_000_000_000}
    servers_told = [server, found["servers"][1], {**server, "server": "far", "nodes": ["3"]}]
    told = {**found, "nodes": [*workers, slow, dead], "servers": servers_told}
    monkeypatch.setattr(engine_of(servers[0]).core, "describe_nodes", lambda _: told)
    page = asker.get("nodes").text
    assert "2 workers" in page
    assert re.search(r"db1</b>.*<b>/1</b>.*<b>/2</b>.*right</b>", page, re.DOTALL)
    assert "took up to 90 ms" in page
    assert page.count(">slowest<") == 1
    assert page.count(">unknown<") == 5  # each figure of one worker
    assert re.search(
        r"far</b>.*silent</span> <span class=\"soft\">since 16:00:00 UTC", page, re.DOTALL
    )


def test_one_database_has_all_partitions(asker: Asker) -> None:
    found = asker.read("nodes")
    assert (found["divides"], found["ranges"], found["partitions"]) == (False, [], 1)
    assert "have 1 partition, and one database has all of them" in asker.get("nodes").text


class Divided:
    """Stands for what a database that divides its data by keys tells of it."""

    def ranges(self) -> Sequence[PlacedRange]:
        bounds = (b"", b"b", b"m", b"\xff")
        hosts = ("db1", "db2", "db1")
        return [
            PlacedRange(start, stop, host, 16020)
            for start, stop, host in zip(bounds, bounds[1:], hosts, strict=False)
        ]

    def begin_split(self, key: bytes) -> int | None:
        """Nothing is to be done; the server may ask while the test looks."""

    begin_merge = begin_split

    def has_ended(self, number: int) -> bool:
        return number >= 0


def test_ranges_are_counted_by_server_of_the_database(
    servers: Sequence[WiderowServer], asker: Asker, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = engine_of(servers[0])
    monkeypatch.setattr(engine.core.store, "placement", Divided())
    found = asker.read("nodes")
    assert found["ranges"] == [
        {"server": "db1:16020", "ranges": 2},
        {"server": "db2:16020", "ranges": 1},
    ]
    assert "db2:16020" in asker.get("nodes").text


def test_the_page_fits_a_narrow_screen_and_has_its_picture(
    asker: Asker, tmp_path_factory: pytest.TempPathFactory
) -> None:
    until(
        asker,
        lambda seen: (
            any(each["keeper"] for each in seen["nodes"])
            and all(each["ahead_seconds"] is not None for each in seen["nodes"])
        ),
    )
    with browsing(tmp_path_factory.mktemp("chromium")) as browser:
        look = Looking(browser, asker.endpoint, PICTURES, "console-")
        look.size(360, 740)
        look.open("nodes")
        assert look.run("document.documentElement.scrollWidth") <= 360
        look.size(1280, 900)
        look.open("nodes")
        look.picture("nodes")
        assert browser.get_log("browser") == []
    assert (PICTURES / "console-nodes.png").is_file()


def test_a_server_that_has_gone_is_silent_or_listed_no_more(
    servers: Sequence[WiderowServer], asker: Asker
) -> None:
    """The last test of this file: it stops a server."""
    servers[1].stop()
    found = until(
        asker,
        lambda seen: (
            [each["name"] for each in seen["nodes"] if each["state"] == "serves"] == ["left"]
        ),
    )
    assert found["nodes"][0]["asked"]


def test_an_embedded_store_has_one_server() -> None:
    with WiderowServer() as server:
        found = Asker(server.endpoint).read("nodes")
        assert found == {"shared": False, "nodes": [], "endpoint": server.endpoint}
        assert "One server." in Asker(server.endpoint).get("nodes").text
