"""After a reset, everything that can be read of an instance is what its snapshot was made of.

That is the law (docs/guide/testing.md, "Between tests"), for tables with secondary and search
indexes, streams, tunnels that are half consumed and delivery tasks; and a search finds the table.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from tests.support.changes import create, delete, put
from tests.support.engines import open_tablestore
from tests.support.search_host import RememberingHost
from tests.support.volume import examples
from tests.support.watched import INDEXES, WATCHED, make_watched, records_found
from tests.unit.engine.reading_all import everything, found_by_search, rows_of
from tests.unit.engine.tunnels.log import Consumer

from widerow.engine.check import check_store
from widerow.engine.instance_copy import EMPTY_COPY, InstanceCopy, copy_instance, reset_instance
from widerow.engine.streams.stream_reads import stream_id_in
from widerow.engine.tunnels.records import DeliveryTrouble
from widerow.errors import NotFound
from widerow.limits import SEARCH_BUILD_ROWS_AT_ONCE, TUNNEL_TIMEOUT_SECONDS_MIN
from widerow.model.search.requests import CreateSearchIndex, Search, SearchIndexName
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.model.tablestore.delivery import (
    CreateDelivery,
    DeliveryColumn,
    DeliveryConfig,
    DeliveryType,
    ParquetType,
)
from widerow.model.tablestore.requests import OptionsChange, StreamChange, UpdateTable
from widerow.model.tunnels import CreateTunnel, TunnelKind, TunnelName, TunnelRule
from widerow.model.values import KeyInput, KeyMarker, KeyType
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

INSTANCE: Final = "i"
SCHEMA: Final = SearchSchema(
    (SearchField("x", SearchFieldType.KEYWORD), SearchField("c", SearchFieldType.LONG))
)


@pytest.fixture(params=["memory", "rocksdb"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    url = "memory:" if request.param == "memory" else f"rocksdb:{tmp_path / 'store'}"
    with open_store(url) as opened:
        yield opened
        assert check_store(opened) == []


def key_of(number: int) -> dict[str, KeyInput]:
    return {"k": f"p{number % 3}", "n": number}


class World:
    """An instance with one table that has everything, and who writes, consumes and resets it."""

    def __init__(self, store: Store, host: RememberingHost | None = None) -> None:
        self.clock = FakeClock()
        hosted: dict[str, Any] = {} if host is None else {"search_host": lambda _: host}
        self.engine = open_tablestore(
            store, self.clock, FakeEntropy(), delivery_refusal=None, **hosted
        )
        self.consumer: Consumer | None = None
        self.taken: list[tuple[str, int]] = []
        make_watched(self.engine, INSTANCE)
        self.search()
        self.tunnel_id = self.run(
            self.engine.tunnels.create(
                INSTANCE, CreateTunnel(WATCHED, "whole", TunnelKind.BASE_AND_STREAM)
            )
        )
        config = DeliveryConfig("bucket", (DeliveryColumn("n", "", ParquetType.INT64),), "out")
        task = CreateDelivery(WATCHED, "task", DeliveryType.BASE_INC, config)
        self.run(self.engine.deliveries.create(INSTANCE, task))

    def run(self, plan: Any) -> Any:  # noqa: ANN401  # any plan, and what it answers
        return self.engine.core.run(plan)

    def keep(self) -> InstanceCopy:
        return copy_instance(self.engine.core, INSTANCE)

    def reset(self, copy: InstanceCopy = EMPTY_COPY) -> None:
        engine, now_us = self.engine, self.clock.now_us()
        self.run(reset_instance(engine.core, INSTANCE, copy, now_us))

    def everything(self) -> dict[str, Any]:
        return everything(self.engine, INSTANCE)

    # --- what happens ------------------------------------------------------------------------

    def put(self, number: int = 0) -> None:
        self.clock.advance(0.01)
        row = put(WATCHED, key_of(number), {"x": f"x{number}", "c": self.clock.now_us() % 1000})
        self.run(self.engine.rows.write_row(INSTANCE, row))

    def delete(self, number: int = 0) -> None:
        self.run(self.engine.rows.write_row(INSTANCE, delete(WATCHED, key_of(number))))

    def search(self, number: int = 0) -> None:
        """An index that is there goes, and one that is not there comes."""
        name, search = f"s{number % 2}", self.engine.search
        known = {each.index for each in search.list(INSTANCE, WATCHED)}
        if name in known:
            self.run(search.delete(INSTANCE, SearchIndexName(WATCHED, name)))
        else:
            self.run(search.create(INSTANCE, CreateSearchIndex(WATCHED, name, SCHEMA)))

    def consume(self, number: int = 0) -> None:
        """Read a page of each channel, and set its checkpoint or leave it."""
        tunnels = self.engine.tunnels
        if self.consumer is None:
            self.consumer = self.connected()
        try:
            self.consumer.heartbeat(tunnels, INSTANCE)
        except NotFound as gone:  # it was silent for too long
            if gone.rule is not TunnelRule.TUNNEL_CLIENT_GONE:
                raise
            self.consumer = self.connected()
            self.consumer.heartbeat(tunnels, INSTANCE)
        for name in self.consumer.open_channels():
            self.consumer.work(
                tunnels,
                name,
                lambda channel, record: self.taken.append((channel, record.action)),
                checkpoint=number % 2 == 0,
            )

    def connected(self) -> Consumer:
        connect = self.engine.tunnels.connect
        client = self.run(connect(INSTANCE, self.tunnel_id, "tag", TUNNEL_TIMEOUT_SECONDS_MIN))
        return Consumer(lambda plan: self.run(plan()), self.tunnel_id, client)

    def trouble(self, number: int = 0) -> None:
        """A delivery task cannot write its files, or can again."""
        (found,) = self.engine.deliveries.all()
        trouble = DeliveryTrouble(1, f"no place {number}") if number % 2 else None
        self.run(self.engine.deliveries.note(found, trouble))

    def option(self, number: int = 0) -> None:
        asked = UpdateTable(
            WATCHED,
            options=OptionsChange(max_version_offset=86400 + number),
            stream=StreamChange(enable=True, expiration_hours=1 + number),
        )
        self.run(self.engine.update_table(INSTANCE, asked))

    def later(self, number: int = 0) -> None:
        self.clock.advance(number)


STEPS: Final[dict[str, Callable[[World, int], None]]] = {
    "put": World.put,
    "delete": World.delete,
    "search": World.search,
    "consume": World.consume,
    "trouble": World.trouble,
    "option": World.option,
    "later": World.later,
}
Sequences = st.lists(
    st.tuples(st.sampled_from((*STEPS, "put", "consume", "keep", "back")), st.integers(0, 5)),
    max_size=20,
)


@given(Sequences)
@example([("consume", 0), ("later", 5), ("later", 5), ("consume", 0)])
@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
def test_a_reset_brings_back_everything_that_could_be_read(
    steps: list[tuple[str, int]],
) -> None:
    with open_store("memory:") as store:
        world = World(store)
        copy, wanted = world.keep(), world.everything()
        for step, number in steps:
            if step == "keep":
                wanted, copy = world.everything(), world.keep()
            elif step == "back":
                world.reset(copy)
                world.consumer = None
                assert world.everything() == wanted
            else:
                STEPS[step](world, number)
            for index in world.engine.search.list(INSTANCE, WATCHED):
                found = found_by_search(world.engine, INSTANCE, WATCHED, index.index)
                assert found == rows_of(world.engine, INSTANCE, WATCHED)
        world.reset(copy)
        assert world.everything() == wanted
        assert check_store(store) == []


def test_what_clients_hold_stays_good(store: Store) -> None:
    """Ids of tunnels and iterators that were given before the snapshot lead on behind a reset."""
    world = World(store)
    for number in range(5):
        world.put(number)
    world.consume()
    world.consume()
    table = world.engine.describe_table(INSTANCE, WATCHED)
    page = world.engine.streams.read(table, world.engine.streams.iterator(table, "0", None), 2)
    copy, before = world.keep(), len(world.taken)
    for attempt in range(2):
        world.put(7)
        world.consume()
        assert len(world.taken) == before + 1 + attempt
        again = world.engine.streams.find(INSTANCE, stream_id_in(page.following or ""))
        assert len(world.engine.streams.read(again, page.following or "", None).stored) == 4
        world.reset(copy)
        # Who consumed goes on from the checkpoints of the snapshot.
        assert world.consumer is not None
        for held in world.consumer.held.values():
            held.position = None
    assert len(records_found(world.engine, INSTANCE)) == 5
    world.reset()
    with pytest.raises(NotFound):
        world.engine.tunnels.describe(INSTANCE, TunnelName("", "", world.tunnel_id))


def test_a_tunnel_of_another_instance_is_not_found_by_its_id(store: Store) -> None:
    """Change §C2.2. Also where its table was put back, so that its number is not in the id."""
    world = World(store)
    world.reset(world.keep())
    asked = TunnelName("", "", world.tunnel_id)
    assert world.engine.tunnels.describe(INSTANCE, asked).tunnel.name == "whole"
    with pytest.raises(NotFound):
        world.engine.tunnels.describe("other", asked)


def test_writes_behind_a_reset_reach_indexes_streams_and_searches(store: Store) -> None:
    world = World(store)
    world.put(1)
    copy = world.keep()
    world.put(2)
    world.reset(copy)
    world.put(3)
    rows = rows_of(world.engine, INSTANCE, WATCHED)
    assert len(rows) == 2
    assert found_by_search(world.engine, INSTANCE, WATCHED, "s0") == rows
    for index in INDEXES:
        assert len(rows_of(world.engine, INSTANCE, index)) == 2
    assert len(records_found(world.engine, INSTANCE)) == 2


@pytest.mark.night
def test_more_rows_than_a_request_builds_are_found_at_once() -> None:
    """An index that was built when the snapshot was made need not be built behind a reset."""
    with open_store("memory:") as store:
        world = World(store)
        world.put(1)
        rows = [
            put(WATCHED, key_of(number), {"c": number})
            for number in range(SEARCH_BUILD_ROWS_AT_ONCE + 2000)
        ]
        for row in rows:
            world.run(world.engine.rows.write_row(INSTANCE, row))
        while world.engine.search.work():
            pass
        copy = world.keep()
        world.reset(copy)
        asked = Search(WATCHED, "s0", limit=0, get_total_count=True)
        assert world.engine.search.search(INSTANCE, asked).total == len(rows)


def test_documents_of_another_moment_are_not_copied() -> None:
    """What was written behind the reader of a copy is in the index and not in the copied rows."""
    with open_store("memory:") as store:
        world = World(store)
        world.put(1)
        table, reader = world.engine.describe_table(INSTANCE, WATCHED), store.snapshot()
        assert len(world.engine.search.copied(table, reader)) == 1
        world.put(2)
        assert world.engine.search.copied(table, reader) == {}


def test_files_of_an_index_that_was_put_back_are_its_own() -> None:
    """A segment that was in a file of the former index is written again, under any name."""
    with open_store("memory:") as store:
        host = RememberingHost()
        world = World(store, host)
        for number in range(3):
            world.put(number)
        assert len(found_by_search(world.engine, INSTANCE, WATCHED, "s0")) == 3
        world.engine.search.write_down(all_of_them=True)
        copy = world.keep()
        for number in (4, 5):
            world.reset(copy)
            world.put(number)
            assert len(found_by_search(world.engine, INSTANCE, WATCHED, "s0")) == 4
            world.engine.search.work()
            world.engine.search.write_down(all_of_them=True)
            assert len(host.kept()) == 1, "those of the former index are gone"
        later = open_tablestore(store, world.clock, FakeEntropy(), search_host=lambda _: host)
        rows = rows_of(later, INSTANCE, WATCHED)
        assert found_by_search(later, INSTANCE, WATCHED, "s0") == rows
        assert [event for event, _ in host.told] == ["search index is built"]


def test_streams_of_several_partitions_come_back_shard_by_shard(store: Store) -> None:
    """Change §C1.3: a shard for each partition, each with its own records."""
    engine = open_tablestore(store, FakeClock(), FakeEntropy())
    low, high = KeyMarker.INF_MIN, KeyMarker.INF_MAX
    asked = replace(
        create("t", {"k": KeyType.STRING}),
        partitions=((low, "h"), ("h", "p"), ("p", high)),
        stream=StreamChange(enable=True, expiration_hours=5),
    )
    engine.core.run(engine.create_table(INSTANCE, asked))
    engine.core.run(engine.search.create(INSTANCE, CreateSearchIndex("t", "s", SCHEMA)))
    for key in "adhkpz":
        engine.core.run(engine.rows.write_row(INSTANCE, put("t", {"k": key}, {"x": key})))
    wanted, copy = everything(engine, INSTANCE), copy_instance(engine.core, INSTANCE)
    assert len(engine.streams.shards(engine.describe_table(INSTANCE, "t"))) == 3
    for _ in range(2):
        engine.core.run(engine.rows.write_row(INSTANCE, put("t", {"k": "b"}, {"x": "more"})))
        assert len(found_by_search(engine, INSTANCE, "t", "s")) == 7
        engine.core.run(reset_instance(engine.core, INSTANCE, copy, FakeClock().now_us()))
        assert everything(engine, INSTANCE) == wanted
