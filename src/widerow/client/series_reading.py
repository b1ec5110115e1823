"""Points and metas of series over the protocol: read, found and changed (timeseries §5, §6)."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from google.protobuf.message import Message

from widerow.client.connection import Client
from widerow.client.failures import RequestFailed
from widerow.client.rows import decode_rows
from widerow.limits import INT64_MAX, SERIES_METAS_MAX, SERIES_PAGE_POINTS_MAX
from widerow.model.timeseries.requests import (
    AllOf,
    AnyOf,
    MetaChange,
    MetaCondition,
    MetaField,
    MetaMatch,
    NotThis,
)
from widerow.model.timeseries.series import (
    SeriesKey,
    SeriesMeta,
    tags_of_text,
    tags_text,
)
from widerow.rows.plain_values import Row, VersionedValue
from widerow.wire.tablestore import timeseries_messages as m
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.operations.timeseries.keys import sent_series, series_message

__all__ = ["PointsWanted", "change_metas", "fetch_metas", "fetch_points"]

_VERSION: Final = 1  # of the model of tables: keys have lists of tags
_COMPOSITE: Final = 1
_OPERATORS: Final[Mapping[type, int]] = {AllOf: 1, AnyOf: 2, NotThis: 3}


class PointsWanted(NamedTuple):
    """Points of a series, in the order of time or reversed, from `begin_us` to before `end_us`.

    `fields`: only these; empty: all.
    """

    series: SeriesKey
    begin_us: int = 0
    end_us: int = INT64_MAX
    backward: bool = False
    fields: Sequence[str] = ()


def fetch_points(client: Client, table: str, wanted: PointsWanted, limit: int) -> Iterator[Row]:
    """At most `limit` points as rows, page by page; names of fields are without their types.

    Raises: `RequestFailed`.
    """
    return islice(_points(client, table, wanted, limit), limit)


def _points(client: Client, table: str, wanted: PointsWanted, limit: int) -> Iterator[Row]:
    asked = m.GetTimeseriesDataRequest(
        table_name=table,
        time_series_key=series_message(wanted.series),
        begin_time=wanted.begin_us,
        end_time=wanted.end_us,
        backward=wanted.backward,
        limit=min(limit, SERIES_PAGE_POINTS_MAX),
        fields_to_get=[m.TimeseriesFieldsToGet(name=name) for name in wanted.fields],
        supported_table_version=_VERSION,
    )
    while True:
        page = client.call("GetTimeseriesData", asked, m.GetTimeseriesDataResponse)
        for row in decode_rows(page.rows_data) if page.rows_data else []:
            yield row._replace(cells=tuple(map(_plainly_named, row.cells)))
        if not page.next_token:
            return
        asked.token = page.next_token


def _plainly_named(cell: VersionedValue) -> VersionedValue:
    return cell._replace(column=cell.column.rpartition(":")[0])


def fetch_metas(
    client: Client, table: str, condition: MetaCondition | None, limit: int
) -> Iterator[SeriesMeta]:
    """At most `limit` metas that the condition holds for, None: any; in the order of the server.

    Raises: `RequestFailed`.
    """
    return islice(_metas(client, table, condition, limit), limit)


def _metas(
    client: Client, table: str, condition: MetaCondition | None, limit: int
) -> Iterator[SeriesMeta]:
    asked = m.QueryTimeseriesMetaRequest(
        table_name=table, limit=min(limit, SERIES_METAS_MAX), supported_table_version=_VERSION
    )
    if condition is not None:
        asked.condition.CopyFrom(_sent(condition))
    while True:
        page = client.call("QueryTimeseriesMeta", asked, m.QueryTimeseriesMetaResponse)
        for each in page.timeseries_metas:
            attributes = tags_of_text(text(each.attributes))
            yield SeriesMeta(sent_series(each.time_series_key), attributes, each.update_time)
        if not page.next_token:
            return
        asked.token = page.next_token


def change_metas(client: Client, table: str, changes: Sequence[MetaChange]) -> None:
    """Write metas, at most 200, whether or not they are there. Raises: `RequestFailed`."""
    asked = m.UpdateTimeseriesMetaRequest(table_name=table, supported_table_version=_VERSION)
    for change in changes:
        meta = asked.timeseries_meta.add(time_series_key=series_message(change.key))
        if change.attributes is not None:
            meta.attributes = tags_text(change.attributes)
    answer = client.call("UpdateTimeseriesMeta", asked, m.UpdateTimeseriesMetaResponse)
    for failed in answer.failed_rows:
        raise RequestFailed(f"{text(failed.error_code)}: {text(failed.error_message)}")


# --- conditions ----------------------------------------------------------------------------------


_MATCHES: Final[Mapping[MetaField, Callable[[MetaMatch], Message]]] = {
    MetaField.MEASUREMENT: lambda each: m.MetaQueryMeasurementCondition(
        op=each.comparator.value, value=str(each.value)
    ),
    MetaField.SOURCE: lambda each: m.MetaQuerySourceCondition(
        op=each.comparator.value, value=str(each.value)
    ),
    MetaField.TAG: lambda each: m.MetaQueryTagCondition(
        op=each.comparator.value, tag_name=each.name, value=str(each.value)
    ),
    MetaField.ATTRIBUTE: lambda each: m.MetaQueryAttributeCondition(
        op=each.comparator.value, attr_name=each.name, value=str(each.value)
    ),
    MetaField.UPDATE_TIME: lambda each: m.MetaQueryUpdateTimeCondition(
        op=each.comparator.value, value=int(each.value)
    ),
}


def _sent(condition: MetaCondition) -> m.MetaQueryCondition:
    if isinstance(condition, MetaMatch):
        match = _MATCHES[condition.field](condition)
        kind = condition.field.value
        return m.MetaQueryCondition(type=kind, proto_data=match.SerializeToString())
    operator = _OPERATORS[type(condition)]
    parts = (condition.part,) if isinstance(condition, NotThis) else condition.parts
    composite = m.MetaQueryCompositeCondition(
        op=operator, sub_conditions=[_sent(each) for each in parts]
    )
    return m.MetaQueryCondition(type=_COMPOSITE, proto_data=composite.SerializeToString())
