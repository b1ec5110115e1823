"""CreateDeliveryTask (change §D3)."""

from typing import Final

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule
from widerow.model.tablestore.delivery import CreateDelivery, DeliveryType
from widerow.wire.tablestore.delivery_messages import CreateDeliveryTaskRequest
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.delivery.parts import read_config

__all__ = ["call", "decode", "encode"]

_TYPES: Final = {kind.value: kind for kind in DeliveryType}


@decoder(CreateDeliveryTaskRequest)
def decode(sent: CreateDeliveryTaskRequest) -> CreateDelivery:
    """The task asked for; BASE_INC where no type is named. Raises `InvalidRequest`."""
    kind = DeliveryType.BASE_INC if not sent.HasField("taskType") else _TYPES.get(sent.taskType)
    if kind is None:
        raise InvalidRequest(Rule.DELIVERY_TYPE, value=sent.taskType)
    return CreateDelivery(
        text(sent.tableName), text(sent.taskName), kind, read_config(sent.taskConfig)
    )


def call(engine: TablestoreEngine, instance: str, request: CreateDelivery) -> Plan[str]:
    """Ask the engine."""
    return engine.deliveries.create(instance, request)


def encode(_result: str) -> bytes:
    """CreateDeliveryTaskResponse, which is empty."""
    return b""
