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
from widerow.search.terms import SortedTerms, gathered, run_numbers

__all__ = [
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

_POSITION_BITS: Final = 20
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


class TermColumn(FieldColumn):
    """KEYWORD, FUZZY_KEYWORD, IP: numbers of terms, and for each term its documents."""

    @cached_property
    def terms(self) -> SortedTerms:
        """The terms in the order of their bytes."""
        return SortedTerms(self.arrays["terms"], self.arrays["term_starts"])

    @property
    def values(self) -> NDArray[np.int32]:
        """The number of the term of each value."""
        return self.arrays["ordinals"]

    def taken(self, numbers: Integers | None) -> TakenValues:
        """The numbers of the terms of some documents, or of all."""
        return _taken_values(self.values, self.owners, numbers, self.count)

    def documents(self, first: int, beyond: int) -> NDArray[np.int32]:
        """The documents of terms with numbers in a row; of one term they ascend, each once."""
        starts = self.arrays["document_starts"]
        return self.arrays["documents"][int(starts[first]) : int(starts[beyond])]

    def documents_of(self, numbers: Integers) -> NDArray[np.int32]:
        """The documents of some terms, one behind the other."""
        starts = np.asarray(self.arrays["document_starts"], dtype=np.int64)
        low = starts[numbers]
        return gathered(self.arrays["documents"], low, starts[numbers + 1] - low)


class Postings(NamedTuple):
    """Where one token stands: `documents` ascend, each once; `frequencies`: how often in each.

    Those of phrases with a slop are no whole numbers.
    """

    documents: Integers
    frequencies: NDArray[Any]


class TextColumn(FieldColumn):
    """TEXT: for each token, the documents and positions where it stands, as one number each.

    `document << 20 | position`, ascending. `lengths`: of each document's text, for scores; -1
    where it has none.
    """

    @cached_property
    def terms(self) -> SortedTerms:
        """The tokens in the order of their bytes."""
        return SortedTerms(self.arrays["terms"], self.arrays["term_starts"])

    @property
    def lengths(self) -> NDArray[np.int32]:
        """Counted tokens of each document; -1 without a value."""
        return self.arrays["lengths"]

    def existing(self) -> Booleans:
        """Which documents have a value, if one without tokens."""
        return np.asarray(self.lengths >= 0)

    def places(self, first: int, beyond: int | None = None) -> NDArray[np.uint64]:
        """The postings of tokens with numbers in a row; those of one ascend."""
        starts = self.arrays["posting_starts"]
        beyond = first + 1 if beyond is None else beyond
        return self.arrays["postings"][int(starts[first]) : int(starts[beyond])]

    def postings(self, number: int) -> Postings:
        """The documents of one token."""
        found = (self.places(number) >> np.uint64(_POSITION_BITS)).astype(np.int64)
        begins = np.flatnonzero(np.concatenate(([True], found[1:] != found[:-1])))
        frequencies = np.diff(np.append(begins, len(found)))
        return Postings(found[begins], frequencies)

    def documents(self, first: int, beyond: int) -> Integers:
        """The documents of tokens with numbers in a row; some may come several times."""
        return (self.places(first, beyond) >> np.uint64(_POSITION_BITS)).astype(np.int64)

    def documents_of(self, numbers: Integers) -> Integers:
        """The documents of some tokens; some may come several times."""
        starts = np.asarray(self.arrays["posting_starts"], dtype=np.int64)
        at = run_numbers(starts[numbers], starts[numbers + 1] - starts[numbers])
        return (self.arrays["postings"][at] >> np.uint64(_POSITION_BITS)).astype(np.int64)
