"""PutTimeseriesData, GetTimeseriesData and scans of tables in splits (timeseries §4, §5, §7)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from fastcrc import crc32

from widerow.engine.capacity import units
from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, WiderowError
from widerow.limits import INT64_MAX, SERIES_PAGE_POINTS_MAX, SERIES_POINTS_MAX
from widerow.model.timeseries.points import Point
from widerow.model.timeseries.requests import (
    MetaUpdateMode,
    PointPage,
    PointQuery,
    PointScan,
    PutResult,
)
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import TimeseriesTable
from widerow.model.values import ColumnType, Value
from widerow.rows.points import SentPoint
from widerow.wire.tablestore import timeseries_messages as m
from widerow.wire.tablestore.errors.answers import foreign
from widerow.wire.tablestore.flat_points import flat_points
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.bodies import decoder, parsed, text
from widerow.wire.tablestore.operations.timeseries.found import OnTable, found_table, timeseries
from widerow.wire.tablestore.operations.timeseries.keys import sent_series
from widerow.wire.tablestore.operations.timeseries.tokens import (
    PageOf,
    decode_page_token,
    encode_page_token,
)
from widerow.wire.tablestore.point_rows import encode_points

__all__ = ["POINT_ACTIONS", "failed_rows", "point_units"]

_FLAT_BUFFERS: Final = 0
_MESSAGES: Final = 2
_PLAIN_BUFFER: Final = 1
_TYPES: Final = {
    1: ColumnType.INTEGER,
    2: ColumnType.BOOLEAN,
    3: ColumnType.DOUBLE,
    4: ColumnType.STRING,
    5: ColumnType.BINARY,
}
_VALUES: Final = ("value_int", "value_string", "value_bool", "value_double", "value_binary")


# --- PutTimeseriesData -----------------------------------------------------------------------


class _Put(NamedTuple):
    table: str
    points: Sequence[SentPoint]
    mode: MetaUpdateMode
    size: int


class _PutAnswer(NamedTuple):
    result: PutResult
    read_units: int
    write_units: int


@decoder(m.PutTimeseriesDataRequest)
def _decode_put(sent: m.PutTimeseriesDataRequest) -> _Put:
    rows = sent.rows_data
    data = rows.rows_data
    told = rows.flatbuffer_crc32c & 0xFFFF_FFFF
    if rows.HasField("flatbuffer_crc32c") and crc32.iscsi(data) != told:
        raise InvalidRequest(TimeseriesRule.POINT_CHECKSUM)
    points: Sequence[SentPoint]
    if rows.type == _FLAT_BUFFERS:
        points = flat_points(data, tag_lists=sent.supported_table_version > 0)
    elif rows.type == _MESSAGES:
        points = _message_points(parsed(m.TimeseriesPBRows, data))
    else:
        raise InvalidRequest(TimeseriesRule.POINT_FORM, value=rows.type)
    try:
        mode = MetaUpdateMode(sent.meta_update_mode)
    except ValueError as error:
        raise InvalidRequest(TimeseriesRule.META_MODE, value=sent.meta_update_mode) from error
    return _Put(text(sent.table_name), points, mode, len(data))


def _message_points(sent: m.TimeseriesPBRows) -> list[Point]:
    if len(sent.rows) > SERIES_POINTS_MAX:
        raise InvalidRequest(TimeseriesRule.POINT_COUNT, limit=SERIES_POINTS_MAX)
    return [
        Point(
            sent_series(row.timeseries_key),
            row.time,
            {text(field.field_name): _value(field) for field in row.fields},
        )
        for row in sent.rows
    ]


def _value(sent: m.TimeseriesField) -> Value:
    for name in _VALUES:
        if sent.HasField(name):
            found: Value = getattr(sent, name)
            return text(found) if name == "value_string" else found
    raise InvalidRequest(TimeseriesRule.FIELD_VALUE, name=text(sent.field_name)[:200])


def _put(engine: TablestoreEngine, instance: str, asked: _Put) -> Plan[_PutAnswer]:
    table = found_table(engine, instance, asked.table)
    plan = timeseries(engine).put(table, asked.points, asked.mode)
    return plan.answering(lambda result: _PutAnswer(result, 0, units(asked.size)))


def failed_rows(failed: Mapping[int, WiderowError]) -> Iterable[m.FailedRowInfo]:
    """The messages of what failed, in the order of positions."""
    for position in sorted(failed):
        _, code, message = foreign(failed[position])
        yield m.FailedRowInfo(row_index=position, error_code=code, error_message=message)


def _encode_put(answer: _PutAnswer) -> bytes:
    metas = answer.result.metas
    status = m.MetaUpdateStatus(row_ids=metas.keys(), meta_update_times=metas.values())
    return m.PutTimeseriesDataResponse(
        failed_rows=failed_rows(answer.result.failed),
        meta_update_status=status if metas else None,
    ).SerializeToString()


# --- GetTimeseriesData -----------------------------------------------------------------------


class _Page(NamedTuple):
    """Points that were read, as rows, with the token of the next page and what they cost."""

    rows: bytes
    token: bytes | None
    read_units: int
    write_units: int


def _limit(asked: int) -> int:
    """How many points a page has; without a positive number as many as one may have."""
    return min(asked, SERIES_PAGE_POINTS_MAX) if asked > 0 else SERIES_PAGE_POINTS_MAX


def _fields(sent: Iterable[m.TimeseriesFieldsToGet]) -> dict[str, ColumnType | None]:
    found: dict[str, ColumnType | None] = {}
    for field in sent:
        kind = _TYPES.get(field.type) if field.HasField("type") else None
        if field.HasField("type") and kind is None:
            raise InvalidRequest(TimeseriesRule.FIELD_TYPE, value=field.type)
        found[text(field.name)] = kind
    return found


@decoder(m.GetTimeseriesDataRequest)
def _decode_get(sent: m.GetTimeseriesDataRequest) -> OnTable[PointQuery]:
    begin_us, end_us = sent.begin_time, sent.end_time if sent.HasField("end_time") else INT64_MAX
    if sent.HasField("specific_time"):
        if sent.HasField("begin_time") or sent.HasField("end_time"):
            raise InvalidRequest(TimeseriesRule.TIME_RANGE)
        begin_us, end_us = sent.specific_time, sent.specific_time + 1
    query = PointQuery(
        sent_series(sent.time_series_key),
        begin_us,
        end_us,
        sent.backward,
        _limit(sent.limit),
        _fields(sent.fields_to_get),
        decode_page_token(_direction(sent.backward), sent.token),
    )
    return OnTable(text(sent.table_name), query)


def _direction(backward: bool) -> PageOf:  # noqa: FBT001  # as messages have it
    return PageOf.POINTS_BACKWARD if backward else PageOf.POINTS


def _get(engine: TablestoreEngine, instance: str, asked: OnTable[PointQuery]) -> _Page:
    name, query = asked
    table = found_table(engine, instance, name)
    return _page(table, timeseries(engine).read(table, query), _direction(query.backward))


def _page(table: TimeseriesTable, page: PointPage, kind: PageOf) -> _Page:
    rows = encode_points(table, page.points)
    return _Page(rows, encode_page_token(kind, page.next), max(1, units(len(rows))), 0)


def _encode_get(page: _Page) -> bytes:
    return m.GetTimeseriesDataResponse(
        rows_data=page.rows, next_token=page.token
    ).SerializeToString()


def point_units(answer: _Page | _PutAnswer) -> tuple[int, int]:
    """The capacity units that an action on points used: read, written."""
    return answer.read_units, answer.write_units


# --- SplitTimeseriesScanTask, ScanTimeseriesData ---------------------------------------------


@decoder(m.SplitTimeseriesScanTaskRequest)
def _decode_split(sent: m.SplitTimeseriesScanTaskRequest) -> OnTable[tuple[str | None, int]]:
    measurement = text(sent.measurement_name) if sent.HasField("measurement_name") else None
    return OnTable(text(sent.table_name), (measurement, sent.split_count_hint))


def _split(
    engine: TablestoreEngine, instance: str, asked: OnTable[tuple[str | None, int]]
) -> tuple[bytes, ...]:
    name, (measurement, count) = asked
    table = found_table(engine, instance, name)
    return timeseries(engine).splits(table, measurement, count)


def _encode_split(splits: tuple[bytes, ...]) -> bytes:
    return m.SplitTimeseriesScanTaskResponse(split_infos=splits).SerializeToString()


@decoder(m.ScanTimeseriesDataRequest)
def _decode_scan(sent: m.ScanTimeseriesDataRequest) -> OnTable[PointScan]:
    if sent.HasField("data_serialize_type") and sent.data_serialize_type != _PLAIN_BUFFER:
        raise InvalidRequest(TimeseriesRule.SCAN_FORM, value=sent.data_serialize_type)
    scan = PointScan(
        sent.split_info,
        sent.start_time_us if sent.HasField("start_time_us") else None,
        sent.end_time_us if sent.HasField("end_time_us") else None,
        _limit(sent.limit),
        _fields(sent.fields_to_get),
        decode_page_token(PageOf.SCANNED_POINTS, sent.token),
    )
    return OnTable(text(sent.table_name), scan)


def _scan(engine: TablestoreEngine, instance: str, asked: OnTable[PointScan]) -> _Page:
    name, scan = asked
    table = found_table(engine, instance, name)
    return _page(table, timeseries(engine).scan_points(table, scan), PageOf.SCANNED_POINTS)


def _encode_scan(page: _Page) -> bytes:
    return m.ScanTimeseriesDataResponse(
        data_serialize_type=_PLAIN_BUFFER, data=page.rows, next_token=page.token
    ).SerializeToString()


POINT_ACTIONS: Final = {
    "PutTimeseriesData": Action(_decode_put, _put, _encode_put),
    "GetTimeseriesData": Action(_decode_get, _get, _encode_get),
    "SplitTimeseriesScanTask": Action(_decode_split, _split, _encode_split),
    "ScanTimeseriesData": Action(_decode_scan, _scan, _encode_scan),
}
