"""DescribeDeliveryTask (change §D3)."""

from widerow.engine.tablestore.delivery.service import DeliveryShown
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.wire.tablestore.delivery_messages import (
    DescribeDeliveryTaskRequest,
    DescribeDeliveryTaskResponse,
    TaskSyncStat,
)
from widerow.wire.tablestore.operations.bodies import decoder
from widerow.wire.tablestore.operations.delivery.parts import TaskName, show_config, task_name

__all__ = ["call", "decode", "encode"]

decode = decoder(DescribeDeliveryTaskRequest)(task_name)


def call(engine: TablestoreEngine, instance: str, request: TaskName) -> DeliveryShown:
    """Ask the engine."""
    return engine.deliveries.describe(instance, *request)


def encode(result: DeliveryShown) -> bytes:
    """DescribeDeliveryTaskResponse; error code and detail are there in an error only."""
    trouble = result.trouble
    return DescribeDeliveryTaskResponse(
        taskConfig=show_config(result.task.config),
        task_sync_stat=TaskSyncStat(
            task_sync_phase=result.phase.value,
            current_sync_timestamp=result.synced_us * 1000,
            error_code=None if trouble is None else trouble.code,
            detail=None if trouble is None else trouble.detail,
        ),
        taskType=result.task.type.value,
    ).SerializeToString()
