"""Statements with little work for few rows are answered on the server's loop (internals/queues.md).

A query is given a budget there: it gives the page that it gives without one, or raises `TooLong`.
"""

from typing import Any, Final

import pytest
from tests.unit.wire.nosql.sql.conftest import ONCE, SqlStore, plain

from widerow.engine.budget import Budget
from widerow.engine.plan import Plan
from widerow.errors import TooLong
from widerow.limits import LENGTHY_RANGE_ROWS, LOOP_READ_BYTES_MAX
from widerow.wire.nosql.envelope import Frame
from widerow.wire.nosql.modes import CLOUD
from widerow.wire.nosql.operations.query import Answered, run_query, run_query_short
from widerow.wire.nosql.sql.run import prepare_statement

SHORT: Final = (
    "SELECT * FROM t",
    'SELECT * FROM t WHERE s = "a" AND k = 1',
    "DECLARE $s STRING; SELECT k, v FROM t x WHERE x.s = $s AND x.k >= ? ORDER BY s, k LIMIT 5",
    "SELECT t.j.a.b FROM t WHERE s > 'a' AND t.j.a = 3 AND v IS NOT NULL LIMIT 3 OFFSET 2",
    'INSERT INTO t VALUES ("a", 1, 5, NULL)',
    'UPSERT INTO t (s, k, v) VALUES ("a", ?, DEFAULT) RETURNING *',
)
LONG: Final = (
    "SELECT * FROM t WHERE v = 1",  # by an index
    "SELECT * FROM t ORDER BY t.j.a LIMIT 1",  # sorted
    "SELECT DISTINCT s FROM t",
    "SELECT count(*) FROM t",
    "SELECT upper(s) FROM t",
    "SELECT v * v FROM t",
    "SELECT * FROM t WHERE t.j.list[] =any 1",
    "SELECT * FROM t, t.j.list[] $item",
    "SELECT * FROM NESTED TABLES (t descendants(t.c))",
    "SELECT * FROM t WHERE s IN ?",
    "UPDATE t SET v = 1 WHERE s = 'a' AND k = 1",
    "DELETE FROM t WHERE s = 'a' AND k = 1",
    'INSERT INTO t VALUES ("a", 1, 2 * 3, NULL)',
    'INSERT INTO t VALUES ("a", 1, 5, NULL) SET TTL 3 DAYS',
    "SELECT * FROM t WHERE " + " AND ".join(["s > 'a'"] * 400),
)
OF_SHARD: Final = 'SELECT * FROM t WHERE s = "a"'


@pytest.fixture
def filled(sql: SqlStore) -> SqlStore:
    sql.define(
        "CREATE TABLE t (s STRING, k INTEGER, v INTEGER, j JSON, PRIMARY KEY(SHARD(s), k))",
        "CREATE TABLE t.c (n INTEGER, PRIMARY KEY(n))",
        "CREATE INDEX of_v ON t(v)",
    )
    for number in range(5):
        sql.rows(f'INSERT INTO t VALUES ("a", {number}, {number}, {{"a": {number}}})')
    return sql


def query(sql: SqlStore, text: str, budget: Budget | None = None, **variables: object) -> list[Any]:
    """The rows of QUERY, within a budget if one is given."""
    bound = [{"m": f"${name}", "l": value} for name, value in variables.items()]
    frame = Frame(4, {"o": 7}, {"st": text, "bv": bound}, CLOUD)
    engine = sql.store.engine
    found = (
        run_query(engine, "", frame)
        if budget is None
        else run_query_short(engine, "", frame, budget)
    )
    answered: Answered = sql.store.commit(found) if isinstance(found, Plan) else found
    rows: list[Any] = answered.members["qr"]
    return rows


def test_only_statements_with_little_work_for_a_row_are_short(filled: SqlStore) -> None:
    tables = filled.store.engine.tables
    assert [text for text in SHORT if not prepare_statement(text, tables).loop_steps] == []
    assert [text for text in LONG if prepare_statement(text, tables).loop_steps] == []


def test_the_longer_the_conditions_the_fewer_rows_are_read(filled: SqlStore) -> None:
    long = f"{OF_SHARD} AND " + " AND ".join(["k >= 0"] * 60)
    tables = filled.store.engine.tables
    few, many = (prepare_statement(text, tables).loop_steps for text in (OF_SHARD, long))
    assert (few, many) == (5, 60 * 3 + 4)


def test_a_page_within_a_budget_is_the_page_without_one(filled: SqlStore) -> None:
    """Each record takes a step and its bytes."""
    whole = filled.page(OF_SHARD, {}, ONCE)
    size = 0
    for steps in range(8):
        budget = Budget(LOOP_READ_BYTES_MAX, steps)
        try:
            page = filled.page(OF_SHARD, {}, ONCE._replace(budget=budget))
        except TooLong:
            assert steps < 5
        else:
            assert steps >= 5
            assert list(map(plain, page.rows)) == list(map(plain, whole.rows))
            size = LOOP_READ_BYTES_MAX - budget.bytes
    filled.page(OF_SHARD, {}, ONCE._replace(budget=Budget(size, 5)))
    with pytest.raises(TooLong):
        filled.page(OF_SHARD, {}, ONCE._replace(budget=Budget(size - 1, 5)))


def test_records_of_other_tables_take_steps_too(filled: SqlStore) -> None:
    """Rows of child tables lie between those of their parents."""
    for number in range(20):
        filled.rows(f'INSERT INTO t.c VALUES ("a", 2, {number})')
    with pytest.raises(TooLong):
        filled.page(OF_SHARD, {}, ONCE._replace(budget=Budget(LOOP_READ_BYTES_MAX, 24)))
    filled.page(OF_SHARD, {}, ONCE._replace(budget=Budget(LOOP_READ_BYTES_MAX, 25)))


def test_a_query_is_short_once_it_was_prepared_and_until_its_table_changes(
    filled: SqlStore,
) -> None:
    with pytest.raises(TooLong):
        query(filled, OF_SHARD, Budget())
    rows = query(filled, OF_SHARD)
    assert [each.data for each in query(filled, OF_SHARD, Budget())] == [each.data for each in rows]
    filled.define("ALTER TABLE t (ADD w INTEGER)")
    with pytest.raises(TooLong):
        query(filled, OF_SHARD, Budget())
    query(filled, OF_SHARD)
    assert len(query(filled, OF_SHARD, Budget())) == len(rows)


def test_a_query_that_read_much_is_not_tried_again(filled: SqlStore) -> None:
    """One by a whole primary key is: its next row may be small."""
    point = 'SELECT * FROM t WHERE s = "a" AND k = 1'
    for text in (OF_SHARD, point):
        query(filled, text)
        with pytest.raises(TooLong):
            query(filled, text, Budget(1, 1000))
    with pytest.raises(TooLong):
        query(filled, OF_SHARD, Budget())
    assert len(query(filled, point, Budget())) == 1


def test_long_values_are_compared_on_a_thread(filled: SqlStore) -> None:
    """An array that a client binds can be compared with itself for each row."""
    text = "DECLARE $x JSON; SELECT * FROM t WHERE $x = $x"
    for value in (1, [1] * 1000):
        assert len(query(filled, text, x=value)) == 5
    assert len(query(filled, text, Budget(), x=1)) == 5
    with pytest.raises(TooLong):
        query(filled, text, Budget(), x=[1] * 1000)


def test_a_row_is_inserted_by_a_statement_that_was_prepared(filled: SqlStore) -> None:
    text = 'INSERT INTO t VALUES ("b", 1, 1, NULL)'
    for budget in (None, Budget()):
        filled.rows('DELETE FROM t WHERE s = "b"')
        assert query(filled, text, budget) == [{"NumRowsInserted": 1}]
        assert filled.values('SELECT v FROM t WHERE s = "b"') == [1]


def test_as_many_rows_are_read_as_of_a_range(filled: SqlStore) -> None:
    """A GetRange of more rows runs on a thread as well."""
    for number in range(5, LENGTHY_RANGE_ROWS):
        filled.rows(f'INSERT INTO t VALUES ("a", {number}, 1, NULL)')
    query(filled, OF_SHARD)
    assert len(query(filled, OF_SHARD, Budget())) == LENGTHY_RANGE_ROWS
    filled.rows('INSERT INTO t VALUES ("a", 9999, 1, NULL)')
    with pytest.raises(TooLong):
        query(filled, OF_SHARD, Budget())
