"""What can be asked of timeseries tables, and what is answered (timeseries §3-§11)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import NamedTuple

from widerow.errors import WiderowError
from widerow.model.timeseries.points import StoredPoint
from widerow.model.timeseries.series import SeriesKey, SeriesMeta, Tags
from widerow.model.timeseries.table import (
    AnalyticalStore,
    FieldKey,
    TimeseriesOptions,
)
from widerow.model.values import ColumnType

__all__ = [
    "AllOf",
    "AnyOf",
    "MetaChange",
    "MetaComparator",
    "MetaCondition",
    "MetaField",
    "MetaMatch",
    "MetaPage",
    "MetaQuery",
    "MetaUpdateMode",
    "NotThis",
    "PointPage",
    "PointQuery",
    "PointScan",
    "PutResult",
    "SeriesOptionsChange",
    "TableRequest",
]


@dataclass(frozen=True, slots=True)
class TableRequest:
    """A table to be created. `key`: None where the request names none; `stores`: all its stores."""

    name: str
    options: TimeseriesOptions
    key: tuple[str, ...] | None = None
    field_keys: tuple[FieldKey, ...] = ()
    stores: tuple[AnalyticalStore, ...] = ()
    lastpoints: tuple[str, ...] = ()
    hashed: bool = True
    meta_index: bool = True


class SeriesOptionsChange(NamedTuple):
    """What of a table's options is to be changed; None: it stays (timeseries §3.1)."""

    ttl_s: int | None = None
    meta_ttl_s: int | None = None
    update_attributes: bool | None = None


class MetaUpdateMode(IntEnum):
    """Whether a put keeps metas; the numbers are those of the protocol."""

    NORMAL = 0
    IGNORE = 1


class PutResult(NamedTuple):
    """What became of the points of a put.

    `failed`: by positions of points in the request, the error. `metas`: by the position of the
    first point of each series whose meta was written or checked, the seconds since 1970 of its
    update time.
    """

    failed: Mapping[int, WiderowError]
    metas: Mapping[int, int]


class PointQuery(NamedTuple):
    """The points of a series from `begin_us` to before `end_us`, in the order of time or reversed.

    `fields`: by names, the type that a field must have, None: any; empty: all fields. `after`: the
    `next` of an earlier page.
    """

    series: SeriesKey
    begin_us: int
    end_us: int
    backward: bool = False
    limit: int = 5000
    fields: Mapping[str, ColumnType | None] = {}  # nobody changes it
    after: bytes = b""


class PointScan(NamedTuple):
    """Points of all series of a table, or of a split of it; None: without a bound."""

    split: bytes = b""
    begin_us: int | None = None
    end_us: int | None = None
    limit: int = 5000
    fields: Mapping[str, ColumnType | None] = {}  # nobody changes it
    after: bytes = b""


class PointPage(NamedTuple):
    """Points that were read; `next`: where a further page begins, empty where there is none.

    `size`: the bytes of the points as they are stored.
    """

    points: Sequence[StoredPoint]
    next: bytes
    size: int = 0


class MetaComparator(Enum):
    """How a condition compares texts or times."""

    EQUAL = 1
    GREATER_THAN = 2
    GREATER_EQUAL = 3
    LESS_THAN = 4
    LESS_EQUAL = 5
    PREFIX = 6


class MetaField(Enum):
    """What a condition compares of a meta."""

    MEASUREMENT = 2
    SOURCE = 3
    TAG = 4
    UPDATE_TIME = 5
    ATTRIBUTE = 6


class MetaMatch(NamedTuple):
    """A comparison. `name`: of the tag or the attribute; `value`: a text, or microseconds."""

    field: MetaField
    comparator: MetaComparator
    value: str | int
    name: str = ""


class AllOf(NamedTuple):
    """Every one of these conditions."""

    parts: tuple["MetaCondition", ...]


class AnyOf(NamedTuple):
    """At least one of these conditions."""

    parts: tuple["MetaCondition", ...]


class NotThis(NamedTuple):
    """Where the condition does not hold."""

    part: "MetaCondition"


MetaCondition = MetaMatch | AllOf | AnyOf | NotThis


class MetaQuery(NamedTuple):
    """Metas that a condition holds for, None: all of them, in the order of keys of series."""

    condition: MetaCondition | None = None
    total: bool = False
    limit: int = 1000
    after: bytes = b""


class MetaPage(NamedTuple):
    """Metas that were found. `total`: of all pages, if it was asked for. `next`: as in points."""

    metas: Sequence[SeriesMeta]
    total: int | None
    next: bytes


class MetaChange(NamedTuple):
    """A meta to be written. `attributes`: None keeps those that there are."""

    key: SeriesKey
    attributes: Tags | None = None
