"""Indexes of typed tables under two processes over one database, while entries follow (model §11).

Threads of both write rows and ask the index for them at once; one of them works off intents beside
that. What a writer was answered, every later query by index shows, and nothing else.
"""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Final, NamedTuple

import pytest
from tests import hbase
from tests.postgres import fresh_url
from tests.support.remote import MemoryDriver, RemoteSpace, Weather, remote_store

from widerow.engine.check import check_store
from widerow.engine.engine import Engine
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.typed.engine import TypedEngine
from widerow.engine.typed.index_build import begin_index
from widerow.engine.typed.index_scan import scan_entry_rows
from widerow.engine.typed.index_selection import select_index
from widerow.engine.typed.plug import TYPED
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_INTENTS
from widerow.limits import LEASE_SECONDS, TRANSACTION_SECONDS_MAX
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.requests import FieldRange, OperationKind, WriteChoice
from widerow.model.typed.table import Index, IndexField
from widerow.model.typed.types import INTEGER, STRING, array_of
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

WRITERS: Final = 3
ROUNDS: Final = 30
STILL: Final = 50  # rows that nobody changes
INDEXES: Final = (
    Index("by_n", (IndexField("n"),)),
    Index("by_tag", (IndexField("tags[]"),), with_nulls=False),
)


def in_memory() -> list[Store]:
    space, weather = RemoteSpace(), Weather(refused=0.05, cut=0.2)
    return [remote_store(MemoryDriver(space, FakeEntropy(n), weather), n) for n in range(2)]


def twice(make_url: Callable[[], str]) -> list[Store]:
    url = make_url()
    return [open_store(url) for _ in range(2)]


STORES: Final[dict[str, Callable[[], list[Store]]]] = {
    "remote": in_memory,
    "postgres": lambda: twice(fresh_url),
    "hbase": lambda: twice(hbase.fresh_url),
}
PATIENT: Final = (pytest.mark.night, pytest.mark.timeout(hbase.START_SECONDS))


class World(NamedTuple):
    """Two processes and the clock of both."""

    engines: list[TypedEngine]
    clock: FakeClock

    def keep_house(self, engine: TypedEngine) -> bool:
        """A step of a process; whether there was one."""
        plan = engine.core.housekeeping()
        if plan is not None:
            engine.core.run(plan)
        return plan is not None

    def settle(self) -> None:
        """Build what is to be built, and work off what waits."""
        for _ in range(2):
            self.clock.advance(TRANSACTION_SECONDS_MAX + LEASE_SECONDS + 1)
            for engine in self.engines:
                while self.keep_house(engine):
                    pass


@pytest.fixture(
    params=[pytest.param(name, marks=PATIENT if name == "hbase" else ()) for name in STORES]
)
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    stores, clock = STORES[request.param](), FakeClock()
    cores = [Engine(each, clock, FakeEntropy(n), TABLE_MODELS) for n, each in enumerate(stores)]
    made = World([core.operations(TYPED) for core in cores], clock)
    yield made
    for store in stores:
        store.close()


def put(engine: TypedEngine, id_: int, n: int) -> None:
    row = {"g": f"g{id_ % 4}", "id": id_, "n": n, "tags": [f"t{n}", f"u{id_}"]}
    form = engine.tables.find_qualified("t")
    engine.core.run(engine.write(form, WriteChoice(OperationKind.PUT, row)))


def delete(engine: TypedEngine, id_: int) -> None:
    key = {"g": f"g{id_ % 4}", "id": id_}
    form = engine.tables.find_qualified("t")
    engine.core.run(engine.write(form, WriteChoice(OperationKind.DELETE, key)))


def found(
    engine: TypedEngine, name: str, given: dict[str, object], bounds: FieldRange | None = None
) -> list[int]:
    form = engine.tables.find_qualified("t")
    selection = select_index(form, name, given, bounds)
    rows = scan_entry_rows(engine.store, selection, engine.now_hour, reverse=False)
    return [row["id"] for _, row in rows]


def begin(world: World) -> None:
    """A table with rows that stay and indexes that answer."""
    first = world.engines[0]
    made = TableBuilder("t").add_field("g", STRING).add_field("id", INTEGER)
    made.add_field("n", INTEGER).add_field("tags", array_of(STRING))
    first.core.run(first.create_table(made.primary_key("g", "id").shard_key("g").build()))
    for engine in world.engines:
        engine.core.catalog.renew()
    for id_ in range(STILL):
        put(world.engines[id_ % 2], id_, -1)
    for index in INDEXES:
        first.core.run(begin_index(first, first.tables.find_qualified("t"), index))
    world.settle()


def write(world: World, writer: int) -> None:
    """Move a row of one's own through the index, by one process, and look by the other."""
    own, other = world.engines[writer % 2], world.engines[1 - writer % 2]
    id_ = 1000 + writer
    for n in range(ROUNDS):
        put(own, id_, 10 * n + writer)
        assert id_ in found(other, "by_n", {"n": 10 * n + writer})
        assert id_ not in found(other, "by_n", {"n": 10 * (n - 1) + writer})
        assert found(other, "by_tag", {"tags[]": f"u{id_}"}) == [id_]
        if n % 5 == 4:
            delete(own, id_)
            assert found(other, "by_tag", {"tags[]": f"u{id_}"}) == []


def look(world: World, ended: threading.Event) -> None:
    """Rows that stay are always there, once, whatever moves around them."""
    while not ended.is_set():
        seen = found(world.engines[1], "by_n", {}, FieldRange("n", start=-1))
        assert sorted(id_ for id_ in seen if id_ < STILL) == list(range(STILL))


def keep(world: World, ended: threading.Event) -> None:
    while not ended.is_set():
        if not world.keep_house(world.engines[0]):
            ended.wait(0.01)


def test_what_was_answered_is_found(world: World) -> None:
    begin(world)
    ended = threading.Event()
    with ThreadPoolExecutor(WRITERS + 2) as threads:
        beside = [threads.submit(each, world, ended) for each in (look, keep)]
        writing = [threads.submit(write, world, writer) for writer in range(WRITERS)]
        try:
            for each in writing:
                each.result()
        finally:
            ended.set()
        for each in beside:
            each.result()
    world.settle()
    store = world.engines[0].store
    assert list(store.snapshot().scan(SPACE_INTENTS, after_prefix(SPACE_INTENTS))) == []
    assert check_store(store) == []
    assert found(world.engines[0], "by_n", {"n": -1}) == found(world.engines[1], "by_n", {"n": -1})
