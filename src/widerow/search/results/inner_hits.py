"""Inner hits: which nested documents of a row matched, and in what order (search §4.4)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np

from widerow.errors import InvalidRequest
from widerow.limits import INNER_HITS_LIMIT_MAX
from widerow.model.search.query import (
    BoolQuery,
    ConstScoreQuery,
    DisMaxQuery,
    DocSort,
    FunctionScoreQuery,
    FunctionsScoreQuery,
    InnerHits,
    KnnVectorQuery,
    NestedQuery,
    Query,
    ScoreSort,
    Sorter,
)
from widerow.model.search.schema import JsonKind, SearchField, SearchFieldType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.interface import Booleans, DocumentSet, Floats, Integers
from widerow.search.results.columns import sort_columns
from widerow.search.results.ordering import first_places, order_keys

__all__ = [
    "FoundDocument",
    "FoundInnerHits",
    "find_inner_hits",
    "nested_queries",
    "nested_steps",
]

_DEFAULT_ORDER: Final[tuple[Sorter, ...]] = (ScoreSort(), DocSort())


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A nested document, its score, and the inner hits below it.

    `offsets`: its place in each array on the way from the row, the outermost array first.
    """

    offsets: tuple[int, ...]
    score: float
    inner: "tuple[FoundInnerHits, ...]" = ()


@dataclass(frozen=True, slots=True)
class FoundInnerHits:
    """The documents that a nested query found below one row or document."""

    query: NestedQuery
    documents: tuple[FoundDocument, ...]


@dataclass(slots=True)
class _Collected:
    """The inner hits found so far below one document."""

    inner: list[FoundInnerHits] = field(default_factory=list)


def find_inner_hits(
    documents: DocumentSet, query: Query, base: str = ""
) -> list[tuple[FoundInnerHits, ...]]:
    """For each document, the hits of the nested queries that ask for inner hits.

    In the order of the query; queries without hits are left out. `documents`: of one page; `base`:
    their nested path. Raises `InvalidRequest`.
    """
    collected = [_Collected() for _ in range(documents.count)]
    for nested in nested_queries(query):
        for number, found in _found(documents, base, nested):
            collected[number].inner.append(found)
    return [tuple(each.inner) for each in collected]


def nested_queries(query: Query) -> Iterator[NestedQuery]:
    """The nested queries that can have made a document match, outermost only, in their order."""
    waiting = [query]
    while waiting:
        each = waiting.pop()
        if isinstance(each, NestedQuery):
            yield each
        else:
            waiting += reversed(_parts(each))


def _parts(query: Query) -> tuple[Query, ...]:
    match query:
        case BoolQuery():
            return (*query.must, *query.filter, *query.should)
        case DisMaxQuery():
            return query.queries
        case ConstScoreQuery():
            return (query.filter,)
        case FunctionScoreQuery() | FunctionsScoreQuery():
            return (query.query,)
        case KnnVectorQuery() if query.filter is not None:
            return (query.filter,)
        case _:
            return ()


def _found(
    documents: DocumentSet, base: str, nested: NestedQuery
) -> Iterator[tuple[int, FoundInnerHits]]:
    deeper = list(nested_queries(nested.query))
    if nested.inner_hits is None and not any(_asks(each) for each in deeper):
        return
    children = _children(documents, base, nested.path)
    matching, scores = children.documents.scored(nested.query)
    children, scores = children.of(matching), scores[matching]
    matched = children.documents
    if nested.inner_hits is None:  # deeper inner hits are put on the document itself
        for each in deeper:
            yield from _lifted(_found(matched, nested.path, each), children)
        return
    places, owners = _window(children, scores, nested.inner_hits)
    shown = np.unique(places)  # ascending, for `take`
    inner = find_inner_hits(matched.take(shown), nested.query, nested.path)
    where = dict(zip(shown.tolist(), inner, strict=True))
    below: dict[int, list[FoundDocument]] = {}
    for owner, place in zip(owners.tolist(), places.tolist(), strict=True):
        hit = FoundDocument(children.chain(place), float(scores[place]), where[place])
        below.setdefault(owner, []).append(hit)
    for owner, hits in below.items():
        yield owner, FoundInnerHits(nested, tuple(hits))


def _asks(query: NestedQuery) -> bool:
    return query.inner_hits is not None or any(map(_asks, nested_queries(query.query)))


class _Children(NamedTuple):
    """Nested documents, and the number of the document that each is below.

    `offsets`: for each array on the way the place in it, the outermost array first.
    """

    documents: DocumentSet
    parents: Integers
    offsets: list[Integers]

    def of(self, mask: Booleans) -> "_Children":
        """The documents that `mask` marks."""
        offsets = [each[mask] for each in self.offsets]
        return _Children(self.documents.take(mask), self.parents[mask], offsets)

    def chain(self, place: int) -> tuple[int, ...]:
        """The place of one document in each array on the way."""
        return tuple(int(each[place]) for each in self.offsets)


def _children(documents: DocumentSet, base: str, path: str) -> _Children:
    """The documents at a path below `documents`, level by level."""
    found = _Children(documents, np.arange(documents.count), [])
    for step in nested_steps(documents.field, base, path):
        below, parents = found.documents.children(step)
        offsets = [*(each[parents] for each in found.offsets), below.offsets()]
        found = _Children(below, found.parents[parents], offsets)
    return found


def nested_steps(field: Callable[[str], SearchField | None], base: str, path: str) -> list[str]:
    """The nested paths below `base` on the way to `path`, with `path`.

    `field` answers the definition of a field by its full name.
    """
    names = path.split(".")
    above = base.count(".") + 1 if base else 0
    prefixes = (".".join(names[:stop]) for stop in range(above + 1, len(names)))
    return [*(each for each in prefixes if _is_nested(field(each))), path]


def _is_nested(field: SearchField | None) -> bool:
    if field is None:
        return False
    return field.type is SearchFieldType.NESTED or field.json is JsonKind.NESTED


def _lifted(
    found: Iterator[tuple[int, FoundInnerHits]], children: _Children
) -> Iterator[tuple[int, FoundInnerHits]]:
    """Inner hits of `children`, joined for the documents that `children` are below."""
    joined: dict[int, tuple[NestedQuery, list[FoundDocument]]] = {}
    for number, hits in found:
        kept = joined.setdefault(int(children.parents[number]), (hits.query, []))
        above = children.chain(number)
        kept[1].extend(replace(each, offsets=above + each.offsets) for each in hits.documents)
    for owner, (query, documents) in joined.items():
        yield owner, FoundInnerHits(query, tuple(documents))


def _window(children: _Children, scores: Floats, asked: InnerHits) -> tuple[Integers, Integers]:
    """The places of the hits to be answered, sorted within each parent, and their parents."""
    if asked.offset < 0 or asked.limit < 0 or asked.offset + asked.limit > INNER_HITS_LIMIT_MAX:
        raise InvalidRequest(TablestoreRule.INNER_HITS_WINDOW)
    sorters = asked.sort.sorters if asked.sort is not None else ()
    columns = sort_columns(children.documents, sorters or _DEFAULT_ORDER, scores=scores, inner=True)
    order = first_places([children.parents, *order_keys(columns)], len(scores))
    parents = children.parents[order]
    ranks = np.arange(len(order)) - np.searchsorted(parents, parents)
    kept = (ranks >= asked.offset) & (ranks < asked.offset + asked.limit)
    return order[kept], parents[kept]
