"""Points of a PutTimeseriesData request in FlatBuffers, read in place (wire §4.2, timeseries §4).

A FlatBuffer is a graph of offsets, so a short body can name one text a million times. Work and
memory are bounded by what a request may hold: its points, the fields and tags of a point, and the
bytes of all texts together, each counted as often as it is named.

Values are packed as they are read (`rows/points.py`). Names and keys that are those of the point
before are compared with its bytes and not read again.
"""

from typing import Final, final

from librt.strings import (
    BytesWriter,
    read_i16_le,
    read_i32_le,
    read_i64_le,
    write_i16_le,
    write_i32_be,
    write_i64_be,
)
from mypy_extensions import i32, i64

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
from widerow.model.values import ColumnType
from widerow.rows.points import FieldShape, PackedPoint, SentPoint
from widerow.rows.words import integer_at, length_at, stands_at

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
_TYPES: Final = {
    _LONG: ColumnType.INTEGER,
    _BOOLEAN: ColumnType.BOOLEAN,
    _DOUBLE: ColumnType.DOUBLE,
    _STRING: ColumnType.STRING,
    _BINARY: ColumnType.BINARY,
}
_STEP_BYTES: Final = 4
_LENGTH_BYTES: Final = 4


def flat_points(data: bytes, *, tag_lists: bool) -> list[SentPoint]:
    """The points of a FlatBuffer, in its order; packed but for those without fields.

    `tag_lists`: tags are read from the lists of them, where a row has one; otherwise from the text.
    Raises `InvalidRequest`: POINT_BUFFER where the bytes are no such FlatBuffer, POINT_COUNT,
    FIELD_COUNT, TAGS_LENGTH, FIELD_LENGTH where it has too much.
    """
    try:
        return _Reader(data).points(tag_lists)
    except (IndexError, ValueError, OverflowError) as error:
        raise InvalidRequest(TimeseriesRule.POINT_BUFFER) from error


@final
class _Group:
    """What the rows of a group have in common. Texts are kept as they stand, behind their lengths.

    `codes`: the types as they stand, the same way. `steps`: for each field in the order in which
    values are packed its code, and which of the values of that type is its value. `longs` and so
    on: how many values of each type a row has. `size`: of the texts and types.
    """

    __slots__ = (
        "binaries",
        "booleans",
        "codes",
        "doubles",
        "has_texts",
        "longs",
        "measurement",
        "names",
        "shape",
        "size",
        "steps",
        "strings",
    )

    def __init__(self, measurement: bytes, names: list[bytes], codes: bytes) -> None:
        """Raises `IndexError` for a code of no type, `ValueError` for a name that is no UTF-8."""
        self.measurement = measurement
        self.names = names
        self.codes = codes
        self.size: i64 = _size_of(measurement) + _size_of(codes)
        used = [0, 0, 0, 0, 0, 0]
        # The last of the fields of one name counts.
        places: dict[str, tuple[int, int]] = {}
        for at, name in enumerate(names):
            self.size += _size_of(name)
            code = codes[_LENGTH_BYTES + at]
            if code not in _TYPES:
                raise IndexError("type of a field")
            places[name[_LENGTH_BYTES:].decode()] = code, used[code]
            used[code] += 1
        self.longs: i64 = used[_LONG]
        self.booleans: i64 = used[_BOOLEAN]
        self.doubles: i64 = used[_DOUBLE]
        self.strings: i64 = used[_STRING]
        self.binaries: i64 = used[_BINARY]
        self.has_texts = used[_STRING] + used[_BINARY] > 0
        found = list(places.items())
        types = tuple([_TYPES[code] for _, (code, _) in found])
        self.shape = FieldShape(tuple(places), types)
        steps = BytesWriter()
        for at in self.shape.order:
            _, (code, number) = found[at]
            write_i16_le(steps, code)
            write_i16_le(steps, number)
        self.steps = steps.getvalue()


@final
class _Reader:
    """A walk over one FlatBuffer. `room`: bytes of texts that may still be read.

    `group`, `series`, `source`, `tags`: of the point before; texts as they stand. `is_listed`:
    tags are names and values in turn; else their text. `series_size`: of the texts of the series.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.room: i64 = SERIES_POINT_BYTES_MAX
        self.writer = BytesWriter()
        self.group: _Group | None = None
        self.source = b""
        self.tags: list[bytes] = []
        self.is_listed = False
        self.series: SeriesKey | None = None
        self.series_size: i64 = 0

    def points(self, tag_lists: bool) -> list[SentPoint]:  # noqa: FBT001  # of one caller
        data = self.data
        found: list[SentPoint] = []
        groups = self.vector(length_at(data, 0), _FIRST)
        count = self.count_at(groups)
        place: i64 = groups + 4
        # A group without rows costs nothing to name: a request has no more groups than points.
        if count > SERIES_POINTS_MAX:
            raise InvalidRequest(TimeseriesRule.POINT_COUNT, limit=SERIES_POINTS_MAX)
        while count > 0:
            self.add_group(found, place + length_at(data, place), tag_lists)
            place += 4
            count -= 1
        return found

    def add_group(self, found: list[SentPoint], table: i64, tag_lists: bool) -> None:  # noqa: FBT001  # of one caller
        data = self.data
        rows = self.vector(table, _FOURTH)
        count = self.count_at(rows)
        if count + len(found) > SERIES_POINTS_MAX:
            raise InvalidRequest(TimeseriesRule.POINT_COUNT, limit=SERIES_POINTS_MAX)
        if count == 0:
            return
        group = self.group_at(table)
        place: i64 = rows + 4
        while count > 0:
            found.append(self.point(group, place + length_at(data, place), tag_lists))
            place += 4
            count -= 1

    # --- groups ------------------------------------------------------------------------------

    def group_at(self, table: i64) -> _Group:
        """What the rows of a group have in common."""
        last = self.group
        if last is not None and self.is_group(last, table):
            self.take(last.size)
            return last
        names: list[bytes] = []
        place: i64 = self.vector(table, _SECOND)
        count = self.count_at(place)
        if count > SERIES_FIELDS_MAX:
            raise InvalidRequest(TimeseriesRule.FIELD_COUNT, limit=SERIES_FIELDS_MAX)
        while count > 0:
            place += 4
            names.append(self.standing(place + length_at(self.data, place)))
            count -= 1
        codes = self.standing(self.vector(table, _THIRD))
        if _size_of(codes) != len(names):
            raise IndexError("types of fields")
        measurement = self.standing(self.vector(table, _FIRST))
        if last is None or last.measurement != measurement:
            self.series = None
        self.group = _Group(measurement, names, codes)
        return self.group

    def is_group(self, group: _Group, table: i64) -> bool:
        """Whether a group has the measurement, the names and the types of that one."""
        data = self.data
        place: i64 = self.vector(table, _SECOND)
        if self.count_at(place) != len(group.names):
            return False
        if not self.stands(self.vector(table, _FIRST), group.measurement):
            return False
        if not self.stands(self.vector(table, _THIRD), group.codes):
            return False
        for name in group.names:
            place += 4
            if not stands_at(data, place + length_at(data, place), name):
                return False
        return True

    # --- rows --------------------------------------------------------------------------------

    def point(self, group: _Group, table: i64, tag_lists: bool) -> SentPoint:  # noqa: FBT001  # of one caller
        data = self.data
        at = self.field(table, _THIRD)
        time_us: i64 = 0
        if at:
            time_us = integer_at(data, at)
        series = self.series_at(group, table, tag_lists)
        values = self.field(table, _FOURTH)
        if not values or not group.names:
            return Point(series, time_us, {})
        packed = self.packed(group, values + length_at(data, values))
        return PackedPoint(series, time_us, group.shape, packed)

    def series_at(self, group: _Group, table: i64, tag_lists: bool) -> SeriesKey:  # noqa: FBT001  # of one caller
        """The series of a row."""
        source = self.vector(table, _FIRST)
        listed: i64 = 0
        written: i64 = 0
        if tag_lists:
            listed = self.vector(table, _SIXTH)
        if listed == 0:
            written = self.vector(table, _SECOND)
        last = self.series
        if last is not None and self.stands(source, self.source) and self.are_tags(listed, written):
            self.take(self.series_size)
            return last
        room: i64 = self.room
        self.is_listed = listed != 0
        if listed:
            tags = self.tags_at(listed)
        else:
            self.tags = [self.standing(written)]
            tags = tags_of_text(_text(self.tags[0]))
        self.source = self.standing(source)
        found = SeriesKey(_text(group.measurement), _text(self.source), tags)
        self.series = found
        self.series_size = room - self.room
        return found

    def are_tags(self, listed: i64, written: i64) -> bool:
        """Whether tags, a list or else a text, are those of the point before."""
        data = self.data
        tags = self.tags
        if listed == 0 or not self.is_listed:
            return listed == 0 and not self.is_listed and self.stands(written, tags[0])
        place: i64 = listed
        if length_at(data, place) * 2 != len(tags):
            return False
        at = 0
        while at < len(tags):
            place += 4
            tag = place + length_at(data, place)
            if not self.stands(self.vector(tag, _FIRST), tags[at]):
                return False
            if not self.stands(self.vector(tag, _SECOND), tags[at + 1]):
                return False
            at += 2
        return True

    def tags_at(self, place: i64) -> tuple[tuple[str, str], ...]:
        """The tags of a list of them."""
        data = self.data
        count: i64 = length_at(data, place)
        if count > SERIES_TAGS_MAX:
            raise InvalidRequest(TimeseriesRule.TAGS_LENGTH)
        self.tags = []
        pairs: list[tuple[str, str]] = []
        while count > 0:
            place += 4
            tag = place + length_at(data, place)
            name = self.standing(self.vector(tag, _FIRST))
            value = self.standing(self.vector(tag, _SECOND))
            self.tags += (name, value)
            pairs.append((_text(name), _text(value)))
            count -= 1
        return tags_of_pairs(pairs)

    def packed(self, group: _Group, table: i64) -> bytes:
        """The values of a row, in the order of the names: each the next one of its type."""
        data, writer, steps = self.data, self.writer, group.steps
        longs = self.values_at(table, _FIRST, group.longs)
        booleans = self.values_at(table, _SECOND, group.booleans)
        doubles = self.values_at(table, _THIRD, group.doubles)
        strings = self.values_at(table, _FOURTH, group.strings)
        binaries = self.values_at(table, _FIFTH, group.binaries)
        texts: list[bytes] | None = [] if group.has_texts else None
        writer.truncate(0)
        at: i64 = 0
        end: i64 = len(steps)
        while at < end:
            code = i64(read_i16_le(steps, at))
            number = i64(read_i16_le(steps, at + 2))
            if code == _LONG:
                write_i64_be(writer, read_i64_le(data, longs + 8 * number))
            elif code == _DOUBLE:
                write_i64_be(writer, read_i64_le(data, doubles + 8 * number))
            elif code == _BOOLEAN:
                writer.append(1 if data[booleans + number] else 0)
            elif texts is not None:
                if code == _STRING:
                    place = strings + 4 * number
                    value = self.bytes_at(place + length_at(data, place))
                    if not value.isascii():
                        value.decode()  # raises where it is no UTF-8
                else:
                    place = binaries + 4 * number
                    vector = self.vector(place + length_at(data, place), _FIRST)
                    value = self.bytes_at(vector) if vector else b""
                texts.append(value)
                write_i32_be(writer, i32(len(value)))
            at += _STEP_BYTES
        if texts is not None:
            for text in texts:
                writer.write(text)
        return writer.getvalue()

    def values_at(self, table: i64, slot: i64, count: i64) -> i64:
        """Where the first value of a vector stands. Raises `IndexError` if it has less of them."""
        if count == 0:
            return 0
        vector = self.vector(table, slot)
        if vector == 0 or length_at(self.data, vector) < count:
            raise IndexError("value of a field")
        return vector + 4

    # --- parts of a buffer ---------------------------------------------------------------------

    def field(self, table: i64, slot: i64) -> i64:
        """Where a table has a field; 0 where it has none. Raises `IndexError`, `ValueError`."""
        data = self.data
        vtable: i64 = table - i64(read_i32_le(data, table))
        if slot >= i64(read_i16_le(data, vtable)) & 0xFFFF:
            return 0
        offset: i64 = i64(read_i16_le(data, vtable + slot)) & 0xFFFF
        if offset == 0:  # a conditional expression would make an object of a number
            return 0
        return table + offset

    def vector(self, table: i64, slot: i64) -> i64:
        """Where the vector of a field begins, with its length; 0 where there is none."""
        at = self.field(table, slot)
        if at == 0:
            return 0
        return at + length_at(self.data, at)

    def count_at(self, place: i64) -> i64:
        """How many values the vector at a place has; 0 for the place 0."""
        if place == 0:
            return 0
        return length_at(self.data, place)

    def stands(self, place: i64, text: bytes) -> bool:
        """Whether at a place, 0 for none, stands what `standing` gave for another one."""
        if place == 0 or not text:
            return place == 0 and not text
        return stands_at(self.data, place, text)

    def standing(self, place: i64) -> bytes:
        """A vector of bytes behind its length; nothing for the place 0."""
        if place == 0:
            return b""
        size: i64 = length_at(self.data, place)
        self.take(size)
        end: i64 = place + _LENGTH_BYTES + size
        if end > len(self.data):
            raise IndexError("end of the buffer")
        return self.data[place:end]

    def bytes_at(self, place: i64) -> bytes:
        """The bytes of a vector of them."""
        return self.standing(place)[_LENGTH_BYTES:]

    def take(self, size: i64) -> None:
        """Count bytes of texts. Raises `InvalidRequest` where there is no more room."""
        self.room -= size
        if self.room < 0:
            raise InvalidRequest(TimeseriesRule.FIELD_LENGTH)


def _size_of(standing: bytes) -> int:
    """How many bytes a vector has."""
    return len(standing) - _LENGTH_BYTES if standing else 0


def _text(standing: bytes) -> str:
    """The text of a vector of bytes. Raises `UnicodeDecodeError`."""
    return standing[_LENGTH_BYTES:].decode()
