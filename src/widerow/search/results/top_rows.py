"""The first rows of each group (search §6.2)."""

from itertools import pairwise

import numpy as np

from widerow.model.search.aggregation import TopRows
from widerow.search.interface import Integers
from widerow.search.results.columns import completed_sort, sort_columns
from widerow.search.results.grouping import Grouping
from widerow.search.results.ordering import first_places, order_keys
from widerow.search.results.scope import Scope

__all__ = ["top_row_keys"]


def top_row_keys(scope: Scope, asked: TopRows) -> list[tuple[bytes, ...]]:
    """The encoded primary keys of the first rows of each group, each row once.

    In the order of the request, else in the order of the search. Raises `InvalidRequest`.
    """
    level = scope.at("")
    given = asked.sort is not None and asked.sort.sorters
    sort = completed_sort(asked.sort) if given and asked.sort else scope.context.sort
    columns = sort_columns(level.documents, sort.sorters, scores=level.documents.scores)
    keys = order_keys(columns)
    if level.numbers is not None:
        keys = [key[level.numbers] for key in keys]
    if level.groups is None:
        places = first_places(keys, asked.limit)
        groups = np.zeros(len(places), np.int64)
    else:
        places = first_places([level.groups, *keys], level.entries)
        groups = level.groups[places]
        first = np.arange(len(places)) - np.searchsorted(groups, groups) < asked.limit
        places, groups = places[first], groups[first]
    scope.context.count_top_rows(len(places))
    return _keys_of_groups(level, places, groups)


def _keys_of_groups(level: Grouping, places: Integers, groups: Integers) -> list[tuple[bytes, ...]]:
    rows = level.document_numbers()[places]
    keys = level.documents.keys(rows)
    bounds = np.searchsorted(groups, np.arange(level.size + 1)).tolist()
    return [tuple(keys[start:stop]) for start, stop in pairwise(bounds)]
