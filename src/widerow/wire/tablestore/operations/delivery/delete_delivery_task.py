"""DeleteDeliveryTask (change §D3)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.wire.tablestore.delivery_messages import DeleteDeliveryTaskRequest
from widerow.wire.tablestore.operations.bodies import decoder
from widerow.wire.tablestore.operations.delivery.parts import TaskName, task_name

__all__ = ["call", "decode", "encode"]

decode = decoder(DeleteDeliveryTaskRequest)(task_name)


def call(engine: TablestoreEngine, instance: str, request: TaskName) -> Plan[None]:
    """Ask the engine."""
    return engine.deliveries.delete(instance, *request)


def encode(_result: None) -> bytes:
    """DeleteDeliveryTaskResponse, which is empty."""
    return b""
