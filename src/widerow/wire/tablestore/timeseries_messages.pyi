# Made by tools/gen_messages.py from the .proto files beside it; do not edit.
# ruff: noqa: A002  # arguments are named as the fields are

from collections.abc import Iterable

from google.protobuf.internal.containers import (
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
)
from google.protobuf.message import Message

class PrimaryKeySchema(Message):
    name: str | bytes
    type: int
    option: int
    def __init__(
        self,
        *,
        name: str | None = ...,
        type: int | None = ...,
        option: int | None = ...,
    ) -> None: ...

class TimeseriesTableOptions(Message):
    time_to_live: int
    def __init__(
        self,
        *,
        time_to_live: int | None = ...,
    ) -> None: ...

class TimeseriesMetaOptions(Message):
    allow_update_attributes: bool
    meta_time_to_live: int
    def __init__(
        self,
        *,
        allow_update_attributes: bool | None = ...,
        meta_time_to_live: int | None = ...,
    ) -> None: ...

class TimeseriesTableMeta(Message):
    table_name: str | bytes
    @property
    def table_options(self) -> TimeseriesTableOptions: ...
    status: str | bytes
    @property
    def meta_options(self) -> TimeseriesMetaOptions: ...
    @property
    def timeseries_key_schema(self) -> RepeatedScalarFieldContainer[str]: ...
    @property
    def field_primary_key_schema(self) -> RepeatedCompositeFieldContainer[PrimaryKeySchema]: ...
    disable_hash_partition_key: bool
    disable_timeseries_meta_index: bool
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        table_options: TimeseriesTableOptions | None = ...,
        status: str | None = ...,
        meta_options: TimeseriesMetaOptions | None = ...,
        timeseries_key_schema: Iterable[str] | None = ...,
        field_primary_key_schema: Iterable[PrimaryKeySchema] | None = ...,
        disable_hash_partition_key: bool | None = ...,
        disable_timeseries_meta_index: bool | None = ...,
    ) -> None: ...

class LastpointIndexMetaForCreate(Message):
    index_table_name: str | bytes
    def __init__(
        self,
        *,
        index_table_name: str | None = ...,
    ) -> None: ...

class TimeseriesAnalyticalStore(Message):
    store_name: str | bytes
    time_to_live: int
    sync_option: int
    def __init__(
        self,
        *,
        store_name: str | None = ...,
        time_to_live: int | None = ...,
        sync_option: int | None = ...,
    ) -> None: ...

class TimeseriesLastpointIndex(Message):
    index_table_name: str | bytes
    def __init__(
        self,
        *,
        index_table_name: str | None = ...,
    ) -> None: ...

class CreateTimeseriesTableRequest(Message):
    @property
    def table_meta(self) -> TimeseriesTableMeta: ...
    @property
    def analytical_stores(self) -> RepeatedCompositeFieldContainer[TimeseriesAnalyticalStore]: ...
    enable_analytical_store: bool
    @property
    def lastpoint_index_metas(
        self,
    ) -> RepeatedCompositeFieldContainer[LastpointIndexMetaForCreate]: ...
    def __init__(
        self,
        *,
        table_meta: TimeseriesTableMeta | None = ...,
        analytical_stores: Iterable[TimeseriesAnalyticalStore] | None = ...,
        enable_analytical_store: bool | None = ...,
        lastpoint_index_metas: Iterable[LastpointIndexMetaForCreate] | None = ...,
    ) -> None: ...

class CreateTimeseriesTableResponse(Message):
    def __init__(self) -> None: ...

class ListTimeseriesTableRequest(Message):
    def __init__(self) -> None: ...

class ListTimeseriesTableResponse(Message):
    @property
    def table_metas(self) -> RepeatedCompositeFieldContainer[TimeseriesTableMeta]: ...
    def __init__(
        self,
        *,
        table_metas: Iterable[TimeseriesTableMeta] | None = ...,
    ) -> None: ...

class DeleteTimeseriesTableRequest(Message):
    table_name: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
    ) -> None: ...

class DeleteTimeseriesTableResponse(Message):
    def __init__(self) -> None: ...

class UpdateTimeseriesTableRequest(Message):
    table_name: str | bytes
    @property
    def table_options(self) -> TimeseriesTableOptions: ...
    @property
    def meta_options(self) -> TimeseriesMetaOptions: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        table_options: TimeseriesTableOptions | None = ...,
        meta_options: TimeseriesMetaOptions | None = ...,
    ) -> None: ...

class UpdateTimeseriesTableResponse(Message):
    def __init__(self) -> None: ...

class DescribeTimeseriesTableRequest(Message):
    table_name: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
    ) -> None: ...

class DescribeTimeseriesTableResponse(Message):
    @property
    def table_meta(self) -> TimeseriesTableMeta: ...
    @property
    def analytical_stores(self) -> RepeatedCompositeFieldContainer[TimeseriesAnalyticalStore]: ...
    @property
    def lastpoint_indexes(self) -> RepeatedCompositeFieldContainer[TimeseriesLastpointIndex]: ...
    def __init__(
        self,
        *,
        table_meta: TimeseriesTableMeta | None = ...,
        analytical_stores: Iterable[TimeseriesAnalyticalStore] | None = ...,
        lastpoint_indexes: Iterable[TimeseriesLastpointIndex] | None = ...,
    ) -> None: ...

class MetaQueryCondition(Message):
    type: int
    proto_data: bytes
    def __init__(
        self,
        *,
        type: int | None = ...,
        proto_data: bytes | None = ...,
    ) -> None: ...

class MetaQueryCompositeCondition(Message):
    op: int
    @property
    def sub_conditions(self) -> RepeatedCompositeFieldContainer[MetaQueryCondition]: ...
    def __init__(
        self,
        *,
        op: int | None = ...,
        sub_conditions: Iterable[MetaQueryCondition] | None = ...,
    ) -> None: ...

class MetaQueryMeasurementCondition(Message):
    op: int
    value: str | bytes
    def __init__(
        self,
        *,
        op: int | None = ...,
        value: str | None = ...,
    ) -> None: ...

class MetaQuerySourceCondition(Message):
    op: int
    value: str | bytes
    def __init__(
        self,
        *,
        op: int | None = ...,
        value: str | None = ...,
    ) -> None: ...

class MetaQueryTagCondition(Message):
    op: int
    tag_name: str | bytes
    value: str | bytes
    def __init__(
        self,
        *,
        op: int | None = ...,
        tag_name: str | None = ...,
        value: str | None = ...,
    ) -> None: ...

class MetaQueryAttributeCondition(Message):
    op: int
    attr_name: str | bytes
    value: str | bytes
    def __init__(
        self,
        *,
        op: int | None = ...,
        attr_name: str | None = ...,
        value: str | None = ...,
    ) -> None: ...

class MetaQueryUpdateTimeCondition(Message):
    op: int
    value: int
    def __init__(
        self,
        *,
        op: int | None = ...,
        value: int | None = ...,
    ) -> None: ...

class TimeseriesTag(Message):
    name: str | bytes
    value: str | bytes
    def __init__(
        self,
        *,
        name: str | None = ...,
        value: str | None = ...,
    ) -> None: ...

class TimeseriesKey(Message):
    measurement: str | bytes
    source: str | bytes
    tags: str | bytes
    @property
    def tag_list(self) -> RepeatedCompositeFieldContainer[TimeseriesTag]: ...
    def __init__(
        self,
        *,
        measurement: str | None = ...,
        source: str | None = ...,
        tags: str | None = ...,
        tag_list: Iterable[TimeseriesTag] | None = ...,
    ) -> None: ...

class TimeseriesMeta(Message):
    @property
    def time_series_key(self) -> TimeseriesKey: ...
    attributes: str | bytes
    update_time: int
    def __init__(
        self,
        *,
        time_series_key: TimeseriesKey | None = ...,
        attributes: str | None = ...,
        update_time: int | None = ...,
    ) -> None: ...

class QueryTimeseriesMetaRequest(Message):
    table_name: str | bytes
    @property
    def condition(self) -> MetaQueryCondition: ...
    get_total_hit: bool
    token: bytes
    limit: int
    supported_table_version: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        condition: MetaQueryCondition | None = ...,
        get_total_hit: bool | None = ...,
        token: bytes | None = ...,
        limit: int | None = ...,
        supported_table_version: int | None = ...,
    ) -> None: ...

class QueryTimeseriesMetaResponse(Message):
    @property
    def timeseries_metas(self) -> RepeatedCompositeFieldContainer[TimeseriesMeta]: ...
    total_hit: int
    next_token: bytes
    def __init__(
        self,
        *,
        timeseries_metas: Iterable[TimeseriesMeta] | None = ...,
        total_hit: int | None = ...,
        next_token: bytes | None = ...,
    ) -> None: ...

class TimeseriesRows(Message):
    type: int
    rows_data: bytes
    flatbuffer_crc32c: int
    def __init__(
        self,
        *,
        type: int | None = ...,
        rows_data: bytes | None = ...,
        flatbuffer_crc32c: int | None = ...,
    ) -> None: ...

class PutTimeseriesDataRequest(Message):
    table_name: str | bytes
    @property
    def rows_data(self) -> TimeseriesRows: ...
    meta_update_mode: int
    supported_table_version: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        rows_data: TimeseriesRows | None = ...,
        meta_update_mode: int | None = ...,
        supported_table_version: int | None = ...,
    ) -> None: ...

class FailedRowInfo(Message):
    row_index: int
    error_code: str | bytes
    error_message: str | bytes
    def __init__(
        self,
        *,
        row_index: int | None = ...,
        error_code: str | None = ...,
        error_message: str | None = ...,
    ) -> None: ...

class MetaUpdateStatus(Message):
    @property
    def row_ids(self) -> RepeatedScalarFieldContainer[int]: ...
    @property
    def meta_update_times(self) -> RepeatedScalarFieldContainer[int]: ...
    def __init__(
        self,
        *,
        row_ids: Iterable[int] | None = ...,
        meta_update_times: Iterable[int] | None = ...,
    ) -> None: ...

class PutTimeseriesDataResponse(Message):
    @property
    def failed_rows(self) -> RepeatedCompositeFieldContainer[FailedRowInfo]: ...
    @property
    def meta_update_status(self) -> MetaUpdateStatus: ...
    def __init__(
        self,
        *,
        failed_rows: Iterable[FailedRowInfo] | None = ...,
        meta_update_status: MetaUpdateStatus | None = ...,
    ) -> None: ...

class TimeseriesFieldsToGet(Message):
    name: str | bytes
    type: int
    def __init__(
        self,
        *,
        name: str | None = ...,
        type: int | None = ...,
    ) -> None: ...

class GetTimeseriesDataRequest(Message):
    table_name: str | bytes
    @property
    def time_series_key(self) -> TimeseriesKey: ...
    begin_time: int
    end_time: int
    specific_time: int
    token: bytes
    limit: int
    backward: bool
    @property
    def fields_to_get(self) -> RepeatedCompositeFieldContainer[TimeseriesFieldsToGet]: ...
    supported_table_version: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        time_series_key: TimeseriesKey | None = ...,
        begin_time: int | None = ...,
        end_time: int | None = ...,
        specific_time: int | None = ...,
        token: bytes | None = ...,
        limit: int | None = ...,
        backward: bool | None = ...,
        fields_to_get: Iterable[TimeseriesFieldsToGet] | None = ...,
        supported_table_version: int | None = ...,
    ) -> None: ...

class GetTimeseriesDataResponse(Message):
    rows_data: bytes
    next_token: bytes
    def __init__(
        self,
        *,
        rows_data: bytes | None = ...,
        next_token: bytes | None = ...,
    ) -> None: ...

class UpdateTimeseriesMetaRequest(Message):
    table_name: str | bytes
    @property
    def timeseries_meta(self) -> RepeatedCompositeFieldContainer[TimeseriesMeta]: ...
    supported_table_version: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        timeseries_meta: Iterable[TimeseriesMeta] | None = ...,
        supported_table_version: int | None = ...,
    ) -> None: ...

class UpdateTimeseriesMetaResponse(Message):
    @property
    def failed_rows(self) -> RepeatedCompositeFieldContainer[FailedRowInfo]: ...
    def __init__(
        self,
        *,
        failed_rows: Iterable[FailedRowInfo] | None = ...,
    ) -> None: ...

class DeleteTimeseriesMetaRequest(Message):
    table_name: str | bytes
    @property
    def timeseries_key(self) -> RepeatedCompositeFieldContainer[TimeseriesKey]: ...
    supported_table_version: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        timeseries_key: Iterable[TimeseriesKey] | None = ...,
        supported_table_version: int | None = ...,
    ) -> None: ...

class DeleteTimeseriesMetaResponse(Message):
    @property
    def failed_rows(self) -> RepeatedCompositeFieldContainer[FailedRowInfo]: ...
    def __init__(
        self,
        *,
        failed_rows: Iterable[FailedRowInfo] | None = ...,
    ) -> None: ...

class SplitTimeseriesScanTaskRequest(Message):
    table_name: str | bytes
    measurement_name: str | bytes
    split_count_hint: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        measurement_name: str | None = ...,
        split_count_hint: int | None = ...,
    ) -> None: ...

class SplitTimeseriesScanTaskResponse(Message):
    @property
    def split_infos(self) -> RepeatedScalarFieldContainer[bytes]: ...
    def __init__(
        self,
        *,
        split_infos: Iterable[bytes] | None = ...,
    ) -> None: ...

class ScanTimeseriesDataRequest(Message):
    table_name: str | bytes
    split_info: bytes
    start_time_us: int
    end_time_us: int
    @property
    def fields_to_get(self) -> RepeatedCompositeFieldContainer[TimeseriesFieldsToGet]: ...
    limit: int
    data_serialize_type: int
    token: bytes
    supported_table_version: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        split_info: bytes | None = ...,
        start_time_us: int | None = ...,
        end_time_us: int | None = ...,
        fields_to_get: Iterable[TimeseriesFieldsToGet] | None = ...,
        limit: int | None = ...,
        data_serialize_type: int | None = ...,
        token: bytes | None = ...,
        supported_table_version: int | None = ...,
    ) -> None: ...

class ScanTimeseriesDataResponse(Message):
    data_serialize_type: int
    data: bytes
    next_token: bytes
    def __init__(
        self,
        *,
        data_serialize_type: int | None = ...,
        data: bytes | None = ...,
        next_token: bytes | None = ...,
    ) -> None: ...

class AnalyticalStoreSyncStat(Message):
    sync_phase: int
    current_sync_timestamp: int
    def __init__(
        self,
        *,
        sync_phase: int | None = ...,
        current_sync_timestamp: int | None = ...,
    ) -> None: ...

class CreateTimeseriesAnalyticalStoreRequest(Message):
    table_name: str | bytes
    @property
    def analytical_store(self) -> TimeseriesAnalyticalStore: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        analytical_store: TimeseriesAnalyticalStore | None = ...,
    ) -> None: ...

class CreateTimeseriesAnalyticalStoreResponse(Message):
    def __init__(self) -> None: ...

class DeleteTimeseriesAnalyticalStoreRequest(Message):
    table_name: str | bytes
    store_name: str | bytes
    drop_mapping_table: bool
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        store_name: str | None = ...,
        drop_mapping_table: bool | None = ...,
    ) -> None: ...

class DeleteTimeseriesAnalyticalStoreResponse(Message):
    def __init__(self) -> None: ...

class DescribeTimeseriesAnalyticalStoreRequest(Message):
    table_name: str | bytes
    store_name: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        store_name: str | None = ...,
    ) -> None: ...

class DescribeTimeseriesAnalyticalStoreResponse(Message):
    @property
    def analytical_store(self) -> TimeseriesAnalyticalStore: ...
    @property
    def sync_stat(self) -> AnalyticalStoreSyncStat: ...
    def __init__(
        self,
        *,
        analytical_store: TimeseriesAnalyticalStore | None = ...,
        sync_stat: AnalyticalStoreSyncStat | None = ...,
    ) -> None: ...

class UpdateTimeseriesAnalyticalStoreRequest(Message):
    table_name: str | bytes
    @property
    def analytical_store(self) -> TimeseriesAnalyticalStore: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        analytical_store: TimeseriesAnalyticalStore | None = ...,
    ) -> None: ...

class UpdateTimeseriesAnalyticalStoreResponse(Message):
    def __init__(self) -> None: ...

class CreateTimeseriesLastpointIndexRequest(Message):
    main_table_name: str | bytes
    index_table_name: str | bytes
    include_base_data: bool
    create_on_wide_column_table: bool
    @property
    def index_primary_key_names(self) -> RepeatedScalarFieldContainer[str]: ...
    def __init__(
        self,
        *,
        main_table_name: str | None = ...,
        index_table_name: str | None = ...,
        include_base_data: bool | None = ...,
        create_on_wide_column_table: bool | None = ...,
        index_primary_key_names: Iterable[str] | None = ...,
    ) -> None: ...

class CreateTimeseriesLastpointIndexResponse(Message):
    def __init__(self) -> None: ...

class DeleteTimeseriesLastpointIndexRequest(Message):
    main_table_name: str | bytes
    index_table_name: str | bytes
    def __init__(
        self,
        *,
        main_table_name: str | None = ...,
        index_table_name: str | None = ...,
    ) -> None: ...

class DeleteTimeseriesLastpointIndexResponse(Message):
    def __init__(self) -> None: ...

class TimeseriesField(Message):
    field_name: str | bytes
    value_int: int
    value_string: str | bytes
    value_bool: bool
    value_double: float
    value_binary: bytes
    def __init__(
        self,
        *,
        field_name: str | None = ...,
        value_int: int | None = ...,
        value_string: str | None = ...,
        value_bool: bool | None = ...,
        value_double: float | None = ...,
        value_binary: bytes | None = ...,
    ) -> None: ...

class TimeseriesRow(Message):
    @property
    def timeseries_key(self) -> TimeseriesKey: ...
    time: int
    @property
    def fields(self) -> RepeatedCompositeFieldContainer[TimeseriesField]: ...
    meta_cache_update_time: int
    def __init__(
        self,
        *,
        timeseries_key: TimeseriesKey | None = ...,
        time: int | None = ...,
        fields: Iterable[TimeseriesField] | None = ...,
        meta_cache_update_time: int | None = ...,
    ) -> None: ...

class TimeseriesPBRows(Message):
    @property
    def rows(self) -> RepeatedCompositeFieldContainer[TimeseriesRow]: ...
    def __init__(
        self,
        *,
        rows: Iterable[TimeseriesRow] | None = ...,
    ) -> None: ...
