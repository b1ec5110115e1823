"""Secondary indexes behind statements: their own mappings, and when they are read (sql §2, §8)."""

import itertools
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.changes import create, put
from tests.support.statements import rows_of_statement, rule_of_refusal, run_sql, statement_engine
from tests.support.volume import examples

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.requests import CreateIndex, IndexDefinition
from widerow.model.tablestore.rules import TablestoreRule as R
from widerow.model.tablestore.schema import DefinedColumn, KeyColumn
from widerow.model.values import ColumnType, KeyType
from widerow.query.budget import QueryBudget, QueryResource

NUMBERS = st.integers(-2, 2)
CELLS = st.fixed_dictionaries({}, optional={"n": NUMBERS, "m": NUMBERS, "s": st.sampled_from("xy")})
TABLES = st.dictionaries(st.tuples(NUMBERS, st.sampled_from("pq")), CELLS, max_size=12)
KEYS = st.lists(st.sampled_from(["n", "m", "b"]), min_size=1, max_size=3, unique=True)
Rows = dict[tuple[int, str], dict[str, Any]]


def write(engine: TablestoreEngine, rows: Rows) -> None:
    for (a, b), cells in rows.items():
        engine.core.run(engine.rows.write_row("i", put("t", {"a": a, "b": b}, cells)))


def add_index(
    engine: TablestoreEngine, name: str, key: list[str], *, covers: bool = True, base: bool = True
) -> None:
    covered = tuple(each for each in ("n", "m", "s") if each not in key) if covers else ()
    asked = CreateIndex("t", IndexDefinition(name, tuple(key), covered), base)
    engine.core.run(engine.indexes.create("i", asked))
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)


def engine_with(rows: Rows) -> TablestoreEngine:
    engine = statement_engine()
    key = (KeyColumn("a", KeyType.INTEGER), KeyColumn("b", KeyType.STRING))
    kinds = {"n": ColumnType.INTEGER, "m": ColumnType.INTEGER, "s": ColumnType.STRING}
    defined = tuple(DefinedColumn(name, kind) for name, kind in kinds.items())
    engine.core.run(engine.create_table("i", replace(create("t", key), defined_columns=defined)))
    write(engine, rows)
    return engine


def explained(engine: TablestoreEngine, text: str) -> str:
    return "\n".join(line for (line,) in rows_of_statement(engine, f"EXPLAIN {text}"))


conditions = st.lists(
    st.one_of(
        st.builds("{} {} {}".format, st.sampled_from("nma"), st.sampled_from("=<>"), NUMBERS),
        st.sampled_from(["n IS NOT NULL", "m IS NOT NULL", "n IS NULL", "n IN (0, 1)", "b = 'p'"]),
    ),
    max_size=3,
)


@given(
    before=TABLES, after=TABLES, keys=st.lists(KEYS, max_size=3), base=st.booleans(), data=st.data()
)
@settings(max_examples=examples(400))
def test_an_index_changes_no_rows_of_a_statement(
    before: Rows, after: Rows, keys: list[list[str]], *, base: bool, data: st.DataObject
) -> None:
    """Rows that lack a column of an index, or are older than it, are found all the same."""
    engine = engine_with(before)
    for number, key in enumerate(keys):
        add_index(engine, f"x{number}", key, base=base)
    write(engine, after)
    found = data.draw(conditions)
    where = f" WHERE {' AND '.join(found)}" if found else ""
    columns = data.draw(st.lists(st.sampled_from("nmab"), min_size=1, max_size=2, unique=True))
    down = data.draw(st.sampled_from(["", " DESC"]))
    rest = [each for each in "ab" if each not in columns]
    order = ", ".join(f"{each}{down}" for each in [*columns, *rest])
    limit = data.draw(st.sampled_from(["", " LIMIT 2"]))
    tail = f"{where} ORDER BY {order}{limit}"
    text = f"SELECT n, m, a, b FROM t{tail}"
    plain = f"SELECT n, m, a, b FROM t USE INDEX (){tail}"
    assert rows_of_statement(engine, text) == rows_of_statement(engine, plain)


HOLDS: Mapping[str, Callable[[dict[str, Any]], bool]] = {
    "a = 1": lambda row: row["a"] == 1,
    "a > 0": lambda row: row["a"] > 0,
    "b = 'p'": lambda row: row["b"] == "p",
    "n = 1": lambda row: row.get("n") == 1,
    "NOT n = 1": lambda row: row.get("n") not in (None, 1),
    "n IS NULL": lambda row: "n" not in row,
    "n IS NOT NULL": lambda row: "n" in row,
    "n IN (0, 1)": lambda row: row.get("n") in (0, 1),
    "n < m": lambda row: "n" in row and "m" in row and row["n"] < row["m"],
    "s = 'x'": lambda row: row.get("s") == "x",
}


@pytest.mark.parametrize("indexed", [[], ["n"], ["b", "n"]])
def test_all_conditions_together_choose_the_rows_that_each_one_chooses(indexed: list[str]) -> None:
    """Every three of them, asked twice: the second time a plan may be there already (sql §8)."""
    columns: list[dict[str, Any]] = [{}, {"n": 1}, {"n": 0, "s": "y"}, {"m": 0, "s": "x"}]
    cells = itertools.cycle([*columns, {"n": 1, "m": 2, "s": "x"}])
    rows: Rows = {(a, b): next(cells) for a in range(3) for b in "pqrs"}
    engine = engine_with(rows)
    if indexed:
        add_index(engine, "x", indexed)
    for chosen in itertools.chain.from_iterable(
        itertools.combinations(HOLDS, count) for count in (1, 2, 3)
    ):
        wanted = [
            (a, b)
            for (a, b), found in rows.items()
            if all(HOLDS[each]({"a": a, "b": b, **found}) for each in chosen)
        ]
        for _ in range(2):
            text = f"SELECT a, b FROM t WHERE {' AND '.join(chosen)} ORDER BY a, b"
            assert rows_of_statement(engine, text) == wanted, text


def test_an_ordered_limit_reads_only_what_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = engine_with({(a, "p"): {"n": a * 7 % 200} for a in range(200)})
    add_index(engine, "x", ["n"])
    read = [0]

    def counted(
        self: QueryBudget, rows: int, size: int, resource: QueryResource = QueryResource.ROWS_READ
    ) -> None:
        read[0] += rows
        original(self, rows, size, resource)

    original = QueryBudget.read
    monkeypatch.setattr(QueryBudget, "read", counted)
    text = "SELECT n FROM t WHERE n IS NOT NULL ORDER BY n DESC LIMIT 3"
    assert rows_of_statement(engine, text) == [(199,), (198,), (197,)]
    assert read == [16]  # the first page
    assert "index x of table t: all rows, from the last key to the first" in explained(engine, text)
    with_nulls = "SELECT n FROM t ORDER BY n LIMIT 1"
    assert "read table t" in explained(engine, with_nulls)


def test_an_index_has_a_mapping_of_its_own() -> None:
    engine = engine_with({(1, "p"): {"n": 5, "s": "x"}, (2, "q"): {"n": 3}, (3, "p"): {"s": "y"}})
    add_index(engine, "x", ["n"])
    assert rows_of_statement(engine, "SELECT * FROM x") == [
        (3, 2, "q", None, None),
        (5, 1, "p", None, "x"),
    ]
    assert rows_of_statement(engine, "SHOW TABLES") == [("t",)]
    wrong = "CREATE TABLE x (a BIGINT, b VARCHAR(1024), PRIMARY KEY (a, b))"
    assert rule_of_refusal(engine, wrong) is R.SQL_MAPPING
    run_sql(
        engine,
        "CREATE TABLE x (n BIGINT, a BIGINT, b VARCHAR(1024), s MEDIUMTEXT, PRIMARY KEY (n, a, b))",
    )
    assert rows_of_statement(engine, "SHOW TABLES") == [("t",), ("x",)]
    assert rows_of_statement(engine, "SELECT * FROM x WHERE n > 3") == [(5, 1, "p", "x")]
    assert "read table x: 1 ranges of the key by n" in explained(
        engine, "SELECT s FROM x WHERE n = 3"
    )
    assert (
        rule_of_refusal(engine, "DELETE FROM x WHERE n = 5 AND a = 1 AND b = 'p'") is R.SQL_CHANGE
    )
    run_sql(engine, "DROP MAPPING TABLE x")
    assert [row[0] for row in rows_of_statement(engine, "DESC x")] == ["n", "a", "b", "m", "s"]


def test_hints_name_the_index() -> None:
    engine = engine_with({(1, "p"): {"n": 5, "s": "x"}, (2, "q"): {"s": "y"}})
    add_index(engine, "x", ["n"])
    add_index(engine, "y", ["n"], covers=False)
    assert "index x of" in explained(engine, "SELECT s FROM t WHERE n = 5")
    assert "read table t: all" in explained(engine, "SELECT s FROM t USE INDEX () WHERE n = 5")
    assert "index y of" in explained(engine, "SELECT a FROM t USE INDEX (y) WHERE n = 5")
    assert rule_of_refusal(engine, "SELECT s FROM t USE INDEX (y)") is R.SQL_UNSUPPORTED
    assert rule_of_refusal(engine, "SELECT s FROM t USE INDEX (z)") is R.SQL_INDEX_UNKNOWN
    assert rule_of_refusal(engine, "SELECT s FROM t FORCE INDEX (x)") is R.SQL_UNSUPPORTED
    assert rows_of_statement(engine, "SELECT a FROM t USE INDEX (x)") == [(1,)]


def test_an_index_that_is_being_built_is_not_read() -> None:
    """Its mapping is refused, as GetRange of it is; the table answers meanwhile (change §A5)."""
    engine = engine_with({(n, "p"): {"n": 5} for n in range(1500)})
    asked = CreateIndex("t", IndexDefinition("x", ("n",), ()), include_base_data=True)
    engine.core.run(engine.indexes.create("i", asked))
    assert rule_of_refusal(engine, "SELECT * FROM x") is R.INDEX_BUILDING_GLOBAL
    assert rows_of_statement(engine, "SELECT count(*) FROM t WHERE n = 5") == [(1500,)]
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)
    assert rows_of_statement(engine, "SELECT count(*) FROM x") == [(1500,)]


def test_a_local_index_has_a_mapping_too() -> None:
    engine = engine_with({(1, "p"): {"n": 5}, (1, "q"): {"n": 3}, (2, "p"): {"m": 1}})
    asked = IndexDefinition("x", ("a", "n"), ("m",), kind=1, mode=1)
    engine.core.run(engine.indexes.create("i", CreateIndex("t", asked, include_base_data=True)))
    while (plan := engine.core.housekeeping()) is not None:
        engine.core.run(plan)
    assert rows_of_statement(engine, "SELECT * FROM x") == [(1, 3, "q", None), (1, 5, "p", None)]
    assert rows_of_statement(engine, "SELECT b FROM x WHERE a = 1 AND n > 3") == [("p",)]
    assert "index x of" in explained(engine, "SELECT b FROM t WHERE a = 1 AND n > 3")
