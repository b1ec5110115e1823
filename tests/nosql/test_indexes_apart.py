"""What indexes cost and refuse over stores whose transactions reach one shard (model §11)."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.support.nosql_wire import request
from tests.support.remote import MemoryDriver, RemoteSpace, remote_store
from tests.support.strict import StrictSpace, StrictStore

from widerow import nosql
from widerow.engine.chores import ChoreLine
from widerow.engine.engine import Engine
from widerow.engine.entry_applier import STEP_ENTRIES
from widerow.engine.plan import Plan
from widerow.engine.table_models import TABLE_MODELS
from widerow.engine.typed.ddl.parse import parse
from widerow.engine.typed.ddl.planned import planned
from widerow.engine.typed.ddl.result import Context
from widerow.engine.typed.engine import MultiRow
from widerow.engine.typed.index_build import begin_index
from widerow.engine.typed.plug import TYPED
from widerow.engine.typed.scan import MultiRowSelection
from widerow.engine.typed.schema_changes import SchemaChanges
from widerow.errors import Exhausted
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_INTENTS
from widerow.limits import ENTRY_LAG_PACED_SECONDS, TRANSACTION_SECONDS_MAX
from widerow.model.typed.requests import OperationKind, WriteChoice
from widerow.model.typed.rules import TypedRule
from widerow.nosql import Index, IndexField, Kind
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.nosql.dialect import NOSQL_DIALECT
from widerow.wire.nosql.faults import UNAVAILABLE, fault_of

BY_N = Index("by_n", (IndexField("n"),))


@pytest.fixture
def below() -> Store:
    return StrictStore(StrictSpace(), FakeEntropy(1))


@pytest.fixture
def store(below: Store, clock: FakeClock) -> Iterator[nosql.TypedStore]:
    with nosql.TypedStore(below, clock, FakeEntropy()) as opened:
        yield opened


@pytest.fixture
def things(store: nosql.TypedStore) -> nosql.TableHandle:
    builder = nosql.TableBuilder("things").add_field("id", nosql.INTEGER)
    builder.add_field("n", nosql.INTEGER).add_field("s", nosql.STRING)
    builder.add_field("tags", nosql.array_of(nosql.INTEGER)).add_field("j", nosql.JSON)
    return store.create_table(builder.primary_key("id").build())


def settle(store: nosql.TypedStore, clock: FakeClock) -> None:
    """Let builds begin, end them, and work off all intents."""
    for _ in range(2):
        clock.advance(TRANSACTION_SECONDS_MAX + 1)
        while store.housekeep():
            pass


def indexed(
    store: nosql.TypedStore, things: nosql.TableHandle, clock: FakeClock, index: Index = BY_N
) -> None:
    store.commit(begin_index(store.engine, things.form, index))
    settle(store, clock)


def intents(below: Store) -> int:
    return len(list(below.snapshot().scan(SPACE_INTENTS, after_prefix(SPACE_INTENTS))))


def test_whoever_creates_an_index_waits_until_every_writer_keeps_it(
    store: nosql.TypedStore, things: nosql.TableHandle, clock: FakeClock
) -> None:
    things.put_many({"id": id_, "n": -id_} for id_ in range(600))
    waited: list[int] = []

    def wait() -> None:
        waited.append(clock.now_us())
        clock.advance(10)

    changes = SchemaChanges(store.engine, store.commit, wait)
    assert changes.create_index(things.form, BY_N)
    assert len(waited) == TRANSACTION_SECONDS_MAX // 10
    assert [row["id"] for row in things.index_iterator("by_n")] == list(range(599, -1, -1))


def test_a_statement_leaves_the_build_to_housekeeping(
    store: nosql.TypedStore, things: nosql.TableHandle, clock: FakeClock
) -> None:
    things.put({"id": 1, "n": 5})
    context = Context(SchemaChanges(store.engine, store.commit, lambda: None))
    plan = planned(store.engine, context, parse("CREATE INDEX by_n ON things(n)"), None)
    assert isinstance(plan, Plan)
    store.commit(plan)
    with pytest.raises(nosql.Conflict, match="still being built"):
        things.index_iterator("by_n")
    settle(store, clock)
    assert [row["id"] for row in things.index_iterator("by_n", {"n": 5})] == [1]


def test_a_row_that_cannot_be_indexed_ends_the_build(
    store: nosql.TypedStore, things: nosql.TableHandle, clock: FakeClock
) -> None:
    things.put({"id": 1, "j": {"x": 1}})
    things.put({"id": 2, "j": {"x": "a text"}})
    indexed(store, things, clock, Index("by_x", (IndexField("j.x", Kind.LONG),)))
    assert things.definition.indexes == ()
    assert "a text" in str(store.failed_indexes["things", "by_x"])


def test_a_row_whose_entry_the_store_cannot_hold_is_refused(
    store: nosql.TypedStore,
    things: nosql.TableHandle,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else its intent could never be worked off (docs/operating/cluster.md)."""
    indexed(store, things, clock, Index("by_s", (IndexField("s"),)))
    monkeypatch.setattr(store.engine.keeper, "_key_bytes_max", 200)  # HBase's end at 2600
    things.put({"id": 1, "s": "x" * 150})
    with pytest.raises(nosql.InvalidRequest, match="exceeds maximum key permissible length:200"):
        things.put({"id": 2, "s": "x" * 250})
    settle(store, clock)
    assert [row["id"] for row in things.index_iterator("by_s")] == [1]


def test_a_row_of_many_entries_leaves_several_intents(
    store: nosql.TypedStore, things: nosql.TableHandle, clock: FakeClock, below: Store
) -> None:
    indexed(store, things, clock, Index("by_tag", (IndexField("tags[]"),)))
    things.put({"id": 1, "tags": list(range(2500))})
    assert intents(below) == 3
    for _ in range(2):
        assert len(list(things.index_iterator("by_tag"))) == 2500
        settle(store, clock)
    assert intents(below) == 0


def test_a_change_that_no_index_hears_of_leaves_nothing(
    store: nosql.TypedStore, things: nosql.TableHandle, clock: FakeClock, below: Store
) -> None:
    indexed(store, things, clock)
    things.put({"id": 1, "n": 5})
    settle(store, clock)
    things.put({"id": 1, "n": 5, "s": "changed"})
    assert intents(below) == 0
    assert [row["s"] for row in things.index_iterator("by_n")] == ["changed"]


def test_an_index_that_is_far_behind_refuses_queries_for_a_while(
    store: nosql.TypedStore,
    things: nosql.TableHandle,
    clock: FakeClock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("widerow.engine.typed.index_late.INDEX_INTENTS_MAX", 20)
    monkeypatch.setattr("widerow.engine.typed.index_late.REMOTE_PAGE_ROWS_MAX", 10)
    indexed(store, things, clock)
    things.put_many({"id": id_, "n": 7} for id_ in range(20))
    assert len(list(things.index_iterator("by_n", {"n": 7}))) == 20
    things.put_many({"id": id_, "n": 7} for id_ in range(20, 40))
    with pytest.raises(Exhausted) as refused:
        list(things.index_iterator("by_n", {"n": 7}))
    assert refused.value.rule is TypedRule.INDEX_BEHIND
    assert fault_of(refused.value, "QUERY").code == UNAVAILABLE
    assert "more than 20 changes behind" in fault_of(refused.value, "QUERY").text
    settle(store, clock)
    assert len(list(things.index_iterator("by_n", {"n": 7}))) == 40


def test_the_lag_is_told(
    store: nosql.TypedStore, things: nosql.TableHandle, clock: FakeClock
) -> None:
    indexed(store, things, clock)
    engine = store.engine
    assert [(each.table, each.name) for each in engine.index_lags()] == [("things", "by_n")]
    things.put({"id": 1, "n": 5})
    clock.advance(7)
    assert [each.seconds for each in engine.index_lags()] == [7]
    while store.housekeep():
        pass
    assert [each.seconds for each in engine.index_lags()] == [0]


def test_tables_without_indexes_pay_nothing() -> None:
    """A write makes as many calls as before, and nobody looks for intents."""
    driver = MemoryDriver(RemoteSpace(), FakeEntropy(1))
    core = Engine(remote_store(driver), FakeClock(), FakeEntropy(), TABLE_MODELS)
    engine = core.operations(TYPED)
    for name in ("plain", "indexed"):
        builder = nosql.TableBuilder(name).add_field("id", nosql.INTEGER)
        table = builder.add_field("n", nosql.INTEGER).primary_key("id").build()
        core.run(engine.create_table(table))

    def trips(name: str, n: int) -> int:
        before = driver.statistics()["round_trips"]
        form = engine.tables.find_qualified(name)
        core.run(engine.write(form, WriteChoice(OperationKind.PUT, {"id": n, "n": n})))
        return driver.statistics()["round_trips"] - before

    def steps() -> int:
        while core.housekeeping(ChoreLine.CLEANING) is not None:
            core.run(core.housekeeping(ChoreLine.CLEANING) or Plan((), lambda _: None))
        while (plan := core.housekeeping(ChoreLine.ENTRIES)) is not None:
            core.run(plan)
        before = driver.statistics()["round_trips"]
        assert core.housekeeping(ChoreLine.ENTRIES) is None
        return driver.statistics()["round_trips"] - before

    looked = steps()
    trips("plain", 1)  # reads the catalogue too
    bare = trips("plain", 2)
    core.run(begin_index(engine, engine.tables.find_qualified("indexed"), BY_N))
    trips("plain", 3)
    assert trips("plain", 4) == bare
    assert trips("indexed", 4) > bare
    assert steps() > looked


def test_writers_of_a_table_whose_index_is_far_behind_wait_and_nobody_else(
    store: nosql.TypedStore, things: nosql.TableHandle, clock: FakeClock
) -> None:
    """Each kind of write of the table does, of the other one none (docs/internals/queues.md)."""
    builder = nosql.TableBuilder("calm").add_field("id", nosql.INTEGER)
    builder.add_field("n", nosql.INTEGER)
    calm = store.create_table(builder.primary_key("id").build())
    indexed(store, things, clock)
    indexed(store, calm, clock)
    calm.put({"id": 1, "n": 1})
    settle(store, clock)
    things.put_many({"id": number, "n": number} for number in range(4 * STEP_ENTRIES))
    engine = store.engine
    for _ in range(3):
        clock.advance(ENTRY_LAG_PACED_SECONDS)
        step = engine.core.housekeeping(ChoreLine.ENTRIES)
        assert step is not None
        store.commit(step)

    def asked(code: int, payload: dict[str, Any]) -> Any:  # noqa: ANN401  # its plan
        body = request(code, payload, "")
        operation = NOSQL_DIALECT.select("POST", "/V2/nosql/data", body)
        return operation.call(engine, "", operation.decode(body))

    def paces(table: nosql.TableHandle) -> list[bool]:
        name = table.definition.name
        sequence = {"os": [{"n": name, "o": 3, "l": {"id": 1, "n": 1}}]}
        form, row = table.form, WriteChoice(OperationKind.PUT, {"id": 1, "n": 1})
        key = MultiRowSelection(form, *form.key.range(), 1, {form.id: form})
        plans: list[Plan[Any]] = [
            engine.write(form, row),
            engine.execute([(form, row)]),
            engine.multi_delete(form, MultiRow({"id": 1})),
            engine.change_rows(form.key.shard([1]), [key], lambda _: None),
            asked(9, sequence),
            asked(7, {"st": f"DELETE FROM {name} WHERE id = 1"}),  # no input
            asked(7, {"st": f"UPDATE {name} SET n = 2 WHERE id = 1"}),  # same
            asked(7, {"st": f"INSERT INTO {name} (id, n) VALUES (1, 1)"}),  # same
        ]
        return [plan.pace is not None and plan.pace.waits() for plan in plans]

    assert paces(things) == [True] * 8
    assert paces(calm) == [False] * 8
    settle(store, clock)
    assert paces(things) == [False] * 8
