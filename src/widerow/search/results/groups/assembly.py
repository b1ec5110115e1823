"""Answers of groups: what is asked below each group, and the parent of each."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from widerow.model.search.aggregation import Breakdown, BreakdownAnswer, SearchGroup
from widerow.search.interface import Integers
from widerow.search.results.grouping import Grouping
from widerow.search.results.scope import Scope

__all__ = ["below_groups", "grouped_by_parent"]


def below_groups(
    scope: Scope,
    level: Grouping,
    groups: tuple[Integers | None, Integers, int],
    below: Breakdown,
) -> list[BreakdownAnswer]:
    """The metrics and groups below each of some groups.

    `groups`: entries of the level (None: all of them); the number of each one's group, or -1; the
    number of groups. Groups without entries have answers, too.
    """
    entries, places, size = groups
    if not below or size == 0:
        return [BreakdownAnswer()] * size
    kept = np.flatnonzero(places >= 0)
    if len(kept) < len(places):
        entries = kept if entries is None else entries[kept]
        places = places[kept]
    return scope.context.descend(scope.context, level.split(entries, places, size), below)


def grouped_by_parent(
    groups: Sequence[SearchGroup], parents: Integers, size: int
) -> list[tuple[SearchGroup, ...]]:
    """Groups that are sorted by parent, as one tuple for each parent."""
    bounds = np.searchsorted(parents, np.arange(size + 1)).tolist()
    return [tuple(groups[start:stop]) for start, stop in pairwise(bounds)]
