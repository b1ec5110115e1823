"""The driver: views, and conditional commits of what lies in one region.

**A commit** is one call of `MultiRowMutationService`, which HBase brings along: it locks the rows,
compares the revisions, and writes and syncs everything or nothing (durability FSYNC_WAL). Which
condition failed is asked behind it. What a server has no memory for is not sent (`room.py`).

**What is newer** is decided by the timestamps of cells, and a removal hides what is not newer than
it. Clocks of servers may disagree, so every commit brings its timestamp: the time here, but above
that of each revision that it replaces. So what follows in a shard is newer than what was before.

**Ranges** are looked up and their keys removed one by one, because HBase removes no ranges. Nobody
else has changed the shard since, where the condition holds. The range of a whole table can lie in
several regions, or have more keys than one call should: they are removed before the change itself
is made, a part at a time (`storage/remote/driver.py`).
"""

from collections.abc import Iterable, Sequence
from time import time_ns
from typing import Final, final

from widerow.errors import OutcomeUnknown, StorageFailure, StoreBusy
from widerow.keys.layout import ROW_PREFIX_BYTES
from widerow.storage.hbase.encoded import CellPlace
from widerow.storage.hbase.greeting import ServerLost
from widerow.storage.hbase.loop import HBaseLoopReads
from widerow.storage.hbase.messages import (
    CoprocessorServiceRequest,
    CoprocessorServiceResponse,
    MutateRowsResponse,
)
from widerow.storage.hbase.placement import HBasePlacement
from widerow.storage.hbase.regions import Region, Regions, refused_untouched, storage_failure
from widerow.storage.hbase.requests import mutate_rows
from widerow.storage.hbase.room import ServerRoom
from widerow.storage.hbase.rows import ROW_BYTES_MAX, row_of
from widerow.storage.hbase.rpc import RemoteFailure
from widerow.storage.hbase.table import HBaseTable
from widerow.storage.hbase.view import HBaseReads, HBaseView, SharedReads
from widerow.storage.interface import Capabilities
from widerow.storage.page import Page, PageWanted
from widerow.storage.remote.driver import ShardChange
from widerow.storage.server_state import ServerState
from widerow.storage.sockets import Sockets

__all__ = ["HBaseDriver"]

_REMOVED_AT_ONCE_MAX: Final = 10_000  # keys of a whole table in one call, which locks their rows
_PAGE_ROWS: Final = 2000  # keys of a range that are looked up at once
_NANOSECONDS: Final = 1000  # in a unit of timestamps
# Answers after which it is known that nothing was written, and never will be.
_REFUSED: Final = frozenset(
    (
        "AccessDeniedException",
        "FailedSanityCheckException",
        "IllegalArgumentException",
        "NoSuchColumnFamilyException",
        "UnknownProtocolException",
    )
)


@final
class HBaseDriver:
    """A table, by way of the servers that have its regions. Any thread."""

    capabilities = Capabilities(
        atomic_across_shards=False,
        reads_may_block=True,
        persistent=True,
        checkpoints=False,
        shared=True,
        key_bytes_max=ROW_BYTES_MAX,
    )

    def __init__(
        self, regions: Regions, table: HBaseTable | None = None, put_off: str = ""
    ) -> None:
        """A driver for the table that `regions` has read. Connects to no server yet.

        `table`: its settings, which may still turn out unsafe. `put_off`: what is not known of the
        table yet, for people.
        """
        self.put_off = put_off
        self._table = table or HBaseTable(regions)
        self._regions = regions
        self._shared = SharedReads(regions)
        self._room = ServerRoom()
        self.placement = HBasePlacement(regions)
        self._loop_reads: HBaseLoopReads | None = None  # the last that `loop_reads` gave

    def view(self, *, patient: bool = True) -> HBaseView:
        """A view that has read nothing yet."""
        return HBaseView(self._shared, patient=patient)

    def read_many(self, keys: Sequence[bytes], *, patient: bool = True) -> list[bytes | None]:
        """The values of `keys`, by one scan of each region, all scans at the same time."""
        return HBaseReads(self._shared, patient=patient).read_many(keys)

    def read_page(self, start: bytes, stop: bytes, rows_max: int, *, reverse: bool) -> Page:
        """A page, by one scan unless that scan finds nothing."""
        return HBaseReads(self._shared).read_page(start, stop, rows_max, reverse=reverse)

    def read_pages(self, wanted: Sequence[PageWanted]) -> list[Page]:
        """Pages, by one scan for each, all at the same time; more scans where one finds nothing."""
        return HBaseReads(self._shared, patient=False).read_pages(wanted)

    def loop_reads(self, sockets: Sockets) -> HBaseLoopReads:
        """Reads by way of the server's loop, on connections of their own."""
        reads = HBaseLoopReads(self._regions.known, self._regions.servers.socket, sockets)
        self._loop_reads = reads
        return reads

    def home(self, revision_key: bytes) -> bytes:
        """The name of the region that has the shard."""
        self._regions.servers.check_open()
        try:
            return self._regions.of(row_of(revision_key)[0]).name
        except (ServerLost, RemoteFailure) as error:
            raise storage_failure(error) from error

    def server(self, key: bytes) -> str:
        """Where the region server listens that had the key last."""
        region = self._regions.known_last(row_of(key)[0])
        return "" if region is None else str(region.address)

    def try_home(self, revision_key: bytes) -> None:
        """Raise `StoreBusy` unless the shard is readable and its server has room for writes."""
        self.read_many([revision_key], patient=False)
        try:
            region = self._regions.of(row_of(revision_key)[0])
        except (ServerLost, RemoteFailure) as error:
            raise storage_failure(error) from error
        self._room.check(region.address)

    def commit(self, changes: Sequence[ShardChange]) -> frozenset[bytes]:
        """Make the changes by one call, which is one transaction and one sync."""
        self._regions.servers.check_open()
        if self._table.refusal:
            raise StorageFailure(self._table.refusal)
        self._shared.close_unwanted()
        try:
            region = self._regions.of(row_of(changes[0].revision_key)[0])
            timestamp = self._timestamp(changes)
            removed = self._removed(changes, region)
        except (ServerLost, RemoteFailure) as error:
            self._regions.forget()
            raise storage_failure(error) from error
        if timestamp is None or removed is None:
            return self._others(changes)
        timestamp = max(timestamp, *removed.values(), 0)
        request = _request(region, changes, removed, timestamp)
        if not self._made(region, request):
            return self._others(changes)
        for change in changes:
            self._shared.note_timestamp(change.revision, timestamp)
        return frozenset()

    # --- before a commit ---------------------------------------------------------------------

    def _timestamp(self, changes: Sequence[ShardChange]) -> int | None:
        """A timestamp above those of the expected revisions; None: a revision was changed."""
        unknown = [each for each in changes if self._shared.timestamp(each.expected) is None]
        if unknown and self._others(unknown, certain=True):
            return None
        known = [self._shared.timestamp(each.expected) or 0 for each in changes]
        return max(time_ns() // _NANOSECONDS, 1 + max(known))

    def _removed(
        self, changes: Sequence[ShardChange], region: Region
    ) -> dict[CellPlace, int] | None:
        """Places and timestamps of the keys in the changes' ranges; None: a revision was changed.

        The keys of a whole table, stream or tunnel that cannot be removed in the same call are
        removed here, beforehand, and left out of the answer.
        """
        rows = [row_of(each.revision_key)[0] for each in changes]
        rows += [row_of(key)[0] for each in changes for key in (*each.puts, *each.deletes)]
        if not all(map(region.has, rows)):
            self._regions.forget()
            raise StoreBusy("what is to be committed together stands in two regions of HBase")
        if not any(each.ranges for each in changes):
            return {}
        kept = {row_of(key) for each in changes for key in (each.revision_key, *each.puts)}
        found: dict[CellPlace, int] = {}
        view = self.view(patient=False)
        try:
            for start, stop in [bounds for each in changes for bounds in each.ranges]:
                found |= dict(view.cells(start, stop, _PAGE_ROWS))
        finally:
            view.close()
        found = {place: found[place] for place in found.keys() - kept}
        apart = [place for place in found if not region.has(place[0])]
        if not apart and len(found) <= _REMOVED_AT_ONCE_MAX:
            return found
        if any(map(_is_narrow, changes)):
            return found if not apart else _cut()
        if self._others(changes, certain=True):
            return None
        self._remove(found)
        return {}

    def _remove(self, found: dict[CellPlace, int]) -> None:
        """Remove the keys that were found, `_REMOVED_AT_ONCE_MAX` a call, without a condition."""
        by_region: dict[Region, list[CellPlace]] = {}
        for place in found:
            by_region.setdefault(self._regions.of(place[0]), []).append(place)
        for region, places in by_region.items():
            for first in range(0, len(places), _REMOVED_AT_ONCE_MAX):
                part = places[first : first + _REMOVED_AT_ONCE_MAX]
                newest = max(found[place] for place in part)
                self._made(region, mutate_rows(region, {}, (), part, newest))

    # --- the commit --------------------------------------------------------------------------

    def _made(self, region: Region, request: CoprocessorServiceRequest) -> bool:
        """Send a change to a region; False where a condition failed, and so nothing was written."""
        self._room.check(region.address)
        try:
            connection = self._regions.servers.connection(region.address)
            answer = connection.call("ExecService", request, CoprocessorServiceResponse)
        except ServerLost as error:
            self._regions.forget()
            if not error.sent:
                raise storage_failure(error) from error
            raise OutcomeUnknown(f"HBase did not answer a commit: {error}") from error
        except RemoteFailure as error:
            self._regions.forget()
            if refused_untouched(error) or error.kind in _REFUSED:
                raise storage_failure(error) from error
            raise OutcomeUnknown(f"HBase failed in a commit ({error.kind}): {error}") from error
        self._room.committed(region, connection, len(request.call.request))
        return MutateRowsResponse.FromString(answer.value.value).processed

    def _others(self, changes: Sequence[ShardChange], *, certain: bool = False) -> frozenset[bytes]:
        """Revision keys whose value is not the expected one.

        If all are as expected by now: every key, or none if `certain`.
        """
        revisions = [change.revision_key for change in changes]
        found = self.read_many(revisions, patient=False)
        others = frozenset(
            change.revision_key
            for change, revision in zip(changes, found, strict=True)
            if revision != change.expected
        )
        if others or certain:
            return others
        return frozenset(change.revision_key for change in changes)

    # --- the rest ----------------------------------------------------------------------------

    def statistics(self) -> dict[str, int]:
        """`connections` opened so far; reads by way of the loop, and those that it gave up."""
        reads = self._loop_reads
        return {
            "connections": self._regions.servers.opened,
            "loop_reads": 0 if reads is None else reads.begun,
            "loop_reads_given_up": 0 if reads is None else reads.given_up,
        }

    def server_states(self) -> Sequence[ServerState]:
        """The region servers and masters that were asked."""
        return self._regions.servers.states()

    def close(self) -> None:
        """Close every connection."""
        self._regions.servers.close()


def _request(
    region: Region, changes: Sequence[ShardChange], removed: Iterable[CellPlace], timestamp: int
) -> CoprocessorServiceRequest:
    puts = [pair for change in changes for pair in change.puts.items()]
    puts += [(change.revision_key, change.revision) for change in changes]
    deletes = {row_of(key) for change in changes for key in change.deletes}
    conditions = {change.revision_key: change.expected for change in changes}
    return mutate_rows(region, conditions, puts, deletes.union(removed), timestamp)


def _is_narrow(change: ShardChange) -> bool:
    """Whether a change is of less than a whole table, stream or tunnel, and removes ranges."""
    return bool(change.ranges) and len(change.revision_key) > ROW_PREFIX_BYTES + 1


def _cut() -> dict[CellPlace, int]:
    raise StorageFailure(
        "a region of HBase ends inside a partition key value, so its rows cannot be changed "
        "together: merge the two regions"
    )
