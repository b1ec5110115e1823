"""One row for each value of a field (search §5.5)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widerow.limits import COLLAPSE_ROUNDS_MAX
from widerow.search.interface import DocumentSet, Integers
from widerow.search.results.field_rules import collapsed_field
from widerow.search.results.ordering import first_places

__all__ = ["first_of_each_value"]


def first_of_each_value(
    documents: DocumentSet, field: str, keys: Sequence[NDArray[Any]], count: int
) -> Integers:
    """The places of the first documents of `count` values of a field, in order.

    All documents without the field count as one value. `keys`: the arrays to sort by. Looks at the
    first documents of the order, then at the first with other values, and sorts the rest only if
    few values were found. Raises `InvalidRequest`.
    """
    codes = _codes(documents, field)
    left = np.arange(documents.count)
    found: list[Integers] = []
    missing = count
    for turn in range(COLLAPSE_ROUNDS_MAX + 1):
        if missing <= 0 or len(left) == 0:
            break
        documents.check()
        wanted = len(left) if turn == COLLAPSE_ROUNDS_MAX else missing * 2
        places = left[first_places([key[left] for key in keys], wanted)]
        firsts = np.sort(np.unique(codes[places], return_index=True)[1])[:missing]
        found.append(places[firsts])
        missing -= len(firsts)
        left = left[~np.isin(codes[left], codes[found[-1]])]
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _codes(documents: DocumentSet, field: str) -> Integers:
    """For each document a number: equal for equal values of a field, -1 without a value."""
    collapsed_field(documents, field)
    found = documents.values(field)
    values = found.values
    if values.dtype != np.int64 or found.terms is None:
        values = np.unique(values, return_inverse=True)[1]
    codes = np.full(documents.count, -1, np.int64)
    codes[found.owners] = values
    return codes
