"""Creating, changing and dropping typed tables, namespaces, and opening a store again."""

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.support.engines import open_tablestore

from widerow import nosql
from widerow.engine.check import check_store
from widerow.errors import StorageFailure, StoreLocked
from widerow.model.tablestore.requests import CreateTable, OptionsChange, ThroughputChange
from widerow.model.tablestore.schema import KeyColumn
from widerow.model.values import KeyType
from widerow.nosql import Conflict, InvalidRequest, NotFound, TableEvolver, WiderowError
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

A1 = {"g": "a", "id": 1}


def simple(name: str, **options: Any) -> nosql.TypedTable:  # noqa: ANN401  # the builder's
    builder = nosql.TableBuilder(name, **options)
    return builder.add_field("k", nosql.STRING).primary_key("k").build()


# --- what there is ---------------------------------------------------------------------------


def test_tables_are_found_in_any_case_and_keep_theirs(store: nosql.TypedStore) -> None:  # model §1
    store.create_table(simple("Users"))
    assert store.table("uSERS").name == "Users"
    assert store.find_table("nobody") is None
    with pytest.raises(Conflict) as refused:
        store.create_table(simple("users"))
    assert str(refused.value) == "Table users already exists"
    assert store.create_table(simple("users"), if_not_exists=True).name == "Users"


def test_tables_are_listed_parents_first(store: nosql.TypedStore, lines: nosql.TableHandle) -> None:
    store.create_namespace("Shop")
    store.create_table(simple("shop:Stock"))
    names = [table.name for table in store.tables()]
    assert names == ["users", "users.orders", "users.orders.lines", "shop:Stock"]
    assert [table.name for table in store.tables("SHOP")] == ["shop:Stock"]
    assert [table.name for table in store.tables("")] == names[:3]
    assert [table.name for table in store.tables("SysDefault")] == names[:3]
    assert lines.definition.path[0] == store.table("users").definition.id


def test_a_dropped_table_is_gone_at_once_and_its_bytes_soon(
    store: nosql.TypedStore, users: nosql.TableHandle, orders: nosql.TableHandle
) -> None:
    users.put(A1)
    orders.put({**A1, "no": 1})
    store.drop_table("users.orders")
    with pytest.raises(NotFound) as gone:
        orders.get({**A1, "no": 1})
    assert str(gone.value) == "Table does not exist: users.orders"
    assert users.get(A1) is not None
    while store.engine.tables.leftovers():
        assert store.housekeep()
    assert users.get(A1) is not None
    again = nosql.TableBuilder("orders", parent=users.definition)
    made = store.create_table(again.add_field("no", nosql.LONG).primary_key("no").build())
    assert list(made.table_iterator()) == []


def test_a_hierarchy_dropped_from_below_leaves_nothing(
    store: nosql.TypedStore, users: nosql.TableHandle, orders: nosql.TableHandle
) -> None:
    for number in range(1200):
        orders.put({"g": str(number % 3), "id": number, "no": number})
    users.put(A1)
    assert store.drop_table("users.orders")
    assert store.drop_table("users")
    assert not store.drop_table("users", if_exists=True)
    while store.housekeep():
        pass
    left = list(store.engine.store.snapshot().scan(b"\x10", b"\x15"))
    assert left == []
    assert store.engine.tables.leftovers() == []


REFUSED: list[
    tuple[str, Callable[[nosql.TypedStore, nosql.TableHandle], object], type[Exception], str]
] = [
    (
        "drop of a parent",
        lambda s, _: s.drop_table("users"),
        InvalidRequest,
        "Cannot remove table users, it is still referenced by child tables",
    ),
    (
        "drop of nothing",
        lambda s, _: s.drop_table("nosuch"),
        NotFound,
        "Table does not exist: nosuch",
    ),
    (
        "table of nothing",
        lambda s, _: s.table("nosuch"),
        NotFound,
        "Table does not exist: nosuch",
    ),
    (
        "namespace that is not there",
        lambda s, _: s.create_table(simple("ns:t")),
        NotFound,
        "Namespace does not exist: ns",
    ),
    (
        "namespace twice",
        lambda s, _: (s.create_namespace("ns"), s.create_namespace("NS")),
        Conflict,
        "Namespace 'NS' already exists",
    ),
    (
        "drop of a namespace in use",
        lambda s, _: (
            s.create_namespace("ns"),
            s.create_table(simple("ns:t")),
            s.drop_namespace("ns"),
        ),
        Conflict,
        "Cannot drop namespace ns, it is not empty",
    ),
    (
        "drop of no namespace",
        lambda s, _: s.drop_namespace("ns"),
        NotFound,
        "Namespace does not exist: ns",
    ),
    # model §12
    (
        "column that exists",
        lambda _, t: TableEvolver(t.definition).add_field("NAME", nosql.LONG),
        InvalidRequest,
        "Cannot add field, NAME, it already exists",
    ),
    (
        "column that does not",
        lambda _, t: TableEvolver(t.definition).remove_field("nosuch"),
        InvalidRequest,
        "Field does not exist: nosuch",
    ),
    (
        "key column",
        lambda _, t: TableEvolver(t.definition).remove_field("id"),
        InvalidRequest,
        "Cannot remove a primary key field: id",
    ),
    (
        "not null without default",
        lambda _, t: TableEvolver(t.definition).add_field("z", nosql.LONG, nullable=False),
        InvalidRequest,
        "Non-nullable field without a default value.  Field = z",
    ),
]


@pytest.mark.parametrize(
    ("act", "kind", "text"), [pytest.param(a, k, t, id=n) for n, a, k, t in REFUSED]
)
def test_what_breaks_a_rule_is_refused(
    store: nosql.TypedStore,
    users: nosql.TableHandle,
    orders: nosql.TableHandle,
    act: Callable[[nosql.TypedStore, nosql.TableHandle], object],
    kind: type[Exception],
    text: str,
) -> None:
    assert orders.definition.parent == "users"
    with pytest.raises(kind) as refused:
        act(store, users)
    assert isinstance(refused.value, WiderowError)
    assert str(refused.value) == text


def test_a_parent_that_is_not_there(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:  # model §10
    builder = nosql.TableBuilder("kid", parent=users.definition)
    kid = builder.add_field("k", nosql.STRING).primary_key("k").build()
    store.drop_table("users")
    with pytest.raises(NotFound) as refused:
        store.create_table(kid)
    assert str(refused.value) == "Parent table does not exist (users) in table path users.kid"


def test_an_indexed_column_stays(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:  # model §12
    held = nosql.Index("i", (nosql.IndexField("doc.a"), nosql.IndexField("name")), id=99)
    indexed = replace(users.definition, indexes=(held,))
    for path in ("name", "doc"):
        with pytest.raises(InvalidRequest) as refused:
            TableEvolver(indexed).remove_field(path)
        assert str(refused.value) == "Evolution cannot remove indexed fields"
    assert TableEvolver(indexed).remove_field("n").build().field("n") is None
    assert store.table("users").definition.indexes == ()


# --- evolution (model §12) -------------------------------------------------------------------


def test_rows_of_a_former_schema_show_new_columns_with_their_default(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:
    users.put({**A1, "name": "old"})
    evolver = TableEvolver(users.definition).add_field("score", nosql.LONG, default=7)
    evolver.add_field("plain", nosql.STRING).remove_field("n")
    store.alter_table(evolver.build())
    row = users.get(A1)
    assert row is not None
    assert (row["name"], row["score"], row["plain"]) == ("old", 7, None)
    assert "n" not in row
    with pytest.raises(InvalidRequest):
        users.put({**A1, "n": 1})
    users.put({**A1, "score": 1})
    row = users.get(A1)
    assert row is not None
    assert (row["score"], list(row)[-2:]) == (1, ["score", "plain"])


def test_a_column_added_again_has_the_values_of_rows_not_written_since(tmp_path: Path) -> None:
    with nosql.open(tmp_path) as store:  # corrections B, 1
        store.run_statement("CREATE TABLE t (k LONG, v LONG, w STRING, PRIMARY KEY(k))")
        table = store.table("t")
        table.put_many({"k": k, "v": v, "w": "w"} for k, v in ((1, 1), (2, 2), (3, None), (4, 4)))
        store.run_statement("ALTER TABLE t (DROP v)")
        table.put({"k": 2, "w": "written"})
    with nosql.open(tmp_path) as store:
        table = store.table("t")
        store.run_statement("ALTER TABLE t (ADD V LONG DEFAULT 7)")
        assert [row["V"] for row in table.table_iterator()] == [1, 7, None, 4]
        table.put({"k": 4, "w": "w", "V": 5})
        store.run_statement("CREATE INDEX i ON t (v)")
        assert [row["k"] for row in table.index_iterator("i")] == [1, 4, 2, 3]
        store.run_statement("DROP INDEX i ON t")
        store.run_statement("ALTER TABLE t (DROP v, ADD v LONG NOT NULL DEFAULT 9)")
        assert [row["v"] for row in table.table_iterator()] == [1, 9, 9, 5]
        store.run_statement("ALTER TABLE t (DROP v, ADD v LONG GENERATED BY DEFAULT AS IDENTITY)")
        assert [row["v"] for row in table.table_iterator()] == [1, None, None, 5]
        table.put({"k": 2, "w": "w"})
        assert [row["v"] for row in table.table_iterator()] == [1, 1, None, 5]
        assert check_store(store.engine.store) == []


FORMER_TYPES = [
    ("INTEGER", "STRING", "is: STRING, was: INTEGER"),
    ("INTEGER", "LONG", "is: LONG, was: INTEGER"),
    ("TIMESTAMP(3)", "TIMESTAMP(6)", "is: TIMESTAMP(6), was: TIMESTAMP(3)"),
    ("ENUM(a, b)", "ENUM(b, a)", "is: ENUM(b, a), was: ENUM(a, b)"),
    ("STRING", "STRING AS UUID", "is: STRING AS UUID, was: STRING"),
    ("BINARY(2)", "BINARY(3)", "is: FIXED_BINARY(3), was: FIXED_BINARY(2)"),
    ("ARRAY(LONG)", "ARRAY(JSON)", "is: ARRAY(JSON), was: ARRAY(LONG)"),
    ("MAP(LONG)", "ARRAY(LONG)", "is: ARRAY, was: MAP"),
    (
        "RECORD(a LONG)",
        "RECORD(a LONG, b LONG)",
        "is: RECORD(a LONG, b LONG), was: RECORD(a LONG)",
    ),
    (
        "RECORD(a LONG)",
        "RECORD(a LONG NOT NULL DEFAULT 1)",
        "is: RECORD(a LONG NOT NULL), was: RECORD(a LONG)",
    ),
]


@pytest.mark.parametrize(("was", "given", "text"), FORMER_TYPES)
def test_a_column_added_again_has_its_former_type(
    store: nosql.TypedStore, was: str, given: str, text: str
) -> None:  # corrections B, 1
    store.run_statement(f"CREATE TABLE t (k LONG, v {was}, PRIMARY KEY(k))")
    store.run_statement("ALTER TABLE t (DROP v)")
    before = store.table("t").definition
    with pytest.raises(InvalidRequest) as caught:
        store.run_statement(f"ALTER TABLE t (ADD v {given})")
    assert str(caught.value) == (
        "Error: at (1, 19) Cannot add field, v. A version of the table contains this name and the "
        f"types do not match, {text}"
    )
    assert store.table("t").definition == before
    store.run_statement(f"ALTER TABLE t (ADD v {was})")
    assert store.table("t").definition.dropped == ()


def test_a_record_added_again_has_the_numbers_of_its_fields(store: nosql.TypedStore) -> None:
    store.run_statement("CREATE TABLE t (k LONG, r RECORD(a LONG, b STRING), PRIMARY KEY(k))")
    table = store.table("t")
    store.run_statement("ALTER TABLE t (ADD r.c LONG, DROP r.a)")
    table.put({"k": 1, "r": {"b": "x", "c": 3}})
    store.run_statement("ALTER TABLE t (DROP r)")
    store.run_statement("ALTER TABLE t (ADD r RECORD(B STRING, c LONG DEFAULT 8))")
    row = table.get({"k": 1})
    assert row is not None
    assert row["r"] == {"B": "x", "c": 3}
    store.run_statement("ALTER TABLE t (ADD r.a LONG, ADD x LONG)")
    table.put({"k": 2, "r": {"a": 1, "b": "y", "c": 2}})
    assert [row["r"]["a"] for row in table.table_iterator()] == [None, 1]
    assert check_store(store.engine.store) == []


def test_a_column_that_no_version_had_is_not_remembered(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:
    evolver = TableEvolver(users.definition).add_field("x", nosql.LONG).remove_field("x")
    changed = evolver.add_field("x", nosql.STRING).build()
    assert changed.dropped == ()
    assert store.alter_table(changed).definition.field("x") is not None


def test_a_field_of_a_record_added_again_starts_empty(store: nosql.TypedStore) -> None:
    store.run_statement("CREATE TABLE t (k LONG, r RECORD(a LONG, b LONG), PRIMARY KEY(k))")
    table = store.table("t")
    table.put({"k": 1, "r": {"a": 1, "b": 2}})
    store.run_statement("ALTER TABLE t (DROP r.a)")
    store.run_statement("ALTER TABLE t (ADD r.a STRING)")
    row = table.get({"k": 1})
    assert row is not None
    assert row["r"] == {"b": 2, "a": None}


def test_fields_of_records_come_and_go(store: nosql.TypedStore) -> None:
    street = nosql.record_of(nosql.Field("street", nosql.STRING), nosql.Field("no", nosql.LONG))
    builder = nosql.TableBuilder("t").add_field("k", nosql.LONG).add_field("home", street)
    builder.add_field("all", nosql.array_of(street)).add_field("by", nosql.map_of(street))
    table = store.create_table(builder.primary_key("k").build())
    home = {"street": "x", "no": 1}
    table.put({"k": 1, "home": home, "all": [home], "by": {"m": home}})
    evolver = TableEvolver(table.definition).add_field("home.zip", nosql.STRING, default="?")
    evolver.remove_field("all[].no").add_field("by.values().zip", nosql.LONG)
    store.alter_table(evolver.build())
    row = table.get({"k": 1})
    assert row is not None
    assert row["home"] == {"street": "x", "no": 1, "zip": "?"}
    assert row["all"] == [{"street": "x"}]
    assert row["by"] == {"m": {"street": "x", "no": 1, "zip": None}}


def test_a_change_of_an_outdated_definition_is_refused(
    store: nosql.TypedStore, users: nosql.TableHandle
) -> None:
    mine = TableEvolver(users.definition).add_field("mine", nosql.LONG)
    store.alter_table(TableEvolver(users.definition).add_field("theirs", nosql.LONG).build())
    with pytest.raises(Conflict):
        store.alter_table(mine.build())
    assert users.definition.field("mine") is None


# --- a directory -----------------------------------------------------------------------------


def test_everything_is_there_after_opening_again(tmp_path: Path) -> None:
    with nosql.open(tmp_path / "s") as store:
        store.create_namespace("Ns")
        table = store.create_table(simple("ns:t"))
        version = table.put({"k": "x"}).version
        assert [store.next_plan_id(), store.next_plan_id()] == [1, 2]
    with nosql.open(str(tmp_path / "s")) as store:
        assert store.namespaces() == ["Ns"]
        row = store.table("NS:T").get({"k": "x"})
        assert row is not None
        assert row.version == version
        assert store.next_plan_id() == 3
        assert store.table("ns:t").put({"k": "x"}).version != version
    with pytest.raises(StorageFailure):
        table.get({"k": "x"})


def test_a_directory_that_is_open_elsewhere_is_refused(tmp_path: Path) -> None:
    with nosql.open(tmp_path), pytest.raises(StoreLocked) as refused:
        nosql.open(tmp_path)
    assert "A widerow server or another program has" in str(refused.value)
    with nosql.open(tmp_path):
        pass


def test_a_namespace_goes_with_its_tables_when_told_to(store: nosql.TypedStore) -> None:
    assert store.create_namespace("ns")
    assert not store.create_namespace("NS", if_not_exists=True)
    parent = store.create_table(simple("ns:t")).definition
    child = nosql.TableBuilder("kid", parent=parent).add_field("n", nosql.LONG)
    store.create_table(child.primary_key("n").build())
    assert store.drop_namespace("ns", cascade=True)
    assert (store.namespaces(), store.tables()) == ([], [])
    assert not store.drop_namespace("ns", if_exists=True)


def test_the_default_namespace_stays_and_so_do_its_tables(store: nosql.TypedStore) -> None:
    store.run_statement("CREATE TABLE t (a LONG, PRIMARY KEY(a))")
    for name in ("sysdefault", "SysDefault"):
        with pytest.raises(Conflict, match="already exists"):
            store.create_namespace(name)
        with pytest.raises(NotFound, match="Namespace does not exist"):
            store.drop_namespace(name, cascade=True)
    assert [table.name for table in store.tables()] == ["t"]


HOLD = (
    "import sys; from widerow import nosql; nosql.open(sys.argv[1]); print(1, flush=True); input()"
)


def test_a_directory_that_another_process_holds_is_refused_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe) as other:  # noqa: S603  # our own program
        assert other.stdout is not None
        assert other.stdout.readline() == b"1\n"
        with pytest.raises(StoreLocked) as refused:
            nosql.open(tmp_path)
        other.kill()
    assert "stop it, or use another directory" in str(refused.value)
    nosql.open(tmp_path).close()


def test_many_puts_share_a_sync(tmp_path: Path) -> None:
    with nosql.open(tmp_path, housekeeping=False) as store:
        table = store.create_table(simple("t"))
        before = store.engine.store.statistics()["syncs"]
        table.put_many({"k": str(number)} for number in range(1500))
        assert store.engine.store.statistics()["syncs"] == before + 2


def test_waiting_threads_share_the_next_sync(
    store: nosql.TypedStore, users: nosql.TableHandle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What threads write while a group is under way is one group behind it."""
    arrived, go_on = threading.Event(), threading.Event()
    groups: list[int] = []
    commit = store._bytes.transact_group

    def held(writes: Sequence[Any]) -> Any:  # noqa: ANN401  # the store's
        groups.append(len(writes))
        arrived.set()
        assert go_on.wait(timeout=10)
        return commit(writes)

    monkeypatch.setattr(store._bytes, "transact_group", held)
    threads = [
        threading.Thread(target=users.put, args=({"g": "g", "id": number},)) for number in range(4)
    ]
    threads[0].start()
    assert arrived.wait(timeout=10)
    for thread in threads[1:]:
        thread.start()
    while store._committer.waiting < 3:
        pass
    go_on.set()
    for thread in threads:
        thread.join()
    assert groups == [1, 3]
    assert len(users.multi_get({"g": "g"})) == 4


def test_a_closed_store_refuses_its_writers() -> None:
    with nosql.open("memory:") as opened:
        table = opened.create_table(simple("t"))
    with pytest.raises(StorageFailure):
        table.put({"k": "x"})


def test_both_models_share_one_store() -> None:
    clock = FakeClock()
    with open_store("memory:") as opened:
        typed = nosql.TypedStore(opened, clock, FakeEntropy())
        table = typed.create_table(simple("t"))
        other = open_tablestore(opened, clock, FakeEntropy(1))
        key = (KeyColumn("pk", KeyType.STRING),)
        options = OptionsChange(time_to_live=-1, max_versions=1)
        request = CreateTable("t", key, (), ThroughputChange(0, 0), options)
        other.core.run(other.create_table("i", request))
        table.put({"k": "x"})
        assert check_store(opened) == []
        assert other.list_tables("i") == ("t",)
        assert len({table.definition.id, other.describe_table("i", "t").id}) == 2


def test_threads_share_a_store(store: nosql.TypedStore, users: nosql.TableHandle) -> None:
    failures: list[BaseException] = []

    def work(g: str) -> None:
        try:
            for number in range(100):
                assert users.put({"g": g, "id": number})
                assert len(users.multi_get({"g": g})) == number + 1
        except BaseException as error:  # noqa: BLE001  # told below
            failures.append(error)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(list(users.table_iterator())) == 400
    assert store.engine.store.statistics()["writes"] >= 400
