"""Terms of one field in several segments, as one list of terms (search §4.7)."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final, final

from widerow.search.columns import TermColumn
from widerow.search.interface import Integers
from widerow.search.terms import SortedTerms, united

__all__ = ["TermUnions"]

_TERMS_KEPT: Final = 1_000_000  # of all kept unions; larger ones are made for each search


@final
class TermUnions:
    """Unions of terms of columns; the last ones are kept."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[int, ...], _Union] = OrderedDict()

    def of(self, columns: Sequence[TermColumn]) -> tuple[SortedTerms, list[Integers]]:
        """The terms of all columns, and for each column the new numbers of its terms.

        Any thread.
        """
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
        """Drop the unions, whose segments may be gone."""
        self._known.clear()


class _Union:
    """A union; it keeps its columns alive, so that no other column gets their identity."""

    def __init__(
        self, columns: tuple[TermColumn, ...], terms: SortedTerms, maps: list[Integers]
    ) -> None:
        self.columns = columns
        self.terms = terms
        self.maps = maps
