"""Selections of reads: versions, columns, filter, ranges of rows (semantics §5)."""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from widerow.limits import INT64_MAX
from widerow.model.tablestore.filter import Filter, Pagination
from widerow.model.tablestore.row import PrimaryKey

__all__ = ["RangeDirection", "Resume", "RowRange", "Selection", "TimeRange"]


class TimeRange(NamedTuple):
    """Versions from `start` (inclusive) to `end` (exclusive), in milliseconds; any from 0 on."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Selection:
    """Which cells of a row are read.

    `columns` empty: all columns. `max_versions` per column, after the table's own; 0 where a
    request names neither versions nor times, which the engine refuses. `start_column` inclusive and
    `end_column` exclusive, in byte order of names. `everything` is true when only `max_versions`
    can hide a cell, so that a stored row may be copied as it is.
    """

    columns: frozenset[str] = frozenset()
    max_versions: int = INT64_MAX
    time_range: TimeRange | None = None
    filter: Filter | None = None
    pagination: Pagination | None = None
    start_column: str | None = None
    end_column: str | None = None
    everything: bool = field(init=False)

    def __post_init__(self) -> None:
        """Decide once whether stored rows can be copied."""
        restricted = (
            self.columns
            or self.max_versions == 0
            or self.time_range is not None
            or self.filter is not None
            or self.pagination is not None
            or self.start_column is not None
            or self.end_column is not None
        )
        object.__setattr__(self, "everything", not restricted)


class Resume(NamedTuple):
    """Where a page of a wide row ended: the next column, and how many columns were passed."""

    column: str
    seen: int


class RangeDirection(IntEnum):
    """The direction of a range read. The numbers are those of the wire."""

    FORWARD = 0
    BACKWARD = 1


class RowRange(NamedTuple):
    """Rows from `start` (inclusive) to `end` (exclusive) in `direction`; bounds may be infinite.

    `limit`: at most so many rows in one page; None leaves it to the page's own bounds.
    """

    start: PrimaryKey
    end: PrimaryKey
    direction: RangeDirection = RangeDirection.FORWARD
    limit: int | None = None
