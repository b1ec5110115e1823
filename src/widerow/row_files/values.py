"""The types of values in files: integers and times."""

import math
import re
from datetime import UTC, date, datetime
from typing import Final

from widerow.limits import INT64_MAX, INT64_MIN
from widerow.written_numbers import real_number

__all__ = ["is_integer", "seconds"]

_INTEGER: Final = re.compile(r"-?[1-9][0-9]{0,18}|0")
# The size of an epoch time tells its unit: seconds, milliseconds, microseconds, nanoseconds.
_EPOCH_UNITS: Final = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))


def is_integer(value: object) -> bool:
    """Whether a value is an integer of 64 bits, or its usual text.

    007 and +1 are texts: as integers they would be written differently.
    """
    if isinstance(value, str):
        return bool(_INTEGER.fullmatch(value)) and INT64_MIN <= int(value) <= INT64_MAX
    return isinstance(value, int) and not isinstance(value, bool)


def seconds(column: str, value: object) -> float:
    """A time as seconds since 1970: an epoch in any usual unit, or ISO 8601.

    Raises: `ValueError` for other values.
    """
    if isinstance(value, datetime):
        return (value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp()
    if isinstance(value, str):
        try:
            value = real_number(value)
        except ValueError:
            return seconds(column, _iso(column, value))
    if isinstance(value, bool) or not (isinstance(value, int | float) and math.isfinite(value)):
        raise ValueError(f"{column} is not a time: {value!r}")
    size = abs(value)
    return float(value / next((unit for bound, unit in _EPOCH_UNITS if size >= bound), 1))


def _iso(column: str, value: object) -> datetime:
    try:
        return datetime.fromisoformat(str(value).strip())
    except ValueError as error:
        raise ValueError(
            f"{column} is not a time: {value!r}; write 2017-08-01T12:00:00Z or seconds since 1970"
        ) from error
