"""Instants as drivers write them, and as answers have them (nosql-wire §2, §8)."""

import re
from datetime import datetime
from typing import Final

from widerow.errors import InvalidRequest
from widerow.model.typed.values import Timestamp
from widerow.wire.nosql.rules import NosqlRule

__all__ = ["answer_text", "timestamp_of"]

_TEXT: Final = re.compile(
    r"(-?)(\d{1,6})-(\d{1,2})-(\d{1,2})"
    r"(?:T(\d{1,2})(?::(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,9}))?)?)?)?"
    r"(Z|[+-]\d{2}:?\d{2})?\Z",
    re.ASCII,
)
_YEAR_MIN: Final = -6383
_YEAR_MAX: Final = 9999
_MONTHS: Final = 12
_LAST: Final = Timestamp.parse("9999-12-31T23:59:59").seconds
_MINUTE: Final = 60
_SHOWN: Final = 100  # characters of a text in an error


def timestamp_of(text: str, precision: int) -> Timestamp:
    """The instant of an ISO 8601 text, rounded half up to `precision` digits of the second.

    A time of day may be left out, and a zone; without one the text is in UTC. What would be rounded
    past the year 9999 is cut. Raises: `InvalidRequest`.
    """
    found = _TEXT.match(text)
    if found is None:
        raise _refused(text, _reason(text))
    year = int(found[2]) * (-1 if found[1] else 1)
    month, day = int(found[3]), int(found[4])
    if not 1 <= month <= _MONTHS:
        raise InvalidRequest(NosqlRule.TIMESTAMP_MONTH, value=month)
    if not _YEAR_MIN <= year <= _YEAR_MAX:
        raise InvalidRequest(NosqlRule.TIMESTAMP_YEAR, value=year)
    hour, minute, second = (int(found[at] or 0) for at in (5, 6, 7))
    cycles = 0 if year >= 1 else -(year // 400) + 1  # the calendar repeats every 400 years
    try:
        moment = datetime(year + 400 * cycles, month, day, hour, minute, second)  # noqa: DTZ001  # all of them are UTC
    except ValueError as error:
        raise _refused(text, str(error)) from None
    whole = Timestamp.from_datetime(moment).seconds - cycles * 146_097 * 86_400
    made = Timestamp(whole - _offset(found[9]), int((found[8] or "0").ljust(9, "0")))
    rounded = made.rounded(precision)
    if rounded.seconds > _LAST >= made.seconds:
        step = 10 ** (9 - precision)
        return Timestamp(made.seconds, made.nanoseconds // step * step)
    return rounded


def _offset(zone: str | None) -> int:
    """Seconds of a zone such as `+01:30`."""
    if zone is None or zone == "Z":
        return 0
    digits = zone[1:].replace(":", "")
    seconds = (int(digits[:2]) * _MINUTE + int(digits[2:])) * _MINUTE
    return -seconds if zone[0] == "-" else seconds


def _reason(text: str) -> str:
    for character in text:
        if not (character.isascii() and (character.isdigit() or character in "-+:.TZ")):
            return f"invalid character '{character}' while parsing component"
    return "the text does not have this form"


def _refused(text: str, reason: str) -> InvalidRequest:
    return InvalidRequest(NosqlRule.TIMESTAMP_TEXT, value=text[:_SHOWN], reason=reason)


def answer_text(value: Timestamp, precision: int) -> str:
    """An instant as answers have it: exactly `precision` digits of the second, no zone."""
    return value.text(precision)[:-1]
