"""Statements that search indexes serve: the same rows as without, and what only an index answers.

(sql §2.1, §6, §8, §9.5, §11)
"""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.changes import create, put
from tests.support.statements import rows_of_statement, rule_of_refusal, run_sql, statement_engine
from tests.support.volume import examples

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.search import service
from widerow.errors import InvalidRequest
from widerow.model.search.requests import CreateSearchIndex, SearchIndexName
from widerow.model.search.schema import (
    SearchField,
    SearchSchema,
    VectorMetric,
    VectorOptions,
)
from widerow.model.search.schema import SearchFieldType as T
from widerow.model.tablestore.rules import TablestoreRule as R
from widerow.model.tablestore.schema import DefinedColumn, KeyColumn
from widerow.model.values import ColumnType, KeyType
from widerow.wire.tablestore import sql_messages as m
from widerow.wire.tablestore.operations.sql.actions import SQL_ACTIONS
from widerow.wire.tablestore.operations.sql.run import (
    GroupPage,
    Result,
    StatementUnits,
    run_statement,
)

NUMBERS = st.integers(-3, 3)
WORDS = st.sampled_from(["", "a", "ab", "b", "Ba", "é", "a*b", "a_b", "q\\z"])
CELLS = st.fixed_dictionaries(
    {},
    optional={
        "n": NUMBERS,
        "s": WORDS,
        "d": st.sampled_from([-1.5, 0.0, 2.25]),
        "f": st.booleans(),
    },
)
TABLES = st.dictionaries(st.tuples(NUMBERS, st.sampled_from("pqr")), CELLS, max_size=12)
KINDS = {
    "n": ColumnType.INTEGER,
    "s": ColumnType.STRING,
    "d": ColumnType.DOUBLE,
    "f": ColumnType.BOOLEAN,
}
FIELDS = {"a": T.LONG, "b": T.KEYWORD, "n": T.LONG, "s": T.KEYWORD, "d": T.DOUBLE, "f": T.BOOLEAN}

atoms = st.one_of(
    st.builds(
        "{} {} {}".format, st.sampled_from("an"), st.sampled_from(["=", "<>", "<", ">="]), NUMBERS
    ),
    st.builds("{} {} d".format, NUMBERS, st.sampled_from(["<", "<=", ">", "="])),
    st.builds(
        "s {} '{}'".format,
        st.sampled_from(["=", "<>", "<", ">="]),
        st.sampled_from(["", "a", "ab", "é"]),
    ),
    st.builds(
        "s {} '{}'".format,
        st.sampled_from(["LIKE", "NOT LIKE"]),
        st.sampled_from(["a%", "%b", "_", "a*b", "a\\\\_b", "q\\\\\\\\z"]),
    ),
    st.builds("{} IS {}NULL".format, st.sampled_from("nsdf"), st.sampled_from(["", "NOT "])),
    st.builds(
        "n {} ({}, {})".format,
        st.sampled_from(["IN", "NOT IN"]),
        NUMBERS,
        NUMBERS | st.just("NULL"),
    ),
    st.builds(
        "{} {}BETWEEN {} AND {}".format,
        st.sampled_from("and"),
        st.sampled_from(["", "NOT "]),
        NUMBERS,
        NUMBERS,
    ),
    st.builds(
        "f {} {}".format, st.sampled_from(["=", "<>"]), st.sampled_from(["TRUE", "FALSE", "1", "0"])
    ),
    st.sampled_from(["f", "n = d", "n = '1'", "s = n", "upper(s) = 'AB'", "d > n + 1", "d = 0.5"]),
)
conditions: st.SearchStrategy[str] = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("(NOT {})".format, inner),
    ),
    max_leaves=5,
)


@st.composite
def queries(draw: st.DrawFn) -> str:
    where = f" WHERE {draw(conditions)}" if draw(st.booleans()) else ""
    way = draw(st.sampled_from(["rows", "groups", "count"]))
    limit = draw(st.sampled_from(["", " LIMIT 2", " LIMIT 3 OFFSET 1"]))
    if way == "rows":
        columns = st.lists(st.sampled_from("abnsdf"), min_size=1, max_size=3)
        down = st.sampled_from(["", " DESC"])
        order = ", ".join(f"{name}{draw(down)}" for name in draw(columns))
        listed = ", ".join(draw(columns)) if draw(st.booleans()) else "*"
        ordered = f" ORDER BY {order}" if draw(st.booleans()) else ""
        return f"SELECT {listed} FROM t{where}{ordered}{limit}"
    if way == "count":
        return f"SELECT count(*), sum(n), max(s), count(DISTINCT d), avg(a) FROM t{where}"
    key = draw(st.sampled_from(["a", "s", "f", "n, s"]))
    return f"SELECT {key}, count(*), min(d), any_value(b) FROM t{where} GROUP BY {key}{limit}"


def engine_with(
    table: dict[tuple[int, str], dict[str, Any]], fields: dict[str, T], *, sorts: bool = True
) -> TablestoreEngine:
    """A table `t` with these rows, and a search index `x` over some of its columns."""
    engine = statement_engine()
    key = (KeyColumn("a", KeyType.INTEGER), KeyColumn("b", KeyType.STRING))
    defined = tuple(DefinedColumn(name, kind) for name, kind in KINDS.items())
    engine.core.run(engine.create_table("i", replace(create("t", key), defined_columns=defined)))
    for (a, b), cells in table.items():
        engine.core.run(engine.rows.write_row("i", put("t", {"a": a, "b": b}, cells)))
    made = tuple(SearchField(name, kind, sort_and_agg=sorts) for name, kind in fields.items())
    schema = SearchSchema(made)
    engine.core.run(engine.search.create("i", CreateSearchIndex("t", "x", schema)))
    return engine


STRONG = (
    "CREATE TABLE t (a BIGINT, b VARCHAR(1024), n BIGINT, s MEDIUMTEXT, d DOUBLE, f BOOL, "
    """PRIMARY KEY (a, b)) ENGINE_ATTRIBUTE='{"consistency": "strong"}'"""
)


@given(table=TABLES, query=queries(), sorts=st.booleans())
@settings(max_examples=examples(1500))
def test_an_index_gives_the_rows_that_the_table_gives(
    table: dict[tuple[int, str], dict[str, Any]], query: str, *, sorts: bool
) -> None:
    """`sorts`: the values come from the index; else, where it has none, from the rows."""
    engine = engine_with(table, FIELDS, sorts=sorts)
    found = run_sql(engine, query)
    rows = rows_of_statement(engine, query)
    points = " = " in query and "a = " in query and "b = " in query
    assert points or [each.search for each in found.consumed] == ["x"]
    run_sql(engine, STRONG)
    assert [each.search for each in run_sql(engine, query).consumed] == [""]
    assert rows == rows_of_statement(engine, query)


def test_what_explain_tells_of_an_index() -> None:
    engine = engine_with({(1, "p"): {"n": 5}}, FIELDS)

    def explained(text: str) -> str:
        return "\n".join(line for (line,) in rows_of_statement(engine, f"EXPLAIN {text}"))

    text = explained("SELECT a FROM t WHERE n > 1 AND upper(s) = 'X' ORDER BY d DESC LIMIT 3")
    assert "search index x of table t: rows where n > 1, in the order of d descending" in text
    assert "values from the index" in text
    assert "keep rows where UPPER(s) = 'X'" in text
    assert "sort" not in text
    assert "only groups count" in explained("SELECT s, sum(n) FROM t GROUP BY s")
    assert "only groups count" not in explained("SELECT s, sum(n + 1) FROM t GROUP BY s")
    assert "table t: 1 rows by their whole key" in explained(
        "SELECT n FROM t WHERE a = 1 AND b = 'p'"
    )
    assert "table t: all rows" in explained("SELECT n FROM t USE INDEX ()")
    assert rule_of_refusal(engine, "SELECT n FROM t USE INDEX (y)") is R.SQL_INDEX_UNKNOWN


def test_a_table_answers_while_its_index_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless the statement asks for the index (differences, SQL)."""
    engine = engine_with({(1, "p"): {"n": 5}}, FIELDS)
    monkeypatch.setattr(service, "SEARCH_BUILD_ROWS_AT_ONCE", 0)
    assert rows_of_statement(engine, "SELECT n FROM t") == [(5,)]
    assert run_sql(engine, "SELECT n FROM t").consumed == (StatementUnits("t", 1, 0),)
    assert rule_of_refusal(engine, "SELECT n FROM t USE INDEX (x)") is R.SEARCH_INDEX_BUILDING
    monkeypatch.undo()
    assert run_sql(engine, "SELECT n FROM t").consumed == (StatementUnits("t", 1, 0, "x"),)


def test_a_limit_reads_what_it_needs() -> None:
    engine = engine_with({(n, "p"): {"n": -n} for n in range(200)}, FIELDS)
    found = run_sql(engine, "SELECT * FROM t WHERE a < 150 ORDER BY n LIMIT 2")
    assert found.consumed == (StatementUnits("t", 1, 0, "x"),)
    assert rows_of_statement(engine, "SELECT a FROM t WHERE a < 150 ORDER BY n LIMIT 2") == [
        (149,),
        (148,),
    ]


def test_an_index_without_a_column_serves_where_it_is_named() -> None:
    engine = engine_with({(1, "p"): {"n": 5, "s": "u"}, (2, "p"): {"n": 6}}, {"n": T.LONG})
    assert run_sql(engine, "SELECT s FROM t WHERE n = 5").consumed[0].search == ""
    hinted = "SELECT s FROM t USE INDEX (x) WHERE n = 5"
    assert run_sql(engine, hinted).consumed[0].search == "x"
    assert rows_of_statement(engine, hinted) == [("u",)]


def test_the_answer_tells_what_was_read_of_the_index() -> None:
    """One search index and no table, as the SDK of Go expects; pages of groups have a token."""
    engine = engine_with({(n, "p"): {"n": n} for n in range(3)}, FIELDS)
    decode, call, encode, *_ = SQL_ACTIONS["SQLQuery"]
    sent = m.SQLQueryRequest(query="SELECT n FROM t GROUP BY n LIMIT 2", version=2, sql_version=1)
    answer = call(engine, "i", decode(sent.SerializeToString()))
    told = m.SQLQueryResponse.FromString(encode(answer))
    assert not told.consumes
    [used] = told.search_consumes
    assert (used.table_name, used.index_name) == ("t", "x")
    assert used.consumed.capacity_unit.read == 1
    assert told.next_search_token
    sent.search_token = told.next_search_token
    last = m.SQLQueryResponse.FromString(
        encode(call(engine, "i", decode(sent.SerializeToString())))
    )
    assert not last.HasField("next_search_token")


# --- what only an index answers ------------------------------------------------------------------

TEXTS = {
    (1, "p"): {
        "s": "the quick brown fox",
        "l": "[1, 5]",
        "o": '[{"x": 1, "y": "u"}, {"x": 2, "y": "v"}]',
    },
    (2, "p"): {"s": "a slow brown bear", "l": "[2]", "o": '[{"x": 1, "y": "v"}]'},
    (3, "p"): {"s": "foxes are quick", "l": "[5, 7]", "v": "[1.0, 0.0]"},
    (4, "p"): {"v": "[0.0, 1.0]"},
}


@pytest.fixture(scope="module")
def texts() -> TablestoreEngine:
    """A table whose index has a text, an array, nested documents and a vector; its mapping `m`."""
    engine = engine_with(TEXTS, {"n": T.LONG})
    inside = (SearchField("x", T.LONG), SearchField("y", T.KEYWORD))
    fields = (
        SearchField("a", T.LONG),
        SearchField("s", T.TEXT),
        SearchField("l", T.LONG, is_array=True),
        SearchField("o", T.NESTED, fields=inside),
        SearchField("v", T.VECTOR, vector=VectorOptions(2, VectorMetric.EUCLIDEAN)),
        SearchField("w", T.KEYWORD, source="s"),
    )
    request = CreateSearchIndex("t", "y", SearchSchema(fields))
    engine.core.run(engine.search.create("i", request))
    run_sql(
        engine,
        "CREATE TABLE m (a BIGINT, s MEDIUMTEXT, l TEXT, o MEDIUMTEXT, v MEDIUMTEXT, w TEXT) "
        """ENGINE='searchindex', ENGINE_ATTRIBUTE='{"index_name": "y", "table_name": "t"}'""",
    )
    return engine


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ("TEXT_MATCH(s, 'quick bear')", [1, 2, 3]),
        ("text_match(s, 'quick fox', 'AND')", [1]),
        ("text_match(s, 'quick fox bear', 'minimum_should_match=2')", [1]),
        ("text_match(s, 'brown') AND NOT text_match(s, 'slow')", [1]),
        ("text_match(s, 'slow') OR a = 3", [2, 3]),
        ("NOT text_match(s, 'brown')", [3, 4]),
        ("text_match_phrase(s, 'brown fox')", [1]),
        ("ARRAY_EXTRACT(l) = 5", [1, 3]),
        ("array_extract(l) > 5", [3]),
        ("NOT array_extract(l) = 5", [2, 4]),
        ("`o.x` = 2", [1]),
        ("`o.x` = 2 AND `o.y` = 'u'", [1]),
        ("`o.x` = 1 AND `o.y` = 'v'", [1, 2]),
        ("NESTED_QUERY(`o.x` = 1 AND `o.y` = 'v')", [2]),
        ("NESTED_QUERY(`o.x` = 1 AND NOT `o.y` = 'u')", [2]),
        ("VECTOR_QUERY_FLOAT32(v, '[0.9, 0.1]', 1)", [3]),
        ("w = 'foxes are quick'", [3]),
        ("w LIKE '%brown%' AND upper(w) LIKE '%SLOW%'", [2]),
    ],
)
def test_search_functions(texts: TablestoreEngine, condition: str, found: list[int]) -> None:
    assert rows_of_statement(texts, f"SELECT a FROM m WHERE {condition}") == [(n,) for n in found]


def test_a_function_of_a_tables_mapping_finds_its_index(texts: TablestoreEngine) -> None:
    text = "SELECT b, n, a FROM t WHERE text_match(s, 'slow') AND b = 'p'"
    assert rows_of_statement(texts, text) == [("p", None, 2)]
    assert run_sql(texts, text).consumed[0].search == "y"


def test_scores_order_what_matches(texts: TablestoreEngine) -> None:
    text = "SELECT a, SCORE() AS s FROM m WHERE text_match(s, 'quick fox') ORDER BY SCORE() DESC"
    (first, best), (second, less) = rows_of_statement(texts, text)
    assert (first, second) == (1, 3)
    assert best > less > 0


@pytest.mark.parametrize(
    "text",
    [
        "a FROM t WHERE text_match(b, 'x')",
        "a FROM m WHERE text_match(w, 'x')",
        "text_match(s, 'x') FROM m",
        "a FROM m WHERE text_match(s, 'x') + 1 = 2",
        "a FROM m WHERE array_extract(a) = 1",
        "a FROM m WHERE nested_query(a = 1)",
        "a FROM m WHERE text_match_phrase(s, concat('a', 'b'))",
        "x.a FROM m x JOIN m y ON x.a = y.a WHERE text_match(x.s, 'x')",
        "score() FROM (SELECT 1 AS n) q",
        "a FROM t USE INDEX () WHERE text_match(s, 'x')",
    ],
)
def test_functions_in_wrong_places_are_refused(texts: TablestoreEngine, text: str) -> None:
    assert rule_of_refusal(texts, f"SELECT {text}") is R.SQL_SEARCH_FUNCTION


def test_a_mapping_of_an_index_lives_with_it() -> None:
    engine = engine_with({(1, "p"): {"n": 5}}, FIELDS)
    made = (
        "CREATE TABLE {} (n {}) ENGINE=searchindex "
        """ENGINE_ATTRIBUTE='{{"index_name": "{}", "table_name": "t"}}'"""
    )
    assert rule_of_refusal(engine, made.format("m", "DOUBLE", "x")) is R.SQL_MAPPING
    assert rule_of_refusal(engine, made.format("m", "BIGINT", "y")) is R.SQL_INDEX_UNKNOWN
    assert rule_of_refusal(engine, made.format("t", "BIGINT", "x")) is R.SQL_TABLE_EXISTS
    run_sql(engine, made.format("m", "BIGINT", "x"))
    assert rule_of_refusal(engine, made.format("M", "BIGINT", "x")) is R.SQL_TABLE_EXISTS
    assert rows_of_statement(engine, "SHOW TABLES") == [("m",), ("t",)]
    assert rows_of_statement(engine, "SELECT * FROM m") == [(5,)]
    assert rule_of_refusal(engine, "SELECT a FROM m") is R.SQL_COLUMN_UNKNOWN
    run_sql(engine, "ALTER TABLE m ADD a BIGINT")
    assert rows_of_statement(engine, "SELECT x.a, y.n FROM m x JOIN t y ON x.a = y.a") == [(1, 5)]
    run_sql(engine, "ALTER TABLE m DROP n")
    assert [row[0] for row in rows_of_statement(engine, "DESC m")] == ["a"]
    assert rule_of_refusal(engine, "DELETE FROM m WHERE a = 1") is R.SQL_CHANGE
    reopened = engine.tables.find("i", "t")
    assert [each.name for each in reopened.search_mappings] == ["m"]
    run_sql(engine, "DROP MAPPING TABLE m")
    assert rule_of_refusal(engine, "SELECT * FROM m") is R.SQL_TABLE_UNKNOWN
    run_sql(engine, made.format("m", "BIGINT", "x"))
    engine.core.run(engine.search.delete("i", SearchIndexName("t", "x")))
    assert rule_of_refusal(engine, "SELECT * FROM m") is R.SQL_TABLE_UNKNOWN
    assert rows_of_statement(engine, "SELECT n FROM t") == [(5,)]


# --- pages ---------------------------------------------------------------------------------------


@given(table=TABLES, size=st.integers(1, 4), order=st.sampled_from(["", " ORDER BY count(*)"]))
@settings(max_examples=examples(60))
def test_pages_of_groups_add_up(
    table: dict[tuple[int, str], dict[str, Any]], size: int, order: str
) -> None:
    engine = engine_with(table, FIELDS)
    text = f"SELECT n, s, count(*) FROM t GROUP BY n, s{order}"
    every = rows_of_statement(engine, text)
    found: list[tuple[Any, ...]] = []
    token = ""
    while True:
        page = run_statement(engine, "i", f"{text} LIMIT {size}", page=GroupPage(token))
        assert isinstance(page, Result)
        assert page.table is not None
        assert page.table.rows <= size
        found += zip(*page.table.values, strict=True)
        token = page.token
        if not token:
            break
        assert page.table.rows == size
    assert found == every


def test_a_token_is_for_its_statement() -> None:
    engine = engine_with({(n, "p"): {} for n in range(3)}, FIELDS)
    text = "SELECT a FROM t GROUP BY a LIMIT 1"
    first = run_statement(engine, "i", text, page=GroupPage())
    assert isinstance(first, Result)
    for other, token in (
        (text + " ", first.token),
        (text, "?"),
        (text, "AAAA"),
        ("SELECT a FROM t LIMIT 1", first.token),
        ("SHOW TABLES", first.token),
        ("SELECT a FROM t USE INDEX () GROUP BY a LIMIT 1", first.token),
    ):
        with pytest.raises(InvalidRequest) as caught:
            run_statement(engine, "i", other, page=GroupPage(token))
        assert caught.value.rule is R.SQL_TOKEN
    (rest,) = rows_of_statement(engine, text)
    assert rest == (0,)
    for plain in ("SELECT a FROM t USE INDEX () GROUP BY a LIMIT 1", "SELECT a FROM t LIMIT 1"):
        found = run_statement(engine, "i", plain, page=GroupPage())
        assert isinstance(found, Result)
        assert found.token == ""
