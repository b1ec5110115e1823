"""The aggregate functions of SQL, over the accumulators of `widerow/query`."""

import math
import operator
from collections.abc import Callable
from functools import reduce
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from widerow.query import aggregates as a
from widerow.query.plan import Accumulator
from widerow.wire.tablestore.operations.sql.kinds import (
    SqlKind,
    TypedExpression,
    as_number,
    as_text,
    as_whole,
)

__all__ = ["AGGREGATES", "AggregateFunction", "collected_text"]

_LONG, _DOUBLE, _TEXT = SqlKind.LONG, SqlKind.DOUBLE, SqlKind.TEXT


class AggregateFunction(NamedTuple):
    """How an aggregate takes its argument, what it gives (None: the argument's kind), its state."""

    take: Callable[[TypedExpression], TypedExpression]
    kind: SqlKind | None
    start: Callable[[], Accumulator]


def _as_it_is(typed: TypedExpression) -> TypedExpression:
    return typed


def _variance(count: int, squares: float) -> float:
    return squares / count


def _sample_variance(count: int, squares: float) -> float | None:
    return squares / (count - 1) if count > 1 else None


def _deviation(of: Callable[[int, float], float | None]) -> Callable[[int, float], float | None]:
    def run(count: int, squares: float) -> float | None:
        found = of(count, squares)
        return None if found is None else math.sqrt(found)

    return run


def _moments(finish: Callable[[int, float], float | None]) -> AggregateFunction:
    return AggregateFunction(as_number, _DOUBLE, lambda: a.Moments(finish))


_BITS: Final = 2**64 - 1


def _signed(bits: int) -> int:
    return bits - 2**64 if bits >= 2**63 else bits


def _bits(join: Callable[[int, int], int], start: int) -> AggregateFunction:
    def finish(values: list[int]) -> int:
        return _signed(reduce(join, [value & _BITS for value in values], start))

    return AggregateFunction(as_whole, _LONG, lambda: a.Collected(finish))


def collected_text(separator: str) -> AggregateFunction:
    """GROUP_CONCAT: the texts of a group in the order of its rows."""

    def finish(values: list[Any]) -> str:
        return separator.join(values)

    return AggregateFunction(as_text, _TEXT, lambda: a.Collected(finish))


AGGREGATES: Final = MappingProxyType(
    {
        "COUNT": AggregateFunction(_as_it_is, _LONG, a.Count),
        "SUM": AggregateFunction(as_number, _DOUBLE, lambda: a.Sum(float)),
        "AVG": AggregateFunction(as_number, _DOUBLE, a.Mean),
        "MIN": AggregateFunction(_as_it_is, None, lambda: a.Best(operator.lt)),
        "MAX": AggregateFunction(_as_it_is, None, lambda: a.Best(operator.gt)),
        "ANY_VALUE": AggregateFunction(_as_it_is, None, a.First),
        "STD": _moments(_deviation(_variance)),
        "STDDEV": _moments(_deviation(_variance)),
        "STDDEV_POP": _moments(_deviation(_variance)),
        "STDDEV_SAMP": _moments(_deviation(_sample_variance)),
        "VARIANCE": _moments(_variance),
        "VAR_POP": _moments(_variance),
        "VAR_SAMP": _moments(_sample_variance),
        "BIT_AND": _bits(operator.and_, _BITS),
        "BIT_OR": _bits(operator.or_, 0),
        "BIT_XOR": _bits(operator.xor, 0),
        "GROUP_CONCAT": collected_text(","),
    }
)
"""By their names in capitals."""
