"""The answers of the row actions, put together by hand.

Each is a constant prefix, a length and bytes that are already those of the wire. Building a message
object and serializing it takes two to three times as long and copies the row once more; the tests
hold every answer against the protobuf runtime's reading of it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from widerow.model.tablestore.answers import RowWritten
from widerow.rows.cells import PLAIN_HEADER
from widerow.rows.fields import field, varint

__all__ = [
    "consumed_field",
    "data_size_field",
    "read_units",
    "row_units",
    "with_pieces",
    "with_rows",
    "written",
]


@lru_cache(maxsize=1024)  # most answers consumed a unit or two
def consumed_field(key: bytes, read: int, write: int) -> bytes:
    """A field of type ConsumedCapacity; both numbers always stand in it (protos §0 rule 6)."""
    units = b"\x08%b\x10%b" % (varint(read), varint(write))
    return field(key, field(b"\x0a", units))


def data_size_field(key: bytes, read: int, write: int) -> bytes:
    """A field of type ConsumedCapacity that counts bytes: its capacity units are 0 (change §D1)."""
    sizes = b"\x08%b\x10%b" % (varint(read), varint(write))
    return field(key, field(b"\x0a", b"\x08\x00\x10\x00"), field(b"\x12", sizes))


def with_rows(before: bytes, key: bytes, rows: bytes, after: bytes = b"") -> bytes:
    """A field with rows back to back, of no bytes where there is no row, between other fields.

    One join, for rows may be megabytes.
    """
    if not rows:
        return b"%b%b\x00%b" % (before, key, after)
    return b"".join((before, key, varint(len(PLAIN_HEADER) + len(rows)), PLAIN_HEADER, rows, after))


def with_pieces(before: bytes, key: bytes, pieces: Sequence[bytes], after: bytes = b"") -> bytes:
    """A field with rows in pieces, between other fields, made as by `with_rows`: one join."""
    size = sum(map(len, pieces))
    if not size:
        return with_rows(before, key, b"", after)
    return b"".join((before, key, varint(len(PLAIN_HEADER) + size), PLAIN_HEADER, *pieces, after))


def written(result: RowWritten) -> bytes:
    """PutRowResponse, UpdateRowResponse and DeleteRowResponse, which are alike."""
    consumed = consumed_field(b"\x0a", result.read_units, result.write_units)
    return with_rows(consumed, b"\x12", result.row) if result.row else consumed


class _Read(Protocol):
    @property
    def read_units(self) -> int: ...


def read_units(result: _Read) -> tuple[int, int]:
    """What a read consumed, as (read, write) capacity units (semantics §9)."""
    return result.read_units, 0


def row_units(result: RowWritten) -> tuple[int, int]:
    """What the write of a row consumed, as (read, write) capacity units (semantics §9)."""
    return result.read_units, result.write_units
