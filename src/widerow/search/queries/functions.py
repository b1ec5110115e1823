"""Scores made of fields: FunctionScore and FunctionsScore (search §4.5)."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from widerow.errors import InvalidRequest
from widerow.limits import SEARCH_FUNCTIONS_MAX
from widerow.model.search.query import (
    DateTimeUnit,
    DateTimeValue,
    DecayDateParam,
    DecayFunction,
    DecayGeoParam,
    DecayMath,
    DecayNumericParam,
    FieldValueFactor,
    FunctionCombineMode,
    FunctionModifier,
    FunctionScoreMode,
    FunctionsScoreQuery,
    MultiValueMode,
    ScoreFunction,
)
from widerow.model.search.schema import SearchFieldType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.search.columns import ValueColumn
from widerow.search.fields import DocumentLevel, IndexedField
from widerow.search.interface import Booleans, Floats, Integers
from widerow.search.places import degrees, distances
from widerow.search.queries.node import Asked, Matched, Node
from widerow.search.queries.values import asked_number, point_of, refused_type
from widerow.search.segments import TableView

__all__ = ["field_score_node", "functions_node"]

_Type = SearchFieldType
_FLOAT_MAX: Final = 3.4028234663852886e38  # of 32 bits: the default of max_score
_SECOND_NS: Final = 10**9
_UNIT_NS: Final[dict[DateTimeUnit, int]] = {
    DateTimeUnit.YEAR: 365 * 86_400 * _SECOND_NS,
    DateTimeUnit.QUARTER_YEAR: 90 * 86_400 * _SECOND_NS,
    DateTimeUnit.MONTH: 30 * 86_400 * _SECOND_NS,
    DateTimeUnit.WEEK: 7 * 86_400 * _SECOND_NS,
    DateTimeUnit.DAY: 86_400 * _SECOND_NS,
    DateTimeUnit.HOUR: 3600 * _SECOND_NS,
    DateTimeUnit.MINUTE: 60 * _SECOND_NS,
    DateTimeUnit.SECOND: _SECOND_NS,
    DateTimeUnit.MILLISECOND: 10**6,
}
_Base = Callable[[int, Integers], Floats]  # the factors of some documents of a segment


# --- values of fields --------------------------------------------------------------------------


def _reduced(
    values: Floats, owners: Integers | None, count: int, mode: MultiValueMode
) -> tuple[Floats, Booleans]:
    """One value for each of `count` documents, and a mask of those that have a value."""
    if owners is None:
        return values, np.ones(count, dtype=np.bool_)
    result = np.zeros(count)
    exists = np.zeros(count, dtype=np.bool_)
    if not len(owners):
        return result, exists
    begins = np.flatnonzero(np.concatenate(([True], owners[1:] != owners[:-1])))
    folded: NDArray[Any]
    if mode is MultiValueMode.MIN:
        folded = np.minimum.reduceat(values, begins)
    elif mode is MultiValueMode.MAX:
        folded = np.maximum.reduceat(values, begins)
    else:
        folded = np.add.reduceat(values, begins)
        if mode is MultiValueMode.AVG:
            folded = folded / np.diff(np.append(begins, len(owners)))
    result[owners[begins]] = folded
    exists[owners[begins]] = True
    return result, exists


def _smallest(table: TableView, field: IndexedField, numbers: Integers) -> tuple[Floats, Booleans]:
    column = table.table.column(field)
    assert isinstance(column, ValueColumn)
    taken = column.taken(numbers)
    values = taken.values.astype(np.float64)
    return _reduced(values, taken.owners, len(numbers), MultiValueMode.MIN)


class _FieldScoreNode(Node):
    """The scores of another node, times the value of a field."""

    def __init__(self, tables: list[TableView] | None, field: IndexedField, below: Node) -> None:
        self._tables = tables
        self._field = field
        self._below = below

    def run(self, at: int) -> Matched:
        """The documents of a segment."""
        found = self._below.run(at)
        if self._tables is None:
            return found
        assert found.scores is not None
        numbers = found.as_numbers()
        values, exists = _smallest(self._tables[at], self._field, numbers)
        return Matched(numbers, scores=found.scores * np.where(exists, values, 1.0))


def field_score_node(
    field: IndexedField, tables: list[TableView] | None, below: Node, *, scored: bool
) -> Node:
    """FunctionScoreQuery; `tables` None: the field is at another level, and has no value."""
    if field.type not in (_Type.LONG, _Type.DOUBLE):
        raise refused_type(field, "FUNCTION_SCORE")
    return _FieldScoreNode(tables, field, below) if scored else below


# --- one function ------------------------------------------------------------------------------


def _factor(asked: Asked, level: DocumentLevel, function: FieldValueFactor) -> _Base:
    field = asked.fields.indexed(function.field)
    if field.type not in (_Type.LONG, _Type.DOUBLE):
        raise refused_type(field, "FIELD_VALUE_FACTOR")
    _finite(function.factor, 0.0 if function.missing is None else function.missing)
    here = level.by_name.get(field.name) is field
    tables = asked.tables(level)

    def base(at: int, numbers: Integers) -> Floats:
        values, exists = np.zeros(len(numbers)), np.zeros(len(numbers), dtype=np.bool_)
        if here:
            values, exists = _smallest(tables[at], field, numbers)
        if function.missing is not None:
            values = np.where(exists, values, function.missing)
        with np.errstate(all="ignore"):
            found = _MODIFIERS[function.modifier](function.factor * values)
        found = np.where(np.isfinite(found) & (found >= 0), found, 0.0)
        return found if function.missing is not None else np.where(exists, found, 1.0)

    return base


_MODIFIERS: Final[dict[FunctionModifier, Callable[[Floats], Floats]]] = {
    FunctionModifier.NONE: lambda x: x,
    FunctionModifier.LOG: np.log10,
    FunctionModifier.LOG1P: lambda x: np.log10(1 + x),
    FunctionModifier.LOG2P: lambda x: np.log10(2 + x),
    FunctionModifier.LN: np.log,
    FunctionModifier.LN1P: np.log1p,
    FunctionModifier.LN2P: lambda x: np.log(2 + x),
    FunctionModifier.SQUARE: np.square,
    FunctionModifier.SQRT: np.sqrt,
    FunctionModifier.RECIPROCAL: lambda x: 1 / x,
}


def _decay(asked: Asked, level: DocumentLevel, function: DecayFunction) -> _Base:
    field = asked.fields.indexed(function.field)
    away, scale, offset = _distance_of(field, function.param)
    _finite(scale, offset)
    if scale <= 0 or offset < 0:
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_WEIGHT, value=str(scale))
    if not 0 < function.decay < 1:
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_FUNCTIONS, value=str(function.decay))
    here = level.by_name.get(field.name) is field
    tables = asked.tables(level)
    curve = _CURVES[function.math]

    def base(at: int, numbers: Integers) -> Floats:
        if not here:
            return np.ones(len(numbers))
        column = tables[at].table.column(field)
        assert isinstance(column, ValueColumn)
        taken = column.taken(numbers)
        far = np.maximum(0.0, away(taken.values) - offset)
        found, exists = _reduced(far, taken.owners, len(numbers), function.multi_value_mode)
        return np.where(exists, curve(found / scale, function.decay), 1.0)

    return base


_CURVES: Final[dict[DecayMath, Callable[[Floats, float], Floats]]] = {
    DecayMath.GAUSS: lambda far, decay: np.exp(math.log(decay) * far**2),
    DecayMath.EXP: lambda far, decay: np.exp(math.log(decay) * far),
    DecayMath.LINEAR: lambda far, decay: np.maximum(0.0, 1 - (1 - decay) * far),
}


def _distance_of(
    field: IndexedField, param: DecayDateParam | DecayNumericParam | DecayGeoParam
) -> tuple[Callable[[NDArray[Any]], Floats], float, float]:
    """The function from stored values to distances from the origin; scale; offset."""
    if isinstance(param, DecayGeoParam) and field.type is _Type.GEO_POINT:
        point = point_of(param.origin)
        return lambda stored: distances(degrees(stored), point), param.scale, param.offset
    if isinstance(param, DecayNumericParam) and field.type in (_Type.LONG, _Type.DOUBLE):
        _finite(param.origin)
        number = param.origin
        return lambda stored: np.abs(stored - number), param.scale, param.offset
    if isinstance(param, DecayDateParam) and field.type is _Type.DATE:
        origin = param.origin
        moment = asked_number(field, origin) if isinstance(origin, str) else origin
        offset = 0 if param.offset is None else _nanoseconds(param.offset)
        return (
            lambda stored: np.abs(stored.astype(np.float64) - moment),
            _nanoseconds(param.scale),
            offset,
        )
    raise refused_type(field, "DECAY")


def _nanoseconds(span: DateTimeValue) -> float:
    return float(span.value * _UNIT_NS[span.unit])


def _finite(*numbers: float) -> None:
    for number in numbers:
        if not math.isfinite(number):
            raise InvalidRequest(TablestoreRule.SEARCH_QUERY_WEIGHT, value=str(number))


def _base_of(asked: Asked, level: DocumentLevel, function: ScoreFunction, number: int) -> _Base:
    _finite(function.weight)
    if isinstance(function.function, FieldValueFactor):
        return _factor(asked, level, function.function)
    if isinstance(function.function, DecayFunction):
        return _decay(asked, level, function.function)
    if function.function is None:
        return lambda _at, numbers: np.ones(len(numbers))
    return lambda at, numbers: np.random.default_rng([asked.seed, number, at]).random(len(numbers))


# --- all of them -------------------------------------------------------------------------------


class _FunctionsNode(Node):
    """The scores of another node, combined with functions."""

    def __init__(
        self,
        query: FunctionsScoreQuery,
        below: Node,
        filters: Sequence[Node | None],
        bases: Sequence[_Base],
    ) -> None:
        self._query = query
        self._below = below
        self._filters = filters
        self._bases = bases

    def run(self, at: int) -> Matched:
        """The documents of a segment."""
        found = self._below.run(at)
        assert found.scores is not None
        numbers = found.as_numbers()
        if not len(numbers) or not self._bases:  # without functions the factor is 1
            return self._kept(numbers, self._combined(found.scores, np.ones(len(numbers))))
        factors: list[Floats] = []
        applies: list[Booleans] = []
        for function, base, filtered in zip(
            self._query.functions, self._bases, self._filters, strict=True
        ):
            factors.append(function.weight * base(at, numbers))
            if filtered is None:
                applies.append(np.ones(len(numbers), dtype=np.bool_))
            else:
                applies.append(np.isin(numbers, filtered.run(at).as_numbers()))
        return self._kept(numbers, self._totals(found.scores, np.array(factors), np.array(applies)))

    def _kept(self, numbers: Integers, total: Floats) -> Matched:
        if self._query.min_score is None:
            return Matched(numbers, scores=total)
        kept = total >= self._query.min_score
        return Matched(numbers[kept], scores=total[kept])

    def _totals(self, scores: Floats, factors: Floats, applies: Booleans) -> Floats:
        weights = np.array([each.weight for each in self._query.functions])
        factor = _SCORE_MODES[self._query.score_mode](factors, applies, weights)
        return self._combined(scores, np.where(applies.any(axis=0), factor, 1.0))

    def _combined(self, scores: Floats, factor: Floats) -> Floats:
        most = _FLOAT_MAX if self._query.max_score is None else self._query.max_score
        return _COMBINE_MODES[self._query.combine_mode](scores, np.minimum(factor, most))


def _averaged(factors: Floats, applies: Booleans, weights: Floats) -> Floats:
    total = np.where(applies, factors, 0.0).sum(axis=0)
    weight = np.where(applies, weights[:, None], 0.0).sum(axis=0)
    return np.asarray(total / np.where(weight == 0, 1.0, weight))


def _first(factors: Floats, applies: Booleans, _weights: Floats) -> Floats:
    return np.asarray(factors[applies.argmax(axis=0), np.arange(factors.shape[1])])


_SCORE_MODES: Final[dict[FunctionScoreMode, Callable[[Floats, Booleans, Floats], Floats]]] = {
    FunctionScoreMode.AVG: _averaged,
    FunctionScoreMode.MAX: lambda f, a, _w: np.where(a, f, -np.inf).max(axis=0),
    FunctionScoreMode.SUM: lambda f, a, _w: np.where(a, f, 0.0).sum(axis=0),
    FunctionScoreMode.MIN: lambda f, a, _w: np.where(a, f, np.inf).min(axis=0),
    FunctionScoreMode.MULTIPLY: lambda f, a, _w: np.where(a, f, 1.0).prod(axis=0),
    FunctionScoreMode.FIRST: _first,
}
_COMBINE_MODES: Final[dict[FunctionCombineMode, Callable[[Floats, Floats], Floats]]] = {
    FunctionCombineMode.MULTIPLY: lambda score, factor: score * factor,
    FunctionCombineMode.AVG: lambda score, factor: (score + factor) / 2,
    FunctionCombineMode.MAX: np.maximum,
    FunctionCombineMode.SUM: lambda score, factor: score + factor,
    FunctionCombineMode.MIN: np.minimum,
    FunctionCombineMode.REPLACE: lambda _score, factor: factor,
}


def functions_node(
    query: FunctionsScoreQuery,
    asked: Asked,
    level: DocumentLevel,
    below: tuple[Node, list[Node | None]],
    *,
    scored: bool,
) -> Node:
    """FunctionsScoreQuery. `below`: its query, scored, and the filters of its functions.

    Without scores, the node of its query, unless there is a minimum score.
    """
    if len(query.functions) > SEARCH_FUNCTIONS_MAX:
        raise InvalidRequest(TablestoreRule.SEARCH_QUERY_FUNCTIONS, value=str(len(query.functions)))
    bases = [_base_of(asked, level, each, number) for number, each in enumerate(query.functions)]
    node, filters = below
    if not scored and query.min_score is None:
        return node
    return _FunctionsNode(query, node, filters, bases)
