"""Tunnels of timeseries tables (timeseries §9, change §C2)."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.conformance.drivers import DRIVERS
from tests.unit.engine.timeseries.world import CPU, DAY, DISK, Series, of_host, point_of
from tests.unit.engine.tunnels.log import Consumer

from widerow.engine.instance_copy import copy_instance, reset_instance
from widerow.engine.partitions.rules import Thresholds
from widerow.engine.plan import Plan
from widerow.engine.settings import EngineSettings
from widerow.engine.tunnels.pages import TunnelRecord
from widerow.engine.tunnels.service import TunnelCall
from widerow.errors import InvalidRequest, NotFound
from widerow.keys.encode import after_prefix
from widerow.keys.layout import tunnels_prefix
from widerow.model.timeseries.series import SeriesKey
from widerow.model.timeseries.table import TimeseriesTable
from widerow.model.tunnels import CreateTunnel, TunnelKind, TunnelName
from widerow.model.values import Value
from widerow.storage.memory import MemoryStore

LIMITS = EngineSettings(thresholds=Thresholds(split_units=2.0, hot_seconds=2.0))
Points = dict[tuple[SeriesKey, int], dict[str, Value]]


@pytest.fixture(params=DRIVERS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Series]:
    with request.param(tmp_path) as store:
        yield Series(store, settings=LIMITS)


class Reading:
    """A client of a tunnel of the table `t`, and what it has read, in order."""

    def __init__(self, world: Series, kind: TunnelKind, name: str = "tunnel") -> None:
        self.world = world
        self.tunnels = world.engine.tunnels
        asked = CreateTunnel("t", name, kind)
        self.tunnel_id = world.core.run(self.tunnels.create("me", asked))
        self.read: list[tuple[str, SeriesKey, int, dict[str, Value]]] = []
        self.consumer = self.connected()

    def connected(self) -> Consumer:
        def run(plan: Callable[[], Plan[Any]]) -> Any:  # noqa: ANN401  # what the plan answers
            return self.world.core.run(plan())

        client = run(lambda: self.tunnels.connect("me", self.tunnel_id, "tag", 60))
        return Consumer(run, self.tunnel_id, client)

    def take(self, channel: str, record: TunnelRecord) -> None:
        assert (record.action, record.origin) == (1, None)
        self.read.append((channel, *point_of(record.record)))

    def go_on(self, table: TimeseriesTable) -> None:
        """Read until every channel says that nothing is left now."""
        self.world.move_changes(table)
        for _ in range(6):  # ending a channel takes two heartbeats, and children follow
            self.consumer.heartbeat(self.tunnels, "me")
            for name in self.consumer.open_channels():
                while self.consumer.work(self.tunnels, name, self.take, instance="me"):
                    if name not in self.consumer.open_channels():
                        break

    def points(self) -> Points:
        found: Points = {}
        for _, series, at, fields in self.read:
            found[series, at] = fields
        return found


def test_rows_and_then_changes_are_the_points_of_the_table(world: Series) -> None:
    """change §C2.3: what is put before and after the tunnel, replayed in order."""
    table = world.create()
    put: Points = {}

    def add(host: int, times: range, fields: dict[str, Value]) -> None:
        world.put(table, *[(of_host(host), at, fields) for at in times])
        for at in times:
            put.setdefault((of_host(host), at), {}).update(fields)

    for host in range(3):
        for begin in range(0, 400, 200):
            add(host, range(begin, begin + 200), {"v": host})
    reading = Reading(world, TunnelKind.BASE_AND_STREAM)
    add(0, range(200), {"w": "later"})
    add(5, range(1), {"v": 0.5})
    reading.go_on(table)
    assert reading.points() == put
    base = [each for each in reading.read if each[0].startswith("BaseData")]
    assert len({each[1:3] for each in base}) == len(base) >= 1200
    count = len(reading.read)
    add(1, range(3), {"v": 7})
    reading.go_on(table)
    assert reading.points() == put
    assert len(reading.read) == count + 3
    shown = reading.tunnels.describe("me", TunnelName("t", "tunnel"))
    assert (shown.stage, shown.table.name, shown.expired) == ("ProcessStream", "t", False)
    assert [each.tunnel.name for each in reading.tunnels.list_tunnels("me", None)] == ["tunnel"]
    world.check()


def test_a_stream_tunnel_goes_on_behind_its_checkpoint(world: Series) -> None:
    """change §C2.3: at least once; pages end inside of what one request has put."""
    table = world.create()
    world.put(table, (CPU, 0, {"v": 0}))
    world.move_changes(table)
    world.clock.advance(1)
    reading = Reading(world, TunnelKind.STREAM)
    for begin in range(0, 2000, 200):
        world.put(table, *[(DISK, begin + at, {"v": at}) for at in range(199)])
    world.move_changes(table)
    reading.consumer.heartbeat(reading.tunnels, "me")
    [name] = reading.consumer.open_channels()
    reading.consumer.work(reading.tunnels, name, reading.take, instance="me")
    assert len(reading.read) == 1000
    world.core.run(
        reading.tunnels.shutdown("me", TunnelCall(reading.tunnel_id, reading.consumer.id))
    )
    reading.consumer = reading.connected()
    reading.go_on(table)
    times = [at for _, _, at, _ in reading.read]
    assert times == [begin + at for begin in range(0, 2000, 200) for at in range(199)]
    assert {series for _, series, _, _ in reading.read} == {DISK}


def test_channels_follow_the_partitions_of_the_table(world: Series) -> None:
    """change §C2.3: children wait for their parents, and every change comes once."""
    table = world.create()
    reading = Reading(world, TunnelKind.STREAM)
    put, divided = world.put_until_divided(table)
    for _ in range(4):
        reading.go_on(divided)
    assert len(reading.read) == len(reading.points()) == put
    later = Reading(world, TunnelKind.BASE, "rows")
    later.go_on(divided)
    assert later.points() == reading.points()
    assert len({each[0] for each in later.read}) > 1
    world.check()


def test_points_that_have_expired_are_no_rows() -> None:
    world = Series(MemoryStore())
    table = world.create(ttl_s=DAY)
    now_us = world.clock.now_us()
    world.put(table, (CPU, now_us - 2 * DAY * 1_000_000, {"v": 1}), (CPU, now_us, {"v": 2}))
    reading = Reading(world, TunnelKind.BASE)
    reading.go_on(table)
    assert reading.points() == {(CPU, now_us): {"v": 2}}


def test_a_deleted_tunnel_leaves_nothing(world: Series) -> None:
    table = world.create()
    reading = Reading(world, TunnelKind.BASE_AND_STREAM)
    with pytest.raises(InvalidRequest):
        world.core.run(reading.tunnels.create("me", CreateTunnel("t", "x y", TunnelKind.BASE)))
    world.core.run(reading.tunnels.delete("me", TunnelName("t", "tunnel")))
    world.clean()
    prefix = tunnels_prefix(table.id)
    assert list(world.store.snapshot().scan(prefix, after_prefix(prefix))) == []
    with pytest.raises(NotFound):
        reading.connected()
    assert world.engine.find("me", "t").tunnels == ()
    world.check()


def test_a_copy_has_tunnels_with_their_checkpoints() -> None:
    world = Series(MemoryStore())
    table = world.create()
    reading = Reading(world, TunnelKind.STREAM)
    world.put(table, (CPU, 1, {"v": 1}))
    reading.go_on(table)
    copy = copy_instance(world.core, "me")
    world.core.run(reset_instance(world.core, "me", copy, world.clock.now_us()))
    again = world.engine.find("me", "t")
    world.put(again, (CPU, 2, {"v": 2}))
    reading.go_on(again)
    assert [at for _, _, at, _ in reading.read] == [1, 2]
    assert reading.tunnels.has(reading.tunnel_id)
    world.check()
