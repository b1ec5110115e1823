"""ComputeSplits: a session of scans in parts (search §7)."""

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule
from widerow.model.search.requests import ComputeSplits, IndexSplits
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.search_messages import ComputeSplitsRequest, ComputeSplitsResponse

__all__ = ["call", "decode", "encode"]


@decoder(ComputeSplitsRequest)
def decode(sent: ComputeSplitsRequest) -> ComputeSplits:
    """The index asked for. Raises `InvalidRequest(SEARCH_SPLITS_OPTIONS)` where none is named.

    The Go SDK sends options without a name where none were set.
    """
    if not sent.search_index_splits_options.HasField("index_name"):
        raise InvalidRequest(Rule.SEARCH_SPLITS_OPTIONS)
    return ComputeSplits(text(sent.table_name), text(sent.search_index_splits_options.index_name))


def call(engine: TablestoreEngine, instance: str, request: ComputeSplits) -> IndexSplits:
    """Ask the engine."""
    return engine.search.compute_splits(instance, request)


def encode(result: IndexSplits) -> bytes:
    """ComputeSplitsResponse."""
    return ComputeSplitsResponse(
        session_id=result.session_id.encode(), splits_size=result.splits
    ).SerializeToString()
