"""Giving space back in small steps (semantics §1.5, §1.6, §8)."""

import pytest

from widerow.engine.check import check_store
from widerow.engine.engine import Engine
from widerow.engine.sweep import PASS_SECONDS, STEP_RECORDS
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_ROWS
from widerow.model.requests import BatchWrite, OptionsChange, TableWrite, UpdateTable
from widerow.model.values import KeyType
from widerow.storage.interface import Store
from widerow.testing.answers import decode_row
from widerow.testing.changes import create, delete, get, put, put_cells, update
from widerow.testing.clock import FakeClock, FakeEntropy


def fill(engine: Engine, count: int) -> None:
    for start in range(0, count, 200):
        changes = tuple(put("t", {"k": n}, {"x": n}) for n in range(start, min(start + 200, count)))
        engine.run(engine.batch_write_row("i", BatchWrite((TableWrite("t", changes),))))


def records(store: Store) -> int:
    return len(list(store.snapshot().scan(SPACE_ROWS, after_prefix(SPACE_ROWS))))


def clean(engine: Engine) -> int:
    """Every step there is to do now; how many."""
    steps = 0
    while (plan := engine.housekeeping()) is not None:
        engine.run(plan)
        steps += 1
    return steps


def test_expired_rows_go_in_bounded_steps(engine: Engine, store: Store, clock: FakeClock) -> None:
    engine.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=100)))
    fill(engine, 1200)
    clock.advance(50)
    engine.run(engine.write_row("i", put("t", {"k": 7}, {"x": "fresh"})))
    assert clean(engine) == 1 + 1200 // STEP_RECORDS
    assert records(store) == 1200
    clock.advance(50)
    assert engine.housekeeping() is None  # the table rests between two passes
    clock.advance(PASS_SECONDS)
    engine.run(engine.write_row("i", put("t", {"k": 7}, {"x": "fresh"})))
    clean(engine)
    assert records(store) == 1
    assert engine.sweep.reclaimed.rows_removed == 1199
    assert engine.sweep.reclaimed.bytes_reclaimed > 0
    assert engine.sweep.reclaimed.passes == 2
    assert check_store(store) == []


def test_part_of_a_row_expires(engine: Engine, store: Store, clock: FakeClock) -> None:
    engine.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=100)))
    engine.run(engine.write_row("i", put("t", {"k": 1}, {"old": 1})))
    engine.run(engine.write_row("i", put("t", {"k": 2}, {f"c{n:04}": n for n in range(900)})))
    clock.advance(60)
    for key in (1, 2):
        engine.run(engine.write_row("i", update("t", {"k": key}, put_cells({"new": 2}))))
    clock.advance(60)
    clean(engine)
    assert engine.sweep.reclaimed.rows_trimmed == 2
    assert engine.sweep.reclaimed.cells_removed == 901
    for key in (1, 2):
        row = decode_row(engine.get_row("i", get("t", {"k": key})).row)
        assert row is not None
        assert list(row[1]) == ["new"]
    assert check_store(store) == []


def test_surplus_versions_go_after_the_option_was_lowered(engine: Engine, store: Store) -> None:
    engine.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER}, max_versions=5)))
    now = 1_468_944_000_000
    engine.run(engine.write_row("i", put("t", {"k": 1}, {"x": [(now + n, n) for n in range(5)]})))
    assert engine.housekeeping() is None  # nothing of this table can expire
    lower = UpdateTable("t", options=OptionsChange(max_versions=2))
    engine.run(engine.update_table("i", lower))
    again = Engine(store, FakeClock(), FakeEntropy())  # a restart does not forget
    clean(again)
    assert again.sweep.reclaimed.cells_removed == 3
    assert not again.describe_table("i", "t").untrimmed
    raised = UpdateTable("t", options=OptionsChange(max_versions=5))
    again.run(again.update_table("i", raised))
    row = decode_row(again.get_row("i", get("t", {"k": 1})).row)
    assert row is not None
    assert [value for _, value in row[1]["x"]] == [4, 3]
    assert clean(again) == 0


def test_rows_without_attributes_stay(engine: Engine, store: Store, clock: FakeClock) -> None:
    engine.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=10)))
    engine.run(engine.write_row("i", put("t", {"k": 1}, {})))
    clock.advance(100)
    clean(engine)
    assert records(store) == 1


@pytest.mark.parametrize("what", ["row changed", "row deleted", "table dropped"])
def test_a_step_undoes_nothing_that_came_between(
    engine: Engine, store: Store, clock: FakeClock, what: str
) -> None:
    engine.run(engine.create_table("i", create("t", {"k": KeyType.INTEGER}, time_to_live=10)))
    engine.run(engine.write_row("i", put("t", {"k": 1}, {"x": 1})))
    clock.advance(10)
    plan = engine.housekeeping()
    assert plan is not None
    if what == "row changed":
        engine.run(engine.write_row("i", put("t", {"k": 1}, {"x": 2})))
    elif what == "row deleted":
        engine.run(engine.write_row("i", delete("t", {"k": 1})))
    else:
        engine.run(engine.delete_table("i", "t"))
    engine.run(plan)
    if what == "row changed":
        row = decode_row(engine.get_row("i", get("t", {"k": 1})).row)
        assert row is not None
    assert engine.sweep.reclaimed.rows_removed == 0
    assert check_store(store) == []
