"""Statements run against a store: what they answer, and what they change (ddl §1)."""

import json
from pathlib import Path

import pytest

from widerow import nosql
from widerow.engine.typed.ddl import definition_text
from widerow.errors import Unsupported
from widerow.nosql import TypedRule

USERS = (
    "CREATE TABLE users COMMENT 'who' (id INTEGER, name STRING, "
    "e ENUM(b, a), t TIMESTAMP(3), r RECORD(a INTEGER, l ARRAY(STRING)), j JSON, "
    "PRIMARY KEY(SHARD(id), name)) USING TTL 5 DAYS"
)
DONE = "Statement completed successfully"
NOT_REQUIRED = "Statement did not require execution"


@pytest.fixture
def made(store: nosql.TypedStore) -> nosql.TypedStore:
    """A store with a table, its child and an index."""
    store.run_statement(USERS)
    store.run_statement("CREATE TABLE users.kid (c INTEGER, w STRING, PRIMARY KEY(c))")
    store.run_statement("CREATE INDEX i ON users (e, r.l[]) COMMENT 'by e'")
    return store


def refused(store: nosql.TypedStore, statement: str) -> nosql.WiderowError:
    before = [table.definition for table in store.tables()]
    with pytest.raises(nosql.WiderowError) as caught:
        store.run_statement(statement)
    assert [table.definition for table in store.tables()] == before  # nothing happened
    return caught.value


@pytest.mark.parametrize(  # ddl §1 and cli §6, execute
    ("statement", "text"),
    [
        ("CREATE TABLE t (a LONG, PRIMARY KEY(a))", DONE),
        ("CREATE TABLE IF NOT EXISTS USERS (a LONG, PRIMARY KEY(a))", NOT_REQUIRED),
        ("ALTER TABLE users (ADD z INTEGER DEFAULT 5, DROP t)", DONE),
        ("ALTER TABLE users USING TTL 3 HOURS", DONE),
        ("ALTER TABLE users (MODIFY id GENERATED ALWAYS AS IDENTITY)", DONE),
        ("DROP TABLE users.kid", DONE),
        ("DROP TABLE IF EXISTS nosuch", NOT_REQUIRED),
        ("CREATE INDEX k ON users (name)", DONE),
        ("CREATE INDEX IF NOT EXISTS I ON users (name)", NOT_REQUIRED),
        ("DROP INDEX i ON users", DONE),
        ("DROP INDEX IF EXISTS k ON users", NOT_REQUIRED),
        ("DROP INDEX IF EXISTS k ON nosuch", NOT_REQUIRED),
        ("CREATE NAMESPACE ns", DONE),
        ("DROP NAMESPACE IF EXISTS ns", NOT_REQUIRED),
    ],
)
def test_what_a_statement_answers(made: nosql.TypedStore, statement: str, text: str) -> None:
    result = made.run_statement(statement)
    assert result.text == text
    assert result.executed == (text == DONE)


FAILED = "Error: User error in query:"
CREATING = "Error: Error found when creating the table:"


@pytest.mark.parametrize(  # ddl §1, table of errors; model §2, §3, §9-§12
    ("statement", "text"),
    [
        (
            "CREATE TABLE x (a INTEGER)",
            "Error: at (1, 16) Table definition must contain a single primary key definition",
        ),
        (
            "CREATE TABLE x (a INTEGER, PRIMARY KEY(a), PRIMARY KEY(a))",
            "Error: at (1, 16) Table definition must contain a single primary key definition",
        ),
        ("CREATE TABLE x (a LONG, PRIMARY KEY(d))", f"{CREATING} Field does not exist: d"),
        (
            "CREATE TABLE x (a JSON, PRIMARY KEY(a))",
            f"{CREATING} Field type cannot be part of a primary key: JSON, field name: a",
        ),
        (
            "CREATE TABLE x (a LONG DEFAULT 5, PRIMARY KEY(a))",
            f"{CREATING} Primary key fields can not have default values",
        ),
        (
            "CREATE TABLE x (a LONG, b LONG, PRIMARY KEY(SHARD(c), a))",
            f"{CREATING} Field does not exist: c",
        ),
        (
            "CREATE TABLE x (a LONG, PRIMARY KEY(a, A))",
            "Error: at (1, 24) The primary key field already exists: A",
        ),
        (
            "CREATE TABLE users.x (id LONG, c LONG, PRIMARY KEY(c))",
            "Error: at (1, 22) The primary key field already exists: id",
        ),
        (
            "CREATE TABLE users.x (c LONG, PRIMARY KEY(SHARD(c)))",
            "Error: at (1, 30) Child tables cannot have a shard key.",
        ),
        (
            "CREATE TABLE x (a LONG, A INTEGER, PRIMARY KEY(a))",
            "Error: at (1, 24) Column already exists: A",
        ),
        (
            "CREATE TABLE x (a LONG NOT NULL, PRIMARY KEY(a))",
            "Error: at (1, 16) Non-nullable field without a default value.  Field = a",
        ),
        (
            "CREATE TABLE x (a LONG,\n e ENUM(x, y) DEFAULT z, PRIMARY KEY(a))",
            "Error: at (2, 1) Invalid enumeration value 'z', must be in values: [x, y]",
        ),
        (
            "CREATE TABLE x (a LONG, m MAP(LONG) DEFAULT 5, PRIMARY KEY(a))",
            (
                "Error: at (1, 24) "
                "Fields of type: MAP must be nullable and may not have default values"
            ),
        ),
        (
            "CREATE TABLE x (a LONG, b LONG DEFAULT 'five', PRIMARY KEY(a))",
            "Error: at (1, 24) Illegal value for field b: five. Expected LONG",
        ),
        (
            "CREATE TABLE x (a STRING, PRIMARY KEY(a(3)))",
            (
                "Error: Error found when creating the table: "
                "Only Integer sizes can be constrained. Invalid type: STRING"
            ),
        ),
        (
            "CREATE TABLE x (a INTEGER, PRIMARY KEY(a(9)))",
            "Error: at (1, 27) Invalid primary key size: 9. Size must be 1-5.",
        ),
        (
            "CREATE TABLE x (a STRING GENERATED ALWAYS AS IDENTITY, PRIMARY KEY(a))",
            (
                "Error: at (1, 16) Identity field must be one of the following numeric data types: "
                "INTEGER, LONG or NUMBER."
            ),
        ),
        (
            "CREATE TABLE users (a LONG, PRIMARY KEY(a))",
            f"{FAILED} CREATE TABLE failed for table users: Table users already exists",
        ),
        (
            "CREATE TABLE nosuch.kid (a LONG, PRIMARY KEY(a))",
            "Error: at (1, 13) Parent table does not exist (nosuch) in table path nosuch.kid",
        ),
        (
            "CREATE TABLE ns:x (a LONG, PRIMARY KEY(a))",
            f"{FAILED} CREATE TABLE failed for table x: Namespace does not exist: ns",
        ),
        (
            "DROP TABLE nosuch",
            f"{FAILED} DROP TABLE failed for table nosuch: Table does not exist: nosuch",
        ),
        (
            "DROP TABLE users",
            (
                f"{FAILED} DROP TABLE failed for table users: "
                "Cannot remove table users, it is still referenced by child tables"
            ),
        ),
        ("ALTER TABLE nosuch (DROP a)", "Error: at (1, 0) Table does not exist: nosuch"),
        (
            "ALTER TABLE users (ADD T LONG)",
            "Error: at (1, 23) Cannot add field, T, it already exists",
        ),
        ("ALTER TABLE users (DROP nosuch)", "Error: at (1, 24) Field does not exist: nosuch"),
        ("ALTER TABLE users (DROP id)", "Error: at (1, 24) Cannot remove a primary key field: id"),
        ("ALTER TABLE users (DROP e)", "Error: at (1, 24) Cannot remove an index key field: e"),
        (
            "ALTER TABLE users (ADD z LONG, DROP r.l)",
            "Error: at (1, 36) Cannot remove an index key field: r.l",
        ),
        (
            "ALTER TABLE users (MODIFY t STRING)",
            "Error: at (1, 19) MODIFY <type> is not supported at this time",
        ),
        (
            "ALTER TABLE users (MODIFY name AS UUID)",
            "Error: at (1, 19) MODIFY <type> is not supported at this time",
        ),
        (
            "CREATE INDEX i ON users (name)",
            (
                f"{FAILED} CREATE INDEX failed for table users, index i: "
                "Index i already exists in table users"
            ),
        ),
        (
            "CREATE INDEX k ON users (nosuch)",
            (
                f"{FAILED} CREATE INDEX failed for table users, index k: "
                "Invalid index field definition : nosuch\nThere is no field named nosuch"
            ),
        ),
        (
            "CREATE INDEX k ON users (j.x)",
            (
                f"{FAILED} CREATE INDEX failed for table users, index k: "
                "Must specify data type for JSON index field."
            ),
        ),
        ("CREATE INDEX i ON nosuch (x)", "Error: at (1, 0) Table not found: nosuch"),
        (
            "DROP INDEX i7 ON users",
            (
                f"{FAILED} DROP INDEX failed for table users, index i7: "
                "Index i7 does not exists in table users"
            ),
        ),
        (
            "DROP NAMESPACE ns",
            f"{FAILED} DROP NAMESPACE failed for namespace 'ns': Namespace does not exist: ns",
        ),
        ("DESCRIBE TABLE nosuch", "Error: at (1, 0) Table does not exist: nosuch"),
        ("DESCRIBE TABLE users (r.nosuch)", "Error: at (1, 0) Field does not exist: r.nosuch"),
        (
            "DESCRIBE INDEX k ON users",
            "Error: at (1, 0) Index k does not exists in table users",
        ),
        ("SHOW INDEXES ON nosuch", "Error: at (1, 0) Table does not exist: nosuch"),
    ],
)
def test_what_a_statement_refuses(made: nosql.TypedStore, statement: str, text: str) -> None:
    assert str(refused(made, statement)) == text


def test_the_category_and_the_cause_stay(made: nosql.TypedStore) -> None:
    error = refused(made, "CREATE TABLE users (a LONG, PRIMARY KEY(a))")
    assert isinstance(error, nosql.Conflict)
    cause = error.__cause__
    assert isinstance(cause, nosql.Conflict)
    assert cause.rule is TypedRule.TABLE_EXISTS


def test_a_key_may_be_declared_in_another_order_than_the_columns(store: nosql.TypedStore) -> None:
    statement = "CREATE TABLE t (c LONG, b LONG, a LONG, PRIMARY KEY(SHARD(a, b), c))"
    store.run_statement(statement)  # model §3
    definition = store.table("t").definition
    assert definition.primary_key == ("a", "b", "c")
    assert definition.shard_key == ("a", "b")
    assert [field.name for field in definition.fields] == ["c", "b", "a"]


def test_changes_of_one_statement_happen_together(made: nosql.TypedStore) -> None:
    refused(made, "ALTER TABLE users (ADD fine LONG, DROP nosuch)")
    made.run_statement("ALTER TABLE users (ADD r.z LONG DEFAULT 7, DROP t, ADD t TIMESTAMP(3))")
    table = made.table("users")
    table.put({"id": 1, "name": "n", "r": {"a": 1}})
    row = table.get({"id": 1, "name": "n"})
    assert row is not None
    assert row["r"]["z"] == 7
    assert row["t"] is None


def test_an_identity_can_be_changed_and_dropped(store: nosql.TypedStore) -> None:  # model §9
    store.run_statement(
        "CREATE TABLE t (k LONG GENERATED ALWAYS AS IDENTITY (START WITH 5), n LONG, "
        "PRIMARY KEY(k))",
    )
    table = store.table("t")
    assert table.put({"n": 1}).generated == 5
    store.run_statement("ALTER TABLE t (MODIFY k GENERATED BY DEFAULT AS IDENTITY (START WITH 90))")
    assert table.put({"n": 1}).generated == 90
    store.run_statement("ALTER TABLE t (MODIFY k DROP IDENTITY)")
    with pytest.raises(nosql.InvalidRequest, match="Missing primary key field: k"):
        table.put({"n": 1})


COLUMN_CHANGES = ["(ADD n LONG)", "(DROP v)", "(ADD r.n LONG)", "(MODIFY v AS UUID)"]


@pytest.mark.parametrize("change", COLUMN_CHANGES)
def test_columns_of_a_frozen_table_stay(store: nosql.TypedStore, change: str) -> None:
    # ddl §1 alter_table; what a frozen schema forbids is decided in docs/protocol/differences.md
    store.run_statement(
        "CREATE TABLE t (k LONG, v STRING AS UUID, r RECORD(a LONG), j JSON, PRIMARY KEY(k)) "
        "WITH SCHEMA FROZEN"
    )
    error = refused(store, f"ALTER TABLE t {change}")
    assert isinstance(error, nosql.InvalidRequest)
    assert str(error).endswith("use ALTER TABLE t UNFREEZE SCHEMA first")
    store.run_statement("ALTER TABLE t USING TTL 3 DAYS")
    store.run_statement("ALTER TABLE t ENABLE BEFORE IMAGE")
    store.run_statement("CREATE INDEX i ON t (v)")
    store.run_statement("DROP INDEX i ON t")
    store.run_statement("ALTER TABLE t UNFREEZE SCHEMA")
    store.run_statement(f"ALTER TABLE t {change}")


def test_a_frozen_schema_is_kept_and_not_shown(tmp_path: Path) -> None:
    with nosql.open(tmp_path) as store:
        store.run_statement("CREATE TABLE t (k LONG, j JSON, PRIMARY KEY(k))")
        shown = [store.run_statement("DESCRIBE AS JSON TABLE t").text, text_of(store, "t")]
        store.run_statement("ALTER TABLE t FREEZE SCHEMA")
        assert [store.run_statement("DESCRIBE AS JSON TABLE t").text, text_of(store, "t")] == shown
    with nosql.open(tmp_path) as store:
        assert "is frozen" in str(refused(store, "ALTER TABLE t (DROP j)"))


def test_a_schema_without_json_is_frozen_by_force(store: nosql.TypedStore) -> None:
    create = "CREATE TABLE t (k LONG, PRIMARY KEY(k)) WITH SCHEMA FROZEN"
    told = "The schema of table t cannot be frozen, because it has no JSON column"
    assert told in str(refused(store, create))
    assert store.tables() == []
    store.run_statement("CREATE TABLE t (k LONG, PRIMARY KEY(k))")
    assert told in str(refused(store, "ALTER TABLE t FREEZE SCHEMA"))
    store.run_statement("ALTER TABLE t FREEZE SCHEMA FORCE")
    assert "is frozen" in str(refused(store, "ALTER TABLE t (ADD j JSON)"))
    store.run_statement(create.replace("TABLE t", "TABLE u") + " FORCE")
    store.run_statement(create.replace("TABLE t", "TABLE d") + " AS JSON COLLECTION")


def test_the_time_of_before_images_is_kept_and_told(tmp_path: Path) -> None:
    with nosql.open(tmp_path) as store:  # ddl §1 option, alter_table
        store.run_statement(
            "CREATE TABLE t (k LONG, PRIMARY KEY(k)) USING TTL 5 DAYS ENABLE BEFORE IMAGE"
        )
        store.run_statement("ALTER TABLE t ENABLE BEFORE IMAGE USING TTL 3 DAYS")
    with nosql.open(tmp_path) as store:
        table = "CREATE TABLE IF NOT EXISTS t (k LONG, PRIMARY KEY(SHARD(k))) USING TTL 5 DAYS"
        assert text_of(store, "t") == f"{table} ENABLE BEFORE IMAGE USING TTL 3 DAYS"
        told = json.loads(store.run_statement("DESCRIBE AS JSON TABLE t").text)
        assert told["beforeImageTTL"] == "3 DAYS"
        assert "| 3 DAYS" in store.run_statement("DESCRIBE TABLE t").text
        store.run_statement("ALTER TABLE t DISABLE BEFORE IMAGE")
        assert text_of(store, "t") == table
        assert "beforeImageTTL" not in store.run_statement("DESCRIBE AS JSON TABLE t").text


def text_of(store: nosql.TypedStore, name: str) -> str:
    return definition_text(store.table(name).definition)


def test_a_binary_of_no_bytes_has_the_empty_value_alone(store: nosql.TypedStore) -> None:
    store.run_statement("CREATE TABLE t (k LONG, b BINARY(0), PRIMARY KEY(k))")
    table = store.table("t")
    table.put({"k": 1, "b": b""})
    row = table.get({"k": 1})
    assert row is not None
    assert row["b"] == b""
    with pytest.raises(nosql.InvalidRequest, match="Invalid length for FIXED_BINARY"):
        table.put({"k": 2, "b": b"x"})
    assert definition_text(table.definition) == (
        "CREATE TABLE IF NOT EXISTS t (k LONG, b BINARY(0), PRIMARY KEY(SHARD(k)))"
    )
    assert "FixedBinary(0)" in store.run_statement("DESCRIBE TABLE t").text


def test_a_generated_uuid_can_be_turned_off_and_on(store: nosql.TypedStore) -> None:  # model §9
    store.run_statement("CREATE TABLE t (k STRING AS UUID GENERATED BY DEFAULT, PRIMARY KEY(k))")
    assert len(store.table("t").put({}).generated) == 36
    store.run_statement("ALTER TABLE t (MODIFY k STRING AS UUID)")
    with pytest.raises(nosql.InvalidRequest, match="Missing primary key field: k"):
        store.table("t").put({})
    store.run_statement("ALTER TABLE t (MODIFY k AS UUID GENERATED BY DEFAULT)")
    assert store.table("t").put({})


def test_namespaces(store: nosql.TypedStore) -> None:
    store.run_statement("CREATE NAMESPACE ns")
    store.run_statement("CREATE TABLE t (a LONG, PRIMARY KEY(a))", namespace="ns")
    store.run_statement("CREATE TABLE t.kid (b LONG, PRIMARY KEY(b))", namespace="ns")
    store.run_statement("CREATE INDEX i ON ns:t (a)")
    assert store.run_statement("SHOW TABLES").text == "tables\n  ns:t\n  ns:t.kid"
    assert store.run_statement("SHOW NAMESPACES").text == "namespaces\n  sysdefault\n  ns"
    text = str(refused(store, "DROP NAMESPACE ns"))
    assert text.endswith("Cannot drop namespace ns, it is not empty")
    store.run_statement("DROP NAMESPACE ns CASCADE")
    assert store.tables() == []
    assert store.run_statement("SHOW AS JSON NAMESPACES").text == '{"namespaces" : ["sysdefault"]}'


def test_create_index_tells_how_far_it_is(made: nosql.TypedStore) -> None:
    made.table("users").put_many({"id": i, "name": "n"} for i in range(300))
    told: list[int] = []
    made.run_statement("CREATE INDEX k ON users (name)", progress=told.append)
    assert told == [256, 300]


@pytest.mark.parametrize(  # ddl §1, SHOW
    ("statement", "text"),
    [
        ("SHOW TABLES", "tables\n  users\n  users.kid"),
        ("SHOW AS JSON TABLES", '{"tables" : ["users","users.kid"]}'),
        ("SHOW TABLE users.kid", "tableHierarchy\n  users\n  users.kid"),
        ("SHOW AS JSON TABLE users", '{"tableHierarchy" : ["users","users.kid"]}'),
        ("SHOW INDEXES ON users", "indexes\n  i"),
        ("SHOW AS JSON INDEXES ON users.kid", '{"indexes" : []}'),
    ],
)
def test_show(made: nosql.TypedStore, statement: str, text: str) -> None:
    assert made.run_statement(statement).text == text


INFORMATION = (  # each with the width of its column
    *(("namespace", 9), ("name", 4), ("ttl", 3), ("beforeImageTTL", 14), ("owner", 5)),
    *(("jsonCollection", 14), ("sysTable", 8), ("parent", 6), ("children", 8), ("regions", 7)),
    *(("indexes", 7), ("description", 11)),
)
LINE = " +" + "+".join("-" * (width + 2) for _, width in INFORMATION) + "+"
HEAD = " | " + " | ".join(name for name, _ in INFORMATION) + " |"
FACTS = ("ns", "t", "", "", "", "N", "N", "", "", "", "", "")
ROW = " | ".join(fact.ljust(width) for fact, (_, width) in zip(FACTS, INFORMATION, strict=True))
DESCRIBED = f"""\
 === Information ===
{LINE}
{HEAD}
{LINE}
 | {ROW} |
{LINE}

 === Fields ===
 +----+------+------------+----------+---------+----------+------------+----------+
 | id | name |    type    | nullable | default | shardKey | primaryKey | identity |
 +----+------+------------+----------+---------+----------+------------+----------+
 |  1 | k    | Long       | N        | NULL    | Y        | Y          | Y        |
 +----+------+------------+----------+---------+----------+------------+----------+
 |  2 | e    | Enum(x, y) | Y        | y       |          |            |          |
 +----+------+------------+----------+---------+----------+------------+----------+"""


def test_describe_table_as_text(store: nosql.TypedStore) -> None:  # ddl §1, DESCRIBE
    store.run_statement("CREATE NAMESPACE ns")
    store.run_statement(
        "CREATE TABLE ns:t (k LONG GENERATED ALWAYS AS IDENTITY, e ENUM(x, y) DEFAULT y, "
        "PRIMARY KEY(k))",
    )
    assert store.run_statement("DESCRIBE TABLE ns:t").text == DESCRIBED
    part = store.run_statement("DESC TABLE ns:t (e)").text
    assert part.startswith(" === Fields ===")
    assert "|  1 | e " in part


def test_descriptions_name_children_parents_and_indexes(made: nosql.TypedStore) -> None:
    text = made.run_statement("DESCRIBE TABLE users").text
    head, row = text.splitlines()[2], text.splitlines()[4]
    cells = dict(zip(map(str.strip, head.split("|")), map(str.strip, row.split("|")), strict=True))
    assert cells["ttl"] == "5 DAYS"
    assert cells["children"] == "users.kid"
    assert cells["indexes"] == "i"
    assert cells["description"] == "who"
    assert "Record(a Integer, l Array(String))" in text
    assert "| users  |" in made.run_statement("DESCRIBE TABLE users.kid").text


def test_describe_table_as_json(made: nosql.TypedStore) -> None:  # model §12
    document = json.loads(made.run_statement("DESCRIBE AS JSON TABLE users").text)
    assert list(document) == [
        *("json_version", "type", "name", "id", "comment", "ttl", "fields"),
        *("primaryKey", "shardKey", "indexes"),
    ]
    assert document["shardKey"] == ["id"]
    part = json.loads(made.run_statement("DESCRIBE AS JSON TABLE users (r.l)").text)
    assert part == {
        "fields": [
            {"name": "l", "type": "ARRAY", "collection": {"type": "STRING"}, "nullable": True}
        ]
    }


def test_describe_index(made: nosql.TypedStore) -> None:
    made.run_statement("CREATE INDEX k ON users (j.x AS STRING) WITH NO NULLS")
    assert made.run_statement("DESCRIBE INDEX i ON users").text == (
        " +-------+------+-----------+----------+----------+--------------+-------------+\n"
        " | table | name |   type    | multiKey |  fields  | declaredType | description |\n"
        " +-------+------+-----------+----------+----------+--------------+-------------+\n"
        " | users | i    | SECONDARY | Y        | e, r.l[] |              | by e        |\n"
        " +-------+------+-----------+----------+----------+--------------+-------------+"
    )
    assert json.loads(made.run_statement("DESC AS JSON INDEX k ON users").text) == {
        "name": "k",
        "type": "secondary",
        "fields": ["j.x"],
        "types": ["STRING"],
        "withNoNulls": True,
        "withUniqueKeysPerRow": False,
    }


def test_a_table_writes_itself_as_a_statement(made: nosql.TypedStore) -> None:  # ddl §1, td
    made.run_statement("CREATE TABLE few (id INTEGER, name STRING, e ENUM(b, a), PRIMARY KEY(id))")
    assert definition_text(made.table("few").definition) == (
        "CREATE TABLE IF NOT EXISTS few (id INTEGER, name STRING, e ENUM(b, a), "
        "PRIMARY KEY(SHARD(id)))"
    )
    assert definition_text(made.table("users.kid").definition) == (
        "CREATE TABLE IF NOT EXISTS users.kid (c INTEGER, w STRING, PRIMARY KEY(c))"
    )


@pytest.mark.parametrize(
    "statement",
    [
        USERS,
        "CREATE TABLE t (a INTEGER, b STRING, PRIMARY KEY(SHARD(b), a(3))) USING TTL 7 HOURS",
        (
            "CREATE TABLE t (k NUMBER GENERATED BY DEFAULT ON NULL AS IDENTITY (START WITH 3 CYCLE "
            "MAXVALUE 9 CACHE 2), PRIMARY KEY(k))"
        ),
        (
            "CREATE TABLE t (k STRING AS UUID GENERATED BY DEFAULT, d DOUBLE DEFAULT -1.5e3, "
            "b BINARY DEFAULT 'AAEC', f BINARY(3), n NUMBER DEFAULT 1e40, "
            "t TIMESTAMP(3) DEFAULT '2024-01-02T03:04:05.678', o BOOLEAN DEFAULT TRUE NOT NULL, "
            "s STRING DEFAULT 'a\"\\\\' COMMENT 'its', i INTEGER DEFAULT 1e3, PRIMARY KEY(k))"
        ),
    ],
)
def test_what_a_table_writes_makes_the_same_table(store: nosql.TypedStore, statement: str) -> None:
    store.run_statement(statement)
    (table,) = store.tables()
    before = table.definition
    written = definition_text(before)
    store.drop_table(table.name)
    store.run_statement(written)
    after = store.table(before.name).definition
    assert (after.fields, after.primary_key, after.shard_key) == (
        *(before.fields, before.primary_key),
        before.shard_key,
    )
    assert (after.ttl, after.comment, after.key_sizes) == (
        *(before.ttl, before.comment),
        before.key_sizes,
    )


def test_queries_are_refused(store: nosql.TypedStore) -> None:  # ddl §2 is out of scope
    error = refused(store, "SELECT * FROM t")
    assert isinstance(error, Unsupported)
