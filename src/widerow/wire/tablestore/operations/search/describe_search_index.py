"""DescribeSearchIndex: the schema as it was sent, and how far the index is (search §1.2)."""

from typing import Final

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.search.requests import DescribeSearchIndex, SearchIndexState, SyncPhase
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.search.schemas import encode_schema, encode_weights

__all__ = ["call", "decode", "encode"]

_PENDING, _RUNNING = 1, 3  # IndexStatusEnum (protos §4)
_STATUS: Final = {SyncPhase.FULL: _PENDING, SyncPhase.INCR: _RUNNING}


@decoder(m.DescribeSearchIndexRequest)
def decode(sent: m.DescribeSearchIndexRequest) -> DescribeSearchIndex:
    """The index asked for; its state is told unless it is not wanted. Raises `InvalidRequest`."""
    wanted = sent.include_sync_stat or not sent.HasField("include_sync_stat")
    return DescribeSearchIndex(text(sent.table_name), text(sent.index_name), wanted)


def call(engine: TablestoreEngine, instance: str, request: DescribeSearchIndex) -> SearchIndexState:
    """Ask the engine."""
    return engine.search.describe(instance, request)


def encode(result: SearchIndexState) -> bytes:
    """DescribeSearchIndexResponse, with every field that an SDK reads unseen."""
    index = result.index
    sent = m.DescribeSearchIndexResponse(
        schema=encode_schema(index.schema),
        metering_info=m.MeteringInfo(
            storage_size=result.storage_bytes,
            row_count=result.rows,
            reserved_read_cu=0,
            timestamp=result.asked_at_us // 1_000_000,
        ),
        query_flow_weight=encode_weights(index.weights),
        create_time=index.created_us // 1000,
        time_to_live=index.time_to_live,
        index_status=m.IndexStatus(status=_STATUS[result.phase]),
    )
    if result.include_sync_stat:
        sent.sync_stat.sync_phase = result.phase
        sent.sync_stat.current_sync_timestamp = result.synced_ns
    if result.brother:
        sent.brother_index_name = result.brother
    return sent.SerializeToString()
