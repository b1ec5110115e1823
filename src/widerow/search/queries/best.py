"""Finding the best scores without sorting all of them (search §4.3)."""

from typing import Final

import numpy as np

from widerow.search.interface import Floats, Integers

__all__ = ["best_places"]

_BLOCK: Final = 64
"""Scores in a block, of which the best is looked at first."""


def best_places(scores: Floats, count: int, floor: float) -> tuple[Integers, float]:
    """The places of scores that may be among the best, ascending, and the new floor.

    Scores of at least `floor`, unless `count` of them are greater. No score below the new floor is
    among the best. Cost: two passes, and a partition of what is left. With NaN among the scores,
    all stay.
    """
    blocks = len(scores) // _BLOCK
    if blocks > count:  # at least `count` scores are as good as the worst of the best blocks
        heights = scores[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
        least = float(np.partition(heights, -count)[-count])
        if least != least:  # noqa: PLR0124  # not a number
            return np.arange(len(scores)), floor
        floor = max(floor, least)
    places = np.flatnonzero(~(scores < floor))
    left = scores[places]
    if len(left) >= count:
        least = float(np.partition(left, -count)[-count])
        if least == least:  # noqa: PLR0124  # a number
            floor = max(floor, least)
            places = places[~(left < floor)]
    return places, floor
