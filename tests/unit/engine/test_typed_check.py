"""What a check of typed tables finds, and the hooks of their engine."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.changes import create
from tests.support.engines import open_tablestore

from widerow.engine.check import check_store
from widerow.engine.observer import RowEvent
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.typed.engine import MultiRow, TypedEngine
from widerow.engine.typed.form import TableForm
from widerow.engine.typed.model import TYPED_MODEL
from widerow.engine.typed.plug import TYPED
from widerow.engine.typed.stored import StoredRow
from widerow.keys.layout import (
    index_prefix,
    ranges_key,
    row_prefix,
    sequence_key,
    sequence_prefix,
    statistics_prefix,
    sweep_key,
)
from widerow.model.typed.builder import TableBuilder
from widerow.model.typed.requests import OperationKind, WriteChoice
from widerow.model.typed.table import Index, IndexField, TypedTable
from widerow.model.typed.types import INTEGER, STRING, enum_of
from widerow.model.values import KeyType
from widerow.rows.typed import TYPED_HEADER_BYTES
from widerow.storage.interface import Store, Transaction
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

if TYPE_CHECKING:
    from widerow.engine.plan import Plan

PUT = OperationKind.PUT


def users(engine: TablestoreEngine) -> TableForm:
    builder = TableBuilder("users").add_field("g", STRING).add_field("id", INTEGER)
    builder.add_field("name", STRING).add_field("e", enum_of("ab"))
    plan = engine.core.operations(TYPED).create_table(
        builder.primary_key("g", "id").shard_key("g").build()
    )
    return engine.core.operations(TYPED).tables.find_qualified(engine.core.run(plan).qualified)


def put(engine: TablestoreEngine, form: TableForm, number: int) -> bytes:
    row = {"g": "a", "id": number, "name": f"n{number}", "e": "b"}
    engine.core.run(engine.core.operations(TYPED).write(form, WriteChoice(PUT, row)))
    return form.key.encode(["a", number])


Damage = Callable[[bytes], bytes]
DAMAGES: list[tuple[str, Damage]] = [
    ("ends inside its header", lambda record: record[:10]),
    ("unknown kind", lambda record: b"\x09" + record[1:]),
    ("unknown kind", lambda record: record[:1] + b"\x01" + record[2:]),
    ("unknown schema", lambda record: record[:2] + b"\x00\x09" + record[4:]),
    (
        "which is not of this hierarchy",
        lambda record: record[:4] + b"\x00\x00\x01\x00" + record[8:],
    ),
    ("do not fit schema", lambda record: record[:TYPED_HEADER_BYTES] + b"\x91\x01"),
    ("cannot be read", lambda record: record[:-1]),
    ("beyond its enumeration", lambda record: record[:-1] + b"\x07"),
    ("not what its values encode to", lambda record: record[:-1] + b"\xcc\x01"),
]


@pytest.mark.parametrize(("words", "damage"), DAMAGES)
def test_damage_of_a_row_is_found(words: str, damage: Damage) -> None:
    with open_store("memory:") as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        form = users(engine)
        key = put(engine, form, 1)
        put(engine, form, 2)
        assert check_store(store) == []
        record = store.snapshot().get(key)
        assert record is not None
        store.transact((key,), lambda txn: txn.put(key, damage(record)))
        findings = check_store(store)
        assert [(each.table, each.key) for each in findings] == [("users", key.hex())]
        assert words in findings[0].problem


def test_a_row_under_a_key_that_is_none_is_found() -> None:
    with open_store("memory:") as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        form = users(engine)
        key = put(engine, form, 1)
        record = store.snapshot().get(key)
        assert record is not None
        stray = row_prefix(form.table.id) + b"a\x00"
        store.transact((stray,), lambda txn: txn.put(stray, record))
        assert [each.key for each in check_store(store)] == [stray.hex()]


def test_rows_of_no_table_are_found(store: Store) -> None:
    stray = row_prefix(77) + b"x"
    store.transact((stray,), lambda txn: txn.put(stray, b"x"))
    assert len(check_store(store)) == 1
    store.transact((stray,), lambda txn: txn.delete(stray))


@pytest.mark.parametrize(
    ("prefix", "what"),
    [
        (sequence_prefix, "a sequence record of a table that the catalogue does not know"),
        (index_prefix, "entries of index 77, which no table has"),
        (statistics_prefix, "statistics of a table that the catalogue does not know"),
    ],
)
def test_records_of_no_table_are_found_in_every_space(
    prefix: Callable[[int], bytes], what: str
) -> None:
    with open_store("memory:") as store:
        open_tablestore(store, FakeClock(), FakeEntropy())
        for number in (77, 78):
            plant(store, prefix(number) + b"x", b"x")
        found = check_store(store)
        assert found[0].problem == what
        assert len(found) == 2


def plant(store: Store, key: bytes, record: bytes) -> None:
    store.transact((key,), lambda txn: txn.put(key, record))


def test_damaged_sequences_and_records_of_passes_are_found() -> None:
    """docs/formats/keys.md, "Spaces"; docs/formats/statistics.md, "Passes"."""
    with open_store("memory:") as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        form = users(engine)
        key_columns = {"p": KeyType.STRING}
        engine.core.run(engine.create_table("i", create("t", key_columns)))
        table = engine.tables.find("i", "t")
        planted = {
            sequence_key(table.id, "a"): b"\x00" * 8,
            sequence_prefix(form.id): b"three",
            sweep_key(table.id): b"{}",
            ranges_key(table.id): b"{}",
        }
        for key, record in planted.items():
            plant(store, key, record)
        assert {each.key: each.problem for each in check_store(store)} == {
            sequence_key(table.id, "a").hex(): (
                "a sequence record of a table without an auto-increment column"
            ),
            sequence_prefix(form.id).hex(): "the table's sequence is not a number",
            sweep_key(table.id).hex(): "the record of a pass is not readable: b'{}'",
            ranges_key(table.id).hex(): "a record of ranges is not readable: b'{}'",
        }


def test_a_walk_reads_every_record_once() -> None:
    with open_store("memory:") as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy())
        form = users(engine)
        for number in range(2500):
            put(engine, form, number)
        told: list[int] = []
        assert check_store(store, progress=told.append) == []
        assert told == [1000, 2000]


# --- hooks -----------------------------------------------------------------------------------


class Recorder:
    """An observer that keeps what it hears, and refuses what it is told to."""

    def __init__(self) -> None:
        """Nothing heard."""
        self.heard: list[tuple[str | None, str | None]] = []
        self.refuse: Exception | None = None

    def watches(self, table: TableForm) -> bool:
        """Tables with an index."""
        return bool(table.table.indexes)

    def shards(self, table: TableForm) -> tuple[bytes, ...]:
        """A prefix for each index."""
        return tuple(b"\x14" + index.id.to_bytes(4, "big") for index in table.table.indexes)

    def reads(self, table: TableForm) -> tuple[bytes, ...]:  # noqa: ARG002  # as the protocol has it
        """Nothing."""
        return ()

    def spaces(self, table: TableForm) -> bytes:  # noqa: ARG002  # as the protocol has it
        """None."""
        return b""

    def changed(self, txn: Transaction, table: TableForm, event: RowEvent[StoredRow]) -> None:
        """Keep both names, and write below the index to show that the shard is the write's."""
        if self.refuse is not None:
            raise self.refuse
        before, after = (
            None if row is None else str(row["name"]) for row in (event.old, event.new)
        )
        self.heard.append((before, after))
        txn.put(self.shards(table)[0] + event.key, b"")
        txn.delete(self.shards(table)[0] + event.key)


@pytest.fixture
def observed(
    engine: TablestoreEngine,
) -> tuple[TypedEngine, Recorder]:
    """A typed engine with an observer beside the plain one; its tables have no index yet."""
    recorder = Recorder()
    return TypedEngine(engine.core, (recorder,)), recorder


def test_an_observer_hears_of_every_change_in_its_transaction(
    engine: TablestoreEngine, observed: tuple[TypedEngine, Recorder]
) -> None:
    typed, recorder = observed
    form = made(engine, typed)
    row = {"g": "a", "id": 1, "name": "x"}
    engine.core.run(typed.write(form, WriteChoice(PUT, row)))
    assert recorder.heard == []  # no index, nothing to hear
    engine.core.run(typed.change_table(form, with_index))
    form = typed.tables.current(form)
    engine.core.run(typed.write(form, WriteChoice(PUT, {**row, "name": "y"})))
    engine.core.run(typed.execute([(form, WriteChoice(PUT, {**row, "id": 2, "name": "z"}))]))
    engine.core.run(typed.multi_delete(form, MultiRow({"g": "a"})))
    assert recorder.heard == [("x", "y"), (None, "z"), ("y", None), ("z", None)]
    recorder.refuse = ValueError("no")
    with pytest.raises(ValueError, match="no"):
        engine.core.run(typed.write(form, WriteChoice(PUT, row)))
    assert typed.get(form, {"g": "a", "id": 1}) is None


@pytest.mark.parametrize("kind", ["one row", "a sequence", "many rows"])
def test_what_was_planned_before_an_index_came_is_planned_again(
    engine: TablestoreEngine, observed: tuple[TypedEngine, Recorder], kind: str
) -> None:
    """The index decides which shards the write touches, and must hear of the row."""
    typed, recorder = observed
    form = made(engine, typed)
    engine.core.run(typed.write(form, WriteChoice(PUT, {"g": "a", "id": 1, "name": "x"})))
    choice = WriteChoice(PUT, {"g": "a", "id": 1, "name": "y"})
    plans: dict[str, Callable[[], Plan[Any]]] = {
        "one row": lambda: typed.write(form, choice),
        "a sequence": lambda: typed.execute([(form, choice)]),
        "many rows": lambda: typed.multi_delete(form, MultiRow({"g": "a"})),
    }
    plan = plans[kind]()
    engine.core.run(typed.change_table(form, with_index))
    engine.core.run(plan)
    assert recorder.heard == [("x", None if kind == "many rows" else "y")]


def test_load_is_counted_by_shard(
    engine: TablestoreEngine, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[tuple[object, ...]] = []
    monkeypatch.setattr(engine.core.partitions, "note_load", lambda *load: counted.append(load))
    typed = TypedEngine(engine.core, ())
    form = made(engine, typed)
    number = form.table.id
    row = {"g": "a", "id": 1, "name": "x" * 5000}
    engine.core.run(typed.write(form, WriteChoice(PUT, row)))
    size = sum(len(key) + len(value) for key, value in store.snapshot().scan(*form.key.range()))
    typed.get(form, row := {"g": "a", "id": 1})
    typed.get(form, {**row, "id": 2})
    typed.multi_get(form, MultiRow({"g": "a"}))
    assert counted == [
        (number, b"a\x00\x01", 0, 2, 1, size),
        (number, b"a\x00\x01", 2, 0),
        (number, b"a\x00\x01", 0, 0),
        (number, b"a\x00\x01", 2, 0),
    ]


def made(engine: TablestoreEngine, typed: TypedEngine) -> TableForm:
    builder = TableBuilder("users").add_field("g", STRING).add_field("id", INTEGER)
    table = builder.add_field("name", STRING).primary_key("g", "id").shard_key("g").build()
    return typed.tables.find_qualified(engine.core.run(typed.create_table(table)).qualified)


def with_index(table: TypedTable) -> TypedTable:
    return replace(table, indexes=(Index("i", (IndexField("name"),), id=99),))


def test_typed_tables_are_loaded_when_there_are_any(store: Store, clock: FakeClock) -> None:
    """A server of the other dialect loads nothing of them, and yet gives their space back."""
    plain = open_tablestore(store, clock, FakeEntropy())
    while plain.core.housekeeping() is not None:
        pass
    assert TYPED_MODEL.space not in plain.core._open
    other = open_tablestore(store, clock, FakeEntropy(1))
    other.core.run(other.core.operations(TYPED).drop_table(users(other)))
    assert len(other.core.operations(TYPED).tables.leftovers()) == 1
    server = open_tablestore(store, clock, FakeEntropy(2))
    while (plan := server.core.housekeeping()) is not None:
        server.core.run(plan)
    assert server.core.operations(TYPED).tables.leftovers() == []
