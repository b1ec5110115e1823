"""Queries that people write in JSON, as messages of the protocol.

A query is an object with one member: the vendor's name of the query, and an object with the
members of its message, as the protocol names them, such as
`{"TermQuery": {"field_name": "state", "term": "open"}}`.
Values are JSON's own; enumerations may be given by name.
"""

import json
from collections.abc import Iterable, Mapping
from enum import IntEnum
from typing import Any, Final

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from widerow.errors import WiderowError
from widerow.model.search import query as q
from widerow.rows.cells import encode_variant
from widerow.wire.tablestore import search_messages as m

__all__ = ["QueryUnreadable", "any_query", "query_message", "query_of_json"]

_NAMES: Final = (
    *("MatchQuery", "MatchPhraseQuery", "TermQuery", "RangeQuery", "PrefixQuery", "BoolQuery"),
    *("ConstScoreQuery", "FunctionScoreQuery", "NestedQuery", "WildcardQuery", "MatchAllQuery"),
    *("GeoBoundingBoxQuery", "GeoDistanceQuery", "GeoPolygonQuery", "TermsQuery", "ExistsQuery"),
    *("KnnVectorQuery", "FunctionsScoreQuery", "SuffixQuery", "DisMaxQuery"),
)
"""In the order of their numbers, from 1 (protos §4, QueryType)."""
_DECAY_PARAMS: Final = (m.DecayFuncDateParam, m.DecayFuncNumericParam, m.DecayFuncGeoParam)
_ENUMERATIONS: Final[Mapping[tuple[str, str], type[IntEnum]]] = {
    ("MatchQuery", "operator"): q.QueryOperator,
    ("NestedQuery", "score_mode"): q.NestedScoreMode,
    ("FunctionsScoreQuery", "score_mode"): q.FunctionScoreMode,
    ("FunctionsScoreQuery", "combine_mode"): q.FunctionCombineMode,
    ("FieldValueFactorFunction", "modifier"): q.FunctionModifier,
    ("DecayFunction", "math_function"): q.DecayMath,
    ("DecayFunction", "multi_value_mode"): q.MultiValueMode,
    ("DateTimeValue", "unit"): q.DateTimeUnit,
}


class QueryUnreadable(WiderowError):
    """A query that a person wrote cannot be read; the message says where and what to do."""


def query_message(inner: Message) -> m.Query:
    """The query that a message of its type is."""
    return m.Query(type=_NAMES.index(inner.DESCRIPTOR.name) + 1, query=inner.SerializeToString())


def query_of_json(text: str) -> m.Query:
    """Read a query. Raises: `QueryUnreadable`."""
    try:
        return _query(json.loads(text))
    except ValueError as error:
        raise QueryUnreadable(f"the query is not JSON: {error}") from error
    except RecursionError as error:
        raise QueryUnreadable("the query is too deep") from error


def _query(found: object) -> m.Query:
    if not isinstance(found, dict) or len(found) != 1:
        raise QueryUnreadable(
            f'{json.dumps(found)} is not a query; write {{"TermQuery": {{"field_name": …}}}}'
        )
    ((name, body),) = found.items()
    if name not in _NAMES:
        raise QueryUnreadable(f"there is no {name}; queries are {', '.join(sorted(_NAMES))}")
    return query_message(_message(getattr(m, name), body))


def _message(kind: Any, found: object) -> Any:  # noqa: ANN401  # messages have no common type
    name = kind.DESCRIPTOR.name
    if not isinstance(found, dict):
        raise QueryUnreadable(f"{json.dumps(found)} does not fit {name}; write an object")
    made = kind()
    for member, value in found.items():
        field = kind.DESCRIPTOR.fields_by_name.get(member)
        if field is None:
            known = ", ".join(sorted(kind.DESCRIPTOR.fields_by_name))
            raise QueryUnreadable(f"{name} has no {member}; it has {known}")
        try:
            _set(made, field, value)
        except (TypeError, ValueError) as error:
            raise QueryUnreadable(f"{json.dumps(value)} does not fit {member} of {name}") from error
    return made


def _set(made: Any, field: FieldDescriptor, value: object) -> None:  # noqa: ANN401  # messages have no common type
    there = getattr(made, field.name)
    if isinstance(there, Message):
        there.CopyFrom(_value(made, field, value))
    elif hasattr(there, "extend"):  # repeated
        if not isinstance(value, list):
            raise QueryUnreadable(f"{field.name} is a list; write [ … ]")
        there.extend([_value(made, field, each) for each in value])
    else:
        setattr(made, field.name, _value(made, field, value))


def _value(made: Message, field: FieldDescriptor, value: object) -> Any:  # noqa: ANN401  # messages have no common type
    holder = made.DESCRIPTOR.name
    if field.type == FieldDescriptor.TYPE_MESSAGE:
        assert field.message_type is not None, "it is a message"
        if field.message_type.name == "Query":
            return _query(value)
        return _message(getattr(m, field.message_type.name), value)
    if (holder, field.name) == ("DecayFunction", "param"):
        return _decay_param(value)
    if field.type == FieldDescriptor.TYPE_BYTES:
        if not isinstance(value, str | int | float):
            raise TypeError(field.name)
        return encode_variant(value)
    names = _ENUMERATIONS.get((holder, field.name))
    if names is not None and isinstance(value, str):
        if value not in names.__members__:
            known = ", ".join(names.__members__)
            raise QueryUnreadable(f"there is no {field.name} {value}; write {known}")
        return int(names[value])
    return value


def _decay_param(found: object) -> bytes:
    """The parameter of a decay: of the kind whose members it has."""
    for kind in _DECAY_PARAMS:
        try:
            data: bytes = _message(kind, found).SerializeToString()
        except QueryUnreadable:
            continue
        return data
    raise QueryUnreadable(f"{json.dumps(found)} is not a param; write origin, scale and offset")


def any_query(found: Iterable[m.Query]) -> m.Query:
    """Where any of these matches."""
    queries = list(found)
    return queries[0] if len(queries) == 1 else query_message(m.BoolQuery(should_queries=queries))
