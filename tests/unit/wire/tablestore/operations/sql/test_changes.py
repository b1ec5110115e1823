"""Mapping tables, and INSERT, UPDATE and DELETE (sql §2, §12)."""

from dataclasses import replace
from typing import Any

import pytest
from tests.support.changes import create
from tests.support.statements import rows_of_statement, rule_of_refusal, run_sql, statement_engine

from widerow.auth.keyring import Permission
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.table_record import decode_table, encode_table
from widerow.errors import WiderowError
from widerow.limits import BATCH_WRITE_ROWS_MAX, INT64_MAX
from widerow.model.tablestore.rules import TablestoreRule as R
from widerow.model.tablestore.schema import DefinedColumn, KeyColumn
from widerow.model.values import ColumnType, KeyType
from widerow.wire.tablestore.operations.sql.run import StatementType, permission_of

KEY = (KeyColumn("a", KeyType.INTEGER), KeyColumn("b", KeyType.STRING))
MAPPED = (
    "CREATE TABLE t (a BIGINT(20), b VARCHAR(1024), n BIGINT NOT NULL DEFAULT 3, d DOUBLE, "
    "f BOOL, s MEDIUMTEXT, x MEDIUMBLOB, PRIMARY KEY (a, b))"
)


@pytest.fixture
def engine() -> TablestoreEngine:
    """A table `t` with one defined column and no mapping."""
    opened = statement_engine()
    table = replace(create("t", KEY), defined_columns=(DefinedColumn("n", ColumnType.INTEGER),))
    opened.core.run(opened.create_table("i", table))
    return opened


@pytest.fixture
def mapped(engine: TablestoreEngine) -> TablestoreEngine:
    """That table with a mapping."""
    run_sql(engine, MAPPED)
    return engine


# --- mappings --------------------------------------------------------------------------------


def test_a_table_without_a_mapping_has_its_key_and_its_defined_columns(
    engine: TablestoreEngine,
) -> None:
    assert rows_of_statement(engine, "DESC t") == [
        ("a", "bigint(20)", "NO", "PRI", None, ""),
        ("b", "varchar(1024)", "NO", "PRI", None, ""),
        ("n", "bigint(20)", "YES", "", None, ""),
    ]


def test_a_mapping_is_made_changed_and_removed(engine: TablestoreEngine) -> None:
    made = run_sql(engine, MAPPED)
    assert (made.type, made.table) == (StatementType.CREATE_TABLE, None)
    described = [row[:3] for row in rows_of_statement(engine, "DESCRIBE t")]
    assert described[2:] == [
        ("n", "bigint(20)", "NO"),
        ("d", "double", "YES"),
        ("f", "tinyint(1)", "YES"),
        ("s", "mediumtext", "YES"),
        ("x", "mediumblob", "YES"),
    ]
    assert run_sql(engine, "ALTER TABLE t ADD COLUMN z MEDIUMTEXT").type is StatementType.ALTER
    run_sql(engine, "ALTER TABLE t DROP d")
    names = [row[0] for row in rows_of_statement(engine, "DESCRIBE t")]
    assert names == ["a", "b", "n", "f", "s", "x", "z"]
    dropped = run_sql(engine, "DROP MAPPING TABLE t")
    assert (dropped.type, dropped.table) == (StatementType.DROP_MAPPING, None)
    assert len(rows_of_statement(engine, "DESCRIBE t")) == 3


def test_a_mapping_is_there_again_after_a_restart_and_goes_with_its_table(
    mapped: TablestoreEngine,
) -> None:
    kept = mapped.tables.find("i", "t")
    assert decode_table(encode_table(kept)) == kept
    assert kept.mapping is not None
    mapped.core.run(mapped.delete_table("i", "t"))
    mapped.core.run(mapped.create_table("i", create("t", KEY)))
    assert len(rows_of_statement(mapped, "DESC t")) == 2


def test_names_of_tables_may_have_letters_of_either_case(engine: TablestoreEngine) -> None:
    assert rows_of_statement(engine, "SHOW TABLES") == [("t",)]
    assert rows_of_statement(engine, "SELECT count(*) FROM T") == [(0,)]
    engine.core.run(engine.create_table("i", create("T", KEY)))
    assert rule_of_refusal(engine, "SELECT 1 FROM t") is R.SQL_TABLE_AMBIGUOUS


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (MAPPED, R.SQL_TABLE_EXISTS),
        ("CREATE TABLE nope (a BIGINT PRIMARY KEY)", R.SQL_TABLE_UNKNOWN),
        ("ALTER TABLE t ADD n BIGINT", R.SQL_MAPPING),
        ("ALTER TABLE t DROP b", R.SQL_MAPPING),
        ("ALTER TABLE t DROP nope", R.SQL_MAPPING),
        ("ALTER TABLE t ADD y INT UNSIGNED", R.SQL_MAPPING),
        ("ALTER TABLE t MODIFY n DOUBLE", R.SQL_UNSUPPORTED),
        ("DROP MAPPING TABLE nope", R.SQL_TABLE_UNKNOWN),
        ("DROP TABLE t", R.SQL_UNSUPPORTED),
    ],
)
def test_mappings_that_are_refused(mapped: TablestoreEngine, text: str, rule: R) -> None:
    assert rule_of_refusal(mapped, text) is rule
    run_sql(mapped, "CREATE TABLE IF NOT EXISTS t (a BIGINT PRIMARY KEY)")
    run_sql(mapped, "DROP MAPPING TABLE IF EXISTS nope")


@pytest.mark.parametrize(
    ("columns", "rule"),
    [
        ("a BIGINT, b VARCHAR(1024), PRIMARY KEY (b, a)", R.SQL_MAPPING),
        ("a BIGINT PRIMARY KEY, b VARCHAR(1024)", R.SQL_MAPPING),
        ("a DOUBLE, b VARCHAR(1024), PRIMARY KEY (a, b)", R.SQL_MAPPING),
        ("a BIGINT, b VARCHAR(9), n DOUBLE, PRIMARY KEY (a, b)", R.SQL_MAPPING),
        ("a BIGINT, b VARCHAR(9), c GEOMETRY, PRIMARY KEY (a, b)", R.SQL_MAPPING),
        ("a BIGINT, b VARCHAR(9), C BIGINT, c BIGINT, PRIMARY KEY (a, b)", R.SQL_MAPPING),
        ("a BIGINT AUTO_INCREMENT, b VARCHAR(9), PRIMARY KEY (a, b)", R.SQL_UNSUPPORTED),
        ("a BIGINT, b VARCHAR(9) COMMENT 'x', PRIMARY KEY (a, b)", R.SQL_UNSUPPORTED),
        ("a BIGINT, b VARCHAR(9), UNIQUE KEY (b), PRIMARY KEY (a, b)", R.SQL_UNSUPPORTED),
    ],
)
def test_definitions_that_do_not_fit_the_table(
    engine: TablestoreEngine, columns: str, rule: R
) -> None:
    assert rule_of_refusal(engine, f"CREATE TABLE t ({columns})") is rule
    assert len(rows_of_statement(engine, "DESC t")) == 3


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        ("ENGINE='tablestore'", None),
        ('ENGINE=tablestore, ENGINE_ATTRIBUTE=\'{"consistency": "strong"}\'', None),
        ("ENGINE_ATTRIBUTE='{\"allow_inaccurate_aggregation\": false}'", None),
        ("ENGINE='searchindex'", R.SQL_TABLE_EXISTS),
        ('ENGINE_ATTRIBUTE=\'{"consistency": "weak"}\'', R.SQL_MAPPING),
        ("ENGINE_ATTRIBUTE='{\"what\": 1}'", R.SQL_MAPPING),
        ("ENGINE_ATTRIBUTE='['", R.SQL_MAPPING),
        ("COMMENT='x'", R.SQL_UNSUPPORTED),
    ],
)
def test_options_of_mappings(engine: TablestoreEngine, options: str, rule: R | None) -> None:
    if rule is None:
        run_sql(engine, f"{MAPPED} {options}")
        assert len(rows_of_statement(engine, "DESC t")) == 7
    else:
        assert rule_of_refusal(engine, f"{MAPPED} {options}") is rule


def test_keys_and_indexes_are_shown(engine: TablestoreEngine) -> None:
    rows = rows_of_statement(engine, "SHOW INDEX IN t")
    assert [row[:7] for row in rows] == [
        ("t", 0, "PRIMARY", 1, "a", None, ""),
        ("t", 0, "PRIMARY", 2, "b", None, ""),
    ]
    assert {len(row) for row in rows} == {17}


# --- changes ---------------------------------------------------------------------------------


def all_rows(engine: TablestoreEngine) -> list[tuple[Any, ...]]:
    return rows_of_statement(engine, "SELECT * FROM t")


def test_rows_are_inserted_changed_and_deleted(mapped: TablestoreEngine) -> None:
    first, second = "(1, 'p', -2, 1, TRUE, 'it''s', X'00FF')", "(1, 'q', 5, NULL, 0, NULL, NULL)"
    made = run_sql(mapped, f"INSERT INTO t VALUES {first}, {second}")
    assert (made.type, made.affected) == (StatementType.INSERT, 2)
    assert [(c.table, c.read > 0, c.write > 0) for c in made.consumed] == [("t", True, True)]
    assert all_rows(mapped) == [
        (1, "p", -2, 1.0, True, "it's", b"\x00\xff"),
        (1, "q", 5, None, False, None, None),
    ]
    changed = run_sql(mapped, "UPDATE t SET n = n - 3, s = NULL, d = 2.5 WHERE b = 'p' AND a = 1")
    assert (changed.type, changed.affected) == (StatementType.UPDATE, 1)
    assert all_rows(mapped)[0] == (1, "p", -5, 2.5, True, None, b"\x00\xff")
    deleted = run_sql(mapped, "DELETE FROM t WHERE a = 1 AND b = 'p'")
    assert (deleted.type, deleted.affected) == (StatementType.DELETE, 1)
    assert [row[1] for row in all_rows(mapped)] == ["q"]


def test_a_row_that_is_absent_is_neither_changed_nor_made(mapped: TablestoreEngine) -> None:
    assert run_sql(mapped, "UPDATE t SET n = 1 WHERE a = 1 AND b = 'p'").affected == 0
    assert run_sql(mapped, "DELETE FROM t WHERE a = 1 AND b = 'p'").affected == 0
    assert all_rows(mapped) == []


def test_an_insert_writes_all_its_rows_or_none(mapped: TablestoreEngine) -> None:
    run_sql(mapped, "INSERT INTO t (a, b, n) VALUES (1, 'q', 1)")
    text = mapped, "INSERT INTO t (a, b, n) VALUES (1, 'p', 1), (1, 'q', 2)"
    assert rule_of_refusal(*text) is R.SQL_DUPLICATE
    assert [row[1:3] for row in all_rows(mapped)] == [("q", 1)]


WHERE = "WHERE a = 1 AND b = 'p'"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("INSERT INTO t (a, b) VALUES (1, 'p'), (2, 'p')", R.SQL_CHANGE),
        ("INSERT IGNORE INTO t (a, b) VALUES (1, 'p'), (2, 'p')", R.SQL_CHANGE),
        ("INSERT IGNORE INTO t (a, b) VALUES (1, 'p')", R.TRANSACTIONS_DISABLED),
        ("REPLACE INTO t (a, b) VALUES (1, 'p')", R.TRANSACTIONS_DISABLED),
        (
            "INSERT INTO t (a, b) VALUES (1, 'p') ON DUPLICATE KEY UPDATE n = 1",
            R.TRANSACTIONS_DISABLED,
        ),
        ("INSERT INTO t (a, b) SELECT a, b FROM t", R.SQL_CHANGE),
        ("INSERT INTO t SET a = 1", R.SQL_UNSUPPORTED),
        ("INSERT INTO t (a, b) VALUES (1)", R.SQL_VALUE_COUNT),
        ("INSERT INTO t (a, b, z) VALUES (1, 'p', 1)", R.SQL_COLUMN_UNKNOWN),
        ("INSERT INTO t (a, b, A) VALUES (1, 'p', 1)", R.SQL_MAPPING),
        ("INSERT INTO t (a) VALUES (1)", R.SQL_KEY_NULL),
        ("INSERT INTO t (a, b) VALUES (NULL, 'p')", R.SQL_KEY_NULL),
        ("INSERT INTO t (a, b) VALUES ('1', 'p')", R.SQL_VALUE_TYPE),
        ("INSERT INTO t (a, b, n) VALUES (1, 'p', 1.5)", R.SQL_VALUE_TYPE),
        (f"INSERT INTO t (a, b) VALUES ({INT64_MAX}, 'p')", R.SQL_KEY_LARGEST),
        ("INSERT INTO t (a, b) VALUES (1 + 1, 'p')", R.SQL_CHANGE),
        (
            "INSERT INTO t (a, b) VALUES "
            + ", ".join(f"(1, '{n}')" for n in range(BATCH_WRITE_ROWS_MAX + 1)),
            R.SQL_INSERT_ROWS,
        ),
        (f"UPDATE t SET n = 1 {WHERE} LIMIT 1", R.SQL_CHANGE),
        (f"UPDATE t SET n = 1 {WHERE} ORDER BY a", R.SQL_CHANGE),
        (f"DELETE FROM t {WHERE} LIMIT 1", R.SQL_CHANGE),
        ("UPDATE t SET n = 1", R.SQL_POINT_CHANGE),
        ("DELETE FROM t WHERE a = 1", R.SQL_POINT_CHANGE),
        ("DELETE FROM t WHERE a = 1 AND b > 'p'", R.SQL_POINT_CHANGE),
        (f"DELETE FROM t {WHERE} AND n = 1", R.SQL_POINT_CHANGE),
        ("DELETE FROM t WHERE a = 1 OR b = 'p'", R.SQL_POINT_CHANGE),
        ("DELETE FROM t WHERE a IN (1) AND b = 'p'", R.SQL_POINT_CHANGE),
        (f"UPDATE t SET s = s + 1 {WHERE}", R.SQL_CHANGE),
        (f"UPDATE t SET d = d + 1 {WHERE}", R.SQL_CHANGE),
        (f"UPDATE t SET n = d + 1 {WHERE}", R.SQL_CHANGE),
        (f"UPDATE t SET n = abs(1) {WHERE}", R.SQL_CHANGE),
        (f"UPDATE t SET a = 2 {WHERE}", R.SQL_MAPPING),
        (f"UPDATE t SET n = 1, n = 2 {WHERE}", R.SQL_MAPPING),
        (f"UPDATE nope SET n = 1 {WHERE}", R.SQL_TABLE_UNKNOWN),
    ],
)
def test_changes_that_are_refused(mapped: TablestoreEngine, text: str, rule: R) -> None:
    assert rule_of_refusal(mapped, text) is rule
    assert all_rows(mapped) == []


def test_the_largest_integer_but_one_is_a_key(mapped: TablestoreEngine) -> None:
    run_sql(mapped, f"INSERT INTO t (a, b) VALUES ({INT64_MAX - 1}, 'p')")
    assert [row[0] for row in all_rows(mapped)] == [INT64_MAX - 1]


@pytest.mark.parametrize(
    ("text", "permission"),
    [
        ("select 1", Permission.READ),
        ("SHOW TABLES", Permission.READ),
        ("explain select 1", Permission.READ),
        ("  /* delete */ insert into t values (1)", Permission.WRITE),
        ("-- select\n# select\nupdate t set n = 1", Permission.WRITE),
        ("REPLACE INTO t VALUES (1)", Permission.WRITE),
        ("Delete from t", Permission.WRITE),
        ("create table t (a bigint)", Permission.MANAGE),
        ("drop mapping table t", Permission.MANAGE),
        ("alter table t drop n", Permission.MANAGE),
        ("", Permission.READ),
    ],
)
def test_what_a_statement_needs_is_told_by_its_first_word(
    text: str, permission: Permission
) -> None:
    assert permission_of(text) is permission


def test_a_change_behind_a_comment_that_hides_it_is_refused(mapped: TablestoreEngine) -> None:
    # The key was checked for what the first word says: both readings have to agree.
    for text in ("/* /* */ */ delete from t", "(select 1) insert into t values (1)"):
        with pytest.raises(WiderowError):
            run_sql(mapped, text)
