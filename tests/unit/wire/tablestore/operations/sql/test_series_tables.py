"""SQL on timeseries tables: values of points, and metas (timeseries §12)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.statements import rows_of_statement, rule_of_refusal, run_sql, statement_engine

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.timeseries.table_record import (
    decode_timeseries_table,
    encode_timeseries_table,
)
from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule as R
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import (
    MetaChange,
    MetaUpdateMode,
    PointQuery,
    TableRequest,
)
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey, tags_text
from widerow.model.timeseries.table import (
    AnalyticalStore,
    FieldKey,
    TimeseriesOptions,
    TimeseriesTable,
)
from widerow.model.values import KeyType, Value
from widerow.wire.tablestore import sql_messages as m
from widerow.wire.tablestore.operations.sql import run
from widerow.wire.tablestore.operations.sql.actions import SQL_ACTIONS
from widerow.wire.tablestore.operations.timeseries.found import timeseries

SECOND = 1_000_000
CPU1 = SeriesKey("cpu", "h1", (("os", "linux"), ("region", "eu")))
CPU2 = SeriesKey("cpu", "h2", (("os", "linux"),))
DISK = SeriesKey("disk", "", ())
SERIES = (CPU1, CPU2, DISK)
FIELDS: dict[str, Value] = {"b": True, "d": 0.5, "n": 7, "s": "text", "x": b"\0"}
COLUMNS = ("_long_value", "_double_value", "_bool_value", "_string_value", "_binary_value")
TYPES = (int, float, bool, str, bytes)


def made(engine: TablestoreEngine, name: str = "ts", **more: Any) -> TimeseriesTable:  # noqa: ANN401  # as it is given
    request = TableRequest(name, TimeseriesOptions(), **more)
    return engine.core.run(timeseries(engine).create("i", request))


def put(engine: TablestoreEngine, table: TimeseriesTable, *points: Point) -> None:
    result = engine.core.run(timeseries(engine).put(table, points, MetaUpdateMode.NORMAL))
    assert not result.failed


@pytest.fixture(scope="module")
def engine() -> TablestoreEngine:
    """Table `ts`: a point of every type in one series, ten points in another, one in a third."""
    opened = statement_engine()
    table = made(opened)
    put(opened, table, Point(CPU1, SECOND, FIELDS))
    put(opened, table, *[Point(CPU2, at * SECOND, {"n": at, "m": -at}) for at in range(10)])
    put(opened, table, Point(DISK, 5, {"n": 1.5}))
    changes = [MetaChange(CPU1, (("owner", "ops"),))]
    opened.core.run(timeseries(opened).change_metas(table, changes))
    return opened


KEY1 = """_m_name = 'cpu' AND _data_source = 'h1' AND _tags = '["os=linux","region=eu"]'"""
KEY2 = """_m_name = 'cpu' AND _data_source = 'h2' AND _tags = '["os=linux"]'"""
CASES: list[tuple[str, list[tuple[Any, ...]]]] = [
    (f"SELECT _field_name, _long_value FROM ts WHERE {KEY2} AND _time = 3000000",
     [("m", -3), ("n", 3)]),
    (f"SELECT _time FROM ts WHERE {KEY2} AND _field_name = 'n' ORDER BY _time DESC LIMIT 2",
     [(9 * SECOND,), (8 * SECOND,)]),
    ("SELECT _time FROM TS WHERE _data_source LIKE 'h2%' AND _time > 7000000 AND _long_value > 0",
     [(8 * SECOND,), (9 * SECOND,)]),
    ("SELECT count(*) FROM ts", [(26,)]),
    ("SELECT count(*) FROM ts WHERE _m_name IN ('cpu', 'disk') AND _time < 2000000", [(10,)]),
    ("SELECT count(*) FROM ts WHERE _time BETWEEN 5 AND 1000000", [(8,)]),
    ("SELECT count(*) FROM ts WHERE _time = 1 AND _time = 2", [(0,)]),
    ("SELECT count(*) FROM ts WHERE _m_name = 'cpu' AND _m_name = 'disk'", [(0,)]),
    ("SELECT count(*) FROM ts WHERE _m_name = 'disk' AND _data_source = '' AND _tags = 'no tags'",
     [(0,)]),
    ("SELECT _double_value, _attributes FROM ts WHERE _m_name = 'disk'", [(1.5, "[]")]),
    ("SELECT DISTINCT _data_source FROM ts WHERE tag_value_at(_tags, 'region') = 'eu'", [("h1",)]),
    ("SELECT DISTINCT tag_value_at(_tags, 'region') r FROM ts ORDER BY r", [(None,), ("eu",)]),
    ("SELECT DISTINCT _data_source FROM ts WHERE 'eu' <= tag_value_at(_tags, 'region')",
     [("h1",)]),
    (("SELECT time_bin(_time, '4s') b, sum(_long_value) FROM ts WHERE _data_source = 'h2'"
     " AND _field_name = 'n' GROUP BY b"), [(0, 6.0), (4 * SECOND, 22.0), (8 * SECOND, 17.0)]),
    (("SELECT time_bin(86399999999, '2 min'), time_bin(-1, '1h'), time_bin(86400000000, '1day'),"
     " time_bin(NULL, '3d')"), [(86280 * SECOND, -3600 * SECOND, 86400 * SECOND, None)]),
    ("SELECT _m_name, _data_source, _tags, _attributes FROM `ts::meta`",
     [("cpu", "h1", '["os=linux","region=eu"]', '["owner=ops"]'),
      ("cpu", "h2", '["os=linux"]', "[]"), ("disk", "", "[]", "[]")]),
    (("SELECT _data_source FROM `ts::meta` WHERE tag_value_at(_tags, 'os') IN ('linux', 'mac')"
     " ORDER BY 1 DESC"), [("h2",), ("h1",)]),
    (f"SELECT count(*) FROM `ts::meta` WHERE {KEY1} AND _meta_update_time > 0", [(1,)]),
    ("SELECT count(*) FROM `ts::meta` WHERE _meta_update_time = 0", [(0,)]),
    (("SELECT count(*) FROM ts JOIN `ts::meta` m USING (_m_name, _data_source, _tags)"
     " WHERE m._m_name = 'cpu' AND ts._time >= 9000000"), [(2,)]),
    ("SHOW TABLES", [("ts",), ("ts::meta",)]),
    ("SHOW TABLES LIKE '%meta'", [("ts::meta",)]),
]  # fmt: skip


def test_statements(engine: TablestoreEngine) -> None:
    for text, rows in CASES:
        assert rows_of_statement(engine, text) == rows, text


def test_columns(engine: TablestoreEngine) -> None:
    """Twelve columns of values in their order, and those of metas."""
    named = [row[0] for row in rows_of_statement(engine, "DESCRIBE ts")]
    key = ["_m_name", "_data_source", "_tags"]
    of_meta = ["_attributes", "_meta_update_time"]
    assert named == [*key, "_time", "_field_name", *COLUMNS, *of_meta]
    assert [row[:2] for row in rows_of_statement(engine, "DESC `ts::meta`")] == [
        *[(name, "varchar(1024)") for name in key],
        ("_attributes", "varchar(1024)"),
        ("_meta_update_time", "bigint(20)"),
    ]
    keys = [row[4] for row in rows_of_statement(engine, "SHOW INDEX IN ts")]
    assert keys == [*key, "_time", "_field_name"]
    [type_of_text] = rows_of_statement(engine, "SHOW COLUMNS FROM ts LIKE '_string%'")
    assert type_of_text[1] == "varchar(1024)"


def test_what_is_read(engine: TablestoreEngine) -> None:
    """EXPLAIN tells how a condition finds series and times."""
    for condition, read in [
        (KEY1, "ts: 1 series by their whole key"),
        (f"{KEY1} AND _time < 5", "ts: 1 series by their whole key, _time from 0 to before 5"),
        ("_m_name = 'cpu' AND _time >= 5",
         f"ts: series by their metas, _time from 5 to before {2**63}"),
        ("tag_value_at(_tags, 'os') = 'linux'", "ts: series by their metas"),
        ("_time > 5 AND _time <= 8", "ts: all series, _time from 6 to before 9"),
        ("_long_value = 3", "ts: all series"),
        ("_m_name = 'a' OR _time = 3", "ts: all series"),
    ]:  # fmt: skip
        lines = rows_of_statement(engine, f"EXPLAIN SELECT * FROM ts WHERE {condition}")
        assert lines[-1][0].strip() == f"read timeseries table {read}", condition
    ordered = f"EXPLAIN SELECT _time FROM ts WHERE {KEY1} ORDER BY _time DESC"
    lines = rows_of_statement(engine, ordered)
    assert not any("sort" in line for (line,) in lines)
    assert lines[-1][0].endswith("from the last point to the first")


def test_what_is_read_for_conditions_on_tags(engine: TablestoreEngine) -> None:
    """The same for one table and in joins; timeseries §12 has no word on LIKE."""
    everything = [row[:3] for row in rows_of_statement(engine, "SELECT * FROM `ts::meta`")]
    for condition, by_metas in [
        ("tag_value_at({0}_tags, 'os') = 'linux'", True),
        ("tag_value_at({0}_tags, 'region') LIKE 'e%'", True),
        ("""{0}_tags LIKE '["os=linux","region=eu"]'""", True),
        ("""{0}_tags LIKE '%"os=linux"%'""", True),
        ("""{0}_tags LIKE '["os=li%'""", True),
        ("""{0}_tags LIKE '%"region=eu%'""", True),
        ("""{0}_tags LIKE '%"region=_u"%'""", False),
        ("""{0}_tags LIKE '%os=linux"%'""", False),
        ("""{0}_tags LIKE '%"os=solaris"%'""", True),
        ("""{0}_tags NOT LIKE '%"os=linux"%'""", False),
        ("""{0}_tags LIKE '%","region=eu"%'""", True),
        ("""{0}_tags LIKE '%'""", False),
    ]:
        read = "read timeseries table ts: " + (
            "series by their metas" if by_metas else "all series"
        )
        alone = f"SELECT * FROM ts WHERE {condition.format('')}"
        joined = (
            "SELECT * FROM `ts::meta` x JOIN ts y ON x._data_source = y._data_source "
            f"WHERE {condition.format('y.')}"
        )
        for text in (alone, joined):
            lines = [line.strip() for (line,) in rows_of_statement(engine, f"EXPLAIN {text}")]
            assert lines[-1] == read, text
        found = rows_of_statement(engine, f"SELECT * FROM `ts::meta` WHERE {condition.format('')}")
        by_row = f"SELECT * FROM `ts::meta` WHERE ({condition.format('')}) OR 1 = 0"
        assert found == rows_of_statement(engine, by_row), condition
        assert {row[:3] for row in found} <= set(everything)
        rows = rows_of_statement(engine, f"{alone} OR 1 = 0")
        assert rows_of_statement(engine, alone) == rows
        pairs = "SELECT x._m_name, y._data_source, y._field_name, y._time " + joined[8:]
        matched = [
            (meta[0], row[1], row[4], row[3])
            for meta in everything
            for row in rows
            if meta[1] == row[1]
        ]
        assert sorted(rows_of_statement(engine, pairs)) == sorted(matched), condition


def test_what_is_refused(engine: TablestoreEngine) -> None:
    """Automatic mappings stay as they are, and SQL writes no points."""
    for text, rule in [
        ("CREATE TABLE ts (_time BIGINT, PRIMARY KEY (_time))", R.SQL_TABLE_EXISTS),
        ("CREATE TABLE `ts::meta` (_time BIGINT, PRIMARY KEY (_time))", R.SQL_TABLE_EXISTS),
        ("ALTER TABLE ts ADD COLUMN a BIGINT", R.SQL_MAPPING),
        ("ALTER TABLE `ts::meta` DROP COLUMN _tags", R.SQL_MAPPING),
        ("DROP MAPPING TABLE ts", R.SQL_MAPPING),
        ("INSERT INTO ts (_m_name) VALUES ('a')", R.SQL_CHANGE),
        ("UPDATE ts SET _long_value = 1 WHERE _m_name = 'a'", R.SQL_CHANGE),
        ("DELETE FROM `ts::meta` WHERE _m_name = 'a'", R.SQL_CHANGE),
        ("SELECT time_bin(_time, '10 weeks') FROM ts", R.SQL_ARGUMENTS),
        ("SELECT time_bin(_time, '0s') FROM ts", R.SQL_ARGUMENTS),
        ("SELECT * FROM `ts::other`", R.SQL_TABLE_UNKNOWN),
    ]:
        assert rule_of_refusal(engine, text) is rule, text
    run_sql(engine, "CREATE TABLE IF NOT EXISTS ts (_time BIGINT, PRIMARY KEY (_time))")


def test_consumed_units(engine: TablestoreEngine) -> None:
    """One entry under the table's name; that of metas says so."""
    for text, metas in [("SELECT * FROM ts", False), ("SELECT * FROM `ts::meta`", True)]:
        [consumed] = run_sql(engine, text).consumed
        assert (consumed.table, consumed.read, consumed.metas) == ("ts", 1, metas)


def test_rows_that_are_read_are_bounded(
    engine: TablestoreEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A row for each field counts as read, whatever WHERE keeps of them; so do metas."""
    monkeypatch.setattr(run, "_LIMITS", replace(run._LIMITS, rows=20))
    assert rule_of_refusal(engine, "SELECT * FROM ts") is R.SQL_ROWS_READ
    assert rule_of_refusal(engine, "SELECT * FROM ts WHERE _m_name = 'cpu'") is R.SQL_ROWS_READ
    assert len(rows_of_statement(engine, f"SELECT * FROM ts WHERE {KEY2}")) == 20
    monkeypatch.setattr(run, "_LIMITS", replace(run._LIMITS, rows=2))
    assert rule_of_refusal(engine, "SELECT * FROM `ts::meta`") is R.SQL_ROWS_READ
    assert len(rows_of_statement(engine, "SELECT * FROM `ts::meta` WHERE _m_name = 'cpu'")) == 2


def test_a_limit_ends_the_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the points of a series no more than a first page is read for one row."""
    engine = statement_engine()
    table = made(engine)
    put(engine, table, *[Point(CPU2, at, {"n": at}) for at in range(200)])
    monkeypatch.setattr(run, "_LIMITS", replace(run._LIMITS, rows=16))
    text = f"SELECT _long_value FROM ts WHERE {KEY2} ORDER BY _time DESC LIMIT 1"
    assert rows_of_statement(engine, text) == [(199,)]
    assert rows_of_statement(engine, "SELECT _long_value FROM ts LIMIT 1") == [(0,)]


def test_a_key_of_its_own() -> None:
    """Columns of the key stand in the place of the three, key fields behind the time."""
    engine = statement_engine()
    keys = (FieldKey("cores", KeyType.INTEGER),)
    table = made(engine, key=("host", "_tags"), field_keys=keys)
    for host in ("a", "b"):
        series = SeriesKey("", "", (("host", host), ("os", "linux")))
        put(engine, table, *[Point(series, 5, {"cores": c, "load": c / 2}) for c in (1, 2)])
    described = [row[0] for row in rows_of_statement(engine, "DESCRIBE ts")]
    assert described[:5] == ["host", "_tags", "_time", "cores", "_field_name"]
    rows = [("a", '["os=linux"]', 1, 0.5), ("a", '["os=linux"]', 2, 1.0)]
    text = "SELECT host, _tags, cores, _double_value FROM ts WHERE host = 'a'"
    assert rows_of_statement(engine, text) == rows
    whole = f"""{text} AND _tags = '["os=linux"]' AND cores = 2"""
    assert rows_of_statement(engine, whole) == rows[1:]
    found = rows_of_statement(engine, "SELECT * FROM `ts::meta` WHERE host > 'a'")
    assert [row[:2] for row in found] == [("b", '["os=linux"]')]


def test_series_without_metas() -> None:
    """Points stay without their meta: by the whole key and in a scan, with NULL for the meta."""
    engine = statement_engine()
    table = made(engine)
    put(engine, table, Point(CPU2, 5, {"n": 1}))
    engine.core.run(timeseries(engine).delete_metas(table, [CPU2]))
    for text in (f"WHERE {KEY2}", "", "WHERE _time = 5"):
        found = rows_of_statement(engine, f"SELECT _attributes, _long_value FROM ts {text}")
        assert found == [(None, 1)]
    assert rows_of_statement(engine, "SELECT 1 FROM ts WHERE _m_name = 'cpu'") == []
    assert rows_of_statement(engine, "SELECT 1 FROM `ts::meta`") == []
    bare = made(engine, "bare", meta_index=False)
    put(engine, bare, Point(CPU2, 5, {"n": 1}))
    assert len(rows_of_statement(engine, "SELECT 1 FROM bare WHERE _m_name = 'cpu'")) == 1


KEY_COLUMNS = (
    "_m_name VARCHAR(1024), _data_source VARCHAR(1024), _tags VARCHAR(1024), _time BIGINT(20)"
)
PRIMARY = "PRIMARY KEY (_m_name, _data_source, _tags, _time)"


def test_columns_of_fields() -> None:
    """`ts::suffix` has a row for each point; what is missing or of another type is NULL."""
    engine = statement_engine()
    table = made(engine)
    put(engine, table, Point(CPU1, 1, FIELDS), Point(CPU1, 2, {"n": "seven", "d": 1.5}))
    put(engine, table, Point(DISK, 3, {"other": 1}))
    run_sql(
        engine,
        f"CREATE TABLE `ts::some` ({KEY_COLUMNS}, n BIGINT(20), D DOUBLE, b BOOL, s MEDIUMTEXT,"
        f" x MEDIUMBLOB, _attributes VARCHAR(1024), {PRIMARY})",
    )
    some = rows_of_statement(engine, "SELECT _time, n, d, b, s, x, _attributes FROM `ts::some`")
    assert sorted(some) == [
        (1, 7, 0.5, True, "text", b"\0", "[]"),
        (2, None, 1.5, None, None, None, "[]"),
        (3, None, None, None, None, None, "[]"),
    ]
    text = f"SELECT max(n), count(*) FROM `TS::Some` WHERE {KEY1} AND _time < 2"
    assert rows_of_statement(engine, text) == [(7, 1)]
    assert rows_of_statement(engine, "SHOW TABLES") == [("ts",), ("ts::meta",), ("ts::some",)]
    described = rows_of_statement(engine, "DESCRIBE `ts::some`")
    assert [row[0] for row in described if row[3] == "PRI"][-1] == "_time"
    run_sql(engine, "ALTER TABLE `ts::some` ADD COLUMN other BIGINT")
    run_sql(engine, "ALTER TABLE `ts::some` DROP COLUMN x")
    last = rows_of_statement(engine, "SELECT other FROM `ts::some` WHERE _m_name = 'disk'")
    assert last == [(1,)]
    assert rule_of_refusal(engine, "SELECT x FROM `ts::some`") is R.SQL_COLUMN_UNKNOWN
    [consumed] = run_sql(engine, "SELECT * FROM `ts::some`").consumed
    assert (consumed.table, consumed.metas) == ("ts", False)
    run_sql(engine, "DROP MAPPING TABLE `ts::some`")
    assert rule_of_refusal(engine, "SELECT 1 FROM `ts::some`") is R.SQL_TABLE_UNKNOWN
    assert rows_of_statement(engine, "SELECT count(*) FROM ts") == [(8,)]


def test_columns_of_fields_that_are_refused() -> None:
    """A mapping has the key of points, and fields under names that fields have."""
    engine = statement_engine()
    made(engine)
    run_sql(engine, f"CREATE TABLE `ts::a` ({KEY_COLUMNS}, n BIGINT)")
    for text, rule in [
        (f"CREATE TABLE `ts::A` ({KEY_COLUMNS}, n BIGINT)", R.SQL_TABLE_EXISTS),
        ("CREATE TABLE `ts::b` (_time BIGINT, n BIGINT)", R.SQL_MAPPING),
        (f"CREATE TABLE `ts::b` ({KEY_COLUMNS}, n BIGINT, PRIMARY KEY (_time))", R.SQL_MAPPING),
        (f"CREATE TABLE `ts::b` ({KEY_COLUMNS}, n BIGINT, N DOUBLE)", R.SQL_MAPPING),
        (f"CREATE TABLE `ts::b` ({KEY_COLUMNS}, _attributes BIGINT)", R.SQL_MAPPING),
        (f"CREATE TABLE `ts::b` ({KEY_COLUMNS}, `a b` BIGINT)", TimeseriesRule.FIELD_NAME),
        (f"CREATE TABLE `ts::b::c` ({KEY_COLUMNS})", R.SQL_MAPPING),
        (f"CREATE TABLE `ts::` ({KEY_COLUMNS})", R.SQL_MAPPING),
        (f"CREATE TABLE `none::b` ({KEY_COLUMNS})", R.SQL_TABLE_UNKNOWN),
        (f"CREATE TABLE `ts::b` ({KEY_COLUMNS}) ENGINE=AnalyticalStore", R.SQL_MAPPING),
        (f"CREATE TABLE `ts::b` ({KEY_COLUMNS}) ENGINE_ATTRIBUTE='{{\"a\": 1}}'", R.SQL_MAPPING),
        ("ALTER TABLE `ts::a` DROP COLUMN _time", R.SQL_MAPPING),
        ("ALTER TABLE `ts::a` ADD COLUMN n BIGINT", R.SQL_MAPPING),
        ("ALTER TABLE `ts::a` DROP COLUMN other", R.SQL_MAPPING),
        ("DELETE FROM `ts::a` WHERE _time = 1", R.SQL_CHANGE),
    ]:
        assert rule_of_refusal(engine, text) is rule, text
    run_sql(engine, f"CREATE TABLE IF NOT EXISTS `ts::a` ({KEY_COLUMNS})")
    engine.core.run(timeseries(engine).drop("i", "ts"))
    assert rows_of_statement(engine, "SHOW TABLES") == []
    made(engine)
    assert rows_of_statement(engine, "SHOW TABLES") == [("ts",), ("ts::meta",)]


INDEX_KEY = ("_#h", "_m_name", "_data_source", "_tags")
INDEX_MAPPING = (
    f"TABLE {{}} last ({', '.join([f'`{name}` VARCHAR(1024)' for name in INDEX_KEY])}, "
    "_time BIGINT, n BIGINT, s MEDIUMTEXT, PRIMARY KEY (`_#h`, _m_name, _data_source{}))"
)


def test_a_last_point_index_is_a_table_of_sql() -> None:
    """timeseries §10: bindable in SQL, as the Java SDK's test binds one."""
    opened = statement_engine()
    table = made(opened, lastpoints=("last",))
    put(opened, table, Point(CPU1, SECOND, FIELDS), Point(CPU1, 2 * SECOND, {"n": 9}))
    put(opened, table, Point(CPU2, 5, {"n": 3, "s": 1}), Point(DISK, 7, {"n": 0.5}))
    hashes = {each: timeseries(opened).hash_of(each) for each in SERIES}
    keys = {each: (hashes[each], *each[:2], tags_text(each.tags)) for each in SERIES}
    times = {CPU1: 2 * SECOND, CPU2: 5, DISK: 7}
    everything = [(*keys[each], times[each]) for each in sorted(SERIES, key=lambda e: hashes[e])]
    assert rows_of_statement(opened, "SELECT * FROM last") == everything
    assert [row[0] for row in rows_of_statement(opened, "DESCRIBE last")] == [
        *INDEX_KEY,
        "_time",
    ]
    assert ("last",) in rows_of_statement(opened, "SHOW TABLES")
    run_sql(opened, "CREATE " + INDEX_MAPPING.format("", ", _tags"))
    again = timeseries(opened).find("i", "ts")
    assert decode_timeseries_table(encode_timeseries_table(again)) == again
    rows = {row[1:3]: row[4:] for row in rows_of_statement(opened, "SELECT * FROM last")}
    assert rows == {
        ("cpu", "h1"): (2 * SECOND, 9, "text"),
        ("cpu", "h2"): (5, 3, None),  # s is of another type
        ("disk", ""): (7, None, None),
    }
    for condition, count, read in [
        ("n > 0", 2, "all series"),
        (KEY1, 1, "1 series by their whole key"),
        (f"{KEY2} AND n = 4", 0, "1 series by their whole key"),
        (f"`_#h` = '{hashes[CPU1]}'", 1, "all series"),
        ("tag_value_at(_tags, 'os') = 'linux'", 2, "all series"),
    ]:
        text = f"SELECT count(*) FROM last WHERE {condition}"
        assert rows_of_statement(opened, text) == [(count,)], condition
        lines = rows_of_statement(opened, f"EXPLAIN {text}")
        place = f"read last-point index last of timeseries table ts: {read}"
        assert lines[-1][0].strip() == place
    [consumed] = run_sql(opened, "SELECT n FROM last").consumed
    assert (consumed.table, consumed.read) == ("last", 1)


def test_the_mapping_of_a_last_point_index_changes_and_goes_with_it() -> None:
    opened = statement_engine()
    table = made(opened, lastpoints=("last",))
    put(opened, table, Point(CPU1, SECOND, FIELDS))
    create = "CREATE " + INDEX_MAPPING.format("", ", _tags")
    without_tags = "CREATE " + INDEX_MAPPING.format("", "")
    assert rule_of_refusal(opened, without_tags) is R.SQL_MAPPING
    everything = rows_of_statement(opened, "SELECT * FROM last")
    for _ in range(2):
        run_sql(opened, create)
        run_sql(opened, "CREATE " + INDEX_MAPPING.format("IF NOT EXISTS", ", _tags"))
        assert rule_of_refusal(opened, create) is R.SQL_TABLE_EXISTS
        run_sql(opened, "ALTER TABLE last ADD COLUMN d DOUBLE")
        assert rows_of_statement(opened, f"SELECT d FROM last WHERE {KEY1}") == [(0.5,)]
        assert rule_of_refusal(opened, "ALTER TABLE last DROP COLUMN _tags") is R.SQL_MAPPING
        assert rule_of_refusal(opened, "DELETE FROM last WHERE _m_name = 'a'") is R.SQL_CHANGE
        run_sql(opened, "DROP MAPPING TABLE last")
        assert rows_of_statement(opened, "SELECT * FROM last") == everything
        run_sql(opened, "DROP MAPPING TABLE last")
    run_sql(opened, create)
    opened.core.run(timeseries(opened).drop_lastpoint("i", "ts", "last"))
    assert rule_of_refusal(opened, "SELECT * FROM last") is R.SQL_TABLE_UNKNOWN
    assert timeseries(opened).find("i", "ts").mappings == ()


def test_a_mapping_of_an_analytical_store() -> None:
    """It has the points that the store keeps, and holds the store (timeseries §11, §12)."""
    engine = statement_engine()
    day = 86_400 * SECOND
    table = made(engine, stores=(AnalyticalStore("s", 30 * 86_400),))
    now_us = engine.core.clock.now_us()
    put(engine, table, *[Point(CPU2, now_us - days * day, {"n": days}) for days in (1, 29, 31)])
    for name, option in (("all", ""), ("kept", "ENGINE=AnalyticalStore")):
        run_sql(engine, f"CREATE TABLE `ts::{name}` ({KEY_COLUMNS}, n BIGINT) {option}")
    for name, rows in (("all", [(31,), (29,), (1,)]), ("kept", [(29,), (1,)])):
        for where in ("", f"WHERE {KEY2}", "WHERE _m_name = 'cpu'"):
            assert rows_of_statement(engine, f"SELECT n FROM `ts::{name}` {where}") == rows
    tables = timeseries(engine)
    with pytest.raises(InvalidRequest) as refused:
        engine.core.run(tables.drop_store("i", "ts", "s"))
    assert refused.value.rule is TimeseriesRule.STORE_MAPPED
    engine.core.run(tables.drop_store("i", "ts", "s", with_mappings=True))
    names = [("ts",), ("ts::all",), ("ts::meta",)]
    assert rows_of_statement(engine, "SHOW TABLES") == names
    assert tables.find("i", "ts").stores == ()


def test_mappings_are_kept_in_the_record_of_their_table() -> None:
    engine = statement_engine()
    made(engine, stores=(AnalyticalStore("s"),))
    run_sql(engine, f"CREATE TABLE `ts::a` ({KEY_COLUMNS}, n DOUBLE) ENGINE=AnalyticalStore")
    table = timeseries(engine).find("i", "ts")
    [mapping] = table.mappings
    assert (mapping.name, mapping.of_store, mapping.columns[-1].name) == ("ts::a", True, "n")
    assert decode_timeseries_table(encode_timeseries_table(table)) == table


def test_metas_that_are_looked_up_by_their_keys_count_with_their_bytes() -> None:
    """sql §9.5: units follow from the bytes that are read, docs/protocol/differences.md"""
    opened = statement_engine()
    table = made(opened)
    sources = [f"{at:0>250}" for at in range(40)]
    put(opened, table, *[Point(SeriesKey("m", each, ()), 1, {"n": 1}) for each in sources])
    listing = ", ".join([f"'{each}'" for each in sources])
    where = f"_m_name = 'm' AND _data_source IN ({listing}) AND _tags = '[]'"
    [of_metas] = run_sql(opened, f"SELECT * FROM `ts::meta` WHERE {where}").consumed
    [plain] = run_sql(opened, f"SELECT _long_value FROM ts WHERE {where}").consumed
    [with_metas] = run_sql(opened, f"SELECT _attributes FROM ts WHERE {where}").consumed
    assert of_metas.read == 3  # 40 keys of 250 bytes and some
    assert with_metas.read >= plain.read + 2


def test_the_message_of_consumed_units(engine: TablestoreEngine) -> None:
    """`is_timeseries_meta` is set for metas alone."""
    action = SQL_ACTIONS["SQLQuery"]
    for text, metas in [("SELECT 1 FROM ts", False), ("SELECT 1 FROM `ts::meta`", True)]:
        asked = action.decode(m.SQLQueryRequest(query=text).SerializeToString())
        answer = action.call(engine, "i", asked)
        sent = m.SQLQueryResponse.FromString(action.encode(answer))
        [consumed] = sent.consumes
        assert (consumed.table_name, consumed.is_timeseries_meta) == ("ts", metas)


def rows_of_reads(
    engine: TablestoreEngine, table: TimeseriesTable, series: SeriesKey
) -> set[tuple[Any, ...]]:
    """The rows that SQL has to give of what GetTimeseriesData gives."""
    page = timeseries(engine).read(table, PointQuery(series, 0, 2**62))
    assert not page.next
    return {
        (
            *(*series[:2], tags_text(series.tags), point.time_us, name),
            *[value if type(value) is kind else None for kind in TYPES],
        )
        for point in page.points
        for name, value in point.fields.items()
    }


_VALUES = st.sampled_from([0, 1, 0.25, True, False, "a", b"b"])
_POINTS = st.lists(
    st.tuples(
        st.sampled_from(SERIES),
        st.integers(0, 30),
        st.dictionaries(st.sampled_from("abc"), _VALUES, min_size=1),
    ),
    min_size=1,
    max_size=40,
)
_CONDITIONS: dict[str, Callable[[tuple[Any, ...]], bool]] = {
    "": lambda _: True,
    KEY1: lambda row: row[1] == "h1",
    "_m_name = 'cpu'": lambda row: row[0] == "cpu",
    "_data_source > 'h1' AND _time >= 7": lambda row: row[1] == "h2" and row[3] >= 7,
    "_time BETWEEN 3 AND 20": lambda row: 3 <= row[3] <= 20,
    "tag_value_at(_tags, 'os') LIKE 'lin%'": lambda row: row[0] == "cpu",
    "_tags = '[\"os=linux\"]' AND _time < 9": lambda row: row[1] == "h2" and row[3] < 9,
}


@given(points=_POINTS)
def test_rows_are_those_of_reads(
    points: list[tuple[SeriesKey, int, dict[str, Value]]],
) -> None:
    """Law: whichever way a condition is read, its rows are those that GetTimeseriesData gives."""
    engine = statement_engine()
    table = made(engine)
    put(engine, table, *[Point(*each) for each in points])
    every = set[tuple[Any, ...]]().union(*[rows_of_reads(engine, table, s) for s in SERIES])
    columns = ", ".join(["_m_name", "_data_source", "_tags", "_time", "_field_name", *COLUMNS])
    for condition, keeps in _CONDITIONS.items():
        where = f"WHERE {condition}" if condition else ""
        found = rows_of_statement(engine, f"SELECT {columns} FROM ts {where}")
        assert len(found) == len(set(found))
        assert set(found) == {row for row in every if keeps(row)}, condition
