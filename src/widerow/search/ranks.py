"""How the rows of several segments rank by their keys (search §5.1: ties go by primary key).

Large segments carry the ranks of their rows among all large segments. They are computed when one
is added, and a merge keeps them, so that no search pays for them. Rows of small segments, of which
there are few, are placed between them when somebody asks.
"""

from collections.abc import Sequence
from typing import Final

import numpy as np

from widerow.search.interface import Integers
from widerow.search.segments import IndexSegment, SegmentView
from widerow.search.terms import SortedTerms

__all__ = ["SMALL_BITS", "added", "ranked_afresh", "small_ranks", "smaller"]

SMALL_BITS: Final = 20
"""Rows of small segments between two of large ones are numbered in so many bits."""


def smaller(large: Sequence[SegmentView], keys: SortedTerms) -> Integers:
    """For each key, one more than the greatest rank of a smaller one; 0 where there is none."""
    found = np.zeros(len(keys), dtype=np.int64)
    for each in large:
        if each.segment.count and each.ranks is not None:
            places, _ = each.segment.keys.search(keys)
            before = each.ranks[np.maximum(places - 1, 0)] + 1
            found = np.maximum(found, np.where(places > 0, before, 0))
    return found


def added(large: Sequence[SegmentView], segment: SegmentView) -> list[SegmentView]:
    """The large segments with another one, all with new ranks. Cost: a pass over all ranks."""
    count = segment.segment.count
    before = smaller(large, segment.segment.keys)
    own = before + np.arange(count, dtype=np.int64)
    moved: list[SegmentView] = []
    highest = max((_highest(each) for each in large), default=-1)
    shifts = np.cumsum(np.bincount(before, minlength=highest + 2))
    for each in large:
        assert each.ranks is not None
        moved.append(each.ranked(each.ranks + shifts[each.ranks]))
    return [*moved, segment.ranked(own)]


def _highest(each: SegmentView) -> int:
    return -1 if each.ranks is None or not len(each.ranks) else int(each.ranks[-1])


def ranked_afresh(large: Sequence[SegmentView]) -> list[SegmentView]:
    """The large segments with ranks without holes, which deleted rows leave."""
    every = np.concatenate([each.ranks for each in large if each.ranks is not None])
    fresh = np.empty(len(every), dtype=np.int64)
    fresh[np.argsort(every, kind="stable")] = np.arange(len(every), dtype=np.int64)
    result: list[SegmentView] = []
    start = 0
    for each in large:
        result.append(each.ranked(fresh[start : start + each.segment.count]))
        start += each.segment.count
    return result


def small_ranks(large: Sequence[SegmentView], small: Sequence[IndexSegment]) -> list[Integers]:
    """Ranks of the rows of small segments.

    Comparable with those of large segments where these are shifted by SMALL_BITS.
    """
    keys = [
        (key, which, at) for which, each in enumerate(small) for at, key in enumerate(each.keys)
    ]
    keys.sort()
    ranks = [np.empty(each.count, dtype=np.int64) for each in small]
    before = [smaller(large, each.keys) for each in small]
    for number, (_, which, at) in enumerate(keys):
        ranks[which][at] = (int(before[which][at]) << SMALL_BITS) - len(keys) + number
    return ranks
