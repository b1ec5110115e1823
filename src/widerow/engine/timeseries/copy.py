"""Copies of timeseries tables, for snapshots of an instance (docs/guide/testing.md)."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from widerow.engine.copying import (
    CopyMoment,
    CopyNotYet,
    CopyRefused,
    CopyRoom,
    ModelCopy,
    PlacedTables,
    Records,
    has_any,
)
from widerow.engine.streams.log import log_prefix
from widerow.engine.timeseries.model import TIMESERIES_MODEL
from widerow.keys.layout import (
    ROW_PREFIX_BYTES,
    change_prefix,
    intent_prefix,
    local_index_prefix,
    row_prefix,
    tunnel_prefix,
    tunnels_prefix,
)
from widerow.keys.series import TIME_AT
from widerow.model.timeseries.table import LastpointIndex, TimeseriesTable

__all__ = ["TimeseriesCopy", "copy_series_tables"]


class _CopiedTable(NamedTuple):
    """A table, with records whose keys lack the table's prefix.

    `series`: the records of series, and of last points. `changes`: of the stream, without its
    number too. `tunnels`: the state of each, without its number.
    """

    table: TimeseriesTable
    points: Records
    series: Records
    metas: Records
    changes: Records
    tunnels: tuple[Records, ...]


class TimeseriesCopy(ModelCopy):
    """The timeseries tables of one instance."""

    def __init__(self, tables: tuple[_CopiedTable, ...], size: int) -> None:
        self.names = tuple([each.table.name for each in tables])
        self.rows = sum(len(each.points) for each in tables)
        self.size = size
        self.numbers = sum(map(_numbers_of, tables))
        self.tables = tables

    def filled(self, number: int) -> tuple[bytes, ...]:
        """The prefixes under which records of a new table may be written."""
        beside = local_index_prefix(number), change_prefix(number), tunnels_prefix(number)
        return row_prefix(number), *beside

    def under(self, number: Callable[[], int], now_us: int) -> PlacedTables:
        """The tables under new numbers."""
        del now_us
        made = [(each, _after(each.table, number)) for each in self.tables]
        return PlacedTables(
            tuple([(TIMESERIES_MODEL, after) for _, after in made]),
            chain.from_iterable([_records_of(*each) for each in made]),
            lambda: None,
        )


def _numbers_of(copied: _CopiedTable) -> int:
    """How many numbers a table takes: points, metas and stream, indexes, tunnels."""
    return 3 + len(copied.table.lastpoints) + len(copied.table.tunnels)


def _after(before: TimeseriesTable, number: Callable[[], int]) -> TimeseriesTable:
    """The table with new numbers for its points, metas, stream, last-point indexes and tunnels."""
    return replace(
        before,
        id=number(),
        meta_id=number(),
        lastpoints=tuple([replace(each, number=number()) for each in before.lastpoints]),
        stream=replace(before.stream, number=number()),
        tunnels=tuple([replace(each, number=number()) for each in before.tunnels]),
    )


def _records_of(copied: _CopiedTable, after: TimeseriesTable) -> Iterator[tuple[bytes, bytes]]:
    for key, record in copied.points:
        yield row_prefix(after.id) + key, record
    for key, record in copied.changes:
        yield log_prefix(after.id, after.stream) + key, record
    for tunnel, records in zip(after.tunnels, copied.tunnels, strict=True):
        for key, record in records:
            yield tunnel_prefix(after.id, tunnel.number) + key, record
    for key, record in copied.metas:
        yield row_prefix(after.meta_id) + key, record
    pairs = zip(copied.table.lastpoints, after.lastpoints, strict=True)
    indexes = {before.number: index for before, index in pairs}
    for key, record in copied.series:
        renumbered = _renumbered(key, indexes)
        if renumbered is not None:
            yield local_index_prefix(after.id) + renumbered, record


def _renumbered(key: bytes, indexes: dict[int, LastpointIndex]) -> bytes | None:
    """The key of a series or last point in the new table; None for those of dropped indexes."""
    at = TIME_AT - ROW_PREFIX_BYTES
    if len(key) == at:
        return key
    index = indexes.get(int.from_bytes(key[at:], "big"))
    return None if index is None else key[:at] + index.number.to_bytes(4, "big")


def copy_series_tables(moment: CopyMoment, instance: str, room: int) -> TimeseriesCopy:
    """The tables of an instance. Raises `CopyRefused` for more than `room` bytes.

    `CopyRefused` is raised also where a last-point index is not built yet, and `CopyNotYet` where
    points are still to come into the stream.
    """
    reader, state, _ = moment
    counted = CopyRoom(instance, room)
    found: list[_CopiedTable] = []
    for table in TIMESERIES_MODEL.owned(state, instance):
        if not all(index.ready for index in table.lastpoints):
            raise CopyRefused(f"table {table.name!r} has an index that is being built")
        if has_any(reader, intent_prefix(table.id)):
            raise CopyNotYet(
                f"table {table.name!r} has points that its stream has not heard of, which a "
                "snapshot cannot hold; try again"
            )
        points = counted.behind(reader, row_prefix(table.id))
        series = counted.behind(reader, local_index_prefix(table.id))
        metas = counted.behind(reader, row_prefix(table.meta_id))
        changes = counted.behind(reader, log_prefix(table.id, table.stream))
        tunnels = [
            counted.behind(reader, tunnel_prefix(table.id, each.number)) for each in table.tunnels
        ]
        found.append(_CopiedTable(table, points, series, metas, changes, tuple(tunnels)))
    return TimeseriesCopy(tuple(found), counted.size)
