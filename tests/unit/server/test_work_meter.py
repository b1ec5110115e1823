"""How busy a server is, as the others are told (docs/operating/cluster.md, "Nodes")."""

from types import SimpleNamespace
from typing import Any

import pytest

from widerow.engine.lag import Lag
from widerow.engine.nodes.work import NodeWork
from widerow.limits import WORK_SAMPLES
from widerow.server.admission import Admission
from widerow.server.metrics import Metrics
from widerow.server.work_meter import WorkMeter
from widerow.testing.clock import FakeClock


class World:
    """A server's parts, as far as they are asked here."""

    def __init__(self) -> None:
        self.clock, self.metrics, self.admission = FakeClock(), Metrics(), Admission()
        committer: Any = SimpleNamespace(waiting=3)
        self.lags: list[tuple[str, Lag]] = []
        self.waiting: dict[tuple[str, str], dict[str, int]] = {}
        search = SimpleNamespace(statistics=lambda: self.waiting)
        tables = SimpleNamespace(has_search=lambda: bool(self.waiting), search=search)
        engine: Any = SimpleNamespace(
            lags_by_kind=lambda: iter(self.lags), operations=lambda _: tables
        )
        self.meter = WorkMeter(engine, committer, self.admission, self.metrics, self.clock)

    def beat(self) -> NodeWork:
        self.clock.advance(1)
        return self.meter.measure()


def test_latency_is_of_the_last_beats_and_not_of_requests_for_pages() -> None:
    world = World()
    assert world.beat().p99_ms is None
    world.metrics.of("GetRow").answered("OK", 400_000_000)
    world.metrics.of("console").answered("OK", 90_000_000_000)
    world.metrics.committed(1, 4_000_000)
    work = world.beat()
    assert work.p99_ms == pytest.approx(500, abs=10)  # the end of the bucket it is in
    assert work.commit_p99_ms == pytest.approx(5, abs=0.1)
    for _ in range(WORK_SAMPLES):
        work = world.beat()
    assert (work.p99_ms, work.commit_p99_ms) == (None, None)


def test_what_is_in_hand_is_told_as_it_is_now() -> None:
    world = World()
    world.admission.connect()
    world.admission.requests_in_flight = 5
    work = world.beat()
    assert (work.connections, work.in_flight, work.waiting) == (1, 5, 3)
    assert work.memory_bytes is None or work.memory_bytes > 2**20
    assert work.cores is None
    assert world.beat().cores is not None


def test_of_each_kind_the_furthest_behind_is_told() -> None:
    world = World()
    world.lags = [
        ("global index", Lag("i/t", "near", 0.5)),
        ("global index", Lag("i/t", "far", 7.0)),
        ("stream", Lag("i/u", "stream", 9.0)),
    ]
    world.waiting = {("i/t", "few"): {"waiting": 2}, ("i/t", "many"): {"waiting": 40}}
    told = [(each.kind, each.name, each.seconds, each.rows) for each in world.beat().lags]
    assert told == [
        ("stream", "stream", 9.0, None),
        ("global index", "far", 7.0, None),
        ("search index", "many", None, 40),
    ]
