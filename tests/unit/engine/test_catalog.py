"""The catalogue of all table models: one state, changed by check-and-set (engine/catalog)."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar

import pytest
from tests.support.changes import create, put
from tests.support.engines import open_tablestore

from widerow.engine.catalog.catalog import Catalog, Tables
from widerow.engine.catalog.draft import Draft
from widerow.engine.catalog.model import CatalogModel, Namespace
from widerow.engine.catalog.state import Leftover
from widerow.engine.check import check_store
from widerow.engine.engine import catalog_models
from widerow.engine.partitions.partitioned_tables import Bounds, Partitioned, PartitionKey
from widerow.engine.plan import Plan
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.index_build import begin_index, build_step, drop_index, finish_index
from widerow.engine.typed.plug import TYPED
from widerow.errors import Conflict, InvalidRequest, NotFound, Rule
from widerow.keys.layout import SPACE_INDEXES, SPACE_ROWS, SPACE_SEQUENCES, SPACE_STATISTICS
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.requests import OperationKind, WriteChoice
from widerow.model.typed.table import Index, IndexField
from widerow.model.typed.types import INTEGER, STRING, Identity
from widerow.model.values import KeyType
from widerow.storage.interface import Outcome, Store, Write
from widerow.storage.memory import MemoryStore
from widerow.testing.clock import FakeClock, FakeEntropy

T = TypeVar("T")

TABLE = create("t", {"k": KeyType.STRING})
INDEX = Index("by_name", (IndexField("name"),))
PUT = OperationKind.PUT


def people(engine: TablestoreEngine, name: str = "people") -> TableForm:
    builder = TableBuilder(name).add_field("id", INTEGER).add_field("name", STRING)
    engine.core.run(engine.core.operations(TYPED).create_table(builder.primary_key("id").build()))
    return engine.core.operations(TYPED).tables.find_qualified(name)


def index(engine: TablestoreEngine, form: TableForm) -> None:
    """Create an index and fill it."""
    typed = engine.core.operations(TYPED)
    engine.core.run(begin_index(typed, form, INDEX))
    start: bytes | None = b""
    while start is not None:
        step = build_step(typed, typed.tables.current(form), "by_name", start)
        engine.core.run(step.plan)
        start = step.following
    engine.core.run(finish_index(typed, form, "by_name"))


def fill(engine: TablestoreEngine, form: TableForm, rows: int = 3) -> None:
    for number in range(rows):
        row = {"id": number, "name": f"n{number}"}
        engine.core.run(
            engine.core.operations(TYPED).write(
                engine.core.operations(TYPED).tables.current(form), WriteChoice(PUT, row)
            )
        )


def clean(engine: TablestoreEngine) -> None:
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)


def bytes_of_tables(store: Store) -> list[bytes]:
    spaces = (SPACE_ROWS, SPACE_SEQUENCES, SPACE_INDEXES, SPACE_STATISTICS)
    found = store.snapshot().scan(b"", b"\xff" * 8)
    return [key for key, _ in found if key[:1] in spaces]


# --- what is checked in planning is checked again in the body -------------------------------------


def test_a_drop_planned_before_an_index_leaves_nothing(
    engine: TablestoreEngine, store: Store
) -> None:
    """What a drop leaves is worked out when it runs, so the new index is in it."""
    form = people(engine)
    fill(engine, form)
    drop = engine.core.operations(TYPED).drop_table(form)
    index(engine, form)
    fill(engine, form)
    engine.core.run(drop)
    clean(engine)
    assert bytes_of_tables(store) == []
    assert check_store(store) == []


def test_an_index_of_a_table_that_is_dropped_meanwhile_is_refused(engine: TablestoreEngine) -> None:
    """The same race, the other way round."""
    form = people(engine)
    begin = begin_index(engine.core.operations(TYPED), form, INDEX)
    engine.core.run(engine.core.operations(TYPED).drop_table(form))
    with pytest.raises(NotFound):
        engine.core.run(begin)


def test_two_creations_planned_together_make_one_table(engine: TablestoreEngine) -> None:
    """The second body sees the first one's table."""
    first, second = engine.create_table("i", TABLE), engine.create_table("i", TABLE)
    engine.core.run(first)
    with pytest.raises(Conflict):
        engine.core.run(second)


def test_a_parent_that_gets_a_child_is_not_dropped(engine: TablestoreEngine) -> None:
    """The drop was planned when there was none."""
    form = people(engine)
    drop = engine.core.operations(TYPED).drop_table(form)
    child = TableBuilder("pets", parent=form.table).add_field("pet", STRING)
    engine.core.run(engine.core.operations(TYPED).create_table(child.primary_key("pet").build()))
    with pytest.raises(InvalidRequest):
        engine.core.run(drop)


def test_a_change_goes_by_what_its_transaction_reads(store: Store, clock: FakeClock) -> None:
    """Not by the state in memory: that of a second engine is older here, and none is overwritten.

    (One process has a store to itself; this shows the check and set of a change alone.)
    """
    one, other = (
        open_tablestore(store, clock, FakeEntropy(1)),
        open_tablestore(store, clock, FakeEntropy(2)),
    )
    one.core.run(one.create_table("i", TABLE))
    with pytest.raises(Conflict):
        other.core.run(other.create_table("i", TABLE))
    other.core.run(other.create_table("i", create("u", {"k": KeyType.STRING})))
    tables = {table.name: table.id for table in other.tables.all()}
    assert tables == {"t": 1, "u": 2}


# --- planning writes nothing ----------------------------------------------------------------------


class _Planning(MemoryStore):
    """A store that takes no writes while something is planned."""

    planning = False

    def transact_group(self, writes: Sequence[Write[T]]) -> list[Outcome[T]]:
        assert not self.planning, "planning waited for a sync"
        return super().transact_group(writes)


def test_planning_writes_nothing(clock: FakeClock) -> None:
    """Numbers of tables and indexes and identity blocks are taken by bodies."""
    store = _Planning()
    engine = open_tablestore(store, clock, FakeEntropy())
    builder = TableBuilder("n").add_field("id", INTEGER, identity=Identity(cache=1))
    numbered = builder.add_field("name", STRING).primary_key("id").build()
    choice = WriteChoice(PUT, {"name": "x"})

    def run(make: Callable[[], Plan[T]]) -> T:
        store.planning = True
        plan = make()
        store.planning = False
        return engine.core.run(plan)

    run(lambda: engine.create_table("i", TABLE))
    run(lambda: engine.rows.write_row("i", put("t", {"k": "a"}, {"x": 1})))
    run(lambda: engine.core.operations(TYPED).create_table(numbered))
    form = engine.core.operations(TYPED).tables.find_qualified("n")
    assert [
        run(lambda: engine.core.operations(TYPED).write(form, choice)).generated for _ in range(3)
    ] == [1, 2, 3]
    run(lambda: begin_index(engine.core.operations(TYPED), form, INDEX))


def test_a_sequence_of_generated_rows_ends_with_blocks_of_one(engine: TablestoreEngine) -> None:
    """Planned again, each step has the value that was made for it before."""
    builder = TableBuilder("s").add_field("g", INTEGER)
    builder.add_field("id", INTEGER, identity=Identity(cache=1))
    builder.primary_key("g", "id").shard_key("g")
    engine.core.run(engine.core.operations(TYPED).create_table(builder.build()))
    form = engine.core.operations(TYPED).tables.find_qualified("s")
    steps = [(form, WriteChoice(PUT, {"g": 1}))] * 5
    results = engine.core.run(engine.core.operations(TYPED).execute(steps))
    assert [result.generated for result in results] == [1, 2, 3, 4, 5]


def test_no_identity_block_is_written_for_a_dropped_table(
    engine: TablestoreEngine, store: Store
) -> None:
    """The block was planned before the drop: its record would stay for ever."""
    builder = TableBuilder("n").add_field("id", INTEGER, identity=Identity())
    engine.core.run(engine.core.operations(TYPED).create_table(builder.primary_key("id").build()))
    form = engine.core.operations(TYPED).tables.find_qualified("n")
    plan = engine.core.operations(TYPED).write(form, WriteChoice(PUT, {}))
    engine.core.run(engine.core.operations(TYPED).drop_table(form))
    clean(engine)
    with pytest.raises(NotFound):
        engine.core.run(plan)
    assert bytes_of_tables(store) == []


# --- readers --------------------------------------------------------------------------------------


def test_a_state_never_changes(engine: TablestoreEngine) -> None:
    """Whoever looks at one while others are made sees what was there, all of it."""
    form = people(engine)
    seen = engine.core.catalog.seen()
    before = (dict(seen.by_name), dict(seen.by_id), dict(seen.leftovers), dict(seen.namespaces))
    engine.core.run(engine.create_table("i", TABLE))
    engine.core.run(engine.core.operations(TYPED).create_namespace("shop"))
    engine.core.run(begin_index(engine.core.operations(TYPED), form, INDEX))
    engine.core.run(drop_index(engine.core.operations(TYPED), form, "by_name"))
    engine.core.run(engine.core.operations(TYPED).drop_table(form))
    assert (seen.by_name, seen.by_id, seen.leftovers, seen.namespaces) == before
    assert engine.core.catalog.seen().epoch == seen.epoch + 5


# --- crashes --------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", range(5))
def test_a_crash_between_drop_and_note_leaves_nothing(
    store: Store, clock: FakeClock, groups: int
) -> None:
    """After any number of groups of housekeeping another process goes on."""
    engine = open_tablestore(store, clock, FakeEntropy())
    engine.core.run(engine.create_table("i", TABLE))
    engine.core.run(engine.rows.write_row("i", put("t", {"k": "a"}, {"x": 1})))
    form = people(engine)
    fill(engine, form)
    index(engine, form)
    engine.core.run(engine.delete_table("i", "t"))
    engine.core.run(engine.core.operations(TYPED).drop_table(form))
    steps = iter(engine.core.housekeeping, None)
    for group in itertools.islice((each for plan in steps for each in plan.groups()), groups):
        assert all(outcome.error is None for outcome in store.transact_group(group))
    again = open_tablestore(store, clock, FakeEntropy(1))
    assert check_store(store) == []
    clean(again)
    assert bytes_of_tables(store) == []
    assert again.core.catalog.leftovers() == []


# --- a third model --------------------------------------------------------------------------------


class _Series(NamedTuple):
    """A table of the model below."""

    id: int
    name: str


class _SeriesModel(CatalogModel[_Series]):
    """The least that a table model is: a record `name`, `id` in four bytes under a space."""

    name = "series"
    space = b"\x04\xfe"  # in the shard of the catalogue
    kind = _Series

    def name_of(self, table: _Series) -> tuple[str, str]:
        return "", table.name

    def record_of(self, table: _Series) -> tuple[bytes, bytes]:
        return self.space + table.name.encode(), table.id.to_bytes(4, "big")

    def read(self, key: bytes, record: bytes) -> _Series | Leftover | Namespace:
        name = key[len(self.space) :].decode()
        if name.startswith("-"):
            return Leftover(int(name[1:]), key, (record,))
        return _Series(int.from_bytes(record, "big"), name)

    def leftover_of(self, table: _Series, due_us: int) -> Leftover:
        return Leftover(table.id, self.space + b"-%d" % table.id, (b"\x10",), 0, due_us)

    def missing(self, owner: str, name: str) -> NotFound:
        return NotFound(Rule.TABLE_NOT_FOUND, instance=owner, table=name)

    def gone(self, table: _Series) -> NotFound:
        return self.missing("", table.name)

    def partitioned(self, _: _Series) -> Partitioned | None:
        return None

    def with_bounds(self, table: _Series, _: Bounds) -> _Series:
        return table

    def partition_key(self, _: _Series) -> PartitionKey:
        raise NotImplementedError


SERIES = _SeriesModel()


@pytest.fixture
def empty() -> Iterator[Store]:
    with MemoryStore() as opened:
        yield opened


def test_another_model_is_a_value_in_the_list(empty: Store) -> None:
    """Tables, numbers, drops and notes of a model that the catalogue has never heard of."""
    models = {**catalog_models(TABLE_MODELS[:1]), SERIES.space: lambda: SERIES}
    tables = Tables(Catalog(empty, models), SERIES)

    def make(draft: Draft) -> _Series:
        return _Series(draft.number(), "cpu")

    def run(write: Write[Any]) -> Any:  # noqa: ANN401  # whatever the write answers
        outcome = empty.transact_group([write])[0]
        if outcome.error is not None:
            raise outcome.error
        return outcome.result

    made = run(tables.create(make))
    assert made == _Series(1, "cpu")
    again = Tables(Catalog(empty, models), SERIES)
    assert again.find("", "cpu") == again.current(made) == made
    run(tables.drop(made))
    assert tables.get("", "cpu") is None
    with pytest.raises(NotFound):
        tables.current(made)
    assert [leftover.id for leftover in tables.leftovers()] == [1]
    assert Tables(Catalog(empty, models), SERIES).leftovers()[0].id == 1
