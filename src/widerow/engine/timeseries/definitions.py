"""Definitions of timeseries tables as requests make and change them (timeseries §3, §10, §11)."""

from collections.abc import Callable
from dataclasses import replace

from widerow.errors import Exhausted
from widerow.limits import SERIES_INDEXES_MAX
from widerow.model.timeseries.requests import TableRequest
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import DEFAULT_KEY, LastpointIndex, TimeseriesTable

__all__ = ["check_index_room", "new_series_table"]


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
        tuple(LastpointIndex(name, number()) for name in request.lastpoints),
        request.hashed,
        request.meta_index,
    )
    check_index_room(table)
    return table


def check_index_room(table: TimeseriesTable) -> None:
    """Raise `Exhausted` for more stores and indexes than a table may have (timeseries §1)."""
    if len(table.stores) + len(table.lastpoints) > SERIES_INDEXES_MAX:
        raise Exhausted(TimeseriesRule.LASTPOINT_COUNT, limit=SERIES_INDEXES_MAX)
