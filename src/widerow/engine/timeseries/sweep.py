"""Removing points and metas whose time is over (timeseries §3.1).

A pass looks at the first point of each series and no further, once it is live; at every meta; and
at the record of every series, which goes when nothing needs it. How long a pass waits for the next
is a sixteenth of the shorter time to live, between an hour and a day.
"""

from functools import partial
from itertools import islice
from typing import Final

from widerow.engine.catalog.state import Leftover
from widerow.engine.sweep.model import NOTHING_FREED, STAYS, Freed, SweptModel, SweptRecord
from widerow.engine.sweep.record import SweepRecord
from widerow.engine.timeseries.context import US_IN_SECOND, TimeseriesContext
from widerow.engine.timeseries.lastpoints import decode_last
from widerow.engine.timeseries.puts import refresh_us
from widerow.errors import NotFound
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    ROW_PREFIX_BYTES,
    SPACE_LOCAL_INDEXES,
    SPACE_ROWS,
    local_index_prefix,
    row_prefix,
)
from widerow.keys.series import SERIES_COUNTER_AT, TIME_AT, time_bytes
from widerow.limits import SWEEP_PAUSE_SHARE, SWEEP_RENEWAL_HOURS
from widerow.model.timeseries.table import TimeseriesTable
from widerow.rows.series import decode_meta, decode_series
from widerow.storage.interface import Reader, Transaction

__all__ = ["TimeseriesSweep"]

_HOUR_US: Final = 3_600 * US_IN_SECOND
_REMOVED_TOGETHER: Final = 32  # points of a series in one write: a step reads some thousands


class TimeseriesSweep(SweptModel[TimeseriesTable]):
    """The sweep's view of timeseries tables."""

    kind = TimeseriesTable
    counts_cleared = False  # last points were not counted as rows

    def __init__(self, context: TimeseriesContext) -> None:
        self._context = context

    def among(self, leftover: Leftover) -> bytes:
        """A dropped last-point index has its records beside those of the table's series."""
        return local_index_prefix(leftover.top)

    def place_of(self, record: bytes, key: bytes, table_id: int) -> bytes | None:
        """The series of a record of a dropped last-point index; None for other records."""
        del record
        is_its = key[TIME_AT:] == table_id.to_bytes(4, "big")
        return key[ROW_PREFIX_BYTES:SERIES_COUNTER_AT] if is_its else None

    def is_swept(self, table: TimeseriesTable) -> bool:
        """Whether points or metas of the table expire."""
        return max(table.options.ttl_s, table.options.meta_ttl_s) >= 0

    def ranges(self, table: TimeseriesTable) -> tuple[tuple[bytes, bytes], ...]:
        """Points, then records of series, and metas."""
        prefixes = row_prefix(table.id), local_index_prefix(table.id), row_prefix(table.meta_id)
        return tuple((prefix, after_prefix(prefix)) for prefix in prefixes)

    def due_us(self, table: TimeseriesTable, last: SweepRecord | None) -> int:
        """When the next pass is due, by the module's rule; at once where there was none yet."""
        if last is None:
            return 0
        options = table.options
        lives = [ttl_s for ttl_s in (options.ttl_s, options.meta_ttl_s) if ttl_s >= 0]
        share = min(lives) // SWEEP_PAUSE_SHARE * US_IN_SECOND
        return last.ended_us + min(max(_HOUR_US, share), SWEEP_RENEWAL_HOURS * _HOUR_US)

    def examine(
        self, table: TimeseriesTable, key: bytes, record: bytes, reader: Reader
    ) -> SweptRecord:
        """What to do about a point, the record of a series, or a meta. Raises `StoreDamaged`."""
        if key.startswith(SPACE_LOCAL_INDEXES):
            return self._examine_series(table, key, record, reader)
        if key.startswith(row_prefix(table.meta_id)):
            if decode_meta(record)[0] >= self._context.metas_from_us(table):
                return STAYS
            return SweptRecord(shards=(key,), body=partial(self._remove_meta, table, key))
        return self._examine_points(table, key, reader)

    # --- points ------------------------------------------------------------------------------

    def _examine_points(self, table: TimeseriesTable, key: bytes, reader: Reader) -> SweptRecord:
        """Remove some points from the front of a series; pass over all once one is live."""
        stop = self._first_live(table, key)
        if key >= stop:
            return SweptRecord(following=after_prefix(key[:TIME_AT]))
        keys = [each for each, _ in islice(reader.scan(key, stop), _REMOVED_TOGETHER + 1)]
        if len(keys) > _REMOVED_TOGETHER:
            stop = keys[-1]
        body = partial(self._remove_points, table, key, stop)
        shard = key[:SERIES_COUNTER_AT]
        return SweptRecord(shards=(shard,), body=body, following=stop)

    def _first_live(self, table: TimeseriesTable, key: bytes) -> bytes:
        """Where live points begin in the series of a point."""
        return key[:TIME_AT] + time_bytes(max(0, self._context.live_from_us(table)))

    def _remove_points(
        self, table: TimeseriesTable, start: bytes, stop: bytes, txn: Transaction
    ) -> Freed:
        try:
            current = self._context.tables.current(table, txn)
        except NotFound:
            return NOTHING_FREED  # the table was dropped: its drop note deletes the points
        stop = min(stop, self._first_live(current, start))
        found = [(key, len(record)) for key, record in txn.scan(start, stop)]
        for key, _ in found:
            txn.delete(key)
        size = sum([len(key) + length for key, length in found])
        return Freed(start[ROW_PREFIX_BYTES:SERIES_COUNTER_AT], rows=len(found), size=size)

    # --- series and metas --------------------------------------------------------------------

    def _examine_series(
        self, table: TimeseriesTable, key: bytes, record: bytes, reader: Reader
    ) -> SweptRecord:
        if len(key) != TIME_AT:
            return self._examine_last(table, key, record)
        if not self._is_unused(table, key, record, reader):
            return STAYS
        row_shard = SPACE_ROWS + key[1:SERIES_COUNTER_AT]
        shards = row_shard, key[:SERIES_COUNTER_AT]
        return SweptRecord(shards=shards, body=partial(self._remove_series, table, key))

    def _examine_last(self, table: TimeseriesTable, key: bytes, record: bytes) -> SweptRecord:
        """Remove last points that are older than points of the table live."""
        if not self._is_last_gone(table, record):
            return STAYS
        shards = SPACE_ROWS + key[1:SERIES_COUNTER_AT], key[:SERIES_COUNTER_AT]
        return SweptRecord(shards=shards, body=partial(self._remove_last, table, key))

    def _is_last_gone(self, table: TimeseriesTable, record: bytes) -> bool:
        newest_us = decode_last(self._context.layouts, record).time_us
        return newest_us < self._context.live_from_us(table)

    def _remove_last(self, table: TimeseriesTable, key: bytes, txn: Transaction) -> Freed:
        try:
            current = self._context.tables.current(table, txn)
        except NotFound:
            return NOTHING_FREED
        record = txn.get(key)
        if record is None or not self._is_last_gone(current, record):
            return NOTHING_FREED
        txn.delete(key)
        return Freed(size=len(key) + len(record))

    def _is_unused(self, table: TimeseriesTable, key: bytes, record: bytes, reader: Reader) -> bool:
        """Whether nothing would be missed without the record of a series.

        Its meta has not been written lately, so the next put looks after that in any case; no put
        can be under way that knows its epoch; it has neither points nor last points; and no series
        with the same hash stands behind it, which is found by way of it.
        """
        series = decode_series(record)
        idle_us = self._context.clock.now_us() - max(_HOUR_US, refresh_us(table))
        if max(series.refreshed_us, series.epoch_us) > idle_us:
            return False
        behind = key[:SERIES_COUNTER_AT]
        beside = next(reader.scan(key + b"\x00", after_prefix(behind)), None)
        points = SPACE_ROWS + key[1:]
        return beside is None and next(reader.scan(points, after_prefix(points)), None) is None

    def _remove_series(self, table: TimeseriesTable, key: bytes, txn: Transaction) -> Freed:
        record = txn.get(key)
        if record is None or not self._is_unused(table, key, record, txn):
            return NOTHING_FREED
        txn.delete(key)
        return Freed(size=len(key) + len(record))

    def _remove_meta(self, table: TimeseriesTable, key: bytes, txn: Transaction) -> Freed:
        try:
            current = self._context.tables.current(table, txn)
        except NotFound:
            return NOTHING_FREED
        record = txn.get(key)
        if record is None or decode_meta(record)[0] >= self._context.metas_from_us(current):
            return NOTHING_FREED
        txn.delete(key)
        return Freed(size=len(key) + len(record))
