"""Queries: the bytes of each type's message, and values of the model (search §4, protos §4)."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final

from google.protobuf.message import Message

from widerow.model.search import query as q
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import text, texts
from widerow.wire.tablestore.operations.search.functions import decode_function
from widerow.wire.tablestore.operations.search.orders import decode_inner_hits
from widerow.wire.tablestore.operations.search.unfolding import (
    Unfolding,
    invalid_field,
    member,
    members,
    named,
    number,
    optional_variant,
    variant,
    variants,
    weight,
)

__all__ = ["decode_query"]

_OPERATORS: Final = members(q.QueryOperator)
_SCORE_MODES: Final = members(q.NestedScoreMode)
_FUNCTION_SCORE_MODES: Final = members(q.FunctionScoreMode)
_COMBINE_MODES: Final = members(q.FunctionCombineMode)


def decode_query(unfolding: Unfolding, sent: m.Query) -> q.Query:
    """A query with everything inside it. Raises `InvalidRequest`, also at its bounds."""
    reader = _READERS.get(sent.type) if sent.HasField("type") else None
    if reader is None:
        raise invalid_field(sent, "type")
    return unfolding.below(lambda: reader(unfolding, sent.query))


def _queries(unfolding: Unfolding, sent: Iterable[m.Query]) -> tuple[q.Query, ...]:
    return tuple([decode_query(unfolding, each) for each in sent])


def _inner(unfolding: Unfolding, sent: m.Query, within: Message, name: str) -> q.Query:
    """A query that has to be there."""
    if not within.HasField(name):
        raise invalid_field(within, name)
    return decode_query(unfolding, sent)


def _minimum(sent: m.MatchQuery | m.BoolQuery) -> str | None:
    """How many have to match: the text that newer clients send wins over the number."""
    if sent.HasField("new_minimum_should_match"):
        return text(sent.new_minimum_should_match)
    return str(sent.minimum_should_match) if sent.HasField("minimum_should_match") else None


# --- texts and values ------------------------------------------------------------------------


def _match(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.MatchQuery, data)
    return q.MatchQuery(
        named(sent),
        text(sent.text),
        member(sent, "operator", _OPERATORS, q.QueryOperator.OR),
        _minimum(sent),
        weight(sent),
    )


def _match_phrase(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.MatchPhraseQuery, data)
    if sent.slop < 0:
        raise invalid_field(sent, "slop")
    return q.MatchPhraseQuery(named(sent), text(sent.text), sent.slop, weight(sent))


def _term(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.TermQuery, data)
    return q.TermQuery(named(sent), variant(sent, "term"), weight(sent))


def _terms(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.TermsQuery, data)
    return q.TermsQuery(named(sent), variants(sent, "terms"), weight(sent))


def _range(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.RangeQuery, data)
    return q.RangeQuery(
        named(sent),
        optional_variant(sent, "range_from"),
        optional_variant(sent, "range_to"),
        sent.include_lower,
        sent.include_upper,
    )


def _prefix(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.PrefixQuery, data)
    return q.PrefixQuery(named(sent), text(sent.prefix), weight(sent))


def _suffix(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.SuffixQuery, data)
    return q.SuffixQuery(named(sent), text(sent.suffix), weight(sent))


def _wildcard(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.WildcardQuery, data)
    return q.WildcardQuery(named(sent), text(sent.value), weight(sent))


def _match_all(unfolding: Unfolding, data: bytes) -> q.Query:
    unfolding.parse(m.MatchAllQuery, data)
    return q.MATCH_ALL


def _exists(unfolding: Unfolding, data: bytes) -> q.Query:
    return q.ExistsQuery(named(unfolding.parse(m.ExistsQuery, data)))


# --- queries of queries ----------------------------------------------------------------------


def _bool(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.BoolQuery, data)
    return q.BoolQuery(
        _queries(unfolding, sent.must_queries),
        _queries(unfolding, sent.must_not_queries),
        _queries(unfolding, sent.filter_queries),
        _queries(unfolding, sent.should_queries),
        _minimum(sent),
        weight(sent),
    )


def _const_score(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.ConstScoreQuery, data)
    return q.ConstScoreQuery(_inner(unfolding, sent.filter, sent, "filter"))


def _dis_max(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.DisMaxQuery, data)
    return q.DisMaxQuery(
        _queries(unfolding, sent.queries),
        number(sent, "tie_breaker", 0.0, least=0.0),
        weight(sent),
    )


def _nested(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.NestedQuery, data)
    hits = None
    if sent.HasField("inner_hits"):
        hits = decode_inner_hits(sent.inner_hits, partial(decode_query, unfolding))
    return q.NestedQuery(
        named(sent, "path"),
        _inner(unfolding, sent.query, sent, "query"),
        member(sent, "score_mode", _SCORE_MODES, q.NestedScoreMode.NONE),
        weight(sent),
        hits,
    )


def _function_score(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.FunctionScoreQuery, data)
    return q.FunctionScoreQuery(
        _inner(unfolding, sent.query, sent, "query"), named(sent.field_value_factor)
    )


def _functions_score(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.FunctionsScoreQuery, data)
    query = decode_query(unfolding, sent.query) if sent.HasField("query") else q.MATCH_ALL
    inside = partial(decode_query, unfolding)
    return q.FunctionsScoreQuery(
        query,
        tuple([decode_function(unfolding, each, inside) for each in sent.functions]),
        member(sent, "score_mode", _FUNCTION_SCORE_MODES, q.FunctionScoreMode.MULTIPLY),
        member(sent, "combine_mode", _COMBINE_MODES, q.FunctionCombineMode.MULTIPLY),
        number(sent, "min_score", 0.0) if sent.HasField("min_score") else None,
        number(sent, "max_score", 0.0) if sent.HasField("max_score") else None,
    )


# --- places and vectors ----------------------------------------------------------------------


def _geo_bounding_box(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.GeoBoundingBoxQuery, data)
    return q.GeoBoundingBoxQuery(named(sent), text(sent.top_left), text(sent.bottom_right))


def _geo_distance(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.GeoDistanceQuery, data)
    return q.GeoDistanceQuery(
        named(sent), text(sent.center_point), number(sent, "distance", 0.0, least=0.0)
    )


def _geo_polygon(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.GeoPolygonQuery, data)
    return q.GeoPolygonQuery(named(sent), texts(sent.points))


def _knn_vector(unfolding: Unfolding, data: bytes) -> q.Query:
    sent = unfolding.parse(m.KnnVectorQuery, data)
    return q.KnnVectorQuery(
        named(sent),
        tuple(sent.float32_query_vector),
        sent.top_k if sent.HasField("top_k") else None,
        decode_query(unfolding, sent.filter) if sent.HasField("filter") else None,
        number(sent, "min_score", 0.0) if sent.HasField("min_score") else None,
        sent.num_candidates if sent.HasField("num_candidates") else None,
        weight(sent),
    )


_READERS: Final[Mapping[int, Callable[[Unfolding, bytes], q.Query]]] = MappingProxyType(
    dict(
        enumerate(
            (
                _match,
                _match_phrase,
                _term,
                _range,
                _prefix,
                _bool,
                _const_score,
                _function_score,
                _nested,
                _wildcard,
                _match_all,
                _geo_bounding_box,
                _geo_distance,
                _geo_polygon,
                _terms,
                _exists,
                _knn_vector,
                _functions_score,
                _suffix,
                _dis_max,
            ),
            start=1,
        )
    )
)
"""By the number of the type (protos §4, QueryType)."""
