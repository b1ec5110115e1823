"""After writers rest, the rows and bytes told of a table equal a count of what is stored.

Whatever the order of keys, batches, deletions, expiry, splits, dropped tables and killed processes
(docs/operating/partitions.md).
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from tests.support.changes import create, delete, put, put_cells, update
from tests.support.engines import open_tablestore
from tests.support.volume import examples

from widerow.engine.partitions.balance import FLUSH_SECONDS, Partitions
from widerow.engine.partitions.index_sizes import SMALL_SECONDS
from widerow.engine.partitions.notes import Notes
from widerow.engine.partitions.partitioned_tables import Partitioned
from widerow.engine.partitions.records import decode_counts
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.typed.engine import MultiRow
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.plug import TYPED
from widerow.keys.encode import after_prefix, encode_key_value
from widerow.keys.layout import row_prefix, statistics_key
from widerow.model.tablestore.requests import BatchWrite, IndexDefinition, TableWrite
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.requests import OperationKind, WriteChoice
from widerow.model.typed.table import TimeToLive
from widerow.model.typed.types import LONG, STRING
from widerow.model.values import ColumnType, KeyType
from widerow.rows.record import RecordKind, record_bytes
from widerow.storage.interface import Store
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

KEYS = 3000
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)  # shrinking takes minutes
DAY = 86_400
INDEX = IndexDefinition("g", ("s",), ())
TABLES: dict[str, dict[str, Any]] = {
    "plain": {},
    "expiring": {"time_to_live": DAY, "max_versions": 2},
}


def drawn(seed: int, count: int) -> list[int]:
    """Keys in no order, each once."""
    return [(seed * 7919 + number * 1013) % KEYS for number in range(count)]


class World:
    """Tables of both models over a store, and a process that may die."""

    def __init__(self, store: Store) -> None:
        """Empty tables: one with a global index, one whose cells expire, typed ones of a family."""
        self.store = store
        self.clock = FakeClock()
        self.opened = 0
        self.engine = self.open()
        for name in TABLES:
            self.make(name)
        top = TableBuilder("t").add_field("k", LONG).add_field("s", STRING).primary_key("k")
        typed = self.engine.core.operations(TYPED)
        self.engine.core.run(typed.create_table(top.shard_key("k").build()))

    def open(self) -> TablestoreEngine:
        self.opened += 1
        return open_tablestore(self.store, self.clock, FakeEntropy(self.opened))

    def make(self, name: str) -> None:
        asked = create(name, {"k": KeyType.INTEGER}, **TABLES[name])
        if name == "plain":
            defined = (DefinedColumn("s", ColumnType.STRING),)
            asked = replace(asked, defined_columns=defined, indexes=(INDEX,))
        self.engine.core.run(self.engine.create_table("i", asked))

    # --- what may happen ---------------------------------------------------------------------

    def batch(self, seed: int, length: int) -> None:
        """200 rows of each table, in no order."""
        keys = drawn(seed, 200)
        text = "x" * length
        for name in TABLES:
            self.write(name, tuple(put(name, {"k": key}, {"s": text}) for key in keys))
        for key in keys[:20]:
            row = {"k": key, "s": text}
            ttl = TimeToLive.hours(key % 3 * 20)
            choice = WriteChoice(OperationKind.PUT, row, ttl=ttl, update_ttl=True)
            self.engine.core.run(self.engine.core.operations(TYPED).write(self.form, choice))

    def remove(self, seed: int, _: int) -> None:
        keys = drawn(seed, 150)
        for name in TABLES:
            self.write(name, tuple(delete(name, {"k": key}) for key in keys))
        typed = self.engine.core.operations(TYPED)
        for key in keys:
            self.engine.core.run(typed.multi_delete(self.form, MultiRow({"k": key})))

    def write(self, name: str, changes: tuple[RowChange, ...]) -> None:
        self.engine.core.run(
            self.engine.rows.batch_write_row("i", BatchWrite((TableWrite(name, changes),)))
        )

    def step(self, _: int, steps: int) -> None:
        """A few steps of balancing, without time for more."""
        for _ in range(1 + steps % 3):
            plan = self.engine.core.partitions.step()
            if plan is not None:
                self.engine.core.run(plan)

    def wait(self, seconds: int, _: int = 0) -> None:
        for _ in range(seconds):
            self.clock.advance(1)
            self.look()

    def expire(self, _: int, __: int) -> None:
        self.clock.advance(DAY)
        self.look()

    def look(self) -> None:
        while (plan := self.engine.core.housekeeping()) is not None:
            self.engine.core.run(plan)
        while (plan := self.engine.core.partitions.step()) is not None:
            self.engine.core.run(plan)

    def kill(self, _: int, __: int) -> None:
        """The process ends without a word; another opens the store."""
        self.engine = self.open()

    def split(self, seed: int, _: int) -> None:
        bound = encode_key_value(seed % KEYS)
        for table in self.partitioned():
            write = self.engine.core.partitions._tables.divide(
                table, lambda bounds: tuple(sorted({*bounds, bound}))
            )
            self.engine.core.store.transact_group([write])

    def drop(self, _: int, __: int) -> None:
        self.engine.core.run(self.engine.delete_table("i", "expiring"))
        self.make("expiring")

    # --- what is true ------------------------------------------------------------------------

    @property
    def form(self) -> TableForm:
        return self.engine.core.operations(TYPED).tables.find_qualified("t")

    def partitioned(self) -> list[Partitioned]:
        return [each for each in self.engine.core.partitions._tables.tables() if each.id]

    def told(self, table: Partitioned) -> list[tuple[int, int]]:
        facts = self.engine.core.partitions.load_of(table).facts()
        return [(each.rows, each.size) for each in facts]

    def counted(self, table: Partitioned) -> list[tuple[int, int]]:
        prefix = row_prefix(table.id)
        bounds = [prefix, *[prefix + bound for bound in table.splits], after_prefix(prefix)]
        return [
            (len(found), sum(record_bytes(key, record) for key, record in found))
            for start, stop in pairwise(bounds)
            for found in [
                [
                    (key, record)
                    for key, record in self.store.snapshot().scan(start, stop)
                    if record[0] != RecordKind.SEGMENT
                ]
            ]
        ]

    def check(self) -> None:
        for table in self.partitioned():
            self.told(table)
        self.wait(round(2 * SMALL_SECONDS))
        for table in self.partitioned():
            assert self.told(table) == self.counted(table), table.qualified


histories = st.lists(
    st.tuples(
        st.sampled_from(
            ["batch", "batch", "batch", "step", "step", "remove", "kill", "split", "drop", "expire"]
        ),
        st.integers(0, 50),
        st.sampled_from([1, 2, 10_000]),
    ),
    max_size=25,
)
BATCHES = [("batch", seed, 1) for seed in range(12)]
OUT_OF_ORDER = [*BATCHES, *[each for batch in BATCHES for each in (("step", 0, 0), batch)]]


@given(kind=st.sampled_from(["memory", "rocksdb"]), history=histories)
@example(kind="memory", history=OUT_OF_ORDER)
@example(kind="rocksdb", history=OUT_OF_ORDER)
@example(kind="memory", history=[*BATCHES, ("step", 0, 0), ("batch", 0, 2), ("batch", 20, 10_000)])
@settings(max_examples=examples(30), deadline=None, phases=PHASES)
def test_after_writers_rest_sizes_equal_a_count(
    kind: str, history: list[tuple[str, int, int]]
) -> None:
    with TemporaryDirectory() as directory:
        address = "memory:" if kind == "memory" else f"rocksdb:{Path(directory) / 'store'}"
        with open_store(address) as store:
            world = World(store)
            for action, seed, length in history:
                getattr(world, action)(seed, length)
            world.check()


@pytest.fixture
def world(store: Store) -> Iterator[World]:
    made = World(store)
    yield made
    made.check()


def test_a_record_vouches_for_sizes_only_while_nothing_changes(world: World) -> None:
    """So the next process counts again what this one, killed, has not written down."""

    def vouches() -> bool:
        record = world.store.snapshot().get(statistics_key(table.id))
        assert record is not None
        return decode_counts(record)[0].known

    table = world.partitioned()[0]
    world.batch(1, 1)
    world.wait(round(FLUSH_SECONDS) + 1)
    assert not vouches()
    world.wait(round(FLUSH_SECONDS))
    assert vouches()
    world.remove(1, 1)
    world.step(0, 0)
    assert not vouches()
    plan = world.engine.core.partitions.flush()
    assert plan is not None
    world.engine.core.run(plan)
    assert vouches()
    world.remove(2, 1)
    world.step(0, 0)
    world.kill(0, 0)


def test_what_the_sweep_removes_is_counted_to_the_byte(world: World) -> None:
    world.write("expiring", tuple(put("expiring", {"k": key}, {"s": "x"}) for key in range(9)))
    world.clock.advance(DAY / 2)
    wide = {f"{column:03}": "x" * 4096 for column in range(100)}
    rows = [put("expiring", {"k": 9}, wide), *[update("expiring", {"k": 1}, put_cells(wide))]]
    for row in rows:
        world.engine.core.run(world.engine.rows.write_row("i", row))
    table = next(each for each in world.partitioned() if each.qualified == "i/expiring")
    for _ in range(3):
        world.wait(10)
        partitions = world.engine.core.partitions
        assert partitions.load_of(table).sizes.known
        assert world.told(table) == world.counted(table)
        world.clock.advance(DAY / 2)
        while (plan := world.engine.core.housekeeping()) is not None:
            world.engine.core.run(plan)
        partitions.absorb()
        assert world.told(table) == world.counted(table)  # without a walk


def test_notes_that_no_room_was_left_for_are_made_up_for(world: World) -> None:
    partitions: Partitions = world.engine.core.partitions
    world.wait(10)
    notes = Notes(1)
    for number in (7, 7, 8):
        notes.add(number, b"k", 0, 1, 1, 1)
    assert notes.lost == {7}
    table = world.partitioned()[0]
    world.batch(1, 1)
    list(partitions.notes.taken(len(partitions.notes)))
    partitions.notes.lost.update(each.id for each in world.partitioned())
    assert world.told(table) != world.counted(table)
