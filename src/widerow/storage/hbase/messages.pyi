# Made by tools/gen_messages.py from the .proto files beside it; do not edit.
# ruff: noqa: A002  # arguments are named as the fields are

from collections.abc import Iterable

from google.protobuf.internal.containers import (
    RepeatedCompositeFieldContainer,
    RepeatedScalarFieldContainer,
)
from google.protobuf.message import Message

class UserInformation(Message):
    effective_user: str | bytes
    def __init__(
        self,
        *,
        effective_user: str | None = ...,
    ) -> None: ...

class ConnectionHeader(Message):
    @property
    def user_info(self) -> UserInformation: ...
    service_name: str | bytes
    def __init__(
        self,
        *,
        user_info: UserInformation | None = ...,
        service_name: str | None = ...,
    ) -> None: ...

class RequestHeader(Message):
    call_id: int
    method_name: str | bytes
    request_param: bool
    timeout: int
    def __init__(
        self,
        *,
        call_id: int | None = ...,
        method_name: str | None = ...,
        request_param: bool | None = ...,
        timeout: int | None = ...,
    ) -> None: ...

class ExceptionResponse(Message):
    exception_class_name: str | bytes
    stack_trace: str | bytes
    def __init__(
        self,
        *,
        exception_class_name: str | None = ...,
        stack_trace: str | None = ...,
    ) -> None: ...

class ResponseHeader(Message):
    call_id: int
    @property
    def exception(self) -> ExceptionResponse: ...
    def __init__(
        self,
        *,
        call_id: int | None = ...,
        exception: ExceptionResponse | None = ...,
    ) -> None: ...

class ServerName(Message):
    host_name: str | bytes
    port: int
    def __init__(
        self,
        *,
        host_name: str | None = ...,
        port: int | None = ...,
    ) -> None: ...

class RegionSpecifier(Message):
    type: int
    value: bytes
    def __init__(
        self,
        *,
        type: int | None = ...,
        value: bytes | None = ...,
    ) -> None: ...

class TableName(Message):
    namespace: bytes
    qualifier: bytes
    def __init__(
        self,
        *,
        namespace: bytes | None = ...,
        qualifier: bytes | None = ...,
    ) -> None: ...

class RegionInfo(Message):
    region_id: int
    @property
    def table_name(self) -> TableName: ...
    start_key: bytes
    end_key: bytes
    offline: bool
    split: bool
    def __init__(
        self,
        *,
        region_id: int | None = ...,
        table_name: TableName | None = ...,
        start_key: bytes | None = ...,
        end_key: bytes | None = ...,
        offline: bool | None = ...,
        split: bool | None = ...,
    ) -> None: ...

class RegionLocation(Message):
    @property
    def server_name(self) -> ServerName: ...
    def __init__(
        self,
        *,
        server_name: ServerName | None = ...,
    ) -> None: ...

class GetMetaRegionLocationsRequest(Message):
    def __init__(self) -> None: ...

class GetMetaRegionLocationsResponse(Message):
    @property
    def meta_locations(self) -> RepeatedCompositeFieldContainer[RegionLocation]: ...
    def __init__(
        self,
        *,
        meta_locations: Iterable[RegionLocation] | None = ...,
    ) -> None: ...

class GetActiveMasterRequest(Message):
    def __init__(self) -> None: ...

class GetActiveMasterResponse(Message):
    @property
    def server_name(self) -> ServerName: ...
    def __init__(
        self,
        *,
        server_name: ServerName | None = ...,
    ) -> None: ...

class BytesBytesPair(Message):
    first: bytes
    second: bytes
    def __init__(
        self,
        *,
        first: bytes | None = ...,
        second: bytes | None = ...,
    ) -> None: ...

class ColumnFamilySchema(Message):
    name: bytes
    @property
    def attributes(self) -> RepeatedCompositeFieldContainer[BytesBytesPair]: ...
    def __init__(
        self,
        *,
        name: bytes | None = ...,
        attributes: Iterable[BytesBytesPair] | None = ...,
    ) -> None: ...

class TableSchema(Message):
    @property
    def table_name(self) -> TableName: ...
    @property
    def attributes(self) -> RepeatedCompositeFieldContainer[BytesBytesPair]: ...
    @property
    def column_families(self) -> RepeatedCompositeFieldContainer[ColumnFamilySchema]: ...
    def __init__(
        self,
        *,
        table_name: TableName | None = ...,
        attributes: Iterable[BytesBytesPair] | None = ...,
        column_families: Iterable[ColumnFamilySchema] | None = ...,
    ) -> None: ...

class CreateTableRequest(Message):
    @property
    def table_schema(self) -> TableSchema: ...
    @property
    def split_keys(self) -> RepeatedScalarFieldContainer[bytes]: ...
    def __init__(
        self,
        *,
        table_schema: TableSchema | None = ...,
        split_keys: Iterable[bytes] | None = ...,
    ) -> None: ...

class CreateTableResponse(Message):
    proc_id: int
    def __init__(
        self,
        *,
        proc_id: int | None = ...,
    ) -> None: ...

class GetTableDescriptorsRequest(Message):
    @property
    def table_names(self) -> RepeatedCompositeFieldContainer[TableName]: ...
    def __init__(
        self,
        *,
        table_names: Iterable[TableName] | None = ...,
    ) -> None: ...

class GetTableDescriptorsResponse(Message):
    @property
    def table_schema(self) -> RepeatedCompositeFieldContainer[TableSchema]: ...
    def __init__(
        self,
        *,
        table_schema: Iterable[TableSchema] | None = ...,
    ) -> None: ...

class GetProcedureResultRequest(Message):
    proc_id: int
    def __init__(
        self,
        *,
        proc_id: int | None = ...,
    ) -> None: ...

class GenericExceptionMessage(Message):
    class_name: str | bytes
    message: str | bytes
    def __init__(
        self,
        *,
        class_name: str | None = ...,
        message: str | None = ...,
    ) -> None: ...

class ForeignExceptionMessage(Message):
    @property
    def generic_exception(self) -> GenericExceptionMessage: ...
    def __init__(
        self,
        *,
        generic_exception: GenericExceptionMessage | None = ...,
    ) -> None: ...

class GetProcedureResultResponse(Message):
    state: int
    @property
    def exception(self) -> ForeignExceptionMessage: ...
    def __init__(
        self,
        *,
        state: int | None = ...,
        exception: ForeignExceptionMessage | None = ...,
    ) -> None: ...

class SplitTableRegionRequest(Message):
    @property
    def region_info(self) -> RegionInfo: ...
    split_row: bytes
    def __init__(
        self,
        *,
        region_info: RegionInfo | None = ...,
        split_row: bytes | None = ...,
    ) -> None: ...

class SplitTableRegionResponse(Message):
    proc_id: int
    def __init__(
        self,
        *,
        proc_id: int | None = ...,
    ) -> None: ...

class MergeTableRegionsRequest(Message):
    @property
    def region(self) -> RepeatedCompositeFieldContainer[RegionSpecifier]: ...
    def __init__(
        self,
        *,
        region: Iterable[RegionSpecifier] | None = ...,
    ) -> None: ...

class MergeTableRegionsResponse(Message):
    proc_id: int
    def __init__(
        self,
        *,
        proc_id: int | None = ...,
    ) -> None: ...

class Column(Message):
    family: bytes
    @property
    def qualifier(self) -> RepeatedScalarFieldContainer[bytes]: ...
    def __init__(
        self,
        *,
        family: bytes | None = ...,
        qualifier: Iterable[bytes] | None = ...,
    ) -> None: ...

class Filter(Message):
    name: str | bytes
    serialized_filter: bytes
    def __init__(
        self,
        *,
        name: str | None = ...,
        serialized_filter: bytes | None = ...,
    ) -> None: ...

class RowRange(Message):
    start_row: bytes
    start_row_inclusive: bool
    stop_row: bytes
    stop_row_inclusive: bool
    def __init__(
        self,
        *,
        start_row: bytes | None = ...,
        start_row_inclusive: bool | None = ...,
        stop_row: bytes | None = ...,
        stop_row_inclusive: bool | None = ...,
    ) -> None: ...

class MultiRowRangeFilter(Message):
    @property
    def row_range_list(self) -> RepeatedCompositeFieldContainer[RowRange]: ...
    def __init__(
        self,
        *,
        row_range_list: Iterable[RowRange] | None = ...,
    ) -> None: ...

class KeyOnlyFilter(Message):
    len_as_val: bool
    def __init__(
        self,
        *,
        len_as_val: bool | None = ...,
    ) -> None: ...

class Scan(Message):
    @property
    def column(self) -> RepeatedCompositeFieldContainer[Column]: ...
    start_row: bytes
    stop_row: bytes
    @property
    def filter(self) -> Filter: ...
    max_result_size: int
    reversed: bool
    mvcc_read_point: int
    include_start_row: bool
    include_stop_row: bool
    def __init__(
        self,
        *,
        column: Iterable[Column] | None = ...,
        start_row: bytes | None = ...,
        stop_row: bytes | None = ...,
        filter: Filter | None = ...,
        max_result_size: int | None = ...,
        reversed: bool | None = ...,
        mvcc_read_point: int | None = ...,
        include_start_row: bool | None = ...,
        include_stop_row: bool | None = ...,
    ) -> None: ...

class ScanRequest(Message):
    @property
    def region(self) -> RegionSpecifier: ...
    @property
    def scan(self) -> Scan: ...
    scanner_id: int
    number_of_rows: int
    close_scanner: bool
    client_handles_heartbeats: bool
    renew: bool
    limit_of_rows: int
    def __init__(
        self,
        *,
        region: RegionSpecifier | None = ...,
        scan: Scan | None = ...,
        scanner_id: int | None = ...,
        number_of_rows: int | None = ...,
        close_scanner: bool | None = ...,
        client_handles_heartbeats: bool | None = ...,
        renew: bool | None = ...,
        limit_of_rows: int | None = ...,
    ) -> None: ...

class Cell(Message):
    row: bytes
    qualifier: bytes
    timestamp: int
    value: bytes
    def __init__(
        self,
        *,
        row: bytes | None = ...,
        qualifier: bytes | None = ...,
        timestamp: int | None = ...,
        value: bytes | None = ...,
    ) -> None: ...

class Result(Message):
    @property
    def cell(self) -> RepeatedCompositeFieldContainer[Cell]: ...
    def __init__(
        self,
        *,
        cell: Iterable[Cell] | None = ...,
    ) -> None: ...

class ScanResponse(Message):
    scanner_id: int
    @property
    def results(self) -> RepeatedCompositeFieldContainer[Result]: ...
    more_results_in_region: bool
    mvcc_read_point: int
    def __init__(
        self,
        *,
        scanner_id: int | None = ...,
        results: Iterable[Result] | None = ...,
        more_results_in_region: bool | None = ...,
        mvcc_read_point: int | None = ...,
    ) -> None: ...

class ScanCells(Message):
    scanner_id: int
    @property
    def results(self) -> RepeatedScalarFieldContainer[bytes]: ...
    more_results_in_region: bool
    def __init__(
        self,
        *,
        scanner_id: int | None = ...,
        results: Iterable[bytes] | None = ...,
        more_results_in_region: bool | None = ...,
    ) -> None: ...

class Comparator(Message):
    name: str | bytes
    serialized_comparator: bytes
    def __init__(
        self,
        *,
        name: str | None = ...,
        serialized_comparator: bytes | None = ...,
    ) -> None: ...

class ByteArrayComparable(Message):
    value: bytes
    def __init__(
        self,
        *,
        value: bytes | None = ...,
    ) -> None: ...

class BinaryComparator(Message):
    @property
    def comparable(self) -> ByteArrayComparable: ...
    def __init__(
        self,
        *,
        comparable: ByteArrayComparable | None = ...,
    ) -> None: ...

class Condition(Message):
    row: bytes
    family: bytes
    qualifier: bytes
    compare_type: int
    @property
    def comparator(self) -> Comparator: ...
    def __init__(
        self,
        *,
        row: bytes | None = ...,
        family: bytes | None = ...,
        qualifier: bytes | None = ...,
        compare_type: int | None = ...,
        comparator: Comparator | None = ...,
    ) -> None: ...

class QualifierValue(Message):
    qualifier: bytes
    value: bytes
    timestamp: int
    delete_type: int
    def __init__(
        self,
        *,
        qualifier: bytes | None = ...,
        value: bytes | None = ...,
        timestamp: int | None = ...,
        delete_type: int | None = ...,
    ) -> None: ...

class ColumnValue(Message):
    family: bytes
    @property
    def qualifier_value(self) -> RepeatedCompositeFieldContainer[QualifierValue]: ...
    def __init__(
        self,
        *,
        family: bytes | None = ...,
        qualifier_value: Iterable[QualifierValue] | None = ...,
    ) -> None: ...

class MutationProto(Message):
    row: bytes
    mutate_type: int
    @property
    def column_value(self) -> RepeatedCompositeFieldContainer[ColumnValue]: ...
    durability: int
    def __init__(
        self,
        *,
        row: bytes | None = ...,
        mutate_type: int | None = ...,
        column_value: Iterable[ColumnValue] | None = ...,
        durability: int | None = ...,
    ) -> None: ...

class MutateRequest(Message):
    @property
    def region(self) -> RegionSpecifier: ...
    @property
    def mutation(self) -> MutationProto: ...
    @property
    def condition(self) -> Condition: ...
    def __init__(
        self,
        *,
        region: RegionSpecifier | None = ...,
        mutation: MutationProto | None = ...,
        condition: Condition | None = ...,
    ) -> None: ...

class MutateRowsRequest(Message):
    @property
    def mutation_request(self) -> RepeatedCompositeFieldContainer[MutationProto]: ...
    @property
    def condition(self) -> RepeatedCompositeFieldContainer[Condition]: ...
    def __init__(
        self,
        *,
        mutation_request: Iterable[MutationProto] | None = ...,
        condition: Iterable[Condition] | None = ...,
    ) -> None: ...

class MutateRowsResponse(Message):
    processed: bool
    def __init__(
        self,
        *,
        processed: bool | None = ...,
    ) -> None: ...

class CoprocessorServiceCall(Message):
    row: bytes
    service_name: str | bytes
    method_name: str | bytes
    request: bytes
    def __init__(
        self,
        *,
        row: bytes | None = ...,
        service_name: str | None = ...,
        method_name: str | None = ...,
        request: bytes | None = ...,
    ) -> None: ...

class CoprocessorServiceRequest(Message):
    @property
    def region(self) -> RegionSpecifier: ...
    @property
    def call(self) -> CoprocessorServiceCall: ...
    def __init__(
        self,
        *,
        region: RegionSpecifier | None = ...,
        call: CoprocessorServiceCall | None = ...,
    ) -> None: ...

class NameBytesPair(Message):
    name: str | bytes
    value: bytes
    def __init__(
        self,
        *,
        name: str | None = ...,
        value: bytes | None = ...,
    ) -> None: ...

class CoprocessorServiceResponse(Message):
    @property
    def value(self) -> NameBytesPair: ...
    def __init__(
        self,
        *,
        value: NameBytesPair | None = ...,
    ) -> None: ...
