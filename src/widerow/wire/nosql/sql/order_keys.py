"""Values of sorts and groups as bytes that compare as the values do (ddl §3: sorting, GROUP BY).

    number, timestamp, text, boolean, bytes   one after another, each kind in its own order
    EMPTY, JSON null, SQL NULL                behind them, or before them

Numbers of all types compare by value, so that 1 and 1.0 are one group.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from functools import partial
from typing import Any, Final

from widerow.keys.typed import encode_typed
from widerow.model.typed.types import BOOLEAN, NUMBER, STRING, timestamp
from widerow.model.typed.values import JsonNull, Timestamp, plain_number

__all__ = ["SortWay", "group_key", "is_atomic", "item_key", "sort_key"]

_NUMBER: Final = b"\x10"
_INSTANT: Final = b"\x18"
_TEXT: Final = b"\x20"
_BOOLEAN: Final = b"\x30"
_BYTES: Final = b"\x38"
_ARRAY: Final = b"\x60"
_MAP: Final = b"\x68"
_EMPTY: Final = b"\x80"
_JSON_NULL: Final = b"\x90"
_NULL: Final = b"\xa0"
_END: Final = b"\x00"

# Of numbers: those that are not decimal stand before, between the signs, and behind.
_LOWEST, _FINITE, _HIGHEST, _NAN = b"\x00", b"\x01", b"\x02", b"\x03"
_BELOW_ZERO: Final = b"\x7f"  # -0.0, between negative numbers and zero
_INVERTED: Final = bytes(range(255, -1, -1))
_TIMESTAMP: Final = timestamp(9)


class SortWay:
    """How one expression of ORDER BY sorts.

    `symbols`: of an ENUM, which sorts by their order; empty for any other type.
    """

    __slots__ = ("descending", "ordinals", "specials")

    def __init__(
        self, *, descending: bool, nulls_first: bool | None, symbols: Sequence[str] = ()
    ) -> None:
        first = descending if nulls_first is None else nulls_first
        self.descending = descending
        self.specials = b"\x00" if first else b"\x02"
        self.ordinals = {symbol: at for at, symbol in enumerate(symbols)}


def is_atomic(item: Any) -> bool:  # noqa: ANN401  # any value of a query
    """Whether an item is neither an array nor a map nor a record."""
    return not isinstance(item, list | Mapping)


def sort_key(items: Sequence[Any], order: SortWay) -> bytes:
    """The key of what an expression gives: no item, or one that is atomic."""
    if not items:
        block, body = order.specials, _EMPTY
    else:
        item = items[0]
        special = item is None or isinstance(item, JsonNull)
        block = order.specials if special else b"\x01"
        ordinal = order.ordinals.get(item) if order.ordinals and isinstance(item, str) else None
        body = item_key(item) if ordinal is None else item_key(ordinal)
    return block + (body.translate(_INVERTED) if order.descending else body)


def group_key(items: Sequence[Any]) -> bytes:
    """The key of what an expression gives, of any type; equal for values of one group."""
    return b"".join([item_key(item) for item in items]) + _END


def item_key(item: Any) -> bytes:  # noqa: ANN401  # any value of a query
    """The key of one item; no key is the beginning of another's."""
    make = _KEYS.get(type(item))
    if make is None:
        make = _KEYS[next(filter(partial(isinstance, item), _KEYS))]
    return make(item)


def _decimal(value: Decimal) -> bytes:
    return _NUMBER + _FINITE + encode_typed(NUMBER, plain_number(value))


def _integer(value: int) -> bytes:
    return _decimal(Decimal(value))


def _float(value: float) -> bytes:
    if value == 0.0 and math.copysign(1.0, value) < 0:
        return _NUMBER + _FINITE + _BELOW_ZERO
    if math.isfinite(value):
        return _decimal(Decimal(repr(float(value))))
    if math.isnan(value):
        return _NUMBER + _NAN
    return _NUMBER + (_HIGHEST if value > 0 else _LOWEST)


def _map(value: Mapping[str, Any]) -> bytes:
    parts = [item_key(name) + item_key(value[name]) for name in sorted(value)]
    return _MAP + b"".join(parts) + _END


def _array(value: Sequence[Any]) -> bytes:
    return _ARRAY + b"".join([item_key(item) for item in value]) + _END


def _bytes(value: bytes) -> bytes:
    return _BYTES + value.replace(b"\x00", b"\x00\xff") + b"\x00\x01"


_KEYS: Final[Mapping[type, Callable[[Any], bytes]]] = {
    bool: lambda value: _BOOLEAN + encode_typed(BOOLEAN, value),
    int: _integer,
    float: _float,
    Decimal: _decimal,
    str: lambda value: _TEXT + encode_typed(STRING, value),
    Timestamp: lambda value: _INSTANT + encode_typed(_TIMESTAMP, value),
    bytes: _bytes,
    list: _array,
    dict: _map,
    JsonNull: lambda _: _JSON_NULL,
    type(None): lambda _: _NULL,
}
