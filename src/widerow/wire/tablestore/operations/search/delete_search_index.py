"""DeleteSearchIndex (search §1.5)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.search.requests import SearchIndexName
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.search_messages import (
    DeleteSearchIndexRequest,
    DeleteSearchIndexResponse,
)

__all__ = ["call", "decode", "encode"]


@decoder(DeleteSearchIndexRequest)
def decode(sent: DeleteSearchIndexRequest) -> SearchIndexName:
    """The index that is to go. Raises `InvalidRequest`."""
    return SearchIndexName(text(sent.table_name), text(sent.index_name))


def call(engine: TablestoreEngine, instance: str, request: SearchIndexName) -> Plan[None]:
    """Ask the engine."""
    return engine.search.delete(instance, request)


def encode(_result: None) -> bytes:
    """DeleteSearchIndexResponse."""
    return DeleteSearchIndexResponse().SerializeToString()
