"""Statements and expressions of SQL as values (ddl §2).

Two expressions are equal if they say the same, wherever they stand.
"""

from dataclasses import dataclass, field
from typing import Any

from widerow.wire.nosql.sql.lexis import TextPlace

__all__ = [
    "AddClause",
    "AndNode",
    "ArrayOf",
    "BetweenNode",
    "Binary",
    "CallNode",
    "Case",
    "CastNode",
    "ColumnNode",
    "ComparisonNode",
    "Concat",
    "Default",
    "DeleteStatement",
    "Exists",
    "FieldNode",
    "FilterNode",
    "FromItems",
    "FromTable",
    "In",
    "InsertStatement",
    "IsNullNode",
    "IsType",
    "Keys",
    "LiteralNode",
    "MapOf",
    "MergeClause",
    "NosqlStatement",
    "NotNode",
    "OrNode",
    "Ordering",
    "Output",
    "PutClause",
    "RemoveClause",
    "SelectStatement",
    "SetClause",
    "Slice",
    "SqlExpression",
    "TtlClause",
    "TypeNode",
    "Unary",
    "UpdateStatement",
    "ValuesNode",
    "VariableNode",
]


@dataclass(frozen=True)
class SqlExpression:
    """An expression, and where it begins."""

    place: TextPlace = field(compare=False)


@dataclass(frozen=True)
class LiteralNode(SqlExpression):
    """A constant: a number, a text, true, false or null (a JSON null)."""

    value: Any


@dataclass(frozen=True)
class ColumnNode(SqlExpression):
    """A column, of the table of an alias if one is given."""

    alias: str | None
    name: str


@dataclass(frozen=True)
class VariableNode(SqlExpression):
    """`$x`, an implicit variable such as `$element`, or `?` as `$$0`, `$$1`, …."""

    name: str


@dataclass(frozen=True)
class FieldNode(SqlExpression):
    """`.name`, `.$name` or `.(expression)`."""

    source: SqlExpression
    name: "str | SqlExpression"


@dataclass(frozen=True)
class Keys(SqlExpression):
    """`.keys(condition)`."""

    source: SqlExpression
    condition: SqlExpression | None


@dataclass(frozen=True)
class ValuesNode(SqlExpression):
    """`.values(condition)`."""

    source: SqlExpression
    condition: SqlExpression | None


@dataclass(frozen=True)
class FilterNode(SqlExpression):
    """`[condition or position]`, `[]`."""

    source: SqlExpression
    condition: SqlExpression | None


@dataclass(frozen=True)
class Slice(SqlExpression):
    """`[low : high]`."""

    source: SqlExpression
    low: SqlExpression | None
    high: SqlExpression | None


@dataclass(frozen=True)
class ArrayOf(SqlExpression):
    """`[a, b]`."""

    items: tuple[SqlExpression, ...]


@dataclass(frozen=True)
class MapOf(SqlExpression):
    """`{k : v}`."""

    members: tuple[tuple[SqlExpression, SqlExpression], ...]


@dataclass(frozen=True)
class CallNode(SqlExpression):
    """A function call; `star`: count(*)."""

    name: str
    arguments: tuple[SqlExpression, ...]
    star: bool = False
    distinct: bool = False


@dataclass(frozen=True)
class Case(SqlExpression):
    """CASE WHEN … THEN … ELSE … END."""

    whens: tuple[tuple[SqlExpression, SqlExpression], ...]
    otherwise: SqlExpression | None


@dataclass(frozen=True)
class TypeNode:
    """A type as it is written. `quantifier`: `?`, `*`, `+` or nothing; `only`: no subtype.

    Of a field of a RECORD: `default` is what it has where a value lacks it, `nullable` whether it
    may be NULL.
    """

    name: str
    element: "TypeNode | None" = None
    fields: "tuple[tuple[str, TypeNode], ...]" = ()
    symbols: tuple[str, ...] = ()
    size: int | None = None
    quantifier: str = ""
    only: bool = False
    default: Any = None
    nullable: bool = True


@dataclass(frozen=True)
class CastNode(SqlExpression):
    """CAST(source AS type)."""

    source: SqlExpression
    type: TypeNode


@dataclass(frozen=True)
class Unary(SqlExpression):
    """`-e` or `+e`."""

    operator: str
    operand: SqlExpression


@dataclass(frozen=True)
class Binary(SqlExpression):
    """Arithmetic from left to right: the first operand, then operators with theirs."""

    first: SqlExpression
    rest: tuple[tuple[str, SqlExpression], ...]


@dataclass(frozen=True)
class Concat(SqlExpression):
    """`a || b`."""

    operands: tuple[SqlExpression, ...]


@dataclass(frozen=True)
class ComparisonNode(SqlExpression):
    """`a = b`, `a =any b`."""

    operator: str
    any: bool
    left: SqlExpression
    right: SqlExpression


@dataclass(frozen=True)
class AndNode(SqlExpression):
    """AND of several."""

    operands: tuple[SqlExpression, ...]


@dataclass(frozen=True)
class OrNode(SqlExpression):
    """OR of several."""

    operands: tuple[SqlExpression, ...]


@dataclass(frozen=True)
class NotNode(SqlExpression):
    """NOT."""

    operand: SqlExpression


@dataclass(frozen=True)
class IsNullNode(SqlExpression):
    """IS [NOT] NULL."""

    operand: SqlExpression
    negated: bool


@dataclass(frozen=True)
class IsType(SqlExpression):
    """IS [NOT] OF TYPE (…)."""

    operand: SqlExpression
    types: tuple[TypeNode, ...]
    negated: bool


@dataclass(frozen=True)
class Exists(SqlExpression):
    """EXISTS."""

    operand: SqlExpression


@dataclass(frozen=True)
class BetweenNode(SqlExpression):
    """BETWEEN low AND high."""

    operand: SqlExpression
    low: SqlExpression
    high: SqlExpression


@dataclass(frozen=True)
class In(SqlExpression):
    """`(a, b) IN ((1, 2), …)`: rows of as many expressions; or `a IN sequence`."""

    operands: tuple[SqlExpression, ...]
    rows: tuple[tuple[SqlExpression, ...], ...]
    sequence: SqlExpression | None = None


# --- statements ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class FromTable:
    """A table of FROM. `join`: how it is joined: ``, `,` `left`, `ancestor`, `descendant`."""

    place: TextPlace
    name: str
    alias: str
    join: str = ""
    on: SqlExpression | None = None


@dataclass(frozen=True)
class FromItems:
    """`expression AS $variable` of FROM."""

    expression: SqlExpression
    variable: str


@dataclass(frozen=True)
class Output:
    """An expression of SELECT or RETURNING and its name by AS."""

    expression: SqlExpression
    name: str | None


@dataclass(frozen=True)
class Ordering:
    """An expression of ORDER BY."""

    expression: SqlExpression
    descending: bool = False
    nulls_first: bool | None = None


@dataclass(frozen=True)
class NosqlStatement:
    """A statement. `declared`: external variables with their types and places."""

    declared: tuple[tuple[str, TypeNode, TextPlace], ...]
    parameters: int


@dataclass(frozen=True)
class SelectStatement(NosqlStatement):
    """SELECT. `outputs`: None is `*`. `hints`: (place, word, table, indexes)."""

    tables: tuple[FromTable, ...]
    items: tuple[FromItems, ...]
    outputs: tuple[Output, ...] | None
    distinct: bool
    where: SqlExpression | None
    groups: tuple[SqlExpression, ...]
    order: tuple[Ordering, ...]
    limit: SqlExpression | None
    offset: SqlExpression | None
    hints: tuple[tuple[TextPlace, str, str, tuple[str, ...]], ...] = ()
    nested: bool = False


@dataclass(frozen=True)
class Default(SqlExpression):
    """DEFAULT in VALUES."""


@dataclass(frozen=True)
class TtlClause:
    """SET TTL; `amount` None is USING TABLE DEFAULT."""

    place: TextPlace
    amount: SqlExpression | None
    days: bool = False


@dataclass(frozen=True)
class InsertStatement(NosqlStatement):
    """INSERT or UPSERT. `returning`: None without; an empty tuple is `*`."""

    table: FromTable
    columns: tuple[tuple[str, TextPlace], ...]
    values: tuple[SqlExpression, ...]
    upsert: bool
    ttl: TtlClause | None
    returning: tuple[Output, ...] | None


@dataclass(frozen=True)
class SetClause:
    """SET target = value."""

    target: SqlExpression
    value: SqlExpression


@dataclass(frozen=True)
class AddClause:
    """ADD target [position] value."""

    target: SqlExpression
    position: SqlExpression | None
    value: SqlExpression


@dataclass(frozen=True)
class PutClause:
    """PUT target value."""

    target: SqlExpression
    value: SqlExpression


@dataclass(frozen=True)
class RemoveClause:
    """REMOVE target."""

    target: SqlExpression


@dataclass(frozen=True)
class MergeClause:
    """JSON MERGE target WITH PATCH value."""

    target: SqlExpression
    value: SqlExpression


@dataclass(frozen=True)
class UpdateStatement(NosqlStatement):
    """UPDATE."""

    table: FromTable
    clauses: tuple[Any, ...]
    ttl: TtlClause | None
    where: SqlExpression
    returning: tuple[Output, ...] | None


@dataclass(frozen=True)
class DeleteStatement(NosqlStatement):
    """DELETE."""

    table: FromTable
    where: SqlExpression | None
    returning: tuple[Output, ...] | None
