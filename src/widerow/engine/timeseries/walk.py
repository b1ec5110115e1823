"""Walks over the points of a table in the order of their keys, a split or a measurement of it.

Compiled: scans, queries and exports spend their time here.
"""

from collections.abc import Iterator
from typing import Final, final

from widerow.errors import StoreDamaged
from widerow.keys.encode import after_prefix
from widerow.keys.layout import SPACE_LOCAL_INDEXES, SPACE_ROWS, row_prefix
from widerow.keys.series import TIME_AT, series_of, time_bytes
from widerow.rows.series import SeriesRecord, decode_series
from widerow.safepoint import safepoint
from widerow.storage.interface import Reader

__all__ = ["PointRange", "SeriesOfPoints", "Walked", "WalkedSeries", "walk_points"]

_ROWS_BETWEEN_PAUSES: Final = 128
_TIME_MAX: Final = 2**63


@final
class WalkedSeries:
    """A series that a walk over points has met. `prefix`: of the keys of its points."""

    __slots__ = ("canonical", "key", "prefix", "record")

    def __init__(self, prefix: bytes, record: SeriesRecord) -> None:
        """Raises `StoreDamaged` where the record has no key of a series."""
        self.prefix = prefix
        self.record = record
        self.key = series_of(record.canonical)


@final
class SeriesOfPoints:
    """The series of points that are read in the order of their keys: one read for each series."""

    __slots__ = ("_found", "_reader")

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._found: WalkedSeries | None = None

    def of(self, key: bytes) -> WalkedSeries:
        """The series of a point. Raises `StoreDamaged` where it has no record."""
        found = self._found
        if found is None or not key.startswith(found.prefix):
            prefix = key[:TIME_AT]
            stored = self._reader.get(SPACE_LOCAL_INDEXES + prefix[1:])
            if stored is None:
                raise StoreDamaged(f"points have no record of their series: {key.hex()}")
            found = self._found = WalkedSeries(prefix, decode_series(stored))
        return found


@final
class PointRange:
    """Which points a walk goes over: start ≤ key < stop, and what time and series have to be.

    `begin_us`, `end_us`: times outside are passed over; where `seeks`, by looking up where they end
    in each series. `leading`: what the canonical keys of series begin with; b"": any.
    """

    __slots__ = ("begin_us", "end_us", "leading", "reverse", "seeks", "start", "stop")

    def __init__(self, table_id: int) -> None:
        self.start = row_prefix(table_id)
        self.stop = after_prefix(self.start)
        self.begin_us = 0
        self.end_us = _TIME_MAX
        self.leading = b""
        self.reverse = False
        self.seeks = False


Walked = tuple[WalkedSeries | None, bytes, bytes]
"""A series, and key and record of a point; without a series: a place that the walk passed."""


def walk_points(reader: Reader, found: PointRange) -> Iterator[Walked]:
    """The points of a range; and places without a point, so that a reader may end between points.

    Raises `StoreDamaged`.
    """
    return _by_series(reader, found) if found.seeks else _by_points(reader, found)


def _by_points(reader: Reader, found: PointRange) -> Iterator[Walked]:
    series = SeriesOfPoints(reader)
    begin, end = time_bytes(found.begin_us), time_bytes(found.end_us)
    pairs = reader.scan(found.start, found.stop, reverse=found.reverse)
    for count, (key, record) in enumerate(pairs):
        if count % _ROWS_BETWEEN_PAUSES == 0:
            safepoint()
        if begin <= key[TIME_AT : TIME_AT + 8] < end:
            yield series.of(key), key, record
        else:
            yield None, key, b""


def _by_series(reader: Reader, found: PointRange) -> Iterator[Walked]:
    """Series by their records, and of each the points between two times: one seek a series."""
    begin, end = time_bytes(found.begin_us), time_bytes(found.end_us)
    first = SPACE_LOCAL_INDEXES + found.start[1:TIME_AT]
    for key, stored in reader.scan(first, SPACE_LOCAL_INDEXES + found.stop[1:]):
        if len(key) != TIME_AT:
            continue  # of a last-point index
        prefix = SPACE_ROWS + key[1:]
        record = decode_series(stored)
        if not record.canonical.startswith(found.leading):
            yield None, prefix, b""
            continue
        series = WalkedSeries(prefix, record)
        start, stop = max(prefix + begin, found.start), min(prefix + end, found.stop)
        for point, values in reader.scan(start, stop):
            yield series, point, values
        safepoint()
        yield None, prefix + end, b""
