"""The shell beside a running server, through the protocol of Oracle NoSQL (nosql-wire, cli §6)."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from tests.nosql.shell.conftest import Shell
from tests.support.forked import run_forked

from widerow import nosql
from widerow.cli.kv.dispatch import execute
from widerow.cli.kv.server import open_server
from widerow.cli.kv.session import ShellStore
from widerow.client.failures import Refused, Unreachable
from widerow.client.nosql_store import ServerStore
from widerow.system import SystemClock
from widerow.testing.clock import FakeClock, FakeEntropy
from widerow.testing.server import WiderowServer

SCRIPT: Final = (Path(__file__).parent / "both.kv").read_text(encoding="utf-8")
TABLE: Final = (
    "execute 'CREATE TABLE t (g STRING, n INTEGER, doc JSON, PRIMARY KEY(SHARD(g), n))'\n"
)


@pytest.fixture(scope="module")
def server() -> Iterator[WiderowServer]:
    with WiderowServer(clock=SystemClock()) as started:
        yield started


@pytest.fixture
def remote(server: WiderowServer) -> Iterator[Shell]:
    """A shell on an empty server."""
    store = open_server(server.endpoint, {})
    for table in reversed(store.tables()):
        store.drop_table(table.name)
    yield Shell(store)
    store.close()


def said(store: ShellStore, script: str) -> list[tuple[str, int, str]]:
    """Each command of a script with its exit code and what it printed."""
    shell = Shell(store)
    answers = []
    for line in script.splitlines():
        text, code = typed(shell, line)
        answers.append((line, code, text))
    return answers


def typed(shell: Shell, line: str) -> tuple[str, int]:
    """A command that may enter a mode, which a script would leave at its end."""
    shell.said.clear()
    code = execute(shell.session, line)
    return "".join(f"{each}\n" for each in shell.said), code


def test_a_server_and_a_store_answer_alike(remote: Shell) -> None:
    """Every command of `both.kv`: definitions, plans, rows, ranges, indexes, statements, faults."""
    with nosql.open(
        "memory:", clock=FakeClock(), entropy=FakeEntropy(), housekeeping=False
    ) as store:
        here = said(store, SCRIPT)
    there = said(remote.session.store, SCRIPT)
    assert len(here) > 80
    for ours, theirs in zip(here, there, strict=True):
        assert ours == theirs


def test_put_mode_writes_through_a_server(remote: Shell) -> None:
    remote.run(TABLE)
    for line in ("put table -name t", "add-value -field g -value a", "add-value -field n -value 1"):
        assert typed(remote, line) == ("", 0)
    assert typed(remote, "exit") == ("Operation successful, row inserted.\n", 0)
    assert remote.run("aggregate table -name t -count") == ("Row count: 1\n", 0)


def test_many_rows_come_in_pages(remote: Shell, tmp_path: Path) -> None:
    """A page of the protocol has 2 MB; a delete without a key goes row by row."""
    remote.run(TABLE)
    rows = tmp_path / "rows.json"
    rows.write_text(
        "".join(
            json.dumps({"g": f"g{n % 3}", "n": n, "doc": "x" * 200_000}) + "\n" for n in range(30)
        )
    )
    assert remote.run(f"put table -name t -file {rows}") == ("Loaded 30 rows to t\n", 0)
    shown = remote.run("get table -name t -keyonly")[0].splitlines()
    assert shown[1] == '{"g":"g0","n":0}'
    assert shown[-1] == "30 rows returned"
    assert remote.run("execute 'SELECT n FROM t WHERE n >= 20'")[0].endswith("10 rows returned\n")
    assert remote.run("delete table -name t -field g -value g1") == ("10 rows deleted.\n", 0)
    assert remote.run("delete table -name t -delete-all") == ("20 rows deleted.\n", 0)


def test_rows_of_a_file_are_written_in_their_order(remote: Shell, tmp_path: Path) -> None:
    """Of a key that comes twice the last row stays; what is refused ends the rest."""
    remote.run(TABLE)
    rows = tmp_path / "rows.json"
    lines = [{"g": "a", "n": n % 7, "doc": n} for n in range(200)]
    rows.write_text("".join(f"{json.dumps(each)}\n" for each in lines))
    assert remote.run(f"put table -name t -file {rows}")[0] == "Loaded 200 rows to t\n"
    shown = remote.run("execute 'SELECT $t.doc FROM t $t ORDER BY $t.n'")[0]
    last = [max(n for n in range(200) if n % 7 == key) for key in range(7)]
    assert shown.splitlines()[:7] == [f'{{"doc":{n}}}' for n in last]
    rows.write_text('{"g":"b","n":1}\n{"g":"' + "x" * 100 + '","n":2}\n')  # too long a key
    assert remote.run(f"put table -name t -file {rows}")[1] == 1
    assert remote.run("aggregate table -name t -count")[0] == "Row count: 8\n"
    remote.run(
        "execute 'CREATE TABLE ids (id LONG GENERATED ALWAYS AS IDENTITY, n INTEGER, "
        "PRIMARY KEY(id))'"
    )
    rows.write_text("".join(f'{{"n":{n}}}\n' for n in range(5)))
    remote.run(f"put table -name ids -file {rows}")
    assert remote.run("execute 'SELECT n FROM ids ORDER BY id'")[0].startswith(
        "".join(f'{{"n":{n}}}\n' for n in range(5))
    )


def test_what_others_change_is_seen(remote: Shell, server: WiderowServer) -> None:
    """Another shell alters, drops and creates again what this one has looked at."""
    other = open_server(server.endpoint, {})
    remote.run(TABLE)
    for line in ("table evolve -name t", "add-field -type STRING -name more", "exit"):
        assert typed(remote, line)[1] == 0
    other.run_statement("ALTER TABLE t (ADD x STRING DEFAULT 'y')")
    text, code = remote.run("plan evolve-table -name t -wait")
    assert (code, "ended with errors" in text) == (1, True)
    remote.run('put table -name t -json \'{"g":"a","n":1}\'')
    assert remote.run('get table -name t -json \'{"g":"a","n":1}\'')[0] == (
        '{"g":"a","n":1,"doc":null,"x":"y"}\n'
    )
    other.run_statement("DROP TABLE t")
    assert remote.run("show tables") == ("No table found.\n", 0)
    assert remote.run("get table -name t")[0].endswith("Table not found: t\n")
    other.run_statement("CREATE TABLE T (k LONG, PRIMARY KEY(k))")
    assert remote.run("show tables")[0] == "Tables in all namespaces: \n\tT\n\t\n"
    assert remote.run("get table -name t -json '{\"k\":1}'")[0] == (
        'Key not found in store: {"k":1}\n'
    )
    other.close()


# What the protocol has no request for is refused, and says what to do.
REFUSED: Final = (
    ("get table -name t -child t.c", "execute 'SELECT … FROM NESTED TABLES (…)'"),
    ("delete table -name t.c -field g -value a -ancestor t", "ask for those of each table"),
    ("get table -name t -index byTag", "use execute 'SELECT …'"),
    ("execute 'CREATE NAMESPACE shop'", "Namespaces are not supported"),
    ("namespace shop", "Namespace does not exist: shop"),
)


def test_what_the_protocol_cannot_do_says_so(remote: Shell) -> None:
    remote.run(f"{TABLE}execute 'CREATE TABLE t.c (c INTEGER, PRIMARY KEY(c))'")
    remote.run("execute 'CREATE INDEX byTag ON t (doc.tags[] AS STRING)'")
    for line, words in REFUSED:
        text, code = remote.run(line)
        assert (code, words in text) == (1, True), text


def test_rows_in_the_order_of_a_scan_have_sorted_names_inside_json(remote: Shell) -> None:
    """As the vendor's queries; GET keeps the order in which they were written (ddl §3)."""
    remote.run(TABLE)
    remote.run("""put table -name t -json '{"g":"a","n":1,"doc":{"to":1,"by":2}}'""")
    assert '{"by":2,"to":1}' in remote.run("get table -name t")[0]
    assert '{"to":1,"by":2}' in remote.run('get table -name t -json \'{"g":"a","n":1}\'')[0]


def test_null_stays_null_where_a_row_is_merged(remote: Shell) -> None:
    remote.run(TABLE)
    remote.run("""put table -name t -json '{"g":"a","n":1}'""")
    remote.run("execute 'ALTER TABLE t (ADD x INTEGER)'")
    remote.run("""put table -name t -json '{"g":"a","n":1,"x":5}' -update""")
    query = "execute 'SELECT $t.doc IS NULL AS gone, $t.x FROM t $t'"
    assert remote.run(query)[0].startswith('{"gone":true,"x":5}\n')


def test_indexes_of_every_kind_are_read_back(remote: Shell) -> None:
    remote.run(
        "execute 'CREATE TABLE t (k INTEGER, s STRING, doc JSON, tags ARRAY(STRING), "
        "PRIMARY KEY(k))'"
    )
    for fields in (
        "s",
        "lower(s)",
        "substring(s, 0, 3), k",
        "tags[]",
        "doc.a AS INTEGER, doc.b AS ANYATOMIC",
        "upper(doc.c AS STRING)",
        "expiration_time()",
    ):
        name = f"i{abs(hash(fields))}"
        assert remote.run(f"execute 'CREATE INDEX {name} ON t ({fields})'")[1] == 0, fields
    store = remote.session.store
    assert isinstance(store, ServerStore)
    found = {
        tuple((field.path, field.type) for field in index.fields)
        for index in store.table("t").definition.indexes
    }
    assert found == {
        (("s", None),),
        (("lower#s", None),),
        (("substring#s,0,3", None), ("k", None)),
        (("tags[]", None),),
        (("doc.a", nosql.Kind.INTEGER), ("doc.b", nosql.Kind.ANY_ATOMIC)),
        (("upper#doc.c", nosql.Kind.STRING),),
        (("expiration_time#", None),),
    }


# --- who asks, and whom ---------------------------------------------------------------------------


def kv(*arguments: str, typed: str = "", **more: str) -> subprocess.CompletedProcess[str]:
    settings = {**os.environ, **more}
    return run_forked("kv", *arguments, environment=settings, typed=typed, timeout=60)


def test_commands_statements_and_scripts_as_a_process(remote: Shell, server: WiderowServer) -> None:
    del remote  # an empty server
    to = ("--endpoint", server.endpoint)
    made = kv(*to, typed=f'{TABLE}put table -name t -json \'{{"g":"a","n":1}}\'\n')
    assert made.stdout == "Statement completed successfully\nOperation successful, row inserted.\n"
    shown = kv(*to, "-e", "SELECT g, n FROM t", "-e", "SELECT count(*) AS c FROM t")
    assert shown.stdout == '{"g":"a","n":1}\n\n1 row returned\n{"c":1}\n\n1 row returned\n'
    assert kv(*to, "show", "tables").stdout == "Tables in all namespaces: \n\tt\n\t\n"
    failed = kv(*to, "get", "table", "-name", "nosuch")
    assert (failed.returncode, failed.stderr) == (1, "")
    assert (made.returncode, shown.returncode) == (0, 0)


def test_an_endpoint_where_nobody_answers_is_named(tmp_path: Path) -> None:
    done = kv("--endpoint", "http://127.0.0.1:9", "show", "tables")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("widerow kv: nothing listens at http://127.0.0.1:9; start")
    wrong = kv("--endpoint", "localhost", "show", "tables")
    assert "localhost is not an endpoint" in wrong.stderr
    both = kv("--endpoint", "http://127.0.0.1:9", "--path", str(tmp_path), "show", "tables")
    assert "give --endpoint for a server, or --path for a store" in both.stderr
    assert both.returncode == 1


def test_a_server_with_keys_of_its_own_takes_these_alone(tmp_path: Path) -> None:
    keys = tmp_path / "keys.toml"
    keys.write_text(
        '[[key]]\nid = "ada"\nsecret = "secret"\n'
        '[[key]]\nid = "reader"\nsecret = "secret"\npermissions = ["read"]\n'
    )
    keys.chmod(0o600)
    made = run_forked("credentials", "api-key", "notebook", "--file", str(keys), "--json")
    assert made.returncode == 0, made.stderr
    api_key = json.loads(made.stdout)["api_key"]
    settings = {"credentials": str(keys), "api_keys_behind_proxy": True}
    with WiderowServer(clock=SystemClock(), settings=settings) as server:
        to = ("--endpoint", server.endpoint)
        refused = kv(*to, "show", "tables")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert refused.stderr.startswith("widerow kv: 11: ")
        by_flag = kv(
            *to, "--access-key-id", "ada", "--access-key-secret", "secret", "show", "tables"
        )
        assert (by_flag.stdout, by_flag.stderr) == ("No table found.\n", "")
        pair = {"WIDEROW_ACCESS_KEY_ID": "reader", "WIDEROW_ACCESS_KEY_SECRET": "secret"}
        may_not = kv(*to, "-e", "CREATE TABLE t (k INTEGER, PRIMARY KEY(k))", **pair)
        assert (may_not.returncode, "permission" in may_not.stdout.lower()) == (1, True)
        assert kv(*to, "show", "tables", WIDEROW_API_KEY=api_key).stdout == "No table found.\n"
        assert kv(*to, "--api-key", "other", "show", "tables").returncode == 1


def test_connect_reaches_servers_and_stores_by_turns(
    remote: Shell, server: WiderowServer, tmp_path: Path
) -> None:
    remote.run(TABLE)
    with nosql.open("memory:", housekeeping=False) as store:
        shell = Shell(store)
        host, port = server.endpoint.removeprefix("http://").split(":")
        connected = shell.run(f"connect store -host {host} -port {port} -name kvstore")
        assert connected == (f"Connected to the server at {server.endpoint}.\n", 0)
        assert shell.run("show tables")[0].splitlines()[1] == "\tt"
        assert shell.run(f"connect -endpoint {server.endpoint}")[1] == 0
        nosql.open(tmp_path / "data", housekeeping=False).close()
        assert shell.run(f"connect -path {tmp_path / 'data'}")[1] == 0
        assert shell.run("show tables") == ("No table found.\n", 0)
        text, code = shell.run("connect -host 127.0.0.1 -port 9")
        assert (code, "nothing listens at http://127.0.0.1:9" in text) == (1, True)
        assert shell.run("show tables") == ("No table found.\n", 0)  # the store is still there
        assert shell.run("connect -host h;")[1] == shell.run("connect -name kvstore;")[1] == 64
        assert shell.run("connect -path a -host h -port 1")[1] == 65
        shell.session.store.close()


def test_errors_of_a_server_have_its_code(server: WiderowServer) -> None:
    store = open_server(server.endpoint, {})
    with pytest.raises(Refused) as caught:
        store.run_statement("DROP TABLE nosuch")
    assert caught.value.code == "2"
    store.close()
    with pytest.raises(Unreachable):
        open_server("http://127.0.0.1:9", {})
