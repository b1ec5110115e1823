"""QueryTimeseriesMeta, UpdateTimeseriesMeta and DeleteTimeseriesMeta (timeseries §6)."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, final

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, WiderowError
from widerow.limits import (
    SERIES_CONDITION_DEPTH_MAX,
    SERIES_CONDITIONS_MAX,
    SERIES_META_CHANGES_MAX,
    SERIES_METAS_MAX,
)
from widerow.model.timeseries.requests import (
    AllOf,
    AnyOf,
    MetaChange,
    MetaComparator,
    MetaCondition,
    MetaField,
    MetaMatch,
    MetaPage,
    MetaQuery,
    NotThis,
)
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.series import SeriesKey, SeriesMeta, tags_of_text, tags_text
from widerow.wire.tablestore import timeseries_messages as m
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.bodies import decoder, parsed, text
from widerow.wire.tablestore.operations.timeseries.found import OnTable, found_table, timeseries
from widerow.wire.tablestore.operations.timeseries.keys import sent_series, series_message
from widerow.wire.tablestore.operations.timeseries.points import failed_rows
from widerow.wire.tablestore.operations.timeseries.tokens import (
    PageOf,
    decode_page_token,
    encode_page_token,
)

__all__ = ["META_ACTIONS"]

# --- conditions ------------------------------------------------------------------------------

_COMPOSITE: Final = 1
_AND: Final = 1
_OR: Final = 2
_NOT: Final = 3


def _comparator(number: int) -> MetaComparator:
    try:
        return MetaComparator(number)
    except ValueError as error:
        raise InvalidRequest(TimeseriesRule.META_CONDITION) from error


def _of_measurement(data: bytes) -> MetaMatch:
    sent = parsed(m.MetaQueryMeasurementCondition, data)
    return MetaMatch(MetaField.MEASUREMENT, _comparator(sent.op), text(sent.value))


def _of_source(data: bytes) -> MetaMatch:
    sent = parsed(m.MetaQuerySourceCondition, data)
    return MetaMatch(MetaField.SOURCE, _comparator(sent.op), text(sent.value))


def _of_tag(data: bytes) -> MetaMatch:
    sent = parsed(m.MetaQueryTagCondition, data)
    return MetaMatch(MetaField.TAG, _comparator(sent.op), text(sent.value), text(sent.tag_name))


def _of_attribute(data: bytes) -> MetaMatch:
    sent = parsed(m.MetaQueryAttributeCondition, data)
    name = text(sent.attr_name)
    return MetaMatch(MetaField.ATTRIBUTE, _comparator(sent.op), text(sent.value), name)


def _of_update_time(data: bytes) -> MetaMatch:
    sent = parsed(m.MetaQueryUpdateTimeCondition, data)
    return MetaMatch(MetaField.UPDATE_TIME, _comparator(sent.op), sent.value)


_MATCHES: Final[Mapping[int, Callable[[bytes], MetaMatch]]] = {
    2: _of_measurement,
    3: _of_source,
    4: _of_tag,
    5: _of_update_time,
    6: _of_attribute,
}


@final
class _Conditions:
    """Reads the conditions of one query, which are counted together."""

    def __init__(self) -> None:
        self._left = SERIES_CONDITIONS_MAX

    def read(self, sent: m.MetaQueryCondition, depth: int = 1) -> MetaCondition:
        """The condition, which is nested so deep."""
        self._left -= 1
        if depth > SERIES_CONDITION_DEPTH_MAX or self._left < 0:
            raise InvalidRequest(TimeseriesRule.META_DEPTH)
        if sent.type == _COMPOSITE:
            return self._composite(
                parsed(m.MetaQueryCompositeCondition, sent.proto_data), depth + 1
            )
        match = _MATCHES.get(sent.type)
        if match is None:
            raise InvalidRequest(TimeseriesRule.META_CONDITION)
        return match(sent.proto_data)

    def _composite(self, sent: m.MetaQueryCompositeCondition, depth: int) -> MetaCondition:
        parts = tuple([self.read(each, depth) for each in sent.sub_conditions])
        if parts and sent.op == _AND:
            return AllOf(parts)
        if parts and sent.op == _OR:
            return AnyOf(parts)
        if len(parts) == 1 and sent.op == _NOT:
            return NotThis(parts[0])
        raise InvalidRequest(TimeseriesRule.META_CONDITION)


# --- QueryTimeseriesMeta ---------------------------------------------------------------------


@decoder(m.QueryTimeseriesMetaRequest)
def _decode_query(sent: m.QueryTimeseriesMetaRequest) -> OnTable[MetaQuery]:
    query = MetaQuery(
        _Conditions().read(sent.condition) if sent.HasField("condition") else None,
        sent.get_total_hit,
        min(sent.limit, SERIES_METAS_MAX) if sent.limit > 0 else SERIES_METAS_MAX,
        decode_page_token(PageOf.METAS, sent.token),
    )
    return OnTable(text(sent.table_name), query)


def _query(engine: TablestoreEngine, instance: str, asked: OnTable[MetaQuery]) -> MetaPage:
    name, query = asked
    return timeseries(engine).query_metas(found_table(engine, instance, name), query)


def _meta(found: SeriesMeta) -> m.TimeseriesMeta:
    return m.TimeseriesMeta(
        time_series_key=series_message(found.key),
        attributes=tags_text(found.attributes) if found.attributes else None,
        update_time=found.updated_us,
    )


def _encode_query(page: MetaPage) -> bytes:
    return m.QueryTimeseriesMetaResponse(
        timeseries_metas=[_meta(each) for each in page.metas],
        total_hit=page.total,
        next_token=encode_page_token(PageOf.METAS, page.next),
    ).SerializeToString()


# --- UpdateTimeseriesMeta, DeleteTimeseriesMeta ----------------------------------------------


def _check_count(count: int) -> None:
    if not 0 < count <= SERIES_META_CHANGES_MAX:
        raise InvalidRequest(TimeseriesRule.META_COUNT, count=count)


@decoder(m.UpdateTimeseriesMetaRequest)
def _decode_update(sent: m.UpdateTimeseriesMetaRequest) -> OnTable[list[MetaChange]]:
    _check_count(len(sent.timeseries_meta))
    return OnTable(text(sent.table_name), [_change(each) for each in sent.timeseries_meta])


def _change(sent: m.TimeseriesMeta) -> MetaChange:
    if sent.update_time:
        raise InvalidRequest(TimeseriesRule.META_TIME)
    attributes = tags_of_text(text(sent.attributes)) if sent.HasField("attributes") else None
    return MetaChange(sent_series(sent.time_series_key), attributes)


@decoder(m.DeleteTimeseriesMetaRequest)
def _decode_delete(sent: m.DeleteTimeseriesMetaRequest) -> OnTable[list[SeriesKey]]:
    _check_count(len(sent.timeseries_key))
    return OnTable(text(sent.table_name), [sent_series(each) for each in sent.timeseries_key])


def _update(
    engine: TablestoreEngine, instance: str, asked: OnTable[list[MetaChange]]
) -> Plan[dict[int, WiderowError]]:
    name, changes = asked
    return timeseries(engine).change_metas(found_table(engine, instance, name), changes)


def _delete(
    engine: TablestoreEngine, instance: str, asked: OnTable[list[SeriesKey]]
) -> Plan[dict[int, WiderowError]]:
    name, keys = asked
    return timeseries(engine).delete_metas(found_table(engine, instance, name), keys)


def _encode_failed(message: Callable[..., Any], failed: Mapping[int, WiderowError]) -> bytes:
    sent: bytes = message(failed_rows=failed_rows(failed)).SerializeToString()
    return sent


META_ACTIONS: Final = {
    "QueryTimeseriesMeta": Action(_decode_query, _query, _encode_query),
    "UpdateTimeseriesMeta": Action(
        _decode_update, _update, partial(_encode_failed, m.UpdateTimeseriesMetaResponse)
    ),
    "DeleteTimeseriesMeta": Action(
        _decode_delete, _delete, partial(_encode_failed, m.DeleteTimeseriesMetaResponse)
    ),
}
