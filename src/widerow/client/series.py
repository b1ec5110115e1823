"""Timeseries tables over the protocol: found, made, and points put (timeseries §3, §4)."""

from collections.abc import Iterator, Sequence
from typing import Final

from widerow.client.connection import Client
from widerow.client.failures import Refused, RequestFailed
from widerow.client.writing import FATAL
from widerow.model.timeseries.points import Point
from widerow.model.values import Value
from widerow.near_names import did_you_mean
from widerow.wire.tablestore import timeseries_messages as m
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.operations.timeseries.keys import series_message

__all__ = ["check_series_table", "make_series_table", "put_points"]

_MESSAGES: Final = 2  # TimeseriesPBRows
_VALUES: Final = {
    int: "value_int",
    bool: "value_bool",
    float: "value_double",
    str: "value_string",
    bytes: "value_binary",
}


def check_series_table(client: Client, name: str) -> None:
    """Raise `RequestFailed` where there is no timeseries table of that name; it has like names."""
    listed = client.call(
        "ListTimeseriesTable", m.ListTimeseriesTableRequest(), m.ListTimeseriesTableResponse
    )
    names = [text(meta.table_name) for meta in listed.table_metas]
    if name not in names:
        meant = did_you_mean(name, names)
        advice = meant or "A table of rows may have the name: timeseries tables are others."
        raise RequestFailed(
            f"there is no timeseries table {name} in the instance {client.instance}. {advice}"
        )


def make_series_table(client: Client, name: str) -> None:
    """Create a timeseries table that keeps points for ever, unless it is there.

    Raises: `RequestFailed`.
    """
    meta = m.TimeseriesTableMeta(table_name=name)
    asked = m.CreateTimeseriesTableRequest(table_meta=meta)
    try:
        client.call("CreateTimeseriesTable", asked, m.CreateTimeseriesTableResponse)
    except Refused as refused:
        if refused.code != c.OBJECT_ALREADY_EXIST:
            raise
        check_series_table(client, name)  # a data table may have the name


def put_points(client: Client, table: str, points: Sequence[Point]) -> dict[int, str]:
    """Put points, at most 200. Returns why those are refused that are, by their positions.

    A request that is refused as a whole is sent again point by point. Raises: `RequestFailed`,
    and `Refused` for what every point would be refused with.
    """
    try:
        return dict(_put(client, table, points))
    except Refused as refused:
        if refused.code in FATAL:
            raise
        if len(points) == 1:
            return {0: str(refused)}
    found: dict[int, str] = {}
    for position, point in enumerate(points):
        for reason in put_points(client, table, [point]).values():
            found[position] = reason
    return found


def _put(client: Client, table: str, points: Sequence[Point]) -> Iterator[tuple[int, str]]:
    rows = m.TimeseriesPBRows(rows=[_row(point) for point in points]).SerializeToString()
    asked = m.PutTimeseriesDataRequest(
        table_name=table,
        rows_data=m.TimeseriesRows(type=_MESSAGES, rows_data=rows),
        supported_table_version=1,
    )
    answer = client.call("PutTimeseriesData", asked, m.PutTimeseriesDataResponse)
    for failed in answer.failed_rows:
        yield failed.row_index, f"{text(failed.error_code)}: {text(failed.error_message)}"


def _row(point: Point) -> m.TimeseriesRow:
    fields = [_field(name, value) for name, value in point.fields.items()]
    return m.TimeseriesRow(
        timeseries_key=series_message(point.series), time=point.time_us, fields=fields
    )


def _field(name: str, value: Value) -> m.TimeseriesField:
    made = m.TimeseriesField(field_name=name)
    setattr(made, _VALUES[type(value)], value)
    return made
