"""Groups with a key: of fields, histograms and geohashes (search §6.3)."""

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from widerow.errors import InvalidRequest
from widerow.limits import GEO_GRID_GROUPS_DEFAULT, GROUPS_DEFAULT, GROUPS_MAX
from widerow.model.search.aggregation import (
    DateHistogramGroupBy,
    FieldGroupBy,
    GeoCell,
    GeoGridGroupBy,
    GroupSort,
    GroupSorter,
    GroupSortKey,
    HistogramGroupBy,
    Metric,
    SearchGroup,
)
from widerow.model.search.query import SortOrder
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import Value
from widerow.search.interface import Integers
from widerow.search.results.breakdown_rules import group_kind
from widerow.search.results.geohash import cell_corners
from widerow.search.results.grouping import group_sizes
from widerow.search.results.groups.assembly import below_groups, grouped_by_parent
from widerow.search.results.groups.codes import Coded, Keyed, coded, group_key_text
from widerow.search.results.groups.numbering import Candidates, candidates, ranks_within
from widerow.search.results.metrics import metric_numbers
from widerow.search.results.ordering import first_places
from widerow.search.results.scope import Scope

__all__ = ["group_by_key"]

_MOST_ROWS: Final[GroupSort] = (GroupSorter(GroupSortKey.ROW_COUNT, SortOrder.DESC),)


def group_by_key(scope: Scope, asked: Keyed) -> list[tuple[SearchGroup, ...]]:
    """For each group of the level the groups below it, in their order.

    Raises `InvalidRequest` for fields without such groups, and for too many of them.
    """
    found = coded(scope, asked)
    groups = _wanted(found, asked)
    order = _order(scope, found, groups, asked)
    scope.context.count_groups(len(order))
    places = groups.places(order) if asked.below else np.zeros(0, np.int64)
    below = below_groups(scope, found.level, (found.entries, places, len(order)), asked.below)
    counts = groups.counts[order].tolist()
    answers = []
    for place, code in enumerate(groups.codes[order].tolist()):
        group = SearchGroup(_key(asked, found.key(code)), counts[place], below[place])
        if isinstance(asked, GeoGridGroupBy):
            group = replace(group, cell=_cell(code, len(str(group.key))))
        answers.append(group)
    return grouped_by_parent(answers, groups.parents[order], found.level.size)


def _wanted(found: Coded, asked: Keyed) -> Candidates:
    """The groups with enough rows (`min_doc_count`)."""
    level = found.level
    parents = None if level.groups is None else level.group_numbers(found.entries)
    if isinstance(asked, GeoGridGroupBy):
        return candidates(parents, found.codes, level.size)
    least = 1 if asked.min_doc_count is None else asked.min_doc_count
    if isinstance(asked, FieldGroupBy) or least > 0:
        groups = candidates(parents, found.codes, level.size)
        return groups if least <= 1 else groups.kept(groups.counts >= least)
    span = found.span or _ends(found.codes)
    if span is None:
        return candidates(parents, found.codes, level.size)
    if span[1] - span[0] > GROUPS_MAX:
        _refuse(asked)
    groups = candidates(parents, found.codes, level.size, span)
    return groups if found.span is not None else groups.kept(_between_ends(groups, level.size))


def _ends(codes: Integers) -> tuple[int, int] | None:
    return (int(codes.min()), int(codes.max())) if len(codes) else None


def _between_ends(groups: Candidates, size: int) -> NDArray[np.bool_]:
    """A mask of the groups between the first and the last group with rows, for each parent."""
    filled = np.flatnonzero(groups.counts)
    first = np.full(size, len(groups.counts), np.int64)
    last = np.full(size, -1, np.int64)
    np.minimum.at(first, groups.parents[filled], filled)
    np.maximum.at(last, groups.parents[filled], filled)
    places = np.arange(len(groups.counts))
    return (places >= first[groups.parents]) & (places <= last[groups.parents])


def _refuse(asked: Keyed) -> None:
    raise InvalidRequest(TablestoreRule.GROUP_BUCKETS, kind=group_kind(asked), maximum=GROUPS_MAX)


def _order(scope: Scope, found: Coded, groups: Candidates, asked: Keyed) -> Integers:
    """The places of the groups to be answered, by parent, sorted within each."""
    size = _size(asked)
    keys = _sort_keys(scope, found, groups, asked)
    if found.level.size == 1:
        order = first_places(keys, len(groups.codes) if size is None else size)
    else:
        order = first_places([groups.parents, *keys], len(groups.codes))
        if size is not None:
            order = order[ranks_within(groups.parents[order]) < size]
    if size is None and group_sizes(groups.parents, found.level.size).max(initial=0) > GROUPS_MAX:
        _refuse(asked)
    return order


def _size(asked: Keyed) -> int | None:
    """How many groups are answered; None: all groups of a histogram."""
    if isinstance(asked, FieldGroupBy):
        return GROUPS_DEFAULT if asked.size is None else asked.size
    if isinstance(asked, GeoGridGroupBy):
        return GEO_GRID_GROUPS_DEFAULT if asked.size is None else asked.size
    return None


def _sort_keys(scope: Scope, found: Coded, groups: Candidates, asked: Keyed) -> list[NDArray[Any]]:
    default = () if isinstance(asked, HistogramGroupBy | DateHistogramGroupBy) else _MOST_ROWS
    sorters = default if isinstance(asked, GeoGridGroupBy) else asked.sort or default
    keys: list[NDArray[Any]] = []
    for sorter in sorters:
        if sorter.key is GroupSortKey.KEY:
            key: NDArray[Any] = groups.codes
        elif sorter.key is GroupSortKey.ROW_COUNT:
            key = groups.counts
        else:
            key = _metric(scope, found, groups, asked, sorter.metric)
        keys.append(key if sorter.order is SortOrder.ASC else _descending(key))
    return [*keys, groups.codes]


def _descending(key: NDArray[Any]) -> NDArray[Any]:
    """An array that sorts descending. `~`: the smallest integer has no negative."""
    return -key if key.dtype == np.float64 else ~key


def _metric(
    scope: Scope, found: Coded, groups: Candidates, asked: Keyed, name: str
) -> NDArray[Any]:
    """A metric of every group."""
    metrics = (each for each in asked.below.aggregations if isinstance(each, Metric))
    metric = next(each for each in metrics if each.name == name)
    places = groups.places(np.arange(len(groups.codes)))
    if (places < 0).any():
        kept = np.flatnonzero(places >= 0)
        entries = kept if found.entries is None else found.entries[kept]
        level = found.level.split(entries, places[kept], len(groups.codes))
    else:
        level = found.level.split(found.entries, places, len(groups.codes))
    return metric_numbers(Scope(scope.context, level, asked.below), metric)


def _key(asked: Keyed, key: Value) -> Value:
    return group_key_text(key) if isinstance(asked, FieldGroupBy) else key


def _cell(code: int, precision: int) -> GeoCell:
    south, north, west, east = cell_corners(code, precision)
    return GeoCell((north, west), (south, east))
