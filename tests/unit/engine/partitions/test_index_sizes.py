"""Global indexes are counted though nobody tells how they grow (docs/operating/partitions.md)."""

from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.changes import create, delete, put
from tests.support.engines import open_tablestore

from widerow.engine.partitions.index_sizes import SMALL_ROWS, SMALL_SECONDS, IndexSizes
from widerow.engine.partitions.rules import Thresholds
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.keys.layout import row_prefix
from widerow.model.tablestore.requests import (
    ComputeSplitPoints,
    CreateIndex,
    DropIndex,
    IndexDefinition,
)
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.values import ColumnType, KeyType
from widerow.rows.record import record_bytes
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

GLOBAL = IndexDefinition("g", ("s",), ())
SMALL_SPLITS = Thresholds(split_bytes=3 * 1024 * 1024)


@pytest.fixture
def engine(store: Store, clock: FakeClock) -> TablestoreEngine:
    return open_tablestore(store, clock, FakeEntropy(), thresholds=SMALL_SPLITS)


def make(engine: TablestoreEngine, *indexes: IndexDefinition) -> None:
    defined = (DefinedColumn("s", ColumnType.STRING),)
    asked = replace(create("t", {"k": KeyType.INTEGER}), defined_columns=defined, indexes=indexes)
    engine.core.run(engine.create_table("i", asked))


def write(engine: TablestoreEngine, keys: range, text: str) -> None:
    for key in keys:
        change = put("t", {"k": key}, {"s": f"{text}{key}"})
        engine.core.run(engine.rows.write_row("i", change))


def pass_time(
    engine: TablestoreEngine, clock: FakeClock, seconds: float = SMALL_SECONDS + 2
) -> None:
    """Let housekeeping do what is due, second by second."""
    for _ in range(round(seconds)):
        clock.advance(1)
        while (plan := engine.core.housekeeping()) is not None:
            engine.core.run(plan)
        while (plan := engine.core.partitions.step()) is not None:
            engine.core.run(plan)


def counted(engine: TablestoreEngine, name: str = "g") -> tuple[int, int]:
    """The rows and the bytes that are told of a table."""
    sizes = engine.core.partitions.load_of(engine.describe_table("i", name)).sizes
    return sizes.rows, sizes.size


def stored(engine: TablestoreEngine, store: Store, name: str = "g") -> tuple[int, int]:
    """The same of what is stored."""
    prefix = row_prefix(engine.describe_table("i", name).id)
    found = list(store.snapshot().scan(prefix, prefix + b"\xff" * 9))
    return len(found), sum(record_bytes(key, record) for key, record in found)


def test_an_index_is_counted_half_a_minute_after_its_rows(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    make(engine, GLOBAL)
    write(engine, range(300), "a")
    pass_time(engine, clock)
    assert counted(engine) == stored(engine, store)
    assert counted(engine)[0] == 300
    write(engine, range(300), "another ")
    for key in range(200):
        engine.core.run(engine.rows.write_row("i", delete("t", {"k": key})))
    pass_time(engine, clock)
    assert counted(engine) == stored(engine, store)
    assert counted(engine)[0] == 100


def test_an_index_over_rows_from_before_it_is_counted_when_it_is_built(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    make(engine)
    write(engine, range(300), "a")
    pass_time(engine, clock)
    engine.core.run(engine.indexes.create("i", CreateIndex("t", GLOBAL, include_base_data=True)))
    assert counted(engine)[0] == 0
    pass_time(engine, clock, 2 * SMALL_SECONDS)
    assert counted(engine) == stored(engine, store)
    assert counted(engine)[0] == 300


def test_entries_that_follow_their_rows_later_are_counted(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    engine.indexes.hold_back(10)
    make(engine, GLOBAL)
    pass_time(engine, clock, 28)
    write(engine, range(50), "a")
    pass_time(engine, clock, 3)
    assert stored(engine, store)[0] == 0
    pass_time(engine, clock, 2 * SMALL_SECONDS)
    assert counted(engine) == stored(engine, store)
    assert counted(engine)[0] == 50


def test_an_index_that_was_dropped_is_counted_no_more(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    make(engine, GLOBAL)
    write(engine, range(10), "a")
    engine.core.run(engine.indexes.drop("i", DropIndex("t", "g")))
    pass_time(engine, clock, 3 * SMALL_SECONDS)
    assert not engine.core.partitions._index_sizes._written


def test_a_large_index_is_divided_by_its_size(engine: TablestoreEngine, clock: FakeClock) -> None:
    """Its table needs no second partition for that."""
    make(engine, GLOBAL)
    for key in range(4000):
        change = put("t", {"k": key}, {"s": f"{key:04d}" + "x" * 1000})
        engine.core.run(engine.rows.write_row("i", change))
    pass_time(engine, clock, 2 * SMALL_SECONDS)
    assert len(engine.describe_table("i", "g").splits) >= 1


def test_split_points_of_an_index_are_found_again_when_its_table_was_written(
    engine: TablestoreEngine,
) -> None:
    make(engine, GLOBAL)
    asked = ComputeSplitPoints("g", 10_000, None)
    write(engine, range(10), "a")
    assert engine.compute_split_points("i", asked).points == ()
    write(engine, range(1000, 2000), "a")
    found = engine.compute_split_points("i", asked).points
    assert len(found) >= 5
    assert engine.compute_split_points("i", asked).points == found


@dataclass(frozen=True)
class Indexed:
    """A table with these global indexes."""

    global_indexes: tuple[int, ...]
    id: int = 1
    qualified: str = "i/t"
    splits: tuple[bytes, ...] = ()
    asked: tuple[bytes, ...] = ()
    reserved_units: tuple[int, int] = (0, 0)


steps = st.lists(st.tuples(st.integers(0, 300_000), st.integers(0, 60)), max_size=40)


@given(steps, st.integers(0, 2_000_000))
def test_a_large_index_costs_a_record_for_each_write(
    load: list[tuple[int, int]], rows: int
) -> None:
    """And 65,536 records each half minute, as a small one."""
    sizes = IndexSizes()
    sizes.follow([Indexed((2,))])
    now = read = written = unseen = 0
    for writes, seconds in load:
        now += seconds
        written += writes
        unseen += writes
        sizes.note(1, writes, float(now))
        if sizes.due(lambda _: rows, float(now)):
            read += rows
            unseen = 0
        assert unseen < max(rows, SMALL_ROWS)
    assert read <= written + SMALL_ROWS * (1 + now / SMALL_SECONDS)


def test_a_large_index_is_counted_when_its_table_has_rested() -> None:
    sizes, rows = IndexSizes(), 4 * SMALL_ROWS
    sizes.follow([Indexed((2,))])
    sizes.note(1, 1, 0.0)
    looks = [sizes.due(lambda _: rows, now * SMALL_SECONDS) for now in range(1, 9)]
    assert looks == [[], [], [], [2], [], [], [], []]
