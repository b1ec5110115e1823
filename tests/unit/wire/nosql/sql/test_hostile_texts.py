"""Any text is a statement or is refused: no other error, and time linear in it (ddl §2)."""

import contextlib
import time
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
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
        begun = time.perf_counter()
        with contextlib.suppress(InvalidRequest):
            parse_statement(text)
        assert time.perf_counter() - begun < 5, part
