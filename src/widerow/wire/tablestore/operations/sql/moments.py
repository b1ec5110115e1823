"""Moments, dates and times of SQL as microseconds, and as texts (sql §5, §9.3).

A moment counts from 1970 in UTC, the time zone of every session; a time is a signed duration. Texts
are MySQL's: `2022-11-16 07:52:18.995`, `2022-11-16`, `00:02:05.283`, with as many digits behind the
point as there are.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

__all__ = [
    "DAY_US",
    "SECOND_US",
    "calendar",
    "date_text",
    "datetime_number",
    "datetime_text",
    "moment",
    "read_datetime",
    "read_time",
    "time_number",
    "time_text",
]

SECOND_US: Final = 1_000_000
DAY_US: Final = 86_400 * SECOND_US
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_TIME_US_MAX: Final = (838 * 3600 + 59 * 60 + 59) * SECOND_US  # MySQL's largest TIME


def calendar(moment_us: int) -> datetime | None:
    """A moment in the calendar; None outside of the years 1 to 9999."""
    try:
        return _EPOCH + timedelta(microseconds=moment_us)
    except OverflowError:
        return None


def moment(found: datetime) -> int:
    """The microseconds of a moment in the calendar."""
    return (found - _EPOCH) // _MICROSECOND


def _fraction(microseconds: int) -> str:
    return f".{microseconds:06}".rstrip("0") if microseconds else ""


def datetime_text(moment_us: int) -> str | None:
    """`2022-11-16 07:52:18.995`."""
    found = calendar(moment_us)
    if found is None:
        return None
    return f"{found:%Y-%m-%d %H:%M:%S}".rjust(19, "0") + _fraction(found.microsecond)


def date_text(moment_us: int) -> str | None:
    """`2022-11-16`."""
    found = calendar(moment_us)
    return None if found is None else found.date().isoformat()


def time_text(time_us: int) -> str:
    """`-00:02:05.283`; hours go beyond 24."""
    seconds, rest = divmod(abs(time_us), SECOND_US)
    minutes, seconds = divmod(seconds, 60)
    sign = "-" if time_us < 0 else ""
    return f"{sign}{minutes // 60:02}:{minutes % 60:02}:{seconds:02}{_fraction(rest)}"


def datetime_number(moment_us: int) -> float:
    """20221116075218.995, as MySQL counts with a moment."""
    found = calendar(moment_us)
    if found is None:
        return 0
    number = int(f"{found:%Y%m%d%H%M%S}")
    return number + found.microsecond / SECOND_US if found.microsecond else number


def time_number(time_us: int) -> float:
    """20500.25 for a time of 02:05:00.25."""
    seconds, rest = divmod(abs(time_us), SECOND_US)
    number = seconds // 3600 * 10_000 + seconds // 60 % 60 * 100 + seconds % 60
    whole = number + rest / SECOND_US if rest else number
    return -whole if time_us < 0 else whole


_DATETIME: Final = re.compile(
    r"\s*([0-9]{4})[-/.]([0-9]{1,2})[-/.]([0-9]{1,2})"
    r"(?:[ T]+([0-9]{1,2})(?::([0-9]{1,2})(?::([0-9]{1,2})(?:\.([0-9]{1,9}))?)?)?)?\s*Z?\s*"
)
_DIGITS: Final = re.compile(
    r"\s*([0-9]{4})([0-9]{2})([0-9]{2})(?:([0-9]{2})([0-9]{2})([0-9]{2})(?:\.([0-9]{1,9}))?)?\s*"
)


def read_datetime(text: str) -> int | None:
    """The moment of `2022-11-16 07:52:18.995`, `20221116075218` and the like; None: it is none."""
    found = _DATETIME.fullmatch(text) or _DIGITS.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(each or 0) for each in found.groups()[:6])
    try:
        moment_us = moment(datetime(year, month, day, hour, minute, second, tzinfo=UTC))
    except ValueError:
        return None
    return moment_us + _microseconds(found[7])


def _microseconds(fraction: str | None) -> int:
    return int((fraction or "").ljust(6, "0")[:6])


_TIME: Final = re.compile(
    r"\s*(-?)(?:([0-9]+) +)?([0-9]{1,3}):([0-9]{1,2})(?::([0-9]{1,2}))?(?:\.([0-9]{1,9}))?\s*"
)
_TIME_DIGITS: Final = re.compile(r"\s*(-?)([0-9]{1,7})(?:\.([0-9]{1,9}))?\s*")


def read_time(text: str) -> int | None:
    """The time of a text such as `00:02:05.283`, `205` or that of a moment; None: it is none."""
    moment_us = read_datetime(text) if "-" in text[1:] else None
    if moment_us is not None:
        return moment_us % DAY_US
    found = _TIME.fullmatch(text)
    if found is not None:
        days, hours, minutes, seconds = (int(each or 0) for each in found.groups()[1:5])
        hours += days * 24
    else:
        found = _TIME_DIGITS.fullmatch(text)
        if found is None:
            return None
        digits = int(found[2])
        hours, minutes, seconds = digits // 10_000, digits // 100 % 100, digits % 100
    if minutes > 59 or seconds > 59:
        return None
    total = ((hours * 60 + minutes) * 60 + seconds) * SECOND_US + _microseconds(found.groups()[-1])
    total = min(total, _TIME_US_MAX)
    return -total if found[1] else total
