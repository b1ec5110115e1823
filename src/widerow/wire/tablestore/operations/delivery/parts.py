"""What several actions of delivery tasks share: how a task is named, and its configuration."""

from typing import Final, NamedTuple

from widerow.errors import InvalidRequest, Rule
from widerow.model.tablestore.delivery import (
    DeliveryColumn,
    DeliveryConfig,
    EventColumn,
    EventTimeFormat,
    ParquetType,
)
from widerow.wire.tablestore import delivery_messages as d
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["TaskName", "read_config", "show_config", "task_name"]

_TYPES: Final = {kind.value: kind for kind in ParquetType}
_TIMES: Final = {form.value: form for form in EventTimeFormat}


class TaskName(NamedTuple):
    """How a client names a task."""

    table: str
    name: str


def task_name(sent: d.DescribeDeliveryTaskRequest | d.DeleteDeliveryTaskRequest) -> TaskName:
    """The task of a request. Raises `InvalidRequest`."""
    return TaskName(text(sent.tableName), text(sent.taskName))


def read_config(sent: d.OSSTaskConfig) -> DeliveryConfig:
    """The configuration that was sent. Raises `InvalidRequest`."""
    for field in ("format", "formatter"):
        if getattr(sent, field):
            raise InvalidRequest(Rule.DELIVERY_FORMAT, field=field, value=getattr(sent, field))
    return DeliveryConfig(
        bucket=text(sent.ossBucket),
        columns=tuple([_column(each) for each in sent.schema]),
        prefix=text(sent.ossPrefix),
        dirty_prefix=text(sent.ossDirtyPrefix),
        endpoint=text(sent.ossEndpoint),
        role=text(sent.ossStsRole),
        event_column=_event(sent.eventTimeColumn) if sent.HasField("eventTimeColumn") else None,
    )


def _column(sent: d.ParquetSchema) -> DeliveryColumn:
    name = text(sent.columnName)
    kind = _TYPES.get(sent.type) if sent.HasField("type") else None
    if kind is None:
        shown = sent.type if sent.HasField("type") else "none"
        raise InvalidRequest(Rule.DELIVERY_COLUMN_TYPE, name=name, value=shown)
    encoding = sent.encode if sent.HasField("encode") else None
    return DeliveryColumn(name, text(sent.ossColumnName), kind, encoding)


def _event(sent: d.EventColumn) -> EventColumn:
    form = _TIMES.get(sent.timeFormat)
    if form is None:
        raise InvalidRequest(Rule.DELIVERY_EVENT_TIME)
    return EventColumn(text(sent.columnName), form)


def show_config(config: DeliveryConfig) -> d.OSSTaskConfig:
    """The configuration as it was sent; what may be left out was, where it is empty."""
    event = config.event_column
    return d.OSSTaskConfig(
        ossPrefix=config.prefix,
        formatter=0,
        ossDirtyPrefix=config.dirty_prefix or None,
        ossBucket=config.bucket,
        ossEndpoint=config.endpoint,
        ossStsRole=config.role,
        eventTimeColumn=None
        if event is None
        else d.EventColumn(columnName=event.name, timeFormat=event.format.value),
        format=0,
        schema=[
            d.ParquetSchema(
                columnName=each.name,
                ossColumnName=each.delivered_as or None,
                type=each.type.value,
                encode=each.encoding,
            )
            for each in config.columns
        ],
    )
