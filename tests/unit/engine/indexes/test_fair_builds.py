"""Builds of indexes take turns: none waits for the end of another one (change §A6)."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace

import pytest
from tests.support.engines import open_tablestore
from tests.support.strict import StrictSpace, StrictStore
from tests.unit.engine.indexes.test_fair_entries import BY_S, NOTHING, Apart, fill, make, write

from widerow.engine.check import check_store
from widerow.engine.index_builds import STEP_ROWS
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import StoreBusy
from widerow.limits import TRANSACTION_SECONDS_MAX
from widerow.model.tablestore.requests import CreateIndex
from widerow.testing.clock import FakeClock, FakeEntropy

LARGE, SMALL = ("i", "a"), ("i", "b")  # the large one sorts before


@pytest.fixture
def apart() -> TablestoreEngine:
    """An engine whose transactions reach one shard."""
    return open_tablestore(StrictStore(StrictSpace(), FakeEntropy(1)), FakeClock(), FakeEntropy(2))


def add_index(engine: TablestoreEngine, at: tuple[str, str]) -> None:
    index = replace(BY_S, name=f"by_s_{at[1]}")
    engine.core.run(engine.indexes.create(at[0], CreateIndex(at[1], index, include_base_data=True)))


def is_ready(engine: TablestoreEngine, at: tuple[str, str]) -> bool:
    return all(index.ready for index in engine.describe_table(*at).indexes)


def build(engine: TablestoreEngine, wanted: Callable[[], bool], most: int) -> bool:
    """Keep house until that is so; at most so many steps."""
    for _ in range(most):
        if wanted():
            return True
        with suppress(StoreBusy):
            engine.core.run(engine.core.housekeeping() or NOTHING)
    return wanted()


def test_the_build_of_a_small_table_does_not_wait_for_a_large_one(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    engine.indexes.hold_back(1)
    for at, rows in ((LARGE, 20 * STEP_ROWS), (SMALL, 1)):
        make(engine, *at)
        fill(engine, at, range(rows))
        add_index(engine, at)
    clock.advance(2)
    engine.indexes.intents.lag_us = 0
    assert build(engine, lambda: is_ready(engine, SMALL), most=20)
    assert not is_ready(engine, LARGE)


def test_a_table_without_rows_is_built_where_entries_follow(apart: TablestoreEngine) -> None:
    for at in (LARGE, SMALL):
        make(apart, *at)
        add_index(apart, at)
    after_all_have_heard(apart)
    assert build(apart, lambda: is_ready(apart, LARGE) and is_ready(apart, SMALL), most=20)


def test_entries_that_always_wait_keep_no_build_waiting(apart: TablestoreEngine) -> None:
    """A table that is written all the time, beside one whose index is built."""
    make(apart, *LARGE, BY_S)
    make(apart, *SMALL)
    fill(apart, SMALL, range(2 * STEP_ROWS))
    add_index(apart, SMALL)
    after_all_have_heard(apart)
    for turn in range(100):
        write(apart, LARGE, turn % 3, f"hot{turn}")
        apart.core.run(apart.core.housekeeping() or NOTHING)
        if is_ready(apart, SMALL):
            break
    assert is_ready(apart, SMALL)


def test_a_build_whose_table_is_away_keeps_no_other_waiting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("widerow.storage.remote.optimistic.HOME_SECONDS_MAX", 0.01)
    world = Apart()
    engine = world.engine
    for name in ("a", "b"):
        make(engine, "three", name)
        fill(engine, ("three", name), range(3))
        add_index(engine, ("three", name))
    after_all_have_heard(engine)
    away = world.range_of("three", "a")
    world.driver.space.ranges.split(away)
    world.driver.space.ranges.split(world.range_of("three", "b"))
    world.driver.away.add(away)
    assert build(engine, lambda: is_ready(engine, ("three", "b")), most=100)
    assert not is_ready(engine, ("three", "a"))
    world.driver.away.clear()
    assert build(engine, lambda: is_ready(engine, ("three", "a")), most=1000)
    assert check_store(world.store) == []


def after_all_have_heard(engine: TablestoreEngine) -> None:
    """No write is left that went by the catalogue from before the index."""
    clock = engine.core.clock
    assert isinstance(clock, FakeClock)
    clock.advance(TRANSACTION_SECONDS_MAX + 1)


def test_an_index_answers_only_with_every_entry_of_its_build(apart: TablestoreEngine) -> None:
    """Entries that a build has left to others are written before; later ones delay nothing."""
    make(apart, *SMALL)
    fill(apart, SMALL, range(2 * STEP_ROWS))
    add_index(apart, SMALL)
    after_all_have_heard(apart)
    while not is_ready(apart, SMALL):
        apart.core.run(apart.indexes.builds.step() or apart.indexes.intents.step() or NOTHING)
        write(apart, SMALL, 0, "later")
    missing = [each for each in check_store(apart.core.store) if "no entry" in each.problem]
    assert missing == []
