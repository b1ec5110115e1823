"""The server inside the process keeps the promises of docs/guide/testing.md."""

import gc
import socket
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
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

from widerow.errors import StoreLocked
from widerow.server.settings import SettingsInvalid
from widerow.system import SystemClock
from widerow.testing import FakeClock, WiderowServer
from widerow.testing.kit import SdkMissing

IGNORE = Condition(RowExistenceExpectation.IGNORE)
KEY = [("pk", "a")]


def create(client: OTSClient, **options: int) -> None:
    none = ReservedThroughput(CapacityUnit(0, 0))
    client.create_table(TableMeta("t", [("pk", "STRING")]), TableOptions(**options), none)


def versions(client: OTSClient) -> list[int]:
    row = client.get_row("t", KEY, max_version=10)[1]
    return [] if row is None else [version for _, _, version in row.attribute_columns]


def put(client: OTSClient) -> None:
    client.update_row("t", Row(KEY, {"PUT": [("c", 1)]}), IGNORE)


def answers(endpoint: str) -> bool:
    place = urlsplit(endpoint)
    with socket.socket() as client:
        return client.connect_ex((place.hostname or "", place.port or 0)) == 0


def threads() -> set[threading.Thread]:
    """Those that run, without those that the fixture's server makes when it cleans up."""
    return {each for each in threading.enumerate() if not each.name.startswith("asyncio_")}


def test_it_starts_and_stops_and_leaves_nothing(widerow_server: WiderowServer) -> None:
    before = threads()
    started = time.perf_counter()
    with WiderowServer() as server:
        elapsed = time.perf_counter() - started
        endpoint = server.endpoint
        assert endpoint != widerow_server.endpoint
        client = server.client()
        create(client)
        put(client)
        assert answers(endpoint)
    # It takes 3 ms; ten times the promised tenth of a second fails on no machine that is only busy.
    assert elapsed < 1
    assert threads() == before
    assert not answers(endpoint)
    del client
    gc.collect()  # an open socket would warn, and warnings are errors here


def test_servers_are_worlds_of_their_own(widerow_server: WiderowServer) -> None:
    with WiderowServer() as server:
        create(server.client())
        assert list(widerow_server.client().list_table()) == []


def test_time_passes_when_the_test_says_so(widerow_server: WiderowServer) -> None:
    client = widerow_server.client()
    create(client, max_version=10)
    now = SystemClock().now_us() // 1000
    start = widerow_server.clock.now_us() // 1000
    assert abs(start - now) < 60_000
    for step in (0, 0, 0.001, 1):
        widerow_server.clock.advance(step)
        put(client)
    assert versions(client) == [start + 1001, start + 1, start]


def test_rows_expire_when_the_clock_is_moved(widerow_server: WiderowServer) -> None:
    client = widerow_server.client()
    create(client, time_to_live=86400)
    put(client)
    widerow_server.clock.advance(86399)
    assert versions(client)
    widerow_server.clock.advance(1)
    assert not versions(client)
    assert client.get_row("t", KEY)[1] is None  # semantics §1.6


def test_the_window_of_versions_moves_with_the_clock(widerow_server: WiderowServer) -> None:
    client = widerow_server.client()
    create(client)
    now = widerow_server.clock.now_us() // 1000
    dated = Row(KEY, [("c", 1, now)])
    client.put_row("t", dated, IGNORE)
    widerow_server.clock.advance(86401 + 1)
    with pytest.raises(OTSServiceError) as caught:
        client.put_row("t", dated, IGNORE)
    assert caught.value.get_error_code() == "OTSParameterInvalid"


def test_throughput_may_change_after_two_minutes(widerow_server: WiderowServer) -> None:
    client = widerow_server.client()
    create(client)
    more = ReservedThroughput(CapacityUnit(5, 5))
    with pytest.raises(OTSServiceError) as caught:
        client.update_table("t", None, more)
    assert caught.value.get_error_code() == "OTSTooFrequentReservedThroughputAdjustment"
    widerow_server.clock.advance(120)
    details = client.update_table("t", None, more).reserved_throughput_details
    assert details.last_increase_time == widerow_server.clock.now_us() // 1_000_000


def test_clients_are_served_at_any_time(widerow_server: WiderowServer) -> None:
    client = widerow_server.client(region="cn-hangzhou")
    for seconds in (86400 * 365, -86400 * 3650):
        widerow_server.clock.advance(seconds)
        assert list(client.list_table()) == []  # the SDK refuses dates that are off (wire §1.2)
    widerow_server.clock.set(0)
    create(client)


def test_a_running_clock_cannot_be_moved() -> None:
    with WiderowServer(clock=SystemClock()) as server:
        client = server.client()
        create(client)
        put(client)
        assert abs(versions(client)[0] - SystemClock().now_us() // 1000) < 60_000
        with pytest.raises(TypeError, match="do not move"):
            server.clock  # noqa: B018  # reading it is the test


def test_a_clock_may_be_shared() -> None:
    clock = FakeClock(1_468_944_000_000)
    with WiderowServer(clock=clock) as server:
        client = server.client()
        create(client)
        put(client)
        assert server.clock is clock
        assert versions(client) == [1_468_944_000_000]


def test_a_directory_keeps_the_data(tmp_path: Path) -> None:
    server = WiderowServer(tmp_path / "store", instance="shop")
    with server:
        create(server.client())
        put(server.client())
    with server:
        assert len(versions(server.client())) == 1
        with pytest.raises(StoreLocked):
            WiderowServer(tmp_path / "store").start()
    with WiderowServer(tmp_path / "store", instance="other") as other:
        assert list(other.client().list_table()) == []


def test_a_start_that_fails_leaves_nothing() -> None:
    before = set(threading.enumerate())
    with socket.create_server(("127.0.0.1", 0)) as other:
        taken = other.getsockname()[1]
        server = WiderowServer(port=taken)
        with pytest.raises(SettingsInvalid, match=f"port {taken}"):
            server.start()
        server.stop()  # nothing to stop
    assert server.endpoint == ""
    assert set(threading.enumerate()) == before


def test_stopping_twice_is_stopping_once() -> None:
    server = WiderowServer()
    server.stop()
    server.start()
    server.stop()
    server.stop()
    server.start()
    assert answers(server.endpoint)
    server.stop()


def test_without_the_sdk_it_says_what_to_install(
    widerow_server: WiderowServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tablestore", None)
    with pytest.raises(SdkMissing, match="pip install tablestore"):
        widerow_server.client()
