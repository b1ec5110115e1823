"""The nearest vectors, found by looking at all of them (search §4.8).

A product of matrices in 32 bits gives an estimate of each vector's nearness. Vectors that may be
among the nearest, within the error of rounding, are compared in 64 bits.
"""

import math
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from widerow.errors import InvalidRequest
from widerow.limits import SEARCH_TOP_K_MAX
from widerow.model.search.query import KnnVectorQuery
from widerow.model.search.schema import SearchFieldType, VectorMetric, VectorOptions
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.columns import ValueColumn
from widerow.search.fields import IndexedField
from widerow.search.interface import Floats, Integers
from widerow.search.queries.node import NO_MATCH, Asked, Matched, Node
from widerow.search.queries.values import refused_type
from widerow.search.segments import TableView

__all__ = ["vector_node"]

_CHUNK: Final = 65_536  # vectors between two checks
_EPSILON: Final = float(np.finfo(np.float32).eps)


class _VectorNode(Node):
    """The nearest documents, which were found in all segments before."""

    def __init__(self, found: dict[int, Matched]) -> None:
        self._found = found

    def run(self, at: int) -> Matched:
        """The documents of a segment."""
        return self._found.get(at, NO_MATCH)


class _Candidates(NamedTuple):
    """Vectors of all segments: segment, document, row of the matrix, nearness."""

    segments: Integers
    numbers: Integers
    rows: Integers
    nearness: Floats


def vector_node(
    query: KnnVectorQuery,
    field: IndexedField,
    tables: list[TableView],
    filtered: Node | None,
    asked: Asked,
) -> Node:
    """KnnVectorQuery: the nearest of the living documents that `filtered` finds (None: of all)."""
    options = field.definition.vector
    if field.type is not SearchFieldType.VECTOR or options is None:
        raise refused_type(field, "KNN_VECTOR")
    wanted = _count(query, asked)
    vector = _vector(query, options)
    parts = [_near(table, field, vector, options) for table in tables]
    candidates = _joined(
        [
            _filtered(at, table, part, filtered, asked)
            for at, (table, part) in enumerate(zip(tables, parts, strict=True))
        ]
    )
    tolerance = max((each.tolerance for each in parts), default=0.0)
    rough = _roughly(candidates, wanted, tolerance)
    exact = _exactly(rough, parts, vector, options.metric)
    best = _best(rough, exact, wanted, tables)
    scores = query.weight * _SCORES[options.metric](exact[best])
    kept = scores >= (0.0 if query.min_score is None else query.min_score)
    return _VectorNode(_by_segment(rough, best[kept], scores[kept]))


def _count(query: KnnVectorQuery, asked: Asked) -> int:
    top_k = asked.limit if query.top_k is None else query.top_k
    if not 1 <= top_k <= SEARCH_TOP_K_MAX:
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_TOP_K, limit=SEARCH_TOP_K_MAX)
    return max(top_k, asked.limit)


def _vector(query: KnnVectorQuery, options: VectorOptions) -> Floats:
    with np.errstate(over="ignore"):
        vector = np.array(query.vector, dtype=np.float32).astype(np.float64)
    if len(vector) != options.dimension or not np.isfinite(vector).all():
        raise InvalidRequest(
            TablestoreRule.SEARCH_QUERY_VECTOR, field=query.field, expected=options.dimension
        )
    if options.metric is VectorMetric.COSINE:
        length = math.sqrt(float(vector @ vector))
        if length == 0.0:
            raise InvalidRequest(
                TablestoreRule.SEARCH_QUERY_VECTOR, field=query.field, expected=options.dimension
            )
        vector = vector / length
    return vector


class _Near(NamedTuple):
    """The vectors of one segment, their documents, and the error bound of the estimate."""

    matrix: NDArray[np.float32]
    documents: Integers
    vector: NDArray[np.float32]
    squares: NDArray[np.float32] | None
    tolerance: float


def _near(table: TableView, field: IndexedField, vector: Floats, options: VectorOptions) -> _Near:
    column = table.table.column(field)
    assert isinstance(column, ValueColumn)
    matrix, owners = column.values, column.owners
    documents = np.arange(table.count) if owners is None else owners.astype(np.int64)
    squares: Any = None
    longest = 1.0
    if options.metric is not VectorMetric.COSINE and len(documents):
        squares = column.squares
        longest = math.sqrt(float(squares.max()))
    length = math.sqrt(float(vector @ vector))
    reach = length if options.metric is VectorMetric.DOT_PRODUCT else length + longest
    tolerance = 4 * _EPSILON * (options.dimension + 4) * longest * max(reach, longest)
    if options.metric is not VectorMetric.EUCLIDEAN:
        squares = None
    return _Near(matrix, documents, vector.astype(np.float32), squares, tolerance)


def _filtered(
    at: int, table: TableView, part: _Near, filtered: Node | None, asked: Asked
) -> _Candidates:
    """The living vectors of a segment that the filter finds, with their estimated nearness."""
    kept = np.ones(len(part.documents), dtype=np.bool_)
    if table.live is not None:
        kept &= table.live[part.documents]
    if filtered is not None:
        kept &= filtered.run(at).as_mask(table.count)[part.documents]
    rows = np.flatnonzero(kept)
    nearness = np.empty(len(rows))
    for start in range(0, len(rows), _CHUNK):
        asked.check()
        chunk = rows[start : start + _CHUNK]
        whole = len(chunk) and int(chunk[-1]) - int(chunk[0]) + 1 == len(chunk)
        chosen: Any = slice(int(chunk[0]), int(chunk[-1]) + 1) if whole else chunk
        near = (part.matrix[chosen] @ part.vector).astype(np.float64)
        if part.squares is not None:
            near = 2 * near - part.squares[chosen]
        nearness[start : start + len(chunk)] = near
    segments = np.full(len(rows), at, dtype=np.int64)
    return _Candidates(segments, part.documents[rows], rows, nearness)


def _joined(parts: list[_Candidates]) -> _Candidates:
    if not parts:
        none = np.zeros(0, dtype=np.int64)
        return _Candidates(none, none, none, np.zeros(0))
    return _Candidates(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _roughly(candidates: _Candidates, wanted: int, tolerance: float) -> _Candidates:
    """The candidates that may be among the nearest."""
    if len(candidates.nearness) <= wanted:
        return candidates
    limit = -np.partition(-candidates.nearness, wanted - 1)[wanted - 1] - 2 * tolerance
    kept = candidates.nearness >= limit
    return _Candidates(*(each[kept] for each in candidates))


def _exactly(
    rough: _Candidates, parts: list[_Near], vector: Floats, metric: VectorMetric
) -> Floats:
    """The exact product with each candidate; for EUCLIDEAN, the squared distance, negated."""
    exact = np.empty(len(rough.rows))
    for at, part in enumerate(parts):
        here = np.flatnonzero(rough.segments == at)
        for start in range(0, len(here), _CHUNK):
            chunk = here[start : start + _CHUNK]
            rows = part.matrix[rough.rows[chunk]].astype(np.float64)
            if metric is VectorMetric.EUCLIDEAN:
                exact[chunk] = -((rows - vector) ** 2).sum(axis=1)
            else:
                exact[chunk] = (rows * vector).sum(axis=1)
    return exact


def _best(rough: _Candidates, exact: Floats, wanted: int, tables: list[TableView]) -> Integers:
    """The nearest candidates; of equally near ones, those with the smallest keys."""
    if len(exact) <= wanted:
        return np.arange(len(exact))
    order = np.argsort(-exact, kind="stable")
    last = exact[order[wanted - 1]]
    sure = np.flatnonzero(exact > last)
    tied = np.flatnonzero(exact == last)

    def key(candidate: int) -> tuple[bytes, int]:
        table = tables[int(rough.segments[candidate])]
        number = int(rough.numbers[candidate])
        segment = table.segment
        level = table.table.level
        row = int(segment.above(level, segment.fields.root)[number]) if level.number else number
        return segment.keys[row], number

    chosen = sorted(tied.tolist(), key=key)[: wanted - len(sure)]
    return np.concatenate((sure, np.array(chosen, dtype=np.int64)))


_SCORES: Final = {
    VectorMetric.EUCLIDEAN: lambda exact: 1 / (1 - exact),
    VectorMetric.COSINE: lambda exact: (1 + np.clip(exact, -1.0, 1.0)) / 2,
    VectorMetric.DOT_PRODUCT: lambda exact: np.maximum(0.0, (1 + exact) / 2),
}


def _by_segment(rough: _Candidates, best: Integers, scores: Floats) -> dict[int, Matched]:
    found: dict[int, Matched] = {}
    for at in np.unique(rough.segments[best]).tolist():
        here = np.flatnonzero(rough.segments[best] == at)
        here = here[np.argsort(rough.numbers[best[here]], kind="stable")]
        found[at] = Matched(rough.numbers[best[here]], scores=scores[here])
    return found
