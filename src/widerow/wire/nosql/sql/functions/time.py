"""Functions of instants (ddl §4; corrections B, "4 time").

A STRING is read as a TIMESTAMP, an INTEGER or LONG counts milliseconds since 1970; what is no
instant gives SQL NULL.
"""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final

from widerow.model.typed.types import Kind
from widerow.model.typed.values import Timestamp
from widerow.wire.nosql.moments import (
    DAY_SECONDS,
    CalendarParts,
    calendar_parts,
    days_of,
    instant_of,
    milliseconds_of,
    moment_of_text,
    of_milliseconds,
    within_years,
)
from widerow.wire.nosql.sql.functions.formats import FormatFault, StampPattern, zone_offset
from widerow.wire.nosql.sql.functions.kinds import (
    CALL,
    NULL_ITEMS,
    ArgumentItems,
    Env,
    FunctionFault,
    FunctionRule,
    Items,
    SqlFunction,
    promote_text,
    text_argument,
)
from widerow.wire.nosql.sql.items import LongInt, StampItem, stamp
from widerow.wire.nosql.sql.texts import item_type_name, text_of

__all__ = ["PARTS", "TIME_FUNCTIONS", "part_of"]

_NANOSECONDS: Final = 1_000_000_000


def _instant(items: Items) -> Timestamp | None:
    """An argument as an instant."""
    if len(items) != 1:
        return None
    item = items[0]
    if isinstance(item, Timestamp):
        return item
    if isinstance(item, str):
        return moment_of_text(item)
    if isinstance(item, int) and not isinstance(item, bool):
        return of_milliseconds(item)
    return None


def _result(moment: Timestamp, precision: int) -> StampItem:
    """Raises `FunctionFault` beyond the years of a TIMESTAMP."""
    if not within_years(moment):
        raise FunctionFault(FunctionRule.RANGE, None, text=_beyond(moment))
    return stamp(moment, precision)


def _beyond(moment: Timestamp) -> str:
    """The text of an instant whose year has more than four digits."""
    parts = calendar_parts(moment)
    return (
        f"{parts.year:+05}-{parts.month:02}-{parts.day:02}T{parts.hour:02}:{parts.minute:02}:"
        f"{parts.second:02}.{parts.nanosecond // 1_000_000:03}Z"
    )


# --- parts ---------------------------------------------------------------------------------------


def _day_of_year(parts: CalendarParts) -> int:
    return days_of(*parts[:3]) - days_of(parts.year, 1, 1) + 1


def _day_of_week(parts: CalendarParts) -> int:
    """Monday is 1, Sunday 7."""
    return (days_of(*parts[:3]) + 3) % 7 + 1


def _iso_year_start(days: int) -> int:
    """The Monday on which the ISO year of a day begins, in days since 1970."""
    thursday = days - (days + 3) % 7 + 3
    year = calendar_parts(Timestamp(thursday * DAY_SECONDS)).year
    fourth = days_of(year, 1, 4)
    return fourth - (fourth + 3) % 7


def _iso_week(parts: CalendarParts) -> int:
    days = days_of(*parts[:3])
    return (days - _iso_year_start(days)) // 7 + 1


PARTS: Final[Mapping[str, Callable[[CalendarParts], int]]] = MappingProxyType(
    {
        "year": lambda parts: parts.year,
        "month": lambda parts: parts.month,
        "day": lambda parts: parts.day,
        "hour": lambda parts: parts.hour,
        "minute": lambda parts: parts.minute,
        "second": lambda parts: parts.second,
        "millisecond": lambda parts: parts.nanosecond // 1_000_000,
        "microsecond": lambda parts: parts.nanosecond // 1000,
        "nanosecond": lambda parts: parts.nanosecond,
        "week": lambda parts: (_day_of_year(parts) - 1) // 7 + 1,
        "isoweek": _iso_week,
        "quarter": lambda parts: (parts.month + 2) // 3,
        "day_of_week": _day_of_week,
        "day_of_month": lambda parts: parts.day,
        "day_of_year": _day_of_year,
    }
)
"""The parts that EXTRACT and the functions of their names take out of an instant."""


def part_of(name: str, items: Items) -> Items:
    """`EXTRACT(name FROM items)`. Raises `FunctionFault` for a name that is none of `PARTS`."""
    take = PARTS.get(name.lower())
    if take is None:
        raise FunctionFault(FunctionRule.PART, CALL, text=name)
    moment = _instant(items)
    return NULL_ITEMS if moment is None else (take(calendar_parts(moment)),)


def _part(name: str) -> SqlFunction:
    return SqlFunction(1, 1, lambda arguments, _: part_of(name, arguments[0]), Kind.INTEGER)


# --- spans ---------------------------------------------------------------------------------------

_MONTHS: Final = {"YEAR": 12, "MONTH": 1}
_SPANS: Final = {  # in nanoseconds
    "WEEK": 7 * DAY_SECONDS * _NANOSECONDS,
    "DAY": DAY_SECONDS * _NANOSECONDS,
    "HOUR": 3600 * _NANOSECONDS,
    "MINUTE": 60 * _NANOSECONDS,
    "SECOND": _NANOSECONDS,
    "MILLISECOND": 1_000_000,
    "NANOSECOND": 1,
}
_ADDED: Final = frozenset(_MONTHS) | frozenset(_SPANS) - {"WEEK"}
_SPAN: Final = re.compile(r"\s*(-)?\s*((?:\d{1,18}\s+[A-Za-z]+\s*)+)\Z", re.ASCII)
_STEP: Final = re.compile(r"(\d+)\s+([A-Za-z]+?)[sS]?(?:\s+|\Z)", re.ASCII)


def _steps(text: str, units: frozenset[str]) -> list[tuple[int, str]] | None:
    """The steps of an interval such as `-1 day 2 hours`; None: it is none of these units."""
    found = _SPAN.match(text)
    if found is None:
        return None
    sign = -1 if found[1] else 1
    steps = [(sign * int(count), unit.upper()) for count, unit in _STEP.findall(found[2])]
    return steps if all(unit in units for _, unit in steps) else None


def _add(arguments: ArgumentItems, _: Env) -> Items:
    moment, text = _instant(arguments[0]), text_argument(arguments[1])
    if moment is None or text is None:
        return NULL_ITEMS
    steps = _steps(text, _ADDED)
    if steps is None:
        raise FunctionFault(FunctionRule.DURATION, CALL, text=text)
    months = sum(count * _MONTHS.get(unit, 0) for count, unit in steps)
    span = sum(count * _SPANS.get(unit, 0) for count, unit in steps)
    if months:
        moment = _months_later(moment, months)
    whole, nanoseconds = divmod(moment[1] + span, _NANOSECONDS)
    return (_result(Timestamp(moment[0] + whole, nanoseconds), 9),)


def _months_later(moment: Timestamp, months: int) -> Timestamp:
    """On this day of another month, or on its last one."""
    parts = calendar_parts(moment)
    year, month = divmod(parts.year * 12 + parts.month - 1 + months, 12)
    if abs(year) > 20_000:  # far beyond any TIMESTAMP; the calendar need not reach there
        raise FunctionFault(FunctionRule.RANGE, None, text=f"{year:+}-{month + 1:02}")
    day = min(parts.day, _month_days(year, month + 1))
    return instant_of(parts._replace(year=year, month=month + 1, day=day))


def _month_days(year: int, month: int) -> int:
    following = days_of(year + month // 12, month % 12 + 1, 1)
    return following - days_of(year, month, 1)


def _difference(arguments: ArgumentItems, _: Env) -> Items:
    one, other = _instant(arguments[0]), _instant(arguments[1])
    if one is None or other is None:
        return NULL_ITEMS
    return (LongInt(milliseconds_of(one) - milliseconds_of(other)),)


_DURATION: Final = (
    *(("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000)),
    *(("second", 1000), ("millisecond", 1)),
)


def _duration(arguments: ArgumentItems, _: Env) -> Items:
    """Milliseconds in words: `1 day 3 hours`."""
    items = arguments[0]
    if not items or items[0] is None:
        return NULL_ITEMS
    item = items[0]
    if not isinstance(item, int) or isinstance(item, bool):
        raise FunctionFault(
            FunctionRule.CAST, CALL, item=text_of(item), type=item_type_name(item), wanted="Long"
        )
    left, words = abs(int(item)), []
    for name, size in _DURATION:
        count, left = divmod(left, size)
        if count:
            words.append(f"{count} {name}{'' if count == 1 else 's'}")
    return ("- " * (item < 0) + " ".join(words or ["0 second"]),)


# --- rounding ------------------------------------------------------------------------------------


def _year_start(parts: CalendarParts) -> CalendarParts:
    return CalendarParts(parts.year, 1, 1)


def _days_back(parts: CalendarParts, days: int) -> CalendarParts:
    return calendar_parts(Timestamp((days_of(*parts[:3]) - days) * DAY_SECONDS))


_FLOORS: Final[Mapping[str, Callable[[CalendarParts], CalendarParts]]] = MappingProxyType(
    {
        "YEAR": _year_start,
        "IYEAR": lambda parts: calendar_parts(
            Timestamp(_iso_year_start(days_of(*parts[:3])) * DAY_SECONDS)
        ),
        "QUARTER": lambda parts: CalendarParts(parts.year, (parts.month - 1) // 3 * 3 + 1, 1),
        "MONTH": lambda parts: CalendarParts(parts.year, parts.month, 1),
        "IWEEK": lambda parts: _days_back(parts, _day_of_week(parts) - 1),
        "WEEK": lambda parts: _days_back(parts, (_day_of_year(parts) - 1) % 7),
        "DAY": lambda parts: CalendarParts(*parts[:3]),
        "HOUR": lambda parts: CalendarParts(*parts[:4]),
        "MINUTE": lambda parts: CalendarParts(*parts[:5]),
        "SECOND": lambda parts: CalendarParts(*parts[:6]),
    }
)
_LENGTHS: Final = {  # in seconds, so long that the floor behind it is the next one
    "YEAR": 366 * DAY_SECONDS,
    "IYEAR": 371 * DAY_SECONDS,
    "QUARTER": 92 * DAY_SECONDS,
    "MONTH": 31 * DAY_SECONDS,
    "IWEEK": 7 * DAY_SECONDS,
    "WEEK": 7 * DAY_SECONDS,
    "DAY": DAY_SECONDS,
    "HOUR": 3600,
    "MINUTE": 60,
    "SECOND": 1,
}


def _floor(moment: Timestamp, unit: str) -> Timestamp:
    return instant_of(_FLOORS[unit](calendar_parts(moment)))


def _ceil(moment: Timestamp, unit: str) -> Timestamp:
    start = _floor(moment, unit)
    return start if start == Timestamp(*moment) else _next(start, unit)


def _next(start: Timestamp, unit: str) -> Timestamp:
    """The next start of a unit behind one."""
    if unit == "WEEK":  # weeks begin anew with each year
        year = instant_of(CalendarParts(calendar_parts(start).year + 1, 1, 1))
        return min(Timestamp(start[0] + _LENGTHS[unit]), year)
    return _floor(Timestamp(start[0] + _LENGTHS[unit]), unit)


def _round(moment: Timestamp, unit: str) -> Timestamp:
    """The nearer start; months turn on their 16th, years in July."""
    start = _floor(moment, unit)
    parts = calendar_parts(moment)
    turned = _TURNS.get(unit)
    if turned is not None:
        return _next(start, unit) if turned(parts) else start
    following = _next(start, unit)
    passed = (moment[0] - start[0]) * _NANOSECONDS + moment[1]
    return following if 2 * passed >= (following[0] - start[0]) * _NANOSECONDS else start


_MID_MONTH: Final = 16
_TURNS: Final[Mapping[str, Callable[[CalendarParts], bool]]] = MappingProxyType(
    {
        "YEAR": lambda parts: parts.month >= 7,
        "MONTH": lambda parts: parts.day >= _MID_MONTH,
        "QUARTER": lambda parts: (
            (parts.month - 1) % 3 == 2 or ((parts.month - 1) % 3 == 1 and parts.day >= _MID_MONTH)
        ),
    }
)


def _to_unit(change: Callable[[Timestamp, str], Timestamp]) -> SqlFunction:
    def call(arguments: ArgumentItems, _: Env) -> Items:
        unit = "day" if len(arguments) < 2 else promote_text(arguments, 1)
        if unit is None:
            return NULL_ITEMS
        if unit.upper() not in _FLOORS:
            raise FunctionFault(FunctionRule.UNIT, CALL, text=unit)
        moment = _instant(arguments[0])
        return NULL_ITEMS if moment is None else (_result(change(moment, unit.upper()), 0),)

    return SqlFunction(1, 2, call, Kind.TIMESTAMP, 0)


_BUCKET_UNITS: Final = frozenset({"WEEK", "DAY", "HOUR", "MINUTE", "SECOND"})


def _bucket(arguments: ArgumentItems, _: Env) -> Items:
    """The start of the interval of an instant, counted from an origin, else from 1970."""
    text = "1 day" if len(arguments) < 2 else promote_text(arguments, 1)
    origin = Timestamp(0) if len(arguments) < 3 else _instant(arguments[2])
    if text is None or origin is None:
        return NULL_ITEMS
    steps = _steps(text, _BUCKET_UNITS)
    if steps is None or len(steps) != 1 or steps[0][0] <= 0:
        raise FunctionFault(FunctionRule.BUCKET, CALL, text=text)
    moment = _instant(arguments[0])
    if moment is None:
        return NULL_ITEMS
    size = steps[0][0] * _SPANS[steps[0][1]]
    passed = (moment[0] - origin[0]) * _NANOSECONDS + moment[1] - origin[1]
    start = origin[0] * _NANOSECONDS + origin[1] + passed // size * size
    return (_result(Timestamp(*divmod(start, _NANOSECONDS)), 9),)


def _last_day(arguments: ArgumentItems, _: Env) -> Items:
    moment = _instant(arguments[0])
    if moment is None:
        return NULL_ITEMS
    parts = calendar_parts(moment)
    day = _month_days(parts.year, parts.month)
    return (_result(instant_of(CalendarParts(parts.year, parts.month, day)), 0),)


# --- texts ---------------------------------------------------------------------------------------


def _zone(arguments: ArgumentItems, at: int) -> str | None:
    return "UTC" if len(arguments) <= at else promote_text(arguments, at)


def _format(arguments: ArgumentItems, _: Env) -> Items:
    moment = _instant(arguments[0])
    pattern = "" if len(arguments) < 2 else promote_text(arguments, 1)
    zone = _zone(arguments, 2)
    if moment is None or pattern is None or zone is None:
        return NULL_ITEMS
    if len(arguments) < 2:
        return (text_of(moment),)
    try:
        offset = zone_offset(zone, moment[0])
        local = calendar_parts(Timestamp(moment[0] + offset, moment[1]))
        return (StampPattern(pattern).format(local, offset, zone),)
    except FormatFault as error:
        raise FunctionFault(FunctionRule.FORMAT, None, pattern=pattern, text=str(error)) from error


def _parse(arguments: ArgumentItems, _: Env) -> Items:
    text = text_argument(arguments[0])
    pattern = "" if len(arguments) < 2 else promote_text(arguments, 1)
    zone = _zone(arguments, 2)
    if text is None or pattern is None or zone is None:
        return NULL_ITEMS
    if len(arguments) < 2:
        moment = moment_of_text(text)
        if moment is None:
            raise _unparsed(text, _DEFAULT_PATTERN, f"Text '{text}' could not be parsed at index 0")
        return (_result(moment, 9),)
    try:
        local, offset = StampPattern(pattern).parse(text)
        moment = instant_of(local)
        shift = zone_offset(zone, moment[0]) if offset is None else offset
    except (FormatFault, ValueError) as error:
        raise _unparsed(text, pattern, str(error)) from error
    return (_result(Timestamp(moment[0] - shift, moment[1]), 9),)


_DEFAULT_PATTERN: Final = "uuuu-MM-dd['T'HH:mm:ss[.SSSSSSSSS]]"


def _unparsed(value: str, pattern: str, text: str) -> FunctionFault:
    return FunctionFault(FunctionRule.PARSE, None, value=value, pattern=pattern, text=text)


def _now(_: ArgumentItems, env: Env) -> Items:
    moment = Timestamp(*divmod(env.now_us // 1000 * 1_000_000, _NANOSECONDS))
    return (stamp(moment, 3),)


def _now_milliseconds(_: ArgumentItems, env: Env) -> Items:
    return (LongInt(env.now_us // 1000),)


TIME_FUNCTIONS: Final[Mapping[str, SqlFunction]] = MappingProxyType(
    {
        **{name: _part(name) for name in PARTS},
        "current_time": SqlFunction(0, 0, _now, Kind.TIMESTAMP, 3),
        "current_time_millis": SqlFunction(0, 0, _now_milliseconds, Kind.LONG),
        "timestamp_add": SqlFunction(2, 2, _add, Kind.TIMESTAMP, 9),
        "timestamp_diff": SqlFunction(2, 2, _difference, Kind.LONG),
        "get_duration": SqlFunction(1, 1, _duration, Kind.STRING),
        "timestamp_floor": _to_unit(_floor),
        "timestamp_trunc": _to_unit(_floor),
        "timestamp_ceil": _to_unit(_ceil),
        "timestamp_round": _to_unit(_round),
        "timestamp_bucket": SqlFunction(1, 3, _bucket, Kind.TIMESTAMP, 9),
        "to_last_day_of_month": SqlFunction(1, 1, _last_day, Kind.TIMESTAMP, 0),
        "format_timestamp": SqlFunction(1, 3, _format, Kind.STRING),
        "parse_to_timestamp": SqlFunction(1, 3, _parse, Kind.TIMESTAMP, 9),
    }
)
"""By their names, which are compared exactly."""
