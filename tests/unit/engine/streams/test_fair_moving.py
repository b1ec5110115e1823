"""Changes come into the logs of streams and journals, whatever other keys, tables and logs do.

Where the row's transaction does not reach the log (change §C1.8): what a key, a table, an index or
a part of the store that is away can do to the streams of others.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pytest
from tests.support.changes import create, put
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.strict import StrictSpace, StrictStore
from tests.unit.engine.indexes.test_fair_entries import BY_S, NOTHING

from widerow.engine.check import check_store
from widerow.engine.streams import mover
from widerow.engine.streams.mover import STEP_CHANGES, STEP_QUEUES
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import StoreBusy
from widerow.keys.encode import after_prefix, encode_key_value
from widerow.keys.layout import intent_prefix, row_prefix
from widerow.model.search.requests import CreateSearchIndex
from widerow.model.search.schema import SearchField, SearchFieldType, SearchSchema
from widerow.model.tablestore.requests import BatchWrite, StreamChange, TableWrite
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.values import ColumnType, KeyType
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

SCHEMA = SearchSchema((SearchField("s", SearchFieldType.KEYWORD),))


@pytest.fixture
def engine(clock: FakeClock) -> Iterator[TablestoreEngine]:
    """An engine whose transactions reach one shard."""
    made = open_tablestore(StrictStore(StrictSpace(), FakeEntropy(1)), clock, FakeEntropy(2))
    yield made
    while steps(made, 50) == 50:
        pass
    assert check_store(made.core.store) == []


def make(engine: TablestoreEngine, name: str, **more: object) -> None:
    asked = replace(
        create(name, {"k": KeyType.INTEGER}),
        defined_columns=(DefinedColumn("s", ColumnType.STRING),),
        stream=StreamChange(enable=True),
    )
    engine.core.run(engine.create_table("i", replace(asked, **more)))  # type: ignore[arg-type]  # what a test hands on


def fill(engine: TablestoreEngine, name: str, keys: range) -> None:
    for first in range(0, len(keys), 200):
        changes = tuple(put(name, {"k": key}, {"s": "x"}) for key in keys[first : first + 200])
        engine.core.run(engine.rows.batch_write_row("i", BatchWrite((TableWrite(name, changes),))))


def write(engine: TablestoreEngine, name: str, key: int, value: str = "x") -> None:
    engine.core.run(engine.rows.write_row("i", put(name, {"k": key}, {"s": value})))


def step(engine: TablestoreEngine) -> bool:
    """A step of moving; whether there was anything to do."""
    plan = engine._mover.step()
    with suppress(StoreBusy):  # of a plan that is about nothing but what is away
        engine.core.run(plan or NOTHING)
    return plan is not None


def steps(engine: TablestoreEngine, most: int) -> int:
    return next((count for count in range(most) if not step(engine)), most)


def waiting(store: Store, engine: TablestoreEngine, name: str) -> int:
    """Changes of a table that wait."""
    prefix = intent_prefix(engine.describe_table("i", name).id)
    return len(list(store.snapshot().scan(prefix, after_prefix(prefix))))


def moved(engine: TablestoreEngine, name: str) -> int:
    """Records of a stream."""
    table = engine.describe_table("i", name)
    return sum(
        len(engine.streams.read(table, engine.streams.iterator(table, each.id, None), None).stored)
        for each in engine.streams.shards(table)
    )


def test_a_key_that_is_always_written_holds_up_no_other_of_its_shard(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    """More than a step takes, under the first key of the table, all the time."""
    make(engine, "t")
    fill(engine, "t", range(1, 30))
    for _ in range(2):
        for number in range(2 * STEP_CHANGES):
            clock.advance(0.001)  # else they may be of one transaction
            write(engine, "t", 0, f"hot{number}")
        step(engine)
    table = engine.describe_table("i", "t")
    prefix = intent_prefix(table.id) + encode_key_value(0)
    others = after_prefix(prefix), after_prefix(intent_prefix(table.id))
    assert list(engine.core.store.snapshot().scan(*others)) == []
    assert waiting(engine.core.store, engine, "t") > 0


def test_a_flood_of_one_table_costs_the_others_one_step_of_it(engine: TablestoreEngine) -> None:
    for name in ("flooded", "calm"):
        make(engine, name)
    fill(engine, "flooded", range(3 * STEP_CHANGES))
    fill(engine, "calm", range(3))
    for _ in range(2):
        step(engine)
    assert moved(engine, "calm") == 3
    assert waiting(engine.core.store, engine, "flooded") > 0


def test_queues_that_all_have_too_much_share_each_step(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, least = 64, 4  # the bounds of a step, scaled down
    monkeypatch.setattr(mover, "STEP_CHANGES", most)
    monkeypatch.setattr(mover, "QUEUE_CHANGES_MIN", least)
    names = ("a", "b", "c")
    for name in names:
        make(engine, name)
        fill(engine, name, range(2 * most))
    for _ in names:  # who has more than a step takes is not known before
        step(engine)
    before = [waiting(engine.core.store, engine, name) for name in names]
    step(engine)
    after = [waiting(engine.core.store, engine, name) for name in names]
    taken = [one - other for one, other in zip(before, after, strict=True)]
    assert min(taken) >= least
    assert sum(taken) <= most


def test_many_small_queues_are_moved_together(engine: TablestoreEngine) -> None:
    names = [f"t{number}" for number in range(3 * STEP_QUEUES)]
    for name in names:
        make(engine, name)
        write(engine, name, 1)
    for _ in range(4):
        step(engine)
    assert [moved(engine, name) for name in names] == [1] * len(names)


def test_the_stream_of_a_table_does_not_hold_up_its_journal(engine: TablestoreEngine) -> None:
    """Each write leaves a change for both, so neither is ever without one."""
    make(engine, "t")
    engine.core.run(engine.search.create("i", CreateSearchIndex("t", "x", SCHEMA)))
    for number in range(6):
        write(engine, "t", number)
        step(engine)
    table = engine.describe_table("i", "t")
    kinds = [value[9:13] for _, value in engine.core.store.snapshot().scan(*_intents(table.id))]
    left = {log.number: kinds.count(log.number.to_bytes(4, "big")) for log in table.logs}
    assert len(left) == 2
    assert max(left.values()) <= 1


def _intents(table_id: int) -> tuple[bytes, bytes]:
    prefix = intent_prefix(table_id)
    return prefix, after_prefix(prefix)


def test_intents_of_indexes_are_passed_in_bounded_steps(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They lie among the changes of streams, and nobody has worked them off yet."""
    monkeypatch.setattr(mover, "STEP_RECORDS", 16)
    make(engine, "indexed", stream=None, indexes=(BY_S,))
    fill(engine, "indexed", range(100))
    make(engine, "t")
    write(engine, "t", 1)
    assert 100 // 16 < steps(engine, 50) < 20
    assert moved(engine, "t") == 1
    assert waiting(engine.core.store, engine, "indexed") == 100
    while (plan := engine.indexes.intents.step()) is not None:
        engine.core.run(plan)


def test_changes_of_a_log_lie_among_intents_of_others_under_its_own_keys(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mover, "QUEUE_RECORDS", 5)
    make(engine, "t", indexes=(BY_S,))
    fill(engine, "t", range(30))  # each leaves one of either kind
    assert steps(engine, 50) < 50
    assert moved(engine, "t") == 30
    while (plan := engine.indexes.intents.step()) is not None:
        engine.core.run(plan)


# --- what is away --------------------------------------------------------------------------------


@pytest.mark.parametrize("is_split", [False, True])
def test_a_table_that_is_away_holds_up_no_other(
    monkeypatch: pytest.MonkeyPatch, *, is_split: bool
) -> None:
    """Its changes cannot be read; where it was divided, its shard cannot be sealed either."""
    monkeypatch.setattr("widerow.storage.remote.optimistic.HOME_SECONDS_MAX", 0.01)
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1), placed=True)
    engine = open_tablestore(remote_store(driver), FakeClock(), FakeEntropy(2))
    for name in ("away", "here"):
        make(engine, name)
        driver.space.ranges.split(row_prefix(engine.describe_table("i", name).id))
        fill(engine, name, range(5))
    if is_split:
        model, splits = engine.tables.model, (encode_key_value(3),)
        table = engine.describe_table("i", "away")
        engine.core.store.transact_group(
            [engine.tables.change(table, lambda found: model.with_bounds(found, splits))]
        )
    driver.away.add(row_prefix(engine.describe_table("i", "away").id))
    for _ in range(5):
        step(engine)
    assert moved(engine, "here") == 5
    driver.away.clear()
    for _ in range(500):  # it is probed beside the groups
        if moved(engine, "away") == 5:
            break
        step(engine)
    assert moved(engine, "away") == 5
