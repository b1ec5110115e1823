"""Statements of SQL on a store (ddl §3; nosql-wire §6)."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from librt.strings import BytesWriter
from tests.unit.wire.nosql.sql.conftest import SqlStore

from widerow import nosql
from widerow.errors import InvalidRequest, NotFound
from widerow.limits import NOSQL_CONTINUATION_BYTES_MAX, NOSQL_VALUES_HELD_MAX
from widerow.model.typed.values import JSON_NULL
from widerow.storage.opener import open_store
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.wire.nosql.nson import TYPE_NAMES, put_value
from widerow.wire.nosql.sql.aggregates import Holder
from widerow.wire.nosql.sql.resume import QueryResume, resume_bytes, statement_mark
from widerow.wire.nosql.sql.run import prepare_statement

USERS = (
    "CREATE TABLE users (g INTEGER, id INTEGER, name STRING, age INTEGER, tags ARRAY(STRING), "
    "prefs MAP(STRING), home RECORD(city STRING, zip INTEGER), doc JSON, n NUMBER, "
    "e ENUM(z, a), d INTEGER DEFAULT 7 NOT NULL, PRIMARY KEY(SHARD(g), id))"
)


@pytest.fixture
def users(sql: SqlStore) -> SqlStore:
    sql.define(USERS, "CREATE INDEX by_age ON users(age)", "CREATE INDEX by_tag ON users(tags[])")
    for number in range(8):
        sql.rows(
            f"INSERT INTO users (g, id, name, age, tags, doc) VALUES ({number % 2}, {number}, "
            f'"n{number}", {number * 10}, ["t{number % 3}", "all"], {{"x": {number}, "l": [1, 2]}})'
        )
    return sql


# --- SELECT --------------------------------------------------------------------------------------

SELECTS: list[tuple[str, list[Any]]] = [
    ("SELECT id FROM users WHERE g = 1", [1, 3, 5, 7]),
    ("SELECT id FROM users WHERE g = 1 ORDER BY id DESC LIMIT 2 OFFSET 1", [5, 3]),
    ("SELECT id FROM users WHERE age BETWEEN 20 AND 40 ORDER BY age DESC", [4, 3, 2]),
    ('SELECT id FROM users u WHERE u.tags[] =any "t1" ORDER BY id', [1, 4, 7]),
    ('SELECT id FROM users u WHERE u.tags[] >any "a" ORDER BY id LIMIT 3', [0, 1, 2]),
    ("SELECT count(*) FROM users", [8]),
    ("SELECT g, sum(age) FROM users GROUP BY g ORDER BY g", [(0, 120), (1, 160)]),
    ("SELECT max(age) - min(age) FROM users WHERE g = 0", [60]),
    ("SELECT sum(u.n) FROM users u", [None]),
    ("SELECT DISTINCT g FROM users ORDER BY g DESC", [1, 0]),
    (
        "SELECT $t, count(*) FROM users u, u.tags[] AS $t GROUP BY $t ORDER BY count(*) DESC, $t",
        [("all", 8), ("t0", 3), ("t1", 3), ("t2", 2)],
    ),
    ("SELECT u.doc.x + 1 FROM users u WHERE u.doc.x = 3", [4]),
    ("SELECT id FROM users WHERE (g, id) IN ((0, 2), (1, 3), (5, 5)) ORDER BY id", [2, 3]),
    ("SELECT id FROM users WHERE false", []),
    ("SELECT id FROM users LIMIT 0", []),
    ("SELECT /*+ FORCE_PRIMARY_INDEX(users) */ id FROM users WHERE age = 30", [3]),
]


def test_queries_give_what_the_page_says(users: SqlStore) -> None:
    for text, expected in SELECTS:
        assert users.values(text) == expected, text
        assert users.values(text, limit=1) == expected, text


WHOLE = (
    "SELECT count(*), count(age), count(DISTINCT g), sum(age), max(age), min(id) FROM users",
    "SELECT g, id, seq_count(u.tags[]), age + 1, sum(age) FROM users u GROUP BY g, id, u.tags, age",
    "SELECT big, sum(big), max(big) + 1 FROM counts GROUP BY big",
    "DELETE FROM counts",
)


def test_whole_numbers_are_sent_with_the_type_that_the_schema_has(users: SqlStore) -> None:
    """ddl, "Result type per column": a LONG is one however small it is, as Java's drivers ask."""
    users.define("CREATE TABLE counts (id INTEGER, big LONG, PRIMARY KEY(id))")
    users.rows("INSERT INTO counts VALUES (1, 2)")
    for text in WHOLE:
        schema = json.loads(prepare_statement(text, users.store.engine.tables).schema())
        declared = {each["name"]: each["type"] for each in schema["fields"]}
        users.rows(text)
        for row in users.pages[0].rows:
            assert isinstance(row, dict)
            for name, value in row.items():
                sent = BytesWriter()
                put_value(sent, value)
                assert TYPE_NAMES[sent.getvalue()[0]] == declared[name], (text, name)


def test_a_statement_of_a_changed_table_is_planned_again(users: SqlStore) -> None:
    engine = users.store.engine
    assert '"index used": "by_age"' in users.plan("SELECT id FROM users WHERE age = 30")
    users.define("DROP INDEX by_age ON users")
    assert '"index used": "primary index"' in users.plan("SELECT id FROM users WHERE age = 30")
    assert engine.tables.get_qualified("users") is not None
    users.define("ALTER TABLE users (ADD later INTEGER DEFAULT 3)")
    assert users.values("SELECT later FROM users WHERE g = 0 AND id = 2") == [3]


REFUSED: list[tuple[str, type[Exception], str]] = [
    ("SELECT nosuch FROM users", InvalidRequest, "No table in the FROM clause has a column"),
    ("SELECT u.nosuch FROM users u", InvalidRequest, "Table users has no column named nosuch"),
    ("SELECT x.id FROM users u", InvalidRequest, "has an alias named x"),
    ("SELECT id FROM nosuch", NotFound, "Table not found: nosuch"),
    (
        "SELECT id FROM users WHERE name",
        InvalidRequest,
        "Cannot promote type :\nString\nto type :\nBoolean[?]",
    ),
    ("SELECT id, count(*) FROM users", InvalidRequest, "Invalid expression in SELECT"),
    ("SELECT sum(name) FROM users", InvalidRequest, "Invalid input type for the sum"),
    ("SELECT sum(sum(age)) FROM users", InvalidRequest, "cannot be nested"),
    ("SELECT id FROM users WHERE count(*) > 1", InvalidRequest, "SELECT or ORDER BY"),
    ("SELECT * FROM users GROUP BY g", InvalidRequest, "not allowed together with group by"),
    ("SELECT id FROM users ORDER BY tags", InvalidRequest, "single atomic"),
    ("SELECT id FROM users LIMIT -1", InvalidRequest, "Limit can not be a negative number"),
    ("SELECT id FROM users LIMIT id", InvalidRequest, "Limit expression is not constant"),
    ("SELECT id FROM users WHERE id = $x", InvalidRequest, "Unknown variable [$]x"),
    ("SELECT id FROM users WHERE id = ?", InvalidRequest, "none of which has been bound"),
    ("UPDATE users SET age = 1 WHERE id = 1", InvalidRequest, "complete shard key"),
    ("UPDATE users SET id = 1 WHERE g = 1", InvalidRequest, "primary key column"),
    ("UPDATE users SET d = null WHERE g = 1", InvalidRequest, "is not nullable"),
    ("UPDATE users REMOVE home.city WHERE g = 1", InvalidRequest, "has an alias named home"),
    ("UPDATE users SET age = 1 WHERE g = 1 RETURNING *", InvalidRequest, "RETURNING clause"),
    ('INSERT INTO users (g, id, age) VALUES (5, 5, "x")', InvalidRequest, "Cannot cast value"),
    ("INSERT INTO users (g) VALUES (5)", InvalidRequest, "No value specified for primary key"),
    ("CREATE TABLE t (k INTEGER, PRIMARY KEY(k))", InvalidRequest, "use TableRequest instead"),
    ("SELECT id FROM users WHERE " + "(" * 200 + "true" + ")" * 200, InvalidRequest, "nested"),
    ("SELECT " + "- " * 500 + "1 FROM users", InvalidRequest, "nested"),
    ("SELECT id FROM users -- comment", InvalidRequest, "mismatched input"),
    ("SELCT id FROM users", InvalidRequest, "mismatched input 'SELCT' expecting {ALTER, CREATE"),
    ("", InvalidRequest, "0. mismatched input '<EOF>' .* at line 1:0\nrule stack: .parse, statem"),
    ("EXPLAIN SELECT id FROM users", InvalidRequest, "^Table, .* extraneous input 'EXPLAIN' exp"),
    ("SELECT nosuch(id) FROM users", InvalidRequest, "Error: Could not find function"),
    ("SELECT version(id) FROM users", InvalidRequest, "version function must be a row variable"),
    (
        "SELECT version(x) FROM users",
        InvalidRequest,
        "15. No table in the FROM clause has a column",
    ),
    ("SELECT u.tags[0.5] FROM users u", InvalidRequest, "(?s)14. Predicate .*\nDouble$"),
    ('SELECT u.tags[0:"x"] FROM users u', InvalidRequest, "(?s)16. Boundary .*\nString$"),
    ("SELECT 1 + id + u.tags[] FROM users u", InvalidRequest, "22. Operand .* than one items"),
    ("SELECT 1 + u.doc FROM users u", InvalidRequest, "11. .*\nOperand : 1 type :\nMap.Json"),
    ("SELECT u.tags + 1 FROM users u", InvalidRequest, "7. .*\nOperand : 0 type :\nArray.String"),
    ("SELECT u.tags[] IS NULL FROM users u", InvalidRequest, "13. Result set with more than one"),
    ("SELECT u.tags[] IN (1) FROM users u", InvalidRequest, "13. An expression on the left-hand"),
    ("SELECT id IN [id, 1] FROM users", InvalidRequest, "(?s)13. .*\nLHS val = 0 RHS val = .0,1"),
    (
        "SELECT count(*) FROM users u GROUP BY u.tags[]",
        InvalidRequest,
        "44. Result set with more than one",
    ),
    (
        "SELECT cast(u.tags AS INTEGER) FROM users u",
        InvalidRequest,
        "7. Cannot cast value \n.*\nof type \nArray.String.\nto type \nInteger$",
    ),
    (
        "SELECT cast(id AS RECORD(a LONG, b RECORD(c BOOLEAN))) FROM users",
        InvalidRequest,
        "to type \nRECORD.\na : Long,\nb : \nRECORD.\nc : Boolean\n.\n.$",
    ),
    ('SELECT cast("1x" AS NUMBER) FROM users', InvalidRequest, "\nCharacter x is neither"),
    ("SELECT cast(u.doc.no AS LONG) FROM users u", InvalidRequest, "Target type:\nLong$"),
]


def test_what_cannot_be_is_refused(users: SqlStore) -> None:
    for text, error, words in REFUSED:
        with pytest.raises(error, match=words):
            users.rows(text)


def test_a_bytes_column_of_one_length_is_not_cast_to_any_length(sql: SqlStore) -> None:
    sql.define("CREATE TABLE t (k INTEGER, f BINARY(1), b BINARY, PRIMARY KEY(k))")
    sql.rows('INSERT INTO t VALUES (1, "AA==", "AA==")')
    assert sql.values("SELECT cast(b AS BINARY(1)) FROM t") == [b"\0"]
    with pytest.raises(InvalidRequest, match=r"of type \nBinary.1.\nto type \nBinary$"):
        sql.rows("SELECT cast(f AS BINARY) FROM t")


def test_a_cast_to_a_record_has_its_defaults_where_a_map_lacks_them(users: SqlStore) -> None:
    fields = 'a LONG, b STRING DEFAULT "x" NOT NULL, c DOUBLE DEFAULT -1.5, d ENUM(u, v) DEFAULT v'
    text = f'SELECT cast({{"a": 1, "e": 2}} AS RECORD({fields}, f BOOLEAN DEFAULT true)) FROM users'
    assert users.values(text)[0] == {"a": 1, "b": "x", "c": -1.5, "d": "v", "f": True}
    with pytest.raises(InvalidRequest, match="expecting a constant"):
        users.rows('SELECT cast({} AS RECORD(a LONG DEFAULT -"x")) FROM users')


def test_an_index_on_a_function_serves_its_comparisons(sql: SqlStore) -> None:
    sql.define(
        "CREATE TABLE t (k INTEGER, s STRING, PRIMARY KEY(k))", "CREATE INDEX f ON t(lower(s))"
    )
    for k, s in enumerate(('"Ada"', '"ADA"', '"Bo"', "null")):
        sql.rows(f"INSERT INTO t VALUES ({k}, {s})")
    for text, expected in (
        ('lower(s) = "ada"', [0, 1]),
        ('lower(s) > "ada"', [2]),
        ("lower(s) IS NULL", [3]),
    ):
        query = f"SELECT k FROM t WHERE {text}"
        assert sql.values(query) == expected
        assert '"index used": "f"' in sql.plan(query)
    assert '"index used": "primary index"' in sql.plan('SELECT k FROM t WHERE upper(s) = "ADA"')


# --- tables of one hierarchy ---------------------------------------------------------------------

JOINS: list[tuple[str, list[Any]]] = [
    (
        "SELECT p.k, c.c FROM NESTED TABLES(p p DESCENDANTS(p.c c)) ORDER BY p.k, c.c",
        [(1, 1), (1, 2), (2, None), (3, 5)],
    ),
    (
        "SELECT p.k, c.c FROM p p LEFT OUTER JOIN p.c c ON p.k = c.k",
        [(1, 1), (1, 2), (2, None), (3, 5)],
    ),
    ("SELECT p.k, c.c FROM p p, p.c c WHERE p.k = c.k AND c.c > 1", [(1, 2), (3, 5)]),
    (
        "SELECT c.c, p.v FROM NESTED TABLES(p.c c ANCESTORS(p p))",
        [(1, "a"), (2, "a"), (5, "c"), (9, None)],
    ),
    (
        "SELECT p.k, c.c, g.g FROM NESTED TABLES(p p DESCENDANTS(p.c c ON c.c > 1, p.c.g g))",
        [(1, 2, 7), (2, None, None), (3, 5, None)],
    ),
    (
        (
            "SELECT p.k, count(c.c) FROM p p LEFT OUTER JOIN p.c c ON p.k = c.k GROUP BY p.k "
            "ORDER BY p.k"
        ),
        [(1, 2), (2, 0), (3, 1)],
    ),
]


def test_parents_and_children_are_joined(sql: SqlStore) -> None:
    sql.define(
        "CREATE TABLE p (k INTEGER, v STRING, PRIMARY KEY(k))",
        "CREATE TABLE p.c (c INTEGER, PRIMARY KEY(c))",
        "CREATE TABLE p.c.g (g INTEGER, PRIMARY KEY(g))",
    )
    for k, v in ((1, "a"), (2, "b"), (3, "c")):
        sql.rows(f'INSERT INTO p VALUES ({k}, "{v}")')
    for k, c in ((1, 1), (1, 2), (3, 5), (4, 9)):
        sql.rows(f"INSERT INTO p.c VALUES ({k}, {c})")
    sql.rows("INSERT INTO p.c.g VALUES (1, 2, 7)")
    for text, expected in JOINS:
        assert sql.values(text) == expected, text
        assert sql.values(text, limit=1) == expected, text


# --- INSERT, UPDATE, DELETE ----------------------------------------------------------------------

UPDATES: list[tuple[str, str, Any]] = [
    ("SET u.age = u.age + 1", "u.age", 31),
    ("SET u.age = u.doc.nosuch", "u.age", 30),
    ("SET u.doc = null", "u.doc", None),
    ("SET u.doc.x = null", "u.doc.x", JSON_NULL),
    ("SET u.doc.nosuch = 1", "u.doc.nosuch", None),
    ("SET u.doc.l[] = $ * 10", "u.doc.l", [10, 20]),
    ("SET u.doc.l[$element = 2] = 7", "u.doc.l", [1, 7]),
    ('ADD u.tags 0 "first"', "u.tags", ["first", "t0", "all"]),
    ('ADD u.tags "last"', "u.tags", ["t0", "all", "last"]),
    ('PUT u.doc {"y": 1}, REMOVE u.doc.l', "u.doc", {"x": 3, "y": 1}),
    ('REMOVE u.tags[$element = "all"]', "u.tags", ["t0"]),
    (
        'JSON MERGE u.doc WITH PATCH {"x": null, "z": {"q": 1}}',
        "u.doc",
        {"l": [1, 2], "z": {"q": 1}},
    ),
    ('SET u.e = "a", u.n = 2.5', "[u.e, u.n]", ["a", Decimal("2.5")]),
    ('SET u.home = {"zip": 5}', "u.home", {"city": None, "zip": 5}),
    ("SET u.d = 5, SET u.age = u.d", "u.age", 5),
    ("SET TTL 2 DAYS", "u.age", 30),
]


def test_clauses_of_update_change_what_they_say(users: SqlStore) -> None:
    before = users.store.table("users").get({"g": 1, "id": 3})
    assert before is not None
    for clauses, shown, expected in UPDATES:
        users.store.table("users").put(before.to_dict())
        text = f"UPDATE users u {clauses} WHERE u.g = 1 AND u.id = 3"
        [count] = users.values(text)
        assert count == (0 if "nosuch" in clauses else 1), text
        found = users.values(f"SELECT {shown} AS v FROM users u WHERE u.g = 1 AND u.id = 3")
        assert found == [expected], text


def test_update_changes_all_rows_of_a_shard_key_or_none(users: SqlStore) -> None:
    assert users.values("UPDATE users SET age = age + 1 WHERE g = 1 AND age > 20") == [3]
    assert users.values("SELECT age FROM users WHERE g = 1") == [10, 31, 51, 71]
    with pytest.raises(InvalidRequest):
        users.rows("UPDATE users u SET u.age = u.age / (u.id - 7) WHERE u.g = 1")
    assert users.values("SELECT age FROM users WHERE g = 1") == [10, 31, 51, 71]
    assert users.values("SELECT id FROM users WHERE age = 31") == [3]


def test_insert_and_upsert_say_what_they_did(users: SqlStore) -> None:
    insert = 'INSERT INTO users (g, id, name) VALUES (1, 1, "new")'
    assert users.values(insert) == [0]
    assert users.values(f"{insert} RETURNING name") == ["n1"]
    assert users.values("UPSERT INTO users (g, id, age) VALUES (1, 1, 7.9)") == [0]
    assert users.values("SELECT age, name, d FROM users WHERE g = 1 AND id = 1") == [(7, None, 7)]
    returned = users.values(
        "INSERT INTO users (g, id) VALUES (?, ?) SET TTL 5 HOURS RETURNING g, id, d",
        variables={"#1": 9, "#2": 9},
    )
    assert returned == [(9, 9, 7)]
    row = users.store.table("users").get({"g": 9, "id": 9})
    assert row is not None
    assert row.expires_ms > 0


def test_identity_values_and_uuids_are_made(sql: SqlStore) -> None:
    sql.define(
        "CREATE TABLE i (k LONG GENERATED ALWAYS AS IDENTITY (START WITH 5), v STRING, "
        "PRIMARY KEY(k))",
        "CREATE TABLE u (k STRING AS UUID GENERATED BY DEFAULT, v STRING, PRIMARY KEY(k))",
    )
    assert sql.values('INSERT INTO i (v) VALUES ("a") RETURNING k') == [5]
    assert sql.values('INSERT INTO i VALUES (DEFAULT, "b") RETURNING k') == [6]
    with pytest.raises(InvalidRequest, match="must use DEFAULT construct"):
        sql.rows('INSERT INTO i VALUES (9, "c")')
    [made] = sql.values('INSERT INTO u (v) VALUES ("a") RETURNING k')
    assert sql.values(f'SELECT v FROM u WHERE k = "{made.upper()}"') == ["a"]
    with pytest.raises(InvalidRequest, match="Invalid UUID string"):
        sql.rows('SELECT v FROM u WHERE k = "zz"')


def test_delete_returns_or_counts_rows_and_leaves_children(users: SqlStore) -> None:
    users.define("CREATE TABLE users.kid (k INTEGER, PRIMARY KEY(k))")
    users.rows("INSERT INTO users.kid VALUES (1, 1, 1)")
    assert users.values("DELETE FROM users WHERE age >= 40 AND age < 60 RETURNING id") == [4, 5]
    assert users.values("DELETE FROM users WHERE g = 1") == [3]
    assert users.values("DELETE FROM users WHERE g = 1") == [0]
    assert users.values("SELECT id FROM users ORDER BY id") == [0, 2, 6]
    assert users.values("SELECT k FROM users.kid") == [1]
    assert users.values("SELECT id FROM users WHERE age = 50") == []


def test_documents_of_a_collection(sql: SqlStore) -> None:
    sql.define(
        "CREATE TABLE docs (id INTEGER, PRIMARY KEY(id)) AS JSON COLLECTION",
        "CREATE INDEX kinds ON docs(kind AS STRING)",
    )
    sql.rows('INSERT INTO docs VALUES (1, {"kind": "a", "l": [1, null]})')
    sql.rows('INSERT INTO docs (id, kind, x) VALUES (2, "b", null)')
    assert sql.rows("SELECT * FROM docs WHERE id = 1") == [
        {"id": 1, "kind": "a", "l": [1, JSON_NULL]}
    ]
    assert sql.values('SELECT id FROM docs d WHERE d.kind = "b"') == [2]
    assert sql.values("SELECT d.x, d.nosuch FROM docs d WHERE d.id = 2") == [(JSON_NULL, None)]
    assert sql.values('UPDATE docs $d PUT $d {"new": {"q": 1}} WHERE $d.id = 2') == [1]
    assert sql.values("SELECT d.new.q FROM docs d WHERE d.id = 2") == [1]


# --- pages, costs, hostile keys ------------------------------------------------------------------


def test_pages_end_at_rows_and_at_kilobytes_read(users: SqlStore) -> None:
    query = "SELECT id FROM users WHERE g = 1"
    assert users.values(query, limit=2) == [1, 3, 5, 7]
    assert [len(page.rows) for page in users.pages] == [2, 2, 0]
    assert users.values(query, read_kb=1) == [1, 3, 5, 7]
    assert [len(page.rows) for page in users.pages] == [2, 2, 0]
    users.rows(f"{query} LIMIT 3", limit=2)
    assert [len(page.rows) for page in users.pages] == [2, 1]


COSTS: list[tuple[str, tuple[int, int, int]]] = [
    ("SELECT id FROM users WHERE g = 1", (4, 4, 0)),
    ("SELECT id FROM users WHERE g = 77", (1, 1, 0)),
    ("SELECT id FROM users WHERE age > 50", (2, 2, 0)),
    ('SELECT id FROM users WHERE age = "x"', (0, 0, 0)),
    ("INSERT INTO users (g, id) VALUES (3, 1)", (1, 2, 3)),
    ("INSERT INTO users (g, id) VALUES (3, 1)", (1, 2, 0)),
    ('UPDATE users SET name = "x" WHERE g = 3 AND id = 1', (1, 2, 2)),
    ("UPDATE users SET age = 5 WHERE g = 3 AND id = 1", (1, 2, 4)),
    ("DELETE FROM users WHERE g = 3 AND id = 1", (2, 4, 3)),
]


def test_kilobytes_and_units_are_counted(users: SqlStore) -> None:
    for text, cost in COSTS:
        users.rows(text)
        [page] = users.pages
        assert (page.read_kb, page.read_units, page.write_kb) == cost, text
    users.rows("SELECT id FROM users WHERE g = 1", absolute=True)
    assert users.pages[0].read_units == 8


def test_a_read_that_its_key_is_enough_for_counts_a_kilobyte_a_row(users: SqlStore) -> None:
    users.rows(f'UPDATE users SET name = "{"x" * 3000}" WHERE g = 1 AND id = 3')
    for text, kilobytes in (
        ("SELECT id FROM users WHERE g = 1", 4),
        ("SELECT u.g + u.id FROM users u WHERE u.g = 1 AND u.id < 5 ORDER BY id DESC", 2),
        ("SELECT id, age FROM users WHERE g = 1", 7),
        ("SELECT id FROM users WHERE g = 1 AND age > 0", 7),
        ("SELECT * FROM users WHERE g = 1", 7),
        ("SELECT version($u) FROM users $u WHERE $u.g = 1", 7),
        ("DELETE FROM users WHERE g = 1", 8),  # four looks for keys, four deletes
    ):
        users.rows(text)
        assert users.pages[0].read_kb == kilobytes, text


@given(st.binary(max_size=40), st.sampled_from((0, 3, 2**40)), st.integers(-1, 5))
def test_a_forged_key_leads_to_no_other_rows(position: bytes, skipped: int, within: int) -> None:
    with two_tables() as sql:
        for text in ("SELECT id FROM a WHERE g = 1", "SELECT id FROM a WHERE g = 1 ORDER BY v, id"):
            forged = QueryResume(skipped, 0, position, within, 0)
            found = sql.values(text, continuation=resume_bytes(statement_mark(text), forged))
            assert set(found) <= {1, 2, 3}


@contextmanager
def two_tables() -> Iterator[SqlStore]:
    """Two tables of two shards; the rows of shard 1 have the numbers 1 to 3."""
    with nosql.TypedStore(open_store("memory:"), FakeClock(), FakeEntropy()) as store:
        sql = SqlStore(store)
        for name in ("a", "b"):
            columns = "(g INTEGER, id INTEGER, v INTEGER, PRIMARY KEY(SHARD(g), id))"
            sql.define(f"CREATE TABLE {name} {columns}")
            for g, number in ((1, 1), (1, 2), (1, 3), (2, 101), (2, 102)):
                sql.rows(f"INSERT INTO {name} VALUES ({g}, {number}, {number})")
        yield sql


def test_keys_of_other_statements_and_long_ones_are_refused(users: SqlStore) -> None:
    text = "SELECT id FROM users"
    other = resume_bytes(statement_mark("SELECT g FROM users"), QueryResume())
    for data in (other, b"x", b"\x00" * (NOSQL_CONTINUATION_BYTES_MAX + 1)):
        with pytest.raises(InvalidRequest, match="not one of this statement"):
            users.rows(text, continuation=data)


def test_groups_beyond_the_bound_are_refused() -> None:
    holder = Holder()
    holder.hold(NOSQL_VALUES_HELD_MAX)
    with pytest.raises(InvalidRequest, match="in memory for its groups"):
        holder.hold(1)
