"""Nodes: the interface by which queries are evaluated, and their answers."""

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
    """The documents of one segment's level that match; deleted ones may be among them.

    Either `numbers`, ascending, each once, or a `mask`. `scores` of numbers, where asked for.
    """

    numbers: Integers | None
    mask: Booleans | None = None
    scores: Floats | None = None

    def as_mask(self, count: int) -> Booleans:
        """The documents as a mask of `count` documents."""
        if self.mask is not None:
            return self.mask
        return mask_of(self.as_numbers(), count)

    def as_numbers(self) -> Integers:
        """The documents as ascending numbers."""
        if self.numbers is not None:
            return self.numbers
        assert self.mask is not None
        return np.flatnonzero(self.mask)


_NO_NUMBERS: Integers = np.zeros(0, dtype=np.int64)
NO_MATCH = Matched(_NO_NUMBERS, scores=np.zeros(0, dtype=np.float64))
"""The answer without a document."""


@dataclass(frozen=True)
class Asked:
    """The circumstances of one evaluation: schema, segments, limit, seed.

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
        """The matching documents of segment number `at`; with scores if made with them."""

    def run_best(self, at: int, count: int, floor: float) -> Matched:  # noqa: ARG002  # a bound
        """As `run`, with scores; documents that are not among the best may be left out.

        The best are the `count` best living documents, and all with the score of the last of them,
        but none with a score below `floor`.
        """
        return self.run(at)


class NoneNode(Node):
    """A node that matches no document."""

    def run(self, at: int) -> Matched:  # noqa: ARG002  # for every segment
        """No document."""
        return NO_MATCH


def hits(numbers: NDArray[Any], count: int) -> Matched:
    """An answer of unsorted numbers, which may repeat; as a mask where they are many."""
    if len(numbers) * 16 < count:
        return Matched(np.unique(numbers).astype(np.int64))
    return Matched(None, mask_of(numbers, count))


def constant(found: Matched, score: float) -> Matched:
    """The documents of `found`, all with one score."""
    numbers = found.as_numbers()
    return Matched(numbers, scores=np.full(len(numbers), score))


def both(one: Matched, other: Matched) -> Matched:
    """The documents of both answers, without scores."""
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
