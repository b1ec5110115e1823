"""BM25 over the living documents of all segments (search §4.3)."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final, NamedTuple, final

import numpy as np
from numpy.typing import NDArray

from widerow.model.search.schema import SearchFieldType, TextSimilarity
from widerow.search.columns import Postings, TextColumn
from widerow.search.fields import IndexedField
from widerow.search.interface import Floats
from widerow.search.segments import TableView

__all__ = [
    "FieldScorer",
    "FieldStatistics",
    "TokenWeight",
    "inverse_frequency",
    "living",
    "statistics_of",
]

K1: Final = 1.2
B: Final = 0.75


class FieldStatistics(NamedTuple):
    """The number of `documents` with the field, and the average length of its texts."""

    documents: int
    average: float


def statistics_of(tables: Sequence[TableView], field: IndexedField) -> FieldStatistics:
    """The statistics of a field over all segments. Each segment keeps its part until a delete."""
    documents = total = 0
    for table in tables:
        name = ("statistics", field.slot)
        known = table.remembered.get(name)
        if known is None:
            known = table.remembered[name] = _counted(table, field)
        documents += known[0]
        total += known[1]
    return FieldStatistics(documents, total / documents if documents else 0.0)


def _counted(table: TableView, field: IndexedField) -> tuple[int, int]:
    column = table.table.column(field)
    existing = column.existing()
    if table.live is not None:
        existing = existing & table.live
    documents = int(np.count_nonzero(existing))
    if not isinstance(column, TextColumn):
        return documents, documents
    return documents, int(column.lengths.sum(where=existing, dtype=np.int64))


def living(table: TableView, numbers: NDArray[Any]) -> int:
    """The number of living documents among `numbers`."""
    return len(numbers) if table.live is None else int(np.count_nonzero(table.live[numbers]))


def inverse_frequency(documents: int, matching: int) -> float:
    """The inverse document frequency of a token (BM25)."""
    return math.log(1 + (documents - matching + 0.5) / (matching + 0.5))


class TokenWeight(NamedTuple):
    """The weight of a token: `weight` by its rarity, `factor` by the query.

    `most`: no document gets a higher score for it.
    """

    weight: float
    factor: float
    most: float


@final
class FieldScorer:
    """BM25 of one field in some tables.

    A keyword counts as a text of one token, of average length.
    """

    def __init__(self, tables: Sequence[TableView], field: IndexedField) -> None:
        self._tables = tables
        self._field = field
        self._is_text = field.type is SearchFieldType.TEXT
        self._statistics = statistics_of(tables, field)
        short = field.definition.similarity is TextSimilarity.SHORT_TEXT
        self._share = 0.0 if short else B

    def token(self, found: Sequence[Postings], factor: float) -> TokenWeight:
        """The weight of a token, with its postings in each table."""
        matching = sum(
            living(table, each.documents) for table, each in zip(self._tables, found, strict=True)
        )
        return self.phrase([matching], factor)

    def phrase(self, frequencies: Iterable[int], factor: float) -> TokenWeight:
        """The weight of several tokens together, by the number of documents that have each."""
        total = self._statistics.documents
        weight = sum(inverse_frequency(total, each) for each in frequencies)
        return TokenWeight(weight, factor, factor * weight * (K1 + 1 if self._is_text else 1.0))

    def scores(
        self, at: int, documents: NDArray[Any], frequencies: NDArray[Any], token: TokenWeight
    ) -> Floats:
        """The scores of some documents of a table, by the token's frequency in each."""
        if not self._is_text:
            return np.full(len(documents), token.factor * token.weight)
        column = self._tables[at].table.column(self._field)
        assert isinstance(column, TextColumn)
        norms = column.lengths[documents] / (self._statistics.average or 1.0)
        norms *= self._share
        norms += 1 - self._share
        norms *= K1
        norms += frequencies
        scores = frequencies * (K1 + 1)
        scores /= norms
        scores *= token.weight
        if token.factor != 1.0:
            scores *= token.factor
        return np.asarray(scores)
