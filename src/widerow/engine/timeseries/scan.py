"""All points of a table in the order of their keys, for SQL, export and checks (timeseries §12).

A row is a point: the columns of its series' key (`_m_name`, `_data_source`, `_tags`), `_time`, key
fields and fields by their names.
The key of rows is `_#h`, `_time` and the key fields; bounds name values of these.
"""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from widerow.engine.scan import COLUMN_PAGE_ROWS, ColumnPage, RowAccess, ScannedRow
from widerow.engine.timeseries.context import TimeseriesContext
from widerow.engine.timeseries.reads import key_fields
from widerow.engine.timeseries.stored import point_fields
from widerow.engine.timeseries.walk import PointRange, WalkedSeries, walk_points
from widerow.errors import InvalidRequest, NotFound, Rule
from widerow.keys.encode import after_prefix, encode_key_value
from widerow.keys.layout import row_prefix
from widerow.keys.series import HASH_BYTES, SERIES_COUNTER_AT, TIME_AT, time_bytes
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import TimeseriesTable
from widerow.storage.interface import Reader

__all__ = ["hash_of_point", "point_bounds", "scan_point_columns", "scan_points_by_key"]

_TIME_COLUMN: Final = "_time"
_TIME_END: Final = TIME_AT + 8
_PAGE_BYTES: Final = 1024 * 1024


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


def hash_of_point(row: ScannedRow) -> str:
    """`_#h` of a scanned point."""
    return row.position[SERIES_COUNTER_AT - HASH_BYTES : SERIES_COUNTER_AT].hex()


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


def _range(
    context: TimeseriesContext, table: TimeseriesTable, access: RowAccess, after: bytes
) -> PointRange:
    if access.index:
        raise NotFound(Rule.TABLE_NOT_FOUND, instance=table.instance, table=access.index)
    found = PointRange(table.id)
    found.start, found.stop = point_bounds(table, access)
    found.reverse = access.reverse
    if after and access.reverse:
        found.stop = min(found.stop, after)
    elif after:
        found.start = max(found.start, after + b"\x00")
    found.begin_us = context.live_from_us(table)
    return found


def scan_points_by_key(
    context: TimeseriesContext,
    reader: Reader,
    table: TimeseriesTable,
    access: RowAccess,
    after: bytes,
) -> Iterator[ScannedRow]:
    """The live points that an access reaches, as rows. Raises `InvalidRequest`, `NotFound`."""
    found = _range(context, table, access, after)
    names = [each.name for each in table.field_keys]
    columns: dict[str, Any] = {}
    met: WalkedSeries | None = None
    for series, key, stored in walk_points(reader, found):
        if series is None:
            continue
        if series is not met:
            met = series
            columns = dict(zip(table.key, table.key_values(series.key), strict=True))
        row: dict[str, Any] = point_fields(context.layouts, series.record, stored)
        row.update(columns)  # a field may have the name of an own key column
        row[_TIME_COLUMN] = int.from_bytes(key[TIME_AT:_TIME_END], "big")
        if names:
            row.update(zip(names, key_fields(table, key), strict=True))
        yield ScannedRow(row, key)


def scan_point_columns(
    context: TimeseriesContext,
    reader: Reader,
    table: TimeseriesTable,
    access: RowAccess,
    wanted: tuple[Sequence[str], int],
) -> Iterator[ColumnPage]:
    """Columns of what `scan_points_by_key` gives. `wanted`: their names, rows of the first page."""
    names, limit = wanted
    found = _range(context, table, access, b"")
    keys = [(each.name, at) for at, each in enumerate(table.field_keys)]
    columns: list[list[Any]] = [[] for _ in names]
    of_series: dict[str, str] = {}
    met: WalkedSeries | None = None
    size = rows = 0
    for series, key, stored in walk_points(reader, found):
        size += len(key) + len(stored)
        if series is None:
            continue
        if series is not met:
            met = series
            of_series = dict(zip(table.key, table.key_values(series.key), strict=True))
        row: dict[str, Any] = point_fields(context.layouts, series.record, stored)
        row.update(of_series)
        row[_TIME_COLUMN] = int.from_bytes(key[TIME_AT:_TIME_END], "big")
        if keys:
            values = key_fields(table, key)
            row.update([(name, values[at]) for name, at in keys])
        for at, name in enumerate(names):
            columns[at].append(row.get(name))
        rows += 1
        if rows >= limit or size >= _PAGE_BYTES:
            yield ColumnPage(rows, size, columns)
            columns = [[] for _ in names]
            size = rows = 0
            limit = min(COLUMN_PAGE_ROWS, limit * 4)
    if size:
        yield ColumnPage(rows, size, columns)
