"""DescribeStream (change §C1.2)."""

from typing import Final, NamedTuple

from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.streams.reading import ShardInfo, stream_of
from widerow.errors import InvalidRequest, NotFound, Rule
from widerow.model.tablestore.schema import Table
from widerow.wire.tablestore.messages import (
    DescribeStreamRequest,
    DescribeStreamResponse,
    StreamShard,
)
from widerow.wire.tablestore.operations.bodies import parsed, text

__all__ = ["DescribedStream", "StreamAsked", "call", "decode", "encode"]

_SHARDS_MAX: Final = 100
_ACTIVE: Final = 2


class StreamAsked(NamedTuple):
    """A stream, and which of its shards: so many from one on (None: from the first)."""

    id: str
    start: str | None
    limit: int


class DescribedStream(NamedTuple):
    """A table's stream, a page of its shards, and the id of the one behind them."""

    table: Table
    shards: tuple[ShardInfo, ...]
    following: str | None


def decode(body: bytes) -> StreamAsked:
    """The stream asked for. Raises `InvalidRequest`. More than 100 shards are never answered."""
    sent = parsed(DescribeStreamRequest, body)
    limit = sent.shard_limit if sent.HasField("shard_limit") else _SHARDS_MAX
    if limit <= 0:
        raise InvalidRequest(Rule.SHARD_LIMIT, limit=_SHARDS_MAX)
    start = text(sent.inclusive_start_shard_id) if sent.inclusive_start_shard_id else None
    return StreamAsked(text(sent.stream_id), start, min(limit, _SHARDS_MAX))


def call(engine: TablestoreEngine, instance: str, request: StreamAsked) -> DescribedStream:
    """Ask the engine."""
    table = engine.streams.find(instance, request.id)
    shards = engine.streams.shards(table)
    first = 0
    if request.start is not None:
        ids = [each.id for each in shards]
        if request.start not in ids:
            raise NotFound(Rule.SHARD_NOT_FOUND)
        first = ids.index(request.start)
    page, rest = shards[first:][: request.limit], shards[first + request.limit :]
    return DescribedStream(table, page, rest[0].id if rest else None)


def encode(result: DescribedStream) -> bytes:
    """DescribeStreamResponse; a stream is active as soon as it is there."""
    stream = stream_of(result.table)
    return DescribeStreamResponse(
        stream_id=stream.id,
        expiration_time=stream.expiration_hours,
        table_name=result.table.name,
        creation_time=stream.enabled_at_us,
        stream_status=_ACTIVE,
        shards=[_shard(each) for each in result.shards],
        next_shard_id=result.following,
    ).SerializeToString()


def _shard(info: ShardInfo) -> StreamShard:
    """A split's child names its parent, a merge's child names both (change §C1.3)."""
    parents = info.parents
    return StreamShard(
        shard_id=info.id,
        parent_id=parents[0] if parents else None,
        parent_sibling_id=parents[1] if len(parents) > 1 else None,
    )
