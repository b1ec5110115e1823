"""ListDeliveryTask (change §D3)."""

from collections.abc import Sequence

from widerow.engine.tablestore.delivery.service import FoundTask
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.wire.tablestore.delivery_messages import (
    DeliveryTaskInfo,
    ListDeliveryTaskRequest,
    ListDeliveryTaskResponse,
)
from widerow.wire.tablestore.operations.bodies import decoder, text

__all__ = ["call", "decode", "encode"]


@decoder(ListDeliveryTaskRequest)
def decode(sent: ListDeliveryTaskRequest) -> str:
    """The table. Raises `InvalidRequest`."""
    return text(sent.tableName)


def call(engine: TablestoreEngine, instance: str, request: str) -> list[FoundTask]:
    """Ask the engine."""
    return engine.deliveries.list_tasks(instance, request)


def encode(result: Sequence[FoundTask]) -> bytes:
    """ListDeliveryTaskResponse; all fields of each are set."""
    tasks = [
        DeliveryTaskInfo(tableName=table.name, taskName=task.name, taskType=task.type.value)
        for table, task in result
    ]
    return ListDeliveryTaskResponse(tasks=tasks).SerializeToString()
