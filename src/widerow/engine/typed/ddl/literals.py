"""Literals of statements as values of a type (ddl §1)."""

from decimal import Decimal
from typing import Final

from widerow.engine.typed.ddl.statements import Literal, LiteralKind
from widerow.errors import InvalidRequest
from widerow.model.typed.coerce import check_default
from widerow.model.typed.rules import TypedRule
from widerow.model.typed.texts import value_from_text
from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import TypedValue

__all__ = ["value_of"]

_NUMBERS: Final = (Kind.INTEGER, Kind.LONG, Kind.FLOAT, Kind.DOUBLE, Kind.NUMBER)
_TEXTS: Final = (Kind.STRING, Kind.ENUM, Kind.TIMESTAMP, Kind.BINARY, Kind.FIXED_BINARY)
_TAKEN_BY: Final = {
    LiteralKind.NUMBER: frozenset(_NUMBERS),
    LiteralKind.STRING: frozenset(_TEXTS),
    LiteralKind.BOOLEAN: frozenset((Kind.BOOLEAN,)),
    LiteralKind.NAME: frozenset((Kind.ENUM,)),
}


def value_of(literal: Literal | None, kind: FieldType, field: str) -> TypedValue:
    """The value of a literal as one of a type, None without a literal; errors name `field`.

    Raises: `InvalidRequest`.
    """
    if literal is None:
        return None
    if kind.kind not in _TAKEN_BY[literal.kind] and kind.kind not in _NESTED:
        text = literal.text[:100]
        raise InvalidRequest(TypedRule.VALUE_ILLEGAL, field=field, value=text, type=kind.kind.value)
    if kind.kind in _NESTED:  # takes no default at all
        raise InvalidRequest(TypedRule.MUST_BE_NULLABLE, type=kind.kind.value)
    if kind.kind is Kind.ENUM:
        return check_default(literal.text, kind, field)
    text = literal.text
    if kind.kind in (Kind.INTEGER, Kind.LONG) and not text.lstrip("-").isdigit():
        text = _integral(text)
    return value_from_text(text, kind, field)


_NESTED: Final = frozenset((Kind.ARRAY, Kind.MAP, Kind.RECORD, Kind.JSON))


def _integral(text: str) -> str:
    """`1e3` as `1000`; a number with a fraction stays as it is, to be refused."""
    number = Decimal(text)
    if number == number.to_integral_value() and number.adjusted() < 20:
        return str(int(number))
    return text
