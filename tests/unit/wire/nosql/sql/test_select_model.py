"""SELECT gives what a plain computation over the rows gives, by whatever way they are read."""

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.wire.nosql.sql.conftest import SqlStore

from widerow import nosql
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy

Row = dict[str, Any]
OPERATORS = {
    "=": lambda one, other: one == other,
    "<": lambda one, other: one < other,
    "<=": lambda one, other: one <= other,
    ">": lambda one, other: one > other,
    ">=": lambda one, other: one >= other,
}
NUMBERS = st.integers(0, 4)
ROWS = st.dictionaries(
    st.tuples(NUMBERS, NUMBERS),
    st.fixed_dictionaries(
        {
            "a": st.none() | NUMBERS,
            "b": st.none() | st.sampled_from("xyz"),
            "t": st.lists(NUMBERS, max_size=3),
        }
    ),
    max_size=12,
)
CONDITIONS = st.one_of(
    st.tuples(st.sampled_from(("g", "k", "a")), st.sampled_from(list(OPERATORS)), NUMBERS),
    st.tuples(st.just("b"), st.sampled_from(list(OPERATORS)), st.sampled_from("xyz")),
    st.tuples(st.just("t"), st.just("any"), NUMBERS),
    st.tuples(st.sampled_from("ab"), st.just("null"), st.none()),
)
ORDERS = st.lists(
    st.tuples(st.sampled_from(("g", "k", "a", "b")), st.booleans()),
    max_size=3,
    unique_by=lambda o: o[0],
)


@pytest.fixture(scope="module")
def shared() -> Iterator[SqlStore]:
    with nosql.TypedStore(open_store("memory:"), FakeClock(), FakeEntropy()) as store:
        made = SqlStore(store)
        columns = "(g INTEGER, k INTEGER, a INTEGER, b STRING, t ARRAY(INTEGER)"
        for name in ("plain", "indexed"):
            made.define(f"CREATE TABLE {name} {columns}, PRIMARY KEY(SHARD(g), k))")
        made.define("CREATE INDEX ia ON indexed(a)", "CREATE INDEX iba ON indexed(b, a)")
        made.define("CREATE INDEX it ON indexed(t[])")
        yield made


def text_of(condition: tuple[str, str, Any]) -> str:
    column, operator, value = condition
    if operator == "null":
        return f"r.{column} IS NULL"
    if operator == "any":
        return f"r.t[] =any {value}"
    shown = f'"{value}"' if isinstance(value, str) else value
    return f"r.{column} {operator} {shown}"


def holds(condition: tuple[str, str, Any], row: Row) -> bool:
    column, operator, value = condition
    if operator == "null":
        return row[column] is None
    if operator == "any":
        return value in row["t"]
    return row[column] is not None and OPERATORS[operator](row[column], value)


def ordered(rows: list[Row], order: list[tuple[str, bool]]) -> list[Row]:
    """NULL is last, or first in descending order."""
    rows = sorted(rows, key=lambda row: (row["g"], row["k"]))
    for column, descending in reversed(order):
        rows.sort(
            key=lambda row: (row[column] is None, row[column] or ("" if column == "b" else 0)),
            reverse=descending,
        )
    return rows


@settings(max_examples=60)
@given(ROWS, st.lists(CONDITIONS, max_size=3), ORDERS, st.integers(1, 4), st.data())
def test_rows_are_those_of_a_plain_computation(
    shared: SqlStore,
    stored: dict[tuple[int, int], Row],
    conditions: list[tuple[str, str, Any]],
    order: list[tuple[str, bool]],
    limit: int,
    data: st.DataObject,
) -> None:
    rows = [{"g": g, "k": k, **rest} for (g, k), rest in stored.items()]
    total = {"g": 0, "k": 0}
    order = [*order, *((name, False) for name in total if name not in dict(order))]
    where = " AND ".join(map(text_of, conditions))
    clauses = f" WHERE {where}" if where else ""
    by = ", ".join(f"r.{name} {'DESC' if down else ''}" for name, down in order)
    expected = ordered([row for row in rows if all(holds(c, row) for c in conditions)], order)
    offset = data.draw(st.integers(0, 3))
    for table in ("plain", "indexed"):
        for row in shared.rows(f"SELECT g, k FROM {table}"):
            shared.store.table(table).delete(row)
        for row in rows:
            shared.store.table(table).put(row)
        select = f"FROM {table} r{clauses}"
        assert shared.rows(f"SELECT * {select} ORDER BY {by}", limit=limit) == expected
        some = shared.rows(f"SELECT * {select} ORDER BY {by} LIMIT 5 OFFSET {offset}", limit=limit)
        assert some == expected[offset : offset + 5]
        counts: dict[Any, int] = {}
        for row in expected:
            counts[row["a"]] = counts.get(row["a"], 0) + 1
        groups = shared.values(f"SELECT r.a, count(*) {select} GROUP BY r.a", limit=limit)
        assert dict(groups) == counts
        assert len(groups) == len(counts)
        distinct = shared.values(f"SELECT DISTINCT r.b {select}", limit=limit)
        assert sorted(distinct, key=str) == sorted({row["b"] for row in expected}, key=str)
        summed = [row["a"] for row in expected if row["a"] is not None]
        [(total_, least)] = shared.values(f"SELECT sum(r.a), min(r.a) {select}")
        assert (total_, least) == (sum(summed), min(summed)) if summed else (None, None)


@settings(max_examples=30)
@given(ROWS, st.lists(CONDITIONS, min_size=1, max_size=2))
def test_what_is_deleted_is_what_was_found(
    shared: SqlStore,
    stored: dict[tuple[int, int], Row],
    conditions: list[tuple[str, str, Any]],
) -> None:
    rows = [{"g": g, "k": k, **rest} for (g, k), rest in stored.items()]
    where = " AND ".join(map(text_of, conditions))
    left = [row for row in rows if not all(holds(c, row) for c in conditions)]
    for table in ("plain", "indexed"):
        shared.rows(f"DELETE FROM {table}")
        for row in rows:
            shared.store.table(table).put(row)
        deleted = shared.values(f"DELETE FROM {table} r WHERE {where}")
        assert deleted == [len(rows) - len(left)]
        assert shared.rows(f"SELECT * FROM {table} ORDER BY g, k") == ordered(left, [])
