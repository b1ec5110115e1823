"""GetShardIterator (change §C1.2)."""

from typing import NamedTuple

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule
from widerow.wire.tablestore.messages import GetShardIteratorRequest, GetShardIteratorResponse
from widerow.wire.tablestore.operations.bodies import parsed, text

__all__ = ["IteratorAsked", "call", "decode", "encode"]


class IteratorAsked(NamedTuple):
    """A shard of a stream, and the time to begin at; None: at the oldest record."""

    stream_id: str
    shard_id: str
    from_us: int | None


def decode(body: bytes) -> IteratorAsked:
    """The position asked for. Raises `InvalidRequest`.

    A token would be one of an answer before; no answer has one, because each says all there is. So
    one that is sent is refused (READ_TOKEN).
    """
    sent = parsed(GetShardIteratorRequest, body)
    if sent.token:
        raise InvalidRequest(Rule.READ_TOKEN)
    from_us = sent.timestamp if sent.HasField("timestamp") else None
    return IteratorAsked(text(sent.stream_id), text(sent.shard_id), from_us)


def call(engine: TablestoreEngine, instance: str, request: IteratorAsked) -> str:
    """Ask the engine."""
    table = engine.streams.find(instance, request.stream_id)
    return engine.streams.iterator(table, request.shard_id, request.from_us)


def encode(result: str) -> bytes:
    """GetShardIteratorResponse; of no text where a closed shard ends before the time."""
    return GetShardIteratorResponse(shard_iterator=result).SerializeToString()
