"""Instants in the calendar, and as texts that CAST and functions read (corrections B, CAST).

The calendar is the Gregorian one of all years from -6383 to 9999, in UTC.
"""

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from widerow.model.typed.values import Timestamp

__all__ = [
    "DAY_SECONDS",
    "CalendarParts",
    "calendar_parts",
    "days_of",
    "instant_of",
    "milliseconds_of",
    "moment_of_text",
    "of_milliseconds",
    "within_years",
]

DAY_SECONDS: Final = 86_400
_YEAR_MIN, _YEAR_MAX = -6383, 9999
_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # arithmetic without a zone; all is UTC
_TEXT: Final = re.compile(
    r"(-?\d{1,5})-(\d{1,2})-(\d{1,2})"
    r"(?:T(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?)?)?"
    r"(Z|[+-]\d{2}:?\d{2}|[+-]\d{2})?\Z",
    re.ASCII,
)


class CalendarParts(NamedTuple):
    """The parts of an instant."""

    year: int
    month: int
    day: int
    hour: int = 0
    minute: int = 0
    second: int = 0
    nanosecond: int = 0


def days_of(year: int, month: int, day: int) -> int:
    """Days since 1970 of a day of the calendar. Raises `ValueError` where there is no such day."""
    cycles = year // _CYCLE_YEARS - 1
    shifted = datetime(year - cycles * _CYCLE_YEARS, month, day)  # noqa: DTZ001  # no zone
    return (shifted - _EPOCH).days + cycles * _CYCLE_DAYS


def calendar_parts(moment: Timestamp) -> CalendarParts:
    """The parts of an instant."""
    days, seconds = divmod(moment[0], DAY_SECONDS)
    cycles, rest = divmod(days, _CYCLE_DAYS)
    day = _EPOCH + timedelta(days=rest)
    hour, seconds = divmod(seconds, 3600)
    minute, second = divmod(seconds, 60)
    year = day.year + cycles * _CYCLE_YEARS
    return CalendarParts(year, day.month, day.day, hour, minute, second, moment[1])


def instant_of(parts: CalendarParts) -> Timestamp:
    """The instant of parts. Raises `ValueError` where there is no such day."""
    days = days_of(parts.year, parts.month, parts.day)
    seconds = (parts.hour * 60 + parts.minute) * 60 + parts.second
    return Timestamp(days * DAY_SECONDS + seconds, parts.nanosecond)


_FIRST: Final = instant_of(CalendarParts(_YEAR_MIN, 1, 1))
_LAST: Final = instant_of(CalendarParts(_YEAR_MAX, 12, 31, 23, 59, 59, 999_999_999))


def within_years(moment: Timestamp) -> bool:
    """Whether an instant is one that a TIMESTAMP can hold."""
    return _FIRST <= moment <= _LAST


def milliseconds_of(moment: Timestamp) -> int:
    """Milliseconds since 1970, rounded down."""
    return moment[0] * 1000 + moment[1] // 1_000_000


def of_milliseconds(count: int) -> Timestamp | None:
    """The instant so many milliseconds behind 1970; None beyond the years of a TIMESTAMP."""
    seconds, rest = divmod(count, 1000)
    moment = Timestamp(seconds, rest * 1_000_000)
    return moment if within_years(moment) else None


def moment_of_text(text: str) -> Timestamp | None:
    """The instant of a text: a day, also with a time of day and a zone; None: it is none."""
    found = _TEXT.match(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
    if hour > 23 or minute > 59 or second > 59 or not _YEAR_MIN <= year <= _YEAR_MAX:
        return None
    try:
        days = days_of(year, month, day)
    except ValueError:
        return None
    seconds = days * DAY_SECONDS + (hour * 60 + minute) * 60 + second - _offset(found[8])
    moment = Timestamp(seconds, int((found[7] or "0").ljust(9, "0")))
    return moment if within_years(moment) else None


def _offset(zone: str | None) -> int:
    """Seconds that a zone such as `+02:00` is ahead."""
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if zone[0] == "-" else seconds
