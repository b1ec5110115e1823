"""The interfaces between the parts of a search index.

An index holds one document for each row, and at each nested path documents of their own below it.
`IndexView` is an index at one moment, and never changes. `DocumentSet` is some of its documents, in
document order, numbered from 0: those that a query selected. Sorting, metrics, groups and
highlights (`search/results`) use nothing else of an index.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from widerow.model.search.query import Query
from widerow.model.search.schema import SearchField
from widerow.model.values import Value

__all__ = [
    "Booleans",
    "DocumentSet",
    "FieldLiteral",
    "FieldValues",
    "Floats",
    "IndexFiles",
    "IndexView",
    "Integers",
    "TokenSpan",
]

Booleans = NDArray[np.bool_]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

FieldLiteral = int | float | bool | bytes | tuple[float, float]
"""A value in the form of `FieldValues`; for a field with terms, the bytes of the term."""


class FieldValues(NamedTuple):
    """The values of one field in a set of documents, all of them, document by document.

    `values[i]` is one of document `owners[i]`; owners ascend, and a document with several values
    comes several times, with its values in the order of the row. Documents without a value do not
    come. LONG and DATE: int64 (DATE in nanoseconds since 1970). DOUBLE: float64. BOOLEAN: bool.
    KEYWORD, FUZZY_KEYWORD, IP: int64 ordinals into `terms`, which are sorted by their bytes (UTF-8;
    IP: 16 bytes), each once; a term may belong to no document of the set. GEO_POINT: float64 of
    shape (n, 2), latitude and longitude as they are stored (search §4.6). `single`: every document
    has exactly one value, so `owners` is 0, 1, 2 … and need not be looked at.
    """

    values: NDArray[Any]
    owners: Integers
    terms: Sequence[bytes] | None = None
    single: bool = False


class TokenSpan(NamedTuple):
    """One token of a text that a query asks for: characters `start` to `stop` of the text."""

    start: int
    stop: int


class DocumentSet(Protocol):
    """Some documents of one level, in document order. Immutable."""

    @property
    def count(self) -> int:
        """The number of documents."""
        ...

    @property
    def scores(self) -> Floats | None:
        """The scores of the documents; None where none were computed."""
        ...

    def check(self) -> None:
        """Called between steps of long work; raises to end it."""
        ...

    def field(self, name: str) -> SearchField | None:
        """The definition of a field by its full name; None where the index has none.

        `index`, `sort_and_agg` and `store` are set in it, to the defaults of search §1.1 if asked
        for nothing.
        """
        ...

    def nested_path(self, name: str) -> str:
        """The innermost nested path, beyond the level of this set, that a field lies below.

        "" for a field of this level.
        """
        ...

    def values(self, name: str) -> FieldValues:
        """The values of a field of this level, or of all documents of a level below.

        Values of a level below are owned by their ancestors in this set.
        """
        ...

    def matching(self, query: Query) -> Booleans:
        """A mask of the documents that match. Raises what the evaluation of queries raises."""
        ...

    def scored(self, query: Query) -> tuple[Booleans, Floats]:
        """A mask of the documents that match, and scores; 0 for a document that does not match."""
        ...

    def literal(self, name: str, value: Value) -> FieldLiteral:
        """A value of a request in the form of the field's own (search §2, §2.3).

        Raises `InvalidRequest` where the field can have no such value.
        """
        ...

    def children(self, path: str) -> "tuple[DocumentSet, Integers]":
        """The documents at a nested path below these, and the number of each one's ancestor."""
        ...

    def offsets(self) -> Integers:
        """The places of documents of a nested path in the arrays that they come from."""
        ...

    def take(self, numbers: NDArray[Any]) -> "DocumentSet":
        """The documents with ascending `numbers`, or where a mask `numbers` is true."""
        ...

    def key_ranks(self) -> Integers:
        """Numbers that order the documents as the encoded primary keys of their rows do."""
        ...

    def keys(self, numbers: NDArray[Any]) -> list[bytes]:
        """The encoded primary keys of the rows of these documents, in the order of `numbers`."""
        ...

    def rank_bounds(self, key: bytes) -> tuple[int, int]:
        """The place of an encoded primary key, which need not exist, among the `key_ranks`.

        Ranks below the first number are of smaller keys, ranks from the second number on of greater
        ones.
        """
        ...


class IndexView(Protocol):
    """An index at one moment. Immutable; any thread may use it."""

    @property
    def rows(self) -> int:
        """The number of rows with documents."""
        ...

    @property
    def has_nested(self) -> bool:
        """Whether a field is of type NESTED, so that there is no default order (search §5.1)."""
        ...

    def select(
        self, query: Query, *, scored: bool, limit: int = 0, seed: int = 0, best: int = 0
    ) -> DocumentSet:
        """The rows that match, with scores where `scored`.

        `best`: rows may be left out that score less than `best` others; 0: none are left out.

        `limit`: of the request, which a vector query's `top_k` is at least (search §4.8). `seed`:
        of random scores. Raises `InvalidRequest` for what the schema or the bounds do not allow.
        """
        ...

    def spans(self, query: Query, field: str, text: str) -> list[TokenSpan]:
        """The places of a query's tokens in a text of a TEXT field.

        In the order of the text. Queries inside nested queries count if `field` lies there.
        """
        ...


class IndexFiles(Protocol):
    """The files of one index. For one caller at a time.

    Every method raises `StorageFailure` where the system refuses.
    """

    def names(self) -> list[str]:
        """The names of the files, sorted."""
        ...

    def write(self, name: str, parts: Iterable[bytes | memoryview]) -> None:
        """Write a new file: whole and synced on return. Replaces a file of that name."""
        ...

    def replace(self, name: str, data: bytes) -> None:
        """Write or replace a small file in one step: readers find the old bytes or the new ones."""
        ...

    def map(self, name: str) -> memoryview:
        """The bytes of a file, mapped; they stay readable when it is removed. Raises `KeyError`."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        ...
