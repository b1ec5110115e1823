"""The vendor's driver for Python with a store of one's own: namespaces, system requests, nothing
that the cloud bounds (nosql-wire §1.2, §5.6; docs/protocol/nosql.md, "A store of one's own")."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import borneo
import pytest
from borneo.kv import StoreAccessTokenProvider

from widerow.system import SystemClock
from widerow.testing.server import WiderowServer

ONPREM: Final = {"nosql_mode": "onprem"}
HATS: Final = (
    "CREATE TABLE hats (kind STRING, name STRING, count INTEGER, PRIMARY KEY(SHARD(kind), name))"
)
WAIT: Final = (20_000, 50)  # milliseconds: at most, and between two questions


@contextmanager
def connected(endpoint: str, namespace: str | None = None) -> Iterator[Any]:
    """A handle of the driver, without a user."""
    config = borneo.NoSQLHandleConfig(endpoint, StoreAccessTokenProvider())
    config.set_consistency(borneo.Consistency.ABSOLUTE).set_logger(None)
    config.set_default_namespace(namespace)
    handle = borneo.NoSQLHandle(config)
    try:
        yield handle
    finally:
        handle.close()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[WiderowServer]:
    with WiderowServer(tmp_path / "data", clock=SystemClock(), settings=ONPREM) as started:
        yield started


def system(handle: Any, statement: str) -> Any:  # noqa: ANN401  # the driver has no types
    """What a system request shows, once it has ended."""
    return handle.do_system_request(statement, *WAIT).get_result_string()


def define(handle: Any, statement: str) -> Any:  # noqa: ANN401  # the driver has no types
    """Run a definition statement of a table; its last result."""
    return handle.do_table_request(borneo.TableRequest().set_statement(statement), *WAIT)


def put(handle: Any, table: str, *row: object) -> Any:  # noqa: ANN401  # the driver has no types
    value = dict(zip(("kind", "name", "count"), row, strict=True))
    return handle.put(borneo.PutRequest().set_table_name(table).set_value(value))


def get(handle: Any, table: str, kind: str, name: str) -> Any:  # noqa: ANN401  # the driver has no types
    key = {"kind": kind, "name": name}
    return handle.get(borneo.GetRequest().set_table_name(table).set_key(key))


def queried(handle: Any, request: Any) -> list[Any]:  # noqa: ANN401  # the driver has no types
    rows: list[Any] = []
    while True:
        rows += handle.query(request).get_results()
        if request.is_done():
            return rows


def asked(statement: str) -> Any:  # noqa: ANN401  # the driver has no types
    return borneo.QueryRequest().set_statement(statement)


def test_the_whole_life_of_a_table_in_a_namespace(tmp_path: Path) -> None:
    path = tmp_path / "data"
    with WiderowServer(path, clock=SystemClock(), settings=ONPREM) as first:
        with connected(first.endpoint) as handle:
            make_and_fill(handle)
        with connected(first.endpoint, "shop") as handle:
            use_without_its_name(handle)
    with (
        WiderowServer(path, clock=SystemClock(), settings=ONPREM) as second,
        connected(second.endpoint) as handle,
    ):
        change_and_end(handle)


def make_and_fill(handle: Any) -> None:  # noqa: ANN401  # no types
    made = handle.system_request(borneo.SystemRequest().set_statement("CREATE NAMESPACE shop"))
    assert made.get_operation_state() == borneo.SystemState.WORKING
    made.wait_for_completion(handle, *WAIT)
    assert made.get_operation_state() == borneo.SystemState.COMPLETE
    assert handle.list_namespaces() == ["sysdefault", "shop"]

    told = define(handle, HATS.replace("hats", "shop:hats"))
    assert (told.get_state(), told.get_table_name()) == (borneo.State.ACTIVE, "shop:hats")
    assert told.get_table_limits() is None
    define(handle, HATS)  # a table of the same name in the default namespace
    for number in range(3):
        result = put(handle, "shop:hats", "felt", f"h{number}", number)
        assert result.get_version() is not None
        assert (result.get_write_units(), result.get_read_units()) == (0, 0)
    put(handle, "hats", "felt", "h0", 100)
    assert get(handle, "shop:hats", "felt", "h0").get_value()["count"] == 0
    assert get(handle, "hats", "felt", "h0").get_value()["count"] == 100
    assert get(handle, "HATS", "felt", "h1").get_value() is None


def use_without_its_name(handle: Any) -> None:  # noqa: ANN401  # no types
    """What the handle's namespace means for each request."""
    assert get(handle, "hats", "felt", "h2").get_value()["count"] == 2
    assert get(handle, "sysdefault:hats", "felt", "h0").get_value()["count"] == 100
    define(handle, "CREATE INDEX byCount ON hats(count)")
    assert queried(handle, asked("SELECT hats.name FROM hats WHERE count > 1")) == [{"name": "h2"}]
    assert queried(handle, asked("SELECT hats.count FROM sysdefault:hats")) == [{"count": 100}]
    told = handle.get_table(borneo.GetTableRequest().set_table_name("hats"))
    assert told.get_table_name() == "shop:hats"
    assert json.loads(told.get_schema())["namespace"] == "shop"
    indexes = handle.get_indexes(borneo.GetIndexesRequest().set_table_name("hats")).get_indexes()
    assert [each.get_index_name() for each in indexes] == ["byCount"]

    prepared = handle.prepare(
        borneo.PrepareRequest().set_statement("SELECT name FROM hats ORDER BY name")
    ).get_prepared_statement()
    assert prepared.get_namespace() == "shop"
    elsewhere = borneo.QueryRequest().set_prepared_statement(prepared).set_limit(1)
    elsewhere.set_namespace("sysdefault")  # what was prepared stays where it was prepared
    assert [row["name"] for row in queried(handle, elsewhere)] == ["h0", "h1", "h2"]

    batch = borneo.WriteMultipleRequest()
    for number in range(60):  # the cloud takes fifty
        row = {"kind": "wool", "name": f"w{number}", "count": 0}
        batch.add(
            borneo.PutRequest().set_table_name("hats").set_value(row), abort_if_unsuccessful=True
        )
    assert handle.write_multiple(batch).get_success()
    gone = borneo.MultiDeleteRequest().set_table_name("hats").set_key({"kind": "wool"})
    assert handle.multi_delete(gone).get_num_deletions() == 60


def change_and_end(handle: Any) -> None:  # noqa: ANN401  # no types
    listed = handle.list_tables(borneo.ListTablesRequest()).get_tables()
    assert listed == ["hats", "shop:hats"]
    of_shop = borneo.ListTablesRequest().set_namespace("shop")
    assert handle.list_tables(of_shop).get_tables() == ["shop:hats"]
    define(handle, "ALTER TABLE shop:hats (ADD note STRING)")
    changed = queried(
        handle, asked('UPDATE shop:hats SET note = "x" WHERE kind = "felt" AND name = "h1"')
    )
    assert changed == [{"NumRowsUpdated": 1}]

    assert system(handle, "SHOW TABLES") == "tables\n  hats\n  shop:hats"
    described = json.loads(system(handle, "DESCRIBE AS JSON TABLE shop:hats"))
    assert [each["name"] for each in described["fields"]] == ["kind", "name", "count", "note"]
    with pytest.raises(borneo.IllegalArgumentException, match="it is not empty"):
        system(handle, "DROP NAMESPACE shop")
    assert system(handle, "DROP NAMESPACE shop CASCADE") is None
    assert system(handle, "SHOW AS JSON NAMESPACES") == '{"namespaces" : ["sysdefault"]}'
    with pytest.raises(borneo.TableNotFoundException):
        get(handle, "shop:hats", "felt", "h0")
    assert get(handle, "hats", "felt", "h0").get_value()["count"] == 100


def test_what_the_cloud_bounds_is_not_bounded(server: WiderowServer) -> None:
    with connected(server.endpoint) as handle:
        define(handle, "CREATE TABLE t (k STRING, v STRING, PRIMARY KEY(k))")
        row = {"k": "k" * 1000, "v": "v" * 3_000_000}
        assert handle.put(borneo.PutRequest().set_table_name("t").set_value(row)).get_version()
        key = {"k": "k" * 1000}
        found = handle.get(borneo.GetRequest().set_table_name("t").set_key(key))
        assert len(found.get_value()["v"]) == 3_000_000
        assert found.get_read_units() == 0
    with WiderowServer() as cloud:
        config = borneo.NoSQLHandleConfig(cloud.endpoint, StoreAccessTokenProvider())
        handle = borneo.NoSQLHandle(config.set_logger(None))
        with pytest.raises(borneo.InvalidAuthorizationException):
            handle.list_tables(borneo.ListTablesRequest())
        handle.close()


REFUSED: Final = (
    ("SELECT * FROM t", borneo.IllegalArgumentException, "restricted to DDL"),
    ("BOGUS", borneo.IllegalArgumentException, "mismatched input 'BOGUS'"),
    ("DESCRIBE TABLE t", borneo.TableNotFoundException, "Table does not exist: t"),
    ("CREATE NAMESPACE sysdefault", borneo.ResourceExistsException, "already exists"),
    ("DROP NAMESPACE sysdefault CASCADE", borneo.ResourceNotFoundException, "does not exist"),
    ("DROP NAMESPACE nosuch", borneo.ResourceNotFoundException, "does not exist"),
    ('CREATE USER ada IDENTIFIED BY "x"', borneo.OperationNotSupportedException, "CREATE USER"),
    ("SHOW AS JSON ROLES", borneo.OperationNotSupportedException, "SHOW ROLES"),
)


def test_what_a_system_request_refuses(server: WiderowServer) -> None:
    with connected(server.endpoint) as handle:
        for statement, error, text in REFUSED:
            with pytest.raises(error, match=text):
                system(handle, statement)
        system(handle, "CREATE NAMESPACE x")
        with pytest.raises(borneo.ResourceExistsException, match="Namespace 'X' already exists"):
            system(handle, "CREATE NAMESPACE X")
        assert system(handle, "CREATE NAMESPACE IF NOT EXISTS x") is None
        assert system(handle, "DROP NAMESPACE IF EXISTS nosuch") is None
        assert handle.list_namespaces() == ["sysdefault", "x"]


def test_what_a_store_of_ones_own_does_not_have(server: WiderowServer) -> None:
    with connected(server.endpoint) as handle:
        define(handle, "CREATE TABLE t (k INTEGER, PRIMARY KEY(k))")
        limits = borneo.TableRequest().set_table_name("t")
        limits.set_table_limits(borneo.TableLimits(1, 1, 1))
        with pytest.raises(borneo.OperationNotSupportedException, match="limit operation"):
            handle.table_request(limits)
        with pytest.raises(borneo.OperationNotSupportedException, match="GetTableUsage"):
            handle.get_table_usage(borneo.TableUsageRequest().set_table_name("t"))
        with pytest.raises(borneo.IllegalArgumentException, match="by system requests"):
            define(handle, "CREATE NAMESPACE x")
