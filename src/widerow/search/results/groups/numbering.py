"""Numbers for the groups that occur, and how many entries each has (search §6.3).

A group of a level below is a group of the level and a code. Where there are few codes the groups
are counted in a table, in one pass; else they are sorted.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from widerow.search.interface import Booleans, Integers
from widerow.search.results.grouping import group_sizes

__all__ = ["Candidates", "candidates", "ranks_within"]

_TABLE_MIN: Final = 1 << 16  # places of a table that are always cheap
_TABLE_SHARE: Final = 4  # places of a table for each entry, above which sorting is cheaper
_JOINED_MAX: Final = 2**62


@dataclass(frozen=True, slots=True)
class Candidates:
    """Groups by parent and code: those that occur, or all of a span of codes.

    `joined`: of each entry, parent and code as one number; `numbers`: the same of each group,
    ascending.
    """

    parents: Integers
    codes: Integers
    counts: Integers
    joined: Integers
    numbers: Integers
    table: int

    def kept(self, mask: Booleans) -> "Candidates":
        """Some of the groups."""
        return Candidates(
            self.parents[mask],
            self.codes[mask],
            self.counts[mask],
            self.joined,
            self.numbers[mask],
            self.table,
        )

    def places(self, groups: Integers) -> Integers:
        """For each entry its place among some groups, and -1 where it is in none of them.

        `groups`: places among these groups, each once.
        """
        wanted = self.numbers[groups]
        if self.table:
            table = np.full(self.table, -1, np.int64)
            table[wanted] = np.arange(len(wanted))
            return table[self.joined]
        if len(wanted) == 0:
            return np.full(len(self.joined), -1, np.int64)
        order = np.argsort(wanted)
        found = np.minimum(np.searchsorted(wanted[order], self.joined), len(wanted) - 1)
        return np.where(wanted[order][found] == self.joined, order[found], -1)


def candidates(
    parents: Integers | None, codes: Integers, size: int, span: tuple[int, int] | None = None
) -> Candidates:
    """The groups of entries that have a parent, below `size`, and a code each.

    `parents` None: 0. `span`: all codes from its first to its last are groups of each parent, with
    or without entries.
    """
    if len(codes) == 0 and span is None:
        none = np.zeros(0, np.int64)
        return Candidates(none, none, none, none, none, 1)
    least, most = (0, 0) if len(codes) == 0 else (int(codes.min()), int(codes.max()))
    if span is not None:
        least, most = (
            (span[0], span[1]) if len(codes) == 0 else (min(least, span[0]), max(most, span[1]))
        )
    kinds = most - least + 1
    if kinds * size > _JOINED_MAX:
        return _of_sparse_codes(parents, codes, size)
    joined = codes - least if least else codes.astype(np.int64, copy=False)
    if parents is not None:
        joined = parents * kinds + joined
    if kinds * size <= max(_TABLE_MIN, _TABLE_SHARE * len(codes)) or span is not None:
        sizes = group_sizes(joined, kinds * size)
        numbers = np.flatnonzero(sizes) if span is None else _spanned(sizes, span, least, kinds)
        counts, table = sizes[numbers], kinds * size
    else:
        numbers, counts = np.unique(joined, return_counts=True)
        table = 0
    above, within = np.divmod(numbers, kinds)
    return Candidates(above, within + least, counts, joined, numbers, table)


def _spanned(sizes: Integers, span: tuple[int, int], least: int, kinds: int) -> Integers:
    """Where there are entries, and all codes of the span."""
    wanted = sizes.reshape(-1, kinds) > 0
    wanted[:, span[0] - least : span[1] - least + 1] = True
    return np.flatnonzero(wanted.reshape(-1))


def _of_sparse_codes(parents: Integers | None, codes: Integers, size: int) -> Candidates:
    """The same for codes that are too far apart to be joined with parents."""
    found, dense = np.unique(codes, return_inverse=True)
    narrow = candidates(parents, dense, size)
    return Candidates(
        narrow.parents,
        found[narrow.codes],
        narrow.counts,
        narrow.joined,
        narrow.numbers,
        narrow.table,
    )


def ranks_within(parents: Integers) -> Integers:
    """The place of each within those that have the same parent; parents ascend."""
    return np.arange(len(parents)) - np.searchsorted(parents, parents)
