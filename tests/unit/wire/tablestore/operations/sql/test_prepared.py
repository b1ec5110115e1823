"""Kept plans: a statement answers with one as it answers without (sql §4, §8)."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.support.changes import create, put
from tests.support.statements import rows_of_statement, run_sql, statement_engine
from tests.support.volume import examples

from widerow.engine.budget import Budget
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import TooLong, WiderowError
from widerow.model.tablestore.schema import DefinedColumn, KeyColumn
from widerow.model.values import ColumnType, KeyType
from widerow.wire.tablestore.operations.sql import run
from widerow.wire.tablestore.operations.sql.prepared import PreparedQueries, shape_of

WORDS = ("p", "q", "", "é", "a -- b", "a = 5", "x\ny", "#", "p' ", "/* p", "\\", '"')
KEY = (KeyColumn("a", KeyType.INTEGER), KeyColumn("b", KeyType.STRING))
DEFINED = (DefinedColumn("n", ColumnType.INTEGER), DefinedColumn("s", ColumnType.STRING))


def small_engine() -> TablestoreEngine:
    engine = statement_engine()
    engine.core.run(engine.create_table("i", replace(create("t", KEY), defined_columns=DEFINED)))
    for a in range(3):
        for word in WORDS:
            cells: dict[str, Any] = {"n": a, "s": word} if a else {}
            engine.core.run(engine.rows.write_row("i", put("t", {"a": a, "b": word}, cells)))
    return engine


def written(word: str) -> str:
    return "'{}'".format(word.replace("\\", "\\\\").replace("'", "''"))


words = st.sampled_from(WORDS).map(written) | st.sampled_from(["'p''q'", "'p' 'q'", '"p"', "x'70'"])
whole = st.sampled_from(["0", "1", "2", "01", "-1", "1.0", "1e0", "'1'", "NULL", "1 + 1", "true"])
equal = st.one_of(
    st.builds(
        "{} {}{}".format,
        st.sampled_from(["a =", "A=", "t.a = ", "a >=", "a <=>"]),
        whole,
        st.just(""),
    ),
    st.builds(
        "{} {}{}".format, st.sampled_from(["b =", "`b` =", "b !=", "b= "]), words, st.just("")
    ),
    st.builds("n = {}".format, whole),
    st.builds("s = {}".format, words),
    st.sampled_from(["n IS NOT NULL", "(a = 1)", "1 = a", "a = n", "a = 1 = 1", "a IN (1, 2)"]),
)
lists = st.sampled_from(
    [
        "*",
        "a, b",
        "n AS a",
        "s, n",
        "count(*)",
        "a = 1",
        "1",
        "t.*",
        "'b = ''p'",
        "CURRENT_DATE = 1",
    ]
)
ends = st.sampled_from(
    ["", ";", " LIMIT 1", " ORDER BY a, b LIMIT 2", " ORDER BY n = 1, a, b", " -- x", " LIMIT 0"]
)
queries = st.builds(
    lambda listed, parts, joined, end: (
        f"SELECT {listed} FROM t{' WHERE ' if parts else ''}{joined.join(parts)}{end}"
    ),
    *(lists, st.lists(equal, max_size=4), st.sampled_from([" AND ", " and\n", " OR "]), ends),
)
BESIDE_KEY = (
    *("", " AND n IS NOT NULL", " AND n IS NULL", " AND NOT n = 1", " AND NOT (n IS NULL)"),
    *(" AND n = 1 AND s IS NOT NULL", " AND n IS NOT NULL AND s IS NOT NULL"),
)
plain = st.builds(
    "SELECT * FROM t WHERE a = {} AND b = {}{}".format,
    *(st.sampled_from("012"), words, st.sampled_from(BESIDE_KEY)),
)


def answered(engine: TablestoreEngine, text: str) -> object:
    try:
        return run_sql(engine, text)
    except WiderowError as error:
        return type(error), str(error)


class _None(PreparedQueries):
    def find(self, *_: object) -> None:
        return None


ENGINE = small_engine()


@given(asked=st.lists(queries | plain, min_size=2, max_size=6))
@example([f"SELECT a, n FROM t WHERE a = 1 AND b = 'p'{beside}" for beside in BESIDE_KEY])
@settings(max_examples=examples(500))
def test_a_statement_answers_with_a_kept_plan_as_without(asked: list[str]) -> None:
    found = [answered(ENGINE, text) for text in asked]  # plans are kept over all examples
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "_PREPARED", _None())
        assert found == [answered(ENGINE, text) for text in asked]


@pytest.mark.parametrize(
    ("first", "second", "rows"),
    [
        ("a = 1 AND b = 'p'", "a = 2 AND b = 'a -- b'", [(2, "a -- b")]),
        ("a = 2 and (b = 'q') AND n = 2", "a = 1 and (b = 'a = 5') AND n = 1", [(1, "a = 5")]),
        ("b = '' AND n = 2 AND a = 2;", "b = 'é' AND n = 1 AND a = 1;", [(1, "é")]),
    ],
)
def test_a_plan_that_is_kept_takes_new_values(
    monkeypatch: pytest.MonkeyPatch, first: str, second: str, rows: list[tuple[Any, ...]]
) -> None:
    monkeypatch.setattr(run, "_PREPARED", PreparedQueries())
    run_sql(ENGINE, f"SELECT a, b FROM t WHERE {first}")
    monkeypatch.setattr(run, "read_statement", _unread)
    assert rows_of_statement(ENGINE, f"SELECT a, b FROM t WHERE {second}") == rows


def _unread(text: str) -> None:
    raise AssertionError(text)


def test_known_queries_of_few_rows_are_answered_within_a_budget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So many rows as a short GetRange may have; others are for a thread (internals/serving)."""
    monkeypatch.setattr(run, "_PREPARED", PreparedQueries())
    short = (
        "SELECT a, s FROM t WHERE a = 1 AND b = 'p'",
        "SELECT * FROM t WHERE a = 7 AND b = 'p'",
        "SELECT * FROM t WHERE a = 1 AND b = 'p' AND n = 2",
        "SELECT b FROM t WHERE n IS NOT NULL ORDER BY a LIMIT 5",
        "SELECT a, b FROM t ORDER BY a DESC, b DESC LIMIT 190 OFFSET 10",
    )
    for text in short:
        assert run.run_short(ENGINE, "i", text, Budget()) is None
        assert run_sql(ENGINE, text) == run.run_short(ENGINE, "i", text, Budget())
        assert run.run_short(ENGINE, "another", text, Budget()) is None
    long = (
        "SELECT * FROM t",
        "SELECT * FROM t ORDER BY n LIMIT 1",
        "SELECT a FROM t ORDER BY a LIMIT 200 OFFSET 1",
        "SELECT a FROM t WHERE a = 1 LIMIT 1",
        "SELECT count(*) FROM t LIMIT 1",
    )
    for text in long:
        run_sql(ENGINE, text)
        assert run.run_short(ENGINE, "i", text, Budget()) is None


def test_a_query_that_reads_more_than_its_budget_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A page that turned out to be long is not tried again; other rows may be small."""
    monkeypatch.setattr(run, "_PREPARED", PreparedQueries())
    row = "SELECT s FROM t WHERE a = 1 AND b = 'p'"
    page = "SELECT s FROM t WHERE n IS NULL ORDER BY a LIMIT 100"
    for text, budget in ((row, Budget(size=10)), (page, Budget(steps=10))):
        run_sql(ENGINE, text)
        with pytest.raises(TooLong):
            run.run_short(ENGINE, "i", text, budget)
    assert run.run_short(ENGINE, "i", row, Budget()) == run_sql(ENGINE, row)
    assert run.run_short(ENGINE, "i", page, Budget()) is None


def test_a_plan_is_not_used_behind_a_change_of_the_catalogue() -> None:
    engine = small_engine()
    text = "SELECT * FROM t WHERE a = 1 AND b = 'p'"
    assert rows_of_statement(engine, text) == [(1, "p", 1, "p")]
    key = "a BIGINT, b VARCHAR(1024)"
    run_sql(engine, f"CREATE TABLE t ({key}, s MEDIUMTEXT, PRIMARY KEY (a, b))")
    assert rows_of_statement(engine, text) == [(1, "p", "p")]
    run_sql(engine, "ALTER TABLE t DROP COLUMN s")
    assert rows_of_statement(engine, text) == [(1, "p")]


def test_plans_are_those_of_one_instance_and_one_store() -> None:
    text = "SELECT n FROM t WHERE a = 1 AND b = 'p'"
    assert rows_of_statement(ENGINE, text) == [(1,)]
    other = statement_engine()
    assert "t" in str(answered(other, text))
    assert not isinstance(answered(other, text), run.Result)
    with pytest.raises(WiderowError):
        run.run_statement(ENGINE, "another", text)


@pytest.mark.parametrize(
    "text",
    [
        *("SELECT 1 -- 'x'", "SELECT `a` FROM t", "SELECT a FROM t WHERE b = 'it''s'"),
        *(
            "SELECT a FROM t WHERE b = 'x' 'y'",
            r"SELECT a FROM t WHERE b = '\''",
            "UPDATE t SET a = 1",
        ),
        *("SELECT a /* a = 1 */ FROM t", "SELECT '\0s'", "SELECT " + "a," * 2000 + "a FROM t"),
        "SELECT \"b = 'x'\" FROM t",
    ],
)
def test_a_text_with_other_quotes_or_comments_has_no_shape(text: str) -> None:
    assert shape_of(text) is None
