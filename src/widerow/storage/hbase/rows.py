"""Under which rows keys stand.

The row of a key is the key without its space, its first byte, which is the column's qualifier: so
whatever belongs to a shard stands together, with its revision, and one region can hold all of it.
Before that stands one byte more: `c` for the catalogue, which is one shard (`keys/layout.py`), `d`
for all other data. So the catalogue has a region of its own, and no row is empty.

A range of one space is a range of rows, in the same order; what others have there is not asked for.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

from widerow.keys.layout import (
    CATALOG_SPACES,
    SPACE_REVISIONS,
    SPACE_STORE,
    revision_key,
)

__all__ = ["DATA", "FAMILY", "ROW_BYTES_MAX", "RowSpan", "key_of", "row_of", "row_spans"]

FAMILY: Final = b"w"
DATA: Final = b"d"  # where the second region begins
ROW_BYTES_MAX: Final = 32767  # of a row, whose first byte takes the place of the key's

_CATALOG: Final = b"c"
_CATALOG_SPACES: Final = (SPACE_STORE, *CATALOG_SPACES)
_CATALOG_REVISION: Final = revision_key(SPACE_STORE)


class RowSpan(NamedTuple):
    """A part of a range of keys that is a range of rows: start ≤ row < stop, in one column."""

    qualifier: bytes
    start: bytes
    stop: bytes


def _zone(key: bytes) -> bytes:
    return _CATALOG if key[:1] in _CATALOG_SPACES or key == _CATALOG_REVISION else DATA


def row_of(key: bytes) -> tuple[bytes, bytes]:
    """The row and the qualifier under which `key` stands."""
    return _zone(key) + key[1:], key[:1]


def key_of(row: bytes, qualifier: bytes) -> bytes:
    """The key that stands under a row and a qualifier."""
    return qualifier + row[1:]


def row_spans(start: bytes, stop: bytes) -> Iterator[RowSpan]:
    """The spans of rows that hold start ≤ key < stop, in the order of keys."""
    while start < stop:
        end = min(stop, _span_end(start) or stop)
        zone, qualifier = _zone(start), start[:1]
        whole = end[:1] != qualifier or not qualifier
        yield RowSpan(
            qualifier, zone + start[1:], _behind(zone, qualifier) if whole else zone + end[1:]
        )
        start = end


def _behind(zone: bytes, qualifier: bytes) -> bytes:
    """The row after the last one of a zone; without a qualifier, after its single row."""
    return bytes((zone[0] + 1,)) if qualifier else zone + b"\x00"


def _span_end(key: bytes) -> bytes | None:
    """The first key above `key` that is in another span; None: there is none."""
    # the catalogue's revision stands between revisions of data, in a zone of its own
    if key.startswith(SPACE_REVISIONS):
        if key < _CATALOG_REVISION:
            return _CATALOG_REVISION
        if key == _CATALOG_REVISION:
            return key + b"\x00"
    if not key:
        return b"\x00"
    return bytes((key[0] + 1,)) if key[0] < 0xFF else None
