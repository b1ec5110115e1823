"""DescribeTable (semantics §2.3)."""

from typing import Final

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.schema import Table
from widerow.wire.tablestore.messages import DescribeTableRequest, DescribeTableResponse
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.definitions import (
    describe_encryption,
    describe_index,
    describe_meta,
    describe_options,
    describe_splits,
    describe_stream,
    describe_throughput,
)

__all__ = ["call", "decode", "encode"]

_ACTIVE: Final = 1  # tables take requests from the moment they exist


@decoder(DescribeTableRequest)
def decode(sent: DescribeTableRequest) -> str:
    """The table's name. Raises `InvalidRequest`."""
    return text(sent.table_name)


def call(engine: TablestoreEngine, instance: str, request: str) -> Table:
    """Ask the engine."""
    return engine.describe_table(instance, request)


def encode(result: Table) -> bytes:
    """DescribeTableResponse, with the status that two clients cannot do without (protos §0)."""
    details = None if result.encryption is None else describe_encryption(result.encryption)
    return DescribeTableResponse(
        table_meta=describe_meta(result),
        reserved_throughput_details=describe_throughput(result),
        table_options=describe_options(result),
        table_status=_ACTIVE,
        stream_details=describe_stream(result),
        shard_splits=describe_splits(result),
        sse_details=details,
        creation_time=result.created_us,
        index_metas=map(describe_index, result.indexes),
    ).SerializeToString()
