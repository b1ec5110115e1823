"""The points that are measured: series of machines, and requests that put their points.

A series has a measurement, a data source and one tag; a point has a floating-point number and an
integer. Requests are in FlatBuffers as the vendor's Python SDK makes them, a group for each point.
It takes milliseconds for one of 200 points, so one is made for each set of series, and its times
are replaced: they stand in it as numbers of eight bytes.
"""

import struct
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from bench import rows
from fastcrc import crc32
from tablestore import TimeseriesKey, TimeseriesRow
from tablestore.flatbuffer.timeseries_flat_buffer_encoder import get_column_val_by_tp

from widerow.wire.tablestore import timeseries_messages as m

__all__ = [
    "BEGIN_US",
    "POINTS",
    "STEP_US",
    "Template",
    "create",
    "fields",
    "hall",
    "key",
    "lines",
    "source",
    "written",
]

POINTS: Final = 200
"""In a request: the most that it may have."""
BEGIN_US: Final = 1_700_000_000_000_000
STEP_US: Final = 10_000_000
"""Between two points of a series."""

_MEASUREMENT: Final = "machine"
_MARK: Final = 0x5A5A_0000_0000_0000  # no other number of a request looks like this
_TIME: Final = struct.Struct("<q")


def source(number: int) -> str:
    """The data source of a series."""
    return f"press-{number:06}"


def hall(number: int) -> str:
    """The tag of a series."""
    return f"hall {number % 10}"


def fields(step: int) -> tuple[float, int]:
    """What a point has, by the number of its step."""
    return 20 + step % 1000 / 8, step


def key(number: int) -> m.TimeseriesKey:
    """The key of a series as a message."""
    tags = [m.TimeseriesTag(name="hall", value=hall(number))]
    return m.TimeseriesKey(measurement=_MEASUREMENT, source=source(number), tag_list=tags)


class Template(NamedTuple):
    """A request whose times are to be filled in: `places` are theirs in `data`, in their order."""

    table: str
    data: bytes
    places: tuple[int, ...]

    @classmethod
    def of(cls, table: str, series: Sequence[int]) -> "Template":
        """A point for each of these numbers of series, in their order."""
        sent = [
            TimeseriesRow(
                TimeseriesKey(_MEASUREMENT, source(number), {"hall": hall(number)}),
                dict(zip(("celsius", "parts"), fields(at), strict=True)),
                _MARK + at,
            )
            for at, number in enumerate(series)
        ]
        data = bytes(get_column_val_by_tp(table, sent))
        marks = [_TIME.pack(_MARK + at) for at in range(len(series))]
        return cls(table, data, tuple(data.index(mark) for mark in marks))

    def at(self, times_us: Iterable[int]) -> bytes:
        """The request with these times, signed."""
        data = bytearray(self.data)
        for place, time_us in zip(self.places, times_us, strict=True):
            _TIME.pack_into(data, place, time_us)
        checksum = crc32.iscsi(bytes(data))
        signed = checksum - (1 << 32) if checksum >= 1 << 31 else checksum
        sent = m.TimeseriesRows(type=0, rows_data=bytes(data), flatbuffer_crc32c=signed)
        body = m.PutTimeseriesDataRequest(
            table_name=self.table, rows_data=sent, meta_update_mode=0, supported_table_version=1
        )
        return rows.SENDER.request("PutTimeseriesData", body.SerializeToString())


def written(table: str, points: Sequence[tuple[int, int]]) -> bytes:
    """The points of these series and steps as messages, signed: quick to make, to fill a table."""
    made = [
        m.TimeseriesRow(
            timeseries_key=key(number),
            time=BEGIN_US + step * STEP_US,
            fields=[
                m.TimeseriesField(field_name="celsius", value_double=fields(step)[0]),
                m.TimeseriesField(field_name="parts", value_int=fields(step)[1]),
            ],
        )
        for number, step in points
    ]
    data = m.TimeseriesPBRows(rows=made).SerializeToString()
    body = m.PutTimeseriesDataRequest(
        table_name=table, rows_data=m.TimeseriesRows(type=2, rows_data=data)
    )
    return rows.SENDER.request("PutTimeseriesData", body.SerializeToString())


def create(table: str, newest: str = "") -> bytes:
    """CreateTimeseriesTable, signed; `newest`: the name of its last-point index, if it has one."""
    indexes = [m.LastpointIndexMetaForCreate(index_table_name=newest)] if newest else []
    body = m.CreateTimeseriesTableRequest(
        table_meta=m.TimeseriesTableMeta(table_name=table), lastpoint_index_metas=indexes
    )
    return rows.SENDER.request("CreateTimeseriesTable", body.SerializeToString())


def lines(points: Iterable[tuple[int, int]]) -> Iterator[str]:
    """The same points in the line protocol of other engines, times in microseconds."""
    for number, step in points:
        celsius, parts = fields(step)
        named = f"{_MEASUREMENT},source={source(number)},hall={hall(number)}".replace(" ", "\\ ")
        yield f"{named} celsius={celsius},parts={parts}i {BEGIN_US + step * STEP_US}"
