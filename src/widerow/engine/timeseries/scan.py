"""All points of a table in the order of their keys, for SQL, export and checks (timeseries §12).

A row is a point: `_m_name`, `_data_source`, `_tags`, `_time`, key fields and fields by their names.
The key of rows is `_#h`, `_time` and the key fields; bounds name values of these.
"""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from widerow.engine.scan import RowAccess, ScannedRow
from widerow.engine.timeseries.context import TimeseriesContext
from widerow.engine.timeseries.reads import key_fields
from widerow.engine.timeseries.stored import point_fields
from widerow.errors import InvalidRequest, NotFound, Rule, StoreDamaged
from widerow.keys.encode import after_prefix, encode_key_value
from widerow.keys.layout import SPACE_LOCAL_INDEXES, row_prefix
from widerow.keys.series import HASH_BYTES, TIME_AT, series_of, time_bytes
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import (
    MEASUREMENT_COLUMN,
    SOURCE_COLUMN,
    TAGS_COLUMN,
    SeriesKey,
    tags_text,
)
from widerow.model.timeseries.table import TimeseriesTable
from widerow.model.values import Value
from widerow.rows.series import SeriesRecord, decode_series
from widerow.storage.interface import Reader

__all__ = ["SeriesOfPoints", "WalkedSeries", "point_bounds", "scan_points_by_key"]

TIME_COLUMN: Final = "_time"
_TIME_END: Final = TIME_AT + 8


class WalkedSeries(NamedTuple):
    """A series that a walk over points has met."""

    key: SeriesKey
    record: SeriesRecord
    columns: dict[str, Value]


class SeriesOfPoints:
    """The series of points that are read in the order of their keys: one read for each series."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._prefix = b""
        self._found: WalkedSeries | None = None

    def of(self, key: bytes) -> WalkedSeries:
        """The series of a point. Raises `StoreDamaged` where it has no record."""
        prefix, found = key[:TIME_AT], self._found
        if found is None or prefix != self._prefix:
            stored = self._reader.get(SPACE_LOCAL_INDEXES + prefix[1:])
            if stored is None:
                raise StoreDamaged(f"points have no record of their series: {key.hex()}")
            record = decode_series(stored)
            series = series_of(record.canonical)
            columns: dict[str, Value] = {
                MEASUREMENT_COLUMN: series.measurement,
                SOURCE_COLUMN: series.source,
                TAGS_COLUMN: tags_text(series.tags),
            }
            self._prefix, found = prefix, WalkedSeries(series, record, columns)
            self._found = found
        return found


def point_bounds(table: TimeseriesTable, access: RowAccess) -> tuple[bytes, bytes]:
    """The range of keys that an access reaches. Raises `InvalidRequest`."""
    prefix = row_prefix(table.id)
    low = prefix + _encoded(table, access.low.values)
    high = prefix + _encoded(table, access.high.values)
    if access.low.values and not access.low.inclusive:
        low = after_prefix(low)
    if not access.high.values or access.high.inclusive:
        high = after_prefix(high)
    return low, high


def _encoded(table: TimeseriesTable, values: tuple[Any, ...]) -> bytes:
    """Values of leading key columns as keys have them; a hash alone is that of any counter."""
    if not values:
        return b""
    try:
        digest = bytes.fromhex(values[0])
        time = time_bytes(values[1]) if len(values) > 1 else b""
        keys = b"".join(map(encode_key_value, values[2:]))
    except (ValueError, TypeError, OverflowError, AttributeError) as error:
        raise InvalidRequest(TimeseriesRule.POSITION) from error
    if len(digest) != HASH_BYTES or len(values) > 2 + len(table.field_keys):
        raise InvalidRequest(TimeseriesRule.POSITION)
    return digest + (b"\0" + time + keys if time else b"")


def scan_points_by_key(
    context: TimeseriesContext,
    reader: Reader,
    table: TimeseriesTable,
    access: RowAccess,
    after: bytes,
) -> Iterator[ScannedRow]:
    """The live points that an access reaches, as rows. Raises `InvalidRequest`, `NotFound`."""
    if access.index:
        raise NotFound(Rule.TABLE_NOT_FOUND, instance=table.instance, table=access.index)
    start, stop = point_bounds(table, access)
    if after:
        start, stop = (start, after) if access.reverse else (after + b"\x00", stop)
    live_from_us = context.live_from_us(table)
    series = SeriesOfPoints(reader)
    names = [each.name for each in table.field_keys]
    for key, stored in reader.scan(start, stop, reverse=access.reverse):
        time_us = int.from_bytes(key[TIME_AT:_TIME_END], "big")
        if time_us < live_from_us:
            continue
        found = series.of(key)
        row = found.columns.copy()
        row[TIME_COLUMN] = time_us
        if names:
            row.update(zip(names, key_fields(table, key), strict=True))
        row.update(point_fields(context.layouts, found.record, stored))
        yield ScannedRow(row, key)
