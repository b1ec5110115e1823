"""Groups of documents, over which the metrics and group-bys of a level are computed (search §6).

A level has groups and entries: an entry is one document in one group. A document may be in several
groups of a level, but only once in each. The level of the request has one group with all documents
found. All groups of a level are computed at once.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widerow.search.interface import DocumentSet, Integers

__all__ = ["Grouping", "Spread", "group_sizes", "joined"]

_NARROW: int = 2  # with more documents for each used one, unused ones are dropped


class Spread(NamedTuple):
    """The values of a field over the entries of a level.

    `entries[i]` is the entry that has `values[i]`, ascending; None: each entry has one value.
    `terms`: as in `FieldValues`.
    """

    values: NDArray[Any]
    entries: Integers | None
    terms: Any = None


@dataclass(frozen=True, slots=True)
class Grouping:
    """Groups of documents at one nested path, "" for rows.

    `rows`: the documents of rows; `ancestors`: the row of each document; None for rows themselves.
    `numbers`: the document of each entry; None: entry i is document i. `groups`: the group of each
    entry; None: all are in group 0.
    """

    rows: DocumentSet
    documents: DocumentSet
    path: str = ""
    ancestors: Integers | None = None
    size: int = 1
    numbers: Integers | None = None
    groups: Integers | None = None

    @property
    def entries(self) -> int:
        """The number of entries."""
        return self.documents.count if self.numbers is None else len(self.numbers)

    def document_numbers(self) -> Integers:
        """The document of each entry."""
        return np.arange(self.documents.count) if self.numbers is None else self.numbers

    def group_numbers(self, entries: Integers | None = None) -> Integers:
        """The group of each of `entries`; None: of all entries."""
        if self.groups is None:
            return np.zeros(self.entries if entries is None else len(entries), np.int64)
        return self.groups if entries is None else self.groups[entries]

    def counts(self) -> Integers:
        """The number of entries of each group."""
        if self.groups is None:
            return np.array([self.entries], np.int64)
        return group_sizes(self.groups, self.size)

    def spread(self, field: str) -> Spread:
        """The values of a field of this level's documents, or of documents below them."""
        found = self.documents.values(field)
        if self.numbers is None:
            return Spread(found.values, None if found.single else found.owners, found.terms)
        if found.single:
            return Spread(found.values[self.numbers], None, found.terms)
        entries, places = joined(found.owners, self.numbers, self.documents.count)
        return Spread(found.values[places], entries, found.terms)

    def split(self, entries: Integers | None, groups: Integers, size: int) -> "Grouping":
        """New groups for `entries` (None: for all entries, in order); the others are dropped."""
        if entries is None:
            return replace(self, size=size, groups=groups)
        numbers = entries if self.numbers is None else self.numbers[entries]
        return replace(self, size=size, groups=groups, numbers=numbers).narrowed()

    def below(self, path: str) -> "Grouping":
        """These groups over the documents of a nested path below these rows."""
        children, parents = self.documents.children(path)
        if self.numbers is None:
            numbers, groups = None, None if self.groups is None else self.groups[parents]
        else:
            entries, numbers = joined(parents, self.numbers, self.documents.count)
            groups = None if self.groups is None else self.groups[entries]
        return Grouping(self.documents, children, path, parents, self.size, numbers, groups)

    def above(self) -> "Grouping":
        """These groups over the rows of these documents; a row is in a group once."""
        if self.ancestors is None:
            return self
        rows = self.ancestors if self.numbers is None else self.ancestors[self.numbers]
        pairs = np.unique(self.group_numbers() * max(self.rows.count, 1) + rows)
        groups, numbers = np.divmod(pairs, max(self.rows.count, 1))
        return Grouping(self.rows, self.rows, "", None, self.size, numbers, groups).narrowed()

    def narrowed(self) -> "Grouping":
        """This grouping without the documents that have no entry, if they are most."""
        if self.numbers is None or len(self.numbers) * _NARROW > self.documents.count:
            return self
        used, numbers = self.numbers, None
        if not (used[1:] > used[:-1]).all():  # a document is in several groups
            occurs = np.zeros(self.documents.count, np.bool_)
            occurs[self.numbers] = True
            used, numbers = np.flatnonzero(occurs), (np.cumsum(occurs) - 1)[self.numbers]
        documents = self.documents.take(used)
        return replace(
            self,
            rows=documents if self.ancestors is None else self.rows,
            documents=documents,
            ancestors=None if self.ancestors is None else self.ancestors[used],
            numbers=numbers,
        )


def group_sizes(groups: Integers, size: int) -> Integers:
    """How often each number below `size` occurs."""
    return np.bincount(groups, minlength=size).astype(np.int64, copy=False)


def joined(owners: Integers, numbers: Integers, count: int) -> tuple[Integers, Integers]:
    """The pairs of places in `numbers` and in `owners` with equal numbers.

    `owners` ascend; all numbers are below `count`. Answers the places in `numbers`, ascending, and
    the places in `owners`.
    """
    sizes = group_sizes(owners, count)
    starts = np.cumsum(sizes) - sizes
    wanted = sizes[numbers]
    entries = np.repeat(np.arange(len(numbers)), wanted)
    within = np.arange(len(entries)) - np.repeat(np.cumsum(wanted) - wanted, wanted)
    return entries, starts[numbers][entries] + within
