"""Ids of parallel scans and tokens of their pages: what any server needs to go on (search §7).

    id    = base64url( head | points: each its length in 1 byte, its bytes | CRC-32 of these 4 )
    token = head | stop: its length in 1 byte, its bytes | start | CRC-32 of these 4
    head  = form 1 | chance 16 | index 8 | when the index was made 8 | end 8 | splits 1

Numbers are big-endian, times microseconds since 1970. The points divide the keys of the index into
its splits. A part of a scan has the documents with encoded primary keys from `start` on and before
`stop`, in the order of their keys. Both name the index by a number that no other definition has,
and hold nothing that whoever may scan the index could not read anyway. The checksum is there to
refuse what was cut or rewritten on its way.
"""

import struct
from base64 import b64decode, urlsafe_b64encode
from binascii import crc32
from dataclasses import dataclass
from typing import Final, NamedTuple, final

from widerow.errors import InvalidRequest, NotFound
from widerow.limits import SEARCH_POINT_BYTES, SEARCH_SPLITS_MAX
from widerow.model.search.schema import SearchIndex
from widerow.model.tablestore.rules import TablestoreRule

__all__ = ["NAME_BYTES", "ScanPart", "ScanSession", "SessionHead", "read_session", "read_token"]

NAME_BYTES: Final = 16
_HEAD: Final = struct.Struct(f">B{NAME_BYTES}sQQQB")
_CHECKSUM_BYTES: Final = 4
_SESSION: Final = 2
_TOKEN: Final = 3


class SessionHead(NamedTuple):
    """Of which index a session is, and how long its id or token may be used.

    `name`: what no other session has. `until_us`: the end. `splits`: how many parts there may be.
    """

    name: bytes
    index_id: int
    created_us: int
    until_us: int
    splits: int

    def check(self, index: SearchIndex, now_us: int) -> None:
        """Raise `NotFound` (SEARCH_SESSION_EXPIRED) behind the end, and for another index."""
        is_of_index = (self.index_id, self.created_us) == (index.id, index.created_us)
        if not is_of_index or self.until_us <= now_us:
            raise NotFound(TablestoreRule.SEARCH_SESSION_EXPIRED)


@final
@dataclass(frozen=True, slots=True)
class ScanPart:
    """What is left of one part of a scan. `stop` b"": all keys from `start` on."""

    head: SessionHead
    start: bytes
    stop: bytes

    def behind(self, key: bytes, until_us: int) -> bytes:
        """The token of what follows `key`, good until `until_us`."""
        head = _HEAD.pack(_TOKEN, *self.head._replace(until_us=until_us))
        return _sealed(b"".join((head, _measured(self.stop), key, b"\0")))


@final
@dataclass(frozen=True, slots=True)
class ScanSession:
    """A session as its id tells it. `points`: the first keys of all splits but the first."""

    head: SessionHead
    points: tuple[bytes, ...]

    @property
    def id(self) -> str:
        """The id that clients send."""
        head = _HEAD.pack(_SESSION, *self.head)
        return urlsafe_b64encode(_sealed(head + b"".join(map(_measured, self.points)))).decode()

    def part(self, number: int, parts: int) -> ScanPart:
        """Part `number` of `parts`, which are not more than the splits."""
        bounds = (b"", *self.points, b"")
        splits = self.head.splits
        first, stop = splits * number // parts, splits * (number + 1) // parts
        return ScanPart(self.head, bounds[first], bounds[stop])


def read_session(text: str) -> ScanSession:
    """The session of an id. Raises `NotFound` (SEARCH_SESSION_EXPIRED) for any other text."""
    try:
        content = _unsealed(b64decode(text, altchars=b"-_", validate=True))
        head = _head(content, _SESSION)
        points = _points(content, head.splits - 1)
    except (ValueError, LookupError, struct.error) as error:
        raise NotFound(TablestoreRule.SEARCH_SESSION_EXPIRED) from error
    return ScanSession(head, points)


def read_token(token: bytes) -> ScanPart:
    """What follows a page. Raises `InvalidRequest` (SEARCH_SCAN_TOKEN) for any other bytes."""
    try:
        content = _unsealed(token)
        head = _head(content, _TOKEN)
        stop = _measured_at(content, _HEAD.size)
    except (ValueError, LookupError, struct.error) as error:
        raise InvalidRequest(TablestoreRule.SEARCH_SCAN_TOKEN) from error
    return ScanPart(head, content[_HEAD.size + 1 + len(stop) :], stop)


def _head(content: bytes, form: int) -> SessionHead:
    found, *rest = _HEAD.unpack_from(content)
    head = SessionHead(*rest)
    if found != form or not 1 <= head.splits <= SEARCH_SPLITS_MAX:
        raise ValueError("of another form")
    return head


def _points(content: bytes, count: int) -> tuple[bytes, ...]:
    points: list[bytes] = []
    at = _HEAD.size
    for _ in range(count):
        points.append(_measured_at(content, at))
        at += 1 + len(points[-1])
    if at != len(content):
        raise ValueError("bytes behind the points")
    return tuple(points)


def _measured(part: bytes) -> bytes:
    return bytes((len(part),)) + part


def _measured_at(content: bytes, at: int) -> bytes:
    size = content[at]
    if size > SEARCH_POINT_BYTES or at + 1 + size > len(content):
        raise ValueError("longer than a point")
    return content[at + 1 : at + 1 + size]


def _sealed(content: bytes) -> bytes:
    return content + crc32(content).to_bytes(_CHECKSUM_BYTES, "big")


def _unsealed(data: bytes) -> bytes:
    content = data[:-_CHECKSUM_BYTES]
    if _sealed(content) != data:
        raise ValueError("its checksum is wrong")
    return content
