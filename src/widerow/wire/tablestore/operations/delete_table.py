"""DeleteTable (semantics §2.5)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.wire.tablestore.messages import DeleteTableRequest
from widerow.wire.tablestore.operations.bodies import decoder, text

__all__ = ["call", "decode", "encode"]


@decoder(DeleteTableRequest)
def decode(sent: DeleteTableRequest) -> str:
    """The table's name. Raises `InvalidRequest`."""
    return text(sent.table_name)


def call(engine: TablestoreEngine, instance: str, request: str) -> Plan[None]:
    """Ask the engine."""
    return engine.delete_table(instance, request)


def encode(_result: None) -> bytes:
    """DeleteTableResponse, which is empty."""
    return b""
