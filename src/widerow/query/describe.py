"""A plan in words, one operator in a line, each below what it serves."""

from collections.abc import Callable, Iterator
from typing import Any

from widerow.query.expression import (
    And,
    Choice,
    Constant,
    Expression,
    FunctionCall,
    InputColumn,
    IsNull,
    Not,
    Or,
)
from widerow.query.plan import (
    Aggregate,
    Distinct,
    Join,
    Limit,
    Operator,
    Project,
    RowFilter,
    Rows,
    Scan,
    Sort,
)
from widerow.query.relation import RelationColumn

__all__ = ["described"]


def described(plan: Operator, scanned: Callable[[Any], str], depth: int = 0) -> Iterator[str]:
    """The lines; `scanned` tells of a scan's source what is read."""
    text, below = _line(plan, scanned)
    yield "  " * depth + text
    for each in below:
        yield from described(each, scanned, depth + 1)


def _line(  # noqa: PLR0911  # a line for each operator
    plan: Operator, scanned: Callable[[Any], str]
) -> tuple[str, tuple[Operator, ...]]:
    match plan:
        case Scan(source):
            return f"read {scanned(source)}", ()
        case Rows(_, chunk):
            return f"{chunk.rows} row of the statement", ()
        case RowFilter(below, condition):
            return f"keep rows where {_shown(condition, below.columns)}", (below,)
        case Project(below, _, columns):
            return f"compute {', '.join(column.name for column in columns)}", (below,)
        case Aggregate(below, keys, calls, _):
            by = ", ".join(_shown(key, below.columns) for key in keys)
            what = ", ".join(call.name for call in calls)
            return (f"group by {by}: {what}" if keys else f"one group: {what}"), (below,)
        case Sort(below, orders, first):
            by = ", ".join(
                _shown(order.by, below.columns) + (" descending" if order.descending else "")
                for order in orders
            )
            return (f"sort by {by}" if first is None else f"first {first} by {by}"), (below,)
        case Distinct(below):
            return "each row once", (below,)
        case Limit(below, count, offset):
            shown = "all" if count is None else f"at most {count}"
            return f"{shown} rows" + (f", behind {offset}" if offset else ""), (below,)
        case Join(left, right, kind):
            return f"{kind.value} join, the second input in memory", (left, right)


def _shown(  # noqa: PLR0911  # a form for each expression
    expression: Expression, columns: tuple[RelationColumn, ...]
) -> str:
    match expression:
        case InputColumn(position):
            return columns[position].name or f"column {position + 1}"
        case Constant(value):
            return repr(value) if not isinstance(value, bytes) else f"X'{value.hex()}'"
        case FunctionCall(name, _, (one, other)) if not name.isidentifier():
            return f"{_shown(one, columns)} {name} {_shown(other, columns)}"
        case FunctionCall(name, _, arguments):
            return f"{name}({', '.join(_shown(each, columns) for each in arguments)})"
        case And(parts):
            return " AND ".join(_shown(each, columns) for each in parts)
        case Or(parts):
            return "(" + " OR ".join(_shown(each, columns) for each in parts) + ")"
        case Not(part):
            return f"NOT {_shown(part, columns)}"
        case IsNull(part):
            return f"{_shown(part, columns)} IS NULL"
        case Choice():
            return "CASE"
