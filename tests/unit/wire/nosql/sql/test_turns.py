"""Statements that read or make many rows let others have their turn, and end with their client."""

import pytest
from tests.unit.wire.nosql.sql.conftest import SqlStore

from widerow.errors import Exhausted, Rule
from widerow.wire.nosql.operations.table import BY_CODE
from widerow.wire.nosql.sql.loops import STEPS_IN_TURN

ROWS = 5 * STEPS_IN_TURN
ITEMS = "[1, 2, 3, 4, 5, 6, 7, 8][]"
LONG = (
    "SELECT g, count(*) FROM many GROUP BY g",
    "SELECT id FROM many ORDER BY g LIMIT 1",
    "SELECT DISTINCT g FROM many",
    "DELETE FROM many WHERE g < 0",
    # One row is read, and half a thousand are made of it.
    f"SELECT count(*) FROM many m, {ITEMS} $a, {ITEMS} $b, {ITEMS} $c WHERE m.id = 1",
)


@pytest.fixture
def many(sql: SqlStore) -> SqlStore:
    sql.define("CREATE TABLE many (id INTEGER, g INTEGER, PRIMARY KEY(id))")
    for number in range(ROWS):
        sql.rows(f"INSERT INTO many VALUES ({number}, {number % 7})")
    return sql


@pytest.mark.parametrize("statement", LONG)
def test_a_long_statement_gives_way_and_ends_where_nobody_waits(
    many: SqlStore, statement: str
) -> None:
    turns: list[None] = []
    many.rows(statement, between=lambda: turns.append(None))
    assert len(turns) >= 5

    def gone() -> None:
        raise Exhausted(Rule.CLIENT_GONE)

    with pytest.raises(Exhausted):
        many.rows(statement, between=gone)


def test_statements_stand_in_the_line_of_statements() -> None:
    """Few of one key run at a time (`server/fair_line.py`)."""
    assert [name for name in map(_lined, BY_CODE.values()) if name] == ["QUERY"]


def _lined(operation: object) -> str:
    return str(getattr(operation, "name", "")) if getattr(operation, "call_between", None) else ""
