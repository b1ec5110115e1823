"""What indexes promise beside their content (change §A2 to §A7)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from tests.support.answers import AnsweredRow, decode_answer_rows, plain
from tests.support.changes import create, delete, get, put, put_cells, scan_all, update
from tests.support.engines import open_tablestore

from widerow.engine.check import check_store
from widerow.engine.index_builds import STEP_ROWS
from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import AnyRule, Conflict, Exhausted, InvalidRequest, NotFound, Rule
from widerow.keys.layout import SPACE_INTENTS, SPACE_LOCAL_INDEXES, row_prefix
from widerow.limits import INTENTS_MAX, SWEEP_PAUSE_SECONDS, WHOLE_ROW_CELLS_MAX
from widerow.model.tablestore.requests import (
    ComputeSplitPoints,
    CreateIndex,
    DropIndex,
    IndexDefinition,
    OptionsChange,
    UpdateTable,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import DefinedColumn, KeyColumn
from widerow.model.values import ColumnType, KeyInput, KeyMarker, KeyType, Value
from widerow.rows.record import RecordKind
from widerow.storage.interface import Store
from widerow.testing.clock import FakeClock, FakeEntropy

KEY = {"k": KeyType.STRING, "n": KeyType.INTEGER}
DEFINED = (
    DefinedColumn("s", ColumnType.STRING),
    DefinedColumn("i", ColumnType.INTEGER),
    DefinedColumn("b", ColumnType.BINARY),
    DefinedColumn("d", ColumnType.DOUBLE),
)
GLOBAL = IndexDefinition("g", ("s",), ("i", "b"))
LOCAL = IndexDefinition("l", ("k", "i"), ("s", "b"), 1, 1)


def make(
    engine: TablestoreEngine,
    *indexes: IndexDefinition,
    key: Sequence[KeyColumn] = (),
    **options: Any,  # noqa: ANN401  # those of `create`
) -> None:
    asked = create("t", key or KEY, **options)
    engine.core.run(
        engine.create_table("i", replace(asked, defined_columns=DEFINED, indexes=tuple(indexes)))
    )


def write(engine: TablestoreEngine, key: tuple[str, int], **columns: Value) -> None:
    change = put("t", dict(zip("kn", key, strict=True)), columns)
    engine.core.run(engine.rows.write_row("i", change))


def add(engine: TablestoreEngine, index: IndexDefinition, *, base: bool = False) -> None:
    engine.core.run(engine.indexes.create("i", CreateIndex("t", index, base)))


def rows(engine: TablestoreEngine, table: str) -> list[AnsweredRow]:
    names = [column.name for column in engine.describe_table("i", table).key_columns]
    low, high = dict.fromkeys(names, KeyMarker.INF_MIN), dict.fromkeys(names, KeyMarker.INF_MAX)
    return decode_answer_rows(engine.rows.get_range("i", scan_all(table, low, high)).rows)


def keep_house(engine: TablestoreEngine) -> None:
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)


def stored(store: Store, space: bytes) -> list[bytes]:
    return [key for key, _ in store.snapshot().scan(space, space + b"\xff" * 8)]


# --- definitions (change §A2, §A3) -----------------------------------------------------------


@pytest.mark.parametrize(
    ("index", "rule"),
    [
        (IndexDefinition("1x", ("s",)), TablestoreRule.TABLE_NAME),
        (IndexDefinition("x", ("k", "nothing")), TablestoreRule.INDEX_COLUMN_UNKNOWN),
        (IndexDefinition("x", ("s",), ("nothing",)), TablestoreRule.INDEX_COLUMN_UNKNOWN),
        (IndexDefinition("x", ("s",), ("n",)), TablestoreRule.INDEX_COLUMN_UNKNOWN),
        (IndexDefinition("x", ("s", "s")), TablestoreRule.INDEX_COLUMN_DUPLICATE),
        (IndexDefinition("x", ("s",), ("s",)), TablestoreRule.INDEX_COLUMN_DUPLICATE),
        (IndexDefinition("x", ("d",)), TablestoreRule.INDEX_KEY_TYPE),
        (IndexDefinition("x", ("s",), (), 1, 1), TablestoreRule.INDEX_LOCAL_FIRST),
        (IndexDefinition("x", ("n", "k"), (), 1, 1), TablestoreRule.INDEX_LOCAL_FIRST),
        (IndexDefinition("x", ("k",), (), 0, 1), TablestoreRule.INDEX_TYPE),
        (IndexDefinition("x", ("k",), (), 1, 0), TablestoreRule.INDEX_TYPE),
        (IndexDefinition("x", ("k",), (), 2, 2), TablestoreRule.INDEX_TYPE),
    ],
)
def test_definitions_that_are_refused(
    engine: TablestoreEngine, index: IndexDefinition, rule: AnyRule
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        make(engine, index)
    assert caught.value.rule is rule
    assert engine.list_tables("i") == ()
    make(engine)
    with pytest.raises(InvalidRequest) as caught:
        add(engine, index)
    assert caught.value.rule is rule
    assert not engine.describe_table("i", "t").indexes


def test_the_auto_increment_column_is_not_first_and_appended_as_an_integer(
    engine: TablestoreEngine,
) -> None:
    key = (KeyColumn("k", KeyType.STRING), KeyColumn("n", KeyType.INTEGER, auto_increment=True))
    with pytest.raises(InvalidRequest) as caught:
        make(engine, IndexDefinition("x", ("n",)), key=key)
    assert caught.value.rule is TablestoreRule.INDEX_AUTO_INCREMENT_FIRST
    make(engine, GLOBAL, LOCAL, key=key)
    assert engine.describe_table("i", "g").auto_increment is None
    change = put("t", {"k": "a", "n": KeyMarker.AUTO_INCREMENT}, {"s": "x", "i": 1})
    engine.core.run(engine.rows.write_row("i", change))
    ((base, _),) = rows(engine, "t")
    assert [key for key, _ in rows(engine, "g")] == [{"s": "x", **base}]
    assert [key for key, _ in rows(engine, "l")] == [{"k": "a", "i": 1, "n": base["n"]}]


def test_the_quota_of_tables_counts_indexes(store: Store, clock: FakeClock) -> None:
    engine = open_tablestore(store, clock, FakeEntropy(), tables_per_instance=2)
    with pytest.raises(Exhausted):
        make(engine, GLOBAL, LOCAL)
    make(engine, GLOBAL)
    with pytest.raises(Exhausted):
        add(engine, LOCAL)


def test_columns_that_an_index_names_stay(engine: TablestoreEngine) -> None:
    make(engine, GLOBAL)
    with pytest.raises(InvalidRequest) as caught:
        engine.core.run(engine.delete_defined_columns("i", "t", ("d", "b")))
    assert caught.value.rule is TablestoreRule.INDEX_COLUMN_USED
    assert caught.value.details == {"name": "b", "index": "g"}
    engine.core.run(engine.indexes.drop("i", DropIndex("t", "g")))
    engine.core.run(engine.delete_defined_columns("i", "t", ("d", "b")))
    assert [each.name for each in engine.describe_table("i", "t").defined_columns] == ["s", "i"]


def test_options_reach_the_indexes(engine: TablestoreEngine) -> None:
    make(engine, GLOBAL, allow_update=False)
    request = UpdateTable("t", options=OptionsChange(time_to_live=86_400))
    engine.core.run(engine.update_table("i", request))
    assert engine.describe_table("i", "g").options.time_to_live == 86_400
    with pytest.raises(InvalidRequest) as caught:
        engine.core.run(
            engine.update_table("i", UpdateTable("t", options=OptionsChange(max_versions=2)))
        )
    assert caught.value.rule is TablestoreRule.INDEX_OPTIONS


def test_split_points_of_a_local_index_are_those_of_its_table(engine: TablestoreEngine) -> None:
    make(engine, LOCAL)
    for n in range(40):
        write(engine, (f"{n:04}", 0), i=n, s="x" * 1000)
    ofs = [engine.compute_split_points("i", ComputeSplitPoints(each, 9_000)) for each in "tl"]
    assert ofs[0].points == ofs[1].points
    assert ofs[1].table.name == "l"
    assert engine.core.describe_partitions("i", "l")["table"] == "t"


# --- entries ---------------------------------------------------------------------------------


def test_wide_entries_are_cut_read_and_removed(engine: TablestoreEngine, store: Store) -> None:
    make(engine, GLOBAL, LOCAL)
    write(engine, ("a", 1), s="x", i=1, b=b"b" * 100_000)
    for table in ("g", "l"):
        ((key, cells),) = rows(engine, table)
        assert plain((key, cells))["b"] == b"b" * 100_000  # type: ignore[index]  # it is there
        found = engine.rows.get_row("i", get(table, key))  # type: ignore[arg-type]  # values of a key
        assert decode_answer_rows(found.row) == [(key, cells)]
    number = engine.describe_table("i", "g").id
    kinds = [record[0] for _, record in store.snapshot().scan(*_all(row_prefix(number)))]
    assert sorted(set(kinds)) == [RecordKind.WIDE, RecordKind.SEGMENT]
    write(engine, ("a", 1), s="x", i=1, b=b"b")
    assert [cells["b"][0][1] for _, cells in rows(engine, "g")] == [b"b"]
    assert len(stored(store, SPACE_LOCAL_INDEXES)) == 1


def test_a_wide_row_gives_its_entries_all_it_should(engine: TablestoreEngine) -> None:
    make(engine, GLOBAL, LOCAL, IndexDefinition("by_key", ("n", "k")))
    free = {f"c{n:04}": n for n in range(WHOLE_ROW_CELLS_MAX + 10)}
    half = len(free) // 2
    write(engine, ("a", 1), s="x", i=1, **dict(list(free.items())[:half]))
    rest = put_cells(dict(list(free.items())[half:]))
    engine.core.run(engine.rows.write_row("i", update("t", {"k": "a", "n": 1}, rest)))
    moved = update("t", {"k": "a", "n": 1}, put_cells({"s": "y"}))
    engine.core.run(engine.rows.write_row("i", moved))
    assert [key["s"] for key, _ in rows(engine, "g")] == ["y"]
    assert [plain(row) for row in rows(engine, "l")] == [{"s": "y"}]
    assert len(rows(engine, "by_key")) == 1


def test_expired_entries_are_hidden_and_go_with_their_rows(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    key_only = IndexDefinition("by_n", ("n", "k"))
    make(engine, GLOBAL, LOCAL, key_only, time_to_live=86_400, allow_update=False)
    write(engine, ("a", 1), s="x", i=1)
    write(engine, ("b", 1))
    clock.advance(86_000)
    write(engine, ("a", 2), s="x", i=1)
    assert [len(rows(engine, each)) for each in ("g", "l", "by_n")] == [2, 2, 3]
    clock.advance(500)
    assert [key["n"] for key, _ in rows(engine, "g")] == [2]
    assert [key["n"] for key, _ in rows(engine, "l")] == [2]
    assert [(key["n"], key["k"]) for key, _ in rows(engine, "by_n")] == [(1, "b"), (2, "a")]
    clock.advance(86_400 + SWEEP_PAUSE_SECONDS)
    keep_house(engine)
    assert stored(store, SPACE_LOCAL_INDEXES) == []
    for table, left in (("g", 0), ("by_n", 1)):
        prefix = row_prefix(engine.describe_table("i", table).id)
        assert len(list(store.snapshot().scan(*_all(prefix)))) == left  # a row without cells stays


def test_dropping_one_local_index_leaves_the_others(engine: TablestoreEngine, store: Store) -> None:
    second = replace(LOCAL, name="l2", key_columns=("k", "s"), defined_columns=())
    make(engine, LOCAL, second)
    for n in range(30):
        write(engine, (f"{n % 3}", n), i=-n, s=f"{n}")
    engine.core.run(engine.indexes.drop("i", DropIndex("t", "l")))
    with pytest.raises(NotFound):
        rows(engine, "l")
    keep_house(engine)
    assert len(stored(store, SPACE_LOCAL_INDEXES)) == 30
    assert len(rows(engine, "l2")) == 30
    assert engine.core.catalog.leftovers() == []


def test_a_scan_steps_over_entries_of_other_indexes(engine: TablestoreEngine) -> None:
    indexes = [replace(LOCAL, name=f"l{n}", defined_columns=()) for n in range(3)]
    make(engine, *indexes)
    for n in range(60):
        write(engine, (f"{n % 4}", n), i=n)
    wanted = [{"k": f"{m}", "i": n, "n": n} for m in range(4) for n in range(m, 60, 4)]
    for index in indexes:
        assert [key for key, _ in rows(engine, index.name)] == wanted
        low: dict[str, KeyInput] = {"k": "1", "i": 21, "n": KeyMarker.INF_MIN}
        high: dict[str, KeyInput] = {"k": "3", "i": 7, "n": 7}
        request = scan_all(index.name, high, low, backward=True)
        found = decode_answer_rows(engine.rows.get_range("i", request).rows)
        between = wanted[wanted.index({"k": "1", "i": 21, "n": 21}) :]
        between = between[: between.index({"k": "3", "i": 7, "n": 7}) + 1]
        assert [key for key, _ in found] == between[::-1]


def test_a_type_that_is_checked_by_an_index_made_meanwhile(engine: TablestoreEngine) -> None:
    """The write was planned before the index, and runs after it (change §A4, §A10)."""
    make(engine, LOCAL)
    plan = engine.rows.write_row("i", put("t", {"k": "a", "n": 1}, {"d": "text"}))
    add(engine, replace(LOCAL, name="l2", key_columns=("k",), defined_columns=("d",)))
    with pytest.raises(InvalidRequest) as caught:
        engine.core.run(plan)
    assert caught.value.rule is TablestoreRule.INDEX_VALUE_TYPE
    assert rows(engine, "t") == []


# --- builds (change §A6) ---------------------------------------------------------------------


def many(engine: TablestoreEngine, count: int) -> None:
    for n in range(count):
        write(engine, (f"{n:05}", 0), s=f"s{n}", i=n)


def test_a_large_table_is_built_in_steps_and_after_a_crash(
    engine: TablestoreEngine, store: Store, clock: FakeClock
) -> None:
    make(engine)
    many(engine, 2 * STEP_ROWS + 10)
    add(engine, GLOBAL, base=True)
    add(engine, LOCAL, base=True)
    for table, rule in (
        ("g", TablestoreRule.INDEX_BUILDING_GLOBAL),
        ("l", TablestoreRule.INDEX_BUILDING_LOCAL),
    ):
        with pytest.raises(Conflict) as caught:
            rows(engine, table)
        assert caught.value.rule is rule
    for _ in range(2):
        engine.core.run(_next(engine))
    write(engine, ("00000", 0), s="moved", i=-1)  # beside the build
    opened = open_tablestore(store, clock, FakeEntropy())  # after a crash
    keep_house(opened)
    assert all(each.ready for each in opened.describe_table("i", "t").indexes)
    assert len(rows(opened, "g")) == len(rows(opened, "l")) == 2 * STEP_ROWS + 10
    assert rows(opened, "g")[0][0]["s"] == "moved"


def _next(engine: TablestoreEngine) -> Plan[None]:
    plan = engine.core.housekeeping()
    assert plan is not None
    return plan


def test_an_index_may_be_dropped_while_it_is_built(engine: TablestoreEngine, store: Store) -> None:
    make(engine)
    many(engine, STEP_ROWS + 1)
    add(engine, LOCAL, base=True)
    step = engine.indexes.builds.step()
    assert step is not None
    engine.core.run(engine.indexes.drop("i", DropIndex("t", "l")))
    engine.core.run(step)
    keep_house(engine)
    assert stored(store, SPACE_LOCAL_INDEXES) == []


def test_without_the_rows_there_are_an_index_has_what_is_written(engine: TablestoreEngine) -> None:
    make(engine)
    write(engine, ("a", 1), s="x", i=1)
    write(engine, ("a", 2), s="x", i=2)
    add(engine, GLOBAL)
    assert rows(engine, "g") == []
    engine.core.run(
        engine.rows.write_row("i", update("t", {"k": "a", "n": 1}, put_cells({"free": 1})))
    )
    assert [(key["n"], plain((key, cells))) for key, cells in rows(engine, "g")] == [(1, {"i": 1})]


def test_rows_from_before_that_do_not_fit_have_no_entry(engine: TablestoreEngine) -> None:
    make(engine)
    write(engine, ("a", 1), s=5, i=1)
    write(engine, ("a", 2), s="x" * 1025, i=1)
    write(engine, ("a", 3), s="x", i="text", b=1.5)
    add(engine, GLOBAL, base=True)
    add(engine, LOCAL, base=True)
    assert [plain(row) for row in rows(engine, "g")] == [{"i": "text", "b": 1.5}]
    assert [key["n"] for key, _ in rows(engine, "l")] == [1, 2]
    engine.core.run(
        engine.rows.write_row("i", update("t", {"k": "a", "n": 1}, put_cells({"s": "y"})))
    )
    assert [key["n"] for key, _ in rows(engine, "g")] == [3, 1]


# --- intents (change §A10) -------------------------------------------------------------------


def test_a_lag_keeps_global_indexes_back(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    engine.indexes.hold_back(5)
    make(engine, GLOBAL, LOCAL)
    write(engine, ("a", 1), s="x", i=1)
    write(engine, ("a", 1), s="y", i=1)
    keep_house(engine)
    assert (len(rows(engine, "g")), len(rows(engine, "l"))) == (0, 1)
    assert engine.indexes.document("i", "t")["waiting"] == 2
    clock.advance(6)
    keep_house(engine)
    assert [key["s"] for key, _ in rows(engine, "g")] == ["y"]
    assert stored(store, SPACE_INTENTS) == []
    write(engine, ("a", 1), s="z", i=1)
    clock.advance(6)
    keep_house(engine)
    assert [key["s"] for key, _ in rows(engine, "g")] == ["z"]
    assert engine.indexes.intents.pause(10) < 10
    engine.core.run(engine.rows.write_row("i", delete("t", {"k": "a", "n": 1})))
    clock.advance(6)
    keep_house(engine)
    assert rows(engine, "g") == []


def test_an_index_answers_when_the_entries_of_its_build_have_come(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    """change §A6: writes that go on meanwhile, whose entries are late themselves, delay nothing."""
    engine.indexes.hold_back(5)
    make(engine)
    write(engine, ("a", 1), s="x")
    add(engine, GLOBAL, base=True)
    for seconds in range(1, 15):
        clock.advance(1)
        keep_house(engine)
        try:
            found = rows(engine, "g")
        except Conflict:
            write(engine, ("a", 1 + seconds), s="y")
            continue
        assert ("x", 1) in {(key["s"], key["n"]) for key, _ in found}
        assert seconds in (10, 11)  # begun after five of them, and settled after five more
        return
    raise AssertionError("the index never answers")


def test_intents_are_worked_off_by_a_server_without_the_lag(
    engine: TablestoreEngine, clock: FakeClock, store: Store
) -> None:
    """An older intent does not undo what a newer write has put into the index at once."""
    engine.indexes.hold_back(5)
    make(engine, GLOBAL)
    write(engine, ("a", 1), s="x")
    opened = open_tablestore(store, clock, FakeEntropy())
    write(opened, ("a", 1), s="y")
    clock.advance(6)
    keep_house(opened)
    assert [key["s"] for key, _ in rows(opened, "g")] == ["y"]
    assert stored(store, SPACE_INTENTS) == []


def test_writes_wait_where_too_many_intents_do(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert INTENTS_MAX == 10_000
    monkeypatch.setattr("widerow.engine.intents.INTENTS_MAX", 3)
    engine.indexes.hold_back(5)
    make(engine, GLOBAL)
    for n in range(3):
        write(engine, ("a", n), s="x")
    with pytest.raises(Exhausted) as caught:
        write(engine, ("a", 4), s="x")
    assert caught.value.rule is Rule.SERVER_BUSY
    write(engine, ("a", 4), i=1)  # nothing of the index changes
    write(engine, ("b", 0), s="x")  # another partition key


# --- the checker -----------------------------------------------------------------------------


def test_the_checker_compares_index_and_table_both_ways(
    engine: TablestoreEngine, store: Store
) -> None:
    make(engine, GLOBAL, LOCAL)
    write(engine, ("a", 1), s="x", i=1)
    write(engine, ("a", 2), s="y", i=2)
    assert check_store(store) == []
    for space in (row_prefix(engine.describe_table("i", "g").id), SPACE_LOCAL_INDEXES):
        first, second = store.snapshot().scan(*_all(space))
        _set(store, first[0], None)
        assert ["no entry" in each.problem for each in check_store(store)] == [True]
        _set(store, first[0], second[1])
        problems = sorted(each.problem for each in check_store(store))
        assert ["another entry" in problems[1], "does not have" in problems[0]] == [True, True]
        _set(store, first[0], first[1])
    row = next(iter(store.snapshot().scan(*_all(row_prefix(engine.describe_table("i", "t").id)))))
    _set(store, row[0], None)
    assert ["of no row" in each.problem for each in check_store(store)] == [True, True]
    _set(store, *row)
    assert check_store(store) == []


def _all(prefix: bytes) -> tuple[bytes, bytes]:
    return prefix, prefix + b"\xff" * 64


def _set(store: Store, key: bytes, value: bytes | None) -> None:
    if value is None:
        store.transact((key,), lambda txn: txn.delete(key))
    else:
        store.transact((key,), lambda txn: txn.put(key, value))


def test_an_index_that_comes_before_the_end_of_its_table_keeps_it(engine: TablestoreEngine) -> None:
    # change §A7, with --keep-indexed-tables: decided in the transaction, not before it
    engine.indexes.keeps_indexed_tables = True
    make(engine)
    deleting = engine.delete_table("i", "t")
    add(engine, GLOBAL)
    with pytest.raises(InvalidRequest) as caught:
        engine.core.run(deleting)
    assert caught.value.rule is TablestoreRule.TABLE_HAS_INDEXES
    assert caught.value.details == {"table": "t", "index": "g"}
    engine.core.run(engine.indexes.drop("i", DropIndex("t", "g")))
    engine.core.run(engine.delete_table("i", "t"))
    assert engine.list_tables("i") == ()
