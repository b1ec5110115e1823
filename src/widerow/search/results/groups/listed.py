"""Groups that the request lists: ranges, distances and filters (search §6.3)."""

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widerow.model.search.aggregation import (
    Breakdown,
    DistanceGroupBy,
    FilterGroupBy,
    RangeGroupBy,
    SearchGroup,
)
from widerow.model.search.schema import SearchFieldType
from widerow.search.interface import Integers
from widerow.search.places import distances
from widerow.search.results.breakdown_rules import group_kind
from widerow.search.results.field_rules import NUMBERS, aggregated_field
from widerow.search.results.grouping import Grouping, group_sizes
from widerow.search.results.groups.assembly import below_groups, grouped_by_parent
from widerow.search.results.scope import Scope

__all__ = ["group_by_distance", "group_by_filter", "group_by_range"]

_Ranges = Sequence[tuple[float | None, float | None]]
_Keys = Sequence[tuple[float, float] | None]


def group_by_range(scope: Scope, asked: RangeGroupBy) -> list[tuple[SearchGroup, ...]]:
    """One group for each range [from, to), by from and then to. Raises `InvalidRequest`."""
    aggregated_field(scope.context.rows, group_kind(asked), asked.field, NUMBERS)
    level, spread = scope.spread(asked.field)
    keys = sorted(_bounds(asked.ranges, -math.inf))
    picked = _in_ranges(spread.values, spread.entries, keys)
    return _answers(scope, level, keys, picked, asked.below)


def group_by_distance(scope: Scope, asked: DistanceGroupBy) -> list[tuple[SearchGroup, ...]]:
    """One group for each range of metres, as listed. Raises `InvalidRequest`."""
    kind = group_kind(asked)
    aggregated_field(scope.context.rows, kind, asked.field, (SearchFieldType.GEO_POINT,))
    level, spread = scope.spread(asked.field)
    keys = list(_bounds(asked.ranges, 0.0))
    picked = _in_ranges(distances(spread.values, asked.origin), spread.entries, keys)
    return _answers(scope, level, keys, picked, asked.below)


def group_by_filter(scope: Scope, asked: FilterGroupBy) -> list[tuple[SearchGroup, ...]]:
    """One group for each filter, as listed. Raises what the evaluation of queries raises."""
    level = scope.level
    numbers = level.document_numbers()
    picked = (np.flatnonzero(level.documents.matching(query)[numbers]) for query in asked.filters)
    return _answers(scope, level, [None] * len(asked.filters), picked, asked.below)


def _bounds(ranges: _Ranges, lowest: float) -> Iterator[tuple[float, float]]:
    for low, high in ranges:
        yield lowest if low is None else low, math.inf if high is None else high


def _in_ranges(
    values: NDArray[Any], entries: Integers | None, ranges: Sequence[tuple[float, float]]
) -> Iterator[Integers]:
    """For each range the entries with a value in it, each once, ascending."""
    for low, high in ranges:
        inside = np.flatnonzero((values >= low) & (values < high))
        yield inside if entries is None else np.unique(entries[inside])


def _answers(
    scope: Scope, level: Grouping, keys: _Keys, picked: Iterator[Integers], below: Breakdown
) -> list[tuple[SearchGroup, ...]]:
    """For each group of the level, a group for each of `keys`, also without rows."""
    kinds = len(keys)
    size = level.size * kinds
    scope.context.count_groups(size)
    entries: list[Integers] = []
    groups: list[Integers] = []
    for kind, chosen in enumerate(picked):
        level.documents.check()
        entries.append(chosen)
        groups.append(level.group_numbers(chosen) * kinds + kind)
    places = np.concatenate(groups)
    counts = group_sizes(places, size).tolist()
    answers = below_groups(scope, level, (np.concatenate(entries), places, size), below)
    found = [
        SearchGroup(keys[place % kinds], counts[place], answers[place]) for place in range(size)
    ]
    return grouped_by_parent(found, np.arange(size) // kinds, level.size)
