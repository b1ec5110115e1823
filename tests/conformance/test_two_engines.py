"""Two engines over one store that both may change: what one does, the other sees.

A store of several processes gives snapshots and transactions of one shard each; its bodies run
again after conflicts, and outcomes may stay unknown (storage/interface.py, "What others change").
The engine promises the same as over a store of its own: a table that was created or changed by one
process is that to all from the answer on, a write that was planned before a drop is refused or
planned again, and what was dropped leaves nothing behind.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    precondition,
    rule,
)
from tests import hbase
from tests.postgres import fresh_url
from tests.support.answers import decode_row
from tests.support.changes import create, get, put
from tests.support.engines import open_tablestore
from tests.support.remote import MemoryDriver, RemoteSpace, Weather, remote_store
from tests.support.strict import StrictSpace, StrictStore
from tests.support.volume import examples

from widerow.engine.catalog.partitioned import CatalogPartitions
from widerow.engine.check import check_store
from widerow.engine.plan import Plan, single
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.plug import TYPED
from widerow.errors import Conflict, NotFound, OutcomeUnknown
from widerow.keys.encode import encode_key_value
from widerow.keys.layout import SPACE_INDEXES, SPACE_ROWS, SPACE_SEQUENCES, SPACE_STATISTICS
from widerow.limits import LEASE_SECONDS, TRANSACTION_SECONDS_MAX
from widerow.model.tablestore.requests import BatchWrite, OptionsChange, TableWrite, UpdateTable
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.requests import OperationKind, WriteChoice
from widerow.model.typed.types import LONG, STRING, Identity
from widerow.model.values import KeyType
from widerow.storage.hbase.opening import open_driver
from widerow.storage.interface import Store
from widerow.storage.postgres.driver import PostgresDriver
from widerow.storage.postgres.opening import make_table
from widerow.storage.remote.driver import Driver, ShardChange
from widerow.storage.remote.optimistic import OptimisticStore
from widerow.testing.clock import FakeClock, FakeEntropy

T = TypeVar("T")

KEY = {"k": KeyType.STRING}
PUT = OperationKind.PUT
TABLES = st.sampled_from(["t", "u"])
KEYS = st.sampled_from(["a", "b", "c"])
ENGINES = st.integers(0, 1)


class World(NamedTuple):
    """One shared store, a clock, and engines as two processes have them.

    `before_commit(n, action)`: the n-th process does `action` between a body and its commit, once.
    """

    stores: list[Store]
    clock: FakeClock
    engines: list[TablestoreEngine]
    before_commit: Callable[[int, Callable[[], object]], None]


def once(owner: "StrictStore | MemoryDriver | Hooked", action: Callable[[], object]) -> None:
    def run() -> None:
        owner.before_commit = None
        action()

    owner.before_commit = run


def strict(seed: int, conflicts: float, unknown: float) -> World:
    space = StrictSpace()
    stores = [
        StrictStore(space, FakeEntropy(2 * seed + n), conflicts=conflicts, unknown=unknown)
        for n in range(2)
    ]
    return engines_of(stores, stores)


def over_drivers(seed: int, conflicts: float, unknown: float) -> World:
    weather = Weather(refused=conflicts, busy=conflicts / 2, unknown=unknown, cut=conflicts)
    space = RemoteSpace()
    drivers = [MemoryDriver(space, FakeEntropy(2 * seed + n), weather) for n in range(2)]
    return engines_of(
        [remote_store(driver, 2 * seed + n) for n, driver in enumerate(drivers)], drivers
    )


def engines_of(
    stores: Sequence[Store], owners: "Sequence[StrictStore | MemoryDriver | Hooked]"
) -> World:
    clock = FakeClock()
    engines = [open_tablestore(store, clock, FakeEntropy(n)) for n, store in enumerate(stores)]
    return World(list(stores), clock, engines, lambda number, action: once(owners[number], action))


class Hooked:
    """A driver of a database, some of whose commits are left without an answer."""

    def __init__(self, driver: Driver, entropy: FakeEntropy, unknown: float) -> None:
        self.capabilities = driver.capabilities
        self.placement = driver.placement
        self.before_commit: Callable[[], None] | None = None
        self.view, self.home = driver.view, driver.home
        self.read_many, self.read_page = driver.read_many, driver.read_page
        self.read_pages, self.loop_reads = driver.read_pages, driver.loop_reads
        self.statistics, self.close = driver.statistics, driver.close
        self.try_home, self.server = driver.try_home, driver.server
        self.server_states = driver.server_states
        self._driver = driver
        self._entropy = entropy
        self._unknown = round(unknown * 256)

    def commit(self, changes: Sequence[ShardChange]) -> frozenset[bytes]:
        if self.before_commit is not None:
            self.before_commit()
        chance = self._entropy.token_bytes(1)[0]
        if chance < self._unknown // 2:
            raise OutcomeUnknown("lost before it was made")
        refused = self._driver.commit(changes)
        if chance < self._unknown:
            raise OutcomeUnknown("lost after it was made")
        return refused


def over_postgres(seed: int, conflicts: float, unknown: float) -> World:  # noqa: ARG001  # real ones
    url = fresh_url()
    make_table(url)
    drivers = [Hooked(PostgresDriver(url), FakeEntropy(seed + n), unknown) for n in range(2)]
    return engines_of([OptimisticStore(driver) for driver in drivers], drivers)


def over_hbase(seed: int, conflicts: float, unknown: float) -> World:  # noqa: ARG001  # real ones
    url = hbase.fresh_url()
    drivers = [Hooked(open_driver(url), FakeEntropy(seed + n), unknown) for n in range(2)]
    return engines_of([OptimisticStore(driver) for driver in drivers], drivers)


WORLDS = {
    "strict": strict,
    "remote": over_drivers,
    "postgres": over_postgres,
    "hbase": over_hbase,
}
PATIENT = (pytest.mark.night, pytest.mark.timeout(hbase.START_SECONDS))


@pytest.fixture(
    params=[pytest.param(name, marks=PATIENT if name == "hbase" else ()) for name in WORLDS]
)
def calm(request: pytest.FixtureRequest) -> Iterator[World]:
    """A world in which nothing goes wrong by chance."""
    made = WORLDS[request.param](0, 0.0, 0.0)
    yield made
    for store in made.stores:
        store.close()


@pytest.fixture
def two(calm: World) -> Iterator[tuple[TablestoreEngine, TablestoreEngine, FakeClock]]:
    """Two engines, and at the end a store in which the checker finds nothing."""
    yield calm.engines[0], calm.engines[1], calm.clock
    assert check_store(calm.stores[0]) == []


def clean(engines: list[TablestoreEngine], clock: FakeClock) -> None:
    """Let both give space back until nobody finds anything, and drop notes are due."""
    clock.advance(TRANSACTION_SECONDS_MAX + LEASE_SECONDS + 1)
    for engine in engines * 2:
        while (plan := engine.core.housekeeping()) is not None:
            engine.core.run(plan)


def row_bytes(store: Store) -> list[bytes]:
    spaces = (SPACE_ROWS, SPACE_SEQUENCES, SPACE_INDEXES, SPACE_STATISTICS)
    return [key for key, _ in store.snapshot().scan(b"", b"\xff" * 8) if key[:1] in spaces]


def read(engine: TablestoreEngine, table: str, key: str) -> object:
    """The one column of a row, or None."""
    row = decode_row(engine.rows.get_row("i", get(table, {"k": key})).row)
    return None if row is None else row[1]["x"][0][1]


def people(engine: TablestoreEngine, name: str = "people") -> TableForm:
    builder = TableBuilder(name).add_field("id", LONG, identity=Identity(cache=3))
    builder.add_field("name", STRING).primary_key("id")
    engine.core.run(engine.core.operations(TYPED).create_table(builder.build()))
    return engine.core.operations(TYPED).tables.find_qualified(name)


# --- what one does, the other sees ----------------------------------------------------------------


def test_a_table_is_there_for_all_when_its_creation_is_answered(
    two: tuple[TablestoreEngine, TablestoreEngine, FakeClock],
) -> None:
    one, other, _ = two
    one.core.run(one.create_table("i", create("t", KEY)))
    assert other.list_tables("i") == ("t",)
    other.core.run(other.rows.write_row("i", put("t", {"k": "a"}, {"x": 1})))
    assert read(one, "t", "a") == 1
    with pytest.raises(Conflict):
        other.core.run(other.create_table("i", create("t", KEY)))
    other.core.run(other.update_table("i", UpdateTable("t", options=OptionsChange(max_versions=3))))
    assert one.describe_table("i", "t").options.max_versions == 3
    one.core.run(one.delete_table("i", "t"))
    assert other.list_tables("i") == ()
    with pytest.raises(NotFound):
        read(other, "t", "a")


def test_numbers_are_given_once(two: tuple[TablestoreEngine, TablestoreEngine, FakeClock]) -> None:
    """Whichever engine takes them, tables of both models have different ones."""
    one, other, _ = two
    numbers = []
    for turn in range(6):
        engine = (one, other)[turn % 2]
        engine.core.run(engine.create_table("i", create(f"t{turn}", KEY)))
        numbers += [engine.describe_table("i", f"t{turn}").id, people(engine, f"p{turn}").id]
    assert len(set(numbers)) == 12


@pytest.mark.parametrize("kind", ["row", "batch", "atomic batch"])
def test_a_write_planned_before_a_drop_is_refused(
    two: tuple[TablestoreEngine, TablestoreEngine, FakeClock], kind: str
) -> None:
    """Nothing lands in a table after its drop was answered."""
    one, other, clock = two
    one.core.run(one.create_table("i", create("t", KEY)))
    change = put("t", {"k": "a"}, {"x": 1})
    batch = BatchWrite((TableWrite("t", (change,)),), atomic=kind == "atomic batch")
    plan: Plan[Any] = (
        one.rows.write_row("i", change) if kind == "row" else one.rows.batch_write_row("i", batch)
    )
    other.core.run(other.delete_table("i", "t"))
    if kind == "row":
        with pytest.raises(NotFound):
            one.core.run(plan)
    else:
        outcomes = one.core.run(plan)
        assert isinstance(outcomes[0][0].error, NotFound)
    clean([one, other], clock)
    assert row_bytes(one.core.store) == []


def test_a_batch_planned_before_a_change_of_one_table_is_whole(
    two: tuple[TablestoreEngine, TablestoreEngine, FakeClock],
) -> None:
    """Rows are planned again and answered in their places."""
    one, other, _ = two
    for name in ("t", "u"):
        one.core.run(one.create_table("i", create(name, KEY)))
    rows = tuple(put("t", {"k": key}, {"x": 1}) for key in "ab")
    asked = BatchWrite((TableWrite("t", rows), TableWrite("u", (put("u", {"k": "c"}, {"x": 2}),))))
    plan = one.rows.batch_write_row("i", asked)
    other.core.run(other.delete_table("i", "t"))
    answered = one.core.run(plan)
    assert [type(outcome.error) for outcome in answered[0]] == [NotFound, NotFound]
    assert answered[1][0].error is None
    assert read(other, "u", "c") == 2


def test_a_write_planned_before_a_table_came_again_lands_in_the_new_one(
    two: tuple[TablestoreEngine, TablestoreEngine, FakeClock],
) -> None:
    """The name decides, as it does for a request that arrives now."""
    one, other, clock = two
    one.core.run(one.create_table("i", create("t", KEY)))
    plan = one.rows.write_row("i", put("t", {"k": "a"}, {"x": 1}))
    other.core.run(other.delete_table("i", "t"))
    other.core.run(other.create_table("i", create("t", KEY)))
    one.core.run(plan)
    clean([one, other], clock)
    assert read(other, "t", "a") == 1


def test_rows_of_a_dropped_table_stay_until_nothing_can_follow_them(
    two: tuple[TablestoreEngine, TablestoreEngine, FakeClock],
) -> None:
    """A transaction that began before the drop may commit after it (limits.py)."""
    one, other, clock = two
    one.core.run(one.create_table("i", create("t", KEY)))
    one.core.run(one.rows.write_row("i", put("t", {"k": "a"}, {"x": 1})))
    other.core.run(other.delete_table("i", "t"))
    while (plan := one.core.housekeeping()) is not None:
        one.core.run(plan)
    assert len(one.core.catalog.leftovers()) == len(other.core.catalog.leftovers()) == 1
    assert check_store(one.core.store) == []
    clean([one, other], clock)
    assert one.core.catalog.leftovers() == other.core.catalog.leftovers() == []
    assert row_bytes(one.core.store) == []


def test_a_row_that_lands_behind_a_drop_goes_with_the_table(calm: World) -> None:
    """Between a body and its commit another process drops the table: nobody can refuse the row."""
    made = calm
    one, other = made.engines
    one.core.run(one.create_table("i", create("t", KEY)))
    made.before_commit(0, lambda: other.core.run(other.delete_table("i", "t")))
    one.core.run(one.rows.write_row("i", put("t", {"k": "a"}, {"x": 1})))
    assert len(row_bytes(made.stores[1])) == 1
    assert check_store(made.stores[1]) == []
    clean(made.engines, made.clock)
    assert row_bytes(made.stores[1]) == []


def test_two_processes_make_one_new_store_theirs() -> None:
    """Whoever is second finds the format of the first, whenever it looks."""
    space = StrictSpace()
    stores = [StrictStore(space, FakeEntropy(n), unknown=0.5) for n in range(2)]
    once(stores[0], partial(open_other, stores[1]))
    assert open_tablestore(stores[0], FakeClock(), FakeEntropy(1)).list_tables("i") == ("t",)


def test_two_processes_make_one_new_database_theirs() -> None:
    """The same over drivers, whose layer looks up what became of a commit."""
    space = RemoteSpace()
    drivers = [MemoryDriver(space, FakeEntropy(n), Weather(unknown=0.5)) for n in range(2)]
    once(drivers[0], partial(open_other, remote_store(drivers[1])))
    store = remote_store(drivers[0])
    assert open_tablestore(store, FakeClock(), FakeEntropy(1)).list_tables("i") == ("t",)


def open_other(store: Store) -> None:
    other = open_tablestore(store, FakeClock(), FakeEntropy(2))
    while not other.list_tables("i"):
        with contextlib.suppress(OutcomeUnknown):
            other.core.run(other.create_table("i", create("t", KEY)))


def test_a_split_is_seen(two: tuple[TablestoreEngine, TablestoreEngine, FakeClock]) -> None:
    """Bounds change in the catalogue record, so they do for all."""
    one, other, _ = two
    one.core.run(one.create_table("i", create("t", KEY)))
    table = one.describe_table("i", "t")
    bound = encode_key_value("m")
    write = CatalogPartitions(one.core.catalog).divide(table, lambda bounds: (*bounds, bound))
    one.core.run(Plan((write,), single))
    assert other.describe_table("i", "t").splits == (bound,)
    assert len(other.core.describe_partitions("i", "t")["partitions"]) == 2


def test_typed_tables_and_namespaces_are_seen(
    two: tuple[TablestoreEngine, TablestoreEngine, FakeClock],
) -> None:
    one, other, clock = two
    one.core.run(one.core.operations(TYPED).create_namespace("shop"))
    assert other.core.operations(TYPED).tables.namespaces() == ["shop"]
    form = people(one, "shop:people")
    mine = other.core.operations(TYPED).tables.find_qualified("shop:people")
    for turn in range(8):
        engine, table = ((one, form), (other, mine))[turn % 2]
        engine.core.run(
            engine.core.operations(TYPED).write(table, WriteChoice(PUT, {"name": f"n{turn}"}))
        )
    rows = other.core.operations(TYPED).scan_from(mine, b"", 100)
    assert len(rows) == 8  # blocks of three, and no number twice
    with pytest.raises(Conflict):
        other.core.run(other.core.operations(TYPED).drop_namespace("shop"))
    plan = other.core.operations(TYPED).write(mine, WriteChoice(PUT, {"name": "late"}))
    one.core.run(one.core.operations(TYPED).drop_table(form))
    with pytest.raises(NotFound):
        other.core.run(plan)
    one.core.run(one.core.operations(TYPED).drop_namespace("shop"))
    assert other.core.operations(TYPED).tables.namespaces() == []
    clean([one, other], clock)
    assert row_bytes(one.core.store) == []


def test_a_typed_table_is_changed_once(
    two: tuple[TablestoreEngine, TablestoreEngine, FakeClock],
) -> None:
    """Two processes evolve what both have read: the second hears that it was changed."""
    one, other, _ = two
    form = people(one)
    mine = other.core.operations(TYPED).tables.find_qualified("people")
    first = one.core.operations(TYPED).alter_table(form, replace(form.table, comment="one"))
    second = other.core.operations(TYPED).alter_table(mine, replace(mine.table, comment="other"))
    one.core.run(first)
    with pytest.raises(Conflict):
        other.core.run(second)
    assert other.core.operations(TYPED).tables.find_qualified("people").table.comment == "one"


def test_one_of_them_looks_after_the_store(
    two: tuple[TablestoreEngine, TablestoreEngine, FakeClock],
) -> None:
    """The lease; the other one follows when it ran out."""
    one, other, clock = two

    def step() -> list[bool]:
        for engine in (one, other):
            if (plan := engine.core.housekeeping()) is not None:
                engine.core.run(plan)
        return [engine.core.lease.held() for engine in (one, other)]

    assert step() == [True, False]
    clock.advance(LEASE_SECONDS / 2 + 1)
    assert step() == [True, False]  # renewed
    clock.advance(LEASE_SECONDS + 1)
    other.core.run(Plan((), single) if (plan := other.core.housekeeping()) is None else plan)
    assert step() == [False, True]


# --- any interleaving -----------------------------------------------------------------------------


class Pending(NamedTuple):
    """A write that was planned and not committed yet."""

    engine: int
    plan: Plan[Any]
    key: tuple[str, str]
    value: int


class TwoEngines(RuleBasedStateMachine):
    """Requests to two engines in any order, planned now and committed later, against a model.

    Bodies meet conflicts and run again; outcomes stay unknown, and whoever asked looks.
    """

    pending = Bundle("pending")
    kind = "strict"

    @initialize(seed=st.integers(0, 1000))
    def begin(self, seed: int) -> None:
        self.world = WORLDS[self.kind](seed, 0.3, 0.1)
        self.tables: dict[str, dict[str, object]] = {}
        self.value = 0

    def ask(
        self, who: int, make: Callable[[TablestoreEngine], Plan[T]], *, again: bool
    ) -> T | None:
        """Commit what `make` plans; ask again after an unknown outcome where that is harmless."""
        engine = self.world.engines[who]
        while True:
            try:
                return engine.core.run(make(engine))
            except OutcomeUnknown:
                if not again:
                    return None

    @rule(who=ENGINES, name=TABLES)
    def create_table(self, who: int, name: str) -> None:
        made = False
        try:
            self.ask(who, lambda engine: engine.create_table("i", create(name, KEY)), again=False)
            made = name in self.world.engines[1 - who].list_tables("i")
        except Conflict:
            assert name in self.tables
        if made:
            self.tables.setdefault(name, {})

    @rule(who=ENGINES, name=TABLES)
    def drop_table(self, who: int, name: str) -> None:
        try:
            self.ask(who, lambda engine: engine.delete_table("i", name), again=False)
        except NotFound:
            assert name not in self.tables
        if name not in self.world.engines[1 - who].list_tables("i"):
            self.tables.pop(name, None)

    @rule(who=ENGINES, name=TABLES, versions=st.integers(1, 3))
    def change_table(self, who: int, name: str, versions: int) -> None:
        change = UpdateTable(name, options=OptionsChange(max_versions=versions))
        try:
            self.ask(who, lambda engine: engine.update_table("i", change), again=True)
        except NotFound:
            assert name not in self.tables

    @rule(who=ENGINES, name=TABLES, key=KEYS)
    def write(self, who: int, name: str, key: str) -> None:
        self.value += 1
        self.finish(who, name, key, self.value, None)

    @rule(target=pending, who=ENGINES, name=TABLES, key=KEYS)
    def plan(self, who: int, name: str, key: str) -> Pending | None:
        self.value += 1
        with contextlib.suppress(NotFound):
            change = put(name, {"k": key}, {"x": self.value})
            plan = self.world.engines[who].rows.write_row("i", change)
            return Pending(who, plan, (name, key), self.value)
        return None

    @rule(planned=consumes(pending))
    def commit(self, planned: Pending | None) -> None:
        if planned is not None:
            self.finish(planned.engine, *planned.key, planned.value, planned.plan)

    def finish(self, who: int, name: str, key: str, value: int, plan: Plan[Any] | None) -> None:
        plans = iter(() if plan is None else (plan,))
        change = put(name, {"k": key}, {"x": value})
        try:
            self.ask(
                who,
                lambda engine: next(plans, None) or engine.rows.write_row("i", change),
                again=True,
            )
        except NotFound:
            assert name not in self.tables
        else:
            self.tables[name][key] = value

    @rule(who=ENGINES)
    def sweep(self, who: int) -> None:
        self.ask(
            who, lambda engine: engine.core.housekeeping() or Plan((), lambda _: None), again=True
        )

    @rule(who=ENGINES)
    def balance(self, who: int) -> None:
        self.ask(
            who,
            lambda engine: engine.core.partitions.step() or Plan((), lambda _: None),
            again=True,
        )

    @rule(seconds=st.sampled_from([1, LEASE_SECONDS, TRANSACTION_SECONDS_MAX]))
    def wait(self, seconds: int) -> None:
        self.world.clock.advance(seconds)

    def teardown(self) -> None:
        if hasattr(self, "world"):
            for store in self.world.stores:
                store.close()

    @invariant()
    def both_see_the_same(self) -> None:
        if not hasattr(self, "world"):
            return
        for engine in self.world.engines:
            assert list(engine.list_tables("i")) == sorted(self.tables)
            for name, rows in self.tables.items():
                assert {key: read(engine, name, key) for key in "abc"} == {
                    key: rows.get(key) for key in "abc"
                }

    @precondition(lambda self: hasattr(self, "world"))
    @rule()
    def nothing_is_wrong(self) -> None:
        assert check_store(self.world.stores[0]) == []


class TwoEnginesOverPostgres(TwoEngines):
    """The same over PostgreSQL."""

    kind = "postgres"


TestTwoEnginesOverPostgres = TwoEnginesOverPostgres.TestCase
TestTwoEnginesOverPostgres.settings = settings(max_examples=8, stateful_step_count=20)


class TwoEnginesOverHBase(TwoEngines):
    """The same over HBase."""

    kind = "hbase"


TestTwoEnginesOverHBase = pytest.mark.night(
    pytest.mark.timeout(hbase.START_SECONDS)(TwoEnginesOverHBase.TestCase)
)
TestTwoEnginesOverHBase.settings = settings(max_examples=4, stateful_step_count=15)


class TwoEnginesOverDrivers(TwoEngines):
    """The same over the layer for databases across a network."""

    kind = "remote"


TestTwoEnginesOverDrivers = TwoEnginesOverDrivers.TestCase
TestTwoEnginesOverDrivers.settings = settings(
    max_examples=examples(40), stateful_step_count=30, deadline=None
)
TestTwoEngines = TwoEngines.TestCase
TestTwoEngines.settings = settings(max_examples=examples(40), stateful_step_count=30, deadline=None)
