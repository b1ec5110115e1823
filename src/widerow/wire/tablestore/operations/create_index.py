"""CreateIndex (change §A)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.requests import CreateIndex
from widerow.wire.tablestore.messages import CreateIndexRequest
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.definitions import index_definition

__all__ = ["call", "decode", "encode"]


@decoder(CreateIndexRequest)
def decode(sent: CreateIndexRequest) -> CreateIndex:
    """The index asked for. Raises `InvalidRequest`."""
    return CreateIndex(
        text(sent.main_table_name), index_definition(sent.index_meta), sent.include_base_data
    )


def call(engine: TablestoreEngine, instance: str, request: CreateIndex) -> Plan[None]:
    """Ask the engine."""
    return engine.indexes.create(instance, request)


def encode(_result: None) -> bytes:
    """CreateIndexResponse, which is empty."""
    return b""
