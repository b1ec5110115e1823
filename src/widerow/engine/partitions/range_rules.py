"""Where a database should divide its data: at the bounds of partitions. Pure.

* A table that has partitions, or that is large by itself, begins a range. Small tables share one
  range, with each other and with the last partition of the table before them: so a hundred empty
  tables make no range.
* Each partition of such a table begins a range, unless a shard could be cut there
  (`may_begin_range`): such a partition, among the smallest keys there can be, shares the range of
  the one before.
* A range that begins elsewhere inside an existing table stays: a person wanted it. A range that
  widerow asked for (`Noted`), or that begins inside no table, is merged with the range before;
  inside a dropped table, when its rows are gone.
* A range that is to be cut at several keys is cut at the middle one first, then its halves are. A
  database has to clean up after a split before it divides a half: so one range becomes twelve in
  four rounds, and not in eleven.
"""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import chain, groupby
from typing import Final, NamedTuple

from widerow.engine.partitions.partitioned_tables import Partitioned
from widerow.keys.layout import ROW_PREFIX_BYTES, SPACE_ROWS, may_begin_range, row_prefix

__all__ = [
    "ChangeKind",
    "Noted",
    "RangeChange",
    "Wanted",
    "changes_wanted",
    "table_at",
    "wanted_of",
]

OWN_RANGE_PART: Final = 8  # a table that fills so much of a partition, one in eight, has a range
SHARED_RANGE_PART: Final = 2 * OWN_RANGE_PART  # a table keeps its range until it is half as large

Wanted = Mapping[int, frozenset[bytes]]
"""Where ranges should begin, by the number of the table."""

Noted = Mapping[int, frozenset[bytes]]
"""Where widerow itself made ranges begin, by the number of the table, as far as it matters."""


class ChangeKind(Enum):
    """The kinds of changes of ranges."""

    SPLIT = "split"
    MERGE = "merge"


class RangeChange(NamedTuple):
    """Make a range begin at a key, or make none begin there."""

    kind: ChangeKind
    key: bytes

    @property
    def opposite(self) -> "RangeChange":
        """The change that undoes this one."""
        kind = ChangeKind.MERGE if self.kind is ChangeKind.SPLIT else ChangeKind.SPLIT
        return RangeChange(kind, self.key)

    def is_made(self, bounds: Collection[bytes]) -> bool:
        """Whether this change is made where ranges begin at `bounds`."""
        return (self.key in bounds) == (self.kind is ChangeKind.SPLIT)


def table_at(bound: bytes) -> int | None:
    """The number of the table in which `bound` lies, or with which it begins; None: no table."""
    if len(bound) < ROW_PREFIX_BYTES or not bound.startswith(SPACE_ROWS):
        return None
    return int.from_bytes(bound[1:ROW_PREFIX_BYTES], "big")


def wanted_of(table: Partitioned, size: int, split_bytes: int, *, begins: bool) -> frozenset[bytes]:
    """Where ranges of a table should begin.

    `size`: bytes of the table, as far as they are known. `split_bytes`: those of a full partition.
    `begins`: whether a range begins with the table now.
    """
    start = row_prefix(table.id)
    if table.splits:
        return frozenset((start, *filter(may_begin_range, (start + at for at in table.splits))))
    part = SHARED_RANGE_PART if begins else OWN_RANGE_PART
    return frozenset((start,)) if size * part >= split_bytes else frozenset()


def changes_wanted(
    wanted: Wanted, bounds: Sequence[bytes], noted: Noted, leaving: Collection[int]
) -> Iterator[RangeChange]:
    """Changes that make the ranges what they should be, in the order in which to make them.

    Splits first, from the middle of each range outwards; then merges in the order of keys.
    `bounds`: where ranges begin now, without the first. `noted`: of every existing table in which a
    range begins. `leaving`: the numbers of dropped tables that still have rows.
    """
    every = frozenset().union(*wanted.values())
    missing = groupby(sorted(every.difference(bounds)), partial(bisect_right, bounds))
    halved = chain.from_iterable(_halved(list(keys)) for _, keys in missing)
    for _, key in sorted(halved):
        yield RangeChange(ChangeKind.SPLIT, key)
    for key in bounds:
        table = table_at(key)
        is_ours = table is None or table not in noted or key in noted[table]
        if key not in every and is_ours and table not in leaving:
            yield RangeChange(ChangeKind.MERGE, key)


def _halved(keys: Sequence[bytes]) -> Iterator[tuple[int, bytes]]:
    """The keys at which to cut a range, middle first, each with how many cuts precede it."""
    depth, parts = 0, [keys]
    while parts:
        left: list[Sequence[bytes]] = []
        for part in filter(None, parts):
            middle = len(part) // 2
            yield depth, part[middle]
            left += part[:middle], part[middle + 1 :]
        depth, parts = depth + 1, left
