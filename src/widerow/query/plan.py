"""What a query is made of: a tree of operators, each a frozen value that says what it gives.

A language makes the tree, `run_plan.py` runs it, `describe.py` puts it into words. Every operator
takes the columns of what is below it, by position.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from widerow.query.expression import Expression
from widerow.query.relation import Chunk, RelationColumn, Values

__all__ = [
    "Accumulator",
    "Aggregate",
    "AggregateCall",
    "Distinct",
    "Join",
    "JoinKind",
    "Limit",
    "Operator",
    "Order",
    "Project",
    "RowFilter",
    "Rows",
    "Scan",
    "Sort",
]


@dataclass(frozen=True, slots=True)
class Scan:
    """Rows of a table or an index. `source`: what whoever reads the rows takes it by."""

    source: Any
    columns: tuple[RelationColumn, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows that stand in the query itself, such as the one row of a SELECT without tables."""

    columns: tuple[RelationColumn, ...]
    chunk: Chunk


@dataclass(frozen=True, slots=True)
class RowFilter:
    """The rows for which a condition holds."""

    below: "Operator"
    condition: Expression

    @property
    def columns(self) -> tuple[RelationColumn, ...]:
        """The columns of the operator below."""
        return self.below.columns


@dataclass(frozen=True, slots=True)
class Project:
    """An expression for each column."""

    below: "Operator"
    expressions: tuple[Expression, ...]
    columns: tuple[RelationColumn, ...]


class Accumulator(Protocol):
    """The state of an aggregate function for all groups of a query."""

    def add(self, groups: Sequence[int], values: Values) -> None:
        """Take in a value for each row; `groups` has the number of each row's group.

        Groups are numbered from 0 on as they come.
        """
        ...

    def results(self, groups: int) -> Values:
        """The result of each of so many groups, of which some may have taken in nothing."""
        ...


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate function over an expression. `start` makes what it accumulates in."""

    name: str
    argument: Expression
    start: Callable[[], Accumulator]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Aggregate:
    """A row for each group of rows with equal keys: keys, then results.

    Groups come in the order of their first rows. Without keys all rows are one group, also none.
    """

    below: "Operator"
    keys: tuple[Expression, ...]
    calls: tuple[AggregateCall, ...]
    columns: tuple[RelationColumn, ...]


@dataclass(frozen=True, slots=True)
class Order:
    """A key of a sort. NULL is the smallest value, unless `nulls_last`: behind all others."""

    by: Expression
    descending: bool = False
    nulls_last: bool | None = None


@dataclass(frozen=True, slots=True)
class Sort:
    """Rows in an order; rows with equal keys as they come. `first`: only so many; None: all."""

    below: "Operator"
    orders: tuple[Order, ...]
    first: int | None = None

    @property
    def columns(self) -> tuple[RelationColumn, ...]:
        """The columns of the operator below."""
        return self.below.columns


@dataclass(frozen=True, slots=True)
class Distinct:
    """Each row once: the first of those with equal values."""

    below: "Operator"

    @property
    def columns(self) -> tuple[RelationColumn, ...]:
        """The columns of the operator below."""
        return self.below.columns


@dataclass(frozen=True, slots=True)
class Limit:
    """At most `count` rows, behind the first `offset`; count None: all of them."""

    below: "Operator"
    count: int | None
    offset: int = 0

    @property
    def columns(self) -> tuple[RelationColumn, ...]:
        """The columns of the operator below."""
        return self.below.columns


class JoinKind(Enum):
    """Whether rows of the left side without a partner are kept, with NULL for the right columns."""

    INNER = "inner"
    LEFT = "left outer"


@dataclass(frozen=True, slots=True)
class Join:
    """Pairs of rows with equal keys for which the condition holds: columns of left, then right.

    The right side is held in memory. `left_keys`, `right_keys`: as many expressions over either
    side; without any, every pair is looked at. Rows come in the order of the left side. A key with
    NULL has no partner. `condition`: over the columns of both; None: it holds always.
    """

    left: "Operator"
    right: "Operator"
    kind: JoinKind
    left_keys: tuple[Expression, ...]
    right_keys: tuple[Expression, ...]
    condition: Expression | None = None

    @property
    def columns(self) -> tuple[RelationColumn, ...]:
        """The columns of both sides, those of the left one first."""
        return self.left.columns + self.right.columns


Operator = Scan | Rows | RowFilter | Project | Aggregate | Sort | Distinct | Limit | Join
