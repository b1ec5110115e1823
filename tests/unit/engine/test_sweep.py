"""Giving space back in small steps (semantics §1.5, §1.6, §8)."""

from contextlib import suppress
from dataclasses import replace

import pytest
from tests.support.answers import decode_row
from tests.support.changes import create, delete, get, put, put_cells, update
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store

from widerow.engine.check import check_store
from widerow.engine.plan import Plan, failing
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import StoreBusy
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_ROWS, row_prefix
from widerow.limits import (
    CLEAR_STEP_NOTES,
    SWEEP_PAUSE_SECONDS,
    SWEEP_STEP_BYTES,
    SWEEP_STEP_RECORDS,
    TRANSACTION_SECONDS_MAX,
    WRITE_SECONDS_MAX,
)
from widerow.model.tablestore.requests import (
    BatchWrite,
    DropIndex,
    IndexDefinition,
    OptionsChange,
    TableWrite,
    UpdateTable,
)
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.values import ColumnType, KeyType
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

NOTHING: Plan[None] = Plan((), failing)


def fill(engine: TablestoreEngine, count: int) -> None:
    for start in range(0, count, 200):
        changes = tuple(put("t", {"k": n}, {"x": n}) for n in range(start, min(start + 200, count)))
        engine.core.run(engine.rows.batch_write_row("i", BatchWrite((TableWrite("t", changes),))))


def records(store: Store) -> int:
    return len(list(store.snapshot().scan(SPACE_ROWS, after_prefix(SPACE_ROWS))))


def clean(engine: TablestoreEngine) -> int:
    """Every step there is to do now; how many."""
    steps = 0
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)
        steps += 1
    return steps


def test_expired_rows_go_in_bounded_steps(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    engine.core.run(
        engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=1000))
    )
    fill(engine, 1200)
    clock.advance(SWEEP_PAUSE_SECONDS)
    engine.core.run(engine.rows.write_row("i", put("t", {"k": 7}, {"x": "fresh"})))
    assert clean(engine) == 1 + 1200 // SWEEP_STEP_RECORDS + 1  # and the record of the pass
    assert records(store) == 1200
    clock.advance(400)
    assert engine.core.housekeeping() is None  # the table rests between two passes
    clock.advance(SWEEP_PAUSE_SECONDS - 400)
    clean(engine)
    assert records(store) == 1
    assert engine.core.sweep.reclaimed.rows_removed == 1199
    assert engine.core.sweep.reclaimed.reclaimed_bytes > 0
    assert engine.core.sweep.reclaimed.passes == 2
    assert check_store(store) == []


def test_what_expired_waits_for_no_queue_of_dropped_tables(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    engine.core.run(
        engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=1000))
    )
    fill(engine, 10)
    dropped = 3 * CLEAR_STEP_NOTES + 1
    for _ in range(dropped):
        engine.core.run(engine.create_table("i", create("passing", {"k": KeyType.INTEGER})))
        engine.core.run(engine.delete_table("i", "passing"))
    clock.advance(1000 + SWEEP_PAUSE_SECONDS)
    for _ in range(3):  # one step of each kind of work, at the most
        plan = engine.core.housekeeping()
        assert plan is not None
        engine.core.run(plan)
    assert engine.core.sweep.reclaimed.rows_removed == 10
    assert engine.core.sweep.reclaimed.tables_dropped <= 2 * CLEAR_STEP_NOTES
    clean(engine)
    assert engine.core.sweep.reclaimed.tables_dropped == dropped
    assert engine.core.catalog.leftovers() == []
    assert check_store(store) == []


def test_a_step_is_bounded_by_bytes_too(engine: TablestoreEngine, clock: FakeClock) -> None:
    engine.core.run(
        engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=1000))
    )
    for number in range(10):
        engine.core.run(engine.rows.write_row("i", put("t", {"k": number}, {"x": b"x" * 60_000})))
    engine.core.run(
        engine.rows.write_row("i", put("t", {"k": 10}, {f"c{n}": b"x" * 999 for n in range(900)}))
    )
    clock.advance(SWEEP_PAUSE_SECONDS)
    steps = []
    while (plan := engine.core.housekeeping()) is not None:
        before = engine.core.sweep.reclaimed.records_examined
        engine.core.run(plan)
        steps.append(engine.core.sweep.reclaimed.records_examined - before)
    assert engine.core.sweep.reclaimed.records_examined == 11  # no segment of the wide row
    assert len(steps) == 1 + 10 * 60_000 // SWEEP_STEP_BYTES + 1


def test_a_table_is_not_read_again_because_an_engine_begins(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    engine.core.run(
        engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=100_000))
    )
    fill(engine, 10)
    clock.advance(100_000)
    clean(engine)
    assert engine.core.sweep.reclaimed.records_examined == 10
    again = open_tablestore(store, clock, FakeEntropy())
    assert clean(again) == 0
    wait = 100_000 - 86_400 - WRITE_SECONDS_MAX  # until a cell written since could expire
    clock.advance(wait - 1)
    assert clean(again) == 0
    clock.advance(1)
    fill(again, 3)
    clean(again)
    assert again.core.sweep.reclaimed.records_examined == 3


def test_tables_take_turns(engine: TablestoreEngine, clock: FakeClock) -> None:
    for name in "tu":
        engine.core.run(
            engine.create_table("i", create(name, {"k": KeyType.INTEGER}, time_to_live=9))
        )
    fill(engine, 1200)
    engine.core.run(engine.rows.write_row("i", put("u", {"k": 1}, {"x": 1})))
    clock.advance(SWEEP_PAUSE_SECONDS)
    for _ in range(2):  # a step of the long pass, and all of the short one
        plan = engine.core.housekeeping()
        assert plan is not None
        engine.core.run(plan)
    assert not is_there(engine, "u", 1)
    assert engine.core.sweep.reclaimed.passes == 1


def test_a_cell_that_could_expire_sooner_makes_a_pass_due(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    """`max_version_offset` lowered, or a time to live where there was none (semantics §1.6)."""
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER})))
    now_ms = clock.now_us() // 1000
    engine.core.run(
        engine.rows.write_row("i", put("t", {"k": 1}, {"x": [(now_ms - 80_000_000, 1)]}))
    )
    change(engine, max_version_offset=1)
    assert clean(engine) == 0  # nothing of the table can expire
    change(engine, time_to_live=3600)
    clean(engine)
    assert records(store) == 0
    change(engine, max_version_offset=86_400)
    clean(engine)
    clock.advance(60)
    fill(engine, 5)
    change(engine, max_version_offset=10)
    passes = engine.core.sweep.reclaimed.passes
    clean(engine)
    assert engine.core.sweep.reclaimed.passes == passes + 1


def change(
    engine: TablestoreEngine, time_to_live: int | None = None, max_version_offset: int | None = None
) -> None:
    options = OptionsChange(time_to_live=time_to_live, max_version_offset=max_version_offset)
    engine.core.run(engine.update_table("i", UpdateTable("t", options=options)))


def is_there(engine: TablestoreEngine, table: str, key: int) -> bool:
    return bool(engine.rows.get_row("i", get(table, {"k": key})).row)


def test_part_of_a_row_expires(engine: TablestoreEngine, store: Store, clock: FakeClock) -> None:
    engine.core.run(
        engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=1000))
    )
    engine.core.run(engine.rows.write_row("i", put("t", {"k": 1}, {"old": 1})))
    engine.core.run(
        engine.rows.write_row("i", put("t", {"k": 2}, {f"c{n:04}": n for n in range(900)}))
    )
    clock.advance(600)
    for key in (1, 2):
        engine.core.run(engine.rows.write_row("i", update("t", {"k": key}, put_cells({"new": 2}))))
    clock.advance(600)
    clean(engine)
    assert engine.core.sweep.reclaimed.rows_trimmed == 2
    assert engine.core.sweep.reclaimed.cells_removed == 901
    for key in (1, 2):
        row = decode_row(engine.rows.get_row("i", get("t", {"k": key})).row)
        assert row is not None
        assert list(row[1]) == ["new"]
    assert check_store(store) == []


def test_surplus_versions_go_after_the_option_was_lowered(
    engine: TablestoreEngine, store: Store
) -> None:
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER}, max_versions=5)))
    now = 1_468_944_000_000
    engine.core.run(
        engine.rows.write_row("i", put("t", {"k": 1}, {"x": [(now + n, n) for n in range(5)]}))
    )
    assert engine.core.housekeeping() is None  # nothing of this table can expire
    lower = UpdateTable("t", options=OptionsChange(max_versions=2))
    engine.core.run(engine.update_table("i", lower))
    again = open_tablestore(store, FakeClock(), FakeEntropy())  # a restart does not forget
    clean(again)
    assert again.core.sweep.reclaimed.cells_removed == 3
    assert not again.describe_table("i", "t").untrimmed
    raised = UpdateTable("t", options=OptionsChange(max_versions=5))
    again.core.run(again.update_table("i", raised))
    row = decode_row(again.rows.get_row("i", get("t", {"k": 1})).row)
    assert row is not None
    assert [value for _, value in row[1]["x"]] == [4, 3]
    assert clean(again) == 0


def test_rows_without_attributes_stay(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=10)))
    engine.core.run(engine.rows.write_row("i", put("t", {"k": 1}, {})))
    clock.advance(SWEEP_PAUSE_SECONDS)
    clean(engine)
    assert engine.core.sweep.reclaimed.passes == 1
    assert records(store) == 1


@pytest.mark.parametrize("what", ["row changed", "row deleted", "table dropped"])
def test_a_step_undoes_nothing_that_came_between(
    engine: TablestoreEngine, store: Store, clock: FakeClock, what: str
) -> None:
    engine.core.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=10)))
    engine.core.run(engine.rows.write_row("i", put("t", {"k": 1}, {"x": 1})))
    clock.advance(SWEEP_PAUSE_SECONDS)
    plan = engine.core.housekeeping()
    assert plan is not None
    if what == "row changed":
        engine.core.run(engine.rows.write_row("i", put("t", {"k": 1}, {"x": 2})))
    elif what == "row deleted":
        engine.core.run(engine.rows.write_row("i", delete("t", {"k": 1})))
    else:
        engine.core.run(engine.delete_table("i", "t"))
    engine.core.run(plan)
    if what == "row changed":
        row = decode_row(engine.rows.get_row("i", get("t", {"k": 1})).row)
        assert row is not None
    assert engine.core.sweep.reclaimed.rows_removed == 0
    assert check_store(store) == []


def test_what_is_removed_at_once_does_not_wait_for_what_is_looked_for(
    engine: TablestoreEngine,
) -> None:
    """Entries of a dropped local index lie among those of its table's other ones (change §A7)."""
    asked = replace(
        create("t", {"k": KeyType.INTEGER}),
        defined_columns=(DefinedColumn("x", ColumnType.INTEGER),),
        indexes=(IndexDefinition("l", ("k", "x"), (), 1, 1),),
    )
    engine.core.run(engine.create_table("i", asked))
    fill(engine, 4 * SWEEP_STEP_RECORDS)
    engine.core.run(engine.indexes.drop("i", DropIndex("t", "l")))
    for _ in range(3):
        engine.core.run(engine.create_table("i", create("passing", {"k": KeyType.INTEGER})))
        engine.core.run(engine.delete_table("i", "passing"))
    for _ in range(2):
        plan = engine.core.sweep.clear()
        assert plan is not None
        engine.core.run(plan)
    assert engine.core.sweep.reclaimed.tables_dropped == 3
    assert len(engine.core.catalog.leftovers()) == 1
    clean(engine)
    assert engine.core.catalog.leftovers() == []


def test_a_dropped_table_that_is_away_holds_up_no_other(
    clock: FakeClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("widerow.storage.remote.optimistic.HOME_SECONDS_MAX", 0.01)
    monkeypatch.setattr("widerow.engine.sweep.sweep.CLEAR_STEP_NOTES", 1)
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1), placed=True)
    engine = open_tablestore(remote_store(driver), clock, FakeEntropy(2))
    for name in ("away", "here"):
        engine.core.run(engine.create_table("i", create(name, {"k": KeyType.INTEGER})))
        driver.space.ranges.split(row_prefix(engine.describe_table("i", name).id))
    driver.away.add(row_prefix(engine.describe_table("i", "away").id))
    for name in ("away", "here"):
        engine.core.run(engine.delete_table("i", name))
    clock.advance(TRANSACTION_SECONDS_MAX + 1)
    for _ in range(2):
        plan = engine.core.sweep.clear()
        assert plan is not None
        with suppress(StoreBusy):
            engine.core.run(plan)
    assert [each.key.count(b"i") for each in engine.core.catalog.leftovers()] == [1]
    assert engine.core.sweep.reclaimed.tables_dropped == 1


@pytest.mark.parametrize("is_away", [False, True])
def test_the_pass_over_one_table_holds_up_no_other(clock: FakeClock, *, is_away: bool) -> None:
    """Over a large table, and over one that cannot be read."""
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1), placed=True)
    engine = open_tablestore(remote_store(driver), clock, FakeEntropy(2))
    for name, rows in (("t", 4 * SWEEP_STEP_RECORDS), ("small", 3)):
        asked = create(name, {"k": KeyType.INTEGER}, time_to_live=1000, allow_update=False)
        engine.core.run(engine.create_table("i", asked))
        driver.space.ranges.split(row_prefix(engine.describe_table("i", name).id))
        if name == "t":
            fill(engine, rows)
        else:
            for key in range(rows):
                engine.core.run(engine.rows.write_row("i", put(name, {"k": key}, {"x": key})))
    clock.advance(1000 + SWEEP_PAUSE_SECONDS)
    engine.core.run(engine.core.lease.plan() or NOTHING)
    if is_away:
        driver.away.add(row_prefix(engine.describe_table("i", "t").id))
    for _ in range(4):
        with suppress(StoreBusy):
            engine.core.run(engine.core.sweep.step() or NOTHING)
    small = row_prefix(engine.describe_table("i", "small").id)
    assert list(engine.core.store.snapshot().scan(small, after_prefix(small))) == []
    assert engine.core.sweep.reclaimed.rows_removed <= 2 * SWEEP_STEP_RECORDS + 3
