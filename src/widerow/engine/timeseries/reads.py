"""GetTimeseriesData: the points of one series, page by page (timeseries §5). Compiled."""

from collections.abc import Iterator, Mapping
from typing import Final

from widerow.engine.budget import Budget
from widerow.engine.timeseries.context import KnownSeries, TimeseriesContext
from widerow.engine.timeseries.stored import find_series, point_fields
from widerow.errors import InvalidRequest
from widerow.keys.decode import decode_key
from widerow.keys.series import TIME_AT, series_shards, time_bytes
from widerow.limits import SERIES_PAGE_BYTES_MAX, SERIES_PAGE_POINTS_MAX
from widerow.model.timeseries.points import StoredPoint
from widerow.model.timeseries.requests import PointPage, PointQuery
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import TimeseriesTable
from widerow.model.values import ColumnType, KeyValue, Value, column_type
from widerow.rows.points import Layouts
from widerow.rows.series import SeriesRecord
from widerow.storage.interface import Reader

__all__ = ["chosen_fields", "key_fields", "page_limit", "read_points"]

_FORWARD: Final = b"\x01f"  # a version and a direction; the key of the last point follows
_BACKWARD: Final = b"\x01b"
_TIME_BYTES: Final = 8
_TIME_END: Final = TIME_AT + _TIME_BYTES
_UNIT_BYTES: Final = 4096  # that are counted as one unit of load
_TIME_MAX: Final = 2**63


def page_limit(limit: int) -> int:
    """How many points a page has at most."""
    return SERIES_PAGE_POINTS_MAX if limit <= 0 else min(limit, SERIES_PAGE_POINTS_MAX)


def chosen_fields(
    fields: dict[str, Value], wanted: Mapping[str, ColumnType | None]
) -> dict[str, Value]:
    """The fields that are wanted, those without the type that is asked for left out."""
    chosen: dict[str, Value] = {}
    for name, value in fields.items():
        if name in wanted:
            kind = wanted[name]
            if kind is None or kind is column_type(value):
                chosen[name] = value
    return chosen


def key_fields(table: TimeseriesTable, key: bytes) -> tuple[KeyValue, ...]:
    """The key fields of a point. Raises `StoreDamaged`."""
    if not table.field_keys:
        return ()
    return decode_key(key, _TIME_END, [each.type for each in table.field_keys])[0]


def read_points(
    context: TimeseriesContext,
    source: tuple[Reader, Budget | None],
    table: TimeseriesTable,
    series: KnownSeries,
    query: PointQuery,
) -> PointPage:
    """A page of the points of a series. Raises `InvalidRequest`, `StoreDamaged`.

    Cost: one read, and a scan of the points of the page, and of those without a wanted field.
    Raises `TooLong` where it takes more than the budget in `source`, if there is one.
    """
    reader, budget = source
    if query.begin_us >= query.end_us:
        raise InvalidRequest(TimeseriesRule.TIME_RANGE)
    direction = _BACKWARD if query.backward else _FORWARD
    after = query.after
    if after and (after[:2] != direction or len(after) < len(direction) + _TIME_BYTES):
        raise InvalidRequest(TimeseriesRule.POSITION)
    of_points, of_series = series_shards(table.id, series.digest)
    counter, record = find_series(reader, of_series, series.canonical)
    begin_us = max(query.begin_us, context.live_from_us(table), 0)
    if record is None or begin_us >= query.end_us:
        return PointPage((), b"")
    prefix = of_points + counter
    start = prefix + time_bytes(begin_us)
    stop = prefix + time_bytes(min(query.end_us, _TIME_MAX))
    if after and query.backward:
        stop = min(stop, prefix + after[2:])
    elif after:
        start = max(start, prefix + after[2:] + b"\x00")
    stored = reader.scan(start, stop, reverse=query.backward)
    page, size = _page(context.layouts, table, (series, record), query, (stored, budget))
    context.notes.add(table.id, series.digest, 1 + size // _UNIT_BYTES, 0)
    return page


def _page(
    layouts: Layouts,
    table: TimeseriesTable,
    series: tuple[KnownSeries, SeriesRecord],
    query: PointQuery,
    source: tuple[Iterator[tuple[bytes, bytes]], Budget | None],
) -> tuple[PointPage, int]:
    """The points of a scan up to the end of the page, and the bytes that were read for them."""
    known, record = series
    stored_points, budget = source
    limit = page_limit(query.limit)
    wanted, has_keys = query.fields, bool(table.field_keys)
    points: list[StoredPoint] = []
    keys: tuple[KeyValue, ...] = ()
    size = 0
    last = b""
    for key, stored in stored_points:
        if budget is not None:
            budget.take(len(stored), 1)
        fields = point_fields(layouts, record, stored)
        if wanted:
            fields = chosen_fields(fields, wanted)
            if not fields:
                continue
        if len(points) >= limit or size >= SERIES_PAGE_BYTES_MAX:
            direction = _BACKWARD if query.backward else _FORWARD
            return PointPage(points, direction + last[TIME_AT:], size), size
        last = key
        size += len(key) + len(stored)
        if has_keys:
            keys = key_fields(table, key)
        time_us = int.from_bytes(key[TIME_AT:_TIME_END], "big")
        points.append(StoredPoint(known.key, time_us, keys, fields))
    return PointPage(points, b"", size), size
