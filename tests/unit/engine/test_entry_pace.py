"""Writers wait where entries of their tables are far behind, and others do not (change §A5)."""

import pytest
from tests.support.changes import put
from tests.unit.engine.indexes.test_fair_entries import NOTHING, TABLES, World, fill, steps

from widerow.engine.entry_applier import STEP_ENTRIES
from widerow.engine.plan import Pace
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.limits import (
    ENTRY_LAG_PACED_SECONDS,
    ENTRY_PACE_LOOK_SECONDS,
    ENTRY_PACE_SECONDS_MAX,
    NODE_BEAT_SECONDS,
)
from widerow.model.tablestore.requests import BatchWrite, TableWrite

FULL, OTHER, FAR = TABLES


@pytest.fixture
def world() -> World:
    """Two servers: the first one looks after the store."""
    made = World()
    made.engine.core.run(made.engine.core.lease.plan() or NOTHING)
    steps(made.engine)
    made.engine.indexes.intents.step()
    return made


def pace(engine: TablestoreEngine, at: tuple[str, str]) -> Pace | None:
    """What the answer to a PutRow waits for."""
    return engine.rows.write_row(at[0], put(at[1], {"k": 1}, {"s": "x"})).pace


def tell(world: World) -> None:
    """The beat of the first server, as the second one hears it."""
    world.engine.core.run(world.engine.core.nodes.beat() or NOTHING)
    world.other.core.nodes.look()


def fall_behind(world: World) -> None:
    """A table is filled faster than its entries follow: steps take a second each."""
    fill(world.other, FULL, range(3 * STEP_ENTRIES))
    for _ in range(2):
        world.clock.advance(ENTRY_LAG_PACED_SECONDS)
        world.engine.core.run(world.engine.indexes.intents.step() or NOTHING)


def catch_up(world: World) -> None:
    """Apply all entries, and let a pass find none; then servers look again."""
    steps(world.engine)
    world.engine.indexes.intents.step()
    world.clock.advance(ENTRY_PACE_LOOK_SECONDS)


def test_writers_of_a_table_that_is_far_behind_wait_and_nobody_else(world: World) -> None:
    assert pace(world.engine, FULL) is None
    fall_behind(world)
    waits = pace(world.engine, FULL)
    assert waits is not None
    assert waits.waits()
    assert waits.seconds == ENTRY_PACE_SECONDS_MAX
    assert pace(world.engine, OTHER) is None
    assert pace(world.engine, FAR) is None
    catch_up(world)
    assert not waits.waits()
    assert pace(world.engine, FULL) is None


def test_a_server_that_does_not_apply_entries_goes_by_what_the_other_tells(world: World) -> None:
    fall_behind(world)
    assert pace(world.other, FULL) is None  # it was not told yet
    tell(world)
    world.clock.advance(ENTRY_PACE_LOOK_SECONDS)
    waits = pace(world.other, FULL)
    assert waits is not None
    assert waits.waits()
    assert pace(world.other, OTHER) is None
    world.clock.advance(NODE_BEAT_SECONDS)
    catch_up(world)
    tell(world)
    assert not waits.waits()


def test_a_batch_waits_for_the_sake_of_any_of_its_tables(world: World) -> None:
    fall_behind(world)

    def of(*names: str) -> Pace | None:
        tables = [TableWrite(name, (put(name, {"k": 1}, {"s": "x"}),)) for name in names]
        return world.engine.rows.batch_write_row("one", BatchWrite(tuple(tables))).pace

    assert of("b") is None
    waits = of("b", "a")
    assert waits is not None
    assert waits.waits()
