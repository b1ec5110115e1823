"""Filter trees: comparisons of columns with constants, combined by NOT, AND, OR (semantics §5.3).

Evaluation asks a *column lookup* for the versions of a column, newest first, so it neither knows
how rows are stored nor decodes a column that the filter does not name.

The rules, in one place:
* A missing column passes unless the leaf says otherwise (`pass_if_missing`).
* `latest_version_only` compares the newest version; otherwise one matching version suffices.
* Values of different types never compare true, whatever the operator (INTEGER and DOUBLE differ).
* Strings and binaries compare byte-wise, booleans false < true.
* A transfer rule first takes the first capture group of a STRING column, or the whole match of an
  expression without groups, and casts it; where that fails the column counts as missing. Casts to
  numbers take what a cell of that type could hold: ASCII digits, 64 bits, no NaN and no infinity.
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from math import isfinite
from typing import Any, Protocol, TypeVar

from widerow.limits import INT64_MAX, INT64_MIN
from widerow.model.values import ColumnType, Value

__all__ = [
    "ColumnLookup",
    "Comparator",
    "Comparison",
    "Composite",
    "Filter",
    "LogicalOperator",
    "Match",
    "Pagination",
    "Pattern",
    "TransferRule",
    "columns_of",
    "has_pattern",
    "passes",
]

Number = TypeVar("Number", int, float)

ColumnLookup = Callable[[str], Sequence[Value]]
"""The values of a column, newest version first; empty when the row does not have it."""


class Comparator(IntEnum):
    """The eight comparators. The numbers are those of the wire."""

    EQUAL = 1
    NOT_EQUAL = 2
    GREATER_THAN = 3
    GREATER_EQUAL = 4
    LESS_THAN = 5
    LESS_EQUAL = 6
    EXIST = 7
    NOT_EXIST = 8


class LogicalOperator(IntEnum):
    """How a composite combines its sub-filters. The numbers are those of the wire."""

    NOT = 1
    AND = 2
    OR = 3


class Match(Protocol):
    """A match of a pattern."""

    def group(self, group: int, /) -> str | None:
        """The text of a capture group, of the whole match for 0; None where it took no part."""
        ...


class Pattern(Protocol):
    """A compiled regular expression; which engine runs it is the dialect's choice."""

    @property
    def groups(self) -> int:
        """How many capture groups it has."""
        ...

    def search(self, text: str, /) -> Match | None:
        """The first place in `text` where the pattern matches."""
        ...


@dataclass(frozen=True, slots=True)
class TransferRule:
    """Extract the first capture group of a STRING value, or the whole match, and cast it.

    `pattern` is `regex` compiled; rules are equal when their texts and casts are.
    """

    regex: str
    cast: ColumnType
    pattern: Pattern = field(compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One column against one constant. `value` is unused by EXIST and NOT_EXIST."""

    column: str
    comparator: Comparator
    value: Value
    pass_if_missing: bool = True
    latest_version_only: bool = True
    transfer: TransferRule | None = None


@dataclass(frozen=True, slots=True)
class Composite:
    """Sub-filters under one logical operator: exactly one under NOT, two or more otherwise."""

    operator: LogicalOperator
    filters: tuple["Comparison | Composite", ...]


@dataclass(frozen=True, slots=True)
class Pagination:
    """Not a predicate: skip `offset` columns of each row (in name order) and keep `limit`."""

    offset: int
    limit: int


Filter = Comparison | Composite

_ORDER: dict[Comparator, Callable[[Any, Any], bool]] = {
    Comparator.EQUAL: operator.eq,
    Comparator.NOT_EQUAL: operator.ne,
    Comparator.GREATER_THAN: operator.gt,
    Comparator.GREATER_EQUAL: operator.ge,
    Comparator.LESS_THAN: operator.lt,
    Comparator.LESS_EQUAL: operator.le,
}


def columns_of(tree: Filter) -> frozenset[str]:
    """Every column the filter names, once."""
    if isinstance(tree, Comparison):
        return frozenset((tree.column,))
    return frozenset().union(*(columns_of(child) for child in tree.filters))


def has_pattern(tree: Filter) -> bool:
    """Whether the filter has a regular expression, which takes up to 1 MB when compiled."""
    if isinstance(tree, Comparison):
        return tree.transfer is not None
    return any(has_pattern(child) for child in tree.filters)


def passes(tree: Filter, lookup: ColumnLookup) -> bool:
    """Whether a row passes the filter. Cost: each column that the filter names, once."""
    if isinstance(tree, Comparison):
        return _compare(tree, lookup)
    if tree.operator is LogicalOperator.NOT:
        return not passes(tree.filters[0], lookup)
    combine = all if tree.operator is LogicalOperator.AND else any
    return combine(passes(child, lookup) for child in tree.filters)


def _compare(leaf: Comparison, lookup: ColumnLookup) -> bool:
    values = lookup(leaf.column)
    if leaf.comparator is Comparator.EXIST:
        return bool(values)
    if leaf.comparator is Comparator.NOT_EXIST:
        return not values
    if leaf.latest_version_only:
        values = values[:1]
    if leaf.transfer is not None:
        values = [v for v in (_transfer(leaf.transfer, v) for v in values) if v is not None]
    if not values:
        return leaf.pass_if_missing
    # UTF-8 keeps the order of code points, which is how Python compares str: no encoding needed.
    compare, constant, kind = _ORDER[leaf.comparator], leaf.value, type(leaf.value)
    return any(type(value) is kind and compare(value, constant) for value in values)


def _transfer(rule: TransferRule, value: Value) -> Value | None:
    if not isinstance(value, str):
        return None
    found = rule.pattern.search(value)
    captured = None if found is None else found.group(min(rule.pattern.groups, 1))
    return None if captured is None else _cast(captured, rule.cast)


def _cast(text: str, kind: ColumnType) -> Value | None:
    match kind:
        case ColumnType.STRING:
            return text
        case ColumnType.BINARY:
            return text.encode()
        case ColumnType.INTEGER:
            number = _number(text, int)
            return number if number is not None and INT64_MIN <= number <= INT64_MAX else None
        case ColumnType.DOUBLE:
            real = _number(text, float)
            return real if real is not None and isfinite(real) else None
        case ColumnType.BOOLEAN:
            return None


def _number(text: str, kind: Callable[[str], Number]) -> Number | None:
    """Stricter than Python, which reads digits of other scripts and underscores between digits."""
    if not text.isascii() or "_" in text:
        return None
    try:
        return kind(text)
    except ValueError:
        return None
