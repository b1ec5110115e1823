"""Points in answers: rows of a PlainBuffer (wire §2, §4.3; timeseries §5).

    key cells   the columns of the table's key, `_time`, the fields that are key columns
    cells       `name:type` for each other field, of the version 0

The key cells of a series are encoded once for a page, and so are the names of its fields.
"""

from collections.abc import Sequence
from typing import Final, final

from widerow.model.timeseries.points import StoredPoint
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
from widerow.rows.checksum import crc8, crc8_byte, shift_table

__all__ = ["POINT_SUFFIXES", "POINT_TIME_COLUMN", "encode_points", "series_columns"]

POINT_TIME_COLUMN: Final = "_time"

_KEY: Final = b"\x01"
_DATA: Final = b"\x02"
POINT_SUFFIXES: Final[dict[type, str]] = {int: "l", bool: "b", float: "d", str: "s", bytes: "n"}
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
    writer = _Writer(table)
    for point in points:
        writer.add(point)
    return PLAIN_HEADER + b"".join(writer.parts)


@final
class _Writer:
    """Writes the rows of one page."""

    def __init__(self, table: TimeseriesTable) -> None:
        self.parts: list[bytes] = []
        self._table = table
        self._key_heads = {field.name: _head(field.name) for field in table.field_keys}
        self._series: dict[SeriesKey, tuple[bytes, int]] = {}
        self._heads: dict[tuple[str, type], tuple[bytes, int]] = {}
        self._time = _head(POINT_TIME_COLUMN)

    def add(self, point: StoredPoint) -> None:
        """Write a point."""
        parts = self.parts
        found = self._series.get(point.series)
        if found is None:
            found = self._series[point.series] = self._key(point.series)
        parts.append(found[0])
        state = self._key_cell(self._time, point.time_us, found[1])
        for name, value in zip(self._key_heads, point.keys, strict=True):
            state = self._key_cell(self._key_heads[name], value, state)
        if point.fields:
            parts.append(_DATA)
            heads = self._heads
            for name, value in point.fields.items():
                kind = type(value)
                head = heads.get((name, kind))
                if head is None:
                    head = heads[name, kind] = _head(f"{name}:{POINT_SUFFIXES[kind]}")
                state = self._cell(head, value, state)
        parts.append(bytes((TAG_ROW_CHECKSUM, crc8_byte(0, state))))

    def _cell(self, head: tuple[bytes, int], value: Value, state: int) -> int:
        """Write a cell; the checksum of the row behind it."""
        variant = encode_variant(value)
        end = _ENDS[crc8(variant, head[1])]
        self.parts += (head[0], len(variant).to_bytes(4, "little"), variant, end)
        return crc8_byte(end[-1], state)

    def _key_cell(self, head: tuple[bytes, int], value: Value, state: int) -> int:
        """Write a cell of the key; the checksum of the row behind it."""
        variant = encode_variant(value)
        end = _KEY_ENDS[crc8(variant, head[1])]
        self.parts += (head[0], len(variant).to_bytes(4, "little"), variant, end)
        return crc8_byte(end[-1], state)

    def _key(self, series: SeriesKey) -> tuple[bytes, int]:
        """The cells of a series' key, and the row's checksum behind them."""
        parts, state = [_KEY], 0
        for name, value in series_columns(self._table, series):
            body, crc = cell_body(name, value)
            parts += (body, _KEY_ENDS[crc])
            state = crc8_byte(crc, state)
        return b"".join(parts), state


def _head(name: str) -> tuple[bytes, int]:
    """A cell up to the length of its value, and the checksum of its name."""
    data = name.encode()
    return b"\x03\x04%b%b\x05" % (len(data).to_bytes(4, "little"), data), crc8(data)
