"""Names and expressions of SELECT and RETURNING, and how a result row is made (ddl §3)."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from widerow.errors import InvalidRequest
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.expressions import compile_expression
from widerow.wire.nosql.sql.items import SentRow, inside
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.names import row_item, row_kind
from widerow.wire.nosql.sql.results import OutputColumn, encoded_row_columns
from widerow.wire.nosql.sql.scope import Compiled, ScopeTable, SqlFrame, SqlScope
from widerow.wire.nosql.sql.statement_rules import StatementRule

__all__ = ["Outputs", "compiled_outputs", "star"]

MakeRow = Callable[[SqlFrame], SentRow]


class Outputs(NamedTuple):
    """What makes rows; `name`: of the table whose whole row it is."""

    row: MakeRow
    columns: tuple[OutputColumn, ...]
    expressions: tuple[Compiled, ...]
    name: str | None = None


def star(scope: SqlScope, *, by_name: bool = False) -> Outputs:
    """`*`: the columns of the only table, or one record for each table.

    Fields of documents are sorted by name; with `by_name` the key is among them, not in front.
    """
    if len(scope.tables) == 1 and not scope.variables:
        table = scope.tables[0]
        kind = row_kind(table)
        scope.whole.add(table.slot)
        row = _document_row(table, by_name=by_name) if kind.name == "JSON" else _whole_row(table)
        keys = {name.lower() for name in table.form.table.primary_key}
        columns = tuple(
            OutputColumn(name, each, name.lower() not in keys) for name, each in kind.fields
        )
        return Outputs(row, columns, (), table.form.table.short_name)
    place = TextPlace()
    outputs = [
        syntax.Output(syntax.VariableNode(place, table.alias), table.alias.lstrip("$"))
        for table in scope.tables
    ]
    variables = [
        syntax.Output(syntax.VariableNode(place, name), name.lstrip("$"))
        for name in scope.variables
    ]
    return compiled_outputs([*outputs, *variables], scope)


def _whole_row(table: ScopeTable) -> MakeRow:
    slot, send = table.slot, encoded_row_columns(table.form.table).encoded

    def row(frame: SqlFrame) -> SentRow:
        found = frame.rows[slot]
        return {} if found is None else send(found)

    return row


def _document_row(table: ScopeTable, *, by_name: bool) -> MakeRow:
    slot, convert = table.slot, row_item(table)
    keys = () if by_name else table.form.table.primary_key

    def row(frame: SqlFrame) -> SentRow:
        found = frame.rows[slot]
        if found is None:
            return {}
        item: dict[str, Any] = convert(found)
        front = {name: item[name] for name in keys}
        return front | {name: inside(item, item[name]) for name in sorted(item)}

    return row


def compiled_outputs(outputs: Sequence[syntax.Output], scope: SqlScope) -> Outputs:
    """The expressions of SELECT. Raises `InvalidRequest`."""
    names = _names(outputs, scope)
    made = [compile_expression(each.expression, scope) for each in outputs]
    steps = [(name, each.evaluate) for name, each in zip(names, made, strict=True)]

    def row(frame: SqlFrame) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, evaluate in steps:
            items = evaluate(frame)
            found[name] = items[0] if len(items) == 1 else list(items) if items else None
        return found

    columns = tuple(
        OutputColumn(name, each.kind, each.nullable, each.many)
        for name, each in zip(names, made, strict=True)
    )
    return Outputs(row, columns, tuple(made))


def _names(outputs: Sequence[syntax.Output], scope: SqlScope) -> list[str]:
    """The name of each column: by AS, the last step of a path, else its position."""
    names: list[str] = []
    given: set[str] = set()
    for position, output in enumerate(outputs, start=1):
        name = output.name
        if name is not None and any(other.name == name for other in outputs[: position - 1]):
            raise InvalidRequest(StatementRule.DUPLICATE_COLUMN, name=name)
        if name is None or name.lower() in given:
            name = _own_name(output.expression) if output.name is None else None
            collides = name is not None and name in given
            if name is None or collides:
                name = f"Column_{position}"
            elif name.lower() in {each.lower() for each in given}:
                raise InvalidRequest(StatementRule.FIELD_TWICE, name=name)
        given.add(name)
        names.append(name)
    del scope
    return names


def _own_name(expression: syntax.SqlExpression) -> str | None:
    if isinstance(expression, syntax.ColumnNode):
        return expression.name
    if isinstance(expression, syntax.FieldNode):
        if isinstance(expression.name, str):
            return expression.name
        return None
    if isinstance(expression, syntax.VariableNode) and not expression.name.startswith("$$"):
        return expression.name.lstrip("$") or None
    return None
