"""Continuation keys: what a query needs to go on where a page of it ended (nosql-wire §6).

They are opaque to clients and come back from anybody: the length is bounded before anything is
read, every part is checked, and a key fits one statement only. A forged one can skip rows or repeat
them; it never leads outside of what its statement reads.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

import msgpack

from widerow.errors import InvalidRequest
from widerow.limits import NOSQL_CONTINUATION_BYTES_MAX
from widerow.wire.nosql.sql.statement_rules import StatementRule

__all__ = ["QUERY_START", "QueryResume", "read_resume", "resume_bytes", "statement_mark"]

_FORMAT: Final = 1
_COUNT_MAX: Final = 2**63 - 1


@dataclass(frozen=True, slots=True)
class QueryResume:
    """Where to go on.

    `skipped`, `returned`: rows that OFFSET has left out and that LIMIT has let through so far.
    `position`: the stored key of the row that was looked at last, or the sort key of the row that
    was returned last; b"": none. `within`: how many results of the row at `position` are done; -1:
    all. `counted`: rows deleted so far.
    """

    skipped: int = 0
    returned: int = 0
    position: bytes = b""
    within: int = -1
    counted: int = 0


QUERY_START: Final = QueryResume()


def statement_mark(text: str) -> bytes:
    """Eight bytes that stand for a statement in its continuation keys."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def resume_bytes(mark: bytes, resume: QueryResume) -> bytes:
    """The continuation key."""
    parts = [
        *(_FORMAT, mark, resume.skipped, resume.returned),
        *(resume.position, resume.within, resume.counted),
    ]
    data: bytes = msgpack.packb(parts)
    return data


def read_resume(mark: bytes, data: bytes) -> QueryResume:
    """What a continuation key says; b"" is the start. Raises `InvalidRequest` for any other."""
    if not data:
        return QUERY_START
    if len(data) > NOSQL_CONTINUATION_BYTES_MAX:
        raise InvalidRequest(StatementRule.CONTINUATION)
    try:
        parts = msgpack.unpackb(data)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise InvalidRequest(StatementRule.CONTINUATION) from error
    if not isinstance(parts, list) or len(parts) != 7 or parts[:2] != [_FORMAT, mark]:
        raise InvalidRequest(StatementRule.CONTINUATION)
    skipped, returned, position, within, counted = parts[2:]
    counts = (skipped, returned, within + 1 if type(within) is int else within, counted)
    if type(position) is not bytes or not all(_is_count(count) for count in counts):
        raise InvalidRequest(StatementRule.CONTINUATION)
    return QueryResume(skipped, returned, position, within, counted)


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= _COUNT_MAX
