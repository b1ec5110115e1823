"""Terms of one field in several segments, as one list of terms (search §4.7)."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, final

from widerow.search.columns import TermColumn
from widerow.search.interface import Integers
from widerow.search.terms import SortedTerms, united

__all__ = ["TermUnions"]

_TERMS_KEPT: Final = 1_000_000  # of all unions that are remembered; more are made each time


@final
class TermUnions:
    """Unions of the terms of columns, remembered for those that were asked for last."""

    def __init__(self) -> None:
        """Nothing is remembered."""
        self._known: OrderedDict[tuple[int, ...], _Union] = OrderedDict()

    def of(self, columns: Sequence[TermColumn]) -> tuple[SortedTerms, list[Integers]]:
        """All terms, and for each column the new numbers of its terms. Any thread."""
        name = tuple(map(id, columns))
        known = self._known.pop(name, None)
        if known is None:
            terms, maps = united([each.terms for each in columns])
            known = _Union(tuple(columns), terms, maps)
        self._known[name] = known
        kept = 0
        for other, union in reversed(list(self._known.items())):
            kept += len(union.terms)
            if kept > _TERMS_KEPT and other != name:
                self._known.pop(other, None)
        return known.terms, known.maps

    def forget(self) -> None:
        """Let go of columns, which are those of segments that may be gone."""
        self._known.clear()


class _Union:
    """One union; it keeps its columns, so that no other column ever has their identity."""

    def __init__(
        self, columns: tuple[TermColumn, ...], terms: SortedTerms, maps: list[Integers]
    ) -> None:
        self.columns = columns
        self.terms = terms
        self.maps = maps
