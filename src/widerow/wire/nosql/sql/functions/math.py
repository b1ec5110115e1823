"""Functions of numbers (ddl §4; corrections B, "4 math").

`abs`, `ceil` and `floor` keep the type of their argument; all others give a DOUBLE, as Java counts
it. What is not a number, and several items, give SQL NULL.
"""

import math
from collections.abc import Callable, Mapping
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from types import MappingProxyType
from typing import Any, Final

from widerow.model.typed.types import Kind
from widerow.model.typed.values import plain_number
from widerow.wire.nosql.sql.functions.kinds import (
    NULL_ITEMS,
    ArgumentItems,
    Env,
    Items,
    SqlFunction,
)
from widerow.wire.nosql.sql.items import FloatItem, LongInt, is_long, is_number

__all__ = ["MATH_FUNCTIONS"]

_INTEGER_MIN, _LONG_MIN = -(2**31), -(2**63)
_MANTISSA_BITS: Final = 53


def _number(items: Items) -> Any:  # noqa: ANN401  # int, float or Decimal; None: no number
    return items[0] if len(items) == 1 and is_number(items[0]) else None


def _double(items: Items) -> float | None:
    """An argument as a DOUBLE; None where it is not a number."""
    number = _number(items)
    return None if number is None else float(number)


def _keeping(
    whole: Callable[[Any], Any], real: Callable[[float], float], exact: Callable[[Decimal], Decimal]
) -> Callable[[ArgumentItems, Env], Items]:
    """A function that gives a number of the type of its argument."""

    def call(arguments: ArgumentItems, _: Env) -> Items:
        number = _number(arguments[0])
        if number is None:
            return NULL_ITEMS
        if isinstance(number, Decimal):
            return (plain_number(exact(number)),)
        if isinstance(number, float):
            made = real(float(number))
            return (FloatItem(made) if isinstance(number, FloatItem) else made,)
        made_whole = whole(int(number))
        return (LongInt(made_whole) if is_long(number) else made_whole,)

    return call


def _absolute(number: int) -> int:
    """The smallest INTEGER and LONG have no positive counterpart, and stay."""
    return number if number in (_INTEGER_MIN, _LONG_MIN) else abs(number)


def _finite(change: Callable[[float], float]) -> Callable[[float], float]:
    """A change that leaves NaN and the infinities as they are."""
    return lambda value: change(value) if math.isfinite(value) else value


def _guarded(function: Callable[..., float]) -> Callable[..., float]:
    """A function of `math` that gives NaN or Infinity where Python's refuses."""

    def call(*values: float) -> float:
        try:
            return function(*values)
        except ValueError:
            return math.nan
        except OverflowError:
            return math.inf

    return call


def _of_doubles(function: Callable[..., float]) -> Callable[[ArgumentItems, Env], Items]:
    """A function of DOUBLEs."""

    def call(arguments: ArgumentItems, _: Env) -> Items:
        values = [_double(items) for items in arguments]
        return NULL_ITEMS if None in values else (function(*values),)

    return call


def _scaled(change: Callable[[float], float]) -> Callable[..., float]:
    """Rounding to a number of digits behind the point; a negative one counts before it."""

    def call(value: float, digits: float = 0.0) -> float:
        if not math.isfinite(value) or not math.isfinite(digits):
            return value
        power = min(max(int(digits), -400), 400)
        try:
            scale = 10.0 ** abs(power)
        except OverflowError:
            return value if power > 0 else 0.0
        moved = value * scale if power >= 0 else value / scale
        changed = change(moved)
        return changed / scale if power >= 0 else changed * scale

    return call


def _half_away(value: float) -> float:
    """The nearest whole number; a half is rounded away from zero."""
    if not math.isfinite(value) or abs(value) >= 2.0**_MANTISSA_BITS:
        return value
    whole = math.floor(abs(value))
    return math.copysign(whole + (abs(value) - whole >= 0.5), value)


def _power(base: float, exponent: float) -> float:
    try:
        return math.pow(base, exponent)
    except ValueError:  # of a negative base, or zero to a negative power
        return math.inf if base == 0 else math.nan
    except OverflowError:
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _logarithm(function: Callable[[float], float]) -> Callable[[float], float]:
    def call(value: float) -> float:
        if value == 0:
            return -math.inf
        return math.nan if value < 0 else function(value)

    return call


_LN: Final = _logarithm(math.log)


def _log(value: float, base: float) -> float:
    return _quotient(_LN(value), _LN(base))


def _quotient(one: float, other: float) -> float:
    """A quotient of DOUBLEs, also by zero."""
    if other:
        return one / other
    if math.isnan(one) or one == 0:
        return math.nan
    return math.copysign(math.inf, one) * math.copysign(1.0, other)


def _sign(value: float) -> float:
    return value if math.isnan(value) or value == 0 else math.copysign(1.0, value)


def _constant(value: float) -> Callable[[ArgumentItems, Env], Items]:
    return lambda _arguments, _env: (value,)


def _rand(_: ArgumentItems, env: Env) -> Items:
    """A random number from 0 up to 1."""
    bits = int.from_bytes(env.random(8), "big") >> (64 - _MANTISSA_BITS)
    return (bits / 2.0**_MANTISSA_BITS,)


def _doubles(count: int, function: Callable[..., float]) -> SqlFunction:
    return SqlFunction(count, count, _of_doubles(function), Kind.DOUBLE)


MATH_FUNCTIONS: Final[Mapping[str, SqlFunction]] = MappingProxyType(
    {
        "abs": SqlFunction(1, 1, _keeping(_absolute, abs, Decimal.copy_abs)),
        "ceil": SqlFunction(
            1,
            1,
            _keeping(
                int,
                _finite(lambda value: math.copysign(float(math.ceil(value)), value)),
                lambda value: value.to_integral_value(ROUND_CEILING),
            ),
        ),
        "floor": SqlFunction(
            1,
            1,
            _keeping(
                int,
                _finite(lambda value: math.copysign(float(math.floor(value)), value)),
                lambda value: value.to_integral_value(ROUND_FLOOR),
            ),
        ),
        "round": SqlFunction(1, 2, _of_doubles(_scaled(_half_away)), Kind.DOUBLE),
        "trunc": SqlFunction(
            1,
            2,
            _of_doubles(_scaled(_finite(lambda value: math.copysign(math.trunc(value), value)))),
            Kind.DOUBLE,
        ),
        "sign": _doubles(1, _sign),
        "sqrt": _doubles(1, _guarded(math.sqrt)),
        "power": _doubles(2, _power),
        "exp": _doubles(1, _guarded(math.exp)),
        "ln": _doubles(1, _LN),
        "log": _doubles(2, _log),
        "log10": _doubles(1, _logarithm(math.log10)),
        "sin": _doubles(1, _guarded(math.sin)),
        "cos": _doubles(1, _guarded(math.cos)),
        "tan": _doubles(1, _guarded(math.tan)),
        "cot": _doubles(1, lambda value: _quotient(1.0, _guarded(math.tan)(value))),
        "asin": _doubles(1, _guarded(math.asin)),
        "acos": _doubles(1, _guarded(math.acos)),
        "atan": _doubles(1, math.atan),
        "atan2": _doubles(2, math.atan2),
        "degrees": _doubles(1, math.degrees),
        "radians": _doubles(1, math.radians),
        "e": SqlFunction(0, 0, _constant(math.e), Kind.DOUBLE),
        "pi": SqlFunction(0, 0, _constant(math.pi), Kind.DOUBLE),
        "rand": SqlFunction(0, 0, _rand, Kind.DOUBLE),
    }
)
"""By their names, which are compared exactly."""
