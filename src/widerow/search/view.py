"""An index at one moment (`interface.IndexView`)."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import final

import numpy as np

from widerow.model.search.query import Query
from widerow.search.fields import SearchFields
from widerow.search.interface import Integers, TokenSpan
from widerow.search.queries.spans import token_spans
from widerow.search.ranks import SMALL_BITS, small_ranks, smaller
from widerow.search.segments import IndexSegment, SegmentView
from widerow.search.selection import KeyOrder, SelectedDocuments, ViewMoment
from widerow.search.terms import packed
from widerow.search.unions import TermUnions

__all__ = ["SegmentedView"]

_Parts = tuple[Sequence[SegmentView], Sequence[SegmentView], Callable[[], IndexSegment | None]]


@final
class SegmentedView:
    """The rows of some segments. Immutable; any thread may ask."""

    def __init__(
        self,
        fields: SearchFields,
        parts: _Parts,
        unions: TermUnions,
        check: Callable[[], None],
        written_from_ms: int | None = None,
    ) -> None:
        """`parts`: large segments, small ones, and a function that makes a segment of the tail.

        The function is called by the first search. `check` is called between steps. Rows written
        before `written_from_ms` are left out.
        """
        self._fields = fields
        self._parts = parts
        self._unions = unions
        self._check = check
        self._written_from_ms = written_from_ms

    @property
    def has_nested(self) -> bool:
        """Whether a field is of type NESTED, so that there is no default order (search §5.1)."""
        return self._fields.has_nested

    @cached_property
    def rows(self) -> int:
        """The number of rows with documents."""
        return sum(each.rows for each in self._segments)

    @cached_property
    def _small(self) -> list[SegmentView]:
        _, small, make_last = self._parts
        last = make_last()
        return [*small] if last is None or not last.count else [*small, SegmentView(last, None)]

    @cached_property
    def _segments(self) -> list[SegmentView]:
        """All segments, by number."""
        segments = [*self._parts[0], *self._small]
        if self._written_from_ms is None:
            return segments
        return [each.written_from(self._written_from_ms) for each in segments]

    @cached_property
    def _moment(self) -> ViewMoment:
        order = KeyOrder(self._ranks, self._bounds)
        return ViewMoment(self._fields, self._segments, self._unions, self._check, order)

    def select(
        self, query: Query, *, scored: bool, limit: int = 0, seed: int = 0, best: int = 0
    ) -> SelectedDocuments:
        """The rows that match, with scores where `scored` (`interface.IndexView`)."""
        asked = self._moment.asked(limit, seed)
        if scored and best:
            return self._moment.select_best(query, asked, best)
        return self._moment.select(query, asked, scored=scored)

    def spans(self, query: Query, field: str, text: str) -> list[TokenSpan]:
        """The places of a query's tokens in a text of a TEXT field."""
        return token_spans(self._fields, query, field, text)

    # --- keys ------------------------------------------------------------------------------------

    @cached_property
    def _small_ranks(self) -> list[Integers]:
        return small_ranks(self._parts[0], [each.segment for each in self._small])

    def _ranks(self, at: int, rows: Integers | None) -> Integers:
        large = self._parts[0]
        if at >= len(large):
            ranks = self._small_ranks[at - len(large)]
            return ranks if rows is None else ranks[rows]
        every = large[at].ranks
        assert every is not None
        return np.left_shift(every if rows is None else every[rows], SMALL_BITS)

    def _bounds(self, key: bytes) -> tuple[int, int]:
        """The bounds of a key among the ranks: see `ranks.small_ranks`."""
        large = self._parts[0]
        before = int(smaller(large, packed([key]))[0])
        keys = [each.segment.keys for each in self._small]
        low = (before << SMALL_BITS) - sum(map(len, keys)) + sum(each.place(key) for each in keys)
        # deleted rows have ranks, too
        high = low + sum(each.find(key) is not None for each in keys)
        for each in large:
            number = each.segment.keys.find(key)
            if number is not None and each.ranks is not None:
                high = max(high, (int(each.ranks[number]) << SMALL_BITS) + 1)
        return low, high
