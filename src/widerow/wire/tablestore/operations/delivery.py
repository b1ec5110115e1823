"""Delivery tasks: files of a table's rows and changes (change §D3).

Imported with the first request for one of these actions.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.tablestore.delivery.service import DeliveryShown, FoundTask
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest
from widerow.model.tablestore.delivery import (
    CreateDelivery,
    DeliveryColumn,
    DeliveryConfig,
    DeliveryType,
    EventColumn,
    EventTimeFormat,
    ParquetType,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore import delivery_messages as m
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.beside import check_delivered
from widerow.wire.tablestore.operations.bodies import decoder, text

__all__ = ["DELIVERY_ACTIONS", "TaskName"]

_TASK_TYPES: Final = {kind.value: kind for kind in DeliveryType}
_TYPES: Final = {kind.value: kind for kind in ParquetType}
_TIMES: Final = {form.value: form for form in EventTimeFormat}


class TaskName(NamedTuple):
    """How a client names a task."""

    table: str
    name: str


@decoder(m.CreateDeliveryTaskRequest)
def _create(sent: m.CreateDeliveryTaskRequest) -> CreateDelivery:
    """BASE_INC where no type is named."""
    kind = (
        DeliveryType.BASE_INC if not sent.HasField("taskType") else _TASK_TYPES.get(sent.taskType)
    )
    if kind is None:
        raise InvalidRequest(TablestoreRule.DELIVERY_TYPE, value=sent.taskType)
    return CreateDelivery(
        text(sent.tableName), text(sent.taskName), kind, _read_config(sent.taskConfig)
    )


def _task_name(sent: m.DescribeDeliveryTaskRequest | m.DeleteDeliveryTaskRequest) -> TaskName:
    """The task of a request. Raises `InvalidRequest`."""
    return TaskName(text(sent.tableName), text(sent.taskName))


def _read_config(sent: m.OSSTaskConfig) -> DeliveryConfig:
    """The configuration that was sent. Raises `InvalidRequest`."""
    for field in ("format", "formatter"):
        if getattr(sent, field):
            raise InvalidRequest(
                TablestoreRule.DELIVERY_FORMAT, field=field, value=getattr(sent, field)
            )
    return DeliveryConfig(
        bucket=text(sent.ossBucket),
        columns=tuple([_column(each) for each in sent.schema]),
        prefix=text(sent.ossPrefix),
        dirty_prefix=text(sent.ossDirtyPrefix),
        endpoint=text(sent.ossEndpoint),
        role=text(sent.ossStsRole),
        event_column=_event(sent.eventTimeColumn) if sent.HasField("eventTimeColumn") else None,
    )


def _column(sent: m.ParquetSchema) -> DeliveryColumn:
    name = text(sent.columnName)
    kind = _TYPES.get(sent.type) if sent.HasField("type") else None
    if kind is None:
        shown = sent.type if sent.HasField("type") else "none"
        raise InvalidRequest(TablestoreRule.DELIVERY_COLUMN_TYPE, name=name, value=shown)
    encoding = sent.encode if sent.HasField("encode") else None
    return DeliveryColumn(name, text(sent.ossColumnName), kind, encoding)


def _event(sent: m.EventColumn) -> EventColumn:
    form = _TIMES.get(sent.timeFormat)
    if form is None:
        raise InvalidRequest(TablestoreRule.DELIVERY_EVENT_TIME)
    return EventColumn(text(sent.columnName), form)


def _show_config(config: DeliveryConfig) -> m.OSSTaskConfig:
    """The configuration as it was sent; what may be left out was, where it is empty."""
    event = config.event_column
    return m.OSSTaskConfig(
        ossPrefix=config.prefix,
        formatter=0,
        ossDirtyPrefix=config.dirty_prefix or None,
        ossBucket=config.bucket,
        ossEndpoint=config.endpoint,
        ossStsRole=config.role,
        eventTimeColumn=None
        if event is None
        else m.EventColumn(columnName=event.name, timeFormat=event.format.value),
        format=0,
        schema=[
            m.ParquetSchema(
                columnName=each.name,
                ossColumnName=each.delivered_as or None,
                type=each.type.value,
                encode=each.encoding,
            )
            for each in config.columns
        ],
    )


def _encode_described(result: DeliveryShown) -> bytes:
    """Error code and detail are there in an error only."""
    trouble = result.trouble
    return m.DescribeDeliveryTaskResponse(
        taskConfig=_show_config(result.task.config),
        task_sync_stat=m.TaskSyncStat(
            task_sync_phase=result.phase.value,
            current_sync_timestamp=result.synced_us * 1000,
            error_code=None if trouble is None else trouble.code,
            detail=None if trouble is None else trouble.detail,
        ),
        taskType=result.task.type.value,
    ).SerializeToString()


def _encode_list(result: Sequence[FoundTask]) -> bytes:
    """All fields of each are set."""
    tasks = [
        m.DeliveryTaskInfo(tableName=table.name, taskName=task.name, taskType=task.type.value)
        for table, task in result
    ]
    return m.ListDeliveryTaskResponse(tasks=tasks).SerializeToString()


def _created(engine: TablestoreEngine, instance: str, asked: CreateDelivery) -> Plan[str]:
    check_delivered(engine, instance, asked.table)
    return engine.deliveries.create(instance, asked)


DELIVERY_ACTIONS: Final[dict[str, Action]] = {
    "CreateDeliveryTask": Action(_create, _created),
    "DeleteDeliveryTask": Action(
        decoder(m.DeleteDeliveryTaskRequest)(_task_name),
        lambda engine, instance, asked: engine.deliveries.delete(instance, *asked),
    ),
    "DescribeDeliveryTask": Action(
        decoder(m.DescribeDeliveryTaskRequest)(_task_name),
        lambda engine, instance, asked: engine.deliveries.describe(instance, *asked),
        _encode_described,
    ),
    "ListDeliveryTask": Action(
        decoder(m.ListDeliveryTaskRequest)(lambda sent: text(sent.tableName)),
        lambda engine, instance, asked: engine.deliveries.list_tasks(instance, asked),
        _encode_list,
    ),
}
