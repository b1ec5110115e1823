"""Points as the records of a stream, in the bytes that clients read (timeseries §9).

A point is a put of its row, as GetRow shows it under the table's name and `#timeseries`: all fields
that it has then, whoever put them. Seen by a last-point index, it is an update of the row of its
series. The version of a cell is the time of its point in milliseconds. Compiled.
"""

from collections.abc import Iterator
from typing import Final, final

from widerow.engine.streams.change_rows import change_row
from widerow.engine.streams.log import (
    LogPosition,
    LogRecord,
    encode_record,
    position_of,
    record_key,
)
from widerow.keys.decode import decode_key, key_value_end
from widerow.keys.series import series_hash, series_of
from widerow.model.timeseries.points import HASH_COLUMN, POINT_SUFFIXES, POINT_TIME_COLUMN
from widerow.model.timeseries.table import TimeseriesTable
from widerow.model.values import KeyInput, Value
from widerow.rows.cells import cell_body, encode_key_section, seal
from widerow.rows.point_entries import points_in_entry, points_of_entry
from widerow.rows.points import Layouts

__all__ = ["KeyOfPoint", "PointRecords"]

_PUT: Final = 1
_UPDATE: Final = 2
_TIME_BYTES: Final = 8
_POSITION_BYTES: Final = 12

KeyOfPoint = tuple[bytes, int]
"""The section of a primary key, and the checksum of the row behind it."""


@final
class PointRecords:
    """Points of one table as rows. `indexed`: as a last-point index sees them."""

    __slots__ = ("_canonical", "_columns", "_indexed", "_kinds", "_layouts", "_names", "_table")

    def __init__(self, layouts: Layouts, table: TimeseriesTable, *, indexed: bool = False) -> None:
        self._layouts = layouts
        self._table = table
        self._indexed = indexed
        self._kinds = [each.type for each in table.field_keys]
        self._names = [each.name for each in table.field_keys]
        self._canonical = b""
        self._columns: list[tuple[str, KeyInput]] = []

    def split(
        self, stored: tuple[bytes, bytes], start: LogPosition
    ) -> Iterator[tuple[bytes, bytes]]:
        """Key and value of a record for each point of an entry, from a position on.

        Raises `StoreDamaged`.
        """
        key, entry = stored
        last = position_of(key)
        prefix = key[:-_POSITION_BYTES]
        index = last.row_index - points_in_entry(entry) + 1
        passed = 0
        if start.timestamp_us == last.timestamp_us:
            passed = max(0, start.row_index - index)
        index += passed
        for canonical, suffix, fields in points_of_entry(
            self._layouts, entry, self.key_end, passed
        ):
            position = LogPosition(last.timestamp_us, index)
            index += 1
            row = change_row(self.key(canonical, suffix), self.cells(suffix, fields), position)
            action = _UPDATE if self._indexed else _PUT
            yield record_key(prefix, position), encode_record(LogRecord(action, row, b""))

    def check(self, entry: bytes) -> int:
        """How many points an entry has. Raises `StoreDamaged` where one cannot be decoded."""
        count = 0
        for canonical, suffix, _ in points_of_entry(self._layouts, entry, self.key_end):
            self.key(canonical, suffix)
            count += 1
        return count

    def key_end(self, entry: bytes, start: int) -> int:
        """Where the key of a point ends, behind that of its series. Raises `StoreDamaged`."""
        end = start + _TIME_BYTES
        for kind in self._kinds:
            end = key_value_end(entry, end, kind)
        return end

    def key(self, canonical: bytes, suffix: bytes) -> KeyOfPoint:
        """The primary key of a point's row. Raises `StoreDamaged`."""
        if canonical != self._canonical:
            table = self._table
            values = table.key_values(series_of(canonical))
            columns: list[tuple[str, KeyInput]] = [(HASH_COLUMN, series_hash(canonical).hex())]
            columns.extend(zip(table.key, values, strict=True))
            self._canonical, self._columns = canonical, columns
        if self._indexed:
            return encode_key_section(self._columns)
        time: list[tuple[str, KeyInput]] = [(POINT_TIME_COLUMN, _time_of(suffix))]
        keys = decode_key(suffix, _TIME_BYTES, self._kinds)[0] if self._kinds else ()
        return encode_key_section([*self._columns, *time, *zip(self._names, keys, strict=True)])

    def cells(self, suffix: bytes, fields: dict[str, Value]) -> list[bytes]:
        """The cells of a point's row, in the order of their names."""
        time_us = _time_of(suffix)
        named = dict(fields)
        if self._indexed:
            named[POINT_TIME_COLUMN] = time_us
        else:
            named = {f"{name}:{POINT_SUFFIXES[type(each)]}": each for name, each in fields.items()}
        made: list[bytes] = []
        for name in sorted(named):
            body, crc = cell_body(name, named[name])
            made.append(seal(body, crc, time_us // 1000))
        return made


def _time_of(suffix: bytes) -> int:
    return int.from_bytes(suffix[:_TIME_BYTES], "big")
