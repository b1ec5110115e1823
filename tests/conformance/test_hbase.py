"""What only HBase does: it flushes, compacts and splits, and its tables can be made by others."""

from collections.abc import Iterator
from time import monotonic
from typing import Final

import pytest
from google.protobuf.message import Message
from tests import hbase

from widerow.engine.intents import IntentKind, IntentQueue
from widerow.errors import OutcomeUnknown, StorageFailure, StoreBusy, ViewLost
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_INTENTS, revision_key, row_prefix
from widerow.rows.fields import field
from widerow.storage.hbase.driver import HBaseDriver
from widerow.storage.hbase.greeting import Address
from widerow.storage.hbase.messages import (
    BytesBytesPair,
    ColumnFamilySchema,
    CreateTableRequest,
    CreateTableResponse,
    MutateRowsResponse,
    RegionInfo,
    ScanRequest,
    TableName,
    TableSchema,
)
from widerow.storage.hbase.opening import open_driver, open_hbase
from widerow.storage.hbase.regions import MovePauses, Region
from widerow.storage.hbase.requests import change_nothing
from widerow.storage.hbase.rows import row_of
from widerow.storage.hbase.rpc import PendingCall, RpcConnection
from widerow.storage.interface import Transaction, Write
from widerow.storage.opener import open_store
from widerow.storage.page import PageWanted
from widerow.storage.remote.driver import ShardChange
from widerow.storage.remote.optimistic import OptimisticStore
from widerow.testing.clock import FakeClock, FakeEntropy

pytestmark = [pytest.mark.night, pytest.mark.timeout(hbase.START_SECONDS)]

MOVED_SECONDS_MAX: Final = 5.0  # a patient read waits so long
TABLE: Final = row_prefix(7)
SHARD: Final = TABLE + b"m\x00\x01"
REVISION: Final = revision_key(SHARD)
NAMES: Final = [SHARD + b"%03d" % number for number in range(60)]


@pytest.fixture
def driver() -> Iterator[HBaseDriver]:
    opened = open_driver(hbase.fresh_url())
    yield opened
    opened.close()


def region_of(driver: HBaseDriver, key: bytes) -> Region:
    return driver._regions.of(row_of(key)[0])


def administer(driver: HBaseDriver, method: str, region: Region) -> None:
    """Ask the server of a region to do something with it.

    The messages of administration are not among ours. One that names a region alone is made of the
    same bytes as a request for a scan that does.
    """
    connection = driver._regions.servers.connection(region.address, "AdminService")
    connection.send(method, ScanRequest(region=region.specifier))._future.result(30)


def split(driver: HBaseDriver, key: bytes) -> None:
    """Split the region of a key at its row, and wait until both halves are there."""
    region, row = region_of(driver, key), row_of(key)[0]
    master = driver._regions.servers.connection(Address(*hbase.server().master), "MasterService")
    name, _, number = region.name.partition(b",")[0], *region.name.rpartition(b",")[1:]
    info = RegionInfo(
        region_id=int(number.partition(b".")[0]),
        table_name=TableName(namespace=b"default", qualifier=name),
        start_key=region.start,
        end_key=region.stop,
    )
    pair = BytesBytesPair(first=info.SerializeToString(), second=row)  # as SplitTableRegionRequest
    master.send("SplitRegion", pair)._future.result(30)
    pauses = MovePauses(30)
    while True:
        driver._regions.forget()
        try:
            if region_of(driver, key).start == row:
                return
        except StoreBusy:
            pass  # neither is there yet
        assert pauses.rest(), "the region was not split"


def change(
    revision: bytes, expected: bytes | None, puts: dict[bytes, bytes], **more: object
) -> ShardChange:
    return ShardChange(REVISION, expected, revision, puts, **more)  # type: ignore[arg-type]  # what a test hands on


# --- views ----------------------------------------------------------------------------------------


def test_a_view_does_not_move_when_its_region_is_flushed_and_compacted(driver: HBaseDriver) -> None:
    driver.commit([change(b"1", None, dict.fromkeys(NAMES, b"old"))])
    view = driver.view()
    assert view.read_many([REVISION, NAMES[0]]) == [b"1", b"old"]
    for turn in (2, 3, 4):
        puts = dict.fromkeys(NAMES[:30], b"%d" % turn)
        deletes = NAMES[30:]
        expected = b"%d" % (turn - 1)
        assert not driver.commit([change(b"%d" % turn, expected, puts, deletes=deletes)])
        administer(driver, "FlushRegion", region_of(driver, SHARD))
        administer(driver, "CompactRegion", region_of(driver, SHARD))
        assert view.read_many([REVISION, *NAMES]) == [b"1", *[b"old"] * 60]
        for reverse in (False, True):
            page = view.read_page(SHARD, after_prefix(SHARD), 100, reverse=reverse)
            assert page.pairs == [(n, b"old") for n in sorted(NAMES, reverse=reverse)]
    view.close()
    assert driver.view().read_many([NAMES[0], NAMES[59]]) == [b"4", None]


def test_a_view_whose_moment_is_lost_says_so(driver: HBaseDriver) -> None:
    """A split closes the region, and with it what kept the moment."""
    driver.commit([change(b"1", None, {NAMES[0]: b"old"})])
    view = driver.view()
    assert view.read_many([NAMES[0]]) == [b"old"]
    split(driver, SHARD)
    for _ in range(2):
        with pytest.raises(StoreBusy, match="view was lost"):
            view.read_many([NAMES[0]])
    assert driver.view().read_many([NAMES[0]]) == [b"old"]


def test_a_server_is_asked_for_room_behind_many_bytes(
    driver: HBaseDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And nothing is changed by that, in a region without a lower bound neither."""
    asked: list[PendingCall] = []
    send = RpcConnection.send

    def sent(self: RpcConnection, method: str, request: Message) -> PendingCall:
        call = send(self, method, request)
        if method == "Mutate":
            asked.append(call)
        return call

    monkeypatch.setattr(RpcConnection, "send", sent)
    driver.commit([change(b"1", None, dict.fromkeys(NAMES[:5], bytes(1024 * 1024)))])
    (call,) = asked
    answer = call.answer(MutateRowsResponse)  # the field of `MutateResponse` is another one
    assert answer.SerializeToString() == b"\x10\x00", "nothing was removed"
    first = driver._regions.of(b"0")
    assert not first.start
    connection = driver._regions.servers.connection(first.address)
    answer = connection.call("Mutate", change_nothing(first), MutateRowsResponse)
    assert answer.SerializeToString() == b"\x10\x00"
    assert not driver.commit([change(b"2", b"1", {})])


def test_a_row_or_a_page_is_one_call(driver: HBaseDriver, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what follows belongs to it, or is refused, whatever is flushed between."""
    store = OptimisticStore(driver)
    driver.commit([change(b"1", None, dict.fromkeys(NAMES, b"old"))])
    calls: list[str] = []
    send = RpcConnection.send

    def sent(self: RpcConnection, method: str, request: Message) -> PendingCall:
        calls.append(method)
        return send(self, method, request)

    monkeypatch.setattr(RpcConnection, "send", sent)
    assert store.brief_snapshot().get(NAMES[0]) == b"old"
    assert store.get_together(NAMES) == [b"old"] * 60
    assert len(list(store.brief_snapshot(61).scan(SHARD, after_prefix(SHARD)))) == 60
    assert calls == ["Scan"] * 3
    view = store.brief_snapshot()
    assert view.get_many(NAMES[:2]) == [b"old", b"old"]
    administer(driver, "FlushRegion", region_of(driver, SHARD))
    assert view.get_many(NAMES[1:3]) == [b"old", b"old"]
    driver.commit([change(b"2", b"1", dict.fromkeys(NAMES[:30], b"new"), deletes=NAMES[30:])])
    administer(driver, "FlushRegion", region_of(driver, SHARD))
    administer(driver, "CompactRegion", region_of(driver, SHARD))
    assert view.get_many(NAMES) == [b"old"] * 60
    late = store.brief_snapshot()
    assert late.get(NAMES[0]) == b"new"
    driver.commit([change(b"3", b"2", {NAMES[0]: b"newer"})])
    administer(driver, "FlushRegion", region_of(driver, SHARD))
    with pytest.raises(ViewLost):
        late.get(NAMES[1])


def test_the_intents_of_a_group_are_one_call(
    driver: HBaseDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Beside one that opens a view, one of keys, and the commit, however many shards there are."""
    calls: list[str] = []
    send = RpcConnection.send

    def sent(self: RpcConnection, method: str, request: Message) -> PendingCall:
        calls.append(method)
        return send(self, method, request)

    queue = IntentQueue(FakeClock(), FakeEntropy(1))
    shards = [TABLE + b"%03d\x00" % number for number in range(100)]

    def leave(shard: bytes) -> Write[int]:
        def body(txn: Transaction) -> int:
            return queue.leave(txn, shard, IntentKind.ENTRIES, b"")

        return Write((shard, SPACE_INTENTS + shard[1:]), body)

    store = OptimisticStore(driver)
    monkeypatch.setattr(RpcConnection, "send", sent)
    for number in range(1, 4):
        calls.clear()
        outcomes = store.transact_group([leave(shard) for shard in shards])
        assert [each.error for each in outcomes] == [None] * 100
        # the view, the keys, the intents; on a busy machine the view is proven meanwhile
        assert 3 <= calls.count("Scan") <= 8
        assert calls.count("ExecService") == 1
        prefixes = [SPACE_INTENTS + shard[1:] for shard in shards]
        wanted = [PageWanted(each, after_prefix(each), 16, number % 2 == 0) for each in prefixes]
        pages = store.get_pages_together(wanted)
        assert [len(page.pairs) for page in pages] == [number] * 100
        for each, page in zip(wanted, pages, strict=True):
            found = driver.read_page(each.start, each.stop, 16, reverse=each.reverse)
            assert found == page


def test_whoever_reads_together_waits_for_no_region(
    driver: HBaseDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.commit([change(b"1", None, {NAMES[0]: b"v"})])
    elsewhere = region_of(driver, SHARD)._replace(name=b"gone,,1")
    monkeypatch.setattr(driver._regions, "of", lambda _: elsewhere)
    began = monotonic()
    with pytest.raises(StoreBusy):
        driver.read_many([NAMES[0]], patient=False)
    assert monotonic() - began < MOVED_SECONDS_MAX / 2


# --- commits --------------------------------------------------------------------------------------


def test_what_was_deleted_can_be_put_again_at_once(driver: HBaseDriver) -> None:
    """HBase hides puts that are not newer than a removal, however much later they come."""
    expected: bytes | None = None
    for turn in range(40):
        revision, is_put = b"%d" % turn, turn % 2 == 0
        puts = {NAMES[0]: revision} if is_put else {}
        deletes = () if is_put else (NAMES[0],)
        assert not driver.commit([change(revision, expected, puts, deletes=deletes)])
        assert driver.view().read_many([NAMES[0]]) == [revision if is_put else None]
        expected = revision


def test_a_clock_that_goes_back_makes_nothing_older(
    driver: HBaseDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.commit([change(b"1", None, dict.fromkeys(NAMES[:3], b"old"))])
    monkeypatch.setattr("widerow.storage.hbase.driver.time_ns", lambda: 10**9)
    for turn, writer in enumerate((driver, HBaseDriver(driver._regions), driver), 2):
        puts, deletes = {NAMES[0]: b"%d" % turn}, (NAMES[turn - 1],) if turn < 4 else ()
        assert not writer.commit([change(b"%d" % turn, b"%d" % (turn - 1), puts, deletes=deletes)])
    assert driver.view().read_many(NAMES[:3]) == [b"4", None, None]


def test_a_commit_that_comes_after_a_fence_changes_nothing(
    driver: HBaseDriver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The layer looks up a commit without an answer, and what was lost arrives later."""
    store = OptimisticStore(driver)
    late: list[tuple[Region, Message]] = []
    store.transact((SHARD,), lambda txn: txn.put(NAMES[0], b"1"))
    made = HBaseDriver._made

    def lose(self: HBaseDriver, region: Region, request: Message) -> bool:
        if not late:
            late.append((region, request))
            raise OutcomeUnknown("lost on its way")
        return made(self, region, request)  # type: ignore[arg-type]  # what a test hands on

    monkeypatch.setattr(HBaseDriver, "_made", lose)
    store.transact((SHARD,), lambda txn: txn.put(NAMES[0], (txn.get(NAMES[0]) or b"") + b"2"))
    assert made(driver, *late[0]) is False  # type: ignore[arg-type]  # what a test hands on
    assert store.snapshot().get(NAMES[0]) == b"12"
    assert store.statistics()["unknown"] == 1


# --- regions --------------------------------------------------------------------------------------


def test_a_group_is_one_call_for_each_region(driver: HBaseDriver) -> None:
    store = OptimisticStore(driver)
    shards = [TABLE + b"%c\0" % letter for letter in b"abcxyz"]
    split(driver, SHARD)

    def group() -> list[Write[None]]:
        return [
            Write((shard,), lambda txn, name=shard: txn.put(name + b"k", b"v"))  # type: ignore[misc]  # a default that is never given
            for shard in shards
        ]

    assert all(outcome.error is None for outcome in store.transact_group(group()))
    assert store.statistics()["commits"] == 2
    keys = [name for name, _ in store.snapshot().scan(TABLE, after_prefix(TABLE))]
    assert keys == [shard + b"k" for shard in shards]
    backwards = store.snapshot().scan(TABLE, after_prefix(TABLE), reverse=True)
    assert [name for name, _ in backwards] == keys[::-1]


def test_a_whole_table_is_removed_from_all_its_regions(driver: HBaseDriver) -> None:
    store = OptimisticStore(driver)
    shards = [TABLE + b"%c\0" % letter for letter in b"axz"]
    beside = row_prefix(8) + b"a\0"
    for shard in (*shards, beside):
        store.transact((shard,), lambda txn, name=shard: txn.put(name, b"v"))  # type: ignore[misc]  # a default that is never given
    split(driver, SHARD)
    store.transact((TABLE,), lambda txn: txn.delete_range(TABLE, after_prefix(TABLE)))
    revisions = [revision_key(shard) for shard in (*shards, beside)]
    left = driver.view().read_many([*shards, beside, *revisions])
    assert [value is None for value in left] == [True, True, True, False] * 2


def test_a_shard_that_is_cut_is_not_changed_in_halves(driver: HBaseDriver) -> None:
    store = OptimisticStore(driver)
    driver.commit([change(b"1", None, dict.fromkeys(NAMES, b"v"))])
    split(driver, NAMES[30])
    with pytest.raises(StorageFailure, match="merge the two regions"):
        store.transact((SHARD,), lambda txn: txn.delete_range(SHARD, after_prefix(SHARD)))
    assert len(list(store.snapshot().scan(SHARD, after_prefix(SHARD)))) == 60


# --- opening --------------------------------------------------------------------------------------


def test_a_store_is_found_again() -> None:
    url = hbase.fresh_url()
    with open_store(url) as store:
        store.transact((SHARD,), lambda txn: txn.put(NAMES[0], b"v"))
    host, _, rest = url.partition("//")[2].partition(":")
    seeds = f"hbase://{host}:1,{host}:{rest}"
    with open_store(seeds) as store:
        assert store.snapshot().get(NAMES[0]) == b"v"


@pytest.mark.parametrize(
    ("attributes", "told"),
    [
        ({b"DURABILITY": b"ASYNC_WAL"}, "set its DURABILITY to FSYNC_WAL"),
        ({b"DURABILITY": b"FSYNC_WAL"}, "set its MAX_FILESIZE"),
        (
            {b"DURABILITY": b"FSYNC_WAL", b"MAX_FILESIZE": b"%d" % 2**60},
            "no MultiRowMutationEndpoint",
        ),
    ],
)
def test_a_table_that_is_not_safe_is_refused(attributes: dict[bytes, bytes], told: str) -> None:
    url = hbase.fresh_url()
    with open_store(hbase.fresh_url()) as store:
        assert isinstance(store, OptimisticStore)
        assert isinstance(store._driver, HBaseDriver)
        servers = store._driver._regions.servers
        master = servers.connection(Address(*hbase.server().master), "MasterService")
        schema = TableSchema(
            table_name=TableName(namespace=b"default", qualifier=url.rpartition("/")[2].encode()),
            attributes=[BytesBytesPair(first=k, second=v) for k, v in attributes.items()],
            column_families=[ColumnFamilySchema(name=b"w")],
        )
        master.call("CreateTable", CreateTableRequest(table_schema=schema), CreateTableResponse)
    with pytest.raises(StorageFailure, match=told):
        open_hbase(url)


@pytest.mark.parametrize(
    "url",
    ["hbase://", "hbase://host/table", "hbase://host:1", "hbase://host:1/", "hbase://host:1/a/b"],
)
def test_a_url_names_servers_and_a_table(url: str) -> None:
    with pytest.raises(ValueError, match=r"HOST:PORT\[,HOST:PORT\]/\[NAMESPACE:\]TABLE"):
        open_hbase(url)


def test_a_cluster_that_is_not_there() -> None:
    with pytest.raises(StoreBusy):
        open_hbase("hbase://127.0.0.1:1/table")


def driver_of_namespace(url: str) -> HBaseDriver | None:
    try:
        return open_driver(url)
    except StorageFailure as error:
        if "no namespace" not in str(error):
            raise
        return None


def test_a_table_may_stand_in_a_namespace() -> None:
    """docs/operating/cluster.md, HBase: partitions are regions there as well."""
    base, _, name = hbase.fresh_url().rpartition("/")
    with pytest.raises(StorageFailure, match="no namespace team"):
        open_driver(f"{base}/team:{name}")
    with open_store(f"{base}/{name}") as plain:
        plain.transact((SHARD,), lambda txn: txn.put(SHARD, b"plain"))
    seeds = open_driver(f"{base}/{name}")
    named = field(b"\x0a", field(b"\x0a", b"team"))  # a CreateNamespaceRequest
    seeds._regions.servers.master().call("CreateNamespace", named, CreateTableResponse)
    seeds.close()
    pauses = MovePauses(60)
    while (opened := driver_of_namespace(f"{base}/team:{name}")) is None:
        assert pauses.rest(), "the master makes a namespace in steps of its own"
    store = OptimisticStore(opened)
    store.transact((SHARD,), lambda txn: txn.put(SHARD, b"named"))
    number = opened.placement.begin_split(SHARD)
    assert number is not None
    pauses = MovePauses(60)
    while not opened.placement.has_ended(number):
        assert pauses.rest()
    assert len(opened.placement.ranges()) == 2
    assert store.snapshot().get(SHARD) == b"named"
    with open_store(f"{base}/{name}") as plain:
        assert plain.snapshot().get(SHARD) == b"plain"
    store.close()
