"""SELECT over a table of every type: what clauses, operators, functions give (sql §3 to §8)."""

from dataclasses import replace
from sys import float_info
from typing import Any

import pytest
from tests.support.changes import create, put
from tests.support.statements import rows_of_statement, rule_of_refusal, run_sql, statement_engine

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule as R
from widerow.model.tablestore.schema import DefinedColumn, KeyColumn
from widerow.model.values import ColumnType, KeyType

KEY = (KeyColumn("a", KeyType.INTEGER), KeyColumn("b", KeyType.STRING))
DEFINED = (
    DefinedColumn("n", ColumnType.INTEGER),
    DefinedColumn("d", ColumnType.DOUBLE),
    DefinedColumn("f", ColumnType.BOOLEAN),
    DefinedColumn("s", ColumnType.STRING),
    DefinedColumn("x", ColumnType.BINARY),
)
ROWS: list[tuple[int, str, dict[str, Any]]] = [
    (1, "p", {"n": 10, "d": 0.5, "f": True, "s": "Blue", "x": b"\x01"}),
    (1, "q", {"n": 20, "d": -1.5, "f": False, "s": "blue sky"}),
    (2, "p", {"n": 30, "s": "red", "x": b"\xff\x00"}),
    (2, "r", {"d": 2.0, "f": True}),
    (3, "s", {"n": -5, "s": "12 reds"}),
]


@pytest.fixture(scope="module")
def engine() -> TablestoreEngine:
    """Table `t` with the rows above, and table `u` of colours."""
    opened = statement_engine()
    opened.core.run(opened.create_table("i", replace(create("t", KEY), defined_columns=DEFINED)))
    for a, b, cells in ROWS:
        opened.core.run(opened.rows.write_row("i", put("t", {"a": a, "b": b}, cells)))
    colours = (KeyColumn("name", KeyType.STRING),)
    kept = (DefinedColumn("code", ColumnType.INTEGER),)
    opened.core.run(opened.create_table("i", replace(create("u", colours), defined_columns=kept)))
    for name, code in (("red", 1), ("green", 2)):
        opened.core.run(opened.rows.write_row("i", put("u", {"name": name}, {"code": code})))
    return opened


def select(engine: TablestoreEngine, text: str) -> list[tuple[Any, ...]]:
    return rows_of_statement(engine, f"SELECT {text}")


def scalar(engine: TablestoreEngine, text: str) -> object:
    [(value,)] = select(engine, text)
    return value


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a, b FROM t", [(1, "p"), (1, "q"), (2, "p"), (2, "r"), (3, "s")]),
        ("b FROM t WHERE a = 1", [("p",), ("q",)]),
        ("n FROM t WHERE a = 2 AND b = 'p'", [(30,)]),
        ("b FROM t WHERE a IN (3, 1) AND b > 'p'", [("q",), ("s",)]),
        ("a FROM t WHERE b LIKE 'p%'", [(1,), (2,)]),
        ("a FROM t WHERE a BETWEEN 2 AND 3 AND n IS NOT NULL", [(2,), (3,)]),
        ("a FROM t WHERE 2 < a", [(3,)]),
        ("a FROM t WHERE a = 1 AND a = 2", []),
        ("n FROM t WHERE n > 5 ORDER BY n DESC", [(30,), (20,), (10,)]),
        ("n FROM t ORDER BY n", [(None,), (-5,), (10,), (20,), (30,)]),
        ("n FROM t ORDER BY n DESC LIMIT 1", [(30,)]),
        ("b FROM t ORDER BY a DESC, b DESC LIMIT 2", [("s",), ("r",)]),
        ("b FROM t WHERE a = 2 ORDER BY b DESC", [("r",), ("p",)]),
        ("b, n AS k FROM t WHERE n > 0 ORDER BY k DESC LIMIT 1, 2", [("q", 20), ("p", 10)]),
        ("a FROM t LIMIT 2 OFFSET 3", [(2,), (3,)]),
        ("a FROM t LIMIT 0", []),
        ("DISTINCT a FROM t", [(1,), (2,), (3,)]),
        ("DISTINCT f FROM t ORDER BY f", [(None,), (False,), (True,)]),
        ("count(*), count(n), count(DISTINCT a) FROM t", [(5, 4, 3)]),
        ("sum(n), avg(n), min(d), max(s) FROM t", [(55.0, 13.75, -1.5, "red")]),
        ("sum(n) FROM t WHERE a > 9", [(None,)]),
        ("a, count(*) AS c FROM t GROUP BY a HAVING c > 1 ORDER BY a DESC", [(2, 2), (1, 2)]),
        ("a * 10 AS k, count(*) FROM t GROUP BY k", [(10, 2), (20, 2), (30, 1)]),
        ("count(*), a FROM t GROUP BY 2 ORDER BY 2", [(2, 1), (2, 2), (1, 3)]),
        ("a, b, count(*) FROM t GROUP BY a ORDER BY a", [(1, "p", 2), (2, "p", 2), (3, "s", 1)]),
        ("sum(n) + count(*) FROM t WHERE a = 1", [(32.0,)]),
        ("group_concat(b SEPARATOR '-') FROM t WHERE a = 2", [("p-r",)]),
        ("bit_or(n), variance(a), any_value(b) FROM t WHERE a < 2", [(30, 0.0, "p")]),
        ("t.b, u.code FROM t JOIN u ON t.s = u.name", [("p", 1)]),
        ("t.b, u.code FROM t, u WHERE t.s = u.name", [("p", 1)]),
        ("name, b FROM u LEFT JOIN t ON u.name = t.s ORDER BY 1", [("green", None), ("red", "p")]),
        ("name, b FROM t RIGHT JOIN u ON u.name = t.s ORDER BY 1", [("green", None), ("red", "p")]),
        ("count(*) FROM t CROSS JOIN u", [(10,)]),
        (
            "* FROM (SELECT a, b FROM t) x JOIN (SELECT a, n FROM t) y ON x.a = y.a AND x.b = 'q'",
            [(1, "q", 1, 10), (1, "q", 1, 20)],
        ),
        ("x.b FROM t x JOIN t y USING (a, b) WHERE y.n = 20", [("q",)]),
        ("q.s FROM (SELECT a, sum(n) AS s FROM t GROUP BY a) q WHERE q.s > 0", [(30.0,), (30.0,)]),
        ("b FROM t WHERE s IN (SELECT name FROM u)", [("p",)]),
        ("b FROM t WHERE n = (SELECT max(n) FROM t)", [("p",)]),
        ("count(*) FROM t WHERE f", [(2,)]),
        ("count(*) FROM t WHERE f = 0", [(1,)]),
        ("count(*) FROM t WHERE NOT f", [(1,)]),
        ("b FROM t WHERE x = X'FF00'", [("p",)]),
        ("a FROM t WHERE s = 12", [(3,)]),
        ("t.* FROM t JOIN u ON s = name", [(2, "p", 30, None, None, "red", b"\xff\x00")]),
    ],
)
def test_clauses(engine: TablestoreEngine, text: str, rows: list[tuple[Any, ...]]) -> None:
    assert select(engine, text) == rows


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 + 2 * 3", 7),
        ("7 / 2", 3.5),
        ("7 DIV 2", 3),
        ("-7 % 3", -1),
        ("1 / 0", None),
        ("'3' + 4", 7.0),
        ("1.5 + 1", 2.5),
        ("6 & 3 | 8 ^ 1", 11),
        ("1 << 3", 8),
        ("NULL + 1", None),
        ("1 = 1.0", 1),
        ("'a' < 'B'", 0),
        ("NULL <=> NULL", 1),
        ("1 AND NULL", None),
        ("0 AND NULL", 0),
        ("1 OR NULL", 1),
        ("1 XOR 1", 0),
        ("NOT NULL", None),
        ("2 IN (1, NULL)", None),
        ("1 IN (1, NULL)", 1),
        ("'abc' LIKE 'a_c'", 1),
        ("'a%c' LIKE 'a\\\\%c'", 1),
        ("'abc' NOT LIKE 'b%'", 1),
        ("'abc' REGEXP '^a.c$'", 1),
        ("CASE WHEN 0 THEN 'x' WHEN 1 THEN 'y' END", "y"),
        ("CASE 3 WHEN 2 THEN 'x' ELSE 'z' END", "z"),
        ("IF(NULL, 1, 2)", 2),
        ("IFNULL(NULL, 'd')", "d"),
        ("NULLIF(1, 1)", None),
        ("COALESCE(NULL, NULL, 3)", 3),
        ("CAST('12abc' AS SIGNED)", 12),
        ("CAST('-1.5e1' AS SIGNED)", -1),
        ("CAST(x'312e35' AS SIGNED)", 1),
        ("CAST('99999999999999999999' AS SIGNED)", -1),
        ("CAST('-99999999999999999999' AS SIGNED)", -(2**63)),
        ("'-1e999' + 0", -float_info.max),  # as MariaDB has it
        ("'1.5' | 0", 2),
        ("~'1.5'", -3),
        ("DATE_FORMAT('2024-01-01' + INTERVAL 2.5 HOUR, '%H')", "03"),
        ("DATE_FORMAT('2024-01-01' + INTERVAL 1.5 SECOND, '%f')", "500000"),
        ("CAST(2.5 AS SIGNED)", 3),
        ("CAST(12 AS CHAR)", "12"),
        ("CONVERT('1.5', DOUBLE)", 1.5),
        ("CONCAT('a', 1, 2.5)", "a12.5"),
        ("CONCAT_WS('-', 'a', NULL, 'b')", "a-b"),
        ("LENGTH('é')", 2),
        ("CHAR_LENGTH('é')", 1),
        ("UPPER('ab')", "AB"),
        ("SUBSTRING('abcd', 2, 2)", "bc"),
        ("SUBSTRING('abcd' FROM -2)", "cd"),
        ("LEFT('abc', 2)", "ab"),
        ("RIGHT('abc', 2)", "bc"),
        ("TRIM('  a ')", "a"),
        ("TRIM(LEADING 'x' FROM 'xxax')", "ax"),
        ("LPAD('a', 3, 'xy')", "xya"),
        ("REPLACE('aXbX', 'X', '-')", "a-b-"),
        ("REVERSE('abc')", "cba"),
        ("REPEAT('ab', 2)", "abab"),
        ("INSTR('abc', 'c')", 3),
        ("LOCATE('b', 'abcb', 3)", 4),
        ("HEX('a')", "61"),
        ("HEX(255)", "FF"),
        ("UNHEX('4142')", b"AB"),
        ("STRCMP('a', 'b')", -1),
        ("FIELD('b', 'a', 'b')", 2),
        ("FIND_IN_SET('b', 'a,b')", 2),
        ("ABS(-3)", 3),
        ("CEIL(1.2)", 2),
        ("FLOOR(-1.2)", -2),
        ("ROUND(2.5)", 3.0),
        ("ROUND(-1234, -2)", -1200),
        ("TRUNCATE(1.29, 1)", 1.2),
        ("MOD(7, 3)", 1),
        ("POW(2, 3)", 8.0),
        ("SQRT(-1)", None),
        ("LOG(2, 8)", 3.0),
        ("SIGN(-2)", -1),
        ("GREATEST(1, 2.5)", 2.5),
        ("LEAST('b', 'a')", "a"),
        ("CRC32('MySQL')", 3259397556),
        ("JSON_EXTRACT('{\"a\": [1, {\"b\": 2}]}', '$.a[1].b')", "2"),
        ("JSON_EXTRACT('{\"a\": 1}', '$.z')", None),
        ("'{\"a\": \"x\"}' -> '$.a'", '"x"'),
        ("'{\"a\": \"x\"}' ->> '$.a'", "x"),
        ("JSON_EXTRACT('[1, 2]', '$[*]')", "[1, 2]"),
        ("YEAR('2024-02-29')", 2024),
        ("DAYOFWEEK('2022-11-16')", 4),
        ("DATEDIFF('2024-03-01', '2024-02-28')", 2),
        ("DATE_FORMAT('2022-11-16 07:05:09', '%Y/%c/%e %H:%i:%s')", "2022/11/16 07:05:09"),
        ("TIMESTAMPDIFF(MONTH, '2024-01-31', '2024-03-30')", 1),
        ("UNIX_TIMESTAMP('1970-01-02')", 86400),
        ("HOUR('272:59:59')", 272),
        ("'2022-11-16' < DATE_ADD('2022-11-15', INTERVAL 2 DAY)", 1),
    ],
)
def test_operators_and_functions(engine: TablestoreEngine, text: str, value: object) -> None:
    found = scalar(engine, text)
    assert found == value
    assert isinstance(found, float) == isinstance(value, float)


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("FROM_UNIXTIME(1668585138.995)", 1668585138995000),
        ("DATE(FROM_UNIXTIME(1668585138.995))", 1668556800000000),
        ("TIMEDIFF(FROM_UNIXTIME(1668585138.995), FROM_UNIXTIME(1668585013.712))", 125283000),
        ("DATE_ADD('2024-01-31', INTERVAL 1 MONTH)", 1709164800000000),
        ("'2024-01-01' + INTERVAL 90 SECOND", 1704067290000000),
        ("LAST_DAY('2024-02-03')", 1709164800000000),
        ("STR_TO_DATE('03.02.2024', '%d.%m.%Y')", 1706918400000000),
        ("CAST('00:02:05.283' AS TIME)", 125283000),
        ("FROM_UNIXTIME(-1)", None),
    ],
)
def test_moments(engine: TablestoreEngine, text: str, microseconds: int | None) -> None:
    # The instants of Go's suite (sql §9.3).
    assert scalar(engine, text) == microseconds


def test_headers_are_aliases_names_and_texts_as_they_were_written(engine: TablestoreEngine) -> None:
    text = "SELECT A, t.B, n  +  1, count( * ) AS c, max(d), 'x, y', (1) FROM t"
    table = run_sql(engine, text).table
    assert table is not None
    assert [column.name for column in table.columns] == [
        *("A", "B", "n  +  1", "c", "max(d)", "'x, y'", "(1)")
    ]


def test_a_plan_is_measured_where_that_is_asked(engine: TablestoreEngine) -> None:
    """docs/guide/sql.md, "How a query reads": rows read and units, those of the statement itself.

    What EXPLAIN foretells of few rows is what is measured then.
    """
    for select in (
        "SELECT n FROM t WHERE a = 1 AND b >= 'p'",
        "SELECT count(*) FROM t",
        "SELECT n FROM t WHERE a < 1 AND a > 2",
        "SELECT x.n FROM t x JOIN t y ON x.a = y.a WHERE x.a = 1",
    ):
        lines = [line for (line,) in rows_of_statement(engine, f"EXPLAIN {select}")]
        result = run_sql(engine, f"EXPLAIN ANALYZE {select}")
        assert result.table is not None
        measured = list(result.table.values[0])
        assert [line.replace(" rows read", " rows") for line in measured] == lines
        assert result.consumed == run_sql(engine, select).consumed
        units = [f"read capacity units of {each.table}: {each.read}" for each in result.consumed]
        assert measured[-len(units) :] == units
    total = rows_of_statement(engine, "SELECT count(*) FROM t")[0][0]
    lines = [line for (line,) in rows_of_statement(engine, "EXPLAIN ANALYZE SELECT d FROM t")]
    assert lines[-2].endswith(f"read table t: all rows; {total} rows read")
    for wrong in ("EXPLAIN ANALYZE", "EXPLAIN ANALYZE DELETE FROM t WHERE a = 1 AND b = 'p'"):
        assert rule_of_refusal(engine, wrong) is R.SQL_UNSUPPORTED, wrong


def test_what_is_read_is_what_the_key_needs(engine: TablestoreEngine) -> None:
    lines = rows_of_statement(engine, "EXPLAIN SELECT n FROM t WHERE a = 1 AND b >= 'q' LIMIT 1")
    assert lines[-2][0].startswith("    read table t: 1 ranges of the key by a, b; ")
    lines = rows_of_statement(engine, "EXPLAIN SELECT n FROM t WHERE a = 1 AND b IN ('p', 'q')")
    assert lines[-2][0].startswith("  read table t: 2 rows by their whole key; ")
    lines = rows_of_statement(engine, "EXPLAIN SELECT n FROM t WHERE a < 1 AND a > 2")
    assert lines[-2] == ("    read table t: no row can be found; 0 rows",)


def test_the_rows_that_will_be_read_are_foretold() -> None:
    """Few are counted, more come from the statistics; a LIMIT ends the reading (page by page)."""
    engine = statement_engine()
    key = (KeyColumn("a", KeyType.INTEGER), KeyColumn("b", KeyType.INTEGER))
    engine.core.run(engine.create_table("i", create("t", key)))
    for first in range(5):
        values = ", ".join(f"({first}, {b})" for b in range(200))
        run_sql(engine, f"INSERT INTO t VALUES {values}")
    engine.core.partitions.absorb()  # what writes have noted
    (size,) = {load.sizes.size for _, load in engine.core.partitions.loads()}
    for select, rows in (
        ("SELECT count(*) FROM t WHERE a = 3", "200 rows"),
        ("SELECT count(*) FROM t WHERE a IN (1, 2)", "about 1,000 rows"),  # all in one piece
        ("SELECT count(*) FROM t", "about 1,000 rows"),
        ("SELECT * FROM t LIMIT 5", "about 16 rows"),
        ("SELECT * FROM t LIMIT 10 OFFSET 10", "about 20 rows"),
        ("SELECT b FROM t WHERE a = 3 LIMIT 190", "about 190 rows"),
        ("SELECT * FROM t WHERE b > 1 LIMIT 5", "about 1,000 rows"),
        ("SELECT x.a FROM t x JOIN t y ON x.a = y.a LIMIT 5", "about 1,000 rows"),
    ):
        lines = [line for (line,) in rows_of_statement(engine, f"EXPLAIN {select}")]
        assert lines[-2].endswith(f"; {rows}"), (select, lines)
    lines = [line for (line,) in rows_of_statement(engine, "EXPLAIN SELECT a FROM t")]
    assert lines[-1] == f"read capacity units of t: about {-(-size // 4096)}"


def test_conditions_that_ranges_answer_are_not_asked_again(engine: TablestoreEngine) -> None:
    for answered in ("a = 1 AND b >= 'p'", "a BETWEEN 1 AND 2", "(a IN (1, 2))"):
        for what in ("count(*)", "n", "*"):
            plain = [
                line
                for (line,) in rows_of_statement(
                    engine, f"EXPLAIN SELECT {what} FROM t WHERE {answered}"
                )
            ]
            assert not any("keep rows" in line for line in plain), plain
            by_rows = f"SELECT {what} FROM (SELECT * FROM t) u WHERE {answered}"
            found = rows_of_statement(engine, f"SELECT {what} FROM t WHERE {answered}")
            assert found == rows_of_statement(engine, by_rows)
    for asked in ("a = 1 AND b LIKE 'p%'", "a = 1 AND n = 1", "a > 0 AND b = 'p'", "NOT a = 1"):
        lines = rows_of_statement(engine, f"EXPLAIN SELECT count(*) FROM t WHERE {asked}")
        assert any("keep rows" in line for (line,) in lines), asked


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", R.SQL_SYNTAX),
        ("SELECT", R.SQL_SYNTAX),
        ("SELECT a FROM t WHERE", R.SQL_SYNTAX),
        ("SELECT a b c FROM t", R.SQL_SYNTAX),
        ("SELECT 'a", R.SQL_SYNTAX),
        ("SELECT 1; SELECT 2", R.SQL_SEVERAL),
        ("GRANT ALL", R.SQL_UNSUPPORTED),
        ("DROP TABLE t", R.SQL_UNSUPPORTED),
        ("SELECT a FROM t UNION SELECT a FROM t", R.SQL_UNSUPPORTED),
        ("SELECT row_number() OVER () FROM t", R.SQL_UNSUPPORTED),
        ("SELECT a FROM t FOR UPDATE", R.SQL_UNSUPPORTED),
        ("SELECT sleep(1)", R.SQL_UNSUPPORTED),
        ("SELECT a FROM t NATURAL JOIN u", R.SQL_UNSUPPORTED),
        ("SELECT a FROM t WHERE EXISTS (SELECT 1)", R.SQL_UNSUPPORTED),
        ("SELECT a FROM nope", R.SQL_TABLE_UNKNOWN),
        ("SELECT z FROM t", R.SQL_COLUMN_UNKNOWN),
        ("SELECT a FROM t WHERE z = 1", R.SQL_COLUMN_UNKNOWN),
        ("SELECT a FROM t ORDER BY 2", R.SQL_COLUMN_UNKNOWN),
        ("SELECT x.a FROM t", R.SQL_COLUMN_UNKNOWN),
        ("SELECT a FROM t x JOIN t y ON x.a = y.a", R.SQL_COLUMN_AMBIGUOUS),
        ("SELECT 1 FROM t JOIN t ON 1", R.SQL_TABLE_TWICE),
        ("SELECT 1 FROM (SELECT 1)", R.SQL_ALIAS_MISSING),
        ("SELECT a FROM t LIMIT 1.5", R.SQL_LIMIT),
        ("SELECT abs()", R.SQL_ARGUMENTS),
        ("SELECT sum(count(*)) FROM t", R.SQL_AGGREGATE_PLACE),
        ("SELECT (SELECT a FROM t)", R.SQL_SUBQUERY_ROWS),
        ("SELECT (SELECT a, b FROM t)", R.SQL_SUBQUERY_COLUMNS),
        ("SELECT 'a' REGEXP '('", R.SQL_PATTERN),
        ("SELECT 9223372036854775807 + 1", R.SQL_OVERFLOW),
        ("SELECT repeat('a', 3000000)", R.SQL_VALUE_SIZE),
        (f"SELECT {'(' * 1000}1{')' * 1000}", R.SQL_DEPTH),
        (f"SELECT {'1+' * 1000}1", R.SQL_DEPTH),
        ("SELECT " + "1," * 1024 + "1", R.SQL_COLUMNS),
    ],
)
def test_what_is_refused(engine: TablestoreEngine, text: str, rule: R) -> None:
    assert rule_of_refusal(engine, text) is rule


def test_a_cell_of_another_type_is_refused_where_it_is_needed(engine: TablestoreEngine) -> None:
    row = put("t", {"a": 9, "b": "z"}, {"n": "text"})
    engine.core.run(engine.rows.write_row("i", row))
    assert select(engine, "b FROM t WHERE a = 9") == [("z",)]
    with pytest.raises(InvalidRequest) as refused:
        select(engine, "n FROM t WHERE a = 9")
    assert refused.value.rule is R.SQL_FIELD_TYPE
    assert refused.value.details == {
        "actual": "STRING",
        "expected": "INTEGER",
        "column": "n",
        "key": '{"PrimaryKeys":[{"ColumnName":"a","Value":9,"PrimaryKeyOption":0},'
        '{"ColumnName":"b","Value":"z","PrimaryKeyOption":0}]}',
    }
    engine.core.run(engine.rows.write_row("i", put("t", {"a": 9, "b": "z"}, {})))


def test_bytes_that_are_no_text(engine: TablestoreEngine) -> None:
    """Where a text is wanted each is U+FFFD; what takes bytes has them (differences, SQL)."""
    found = select(
        engine, "concat(x), hex(x), length(x), x = X'FF00', x FROM t WHERE a = 2 AND b = 'p'"
    )
    assert found == [("\ufffd\0", "FF00", 2, True, b"\xff\0")]


def test_what_drivers_ask_of_tables_and_columns(engine: TablestoreEngine) -> None:
    """The JDBC driver's statements, and that a database is the instance (sql §2)."""
    assert rows_of_statement(engine, "SHOW TABLES FROM `i`") == [("t",), ("u",)]
    assert rows_of_statement(engine, "SHOW TABLES FROM i LIKE 'T%'") == [("t",)]
    found = rows_of_statement(engine, "SHOW FULL COLUMNS FROM `u` FROM `i` LIKE '%'")
    assert found == [
        ("name", "varchar(1024)", "utf8mb4_bin", "NO", "PRI", None, "", "select", ""),
        ("code", "bigint(20)", None, "YES", "", None, "", "select", ""),
    ]
    assert rows_of_statement(engine, "SHOW COLUMNS IN u LIKE 'c_de'") == [
        found[1][:2] + found[1][3:7]
    ]
    keys = rows_of_statement(engine, "SHOW KEYS FROM `t` FROM `i`")
    assert keys == rows_of_statement(engine, "SHOW INDEX IN t")
    assert select(engine, "code FROM i.u WHERE name = 'red'") == [(1,)]
    for text in (
        "SHOW TABLES FROM j",
        "SHOW KEYS FROM t IN j",
        "SELECT * FROM j.t",
        "DELETE FROM j.t",
    ):
        assert rule_of_refusal(engine, text) is R.SQL_DATABASE_UNKNOWN
    for text in ("SHOW COLUMNS", "SHOW FULL TABLES", "SHOW DATABASES"):
        assert rule_of_refusal(engine, text) is R.SQL_UNSUPPORTED
