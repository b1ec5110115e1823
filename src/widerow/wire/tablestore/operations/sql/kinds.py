"""The kinds of values that expressions have, and how one becomes another (sql §3).

| kind | value |
|---|---|
| LONG | int; a condition's True and False count as 1 and 0 |
| DOUBLE, BOOL, TEXT, BYTES | float, bool, str, bytes |
| DATETIME, DATE | microseconds since 1970, UTC; of a date those of its midnight |
| TIME | microseconds, negative ones too |
| NULL | None |

Texts become numbers as MySQL reads them: by the number that they begin with, else 0.
"""

import math
import re
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from enum import Enum
from sys import float_info
from typing import Any, Final, NamedTuple

from widerow.errors import InvalidRequest
from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.tablestore.mapping import SqlType
from widerow.model.tablestore.rules import TablestoreRule
from widerow.query.expression import Constant, Expression, FunctionCall
from widerow.wire.tablestore.operations.sql.moments import (
    date_text,
    datetime_number,
    datetime_text,
    read_datetime,
    read_time,
    time_number,
    time_text,
)

__all__ = [
    "KIND_OF",
    "NUMBER_KINDS",
    "SqlKind",
    "TypedExpression",
    "as_bytes",
    "as_datetime",
    "as_number",
    "as_rounded",
    "as_text",
    "as_time",
    "as_truth",
    "as_whole",
    "literal",
    "number_of_text",
    "whole",
]


class SqlKind(Enum):
    """What an expression gives."""

    LONG = "LONG"
    DOUBLE = "DOUBLE"
    BOOL = "BOOLEAN"
    TEXT = "STRING"
    BYTES = "BINARY"
    DATETIME = "DATETIME"
    DATE = "DATE"
    TIME = "TIME"
    NULL = "NULL"


NUMBER_KINDS: Final = frozenset((SqlKind.LONG, SqlKind.DOUBLE, SqlKind.BOOL))

KIND_OF: Final = {
    SqlType.BIGINT: SqlKind.LONG,
    SqlType.DOUBLE: SqlKind.DOUBLE,
    SqlType.BOOL: SqlKind.BOOL,
    SqlType.VARCHAR: SqlKind.TEXT,
    SqlType.MEDIUMTEXT: SqlKind.TEXT,
    SqlType.VARBINARY: SqlKind.BYTES,
    SqlType.MEDIUMBLOB: SqlKind.BYTES,
}


class TypedExpression(NamedTuple):
    """An expression and the kind of its values. `is_condition`: True, False or None."""

    expression: Expression
    kind: SqlKind
    is_condition: bool = False

    @property
    def constant(self) -> bool:
        """Whether it is one value that stands in the statement."""
        return isinstance(self.expression, Constant)

    @property
    def value(self) -> Any:  # noqa: ANN401  # of the kind
        """That value; only for a constant."""
        assert isinstance(self.expression, Constant)
        return self.expression.value


def literal(value: Any, kind: SqlKind) -> TypedExpression:  # noqa: ANN401  # of the kind
    """A value that stands in the statement."""
    return TypedExpression(Constant(value), kind)


_WHOLE: Final = re.compile(r"\s*([+-]?[0-9]{1,40})")
_NUMBER: Final = re.compile(r"\s*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")


def number_of_text(text: str) -> float:
    """The number that a text begins with; 0 without one, the largest DOUBLE for any above it."""
    found = _NUMBER.match(text)
    number = float(found[1]) if found else 0.0
    return number if math.isfinite(number) else math.copysign(float_info.max, number)


def _whole_of_text(text: str) -> int:
    """The digits that a text begins with, as an integer; 0 without any.

    Above the largest integer of 64 bits they are those bits without a sign, at most all of them.
    """
    found = _WHOLE.match(text)
    number = min(max(int(found[1]), INT64_MIN), 2**64 - 1) if found else 0
    return number if number <= INT64_MAX else number - 2**64


def _number_of_bytes(data: bytes) -> float:
    return number_of_text(data.decode("latin-1"))


def whole(number: int) -> int:
    """The integer. Raises `InvalidRequest` where it has more than 64 bits."""
    if INT64_MIN <= number <= INT64_MAX:
        return number
    raise InvalidRequest(TablestoreRule.SQL_OVERFLOW)


def _rounded(number: float) -> int:
    """The nearest integer, halves away from zero, at most the largest and at least the smallest."""
    if math.isnan(number):
        return 0
    if abs(number) >= 2**63:
        return INT64_MAX if number > 0 else INT64_MIN
    return int(Decimal(number).to_integral_value(ROUND_HALF_UP))


def _converted(
    typed: TypedExpression, kind: SqlKind, functions: dict[SqlKind, Callable[[Any], Any]], name: str
) -> TypedExpression:
    """The expression with the function of its kind around it; without one it stays."""
    if typed.kind is SqlKind.NULL:
        return TypedExpression(typed.expression, kind)
    function = functions.get(typed.kind)
    if function is None:
        return TypedExpression(typed.expression, kind)
    if isinstance(typed.expression, Constant):
        return literal(function(typed.expression.value), kind)
    return TypedExpression(FunctionCall(name, function, (typed.expression,)), kind)


_TO_NUMBER: Final[dict[SqlKind, Callable[[Any], Any]]] = {
    SqlKind.BOOL: int,
    SqlKind.TEXT: number_of_text,
    SqlKind.BYTES: _number_of_bytes,
    SqlKind.DATETIME: datetime_number,
    SqlKind.DATE: lambda value: datetime_number(value) // 1_000_000,
    SqlKind.TIME: time_number,
}
_DOUBLES: Final = frozenset(
    (SqlKind.DOUBLE, SqlKind.TEXT, SqlKind.BYTES, SqlKind.DATETIME, SqlKind.TIME)
)


def as_number(typed: TypedExpression) -> TypedExpression:
    """The expression as a number: LONG or DOUBLE."""
    kind = SqlKind.DOUBLE if typed.kind in _DOUBLES else SqlKind.LONG
    return _converted(typed, kind, _TO_NUMBER, "number")


_TO_ROUNDED: Final[dict[SqlKind, Callable[[Any], Any]]] = {
    **_TO_NUMBER,
    SqlKind.DOUBLE: _rounded,
    SqlKind.TEXT: lambda value: _rounded(number_of_text(value)),
    SqlKind.BYTES: lambda value: _rounded(_number_of_bytes(value)),
    SqlKind.DATETIME: lambda value: _rounded(datetime_number(value)),
    SqlKind.TIME: lambda value: _rounded(time_number(value)),
}
_TO_WHOLE: Final[dict[SqlKind, Callable[[Any], Any]]] = {
    **_TO_ROUNDED,
    SqlKind.TEXT: _whole_of_text,
    SqlKind.BYTES: lambda value: _whole_of_text(value.decode("latin-1")),
}


def as_whole(typed: TypedExpression) -> TypedExpression:
    """The expression as an integer: the digits that a text begins with, other fractions rounded.

    Halves are rounded away from zero.
    """
    return _converted(typed, SqlKind.LONG, _TO_WHOLE, "integer")


def as_rounded(typed: TypedExpression) -> TypedExpression:
    """The expression as an integer, as operators on bits take it: that of a text is rounded too."""
    return _converted(typed, SqlKind.LONG, _TO_ROUNDED, "rounded")


def _shown(number: float) -> str:
    """A number as MySQL writes it: without a fraction where it has none."""
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    text = repr(float(number))
    return text.replace("e+", "e").replace("e-0", "e-")


_TO_TEXT: Final[dict[SqlKind, Callable[[Any], Any]]] = {
    SqlKind.LONG: lambda value: str(int(value)),
    SqlKind.BOOL: lambda value: str(int(value)),
    SqlKind.DOUBLE: _shown,
    SqlKind.BYTES: lambda value: value.decode("utf-8", "replace"),
    SqlKind.DATETIME: datetime_text,
    SqlKind.DATE: date_text,
    SqlKind.TIME: time_text,
}


def as_text(typed: TypedExpression) -> TypedExpression:
    """The expression as a text."""
    return _converted(typed, SqlKind.TEXT, _TO_TEXT, "text")


def as_bytes(typed: TypedExpression) -> TypedExpression:
    """The expression as bytes: those of its text in UTF-8."""
    if typed.kind is SqlKind.BYTES:
        return typed
    return _converted(as_text(typed), SqlKind.BYTES, {SqlKind.TEXT: str.encode}, "binary")


_TO_DATETIME: Final[dict[SqlKind, Callable[[Any], Any]]] = {
    SqlKind.TEXT: read_datetime,
    SqlKind.BYTES: lambda value: read_datetime(value.decode("latin-1")),
    SqlKind.LONG: lambda value: read_datetime(str(int(value))),
    SqlKind.BOOL: lambda value: read_datetime(str(int(value))),
    SqlKind.DOUBLE: lambda value: read_datetime(_shown(value)),
}


def as_datetime(typed: TypedExpression) -> TypedExpression:
    """The expression as a moment; NULL where it is none."""
    return _converted(typed, SqlKind.DATETIME, _TO_DATETIME, "datetime")


_DAY_US: Final = 86_400_000_000
_TO_TIME: Final[dict[SqlKind, Callable[[Any], Any]]] = {
    SqlKind.TEXT: read_time,
    SqlKind.BYTES: lambda value: read_time(value.decode("latin-1")),
    SqlKind.LONG: lambda value: read_time(str(int(value))),
    SqlKind.BOOL: lambda value: read_time(str(int(value))),
    SqlKind.DOUBLE: lambda value: read_time(_shown(value)),
    SqlKind.DATETIME: lambda value: value % _DAY_US,
    SqlKind.DATE: lambda _value: 0,
}


def as_time(typed: TypedExpression) -> TypedExpression:
    """The expression as a time of day or a duration; NULL where it is none."""
    return _converted(typed, SqlKind.TIME, _TO_TIME, "time")


def _is_true(number: float) -> bool:
    return number != 0


def as_truth(typed: TypedExpression) -> Expression:
    """The expression as a condition: whether it is a number other than 0."""
    if typed.is_condition or typed.kind is SqlKind.NULL:
        return typed.expression
    number = as_number(typed).expression
    if isinstance(number, Constant):
        return Constant(None if number.value is None else _is_true(number.value))
    return FunctionCall("truth", _is_true, (number,))
