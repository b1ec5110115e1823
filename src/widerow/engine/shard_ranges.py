"""The records of a table in the order of their shards, for copies of whole shards.

The keys of a shard's records have its name in common, behind their spaces (`keys/layout.py`): rows,
entries of local indexes and intents of one partition key value stand far apart, and are one shard.
So a range here is read in several spaces at once, in the order of what stands behind the space, and
each shard comes as a whole.

Left out are records that are of one process or of one database (docs/operating/backup.md): local
transactions, which end by time, and statistics, which are learnt again.
"""

from collections.abc import Iterator
from heapq import merge
from typing import Final, NamedTuple, TypeVar

from widerow.engine.catalog.model import CatalogModel, Numbered, RowKeys
from widerow.engine.partitions.partitioned_tables import KeyEnd
from widerow.keys.encode import after_prefix
from widerow.keys.layout import (
    SPACE_CHANGES,
    SPACE_INDEXES,
    SPACE_INTENTS,
    SPACE_LOCAL_INDEXES,
    SPACE_ROWS,
    SPACE_SEQUENCES,
    SPACE_TUNNELS,
)
from widerow.storage.interface import Reader

__all__ = ["ShardRange", "ShardRecord", "shard_ranges", "shard_records"]

T = TypeVar("T", bound=Numbered)

_BESIDE_ROWS: Final = (SPACE_ROWS, SPACE_SEQUENCES, SPACE_LOCAL_INDEXES, SPACE_INTENTS)
_TUNNEL_END: Final = 1 + 4 + 4  # the space, the table, the tunnel
_LOG_END: Final = 1 + 4 + 4 + 4  # the space, the table, the stream, the shard (`revision_key`)
_NUMBER_END: Final = 1 + 4


class ShardRange(NamedTuple):
    """A range of shards under one number.

    `spaces`: in which their records stand. `start`, `stop`: bounds of what keys have behind the
    space. `end`: where the shard's name ends in a key; it raises `StoreDamaged`. `is_derived`: the
    records are entries of an index, which can be made again of rows.
    """

    number: int
    spaces: tuple[bytes, ...]
    start: bytes
    stop: bytes
    end: KeyEnd
    is_derived: bool = False


class ShardRecord(NamedTuple):
    """A record, and the name of its shard: the bytes of the key behind the space that say it."""

    shard: bytes
    key: bytes
    value: bytes


def shard_ranges(model: CatalogModel[T], table: T) -> list[ShardRange]:
    """What a table consists of beside its record in the catalogue, in the order for a copy.

    Where a copy reads each shard at a moment of its own, this order loses nothing: what follows
    rows is read behind the rows. A log then has every change of the copied rows that is in no
    copied intent; a sequence is behind every copied value; a tunnel's positions, read before the
    logs, are in the copied logs.
    """
    number = _prefix(table.id)
    found = [_of_rows(each) for each in model.row_keys(table)]
    found.append(_range(table.id, SPACE_TUNNELS, _TUNNEL_END))
    found.append(_range(table.id, SPACE_CHANGES, _LOG_END))
    only = number + b"\x00"  # a counter of the whole table has no key behind the number
    found.append(ShardRange(table.id, (SPACE_SEQUENCES,), number, only, _number_end))
    entries = [_range(each, SPACE_INDEXES, _NUMBER_END) for each in model.entry_numbers(table)]
    return found + [each._replace(is_derived=True) for each in entries]


def shard_records(
    reader: Reader, found: ShardRange, position: bytes = b""
) -> Iterator[ShardRecord]:
    """The records of a range, shard by shard, from the shard of the name `position` on.

    Lazy: memory does not grow with the range. Raises `StoreDamaged` for a key of no shard.
    """
    start = max(position, found.start)
    scans = [reader.scan(space + start, space + found.stop) for space in found.spaces]
    pairs = scans[0] if len(scans) == 1 else merge(*scans, key=_behind_space)
    shard: bytes | None = None
    for key, value in pairs:
        if shard is None or not key.startswith(shard, 1):  # no name begins another one
            shard = key[1 : found.end(key)]
        yield ShardRecord(shard, key, value)


def _of_rows(keys: RowKeys) -> ShardRange:
    number = _prefix(keys.number)
    start, stop = number + b"\x00", after_prefix(number)
    return ShardRange(keys.number, _BESIDE_ROWS, start, stop, keys.end, keys.is_derived)


def _range(number: int, space: bytes, end: int) -> ShardRange:
    prefix = _prefix(number)
    return ShardRange(number, (space,), prefix, after_prefix(prefix), lambda _: end)


def _prefix(number: int) -> bytes:
    return number.to_bytes(_NUMBER_END - 1, "big")


def _number_end(key: bytes) -> int:
    del key
    return _NUMBER_END


def _behind_space(pair: tuple[bytes, bytes]) -> bytes:
    return pair[0][1:]
