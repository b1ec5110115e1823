"""What names mean in a statement, and the frame that holds what they have at run time."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Context
from typing import TYPE_CHECKING, Any

from widerow.engine.typed.form import TableForm
from widerow.wire.nosql.sql.syntax import SqlExpression, TypeNode

if TYPE_CHECKING:
    from widerow.engine.typed.stored import StoredRow

__all__ = ["Compiled", "ScopeTable", "SqlFrame", "SqlScope"]


class SqlFrame:
    """What expressions read: a row for each table, items for each variable, and the environment.

    `rows`: None is a table without a row, whose columns are NULL. `variables`: external ones.
    `whole`: the slots of tables of which more is read than columns of the key.
    """

    __slots__ = ("context", "items", "now_us", "random", "rows", "variables", "whole")

    def __init__(
        self,
        scope: "SqlScope",
        variables: Mapping[str, Sequence[Any]],
        now_us: int,
        context: Context,
        random: Callable[[int], bytes],
    ) -> None:
        self.rows: list[StoredRow | None] = [None] * len(scope.tables)
        self.items: list[Sequence[Any]] = [()] * scope.slots
        self.variables = variables
        self.whole = frozenset(scope.whole)
        self.now_us = now_us
        self.context = context
        self.random = random


class Compiled:
    """A compiled expression: a function of a frame that gives its items, and what is known of it.

    `kind`: its type, None where it is known at run time only. `many`: it may give several items.
    `nullable`: it may give SQL NULL or no item.
    """

    __slots__ = ("evaluate", "kind", "many", "nullable")

    def __init__(
        self,
        evaluate: Any,  # noqa: ANN401  # Callable[[SqlFrame], Sequence[Any]], without a bound method
        kind: TypeNode | None = None,
        *,
        many: bool = False,
        nullable: bool = True,
    ) -> None:
        self.evaluate = evaluate
        self.kind = kind
        self.many = many
        self.nullable = nullable


@dataclass(frozen=True)
class ScopeTable:
    """A table of FROM: its alias, which is a variable if it begins with `$`, and its slot."""

    alias: str
    name: str
    form: TableForm
    slot: int


@dataclass
class SqlScope:
    """The names of a statement.

    `replaced`: expressions that are computed before, by slot. `used`: the slots of tables that
    expressions name, `whole`: of those of which they read more than columns of the key.
    """

    tables: list[ScopeTable] = field(default_factory=list)
    variables: dict[str, int] = field(default_factory=dict)
    externals: dict[str, TypeNode] = field(default_factory=dict)
    replaced: list[tuple[SqlExpression, int]] = field(default_factory=list)
    kinds: dict[int, TypeNode | None] = field(default_factory=dict)
    used: set[int] = field(default_factory=set)
    whole: set[int] = field(default_factory=set)
    slots: int = 0
    aggregates: bool = False
    grouped: bool = False

    def new_slot(self) -> int:
        """A slot for items of its own."""
        self.slots += 1
        return self.slots - 1
