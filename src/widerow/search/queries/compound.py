"""Queries made of queries: Bool, ConstScore, DisMax, Nested (search §4.1, §4.2, §4.4)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from widerow.model.search.query import BoolQuery, NestedScoreMode
from widerow.search.columns import mask_of
from widerow.search.fields import DocumentLevel
from widerow.search.interface import Floats, Integers
from widerow.search.queries.minimum import required_of
from widerow.search.queries.node import NO_MATCH, Asked, Matched, Node, both, constant, hits
from widerow.search.segments import TableView

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["AllNode", "BoolNode", "ConstNode", "DisMaxNode", "NestedNode", "required_should"]


class AllNode(Node):
    """Every document."""

    def __init__(self, tables: list[TableView], score: float | None) -> None:
        """`score`: of every document; None: without scores."""
        self._tables = tables
        self._score = score

    def run(self, at: int) -> Matched:
        """All documents of a segment."""
        count = self._tables[at].count
        if self._score is None:
            return Matched(None, np.ones(count, dtype=np.bool_))
        return Matched(np.arange(count), scores=np.full(count, self._score))


class ConstNode(Node):
    """The documents of another node, all with one score."""

    def __init__(self, below: Node, score: float) -> None:
        """`score`: of every document that `below` finds."""
        self._below = below
        self._score = score

    def run(self, at: int) -> Matched:
        """The documents of a segment."""
        return constant(self._below.run(at), self._score)


def required_should(query: BoolQuery) -> int:
    """How many of `should` have to match: at least 1 if nothing else must (search §4.2)."""
    least = 1 if query.should and not (query.must or query.filter) else 0
    return max(required_of(query.minimum_should_match, len(query.should), absent=least), least)


class BoolNode(Node):
    """Documents that match all of some nodes, none of others, and enough of the rest."""

    def __init__(
        self,
        asked: tuple[Asked, list[TableView]],
        clauses: tuple[Sequence[Node], Sequence[Node], Sequence[Node], Sequence[Node]],
        required: int,
        weight: float | None,
    ) -> None:
        """`clauses`: must, must not, filter, should. `weight` None: without scores."""
        run, self._tables = asked
        self._check = run.check
        self._must, self._must_not, self._filter, self._should = clauses
        self._required = required
        self._weight = weight

    def run(self, at: int) -> Matched:
        """The documents of a segment."""
        count = self._tables[at].count
        totals = None if self._weight is None else np.zeros(count)
        found: Matched | None = None
        for node in (*self._filter, *self._must):
            self._check()
            result = node.run(at)
            if node in self._must:
                _add(totals, result)
            found = result if found is None else both(found, result)
            if found.numbers is not None and not len(found.numbers):
                return NO_MATCH
        found = self._with_should(at, found, totals)
        for node in self._must_not:
            self._check()
            found = _excluding(found, node.run(at), count)
        if totals is None:
            return Matched(found.numbers, found.mask)
        numbers = found.as_numbers()
        return Matched(numbers, scores=(self._weight or 0.0) * totals[numbers])

    def _with_should(self, at: int, found: Matched | None, totals: Floats | None) -> Matched:
        count = self._tables[at].count
        every = Matched(None, np.ones(count, dtype=np.bool_)) if found is None else found
        if self._required <= 0 and totals is None:
            return every
        if self._required > len(self._should):
            return NO_MATCH
        results: list[Matched] = []
        for node in self._should:
            self._check()
            results.append(node.run(at))
            _add(totals, results[-1])
        if self._required <= 0:
            return every
        enough = _enough(results, self._required, count)
        return enough if found is None else both(found, enough)


def _add(totals: Floats | None, result: Matched) -> None:
    if totals is not None and result.scores is not None:
        totals[result.as_numbers()] += result.scores


def _enough(results: Sequence[Matched], required: int, count: int) -> Matched:
    if len(results) == 1:
        return Matched(results[0].numbers, results[0].mask)
    if required == 1 and all(each.numbers is not None for each in results):
        return hits(np.concatenate([each.as_numbers() for each in results]), count)
    counts = np.zeros(count, dtype=np.int16)
    for each in results:
        if each.mask is not None:
            counts += each.mask
        else:
            counts[each.as_numbers()] += 1
    return Matched(None, counts >= required)


def _excluding(found: Matched, result: Matched, count: int) -> Matched:
    if found.numbers is None:
        mask = found.as_mask(count)
        if result.mask is not None:
            return Matched(None, mask & ~result.mask)
        mask = mask.copy()
        mask[result.as_numbers()] = False
        return Matched(None, mask)
    return Matched(found.numbers[~result.as_mask(count)[found.numbers]])


class DisMaxNode(Node):
    """Documents that match any of some nodes; the score is the best, plus a part of the others."""

    def __init__(
        self, tables: list[TableView], nodes: Sequence[Node], factors: tuple[float, float] | None
    ) -> None:
        """`factors`: the tie breaker and the weight; None: without scores."""
        self._tables = tables
        self._nodes = nodes
        self._factors = factors

    def run(self, at: int) -> Matched:
        """The documents of a segment."""
        count = self._tables[at].count
        results = [node.run(at) for node in self._nodes]
        found = _enough(results, 1, count) if results else NO_MATCH
        if self._factors is None:
            return Matched(found.numbers, found.mask)
        best, total = np.full(count, -np.inf), np.zeros(count)
        for each in results:
            numbers = each.as_numbers()
            assert each.scores is not None
            best[numbers] = np.maximum(best[numbers], each.scores)
            total[numbers] += each.scores
        numbers = found.as_numbers()
        tie, weight = self._factors
        scores = best[numbers] + tie * (total[numbers] - best[numbers])
        return Matched(numbers, scores=weight * scores)


# --- documents below ---------------------------------------------------------------------------


class NestedNode(Node):
    """Documents with a nested document that another node finds."""

    def __init__(
        self,
        asked: Asked,
        levels: tuple[DocumentLevel, DocumentLevel],
        below: Node,
        score: tuple[NestedScoreMode, float] | None,
    ) -> None:
        """`levels`: of the documents and of nested ones.

        `score`: the mode and a weight, or None.
        """
        self._asked = asked
        self._level, self._child = levels
        self._below = below
        self._score = score

    def run(self, at: int) -> Matched:
        """The documents of a segment."""
        segment = self._asked.segments[at].segment
        found = self._below.run(at)
        above = segment.above(self._child, self._level)
        if self._score is None:
            chosen = above[found.mask] if found.mask is not None else above[found.as_numbers()]
            return Matched(None, mask_of(chosen, segment.counts[self._level.number]))
        owners = above[found.as_numbers()]
        if not len(owners):
            return NO_MATCH
        mode, weight = self._score
        begins = np.flatnonzero(np.concatenate(([True], owners[1:] != owners[:-1])))
        scores = np.zeros(len(begins))
        if mode is not NestedScoreMode.NONE:
            assert found.scores is not None
            scores = _folded(found.scores, begins, mode)
        return Matched(owners[begins], scores=weight * scores)


def _folded(scores: Floats, begins: Integers, mode: NestedScoreMode) -> Floats:
    if mode is NestedScoreMode.MAX:
        return np.maximum.reduceat(scores, begins)
    if mode is NestedScoreMode.MIN:
        return np.minimum.reduceat(scores, begins)
    total: NDArray[Any] = np.add.reduceat(scores, begins)
    if mode is NestedScoreMode.AVG:
        total = total / np.diff(np.append(begins, len(scores)))
    return total
