"""Tokens of channels: how far one is consumed, as clients hand it back (change §C2.8).

    finished                                 the end
    base64(Token{1, primary_key, count})     rows: where the next page begins, as encoded keys
    base64(Token{2, iterator, time, count})  changes

Opaque to clients, and no secret. Equal positions have equal tokens, so any other spelling of one is
refused. The count stands where readers of version 1 know no field and skip it.
"""

import base64
import binascii
from typing import Final

from google.protobuf.message import DecodeError

from widerow.engine.tunnels.state import ChannelPosition
from widerow.errors import InvalidRequest
from widerow.limits import (
    TUNNEL_TOKEN_CHARACTERS_MAX,
    TUNNEL_TOKEN_COUNT_MAX,
    TUNNEL_TOKEN_TIME_MS_MAX,
)
from widerow.model.tunnels import TunnelRule
from widerow.wire.tablestore.tunnel_messages import Token, TokenContentV2

__all__ = ["decode_position", "encode_position"]

_FINISHED: Final = "finished"
_OF_ROWS: Final = 1
_OF_CHANGES: Final = 2


def encode_position(position: ChannelPosition) -> str:
    """The token of a position."""
    if position.finished:
        return _FINISHED
    if position.iterator:
        content = TokenContentV2(
            iterator=position.iterator, timestamp=position.time_ms, total_count=position.count
        )
        version = _OF_CHANGES
    else:
        content = TokenContentV2(primary_key=position.key, total_count=position.count or None)
        version = _OF_ROWS
    token = Token(version=version, content=content.SerializeToString())
    return base64.b64encode(token.SerializeToString()).decode()


def decode_position(token: str) -> ChannelPosition:
    """The position of a token. Raises `InvalidRequest(TUNNEL_TOKEN)` for any other text."""
    if token == _FINISHED:
        return ChannelPosition(finished=True)
    if len(token) > TUNNEL_TOKEN_CHARACTERS_MAX:
        raise InvalidRequest(TunnelRule.TUNNEL_TOKEN)
    try:
        content = TokenContentV2.FromString(
            Token.FromString(base64.b64decode(token, validate=True)).content
        )
    except (binascii.Error, DecodeError, ValueError) as error:
        raise InvalidRequest(TunnelRule.TUNNEL_TOKEN) from error
    iterator = content.iterator
    if not isinstance(iterator, str):  # bytes that are not UTF-8
        raise InvalidRequest(TunnelRule.TUNNEL_TOKEN)
    position = ChannelPosition(
        content.primary_key, iterator, content.timestamp, content.total_count
    )
    if (
        not 0 <= position.time_ms <= TUNNEL_TOKEN_TIME_MS_MAX
        or not 0 <= position.count <= TUNNEL_TOKEN_COUNT_MAX
        or encode_position(position) != token
    ):
        raise InvalidRequest(TunnelRule.TUNNEL_TOKEN)
    return position
