"""Continuation tokens: where a page of a wide row stopped (semantics §5.4).

    token = 01 columns passed:4 (big-endian) name of the next column (UTF-8) crc8

Opaque to clients, and no secret: what one says is where to go on reading a row that its sender may
read anyway. The checksum is there to refuse what was cut or rewritten on its way.
"""

import struct
from typing import Final

from widerow.errors import InvalidRequest
from widerow.limits import NAME_BYTES_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import Resume
from widerow.rows.checksum import crc8

__all__ = ["decode_token", "encode_token"]

_VERSION: Final = 1
_HEAD: Final = struct.Struct(">BI")


def encode_token(resume: Resume) -> bytes:
    """The token that leads back to `resume`."""
    body = _HEAD.pack(_VERSION, resume.seen) + resume.column.encode()
    return b"%b%c" % (body, crc8(body))


def decode_token(token: bytes) -> Resume | None:
    """Where to go on; None for an empty token, which is none.

    Raises `InvalidRequest(READ_TOKEN)` for bytes that `encode_token` does not make.
    """
    if not token:
        return None
    body, checksum = token[:-1], token[-1]
    name_bytes = len(body) - _HEAD.size
    if not 1 <= name_bytes <= NAME_BYTES_MAX or crc8(body) != checksum:
        raise InvalidRequest(TablestoreRule.READ_TOKEN)
    version, seen = _HEAD.unpack_from(body)
    if version != _VERSION:
        raise InvalidRequest(TablestoreRule.READ_TOKEN)
    try:
        column = body[_HEAD.size :].decode()
    except UnicodeDecodeError as error:
        raise InvalidRequest(TablestoreRule.READ_TOKEN) from error
    return Resume(column, seen)
