"""Columns and variables: what a name means in a statement, and where its items are (ddl §3)."""

from collections.abc import Sequence
from typing import Any

from widerow.engine.typed.stored import StoredRow
from widerow.errors import InvalidRequest
from widerow.model.typed.types import FieldType, Kind
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.casts import sql_type
from widerow.wire.nosql.sql.items import RecordItem, inside, item_of, record_converter
from widerow.wire.nosql.sql.scope import Compiled, ScopeTable, SqlFrame, SqlScope
from widerow.wire.nosql.sql.statement_rules import StatementRule

__all__ = ["column_of", "row_item", "row_kind", "table_of_row", "variable_of"]

Items = Sequence[Any]
_NULL: Items = (None,)


def _fault(rule: StatementRule, at: syntax.SqlExpression, **details: Any) -> InvalidRequest:  # noqa: ANN401  # of rules
    return InvalidRequest(rule, line=at.place.line, column=at.place.column, **details)


def table_of_row(variable: syntax.VariableNode, scope: SqlScope) -> ScopeTable | None:
    """The table whose alias a variable is, or None."""
    for table in scope.tables:
        if table.alias == variable.name:
            return table
    return None


def _table_of(column: syntax.ColumnNode, scope: SqlScope, *, of_row: bool) -> ScopeTable:
    if column.alias is not None:
        found = [table for table in scope.tables if table.alias == column.alias]
        if not found:
            raise _fault(StatementRule.NO_ALIAS, column, name=column.alias)
        table = found[0]
        if not table.form.table.collection and table.form.table.field(column.name) is None:
            rule = StatementRule.NO_FIELD if of_row else StatementRule.NO_COLUMN_OF_ALIAS
            details = {"type": table.name} if of_row else {"table": table.name}
            raise _fault(rule, column, name=column.name, **details)
        return table
    found = [table for table in scope.tables if table.form.table.field(column.name) is not None]
    if not found:
        found = [table for table in scope.tables if table.form.table.collection]
    if len(found) > 1:
        raise _fault(StatementRule.AMBIGUOUS, column, name=column.name)
    if not found:
        raise _fault(StatementRule.NO_COLUMN_ANYWHERE, column, name=column.name)
    return found[0]


def column_of(column: syntax.ColumnNode, scope: SqlScope, *, of_row: bool = False) -> Compiled:
    """The items of a column. Raises `InvalidRequest` for a name that means none."""
    table = _table_of(column, scope, of_row=of_row)
    definition, slot = table.form.table, table.slot
    scope.used.add(slot)
    declared = definition.field(column.name)
    if declared is None:
        scope.whole.add(slot)
        return Compiled(_document_field(slot, column.name), syntax.TypeNode("JSON"))
    position = definition.positions[declared.name.lower()]
    convert = item_of(declared.type)
    is_key = position in definition.key_positions
    if not is_key:
        scope.whole.add(slot)

    def evaluate(frame: SqlFrame) -> Items:
        row = frame.rows[slot]
        if row is None:
            return _NULL
        value = row.values_in_order()[position]
        return (value,) if value is None or convert is None else (convert(value),)

    return Compiled(evaluate, sql_type(declared.type), nullable=not is_key)


def _document_field(slot: int, name: str) -> Any:  # noqa: ANN401  # a function of a frame
    def evaluate(frame: SqlFrame) -> Items:
        row = frame.rows[slot]
        if row is None:
            return _NULL
        document = row.document()
        return (inside(document, document[name]),) if name in document else ()

    return evaluate


def variable_of(variable: syntax.VariableNode, scope: SqlScope) -> Compiled:
    """The items of a variable: a row, one of FROM, an implicit one, or one from outside."""
    table = table_of_row(variable, scope)
    if table is not None:
        slot, convert = table.slot, row_item(table)
        scope.used.add(slot)
        scope.whole.add(slot)

        def row(frame: SqlFrame) -> Items:
            found = frame.rows[slot]
            return _NULL if found is None else (convert(found),)

        return Compiled(row, row_kind(table), nullable=False)
    at = scope.variables.get(variable.name)
    if at is not None:
        return Compiled(lambda frame: frame.items[at], scope.kinds.get(at), many=False)
    name = variable.name
    if name in scope.externals:
        kind = scope.externals[name]
        return Compiled(
            lambda frame: frame.variables[name],
            None if kind.name.startswith("ANY") else kind,
        )
    raise _fault(StatementRule.UNKNOWN_VARIABLE, variable, name=name)


def row_kind(table: ScopeTable) -> syntax.TypeNode:
    """The type of a row of a table."""
    definition = table.form.table
    if definition.collection:
        return syntax.TypeNode("JSON")
    return sql_type(FieldType(Kind.RECORD, fields=definition.fields))


def row_item(table: ScopeTable) -> Any:  # noqa: ANN401  # a function of a row
    """How a row becomes an item: a RECORD, or the document of a collection."""
    definition = table.form.table
    if definition.collection:
        return StoredRow.to_dict
    convert = record_converter(FieldType(Kind.RECORD, fields=definition.fields))
    names = [field.name for field in definition.fields]

    def item(row: StoredRow) -> RecordItem:
        made: RecordItem = convert(dict(zip(names, row.values_in_order(), strict=True)))
        return made

    return item
