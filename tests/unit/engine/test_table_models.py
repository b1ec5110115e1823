"""What holds for every table model, shown by the least one (`engine/engine.py`).

The toy model knows nothing of the others and no module of the engine knows it: it is a line in the
list that the engine is opened with. Its tables are created, written, scanned, swept, checked,
copied, divided and dropped, also behind a crash, over every store that tests have.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.conformance.drivers import DRIVERS
from tests.support.asking import asked_again
from tests.support.lossy import Keep, LossyDisk, LossyStore
from tests.support.toy_model import TOY, TOY_ENTRY, ToyEngine, ToyTable

from widerow.engine.check import check_store
from widerow.engine.engine import Engine
from widerow.engine.instance_copy import copy_instance, reset_instance
from widerow.engine.partitions.rules import Thresholds
from widerow.engine.plan import Plan
from widerow.engine.scan import WHOLE_TABLE, Bound, RowAccess
from widerow.engine.settings import EngineSettings
from widerow.engine.table_models import TABLE_MODELS
from widerow.errors import NotFound
from widerow.keys.layout import SPACE_ROWS
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

MODELS = (*TABLE_MODELS, TOY_ENTRY)
LIMITS = Thresholds(split_units=2.0, hot_seconds=2.0)


class World:
    """The toy tables of a store."""

    def __init__(self, store: Store, clock: FakeClock | None = None, seed: int = 0) -> None:
        self.store = store
        self.clock = FakeClock() if clock is None else clock
        settings = EngineSettings(thresholds=LIMITS)
        self.core = Engine(store, self.clock, FakeEntropy(seed), MODELS, settings)
        self.toys: ToyEngine = self.core.operations(TOY)

    def create(self, name: str = "t") -> ToyTable:
        return self.core.run(self.toys.create("me", name))

    def put(self, table: ToyTable, *keys: str, expires_us: int = 0) -> None:
        for key in keys:
            put = partial(self.toys.put, table, key, f"text of {key}", expires_us)
            asked_again(partial(self._run, put))

    def _run(self, planned: Callable[[], Plan[None]]) -> None:
        self.core.run(planned())

    def keys(
        self, table: ToyTable, access: RowAccess = WHOLE_TABLE, after: bytes = b""
    ) -> list[str]:
        rows = asked_again(lambda: list(self.toys.scan(table, access, after)))
        return [row.values["key"] for row in rows]

    def clean(self, minutes: int = 3) -> None:
        """Let time pass and housekeeping work."""
        for _ in range(minutes * 60):
            self.clock.advance(1)
            while (plan := self.core.housekeeping()) is not None:
                self.core.run(plan)

    def rows_stored(self) -> int:
        return sum(1 for _ in self.store.snapshot().scan(SPACE_ROWS, SPACE_ROWS + b"\xff" * 8))

    def check(self) -> None:
        assert check_store(self.store, models=MODELS) == []


@pytest.fixture(params=DRIVERS)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    with request.param(tmp_path) as store:
        yield World(store)


def test_a_table_is_created_written_scanned_and_dropped(world: World) -> None:
    table = world.create()
    world.put(table, *"hbdfac")
    assert world.keys(table) == list("abcdfh")
    world.check()
    assert [each.name for model in world.core.open_models() for each in model.listed()] == ["t"]
    assert world.core.find_partitioned("me", "t") == table
    world.core.run(world.toys.drop(table))
    with pytest.raises(NotFound):
        world.core.find_partitioned("me", "t")
    with pytest.raises(NotFound):
        world.put(table, "late")
    world.check()
    world.clean()
    assert world.rows_stored() == 0
    world.check()


def test_scans_keep_to_their_bounds_and_go_on_where_they_stopped(world: World) -> None:
    table = world.create()
    world.put(table, *"abcdef")
    between = RowAccess(low=Bound(("b",)), high=Bound(("e",), inclusive=False))
    assert world.keys(table, between) == list("bcd")
    backwards = RowAccess(low=Bound(("b",), inclusive=False), high=Bound(("e",)), reverse=True)
    assert world.keys(table, backwards) == list("edc")
    for access, rest in ((between, "cd"), (backwards, "dc")):
        first = next(world.toys.scan(table, access))
        assert world.keys(table, access, first.position) == list(rest)


def test_what_expires_is_hidden_at_once_and_swept_later(world: World) -> None:
    table = world.create()
    world.put(table, "stays")
    world.put(table, "goes", expires_us=world.clock.now_us() + 90_000_000)
    world.clean(1)
    assert world.keys(table) == ["goes", "stays"]
    world.clock.advance(31)
    assert world.keys(table) == ["stays"]
    world.clean()
    assert world.rows_stored() == 1
    world.check()


def test_a_hot_table_is_divided_and_stays_so(world: World) -> None:
    table = world.create()
    for _ in range(12):
        world.put(table, *(f"k{number * 7 % 20:02}" for number in range(20)))
        world.clock.advance(1)
        while (plan := world.core.partitions.step()) is not None:
            world.core.run(plan)
    divided = world.toys.tables.find("me", "t")
    assert divided.splits != ()
    assert world.core.partitions.partition_key(divided).table == "t"
    assert len(world.keys(divided)) == 20
    again = World(world.store, world.clock, seed=1)
    assert again.toys.tables.find("me", "t").splits == divided.splits
    world.check()


def test_an_instance_is_copied_and_put_back(world: World) -> None:
    table = world.create()
    world.put(table, "a", "b")
    copy = copy_instance(world.core, "me")
    assert (copy.names, copy.rows) == (("t",), 2)
    world.put(table, "c")
    world.create("other")
    world.core.run(reset_instance(world.core, "me", copy, world.clock.now_us()))
    assert [each.name for each in world.toys.tables.all()] == ["t"]
    again = world.toys.tables.find("me", "t")
    assert again.id != table.id
    assert world.keys(again) == ["a", "b"]
    world.check()


@pytest.mark.parametrize("keep", list(Keep))
def test_a_crash_leaves_all_that_was_acknowledged(keep: Keep) -> None:
    disk = LossyDisk()
    world = World(LossyStore(disk))
    table = world.create()
    world.put(table, "a", "b")
    gone = world.create("gone")
    world.put(gone, "x")
    world.core.run(world.toys.drop(gone))
    disk.cut(keep, 1)
    again = World(LossyStore(disk), world.clock, seed=1)
    assert again.keys(again.toys.tables.find("me", "t")) == ["a", "b"]
    again.check()
    again.clean()
    assert again.rows_stored() == 2
    again.check()
