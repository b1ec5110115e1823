"""BatchWriteRow and BatchGetRow (semantics §4.8, §5.5)."""

import pytest
from tests.support.answers import decode_row, plain
from tests.support.changes import create, delete, get, primary_key, put, put_cells, update

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import AnyRule, InvalidRequest, Rule, WiderowError
from widerow.model.tablestore.answers import RowOutcome
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.filter import Comparator, Comparison
from widerow.model.tablestore.requests import BatchGet, BatchWrite, TableGet, TableWrite
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import Selection
from widerow.model.values import KeyInput, KeyType

EXISTS = Condition(RowExpectation.EXPECT_EXIST)


@pytest.fixture(autouse=True)
def _tables(engine: TablestoreEngine) -> None:
    schema = {"k": KeyType.STRING, "n": KeyType.INTEGER}
    for name in ("t", "u"):
        engine.core.run(engine.create_table("i", create(name, schema)))


def batch(engine: TablestoreEngine, *changes: RowChange, atomic: bool = False) -> list[RowOutcome]:
    tables = tuple(TableWrite(change.table, (change,)) for change in changes)
    answered = engine.core.run(engine.rows.batch_write_row("i", BatchWrite(tables, atomic)))
    return [outcome for rows in answered for outcome in rows]


def row(engine: TablestoreEngine, key: str, number: int, table: str = "t") -> object:
    found = engine.rows.get_row("i", get(table, {"k": key, "n": number})).row
    return plain(decode_row(found))


def rules(outcomes: list[RowOutcome]) -> list[AnyRule | None]:
    return [getattr(outcome.error, "rule", None) for outcome in outcomes]


def test_every_row_stands_alone(engine: TablestoreEngine) -> None:
    outcomes = batch(
        engine,
        put("t", {"k": "a", "n": 1}, {"x": 1}),
        put("t", {"k": "a", "n": 2}, {"x": 1}, EXISTS),
        put("nowhere", {"k": "a", "n": 1}, {"x": 1}),
        put("t", {"k": "a"}, {"x": 1}),
        update("u", {"k": "b", "n": 3}, put_cells({"y": 2})),
    )
    assert rules(outcomes) == [
        None,
        TablestoreRule.ROW_ABSENT,
        Rule.TABLE_NOT_FOUND,
        TablestoreRule.KEY_SIZE,
        None,
    ]
    assert row(engine, "a", 1) == {"x": 1}
    assert row(engine, "a", 2) is None
    assert row(engine, "b", 3, "u") == {"y": 2}


def test_repeated_rows_apply_in_order(engine: TablestoreEngine) -> None:
    # semantics §19 row 5: puts: the last one stays; updates merge
    key: dict[str, KeyInput] = {"k": "a", "n": 1}
    assert rules(batch(engine, *(put("t", key, {"x": n}) for n in range(10)))) == [None] * 10
    assert row(engine, "a", 1) == {"x": 9}
    batch(engine, *(update("t", key, put_cells({f"y{n}": n})) for n in range(3)))
    assert row(engine, "a", 1) == {"x": 9, "y0": 0, "y1": 1, "y2": 2}
    batch(engine, put("t", key, {"z": 1}), delete("t", key))
    assert row(engine, "a", 1) is None


def test_repeated_rows_take_no_conditions(engine: TablestoreEngine) -> None:
    key: dict[str, KeyInput] = {"k": "a", "n": 1}
    test = Condition(columns=Comparison("x", Comparator.EQUAL, 1))
    for condition, rule in (
        (EXISTS, TablestoreRule.BATCH_REPEATED_EXPECTATION),
        (test, TablestoreRule.BATCH_REPEATED_CONDITION),
    ):
        with pytest.raises(InvalidRequest) as refused:
            batch(engine, put("t", key, {"x": 1}), put("t", key, {"x": 2}, condition))
        assert refused.value.rule is rule


def test_static_violations_fail_the_whole_request(engine: TablestoreEngine) -> None:
    with pytest.raises(InvalidRequest):
        batch(
            engine, put("t", {"k": "a", "n": 1}, {"x": 1}), put("t", {"k": "a", "n": 2}, {"#": 1})
        )
    assert row(engine, "a", 1) is None


def test_batch_write_counts(engine: TablestoreEngine) -> None:
    changes = [put("t", {"k": "a", "n": n}, {"x": n}) for n in range(201)]
    assert rules(batch(engine, *changes[:200])) == [None] * 200
    cases: list[tuple[BatchWrite, AnyRule]] = [
        (BatchWrite((TableWrite("t", tuple(changes)),)), TablestoreRule.BATCH_WRITE_COUNT),
        (BatchWrite(()), TablestoreRule.BATCH_WRITE_EMPTY),
        (BatchWrite((TableWrite("t", ()),)), TablestoreRule.BATCH_WRITE_TABLE_EMPTY),
    ]
    for request, rule in cases:
        with pytest.raises(InvalidRequest) as refused:
            engine.rows.batch_write_row("i", request)
        assert refused.value.rule is rule


def test_atomic_batches(engine: TablestoreEngine) -> None:
    # semantics §4.8: one partition key value of one table, all or nothing
    good = [put("t", {"k": "a", "n": n}, {"x": n}) for n in range(3)]
    assert rules(batch(engine, *good, atomic=True)) == [None] * 3
    assert row(engine, "a", 2) == {"x": 2}
    failing = [
        put("t", {"k": "a", "n": 1}, {"x": 10}),
        put("t", {"k": "a", "n": 99}, {"x": 1}, EXISTS),
    ]
    assert rules(batch(engine, *failing, atomic=True)) == [TablestoreRule.ROW_ABSENT] * 2
    assert row(engine, "a", 1) == {"x": 1}
    other = put("t", {"k": "b", "n": 1}, {"x": 1})
    assert rules(batch(engine, good[0], other, atomic=True)) == (
        [TablestoreRule.BATCH_ATOMIC_SCOPE] * 2
    )


def test_each_table_of_an_atomic_batch_stands_and_falls_by_itself(engine: TablestoreEngine) -> None:
    # semantics §4.8
    missing = put("t", {"k": "a", "n": 99}, {"x": 1}, EXISTS)
    good = put("t", {"k": "a", "n": 1}, {"x": 1})
    others = [put("u", {"k": key, "n": 1}, {"x": 1}) for key in "bc"]
    failed = TablestoreRule.ROW_ABSENT
    assert rules(batch(engine, good, others[0], missing, atomic=True)) == [failed, None, failed]
    assert (row(engine, "a", 1), row(engine, "b", 1, "u")) == (None, {"x": 1})
    scope = TablestoreRule.BATCH_ATOMIC_SCOPE
    gone = put("nowhere", {"k": "a", "n": 1}, {"x": 1})
    assert rules(batch(engine, others[0], gone, good, others[1], atomic=True)) == [
        scope,
        Rule.TABLE_NOT_FOUND,
        None,
        scope,
    ]
    assert row(engine, "a", 1) == {"x": 1}


def test_batch_get(engine: TablestoreEngine) -> None:
    batch(engine, *(put("t", {"k": "a", "n": n}, {"x": n, "y": n}) for n in range(3)))
    keys = tuple(primary_key({"k": "a", "n": n}) for n in (0, 7, 2, 2))
    only_x = Selection(frozenset({"x"}), max_versions=1)
    request = BatchGet(
        (
            TableGet("t", (*keys, primary_key({"k": "a"})), only_x),
            TableGet("nowhere", keys[:1], only_x),
            TableGet("u", (), only_x),
        )
    )
    t, nowhere, empty = engine.rows.batch_get_row("i", request)
    found = [plain(decode_row(o.read.row)) if o.read else o.error for o in t]
    assert found[:4] == [{"x": 0}, None, {"x": 2}, {"x": 2}]
    assert isinstance(found[4], WiderowError)
    assert rules(t) == [None, None, None, None, TablestoreRule.KEY_SIZE]
    assert rules(nowhere) == [Rule.TABLE_NOT_FOUND]
    assert empty == []


def test_batch_get_counts(engine: TablestoreEngine) -> None:
    keys = tuple(primary_key({"k": "a", "n": n}) for n in range(101))
    engine.rows.batch_get_row("i", BatchGet((TableGet("t", keys[:100], Selection()),)))
    for request, rule in (
        (BatchGet((TableGet("t", keys, Selection()),)), TablestoreRule.BATCH_GET_COUNT),
        (BatchGet(()), TablestoreRule.BATCH_GET_EMPTY),
    ):
        with pytest.raises(InvalidRequest) as refused:
            engine.rows.batch_get_row("i", request)
        assert refused.value.rule is rule
