# Made by tools/gen_messages.py from the .proto files beside it; do not edit.
# ruff: noqa: A002  # arguments are named as the fields are

from collections.abc import Iterable

from google.protobuf.internal.containers import (
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
)
from google.protobuf.message import Message

class Filter(Message):
    type: int
    filter: bytes
    def __init__(
        self,
        *,
        type: int | None = ...,
        filter: bytes | None = ...,
    ) -> None: ...

class SingleColumnValueFilter(Message):
    comparator: int
    column_name: str | bytes
    column_value: bytes
    filter_if_missing: bool
    latest_version_only: bool
    @property
    def value_trans_rule(self) -> ValueTransferRule: ...
    def __init__(
        self,
        *,
        comparator: int | None = ...,
        column_name: str | None = ...,
        column_value: bytes | None = ...,
        filter_if_missing: bool | None = ...,
        latest_version_only: bool | None = ...,
        value_trans_rule: ValueTransferRule | None = ...,
    ) -> None: ...

class ValueTransferRule(Message):
    regex: str | bytes
    cast_type: int
    def __init__(
        self,
        *,
        regex: str | None = ...,
        cast_type: int | None = ...,
    ) -> None: ...

class CompositeColumnValueFilter(Message):
    combinator: int
    @property
    def sub_filters(self) -> RepeatedCompositeFieldContainer[Filter]: ...
    def __init__(
        self,
        *,
        combinator: int | None = ...,
        sub_filters: Iterable[Filter] | None = ...,
    ) -> None: ...

class ColumnPaginationFilter(Message):
    offset: int
    limit: int
    def __init__(
        self,
        *,
        offset: int | None = ...,
        limit: int | None = ...,
    ) -> None: ...

class Error(Message):
    code: str | bytes
    message: str | bytes
    def __init__(
        self,
        *,
        code: str | None = ...,
        message: str | None = ...,
    ) -> None: ...

class CapacityUnit(Message):
    read: int
    write: int
    def __init__(
        self,
        *,
        read: int | None = ...,
        write: int | None = ...,
    ) -> None: ...

class ReservedThroughput(Message):
    @property
    def capacity_unit(self) -> CapacityUnit: ...
    def __init__(
        self,
        *,
        capacity_unit: CapacityUnit | None = ...,
    ) -> None: ...

class CapacityDataSize(Message):
    read_size: int
    write_size: int
    def __init__(
        self,
        *,
        read_size: int | None = ...,
        write_size: int | None = ...,
    ) -> None: ...

class ConsumedCapacity(Message):
    @property
    def capacity_unit(self) -> CapacityUnit: ...
    @property
    def capacity_data_size(self) -> CapacityDataSize: ...
    def __init__(
        self,
        *,
        capacity_unit: CapacityUnit | None = ...,
        capacity_data_size: CapacityDataSize | None = ...,
    ) -> None: ...

class ReservedThroughputDetails(Message):
    @property
    def capacity_unit(self) -> CapacityUnit: ...
    last_increase_time: int
    last_decrease_time: int
    def __init__(
        self,
        *,
        capacity_unit: CapacityUnit | None = ...,
        last_increase_time: int | None = ...,
        last_decrease_time: int | None = ...,
    ) -> None: ...

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

class DefinedColumnSchema(Message):
    name: str | bytes
    type: int
    def __init__(
        self,
        *,
        name: str | None = ...,
        type: int | None = ...,
    ) -> None: ...

class IndexMeta(Message):
    name: str | bytes
    @property
    def primary_key(self) -> RepeatedScalarFieldContainer[str]: ...
    @property
    def defined_column(self) -> RepeatedScalarFieldContainer[str]: ...
    index_update_mode: int
    index_type: int
    index_sync_phase: int
    def __init__(
        self,
        *,
        name: str | None = ...,
        primary_key: Iterable[str] | None = ...,
        defined_column: Iterable[str] | None = ...,
        index_update_mode: int | None = ...,
        index_type: int | None = ...,
        index_sync_phase: int | None = ...,
    ) -> None: ...

class TableMeta(Message):
    table_name: str | bytes
    @property
    def primary_key(self) -> RepeatedCompositeFieldContainer[PrimaryKeySchema]: ...
    @property
    def defined_column(self) -> RepeatedCompositeFieldContainer[DefinedColumnSchema]: ...
    @property
    def index_meta(self) -> RepeatedCompositeFieldContainer[IndexMeta]: ...
    table_id: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        primary_key: Iterable[PrimaryKeySchema] | None = ...,
        defined_column: Iterable[DefinedColumnSchema] | None = ...,
        index_meta: Iterable[IndexMeta] | None = ...,
        table_id: str | None = ...,
    ) -> None: ...

class TableOptions(Message):
    time_to_live: int
    max_versions: int
    bloom_filter_type: int
    block_size: int
    deviation_cell_version_in_sec: int
    allow_update: bool
    update_full_row: bool
    def __init__(
        self,
        *,
        time_to_live: int | None = ...,
        max_versions: int | None = ...,
        bloom_filter_type: int | None = ...,
        block_size: int | None = ...,
        deviation_cell_version_in_sec: int | None = ...,
        allow_update: bool | None = ...,
        update_full_row: bool | None = ...,
    ) -> None: ...

class PartitionRange(Message):
    begin: bytes
    end: bytes
    def __init__(
        self,
        *,
        begin: bytes | None = ...,
        end: bytes | None = ...,
    ) -> None: ...

class StreamSpecification(Message):
    enable_stream: bool
    expiration_time: int
    @property
    def columns_to_get(self) -> RepeatedScalarFieldContainer[str]: ...
    def __init__(
        self,
        *,
        enable_stream: bool | None = ...,
        expiration_time: int | None = ...,
        columns_to_get: Iterable[str] | None = ...,
    ) -> None: ...

class StreamDetails(Message):
    enable_stream: bool
    stream_id: str | bytes
    expiration_time: int
    last_enable_time: int
    @property
    def columns_to_get(self) -> RepeatedScalarFieldContainer[str]: ...
    def __init__(
        self,
        *,
        enable_stream: bool | None = ...,
        stream_id: str | None = ...,
        expiration_time: int | None = ...,
        last_enable_time: int | None = ...,
        columns_to_get: Iterable[str] | None = ...,
    ) -> None: ...

class SSESpecification(Message):
    enable: bool
    key_type: int
    key_id: bytes
    role_arn: bytes
    def __init__(
        self,
        *,
        enable: bool | None = ...,
        key_type: int | None = ...,
        key_id: bytes | None = ...,
        role_arn: bytes | None = ...,
    ) -> None: ...

class SSEDetails(Message):
    enable: bool
    key_type: int
    key_id: bytes
    role_arn: bytes
    def __init__(
        self,
        *,
        enable: bool | None = ...,
        key_type: int | None = ...,
        key_id: bytes | None = ...,
        role_arn: bytes | None = ...,
    ) -> None: ...

class CreateTableRequest(Message):
    @property
    def table_meta(self) -> TableMeta: ...
    @property
    def reserved_throughput(self) -> ReservedThroughput: ...
    @property
    def table_options(self) -> TableOptions: ...
    @property
    def partitions(self) -> RepeatedCompositeFieldContainer[PartitionRange]: ...
    @property
    def stream_spec(self) -> StreamSpecification: ...
    @property
    def sse_spec(self) -> SSESpecification: ...
    @property
    def index_metas(self) -> RepeatedCompositeFieldContainer[IndexMeta]: ...
    enable_local_txn: bool
    def __init__(
        self,
        *,
        table_meta: TableMeta | None = ...,
        reserved_throughput: ReservedThroughput | None = ...,
        table_options: TableOptions | None = ...,
        partitions: Iterable[PartitionRange] | None = ...,
        stream_spec: StreamSpecification | None = ...,
        sse_spec: SSESpecification | None = ...,
        index_metas: Iterable[IndexMeta] | None = ...,
        enable_local_txn: bool | None = ...,
    ) -> None: ...

class CreateTableResponse(Message):
    def __init__(self) -> None: ...

class ListTableRequest(Message):
    def __init__(self) -> None: ...

class ListTableResponse(Message):
    @property
    def table_names(self) -> RepeatedScalarFieldContainer[str]: ...
    def __init__(
        self,
        *,
        table_names: Iterable[str] | None = ...,
    ) -> None: ...

class DescribeTableRequest(Message):
    table_name: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
    ) -> None: ...

class DescribeTableResponse(Message):
    @property
    def table_meta(self) -> TableMeta: ...
    @property
    def reserved_throughput_details(self) -> ReservedThroughputDetails: ...
    @property
    def table_options(self) -> TableOptions: ...
    table_status: int
    @property
    def stream_details(self) -> StreamDetails: ...
    @property
    def shard_splits(self) -> RepeatedScalarFieldContainer[bytes]: ...
    @property
    def sse_details(self) -> SSEDetails: ...
    @property
    def index_metas(self) -> RepeatedCompositeFieldContainer[IndexMeta]: ...
    creation_time: int
    def __init__(
        self,
        *,
        table_meta: TableMeta | None = ...,
        reserved_throughput_details: ReservedThroughputDetails | None = ...,
        table_options: TableOptions | None = ...,
        table_status: int | None = ...,
        stream_details: StreamDetails | None = ...,
        shard_splits: Iterable[bytes] | None = ...,
        sse_details: SSEDetails | None = ...,
        index_metas: Iterable[IndexMeta] | None = ...,
        creation_time: int | None = ...,
    ) -> None: ...

class ComputeSplitPointsBySizeRequest(Message):
    table_name: str | bytes
    split_size: int
    split_size_unit_in_byte: int
    split_point_limit: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        split_size: int | None = ...,
        split_size_unit_in_byte: int | None = ...,
        split_point_limit: int | None = ...,
    ) -> None: ...

class ComputeSplitPointsBySizeResponse(Message):
    class SplitLocation(Message):
        location: str | bytes
        repeat: int
        def __init__(
            self,
            *,
            location: str | None = ...,
            repeat: int | None = ...,
        ) -> None: ...

    @property
    def consumed(self) -> ConsumedCapacity: ...
    @property
    def schema(self) -> RepeatedCompositeFieldContainer[PrimaryKeySchema]: ...
    @property
    def split_points(self) -> RepeatedScalarFieldContainer[bytes]: ...
    @property
    def locations(self) -> RepeatedCompositeFieldContainer[SplitLocation]: ...
    def __init__(
        self,
        *,
        consumed: ConsumedCapacity | None = ...,
        schema: Iterable[PrimaryKeySchema] | None = ...,
        split_points: Iterable[bytes] | None = ...,
        locations: Iterable[SplitLocation] | None = ...,
    ) -> None: ...

class UpdateTableRequest(Message):
    table_name: str | bytes
    @property
    def reserved_throughput(self) -> ReservedThroughput: ...
    @property
    def table_options(self) -> TableOptions: ...
    @property
    def stream_spec(self) -> StreamSpecification: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        reserved_throughput: ReservedThroughput | None = ...,
        table_options: TableOptions | None = ...,
        stream_spec: StreamSpecification | None = ...,
    ) -> None: ...

class UpdateTableResponse(Message):
    @property
    def reserved_throughput_details(self) -> ReservedThroughputDetails: ...
    @property
    def table_options(self) -> TableOptions: ...
    @property
    def stream_details(self) -> StreamDetails: ...
    def __init__(
        self,
        *,
        reserved_throughput_details: ReservedThroughputDetails | None = ...,
        table_options: TableOptions | None = ...,
        stream_details: StreamDetails | None = ...,
    ) -> None: ...

class DeleteTableRequest(Message):
    table_name: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
    ) -> None: ...

class DeleteTableResponse(Message):
    def __init__(self) -> None: ...

class AddDefinedColumnRequest(Message):
    table_name: str | bytes
    @property
    def columns(self) -> RepeatedCompositeFieldContainer[DefinedColumnSchema]: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        columns: Iterable[DefinedColumnSchema] | None = ...,
    ) -> None: ...

class AddDefinedColumnResponse(Message):
    def __init__(self) -> None: ...

class DeleteDefinedColumnRequest(Message):
    table_name: str | bytes
    @property
    def columns(self) -> RepeatedScalarFieldContainer[str]: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        columns: Iterable[str] | None = ...,
    ) -> None: ...

class DeleteDefinedColumnResponse(Message):
    def __init__(self) -> None: ...

class Condition(Message):
    row_existence: int
    column_condition: bytes
    def __init__(
        self,
        *,
        row_existence: int | None = ...,
        column_condition: bytes | None = ...,
    ) -> None: ...

class ReturnContent(Message):
    return_type: int
    @property
    def return_column_names(self) -> RepeatedScalarFieldContainer[str]: ...
    def __init__(
        self,
        *,
        return_type: int | None = ...,
        return_column_names: Iterable[str] | None = ...,
    ) -> None: ...

class PutRowRequest(Message):
    table_name: str | bytes
    row: bytes
    @property
    def condition(self) -> Condition: ...
    @property
    def return_content(self) -> ReturnContent: ...
    transaction_id: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        row: bytes | None = ...,
        condition: Condition | None = ...,
        return_content: ReturnContent | None = ...,
        transaction_id: str | None = ...,
    ) -> None: ...

class PutRowResponse(Message):
    @property
    def consumed(self) -> ConsumedCapacity: ...
    row: bytes
    def __init__(
        self,
        *,
        consumed: ConsumedCapacity | None = ...,
        row: bytes | None = ...,
    ) -> None: ...

class UpdateRowRequest(Message):
    table_name: str | bytes
    row_change: bytes
    @property
    def condition(self) -> Condition: ...
    @property
    def return_content(self) -> ReturnContent: ...
    transaction_id: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        row_change: bytes | None = ...,
        condition: Condition | None = ...,
        return_content: ReturnContent | None = ...,
        transaction_id: str | None = ...,
    ) -> None: ...

class UpdateRowResponse(Message):
    @property
    def consumed(self) -> ConsumedCapacity: ...
    row: bytes
    def __init__(
        self,
        *,
        consumed: ConsumedCapacity | None = ...,
        row: bytes | None = ...,
    ) -> None: ...

class DeleteRowRequest(Message):
    table_name: str | bytes
    primary_key: bytes
    @property
    def condition(self) -> Condition: ...
    @property
    def return_content(self) -> ReturnContent: ...
    transaction_id: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        primary_key: bytes | None = ...,
        condition: Condition | None = ...,
        return_content: ReturnContent | None = ...,
        transaction_id: str | None = ...,
    ) -> None: ...

class DeleteRowResponse(Message):
    @property
    def consumed(self) -> ConsumedCapacity: ...
    row: bytes
    def __init__(
        self,
        *,
        consumed: ConsumedCapacity | None = ...,
        row: bytes | None = ...,
    ) -> None: ...

class RowInBatchWriteRowRequest(Message):
    type: int
    row_change: bytes
    @property
    def condition(self) -> Condition: ...
    @property
    def return_content(self) -> ReturnContent: ...
    def __init__(
        self,
        *,
        type: int | None = ...,
        row_change: bytes | None = ...,
        condition: Condition | None = ...,
        return_content: ReturnContent | None = ...,
    ) -> None: ...

class TableInBatchWriteRowRequest(Message):
    table_name: str | bytes
    @property
    def rows(self) -> RepeatedCompositeFieldContainer[RowInBatchWriteRowRequest]: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        rows: Iterable[RowInBatchWriteRowRequest] | None = ...,
    ) -> None: ...

class BatchWriteRowRequest(Message):
    @property
    def tables(self) -> RepeatedCompositeFieldContainer[TableInBatchWriteRowRequest]: ...
    transaction_id: str | bytes
    is_atomic: bool
    def __init__(
        self,
        *,
        tables: Iterable[TableInBatchWriteRowRequest] | None = ...,
        transaction_id: str | None = ...,
        is_atomic: bool | None = ...,
    ) -> None: ...

class RowInBatchWriteRowResponse(Message):
    is_ok: bool
    @property
    def error(self) -> Error: ...
    @property
    def consumed(self) -> ConsumedCapacity: ...
    row: bytes
    def __init__(
        self,
        *,
        is_ok: bool | None = ...,
        error: Error | None = ...,
        consumed: ConsumedCapacity | None = ...,
        row: bytes | None = ...,
    ) -> None: ...

class TableInBatchWriteRowResponse(Message):
    table_name: str | bytes
    @property
    def rows(self) -> RepeatedCompositeFieldContainer[RowInBatchWriteRowResponse]: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        rows: Iterable[RowInBatchWriteRowResponse] | None = ...,
    ) -> None: ...

class BatchWriteRowResponse(Message):
    @property
    def tables(self) -> RepeatedCompositeFieldContainer[TableInBatchWriteRowResponse]: ...
    def __init__(
        self,
        *,
        tables: Iterable[TableInBatchWriteRowResponse] | None = ...,
    ) -> None: ...

class TimeRange(Message):
    start_time: int
    end_time: int
    specific_time: int
    def __init__(
        self,
        *,
        start_time: int | None = ...,
        end_time: int | None = ...,
        specific_time: int | None = ...,
    ) -> None: ...

class GetRowRequest(Message):
    table_name: str | bytes
    primary_key: bytes
    @property
    def columns_to_get(self) -> RepeatedScalarFieldContainer[str]: ...
    @property
    def time_range(self) -> TimeRange: ...
    max_versions: int
    cache_blocks: bool
    filter: bytes
    start_column: str | bytes
    end_column: str | bytes
    token: bytes
    transaction_id: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        primary_key: bytes | None = ...,
        columns_to_get: Iterable[str] | None = ...,
        time_range: TimeRange | None = ...,
        max_versions: int | None = ...,
        cache_blocks: bool | None = ...,
        filter: bytes | None = ...,
        start_column: str | None = ...,
        end_column: str | None = ...,
        token: bytes | None = ...,
        transaction_id: str | None = ...,
    ) -> None: ...

class GetRowResponse(Message):
    @property
    def consumed(self) -> ConsumedCapacity: ...
    row: bytes
    next_token: bytes
    def __init__(
        self,
        *,
        consumed: ConsumedCapacity | None = ...,
        row: bytes | None = ...,
        next_token: bytes | None = ...,
    ) -> None: ...

class TableInBatchGetRowRequest(Message):
    table_name: str | bytes
    @property
    def primary_key(self) -> RepeatedScalarFieldContainer[bytes]: ...
    @property
    def token(self) -> RepeatedScalarFieldContainer[bytes]: ...
    @property
    def columns_to_get(self) -> RepeatedScalarFieldContainer[str]: ...
    @property
    def time_range(self) -> TimeRange: ...
    max_versions: int
    cache_blocks: bool
    filter: bytes
    start_column: str | bytes
    end_column: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        primary_key: Iterable[bytes] | None = ...,
        token: Iterable[bytes] | None = ...,
        columns_to_get: Iterable[str] | None = ...,
        time_range: TimeRange | None = ...,
        max_versions: int | None = ...,
        cache_blocks: bool | None = ...,
        filter: bytes | None = ...,
        start_column: str | None = ...,
        end_column: str | None = ...,
    ) -> None: ...

class BatchGetRowRequest(Message):
    @property
    def tables(self) -> RepeatedCompositeFieldContainer[TableInBatchGetRowRequest]: ...
    def __init__(
        self,
        *,
        tables: Iterable[TableInBatchGetRowRequest] | None = ...,
    ) -> None: ...

class RowInBatchGetRowResponse(Message):
    is_ok: bool
    @property
    def error(self) -> Error: ...
    @property
    def consumed(self) -> ConsumedCapacity: ...
    row: bytes
    next_token: bytes
    def __init__(
        self,
        *,
        is_ok: bool | None = ...,
        error: Error | None = ...,
        consumed: ConsumedCapacity | None = ...,
        row: bytes | None = ...,
        next_token: bytes | None = ...,
    ) -> None: ...

class TableInBatchGetRowResponse(Message):
    table_name: str | bytes
    @property
    def rows(self) -> RepeatedCompositeFieldContainer[RowInBatchGetRowResponse]: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        rows: Iterable[RowInBatchGetRowResponse] | None = ...,
    ) -> None: ...

class BatchGetRowResponse(Message):
    @property
    def tables(self) -> RepeatedCompositeFieldContainer[TableInBatchGetRowResponse]: ...
    def __init__(
        self,
        *,
        tables: Iterable[TableInBatchGetRowResponse] | None = ...,
    ) -> None: ...

class GetRangeRequest(Message):
    table_name: str | bytes
    direction: int
    @property
    def columns_to_get(self) -> RepeatedScalarFieldContainer[str]: ...
    @property
    def time_range(self) -> TimeRange: ...
    max_versions: int
    limit: int
    inclusive_start_primary_key: bytes
    exclusive_end_primary_key: bytes
    cache_blocks: bool
    filter: bytes
    start_column: str | bytes
    end_column: str | bytes
    token: bytes
    transaction_id: str | bytes
    data_block_type_hint: int
    return_entire_primary_keys: bool
    compress_type_hint: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        direction: int | None = ...,
        columns_to_get: Iterable[str] | None = ...,
        time_range: TimeRange | None = ...,
        max_versions: int | None = ...,
        limit: int | None = ...,
        inclusive_start_primary_key: bytes | None = ...,
        exclusive_end_primary_key: bytes | None = ...,
        cache_blocks: bool | None = ...,
        filter: bytes | None = ...,
        start_column: str | None = ...,
        end_column: str | None = ...,
        token: bytes | None = ...,
        transaction_id: str | None = ...,
        data_block_type_hint: int | None = ...,
        return_entire_primary_keys: bool | None = ...,
        compress_type_hint: int | None = ...,
    ) -> None: ...

class GetRangeResponse(Message):
    @property
    def consumed(self) -> ConsumedCapacity: ...
    rows: bytes
    next_start_primary_key: bytes
    next_token: bytes
    data_block_type: int
    compress_type: int
    def __init__(
        self,
        *,
        consumed: ConsumedCapacity | None = ...,
        rows: bytes | None = ...,
        next_start_primary_key: bytes | None = ...,
        next_token: bytes | None = ...,
        data_block_type: int | None = ...,
        compress_type: int | None = ...,
    ) -> None: ...

class CreateIndexRequest(Message):
    main_table_name: str | bytes
    @property
    def index_meta(self) -> IndexMeta: ...
    include_base_data: bool
    def __init__(
        self,
        *,
        main_table_name: str | None = ...,
        index_meta: IndexMeta | None = ...,
        include_base_data: bool | None = ...,
    ) -> None: ...

class CreateIndexResponse(Message):
    def __init__(self) -> None: ...

class DropIndexRequest(Message):
    main_table_name: str | bytes
    index_name: str | bytes
    def __init__(
        self,
        *,
        main_table_name: str | None = ...,
        index_name: str | None = ...,
    ) -> None: ...

class DropIndexResponse(Message):
    def __init__(self) -> None: ...

class StartLocalTransactionRequest(Message):
    table_name: str | bytes
    key: bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        key: bytes | None = ...,
    ) -> None: ...

class StartLocalTransactionResponse(Message):
    transaction_id: str | bytes
    @property
    def consumed(self) -> ConsumedCapacity: ...
    def __init__(
        self,
        *,
        transaction_id: str | None = ...,
        consumed: ConsumedCapacity | None = ...,
    ) -> None: ...

class CommitTransactionRequest(Message):
    transaction_id: str | bytes
    def __init__(
        self,
        *,
        transaction_id: str | None = ...,
    ) -> None: ...

class CommitTransactionResponse(Message):
    @property
    def consumed(self) -> ConsumedCapacity: ...
    def __init__(
        self,
        *,
        consumed: ConsumedCapacity | None = ...,
    ) -> None: ...

class AbortTransactionRequest(Message):
    transaction_id: str | bytes
    def __init__(
        self,
        *,
        transaction_id: str | None = ...,
    ) -> None: ...

class AbortTransactionResponse(Message):
    @property
    def consumed(self) -> ConsumedCapacity: ...
    def __init__(
        self,
        *,
        consumed: ConsumedCapacity | None = ...,
    ) -> None: ...

class ListStreamRequest(Message):
    table_name: str | bytes
    def __init__(
        self,
        *,
        table_name: str | None = ...,
    ) -> None: ...

class Stream(Message):
    stream_id: str | bytes
    table_name: str | bytes
    creation_time: int
    def __init__(
        self,
        *,
        stream_id: str | None = ...,
        table_name: str | None = ...,
        creation_time: int | None = ...,
    ) -> None: ...

class ListStreamResponse(Message):
    @property
    def streams(self) -> RepeatedCompositeFieldContainer[Stream]: ...
    def __init__(
        self,
        *,
        streams: Iterable[Stream] | None = ...,
    ) -> None: ...

class StreamShard(Message):
    shard_id: str | bytes
    parent_id: str | bytes
    parent_sibling_id: str | bytes
    def __init__(
        self,
        *,
        shard_id: str | None = ...,
        parent_id: str | None = ...,
        parent_sibling_id: str | None = ...,
    ) -> None: ...

class DescribeStreamRequest(Message):
    stream_id: str | bytes
    inclusive_start_shard_id: str | bytes
    shard_limit: int
    support_timeseries_data_table: bool
    def __init__(
        self,
        *,
        stream_id: str | None = ...,
        inclusive_start_shard_id: str | None = ...,
        shard_limit: int | None = ...,
        support_timeseries_data_table: bool | None = ...,
    ) -> None: ...

class DescribeStreamResponse(Message):
    stream_id: str | bytes
    expiration_time: int
    table_name: str | bytes
    creation_time: int
    stream_status: int
    @property
    def shards(self) -> RepeatedCompositeFieldContainer[StreamShard]: ...
    next_shard_id: str | bytes
    is_timeseries_data_table: bool
    def __init__(
        self,
        *,
        stream_id: str | None = ...,
        expiration_time: int | None = ...,
        table_name: str | None = ...,
        creation_time: int | None = ...,
        stream_status: int | None = ...,
        shards: Iterable[StreamShard] | None = ...,
        next_shard_id: str | None = ...,
        is_timeseries_data_table: bool | None = ...,
    ) -> None: ...

class GetShardIteratorRequest(Message):
    stream_id: str | bytes
    shard_id: str | bytes
    timestamp: int
    token: str | bytes
    def __init__(
        self,
        *,
        stream_id: str | None = ...,
        shard_id: str | None = ...,
        timestamp: int | None = ...,
        token: str | None = ...,
    ) -> None: ...

class GetShardIteratorResponse(Message):
    shard_iterator: str | bytes
    next_token: str | bytes
    def __init__(
        self,
        *,
        shard_iterator: str | None = ...,
        next_token: str | None = ...,
    ) -> None: ...

class GetStreamRecordRequest(Message):
    shard_iterator: str | bytes
    limit: int
    table_name: str | bytes
    def __init__(
        self,
        *,
        shard_iterator: str | None = ...,
        limit: int | None = ...,
        table_name: str | None = ...,
    ) -> None: ...

class GetStreamRecordResponse(Message):
    class StreamRecord(Message):
        action_type: int
        record: bytes
        origin_record: bytes
        def __init__(
            self,
            *,
            action_type: int | None = ...,
            record: bytes | None = ...,
            origin_record: bytes | None = ...,
        ) -> None: ...

    @property
    def stream_records(self) -> RepeatedCompositeFieldContainer[StreamRecord]: ...
    next_shard_iterator: str | bytes
    @property
    def consumed(self) -> ConsumedCapacity: ...
    may_more_record: bool
    def __init__(
        self,
        *,
        stream_records: Iterable[StreamRecord] | None = ...,
        next_shard_iterator: str | None = ...,
        consumed: ConsumedCapacity | None = ...,
        may_more_record: bool | None = ...,
    ) -> None: ...

class RowInBulkImportRequest(Message):
    type: int
    row_change: bytes
    def __init__(
        self,
        *,
        type: int | None = ...,
        row_change: bytes | None = ...,
    ) -> None: ...

class BulkImportRequest(Message):
    table_name: str | bytes
    @property
    def rows(self) -> RepeatedCompositeFieldContainer[RowInBulkImportRequest]: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        rows: Iterable[RowInBulkImportRequest] | None = ...,
    ) -> None: ...

class RowInBulkImportResponse(Message):
    is_ok: bool
    @property
    def error(self) -> Error: ...
    @property
    def consumed(self) -> ConsumedCapacity: ...
    def __init__(
        self,
        *,
        is_ok: bool | None = ...,
        error: Error | None = ...,
        consumed: ConsumedCapacity | None = ...,
    ) -> None: ...

class BulkImportResponse(Message):
    table_name: str | bytes
    @property
    def rows(self) -> RepeatedCompositeFieldContainer[RowInBulkImportResponse]: ...
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        rows: Iterable[RowInBulkImportResponse] | None = ...,
    ) -> None: ...

class BulkExportRequest(Message):
    table_name: str | bytes
    @property
    def columns_to_get(self) -> RepeatedScalarFieldContainer[str]: ...
    inclusive_start_primary_key: bytes
    exclusive_end_primary_key: bytes
    filter: bytes
    data_block_type_hint: int
    def __init__(
        self,
        *,
        table_name: str | None = ...,
        columns_to_get: Iterable[str] | None = ...,
        inclusive_start_primary_key: bytes | None = ...,
        exclusive_end_primary_key: bytes | None = ...,
        filter: bytes | None = ...,
        data_block_type_hint: int | None = ...,
    ) -> None: ...

class BulkExportResponse(Message):
    @property
    def consumed(self) -> ConsumedCapacity: ...
    rows: bytes
    next_start_primary_key: bytes
    data_block_type: int
    def __init__(
        self,
        *,
        consumed: ConsumedCapacity | None = ...,
        rows: bytes | None = ...,
        next_start_primary_key: bytes | None = ...,
        data_block_type: int | None = ...,
    ) -> None: ...
