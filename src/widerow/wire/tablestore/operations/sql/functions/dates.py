"""Functions of moments, dates and times; every session's time zone is UTC."""

import calendar as months
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any, Final

from widerow.errors import Unsupported
from widerow.model.tablestore.rules import TablestoreRule
from widerow.query.expression import Constant, FunctionCall
from widerow.wire.tablestore.operations.sql.functions.signature import Function, Functions, taking
from widerow.wire.tablestore.operations.sql.kinds import (
    SqlKind,
    TypedExpression,
    as_datetime,
    as_number,
    as_text,
    as_time,
    as_whole,
)
from widerow.wire.tablestore.operations.sql.moments import (
    DAY_US,
    SECOND_US,
    calendar,
    moment,
    read_datetime,
)

__all__ = ["DATE_FUNCTIONS", "INTERVAL_UNITS", "moved_by"]

_LONG, _TEXT, _DOUBLE = SqlKind.LONG, SqlKind.TEXT, SqlKind.DOUBLE
_DATETIME, _DATE, _TIME = SqlKind.DATETIME, SqlKind.DATE, SqlKind.TIME

_UNIX_SECONDS_MAX: Final = 253_402_300_799  # the end of the year 9999


def _from_unixtime(seconds: float) -> int | None:
    if not 0 <= seconds <= _UNIX_SECONDS_MAX:
        return None
    return seconds * SECOND_US if isinstance(seconds, int) else round(seconds * SECOND_US)


def _unix_timestamp(moment_us: int) -> float:
    seconds, rest = divmod(moment_us, SECOND_US)
    return seconds + rest / SECOND_US if rest else seconds


def _part(take: Callable[[datetime], Any]) -> Callable[[int], Any]:
    def run(moment_us: int) -> Any:  # noqa: ANN401  # of the part
        found = calendar(moment_us)
        return None if found is None else take(found)

    return run


def _week(found: datetime) -> int:
    """MySQL's mode 0: weeks begin on Sunday, week 1 is the first with a Sunday in the year."""
    return int(found.strftime("%U"))


def _last_day(found: datetime) -> int:
    day = months.monthrange(found.year, found.month)[1]
    return moment(found.replace(day=day, hour=0, minute=0, second=0, microsecond=0))


_FORMATS: Final[dict[str, Callable[[datetime], str]]] = {
    "Y": lambda d: f"{d.year:04}",
    "y": lambda d: f"{d.year % 100:02}",
    "m": lambda d: f"{d.month:02}",
    "c": lambda d: str(d.month),
    "d": lambda d: f"{d.day:02}",
    "e": lambda d: str(d.day),
    "H": lambda d: f"{d.hour:02}",
    "k": lambda d: str(d.hour),
    "h": lambda d: f"{(d.hour + 11) % 12 + 1:02}",
    "I": lambda d: f"{(d.hour + 11) % 12 + 1:02}",
    "l": lambda d: str((d.hour + 11) % 12 + 1),
    "i": lambda d: f"{d.minute:02}",
    "s": lambda d: f"{d.second:02}",
    "S": lambda d: f"{d.second:02}",
    "f": lambda d: f"{d.microsecond:06}",
    "p": lambda d: "PM" if d.hour >= 12 else "AM",
    "a": lambda d: months.day_abbr[d.weekday()],
    "W": lambda d: months.day_name[d.weekday()],
    "w": lambda d: str(d.isoweekday() % 7),
    "b": lambda d: months.month_abbr[d.month],
    "M": lambda d: months.month_name[d.month],
    "j": lambda d: f"{d.timetuple().tm_yday:03}",
    "U": lambda d: f"{_week(d):02}",
    "T": lambda d: f"{d:%H:%M:%S}",
    "r": lambda d: f"{(d.hour + 11) % 12 + 1:02}{d:%M:%S} {'PM' if d.hour >= 12 else 'AM'}",
}


def _formatted(moment_us: int, form: str) -> str | None:
    found = calendar(moment_us)
    if found is None:
        return None
    parts, letters = [], iter(form)
    for letter in letters:
        if letter != "%":
            parts.append(letter)
            continue
        directive = next(letters, "%")
        write = _FORMATS.get(directive)
        parts.append(directive if write is None else write(found))
    return "".join(parts)


_READ: Final = {
    "Y": "%Y",
    "y": "%y",
    "m": "%m",
    "c": "%m",
    "d": "%d",
    "e": "%d",
    "H": "%H",
    "k": "%H",
    "h": "%I",
    "I": "%I",
    "l": "%I",
    "i": "%M",
    "s": "%S",
    "S": "%S",
    "f": "%f",
    "p": "%p",
    "b": "%b",
    "M": "%B",
    "a": "%a",
    "W": "%A",
    "j": "%j",
    "T": "%H:%M:%S",
    "%": "%%",
}


def _read_by(text: str, form: str) -> int | None:
    """The moment of a text in a format; None where the text has another."""
    letters = iter(form)
    parts = [_READ.get(next(letters, "%"), "") if each == "%" else each for each in letters]
    try:
        found = datetime.strptime(text, "".join(parts))  # noqa: DTZ007  # texts of SQL have no zone
    except ValueError:
        return None
    year = 1 if found.year == 1900 and "%Y" not in parts and "%y" not in parts else found.year
    return read_datetime(f"{year:04}-{found:%m-%d %H:%M:%S.%f}")


# --- intervals -------------------------------------------------------------------------------

_UNIT_US: Final = {
    "MICROSECOND": 1,
    "SECOND": SECOND_US,
    "MINUTE": 60 * SECOND_US,
    "HOUR": 3600 * SECOND_US,
    "DAY": DAY_US,
    "WEEK": 7 * DAY_US,
}
_UNIT_MONTHS: Final = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
INTERVAL_UNITS: Final = frozenset((*_UNIT_US, *_UNIT_MONTHS))
"""The units that an interval may have."""


def _months_later(by: int, moment_us: int, times: int) -> int | None:
    """The moment that is `by` months later, or earlier, so many times."""
    count = by * times
    found = calendar(moment_us)
    if found is None:
        return None
    year, month = divmod(found.year * 12 + found.month - 1 + count, 12)
    if not 1 <= year <= 9999:
        return None
    day = min(found.day, months.monthrange(year, month + 1)[1])
    return moment(found.replace(year=year, month=month + 1, day=day))


def moved_by(
    typed: TypedExpression, count: TypedExpression, unit: str, sign: int
) -> TypedExpression:
    """A moment that is `count` units later, or earlier where `sign` is -1.

    A date stays a date where the unit is a day or more. Seconds alone may have a fraction. Raises
    `Unsupported` for other units.
    """
    if unit not in INTERVAL_UNITS:
        raise Unsupported(TablestoreRule.SQL_UNSUPPORTED, detail=f"interval unit {unit}")
    if unit in _UNIT_MONTHS:
        by = _UNIT_MONTHS[unit] * sign
        function, number = partial(_months_later, by), as_whole(count)
    else:
        number = as_number(count) if unit == "SECOND" else as_whole(count)
        function = partial(_later, _UNIT_US[unit] * sign)
    stays = typed.kind is _DATE and (unit in _UNIT_MONTHS or _UNIT_US[unit] >= DAY_US)
    call = FunctionCall("", function, (as_datetime(typed).expression, number.expression))
    return TypedExpression(call, _DATE if stays else _DATETIME)


def _later(by_us: int, moment_us: int, times: float) -> int | None:
    """The moment that is `by_us` later, or earlier, so many times."""
    later = moment_us + round(by_us * times)
    return None if calendar(later) is None else later


def _whole_months(earlier: datetime, later: datetime) -> int:
    """Whole months from one moment to another."""
    if later < earlier:
        return -_whole_months(later, earlier)
    count = (later.year - earlier.year) * 12 + later.month - earlier.month
    rest_later = later - later.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    rest_earlier = earlier - earlier.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    return count - (rest_later < rest_earlier)


def _difference(unit: str) -> Callable[[int, int], int | None]:
    def of_months(one_us: int, other_us: int) -> int | None:
        one, other = calendar(one_us), calendar(other_us)
        if one is None or other is None:
            return None
        return int(_whole_months(one, other) / _UNIT_MONTHS[unit])

    def of_time(one_us: int, other_us: int) -> int:
        apart = other_us - one_us
        return abs(apart) // _UNIT_US[unit] * (1 if apart >= 0 else -1)

    return of_months if unit in _UNIT_MONTHS else of_time


def _timestampdiff(arguments: Sequence[TypedExpression]) -> TypedExpression:
    unit = arguments[0].expression
    name = unit.value if isinstance(unit, Constant) else None
    if name not in INTERVAL_UNITS:
        raise Unsupported(TablestoreRule.SQL_UNSUPPORTED, detail=f"interval unit {name}")
    one, other = [as_datetime(each).expression for each in arguments[1:]]
    return TypedExpression(FunctionCall("", _difference(str(name)), (one, other)), _LONG)


def _timediff(arguments: Sequence[TypedExpression]) -> TypedExpression:
    """The difference of two moments, or of two times; NULL where one is a moment alone."""
    kinds = {each.kind for each in arguments}
    moments = bool(kinds & {_DATETIME, _DATE})
    convert = as_datetime if moments else as_time
    one, other = [convert(each).expression for each in arguments]
    return TypedExpression(FunctionCall("", lambda a, b: a - b, (one, other)), _TIME)


def _date(arguments: Sequence[TypedExpression]) -> TypedExpression:
    at = as_datetime(arguments[0]).expression
    return TypedExpression(FunctionCall("", lambda value: value // DAY_US * DAY_US, (at,)), _DATE)


def _time(arguments: Sequence[TypedExpression]) -> TypedExpression:
    return as_time(arguments[0])


def _from_unixtime_call(arguments: Sequence[TypedExpression]) -> TypedExpression:
    found = TypedExpression(
        FunctionCall("", _from_unixtime, (as_number(arguments[0]).expression,)), _DATETIME
    )
    if len(arguments) == 1:
        return found
    return TypedExpression(
        FunctionCall("", _formatted, (found.expression, as_text(arguments[1]).expression)), _TEXT
    )


def _time_part(take: Callable[[int], int]) -> Function:
    """A part of a time, or of a moment's time of day."""
    return taking("c", _LONG, take)


DATE_FUNCTIONS: Final[Functions] = MappingProxyType(
    {
        "DATE": Function(1, 1, _date),
        "DATEDIFF": taking("dd", _LONG, lambda one, other: one // DAY_US - other // DAY_US),
        "DATE_FORMAT": taking("dt", _TEXT, _formatted),
        "DAY": taking("d", _LONG, _part(lambda d: d.day)),
        "DAYOFMONTH": taking("d", _LONG, _part(lambda d: d.day)),
        "DAYOFWEEK": taking("d", _LONG, _part(lambda d: d.isoweekday() % 7 + 1)),
        "DAYOFYEAR": taking("d", _LONG, _part(lambda d: d.timetuple().tm_yday)),
        "FROM_UNIXTIME": Function(1, 2, _from_unixtime_call),
        "HOUR": _time_part(lambda value: abs(value) // (3600 * SECOND_US)),
        "LAST_DAY": taking("d", _DATE, _part(_last_day)),
        "MICROSECOND": _time_part(lambda value: abs(value) % SECOND_US),
        "MINUTE": _time_part(lambda value: abs(value) // (60 * SECOND_US) % 60),
        "MONTH": taking("d", _LONG, _part(lambda d: d.month)),
        "QUARTER": taking("d", _LONG, _part(lambda d: (d.month + 2) // 3)),
        "SECOND": _time_part(lambda value: abs(value) // SECOND_US % 60),
        "STR_TO_DATE": taking("tt", _DATETIME, _read_by),
        "TIME": Function(1, 1, _time),
        "TIMEDIFF": Function(2, 2, _timediff),
        "TIMESTAMPDIFF": Function(3, 3, _timestampdiff),
        "TIME_TO_SEC": taking("c", _LONG, lambda value: value // SECOND_US),
        "UNIX_TIMESTAMP": taking("d", _DOUBLE, _unix_timestamp),
        "WEEK": taking("d", _LONG, _part(_week)),
        "WEEKDAY": taking("d", _LONG, _part(lambda d: d.weekday())),
        "YEAR": taking("d", _LONG, _part(lambda d: d.year)),
    }
)
