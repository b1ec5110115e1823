"""PutRow, GetRow, UpdateRow, DeleteRow on one row (semantics §4, §5)."""

import pytest
from tests.support.answers import AnsweredRow, decode_row, plain
from tests.support.changes import (
    Columns,
    create,
    delete,
    delete_all,
    delete_one,
    get,
    increment,
    primary_key,
    put,
    put_cells,
    scan_all,
    update,
)

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import AnyRule, Conflict, InvalidRequest, NotFound
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.filter import Comparator, Comparison, Pagination
from widerow.model.tablestore.requests import BatchGet, GetRow, TableGet
from widerow.model.tablestore.row import ReturnContent, ReturnType, RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import Selection, TimeRange
from widerow.model.values import KeyInput, KeyMarker, KeyType, Value
from widerow.testing.clock import FakeClock

NOW = 1_468_944_000_000


@pytest.fixture(autouse=True)
def _table(engine: TablestoreEngine) -> None:
    engine.core.run(
        engine.create_table("i", create("t", {"k": KeyType.STRING}, max_versions=3)),
    )


def write(engine: TablestoreEngine, change: RowChange) -> None:
    engine.core.run(engine.rows.write_row("i", change))


def read(engine: TablestoreEngine, request: GetRow | None = None) -> AnsweredRow | None:
    return decode_row(engine.rows.get_row("i", request or get("t", {"k": "a"})).row)


def test_every_type_comes_back_as_it_was_put(engine: TablestoreEngine) -> None:
    columns: dict[str, Value] = {
        "s": "Hangzhou 杭州",
        "i": -(2**63),
        "d": -0.5,
        "t": True,
        "f": False,
        "b": b"\x00\xff",
        "empty": "",
    }
    write(engine, put("t", {"k": "a"}, columns))
    assert plain(read(engine)) == columns


def test_columns_are_sorted_and_versions_are_newest_first(engine: TablestoreEngine) -> None:
    # wire §2.3: columns ascending by name bytes, per column versions newest first
    write(engine, put("t", {"k": "a"}, {"b": [(NOW, 1), (NOW + 2, 3), (NOW + 1, 2)], "a": 0}))
    row = read(engine)
    assert row is not None
    assert list(row[1]) == ["a", "b"]
    assert row[1]["b"] == [(NOW + 2, 3), (NOW + 1, 2), (NOW, 1)]


def test_put_replaces_the_whole_row(engine: TablestoreEngine) -> None:
    # semantics §4.2
    write(engine, put("t", {"k": "a"}, {"x": 1, "y": 2}))
    write(engine, put("t", {"k": "a"}, {"y": 3}))
    assert plain(read(engine)) == {"y": 3}


def test_the_last_of_equal_versions_in_one_put_wins(engine: TablestoreEngine) -> None:
    write(engine, put("t", {"k": "a"}, {"x": [(NOW, 1), (NOW, 2)]}))
    row = read(engine)
    assert row is not None
    assert row[1]["x"] == [(NOW, 2)]


def test_a_row_without_attributes_exists(engine: TablestoreEngine) -> None:
    # semantics §4.2: a row with its primary key only is readable
    write(engine, put("t", {"k": "a"}, {}))
    assert read(engine) == ({"k": "a"}, {})
    write(engine, put("t", {"k": "a"}, {}, Condition(RowExpectation.EXPECT_EXIST)))


def test_update_merges_deletes_and_adds_versions(
    engine: TablestoreEngine, clock: FakeClock
) -> None:
    # semantics §4.3
    write(engine, put("t", {"k": "a"}, {"x": [(NOW, 1)], "y": [(NOW, 2)], "z": [(NOW, 3)]}))
    clock.advance(1)
    cells = [*put_cells({"x": 10, "w": 9}), delete_all("y"), delete_one("z", NOW)]
    write(engine, update("t", {"k": "a"}, cells))
    assert read(engine) == (
        {"k": "a"},
        {"w": [(NOW + 1000, 9)], "x": [(NOW + 1000, 10), (NOW, 1)]},
    )


def test_operations_of_one_update_apply_in_order(engine: TablestoreEngine) -> None:
    write(engine, put("t", {"k": "a"}, {"x": 1}))
    write(engine, update("t", {"k": "a"}, [delete_all("x"), *put_cells({"x": 2})]))
    assert plain(read(engine)) == {"x": 2}
    write(engine, update("t", {"k": "a"}, [*put_cells({"x": 3}), delete_all("x")]))
    assert read(engine) == ({"k": "a"}, {})


def test_deletes_alone_on_an_absent_row_change_nothing(engine: TablestoreEngine) -> None:
    # semantics §4.3, asserted by the Python SDK's tests
    write(engine, update("t", {"k": "a"}, [delete_all("x"), delete_one("y", 5)]))
    assert read(engine) is None


def test_a_row_keeps_existing_when_its_last_attribute_is_deleted(engine: TablestoreEngine) -> None:
    write(engine, put("t", {"k": "a"}, {"x": 1}))
    write(engine, update("t", {"k": "a"}, [delete_all("x")]))
    assert read(engine) == ({"k": "a"}, {})
    write(engine, delete("t", {"k": "a"}))
    assert read(engine) is None


def test_a_deleted_version_can_be_written_again(engine: TablestoreEngine) -> None:
    # semantics §8: deletes are ordered by arrival, not by version
    for value in (1, 2):
        write(engine, put("t", {"k": "a"}, {"x": [(NOW, value)]}))
        write(engine, delete("t", {"k": "a"}))
        assert read(engine) is None
    write(engine, put("t", {"k": "a"}, {"x": [(NOW, 3)]}))
    write(engine, update("t", {"k": "a"}, [delete_one("x", NOW)]))
    write(engine, update("t", {"k": "a"}, put_cells({"x": [(NOW, 4)]})))
    row = read(engine)
    assert row is not None
    assert row[1] == {"x": [(NOW, 4)]}


@pytest.mark.parametrize("kind", ["put", "update", "delete"])
@pytest.mark.parametrize("present", [True, False])
@pytest.mark.parametrize("expectation", list(RowExpectation))
def test_row_existence(
    engine: TablestoreEngine, kind: str, expectation: RowExpectation, *, present: bool
) -> None:
    # semantics §4.1: the nine combinations, for each of the three writes
    if present:
        write(engine, put("t", {"k": "a"}, {"x": 1}))
    condition = Condition(expectation)
    changes = {
        "put": put("t", {"k": "a"}, {"x": 2}, condition),
        "update": update("t", {"k": "a"}, put_cells({"x": 2}), condition),
        "delete": delete("t", {"k": "a"}, condition),
    }
    fails = expectation is (
        RowExpectation.EXPECT_NOT_EXIST if present else RowExpectation.EXPECT_EXIST
    )
    if fails:
        with pytest.raises(Conflict) as refused:
            write(engine, changes[kind])
        rule = TablestoreRule.ROW_EXISTS if present else TablestoreRule.ROW_ABSENT
        assert refused.value.rule is rule
        assert plain(read(engine)) == ({"x": 1} if present else None)
    else:
        write(engine, changes[kind])
        assert plain(read(engine)) == (None if kind == "delete" else {"x": 2})


def test_column_conditions(engine: TablestoreEngine) -> None:
    # semantics §4.1
    equal = Comparison("price", Comparator.EQUAL, 0)
    fresh = Condition(RowExpectation.EXPECT_NOT_EXIST, equal)
    write(engine, put("t", {"k": "a"}, {"price": 0}, fresh))
    with pytest.raises(Conflict):
        write(engine, put("t", {"k": "a"}, {"price": 1}, fresh))
    write(engine, put("t", {"k": "a"}, {"price": 5}, Condition(columns=equal)))
    with pytest.raises(Conflict):
        write(engine, delete("t", {"k": "a"}, Condition(columns=equal)))
    missing = Comparison("nowhere", Comparator.EQUAL, 1, pass_if_missing=False)
    with pytest.raises(Conflict):
        write(engine, update("t", {"k": "a"}, put_cells({"x": 1}), Condition(columns=missing)))
    by_key = Comparison("k", Comparator.EQUAL, "a", pass_if_missing=False)
    write(engine, update("t", {"k": "a"}, put_cells({"x": 1}), Condition(columns=by_key)))
    assert plain(read(engine)) == {"price": 5, "x": 1}


def test_conditions_on_any_version(engine: TablestoreEngine) -> None:
    # semantics §19 row 8: latest-only `= 1` fails, any-version `= 1` succeeds
    write(engine, put("t", {"k": "a"}, {"x": [(NOW + n, n) for n in range(3)]}))
    latest = Comparison("x", Comparator.EQUAL, 1)
    with pytest.raises(Conflict):
        write(engine, delete("t", {"k": "a"}, Condition(columns=latest)))
    anything = Comparison("x", Comparator.EQUAL, 1, latest_version_only=False)
    write(engine, delete("t", {"k": "a"}, Condition(columns=anything)))
    assert read(engine) is None


def test_increments(engine: TablestoreEngine) -> None:
    # semantics §4.6, §19 row 7: 10, 10, -30 → -10
    results: list[Value] = []
    for by in (10, 10, -30):
        change = update(
            "t",
            {"k": "a"},
            [increment("n", by), *put_cells({"item": "pen"})],
            returns=ReturnContent(ReturnType.AFTER_MODIFY, ("n",)),
        )
        row = decode_row(engine.core.run(engine.rows.write_row("i", change)).row)
        assert row is not None
        assert row[0] == {"k": "a"}
        assert list(row[1]) == ["n"]
        results.append(row[1]["n"][0][1])
    assert results == [10, 20, -10]


def test_increment_refusals_change_nothing(engine: TablestoreEngine) -> None:
    write(engine, put("t", {"k": "a"}, {"text": "x", "big": 2**63 - 1}))
    before = read(engine)
    for cells, rule in (
        ([increment("text", 1)], TablestoreRule.INCREMENT_TYPE),
        ([*put_cells({"new": 1}), increment("big", 1)], TablestoreRule.INCREMENT_OVERFLOW),
        ([increment("n", 1), delete_all("n")], TablestoreRule.INCREMENT_COMBINED),
        ([increment("n", 1), increment("n", 1)], TablestoreRule.INCREMENT_COMBINED),
    ):
        with pytest.raises(InvalidRequest) as refused:
            write(engine, update("t", {"k": "a"}, cells))
        assert refused.value.rule is rule
    for returns in (
        ReturnContent(ReturnType.AFTER_MODIFY, ("item",)),
        ReturnContent(ReturnType.PRIMARY_KEY, ("n",)),
    ):
        with pytest.raises(InvalidRequest):
            write(engine, update("t", {"k": "a"}, [increment("n", 1)], returns=returns))
    assert read(engine) == before


def test_return_primary_key(engine: TablestoreEngine) -> None:
    returns = ReturnContent(ReturnType.PRIMARY_KEY)
    written = engine.core.run(
        engine.rows.write_row("i", put("t", {"k": "a"}, {"x": 1}, returns=returns))
    )
    assert decode_row(written.row) == ({"k": "a"}, {})


def test_max_versions_of_the_table_hold_at_once(engine: TablestoreEngine) -> None:
    # semantics §1.5
    write(engine, put("t", {"k": "a"}, {"x": [(NOW + n, n) for n in range(5)]}))
    row = read(engine)
    assert row is not None
    assert row[1]["x"] == [(NOW + 4, 4), (NOW + 3, 3), (NOW + 2, 2)]


def test_selections(engine: TablestoreEngine) -> None:
    # semantics §5.1, §5.2
    write(engine, put("t", {"k": "a"}, {"x": [(NOW, 1), (NOW + 1, 2)], "y": [(NOW + 1, 3)]}))

    def selected(selection: Selection) -> object:
        row = read(engine, get("t", {"k": "a"}, selection))
        return None if row is None else row[1]

    assert selected(Selection(max_versions=1)) == {"x": [(NOW + 1, 2)], "y": [(NOW + 1, 3)]}
    assert selected(Selection(frozenset({"x", "x2"}), max_versions=1)) == {"x": [(NOW + 1, 2)]}
    assert selected(Selection(frozenset({"blah"}))) is None
    assert selected(Selection(frozenset({"blah", "k"}))) == {}
    assert selected(Selection(time_range=TimeRange(NOW, NOW + 1))) == {"x": [(NOW, 1)]}
    assert selected(Selection(start_column="y")) == {"y": [(NOW + 1, 3)]}
    assert selected(Selection(end_column="y", max_versions=1)) == {"x": [(NOW + 1, 2)]}
    assert selected(Selection(pagination=Pagination(1, 5))) == {"y": [(NOW + 1, 3)]}
    passing = Comparison("x", Comparator.GREATER_EQUAL, 2)
    assert selected(Selection(max_versions=1, filter=passing)) == {
        "x": [(NOW + 1, 2)],
        "y": [(NOW + 1, 3)],
    }
    assert selected(Selection(filter=Comparison("x", Comparator.LESS_THAN, 2))) is None


_OUTSIDE = TimeRange(NOW + 7, NOW + 8)
_UNSELECTED: list[tuple[Selection, object]] = [
    # semantics §5.2: with no columns_to_get a row comes back, without columns
    (Selection(time_range=_OUTSIDE), {}),
    (Selection(time_range=_OUTSIDE, max_versions=1), {}),
    (Selection(start_column="d"), {}),
    (Selection(pagination=Pagination(1000, 1)), {}),
    # attribute columns named, none of them there: no row
    (Selection(frozenset({"c000"}), time_range=_OUTSIDE), None),
    (Selection(frozenset({"blah"})), None),
    # a primary key column named too: its key
    (Selection(frozenset({"c000", "k"}), time_range=_OUTSIDE), {}),
    # a filter refuses the row, whatever else is asked for
    (Selection(time_range=_OUTSIDE, filter=Comparison("c000", Comparator.EXIST, b"")), None),
]


@pytest.mark.parametrize("count", [2, 1000], ids=["plain", "wide"])
@pytest.mark.parametrize(("selection", "expected"), _UNSELECTED)
def test_rows_of_which_no_column_is_selected(
    engine: TablestoreEngine, selection: Selection, expected: object, count: int
) -> None:
    # semantics §5.2: by each of the three reads
    write(engine, put("t", {"k": "a"}, {f"c{n:03}": [(NOW, n)] for n in range(count)}))
    key = primary_key({"k": "a"})
    batch = BatchGet((TableGet("t", (key,), selection),))
    (outcomes,) = engine.rows.batch_get_row("i", batch)
    assert outcomes[0].read is not None
    every = scan_all("t", {"k": KeyMarker.INF_MIN}, {"k": KeyMarker.INF_MAX}, selection=selection)
    found = [
        read(engine, get("t", {"k": "a"}, selection)),
        decode_row(outcomes[0].read.row),
        decode_row(engine.rows.get_range("i", every).rows),
    ]
    row = None if expected is None else ({"k": "a"}, expected)
    assert found == [row] * 3


def test_server_versions_never_go_back(engine: TablestoreEngine, clock: FakeClock) -> None:
    # semantics §1.5: a version that the server chooses is not below earlier ones of the cell
    write(engine, put("t", {"k": "a"}, {"x": 1}))
    clock.advance(-3600)
    write(engine, update("t", {"k": "a"}, put_cells({"x": 2})))
    assert read(engine) == ({"k": "a"}, {"x": [(NOW, 2)]})
    write(engine, put("t", {"k": "a"}, {"x": 3}))
    assert read(engine) == ({"k": "a"}, {"x": [(NOW, 3)]})


def test_keys_that_do_not_fit_the_table(engine: TablestoreEngine) -> None:
    # semantics §3
    cases: list[tuple[dict[str, KeyInput], AnyRule]] = [
        ({"k": "a", "l": 1}, TablestoreRule.KEY_SIZE),
        ({"q": "a"}, TablestoreRule.KEY_NAME),
        ({"k": 1}, TablestoreRule.KEY_TYPE),
        ({"k": KeyMarker.INF_MIN}, TablestoreRule.KEY_MARKER),
        ({"k": KeyMarker.AUTO_INCREMENT}, TablestoreRule.AUTO_INCREMENT_MARKER),
        ({"k": "x" * 1025}, TablestoreRule.KEY_LENGTH),
    ]
    for key, rule in cases:
        with pytest.raises(InvalidRequest) as refused:
            write(engine, put("t", key, {"x": 1}))
        assert refused.value.rule is rule
    write(engine, put("t", {"k": "x" * 1024}, {"x": 1}))
    write(engine, put("t", {"k": "é" * 512}, {"x": 1}))
    with pytest.raises(NotFound):
        engine.rows.get_row("i", get("nowhere", {"k": "a"}))


def test_static_limits(engine: TablestoreEngine) -> None:
    # semantics §17, at the limit and one over
    write(engine, put("t", {"k": "a"}, {"x": "v" * 2_097_152}))
    write(engine, put("t", {"k": "a"}, {f"c{n}": n for n in range(1024)}))
    cases: list[tuple[Columns, AnyRule]] = [
        ({"x": "v" * 2_097_153}, TablestoreRule.VALUE_LENGTH),
        ({"x": b"v" * 2_097_153}, TablestoreRule.VALUE_LENGTH),
        ({f"c{n}": n for n in range(1025)}, TablestoreRule.COLUMN_COUNT),
        ({"#": 1}, TablestoreRule.ATTRIBUTE_NAME),
        ({"n" * 256: 1}, TablestoreRule.ATTRIBUTE_NAME),
        ({"k": 1}, TablestoreRule.COLUMN_SHADOWS_KEY),
        ({"x": [(-1, 1)]}, TablestoreRule.VERSION_RANGE),
        ({"x": [((2**63 - 1) // 1000, 1)]}, TablestoreRule.VERSION_RANGE),
    ]
    for columns, rule in cases:
        with pytest.raises(InvalidRequest) as refused:
            write(engine, put("t", {"k": "a"}, columns))
        assert refused.value.rule is rule
    assert len(plain(read(engine)) or {}) == 1024


def test_no_row_has_five_key_columns_whatever_the_table(engine: TablestoreEngine) -> None:
    # semantics §3: counted before the table is looked up
    key: dict[str, KeyInput] = {f"k{n}": n for n in range(5)}
    for change in (
        put("nowhere", key, {"x": 1}),
        update("nowhere", key, put_cells({"x": 1})),
        delete("nowhere", key),
    ):
        with pytest.raises(InvalidRequest) as refused:
            engine.rows.write_row("i", change)
        assert refused.value.rule is TablestoreRule.KEY_COLUMN_COUNT


def test_capacity_units(engine: TablestoreEngine) -> None:
    # semantics §9: a row of 2 x 4096 bytes costs (0, 3), with an expectation (1, 3)
    columns: dict[str, Value] = {"x": "v" * 4096, "y": "v" * 4096}
    written = engine.core.run(engine.rows.write_row("i", put("t", {"k": "a"}, columns)))
    assert (written.read_units, written.write_units) == (0, 3)
    exists = Condition(RowExpectation.EXPECT_EXIST)
    written = engine.core.run(engine.rows.write_row("i", put("t", {"k": "a"}, columns, exists)))
    assert (written.read_units, written.write_units) == (1, 3)
    assert engine.rows.get_row("i", get("t", {"k": "a"})).read_units == 3
    assert engine.rows.get_row("i", get("t", {"k": "absent"})).read_units == 1
    written = engine.core.run(engine.rows.write_row("i", delete("t", {"k": "a"}, exists)))
    assert (written.read_units, written.write_units) == (1, 1)
    for cells, units in (
        ([delete_all("x")], (0, 1)),
        (put_cells({"n": 1}), (0, 1)),
        ([increment("n", 1)], (1, 1)),
        ([increment("m", 1)], (1, 1)),
    ):
        written = engine.core.run(engine.rows.write_row("i", update("t", {"k": "a"}, cells)))
        assert (written.read_units, written.write_units) == units
