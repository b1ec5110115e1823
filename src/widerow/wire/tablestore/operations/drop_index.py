"""DropIndex (change §A7)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.requests import DropIndex
from widerow.wire.tablestore.messages import DropIndexRequest
from widerow.wire.tablestore.operations.bodies import decoder, text

__all__ = ["call", "decode", "encode"]


@decoder(DropIndexRequest)
def decode(sent: DropIndexRequest) -> DropIndex:
    """The index and its table. Raises `InvalidRequest`."""
    return DropIndex(text(sent.main_table_name), text(sent.index_name))


def call(engine: TablestoreEngine, instance: str, request: DropIndex) -> Plan[None]:
    """Ask the engine."""
    return engine.indexes.drop(instance, request)


def encode(_result: None) -> bytes:
    """DropIndexResponse, which is empty."""
    return b""
