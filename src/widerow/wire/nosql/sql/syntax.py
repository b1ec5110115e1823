"""Statements and expressions of SQL as values (ddl §2).

Two expressions are equal if they say the same, wherever they stand.
"""

from dataclasses import dataclass, field
from typing import Any

from widerow.wire.nosql.sql.lexis import Place

__all__ = [
    "AddClause",
    "And",
    "ArrayOf",
    "Between",
    "Binary",
    "Call",
    "Case",
    "Cast",
    "Column",
    "Comparison",
    "Concat",
    "Default",
    "DeleteStatement",
    "Exists",
    "Expression",
    "Field",
    "Filter",
    "FromItems",
    "FromTable",
    "In",
    "InsertStatement",
    "IsNull",
    "IsType",
    "Keys",
    "Literal",
    "MapOf",
    "MergeClause",
    "Not",
    "Or",
    "Ordering",
    "Output",
    "PutClause",
    "RemoveClause",
    "SelectStatement",
    "SetClause",
    "Slice",
    "SqlType",
    "Statement",
    "TtlClause",
    "Unary",
    "UpdateStatement",
    "Values",
    "Variable",
]


@dataclass(frozen=True)
class Expression:
    """An expression, and where it begins."""

    place: Place = field(compare=False)


@dataclass(frozen=True)
class Literal(Expression):
    """A constant: a number, a text, true, false or null (a JSON null)."""

    value: Any


@dataclass(frozen=True)
class Column(Expression):
    """A column, of the table of an alias if one is given."""

    alias: str | None
    name: str


@dataclass(frozen=True)
class Variable(Expression):
    """`$x`, an implicit variable such as `$element`, or `?` as `$$0`, `$$1`, …."""

    name: str


@dataclass(frozen=True)
class Field(Expression):
    """`.name`, `.$name` or `.(expression)`."""

    source: Expression
    name: "str | Expression"


@dataclass(frozen=True)
class Keys(Expression):
    """`.keys(condition)`."""

    source: Expression
    condition: Expression | None


@dataclass(frozen=True)
class Values(Expression):
    """`.values(condition)`."""

    source: Expression
    condition: Expression | None


@dataclass(frozen=True)
class Filter(Expression):
    """`[condition or position]`, `[]`."""

    source: Expression
    condition: Expression | None


@dataclass(frozen=True)
class Slice(Expression):
    """`[low : high]`."""

    source: Expression
    low: Expression | None
    high: Expression | None


@dataclass(frozen=True)
class ArrayOf(Expression):
    """`[a, b]`."""

    items: tuple[Expression, ...]


@dataclass(frozen=True)
class MapOf(Expression):
    """`{k : v}`."""

    members: tuple[tuple[Expression, Expression], ...]


@dataclass(frozen=True)
class Call(Expression):
    """A function call; `star`: count(*)."""

    name: str
    arguments: tuple[Expression, ...]
    star: bool = False
    distinct: bool = False


@dataclass(frozen=True)
class Case(Expression):
    """CASE WHEN … THEN … ELSE … END."""

    whens: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@dataclass(frozen=True)
class SqlType:
    """A type as it is written. `quantifier`: `?`, `*`, `+` or nothing; `only`: no subtype."""

    name: str
    element: "SqlType | None" = None
    fields: "tuple[tuple[str, SqlType], ...]" = ()
    symbols: tuple[str, ...] = ()
    size: int | None = None
    quantifier: str = ""
    only: bool = False


@dataclass(frozen=True)
class Cast(Expression):
    """CAST(source AS type)."""

    source: Expression
    type: SqlType


@dataclass(frozen=True)
class Unary(Expression):
    """`-e` or `+e`."""

    operator: str
    operand: Expression


@dataclass(frozen=True)
class Binary(Expression):
    """Arithmetic from left to right: the first operand, then operators with theirs."""

    first: Expression
    rest: tuple[tuple[str, Expression], ...]


@dataclass(frozen=True)
class Concat(Expression):
    """`a || b`."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Comparison(Expression):
    """`a = b`, `a =any b`."""

    operator: str
    any: bool
    left: Expression
    right: Expression


@dataclass(frozen=True)
class And(Expression):
    """AND of several."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Or(Expression):
    """OR of several."""

    operands: tuple[Expression, ...]


@dataclass(frozen=True)
class Not(Expression):
    """NOT."""

    operand: Expression


@dataclass(frozen=True)
class IsNull(Expression):
    """IS [NOT] NULL."""

    operand: Expression
    negated: bool


@dataclass(frozen=True)
class IsType(Expression):
    """IS [NOT] OF TYPE (…)."""

    operand: Expression
    types: tuple[SqlType, ...]
    negated: bool


@dataclass(frozen=True)
class Exists(Expression):
    """EXISTS."""

    operand: Expression


@dataclass(frozen=True)
class Between(Expression):
    """BETWEEN low AND high."""

    operand: Expression
    low: Expression
    high: Expression


@dataclass(frozen=True)
class In(Expression):
    """`(a, b) IN ((1, 2), …)`: rows of as many expressions; or `a IN sequence`."""

    operands: tuple[Expression, ...]
    rows: tuple[tuple[Expression, ...], ...]
    sequence: Expression | None = None


# --- statements ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class FromTable:
    """A table of FROM. `join`: how it is joined: ``, `,` `left`, `ancestor`, `descendant`."""

    place: Place
    name: str
    alias: str
    join: str = ""
    on: Expression | None = None


@dataclass(frozen=True)
class FromItems:
    """`expression AS $variable` of FROM."""

    expression: Expression
    variable: str


@dataclass(frozen=True)
class Output:
    """An expression of SELECT or RETURNING and its name by AS."""

    expression: Expression
    name: str | None


@dataclass(frozen=True)
class Ordering:
    """An expression of ORDER BY."""

    expression: Expression
    descending: bool = False
    nulls_first: bool | None = None


@dataclass(frozen=True)
class Statement:
    """A statement. `declared`: external variables with their types and places."""

    declared: tuple[tuple[str, SqlType, Place], ...]
    parameters: int


@dataclass(frozen=True)
class SelectStatement(Statement):
    """SELECT. `outputs`: None is `*`. `hints`: (place, word, table, indexes)."""

    tables: tuple[FromTable, ...]
    items: tuple[FromItems, ...]
    outputs: tuple[Output, ...] | None
    distinct: bool
    where: Expression | None
    groups: tuple[Expression, ...]
    order: tuple[Ordering, ...]
    limit: Expression | None
    offset: Expression | None
    hints: tuple[tuple[Place, str, str, tuple[str, ...]], ...] = ()
    nested: bool = False


@dataclass(frozen=True)
class Default(Expression):
    """DEFAULT in VALUES."""


@dataclass(frozen=True)
class TtlClause:
    """SET TTL; `amount` None is USING TABLE DEFAULT."""

    place: Place
    amount: Expression | None
    days: bool = False


@dataclass(frozen=True)
class InsertStatement(Statement):
    """INSERT or UPSERT. `returning`: None without; an empty tuple is `*`."""

    table: FromTable
    columns: tuple[tuple[str, Place], ...]
    values: tuple[Expression, ...]
    upsert: bool
    ttl: TtlClause | None
    returning: tuple[Output, ...] | None


@dataclass(frozen=True)
class SetClause:
    """SET target = value."""

    target: Expression
    value: Expression


@dataclass(frozen=True)
class AddClause:
    """ADD target [position] value."""

    target: Expression
    position: Expression | None
    value: Expression


@dataclass(frozen=True)
class PutClause:
    """PUT target value."""

    target: Expression
    value: Expression


@dataclass(frozen=True)
class RemoveClause:
    """REMOVE target."""

    target: Expression


@dataclass(frozen=True)
class MergeClause:
    """JSON MERGE target WITH PATCH value."""

    target: Expression
    value: Expression


@dataclass(frozen=True)
class UpdateStatement(Statement):
    """UPDATE."""

    table: FromTable
    clauses: tuple[Any, ...]
    ttl: TtlClause | None
    where: Expression
    returning: tuple[Output, ...] | None


@dataclass(frozen=True)
class DeleteStatement(Statement):
    """DELETE."""

    table: FromTable
    where: Expression | None
    returning: tuple[Output, ...] | None
