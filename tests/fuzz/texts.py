"""Any text as an iterator, an id or a token encodes to the same text again, or is refused.

The texts that clients hand back: iterators of shards, ids of local transactions, tokens of tunnels,
and tokens that go on with a wide row.
"""

from contextlib import suppress
from typing import Final

from widerow.engine.streams.iterators import (
    ShardIterator,
    decode_iterator,
    encode_iterator,
)
from widerow.engine.streams.log import LogPosition
from widerow.engine.tablestore.transactions.identity import ID_CHANCE_BYTES, check_id, make_id
from widerow.engine.tunnels.state import ChannelPosition
from widerow.errors import InvalidRequest
from widerow.model.tablestore.selection import Resume
from widerow.wire.tablestore.operations.tokens import decode_token, encode_token
from widerow.wire.tablestore.operations.tunnel_tokens import decode_position, encode_position

__all__ = ["SEEDS", "check"]

_ITERATOR: Final = encode_iterator(ShardIterator("T_1468944000000000", 3, LogPosition(5, 6)))
_LAST: Final = encode_iterator(ShardIterator("T", 2**64 - 1, LogPosition(2**64 - 1, 2**32 - 1)))
SEEDS: Final = (
    _ITERATOR.encode(),
    _LAST.encode(),
    make_id(1, bytes(range(ID_CHANCE_BYTES))).encode(),
    encode_position(ChannelPosition(b"\x10\x00\x00\x00\x01a", count=7)).encode(),
    encode_position(ChannelPosition(iterator=_ITERATOR, time_ms=5, count=2**63 - 1)).encode(),
    encode_position(ChannelPosition(finished=True)).encode(),
    encode_token(Resume("column", 1_000)),
)


def check(data: bytes) -> None:
    """As each of them."""
    with suppress(InvalidRequest):
        resume = decode_token(data)
        assert resume is None or encode_token(resume) == data
    text = data.decode("utf-8", "surrogateescape")
    with suppress(InvalidRequest):
        assert encode_iterator(decode_iterator(text)) == text
    with suppress(InvalidRequest):
        assert encode_position(decode_position(text)) == text
    with suppress(InvalidRequest):
        check_id(text)
        assert len(text) == 24
        assert text.isascii()
