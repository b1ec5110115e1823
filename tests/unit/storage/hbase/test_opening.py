"""Opening a store while no master is active (storage/hbase/table.py), against a server here."""

import asyncio
import socket
from collections.abc import Iterator, Mapping
from time import monotonic

import pytest
from tests.unit.storage.hbase.fake import FakeServer, Received, answer_frame, failure_frame
from tests.unit.storage.hbase.test_regions import row

from widerow.errors import StorageFailure, StoreAwaited, StoreBusy
from widerow.keys.layout import row_prefix
from widerow.server import lifecycle
from widerow.server.settings import Settings
from widerow.storage.hbase import table
from widerow.storage.hbase.messages import (
    BytesBytesPair,
    CoprocessorServiceResponse,
    GetActiveMasterResponse,
    GetMetaRegionLocationsResponse,
    GetTableDescriptorsRequest,
    GetTableDescriptorsResponse,
    MutateRowsResponse,
    NameBytesPair,
    RegionLocation,
    ScanRequest,
    ScanResponse,
    ServerName,
    TableName,
    TableSchema,
)
from widerow.storage.hbase.opening import open_hbase
from widerow.storage.hbase.table import SAFE_ATTRIBUTES
from widerow.storage.interface import Store

UNSAFE = SAFE_ATTRIBUTES | {b"DURABILITY": b"ASYNC_WAL"}
SHARD = row_prefix(7) + b"m\x00"
PATIENCE_SECONDS = 10.0  # of the test; the master is asked every few milliseconds


class SmallCluster:
    """A region server that has one table, and may be the master too."""

    def __init__(self, attributes: Mapping[bytes, bytes]) -> None:
        self.has_master = False
        self.names_ended_master = False
        self.has_table = True
        self.has_namespace = True
        self.scanned: list[bytes] = []
        self.named: list[TableName] = []
        self.attributes = attributes
        self.server = FakeServer(self._serve)
        host, port = self.server.address
        self.name = ServerName(host_name=host, port=port)
        self.url = f"hbase://{host}:{port}/t"

    def _serve(self, server: FakeServer, connection: socket.socket) -> None:
        while True:
            connection.sendall(self._answer(server.receive(connection)))

    def _answer(self, call: Received) -> bytes:
        answers = {
            "GetActiveMaster": self._master,
            "GetMetaRegionLocations": self._meta,
            "GetTableDescriptors": self._descriptors,
            "ExecService": self._changed,
            "Scan": self._regions,
        }
        if call.method == "CreateTable" and not self.has_namespace:
            return failure_frame(call.number, "org.apache.hadoop.hbase.NamespaceNotFoundException")
        if call.method == "Scan":
            self.scanned.append(ScanRequest.FromString(call.body).scan.start_row)
        if call.method == "GetTableDescriptors":
            self.named += GetTableDescriptorsRequest.FromString(call.body).table_names
        return answer_frame(call.number, answers[call.method]())

    def _master(self) -> GetActiveMasterResponse:
        name = self.name if self.has_master else ServerName(host_name="", port=0)
        if self.names_ended_master:
            name = ServerName(host_name="127.0.0.1", port=1)
        return GetActiveMasterResponse(server_name=name)

    def _meta(self) -> GetMetaRegionLocationsResponse:
        location = RegionLocation(server_name=self.name)
        return GetMetaRegionLocationsResponse(meta_locations=[location])

    def _descriptors(self) -> GetTableDescriptorsResponse:
        pairs = [BytesBytesPair(first=k, second=v) for k, v in self.attributes.items()]
        name = TableName(namespace=b"default", qualifier=b"t")
        if not self.has_table:
            return GetTableDescriptorsResponse()
        return GetTableDescriptorsResponse(
            table_schema=[TableSchema(table_name=name, attributes=pairs)]
        )

    def _changed(self) -> CoprocessorServiceResponse:
        value = MutateRowsResponse(processed=True).SerializeToString()
        return CoprocessorServiceResponse(value=NameBytesPair(name="", value=value))

    def _regions(self) -> ScanResponse:
        at = str(self.server.address).encode()
        rows = [row(b"", b"d", server=at), row(b"d", b"", server=at)]
        return ScanResponse(results=rows if self.has_table else [])


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(table, "_LATE_SECONDS", 0.01)


@pytest.fixture
def cluster() -> Iterator[SmallCluster]:
    made = SmallCluster(SAFE_ATTRIBUTES)
    yield made
    made.server.close()


def test_nothing_is_put_off_where_there_is_a_master(cluster: SmallCluster) -> None:
    cluster.has_master = True
    with open_hbase(cluster.url) as store:
        assert store.put_off == ""


def test_a_table_that_is_there_is_opened_without_a_master(cluster: SmallCluster) -> None:
    """docs/operating/cluster.md: what only a master knows is looked up when there is one."""
    with open_hbase(cluster.url) as store:
        assert "no master" in store.put_off
        store.transact((SHARD,), lambda txn: txn.put(SHARD, b"v"))
        cluster.has_master = True
        store.transact((SHARD,), lambda txn: txn.put(SHARD, b"w"))


def test_a_table_that_turns_out_not_to_be_safe_takes_no_writes(cluster: SmallCluster) -> None:
    cluster.attributes = UNSAFE
    with open_hbase(cluster.url) as store:
        store.transact((SHARD,), lambda txn: txn.put(SHARD, b"v"))
        cluster.has_master = True
        refused = until_refused(store)
        assert "set its DURABILITY to FSYNC_WAL" in str(refused)
        assert not isinstance(refused, StoreBusy)
        assert store.snapshot().get(SHARD) is None  # it reads


def until_refused(store: Store) -> StorageFailure:
    deadline = monotonic() + PATIENCE_SECONDS
    while monotonic() < deadline:
        try:
            store.transact((SHARD,), lambda txn: txn.put(SHARD, b"w"))
        except StorageFailure as error:
            return error
    raise AssertionError("writes are taken all the time")


def test_a_table_that_is_not_there_takes_a_master(cluster: SmallCluster) -> None:
    cluster.has_table = False
    with pytest.raises(StoreAwaited, match="no master that could make the table t,"):
        open_hbase(cluster.url)
    cluster.names_ended_master = True  # a region server names it until ZooKeeper misses it
    with pytest.raises(StoreAwaited, match=r"start a master \(.*127\.0\.0\.1:1"):
        open_hbase(cluster.url)


def test_a_server_waits_for_a_master_and_says_so(
    cluster: SmallCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """docs/operating/cluster.md: a table that is not there takes a master."""
    monkeypatch.setattr(lifecycle, "STORE_AWAITED_PAUSE_SECONDS", 0.01)
    monkeypatch.setattr(table, "_PROCEDURE_PAUSE_SECONDS", 0.01)
    caplog.set_level("INFO")
    cluster.has_table = False
    server = lifecycle.Server(Settings(store=cluster.url))

    async def work() -> None:
        opening = asyncio.create_task(server._await_store())
        async with asyncio.timeout(PATIENCE_SECONDS):
            while caplog.messages.count("the store is waited for") < 2:  # noqa: ASYNC110  # its log
                await asyncio.sleep(0.01)
            assert not opening.done()
            cluster.has_master = cluster.has_table = True
            (await opening).close()

    asyncio.run(work())
    assert caplog.messages[-1] == "the store is open"


def test_a_signal_ends_the_wait_for_a_master(cluster: SmallCluster) -> None:
    cluster.has_table = False

    async def work() -> None:
        server = lifecycle.Server(Settings(store=cluster.url))
        opening = asyncio.create_task(server._await_store())
        await asyncio.sleep(0)
        server.stop_waiting()
        with pytest.raises(StoreAwaited):
            await opening

    asyncio.run(work())


def test_a_server_does_not_wait_where_nobody_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "STORE_AWAITED_PAUSE_SECONDS", 3600)
    server = lifecycle.Server(Settings(store="hbase://127.0.0.1:1/t"))
    with pytest.raises(StoreBusy, match=r"127\.0\.0\.1:1"):
        asyncio.run(server._await_store())


def test_a_table_that_is_not_safe_is_refused_by_a_master(cluster: SmallCluster) -> None:
    cluster.has_master, cluster.attributes = True, UNSAFE
    with pytest.raises(StorageFailure, match="set its DURABILITY"):
        open_hbase(cluster.url)


@pytest.mark.parametrize(
    ("name", "namespace", "table", "regions"),
    [
        ("t", b"default", b"t", b"t"),
        ("default:t", b"default", b"t", b"t"),
        ("team:t.x-y", b"team", b"t.x-y", b"team:t.x-y"),
    ],
)
def test_a_url_may_name_a_namespace(
    cluster: SmallCluster, name: str, namespace: bytes, table: bytes, regions: bytes
) -> None:
    """Regions are called after their table, with its namespace unless that is the default one."""
    with open_hbase(cluster.url.removesuffix("t") + name):
        assert cluster.scanned == [regions + b",,"]
        assert {(each.namespace, each.qualifier) for each in cluster.named} <= {(namespace, table)}


@pytest.mark.parametrize("name", [":t", "a-b:t", "a:b:c", "a:", "", "a/b"])
def test_a_url_with_another_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not hbase://"):
        open_hbase(f"hbase://host:1/{name}")


def test_a_namespace_that_is_not_there_is_named(cluster: SmallCluster) -> None:
    cluster.has_master, cluster.has_table, cluster.has_namespace = True, False, False
    with pytest.raises(StorageFailure, match="no namespace team: make it"):
        open_hbase(cluster.url.removesuffix("t") + "team:t")
