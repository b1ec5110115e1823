"""Functions of numbers."""

import math
from binascii import crc32
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule
from widerow.query.expression import FunctionCall
from widerow.wire.tablestore.operations.sql.functions.signature import Function, Functions, taking
from widerow.wire.tablestore.operations.sql.kinds import (
    SqlKind,
    TypedExpression,
    as_number,
    as_rounded,
    whole,
)

__all__ = ["ARITHMETIC", "NUMBER_FUNCTIONS", "arithmetic"]

_LONG, _DOUBLE = SqlKind.LONG, SqlKind.DOUBLE


def _finite(function: Callable[..., float]) -> Callable[..., float | None]:
    """The function; NULL where it has no value, an error where that is too large."""

    def run(*numbers: float) -> float | None:
        try:
            found = function(*numbers)
        except (ValueError, ZeroDivisionError):
            return None
        except OverflowError as error:
            raise InvalidRequest(TablestoreRule.SQL_OVERFLOW) from error
        return _checked(found)

    return run


def _checked(number: float) -> float:
    if math.isfinite(number):
        return number
    raise InvalidRequest(TablestoreRule.SQL_OVERFLOW)


def _rounded(number: float, digits: int = 0) -> float:
    if isinstance(number, int):
        unit = 10 ** min(20, max(0, -digits))
        below = abs(number) // unit * unit
        nearest = below + unit if (abs(number) - below) * 2 >= unit > 1 else below
        return whole(-nearest if number < 0 else nearest)
    scale = 10.0 ** max(-300, min(300, digits))
    scaled = abs(number) * scale
    if not math.isfinite(scaled) or scaled >= 2**53:
        return number
    return math.copysign(math.floor(scaled + 0.5) / scale, number)


def _truncated(number: float, digits: int) -> float:
    if isinstance(number, int):
        unit = 10 ** min(20, max(0, -digits))
        return int(math.copysign(abs(number) // unit * unit, number))
    scale = 10.0 ** max(-300, min(300, digits))
    scaled = number * scale
    return math.trunc(scaled) / scale if abs(scaled) < 2**53 else number


def _whole_or_same(function: Callable[[float], int]) -> Function:
    """CEIL and FLOOR: integers of numbers."""

    def make(arguments: Sequence[TypedExpression]) -> TypedExpression:
        number = as_number(arguments[0])
        if number.kind is _LONG:
            return number
        call = FunctionCall("", lambda value: whole(function(value)), (number.expression,))
        return TypedExpression(call, _LONG)

    return Function(1, 1, make)


def _log(*numbers: float) -> float:
    return math.log(numbers[0]) if len(numbers) == 1 else math.log(numbers[1], numbers[0])


def _extreme(function: Callable[..., Any]) -> Function:
    """GREATEST and LEAST: as texts where all are texts, else as numbers."""

    def make(arguments: Sequence[TypedExpression]) -> TypedExpression:
        kinds = {each.kind for each in arguments} - {SqlKind.NULL}
        if len(kinds) > 1 or kinds == {SqlKind.BOOL}:
            arguments = [as_number(each) for each in arguments]
            kinds = {each.kind for each in arguments}
        kind = kinds.pop() if len(kinds) == 1 else _DOUBLE
        convert = function if kind is not _DOUBLE else lambda *all_: float(function(*all_))
        return TypedExpression(
            FunctionCall("", convert, tuple([each.expression for each in arguments])), kind
        )

    return Function(2, None, make)


def _absolute(number: float) -> float:
    return whole(abs(number)) if isinstance(number, int) else abs(number)


NUMBER_FUNCTIONS: Final[Functions] = MappingProxyType(
    {
        "ABS": taking("n", None, _absolute),
        "CEIL": _whole_or_same(math.ceil),
        "CEILING": _whole_or_same(math.ceil),
        "CRC32": taking("b", _LONG, crc32),
        "EXP": taking("n", _DOUBLE, _finite(math.exp)),
        "FLOOR": _whole_or_same(math.floor),
        "GREATEST": _extreme(max),
        "LEAST": _extreme(min),
        "LN": taking("n", _DOUBLE, _finite(math.log)),
        "LOG": taking("nn", _DOUBLE, _finite(_log), 1),
        "LOG2": taking("n", _DOUBLE, _finite(math.log2)),
        "LOG10": taking("n", _DOUBLE, _finite(math.log10)),
        "PI": taking("", _DOUBLE, lambda: math.pi),
        "POW": taking("nn", _DOUBLE, _finite(math.pow)),
        "POWER": taking("nn", _DOUBLE, _finite(math.pow)),
        "ROUND": taking("ni", None, _rounded, 1),
        "SIGN": taking("n", _LONG, lambda number: (number > 0) - (number < 0)),
        "SQRT": taking("n", _DOUBLE, _finite(math.sqrt)),
        "TRUNCATE": taking("ni", None, _truncated),
    }
)


# --- operators -------------------------------------------------------------------------------


def _quotient(one: float, other: float) -> float | None:
    return _checked(one / other) if other else None


def _whole_quotient(one: float, other: float) -> int | None:
    if not other:
        return None
    if isinstance(one, int) and isinstance(other, int):
        found = abs(one) // abs(other)
        return whole(found if (one < 0) == (other < 0) else -found)
    return whole(math.trunc(one / other))


def _remainder(one: float, other: float) -> float | None:
    """With the sign of the dividend, as MySQL's."""
    if not other:
        return None
    if isinstance(one, int) and isinstance(other, int):
        found = abs(one) % abs(other)
        return -found if one < 0 else found
    return math.fmod(one, other)


_BITS: Final = 2**64 - 1


def _shifted(left: int, count: int) -> int:
    return (left & _BITS) << count & _BITS if 0 <= count < 64 else 0


ARITHMETIC: Final[dict[str, tuple[Callable[..., Any], Callable[..., Any]]]] = {
    "+": (lambda a, b: whole(a + b), lambda a, b: _checked(a + b)),
    "-": (lambda a, b: whole(a - b), lambda a, b: _checked(a - b)),
    "*": (lambda a, b: whole(a * b), lambda a, b: _checked(a * b)),
    "%": (_remainder, _remainder),
}
"""Operators with a function for integers and one for other numbers."""

_ALWAYS: Final[dict[str, tuple[SqlKind, Callable[..., Any]]]] = {
    "/": (_DOUBLE, _quotient),
    "DIV": (_LONG, _whole_quotient),
}
_OF_BITS: Final[dict[str, Callable[[int, int], int]]] = {
    "&": lambda a, b: whole(a & b),
    "|": lambda a, b: whole(a | b),
    "^": lambda a, b: whole(a ^ b),
    "<<": lambda a, b: whole(_shifted(a, b)),
    ">>": lambda a, b: whole((a & _BITS) >> b if 0 <= b < 64 else 0),
}


def arithmetic(sign: str, left: TypedExpression, right: TypedExpression) -> TypedExpression:
    """Two operands and the operator between them."""
    if sign in _OF_BITS:
        operands = as_rounded(left).expression, as_rounded(right).expression
        return TypedExpression(FunctionCall(sign, _OF_BITS[sign], operands), _LONG)
    one, other = as_number(left), as_number(right)
    operands = one.expression, other.expression
    if sign in _ALWAYS:
        kind, function = _ALWAYS[sign]
        return TypedExpression(FunctionCall(sign, function, operands), kind)
    integers = one.kind is _LONG and other.kind is _LONG
    of_integers, of_numbers = ARITHMETIC[sign]
    return TypedExpression(
        FunctionCall(sign, of_integers if integers else of_numbers, operands),
        _LONG if integers else _DOUBLE,
    )
