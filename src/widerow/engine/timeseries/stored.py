"""Records of series and points as transactions and snapshots have them. Compiled."""

from typing import Final

from widerow.errors import StoreDamaged
from widerow.model.values import Value
from widerow.rows.points import INLINE, POINT, Layout, Layouts
from widerow.rows.series import SeriesRecord, decode_series
from widerow.storage.interface import Reader

__all__ = ["FoundSeries", "find_series", "point_fields", "point_layout", "record_head"]

_COUNTERS: Final = 256
_LENGTH_AT: Final = 1
_LAYOUT_AT: Final = 5

FoundSeries = tuple[bytes, SeriesRecord | None]
"""The counter byte of a series, and its record, None where it has none yet."""


def find_series(reader: Reader, prefix: bytes, canonical: bytes) -> FoundSeries:
    """The series of a canonical key among those of its hash. Raises `StoreDamaged`.

    `prefix`: of the records of these series (`series_shards`). Cost: one read, but for series whose
    hashes are equal.
    """
    for counter in range(_COUNTERS):
        number = bytes((counter,))
        record = reader.get(prefix + number)
        if record is None:
            return number, None
        found = decode_series(record)
        if found.canonical == canonical:
            return number, found
    raise StoreDamaged(f"256 series have one hash: {prefix.hex()}")


def point_layout(layouts: Layouts, series: SeriesRecord, record: bytes) -> tuple[Layout, int]:
    """The layout of a point's record, and where its values begin. Raises `StoreDamaged`."""
    number = record[0] - POINT if record else -1
    if number != INLINE:
        if not 0 < number <= len(series.layouts):
            raise StoreDamaged(f"a point has a layout that its series lacks: {record[:99]!r}")
        return layouts.of_bytes(series.layouts[number - 1]), 1
    stop = _LAYOUT_AT + int.from_bytes(record[_LENGTH_AT:_LAYOUT_AT], "big")
    return layouts.of_bytes(record[_LAYOUT_AT:stop]), stop


def point_fields(layouts: Layouts, series: SeriesRecord, record: bytes) -> dict[str, Value]:
    """The fields of a point's record. Raises `StoreDamaged`."""
    layout, start = point_layout(layouts, series, record)
    return layout.unpack(record, start)


def record_head(number: int, layout: Layout) -> bytes:
    """What stands before the values of a point; the layout where it has no number."""
    head = bytes((POINT + number,))
    if number != INLINE:
        return head
    size = len(layout.encoded).to_bytes(_LAYOUT_AT - _LENGTH_AT, "big")
    return head + size + layout.encoded
