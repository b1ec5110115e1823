"""SELECT against SQLite on generated tables and queries: results in full.

What SQLite does differently is left out of the queries: division of integers, texts as numbers,
results of conditions as booleans are 1 and 0 in both. (sql §4, §5)
"""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.support.changes import create, put
from tests.support.statements import rows_of_statement, statement_engine
from tests.support.volume import examples

from widerow.model.tablestore.schema import DefinedColumn, KeyColumn
from widerow.model.values import ColumnType, KeyType

NUMBERS = st.integers(-3, 3)
WORDS = st.sampled_from(["", "a", "ab", "b", "Ba", "é"])
CELLS = st.fixed_dictionaries(
    {}, optional={"n": NUMBERS, "m": NUMBERS, "s": WORDS, "d": st.sampled_from([-1.5, 0.0, 2.25])}
)
TABLES = st.dictionaries(st.tuples(NUMBERS, st.sampled_from("pqr")), CELLS, max_size=10)
COLUMNS = ("a", "b", "n", "m", "s", "d")

numbers: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(["a", "n", "m"]),
        NUMBERS.map(str),
        st.builds("({} {} {})".format, numbers, st.sampled_from("+-*"), numbers),
        st.builds("abs({})".format, numbers),
        st.builds("coalesce({}, {})".format, numbers, numbers),
        st.builds("CASE WHEN {} THEN {} ELSE {} END".format, conditions, numbers, numbers),
    )
)
texts: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(["b", "s"]),
        WORDS.map("'{}'".format),
        st.builds("upper({})".format, st.just("b")),
        st.builds("nullif({}, {})".format, texts, texts),
        st.builds("substr({}, 1, 1)".format, texts),
    )
)
comparisons = st.sampled_from(["=", "<>", "<", "<=", ">", ">="])
conditions: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.builds("{} {} {}".format, numbers, comparisons, numbers),
        st.builds("{} {} {}".format, texts, comparisons, texts),
        st.builds("({} AND {})".format, conditions, conditions),
        st.builds("({} OR {})".format, conditions, conditions),
        st.builds("(NOT {})".format, conditions),
        st.builds("{} IS NULL".format, numbers | texts),
        st.builds("{} IS NOT NULL".format, texts),
        st.builds("{} BETWEEN {} AND {}".format, numbers, numbers, numbers),
        st.builds("{} IN ({}, {})".format, numbers, numbers, numbers),
        st.builds("{} NOT IN ({}, NULL)".format, numbers, NUMBERS),
        st.builds("a {} {}".format, comparisons, NUMBERS),
        st.builds("b {} '{}'".format, comparisons, st.sampled_from("pqr")),
    )
)
aggregates = st.one_of(
    st.just("count(*)"),
    st.builds("count({})".format, numbers | texts),
    st.builds("count(DISTINCT {})".format, numbers),
    st.builds("sum(1.0 * {})".format, numbers),
    st.builds("min({})".format, numbers | texts),
    st.builds("max({})".format, numbers | texts),
    st.builds("avg({})".format, numbers),
)
directions = st.sampled_from(["", " DESC"])
limits = st.sampled_from(["", " LIMIT 2", " LIMIT 3 OFFSET 1", " LIMIT 0"])


@st.composite
def queries(draw: st.DrawFn) -> tuple[str, bool]:
    """A query, and whether its rows come in one order only."""
    where = f" WHERE {draw(conditions)}" if draw(st.booleans()) else ""
    way = draw(st.sampled_from(["rows", "distinct", "groups", "joined"]))
    if way == "rows":
        listed = ", ".join(draw(st.lists(numbers | texts, min_size=1, max_size=3)))
        first = draw(st.sampled_from(["n", "s", "d", "a + n", "abs(m)", "upper(b)"]))
        order = f" ORDER BY {first}{draw(directions)}, a{draw(directions)}, b{draw(directions)}"
        return f"SELECT {listed} FROM t{where}{order}{draw(limits)}", True
    if way == "distinct":
        return f"SELECT DISTINCT {draw(numbers)}, s FROM t{where}", False
    if way == "groups":
        key = draw(st.sampled_from(["a", "b", "n", "s", "a, n"]))
        counted = draw(st.sampled_from(["count(*)", "sum(1.0 * n)", "max(m)", "avg(a)"]))
        having = f" HAVING {counted} > 0" if draw(st.booleans()) else ""
        listed = ", ".join(draw(st.lists(aggregates, min_size=1, max_size=3)))
        return f"SELECT {key}, {listed} FROM t{where} GROUP BY {key}{having}", False
    kind = draw(st.sampled_from(["JOIN", "LEFT JOIN", "CROSS JOIN"]))
    on = draw(st.sampled_from(["x.n = y.m", "x.a = y.a AND x.n < y.n", "x.s = y.s", "x.n > y.n"]))
    condition = "" if kind == "CROSS JOIN" else f" ON {on}"
    both = draw(st.sampled_from(["", " WHERE x.n > 0", " WHERE y.s IS NULL", " WHERE x.a = y.m"]))
    return f"SELECT x.a, x.b, y.a, y.b, y.n FROM t x {kind} t y{condition}{both}", False


def compared(rows: list[tuple[Any, ...]], *, ordered: bool) -> list[tuple[Any, ...]]:
    plain = [tuple(_plain(value) for value in row) for row in rows]
    return plain if ordered else sorted(plain, key=repr)


def _plain(value: object) -> object:
    return round(float(value), 9) + 0.0 if isinstance(value, bool | int | float) else value


def inserted(rows: dict[tuple[int, str], dict[str, Any]]) -> Iterator[tuple[Any, ...]]:
    for (a, b), cells in rows.items():
        yield (a, b, *[cells.get(name) for name in COLUMNS[2:]])


@given(table=TABLES, query=queries())
@settings(max_examples=examples(1000))
def test_queries_give_the_rows_that_sqlite_gives(
    table: dict[tuple[int, str], dict[str, Any]], query: tuple[str, bool]
) -> None:
    text, ordered = query
    assume(text.count("(") < 20)  # what SQLite's parser takes
    engine = statement_engine()
    key = (KeyColumn("a", KeyType.INTEGER), KeyColumn("b", KeyType.STRING))
    kinds = (ColumnType.INTEGER, ColumnType.INTEGER, ColumnType.STRING, ColumnType.DOUBLE)
    defined = tuple(DefinedColumn(n, k) for n, k in zip(COLUMNS[2:], kinds, strict=True))
    engine.core.run(engine.create_table("i", replace(create("t", key), defined_columns=defined)))
    for (a, b), cells in table.items():
        engine.core.run(engine.rows.write_row("i", put("t", {"a": a, "b": b}, cells)))
    with closing(sqlite3.connect(":memory:")) as other:
        other.execute("CREATE TABLE t (a INTEGER, b TEXT, n INTEGER, m INTEGER, s TEXT, d REAL)")
        other.executemany("INSERT INTO t VALUES (?, ?, ?, ?, ?, ?)", inserted(table))
        wanted = other.execute(text).fetchall()
    found = rows_of_statement(engine, text)
    assert compared(found, ordered=ordered) == compared(wanted, ordered=ordered)
