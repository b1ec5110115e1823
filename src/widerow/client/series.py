"""Timeseries tables over the protocol: made, found and changed; points put (timeseries §3, §4)."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

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

__all__ = [
    "change_series_table",
    "check_series_table",
    "create_series_table",
    "drop_series_table",
    "is_series_table",
    "list_series_tables",
    "make_series_table",
    "put_points",
    "series_table_document",
]

_MESSAGES: Final = 2  # TimeseriesPBRows
_KEY_KINDS: Final = {1: "integer", 2: "string", 3: "binary"}
_VALUES: Final = {
    int: "value_int",
    bool: "value_bool",
    float: "value_double",
    str: "value_string",
    bytes: "value_binary",
}


def list_series_tables(client: Client) -> list[str]:
    """The names of all timeseries tables, sorted. Raises: `RequestFailed`."""
    listed = client.call(
        "ListTimeseriesTable", m.ListTimeseriesTableRequest(), m.ListTimeseriesTableResponse
    )
    return [text(meta.table_name) for meta in listed.table_metas]


def is_series_table(client: Client, name: str) -> bool:
    """Whether there is a timeseries table of that name. Raises: `RequestFailed`."""
    return _described(client, name) is not None


def _described(client: Client, name: str) -> m.DescribeTimeseriesTableResponse | None:
    asked = m.DescribeTimeseriesTableRequest(table_name=name)
    try:
        return client.call("DescribeTimeseriesTable", asked, m.DescribeTimeseriesTableResponse)
    except Refused as refused:
        if refused.code != c.OBJECT_NOT_EXIST:
            raise
        return None


def series_table_document(client: Client, name: str) -> dict[str, Any]:
    """What is known of a timeseries table, as JSON has it; times in seconds, -1: for ever.

    Raises: `RequestFailed`, also where there is none.
    """
    found = _described(client, name)
    if found is None:
        check_series_table(client, name)
        raise RequestFailed(f"the timeseries table {name} was made just now; ask again")
    meta = found.table_meta
    fields = [
        {"C": text(each.name), "T": _KEY_KINDS[each.type]} for each in meta.field_primary_key_schema
    ]
    return {
        "Name": text(meta.table_name),
        "Mode": "timeseries",
        "Option": {
            "TTL": meta.table_options.time_to_live,
            "MetaTTL": meta.meta_options.meta_time_to_live,
            "AllowUpdateAttributes": meta.meta_options.allow_update_attributes,
        },
        "Key": [text(each) for each in meta.timeseries_key_schema],
        "FieldKeys": fields,
        "AnalyticalStores": [text(each.store_name) for each in found.analytical_stores],
        "LastpointIndexes": [text(each.index_table_name) for each in found.lastpoint_indexes],
    }


def change_series_table(client: Client, name: str, ttl_s: int) -> None:
    """Change how long points are kept; -1: for ever. Raises: `RequestFailed`."""
    options = m.TimeseriesTableOptions(time_to_live=ttl_s)
    asked = m.UpdateTimeseriesTableRequest(table_name=name, table_options=options)
    client.call_once("UpdateTimeseriesTable", asked, m.UpdateTimeseriesTableResponse)


def drop_series_table(client: Client, name: str) -> None:
    """Delete a timeseries table with all its points and indexes. Raises: `RequestFailed`."""
    asked = m.DeleteTimeseriesTableRequest(table_name=name)
    client.call_once("DeleteTimeseriesTable", asked, m.DeleteTimeseriesTableResponse)


def check_series_table(client: Client, name: str) -> None:
    """Raise `RequestFailed` where there is no timeseries table of that name; it has like names."""
    names = list_series_tables(client)
    if name not in names:
        meant = did_you_mean(name, names)
        advice = meant or "A table of rows may have the name: timeseries tables are others."
        raise RequestFailed(
            f"there is no timeseries table {name} in the instance {client.instance}. {advice}"
        )


def create_series_table(client: Client, name: str, ttl_s: int = -1) -> None:
    """Create a timeseries table; its points live so long, -1: for ever. Raises: `RequestFailed`."""
    options = m.TimeseriesTableOptions(time_to_live=ttl_s)
    meta = m.TimeseriesTableMeta(table_name=name, table_options=options)
    asked = m.CreateTimeseriesTableRequest(table_meta=meta)
    client.call("CreateTimeseriesTable", asked, m.CreateTimeseriesTableResponse)


def make_series_table(client: Client, name: str) -> None:
    """Create a timeseries table that keeps points for ever, unless it is there.

    Raises: `RequestFailed`.
    """
    try:
        create_series_table(client, name)
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
