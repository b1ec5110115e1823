"""SELECT against MariaDB on generated tables and queries: results in full (sql §4, §5).

Both read MySQL's dialect, so the queries have what SQLite has not: DIV, /, %, XOR, <=>, texts as
numbers, LIKE, functions of texts, numbers and dates, HAVING on aliases, columns that are not
grouped by. What differs, and is therefore left out or compared otherwise, each with its reason:

* Numbers with a point are DECIMAL there and DOUBLE here, for the rows' encoding has no decimals: a
  quotient of integers has four decimals there. Quotients and means are taken of doubles.
* SUM and AVG of integers are DECIMAL there: compared as numbers.
* Integers beyond 64 bits, and unsigned ones: an error here (differences, SQL). What bit operators
  give is unsigned there, so -1 times it is an error; here it is signed.
* GROUP_CONCAT, ANY_VALUE, columns that are not grouped by: any row's there, the first row's here.
* Rows with equal ORDER BY come in any order there: the key stands behind.
* ROUND of a double goes to the even neighbour there (2.25 to 2.2), of a DECIMAL away from zero;
  here away from zero, as for the numbers with a point that people write.
* REPLACE by NULL is the text there where nothing is to be replaced, and NULL here as in MySQL.
* CAST AS CHAR of a double: as many digits there as here, but exponents from other sizes on.
"""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.mariadb import mariadb
from tests.support.sample_tables import SAMPLE_TABLES, sample_engine
from tests.support.statements import rows_of_statement

# Expressions that Hypothesis finds too deep are drawn anew.
DEEP = [HealthCheck.filter_too_much]
NUMBERS = st.integers(-3, 3)
WORDS = st.sampled_from(["", "a", "ab", "Ba", "é", "1", "2x", "-1.5", " 3"])

numbers: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(["a", "n", "m"]),
        NUMBERS.map(str),
        st.builds(
            "({} {} {})".format, numbers, st.sampled_from(["+", "-", "*", "DIV", "%"]), numbers
        ),
        st.builds("{}({})".format, st.sampled_from(["abs", "sign"]), numbers),
        st.builds(
            "{}({}, {})".format, st.sampled_from(["ifnull", "greatest", "least"]), numbers, numbers
        ),
        st.builds("if({}, {}, {})".format, conditions, numbers, numbers),
        st.builds("{}({})".format, st.sampled_from(["length", "char_length", "ascii"]), texts),
        st.builds("locate({}, {})".format, texts, texts),
        st.builds("strcmp({}, {})".format, texts, texts),
        st.builds("field({}, {}, {})".format, texts, texts, texts),
        st.builds("cast({} AS SIGNED)".format, texts),
        st.builds("cast(7 & ({}) AS SIGNED)".format, st.sampled_from(["2", "5", "length(s)"])),
    )
)
doubles: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.just("d"),
        st.builds("(1e0 * {} / {})".format, numbers, numbers),
        st.builds("({} {} {})".format, doubles, st.sampled_from("+-*"), numbers),
        st.builds("{}({})".format, st.sampled_from(["floor", "ceil", "abs", "sqrt"]), doubles),
        st.builds("round({}, {})".format, st.just("d"), st.sampled_from([-1, 0, 2])),
        st.builds("({} + 0e0)".format, texts),
    )
)
texts: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.sampled_from(["b", "s"]),
        WORDS.map("'{}'".format),
        st.builds("{}({})".format, st.sampled_from(["upper", "lower", "reverse", "ltrim"]), texts),
        st.builds("concat({}, {})".format, texts, st.one_of(texts, numbers)),
        st.builds("concat_ws('-', {}, {})".format, texts, texts),
        st.builds(
            "{}({}, {})".format,
            st.sampled_from(["left", "right", "repeat"]),
            texts,
            st.integers(-1, 3),
        ),
        st.builds("substring({}, {}, {})".format, texts, NUMBERS, st.integers(0, 3)),
        st.builds("replace({}, 'a', '{}')".format, texts, WORDS),
        st.builds(
            "{}({}, {}, 'xy')".format, st.sampled_from(["lpad", "rpad"]), texts, st.integers(0, 4)
        ),
        st.builds("hex({})".format, texts),
        st.builds("CASE {} WHEN {} THEN {} END".format, numbers, numbers, texts),
        st.builds(
            "date_format('2024-02-29' + INTERVAL {} {}, '%Y-%m-%d')".format,
            numbers,
            st.sampled_from(["DAY", "MONTH", "YEAR"]),
        ),
    )
)
comparisons = st.sampled_from(["=", "<>", "<", "<=", ">", ">=", "<=>"])
conditions: st.SearchStrategy[str] = st.deferred(
    lambda: st.one_of(
        st.builds("{} {} {}".format, numbers, comparisons, st.one_of(numbers, doubles, texts)),
        st.builds("{} {} {}".format, texts, comparisons, texts),
        st.builds(
            "({} {} {})".format, conditions, st.sampled_from(["AND", "OR", "XOR"]), conditions
        ),
        st.builds("(NOT {})".format, conditions),
        st.builds(
            "({}) IS {}".format,
            numbers | texts | doubles,
            st.sampled_from(["NULL", "NOT NULL", "TRUE"]),
        ),
        st.builds(
            "{} {}IN ({}, {})".format, numbers, st.sampled_from(["", "NOT "]), numbers, numbers
        ),
        st.builds("{} BETWEEN {} AND {}".format, texts, texts, texts),
        st.builds("{} LIKE '{}'".format, texts, st.sampled_from(["a%", "%b", "_", "", "%", "1_"])),
        numbers,
        texts,
    )
)
aggregates = st.one_of(
    st.just("count(*)"),
    st.builds("count({})".format, numbers | texts),
    st.builds("count(DISTINCT {})".format, texts),
    st.builds("sum({})".format, numbers | doubles),
    st.builds("{}({})".format, st.sampled_from(["min", "max"]), numbers | texts | doubles),
    st.builds("avg(1e0 * {})".format, numbers),
    st.builds("bit_xor({})".format, st.sampled_from(["2", "length(b)"])),
    st.builds("{}(1e0 * {})".format, st.sampled_from(["stddev", "var_samp", "variance"]), numbers),
)
limits = st.sampled_from(["", " LIMIT 2", " LIMIT 1, 3"])


@st.composite
def queries(draw: st.DrawFn) -> tuple[str, bool]:
    """A query, and whether its rows come in one order only."""
    where = f" WHERE {draw(conditions)}" if draw(st.booleans()) else ""
    way = draw(st.sampled_from(["rows", "distinct", "groups", "joined", "inner"]))
    values = st.lists(numbers | texts | doubles | conditions, min_size=1, max_size=3)
    listed = ", ".join(draw(values))
    if way == "rows":
        first = draw(numbers | texts | doubles)
        down = draw(st.sampled_from(["", " DESC"]))
        order = f"ORDER BY if(TRUE, {first}, NULL){down}, t.a, t.b"
        return f"SELECT {listed} FROM t{where} {order}{draw(limits)}", True
    if way == "distinct":
        return f"SELECT DISTINCT {listed} FROM t{where}", False
    if way == "groups":
        key = f"if(TRUE, {draw(st.one_of(numbers, texts))}, NULL)"  # no position in the list
        having = draw(st.sampled_from(["", " HAVING c > 1", " HAVING max(a) > 0 OR c = 1"]))
        found = ", ".join(draw(st.lists(aggregates, min_size=1, max_size=3)))
        return (
            f"SELECT {key} AS k, count(*) AS c, {found} FROM t{where} GROUP BY {key}{having}",
            False,
        )
    if way == "inner":
        return f"SELECT a, b FROM t WHERE a IN (SELECT m FROM t{where}) ORDER BY a, b", True
    kind = draw(st.sampled_from(["JOIN", "LEFT JOIN", "RIGHT JOIN"]))
    on = draw(st.sampled_from(["x.n = y.m", "x.a = y.a AND x.n < y.n", "x.s = y.b", "x.n = y.s"]))
    return f"SELECT x.a, x.b, y.a, y.b, y.n FROM t x {kind} t y ON {on}", False


def literal(value: Any) -> str:  # noqa: ANN401  # of a cell
    if value is None:
        return "NULL"
    return f"'{value}'" if isinstance(value, str) else repr(value)


def compared(rows: list[Any], *, ordered: bool) -> list[tuple[Any, ...]]:
    plain = [tuple(_plain(value) for value in row) for row in rows]
    return plain if ordered else sorted(plain, key=repr)


def _plain(value: object) -> object:
    """A number as a number, in whatever way it is written; texts as they are."""
    try:
        number = float(value) if isinstance(value, int | float | str) else None
    except ValueError:
        return value
    text = isinstance(value, str) and value.strip() != value
    return value if number is None or text else float(f"{number:.9g}") + 0.0


def check_query(table: dict[tuple[int, str], dict[str, Any]], query: tuple[str, bool]) -> None:
    text, ordered = query
    server = mariadb()
    rows = [(a, b, *[cells.get(name) for name in "nmsd"]) for (a, b), cells in table.items()]
    filled = ", ".join(f"({', '.join(map(literal, row))})" for row in rows)
    columns = "a BIGINT, b VARCHAR(9), n BIGINT, m BIGINT, s VARCHAR(9), d DOUBLE"
    script = f"DROP TABLE IF EXISTS t; CREATE TABLE t ({columns}) ENGINE=MEMORY;"
    script += f"INSERT INTO t VALUES {filled};" if filled else ""
    wanted = server.ask(f"{script}{text};")
    found = rows_of_statement(sample_engine(table), text)
    assert compared(found, ordered=ordered) == compared(wanted, ordered=ordered)


@given(table=SAMPLE_TABLES, query=queries())
@settings(max_examples=25, deadline=None, suppress_health_check=DEEP)
def test_some_queries_give_the_rows_that_mariadb_gives(
    table: dict[tuple[int, str], dict[str, Any]], query: tuple[str, bool]
) -> None:
    check_query(table, query)


@pytest.mark.night
@pytest.mark.timeout(1800)
@given(table=SAMPLE_TABLES, query=queries())
@settings(max_examples=1000, deadline=None, suppress_health_check=DEEP)
def test_queries_give_the_rows_that_mariadb_gives(
    table: dict[tuple[int, str], dict[str, Any]], query: tuple[str, bool]
) -> None:
    check_query(table, query)
