"""What a key may do with SQL: its permissions are those of the statement (differences, SQL)."""

from collections.abc import Iterator

import pytest
from tests.support.http import Sender, Wire
from tests.support.requests import BODIES

from widerow.testing.server import WiderowServer
from widerow.wire.tablestore.sql_messages import SQLQueryRequest

KEYS = "".join(
    f"[[key]]\nid = {name!r}\nsecret = 'secret'\npermissions = {permissions}\n"
    for name, permissions in (
        ("reader", ["read"]),
        ("writer", ["write"]),
        ("manager", ["manage"]),
        ("all", ["read", "write", "manage"]),
    )
)
STATEMENTS = {
    "SELECT 1": "reader",
    "SHOW TABLES": "reader",
    "EXPLAIN SELECT 1": "reader",
    "INSERT INTO t VALUES (1)": "writer",
    "REPLACE INTO t VALUES (1)": "writer",
    "UPDATE t SET a = 1": "writer",
    "/* SELECT */ DELETE FROM t": "writer",
    "CREATE TABLE t (a BIGINT PRIMARY KEY)": "manager",
    "ALTER TABLE t DROP a": "manager",
    "DROP MAPPING TABLE t": "manager",
}


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wire]:
    """A server with a key for each permission and a table `t`."""
    keys = tmp_path_factory.mktemp("keys") / "keys.toml"
    keys.write_text(KEYS, encoding="utf-8")
    keys.chmod(0o600)
    with (
        WiderowServer(settings={"credentials": str(keys)}) as server,
        Wire(server.endpoint) as made,
    ):
        body = BODIES["CreateTable"]("t")
        assert made.ask(Sender("all", "secret").request("CreateTable", body)).status == 200
        yield made


@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize("key", ["reader", "writer", "manager"])
def test_a_statement_is_for_keys_that_may_do_what_it_does(
    wire: Wire, statement: str, key: str
) -> None:
    body = SQLQueryRequest(query=statement).SerializeToString()
    status = wire.ask(Sender(key, "secret").request("SQLQuery", body)).status
    assert (status == 403) == (key != STATEMENTS[statement])
