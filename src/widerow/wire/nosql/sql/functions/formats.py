"""Patterns of `format_timestamp` and `parse_to_timestamp`: Java's DateTimeFormatter in English.

y u year   M L month   d day   D day of the year   E day of the week   Q quarter   a AM, PM
H k hour of the day   h K hour of the half day   m minute   s second   S n parts of a second
x X Z offset   V z name of the zone, which is written and not read
    '…' text as it stands, '' an apostrophe; other letters and [ ] { } # are refused
"""

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import Final, NamedTuple
from zoneinfo import ZoneInfo

from widerow.wire.nosql.moments import CalendarParts, days_of

__all__ = ["FormatFault", "StampPattern", "zone_offset"]

_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June", "July", "August", "September"),
    *("October", "November", "December"),
)
_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HALVES: Final = ("AM", "PM")
_RESERVED: Final = frozenset("[]{}#")
_PATTERN_LETTERS_MAX: Final = 200
_NAME_LETTERS: Final = 4  # so many letters of a pattern ask for a whole name, three for a short one
_FIXED: Final = re.compile(r"(?:GMT|UTC|UT)?([+-])(\d{1,2})(?::?(\d{2}))?\Z", re.ASCII)
_OFFSET: Final = re.compile(r"Z|[+-]\d{2}(?::?\d{2})?", re.ASCII)
_HOURS_MAX: Final = 18  # that a zone may be away from UTC
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class FormatFault(Exception):
    """What a pattern, a text or a zone is not."""


def zone_offset(zone: str, seconds: int) -> int:
    """Seconds that a zone is ahead of UTC at an instant. Raises `FormatFault` for no zone."""
    if zone in {"UTC", "GMT", "UT", "Z"}:
        return 0
    found = _FIXED.match(zone)
    if found is not None:
        hours, minutes = int(found[2]), int(found[3] or 0)
        if hours > _HOURS_MAX or minutes > 59:
            raise FormatFault(f"Invalid timezone: {zone}")
        ahead = hours * 3600 + minutes * 60
        return -ahead if found[1] == "-" else ahead
    try:
        known = ZoneInfo(zone)
        ahead_of = known.utcoffset((_EPOCH + timedelta(seconds=seconds)).astimezone(known))
    except (KeyError, ValueError, OSError, OverflowError) as error:
        raise FormatFault(f"Invalid timezone: {zone}") from error
    return 0 if ahead_of is None else round(ahead_of.total_seconds())


class _Moment(NamedTuple):
    """What is written: the local parts, the offset in seconds, the zone's name."""

    parts: CalendarParts
    offset: int
    zone: str


class _Letter(NamedTuple):
    """A letter of a pattern: how so many of it are written, and what it sets when it is read.

    `write(moment, count)` gives a text. `sets` is the part that is read, "" for none; a number is
    read where `names` is empty, else one of the names.
    """

    write: Callable[[_Moment, int], str]
    sets: str
    names: tuple[str, ...] = ()


def _number(take: Callable[[CalendarParts], int]) -> Callable[[_Moment, int], str]:
    return lambda moment, count: f"{take(moment.parts):0{count}d}"


def _year(moment: _Moment, count: int) -> str:
    year = moment.parts.year
    return f"{year % 100:02}" if count == 2 else f"{year:0{count}d}"


def _name(names: tuple[str, ...], take: Callable[[CalendarParts], int]) -> Callable[..., str]:
    def write(moment: _Moment, count: int) -> str:
        at = take(moment.parts)
        if count < 3:
            return f"{at + 1:0{count}d}"
        return names[at] if count >= _NAME_LETTERS else names[at][:3]

    return write


def _weekday(parts: CalendarParts) -> int:
    return (days_of(*parts[:3]) + 3) % 7


def _day_name(moment: _Moment, count: int) -> str:
    name = _DAYS[_weekday(moment.parts)]
    return name if count >= _NAME_LETTERS else name[:3]


def _offset(*, zulu: bool) -> Callable[[_Moment, int], str]:
    def write(moment: _Moment, count: int) -> str:
        if zulu and moment.offset == 0:
            return "Z"
        sign = "-" if moment.offset < 0 else "+"
        hours, minutes = divmod(abs(moment.offset) // 60, 60)
        if count == 1 and minutes == 0:
            return f"{sign}{hours:02}"
        return f"{sign}{hours:02}{':' if count in {3, 5} else ''}{minutes:02}"

    return write


def _fraction(moment: _Moment, count: int) -> str:
    return f"{moment.parts.nanosecond:09}"[:count].ljust(count, "0")


_ZONE_NAME: Final = _Letter(lambda moment, _: moment.zone, "")
_MONTH: Final = _Letter(_name(_MONTHS, lambda parts: parts.month - 1), "month", _MONTHS)
_LETTERS: Final[Mapping[str, _Letter]] = MappingProxyType(
    {
        "y": _Letter(_year, "year"),
        "u": _Letter(_year, "year"),
        "M": _MONTH,
        "L": _MONTH,
        "d": _Letter(_number(lambda parts: parts.day), "day"),
        "D": _Letter(
            _number(lambda parts: days_of(*parts[:3]) - days_of(parts.year, 1, 1) + 1),
            "day_of_year",
        ),
        "E": _Letter(_day_name, "weekday", _DAYS),
        "Q": _Letter(_number(lambda parts: (parts.month + 2) // 3), "quarter"),
        "a": _Letter(lambda moment, _: _HALVES[moment.parts.hour // 12], "half", _HALVES),
        "H": _Letter(_number(lambda parts: parts.hour), "hour"),
        "k": _Letter(_number(lambda parts: parts.hour or 24), "hour_to_24"),
        "K": _Letter(_number(lambda parts: parts.hour % 12), "half_hour"),
        "h": _Letter(_number(lambda parts: parts.hour % 12 or 12), "half_hour"),
        "m": _Letter(_number(lambda parts: parts.minute), "minute"),
        "s": _Letter(_number(lambda parts: parts.second), "second"),
        "S": _Letter(_fraction, "fraction"),
        "n": _Letter(_number(lambda parts: parts.nanosecond), "nanosecond"),
        "x": _Letter(_offset(zulu=False), "offset"),
        "X": _Letter(_offset(zulu=True), "offset"),
        "Z": _Letter(_offset(zulu=False), "offset"),
        "V": _ZONE_NAME,
        "z": _ZONE_NAME,
    }
)
_ADJACENT: Final = frozenset({"y", "u", "M", "d", "D", "H", "k", "K", "h", "m", "s", "S"})


class StampPattern:
    """A pattern that was read. Raises `FormatFault` for one that is none."""

    def __init__(self, text: str) -> None:
        if len(text) > _PATTERN_LETTERS_MAX:
            raise FormatFault(f"The pattern has more than {_PATTERN_LETTERS_MAX} letters")
        self._steps = list(_steps(text))

    def format(self, parts: CalendarParts, offset: int, zone: str) -> str:
        """The text of local parts, `offset` seconds ahead of UTC in a zone."""
        moment = _Moment(parts, offset, zone)
        return "".join(
            text if letter is None else letter.write(moment, count)
            for letter, text, count in self._steps
        )

    def parse(self, text: str) -> tuple[CalendarParts, int | None]:
        """The parts in a text, and the offset in seconds if it has one. Raises `FormatFault`."""
        found: dict[str, int] = {}
        at = 0
        for place, (letter, literal, count) in enumerate(self._steps):
            if letter is None:
                if not text.startswith(literal, at):
                    raise FormatFault(f"Text '{text}' could not be parsed at index {at}")
                at += len(literal)
                continue
            if not letter.sets:
                raise FormatFault(f"Unsupported time zone symbols '{literal * count}'")
            follows = self._steps[place + 1 : place + 2]
            packed = bool(follows) and follows[0][0] is not None and follows[0][1] in _ADJACENT
            at = _read(letter, literal, count, text, at, found, packed=packed)
        if at < len(text):
            raise FormatFault(
                f"Text '{text}' could not be parsed, unparsed text found at index {at}"
            )
        return _assembled(found, text), found.get("offset")


def _steps(text: str) -> list[tuple[_Letter | None, str, int]]:
    """Letters with their counts, and texts that stand for themselves."""
    steps: list[tuple[_Letter | None, str, int]] = []
    at = 0
    while at < len(text):
        letter = text[at]
        if letter == "'":
            literal, at = _literal(text, at)
            steps.append((None, literal, 0))
        elif letter.isascii() and letter.isalpha():
            end = at
            while end < len(text) and text[end] == letter:
                end += 1
            known = _LETTERS.get(letter)
            if known is None:
                raise FormatFault(f"Unknown pattern letter: {letter}")
            steps.append((known, letter, end - at))
            at = end
        elif letter in _RESERVED:
            raise FormatFault(f"StampPattern includes reserved character: '{letter}'")
        else:
            steps.append((None, letter, 0))
            at += 1
    return steps


def _literal(text: str, at: int) -> tuple[str, int]:
    """The quoted text that begins at an apostrophe, and where the pattern goes on."""
    parts: list[str] = []
    at += 1
    if text[at : at + 1] == "'":
        return "'", at + 1
    while True:
        end = text.find("'", at)
        if end < 0:
            raise FormatFault(f"StampPattern ends with an incomplete string literal: {text}")
        parts.append(text[at:end])
        if text[end + 1 : end + 2] != "'":
            return "".join(parts), end + 1
        parts.append("'")
        at = end + 2


def _read(
    letter: _Letter,
    symbol: str,
    count: int,
    text: str,
    at: int,
    found: dict[str, int],
    *,
    packed: bool,
) -> int:
    """Read what a letter stands for; where the text goes on. Raises `FormatFault`."""
    fault = FormatFault(f"Text '{text}' could not be parsed at index {at}")
    if letter.sets == "offset":
        written = _OFFSET.match(text, at)
        if written is None:
            raise fault
        found["offset"] = 0 if written[0] == "Z" else zone_offset(written[0], 0)
        return written.end()
    if letter.names and (count >= 3 or letter.names is not _MONTHS):
        for number, name in enumerate(letter.names):
            shown = name if count >= _NAME_LETTERS else name[:3]
            if text.startswith(shown, at):
                found[letter.sets] = number + (letter.names is _MONTHS)
                return at + len(shown)
        raise fault
    fixed = count >= 2 and letter.sets != "year"
    most = count if fixed or packed or symbol == "S" else 19
    if letter.sets == "year" and count == 2:
        most = 2
    wanted = f"\\d{{{count},{max(most, count)}}}"
    written = re.compile(wanted, re.ASCII).match(text, at)
    if written is None:
        raise fault
    digits = written[0]
    if symbol == "S":
        found["nanosecond"] = int(digits[:9].ljust(9, "0"))
    elif letter.sets == "year" and count == 2:
        found["year"] = 2000 + int(digits)
    else:
        found[letter.sets] = int(digits)
    return written.end()


def _assembled(found: Mapping[str, int], text: str) -> CalendarParts:
    """The parts that were read as a whole. Raises `FormatFault` where they make no instant."""
    hour = found.get("hour", found.get("hour_to_24", 0) % 24)
    if "half_hour" in found:
        hour = found["half_hour"] % 12 + 12 * found.get("half", 0)
    parts = CalendarParts(
        found.get("year", 1970),
        found.get("month", 1),
        found.get("day", 1),
        hour,
        found.get("minute", 0),
        found.get("second", 0),
        found.get("nanosecond", 0),
    )
    in_day = hour < 24 and parts.minute < 60 and parts.second < 60
    if "year" not in found or not in_day or abs(parts.year) > 9999:
        raise FormatFault(f"Text '{text}' could not be parsed: it is not an instant")
    try:
        days_of(*parts[:3])
    except ValueError as error:
        raise FormatFault(f"Text '{text}' could not be parsed: {error}") from error
    if "day_of_year" in found:
        return (
            parts._replace(month=1, day=1)
            if found["day_of_year"] == 1
            else _nth_day(parts, found, text)
        )
    return parts


def _nth_day(parts: CalendarParts, found: Mapping[str, int], text: str) -> CalendarParts:
    """The day of a year by its number."""
    number = found["day_of_year"]
    first = days_of(parts.year, 1, 1)
    if not 1 <= number <= days_of(parts.year + 1, 1, 1) - first:
        raise FormatFault(f"Text '{text}' could not be parsed: the year has no day {number}")
    day = _EPOCH.replace(tzinfo=None) + timedelta(days=(first + number - 1) % 146_097)
    return parts._replace(month=day.month, day=day.day)
