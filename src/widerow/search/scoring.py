"""BM25 over the living documents of all segments (search §4.3)."""

import math
from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from widerow.model.search.schema import SearchFieldType, TextSimilarity
from widerow.search.columns import Postings, TextColumn
from widerow.search.fields import IndexedField
from widerow.search.interface import Floats, Integers
from widerow.search.segments import TableView

__all__ = [
    "FieldStatistics",
    "Scored",
    "frequency_scores",
    "inverse_frequency",
    "living",
    "scores_of",
    "statistics_of",
]

K1: Final = 1.2
B: Final = 0.75


class FieldStatistics(NamedTuple):
    """`documents` that have the field, and how long its texts are on average."""

    documents: int
    average: float


class Scored(NamedTuple):
    """Documents of one table, ascending, and their scores."""

    numbers: Integers
    scores: Floats


def statistics_of(tables: Sequence[TableView], field: IndexedField) -> FieldStatistics:
    """Of a field in all segments. Remembered by each, as long as no document is deleted."""
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


def living(table: TableView, numbers: Integers) -> int:
    """How many of some documents are alive."""
    return len(numbers) if table.live is None else int(np.count_nonzero(table.live[numbers]))


def inverse_frequency(documents: int, matching: int) -> float:
    """How much a token counts that so many of so many documents have."""
    return math.log(1 + (documents - matching + 0.5) / (matching + 0.5))


def frequency_scores(
    table: TableView, field: IndexedField, found: Postings, average: float
) -> Floats:
    """What occurrences count in documents of their lengths, before the weight of the token."""
    column = table.table.column(field)
    assert isinstance(column, TextColumn)
    share = 0.0 if field.definition.similarity is TextSimilarity.SHORT_TEXT else B
    relative = column.lengths[found.documents] / (average or 1.0)
    norms = K1 * (1 - share + share * relative)
    return np.asarray(found.frequencies * (K1 + 1) / (found.frequencies + norms))


def scores_of(
    tables: Sequence[TableView],
    field: IndexedField,
    found: Sequence[Postings],
    frequencies: Sequence[int] | None = None,
) -> list[Scored]:
    """The scores of what was found of one token, or of a phrase, segment by segment.

    `frequencies`: of a phrase, for each token the number of documents that have it. A keyword
    counts as a text of one token that is as long as all others.
    """
    statistics = statistics_of(tables, field)
    if frequencies is None:
        pairs = zip(tables, found, strict=True)
        frequencies = [sum(living(table, each.documents) for table, each in pairs)]
    weight = sum(inverse_frequency(statistics.documents, each) for each in frequencies)
    if field.type is not SearchFieldType.TEXT:
        return [Scored(each.documents, np.full(len(each.documents), weight)) for each in found]
    return [
        Scored(each.documents, weight * frequency_scores(table, field, each, statistics.average))
        for table, each in zip(tables, found, strict=True)
    ]
