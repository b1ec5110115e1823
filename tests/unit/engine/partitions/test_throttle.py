"""Reserved throughput, enforced partition by partition (seed 003; semantics §9)."""

from dataclasses import replace
from itertools import pairwise

import pytest
from tests.support.changes import create, get, primary_key, put
from tests.support.engines import open_tablestore

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import Exhausted, Rule
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.requests import BatchGet, BatchWrite, TableGet, TableWrite
from widerow.model.tablestore.selection import Selection
from widerow.model.values import KeyInput, KeyMarker, KeyType
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

EDGES: tuple[KeyInput, ...] = (KeyMarker.INF_MIN, 100, KeyMarker.INF_MAX)


@pytest.fixture
def engine(store: Store, clock: FakeClock) -> TablestoreEngine:
    """A table of two partitions that share a reserve of 20 units of either kind."""
    opened = open_tablestore(store, clock, FakeEntropy(), enforce_throughput=True)
    asked = create("t", {"k": KeyType.INTEGER})
    throughput = replace(asked.throughput, read=20, write=20)
    parts = tuple(pairwise(EDGES))
    opened.core.run(
        opened.create_table("i", replace(asked, throughput=throughput, partitions=parts))
    )
    return opened


def writes(engine: TablestoreEngine, key: int, *, most: int = 1000) -> int:
    """How many rows can be written at once."""
    for count in range(most):
        try:
            engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"v": count})))
        except Exhausted as error:
            return count if error.rule is Rule.NOT_ENOUGH_CAPACITY else -1
    return most


def reads(engine: TablestoreEngine, key: int, *, most: int = 1000) -> int:
    for count in range(most):
        try:
            engine.rows.get_row("i", get("t", {"k": key}))
        except Exhausted:
            return count
    return most


def test_a_hot_partition_is_refused_while_the_table_is_idle(engine: TablestoreEngine) -> None:
    assert writes(engine, 1) == 10  # its half of the reserve
    assert writes(engine, 2) == 0  # the same partition
    assert writes(engine, 200) == 10  # the other one has its own half
    assert reads(engine, 1) == 10


def test_a_second_later_there_is_a_seconds_part_again(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    assert writes(engine, 1) == 10
    clock.advance(0.5)
    assert writes(engine, 1) == 5
    clock.advance(3600)
    assert writes(engine, 1) == 10  # and no more: what was not used is gone


def test_a_large_row_leaves_a_debt(engine: TablestoreEngine, clock: FakeClock) -> None:
    engine.core.run(
        engine.rows.write_row("i", put("t", {"k": 1}, {"v": "x" * 20 * 4096}))
    )  # 21 units
    clock.advance(1)
    assert writes(engine, 1) == 0
    clock.advance(0.2)
    assert writes(engine, 1) == 1


def test_rows_of_batches_are_refused_one_by_one(engine: TablestoreEngine) -> None:
    rows = tuple(put("t", {"k": key}, {"v": 1}) for key in (*range(12), 200))
    outcomes = engine.core.run(
        engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", rows),)))
    )[0]
    assert [outcome.error is None for outcome in outcomes] == [True] * 10 + [False] * 2 + [True]
    assert outcomes[-1].written is not None
    keys = tuple(primary_key({"k": key}) for key in (*range(12), 200))
    assert reads(engine, 1, most=10) == 10
    found = engine.rows.batch_get_row("i", BatchGet((TableGet("t", keys, Selection()),)))[0]
    assert [outcome.error is None for outcome in found] == [False] * 12 + [True]
    assert found[-1].read is not None
    assert found[-1].read.row


def test_a_condition_reads(engine: TablestoreEngine) -> None:
    exist = Condition(RowExpectation.EXPECT_EXIST)
    engine.core.run(engine.rows.write_row("i", put("t", {"k": 1}, {"v": 1})))
    for _ in range(9):
        engine.core.run(engine.rows.write_row("i", put("t", {"k": 1}, {"v": 1}, exist)))
    assert reads(engine, 1) == 1


def test_without_a_reserve_nothing_is_refused(engine: TablestoreEngine) -> None:
    # Pay-as-you-go: a reserve of 0 makes every unit additional (docs/operating/partitions.md).
    engine.core.run(engine.create_table("i", create("free", {"k": KeyType.INTEGER})))
    for number in range(100):
        engine.core.run(engine.rows.write_row("i", put("free", {"k": 1}, {"v": number})))
        engine.rows.get_row("i", get("free", {"k": 1}))


def test_nothing_is_refused_unless_asked_for(store: Store, clock: FakeClock) -> None:
    engine = open_tablestore(store, clock, FakeEntropy())
    asked = create("t", {"k": KeyType.INTEGER})
    throughput = replace(asked.throughput, read=1, write=1)
    engine.core.run(engine.create_table("i", replace(asked, throughput=throughput)))
    assert writes(engine, 1, most=50) == 50
    assert reads(engine, 1, most=50) == 50
