"""Spoiled statements: each is answered or refused by an error of ours, and changes nothing else."""

import re
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.changes import create, put
from tests.support.statements import rows_of_statement, run_sql, statement_engine
from tests.support.volume import examples

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import WiderowError
from widerow.model.tablestore.schema import DefinedColumn, KeyColumn
from widerow.model.values import ColumnType, KeyType

STATEMENTS = """
SELECT a, count(*) AS c, sum(n), group_concat(b SEPARATOR ',') FROM t x LEFT JOIN t y USING (a)
  WHERE x.n BETWEEN 1 AND 2 OR x.b LIKE 'a%' AND NOT y.b IN ('x', NULL) GROUP BY a HAVING c > 1
  ORDER BY 2 DESC, a LIMIT 3 OFFSET 1;
SELECT DISTINCT CASE WHEN n IS NULL THEN 'a' ELSE upper(b) END, CAST(n AS CHAR), n DIV 2, -n % 3,
  date_add(from_unixtime(n), INTERVAL 1 DAY), b ->> '$.x', X'00FF', 1.5e3 FROM (SELECT * FROM t) q;
SELECT substring(b FROM 2 FOR 1), trim(BOTH 'a' FROM b), n = (SELECT max(n) FROM t) FROM t, t AS u;
EXPLAIN SELECT * FROM t WHERE a = 1 AND b >= 'q';
SHOW INDEX IN t;
SHOW TABLES;
DESC t
"""
WORDS = re.compile(r"'[^']*'|\w+|\s+|[^\w\s]")
PARTS = [WORDS.findall(statement.strip()) for statement in STATEMENTS.split(";")]
STRANGE = """
' " ` ( ) , ; -- /* */ \\ é NULL SELECT FROM * . 0x 1e999 @@x := ? { [1] -> INTERVAL
JOIN OVER() WITH UNION INTO UPDATE AS DISTINCT - ~ = IN
"""


@st.composite
def spoiled(draw: st.DrawFn) -> str:
    """A statement with some words taken away, doubled, exchanged or put in."""
    parts = list(draw(st.sampled_from(PARTS)))
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(parts) - 1)))
        way = draw(st.sampled_from(["drop", "double", "strange", "other", "cut"]))
        if way == "drop":
            del parts[at : at + draw(st.integers(1, 3))]
        elif way == "double":
            parts[at:at] = parts[at : at + draw(st.integers(1, 6))]
        elif way == "strange":
            parts.insert(at, draw(st.sampled_from(STRANGE.split()) | st.text(max_size=3)))
        elif way == "other":
            parts.insert(at, draw(st.sampled_from(draw(st.sampled_from(PARTS)))))
        else:
            parts[at:] = []
    return "".join(parts)


@pytest.fixture(scope="module")
def engine() -> TablestoreEngine:
    """A table with three rows."""
    opened = statement_engine()
    key = (KeyColumn("a", KeyType.INTEGER), KeyColumn("b", KeyType.STRING))
    table = replace(create("t", key), defined_columns=(DefinedColumn("n", ColumnType.INTEGER),))
    opened.core.run(opened.create_table("i", table))
    for number in range(3):
        row = put("t", {"a": number % 2, "b": f"a{number}"}, {"n": number})
        opened.core.run(opened.rows.write_row("i", row))
    return opened


@given(text=spoiled() | st.text(max_size=40))
@settings(max_examples=examples(3000))
def test_a_spoiled_statement_is_answered_or_refused(engine: TablestoreEngine, text: str) -> None:
    before = rows_of_statement(engine, "SELECT * FROM t")
    with suppress(WiderowError):
        run_sql(engine, text)
    assert rows_of_statement(engine, "SELECT * FROM t") == before
