"""Targets of UPDATE's clauses: the places of a row that a path leads to (ddl §3: UPDATE)."""

from collections.abc import Callable, Sequence
from typing import Any, Final

from widerow.engine.typed.stored import StoredRow
from widerow.model.typed.types import FieldType, Kind
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.bind_select import fault_at
from widerow.wire.nosql.sql.expressions import compile_expression, member_condition
from widerow.wire.nosql.sql.items import RecordItem, item_of
from widerow.wire.nosql.sql.names import column_of
from widerow.wire.nosql.sql.places import PlaceKind, UpdatePlace
from widerow.wire.nosql.sql.scope import ScopeTable, SqlFrame, SqlScope
from widerow.wire.nosql.sql.statement_rules import StatementRule

__all__ = ["PlacesOf", "place_item", "target_of"]

PlacesOf = Callable[[SqlFrame, StoredRow], list[UpdatePlace]]
_JSON: Final = FieldType(Kind.JSON)


def place_item(place: UpdatePlace) -> Any:  # noqa: ANN401  # any item
    """What stands at a place, as an item."""
    value = place.value
    if value is None:
        return None
    convert = item_of(place.type)
    return value if convert is None else convert(value)


def target_of(path: syntax.SqlExpression, table: ScopeTable, scope: SqlScope) -> PlacesOf:
    """The places of a path. Raises `InvalidRequest` for one that is none over a row."""
    if isinstance(path, syntax.VariableNode) and path.name == table.alias:
        return _row(path, table)
    of_row = isinstance(path, syntax.FieldNode) and _is_row(path.source, table)
    if of_row and isinstance(path, syntax.FieldNode) and isinstance(path.name, str):
        column = syntax.ColumnNode(path.place, table.alias, path.name)
        return _column(column, table, scope)
    if isinstance(path, syntax.ColumnNode):
        return _column(path, table, scope)
    if isinstance(path, syntax.FieldNode):
        return _field(path, table, scope)
    if isinstance(path, syntax.Keys | syntax.ValuesNode):
        return _members(path, table, scope)
    if isinstance(path, syntax.FilterNode):
        return _elements(path, table, scope)
    if isinstance(path, syntax.Slice):
        return _slice(path, table, scope)
    raise fault_at(StatementRule.UPDATE_TARGET, path.place, table=table.name)


def _is_row(source: syntax.SqlExpression, table: ScopeTable) -> bool:
    return isinstance(source, syntax.VariableNode) and source.name == table.alias


def _row(path: syntax.VariableNode, table: ScopeTable) -> PlacesOf:
    form = table.form
    if form.document < 0:
        raise fault_at(StatementRule.UPDATE_TARGET, path.place, table=table.name)
    return lambda _, row: [_document(form.document, row)]


def _document(position: int, row: StoredRow) -> UpdatePlace:
    values = row.values_in_order()
    if values[position] is None:
        values[position] = {}
    return UpdatePlace(values, position, _JSON, PlaceKind.COLUMN)


def _column(column: syntax.ColumnNode, table: ScopeTable, scope: SqlScope) -> PlacesOf:
    column_of(column, scope)
    definition, form = table.form.table, table.form
    declared = definition.field(column.name)
    if declared is None:
        name = column.name
        return lambda _, row: _member(_document(form.document, row), name)
    position = definition.positions[declared.name.lower()]
    if position in definition.key_positions:
        raise fault_at(StatementRule.UPDATE_KEY, column.place)
    nullable, kind, name = declared.nullable, declared.type, declared.name

    def find(_: SqlFrame, row: StoredRow) -> list[UpdatePlace]:
        values = row.values_in_order()
        return [UpdatePlace(values, position, kind, PlaceKind.COLUMN, nullable, name)]

    return find


def _member(place: UpdatePlace, name: str) -> list[UpdatePlace]:
    """The places of `.name` at a place; of an array those of its elements."""
    value, kind = place.value, place.type
    if isinstance(value, list):
        return [each for inner in _inner(place) for each in _member(inner, name)]
    if not isinstance(value, dict):
        return []
    if kind.kind is Kind.RECORD:
        declared = kind.field(name)
        if declared is None:
            return []
        return [UpdatePlace(value, declared.name, declared.type, PlaceKind.FIELD)]
    if name not in value:
        return []
    return [UpdatePlace(value, name, kind.element or _JSON, PlaceKind.MEMBER)]


def _inner(place: UpdatePlace) -> list[UpdatePlace]:
    """The places of the elements of an array; any other value is an array of itself."""
    value, kind = place.value, place.type
    if value is None:
        return []
    if not isinstance(value, list):
        return [place]
    element = kind.element or _JSON
    return [UpdatePlace(value, at, element, PlaceKind.ELEMENT) for at in range(len(value))]


def _field(path: syntax.FieldNode, table: ScopeTable, scope: SqlScope) -> PlacesOf:
    source = target_of(path.source, table, scope)
    compile_expression(path, scope)  # names of fields are checked where types are known
    if isinstance(path.name, str):
        name = path.name
        return lambda frame, row: [
            each for place in source(frame, row) for each in _member(place, name)
        ]
    chosen = compile_expression(path.name, scope).evaluate

    def find(frame: SqlFrame, row: StoredRow) -> list[UpdatePlace]:
        names = chosen(frame)
        if len(names) != 1 or not isinstance(names[0], str):
            return []
        return [each for place in source(frame, row) for each in _member(place, names[0])]

    return find


def _members(path: syntax.Keys | syntax.ValuesNode, table: ScopeTable, scope: SqlScope) -> PlacesOf:
    source = target_of(path.source, table, scope)
    holds = member_condition(path.condition, scope, ("$value", "$key"))

    def find(frame: SqlFrame, row: StoredRow) -> list[UpdatePlace]:
        found: list[UpdatePlace] = []
        for place in source(frame, row):
            value = place.value
            if isinstance(value, dict) and not isinstance(value, RecordItem):
                for name in sorted(value):
                    found += [
                        each
                        for each in _member(place, name)
                        if holds is None or _is_true(holds(frame, place_item(each), name, value))
                    ]
        return found

    return find


def _elements(path: syntax.FilterNode, table: ScopeTable, scope: SqlScope) -> PlacesOf:
    source = target_of(path.source, table, scope)
    holds = member_condition(path.condition, scope, ("$element", "$pos"))

    def find(frame: SqlFrame, row: StoredRow) -> list[UpdatePlace]:
        found: list[UpdatePlace] = []
        for place in source(frame, row):
            for at, each in enumerate(_inner(place)):
                if holds is None:
                    found.append(each)
                    continue
                given = holds(frame, place_item(each), at, place_item(place))
                if _is_true(given) or (
                    len(given) == 1 and type(given[0]) is int and given[0] == at
                ):
                    found.append(each)
        return found

    return find


def _slice(path: syntax.Slice, table: ScopeTable, scope: SqlScope) -> PlacesOf:
    source = target_of(path.source, table, scope)
    bounds = [
        None if each is None else compile_expression(each, scope).evaluate
        for each in (path.low, path.high)
    ]

    def find(frame: SqlFrame, row: StoredRow) -> list[UpdatePlace]:
        low, high = (None if each is None else each(frame) for each in bounds)
        found: list[UpdatePlace] = []
        for place in source(frame, row):
            inner = _inner(place)
            first = 0 if low is None else max(0, int(low[0]))
            last = len(inner) - 1 if high is None else int(high[0])
            found += inner[first : last + 1]
        return found

    return find


def _is_true(items: Sequence[Any]) -> bool:
    return len(items) == 1 and items[0] is True
