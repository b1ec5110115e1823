"""Regions divide a store (`storage/placement.py`): hbase:meta tells them, the master changes them.

A region begins at the row of a key (`rows.py`), so at a partition key with everything that is of
it. The first region of data, at row `d`, was made with the table and stays.

A region cannot be split or merged as long as it has files of those that it was made of. Its server
compacts them by itself, but gives them up two minutes later at the earliest, and the master cleans
up behind merges every five (`hbase.hfile.compaction.discharger.interval`,
`hbase.catalogjanitor.interval`). The master would begin such a merge nevertheless, close both
regions and open them again, so it is not asked for one.
"""

from collections.abc import Callable, Sequence
from typing import Final, TypeVar, final

from widerow.errors import StorageFailure, StoreBusy
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_ROWS, may_begin_range
from widerow.storage.hbase.greeting import ServerLost
from widerow.storage.hbase.messages import (
    GetProcedureResultRequest,
    GetProcedureResultResponse,
    MergeTableRegionsRequest,
    MergeTableRegionsResponse,
    RegionInfo,
    RegionSpecifier,
    SplitTableRegionRequest,
    SplitTableRegionResponse,
)
from widerow.storage.hbase.regions import Region, Regions, storage_failure
from widerow.storage.hbase.rows import DATA, row_of
from widerow.storage.hbase.rpc import RemoteFailure, RpcConnection
from widerow.storage.placement import PlacedRange

__all__ = ["RUNNING", "HBasePlacement"]

T = TypeVar("T")

RUNNING: Final = 1  # a state of a procedure
_DIGEST: Final = 2  # a kind of `RegionSpecifier`
# Refusals that pass: a region is on its way, or has files of others.
_NOT_YET: Final = frozenset(("DoNotRetryRegionException", "MergeRegionException"))
_NOT_SPLITTABLE: Final = "NOT splittable"  # in the text of an exception of a general class


@final
class HBasePlacement:
    """The regions of a table. Any thread."""

    def __init__(self, regions: Regions) -> None:
        self._regions = regions

    def ranges(self) -> tuple[PlacedRange, ...]:
        """The regions that have rows, read anew from hbase:meta."""
        return _asked(lambda: tuple(map(_range, self._of_data())))

    def begin_split(self, key: bytes) -> int | None:
        """Ask the master to split the region of `key` at its row."""
        if not may_begin_range(key):
            raise ValueError(f"a region that begins at {key.hex()} could cut a shard")
        return _asked(lambda: self._begin_split(row_of(key)[0]))

    def begin_merge(self, key: bytes) -> int | None:
        """Ask the master to merge the regions on both sides of the row of `key`."""
        row = row_of(key)[0]
        if row <= DATA:
            raise ValueError("the first region of data is not merged with that of the catalogue")
        return _asked(lambda: self._begin_merge(row))

    def has_ended(self, number: int) -> bool:
        """Ask the master after a procedure."""
        asked = GetProcedureResultRequest(proc_id=number)
        result = _asked(
            lambda: self._master().call("getProcedureResult", asked, GetProcedureResultResponse)
        )
        if result.state == RUNNING:
            return False
        self._regions.forget()
        if result.HasField("exception"):
            told = result.exception.generic_exception
            raise StorageFailure(f"HBase has given up: {told.message!s} ({told.class_name!s})")
        return True

    # --- what is asked of HBase --------------------------------------------------------------

    def _begin_split(self, row: bytes) -> int | None:
        region = next(each for each in self._regions.all_now() if each.has(row))
        if region.start == row:
            return None
        info = RegionInfo(
            region_id=region.number,
            table_name=self._regions.table_name,
            start_key=region.start,
            end_key=region.stop,
        )
        request = SplitTableRegionRequest(region_info=info, split_row=row)
        return self._master().call("SplitRegion", request, SplitTableRegionResponse).proc_id

    def _begin_merge(self, row: bytes) -> int | None:
        both = [each for each in self._regions.all_now() if row in (each.start, each.stop)]
        if not both:
            return None
        if any(each.is_merged for each in both):
            raise StoreBusy("HBase has not cleaned up behind an earlier merge")
        named = [RegionSpecifier(type=_DIGEST, value=each.digest) for each in both]
        request = MergeTableRegionsRequest(region=named)
        answer = self._master().call("MergeTableRegions", request, MergeTableRegionsResponse)
        return answer.proc_id

    def _of_data(self) -> Sequence[Region]:
        return [each for each in self._regions.all_now() if not each.stop or each.stop > DATA]

    def _master(self) -> RpcConnection:
        return self._regions.servers.master()


def _range(region: Region) -> PlacedRange:
    start = SPACE_ROWS + region.start[len(DATA) :] if region.start > DATA else SPACE_ROWS
    stop = SPACE_ROWS + region.stop[len(DATA) :] if region.stop else after_prefix(SPACE_ROWS)
    return PlacedRange(start, stop, *region.address)


def _asked(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except RemoteFailure as error:
        if error.kind in _NOT_YET or _NOT_SPLITTABLE in str(error):
            raise StoreBusy(f"HBase asks to wait with a region: {error}") from error
        raise storage_failure(error) from error
    except ServerLost as error:
        raise storage_failure(error) from error
