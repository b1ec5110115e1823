"""Arithmetic on items (ddl §3): integers wrap, a NUMBER is rounded as the client wants it."""

import math
import struct
from collections.abc import Sequence
from decimal import Context, Decimal, DivisionByZero, InvalidOperation
from typing import Any, NamedTuple

from widerow.errors import InvalidRequest
from widerow.model.typed.values import plain_number
from widerow.wire.nosql.sql.casts import told_type
from widerow.wire.nosql.sql.items import FloatItem, LongInt, is_long, is_number
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.statement_rules import StatementRule
from widerow.wire.nosql.sql.syntax import TypeNode
from widerow.wire.nosql.sql.texts import item_type_name

__all__ = ["OperandPlace", "calculated", "checked_operand", "negated"]

Number = int | float | Decimal


class OperandPlace(NamedTuple):
    """An operand among those of its expression: its number, where it stands, its declared type."""

    number: int
    place: TextPlace
    kind: TypeNode | None


def checked_operand(items: Sequence[Any], operand: OperandPlace) -> Sequence[Any]:
    """The items of an operand, a number at most. Raises `InvalidRequest`."""
    if len(items) > 1:
        raise _fault(StatementRule.ARITHMETIC_SEVERAL, operand.place)
    if items and items[0] is not None and not is_number(items[0]):
        name = told_type(items[0], operand.kind)
        raise _fault(
            StatementRule.ARITHMETIC_TYPE, operand.place, operand=operand.number, type=name
        )
    return items


def calculated(
    operator: str, left: Sequence[Any], right: Sequence[Any], context: Context, place: TextPlace
) -> Sequence[Any]:
    """The result of one operation on checked operands: EMPTY or SQL NULL where one of them is."""
    if not left or not right:
        return ()
    if left[0] is None or right[0] is None:
        return (None,)
    try:
        return (_of(operator, left[0], right[0], context),)
    except (ZeroDivisionError, DivisionByZero, InvalidOperation) as error:
        whole = isinstance(left[0], int) and isinstance(right[0], int)
        text = "/ by zero" if whole else "Division by zero"
        raise _fault(StatementRule.ARITHMETIC, place, text=text) from error


def _fault(rule: StatementRule, place: TextPlace, **details: Any) -> InvalidRequest:  # noqa: ANN401  # of rules
    return InvalidRequest(rule, line=place.line, column=place.column, **details)


def _of(operator: str, left: Number, right: Number, context: Context) -> Number:
    if operator == "div":
        whole = isinstance(left, int) and isinstance(right, int)
        if whole:
            left, right = float(left), float(right)
        operator = "/"
    if isinstance(left, Decimal) or isinstance(right, Decimal):
        return _decimals(operator, _decimal(left), _decimal(right), context)
    if isinstance(left, float) or isinstance(right, float):
        wide = any(isinstance(x, float) and not isinstance(x, FloatItem) for x in (left, right))
        found = _floats(operator, float(left), float(right))
        return found if wide else _single(found)
    return _integers(operator, left, right)


def _decimal(value: Number) -> Decimal:
    return Decimal(repr(float(value))) if isinstance(value, float) else Decimal(value)


def _decimals(operator: str, left: Decimal, right: Decimal, context: Context) -> Decimal:
    found = {
        "+": context.add,
        "-": context.subtract,
        "*": context.multiply,
        "/": context.divide,
    }[operator](left, right)
    return plain_number(found)


def _floats(operator: str, left: float, right: float) -> float:
    if operator == "/":
        if right == 0.0:
            if left == 0.0 or math.isnan(left):
                return math.nan
            return math.copysign(math.inf, left) * math.copysign(1.0, right)
        return left / right
    if operator == "*":
        return left * right
    return left + right if operator == "+" else left - right


def _single(value: float) -> FloatItem:
    try:
        return FloatItem(struct.unpack(">f", struct.pack(">f", value))[0])
    except OverflowError:
        return FloatItem(math.copysign(math.inf, value))


def _integers(operator: str, left: int, right: int) -> int:
    long = is_long(left) or is_long(right)
    left, right = int(left), int(right)
    if operator == "/":
        found = abs(left) // abs(right)
        if (left < 0) != (right < 0):
            found = -found
    elif operator == "*":
        found = left * right
    else:
        found = left + right if operator == "+" else left - right
    half = 1 << (63 if long else 31)
    found = (found + half) % (2 * half) - half
    return LongInt(found) if long else found


def negated(items: Sequence[Any], place: TextPlace) -> Any:  # noqa: ANN401  # a number, or None
    """`-` of at most one item."""
    if len(items) > 1:
        raise _fault(StatementRule.ARITHMETIC_SEVERAL, place)
    if not items or items[0] is None:
        return None
    item = items[0]
    if not is_number(item):
        raise _fault(StatementRule.ARITHMETIC_UNARY, place, type=item_type_name(item))
    if isinstance(item, int):
        return _integers("-", LongInt(0) if is_long(item) else 0, item)
    return FloatItem(-item) if isinstance(item, FloatItem) else -item
