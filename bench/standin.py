"""A stand-in for HBase that answers from memory: `python -m bench.standin`.

It speaks as much of HBase's protocol as the driver asks for, keeps one region and nothing on a
disk, and forgets what a scanner was to keep: views are not kept apart from later changes. So it is
good for one question only: what servers cost when the store is not the limit (`cluster.py`). The
first line that it prints is the URL of an empty store.
"""

import asyncio
import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, Final

import uvloop
from google.protobuf.message import Message
from sortedcontainers import SortedDict

from widerow.storage.hbase.messages import (
    BinaryComparator,
    BytesBytesPair,
    Cell,
    CoprocessorServiceRequest,
    CoprocessorServiceResponse,
    GetActiveMasterResponse,
    GetMetaRegionLocationsResponse,
    GetTableDescriptorsRequest,
    GetTableDescriptorsResponse,
    MultiRowRangeFilter,
    MutateRowsRequest,
    MutateRowsResponse,
    MutationProto,
    NameBytesPair,
    RegionInfo,
    RegionLocation,
    RequestHeader,
    ResponseHeader,
    Result,
    Scan,
    ScanRequest,
    ScanResponse,
    ServerName,
    TableSchema,
)
from widerow.storage.hbase.table import SAFE_ATTRIBUTES

__all__ = ["StandIn", "main"]

_HOST: Final = "127.0.0.1"
_TABLE: Final = b"standin"
_META: Final = b"hbase:meta,,1"
_MAGIC: Final = b"PBUF"
_PREAMBLE_BYTES: Final = 6
_LENGTH: Final = struct.Struct("!I")
_PUT: Final = 2
_LAST: Final = b"\xff" * 64


class StandIn:
    """The data, and the answer to each method."""

    def __init__(self) -> None:
        self.port = 0
        self._rows: Any = SortedDict()  # row -> qualifier -> (timestamp, value)
        self._scanners = 0
        self.methods: Mapping[str, Callable[[bytes], Message]] = {
            "GetActiveMaster": lambda _: GetActiveMasterResponse(server_name=self._server()),
            "GetMetaRegionLocations": lambda _: GetMetaRegionLocationsResponse(
                meta_locations=[RegionLocation(server_name=self._server())]
            ),
            "GetTableDescriptors": self._descriptors,
            "Scan": self._scan,
            "ExecService": self._mutate,
            # The question of `storage/hbase/room.py`; there is room always.
            "Mutate": lambda _: MutateRowsResponse(processed=False),
        }

    def _server(self) -> ServerName:
        return ServerName(host_name=_HOST, port=self.port)

    def _descriptors(self, body: bytes) -> Message:
        (name,) = GetTableDescriptorsRequest.FromString(body).table_names
        pairs = [BytesBytesPair(first=k, second=v) for k, v in SAFE_ATTRIBUTES.items()]
        schema = TableSchema(table_name=name, attributes=pairs)
        return GetTableDescriptorsResponse(table_schema=[schema])

    def _meta(self) -> Message:
        info = RegionInfo(region_id=1)
        info.table_name.namespace, info.table_name.qualifier = b"default", _TABLE
        row = _TABLE + b",,1.standin."
        cells = [
            Cell(row=row, qualifier=b"regioninfo", value=_MAGIC + info.SerializeToString()),
            Cell(row=row, qualifier=b"server", value=f"{_HOST}:{self.port}".encode()),
        ]
        return ScanResponse(results=[Result(cell=cells)], more_results_in_region=False)

    # --- reads -------------------------------------------------------------------------------

    def _scan(self, body: bytes) -> Message:
        asked = ScanRequest.FromString(body)
        if asked.HasField("scanner_id"):  # proved or closed: every answer was a whole one
            return ScanResponse(more_results_in_region=False)
        if asked.region.value == _META:
            return self._meta()
        self._scanners += 1
        answer = ScanResponse(scanner_id=self._scanners, mvcc_read_point=1)
        if not asked.number_of_rows:
            answer.more_results_in_region = True
            return answer
        rows = self._listed(asked.scan) or self._between(asked.scan)
        wanted = {qualifier for each in asked.scan.column for qualifier in each.qualifier}
        found = (self._result(row, wanted) for row in rows)
        results = list(islice((each for each in found if each.cell), asked.number_of_rows))
        answer.results.extend(results)
        answer.more_results_in_region = len(results) == asked.number_of_rows
        return answer

    @staticmethod
    def _listed(scan: Scan) -> list[bytes]:
        """The rows that a filter lists, if it does."""
        if not str(scan.filter.name).endswith("MultiRowRangeFilter"):
            return []
        listed = MultiRowRangeFilter.FromString(scan.filter.serialized_filter)
        return [each.start_row for each in listed.row_range_list]

    def _between(self, scan: Scan) -> Iterator[bytes]:
        inclusive = (
            scan.include_start_row or not scan.HasField("include_start_row"),
            scan.include_stop_row,
        )
        first, last = scan.start_row, scan.stop_row or _LAST
        if scan.reversed:
            found: Iterator[bytes] = self._rows.irange(last, first, inclusive[::-1], reverse=True)
        else:
            found = self._rows.irange(first, last, inclusive)
        return found

    def _result(self, row: bytes, wanted: set[bytes]) -> Result:
        cells = self._rows.get(row, {})
        return Result(
            cell=[
                Cell(row=row, qualifier=name, timestamp=cells[name][0], value=cells[name][1])
                for name in sorted(cells.keys() & wanted)
            ]
        )

    # --- writes ------------------------------------------------------------------------------

    def _mutate(self, body: bytes) -> Message:
        call = CoprocessorServiceRequest.FromString(body).call
        asked = MutateRowsRequest.FromString(call.request)
        holds = all(
            self._value(each.row, each.qualifier) == _expected(each) for each in asked.condition
        )
        if holds:
            for mutation in asked.mutation_request:
                self._make(mutation)
        told = MutateRowsResponse(processed=holds).SerializeToString()
        return CoprocessorServiceResponse(value=NameBytesPair(name="", value=told))

    def _value(self, row: bytes, qualifier: bytes) -> bytes | None:
        _, value = self._rows.get(row, {}).get(qualifier, (0, None))
        return None if value is None else bytes(value)

    def _make(self, mutation: MutationProto) -> None:
        for column in mutation.column_value:
            for each in column.qualifier_value:
                cells = self._rows.setdefault(mutation.row, {})
                if mutation.mutate_type == _PUT:
                    cells[each.qualifier] = each.timestamp, each.value
                else:
                    cells.pop(each.qualifier, None)
                if not cells:
                    del self._rows[mutation.row]


def _expected(condition: Any) -> bytes | None:  # noqa: ANN401  # a message

    if str(condition.comparator.name).endswith("NullComparator"):
        return None
    comparator = BinaryComparator.FromString(condition.comparator.serialized_comparator)
    return bytes(comparator.comparable.value)


# --- the protocol ---------------------------------------------------------------------------------


class _Connection(asyncio.Protocol):
    """Frames in, frames out."""

    def __init__(self, store: StandIn) -> None:
        self._store = store
        self._buffer = bytearray()
        self._greeted = False
        self._transport: asyncio.WriteTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport  # type: ignore[assignment]  # one that writes

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        skipped = 0 if self._greeted else _PREAMBLE_BYTES
        while len(self._buffer) >= skipped + _LENGTH.size:
            end = skipped + _LENGTH.size + _LENGTH.unpack_from(self._buffer, skipped)[0]
            if len(self._buffer) < end:
                return
            frame = bytes(self._buffer[skipped + _LENGTH.size : end])
            del self._buffer[:end]
            if self._greeted:
                self._answer(frame)
            self._greeted, skipped = True, 0

    def _answer(self, frame: bytes) -> None:
        header, behind = _delimited(frame, 0)
        asked = RequestHeader.FromString(header)
        body, _ = _delimited(frame, behind)
        parts = (
            ResponseHeader(call_id=asked.call_id),
            self._store.methods[str(asked.method_name)](body),
        )
        answer = b"".join(_sized(each.SerializeToString()) for each in parts)
        assert self._transport is not None, "a connection that receives was made"
        self._transport.write(_LENGTH.pack(len(answer)) + answer)


def _delimited(frame: bytes, start: int) -> tuple[bytes, int]:
    size = shift = 0
    while True:
        byte = frame[start]
        size, shift, start = size | (byte & 0x7F) << shift, shift + 7, start + 1
        if byte < 0x80:
            return frame[start : start + size], start + size


def _sized(body: bytes) -> bytes:
    size, head = len(body), bytearray()
    while size > 0x7F:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    return bytes((*head, size)) + body


async def _serve() -> None:
    store = StandIn()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Connection(store), _HOST, 0)
    store.port = server.sockets[0].getsockname()[1]
    print(f"hbase://{_HOST}:{store.port}/{_TABLE.decode()}", flush=True)
    await server.serve_forever()


def main() -> int:
    """Serve until the process is ended."""
    uvloop.run(_serve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
