"""Indexes on functions of JSON paths answer as the rows do (corrections B, 1 index fields)."""

from decimal import Decimal
from typing import Any, Final

import pytest
from tests.unit.wire.nosql.sql.conftest import SqlStore

VALUES: Final[list[Any]] = [
    *("Ab", "b ", "", 1, -7, 2**40, 1.5, 5.0, 1e20, 1e-7, Decimal("1.50"), True, False, None),
    *([], ["a", "B", 1.0, None], {"k": "V", "a": [True]}, {}, 'é\n"', '["x"]'),
]
FUNCTIONS: Final = ("lower", "upper", "ltrim", "rtrim", "reverse", "length")


@pytest.mark.parametrize("kind", ["STRING", "INTEGER", "ANYATOMIC"])
def test_rows_are_those_without_the_index(sql: SqlStore, kind: str) -> None:
    sql.define("CREATE TABLE t (k INTEGER, j JSON, PRIMARY KEY(k))")
    table = sql.store.table("t")
    for k, value in enumerate(VALUES):
        table.put({"k": k, "j": {"p": value}})
    table.put({"k": 100, "j": {}})
    table.put({"k": 101, "j": None})
    for function in FUNCTIONS:
        asked = f"SELECT k FROM t WHERE {function}(t.j.p)"
        type_ = "INTEGER" if function == "length" else "STRING"
        texts = {
            value
            for value in sql.values(f"SELECT {function}(t.j.p) AS v FROM t")
            if value is not None
        }
        queries = [f"DECLARE $x {type_}; {asked} {op} $x" for op in ("=", ">")]
        without = [
            sorted(sql.values(query, variables={"$x": text})) for query in queries for text in texts
        ]
        sql.define(f"CREATE INDEX i ON t({function}(j.p AS {kind}))")
        assert "i" in sql.plan(queries[0]).split('"')
        found = [
            sorted(sql.values(query, variables={"$x": text})) for query in queries for text in texts
        ]
        assert found == without
        assert any(found)
        sql.define("DROP INDEX i ON t")


def test_values_of_another_type_are_null_in_an_index_of_a_part_of_a_time(sql: SqlStore) -> None:
    sql.define("CREATE TABLE t (k INTEGER, j JSON, PRIMARY KEY(k))")
    table = sql.store.table("t")
    given = ["2020-02-03", 5, "no time", ["2021-01-01"], True, None]
    table.put_many({"k": k, "j": {"p": value}} for k, value in enumerate(given))
    sql.define("CREATE INDEX i ON t(year(j.p AS STRING))", "CREATE INDEX a ON t(abs(j.p AS LONG))")
    table.put({"k": 9, "j": {"p": {"at": 1}}})
    years = [next(iter(key.values.values())) for key in table.index_keys_iterator("i")]
    assert years == [2020, None, None, None, None, None, None]
    numbers = [next(iter(key.values.values())) for key in table.index_keys_iterator("a")]
    assert numbers == [5, None, None, None, None, None, None]
