"""Points of series, as requests put them and answers have them (timeseries §1, §4, §5)."""

from collections.abc import Mapping
from typing import NamedTuple

from widerow.model.timeseries.series import SeriesKey
from widerow.model.values import Value

__all__ = ["Point", "StoredPoint"]


class Point(NamedTuple):
    """A point to be put. `time_us`: microseconds since 1970.

    `fields`: by names, those that are key columns of the table among them.
    """

    series: SeriesKey
    time_us: int
    fields: Mapping[str, Value]


class StoredPoint(NamedTuple):
    """A point that was read. `keys`: its key fields, in the order of the table's schema.

    `fields`: the other fields, by names, in the order of names.
    """

    series: SeriesKey
    time_us: int
    keys: tuple[Value, ...]
    fields: Mapping[str, Value]
