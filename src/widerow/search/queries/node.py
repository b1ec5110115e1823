"""What a query is carried out with: nodes, what they answer, and what they are asked in."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widerow.search.columns import mask_of
from widerow.search.fields import DocumentLevel, SearchFields
from widerow.search.interface import Booleans, Floats, Integers
from widerow.search.segments import SegmentView, TableView

__all__ = [
    "NO_MATCH",
    "Asked",
    "Matched",
    "Node",
    "NoneNode",
    "both",
    "constant",
    "hits",
]


class Matched(NamedTuple):
    """The documents of one table that match, deleted ones perhaps among them.

    Either `numbers`, ascending, each once, or a `mask`. `scores` of numbers, where asked for.
    """

    numbers: Integers | None
    mask: Booleans | None = None
    scores: Floats | None = None

    def as_mask(self, count: int) -> Booleans:
        """As a mask of `count` documents."""
        if self.mask is not None:
            return self.mask
        return mask_of(self.as_numbers(), count)

    def as_numbers(self) -> Integers:
        """As ascending numbers."""
        if self.numbers is not None:
            return self.numbers
        assert self.mask is not None
        return np.flatnonzero(self.mask)


_NO_NUMBERS: Integers = np.zeros(0, dtype=np.int64)
NO_MATCH = Matched(_NO_NUMBERS, scores=np.zeros(0, dtype=np.float64))
"""No document."""


@dataclass(frozen=True)
class Asked:
    """One evaluation: over which segments, and how.

    `limit`: of the request, for vectors. `seed`: of random scores. `check` is called between steps.
    """

    fields: SearchFields
    segments: Sequence[SegmentView]
    check: Callable[[], None]
    limit: int = 0
    seed: int = 0

    def tables(self, level: DocumentLevel) -> list[TableView]:
        """The documents of a level, segment by segment."""
        return [each.tables[level.number] for each in self.segments]


class Node(ABC):
    """A query at one level, compiled. It answers for one segment at a time."""

    @abstractmethod
    def run(self, at: int) -> Matched:
        """The documents of segment number `at` that match; with scores if it was made for them."""

    def run_best(self, at: int, count: int, floor: float) -> Matched:  # noqa: ARG002  # at most
        """As `run` with scores; documents may be left out that are not among the best.

        Those are the `count` best that are alive, and all that score as the last of them does.
        Documents below `floor` are not, either.
        """
        return self.run(at)


class NoneNode(Node):
    """No document."""

    def run(self, at: int) -> Matched:  # noqa: ARG002  # of every segment
        """Nothing."""
        return NO_MATCH


def hits(numbers: NDArray[Any], count: int) -> Matched:
    """Documents that may come several times, in any order: as a mask where they are many."""
    if len(numbers) * 16 < count:
        return Matched(np.unique(numbers).astype(np.int64))
    return Matched(None, mask_of(numbers, count))


def constant(found: Matched, score: float) -> Matched:
    """The same documents, all with one score."""
    numbers = found.as_numbers()
    return Matched(numbers, scores=np.full(len(numbers), score))


def both(one: Matched, other: Matched) -> Matched:
    """What is in both, without scores."""
    if one.numbers is None and other.numbers is None:
        assert one.mask is not None
        assert other.mask is not None
        return Matched(None, one.mask & other.mask)
    if one.numbers is None:
        one, other = other, one
    numbers = one.as_numbers()
    if other.mask is not None:
        return Matched(numbers[other.mask[numbers]])
    return Matched(np.intersect1d(numbers, other.as_numbers(), assume_unique=True))
