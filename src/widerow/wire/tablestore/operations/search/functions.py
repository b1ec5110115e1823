"""Functions of scores, and spans of time: messages and values (search §4.5)."""

from typing import Final

from widerow.model.search import query as q
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import text
from widerow.wire.tablestore.operations.search.orders import DecodeQuery
from widerow.wire.tablestore.operations.search.unfolding import (
    Unfolding,
    invalid_field,
    member,
    members,
    named,
    number,
    weight,
)

__all__ = ["decode_function", "decode_span", "optional_span"]

_UNITS: Final = members(q.DateTimeUnit)
_MODIFIERS: Final = members(q.FunctionModifier)
_MATHS: Final = members(q.DecayMath)
_MULTI_VALUES: Final = members(q.MultiValueMode)
_KINDS: Final = ("field_value_factor", "random", "decay")
_DATE, _NUMERIC, _GEO = 1, 2, 3  # kinds of a decay's parameters (protos §4, DecayFuncParamType)


def decode_function(unfolding: Unfolding, sent: m.Function, query: DecodeQuery) -> q.ScoreFunction:
    """One function; `query` reads its filter. Raises `InvalidRequest`, also for two in one."""
    kinds = [kind for kind in _KINDS if sent.HasField(kind)]
    if len(kinds) > 1:
        raise invalid_field(sent, "kind")
    function: q.FieldValueFactor | q.RandomScore | q.DecayFunction | None = None
    if kinds == ["field_value_factor"]:
        function = _factor(sent.field_value_factor)
    elif kinds == ["random"]:
        function = q.RandomScore()
    elif kinds == ["decay"]:
        function = _decay(unfolding, sent.decay)
    matching = query(sent.filter) if sent.HasField("filter") else None
    return q.ScoreFunction(function, weight(sent), matching)


def _factor(sent: m.FieldValueFactorFunction) -> q.FieldValueFactor:
    return q.FieldValueFactor(
        named(sent),
        number(sent, "factor", 1.0),
        member(sent, "modifier", _MODIFIERS, q.FunctionModifier.NONE),
        number(sent, "missing", 0.0) if sent.HasField("missing") else None,
    )


def _decay(unfolding: Unfolding, sent: m.DecayFunction) -> q.DecayFunction:
    decay = number(sent, "decay", 0.5)
    if not 0 < decay < 1:
        raise invalid_field(sent, "decay")
    return q.DecayFunction(
        named(sent),
        member(sent, "math_function", _MATHS),
        _param(unfolding, sent),
        decay,
        member(sent, "multi_value_mode", _MULTI_VALUES, q.MultiValueMode.MIN),
    )


def _param(
    unfolding: Unfolding, sent: m.DecayFunction
) -> q.DecayDateParam | q.DecayNumericParam | q.DecayGeoParam:
    if sent.param_type == _DATE:
        return _date_param(unfolding.parse(m.DecayFuncDateParam, sent.param))
    if sent.param_type == _NUMERIC:
        numeric = unfolding.parse(m.DecayFuncNumericParam, sent.param)
        return q.DecayNumericParam(
            number(numeric, "origin", 0.0), _scale(numeric), number(numeric, "offset", 0.0, least=0)
        )
    if sent.param_type == _GEO:
        geo = unfolding.parse(m.DecayFuncGeoParam, sent.param)
        return q.DecayGeoParam(
            named(geo, "origin"), _scale(geo), number(geo, "offset", 0.0, least=0)
        )
    raise invalid_field(sent, "param_type")


def _scale(sent: m.DecayFuncNumericParam | m.DecayFuncGeoParam) -> float:
    scale = number(sent, "scale", 0.0)
    if scale <= 0:
        raise invalid_field(sent, "scale")
    return scale


def _date_param(sent: m.DecayFuncDateParam) -> q.DecayDateParam:
    """The origin is a number or a text; the text wins, as it says more."""
    scale, offset = decode_span(sent.scale), optional_span(sent, "offset", sent.offset)
    if scale.value <= 0:
        raise invalid_field(sent, "scale")
    if offset is not None and offset.value < 0:
        raise invalid_field(sent, "offset")
    if sent.HasField("origin_string"):
        return q.DecayDateParam(text(sent.origin_string), scale, offset)
    if not sent.HasField("origin_long"):
        raise invalid_field(sent, "origin_long")
    return q.DecayDateParam(sent.origin_long, scale, offset)


def decode_span(sent: m.DateTimeValue) -> q.DateTimeValue:
    """A span of time. Raises `InvalidRequest(SEARCH_MESSAGE_VALUE)` without its unit."""
    return q.DateTimeValue(sent.value, member(sent, "unit", _UNITS))


def optional_span(
    within: m.DecayFuncDateParam | m.GroupByDateHistogram, name: str, sent: m.DateTimeValue
) -> q.DateTimeValue | None:
    """A span of time, or None where the field is not there."""
    return decode_span(sent) if within.HasField(name) else None
