"""Ranks of rows by their keys, over several segments (search §5.1: ties go by primary key).

Large segments carry the ranks of their rows among all large segments. Ranks are computed when a
segment is added, and a merge keeps them, so that no search pays for them. The few rows of small
segments are placed between them by the search that needs it.
"""

from collections.abc import Sequence
from itertools import chain, pairwise
from operator import is_
from typing import Final

import numpy as np

from widerow.search.interface import Integers
from widerow.search.segments import IndexSegment, SegmentView
from widerow.search.terms import SortedTerms

__all__ = ["SMALL_BITS", "added", "ranked_afresh", "small_ranks", "smaller"]

SMALL_BITS: Final = 20
"""Bits for numbering the rows of small segments between two rows of large ones."""


def smaller(large: Sequence[SegmentView], keys: SortedTerms) -> Integers:
    """For each key, the greatest rank of a smaller key plus one; 0 if no key is smaller."""
    found = np.zeros(len(keys), dtype=np.int64)
    for each in large:
        if each.segment.count and each.ranks is not None:
            places, _ = each.segment.keys.search(keys)
            before = each.ranks[np.maximum(places - 1, 0)] + 1
            found = np.maximum(found, np.where(places > 0, before, 0))
    return found


def added(large: Sequence[SegmentView], segment: SegmentView) -> list[SegmentView]:
    """The large segments with one more, all with new ranks. Cost: a pass over all ranks."""
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
    """The large segments with new ranks, without the gaps that deleted rows leave."""
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

    Comparable with those of large segments where these are shifted by SMALL_BITS. Cost: a look
    into each large segment for a small one that is new, and a sort of the keys of all small ones.
    """
    keys = list(chain.from_iterable([each.keys.listed() for each in small]))
    numbers = np.empty(len(keys), dtype=np.int64)
    numbers[sorted(range(len(keys)), key=keys.__getitem__)] = np.arange(-len(keys), 0)
    ends = np.cumsum([0, *[each.count for each in small]])
    return [
        np.left_shift(_placed(large, each), SMALL_BITS) + numbers[start:end]
        for each, (start, end) in zip(small, pairwise(ends.tolist()), strict=True)
    ]


def _placed(large: Sequence[SegmentView], each: IndexSegment) -> Integers:
    """`smaller` for the keys of a small segment, remembered while the ranks of `large` stay."""
    ranks = [other.ranks for other in large]
    known = each.placed
    if known is None or len(known[0]) != len(ranks) or not all(map(is_, known[0], ranks)):
        known = each.placed = ranks, smaller(large, each.keys)
    return known[1]
