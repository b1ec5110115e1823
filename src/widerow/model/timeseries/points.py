"""Points of series, as requests put them and answers have them (timeseries §1, §4, §5)."""

from collections.abc import Mapping
from typing import Final, NamedTuple

from widerow.model.timeseries.series import SeriesKey
from widerow.model.values import Value

__all__ = [
    "HASH_COLUMN",
    "POINT_ROWS_SUFFIX",
    "POINT_SUFFIXES",
    "POINT_TIME_COLUMN",
    "Point",
    "StoredPoint",
]

HASH_COLUMN: Final = "_#h"
POINT_ROWS_SUFFIX: Final = "#timeseries"
"""What the name of a table has behind it where its points are rows (timeseries §9)."""
POINT_TIME_COLUMN: Final = "_time"
POINT_SUFFIXES: Final[dict[type, str]] = {int: "l", bool: "b", float: "d", str: "s", bytes: "n"}
"""What the names of fields end with, behind a colon, where points are rows (timeseries §9)."""


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
