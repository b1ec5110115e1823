"""UpdateSearchIndex (search §1.4)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.search.requests import UpdateSearchIndex
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.operations.search.schemas import decode_field, decode_weights
from widerow.wire.tablestore.operations.search.unfolding import Unfolding, request_decoder
from widerow.wire.tablestore.search_messages import (
    UpdateSearchIndexRequest,
    UpdateSearchIndexResponse,
)

__all__ = ["call", "decode", "encode"]


@request_decoder(UpdateSearchIndexRequest)
def decode(sent: UpdateSearchIndexRequest, unfolding: Unfolding) -> UpdateSearchIndex:
    """What is to change. Raises `InvalidRequest`, `Unsupported`."""
    return UpdateSearchIndex(
        text(sent.table_name),
        text(sent.index_name),
        text(sent.switch_index_name),
        decode_weights(sent),
        sent.time_to_live if sent.HasField("time_to_live") else None,
        tuple([decode_field(each, unfolding) for each in sent.added_field_schemas]),
    )


def call(engine: TablestoreEngine, instance: str, request: UpdateSearchIndex) -> Plan[None]:
    """Ask the engine."""
    return engine.search.update(instance, request)


def encode(_result: None) -> bytes:
    """UpdateSearchIndexResponse."""
    return UpdateSearchIndexResponse().SerializeToString()
