"""Points in answers: rows of a PlainBuffer (wire §2, §4.3; timeseries §5).

    key cells   the columns of the table's key, `_time`, the fields that are key columns
    cells       `name:type` for each other field, of the version 0

The key cells of a series are encoded once for a page, and so are the names of its fields.
"""

from collections.abc import Sequence
from typing import Final, final

from librt.strings import BytesWriter, write_f64_le, write_i32_le, write_i64_le
from mypy_extensions import i32, i64

from widerow.model.timeseries.points import POINT_SUFFIXES, POINT_TIME_COLUMN, StoredPoint
from widerow.model.timeseries.series import (
    MEASUREMENT_COLUMN,
    SOURCE_COLUMN,
    TAGS_COLUMN,
    SeriesKey,
    tags_text,
)
from widerow.model.timeseries.table import TimeseriesTable
from widerow.model.values import Value
from widerow.rows.cells import PLAIN_HEADER, TAG_ROW_CHECKSUM, cell_body, encode_variant
from widerow.rows.checksum import crc8, crc8_byte, crc8_written, shift_table
from widerow.rows.words import COMPILED

__all__ = ["encode_points", "series_columns"]

_KEY: Final = b"\x01"
_DATA: Final = b"\x02"
# What ends a cell of a key and of a field, by the checksum of its name and value.
_KEY_ENDS: Final = [bytes((0x0A, crc)) for crc in range(256)]
_ENDS: Final = [b"\x07%b\x0a%c" % (bytes(8), crc) for crc in shift_table(8)]


def series_columns(table: TimeseriesTable, series: SeriesKey) -> list[tuple[str, str]]:
    """The columns of the table's key and what the series has in them (timeseries §8)."""
    own = set(table.key)
    rest = tags_text([tag for tag in series.tags if tag[0] not in own])
    values = {
        **dict(series.tags),
        MEASUREMENT_COLUMN: series.measurement,
        SOURCE_COLUMN: series.source,
        TAGS_COLUMN: rest,
    }
    return [(name, values.get(name, "")) for name in table.key]


def encode_points(table: TimeseriesTable, points: Sequence[StoredPoint]) -> bytes:
    """The points as rows of a PlainBuffer; without points no bytes. Linear in what they hold."""
    if not points:
        return b""
    rows = _Rows(table)
    for point in points:
        rows.add(point)
    return rows.writer.getvalue()


@final
class _Head:
    """A cell of a field or a key up to its value, and the checksum of what of it counts.

    `start` is for values of any length; `number` goes on with length and type of a number of eight
    bytes, and `number_state` is the checksum with that type.
    """

    __slots__ = ("number", "number_state", "start", "state")

    def __init__(self, name: str, kind: type[Value]) -> None:
        data = name.encode()
        tag = b"\x00" if kind is int else b"\x01"
        self.start = b"\x03\x04%b%b\x05" % (len(data).to_bytes(4, "little"), data)
        self.state: i64 = crc8(data)
        self.number = self.start + b"\x09\0\0\0" + tag
        self.number_state: i64 = crc8_byte(tag[0], self.state)


@final
class _Rows:
    """Writes the rows of one page."""

    def __init__(self, table: TimeseriesTable) -> None:
        self.writer = BytesWriter()
        self.writer.write(PLAIN_HEADER)
        self._table = table
        self._keys = [_Head(field.name, int) for field in table.field_keys]
        self._series: dict[SeriesKey, tuple[bytes, int]] = {}
        self._last: SeriesKey | None = None  # of the point before, and its cells
        self._cells: tuple[bytes, int] = (b"", 0)
        self._heads: dict[tuple[str, type[Value]], _Head] = {}
        self._time = _Head(POINT_TIME_COLUMN, int)

    def add(self, point: StoredPoint) -> None:
        """Write a point."""
        writer = self.writer
        if point.series is not self._last:
            self._cells = self._key_of(point.series)
            self._last = point.series
        key, key_state = self._cells
        writer.write(key)
        end = _KEY_ENDS[_write_value(writer, self._time, point.time_us)]
        writer.write(end)
        state: i64 = crc8_byte(end[-1], key_state)
        for head, value in zip(self._keys, point.keys, strict=True):
            end = _KEY_ENDS[_write_value(writer, head, value)]
            writer.write(end)
            state = crc8_byte(end[-1], state)
        if point.fields:
            writer.write(_DATA)
            for name, value in point.fields.items():
                end = _ENDS[_write_value(writer, self._head(name, type(value)), value)]
                writer.write(end)
                state = crc8_byte(end[-1], state)
        writer.append(TAG_ROW_CHECKSUM)
        writer.append(int(crc8_byte(0, state)))

    def _head(self, name: str, kind: type[Value]) -> _Head:
        """The head of a field's cell: its name has the suffix of its type."""
        head = self._heads.get((name, kind))
        if head is None:
            head = self._heads[name, kind] = _Head(f"{name}:{POINT_SUFFIXES[kind]}", kind)
        return head

    def _key_of(self, series: SeriesKey) -> tuple[bytes, int]:
        """The cells of a series' key, and the row's checksum behind them."""
        found = self._series.get(series)
        if found is None:
            parts, state = [_KEY], 0
            for name, value in series_columns(self._table, series):
                body, crc = cell_body(name, value)
                parts += (body, _KEY_ENDS[crc])
                state = crc8_byte(crc, state)
            found = self._series[series] = b"".join(parts), state
        return found


def _write_value(writer: BytesWriter, head: _Head, value: Value) -> i64:
    """Write a cell up to its end; the checksum of its name and value."""
    if not COMPILED or isinstance(value, (bool, str, bytes)):
        variant = encode_variant(value)
        writer.write(head.start)
        write_i32_le(writer, i32(len(variant)))
        writer.write(variant)
        return crc8(variant, int(head.state))
    writer.write(head.number)
    start = len(writer)
    if isinstance(value, int):
        write_i64_le(writer, value)
    else:
        write_f64_le(writer, value)
    return crc8_written(writer, start, head.number_state)
