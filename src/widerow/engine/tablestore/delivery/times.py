"""Reads times in values of columns (change §D3), as microseconds since 1970.

The forms are those of their documents; a missing day of the week, and missing seconds in RFC 822,
are common and allowed. A zone is a number or one of RFC 822's names.
"""

import re
from datetime import UTC, datetime, timedelta, timezone
from email.utils import parsedate_tz
from typing import Final

from widerow.engine.tablestore.delivery.names import is_representable
from widerow.model.tablestore.delivery import EventTimeFormat
from widerow.model.values import Value

__all__ = ["event_time_us"]

_CLOCK: Final = r"\d\d:\d\d"
_ZONE: Final = r" (?:UTC|UT|GMT|Z|[ECMP][SD]T|[+-]\d{4})"
_FORMS: Final = {
    EventTimeFormat.RFC822: re.compile(
        rf"(?:[A-Z][a-z]{{2}}, )?\d{{1,2}} [A-Z][a-z]{{2}} \d\d {_CLOCK}(?::\d\d)?{_ZONE}", re.ASCII
    ),
    EventTimeFormat.RFC850: re.compile(
        rf"(?:[A-Z][a-z]+, )?\d\d-[A-Z][a-z]{{2}}-\d\d {_CLOCK}:\d\d{_ZONE}", re.ASCII
    ),
    EventTimeFormat.RFC1123: re.compile(
        rf"(?:[A-Z][a-z]{{2}}, )?\d{{1,2}} [A-Z][a-z]{{2}} (?!00)\d{{4}} {_CLOCK}:\d\d{_ZONE}",
        re.ASCII,
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
    """The time of a text with the name of its month; years of two digits from 69 on are of 19xx."""
    found = parsedate_tz(text) if _FORMS[form].fullmatch(text) else None
    if found is None:
        return None
    return datetime(*found[:6], tzinfo=timezone(timedelta(seconds=found[9] or 0)))
