"""SQL through the vendor's Python SDK: the assertions of its own tests (sql §13)."""

from typing import Any

import pytest
import tablestore as ts


def made(client: ts.OTSClient, name: str, key: tuple[str, str]) -> None:
    client.create_table(
        ts.TableMeta(name, [key]),
        ts.TableOptions(),
        ts.ReservedThroughput(ts.CapacityUnit(0, 0)),
    )


def rows_of(client: ts.OTSClient, text: str) -> list[dict[str, Any]]:
    rows, _, _ = client.exe_sql_query(text)
    return [dict(row.attribute_columns) for row in rows]


@pytest.fixture
def people(ots: ts.OTSClient) -> ts.OTSClient:
    """Ten people in a table that is mapped."""
    made(ots, "people", ("uid", "INTEGER"))
    for uid in range(10):
        cells = [("name", f"n{uid % 2}"), ("age", uid), ("grade", uid / 4)]
        ots.put_row("people", ts.Row([("uid", uid)], cells))
    text = "(uid BIGINT(20), name MEDIUMTEXT, age BIGINT(20), grade DOUBLE, PRIMARY KEY (uid))"
    ots.exe_sql_query(f"CREATE TABLE people {text}")
    return ots


def test_statements_through_the_sdk(people: ts.OTSClient) -> None:
    assert rows_of(people, "select count(*) from people") == [{"count(*)": 10}]
    assert rows_of(people, "select sum(age) from people where age < 5") == [{"sum(age)": 10.0}]
    assert rows_of(people, "select * from people where grade > 2.0") == [
        {"uid": 9, "name": "n1", "age": 9, "grade": 2.25}
    ]
    groups = "select name, avg(age) as mean from people group by name order by name"
    assert rows_of(people, groups) == [{"name": "n0", "mean": 4.0}, {"name": "n1", "mean": 5.0}]
    assert rows_of(people, "select uid from people order by age desc limit 1") == [{"uid": 9}]
    described = rows_of(people, "describe people")
    assert [row["Field"] for row in described] == ["uid", "name", "age", "grade"]
    assert [[*row.values()] for row in rows_of(people, "show tables")] == [["people"]]
    people.exe_sql_query("drop mapping table people")
    assert [row["Field"] for row in rows_of(people, "describe people")] == ["uid"]


def test_bytes_and_nulls_through_the_sdk(ots: ts.OTSClient) -> None:
    made(ots, "blobs", ("k", "BINARY"))
    text = "(k VARBINARY(1024), v MEDIUMBLOB, f BOOL, d DOUBLE, s MEDIUMTEXT, PRIMARY KEY (k))"
    ots.exe_sql_query(f"create table blobs {text}")
    ots.exe_sql_query("insert into blobs values (X'01', X'007F', true, 1.5, 'é')")
    ots.exe_sql_query("insert into blobs (k) values (X'02')")
    rows = rows_of(ots, "select * from blobs")
    assert [bytes(row["k"]) for row in rows] == [b"\x01", b"\x02"]
    assert bytes(rows[0]["v"]) == b"\x00\x7f"  # the SDK reads no larger ones
    assert (rows[0]["f"], rows[0]["d"], rows[0]["s"]) == (True, 1.5, "é")
    assert [rows[1][name] for name in ("v", "f", "d", "s")] == [None] * 4


def test_capacity_and_refusals_through_the_sdk(people: ts.OTSClient) -> None:
    _, tables, searches = people.exe_sql_query("select * from people")
    [(name, consumed)] = tables
    assert (name, consumed.read, consumed.write, searches) == ("people", 1, 0, [])
    for text, code in (
        ("select nope from people", "OTSParameterInvalid"),
        ("selec 1", "OTSUnsupportOperation"),
        ("select * from nope", "OTSParameterInvalid"),
    ):
        with pytest.raises(ts.OTSServiceError) as refused:
            people.exe_sql_query(text)
        assert refused.value.get_error_code() == code
