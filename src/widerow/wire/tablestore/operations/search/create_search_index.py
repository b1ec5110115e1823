"""CreateSearchIndex (search §1.1)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.search.requests import CreateSearchIndex
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.operations.search.schemas import decode_schema
from widerow.wire.tablestore.operations.search.unfolding import Unfolding, request_decoder
from widerow.wire.tablestore.search_messages import (
    CreateSearchIndexRequest,
    CreateSearchIndexResponse,
)

__all__ = ["call", "decode", "encode"]


@request_decoder(CreateSearchIndexRequest)
def decode(sent: CreateSearchIndexRequest, unfolding: Unfolding) -> CreateSearchIndex:
    """The index asked for. Raises `InvalidRequest`, `Unsupported`."""
    return CreateSearchIndex(
        text(sent.table_name),
        text(sent.index_name),
        decode_schema(sent.schema, unfolding),
        text(sent.source_index_name),
        sent.time_to_live if sent.HasField("time_to_live") else None,
    )


def call(engine: TablestoreEngine, instance: str, request: CreateSearchIndex) -> Plan[None]:
    """Ask the engine."""
    return engine.search.create(instance, request)


def encode(_result: None) -> bytes:
    """CreateSearchIndexResponse."""
    return CreateSearchIndexResponse().SerializeToString()
