"""Instants in the calendar, and as the texts of drivers and statements (nosql-wire §2, §8).

The calendar is the Gregorian one of all years from -6383 to 9999, in UTC.
"""

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from widerow.errors import InvalidRequest
from widerow.model.typed.values import Timestamp
from widerow.wire.nosql.rules import NosqlRule

__all__ = [
    "DAY_SECONDS",
    "CalendarParts",
    "answer_text",
    "calendar_parts",
    "days_of",
    "instant_of",
    "milliseconds_of",
    "moment_of_text",
    "of_milliseconds",
    "read_moment",
    "timestamp_of",
    "within_years",
]

DAY_SECONDS: Final = 86_400
_YEAR_MIN, _YEAR_MAX = -6383, 9999
_CYCLE_YEARS, _CYCLE_DAYS = 400, 146_097
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # arithmetic without a zone; all is UTC
_TEXT: Final = re.compile(
    r"(-?\d{1,6})-(\d{1,2})-(\d{1,2})"
    r"(?:T(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?)?)?"
    r"(Z|[+-]\d{2}(?::?\d{2})?)?\Z",
    re.ASCII,
)
_PARTS: Final = (
    *(("year", _YEAR_MIN, _YEAR_MAX), ("month", 1, 12), ("day", 1, 31)),
    *(("hour", 0, 23), ("minute", 0, 59), ("second", 0, 59)),
)
_SEPARATORS: Final = "--T::."  # behind the parts, in their order
_FRACTION_DIGITS_MAX: Final = 9
_MONTH_NAMES: Final = (
    *("JANUARY", "FEBRUARY", "MARCH", "APRIL", "MAY", "JUNE", "JULY", "AUGUST", "SEPTEMBER"),
    *("OCTOBER", "NOVEMBER", "DECEMBER"),
)
_SHOWN: Final = 100  # characters of a text in an error


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


# --- texts ---------------------------------------------------------------------------------------


def read_moment(text: str) -> Timestamp:
    """The instant of a text: a day, also with a time of day and a zone, else in UTC.

    Raises: `InvalidRequest`, with the vendor's words.
    """
    found = _TEXT.match(text)
    if found is None:
        raise InvalidRequest(NosqlRule.TIMESTAMP_TEXT, value=text[:_SHOWN], reason=_reason(text))
    parts: tuple[str | None, ...] = found.groups()[:6]
    given = [None if part is None else int(part) for part in parts]
    for (name, low, high), value in zip(_PARTS, given, strict=True):
        if value is not None and not low <= value <= high:
            raise _out_of_range(name, low, high, value)
    year, month, day, hour, minute, second = (value or 0 for value in given)
    try:
        days = days_of(year, month, day)
    except ValueError as error:
        date = f"{_MONTH_NAMES[month - 1]} {day}"
        raise InvalidRequest(NosqlRule.TIMESTAMP_DATE, date=date) from error
    seconds = days * DAY_SECONDS + (hour * 60 + minute) * 60 + second - _offset(found[8])
    moment = Timestamp(seconds, int((found[7] or "0").ljust(_FRACTION_DIGITS_MAX, "0")))
    if not within_years(moment):  # by its zone
        raise _out_of_range(*_PARTS[0], calendar_parts(moment).year)
    return moment


def _out_of_range(name: str, low: int, high: int, value: int) -> InvalidRequest:
    return InvalidRequest(NosqlRule.TIMESTAMP_PART, part=name, low=low, high=high, value=value)


def _offset(zone: str | None) -> int:
    """Seconds that a zone such as `+02:00` is ahead."""
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "").ljust(4, "0")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if zone[0] == "-" else seconds


def _reason(text: str) -> str:
    """Why a text is not an instant, as the vendor tells it."""
    at = 0
    for place, character in enumerate(text):
        if (character.isascii() and character.isdigit()) or (place == 0 and character == "-"):
            continue
        if at < len(_SEPARATORS) and character == _SEPARATORS[at]:
            at += 1
        elif at < 2 or character not in "Z+-:":
            name = _PARTS[min(at, len(_PARTS) - 1)][0]
            return f"invalid character '{character}' while parsing component {name}"
    if at < 2:
        return "the timestamp string must have at least the 3 date components"
    if at == len(_SEPARATORS):
        return f"the fractional-seconds part contains more than {_FRACTION_DIGITS_MAX} digits"
    return "the text does not have this form"


def moment_of_text(text: str) -> Timestamp | None:
    """The instant of a text; None: it is none."""
    try:
        return read_moment(text)
    except InvalidRequest:
        return None


def timestamp_of(text: str, precision: int) -> Timestamp:
    """The instant of a text, rounded half up to `precision` digits of the second.

    What would be rounded past the year 9999 is cut. Raises: `InvalidRequest`.
    """
    moment = read_moment(text)
    rounded = moment.rounded(precision)
    if within_years(rounded):
        return rounded
    step = 10 ** (_FRACTION_DIGITS_MAX - precision)
    return Timestamp(moment.seconds, moment.nanoseconds // step * step)


def answer_text(value: Timestamp, precision: int) -> str:
    """An instant as answers have it: exactly `precision` digits of the second, no zone."""
    return Timestamp.text(value, precision)[:-1]
