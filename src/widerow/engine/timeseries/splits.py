"""SplitTimeseriesScanTask and ScanTimeseriesData: all points, in parts and pages (timeseries §7).

A split is one of n equal ranges of the hashes of series, so it is cut without reading, is good as
long as its table is there, and no server remembers it.
"""

from typing import Final

from widerow.engine.timeseries.context import TimeseriesContext
from widerow.engine.timeseries.reads import chosen_fields, key_fields, page_limit
from widerow.engine.timeseries.stored import point_fields
from widerow.engine.timeseries.walk import PointRange, walk_points
from widerow.errors import InvalidRequest
from widerow.keys.layout import ROW_PREFIX_BYTES, row_prefix
from widerow.keys.series import HASH_BYTES, TIME_AT
from widerow.limits import SERIES_PAGE_BYTES_MAX, SERIES_SCAN_RECORDS_MAX, SERIES_SPLITS_MAX
from widerow.model.timeseries.points import StoredPoint
from widerow.model.timeseries.requests import PointPage, PointScan
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import TimeseriesTable
from widerow.storage.interface import Reader

__all__ = ["make_splits", "scan_split"]

_SPLIT: Final = b"\x01"  # a version; table 4 bytes, count 2, number 2, the measurement follow
_SPLIT_BYTES: Final = 9
_POSITION: Final = b"\x01s"  # a version and a kind; the key where the next page begins follows
_TIME_MAX: Final = 2**63
_HASHES: Final = 1 << (8 * HASH_BYTES)


def make_splits(table: TimeseriesTable, measurement: str | None, count: int) -> tuple[bytes, ...]:
    """As many splits as were asked for, at most 256. Raises `InvalidRequest`."""
    if count <= 0:
        raise InvalidRequest(TimeseriesRule.SPLIT_COUNT, value=count)
    count = min(count, SERIES_SPLITS_MAX)
    head = _SPLIT + table.id.to_bytes(4, "big") + count.to_bytes(2, "big")
    name = b"" if measurement is None else measurement.encode() + b"\0"
    return tuple([head + number.to_bytes(2, "big") + name for number in range(count)])


def _range_of(table: TimeseriesTable, split: bytes) -> PointRange:
    """The range of a split; of an empty one all of the table. Raises `InvalidRequest`."""
    found = PointRange(table.id)
    if not split:
        return found
    head = _SPLIT + table.id.to_bytes(4, "big")
    count = int.from_bytes(split[5:7], "big")
    number = int.from_bytes(split[7:_SPLIT_BYTES], "big")
    name = split[_SPLIT_BYTES:]
    whole = len(split) >= _SPLIT_BYTES and (not name or name.endswith(b"\0"))
    if split[:5] != head or not number < count <= SERIES_SPLITS_MAX or not whole:
        raise InvalidRequest(TimeseriesRule.SPLIT)
    prefix = row_prefix(table.id)
    if number:
        found.start = prefix + (number * _HASHES // count).to_bytes(HASH_BYTES, "big")
    if number + 1 < count:
        found.stop = prefix + ((number + 1) * _HASHES // count).to_bytes(HASH_BYTES, "big")
    found.leading = name
    return found


def scan_split(
    context: TimeseriesContext, reader: Reader, table: TimeseriesTable, scan: PointScan
) -> PointPage:
    """A page of a split; it may have no points and lead on. Raises `InvalidRequest`.

    Cost: the points of the page and those that it passes over, at most 50000 records.
    """
    found = _range_of(table, scan.split)
    after = scan.after
    if after:
        position = row_prefix(table.id) + after[len(_POSITION) :]
        if not (after.startswith(_POSITION) and found.start <= position < found.stop):
            raise InvalidRequest(TimeseriesRule.POSITION)
        found.start = position
    begin_us = 0 if scan.begin_us is None else max(0, scan.begin_us)
    end_us = _TIME_MAX if scan.end_us is None else min(_TIME_MAX, scan.end_us)
    if begin_us >= end_us:
        raise InvalidRequest(TimeseriesRule.TIME_RANGE)
    found.seeks = bool(found.leading) or (begin_us, end_us) != (0, _TIME_MAX)
    found.begin_us, found.end_us = max(begin_us, context.live_from_us(table)), end_us
    if found.begin_us >= end_us:
        return PointPage((), b"")
    return _page(context, reader, table, scan, found)


def _page(
    context: TimeseriesContext,
    reader: Reader,
    table: TimeseriesTable,
    scan: PointScan,
    found: PointRange,
) -> PointPage:
    limit, wanted, layouts = page_limit(scan.limit), scan.fields, context.layouts
    points: list[StoredPoint] = []
    size = 0
    for count, (series, key, stored) in enumerate(walk_points(reader, found)):
        is_full = series is not None and (len(points) >= limit or size >= SERIES_PAGE_BYTES_MAX)
        if is_full or count >= SERIES_SCAN_RECORDS_MAX:
            return PointPage(points, _POSITION + key[ROW_PREFIX_BYTES:], size)
        if series is None:
            continue
        fields = point_fields(layouts, series.record, stored)
        if wanted:
            fields = chosen_fields(fields, wanted)
            if not fields:
                continue
        size += len(key) + len(stored)
        time_us = int.from_bytes(key[TIME_AT : TIME_AT + 8], "big")
        points.append(StoredPoint(series.key, time_us, key_fields(table, key), fields))
    return PointPage(points, b"", size)
