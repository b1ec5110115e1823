"""Aggregate functions of SELECT (ddl §3: aggregates): what they keep and what they give.

They see the items of their argument in each row; SQL NULL is not an item for any of them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from typing import Any

from widerow.errors import InvalidRequest
from widerow.limits import NOSQL_VALUES_HELD_MAX
from widerow.model.typed.values import JsonNull
from widerow.wire.nosql.sql.items import LongInt
from widerow.wire.nosql.sql.order_keys import is_atomic, item_key
from widerow.wire.nosql.sql.statement_rules import StatementRule

__all__ = ["Holder", "SqlAggregation", "accumulator", "added_numbers"]


class Holder:
    """Counts the values that a query keeps in memory."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held = 0

    def hold(self, values: int) -> None:
        """Count values that are kept from now on. Raises `InvalidRequest` for too many."""
        self._held += values
        if self._held > NOSQL_VALUES_HELD_MAX:
            raise InvalidRequest(StatementRule.GROUPS_HELD, limit=NOSQL_VALUES_HELD_MAX)


class SqlAggregation(ABC):
    """One aggregate of one group."""

    @abstractmethod
    def add(self, items: Sequence[Any]) -> None:
        """Take the items of one row."""

    @abstractmethod
    def result(self) -> Any:  # noqa: ANN401  # any value of a query
        """The value of the aggregate; None is SQL NULL."""


class _Count(SqlAggregation):
    def __init__(self) -> None:
        self._count = 0

    def add(self, items: Sequence[Any]) -> None:
        self._count += sum(item is not None for item in items)

    def result(self) -> LongInt:
        return LongInt(self._count)


class _CountRows(_Count):
    def add(self, items: Sequence[Any]) -> None:  # noqa: ARG002  # count(*) has no argument
        self._count += 1


class _CountDistinct(SqlAggregation):
    def __init__(self, holder: Holder) -> None:
        self._holder = holder
        self._seen: set[bytes] = set()

    def add(self, items: Sequence[Any]) -> None:
        before = len(self._seen)
        self._seen.update([item_key(item) for item in items if item is not None])
        self._holder.hold(len(self._seen) - before)

    def result(self) -> LongInt:
        return LongInt(len(self._seen))


class _Sum(SqlAggregation):
    """Integers give a LONG, which wraps; a DOUBLE among them a DOUBLE, a NUMBER a NUMBER."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._sum: int | float | Decimal | None = None
        self.count = 0

    def add(self, items: Sequence[Any]) -> None:
        for item in items:
            if isinstance(item, bool) or not isinstance(item, int | float | Decimal):
                continue
            self.count += 1
            self._sum = item if self._sum is None else added_numbers(self._sum, item, self._context)

    def result(self) -> int | float | Decimal | None:
        return LongInt(self._sum) if isinstance(self._sum, int) else self._sum


class _Average(_Sum):
    def result(self) -> float | Decimal | None:
        total = super().result()
        if total is None:
            return None
        if isinstance(total, Decimal):
            return self._context.divide(total, Decimal(self.count))
        return total / self.count


class _Extreme(SqlAggregation):
    """The least or the greatest atomic value, over kinds in the order of ORDER BY."""

    def __init__(self, *, greatest: bool, ordinals: dict[str, int]) -> None:
        self._greatest = greatest
        self._ordinals = ordinals
        self._key: bytes | None = None
        self._value: Any = None

    def add(self, items: Sequence[Any]) -> None:
        for item in items:
            if item is None or isinstance(item, JsonNull | bytes) or not is_atomic(item):
                continue
            key = item_key(self._ordinals.get(item, item) if isinstance(item, str) else item)
            if self._key is None or (key > self._key if self._greatest else key < self._key):
                self._key, self._value = key, item

    def result(self) -> Any:  # noqa: ANN401  # any value of a query
        return self._value


class _Collect(SqlAggregation):
    def __init__(self, holder: Holder, *, distinct: bool) -> None:
        self._holder = holder
        self._seen: set[bytes] | None = set() if distinct else None
        self._items: list[Any] = []

    def add(self, items: Sequence[Any]) -> None:
        for item in items:
            if item is None:
                continue
            if self._seen is not None:
                key = item_key(item)
                if key in self._seen:
                    continue
                self._seen.add(key)
            self._holder.hold(1)
            self._items.append(item)

    def result(self) -> list[Any]:
        return self._items


def added_numbers(one: Any, other: Any, context: Context) -> int | float | Decimal:  # noqa: ANN401  # numbers
    """The sum of two numbers of any types."""
    if isinstance(one, Decimal) or isinstance(other, Decimal):
        return context.add(Decimal(one), Decimal(other))
    total: int | float = one + other
    if isinstance(total, int) and not -(2**63) <= total < 2**63:
        return (total + 2**63) % 2**64 - 2**63
    return total


def accumulator(
    name: str,
    *,
    distinct: bool,
    star: bool,
    symbols: Sequence[str],
    context: Context,
    holder: Holder,
) -> SqlAggregation:
    """A new accumulator of the aggregate function `name`.

    `star`: it is count(*). `symbols`: of an argument that is an ENUM. `context`: how NUMBERs are
    rounded.
    """
    if star:
        return _CountRows()
    ordinals = {symbol: at for at, symbol in enumerate(symbols)}
    made: dict[str, Callable[[], SqlAggregation]] = {
        "count": (lambda: _CountDistinct(holder)) if distinct else _Count,
        "sum": lambda: _Sum(context),
        "avg": lambda: _Average(context),
        "min": lambda: _Extreme(greatest=False, ordinals=ordinals),
        "max": lambda: _Extreme(greatest=True, ordinals=ordinals),
        "array_collect": lambda: _Collect(holder, distinct=distinct),
    }
    return made[name]()
