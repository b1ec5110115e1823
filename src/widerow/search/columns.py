"""Fields of one segment as arrays: values, terms, vectors (search §11.5).

A column holds the values of its documents one behind the other, and with each its owner; columns
that have exactly one value for every document leave the owners out. The names of the arrays are
those of the files (`docs/formats/search.md`).
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widerow.search.interface import Booleans, Integers
from widerow.search.terms import SortedTerms, gathered

__all__ = [
    "POSITION_BITS",
    "Arrays",
    "FieldColumn",
    "Postings",
    "TakenValues",
    "TermColumn",
    "TextColumn",
    "ValueColumn",
    "mask_of",
]

Arrays = Mapping[str, NDArray[Any]]
"""Arrays by name; those that a segment leaves out are absent."""

POSITION_BITS: Final = 20
"""Of the position of a token; the number of its document stands above them."""

_MANY: Final = 8  # one of so many documents, and all of them are looked at


def mask_of(numbers: NDArray[Any], count: int) -> Booleans:
    """Numbers below `count` as a mask."""
    mask = np.zeros(count, dtype=np.bool_)
    mask[numbers] = True
    return mask


def _numbering(numbers: Integers, count: int) -> Integers:
    """For all numbers below `count`, their place among some; anything for the others."""
    places = np.empty(count, dtype=np.int64)
    places[numbers] = np.arange(len(numbers), dtype=np.int64)
    return places


class TakenValues(NamedTuple):
    """Values of some documents; `owners` None where each has exactly one."""

    values: NDArray[Any]
    owners: Integers | None


def _taken_values(
    values: NDArray[Any], owners: NDArray[Any] | None, numbers: Integers | None, count: int
) -> TakenValues:
    """The values of documents with ascending numbers, owned by their places; None: of all."""
    if owners is None:
        return TakenValues(values if numbers is None else values[numbers], None)
    if numbers is None:
        return TakenValues(values, owners.astype(np.int64))
    if len(numbers) * _MANY > count:
        chosen = mask_of(numbers, count)[owners]
        return TakenValues(values[chosen], _numbering(numbers, count)[owners[chosen]])
    low = np.searchsorted(owners, numbers, side="left")
    lengths = np.searchsorted(owners, numbers, side="right") - low
    places = np.repeat(np.arange(len(numbers), dtype=np.int64), lengths)
    return TakenValues(gathered(values, low, lengths), places)


class FieldColumn:
    """What all columns have: arrays, and for how many documents. Immutable."""

    def __init__(self, arrays: Arrays, count: int) -> None:
        """A column of `count` documents."""
        self.arrays = arrays
        self.count = count

    @property
    def owners(self) -> NDArray[np.int32] | None:
        """The document of each value, ascending; None where each document has exactly one."""
        return self.arrays.get("owners")

    def existing(self) -> Booleans:
        """Which documents have a value."""
        owners = self.owners
        if owners is None:
            return np.ones(self.count, dtype=np.bool_)
        return mask_of(owners, self.count)

    def owned(self, hit: Booleans) -> Booleans:
        """Which documents have one of the values that a mask of values names."""
        owners = self.owners
        return hit if owners is None else mask_of(owners[hit], self.count)


class ValueColumn(FieldColumn):
    """LONG, DATE, DOUBLE, BOOLEAN: numbers. GEO_POINT: pairs (n, 2). VECTOR: vectors (n, d)."""

    @property
    def values(self) -> NDArray[Any]:
        """All values, document by document."""
        return self.arrays["values"]

    @cached_property
    def squares(self) -> NDArray[np.float32]:
        """The square of the length of each vector."""
        return np.asarray(np.einsum("ij,ij->i", self.values, self.values))

    def taken(self, numbers: Integers | None) -> TakenValues:
        """The values of some documents, or of all."""
        return _taken_values(self.values, self.owners, numbers, self.count)


class _TermedColumn(FieldColumn):
    """What columns with terms have: for each term its documents."""

    @cached_property
    def terms(self) -> SortedTerms:
        """The terms in the order of their bytes."""
        return SortedTerms(self.arrays["terms"], self.arrays["term_starts"])

    def documents(self, first: int, beyond: int) -> NDArray[np.int32]:
        """The documents of terms with numbers in a row; of one term they ascend, each once."""
        starts = self.arrays["document_starts"]
        return self.arrays["documents"][int(starts[first]) : int(starts[beyond])]

    def documents_of(self, numbers: Integers) -> NDArray[np.int32]:
        """The documents of some terms, one behind the other."""
        starts = np.asarray(self.arrays["document_starts"], dtype=np.int64)
        low = starts[numbers]
        return gathered(self.arrays["documents"], low, starts[numbers + 1] - low)


class TermColumn(_TermedColumn):
    """KEYWORD, FUZZY_KEYWORD, IP: numbers of terms, and for each term its documents."""

    @property
    def values(self) -> NDArray[np.int32]:
        """The number of the term of each value."""
        return self.arrays["ordinals"]

    def taken(self, numbers: Integers | None) -> TakenValues:
        """The numbers of the terms of some documents, or of all."""
        return _taken_values(self.values, self.owners, numbers, self.count)


class Postings(NamedTuple):
    """Where one token stands: `documents` ascend, each once; `frequencies`: how often in each.

    Those of phrases with a slop are no whole numbers.
    """

    documents: NDArray[np.int32]
    frequencies: NDArray[Any]


class TextColumn(_TermedColumn):
    """TEXT: for each token its documents, how often it stands in each, and at which positions.

    Positions stand token by token, document by document. `lengths`: of each document's text, for
    scores; -1 where it has none.
    """

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Counted tokens of each document; -1 without a value."""
        return self.arrays["lengths"]

    def existing(self) -> Booleans:
        """Which documents have a value, if one without tokens."""
        return np.asarray(self.lengths >= 0)

    def postings(self, number: int) -> Postings:
        """The documents of one token."""
        starts = self.arrays["document_starts"]
        run = slice(int(starts[number]), int(starts[number + 1]))
        return Postings(self.arrays["documents"][run], self.arrays["frequencies"][run])

    def places(self, number: int, chosen: Integers) -> Integers:
        """Where one token stands, in those of its documents with some places among them.

        `document << POSITION_BITS | position`, ascending as the chosen ones do.
        """
        documents, frequencies = self.postings(number)
        ends = np.cumsum(frequencies, dtype=np.int64)
        lengths = frequencies[chosen].astype(np.int64)
        starts = ends[chosen] - lengths + int(self.arrays["position_starts"][number])
        positions = gathered(self.arrays["positions"], starts, lengths)
        owners = np.repeat(documents[chosen].astype(np.int64), lengths)
        return (owners << POSITION_BITS) | positions
