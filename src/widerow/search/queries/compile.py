"""Queries as nodes: against the schema of the index and the bounds of requests (search §4).

Every error of a query is raised here, before the search begins.
"""

import math
from collections.abc import Callable
from typing import Any, Final, NamedTuple, final

from widerow.errors import InvalidRequest
from widerow.limits import (
    SEARCH_NESTED_DEPTH_MAX,
    SEARCH_QUERY_DEPTH_MAX,
    SEARCH_QUERY_NODES_MAX,
)
from widerow.model.search.query import (
    BoolQuery,
    ConstScoreQuery,
    DisMaxQuery,
    ExistsQuery,
    FunctionScoreQuery,
    FunctionsScoreQuery,
    GeoBoundingBoxQuery,
    GeoDistanceQuery,
    GeoPolygonQuery,
    KnnVectorQuery,
    MatchAllQuery,
    MatchPhraseQuery,
    MatchQuery,
    NestedQuery,
    NestedScoreMode,
    PrefixQuery,
    Query,
    RangeQuery,
    SuffixQuery,
    TermQuery,
    TermsQuery,
    WildcardQuery,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.fields import DocumentLevel, IndexedField
from widerow.search.queries.compound import (
    AllNode,
    BoolNode,
    ConstNode,
    DisMaxNode,
    NestedNode,
    required_should,
)
from widerow.search.queries.functions import field_score_node, functions_node
from widerow.search.queries.geo import box_node, distance_node, polygon_node
from widerow.search.queries.node import Asked, Node, NoneNode
from widerow.search.queries.terms import (
    ExistsNode,
    prefix_node,
    range_node,
    suffix_node,
    terms_node,
    wildcard_node,
)
from widerow.search.queries.texts import match_node, phrase_node, term_node
from widerow.search.queries.vectors import vector_node
from widerow.search.segments import TableView

__all__ = ["compiled"]


def compiled(query: Query, asked: Asked, level: DocumentLevel, *, scored: bool) -> Node:
    """A query at a level as a node. Raises `InvalidRequest` for what is not allowed."""
    return _Compiler(asked).node(query, _At(level, scored=scored, depth=1, nested=0))


class _At(NamedTuple):
    """The place of a query in a request: its level, whether its scores count, its depth."""

    level: DocumentLevel
    scored: bool
    depth: int
    nested: int

    def deeper(self, *, scored: bool | None = None, level: DocumentLevel | None = None) -> "_At":
        return _At(
            self.level if level is None else level,
            self.scored if scored is None else scored,
            self.depth + 1,
            self.nested + (level is not None),
        )


@final
class _Compiler:
    """One compilation. It counts the nodes."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self._nodes = 0

    def node(self, query: Query, at: _At) -> Node:
        """A query and the queries inside it, as a node."""
        self._nodes += 1
        if self._nodes > SEARCH_QUERY_NODES_MAX:
            raise InvalidRequest(TablestoreRule.SEARCH_QUERY_NODES, limit=SEARCH_QUERY_NODES_MAX)
        if at.depth > SEARCH_QUERY_DEPTH_MAX or at.nested > SEARCH_NESTED_DEPTH_MAX:
            raise InvalidRequest(TablestoreRule.SEARCH_QUERY_DEPTH, limit=SEARCH_NESTED_DEPTH_MAX)
        weight = getattr(query, "weight", 1.0)
        if not (math.isfinite(weight) and weight > 0):
            raise InvalidRequest(TablestoreRule.SEARCH_QUERY_WEIGHT, value=str(weight))
        self.asked.check()
        return _MAKERS[type(query)](self, query, at)

    def nodes(self, queries: tuple[Query, ...], at: _At) -> list[Node]:
        """Several queries of one place, as nodes."""
        return [self.node(each, at) for each in queries]

    def found(self, name: str, at: _At) -> tuple[IndexedField, list[TableView]] | None:
        """A field and its documents; None for a field of another level, which matches nothing."""
        field = self.asked.fields.indexed(name)
        if at.level.by_name.get(name) is not field:
            return None
        return field, self.asked.tables(at.level)


_On = tuple[IndexedField, list[TableView]]
_Maker = Callable[["_Compiler", Any, _At], Node]  # by type of query


def _leaf(make: Callable[["_Compiler", Any, _On, _At], Node]) -> _Maker:
    """A query of one field: matches nothing if the field is at another level (search §4.4)."""

    def made(compiler: _Compiler, query: Any, at: _At) -> Node:  # noqa: ANN401  # by type
        found = compiler.found(query.field, at)
        node = make(compiler, query, found or (compiler.asked.fields.indexed(query.field), []), at)
        return NoneNode() if found is None else node

    return made


def _constant(make: Callable[["_Compiler", Any, _On], Node]) -> _Maker:
    """A query of one field that gives each document its weight as the score."""

    def made(compiler: _Compiler, query: Any, on: _On, at: _At) -> Node:  # noqa: ANN401  # by type
        node = make(compiler, query, on)
        return ConstNode(node, getattr(query, "weight", 1.0)) if at.scored else node

    return _leaf(made)


def _all(compiler: _Compiler, _query: MatchAllQuery, at: _At) -> Node:
    return AllNode(compiler.asked.tables(at.level), 1.0 if at.scored else None)


def _bool(compiler: _Compiler, query: BoolQuery, at: _At) -> Node:
    scored, plain = at.deeper(), at.deeper(scored=False)
    clauses = (
        compiler.nodes(query.must, scored),
        compiler.nodes(query.must_not, plain),
        compiler.nodes(query.filter, plain),
        compiler.nodes(query.should, scored),
    )
    return BoolNode(
        (compiler.asked, compiler.asked.tables(at.level)),
        clauses,
        required_should(query),
        query.weight if at.scored else None,
    )


def _const(compiler: _Compiler, query: ConstScoreQuery, at: _At) -> Node:
    below = compiler.node(query.filter, at.deeper(scored=False))
    return ConstNode(below, 1.0) if at.scored else below


def _dis_max(compiler: _Compiler, query: DisMaxQuery, at: _At) -> Node:
    nodes = compiler.nodes(query.queries, at.deeper())
    factors = (query.tie_breaker, query.weight) if at.scored else None
    return DisMaxNode(compiler.asked.tables(at.level), nodes, factors)


def _nested(compiler: _Compiler, query: NestedQuery, at: _At) -> Node:
    level = compiler.asked.fields.level(query.path.strip())
    if level is None or level.number == 0:
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_PATH, field=query.path)
    scored = at.scored and query.score_mode is not NestedScoreMode.NONE
    below = compiler.node(query.query, at.deeper(scored=scored, level=level))
    if not level.is_below(at.level):
        return NoneNode()
    score = (query.score_mode, query.weight) if at.scored else None
    return NestedNode(compiler.asked, (at.level, level), below, score)


def _exists(compiler: _Compiler, query: ExistsQuery, at: _At) -> Node:
    node = _existing(compiler, query.field, at)
    return ConstNode(node, 1.0) if at.scored else node


def _existing(compiler: _Compiler, name: str, at: _At) -> Node:
    level = compiler.asked.fields.level(name)
    tables = compiler.asked.tables(at.level)
    if level is not None and level.number:
        if not level.is_below(at.level):
            return NoneNode()
        below = AllNode(compiler.asked.tables(level), None)
        return NestedNode(compiler.asked, (at.level, level), below, None)
    fields_below = _fields_below(compiler, name, at)
    if fields_below is not None:
        return DisMaxNode(tables, [ExistsNode(tables, each) for each in fields_below], None)
    found = compiler.found(name, at)
    return NoneNode() if found is None else ExistsNode(found[1], found[0])


def _fields_below(compiler: _Compiler, name: str, at: _At) -> list[IndexedField] | None:
    """The fields inside a JSON field; None for any other field."""
    definition = compiler.asked.fields.definition(name)
    if definition is None or not definition.fields:
        return None
    return [each for each in at.level.fields if each.name.startswith(name + ".")]


def _field_score(compiler: _Compiler, query: FunctionScoreQuery, at: _At) -> Node:
    below = compiler.node(query.query, at.deeper())
    field = compiler.asked.fields.indexed(query.field)
    found = compiler.found(query.field, at)
    return field_score_node(field, None if found is None else found[1], below, scored=at.scored)


def _functions(compiler: _Compiler, query: FunctionsScoreQuery, at: _At) -> Node:
    needed = at.scored or query.min_score is not None
    below = compiler.node(query.query, at.deeper(scored=needed))
    filters = [
        None if each.filter is None else compiler.node(each.filter, at.deeper(scored=False))
        for each in query.functions
    ]
    return functions_node(query, compiler.asked, at.level, (below, filters), scored=at.scored)


def _vector(compiler: _Compiler, query: KnnVectorQuery, at: _At) -> Node:
    filtered = (
        None if query.filter is None else compiler.node(query.filter, at.deeper(scored=False))
    )
    found = compiler.found(query.field, at)
    field = compiler.asked.fields.indexed(query.field)
    node = vector_node(query, field, found[1] if found else [], filtered, compiler.asked)
    return NoneNode() if found is None else node


_MAKERS: Final[dict[type, Callable[[_Compiler, Any, _At], Node]]] = {
    MatchAllQuery: _all,
    BoolQuery: _bool,
    ConstScoreQuery: _const,
    DisMaxQuery: _dis_max,
    NestedQuery: _nested,
    ExistsQuery: _exists,
    FunctionScoreQuery: _field_score,
    FunctionsScoreQuery: _functions,
    KnnVectorQuery: _vector,
    TermQuery: _leaf(
        lambda made, query, on, at: term_node(query, *on, made.asked, scored=at.scored)
    ),
    MatchQuery: _leaf(
        lambda made, query, on, at: match_node(query, *on, made.asked, scored=at.scored)
    ),
    MatchPhraseQuery: _leaf(
        lambda made, query, on, at: phrase_node(query, *on, made.asked, scored=at.scored)
    ),
    TermsQuery: _constant(lambda _made, query, on: terms_node(query, *on)),
    RangeQuery: _constant(lambda _made, query, on: range_node(query, *on)),
    PrefixQuery: _constant(lambda _made, query, on: prefix_node(query, *on)),
    SuffixQuery: _constant(lambda _made, query, on: suffix_node(query, *on)),
    WildcardQuery: _constant(lambda made, query, on: wildcard_node(query, *on, made.asked)),
    GeoBoundingBoxQuery: _constant(lambda _made, query, on: box_node(query, *on)),
    GeoDistanceQuery: _constant(lambda _made, query, on: distance_node(query, *on)),
    GeoPolygonQuery: _constant(lambda made, query, on: polygon_node(query, *on, made.asked)),
}
