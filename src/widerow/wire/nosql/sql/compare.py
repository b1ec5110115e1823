"""Comparing items (ddl §3: comparison): numbers by value, other kinds only with their own."""

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

from widerow.model.typed.values import JsonNull, Timestamp
from widerow.wire.nosql.sql.casts import moment_of
from widerow.wire.nosql.sql.items import EnumItem, RecordItem, UuidItem, inside, is_number

__all__ = ["any_is", "equal", "is_", "order_of"]

_HOLDS: Final[dict[str, tuple[int, ...]]] = {
    "=": (0,),
    "!=": (-1, 1),
    "<": (-1,),
    "<=": (-1, 0),
    ">": (1,),
    ">=": (0, 1),
}
_DIFFERENT: Final = 2  # of values that have no order: maps, records, bytes
_SAME: Final = 3


def is_(operator: str, left: Sequence[Any], right: Sequence[Any]) -> bool | None:
    """Whether a comparison of at most one item each holds; None: it is NULL."""
    if not left or not right:
        if not left and not right:
            return 0 in _HOLDS[operator]
        return operator == "!="
    one, other = left[0], right[0]
    if one is None or other is None:
        return None
    nulls = isinstance(one, JsonNull) + isinstance(other, JsonNull)
    if nulls:
        return (0 in _HOLDS[operator]) if nulls == 2 else operator == "!="
    found = order_of(one, other)
    if found is None:
        return False
    if found in (_DIFFERENT, _SAME):
        return operator == ("!=" if found == _DIFFERENT else "=")
    return found in _HOLDS[operator]


def any_is(operator: str, left: Sequence[Any], right: Sequence[Any]) -> bool | None:
    """Whether a comparison holds for any pair of items."""
    unknown = False
    for one in left:
        for other in right:
            found = is_(operator, (one,), (other,))
            if found:
                return True
            unknown = unknown or found is None
    return None if unknown else False


def equal(one: Any, other: Any) -> bool:  # noqa: ANN401  # any items
    """Whether two items are equal, SQL NULLs too."""
    if one is None or other is None:
        return one is other
    return bool(is_("=", (one,), (other,)))


def order_of(one: Any, other: Any) -> int | None:  # noqa: ANN401  # any items
    """-1, 0, 1; `_DIFFERENT` or `_SAME`; None where the kinds do not compare."""
    if is_number(one) and is_number(other):
        return _numbers(one, other)
    if isinstance(one, Timestamp) or isinstance(other, Timestamp):
        return _moments(one, other)
    for kind, compare in _KINDS:
        if isinstance(one, kind) and isinstance(other, kind):
            return compare(one, other)
    return None


def _booleans(one: Any, other: Any) -> int:  # noqa: ANN401  # booleans
    return int(one > other) - int(one < other)


def _bytes(one: Any, other: Any) -> int:  # noqa: ANN401  # bytes
    return _SAME if one == other else _DIFFERENT


def _numbers(one: Any, other: Any) -> int:  # noqa: ANN401  # numbers
    decimal = isinstance(one, Decimal) or isinstance(other, Decimal)
    floats = [each for each in (one, other) if isinstance(each, float)]
    if floats and not (decimal and all(map(math.isfinite, floats))):
        return _doubles(float(one), float(other))
    if decimal:
        one, other = _decimal(one), _decimal(other)
    return int(one > other) - int(one < other)


def _decimal(value: Any) -> Decimal:  # noqa: ANN401  # a number
    return Decimal(repr(float(value))) if isinstance(value, float) else Decimal(value)


def _doubles(one: float, other: float) -> int:
    """As Java compares: NaN is equal to itself and above everything, -0.0 is below 0.0."""
    if one == 0.0 == other:
        first, second = math.copysign(1.0, one), math.copysign(1.0, other)
        return (first > second) - (first < second)
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) - math.isnan(other)
    return (one > other) - (one < other)


def _texts(one: str, other: str) -> int | None:
    if isinstance(one, EnumItem) or isinstance(other, EnumItem):
        kind = one.kind if isinstance(one, EnumItem) else other.kind  # type: ignore[attr-defined]  # one is
        symbols = kind.symbols
        if one not in symbols or other not in symbols:
            return None
        first, second = symbols.index(one), symbols.index(other)
        return (first > second) - (first < second)
    if isinstance(one, UuidItem) or isinstance(other, UuidItem):
        one, other = one.lower(), other.lower()
    if one.isascii() and other.isascii():
        return (one > other) - (one < other)
    halves = one.encode("utf-16-be", "surrogatepass"), other.encode("utf-16-be", "surrogatepass")
    return (halves[0] > halves[1]) - (halves[0] < halves[1])


def _moments(one: Any, other: Any) -> int | None:  # noqa: ANN401  # any items
    if isinstance(one, EnumItem) or isinstance(other, EnumItem):
        return None
    first = moment_of(one) if isinstance(one, str) else one
    second = moment_of(other) if isinstance(other, str) else other
    if not isinstance(first, Timestamp) or not isinstance(second, Timestamp):
        return None
    pair = tuple(first), tuple(second)
    return (pair[0] > pair[1]) - (pair[0] < pair[1])


def _arrays(one: list[Any], other: list[Any]) -> int | None:
    for first, second in zip(one, other, strict=False):
        if first is None or second is None:
            if first is not second:
                return _DIFFERENT
            continue
        found = order_of(inside(one, first), inside(other, second))
        if found not in (0, _SAME):
            return _DIFFERENT if found is None else found
    return (len(one) > len(other)) - (len(one) < len(other))


def _maps(one: Mapping[str, Any], other: Mapping[str, Any]) -> int | None:
    if isinstance(one, RecordItem) != isinstance(other, RecordItem):
        return None
    if one.keys() != other.keys():
        return _DIFFERENT
    same = all(equal(inside(one, one[name]), inside(other, other[name])) for name in one)
    return _SAME if same else _DIFFERENT


_KINDS: Final[tuple[tuple[type, Callable[[Any, Any], int | None]], ...]] = (
    (bool, _booleans),
    (str, _texts),
    (bytes, _bytes),
    (list, _arrays),
    (dict, _maps),
    (JsonNull, lambda _, __: 0),
)
