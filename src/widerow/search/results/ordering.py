"""The first documents of an order, without sorting all of them (search §5.1, §11.5)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from widerow.search.interface import Booleans, Integers
from widerow.search.results.columns import Held, SortColumn

__all__ = ["behind", "first_places", "order_keys"]


def order_keys(columns: Sequence[SortColumn]) -> list[NDArray[Any]]:
    """Arrays to sort by, the most significant first."""
    return [key for column in columns for key in column.sort_keys()]


def behind(columns: Sequence[SortColumn], held: Sequence[Held]) -> Booleans:
    """Which documents come strictly after the content of a token (search §5.2)."""
    later = np.zeros(len(columns[0].numbers), np.bool_)
    equal = ~later
    for column, each in zip(columns, held, strict=True):
        greater, same = column.compared(each)
        later |= equal & greater
        equal &= same
    return later


def first_places(keys: Sequence[NDArray[Any]], count: int) -> Integers:
    """The places of the `count` first documents, sorted; ties stay in their order.

    `keys`: arrays of one length, the most significant first. Cost: a pass over each key that
    decides something, and a sort of `count` places.
    """
    chosen = _smallest(keys, count)
    return chosen[np.lexsort([key[chosen] for key in reversed(keys)])]


def _smallest(keys: Sequence[NDArray[Any]], count: int) -> Integers:
    """The places of the `count` first documents, ascending."""
    first = keys[0]
    if count >= len(first):
        return np.arange(len(first))
    if count <= 0:
        return np.zeros(0, np.int64)
    last = np.partition(first, count - 1)[count - 1]
    less = np.flatnonzero(first < last)
    equal = np.flatnonzero(first == last)
    wanted = count - len(less)
    if wanted < len(equal):
        rest = [key[equal] for key in keys[1:]]
        equal = equal[_smallest(rest, wanted)] if rest else equal[:wanted]
    return np.sort(np.concatenate((less, equal)))
