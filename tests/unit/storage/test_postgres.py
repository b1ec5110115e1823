"""Opening a store in PostgreSQL, and what the driver says and does (storage/postgres)."""

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.postgres import Server, fresh_url, made
from tests.support.changes import create
from tests.support.changes import put as put_row
from tests.support.engines import open_tablestore

from widerow.cli.doctor import examine
from widerow.engine.catalog.catalog import STORE_FORMAT
from widerow.errors import InvalidRequest, Rule, StorageFailure, StoreBusy
from widerow.keys.layout import STORE_FORMAT_KEY, row_prefix
from widerow.limits import BLOCKING_THREADS_MAX
from widerow.model.values import KeyType
from widerow.storage.interface import Store, Transaction, Write
from widerow.storage.opener import open_store, shown_url, store_directory
from widerow.storage.postgres.driver import KEY_BYTES_MAX
from widerow.storage.postgres.pool import Pool
from widerow.testing.clock import FakeClock, FakeEntropy

SHARD = b"\x10\x00\x00\x00\x07a\x00\x01"


@pytest.fixture
def store() -> Iterator[Store]:
    with open_store(fresh_url()) as opened:
        yield opened


@pytest.fixture(scope="module")
def stopped() -> Iterator[Server]:
    """A server that runs only while a test lets it."""
    found = made()
    yield found
    found.remove()


def put(store: Store, key: bytes, value: bytes = b"v") -> None:
    store.transact((SHARD,), lambda txn: txn.put(key, value))


def connections(url: str) -> list[tuple[str, ...]]:
    """The states of other connections to the server."""
    with psycopg.connect(url) as connection:
        return connection.execute(
            "SELECT state FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
        ).fetchall()


# --- opening --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "answer"),
    [("fsync", "set fsync=on"), ("synchronous_commit", "set synchronous_commit=on")],
)
def test_a_database_that_does_not_sync_is_refused(
    stopped: Server, setting: str, answer: str
) -> None:
    stopped.start(**{setting: "off"})
    try:
        with pytest.raises(StorageFailure, match=answer) as raised:
            open_store(stopped.url)
        assert not isinstance(raised.value, StoreBusy)
    finally:
        stopped.stop("fast")


def test_a_user_who_does_not_sync_is_refused(stopped: Server) -> None:
    stopped.start()
    try:
        with psycopg.connect(stopped.url, autocommit=True) as connection:
            connection.execute("CREATE USER hasty")
            connection.execute("ALTER ROLE hasty SET synchronous_commit = off")
        with pytest.raises(StorageFailure, match="ALTER ROLE"):
            open_store(stopped.url.replace("postgres@", "hasty@"))
    finally:
        stopped.stop("fast")


def test_a_database_that_is_not_there_is_said_to_be_so(stopped: Server) -> None:
    with pytest.raises(StoreBusy, match=r"cannot be reached.*refused"):
        open_store(stopped.url)


def test_a_wrong_password_is_said_to_be_so(stopped: Server) -> None:
    access = stopped.directory / "data" / "pg_hba.conf"
    before = access.read_text()
    access.write_text(before.replace("trust", "scram-sha-256"))
    stopped.start()
    try:
        url = stopped.url.replace("postgres@", "postgres:secret-word@")
        with pytest.raises(StoreBusy, match="password authentication failed") as raised:
            open_store(url)
        assert "secret-word" not in str(raised.value)
    finally:
        access.write_text(before)
        stopped.stop("fast")


def test_a_missing_right_is_said_to_be_so() -> None:
    url = fresh_url()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE USER stranger")
    with pytest.raises(StorageFailure, match="right to create tables"):
        open_store(url.replace("postgres@", "stranger@"))


def test_a_url_that_libpq_cannot_read_is_refused() -> None:
    with pytest.raises((ValueError, StorageFailure), match="nonsense"):
        open_store("postgresql://localhost/x?nonsense=1")


def test_a_missing_library_is_named() -> None:
    script = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from widerow.storage.opener import open_store\n"
        "try: open_store('postgresql://localhost/x')\n"
        "except ValueError as error: print(error)"
    )
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  # ours
    assert "pip install 'psycopg[binary]'" in done.stdout


def test_a_store_of_another_format_is_refused() -> None:
    url = fresh_url()
    with open_store(url) as store:
        open_tablestore(store, FakeClock(), FakeEntropy(1))
        assert store.snapshot().get(STORE_FORMAT_KEY) == STORE_FORMAT
        store.transact((STORE_FORMAT_KEY,), lambda txn: txn.put(STORE_FORMAT_KEY, b"widerow 9"))
    with open_store(url) as store, pytest.raises(StorageFailure, match="a newer version"):
        open_tablestore(store, FakeClock(), FakeEntropy(1))


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql://me:word@host:5432/db?x=1", "postgresql://me@host:5432/db?x=1"),
        ("postgres://me@host/db", "postgres://me@host/db"),
        ("postgresql://host/db?password=word&x=1", "postgresql://host/db?x=1"),
        ("postgresql:///db", "postgresql:///db"),
        ("rocksdb:a:b@c", "rocksdb:a:b@c"),
    ],
)
def test_passwords_are_not_shown(url: str, shown: str) -> None:
    assert shown_url(url) == shown


def test_a_database_has_no_directory() -> None:
    with pytest.raises(ValueError, match="no directory"):
        store_directory("postgresql://host/db")


# --- reading and writing --------------------------------------------------------------------------


def test_a_view_holds_a_connection_until_it_is_garbage(store: Store) -> None:
    put(store, SHARD)
    for _ in range(3 * (BLOCKING_THREADS_MAX + 16)):
        assert store.snapshot().get(SHARD) == b"v"
    assert store.statistics()["connections"] == 1
    held = [store.snapshot() for _ in range(3)]
    assert [view.get(SHARD) for view in held] == [b"v"] * 3
    assert store.statistics()["connections"] == 3
    scan = store.snapshot().scan(SHARD, b"\x11")
    assert next(scan) == (SHARD, b"v")
    del held, scan
    gc.collect()
    assert store.snapshot().get(SHARD) == b"v"
    assert store.statistics()["connections"] <= 4


def test_requests_that_hold_a_view_each_can_all_go_on(store: Store) -> None:
    """As many as there are threads for requests, each of which asks by another view once more."""
    put(store, SHARD)
    together = threading.Barrier(BLOCKING_THREADS_MAX)

    def request() -> bytes | None:
        view = store.snapshot()
        view.get(SHARD)
        together.wait(timeout=30)
        store.snapshot().get(SHARD)
        return view.get(SHARD)

    with ThreadPoolExecutor(BLOCKING_THREADS_MAX) as threads:
        running = [threads.submit(request) for _ in range(BLOCKING_THREADS_MAX)]
        assert [each.result() for each in running] == [b"v"] * BLOCKING_THREADS_MAX
    assert store.statistics()["connections"] <= BLOCKING_THREADS_MAX + 16


def test_the_pool_of_one_worker_is_smaller() -> None:
    """docs/operating/cluster.md, Workers: a part of the requests, and 16 connections more."""
    pool = Pool("postgresql://", requests_max=4)
    for _ in range(4 + 16):
        pool._permits.get_nowait()
    assert pool._permits.empty()


def test_no_transaction_stays_open_behind_a_request(stopped: Server) -> None:
    stopped.start()
    try:
        with open_store(fresh_url(stopped)) as store:
            put(store, SHARD)
            assert store.snapshot().get(SHARD) == b"v"
            deadline = time.monotonic() + 10
            while ("idle in transaction",) in connections(stopped.url):
                assert time.monotonic() < deadline
        deadline = time.monotonic() + 10
        while connections(stopped.url):
            assert time.monotonic() < deadline, "closing leaves a connection"
    finally:
        stopped.stop("fast")


def test_reads_and_writes_go_on_over_a_restart(stopped: Server) -> None:
    stopped.start()
    try:
        with open_store(fresh_url(stopped)) as store:
            put(store, SHARD)
            view = store.snapshot()
            assert view.get(SHARD) == b"v"
            stopped.stop("immediate")
            with pytest.raises(StoreBusy):
                store.snapshot().get(SHARD)
            assert store.writable
            stopped.start()
            with pytest.raises(StoreBusy):
                view.get(SHARD)  # its transaction ended with the database
            put(store, SHARD, b"w")
            assert store.snapshot().get(SHARD) == b"w"
    finally:
        stopped.stop("fast")


def test_a_key_that_no_index_holds_is_refused_alone(store: Store) -> None:
    other = SHARD[:-3] + b"b\x00\x01"
    longest = SHARD + bytes(range(1, 201)) * 13
    writes = [
        Write((SHARD,), lambda txn: txn.put(longest[: KEY_BYTES_MAX + 1], b"")),
        Write((other,), lambda txn: txn.put(other, b"v")),
    ]
    outcomes = store.transact_group(writes)
    assert isinstance(outcomes[0].error, InvalidRequest)
    assert outcomes[0].error.rule is Rule.STORED_KEY_LENGTH
    assert outcomes[1].error is None
    put(store, longest[:KEY_BYTES_MAX])
    assert store.snapshot().get(longest[:KEY_BYTES_MAX]) == b"v"


def test_a_removed_range_is_written_again_in_one_change(store: Store) -> None:
    keys = [SHARD + bytes((number,)) for number in range(9)]
    for key in keys:
        put(store, key)

    def body(txn: Transaction) -> None:
        txn.delete_range(keys[2], keys[7])
        txn.put(keys[3], b"new")
        txn.delete(keys[0])
        txn.put(keys[8], b"new")

    store.transact((SHARD,), body)
    expected = [b"v", b"new", b"v", b"new"]
    assert [value for _, value in store.snapshot().scan(SHARD, b"\x11")] == expected


def test_plans_use_the_index(store: Store) -> None:
    """Whatever the database believes of the table: it was never analyzed here."""
    put(store, SHARD)
    view = store._driver.view()  # type: ignore[attr-defined]  # any store here has one
    view.read_many([SHARD])
    session = view._session
    session._connection.pgconn.exit_pipeline_mode()
    for asked in (
        b"EXPLAIN EXECUTE read_many ('{}')",
        b"EXPLAIN EXECUTE page_up ('', 'x', 16, 100)",
        b"EXPLAIN EXECUTE page_down ('', 'x', 16, 100)",
        b"EXPLAIN EXECUTE commit ('{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')",
    ):
        session._raw.send_query(asked)
        lines = []
        while (result := session._raw.get_result()) is not None:
            lines += [result.get_value(row, 0).decode() for row in range(result.ntuples)]
        plan = "\n".join(lines)
        assert "Seq Scan on widerow_data" not in plan, plan
        assert "widerow_data_pkey" in plan, plan
    view._session = None
    session.close()


def test_the_doctor_looks_at_a_database(capsys: pytest.CaptureFixture[str]) -> None:
    url = fresh_url()
    with open_store(url) as store:
        engine = open_tablestore(store, FakeClock(), FakeEntropy(1))
        engine.core.run(engine.create_table("i", create("t", {"k": KeyType.STRING})))
        engine.core.run(engine.rows.write_row("i", put_row("t", {"k": "a"}, {"x": 1})))
    assert examine({"store": url, "as_json": True, "digest": False}) == 0
    with open_store(url) as store:
        lost = row_prefix(99) + b"a\x00\x01"
        store.transact((lost,), lambda txn: txn.put(lost, b"?"))
    assert (
        examine(
            {"store": url.replace("postgres@", "postgres:word@"), "as_json": True, "digest": False}
        )
        == 1
    )
    told = capsys.readouterr().out
    assert "of a table that the catalogue does not know" in told
    assert "word" not in told
