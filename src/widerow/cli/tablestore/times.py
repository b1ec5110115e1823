"""Times of versions as they are typed, and as they are shown; milliseconds since 1970."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from widerow.cli.tablestore.words import WordInvalid
from widerow.limits import INT64_MAX

__all__ = ["parse_time_range", "shown_time"]

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_DOTS: Final = ".."
_MILLISECOND: Final = timedelta(milliseconds=1)
_LAST_SHOWN: Final = (datetime(9999, 12, 31, tzinfo=UTC) - _EPOCH) // _MILLISECOND
_DIGITS: Final = re.compile(r"[0-9]{1,19}")


def parse_time_range(text: str) -> tuple[int, int]:
    """`A..B`: from A on and before B; either may be left out. A time alone is that version.

    A time is milliseconds since 1970, or as in 2025-01-01T12:00, in UTC. Raises: `WordInvalid`.
    """
    if _DOTS not in text:
        at = _moment(text)
        return at, at + 1
    first, _, end = text.partition(_DOTS)
    found = (_moment(first) if first else 0), (_moment(end) if end else INT64_MAX)
    if found[0] >= found[1]:
        raise WordInvalid(f"--time-range {text} is empty: it ends before it begins")
    return found


def _moment(text: str) -> int:
    if _DIGITS.fullmatch(text):
        number = int(text)
        if number < INT64_MAX:
            return number
        raise WordInvalid(f"{text} has more than 64 bits")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise WordInvalid(
            f"--time-range: {text!r} is not a time; write milliseconds since 1970 or "
            "2025-01-01T12:00"
        ) from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    if moment < _EPOCH:
        raise WordInvalid(f"--time-range: {text} is before 1970")
    return (moment - _EPOCH) // _MILLISECOND


def shown_time(version: int) -> str:
    """A version as a time in UTC; one that is none, because it is too large, as its number."""
    if not 0 <= version <= _LAST_SHOWN:
        return str(version)
    return f"{_EPOCH + version * _MILLISECOND:%Y-%m-%d %H:%M:%S.%f}"[:-3]
