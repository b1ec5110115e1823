"""Conditions of WHERE that a range of the primary key fulfils, so that no row is compared again."""

from dataclasses import dataclass
from typing import Any

from widerow.model.typed.types import Kind
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.access_path import AccessPath, Operand
from widerow.wire.nosql.sql.conditions import conjuncts, path_text, tables_used
from widerow.wire.nosql.sql.expressions import boolean_expression, compile_expression
from widerow.wire.nosql.sql.key_ranges import has_plain_values, is_value_of
from widerow.wire.nosql.sql.loops import Expr
from widerow.wire.nosql.sql.scope import ScopeTable, SqlScope

__all__ = ["KeyCovered", "covered_by_key"]


@dataclass(frozen=True, slots=True)
class KeyCovered:
    """Leading columns of the primary key, each with what it is equal to, and the rest of WHERE.

    `rest`: None is always true.
    """

    equal: tuple[tuple[Operand, Kind], ...]
    rest: Expr | None

    def holds(self, frame: Any) -> bool:  # noqa: ANN401  # the frame of expressions
        """Whether every value is of its column's type, so that the range has its rows alone."""
        return all(is_value_of(operand.evaluate(frame), kind) for operand, kind in self.equal)


def covered_by_key(
    where: syntax.SqlExpression | None, table: ScopeTable, path: AccessPath, scope: SqlScope
) -> KeyCovered | None:
    """What the ranges of the only table say of WHERE; None: nothing. Raises `InvalidRequest`."""
    if where is None or path.index is not None:
        return None
    definition = table.form.table
    left = list(conjuncts(where))
    equal: list[tuple[Operand, Kind]] = []
    for name, kind, conditions in zip(
        definition.primary_key, definition.key_types, path.conditions, strict=False
    ):
        found = [(each, _compared(each, name, table, scope)) for each in left]
        operands = [other for _, other in found if other is not None]
        ranged = sum(each.operator == "=" for each in conditions)
        if not has_plain_values(kind) or not operands or len(operands) != ranged:
            break
        equal += [(compile_expression(each, scope), kind.kind) for each in operands]
        left = [each for each, other in found if other is None]
    if not equal:
        return None
    rest = boolean_expression(syntax.AndNode(where.place, tuple(left)), scope) if left else None
    return KeyCovered(tuple(equal), rest)


def _compared(
    condition: syntax.SqlExpression, name: str, table: ScopeTable, scope: SqlScope
) -> syntax.SqlExpression | None:
    """What a condition says that a column is equal to, if it says no more and no row is needed."""
    if not isinstance(condition, syntax.ComparisonNode):
        return None
    if condition.operator != "=" or condition.any:
        return None
    for side, other in ((condition.left, condition.right), (condition.right, condition.left)):
        found = path_text(side, table)
        if found is not None and found[0] == name and not tables_used(other, scope):
            return other
    return None
