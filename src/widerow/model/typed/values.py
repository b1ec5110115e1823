"""The Python values of fields.

| type | value |
|---|---|
| INTEGER, LONG | `int` |
| FLOAT, DOUBLE | `float` (a FLOAT is rounded to single precision) |
| NUMBER | `decimal.Decimal`, finite, without trailing zeros |
| STRING, ENUM, STRING AS UUID | `str` (a UUID in its canonical lower-case form) |
| BOOLEAN | `bool` |
| BINARY, FIXED_BINARY | `bytes` |
| TIMESTAMP(p) | `Timestamp` |
| ARRAY | `list` |
| MAP, RECORD | `dict` |
| JSON | what `json` gives; a JSON null at its top is `JSON_NULL`, since None is SQL NULL |
"""

import re
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple, Self

from widerow.errors import InvalidRequest
from widerow.model.typed.rules import TypedRule

__all__ = ["JSON_NULL", "JsonNull", "Timestamp", "TypedValue", "plain_number", "rounded_number"]

# A recursive type that says no more than this costs a cast at every step inside documents.
TypedValue = Any

_TEXT: Final = re.compile(
    r"(-?\d{1,6})-(\d{2})-(\d{2})"
    r"(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?(?:Z|\+00:00)?\Z",
    re.ASCII,
)
_DAYS_IN_400_YEARS: Final = 146_097
_SECONDS_IN_400_YEARS: Final = _DAYS_IN_400_YEARS * 86_400
_EPOCH: Final = datetime(1970, 1, 1)  # noqa: DTZ001  # arithmetic without a zone; all is UTC
_YEAR_MIN, _YEAR_MAX = -6383, 9999


class JsonNull:
    """The JSON null at the top of a JSON field, which is not the SQL NULL of the field."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "JSON_NULL"

    def __bool__(self) -> bool:
        return False


JSON_NULL: Final = JsonNull()


class Timestamp(NamedTuple):
    """An instant in UTC: seconds since 1970 and nanoseconds within the second (model §2).

    Compares chronologically. Python's `datetime` neither reaches the years −6383 to 9999 nor holds
    nanoseconds, so it is taken (`from_datetime`) and given (`to_datetime`) but not stored.
    """

    seconds: int
    nanoseconds: int = 0

    @classmethod
    def from_datetime(cls, moment: datetime) -> Self:
        """The instant of a `datetime`; one without a zone is taken as UTC."""
        if moment.tzinfo is not None:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
        passed = moment - _EPOCH
        return cls(passed.days * 86_400 + passed.seconds, passed.microseconds * 1000)

    @classmethod
    def parse(cls, text: str) -> Self:
        """The instant of an ISO 8601 text in UTC: a date, or a date and a time of day.

        Raises: `InvalidRequest` for another text, or a year outside −6383 to 9999.
        """
        found = _TEXT.match(text)
        if found is None:
            raise InvalidRequest(TypedRule.TIMESTAMP_TEXT, value=text[:100])
        year, month, day, hour, minute, second = (int(part or 0) for part in found.groups()[:6])
        if not _YEAR_MIN <= year <= _YEAR_MAX:
            raise InvalidRequest(TypedRule.TIMESTAMP_RANGE, value=text[:100])
        # Python's calendar begins in the year 1; the Gregorian one repeats every 400 years.
        cycles = 0 if year >= 1 else -(year // 400) + 1
        try:
            moment = datetime(year + 400 * cycles, month, day, hour, minute, second)  # noqa: DTZ001  # arithmetic without a zone; all is UTC
        except ValueError as error:
            raise InvalidRequest(TypedRule.TIMESTAMP_TEXT, value=text[:100]) from error
        whole = cls.from_datetime(moment)
        fraction = int((found[7] or "0").ljust(9, "0"))
        return cls(whole.seconds - cycles * _SECONDS_IN_400_YEARS, fraction)

    def rounded(self, precision: int) -> "Timestamp":
        """This instant with `precision` digits of the second (0 to 9), rounded to nearest."""
        step = 10 ** (9 - precision)
        nanoseconds = (self.nanoseconds + step // 2) // step * step
        if nanoseconds == 1_000_000_000:
            return Timestamp(self.seconds + 1)
        return Timestamp(self.seconds, nanoseconds)

    def to_datetime(self) -> datetime:
        """A `datetime` in UTC; nanoseconds are cut to microseconds.

        Raises: `OverflowError` before the year 1.
        """
        microseconds = self.nanoseconds // 1000
        moment = _EPOCH + timedelta(seconds=self.seconds, microseconds=microseconds)
        return moment.replace(tzinfo=UTC)

    def text(self, precision: int = 9) -> str:
        """ISO 8601 with `precision` digits of the second and a Z, as the vendor prints it."""
        cycles = 0
        seconds = self.seconds
        while seconds < -62_135_596_800:  # the year 1
            seconds += _SECONDS_IN_400_YEARS
            cycles += 1
        moment = _EPOCH + timedelta(seconds=seconds)
        year = moment.year - 400 * cycles
        shown = f"-{-year:04}" if year < 0 else f"{year:04}"
        fraction = f".{self.nanoseconds:09}"[: precision + 1] if precision else ""
        return f"{shown}-{moment:%m-%dT%H:%M:%S}{fraction}Z"


def plain_number(value: Decimal) -> Decimal:
    """A finite number without trailing zeros; every zero is 0 (model §2). Any precision."""
    sign, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    end = len(digits)
    while end > 1 and digits[end - 1] == 0:
        end -= 1
    if digits[:end] == (0,):
        return Decimal(0)
    return Decimal((sign, digits[:end], exponent + len(digits) - end))


def rounded_number(value: Decimal) -> str:
    """A number as text that JSON takes, without a plus in its exponent."""
    return format(value, "f") if -20 < value.adjusted() < 40 else str(value)
