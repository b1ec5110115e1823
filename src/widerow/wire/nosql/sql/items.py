"""The items that expressions give at run time, which tell more than Python's types do.

| type | item |
|---|---|
| INTEGER | `int`; a LONG is a `LongInt`, or an int beyond 32 bits |
| DOUBLE | `float`; a FLOAT is a `FloatItem` |
| NUMBER | `Decimal` |
| STRING | `str`; an ENUM is an `EnumItem`, with its type |
| BOOLEAN, BINARY | `bool`, `bytes` |
| TIMESTAMP(p) | `StampItem`, with its precision |
| ARRAY, MAP, JSON | `list`, `dict`; None inside is a JSON null |
| RECORD | `RecordItem`, a dict with its type; None inside is SQL NULL |

SQL NULL is None, a JSON null is `JSON_NULL`. EMPTY is not an item at all.
"""

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final, Self

from widerow.model.typed.types import FieldType, Kind
from widerow.model.typed.values import JSON_NULL, Timestamp
from widerow.wire.nosql.nson import EncodedValue

__all__ = [
    "EnumItem",
    "FloatItem",
    "LongInt",
    "RecordItem",
    "SentRow",
    "StampItem",
    "UuidItem",
    "inside",
    "is_long",
    "is_number",
    "item_of",
    "number_literal",
    "record_converter",
    "stamp",
]


class LongInt(int):
    """A LONG that would fit 32 bits as well."""

    __slots__ = ()


class FloatItem(float):
    """A FLOAT."""

    __slots__ = ()


class EnumItem(str):
    """A symbol of an ENUM."""

    __slots__ = ("kind",)
    kind: FieldType

    def __new__(cls, symbol: str, kind: FieldType) -> Self:
        """The symbol of an ENUM of this type."""
        made = super().__new__(cls, symbol)
        made.kind = kind
        return made


class UuidItem(str):
    """A UUID in its canonical form; it compares with texts in any case."""

    __slots__ = ()


class StampItem(Timestamp):
    """A TIMESTAMP of a precision."""

    precision: int = 9


def stamp(moment: Timestamp, precision: int) -> StampItem:
    """An instant as a TIMESTAMP of a precision."""
    made = StampItem(moment[0], moment[1])
    made.precision = precision
    return made


class RecordItem(dict[str, Any]):
    """A RECORD or a row, with its type; its fields are in their declared order."""

    __slots__ = ("kind",)

    def __init__(self, values: Any, kind: FieldType) -> None:  # noqa: ANN401  # what dict takes
        super().__init__(values)
        self.kind = kind


SentRow = dict[str, Any] | EncodedValue
"""A row of a result: its items by their names, or as it is sent."""


def is_long(item: Any) -> bool:  # noqa: ANN401  # any item
    """Whether an integer is a LONG."""
    return isinstance(item, LongInt) or not -(2**31) <= item < 2**31


def is_number(item: Any) -> bool:  # noqa: ANN401  # any item
    """Whether an item is a number of any type."""
    return isinstance(item, _NUMBERS) and not isinstance(item, bool)


def inside(container: Any, value: Any) -> Any:  # noqa: ANN401  # any items
    """A value taken out of a container, as an item."""
    if value is None and not isinstance(container, RecordItem):
        return JSON_NULL
    return value


Convert = Callable[[Any], Any]


def item_of(kind: FieldType) -> Convert | None:
    """How a stored value of a type becomes an item; None: it is one."""
    if kind.uuid:
        return UuidItem
    simple = _SIMPLE.get(kind.kind)
    if simple is not None:
        return simple(kind)
    if kind.kind is Kind.ARRAY and kind.element is not None:
        each = item_of(kind.element)
        return None if each is None else lambda value: [each(item) for item in value]
    if kind.kind is Kind.MAP and kind.element is not None:
        one = item_of(kind.element)
        if one is None:
            return None
        return lambda value: {name: one(item) for name, item in value.items()}
    if kind.kind is Kind.RECORD:
        return record_converter(kind)
    return None


def record_converter(kind: FieldType) -> Convert:
    """How a stored RECORD becomes an item."""
    fields = [(field.name, item_of(field.type)) for field in kind.fields]

    def convert(value: dict[str, Any]) -> RecordItem:
        values = {}
        for name, each in fields:
            item = value.get(name)
            values[name] = item if item is None or each is None else each(item)
        return RecordItem(values, kind)

    return convert


_NUMBERS: Final = (int, float, Decimal)
_LONG_CHARACTERS: Final = 20  # of a LONG with its sign; longer ones are NUMBERs
_SIMPLE: Final[dict[Kind, Callable[[FieldType], Convert]]] = {
    Kind.LONG: lambda _: LongInt,
    Kind.FLOAT: lambda _: FloatItem,
    Kind.ENUM: lambda kind: lambda value: EnumItem(value, kind),
    Kind.TIMESTAMP: lambda kind: lambda value: stamp(value, kind.precision),
    Kind.JSON: lambda _: lambda value: value,
}


def number_literal(text: str) -> int | float | Decimal:
    """The value of a number as written: 32 bits, 64 bits, else a NUMBER; with a point a DOUBLE."""
    if text.endswith("n"):
        return Decimal(text[:-1])
    if text.lstrip("-").isdigit():
        if len(text) > _LONG_CHARACTERS:
            return Decimal(text)
        number = int(text)
        if -(2**31) <= number < 2**31:
            return number
        return LongInt(number) if -(2**63) <= number < 2**63 else Decimal(number)
    value = float(text)
    exact = Decimal(text)
    if value in (float("inf"), float("-inf")) or (value == 0.0 and exact):
        return exact
    return value
