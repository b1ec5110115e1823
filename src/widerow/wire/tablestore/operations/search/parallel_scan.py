"""ParallelScan: all rows that match, in parts and in no order (search §7)."""

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule
from widerow.model.search.query import MATCH_ALL
from widerow.model.search.requests import ColumnReturnType, ParallelScan, ScanPage
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.operations.search.columns import decode_columns, decode_timeout
from widerow.wire.tablestore.operations.search.queries import decode_query
from widerow.wire.tablestore.operations.search.unfolding import Unfolding, request_decoder

__all__ = ["call", "decode", "encode"]


@request_decoder(m.ParallelScanRequest)
def decode(sent: m.ParallelScanRequest, unfolding: Unfolding) -> ParallelScan:
    """What is asked for. Raises `InvalidRequest`, SEARCH_SCAN_COLUMNS for all columns of rows."""
    asked = sent.scan_query
    columns = decode_columns(sent.columns_to_get)
    if columns.type is ColumnReturnType.ALL:
        raise InvalidRequest(Rule.SEARCH_SCAN_COLUMNS)
    return ParallelScan(
        text(sent.table_name),
        text(sent.index_name),
        decode_query(unfolding, asked.query) if asked.HasField("query") else MATCH_ALL,
        sent.session_id.decode(errors="replace"),
        asked.token,
        asked.limit if asked.HasField("limit") else None,
        asked.alive_time if asked.HasField("alive_time") else None,
        asked.current_parallel_id,
        asked.max_parallel if asked.HasField("max_parallel") else 1,
        columns,
        decode_timeout(sent),
    )


def call(engine: TablestoreEngine, instance: str, request: ParallelScan) -> ScanPage:
    """Ask the engine."""
    return engine.search.parallel_scan(instance, request)


def encode(result: ScanPage) -> bytes:
    """ParallelScanResponse."""
    return m.ParallelScanResponse(
        rows=result.rows, next_token=result.token or None
    ).SerializeToString()
