"""ListSearchIndex (search §1.2)."""

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.search.requests import SearchIndexName
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.search_messages import (
    IndexInfo,
    ListSearchIndexRequest,
    ListSearchIndexResponse,
)

__all__ = ["call", "decode", "encode"]


@decoder(ListSearchIndexRequest)
def decode(sent: ListSearchIndexRequest) -> str | None:
    """The table whose indexes are asked for; None: all of the instance. Raises `InvalidRequest`."""
    return text(sent.table_name) if sent.HasField("table_name") else None


def call(
    engine: TablestoreEngine, instance: str, request: str | None
) -> tuple[SearchIndexName, ...]:
    """Ask the engine."""
    return engine.search.list(instance, request)


def encode(result: tuple[SearchIndexName, ...]) -> bytes:
    """ListSearchIndexResponse."""
    return ListSearchIndexResponse(
        indices=[IndexInfo(table_name=each.table, index_name=each.index) for each in result]
    ).SerializeToString()
