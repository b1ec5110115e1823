"""Functions of sequences (ddl §4; corrections B): what an argument gives, item by item."""

from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from types import MappingProxyType
from typing import Any, Final

from widerow.model.typed.types import Kind
from widerow.model.typed.values import JSON_NULL
from widerow.wire.nosql.sql.functions.kinds import (
    CALL,
    NULL_ITEMS,
    ArgumentItems,
    Env,
    FunctionFault,
    FunctionRule,
    Items,
    SqlFunction,
    is_null,
)
from widerow.wire.nosql.sql.items import LongInt, is_number
from widerow.wire.nosql.sql.order_keys import SortWay, group_key, is_atomic, sort_key
from widerow.wire.nosql.sql.texts import item_type_name

__all__ = ["SEQUENCE_FUNCTIONS"]

_ASCENDING: Final = SortWay(descending=False, nulls_first=None)
_LONG_BITS: Final = 64


def _size(arguments: ArgumentItems, _: Env) -> Items:
    """How many items an array, a map or a record has."""
    items = arguments[0]
    if len(items) > 1:
        raise FunctionFault(FunctionRule.SEVERAL, 0)
    if not items or items[0] is None:
        return NULL_ITEMS
    if is_atomic(items[0]):
        name = "ANY_JSON_ATOMIC" if items[0] is JSON_NULL else item_type_name(items[0]).upper()
        raise FunctionFault(FunctionRule.COMPLEX, CALL, type=name)
    return (len(items[0]),)


def _count(arguments: ArgumentItems, _: Env) -> Items:
    items = arguments[0]
    return NULL_ITEMS if is_null(items) else (LongInt(len(items)),)


def _numbers(name: str, items: Items) -> list[Any]:
    """The numbers among items that may be of any type; texts alone are not a sequence to add up."""
    numbers = [item for item in items if is_number(item)]
    if not numbers and any(isinstance(item, str) for item in items):
        raise FunctionFault(FunctionRule.SUMMED, CALL, name=name, type="String")
    return numbers


def _total(numbers: list[Any], context: Context) -> Any:  # noqa: ANN401  # a number of any type
    """The sum: a NUMBER if there is one, else a DOUBLE, else a LONG, which wraps."""
    if any(isinstance(number, Decimal) for number in numbers):
        total = Decimal(0)
        for number in numbers:
            total = context.add(
                total, number if isinstance(number, int | Decimal) else Decimal(number)
            )
        return total
    if any(isinstance(number, float) for number in numbers):
        return float(sum(numbers))
    total = sum(numbers) & (2**_LONG_BITS - 1)
    return LongInt(total - 2**_LONG_BITS if total >> (_LONG_BITS - 1) else total)


def _sum(arguments: ArgumentItems, env: Env) -> Items:
    numbers = _numbers("seq_sum", arguments[0])
    return (_total(numbers, env.context),) if numbers else NULL_ITEMS


def _average(arguments: ArgumentItems, env: Env) -> Items:
    numbers = _numbers("seq_avg", arguments[0])
    if not numbers:
        return NULL_ITEMS
    total = _total(numbers, env.context)
    if isinstance(total, Decimal):
        return (env.context.divide(total, Decimal(len(numbers))),)
    return (total / len(numbers),)


def _extreme(choose: Callable[..., Any]) -> Callable[[ArgumentItems, Env], Items]:
    """The least or largest of what is neither null nor an array, a map or a record."""

    def call(arguments: ArgumentItems, _: Env) -> Items:
        items = [
            item
            for item in arguments[0]
            if item is not None and item is not JSON_NULL and is_atomic(item)
        ]
        return (
            (choose(items, key=lambda item: sort_key((item,), _ASCENDING)),)
            if items
            else NULL_ITEMS
        )

    return call


def _concat(arguments: ArgumentItems, _: Env) -> Items:
    return [item for items in arguments for item in items]


def _distinct(arguments: ArgumentItems, _: Env) -> Items:
    return list({group_key((item,)): item for item in reversed(arguments[0])}.values())[::-1]


def _sort(arguments: ArgumentItems, _: Env) -> Items:
    """In the order of ORDER BY; arrays, maps and records stand behind all others."""
    atoms = [item for item in arguments[0] if is_atomic(item)]
    others = [item for item in arguments[0] if not is_atomic(item)]
    return sorted(atoms, key=lambda item: sort_key((item,), _ASCENDING)) + others


SEQUENCE_FUNCTIONS: Final[Mapping[str, SqlFunction]] = MappingProxyType(
    {
        "size": SqlFunction(1, 1, _size, Kind.INTEGER),
        "seq_count": SqlFunction(1, 1, _count, Kind.LONG),
        "seq_sum": SqlFunction(1, 1, _sum),
        "seq_avg": SqlFunction(1, 1, _average),
        "seq_min": SqlFunction(1, 1, _extreme(min)),
        "seq_max": SqlFunction(1, 1, _extreme(max)),
        "seq_concat": SqlFunction(0, 255, _concat),
        "seq_distinct": SqlFunction(1, 1, _distinct),
        "seq_sort": SqlFunction(1, 1, _sort),
    }
)
"""By their names, which are compared exactly."""
