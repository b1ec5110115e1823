"""Rows of `SELECT *`, and rows that a whole or partial key leads to (nosql-wire §2, §6; ddl §3)."""

from decimal import Decimal
from typing import Any

import pytest
from tests.unit.wire.nosql.sql.conftest import ONCE, SqlStore

from widerow.limits import NSON_DEPTH_MAX
from widerow.model.typed.values import JSON_NULL
from widerow.testing.clock import FakeClock
from widerow.wire.nosql.nson import EncodedValue, TimestampText, decode_value, encode
from widerow.wire.nosql.sql.bind_select import BoundSelect
from widerow.wire.nosql.sql.run import prepare_statement

KINDS = (
    "CREATE TABLE kinds (k STRING, n INTEGER, l LONG, f FLOAT, d DOUBLE, m NUMBER, b BOOLEAN, "
    "y BINARY, y2 BINARY(2), e ENUM(z, a), u STRING AS UUID, t TIMESTAMP(3), a ARRAY(LONG), "
    "aj ARRAY(JSON), mp MAP(INTEGER), r RECORD(x LONG, j JSON), j JSON, PRIMARY KEY(SHARD(k), n))"
)
FULL: dict[str, Any] = {
    "k": "é",
    "n": 1,
    "l": 2,
    "f": 0.5,
    "d": 1e300,
    "m": Decimal("1.50"),
    "b": True,
    "y": b"\x00\xff",
    "y2": b"ab",
    "e": "z",
    "u": "01234567-89ab-cdef-0123-456789abcdef",
    "t": "-0012-01-02T03:04:05.678",
    "a": [1, 2**40],
    "aj": [None, {"b": 1, "a": None}],
    "mp": {"y": 1, "x": 2},
    "r": {"x": 7, "j": {"b": None, "a": [1.5, None]}},
    "j": {"b": {"d": None, "c": 1}, "a": [True, "x"]},
}


@pytest.fixture
def kinds(sql: SqlStore) -> SqlStore:
    sql.define(KINDS)
    table = sql.store.table("kinds")
    table.put(FULL)
    table.put({"k": "é", "n": 2})
    table.put({"k": "é", "n": 3, "j": JSON_NULL, "a": [], "mp": {}})
    return sql


def first_page(sql: SqlStore, text: str) -> list[Any]:
    return sql.page(text, {}, ONCE).rows


def test_a_star_sends_what_its_columns_send_one_by_one(kinds: SqlStore) -> None:
    names = ", ".join(FULL)
    whole = first_page(kinds, "SELECT * FROM kinds ORDER BY k, n")
    apart = first_page(kinds, f"SELECT {names} FROM kinds ORDER BY k, n")
    assert len(whole) == 3
    for star, row in zip(whole, apart, strict=True):
        assert isinstance(star, EncodedValue)
        assert star.data == encode(row)


def test_a_star_sends_each_type_as_queries_do(kinds: SqlStore) -> None:
    star = first_page(kinds, 'SELECT * FROM kinds WHERE k = "é" AND n = 1')[0]
    row = decode_value(star.data, 0, NSON_DEPTH_MAX)[0]
    assert row["t"] == TimestampText("-012-01-02T03:04:05.678")  # a digit less before the year 0
    assert list(row["mp"]) == ["x", "y"]
    assert list(row["j"]) == ["a", "b"]
    assert row["aj"] == [JSON_NULL, {"a": JSON_NULL, "b": 1}]


@pytest.mark.parametrize(
    ("given", "found"),
    [(1, [1]), (1.0, [1]), (1.5, []), (2**40, []), (2**70, []), ("1", []), (None, [])],
    ids=repr,
)
def test_a_key_is_compared_with_values_of_any_type(
    kinds: SqlStore,
    given: Any,  # noqa: ANN401  # a bound value
    found: list[int],
) -> None:
    text = 'SELECT n FROM kinds WHERE k = "é" AND n = ?'
    assert kinds.values(text, variables={"#1": given}) == found


CONDITIONS: list[tuple[str, list[int], bool]] = [
    ('k = "é"', [1, 2, 3], True),
    ('"é" = k AND n > 1', [2, 3], True),
    ('k = "é" AND n = 1 AND e = "z"', [1], True),
    ('k = "é" AND n = 1 AND e = "a"', [], True),
    ('k = "é" AND n = 1 AND n = 2', [], True),
    ('k = "é" AND n = 1 AND n IN (1, 2)', [1], True),
    ('k = "é" AND k = "e"', [], True),
    ('k = "é" OR n = 1', [1, 2, 3], False),
    ('NOT k = "é"', [], False),
    ('k >= "é"', [1, 2, 3], False),
    ("n = 1", [1], False),
    ('k = "é" AND n = 1.0', [1], True),
    ("k = e", [], False),
]


@pytest.mark.parametrize(
    ("where", "found", "covered"), CONDITIONS, ids=[each[0] for each in CONDITIONS]
)
def test_conditions_that_ranges_fulfil_are_left_out(
    kinds: SqlStore,
    where: str,
    found: list[int],
    covered: bool,  # noqa: FBT001  # a parameter of the cases
) -> None:
    text = f"SELECT n FROM kinds WHERE {where} ORDER BY n"
    bound = prepare_statement(text, kinds.store.engine.tables).bound
    assert isinstance(bound, BoundSelect)
    assert (bound.plan.covered is not None) == covered
    assert kinds.values(text) == found


def test_a_row_of_a_whole_key_is_read_without_a_scan(
    kinds: SqlStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a scan")

    monkeypatch.setattr(kinds.store.engine, "scan_selection", refuse)
    text = 'SELECT n FROM kinds WHERE k = "é" AND n = ?'
    assert [kinds.values(text, variables={"#1": n}) for n in (1, 4)] == [[1], []]
    with pytest.raises(AssertionError, match="a scan"):
        kinds.values('SELECT n FROM kinds WHERE k = "é"')


def test_a_row_of_a_whole_key_is_gone_once_it_has_expired(sql: SqlStore, clock: FakeClock) -> None:
    sql.define("CREATE TABLE brief (k STRING, PRIMARY KEY(k)) USING TTL 2 HOURS")
    sql.store.table("brief").put({"k": "a"})
    text = 'SELECT k FROM brief WHERE k = "a"'
    assert sql.values(text) == ["a"]
    clock.advance(4 * 3600)
    assert sql.values(text) == []
