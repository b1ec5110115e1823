"""Which statements may run on the server's loop: the work for each of their rows has a bound.

Their expressions are columns, fields of documents, literals, variables and comparisons of these:
no functions, no arithmetic (a NUMBER has up to 10,000 digits), no lists of unknown length. A query
reads one table by its primary key, and its rows come in the order in which they are read. How many
rows it reads is bounded by a budget (`engine/budget.py`).
"""

from collections.abc import Iterator
from typing import Any, Final

from widerow.limits import LENGTHY_RANGE_ROWS, LOOP_READ_STEPS_MAX
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.bind_select import BoundSelect
from widerow.wire.nosql.sql.bind_writes import BoundWrite
from widerow.wire.nosql.sql.conditions import children
from widerow.wire.nosql.sql.loops import TableLoop

__all__ = ["steps_of_row"]

_PLAIN: Final = frozenset(
    (
        syntax.AndNode,
        syntax.ColumnNode,
        syntax.ComparisonNode,
        syntax.Default,
        syntax.FieldNode,
        syntax.IsNullNode,
        syntax.LiteralNode,
        syntax.VariableNode,
    )
)
_STEPS_LEAST: Final = LOOP_READ_STEPS_MAX // LENGTHY_RANGE_ROWS  # as many rows as of a range


def steps_of_row(statement: syntax.NosqlStatement, bound: BoundSelect | BoundWrite) -> int:
    """Steps of a budget that each row of a statement takes; 0 where its work has no bound."""
    if isinstance(statement, syntax.SelectStatement):
        if not _streams(bound):
            return 0
        outputs = () if statement.outputs is None else statement.outputs
        ordered = [each.expression for each in statement.order]
        parts = [statement.where, statement.limit, statement.offset, *ordered]
    elif isinstance(statement, syntax.InsertStatement) and statement.ttl is None:
        outputs = statement.returning or ()
        parts = list(statement.values)
    else:
        return 0
    parts += [each.expression for each in outputs]
    count = 0
    for node in _nodes(parts):
        if type(node) not in _PLAIN or (isinstance(node, syntax.ComparisonNode) and node.any):
            return 0
        count += 1
    return max(_STEPS_LEAST, count) if count <= LOOP_READ_STEPS_MAX else 0


def _streams(bound: BoundSelect | BoundWrite) -> bool:
    """Whether a query gives the rows of one table in the order of its primary key."""
    if not isinstance(bound, BoundSelect) or not bound.plan.streams or len(bound.plan.loops) != 1:
        return False
    loop = bound.plan.loops[0]
    alone = isinstance(loop, TableLoop) and not loop.ancestors and not loop.descendants
    return alone and bound.paths[0].index is None


def _nodes(parts: list[Any]) -> Iterator[Any]:
    """All nodes of some expressions, of which some may be absent."""
    pending = parts
    while pending:
        node = pending.pop()
        if isinstance(node, syntax.SqlExpression):
            yield node
            pending += children(node)
