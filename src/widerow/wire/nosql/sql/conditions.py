"""The conditions of WHERE that ranges of a key or an index can be made of (ddl §3: index use)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import count
from typing import Any, Final

from widerow.model.typed.index_functions import joined_path
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.access_path import KeyCondition, Operand
from widerow.wire.nosql.sql.casts import sql_type
from widerow.wire.nosql.sql.choose import PathCandidate
from widerow.wire.nosql.sql.expressions import compile_expression
from widerow.wire.nosql.sql.scope import ScopeTable, SqlScope

__all__ = ["Conditions", "children", "conjuncts", "path_text", "tables_used"]

_FLIPPED: Final = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_JSON: Final = syntax.TypeNode("JSON")
_Path = tuple[str, syntax.TypeNode | None]


def conjuncts(where: syntax.SqlExpression | None) -> Iterator[syntax.SqlExpression]:
    """The operands of AND that a condition is made of."""
    if isinstance(where, syntax.AndNode):
        for operand in where.operands:
            yield from conjuncts(operand)
    elif where is not None:
        yield where


def children(node: Any) -> Iterator[Any]:  # noqa: ANN401  # a node, or what holds nodes
    """The expressions directly inside a node."""
    if isinstance(node, tuple | list):
        for each in node:
            yield from children(each) if isinstance(each, tuple | list) else (each,)
    elif isinstance(node, syntax.SqlExpression):
        for each in fields(node):
            value = getattr(node, each.name)
            if isinstance(value, tuple):
                yield from children(value)
            elif isinstance(value, syntax.SqlExpression):
                yield value


def tables_used(expression: syntax.SqlExpression, scope: SqlScope) -> set[int | str]:
    """The slots of the tables, and the names of the inner variables, that an expression reads."""
    found: set[int | str] = set()
    pending: list[Any] = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, syntax.ColumnNode):
            found.update(table.slot for table in scope.tables if _is_of(node, table))
        elif isinstance(node, syntax.VariableNode):
            slots = [table.slot for table in scope.tables if table.alias == node.name]
            inner = node.name in scope.variables or node.name in _IMPLICIT
            found.update(slots or ([node.name] if inner else []))
        pending += children(node)
    return found


_IMPLICIT: Final = frozenset(("$", "$element", "$pos", "$key", "$value"))


def _is_of(column: syntax.ColumnNode, table: ScopeTable) -> bool:
    if column.alias is not None:
        return column.alias == table.alias
    definition = table.form.table
    return definition.field(column.name) is not None or definition.collection


def path_text(
    expression: syntax.SqlExpression,
    table: ScopeTable,
    roots: dict[str, _Path] | None = None,
) -> _Path | None:
    """A path as indexes write it, in the declared case, and its type; None for any other one.

    `roots`: what implicit variables stand for.
    """
    if isinstance(expression, syntax.ColumnNode):
        return _column_path(expression, table) if _is_of(expression, table) else None
    if isinstance(expression, syntax.VariableNode):
        return (roots or {}).get(expression.name)
    if isinstance(expression, syntax.FieldNode) and isinstance(expression.name, str):
        source = expression.source
        if isinstance(source, syntax.VariableNode) and source.name == table.alias:
            column = syntax.ColumnNode(expression.place, table.alias, expression.name)
            return _column_path(column, table)
        found = path_text(source, table, roots)
        return None if found is None else _field_path(found, expression.name)
    if isinstance(expression, syntax.CallNode):
        return _function_path(expression, table, roots)
    if isinstance(expression, syntax.Keys | syntax.ValuesNode) and expression.condition is None:
        found = path_text(expression.source, table, roots)
        step = ".keys()" if isinstance(expression, syntax.Keys) else ".values()"
        return None if found is None else (found[0] + step, None)
    if isinstance(expression, syntax.FilterNode):
        found = path_text(expression.source, table, roots)
        whole = expression.condition is None or _is_position(expression.condition)
        return _element(found) if whole and found is not None else None
    return None


_INDEXED: Final = {
    **dict.fromkeys(("lower", "upper", "ltrim", "rtrim", "reverse"), syntax.TypeNode("STRING")),
    "length": syntax.TypeNode("INTEGER"),
}
"""Functions of one text that give in an index what they give in a statement."""


def _function_path(
    call: syntax.CallNode, table: ScopeTable, roots: dict[str, _Path] | None
) -> _Path | None:
    kind = _INDEXED.get(call.name)
    if kind is None or len(call.arguments) != 1:
        return None
    found = path_text(call.arguments[0], table, roots)
    if found is None or found[1] is None or found[1].name not in ("STRING", "JSON"):
        return None
    return joined_path(call.name, found[0], ()), kind


def _is_position(expression: syntax.SqlExpression) -> bool:
    return isinstance(expression, syntax.LiteralNode) and type(expression.value) is int


def _element(path: _Path) -> _Path | None:
    text, kind = path
    if kind is None or kind.name == "JSON":
        return f"{text}[]", kind
    return (f"{text}[]", kind.element) if kind.name == "ARRAY" else None


def _column_path(column: syntax.ColumnNode, table: ScopeTable) -> _Path | None:
    declared = table.form.table.field(column.name)
    if declared is not None:
        return declared.name, sql_type(declared.type)
    return (column.name, _JSON) if table.form.table.collection else None


def _field_path(path: _Path, name: str) -> _Path | None:
    text, kind = path
    if kind is not None and kind.name == "ARRAY":
        text, kind = f"{text}[]", kind.element
    if kind is None or kind.name == "JSON":
        return f"{text}.{name}", _JSON
    if kind.name == "MAP":
        return f"{text}.{name}", kind.element
    if kind.name != "RECORD":
        return None
    found = [(field, each) for field, each in kind.fields if field.lower() == name.lower()]
    return (f"{text}.{found[0][0]}", found[0][1]) if found else None


def _compare(
    node: syntax.BetweenNode, operator: str, bound: syntax.SqlExpression
) -> syntax.ComparisonNode:
    return syntax.ComparisonNode(
        place=node.place, operator=operator, any=False, left=node.operand, right=bound
    )


@dataclass
class Conditions:
    """Reads the conditions on one table; `available`: tables whose rows are known before it."""

    table: ScopeTable
    scope: SqlScope
    available: frozenset[int]
    nothing: bool = False

    def __post_init__(self) -> None:
        definition = self.table.form.table
        self._numbers = count(1)
        self._keys = set(definition.primary_key)
        for index in definition.indexes:
            self._keys.update(each.path for each in index.fields if "(" not in each.path)

    def candidates(self, where: syntax.SqlExpression | None) -> tuple[PathCandidate, ...]:
        """What an index may serve of a condition. Sets `nothing` where it is never true."""
        found: list[PathCandidate] = []
        for each in conjuncts(where):
            found += self._of(each, None, 0)
        return tuple(found)

    def _of(
        self, node: syntax.SqlExpression, roots: dict[str, _Path] | None, element: int
    ) -> list[PathCandidate]:
        if isinstance(node, syntax.ComparisonNode):
            return self._comparison(node, roots, element)
        if isinstance(node, syntax.BetweenNode):
            low = _compare(node, ">=", node.low)
            high = _compare(node, "<=", node.high)
            return [*self._of(low, roots, element), *self._of(high, roots, element)]
        if isinstance(node, syntax.In):
            return self._in(node, roots, element)
        if isinstance(node, syntax.Exists):
            return self._exists(node.operand)
        return self._without_operand(node, roots, element)

    def _without_operand(
        self, node: syntax.SqlExpression, roots: dict[str, _Path] | None, element: int
    ) -> list[PathCandidate]:
        if isinstance(node, syntax.IsNullNode):
            path = path_text(node.operand, self.table, roots)
            member = path is not None and ("[]" in path[0] or "()" in path[0])
            pushed = not member and not node.negated
            condition = KeyCondition("null")
        elif isinstance(node, syntax.NotNode) and isinstance(node.operand, syntax.Exists):
            path = path_text(node.operand.operand, self.table, roots)
            pushed, condition = True, KeyCondition("empty")
        else:
            return []
        return [] if path is None else [PathCandidate(path[0], condition, element, pushed)]

    def _exists(self, operand: syntax.SqlExpression) -> list[PathCandidate]:
        if isinstance(operand, syntax.FilterNode) and operand.condition is not None:
            path = path_text(syntax.FilterNode(operand.place, operand.source, None), self.table)
            if path is None:
                return []
            return self._inside(operand.condition, {"$element": path})
        if isinstance(operand, syntax.ValuesNode | syntax.Keys) and operand.condition is not None:
            path = path_text(operand.source, self.table)
            if path is None:
                return []
            kind = path[1]
            value = kind.element if kind is not None and kind.name == "MAP" else None
            roots: dict[str, _Path] = {
                "$key": (f"{path[0]}.keys()", syntax.TypeNode("STRING")),
                "$value": (f"{path[0]}.values()", value),
            }
            return self._inside(operand.condition, roots)
        path = path_text(operand, self.table)
        return [] if path is None else [PathCandidate(path[0], KeyCondition("exists"))]

    def _inside(
        self, condition: syntax.SqlExpression, roots: dict[str, _Path]
    ) -> list[PathCandidate]:
        number = next(self._numbers)
        found: list[PathCandidate] = []
        for each in conjuncts(condition):
            found += self._of(each, roots, number)
        return found

    def _comparison(
        self, node: syntax.ComparisonNode, roots: dict[str, _Path] | None, element: int
    ) -> list[PathCandidate]:
        for side, other, operator in (
            (node.left, node.right, node.operator),
            (node.right, node.left, _FLIPPED[node.operator]),
        ):
            path = path_text(side, self.table, roots)
            if path is not None and self._is_known(other):
                return self._compared(path, operator, (other,), side, element)
        return []

    def _in(
        self, node: syntax.In, roots: dict[str, _Path] | None, element: int
    ) -> list[PathCandidate]:
        found: list[PathCandidate] = []
        for at, operand in enumerate(node.operands):
            path = path_text(operand, self.table, roots)
            others = (
                (node.sequence,)
                if node.sequence is not None
                else tuple(row[at] for row in node.rows)
            )
            if path is not None and all(map(self._is_known, others)):
                found += self._compared(path, "in", others, operand, element)
        return found

    def _is_known(self, expression: syntax.SqlExpression) -> bool:
        """Whether an expression can be evaluated before rows of the table are read."""
        return tables_used(expression, self.scope) <= self.available

    def _compared(
        self,
        path: _Path,
        operator: str,
        others: Sequence[syntax.SqlExpression],
        side: syntax.SqlExpression,
        element: int,
    ) -> list[PathCandidate]:
        text, kind = path
        if operator == "!=":
            return [PathCandidate(text, KeyCondition("!="), element, pushed=False)]
        compiled = [compile_expression(each, self.scope) for each in others]
        fits = [_fits(kind, each.kind) for each in compiled]
        if operator != "in" and fits == [False] and not element:
            self.nothing = self.nothing or text in self._keys
            return []
        if None in fits:
            return []
        operands: tuple[Operand, ...] = tuple(compiled)
        condition = KeyCondition(operator, operands)
        found = [PathCandidate(text, condition, element)]
        if isinstance(side, syntax.FieldNode) and isinstance(side.name, str):
            found += self._entry(side, condition)
        return found

    def _entry(self, side: syntax.FieldNode, condition: KeyCondition) -> list[PathCandidate]:
        """`map.name` is also the entry of a map whose key is the name."""
        source = path_text(side.source, self.table)
        if source is None or source[1] is None or source[1].name not in ("MAP", "JSON"):
            return []
        number = next(self._numbers)
        name = compile_expression(syntax.LiteralNode(side.place, side.name), self.scope)
        return [
            PathCandidate(f"{source[0]}.keys()", KeyCondition("=", (name,)), number),
            PathCandidate(f"{source[0]}.values()", condition, number),
        ]


_FAMILIES: Final = {
    **dict.fromkeys(("INTEGER", "LONG", "FLOAT", "DOUBLE", "NUMBER"), "number"),
    **dict.fromkeys(("STRING", "ENUM"), "text"),
    "BOOLEAN": "boolean",
    "TIMESTAMP": "moment",
    "BINARY": "bytes",
    "ARRAY": "array",
    "MAP": "map",
    "RECORD": "record",
    "ANYJSONATOMIC": "null",
}
_WHOLE: Final = frozenset(("INTEGER", "LONG"))


def _fits(kind: syntax.TypeNode | None, other: syntax.TypeNode | None) -> bool | None:
    """Whether values of two types compare; None: an index is of no use for them."""
    if kind is None or other is None or kind.name in ("JSON", "ANY") or other.name == "JSON":
        return True
    if kind.name in _WHOLE and other.name in ("FLOAT", "DOUBLE", "NUMBER"):
        return None
    one, two = _FAMILIES.get(kind.name), _FAMILIES.get(other.name)
    if one is None or two is None:
        return True
    return one == two or (one == "moment" and two == "text")
