"""Entries of global indexes follow their rows, whatever other rows, tables and clients do.

Over stores whose transactions reach one shard (change §A10, 7): what a row, a table or a part of
the store that is away can do to the indexes of others.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from time import monotonic

import pytest
from tests.support.answers import decode_answer_rows
from tests.support.changes import create, put, put_cells, scan_all, update
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.strict import StrictSpace, StrictStore

from widerow.engine import entry_applier as applier
from widerow.engine.check import check_store
from widerow.engine.ends import end_of, outcomes_of
from widerow.engine.entry_applier import ATTEMPTS, STEP_ENTRIES
from widerow.engine.plan import Plan, failing
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import StoreBusy
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_INTENTS, intent_prefix, row_prefix
from widerow.limits import WHOLE_ROW_CELLS_MAX
from widerow.model.tablestore.requests import (
    BatchWrite,
    CreateIndex,
    DropIndex,
    IndexDefinition,
    StreamChange,
    TableWrite,
)
from widerow.model.tablestore.schema import DefinedColumn
from widerow.model.values import ColumnType, KeyInput, KeyMarker, KeyType
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

BY_S = IndexDefinition("by_s", ("s",), ())
TABLES = (("one", "a"), ("one", "b"), ("two", "a"))
NOTHING: Plan[None] = Plan((), failing)


def make(engine: TablestoreEngine, instance: str, name: str, *indexes: IndexDefinition) -> None:
    asked = replace(
        create(name, {"k": KeyType.INTEGER}),
        defined_columns=(
            DefinedColumn("s", ColumnType.STRING),
            DefinedColumn("c", ColumnType.STRING),
        ),
        indexes=tuple(indexes),
    )
    engine.core.run(engine.create_table(instance, asked))


def write(engine: TablestoreEngine, at: tuple[str, str], key: int, value: str) -> None:
    change = put(at[1], {"k": key}, {"s": value})
    engine.core.run(engine.rows.write_row(at[0], change))


def fill(engine: TablestoreEngine, at: tuple[str, str], keys: range) -> None:
    for first in range(0, len(keys), 200):
        batch = keys[first : first + 200]
        changes = tuple(put(at[1], {"k": key}, {"s": f"v{key}"}) for key in batch)
        engine.core.run(
            engine.rows.batch_write_row(at[0], BatchWrite((TableWrite(at[1], changes),)))
        )


def entries(
    engine: TablestoreEngine, at: tuple[str, str], index: str = "by_s"
) -> list[tuple[str, int]]:
    names = f"{index}_{at[1]}" if index == "by_s" else index
    bounds: list[dict[str, KeyInput]] = [
        {"s": end, "k": end} for end in (KeyMarker.INF_MIN, KeyMarker.INF_MAX)
    ]
    page = engine.rows.get_range(at[0], scan_all(names, *bounds))
    return [(str(key["s"]), int(str(key["k"]))) for key, _ in decode_answer_rows(page.rows)]


def intents(store: Store, space: bytes = SPACE_INTENTS) -> list[bytes]:
    return [key for key, _ in store.snapshot().scan(space, after_prefix(space))]


def steps(engine: TablestoreEngine, most: int = 50) -> int:
    """Steps of the applier until it has nothing to do; `most` at the most."""
    for count in range(most):
        plan = engine.indexes.intents.step()
        if plan is None:
            return count
        with suppress(StoreBusy):  # of a plan that is about nothing but what is away
            engine.core.run(plan)
    return most


class World:
    """Two processes over a space: the first works off intents, the second writes."""

    def __init__(self) -> None:
        space = StrictSpace()
        self.clock = FakeClock()
        self.store = StrictStore(space, FakeEntropy(1))
        self.engine = open_tablestore(self.store, self.clock, FakeEntropy(2))
        self.other = open_tablestore(StrictStore(space, FakeEntropy(3)), self.clock, FakeEntropy(4))
        for instance, name in TABLES:
            make(self.engine, instance, name, replace(BY_S, name=f"by_s_{name}"))
        self._turn = 0
        self._hot: tuple[tuple[str, str], int] | None = None

    def heat(self, at: tuple[str, str], key: int) -> None:
        """From now on the other process changes this row, between every tenth body and its commit.

        A step writes hundreds of entries, so that is several hundred times a second.
        """
        self._hot = at, key
        self.store.before_commit = self._change

    def _change(self) -> None:
        self._turn += 1
        if self._hot is not None and self._turn % 10 == 0:
            (instance, name), key = self._hot
            cells = put_cells({"s": f"hot{self._turn}"})
            self.other.core.run(
                self.other.rows.write_row(instance, update(name, {"k": key}, cells))
            )

    def cool(self) -> None:
        self._hot = None


@pytest.fixture
def world() -> Iterator[World]:
    made = World()
    yield made
    made.cool()
    made.clock.advance(1)
    assert steps(made.engine) < 50
    assert check_store(made.store) == []


# --- a row that is written all the time ----------------------------------------------------------


def test_a_hot_row_keeps_no_entry_of_other_rows_waiting(world: World) -> None:
    """650 entries of rows of three tables of two instances, beside a row that is always written."""
    hot = TABLES[0]
    for turn in range(STEP_ENTRIES):
        write(world.other, hot, 0, f"hot{turn}")
    world.heat(hot, 0)
    for at, keys in zip(TABLES, (range(1, 251), range(200), range(200)), strict=True):
        fill(world.other, at, keys)
    for _ in range(6):  # a step takes about a tenth of a second
        plan = world.engine.indexes.intents.step()
        assert plan is not None
        world.engine.core.run(plan)
    found = [[key for _, key in entries(world.engine, at) if key or at != hot] for at in TABLES]
    assert [len(each) for each in found] == [250, 200, 200]


def test_the_entry_of_a_hot_row_follows_while_it_is_written(world: World) -> None:
    hot = TABLES[0]
    write(world.other, hot, 0, "first")
    world.heat(hot, 0)
    fill(world.other, hot, range(1, 30))
    for _ in range(3):
        world.engine.core.run(world.engine.indexes.intents.step() or NOTHING)
    assert {value[:3] for value, key in entries(world.engine, hot) if not key} == {"hot"}


def test_a_wide_row_that_changed_is_tried_again_and_holds_up_no_other(world: World) -> None:
    """A body of another shard cannot read its segments (storage contract, rule 12)."""
    at = TABLES[0]
    for value in ("one", "two", "three"):
        write_wide(world, at, 0, value)
        fill(world.other, at, range(1, 20))
        world.engine.core.run(world.engine.indexes.intents.step() or NOTHING)
        assert (value, 0) in entries(world.engine, at)
        assert len(entries(world.engine, at)) == 20


def test_a_wide_row_that_changes_at_every_attempt_is_left_to_the_next_round(world: World) -> None:
    at = TABLES[0]
    write_wide(world, at, 0, "first")
    fill(world.other, at, range(1, 20))
    plan: Plan[None] | None = world.engine.indexes.intents.step()
    attempts = 0
    while isinstance(plan, Plan):
        write_wide(world, at, 0, f"later{attempts}")  # between a plan and its bodies
        plan, error = end_of(plan, outcomes_of(plan, world.store.transact_group))
        assert error is None
        attempts += 1
    assert attempts == ATTEMPTS
    assert [key for _, key in entries(world.engine, at)] == sorted(range(1, 20), key=str)
    assert steps(world.engine) < 5
    assert (f"later{attempts - 1}", 0) in entries(world.engine, at)


def write_wide(world: World, at: tuple[str, str], key: int, value: str) -> None:
    columns = {f"c{n:04}": n for n in range(WHOLE_ROW_CELLS_MAX - 10)}
    for half in (columns, {f"d{n}": n for n in range(20)}):
        cells = put_cells({"s": value, **half})
        world.other.core.run(world.other.rows.write_row(at[0], update(at[1], {"k": key}, cells)))


# --- tables that have more than others -----------------------------------------------------------


def test_a_flood_of_one_table_costs_the_others_one_step_of_it(world: World) -> None:
    flooded, calm, far = TABLES
    fill(world.other, flooded, range(3 * STEP_ENTRIES))
    for at in (calm, far):
        write(world.other, at, 1, "calm")
    for _ in range(2):
        world.engine.core.run(world.engine.indexes.intents.step() or NOTHING)
    assert [entries(world.engine, at) for at in (calm, far)] == [[("calm", 1)]] * 2
    assert len(intents(world.store)) > STEP_ENTRIES


def test_tables_that_all_have_too_much_share_each_step(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    most, least = 64, 4  # the bounds of a step, scaled down
    monkeypatch.setattr(applier, "STEP_ENTRIES", most)
    monkeypatch.setattr(applier, "TABLE_ENTRIES_MIN", least)
    ids = [world.engine.describe_table(*at).id for at in TABLES]
    for at in TABLES:
        fill(world.other, at, range(2 * most))
    for _ in range(len(TABLES)):  # who has more than a step takes is not known before
        world.engine.core.run(world.engine.indexes.intents.step() or NOTHING)
    before = [len(intents(world.store, intent_prefix(number))) for number in ids]
    world.engine.core.run(world.engine.indexes.intents.step() or NOTHING)
    after = [len(intents(world.store, intent_prefix(number))) for number in ids]
    worked_off = [one - other for one, other in zip(before, after, strict=True)]
    assert min(worked_off) >= least
    assert sum(worked_off) <= most


def test_a_key_that_is_always_written_is_met_once_in_a_round(world: World) -> None:
    """More than a step takes, under the first key of the table, all the time."""
    at = TABLES[0]
    fill(world.other, at, range(1, 30))
    for _ in range(2):
        for turn in range(STEP_ENTRIES):
            write(world.other, at, 0, f"hot{turn}")
        world.engine.core.run(world.engine.indexes.intents.step() or NOTHING)
    assert len([each for each in entries(world.engine, at) if each[1]]) == 29


def test_changes_of_streams_are_passed_in_bounded_steps(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They lie among the intents of indexes, and nobody has moved them yet."""
    monkeypatch.setattr(applier, "STEP_RECORDS", 16)
    streamed, calm = ("one", "aa"), TABLES[0]
    asked = replace(create("aa", {"k": KeyType.INTEGER}), stream=StreamChange(enable=True))
    world.engine.core.run(world.engine.create_table("one", asked))
    fill(world.other, streamed, range(100))
    late = ("one", "z")
    make(world.engine, "one", "z", replace(BY_S, name="by_s_z"))
    for at in (calm, late):
        write(world.other, at, 1, "calm")
    assert 100 // 16 < steps(world.engine) < 20
    assert [entries(world.engine, at) for at in (calm, late)] == [[("calm", 1)]] * 2
    assert len(intents(world.store)) == 100


# --- what is dropped, unknown or away ------------------------------------------------------------


def test_intents_of_dropped_indexes_are_removed_and_hold_up_nobody(world: World) -> None:
    """change §A7: also where a step has no entry to write."""
    first, other, _ = TABLES
    fill(world.other, first, range(STEP_ENTRIES + 1))
    world.engine.core.run(world.engine.indexes.drop(first[0], DropIndex(first[1], "by_s_a")))
    write(world.other, other, 1, "calm")
    assert steps(world.engine) < 10
    assert entries(world.engine, other) == [("calm", 1)]
    assert intents(world.store) == []


def test_entries_of_an_index_that_this_process_has_not_heard_of_are_not_forgotten(
    world: World,
) -> None:
    """It goes by a catalogue that it has read a moment ago; the index was made since."""
    at = TABLES[0]
    world.engine.core.run(world.engine.core.nodes.beat() or NOTHING)
    world.engine.core.nodes.look()
    index = CreateIndex(at[1], IndexDefinition("later", ("c",), ()), include_base_data=False)
    world.other.core.run(world.other.indexes.create(at[0], index))
    world.other.core.run(world.other.rows.write_row(at[0], put(at[1], {"k": 1}, {"c": "x"})))
    assert len(world.engine.tables.find(*at).indexes) == 1
    assert steps(world.engine) < 10
    world.engine.core.nodes.read_lease.end()
    table = world.engine.tables.find(*at)
    later = next(each.id for each in table.indexes if each.name == "later")
    prefix = row_prefix(later)
    assert len(list(world.store.snapshot().scan(prefix, after_prefix(prefix)))) == 1


class Apart:
    """An engine over a database in memory whose ranges may be away, each by itself."""

    def __init__(self) -> None:
        self.driver = MemoryDriver(RemoteSpace(), FakeEntropy(1), placed=True)
        self.store = remote_store(self.driver)
        self.clock = FakeClock()
        self.engine = open_tablestore(self.store, self.clock, FakeEntropy(2))
        for instance, name in TABLES:
            make(self.engine, instance, name, replace(BY_S, name=f"by_s_{name}"))
        for at in TABLES:
            for name in (at[1], f"by_s_{at[1]}"):
                prefix = row_prefix(self.engine.describe_table(at[0], name).id)
                self.driver.space.ranges.split(prefix)

    def range_of(self, instance: str, name: str) -> bytes:
        return row_prefix(self.engine.describe_table(instance, name).id)


@pytest.mark.parametrize("name", ["a", "by_s_a"])
def test_a_table_or_an_index_that_is_away_holds_up_no_other(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its rows and intents cannot be read, or its entries not be written."""
    monkeypatch.setattr("widerow.storage.remote.optimistic.HOME_SECONDS_MAX", 0.01)
    world = Apart()
    for at in TABLES:
        fill(world.engine, at, range(20))
    world.driver.away.add(world.range_of("one", name))
    steps(world.engine, most=5)
    assert [len(entries(world.engine, at)) for at in TABLES[1:]] == [20, 20]
    others = [world.engine.describe_table(*at).id for at in TABLES[1:]]
    assert [intents(world.store, intent_prefix(number)) for number in others] == [[], []]
    world.driver.away.clear()
    assert comes_back(world, TABLES[0])
    assert check_store(world.store) == []


def comes_back(world: Apart, at: tuple[str, str]) -> bool:
    """Whether entries follow; a part that was away is probed beside the groups."""
    end = monotonic() + 5
    while len(entries(world.engine, at)) < 20:
        steps(world.engine)
        if monotonic() > end:
            return False
    return True
