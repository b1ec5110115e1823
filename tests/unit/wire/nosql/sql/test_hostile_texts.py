"""Any text is a statement or is refused: no other error, and time linear in it (ddl §2)."""

import contextlib
import time
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.wire.nosql.sql.conftest import SqlStore
from tests.unit.wire.nosql.sql.test_statements import two_tables

from widerow.errors import InvalidRequest, NotFound
from widerow.limits import NOSQL_SQL_CHARACTERS_MAX
from widerow.wire.nosql.sql.parse import parse_statement

WORD_TEXT = """
    SELECT FROM WHERE GROUP BY ORDER LIMIT OFFSET DISTINCT AS AND OR NOT IS NULL IN EXISTS
    BETWEEN CASE WHEN THEN ELSE END CAST INTEGER STRING ARRAY JSON OF TYPE LEFT OUTER JOIN
    ON NESTED TABLES DESCENDANTS INSERT UPSERT INTO VALUES DEFAULT UPDATE SET ADD PUT REMOVE
    MERGE WITH PATCH TTL DAYS RETURNING DELETE DECLARE NULLS FIRST DESC a b g id v $x $t
    $element $key $ ? * + - / || = != < <= > >= =any ( ) [ ] { } , ; : . 1 2.5 3n -1 'x' "g"
    true null count sum min max keys() values() size upper substring seq_sum array_collect
    seq_transform version remaining_hours current_time() parse_json to_last_day_of_month
    extract year
"""
WORDS = WORD_TEXT.split()
STATEMENTS = (
    "SELECT a.id, count(*) FROM a a WHERE a.g = 1 GROUP BY a.id ORDER BY a.id LIMIT 3",
    "SELECT $a FROM a $a, $a.v AS $t WHERE $t > 1",
    "INSERT INTO a (g, id, v) VALUES (1, 1, 1) RETURNING *",
    "UPDATE a SET v = v + 1 WHERE g = 1 AND id = 1 RETURNING v",
    "DELETE FROM b WHERE g IN (1, 2) AND id BETWEEN 1 AND 5",
    "DECLARE $x INTEGER; SELECT id FROM a WHERE g = $x AND id IN (1, ?)",
)


@st.composite
def changed(draw: st.DrawFn) -> str:
    """A statement some of whose words are replaced, taken away or doubled."""
    words = draw(st.sampled_from(STATEMENTS)).replace("(", " ( ").replace(")", " ) ").split()
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(words) - 1))
        words[at : at + draw(st.integers(0, 2))] = draw(
            st.lists(st.sampled_from(WORDS), max_size=3)
        )
        words = words or ["SELECT"]
    return " ".join(words)


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidRequest):
        parse_statement(text)


def test_any_statement_runs_or_is_refused() -> None:
    with two_tables() as sql:

        @settings(max_examples=400, deadline=None)
        @given(changed(), st.sampled_from(({}, {"#1": 1, "#2": 2}, {"$x": "1"})))
        def check(text: str, variables: dict[str, Any]) -> None:
            with contextlib.suppress(InvalidRequest, NotFound):
                sql.rows(text, variables=variables)

        check()


def test_long_texts_take_time_linear_in_them() -> None:
    longest = NOSQL_SQL_CHARACTERS_MAX - 100
    for part in (
        "a,",
        "(",
        "[",
        "-",
        "a.",
        "a=",
        "NOT ",
        "1+",
        "a||",
        "/*",
        "'",
        "(a,",
        "{a:",
        "\\",
    ):
        text = f"SELECT {part * (longest // len(part))}"
        begun = time.thread_time()  # other work of the machine does not count
        with contextlib.suppress(InvalidRequest):
            parse_statement(text)
        assert time.thread_time() - begun < 5, part


def test_a_short_statement_costs_little(sql: SqlStore) -> None:
    """Numbers of 10^9 digits, chains of steps, items that multiply: an answer, or one sentence."""
    sql.define("CREATE TABLE one (id INTEGER, PRIMARY KEY(id))")
    sql.rows("INSERT INTO one VALUES (1)")
    nested = "$"
    for _ in range(8):
        nested = f"seq_transform([{'1,' * 15}1][], {nested})"
    given = {
        "CAST(1e999999999n AS LONG)": 0,
        "CAST(-25e1n AS INTEGER)": -250,
        "CAST(12345678901234567890123n AS INTEGER)": 12345678901234567890123 % 2**32,
        "abs(-1e999999n)": Decimal("1E+999999"),
        f"CAST({'9' * 5000} AS STRING) = 'x'": False,
        f"CAST('{'0' * 5000}7' AS INTEGER)": 7,
    }
    begun = time.thread_time()
    for expression, expected in given.items():
        assert sql.values(f"SELECT {expression} AS v FROM one") == [expected], expression[:60]
    refused = {
        f"CAST('{'9' * 5000}' AS LONG)": "For input string",
        f"regex_like('a', '{'.*a' * 400}')": "more than 1000 characters",
        f"[1]{'[0]' * 1000}": "more than 64 steps",
        f"o{'.a' * 1000}": "more than 64 steps",
        nested: "more than 1000000 items",
        "CAST(9223372036854775807 AS TIMESTAMP(3))": "beyond the years",
        "CAST('9999-12-31T23:59-18:00' AS TIMESTAMP(3))": "Invalid year",
        "'\\ud800'": "half of a surrogate pair",
    }
    for expression, text in refused.items():
        with pytest.raises(InvalidRequest, match=text):
            sql.values(f"SELECT {expression} AS v FROM one o")
    assert time.thread_time() - begun < 20
