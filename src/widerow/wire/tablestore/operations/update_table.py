"""UpdateTable (semantics §2.4)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.model.tablestore.requests import UpdateTable
from widerow.model.tablestore.schema import Table
from widerow.wire.tablestore.messages import UpdateTableRequest, UpdateTableResponse
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.definitions import (
    describe_options,
    describe_stream,
    describe_throughput,
    options_change,
    stream_change,
    throughput_change,
)

__all__ = ["call", "decode", "encode"]


@decoder(UpdateTableRequest)
def decode(sent: UpdateTableRequest) -> UpdateTable:
    """What is to change. Raises `InvalidRequest`."""
    has = sent.HasField
    return UpdateTable(
        name=text(sent.table_name),
        throughput=(
            throughput_change(sent.reserved_throughput) if has("reserved_throughput") else None
        ),
        options=options_change(sent.table_options) if has("table_options") else None,
        stream=stream_change(sent.stream_spec) if has("stream_spec") else None,
    )


def call(engine: TablestoreEngine, instance: str, request: UpdateTable) -> Plan[Table]:
    """Ask the engine."""
    return engine.update_table(instance, request)


def encode(result: Table) -> bytes:
    """UpdateTableResponse: the table as it is afterwards, its stream always (protos §0)."""
    return UpdateTableResponse(
        reserved_throughput_details=describe_throughput(result),
        table_options=describe_options(result),
        stream_details=describe_stream(result),
    ).SerializeToString()
