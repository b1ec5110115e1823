"""Queries: the bytes of each type's message, and values of the model (search §4, protos §4)."""

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final

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

__all__ = ["QUERY_READERS", "decode_query"]

_OPERATORS: Final = members(q.QueryOperator)
_SCORE_MODES: Final = members(q.NestedScoreMode)
_FUNCTION_SCORE_MODES: Final = members(q.FunctionScoreMode)
_COMBINE_MODES: Final = members(q.FunctionCombineMode)


def decode_query(unfolding: Unfolding, sent: m.Query) -> q.Query:
    """A query with everything inside it. Raises `InvalidRequest`, also at its bounds."""
    kind = QUERY_READERS.get(sent.type) if sent.HasField("type") else None
    if kind is None:
        raise invalid_field(sent, "type")
    message, reader = kind
    return unfolding.below(lambda: reader(unfolding, unfolding.parse(message, sent.query)))


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


def _match(_: Unfolding, sent: m.MatchQuery) -> q.Query:
    return q.MatchQuery(
        named(sent),
        text(sent.text),
        member(sent, "operator", _OPERATORS, q.QueryOperator.OR),
        _minimum(sent),
        weight(sent),
    )


def _match_phrase(_: Unfolding, sent: m.MatchPhraseQuery) -> q.Query:
    if sent.slop < 0:
        raise invalid_field(sent, "slop")
    return q.MatchPhraseQuery(named(sent), text(sent.text), sent.slop, weight(sent))


def _term(_: Unfolding, sent: m.TermQuery) -> q.Query:
    return q.TermQuery(named(sent), variant(sent, "term"), weight(sent))


def _terms(_: Unfolding, sent: m.TermsQuery) -> q.Query:
    return q.TermsQuery(named(sent), variants(sent, "terms"), weight(sent))


def _range(_: Unfolding, sent: m.RangeQuery) -> q.Query:
    return q.RangeQuery(
        named(sent),
        optional_variant(sent, "range_from"),
        optional_variant(sent, "range_to"),
        sent.include_lower,
        sent.include_upper,
    )


def _prefix(_: Unfolding, sent: m.PrefixQuery) -> q.Query:
    return q.PrefixQuery(named(sent), text(sent.prefix), weight(sent))


def _suffix(_: Unfolding, sent: m.SuffixQuery) -> q.Query:
    return q.SuffixQuery(named(sent), text(sent.suffix), weight(sent))


def _wildcard(_: Unfolding, sent: m.WildcardQuery) -> q.Query:
    return q.WildcardQuery(named(sent), text(sent.value), weight(sent))


def _match_all(_: Unfolding, _sent: m.MatchAllQuery) -> q.Query:
    return q.MATCH_ALL


def _exists(_: Unfolding, sent: m.ExistsQuery) -> q.Query:
    return q.ExistsQuery(named(sent))


# --- queries of queries ----------------------------------------------------------------------


def _bool(unfolding: Unfolding, sent: m.BoolQuery) -> q.Query:
    return q.BoolQuery(
        _queries(unfolding, sent.must_queries),
        _queries(unfolding, sent.must_not_queries),
        _queries(unfolding, sent.filter_queries),
        _queries(unfolding, sent.should_queries),
        _minimum(sent),
        weight(sent),
    )


def _const_score(unfolding: Unfolding, sent: m.ConstScoreQuery) -> q.Query:
    return q.ConstScoreQuery(_inner(unfolding, sent.filter, sent, "filter"))


def _dis_max(unfolding: Unfolding, sent: m.DisMaxQuery) -> q.Query:
    return q.DisMaxQuery(
        _queries(unfolding, sent.queries),
        number(sent, "tie_breaker", 0.0, least=0.0),
        weight(sent),
    )


def _nested(unfolding: Unfolding, sent: m.NestedQuery) -> q.Query:
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


def _function_score(unfolding: Unfolding, sent: m.FunctionScoreQuery) -> q.Query:
    return q.FunctionScoreQuery(
        _inner(unfolding, sent.query, sent, "query"), named(sent.field_value_factor)
    )


def _functions_score(unfolding: Unfolding, sent: m.FunctionsScoreQuery) -> q.Query:
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


def _geo_bounding_box(_: Unfolding, sent: m.GeoBoundingBoxQuery) -> q.Query:
    return q.GeoBoundingBoxQuery(named(sent), text(sent.top_left), text(sent.bottom_right))


def _geo_distance(_: Unfolding, sent: m.GeoDistanceQuery) -> q.Query:
    return q.GeoDistanceQuery(
        named(sent), text(sent.center_point), number(sent, "distance", 0.0, least=0.0)
    )


def _geo_polygon(_: Unfolding, sent: m.GeoPolygonQuery) -> q.Query:
    return q.GeoPolygonQuery(named(sent), texts(sent.points))


def _knn_vector(unfolding: Unfolding, sent: m.KnnVectorQuery) -> q.Query:
    return q.KnnVectorQuery(
        named(sent),
        tuple(sent.float32_query_vector),
        sent.top_k if sent.HasField("top_k") else None,
        decode_query(unfolding, sent.filter) if sent.HasField("filter") else None,
        number(sent, "min_score", 0.0) if sent.HasField("min_score") else None,
        sent.num_candidates if sent.HasField("num_candidates") else None,
        weight(sent),
    )


_Reader = Callable[[Unfolding, Any], q.Query]
QUERY_READERS: Final[Mapping[int, tuple[type[Message], _Reader]]] = MappingProxyType(
    {
        1: (m.MatchQuery, _match),
        2: (m.MatchPhraseQuery, _match_phrase),
        3: (m.TermQuery, _term),
        4: (m.RangeQuery, _range),
        5: (m.PrefixQuery, _prefix),
        6: (m.BoolQuery, _bool),
        7: (m.ConstScoreQuery, _const_score),
        8: (m.FunctionScoreQuery, _function_score),
        9: (m.NestedQuery, _nested),
        10: (m.WildcardQuery, _wildcard),
        11: (m.MatchAllQuery, _match_all),
        12: (m.GeoBoundingBoxQuery, _geo_bounding_box),
        13: (m.GeoDistanceQuery, _geo_distance),
        14: (m.GeoPolygonQuery, _geo_polygon),
        15: (m.TermsQuery, _terms),
        16: (m.ExistsQuery, _exists),
        17: (m.KnnVectorQuery, _knn_vector),
        18: (m.FunctionsScoreQuery, _functions_score),
        19: (m.SuffixQuery, _suffix),
        20: (m.DisMaxQuery, _dis_max),
    }
)
"""The message of each type of query, and what reads it (protos §4, QueryType)."""
