"""Tokens of pages of points and metas: where the next page begins, in the engine's own bytes.

    token = version 1, what is read, the position, crc8

Opaque to clients, and no secret. The checksum refuses what was cut or rewritten on its way, the
second byte a token of another action or direction.
"""

from enum import IntEnum
from typing import Final

from widerow.errors import InvalidRequest
from widerow.model.timeseries.rules import TimeseriesRule
from widerow.rows.checksum import crc8

__all__ = ["PageOf", "decode_page_token", "encode_page_token"]

_VERSION: Final = 1
_TOKEN_BYTES_MAX: Final = 64 * 1024


class PageOf(IntEnum):
    """What the pages have. The numbers stand in tokens."""

    POINTS = 1
    POINTS_BACKWARD = 2
    METAS = 3
    SCANNED_POINTS = 4


def encode_page_token(kind: PageOf, position: bytes) -> bytes | None:
    """The token of a position; None for none, which ends the pages."""
    if not position:
        return None
    body = bytes((_VERSION, kind)) + position
    return b"%b%c" % (body, crc8(body))


def decode_page_token(kind: PageOf, token: bytes) -> bytes:
    """The position of a token, empty for an empty one.

    Raises `InvalidRequest(POSITION)` for bytes that `encode_page_token` does not make.
    """
    if not token:
        return b""
    body = token[:-1]
    head = bytes((_VERSION, kind))
    if len(token) > _TOKEN_BYTES_MAX or body[:2] != head or crc8(body) != token[-1]:
        raise InvalidRequest(TimeseriesRule.POSITION)
    return body[2:]
