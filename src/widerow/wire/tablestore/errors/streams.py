"""What clients are told of streams (change §C1)."""

from typing import Final

from widerow.errors import AnyRule
from widerow.model.streams import StreamRule
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.errors.row import Foreign

__all__ = ["STREAM_ERRORS"]


STREAM_ERRORS: Final[dict[AnyRule, Foreign]] = {
    StreamRule.STREAM_ID: c.INVALID.ours(
        "Invalid stream id: {id}.",
        "a text that is not a stream id, or one that is too long to be read from",
    ),
    StreamRule.STREAM_NOT_FOUND: c.OBJECT_NOT_EXIST.ours(
        "Requested stream does not exist.", "a stream that is not there any more"
    ),
    StreamRule.STREAM_LIMIT: c.INVALID.ours(
        "The limit must be greater than 0, but it is {value}.", "GetStreamRecord of no records"
    ),
    StreamRule.STREAM_TRIMMED: c.TRIMMED_DATA_ACCESS(
        "Requested stream data is already trimmed or does not exist.",
        "an iterator that stands before the oldest record that is kept",
    ),
    StreamRule.SHARD_NOT_FOUND: c.OBJECT_NOT_EXIST.ours(
        "Requested shard does not exist.", "a shard that the stream does not have"
    ),
    TablestoreRule.SHARD_LIMIT: c.INVALID.ours(
        "The shard limit must be in range: [1, {limit}].", "DescribeStream of no shards"
    ),
    StreamRule.SHARD_ITERATOR: c.INVALID.ours(
        "Invalid shard iterator.", "a text that is not an iterator"
    ),
}
