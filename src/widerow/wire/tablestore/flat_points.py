"""Points of a PutTimeseriesData request in FlatBuffers, read in place (wire §4.2, timeseries §4).

A FlatBuffer is a graph of offsets, so a short body can name one text a million times. Work and
memory are bounded by what a request may hold: its points, the fields and tags of a point, and the
bytes of all texts together, each counted as often as it is named.
"""

from typing import Final, NamedTuple, final

from mypy_extensions import i64

from widerow.errors import InvalidRequest
from widerow.limits import (
    SERIES_FIELDS_MAX,
    SERIES_POINT_BYTES_MAX,
    SERIES_POINTS_MAX,
    SERIES_TAGS_MAX,
)
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey, tags_of_pairs, tags_of_text
from widerow.model.values import Value
from widerow.rows.words import double_at, integer_at, length_at

__all__ = ["flat_points"]

# Fields of the tables, by the places of their offsets in a vtable.
_FIRST: Final = 4
_SECOND: Final = 6
_THIRD: Final = 8
_FOURTH: Final = 10
_FIFTH: Final = 12
_SIXTH: Final = 14

_LONG: Final = 1
_BOOLEAN: Final = 2
_DOUBLE: Final = 3
_STRING: Final = 4
_BINARY: Final = 5


class _Group(NamedTuple):
    """What the rows of a group have in common: `types` are codes, one for each name."""

    measurement: str
    names: list[str]
    types: bytes


def flat_points(data: bytes, *, tag_lists: bool) -> list[Point]:
    """The points of a FlatBuffer, in its order.

    `tag_lists`: tags are read from the lists of them, where a row has one; otherwise from the text.
    Raises `InvalidRequest`: POINT_BUFFER where the bytes are no such FlatBuffer, POINT_COUNT,
    FIELD_COUNT, TAGS_LENGTH, FIELD_LENGTH where it has too much.
    """
    try:
        return _Reader(data).points(tag_lists)
    except (IndexError, ValueError, OverflowError) as error:
        raise InvalidRequest(TimeseriesRule.POINT_BUFFER) from error


@final
class _Reader:
    """A walk over one FlatBuffer. `room`: bytes of texts that may still be read."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.room = SERIES_POINT_BYTES_MAX

    def points(self, tag_lists: bool) -> list[Point]:  # noqa: FBT001  # of one caller
        data = self.data
        found: list[Point] = []
        groups = self.vector(length_at(data, 0), _FIRST)
        count: i64 = length_at(data, groups) if groups else 0
        place: i64 = groups + 4
        # A group without rows costs nothing to name: a request has no more groups than points.
        if count > SERIES_POINTS_MAX:
            raise InvalidRequest(TimeseriesRule.POINT_COUNT, limit=SERIES_POINTS_MAX)
        while count > 0:
            self.add_group(found, place + length_at(data, place), tag_lists)
            place += 4
            count -= 1
        return found

    def add_group(self, found: list[Point], table: i64, tag_lists: bool) -> None:  # noqa: FBT001  # of one caller
        data = self.data
        rows = self.vector(table, _FOURTH)
        count: i64 = length_at(data, rows) if rows else 0
        if count + len(found) > SERIES_POINTS_MAX:
            raise InvalidRequest(TimeseriesRule.POINT_COUNT, limit=SERIES_POINTS_MAX)
        if count == 0:
            return
        names = self.texts(table, _SECOND, SERIES_FIELDS_MAX, TimeseriesRule.FIELD_COUNT)
        types = self.vector(table, _THIRD)
        codes = self.bytes_at(types) if types else b""
        if len(codes) != len(names):
            raise IndexError("types of fields")
        group = _Group(self.text(table, _FIRST), names, codes)
        place: i64 = rows + 4
        while count > 0:
            found.append(self.point(group, place + length_at(data, place), tag_lists))
            place += 4
            count -= 1

    def point(self, group: _Group, table: i64, tag_lists: bool) -> Point:  # noqa: FBT001  # of one caller
        data = self.data
        at = self.field(table, _THIRD)
        time_us = integer_at(data, at) if at else 0
        listed = self.vector(table, _SIXTH) if tag_lists else 0
        tags = self.tags(listed) if listed else tags_of_text(self.text(table, _SECOND))
        series = SeriesKey(group.measurement, self.text(table, _FIRST), tags)
        values = self.field(table, _FOURTH)
        if not values:
            return Point(series, time_us, {})
        return Point(series, time_us, self.fields(group, values + length_at(data, values)))

    def tags(self, place: i64) -> tuple[tuple[str, str], ...]:
        data = self.data
        count: i64 = length_at(data, place)
        if count > SERIES_TAGS_MAX:
            raise InvalidRequest(TimeseriesRule.TAGS_LENGTH)
        pairs: list[tuple[str, str]] = []
        while count > 0:
            place += 4
            tag = place + length_at(data, place)
            pairs.append((self.text(tag, _FIRST), self.text(tag, _SECOND)))
            count -= 1
        return tags_of_pairs(pairs)

    def fields(self, group: _Group, table: i64) -> dict[str, Value]:
        """The fields of a row: each takes the next value of the vector of its type."""
        data = self.data
        longs: i64 = self.vector(table, _FIRST)
        booleans: i64 = self.vector(table, _SECOND)
        doubles: i64 = self.vector(table, _THIRD)
        strings: i64 = self.vector(table, _FOURTH)
        binaries: i64 = self.vector(table, _FIFTH)
        used = [0, 0, 0, 0, 0, 0]
        found: dict[str, Value] = {}
        for index, name in enumerate(group.names):
            code: i64 = group.types[index]
            if code == _LONG:
                found[name] = integer_at(data, self.element(longs, used, code, 8))
            elif code == _DOUBLE:
                found[name] = double_at(data, self.element(doubles, used, code, 8))
            elif code == _BOOLEAN:
                found[name] = data[self.element(booleans, used, code, 1)] != 0
            elif code == _STRING:
                place = self.element(strings, used, code, 4)
                found[name] = self.text_at(place + length_at(data, place))
            elif code == _BINARY:
                place = self.element(binaries, used, code, 4)
                value = self.vector(place + length_at(data, place), _FIRST)
                found[name] = self.bytes_at(value) if value else b""
            else:
                raise IndexError("type of a field")
        return found

    def element(self, vector: i64, used: list[int], code: i64, size: i64) -> i64:
        """Where the next value of a vector stands. Raises `IndexError` where it has no more."""
        number: i64 = used[code]
        if vector == 0 or number >= length_at(self.data, vector):
            raise IndexError("value of a field")
        used[code] = int(number + 1)
        return vector + 4 + size * number

    def field(self, table: i64, slot: i64) -> i64:
        """Where a table has a field; 0 where it has none. Raises `IndexError`."""
        data = self.data
        signed: i64 = length_at(data, table)
        if signed >= 0x8000_0000:
            signed -= 0x1_0000_0000
        vtable: i64 = table - signed
        if vtable < 0:
            raise IndexError("vtable")
        size: i64 = data[vtable] | (data[vtable + 1] << 8)
        if slot >= size:
            return 0
        offset: i64 = data[vtable + slot] | (data[vtable + slot + 1] << 8)
        return table + offset if offset else 0

    def vector(self, table: i64, slot: i64) -> i64:
        """Where the vector of a field begins, with its length; 0 where there is none."""
        at = self.field(table, slot)
        return at + length_at(self.data, at) if at else 0

    def text(self, table: i64, slot: i64) -> str:
        """The text of a field, empty where there is none."""
        at = self.vector(table, slot)
        return self.text_at(at) if at else ""

    def text_at(self, place: i64) -> str:
        """The text at a place. Raises `ValueError` where it is not UTF-8."""
        return self.bytes_at(place).decode()

    def bytes_at(self, place: i64) -> bytes:
        """The bytes of a vector of them."""
        size: i64 = length_at(self.data, place)
        start: i64 = place + 4
        if start + size > len(self.data):
            raise IndexError("end of the buffer")
        self.room -= int(size)
        if self.room < 0:
            raise InvalidRequest(TimeseriesRule.FIELD_LENGTH)
        return self.data[start : start + size]

    def texts(self, table: i64, slot: i64, most: int, rule: TimeseriesRule) -> list[str]:
        """The texts of a vector of them, at most so many."""
        data = self.data
        place: i64 = self.vector(table, slot)
        count: i64 = length_at(data, place) if place else 0
        if count > most:
            raise InvalidRequest(rule, limit=most)
        found: list[str] = []
        while count > 0:
            place += 4
            found.append(self.text_at(place + length_at(data, place)))
            count -= 1
        return found
