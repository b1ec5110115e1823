"""ListStream (change §C1.2)."""

from collections.abc import Sequence

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.streams.reading import stream_of
from widerow.model.tablestore.schema import Table
from widerow.wire.tablestore.messages import ListStreamRequest, ListStreamResponse, Stream
from widerow.wire.tablestore.operations.bodies import parsed, text

__all__ = ["call", "decode", "encode"]


def decode(body: bytes) -> str | None:
    """The table that is asked for; None: all of them. Raises `InvalidRequest`."""
    sent = parsed(ListStreamRequest, body)
    return text(sent.table_name) if sent.HasField("table_name") else None


def call(engine: TablestoreEngine, instance: str, request: str | None) -> Sequence[Table]:
    """Ask the engine."""
    return engine.streams.list(instance, request)


def encode(result: Sequence[Table]) -> bytes:
    """ListStreamResponse, by table."""
    streams = [(table.name, stream_of(table)) for table in result]
    return ListStreamResponse(
        streams=[
            Stream(stream_id=each.id, table_name=name, creation_time=each.enabled_at_us)
            for name, each in streams
        ]
    ).SerializeToString()
