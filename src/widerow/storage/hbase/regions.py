"""Which server has which rows, and what the refusals of servers mean."""

import threading
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from time import monotonic, sleep
from typing import Final, NamedTuple, TypeVar, final

from google.protobuf.message import DecodeError, Message

from widerow.errors import StorageFailure, StoreBusy, StoreHangs
from widerow.storage.hbase.greeting import (
    UNSECURED,
    Address,
    Greeted,
    Security,
    ServerLost,
    greeted,
)
from widerow.storage.hbase.messages import (
    Column,
    GetActiveMasterRequest,
    GetActiveMasterResponse,
    GetMetaRegionLocationsRequest,
    GetMetaRegionLocationsResponse,
    RegionInfo,
    RegionSpecifier,
    Result,
    Scan,
    ScanRequest,
    ScanResponse,
    TableName,
)
from widerow.storage.hbase.rpc import RemoteFailure, RpcConnection
from widerow.storage.server_state import ServerState

__all__ = [
    "CLIENT",
    "TABLE_NAMESPACE",
    "MovePauses",
    "Region",
    "Regions",
    "Servers",
    "refused_untouched",
    "storage_failure",
]

Answer = TypeVar("Answer", bound=Message)

CLIENT: Final = "ClientService"
TABLE_NAMESPACE: Final = "default"
_MASTER: Final = "MasterService"
_REGISTRY: Final = "ClientMetaService"
_REGION_NAME: Final = 1  # a kind of `RegionSpecifier`
_META: Final = b"hbase:meta,,1"
_MAGIC_BYTES: Final = 4  # of the mark in front of a message in a cell
_META_ROWS: Final = 1000
_MERGED: Final = b"merge"  # how columns begin that name the regions which were merged into one
_PAUSE_SECONDS: Final = 0.02
_PAUSE_SECONDS_MAX: Final = 0.5
_HUNG_PAUSE_SECONDS: Final = 0.2  # between two questions to a server that hangs
_MISSED_SECONDS: Final = 0.2  # after a failed read of hbase:meta, until the next one

# After these refusals a server has done nothing: the region is elsewhere, or will be in a moment.
_UNTOUCHED: Final = frozenset(
    (
        "CallQueueTooBigException",
        "NotServingRegionException",
        "RegionMovedException",
        "RegionOpeningException",
        "RegionTooBusyException",
        "ServerNotRunningYetException",
        "WrongRegionException",
    )
)
# After these a read begins again: the server is stopping, or our scanner was closed.
_PASSING: Final = _UNTOUCHED | {
    "CallDroppedException",
    "CallTimeoutException",
    "LeaseException",
    "MasterNotRunningException",
    "PleaseHoldException",
    "RegionServerAbortedException",
    "RegionServerStoppedException",
    "ScannerResetException",
    "UnknownScannerException",
}


def refused_untouched(error: RemoteFailure) -> bool:
    """Whether a refusal of this kind means that nothing was done, and another server may do it."""
    return error.kind in _UNTOUCHED


def storage_failure(error: ServerLost | RemoteFailure) -> StorageFailure:
    """What a failed read means to whoever asked."""
    if isinstance(error, ServerLost) and error.hung:
        return StoreHangs(f"a server of HBase does not answer: {error}")
    if isinstance(error, ServerLost) or error.kind in _PASSING:
        return StoreBusy(f"HBase cannot be reached, or asks to wait: {error}")
    return StorageFailure(f"HBase refuses ({error.kind}): {error}")


@final
class MovePauses:
    """Growing pauses between attempts, until a bound of time is reached."""

    def __init__(self, seconds: float) -> None:
        self._deadline = monotonic() + seconds
        self._pause = _PAUSE_SECONDS

    def rest(self) -> bool:
        """Wait for one pause; False, without waiting, once the time is over."""
        if monotonic() + self._pause > self._deadline:
            return False
        sleep(self._pause)
        self._pause = min(2 * self._pause, _PAUSE_SECONDS_MAX)
        return True


@final
class Servers:
    """The connections, one for each service of each server. Any thread."""

    def __init__(self, seeds: Sequence[Address], security: Security = UNSECURED) -> None:
        """`seeds`: masters or region servers that are asked first. Connects to none."""
        self._seeds = seeds
        self._security = security
        self._connections: dict[tuple[Address, str], RpcConnection] = {}
        self._hung: set[Address] = set()
        self._lock = threading.Lock()
        # A server that takes no connections keeps nobody from the others.
        self._locks: dict[Address, threading.Lock] = {}
        self._over = threading.Event()
        self.opened = 0

    def connection(self, address: Address, service: str = CLIENT) -> RpcConnection:
        """A connection that works, as far as is known. Raises `ServerLost`.

        At once for a server that hangs: only a thread beside asks it until it answers.
        """
        found = self._connections.get((address, service))
        if found is not None and found.usable():
            return found
        with self._locks.setdefault(address, threading.Lock()):
            self.check_open()
            found = self._connections.get((address, service))
            if found is None or not found.usable():
                found = self._connected(address, service, found)
                self._keep(address, service, found)
            return found

    def _keep(self, address: Address, service: str, made: RpcConnection) -> None:
        """Keep a new connection, unless all are closed meanwhile. Raises `StorageFailure` then."""
        with self._lock:
            self._connections[address, service] = made
            self.opened += 1
            if self._over.is_set():
                made.close()
        self.check_open()

    def _connected(
        self, address: Address, service: str, before: RpcConnection | None
    ) -> RpcConnection:
        """A new connection in place of one that was lost. Raises `ServerLost`."""
        if before is not None and before.hung:
            self._connections.pop((address, service), None)  # that it hangs is found out once
            self._watch(address)
        if self.hang(address):
            raise ServerLost(f"{address} hangs", sent=False, hung=True)
        try:
            return RpcConnection(address, service, self._security)
        except ServerLost as error:
            if error.hung:
                self._watch(address)
            raise

    def socket(self, address: Address) -> Greeted:
        """A new connection for the caller alone.

        Raises `ServerLost`, at once for a server that hangs.
        """
        self.check_open()
        if self.hang(address):
            raise ServerLost(f"{address} hangs", sent=False, hung=True)
        made = greeted(address, CLIENT, self._security)
        self.opened += 1
        return made

    def hang(self, address: Address) -> bool:
        """Whether that server is known to hang."""
        return address in self._hung

    def _watch(self, address: Address) -> None:
        if not self.hang(address):
            self._hung.add(address)
            name = f"hbase-hung-{address}"
            threading.Thread(target=self._await, args=(address,), name=name, daemon=True).start()

    def _await(self, address: Address) -> None:
        """Ask a server that hangs until it answers or refuses, or its connection fails."""
        while self.wait(_HUNG_PAUSE_SECONDS):
            try:
                connection = RpcConnection(address, _REGISTRY, self._security)
                try:
                    connection.call(
                        "GetActiveMaster", GetActiveMasterRequest(), GetActiveMasterResponse
                    )
                finally:
                    connection.close()
            except ServerLost as error:
                if error.hung:
                    continue
            except RemoteFailure:
                pass
            break
        self._hung.discard(address)

    def ask_any(self, method: str, request: Message, kind: type[Answer]) -> Answer:
        """Ask the first seed that answers. Raises `ServerLost`, `RemoteFailure`."""
        failure: ServerLost | RemoteFailure | None = None
        for seed in self._seeds:
            try:
                return self.connection(seed, _REGISTRY).call(method, request, kind)
            except (ServerLost, RemoteFailure) as error:
                failure = error
        assert failure is not None, "there is a seed"
        raise failure

    def master(self) -> RpcConnection:
        """A connection to the master. Raises as `master_address`, `ServerLost` also for itself."""
        return self.connection(self.master_address(), _MASTER)

    def master_address(self) -> Address:
        """Where the master is, as the seeds know it now; it may have ended since.

        Raises: `ServerLost`, `RemoteFailure`; `StoreBusy` where the cluster has none.
        """
        found = self.ask_any("GetActiveMaster", GetActiveMasterRequest(), GetActiveMasterResponse)
        if not found.server_name.port:
            raise StoreBusy("HBase has no master now")
        name = found.server_name
        return Address(str(name.host_name), name.port)

    def wait(self, seconds: float) -> bool:
        """Wait so long; False, and at once, when the connections are closed."""
        return not self._over.wait(seconds)

    def check_open(self) -> None:
        """Raise `StorageFailure` once the connections are closed."""
        if self._over.is_set():
            raise StorageFailure("the store is closed")

    def close(self) -> None:
        """Close every connection."""
        with self._lock:
            self._over.set()
            for connection in list(self._connections.values()):
                connection.close()

    def states(self) -> list[ServerState]:
        """What is known of each server that there is a connection to."""
        found: dict[Address, ServerState] = {}
        for (address, _), connection in list(self._connections.items()):
            known = found.get(address, ServerState(str(address)))
            found[address] = known._replace(
                waiting=known.waiting + connection.waiting,
                silent_seconds=max(known.silent_seconds, connection.silent_seconds),
            )
        return list(found.values())


class Region(NamedTuple):
    """A range of rows, start ≤ row < stop (empty: no bound), and the server that has it.

    `is_merged`: it has files still of the regions that it was merged of.
    """

    name: bytes
    start: bytes
    stop: bytes
    address: Address
    is_merged: bool = False

    @property
    def specifier(self) -> RegionSpecifier:
        """The region as requests name it."""
        return RegionSpecifier(type=_REGION_NAME, value=self.name)

    @property
    def number(self) -> int:
        """The number in the name `table,start,number.digest`; regions of one start differ in it."""
        return int(self.name.rpartition(b",")[2].partition(b".")[0])

    @property
    def digest(self) -> bytes:
        """The last part of the region's name, by which the master knows the region."""
        return self.name.rpartition(b",")[2].partition(b".")[2].rstrip(b".")

    def has(self, row: bytes) -> bool:
        """Whether the region has `row`."""
        return self.start <= row and (not self.stop or row < self.stop)

    def has_below(self, row: bytes) -> bool:
        """Whether the region has the rows just below `row`."""
        return self.start < row and (not self.stop or row <= self.stop)

    def overlaps(self, other: "Region") -> bool:
        """Whether some row can be in both regions."""
        first, last = sorted((self, other), key=_start_of)
        return not first.stop or last.start < first.stop


@final
class Regions:
    """The regions of one table, as they were read last. Any thread.

    While one is split or moved it may be missing; the others go on. They do so too while
    `hbase:meta` is away, which says where they are: what was known last is asked for then, and a
    server that does not have a region any more says so.
    """

    def __init__(self, servers: Servers, table: str, namespace: str = TABLE_NAMESPACE) -> None:
        self.servers = servers
        self.table_name = TableName(namespace=namespace.encode(), qualifier=table.encode())
        # A table of the default namespace has no namespace in the names of its regions.
        in_default = namespace == TABLE_NAMESPACE
        self._table = (table if in_default else f"{namespace}:{table}").encode()
        self._lock = threading.Lock()
        self._known: list[Region] | None = None
        self._last: list[Region] | None = None  # the regions before `forget`
        self._missed = -_MISSED_SECONDS  # the time of the last failed read

    @property
    def table(self) -> bytes:
        """The table's name, with its namespace where that is not the default one."""
        return self._table

    def of(self, row: bytes, *, below: bool = False) -> Region:
        """The region that has the row, or the rows just below it.

        Raises: `StoreBusy` where there is none now, `ServerLost`, `RemoteFailure`.
        """
        known = self._known or self._read_or_last()
        search = bisect_left if below else bisect_right
        found = known[max(search(known, row, key=_start_of) - 1, 0)]
        if not (found.has_below(row) if below else found.has(row)):
            self.forget()
            raise self._missing()
        return found

    def known(self, row: bytes) -> Region | None:
        """The region that has the row, where that is known now; asks for nothing."""
        regions = self._known
        if regions is None:
            return None
        found = regions[max(bisect_right(regions, row, key=_start_of) - 1, 0)]
        return found if found.has(row) else None

    def known_last(self, row: bytes) -> Region | None:
        """As `known`, with the regions before `forget` where they are to be read again."""
        found = self.known(row)
        last = self._last
        if found is not None or last is None:
            return found
        region = last[max(bisect_right(last, row, key=_start_of) - 1, 0)]
        return region if region.has(row) else None

    def all_now(self) -> Sequence[Region]:
        """Every region, read anew. Raises as `of` does, where any is missing."""
        self.forget()
        found = self._read()
        stops = [b"", *[each.stop for each in found]]
        if stops != [*[each.start for each in found], b""]:
            self.forget()
            raise self._missing()
        return found

    def forget(self) -> None:
        """Read the regions again before they are asked for."""
        self._last = self._known or self._last
        self._known = None

    def _missing(self) -> StoreBusy:
        return StoreBusy(f"the regions of {self._table.decode()} are not all there now")

    def _read_or_last(self) -> list[Region]:
        """The regions, read again; where that fails, the former ones, for `_MISSED_SECONDS`."""
        last = self._last
        if last is not None and monotonic() - self._missed < _MISSED_SECONDS:
            return last
        try:
            return self._read()
        except (ServerLost, RemoteFailure, StoreBusy):
            self._missed = monotonic()
            if last is None:
                raise
            return last

    def _read(self) -> list[Region]:
        with self._lock:
            if self._known is not None:
                return self._known
            regions = sorted(filter(None, map(_region, self._rows())), key=_start_of)
            if not regions:
                raise self._missing()
            self._known = regions
            return regions

    def _rows(self) -> list[Result]:
        """What `hbase:meta` says of the table. An answer may end early, also without a row."""
        asked = GetMetaRegionLocationsRequest()
        found = self.servers.ask_any(
            "GetMetaRegionLocations", asked, GetMetaRegionLocationsResponse
        )
        if not found.meta_locations:
            raise StoreBusy("HBase does not know where hbase:meta is now")
        server = found.meta_locations[0].server_name
        connection = self.servers.connection(Address(str(server.host_name), server.port))
        scan = Scan(
            start_row=self._table + b",,",
            stop_row=self._table + b" ,,",  # the comparator of this table splits rows at commas
            column=[Column(family=b"info")],
        )
        request = ScanRequest(
            region=RegionSpecifier(type=_REGION_NAME, value=_META),
            scan=scan,
            number_of_rows=_META_ROWS,
        )
        answer = connection.call("Scan", request, ScanResponse)
        rows = list(answer.results)
        while answer.more_results_in_region:
            request = ScanRequest(scanner_id=answer.scanner_id, number_of_rows=_META_ROWS)
            answer = connection.call("Scan", request, ScanResponse)
            rows += answer.results
        return rows


def _start_of(region: Region) -> bytes:
    return region.start


def _region(row: Result) -> Region | None:
    """The region of a row of `hbase:meta`; None for one that was split or has no server yet."""
    cells = {cell.qualifier: cell.value for cell in row.cell}
    host, _, rest = cells.get(b"server", b"").decode().rpartition(":")
    if not host or b"regioninfo" not in cells:
        return None
    try:
        info = RegionInfo.FromString(cells[b"regioninfo"][_MAGIC_BYTES:])
    except DecodeError as error:
        raise StorageFailure(f"hbase:meta cannot be read: {error}") from error
    if info.split or info.offline:
        return None
    is_merged = any(name.startswith(_MERGED) for name in cells)
    address = Address(host, int(rest))
    return Region(row.cell[0].row, info.start_key, info.end_key, address, is_merged)
