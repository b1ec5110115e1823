"""Actions that make, change and describe timeseries tables, their stores and their indexes."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.timeseries.definitions import store_named
from widerow.engine.timeseries.static import check_name
from widerow.errors import InvalidRequest
from widerow.model.timeseries.requests import SeriesOptionsChange, TableRequest
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.model.timeseries.table import (
    AnalyticalStore,
    FieldKey,
    SyncOption,
    TimeseriesOptions,
    TimeseriesTable,
)
from widerow.model.values import KeyType
from widerow.wire.tablestore import timeseries_messages as m
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.bodies import decoder, text, texts
from widerow.wire.tablestore.operations.timeseries.found import (
    OnTable,
    found_table,
    timeseries,
)

__all__ = ["SERIES_TABLE_ACTIONS"]

_DEFAULT_STORE: Final = "default_analytical_store"
_CREATED: Final = "CREATED"
_YOUNG_US: Final = 60_000_000  # for which a new store tells no time of its last change
_KEY_TYPES: Final = {1: KeyType.INTEGER, 2: KeyType.STRING, 3: KeyType.BINARY}
_NUMBERS: Final = {kind: number for number, kind in _KEY_TYPES.items()}


# --- CreateTimeseriesTable -------------------------------------------------------------------


@decoder(m.CreateTimeseriesTableRequest)
def _decode_create(sent: m.CreateTimeseriesTableRequest) -> TableRequest:
    meta = sent.table_meta
    key = texts(meta.timeseries_key_schema)
    return TableRequest(
        text(meta.table_name),
        _options(meta),
        key or None,
        tuple([_field_key(field) for field in meta.field_primary_key_schema]),
        tuple([_store(store) for store in sent.analytical_stores]) or _default_stores(sent),
        tuple([text(index.index_table_name) for index in sent.lastpoint_index_metas]),
        hashed=not meta.disable_hash_partition_key,
        meta_index=not meta.disable_timeseries_meta_index,
    )


def _options(meta: m.TimeseriesTableMeta) -> TimeseriesOptions:
    return TimeseriesOptions(
        meta.table_options.time_to_live if meta.table_options.HasField("time_to_live") else -1,
        meta.meta_options.meta_time_to_live
        if meta.meta_options.HasField("meta_time_to_live")
        else -1,
        not meta.meta_options.HasField("allow_update_attributes")
        or meta.meta_options.allow_update_attributes,
    )


def _field_key(sent: m.PrimaryKeySchema) -> FieldKey:
    kind = _KEY_TYPES.get(sent.type)
    if kind is None or sent.option:
        raise InvalidRequest(TimeseriesRule.FIELD_KEY_SCHEMA, columns=text(sent.name)[:200])
    return FieldKey(text(sent.name), kind)


def _default_stores(sent: m.CreateTimeseriesTableRequest) -> tuple[AnalyticalStore, ...]:
    """The store that a table has where the request asks for one and describes none."""
    return (AnalyticalStore(_DEFAULT_STORE),) if sent.enable_analytical_store else ()


def _store(sent: m.TimeseriesAnalyticalStore) -> AnalyticalStore:
    return AnalyticalStore(
        text(sent.store_name),
        sent.time_to_live if sent.HasField("time_to_live") else -1,
        _sync_option(sent.sync_option) if sent.HasField("sync_option") else SyncOption.FULL,
    )


def _sync_option(number: int) -> SyncOption:
    try:
        return SyncOption(number)
    except ValueError as error:
        raise InvalidRequest(TimeseriesRule.STORE_SYNC, value=number) from error


def _create(
    engine: TablestoreEngine, instance: str, request: TableRequest
) -> Plan[TimeseriesTable]:
    return timeseries(engine).create(instance, request)


def _nothing(_answer: object) -> bytes:
    return b""


# --- describing ------------------------------------------------------------------------------


def _meta(table: TimeseriesTable) -> m.TimeseriesTableMeta:
    options = table.options
    return m.TimeseriesTableMeta(
        table_name=table.name,
        table_options=m.TimeseriesTableOptions(time_to_live=options.ttl_s),
        status=_CREATED,
        meta_options=m.TimeseriesMetaOptions(
            allow_update_attributes=options.update_attributes, meta_time_to_live=options.meta_ttl_s
        ),
        timeseries_key_schema=table.key if table.custom_key else (),
        field_primary_key_schema=[
            m.PrimaryKeySchema(name=field.name, type=_NUMBERS[field.type])
            for field in table.field_keys
        ],
        disable_hash_partition_key=None if table.hashed else True,
        disable_timeseries_meta_index=None if table.meta_index else True,
    )


def _store_message(store: AnalyticalStore) -> m.TimeseriesAnalyticalStore:
    return m.TimeseriesAnalyticalStore(
        store_name=store.name, time_to_live=store.ttl_s, sync_option=store.sync.value
    )


def _encode_list(tables: Sequence[TimeseriesTable]) -> bytes:
    metas = [_meta(table) for table in tables]
    return m.ListTimeseriesTableResponse(table_metas=metas).SerializeToString()


def _encode_description(table: TimeseriesTable) -> bytes:
    return m.DescribeTimeseriesTableResponse(
        table_meta=_meta(table),
        analytical_stores=[_store_message(store) for store in table.stores],
        lastpoint_indexes=[
            m.TimeseriesLastpointIndex(index_table_name=index.name) for index in table.lastpoints
        ],
    ).SerializeToString()


@decoder(m.UpdateTimeseriesTableRequest)
def _decode_update(
    sent: m.UpdateTimeseriesTableRequest,
) -> OnTable[SeriesOptionsChange]:
    options, metas = sent.table_options, sent.meta_options
    change = SeriesOptionsChange(
        options.time_to_live if options.HasField("time_to_live") else None,
        metas.meta_time_to_live if metas.HasField("meta_time_to_live") else None,
        metas.allow_update_attributes if metas.HasField("allow_update_attributes") else None,
    )
    return OnTable(text(sent.table_name), change)


# --- analytical stores -----------------------------------------------------------------------


class _StoreState(NamedTuple):
    """An analytical store, and the time at which it is described."""

    store: AnalyticalStore
    now_us: int


@decoder(m.CreateTimeseriesAnalyticalStoreRequest)
def _decode_new_store(
    sent: m.CreateTimeseriesAnalyticalStoreRequest,
) -> OnTable[AnalyticalStore]:
    return OnTable(text(sent.table_name), _store(sent.analytical_store))


@decoder(m.UpdateTimeseriesAnalyticalStoreRequest)
def _decode_store_change(
    sent: m.UpdateTimeseriesAnalyticalStoreRequest,
) -> OnTable[tuple[str, int]]:
    store = sent.analytical_store
    if store.HasField("sync_option") or not store.HasField("time_to_live"):
        raise InvalidRequest(TimeseriesRule.STORE_CHANGE)
    return OnTable(text(sent.table_name), (text(store.store_name), store.time_to_live))


class _StoreDrop(NamedTuple):
    """The name of a store, and whether mappings of SQL that use it go with it."""

    name: str
    with_mappings: bool


@decoder(m.DeleteTimeseriesAnalyticalStoreRequest)
def _decode_store_drop(sent: m.DeleteTimeseriesAnalyticalStoreRequest) -> OnTable[_StoreDrop]:
    asked = _StoreDrop(text(sent.store_name), sent.drop_mapping_table)
    return OnTable(text(sent.table_name), asked)


def _drop_store(engine: TablestoreEngine, instance: str, asked: OnTable[_StoreDrop]) -> Plan[None]:
    table, (name, with_mappings) = asked
    return timeseries(engine).drop_store(instance, table, name, with_mappings=with_mappings)


@decoder(m.DescribeTimeseriesAnalyticalStoreRequest)
def _decode_store_name(sent: m.DescribeTimeseriesAnalyticalStoreRequest) -> OnTable[str]:
    return OnTable(text(sent.table_name), text(sent.store_name))


def _described_store(engine: TablestoreEngine, instance: str, asked: OnTable[str]) -> _StoreState:
    table, name = asked
    store = store_named(found_table(engine, instance, table), name)
    return _StoreState(store, engine.core.clock.now_us())


def _encode_store(state: _StoreState) -> bytes:
    store, now_us = state
    is_young = now_us < store.created_us + _YOUNG_US
    return m.DescribeTimeseriesAnalyticalStoreResponse(
        analytical_store=_store_message(store),
        sync_stat=m.AnalyticalStoreSyncStat(
            sync_phase=store.phase(now_us).value,
            current_sync_timestamp=0 if is_young else now_us * 1000,
        ),
    ).SerializeToString()


# --- last-point indexes ----------------------------------------------------------------------


class _NewIndex(NamedTuple):
    """A last-point index to be made. `key`: where it is one of an ordinary table."""

    name: str
    include_base: bool
    key: tuple[str, ...] | None


@decoder(m.CreateTimeseriesLastpointIndexRequest)
def _decode_new_index(sent: m.CreateTimeseriesLastpointIndexRequest) -> OnTable[_NewIndex]:
    names = tuple([text(each) for each in sent.index_primary_key_names])
    if names and not sent.create_on_wide_column_table:
        raise InvalidRequest(TimeseriesRule.LASTPOINT_KEY, columns=", ".join(names))
    key = names if sent.create_on_wide_column_table else None
    asked = _NewIndex(text(sent.index_table_name), sent.include_base_data, key)
    return OnTable(text(sent.main_table_name), asked)


def _add_index(engine: TablestoreEngine, instance: str, sent: OnTable[_NewIndex]) -> Plan[None]:
    name, include_base, key = sent.asked
    if key is None:
        tables = timeseries(engine)
        return tables.add_lastpoint(instance, sent.table, name, include_base=include_base)
    check_name(name, TimeseriesRule.STORE_NAME)
    return engine.add_newest_view(instance, sent.table, (name, key), include_base=include_base)


def _drop_index(engine: TablestoreEngine, instance: str, sent: OnTable[str]) -> Plan[None]:
    if engine.tables.get(instance, sent.table) is not None:
        return engine.drop_newest_view(instance, sent.table, sent.asked)
    return timeseries(engine).drop_lastpoint(instance, sent.table, sent.asked)


@decoder(m.DeleteTimeseriesLastpointIndexRequest)
def _decode_index_drop(sent: m.DeleteTimeseriesLastpointIndexRequest) -> OnTable[str]:
    return OnTable(text(sent.main_table_name), text(sent.index_table_name))


SERIES_TABLE_ACTIONS: Final = {
    "CreateTimeseriesTable": Action(_decode_create, _create, _nothing),
    "ListTimeseriesTable": Action(
        decoder(m.ListTimeseriesTableRequest)(lambda _: None),
        lambda engine, instance, _: timeseries(engine).owned(instance),
        _encode_list,
    ),
    "DescribeTimeseriesTable": Action(
        decoder(m.DescribeTimeseriesTableRequest)(lambda sent: text(sent.table_name)),
        found_table,
        _encode_description,
    ),
    "UpdateTimeseriesTable": Action(
        _decode_update,
        lambda engine, instance, asked: timeseries(engine).change_options(instance, *asked),
        _nothing,
    ),
    "DeleteTimeseriesTable": Action(
        decoder(m.DeleteTimeseriesTableRequest)(lambda sent: text(sent.table_name)),
        lambda engine, instance, name: timeseries(engine).drop(instance, name),
    ),
    "CreateTimeseriesAnalyticalStore": Action(
        _decode_new_store,
        lambda engine, instance, asked: timeseries(engine).add_store(instance, *asked),
        _nothing,
    ),
    "UpdateTimeseriesAnalyticalStore": Action(
        _decode_store_change,
        lambda engine, instance, asked: timeseries(engine).change_store(
            instance, asked.table, *asked.asked
        ),
        _nothing,
    ),
    "DeleteTimeseriesAnalyticalStore": Action(
        _decode_store_drop,
        _drop_store,
        _nothing,
    ),
    "DescribeTimeseriesAnalyticalStore": Action(
        _decode_store_name, _described_store, _encode_store
    ),
    "CreateTimeseriesLastpointIndex": Action(_decode_new_index, _add_index),
    "DeleteTimeseriesLastpointIndex": Action(
        _decode_index_drop,
        _drop_index,
        _nothing,
    ),
}
