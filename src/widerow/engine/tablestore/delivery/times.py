"""Reads times in values of columns (change §D3), as microseconds since 1970.

The forms are those of their documents; a missing day of the week, and missing seconds in RFC 822,
are common and allowed. A zone is a number or one of RFC 822's names.
"""

import re
from datetime import UTC, datetime, timedelta, timezone
from typing import Final

from widerow.engine.tablestore.delivery.names import is_representable
from widerow.model.tablestore.delivery import EventTimeFormat
from widerow.model.values import Value

__all__ = ["event_time_us"]

_MONTHS: Final = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec"
_ZONES: Final = {
    **dict.fromkeys(("UTC", "UT", "GMT", "Z"), 0),
    "EST": -5,
    "EDT": -4,
    "CST": -6,
    "CDT": -5,
    "MST": -7,
    "MDT": -6,
    "PST": -8,
    "PDT": -7,
}
_CLOCK: Final = r"(?P<hour>\d\d):(?P<minute>\d\d)"
_SECOND: Final = r":(?P<second>\d\d)"
_ZONE: Final = r" (?P<zone>[A-Z]{1,3}|[+-]\d{4})"
_SPACED: Final = r"(?P<day>\d{1,2}) (?P<month>[A-Z][a-z]{2}) "
_FORMS: Final = {
    EventTimeFormat.RFC822: re.compile(
        rf"(?:[A-Z][a-z]{{2}}, )?{_SPACED}(?P<year>\d\d) {_CLOCK}(?:{_SECOND})?{_ZONE}", re.ASCII
    ),
    EventTimeFormat.RFC850: re.compile(
        rf"(?:[A-Z][a-z]+, )?(?P<day>\d\d)-(?P<month>[A-Z][a-z]{{2}})-(?P<year>\d\d)"
        rf" {_CLOCK}{_SECOND}{_ZONE}",
        re.ASCII,
    ),
    EventTimeFormat.RFC1123: re.compile(
        rf"(?:[A-Z][a-z]{{2}}, )?{_SPACED}(?P<year>\d{{4}}) {_CLOCK}{_SECOND}{_ZONE}", re.ASCII
    ),
}
_RFC3339: Final = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII
)
_FRACTION: Final = re.compile(r"\.\d+")
_MICROSECOND_DIGITS: Final = 6
_UNIX: Final = re.compile(r"-?\d{1,12}", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_CENTURY_TURN: Final = 69  # POSIX: years of two digits from 69 on are of 19xx


def event_time_us(form: EventTimeFormat, value: Value) -> int | None:
    """The time that `value` says in this form; None where it says no time."""
    try:
        found = _unix_us(value) if form is EventTimeFormat.UNIX else _text_us(form, value)
    except (ValueError, OverflowError):
        return None
    return found if found is not None and is_representable(found) else None


def _unix_us(value: Value) -> int | None:
    if isinstance(value, str) and _UNIX.fullmatch(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value * 1_000_000


def _text_us(form: EventTimeFormat, value: Value) -> int | None:
    if not isinstance(value, str):
        return None
    time = _rfc3339(value) if form is EventTimeFormat.RFC3339 else _named_month(form, value)
    return None if time is None else (time - _EPOCH) // _MICROSECOND


def _rfc3339(text: str) -> datetime | None:
    if not _RFC3339.fullmatch(text):
        return None
    cut = _FRACTION.sub(lambda found: found[0][: 1 + _MICROSECOND_DIGITS], text)
    return datetime.fromisoformat(cut.upper())


def _named_month(form: EventTimeFormat, text: str) -> datetime | None:
    found = _FORMS[form].fullmatch(text)
    if found is None:
        return None
    part = found.groupdict()
    months, zone = _MONTHS.split(), _zone(part["zone"])
    if part["month"] not in months or zone is None:
        return None
    return datetime(
        _year(part["year"]),
        months.index(part["month"]) + 1,
        int(part["day"]),
        int(part["hour"]),
        int(part["minute"]),
        int(part["second"] or 0),
        tzinfo=zone,
    )


def _year(digits: str) -> int:
    year = int(digits)
    if len(digits) > 2:
        return year
    return year + (1900 if year >= _CENTURY_TURN else 2000)


def _zone(text: str) -> timezone | None:
    if text[0] in "+-":
        minutes = int(text[1:3]) * 60 + int(text[3:])
        return timezone(timedelta(minutes=-minutes if text[0] == "-" else minutes))
    hours = _ZONES.get(text)
    return None if hours is None else timezone(timedelta(hours=hours))
