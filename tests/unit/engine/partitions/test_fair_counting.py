"""Counting and dividing tables goes on, whatever one table does (semantics §1.2)."""

from tests.support.changes import create, put
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store

from widerow.engine.partitions.balance import FLUSH_SECONDS
from widerow.engine.partitions.rules import Thresholds
from widerow.engine.partitions.walk import STEP_BYTES, STEP_RECORDS, Walk
from widerow.engine.plan import Plan, failing
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import row_prefix, statistics_key
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.values import KeyType
from widerow.testing.clock import FakeClock, FakeEntropy

NOTHING: Plan[None] = Plan((), failing)
LIMITS = Thresholds(split_units=100.0, hot_seconds=5.0, cold_seconds=1e9)


def make(engine: TablestoreEngine, name: str) -> int:
    engine.core.run(engine.create_table("i", create(name, {"k": KeyType.INTEGER})))
    return engine.describe_table("i", name).id


def fill(engine: TablestoreEngine, name: str, rows: int) -> None:
    for first in range(0, rows, 200):
        keys = range(first, min(rows, first + 200))
        changes = tuple(put(name, {"k": key}, {"n": key}) for key in keys)
        engine.core.run(engine.rows.batch_write_row("i", BatchWrite((TableWrite(name, changes),))))


def test_a_table_whose_counts_cannot_be_read_holds_up_no_other(clock: FakeClock) -> None:
    """After a takeover all of them are read again; this one is in a part that is away."""
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1), placed=True)
    engine = open_tablestore(remote_store(driver), clock, FakeEntropy(2), thresholds=LIMITS)
    numbers = [make(engine, name) for name in ("away", "here")]
    for number in numbers:
        driver.space.ranges.split(row_prefix(number))
    engine.core.run(engine.core.lease.plan() or NOTHING)
    engine.core.run(engine.core.partitions.step() or NOTHING)
    driver.away.add(row_prefix(numbers[0]))
    for _ in range(30):
        for turn in range(300):
            for number in numbers:
                engine.core.partitions.note_load(number, encode_key_value(turn), 0, 1)
        clock.advance(1)
        engine.core.run(engine.core.lease.plan() or NOTHING)
        engine.core.run(engine.core.partitions.step() or NOTHING)
        if engine.describe_table("i", "here").splits:
            break
    assert engine.describe_table("i", "here").splits != ()
    driver.away.clear()
    engine.core.partitions.absorb()
    assert engine.core.partitions.load_of(engine.describe_table("i", "away")).consumed.write > 300


def test_tables_take_turns_in_having_their_sizes_learnt(engine: TablestoreEngine) -> None:
    numbers = [make(engine, name) for name in ("a", "b")]
    fill(engine, "a", 5)
    fill(engine, "b", 5)
    loads = [
        engine.core.partitions.load_of(engine.describe_table("i", name)) for name in ("a", "b")
    ]
    learnt = []
    for _ in range(6):
        for load in loads:
            load.sizes.outdate()
        for number in numbers:
            engine.core.partitions._grown[number] = None
        assert engine.core.partitions.learn_sizes()
        learnt.append([load.sizes.overdue(0) is None for load in loads])
    assert [True, False] in learnt
    assert [False, True] in learnt


def test_a_step_of_a_walk_reads_few_large_rows(engine: TablestoreEngine) -> None:
    """A step holds up the requests of others, by its bytes as well as by its rows."""
    rows, value = 40, "x" * 32_000
    number = make(engine, "t")
    for key in range(rows):
        engine.core.run(engine.rows.write_row("i", put("t", {"k": key}, {"v": value})))
    end = engine.core.partitions.partition_key(engine.describe_table("i", "t")).end
    walk = Walk(number, end, b"", None, 1 << 30)
    steps = 1
    while not walk.step(engine.core.store.snapshot()):
        steps += 1
    assert rows * len(value) // STEP_BYTES <= steps < rows
    assert walk.found[0].rows == rows


def test_sizes_that_are_learnt_without_end_keep_no_counts_from_being_written(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    number = make(engine, "t")
    fill(engine, "t", 2 * STEP_RECORDS)
    for _ in range(round(FLUSH_SECONDS) + 2):
        engine.core.partitions.load_of(engine.describe_table("i", "t")).sizes.outdate()
        engine.core.partitions._grown[number] = None
        clock.advance(1)
        engine.core.run(engine.core.partitions.step() or NOTHING)
    assert engine.core.store.snapshot().get(statistics_key(number)) is not None
