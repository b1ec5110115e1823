"""INSERT, UPSERT, UPDATE and DELETE bound to their table and planned (ddl §3)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from widerow.engine.typed.form import TableForm
from widerow.engine.typed.stored import StoredRow
from widerow.errors import InvalidRequest
from widerow.model.typed.table import TimeToLive
from widerow.model.typed.types import Field, FieldType, IdentityMode, Kind
from widerow.model.typed.values import JsonNull
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.access_path import AccessPath
from widerow.wire.nosql.sql.bind_select import Find, add_table, fault_at, table_found
from widerow.wire.nosql.sql.casts import sql_type, sql_type_text
from widerow.wire.nosql.sql.choose import WantedRows, choose_path
from widerow.wire.nosql.sql.conditions import Conditions
from widerow.wire.nosql.sql.delete_run import DeletePlan
from widerow.wire.nosql.sql.expressions import boolean_expression, compile_expression
from widerow.wire.nosql.sql.insert_run import InsertPlan
from widerow.wire.nosql.sql.items import SentRow, is_number
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.loops import TableLoop
from widerow.wire.nosql.sql.outputs import Outputs, compiled_outputs, star
from widerow.wire.nosql.sql.places import (
    UpdatePlace,
    add_elements,
    copied,
    document,
    merge_patch,
    put_fields,
    remove_places,
    set_place,
)
from widerow.wire.nosql.sql.scope import Compiled, ScopeTable, SqlFrame, SqlScope
from widerow.wire.nosql.sql.statement_rules import StatementRule
from widerow.wire.nosql.sql.stored_items import row_values, stored_item
from widerow.wire.nosql.sql.targets import place_item, target_of
from widerow.wire.nosql.sql.texts import item_type_name, text_of
from widerow.wire.nosql.sql.update_run import Clause, Lifetime, UpdatePlan

__all__ = ["BoundWrite", "bind_delete", "bind_insert", "bind_update"]


@dataclass(frozen=True)
class BoundWrite:
    """A statement that writes, ready to run. `paths`: of its table, for the plan's text."""

    plan: InsertPlan | UpdatePlan | DeletePlan
    outputs: Outputs | None
    paths: tuple[AccessPath, ...] = ()
    advanced: bool = False


def _returning(returning: Sequence[syntax.Output] | None, scope: SqlScope) -> Outputs | None:
    if returning is None:
        return None
    return compiled_outputs(returning, scope) if returning else star(scope)


def _row(outputs: Outputs | None) -> Callable[[Any], SentRow] | None:
    return None if outputs is None else outputs.row


# --- lifetimes -----------------------------------------------------------------------------------


def _lifetime(clause: syntax.TtlClause | None, form: TableForm, scope: SqlScope) -> Lifetime | None:
    if clause is None:
        return None
    if clause.amount is None:
        return lambda _: form.table.ttl or TimeToLive.days(0)
    amount, place = compile_expression(clause.amount, scope).evaluate, clause.amount.place
    make = TimeToLive.days if clause.days else TimeToLive.hours

    def lifetime(frame: SqlFrame) -> TimeToLive | None:
        items = amount(frame)
        if not items or items[0] is None:
            return form.table.ttl or TimeToLive.days(0)
        if len(items) > 1 or not is_number(items[0]):
            raise fault_at(
                StatementRule.TTL_TYPE,
                place,
                value=text_of(items[0])[:100],
                type=item_type_name(items[0]),
            )
        return make(max(0, int(items[0])))

    return lifetime


# --- INSERT --------------------------------------------------------------------------------------


def bind_insert(statement: syntax.InsertStatement, find: Find, scope: SqlScope) -> BoundWrite:
    """The plan of an INSERT or UPSERT. Raises `InvalidRequest`, `NotFound`."""
    form = table_found(find, statement.table.name)
    outside = SqlScope(externals=scope.externals)
    columns = _columns(statement, form)
    made: list[tuple[str, Compiled, TextPlace]] = []
    for (name, _), value in zip(columns, statement.values, strict=True):
        declared = form.table.field(name) if name else None
        if isinstance(value, syntax.Default):
            _check_default(declared, name, value.place, form)
            continue
        identity = None if declared is None else declared.identity
        if identity is not None and identity.mode is IdentityMode.ALWAYS:
            raise fault_at(StatementRule.IDENTITY_DEFAULT, value.place)
        made.append((name, _outside(value, outside, statement), value.place))
    _check_keys(form, columns)
    table = add_table(scope, statement.table, form)
    outputs = _returning(statement.returning, scope)
    plan = InsertPlan(
        form=form,
        slot=table.slot,
        values=row_values(form, made),
        upsert=statement.upsert,
        lifetime=_lifetime(statement.ttl, form, scope),
        row=_row(outputs),
    )
    return BoundWrite(plan, outputs)


def _outside(
    value: syntax.SqlExpression, outside: SqlScope, statement: syntax.InsertStatement
) -> Compiled:
    try:
        return compile_expression(value, outside)
    except InvalidRequest as error:
        if error.rule is StatementRule.NO_COLUMN_ANYWHERE:
            raise fault_at(
                StatementRule.ALIAS_PLACE, value.place, name=statement.table.alias
            ) from error
        raise


def _columns(statement: syntax.InsertStatement, form: TableForm) -> Sequence[tuple[str, TextPlace]]:
    """The column of each value; "" is the rest of a document."""
    values = len(statement.values)
    if statement.columns:
        if values > len(statement.columns):
            place = statement.values[len(statement.columns)].place
            raise fault_at(StatementRule.TOO_MANY_VALUES, place)
        if values < len(statement.columns):
            raise fault_at(StatementRule.VALUES_COUNT, TextPlace())
        for name, place in statement.columns:
            if form.table.field(name) is None and not form.table.collection:
                raise fault_at(
                    StatementRule.NO_COLUMN, place, table=statement.table.name, name=name
                )
        return statement.columns
    names = [field.name for field in form.table.fields]
    if values != len(names):
        raise fault_at(StatementRule.VALUES_COUNT, TextPlace())
    return [(name, TextPlace()) for name in names]


def _check_default(declared: Field | None, name: str, place: TextPlace, form: TableForm) -> None:
    keys = {key.lower() for key in form.table.primary_key}
    if declared is not None and name.lower() in keys and not declared.generated:
        raise fault_at(StatementRule.KEY_DEFAULT, place, name=declared.name)


def _check_keys(form: TableForm, columns: Sequence[tuple[str, TextPlace]]) -> None:
    given = {name.lower() for name, _ in columns}
    for name in form.table.primary_key:
        declared = form.table.field(name)
        assert declared is not None
        if name.lower() not in given and not declared.generated:
            raise fault_at(StatementRule.KEY_WITHOUT_VALUE, TextPlace(), name=name)


# --- UPDATE --------------------------------------------------------------------------------------


def bind_update(statement: syntax.UpdateStatement, find: Find, scope: SqlScope) -> BoundWrite:
    """The plan of an UPDATE. Raises `InvalidRequest`, `NotFound`."""
    form = table_found(find, statement.table.name)
    table = add_table(scope, statement.table, form)
    clauses = tuple(_clause(each, table, scope) for each in statement.clauses)
    lifetime = _lifetime(statement.ttl, form, scope)
    where = boolean_expression(statement.where, scope)
    conditions = Conditions(table, scope, frozenset())
    wanted = WantedRows(candidates=conditions.candidates(statement.where))
    path = _by_key(form, wanted)
    listed = any(each.operator == "in" for column in path.conditions for each in column)
    if listed or not path.one_shard:
        raise InvalidRequest(StatementRule.SHARD_KEY_INCOMPLETE)
    outputs = _returning(statement.returning, scope)
    if outputs is not None and not _whole_key(path):
        raise InvalidRequest(StatementRule.RETURNING_KEY)
    path = replace(path, nothing=conditions.nothing)
    plan = UpdatePlan(table.slot, path, where, clauses, lifetime, _row(outputs))
    return BoundWrite(plan, outputs, (path,))


def _by_key(form: TableForm, wanted: WantedRows) -> AccessPath:
    """The way by the primary key, which UPDATE takes in any case."""
    from widerow.wire.nosql.sql.choose import Hints  # noqa: PLC0415  # needed here only

    path, _ = choose_path(form, replace(wanted, hints=Hints(forced="")))
    return path


def _whole_key(path: AccessPath) -> bool:
    whole = len(path.conditions) == path.form.key.length
    return whole and all(any(each.operator == "=" for each in column) for column in path.conditions)


def _clause(clause: Any, table: ScopeTable, scope: SqlScope) -> Clause:  # noqa: ANN401  # one of five
    find = target_of(clause.target, table, scope)
    if isinstance(clause, syntax.RemoveClause):
        return _remove(clause, find)
    slot, before = scope.new_slot(), scope.variables.get("$")
    scope.variables["$"] = slot
    value = compile_expression(clause.value, scope)
    position = None
    if isinstance(clause, syntax.AddClause) and clause.position is not None:
        position = compile_expression(clause.position, scope)
    if before is None:
        del scope.variables["$"]
    else:
        scope.variables["$"] = before
    place = _beginning(clause.target)

    def cast(items: Sequence[Any], kind: FieldType) -> Any:  # noqa: ANN401  # any stored value
        return copied(stored_item(items, kind, place))

    apply = _APPLY[type(clause)](clause, value, position, cast)

    def run(frame: SqlFrame, row: StoredRow) -> bool:
        changed = False
        for target in find(frame, row):
            frame.items[slot] = (place_item(target),)
            changed = apply(frame, target) or changed
        return changed

    return run


_Apply = Callable[[SqlFrame, UpdatePlace], bool]


def _set(clause: syntax.SetClause, value: Compiled, _: Any, cast: Any) -> _Apply:  # noqa: ANN401  # as `_clause` hands in
    place = _beginning(clause.target)

    def apply(frame: SqlFrame, target: UpdatePlace) -> bool:
        items = value.evaluate(frame)
        null = len(items) == 1 and (items[0] is None or isinstance(items[0], JsonNull))
        if null and not target.nullable:
            raise fault_at(StatementRule.UPDATE_NULL, place, clause="SET", name=target.name)
        return set_place(target, items, cast)

    return apply


def _add(clause: syntax.AddClause, value: Compiled, position: Any, cast: Any) -> _Apply:  # noqa: ANN401  # as `_clause` hands in
    place = _beginning(clause.target)

    def apply(frame: SqlFrame, target: UpdatePlace) -> bool:
        at = None
        if position is not None:
            items = position.evaluate(frame)
            if len(items) != 1 or not is_number(items[0]):
                raise fault_at(StatementRule.ADD_POSITION, place)
            at = int(items[0])
        return add_elements(target, value.evaluate(frame), at, cast)

    return apply


def _put(_: syntax.PutClause, value: Compiled, __: Any, cast: Any) -> _Apply:  # noqa: ANN401  # as `_clause` hands in
    return lambda frame, target: put_fields(target, value.evaluate(frame), cast)


def _beginning(path: syntax.SqlExpression) -> TextPlace:
    """Where a path begins."""
    while isinstance(path, syntax.FieldNode | syntax.FilterNode | syntax.Slice | syntax.ValuesNode):
        path = path.source
    return path.place


def _merge(clause: syntax.MergeClause, value: Compiled, _: Any, cast: Any) -> _Apply:  # noqa: ANN401  # as `_clause` hands in
    place = _beginning(clause.target)

    def apply(frame: SqlFrame, target: UpdatePlace) -> bool:
        items = value.evaluate(frame)
        if not items:
            return False
        if target.type.kind is not Kind.JSON:
            if target.type.kind in (Kind.RECORD, Kind.MAP, Kind.ARRAY):
                raise fault_at(StatementRule.MERGE_TARGET, place)
            raise fault_at(
                StatementRule.CAST,
                place,
                value=text_of(items[0])[:500],
                given=item_type_name(items[0]),
                type=sql_type_text(sql_type(target.type)),
                text="",
            )
        before = target.value
        patch = document(items[0])
        merged = merge_patch(None if isinstance(before, JsonNull) else before, patch)
        target.put(cast([None], target.type) if merged is None else merged)
        return True

    return apply


_APPLY: Final[dict[type, Callable[[Any, Compiled, Any, Any], _Apply]]] = {
    syntax.SetClause: _set,
    syntax.AddClause: _add,
    syntax.PutClause: _put,
    syntax.MergeClause: _merge,
}


def _remove(clause: syntax.RemoveClause, find: Any) -> Clause:  # noqa: ANN401  # a `targets.PlacesOf`
    from widerow.wire.nosql.sql.places import PlaceKind  # noqa: PLC0415  # needed here only

    place = _beginning(clause.target)

    def run(frame: SqlFrame, row: StoredRow) -> bool:
        places = find(frame, row)
        if any(each.kind in (PlaceKind.COLUMN, PlaceKind.FIELD) for each in places):
            raise fault_at(StatementRule.REMOVE_FIELD, place)
        return remove_places(places)

    return run


# --- DELETE --------------------------------------------------------------------------------------


def bind_delete(statement: syntax.DeleteStatement, find: Find, scope: SqlScope) -> BoundWrite:
    """The plan of a DELETE. Raises `InvalidRequest`, `NotFound`."""
    form = table_found(find, statement.table.name)
    table = add_table(scope, statement.table, form)
    where = None if statement.where is None else boolean_expression(statement.where, scope)
    conditions = Conditions(table, scope, frozenset())
    wanted = WantedRows(candidates=conditions.candidates(statement.where))
    path, _ = choose_path(form, wanted)
    path = replace(path, nothing=conditions.nothing)
    outputs = _returning(statement.returning, scope)
    plan = DeletePlan(TableLoop(table.slot, path), where, _row(outputs))
    advanced = outputs is None and not _whole_key(path)
    return BoundWrite(plan, outputs, (path,), advanced)
