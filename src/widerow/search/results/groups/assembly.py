"""From groups to answers: what is below each, and which parent each belongs to."""

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
    """What is asked for below groups, of each.

    `groups`: some entries (None: each of the level's); for each of them the number of its group, or
    -1; and how many groups there are. Groups without entries have answers too.
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
    """Groups that come parent by parent, as the groups of each parent."""
    bounds = np.searchsorted(parents, np.arange(size + 1)).tolist()
    return [tuple(groups[start:stop]) for start, stop in pairwise(bounds)]
