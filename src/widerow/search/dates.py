"""Dates as texts and numbers: the letters of Java's formats, read strictly (search §2.3).

A date is a number of nanoseconds since 1970 in UTC. A text without a zone is one of UTC.
"""

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final

from widerow.limits import SEARCH_DATE_FORMAT_CHARACTERS_MAX

__all__ = ["DATE_NS_MAX", "DateFormats", "date_pattern"]

DATE_NS_MAX: Final = 2**63 - 1
"""The last date, 2262-04-11T23:47:16.854775807; the first date is 0 (search §2.3)."""

_EPOCHS: Final = {
    "epoch_second": 10**9,
    "epoch_millis": 10**6,
    "epoch_micros": 10**3,
    "epoch_nanos": 1,
}
_MILLISECOND: Final = 10**6
_ZONE_SECONDS_MAX: Final = 18 * 3600
_UNIX_DAY: Final = date(1970, 1, 1).toordinal()
_DIGITS: Final = re.compile(r"-?[0-9]{1,19}", re.ASCII)

# A letter and its count: the group of the expression, and the expression. Strict, as Java's formats
# are: two letters want two digits.
_LETTERS: Final[dict[str, tuple[str, str]]] = {
    "y": ("year", "[0-9]{4}"),
    "yyyy": ("year", "[0-9]{4}"),
    "yy": ("short_year", "[0-9]{2}"),
    "M": ("month", "[0-9]{1,2}"),
    "MM": ("month", "[0-9]{2}"),
    "d": ("day", "[0-9]{1,2}"),
    "dd": ("day", "[0-9]{2}"),
    "H": ("hour", "[0-9]{1,2}"),
    "HH": ("hour", "[0-9]{2}"),
    "K": ("half_hour", "[0-9]{1,2}"),
    "KK": ("half_hour", "[0-9]{2}"),
    "a": ("half", "AM|PM|am|pm"),
    "m": ("minute", "[0-9]{1,2}"),
    "mm": ("minute", "[0-9]{2}"),
    "s": ("second", "[0-9]{1,2}"),
    "ss": ("second", "[0-9]{2}"),
    **{"S" * n: ("fraction", f"[0-9]{{{n}}}") for n in range(1, 10)},
    "x": ("zone", "[+-][0-9]{2}(?:[0-9]{2})?"),
    "xx": ("zone", "[+-][0-9]{4}"),
    "xxx": ("zone", "[+-][0-9]{2}:[0-9]{2}"),
    "xxxx": ("zone", "[+-][0-9]{4}(?:[0-9]{2})?"),
    "xxxxx": ("zone", "[+-][0-9]{2}:[0-9]{2}(?::[0-9]{2})?"),
}
_LETTERS.update(
    {
        letters.upper(): ("zone", f"Z|{_LETTERS[letters][1]}")
        for letters in ("x" * n for n in range(1, 6))
    }
)
_PIECE: Final = re.compile(r"'((?:[^']|'')*)'|([A-Za-z])\2*|[^A-Za-z']")
_ISO: Final = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:[T ](?P<hour>[0-9]{2})(?::(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})"
    r"(?:[.](?P<fraction>[0-9]{1,9}))?)?)?(?P<zone>Z|[+-][0-9]{2}:?(?:[0-9]{2})?)?)?)?)?"
)


@lru_cache(maxsize=256)
def date_pattern(written: str) -> re.Pattern[str] | None:
    """The expression for texts of a Java format; None for a format with an unknown letter.

    Also None where a part comes twice, and for more than SEARCH_DATE_FORMAT_CHARACTERS_MAX
    characters. Names of epochs have no expression: see `DateFormats.readable`.
    """
    if not written or len(written) > SEARCH_DATE_FORMAT_CHARACTERS_MAX:
        return None
    pieces: list[str] = []
    groups: set[str] = set()
    at = 0
    while at < len(written):
        piece = _PIECE.match(written, at)
        if piece is None:
            return None
        at = piece.end()
        made = _expression(piece, groups)
        if made is None:
            return None
        pieces.append(made)
    return re.compile("".join(pieces)) if groups else None


def _expression(piece: re.Match[str], groups: set[str]) -> str | None:
    """The expression for one piece of a format; its group is added to `groups`."""
    if piece[2] is None:
        quoted = piece[1]
        return re.escape(piece[0] if quoted is None else quoted.replace("''", "'") or "'")
    group, expression = _LETTERS.get(piece[0], ("", ""))
    if not group or group in groups:
        return None
    groups.add(group)
    return f"(?P<{group}>{expression})"


@dataclass(frozen=True)
class DateFormats:
    """How the values of one DATE field are read: formats, tried in their order."""

    written: tuple[str, ...]

    @staticmethod
    def readable(written: str) -> bool:
        """Whether a format can be read at all: an epoch, or Java's letters (search §1.1)."""
        return written in _EPOCHS or date_pattern(written) is not None

    def of_number(self, number: int) -> int | None:
        """A stored number as a date; None without an epoch's format, or outside the range."""
        unit = self._unit()
        return None if unit is None else _in_range(number * unit)

    def of_text(self, text: str) -> int | None:
        """A stored text as a date; None where no format fits, or outside the range."""
        for written in self.written:
            found = _read(written, text)
            if found is not None:
                return _in_range(found)
        return None

    def asked(self, value: int | str) -> int | None:
        """A value of a query as nanoseconds, which may lie outside the range; None: no date.

        Numbers are in the unit of the first epoch's format, else milliseconds. Texts may also be
        beginnings of ISO 8601.
        """
        if not isinstance(value, str):
            return value * (self._unit() or _MILLISECOND)
        for written in self.written:
            found = _read(written, value)
            if found is not None:
                return found
        found_iso = _ISO.fullmatch(value.strip())
        return None if found_iso is None else _nanoseconds(found_iso)

    def _unit(self) -> int | None:
        return next((_EPOCHS[each] for each in self.written if each in _EPOCHS), None)


def _in_range(found: int) -> int | None:
    return found if 0 <= found <= DATE_NS_MAX else None


def _read(written: str, text: str) -> int | None:
    unit = _EPOCHS.get(written)
    if unit is not None:
        return int(text) * unit if _DIGITS.fullmatch(text) else None
    pattern = date_pattern(written)
    found = None if pattern is None else pattern.fullmatch(text)
    return None if found is None else _nanoseconds(found)


def _nanoseconds(found: re.Match[str]) -> int | None:
    """The date that the groups of a match name; None where there is no such date."""
    parts = found.groupdict()

    def number(name: str, otherwise: int) -> int:
        part = parts.get(name)
        return otherwise if part is None else int(part)

    year = 2000 + number("short_year", 0) if parts.get("short_year") else number("year", 1970)
    hour = number("hour", -1)
    if hour < 0:
        hour = number("half_hour", 0)
        if hour > 11:  # an hour of half a day
            return None
    if "hour" not in parts and (parts.get("half") or "").upper() == "PM":
        hour += 12
    minute, second = number("minute", 0), number("second", 0)
    if hour > 23 or minute > 59 or second > 59:
        return None
    try:
        day = date(year, number("month", 1), number("day", 1)).toordinal() - _UNIX_DAY
    except ValueError:
        return None
    zone = _zone_seconds(parts.get("zone") or "Z")
    if zone is None:
        return None
    seconds = day * 86_400 + hour * 3600 + minute * 60 + second - zone
    return seconds * 10**9 + int((parts.get("fraction") or "0").ljust(9, "0"))


def _zone_seconds(zone: str) -> int | None:
    """Seconds that a zone is ahead of UTC; None for more than 18 hours, as in Java."""
    if zone == "Z":
        return 0
    digits = zone[1:].replace(":", "").ljust(6, "0")
    minute, second = int(digits[2:4]), int(digits[4:6])
    seconds = int(digits[:2]) * 3600 + minute * 60 + second
    if minute > 59 or second > 59 or seconds > _ZONE_SECONDS_MAX:
        return None
    return -seconds if zone[0] == "-" else seconds
