"""What is known of how far indexes and streams are behind their tables (change §A5, §C1.8)."""

from dataclasses import replace

import pytest
from tests.support.changes import create, put
from tests.support.engines import open_tablestore
from tests.unit.engine.indexes.test_fair_entries import (
    BY_S,
    NOTHING,
    TABLES,
    Apart,
    World,
    fill,
    make,
    steps,
    write,
)

from widerow.engine.entry_applier import STEP_ENTRIES
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.limits import LEASE_SECONDS
from widerow.model.tablestore.requests import StreamChange
from widerow.model.values import KeyType
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy


def lags(engine: TablestoreEngine) -> dict[tuple[str, str], float]:
    return {(each.table, each.name): each.seconds for each in engine.index_lags()}


def hold(engine: TablestoreEngine) -> None:
    """Look after the store, which nobody else does."""
    engine.core.run(engine.core.lease.plan() or NOTHING)


def test_nothing_is_behind_where_entries_come_with_their_rows(
    store: Store, clock: FakeClock
) -> None:
    engine = open_tablestore(store, clock, FakeEntropy())
    make(engine, "i", "t", BY_S)
    engine.indexes.intents.step()
    write(engine, ("i", "t"), 1, "x")
    clock.advance(100)
    assert lags(engine) == {("i/t", "by_s"): 0}


def test_who_does_not_look_after_the_store_knows_nothing(world: World) -> None:
    write(world.other, TABLES[0], 1, "x")
    assert lags(world.other) == {}


@pytest.fixture
def world() -> World:
    made = World()
    hold(made.engine)
    return made


def test_the_lag_grows_while_nothing_is_done_and_ends_when_all_is(world: World) -> None:
    index = ("one/a", "by_s_a")
    steps(world.engine)
    world.engine.indexes.intents.step()
    assert lags(world.engine)[index] == 0
    write(world.other, TABLES[0], 1, "x")
    world.clock.advance(7)
    assert lags(world.engine)[index] == 7
    steps(world.engine)
    world.engine.indexes.intents.step()
    assert lags(world.engine)[index] == 0


def test_a_table_with_a_backlog_is_as_far_behind_as_its_last_whole_round(world: World) -> None:
    steps(world.engine)
    fill(world.other, TABLES[0], range(3 * STEP_ENTRIES))
    for _ in range(3):
        world.clock.advance(1)
        world.engine.core.run(world.engine.indexes.intents.step() or NOTHING)
    assert lags(world.engine)["one/a", "by_s_a"] >= 2
    assert lags(world.engine)["one/b", "by_s_b"] <= 1
    assert steps(world.engine) < 50


def test_an_index_that_cannot_be_written_is_behind_and_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("widerow.storage.remote.optimistic.HOME_SECONDS_MAX", 0.01)
    world = Apart()
    hold(world.engine)
    for at in TABLES:
        fill(world.engine, at, range(20))
    world.driver.away.add(world.range_of("one", "by_s_a"))
    for _ in range(10):
        world.clock.advance(1)
        hold(world.engine)
        steps(world.engine, most=3)
    found = lags(world.engine)
    assert found["one/a", "by_s_a"] >= 9
    assert found["one/b", "by_s_b"] <= 1
    assert found["two/a", "by_s_a"] <= 1


def test_a_hot_row_does_not_make_its_index_look_further_behind_than_it_is(world: World) -> None:
    """Something of it is left in every round, but never the same."""
    hot = TABLES[0]
    for second in range(30):
        for turn in range(3):
            write(world.other, hot, 0, f"hot{second}-{turn}")
        world.clock.advance(1)
        hold(world.engine)
        world.engine.core.run(world.engine.indexes.intents.step() or NOTHING)
    assert lags(world.engine)["one/a", "by_s_a"] <= 3


def test_after_a_takeover_nothing_is_known_that_another_process_may_have_changed(
    world: World,
) -> None:
    steps(world.engine)
    world.clock.advance(LEASE_SECONDS + 1)
    hold(world.other)
    steps(world.other)
    world.clock.advance(LEASE_SECONDS + 1)
    hold(world.engine)
    write(world.other, TABLES[0], 1, "x")
    world.clock.advance(2)
    world.engine.core.run(world.engine.indexes.intents.step() or NOTHING)
    world.engine.core.run(world.engine.indexes.intents.step() or NOTHING)
    assert lags(world.engine)["one/a", "by_s_a"] <= 2


def test_streams_and_journals_have_their_lags(world: World) -> None:
    asked = replace(create("s", {"k": KeyType.INTEGER}), stream=StreamChange(enable=True))
    world.engine.core.run(world.engine.create_table("one", asked))
    for _ in range(2):
        world.engine.core.run(world.engine._mover.step() or NOTHING)
    world.other.core.run(world.other.rows.write_row("one", put("s", {"k": 1}, {"x": 1})))
    world.clock.advance(4)
    assert [(each.table, each.name) for each in world.engine.log_lags()] == [("one/s", "stream")]
    assert [each.seconds for each in world.engine.log_lags()] == [4]
    for _ in range(3):
        world.engine.core.run(world.engine._mover.step() or NOTHING)
    assert [each.seconds for each in world.engine.log_lags()] == [0]


def test_the_document_of_a_table_tells_the_age_of_what_waits_for_each_index(world: World) -> None:
    write(world.other, TABLES[0], 1, "x")
    world.clock.advance(3)
    write(world.other, TABLES[0], 2, "x")
    document = world.other.indexes.document("one", "a")  # of any server
    assert document["waiting"] == 2
    assert [each["lag_seconds"] for each in document["indexes"]] == [3]
    steps(world.engine)
    assert world.other.indexes.document("one", "a")["indexes"][0]["lag_seconds"] == 0
