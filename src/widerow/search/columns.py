"""Fields of one segment as arrays: values, terms, vectors (search §11.5).

A column holds the values of its documents in one array, and the owner of each value; columns with
exactly one value for every document have no owners. The names of the arrays are those of the files
(`docs/formats/search.md`).
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
"""Bits of a token's position; the number of its document stands above them."""

_MANY: Final = 8  # if more than one document in so many is asked for, all are read


def mask_of(numbers: NDArray[Any], count: int) -> Booleans:
    """Numbers below `count` as a mask."""
    mask = np.zeros(count, dtype=np.bool_)
    mask[numbers] = True
    return mask


def _numbering(numbers: Integers, count: int) -> Integers:
    """An array with the place of each of `numbers` in them; elsewhere its content is undefined."""
    places = np.empty(count, dtype=np.int64)
    places[numbers] = np.arange(len(numbers), dtype=np.int64)
    return places


class TakenValues(NamedTuple):
    """Values of some documents; `owners` is None if each has exactly one."""

    values: NDArray[Any]
    owners: Integers | None


def _taken_values(
    values: NDArray[Any], owners: NDArray[Any] | None, numbers: Integers | None, count: int
) -> TakenValues:
    """Values of the documents `numbers` (ascending; None: all), owned by places in `numbers`."""
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
    """The base of columns: arrays, and a number of documents. Immutable."""

    def __init__(self, arrays: Arrays, count: int) -> None:
        self.arrays = arrays
        self.count = count

    @property
    def owners(self) -> NDArray[np.int32] | None:
        """The document of each value, ascending; None if each document has exactly one value."""
        return self.arrays.get("owners")

    def existing(self) -> Booleans:
        """Which documents have a value."""
        owners = self.owners
        if owners is None:
            return np.ones(self.count, dtype=np.bool_)
        return mask_of(owners, self.count)

    def owned(self, hit: Booleans) -> Booleans:
        """Which documents have a value that the mask `hit` marks."""
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
        """The values of the documents `numbers`; None: of all documents."""
        return _taken_values(self.values, self.owners, numbers, self.count)


class _TermedColumn(FieldColumn):
    """The base of columns with terms: for each term its documents."""

    @cached_property
    def terms(self) -> SortedTerms:
        """The terms in the order of their bytes."""
        return SortedTerms(self.arrays["terms"], self.arrays["term_starts"])

    def documents(self, first: int, beyond: int) -> NDArray[np.int32]:
        """The documents of the terms `first` to `beyond`; of one term, ascending and distinct."""
        starts = self.arrays["document_starts"]
        return self.arrays["documents"][int(starts[first]) : int(starts[beyond])]

    def documents_of(self, numbers: Integers) -> NDArray[np.int32]:
        """The documents of some terms, term by term."""
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
        """The terms' numbers of the documents `numbers`; None: of all documents."""
        return _taken_values(self.values, self.owners, numbers, self.count)


class Postings(NamedTuple):
    """The postings of a token: its documents, ascending, and how often it stands in each.

    The frequencies of phrases with a slop are not whole numbers.
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
        """The positions of a token in the documents `chosen`, which are places among its documents.

        `document << POSITION_BITS | position`, ascending as `chosen` do.
        """
        documents, frequencies = self.postings(number)
        ends = np.cumsum(frequencies, dtype=np.int64)
        lengths = frequencies[chosen].astype(np.int64)
        starts = ends[chosen] - lengths + int(self.arrays["position_starts"][number])
        positions = gathered(self.arrays["positions"], starts, lengths)
        owners = np.repeat(documents[chosen].astype(np.int64), lengths)
        return np.asarray((owners << POSITION_BITS) | positions)
