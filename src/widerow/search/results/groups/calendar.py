"""Divides time into spans: fixed ones, months and years (search §6.3).

Times are milliseconds since 1970 in UTC. Successive spans have successive numbers.
"""

import re
from typing import Final, NamedTuple

import numpy as np

from widerow.errors import InvalidRequest
from widerow.model.search.aggregation import DateHistogramGroupBy
from widerow.model.search.query import DateTimeUnit, DateTimeValue
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.interface import Integers
from widerow.search.results.breakdown_rules import group_kind

__all__ = ["Calendar", "calendar_of"]

_U = DateTimeUnit
_SECOND: Final = 1000
_DAY: Final = 24 * 3600 * _SECOND
_FIXED: Final[dict[DateTimeUnit, int]] = {
    _U.WEEK: 7 * _DAY,
    _U.DAY: _DAY,
    _U.HOUR: 3600 * _SECOND,
    _U.MINUTE: 60 * _SECOND,
    _U.SECOND: _SECOND,
    _U.MILLISECOND: 1,
}
_MONTHS: Final[dict[DateTimeUnit, int]] = {_U.YEAR: 12, _U.QUARTER_YEAR: 3, _U.MONTH: 1}
_OFFSET_DAYS: Final[dict[DateTimeUnit, int]] = {_U.YEAR: 365, _U.QUARTER_YEAR: 90, _U.MONTH: 30}
_MONDAY: Final = 4 * _DAY  # 1970-01-05
_SPAN_MAX: Final = 2**53  # milliseconds: longer than the range of dates
_ZONE: Final = re.compile(r"(?P<sign>[+-])(?P<hours>[0-9]{1,2}):?(?P<minutes>[0-9]{2})")
_UTC: Final = ("", "Z", "UTC")
_ZONE_HOURS_MAX: Final = 18  # as in Java


class Calendar(NamedTuple):
    """Spans of `months` each, or else of `width` milliseconds; all shifted by `shift`."""

    months: int
    width: int
    shift: int

    def codes(self, times: Integers) -> Integers:
        """The number of the span of each time."""
        local = times - self.shift
        if not self.months:
            return local // self.width
        return (
            local.astype("datetime64[ms]").astype("datetime64[M]").astype(np.int64) // self.months
        )

    def start(self, code: int) -> int:
        """The beginning of a span."""
        if not self.months:
            return code * self.width + self.shift
        first = np.datetime64(code * self.months, "M").astype("datetime64[ms]")
        return int(first.astype(np.int64)) + self.shift


def calendar_of(asked: DateHistogramGroupBy) -> Calendar:
    """The calendar of a date histogram. Raises `InvalidRequest`."""
    kind = group_kind(asked)
    shift = _milliseconds(asked.offset, kind) - _zone(asked.time_zone or "", kind)
    value, unit = asked.interval.value, asked.interval.unit
    if value <= 0:
        raise InvalidRequest(TablestoreRule.GROUP_INTERVAL, kind=kind)
    if unit in _MONTHS:
        months = value * _MONTHS[unit]
        if months > _SPAN_MAX // (31 * _DAY):
            raise InvalidRequest(TablestoreRule.GROUP_INTERVAL, kind=kind)
        return Calendar(months, 0, shift)
    width = _milliseconds(asked.interval, kind)
    if unit is _U.WEEK and value == 1:
        shift += _MONDAY
    return Calendar(0, width, shift)


def _milliseconds(span: DateTimeValue | None, kind: str) -> int:
    if span is None:
        return 0
    width = _FIXED.get(span.unit) or _OFFSET_DAYS[span.unit] * _DAY
    if abs(span.value * width) > _SPAN_MAX:
        raise InvalidRequest(TablestoreRule.GROUP_INTERVAL, kind=kind)
    return span.value * width


def _zone(text: str, kind: str) -> int:
    """Milliseconds that local time is ahead of UTC."""
    if text in _UTC:
        return 0
    found = _ZONE.fullmatch(text)
    hours, minutes = (int(found["hours"]), int(found["minutes"])) if found else (0, 60)
    if found is None or hours > _ZONE_HOURS_MAX or minutes > 59:
        raise InvalidRequest(TablestoreRule.GROUP_ZONE, kind=kind, zone=text[:32])
    ahead = (hours * 60 + minutes) * 60 * _SECOND
    return ahead if found["sign"] == "+" else -ahead
