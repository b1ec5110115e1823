"""Streams: the records of changes of a table (change §C1.2, §C1.5).

Compiled, because pages of records are joined here.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from widerow.engine.budget import Budget
from widerow.engine.streams.logged import LoggedTable
from widerow.engine.streams.stream_reads import ChangePage, ShardInfo, stream_id_in, stream_of
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, NotFound, NotYet
from widerow.limits import STREAM_WAIT_SECONDS
from widerow.model.streams import StreamRule
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.rows.fields import field, varint
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.answers import consumed_field
from widerow.wire.tablestore.operations.beside import found_stream, is_of_points, streams_beside
from widerow.wire.tablestore.operations.bodies import parsed, text

__all__ = ["STREAM_ACTIONS", "DescribedStream", "IteratorAsked", "RecordsAsked", "StreamAsked"]

_SHARDS_MAX: Final = 100
_SHARD: Final = "shard-"
_ACTIVE: Final = 2


class StreamAsked(NamedTuple):
    """A stream, and which of its shards: so many from one on (None: from the first).

    `of_points`: the client can read the stream of a timeseries table.
    """

    id: str
    start: str | None
    limit: int
    of_points: bool = False


class DescribedStream(NamedTuple):
    """A table's stream, a page of its shards, and the id of the one behind them."""

    table: LoggedTable
    shards: tuple[ShardInfo, ...]
    following: str | None


class IteratorAsked(NamedTuple):
    """A shard of a stream, and the time to begin at; None: at the oldest record."""

    stream_id: str
    shard_id: str
    from_us: int | None


class RecordsAsked(NamedTuple):
    """An iterator, and how many records at the most; None: as many as a page holds.

    `table`: the name that the table is seen as; "": its own.
    """

    iterator: str
    limit: int | None
    table: str = ""


def _decode_list(body: bytes) -> str | None:
    """The table that is asked for; None: all of them."""
    sent = parsed(m.ListStreamRequest, body)
    return text(sent.table_name) if sent.HasField("table_name") else None


def _list(engine: TablestoreEngine, instance: str, request: str | None) -> Sequence[LoggedTable]:
    return streams_beside(engine, instance, request)


def _encode_list(tables: Sequence[LoggedTable]) -> bytes:
    streams = [(table.name, stream_of(table)) for table in tables]
    return m.ListStreamResponse(
        streams=[
            m.Stream(stream_id=each.id, table_name=name, creation_time=each.enabled_at_us)
            for name, each in streams
        ]
    ).SerializeToString()


def _decode_describe(body: bytes) -> StreamAsked:
    """More than 100 shards are never answered."""
    sent = parsed(m.DescribeStreamRequest, body)
    limit = sent.shard_limit if sent.HasField("shard_limit") else _SHARDS_MAX
    if limit <= 0:
        raise InvalidRequest(TablestoreRule.SHARD_LIMIT, limit=_SHARDS_MAX)
    name = sent.inclusive_start_shard_id
    start = _shard_of(text(name)) if name else None
    of_points = sent.support_timeseries_data_table
    return StreamAsked(text(sent.stream_id), start, min(limit, _SHARDS_MAX), of_points)


def _describe(engine: TablestoreEngine, instance: str, request: StreamAsked) -> DescribedStream:
    streams, table = found_stream(engine, instance, request.id)
    if is_of_points(table) and not request.of_points:
        raise InvalidRequest(
            TimeseriesRule.STREAM_DESCRIBED, table=table.name, action="DescribeStream"
        )
    shards = streams.shards(table)
    first = 0
    if request.start is not None:
        ids = [each.id for each in shards]
        if request.start not in ids:
            raise NotFound(StreamRule.SHARD_NOT_FOUND)
        first = ids.index(request.start)
    page, rest = shards[first:][: request.limit], shards[first + request.limit :]
    return DescribedStream(table, page, rest[0].id if rest else None)


def _encode_described(result: DescribedStream) -> bytes:
    """A stream is active as soon as it is there."""
    stream = stream_of(result.table)
    return m.DescribeStreamResponse(
        stream_id=stream.id,
        expiration_time=stream.expiration_hours,
        table_name=result.table.name,
        creation_time=stream.enabled_at_us,
        stream_status=_ACTIVE,
        shards=[_shard(each) for each in result.shards],
        next_shard_id=None if result.following is None else _named(result.following),
        is_timeseries_data_table=is_of_points(result.table) or None,
    ).SerializeToString()


def _named(shard: str) -> str:
    """The id that clients know a shard by. A plain "0" would be false in PHP and in Perl."""
    return f"{_SHARD}{shard}"


def _shard_of(name: str) -> str:
    """The shard of an id, or no shard's: "" for an id that no answer had."""
    return name.removeprefix(_SHARD) if name.startswith(_SHARD) else ""


def _shard(info: ShardInfo) -> m.StreamShard:
    """A split's child names its parent, a merge's child names both (change §C1.3)."""
    parents = [_named(each) for each in info.parents]
    return m.StreamShard(
        shard_id=_named(info.id),
        parent_id=parents[0] if parents else None,
        parent_sibling_id=parents[1] if len(parents) > 1 else None,
    )


def _decode_iterator(body: bytes) -> IteratorAsked:
    """A token would be one of an answer before; none has one, because each says all there is."""
    sent = parsed(m.GetShardIteratorRequest, body)
    if sent.token:
        raise InvalidRequest(TablestoreRule.READ_TOKEN)
    from_us = sent.timestamp if sent.HasField("timestamp") else None
    return IteratorAsked(text(sent.stream_id), _shard_of(text(sent.shard_id)), from_us)


def _iterator(engine: TablestoreEngine, instance: str, request: IteratorAsked) -> str:
    streams, table = found_stream(engine, instance, request.stream_id)
    return streams.iterator(table, request.shard_id, request.from_us)


def _encode_iterator(iterator: str) -> bytes:
    """Of no text where a closed shard ends before the time."""
    return m.GetShardIteratorResponse(shard_iterator=iterator).SerializeToString()


def _decode_records(body: bytes) -> RecordsAsked:
    sent = parsed(m.GetStreamRecordRequest, body)
    limit = sent.limit if sent.HasField("limit") else None
    return RecordsAsked(text(sent.shard_iterator), limit, text(sent.table_name))


def _records(
    engine: TablestoreEngine, instance: str, request: RecordsAsked, budget: Budget | None = None
) -> ChangePage:
    """Waits for records that are on their way to a page that has none yet (change §C1.5)."""
    streams, table = found_stream(engine, instance, stream_id_in(request.iterator))
    page = streams.read(table, request.iterator, request.limit, budget, request.table)
    if page.more and not page.stored:
        raise NotYet(page, STREAM_WAIT_SECONDS)
    return page


def _encode_records(result: ChangePage) -> bytes:
    """`may_more_record` always stands in it (change §0 rule 3).

    The log holds what a `StreamRecord` of the answer consists of.
    """
    parts: list[bytes] = []
    for _, value in result.stored:
        parts += (b"\x0a", varint(len(value)), value)
    if result.following is not None:
        parts.append(field(b"\x12", result.following.encode()))
    parts.append(consumed_field(b"\x1a", result.read_units, 0))
    parts.append(b"\x20\x01" if result.more else b"\x20\x00")
    return b"".join(parts)


STREAM_ACTIONS: Final[dict[str, Action]] = {
    "ListStream": Action(_decode_list, _list, _encode_list),
    "DescribeStream": Action(_decode_describe, _describe, _encode_described),
    "GetShardIterator": Action(_decode_iterator, _iterator, _encode_iterator),
    "GetStreamRecord": Action(_decode_records, _records, _encode_records, _records),
}
