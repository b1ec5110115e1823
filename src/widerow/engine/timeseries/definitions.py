"""Definitions of timeseries tables as requests make and change them (timeseries §3, §10, §11)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from widerow.engine.streams.log_shards import new_stream
from widerow.engine.timeseries.static import with_options
from widerow.errors import Conflict, Exhausted, InvalidRequest, NotFound
from widerow.limits import SERIES_INDEXES_MAX, STREAM_HOURS_MAX
from widerow.model.streams import Stream
from widerow.model.timeseries.requests import SeriesOptionsChange, TableRequest
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import (
    DEFAULT_KEY,
    AnalyticalStore,
    LastpointIndex,
    TimeseriesOptions,
    TimeseriesTable,
)

__all__ = [
    "check_indexes",
    "new_series_table",
    "store_named",
    "stream_hours",
    "with_changed_options",
    "with_lastpoint",
    "with_store",
    "with_stream",
]

_HOUR_SECONDS: Final = 3600


def new_series_table(
    instance: str, request: TableRequest, number: Callable[[], int], now_us: int
) -> TimeseriesTable:
    """The table of a checked request. `number` gives new numbers of the catalogue."""
    table = TimeseriesTable(
        number(),
        number(),
        instance,
        request.name,
        request.options,
        DEFAULT_KEY if request.key is None else request.key,
        request.field_keys,
        tuple(replace(store, created_us=now_us, with_table=True) for store in request.stores),
        tuple(LastpointIndex(name, number(), created_us=now_us) for name in request.lastpoints),
        request.hashed,
        request.meta_index,
        stream=new_stream(request.name, stream_hours(request.options), (), number(), now_us),
    )
    check_indexes(table)
    return table


def stream_hours(options: TimeseriesOptions) -> int:
    """For how many hours records stay in the stream of a table: no longer than its points live."""
    if options.ttl_s < 0:
        return STREAM_HOURS_MAX
    return min(STREAM_HOURS_MAX, -(-options.ttl_s // _HOUR_SECONDS))


def with_changed_options(table: TimeseriesTable, change: SeriesOptionsChange) -> TimeseriesTable:
    """The table with other options. Raises `InvalidRequest`."""
    options = with_options(table.options, change)
    stream = replace(table.stream, expiration_hours=stream_hours(options))
    return replace(table, options=options, stream=stream)


def with_stream(table: TimeseriesTable, log: Stream) -> TimeseriesTable:
    """The table with another definition of its log."""
    return replace(table, stream=log)


def with_lastpoint(table: TimeseriesTable, index: LastpointIndex) -> TimeseriesTable:
    """The table with another last-point index. Raises `Conflict`, `Exhausted`."""
    after = replace(table, lastpoints=(*table.lastpoints, index))
    check_indexes(after)
    return after


def with_store(table: TimeseriesTable, store: AnalyticalStore) -> TimeseriesTable:
    """The table with an analytical store, its only one. Raises `InvalidRequest`, `Exhausted`."""
    if table.stores:
        raise InvalidRequest(TimeseriesRule.STORE_COUNT, table=table.name)
    after = replace(table, stores=(store,))
    check_indexes(after)
    return after


def store_named(table: TimeseriesTable, name: str) -> AnalyticalStore:
    """The analytical store of that name (timeseries §11). Raises `NotFound`."""
    for store in table.stores:
        if store.name == name:
            return store
    raise NotFound(TimeseriesRule.STORE_NOT_FOUND, table=table.name, store=name)


def check_indexes(table: TimeseriesTable) -> None:
    """Raise `Exhausted` for more stores and indexes than a table may have (timeseries §1).

    And `Conflict` where an index has the name of another one of the table, or of the table.
    """
    names = [table.name, *[index.name for index in table.lastpoints]]
    if len(set(names)) < len(names):
        taken = next(name for name in names if names.count(name) > 1)
        raise Conflict(TimeseriesRule.LASTPOINT_EXISTS, instance=table.instance, table=taken)
    if len(table.stores) + len(table.lastpoints) > SERIES_INDEXES_MAX:
        raise Exhausted(TimeseriesRule.LASTPOINT_COUNT, limit=SERIES_INDEXES_MAX)
