# Made by tools/gen_messages.py from the .proto files beside it; do not edit.
# ruff: noqa: N802, N803, N815  # fields have the protocol's names
# ruff: noqa: A002  # arguments are named as the fields are

from collections.abc import Iterable

from google.protobuf.internal.containers import (
    RepeatedCompositeFieldContainer,
)
from google.protobuf.message import Message

class EventColumn(Message):
    columnName: str | bytes
    timeFormat: int
    def __init__(
        self,
        *,
        columnName: str | None = ...,
        timeFormat: int | None = ...,
    ) -> None: ...

class ParquetSchema(Message):
    columnName: str | bytes
    ossColumnName: str | bytes
    type: int
    encode: int
    def __init__(
        self,
        *,
        columnName: str | None = ...,
        ossColumnName: str | None = ...,
        type: int | None = ...,
        encode: int | None = ...,
    ) -> None: ...

class OSSTaskConfig(Message):
    ossPrefix: str | bytes
    formatter: int
    ossDirtyPrefix: str | bytes
    ossBucket: str | bytes
    ossEndpoint: str | bytes
    ossStsRole: str | bytes
    @property
    def eventTimeColumn(self) -> EventColumn: ...
    format: int
    @property
    def schema(self) -> RepeatedCompositeFieldContainer[ParquetSchema]: ...
    def __init__(
        self,
        *,
        ossPrefix: str | None = ...,
        formatter: int | None = ...,
        ossDirtyPrefix: str | None = ...,
        ossBucket: str | None = ...,
        ossEndpoint: str | None = ...,
        ossStsRole: str | None = ...,
        eventTimeColumn: EventColumn | None = ...,
        format: int | None = ...,
        schema: Iterable[ParquetSchema] | None = ...,
    ) -> None: ...

class CreateDeliveryTaskRequest(Message):
    tableName: str | bytes
    taskName: str | bytes
    @property
    def taskConfig(self) -> OSSTaskConfig: ...
    taskType: int
    def __init__(
        self,
        *,
        tableName: str | None = ...,
        taskName: str | None = ...,
        taskConfig: OSSTaskConfig | None = ...,
        taskType: int | None = ...,
    ) -> None: ...

class CreateDeliveryTaskResponse(Message):
    def __init__(self) -> None: ...

class DeleteDeliveryTaskRequest(Message):
    tableName: str | bytes
    taskName: str | bytes
    def __init__(
        self,
        *,
        tableName: str | None = ...,
        taskName: str | None = ...,
    ) -> None: ...

class DeleteDeliveryTaskResponse(Message):
    def __init__(self) -> None: ...

class DescribeDeliveryTaskRequest(Message):
    tableName: str | bytes
    taskName: str | bytes
    def __init__(
        self,
        *,
        tableName: str | None = ...,
        taskName: str | None = ...,
    ) -> None: ...

class TaskSyncStat(Message):
    task_sync_phase: int
    current_sync_timestamp: int
    error_code: int
    detail: str | bytes
    def __init__(
        self,
        *,
        task_sync_phase: int | None = ...,
        current_sync_timestamp: int | None = ...,
        error_code: int | None = ...,
        detail: str | None = ...,
    ) -> None: ...

class DescribeDeliveryTaskResponse(Message):
    @property
    def taskConfig(self) -> OSSTaskConfig: ...
    @property
    def task_sync_stat(self) -> TaskSyncStat: ...
    taskType: int
    def __init__(
        self,
        *,
        taskConfig: OSSTaskConfig | None = ...,
        task_sync_stat: TaskSyncStat | None = ...,
        taskType: int | None = ...,
    ) -> None: ...

class ListDeliveryTaskRequest(Message):
    tableName: str | bytes
    def __init__(
        self,
        *,
        tableName: str | None = ...,
    ) -> None: ...

class DeliveryTaskInfo(Message):
    tableName: str | bytes
    taskName: str | bytes
    taskType: int
    def __init__(
        self,
        *,
        tableName: str | None = ...,
        taskName: str | None = ...,
        taskType: int | None = ...,
    ) -> None: ...

class ListDeliveryTaskResponse(Message):
    @property
    def tasks(self) -> RepeatedCompositeFieldContainer[DeliveryTaskInfo]: ...
    def __init__(
        self,
        *,
        tasks: Iterable[DeliveryTaskInfo] | None = ...,
    ) -> None: ...
