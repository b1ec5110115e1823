"""Iterators of shards: positions as texts, which do not expire and are good for any reader.

Equal positions are equal texts, so a client at the tail of a shard gets equal texts (change §0 rule
2). An iterator says what comes next: the record at its position, or the first one behind it.
"""

import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error
from typing import Final, NamedTuple

from widerow.engine.streams.log import LogPosition
from widerow.errors import InvalidRequest
from widerow.model.streams import StreamRule

__all__ = ["ShardIterator", "decode_iterator", "encode_iterator"]

_FORMAT: Final = 1
_HEAD: Final = struct.Struct(">BQQI")
_TEXT_MAX: Final = 2048


class ShardIterator(NamedTuple):
    """A stream's id, the number of one of its shards, and the next position there."""

    stream_id: str
    shard: int
    following: LogPosition


def encode_iterator(iterator: ShardIterator) -> str:
    """The text of an iterator."""
    head = _HEAD.pack(_FORMAT, iterator.shard, *iterator.following)
    return urlsafe_b64encode(head + iterator.stream_id.encode()).decode().rstrip("=")


def decode_iterator(text: str) -> ShardIterator:
    """The iterator of a text. Raises `InvalidRequest` (SHARD_ITERATOR) for any other text."""
    if len(text) > _TEXT_MAX:
        raise InvalidRequest(StreamRule.SHARD_ITERATOR)
    try:
        data = urlsafe_b64decode(text.encode("ascii") + b"=" * (-len(text) % 4))
        kind, shard, timestamp, index = _HEAD.unpack_from(data)
        found = ShardIterator(data[_HEAD.size :].decode(), shard, LogPosition(timestamp, index))
    except (ValueError, Error, struct.error) as error:
        raise InvalidRequest(StreamRule.SHARD_ITERATOR) from error
    if kind != _FORMAT or encode_iterator(found) != text:
        raise InvalidRequest(StreamRule.SHARD_ITERATOR)
    return found
