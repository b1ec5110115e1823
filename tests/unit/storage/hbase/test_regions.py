"""Finding the regions of a table, against servers in the test (storage/hbase/regions.py)."""

import socket
from collections.abc import Iterator, Sequence

import pytest
from tests.unit.storage.hbase.fake import FakeServer, Received, answer_frame, failure_frame

from widerow.errors import StorageFailure, StoreBusy, StoreHangs
from widerow.storage.hbase.greeting import ServerLost
from widerow.storage.hbase.messages import (
    Cell,
    GetMetaRegionLocationsResponse,
    RegionInfo,
    RegionLocation,
    Result,
    ScanRequest,
    ScanResponse,
    ServerName,
    TableName,
)
from widerow.storage.hbase.regions import Regions, Servers, refused_untouched, storage_failure
from widerow.storage.hbase.rpc import RemoteFailure


def row(start: bytes, stop: bytes, *, server: bytes = b"host:1", split: bool = False) -> Result:
    """What `hbase:meta` says of a region."""
    info = RegionInfo(
        region_id=1,
        table_name=TableName(namespace=b"default", qualifier=b"t"),
        start_key=start,
        end_key=stop,
        split=split,
    )
    name = b"t," + start + b",1.name."
    return Result(
        cell=[
            Cell(row=name, qualifier=b"regioninfo", value=b"PBUF" + info.SerializeToString()),
            Cell(row=name, qualifier=b"server", value=server),
        ]
    )


class Meta:
    """A server that has `hbase:meta`, and answers it in these parts."""

    def __init__(self, parts: Sequence[Sequence[Result]]) -> None:
        self.parts = parts
        self.reads = 0
        self.failures: list[str] = []
        self.server = FakeServer(self._serve)
        self.servers = Servers([self.server.address])
        self.regions = Regions(self.servers, "t")

    def _serve(self, server: FakeServer, connection: socket.socket) -> None:
        while True:
            call = server.receive(connection)
            if self.failures:
                connection.sendall(failure_frame(call.number, self.failures.pop()))
            else:
                connection.sendall(self._answer(call))

    def _answer(self, call: Received) -> bytes:
        host, port = self.server.address
        if call.method == "GetMetaRegionLocations":
            location = RegionLocation(server_name=ServerName(host_name=host, port=port))
            answer = GetMetaRegionLocationsResponse(meta_locations=[location])
            return answer_frame(call.number, answer)
        asked = ScanRequest.FromString(call.body)
        part = asked.scanner_id if asked.HasField("scanner_id") else 0
        self.reads += part == 0
        more = part + 1 < len(self.parts)
        found = ScanResponse(
            results=self.parts[part], more_results_in_region=more, scanner_id=part + 1
        )
        return answer_frame(call.number, found)

    def close(self) -> None:
        self.servers.close()
        self.server.close()


WHOLE = (row(b"", b"d"), row(b"d", b"dm"), row(b"dm", b""))


@pytest.fixture
def meta() -> Iterator[Meta]:
    made = Meta([WHOLE])
    yield made
    made.close()


def test_a_row_is_in_one_region(meta: Meta) -> None:
    of = meta.regions.of
    assert [of(name).start for name in (b"", b"c", b"d", b"dl", b"dm", b"z")] == [
        *(b"", b"", b"d", b"d", b"dm", b"dm")
    ]
    assert [of(name, below=True).start for name in (b"d", b"d\x00", b"dm", b"e")] == [
        *(b"", b"d", b"d", b"dm")
    ]
    assert all(of(name).has(name) for name in (b"", b"c", b"d", b"dl", b"dm", b"z"))
    assert meta.reads == 1
    assert set(meta.server.services) == {"ClientMetaService", "ClientService"}


def test_regions_are_read_again_when_they_are_forgotten(meta: Meta) -> None:
    assert meta.regions.of(b"dz").start == b"dm"
    meta.parts = [(row(b"", b"d"), row(b"d", b""))]
    assert meta.regions.of(b"dz").start == b"dm"
    meta.regions.forget()
    assert meta.regions.of(b"dz").start == b"d"


def test_an_answer_may_end_early_and_be_empty(meta: Meta) -> None:
    meta.parts = [(), WHOLE[:1], (), WHOLE[1:]]
    assert meta.regions.of(b"z").start == b"dm"


def test_regions_that_are_no_more_are_passed_over(meta: Meta) -> None:
    meta.parts = [(row(b"", b"", split=True), row(b"", b"d"), row(b"d", b""))]
    assert meta.regions.of(b"z").start == b"d"


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (row(b"", b"d"), row(b"dm", b"")),
        (row(b"", b"d"), row(b"d", b"dm", server=b""), row(b"dm", b"")),
        (row(b"dm", b""),),
        (row(b"", b"d"),),
    ],
)
def test_a_region_that_is_missing_is_not_used(meta: Meta, rows: Sequence[Result]) -> None:
    meta.parts = [rows]
    for name, below in ((b"dl", False), (b"dm", True), (b"dl", True)):
        with pytest.raises(StoreBusy, match="not all there"):
            meta.regions.of(name, below=below)
    with pytest.raises(StoreBusy, match="not all there"):
        meta.regions.all_now()


def test_other_regions_go_on_while_one_is_missing(meta: Meta) -> None:
    meta.parts = [(row(b"", b"d"), row(b"dm", b""))]
    assert meta.regions.of(b"z").start == b"dm"
    assert meta.regions.of(b"d", below=True).start == b""
    with pytest.raises(StoreBusy, match="not all there"):
        meta.regions.of(b"dl")
    meta.parts = [WHOLE]
    assert meta.regions.of(b"dl").start == b"d"  # it is looked for again
    assert [each.start for each in meta.regions.all_now()] == [b"", b"d", b"dm"]


def test_the_first_seed_that_answers_is_asked(meta: Meta) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        nobody = meta.server.address._replace(port=listener.getsockname()[1])
    servers = Servers([nobody, meta.server.address])
    assert Regions(servers, "t").of(b"z").start == b"dm"
    servers.close()
    with pytest.raises(ServerLost):
        Regions(Servers([nobody]), "t").of(b"z")


def test_a_failure_of_the_server_is_told(meta: Meta) -> None:
    meta.failures = ["org.apache.hadoop.hbase.exceptions.RegionMovedException"]
    with pytest.raises(RemoteFailure) as moved:
        meta.regions.of(b"z")
    assert refused_untouched(moved.value)
    assert isinstance(storage_failure(moved.value), StoreBusy)
    assert meta.regions.of(b"z").start == b"dm"


def test_closed_connections_are_not_opened_again(meta: Meta) -> None:
    meta.servers.close()
    with pytest.raises(StorageFailure, match="closed"):
        meta.regions.of(b"z")


@pytest.mark.parametrize(
    ("name", "busy", "untouched"),
    [
        ("NotServingRegionException", True, True),
        ("RegionTooBusyException", True, True),
        ("UnknownScannerException", True, False),
        ("RegionServerStoppedException", True, False),
        ("AccessDeniedException", False, False),
        ("NullPointerException", False, False),
    ],
)
def test_what_a_refusal_means(name: str, *, busy: bool, untouched: bool) -> None:
    error = RemoteFailure(f"org.apache.hadoop.hbase.{name}", "")
    assert isinstance(storage_failure(error), StoreBusy) is busy
    assert refused_untouched(error) is untouched


@pytest.mark.parametrize("hung", [False, True])
def test_a_server_that_hangs_is_told_from_one_that_is_gone(*, hung: bool) -> None:
    error = storage_failure(ServerLost("lost", sent=False, hung=hung))
    assert type(error) is (StoreHangs if hung else StoreBusy)


def test_regions_are_where_they_were_while_nobody_can_say_where_they_are(meta: Meta) -> None:
    """`hbase:meta` is away with its server; the regions of other servers go on."""
    before = meta.regions.of(b"dz")
    meta.failures = ["x.NotServingRegionException"] * 3
    meta.regions.forget()
    assert meta.regions.of(b"dz") == before
    with pytest.raises(RemoteFailure):
        meta.regions.all_now()
    meta.failures = []
    meta.parts = [(row(b"", b"d"), row(b"d", b""))]
    while meta.regions.of(b"dz") == before:  # asked again a moment later
        pass
    assert meta.regions.of(b"dz").start == b"d"
