"""Finds the groups that occur, and counts their entries (search §6.3).

A group is a parent group and a code. If there are few codes, groups are counted in a table, in one
pass; else they are sorted.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from widerow.search.interface import Booleans, Integers
from widerow.search.results.grouping import group_sizes

__all__ = ["Candidates", "candidates", "ranks_within"]

_TABLE_MIN: Final = 1 << 16  # entries of a table that is always cheap
# table entries for each entry of the level; beyond that, sorting is cheaper
_TABLE_SHARE: Final = 4
_JOINED_MAX: Final = 2**62


@dataclass(frozen=True, slots=True)
class Candidates:
    """Groups by parent and code: those that occur, or all of a span of codes.

    `joined`: parent and code of each entry as one number; `numbers`: parent and code of each group
    as one number, ascending.
    """

    parents: Integers
    codes: Integers
    counts: Integers
    joined: Integers
    numbers: Integers
    table: int

    def kept(self, mask: Booleans) -> "Candidates":
        """The groups that `mask` marks."""
        return Candidates(
            self.parents[mask],
            self.codes[mask],
            self.counts[mask],
            self.joined,
            self.numbers[mask],
            self.table,
        )

    def places(self, groups: Integers) -> Integers:
        """For each entry the place of its group in `groups`; -1 if its group is not among them.

        `groups`: distinct places among all groups.
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
    """The groups of entries, each of which has a parent below `size` and a code.

    `parents` None: all 0. `span`: every code in it is a group of each parent, also without entries.
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
    """The numbers of groups with entries, and of all groups in the span."""
    wanted = sizes.reshape(-1, kinds) > 0
    wanted[:, span[0] - least : span[1] - least + 1] = True
    return np.flatnonzero(wanted.reshape(-1))


def _of_sparse_codes(parents: Integers | None, codes: Integers, size: int) -> Candidates:
    """`candidates` for codes that are too far apart to be joined with parents."""
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
    """The rank of each line within its parent; `parents` ascend."""
    return np.arange(len(parents)) - np.searchsorted(parents, parents)
