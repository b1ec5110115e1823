"""Points in InfluxDB's line protocol: `measurement,tag=value field=1.5,other=2i time`.

    https://docs.influxdata.com/influxdb/v2/reference/syntax/line-protocol/

A line is a point; blank lines and lines that begin with # are none. Names and tags stand before the
first blank, fields before the second, then the time, in nanoseconds unless the caller says
otherwise. A backslash before a comma, an equals sign or a blank makes that a character of the name;
in the texts of fields, which may hold line feeds, it stands before a quote or a backslash. Before
any other character it is a backslash.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.series import SeriesKey
from widerow.model.values import Value
from widerow.row_files.source import FileInvalid, Rejected
from widerow.written_numbers import real_number, whole_number

__all__ = ["PRECISIONS", "LinePoint", "line_points", "point_of_line"]

PRECISIONS: Final = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
"""Units of times, by their names: how many nanoseconds each has."""

_LINE_BYTES_MAX: Final = 4 * 1024 * 1024
_NAME: Final = re.compile(r"(?:\\.|[^\\, ]|\\$)+", re.DOTALL)
_KEY: Final = re.compile(r"(?:\\.|[^\\,= ]|\\$)+", re.DOTALL)
_TEXT: Final = re.compile(r'"((?:\\.|[^"\\])*)"', re.DOTALL)
_BARE: Final = re.compile(r"[^, ]+")
_ESCAPED: Final = re.compile(r"\\([,= ])")
_ESCAPED_IN_TEXT: Final = re.compile(r'\\(["\\])')
_BOOLEANS: Final = {
    **dict.fromkeys(("t", "T", "true", "True", "TRUE"), True),
    **dict.fromkeys(("f", "F", "false", "False", "FALSE"), False),
}


class LinePoint(NamedTuple):
    """A point and the number of the line at which it begins, from 1 on. `size`: its bytes."""

    line: int
    point: Point
    size: int


def line_points(
    lines: Iterable[bytes],
    precision: str,
    now_us: int,
    source: str = "",
    rejected: Rejected | None = None,
) -> Iterator[LinePoint]:
    """The points of a file's lines, of which each has its line feed.

    `precision`: a key of `PRECISIONS`. `now_us`: the time of points that say none, in microseconds
    since 1970. `source`: the name of the tag whose value is the data source of the point; empty: no
    tag, and no data source. With `rejected`, lines that are not points are passed to it and left
    out. Raises: `FileInvalid` with the line; the points before it were given.
    """
    number, pending, began = 0, b"", 0
    for line in lines:
        number += 1
        if not pending:
            began = number
            if not line.strip() or line.lstrip().startswith(b"#"):
                continue
        pending += line
        if len(pending) > _LINE_BYTES_MAX:
            raise FileInvalid(f"line {began}: a point has more than 4 MB; is a quote missing?")
        if _is_open(pending):
            continue
        data, pending = pending, b""
        try:
            point = point_of_line(data.decode().rstrip("\r\n"), precision, now_us, source)
        except ValueError as error:
            if rejected is None:
                raise FileInvalid(f"line {began}: {error}") from error
            rejected(began, str(error), data.decode(errors="replace"))
            continue
        yield LinePoint(began, point, len(data))
    if pending:
        raise FileInvalid(f"line {began}: a text of a field has no closing quote")


def _is_open(data: bytes) -> bool:
    """Whether the data ends inside a text. A quote opens one only behind the `=` of a field."""
    inside = False
    at = _fields_at(data) if b'"' in data else len(data)
    while at < len(data):
        char = data[at : at + 1]
        if char == b"\\":
            at += 1
        elif char == b'"' and (inside or data[at - 1 : at] == b"="):
            inside = not inside
        at += 1
    return inside


def _fields_at(data: bytes) -> int:
    """Where the fields begin: behind the first blank that no backslash stands before."""
    at = 0
    while at < len(data) and data[at : at + 1] != b" ":
        at += 2 if data[at : at + 1] == b"\\" else 1
    return at


def point_of_line(text: str, precision: str, now_us: int, source: str = "") -> Point:
    """The point that a line says, as `line_points` reads it. Raises: `ValueError`."""
    text = text.lstrip(" ")
    measurement, at = _matched(_NAME, text, 0, "a measurement")
    tags: dict[str, str] = {}
    while text[at : at + 1] == ",":
        name, value, at = _tag(text, at + 1)
        if name in tags:
            raise ValueError(f"the tag {name!r} stands twice")
        tags[name] = value
    at = _blanks(text, at, "fields")
    fields: dict[str, Value] = {}
    while True:
        name, at = _matched(_KEY, text, at, "a name of a field")
        at = _expected(text, at, "=", f"behind the field {name!r}")
        fields[name], at = _field(name, text, at)
        if text[at : at + 1] != ",":
            break
        at += 1
    told = text[at:].strip(" ")
    time_us = now_us if not told else _time_us(told, precision)
    data_source = tags.pop(source, "") if source else ""
    return Point(SeriesKey(measurement, data_source, tuple(sorted(tags.items()))), time_us, fields)


def _tag(text: str, at: int) -> tuple[str, str, int]:
    name, at = _matched(_KEY, text, at, "a name of a tag")
    at = _expected(text, at, "=", f"behind the tag {name!r}")
    value, at = _matched(_KEY, text, at, f"a value of the tag {name!r}")
    return name, value, at


def _matched(pattern: re.Pattern[str], text: str, at: int, what: str) -> tuple[str, int]:
    found = pattern.match(text, at)
    if found is None:
        raise ValueError(f"{what} is missing at character {at + 1}")
    return _ESCAPED.sub(r"\1", found[0]), found.end()


def _expected(text: str, at: int, char: str, where: str) -> int:
    if text[at : at + 1] != char:
        raise ValueError(f"there is no {char!r} {where}, at character {at + 1}")
    return at + 1


def _blanks(text: str, at: int, what: str) -> int:
    if text[at : at + 1] != " ":
        raise ValueError(f"there are no {what} behind character {at}")
    while text[at : at + 1] == " ":
        at += 1
    return at


def _field(name: str, text: str, at: int) -> tuple[Value, int]:
    if text[at : at + 1] == '"':
        found = _TEXT.match(text, at)
        if found is None:
            raise ValueError(f"the text of the field {name!r} has no closing quote")
        return _ESCAPED_IN_TEXT.sub(r"\1", found[1]), found.end()
    found = _BARE.match(text, at)
    if found is None:
        raise ValueError(f"the field {name!r} has no value")
    return _bare(name, found[0]), found.end()


def _bare(name: str, word: str) -> Value:
    """A value without quotes. Unsigned integers are taken as far as INTEGER has them."""
    if word in _BOOLEANS:
        return _BOOLEANS[word]
    try:
        if word[-1] not in "iu":
            number = real_number(word)
            if number - number == 0:  # neither infinite nor no number
                return number
        else:
            whole = whole_number(word[:-1])
            if INT64_MIN <= whole <= INT64_MAX:
                return whole
    except ValueError:
        pass
    raise ValueError(f"the field {name!r} has no value of line protocol: {word[:60]!r}")


def _time_us(word: str, precision: str) -> int:
    try:
        number = whole_number(word)
    except ValueError as error:
        raise ValueError(f"the time is not a whole number: {word[:60]!r}") from error
    return number * PRECISIONS[precision] // 1000
