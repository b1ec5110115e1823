"""Regions of a table that are split, merged and moved, as an administrator would.

A region is split only at a row where a partition key value begins, and only its neighbour is merged
with it: what widerow relies on (docs/operating/cluster.md) is kept.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from random import Random  # noqa: TID251  # seeded: which regions are chosen must repeat
from time import monotonic, sleep
from typing import Final, TypeVar

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass

from widerow.errors import StoreBusy
from widerow.keys.layout import SPACE_REVISIONS
from widerow.storage.hbase.greeting import Address, ServerLost
from widerow.storage.hbase.messages import (
    CreateTableResponse,
    GetProcedureResultRequest,
    GetProcedureResultResponse,
    RegionInfo,
    RegionSpecifier,
    ScanResponse,
    TableName,
)
from widerow.storage.hbase.regions import CLIENT, Region, Regions, Servers
from widerow.storage.hbase.requests import RangeRead, close_scanner, scan_range
from widerow.storage.hbase.rows import DATA, RowSpan
from widerow.storage.hbase.rpc import RemoteFailure

__all__ = ["REFUSALS", "RegionKeeper"]

REFUSALS: Final = (RemoteFailure, ServerLost, StoreBusy)
"""What is raised while servers die: the change was not made, or nobody knows."""

Answer = TypeVar("Answer", bound=Message)

_MASTER: Final = "MasterService"
_ENCODED_NAME: Final = 2  # a kind of `RegionSpecifier`
_RUNNING: Final = 1  # a state of a procedure
_PAUSE_SECONDS: Final = 0.05
_DONE_SECONDS_MAX: Final = 60  # a split takes one second, with a server that is dying twenty
_SPREAD_SECONDS_MAX: Final = 60
_ROWS_LOOKED_AT: Final = 5000  # where a split may be
_BYTES: Final = FieldDescriptorProto.TYPE_BYTES
_FIELDS: Final = {
    "MoveRegionRequest": (("region", 1, _BYTES),),
    "SplitTableRegionRequest": (("region_info", 1, _BYTES), ("split_row", 2, _BYTES)),
    "MergeTableRegionsRequest": (
        *(("region", 1, _BYTES), ("forcible", 3, FieldDescriptorProto.TYPE_BOOL)),
    ),
    "MoveRegionResponse": (),
}


def _message_types() -> dict[str, type[Message]]:
    """The messages of administration. A message inside one stands there as its bytes."""
    file = FileDescriptorProto(name="administration.proto", syntax="proto2")
    for name, fields in _FIELDS.items():
        described = DescriptorProto(name=name)
        for field, number, kind in fields:
            label = FieldDescriptorProto.LABEL_OPTIONAL
            if name.startswith("Merge") and field == "region":
                label = FieldDescriptorProto.LABEL_REPEATED
            described.field.add(name=field, number=number, type=kind, label=label)
        file.message_type.append(described)
    pool = DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return {name: GetMessageClass(pool.FindMessageTypeByName(name)) for name in _FIELDS}


_TYPES: Final = _message_types()


class RegionKeeper:
    """The regions of one table of a cluster."""

    def __init__(self, master: tuple[str, int], table: str) -> None:
        self._master = Address(*master)
        self._table = table
        self._servers = Servers([self._master])
        self._regions = Regions(self._servers, table)

    def close(self) -> None:
        """Close every connection."""
        self._servers.close()

    def regions(self) -> list[Region]:
        """All of them, in order, as `hbase:meta` has them now. Raises one of `REFUSALS`."""
        self._regions.forget()
        return list(self._walk())

    def _walk(self) -> Iterator[Region]:
        region = self._regions.of(b"")
        yield region
        while region.stop:
            region = self._regions.of(region.stop)
            yield region

    def data(self) -> list[Region]:
        """Those that have rows of tables. Raises one of `REFUSALS`."""
        return [each for each in self.regions() if each.start >= DATA]

    def serves(self) -> bool:
        """Whether a master is there, and every region answers."""
        try:
            asked = GetProcedureResultRequest(proc_id=0)  # there is none, and the master says so
            self._ask("getProcedureResult", asked, GetProcedureResultResponse)
            for region in self.data():
                self._scanned(region, 1)
        except REFUSALS:
            return False
        return True

    # --- changes -----------------------------------------------------------------------------

    def move(self, random: Random) -> str:
        """Move a region to another server, which the master draws; what was done.

        Raises one of `REFUSALS`.
        """
        region = random.choice(self.regions())
        self._move(region)
        return f"{_encoded(region).decode()} leaves {region.address}"

    def _move(self, region: Region) -> None:
        specified = RegionSpecifier(type=_ENCODED_NAME, value=_encoded(region))
        request = _made("MoveRegionRequest", region=specified.SerializeToString())
        self._ask("MoveRegion", request, _TYPES["MoveRegionResponse"])

    def split(self, random: Random) -> str:
        """Split a region where a partition key value begins; what was done.

        Raises one of `REFUSALS`, also where there is nothing to split.
        """
        places = [(each, row) for each in self.data() for row in self._bounds(each)]
        if not places:
            raise StoreBusy("no region has two partition key values")
        return self.split_at(*random.choice(places))

    def split_at(self, region: Region, row: bytes) -> str:
        """Split that region at that row, and wait for it. Raises one of `REFUSALS`."""
        info = RegionInfo(
            region_id=int(region.name.rpartition(b",")[2].partition(b".")[0]),
            table_name=TableName(namespace=b"default", qualifier=self._table.encode()),
            start_key=region.start,
            end_key=region.stop,
        )
        request = _made(
            "SplitTableRegionRequest", region_info=info.SerializeToString(), split_row=row
        )
        self._await(self._ask("SplitRegion", request, CreateTableResponse).proc_id)
        return f"{_encoded(region).decode()} is cut at {row!r}"

    def merge(self, random: Random) -> str:
        """Merge two neighbours, and wait for it; what was done.

        Raises one of `REFUSALS`, also where there is nothing to merge.
        """
        regions = self.data()
        if len(regions) < 2:
            raise StoreBusy("there is one region only")
        first = random.randrange(len(regions) - 1)
        both = regions[first : first + 2]
        names = [RegionSpecifier(type=_ENCODED_NAME, value=_encoded(each)) for each in both]
        request = _made(
            "MergeTableRegionsRequest",
            region=[each.SerializeToString() for each in names],
            forcible=False,
        )
        self._await(self._ask("MergeTableRegions", request, CreateTableResponse).proc_id)
        return " and ".join(_encoded(each).decode() for each in both) + " become one"

    def spread(self, parts: int) -> None:
        """Cut the data into up to so many regions, and move each of them once.

        A new region cannot be split again before it was compacted and nobody reads its former files
        any more. So this stops with fewer regions where that takes long.
        """
        deadline = monotonic() + _SPREAD_SECONDS_MAX
        while monotonic() < deadline:
            with suppress(*REFUSALS):
                bounds = {each: self._bounds(each) for each in self.data()}
                if len(bounds) >= parts or not any(bounds.values()):
                    break
                self._split_one_of(bounds)
            sleep(_PAUSE_SECONDS)
        with suppress(*REFUSALS):
            for region in self.data():
                self._move(region)

    def _split_one_of(self, bounds: Mapping[Region, Sequence[bytes]]) -> None:
        """Cut one of these regions in the middle: the fullest that lets itself be cut."""
        for region, rows in sorted(bounds.items(), key=lambda each: -len(each[1])):
            with suppress(*REFUSALS):
                if rows:
                    self.split_at(region, rows[len(rows) // 2])
                    return

    def _bounds(self, region: Region) -> list[bytes]:
        """Rows inside a region at which a partition key value begins.

        The row of its revision is its bytes and one more (`revision_key`); others may be before it.
        """
        answer = self._scanned(region, _ROWS_LOOKED_AT)
        rows = [result.cell[0].row[:-1] for result in answer.results]
        return [row for row in rows if row > max(region.start, DATA)]

    def _scanned(self, region: Region, rows_max: int) -> ScanResponse:
        """What the first revisions of a region are."""
        span = RowSpan(SPACE_REVISIONS, max(region.start, DATA), region.stop or b"\xff")
        asked = RangeRead(rows_max, 1 << 20, reverse=False, keys_only=True)
        connection = self._servers.connection(region.address, CLIENT)
        answer = connection.call("Scan", scan_range(region, span, asked, 0), ScanResponse)
        if answer.scanner_id:
            connection.call("Scan", close_scanner(answer.scanner_id), ScanResponse)
        return answer

    # --- the master --------------------------------------------------------------------------

    def _ask(self, method: str, request: Message, kind: type[Answer]) -> Answer:
        return self._servers.connection(self._master, _MASTER).call(method, request, kind)

    def _await(self, procedure: int) -> None:
        asked = GetProcedureResultRequest(proc_id=procedure)
        deadline = monotonic() + _DONE_SECONDS_MAX
        while monotonic() < deadline:
            result = self._ask("getProcedureResult", asked, GetProcedureResultResponse)
            if result.HasField("exception"):
                raise StoreBusy(f"the master did not make the change: {result.exception!r}")
            if result.state != _RUNNING:
                return
            sleep(_PAUSE_SECONDS)
        raise StoreBusy(f"the master does not end the change within {_DONE_SECONDS_MAX} s")


def _made(name: str, **fields: object) -> Message:
    return _TYPES[name](**fields)


def _encoded(region: Region) -> bytes:
    """The last part of the name of a region, by which the master knows it."""
    return region.name.rstrip(b".").rpartition(b".")[2]
