"""What reads of typed tables cost on a database across a network (docs/operating/cluster.md)."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import pytest
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.typed.engine import MultiRow
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.plug import TYPED
from widerow.errors import ViewLost
from widerow.limits import REMOTE_PAGE_ROWS_MAX
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.requests import Direction, OperationKind, WriteChoice
from widerow.model.typed.types import LONG
from widerow.storage.page import Page
from widerow.testing.clock import FakeClock, FakeEntropy


class World(NamedTuple):
    """An engine over a driver, and its table."""

    driver: MemoryDriver
    engine: TablestoreEngine
    form: TableForm

    def put(self, number: int) -> None:
        choice = WriteChoice(OperationKind.PUT, {"shard": 1, "id": number})
        self.engine.core.run(self.engine.core.operations(TYPED).write(self.form, choice))

    def trips(self, action: Callable[[], object]) -> int:
        before = self.driver.statistics()["round_trips"]
        action()
        return self.driver.statistics()["round_trips"] - before

    def multi_get(self) -> list[object]:
        found = self.engine.core.operations(TYPED).multi_get(self.form, MultiRow({"shard": 1}))
        return [row["id"] for row in found]

    def iterate(self, direction: Direction, batch_rows: int) -> list[object]:
        rows = MultiRow({"shard": 1})
        return [
            r["id"]
            for r in self.engine.core.operations(TYPED).iterate(
                self.form, rows, direction, batch_rows
            )
        ]


@pytest.fixture
def world() -> World:
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1))
    engine = open_tablestore(remote_store(driver), FakeClock(), FakeEntropy())
    builder = TableBuilder("t").add_field("shard", LONG).add_field("id", LONG)
    builder = builder.shard_key("shard").primary_key("shard", "id")
    made = engine.core.run(engine.core.operations(TYPED).create_table(builder.build()))
    return World(
        driver, engine, engine.core.operations(TYPED).tables.find_qualified(made.qualified)
    )


def test_a_row_is_one_round_trip_and_takes_no_view(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.put(1)
    monkeypatch.setattr(world.engine.core.store, "snapshot", None)  # whoever takes a view fails
    key = {"shard": 1, "id": 1}
    assert world.trips(lambda: world.engine.core.operations(TYPED).get(world.form, key)) == 1
    assert world.engine.core.operations(TYPED).get(world.form, key) is not None


def test_rows_of_a_shard_and_pages_are_a_round_trip_and_take_no_view(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        world.put(number)
    monkeypatch.setattr(world.engine.core.store, "snapshot", None)  # whoever takes a view fails
    assert world.trips(world.multi_get) == 1
    assert world.multi_get() == list(range(100))
    for direction, order in ((Direction.FORWARD, 1), (Direction.REVERSE, -1)):
        # Two whole pages, behind which there may be more, and what says that there is none.
        assert world.trips(partial(world.iterate, direction, 50)) == 3
        assert world.iterate(direction, 50) == list(range(100))[::order]


def test_rows_that_change_while_they_are_read_are_read_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More rows than one page has: what others write between two pages is shown whole or not."""
    for number in range(REMOTE_PAGE_ROWS_MAX + 10):
        world.put(number)
    read_page = world.driver.read_page
    overtaken: list[bool] = []

    def overtake(start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        page = read_page(start, stop, rows_max, reverse=reverse)
        if not overtaken:
            overtaken.append(True)
            world.put(-1)
            world.put(REMOTE_PAGE_ROWS_MAX + 10)
        return page

    monkeypatch.setattr(world.driver, "read_page", overtake)
    assert world.multi_get() == list(range(-1, REMOTE_PAGE_ROWS_MAX + 11))
    assert overtaken


def test_who_is_overtaken_each_time_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(rows: int) -> None:
        raise ViewLost(f"{rows} rows were changed")

    monkeypatch.setattr(world.engine.core.store, "brief_snapshot", lose)
    with pytest.raises(ViewLost):
        world.multi_get()
