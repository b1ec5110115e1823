"""Logs of the changes of a table: their definition, and the rules of requests that read them.

A table of any model may have them (`engine/streams`).
"""

from dataclasses import dataclass

from widerow.errors import AnyRule

__all__ = ["LogShard", "Stream", "StreamRule"]


class StreamRule(AnyRule):
    """A rule that a request to a stream can break (change §C1). The value is sent as a hint."""

    STREAM_ID = "Use a stream id as ListStream and DescribeTable show it."
    STREAM_NOT_FOUND = "ListStream shows the streams there are; a table's ends when it is disabled."
    STREAM_LIMIT = "Ask for one record or more."
    STREAM_TRIMMED = "Records were kept for the stream's hours only: begin at the oldest one there."
    SHARD_NOT_FOUND = "DescribeStream shows the shards; a closed one leaves when all has expired."
    SHARD_ITERATOR = "Use an iterator of GetShardIterator or of the page before."


@dataclass(frozen=True, slots=True)
class LogShard:
    """A part of a stream: the changes of the partition that begins at `start`, while it is open.

    `number` is never used again in the stream. `parents`: the shards before it. A closed shard gets
    no more records. `closed_us`: when it was seen to be closed, in microseconds since 1970; 0
    before that.
    """

    number: int
    start: bytes
    parents: tuple[int, ...] = ()
    is_open: bool = True
    closed_us: int = 0


@dataclass(frozen=True, slots=True)
class Stream:
    """A change stream: its specification, and the place of its records (change §C1).

    `columns`: the columns whose former values are recorded. `number`: in the keys of its records,
    after the table's; unique among tables, indexes and streams. `shards` by number; the open ones
    are one for each partition.
    """

    id: str
    expiration_hours: int
    enabled_at_us: int
    columns: tuple[str, ...] = ()
    number: int = 0
    shards: tuple[LogShard, ...] = ()
