"""A SELECT statement bound to its tables and planned (ddl §3)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from widerow.engine.typed.form import TableForm
from widerow.errors import InvalidRequest, NotFound
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.access_path import AccessPath
from widerow.wire.nosql.sql.choose import Hints, WantedOrder, WantedRows, choose_path
from widerow.wire.nosql.sql.conditions import Conditions, children, conjuncts, path_text
from widerow.wire.nosql.sql.covered import covered_by_key
from widerow.wire.nosql.sql.expressions import (
    AGGREGATE_NAMES,
    boolean_expression,
    compile_expression,
)
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.loops import Ancestor, Descendant, ItemLoop, Loop, TableLoop
from widerow.wire.nosql.sql.order_keys import SortWay
from widerow.wire.nosql.sql.outputs import Outputs, compiled_outputs, star
from widerow.wire.nosql.sql.scope import ScopeTable, SqlScope
from widerow.wire.nosql.sql.select_run import SelectPlan, Sorting, SqlAggregateCall, SqlGrouping
from widerow.wire.nosql.sql.statement_rules import StatementRule

__all__ = ["BoundSelect", "Find", "add_table", "bind_select", "fault_at", "hinted", "table_found"]

Find = Callable[[str], TableForm | None]
_NOWHERE: Final = TextPlace()


@dataclass(frozen=True)
class BoundSelect:
    """A SELECT, ready to run. `paths`: of its tables, for the plan's text."""

    plan: SelectPlan
    outputs: Outputs
    limit: Any
    offset: Any
    paths: tuple[AccessPath, ...]
    advanced: bool
    limit_place: TextPlace = _NOWHERE
    offset_place: TextPlace = _NOWHERE


def fault_at(rule: StatementRule, place: TextPlace, **details: Any) -> InvalidRequest:  # noqa: ANN401  # of rules
    """The error of a rule at a place."""
    return InvalidRequest(rule, line=place.line, column=place.column, **details)


def table_found(find: Find, name: str) -> TableForm:
    """The table of a name. Raises `NotFound`, `InvalidRequest` for a namespace."""
    form = find(name)
    if form is None:
        if ":" in name:
            raise InvalidRequest(StatementRule.NAMESPACES)
        raise NotFound(StatementRule.TABLE_NOT_FOUND, table=name[:300])
    return form


def add_table(scope: SqlScope, table: syntax.FromTable, form: TableForm) -> ScopeTable:
    """Let a table's alias and columns mean something."""
    made = ScopeTable(table.alias, table.name, form, len(scope.tables))
    scope.tables.append(made)
    return made


def bind_select(statement: syntax.SelectStatement, find: Find, scope: SqlScope) -> BoundSelect:
    """The plan of a SELECT. Raises `InvalidRequest`, `NotFound`."""
    _add_tables(statement, find, scope)
    items = _item_loops(statement, scope)
    _refuse_aggregates(statement.where)
    where = None if statement.where is None else boolean_expression(statement.where, scope)
    calls = _aggregate_calls(statement)
    grouped = bool(calls or statement.groups)
    if grouped and statement.outputs is None:
        raise InvalidRequest(StatementRule.GROUP_STAR)
    loops, paths, ordered = _loops(statement, scope, calls)
    grouping = _grouping(statement, scope, calls) if grouped else None
    advanced = grouped or statement.distinct or _is_advanced(statement, paths, ordered=ordered)
    if statement.outputs is None:
        outputs = star(scope, by_name=advanced)
    else:
        outputs = _outputs(statement, scope, grouping)
    sorting = _sorting(statement, scope)
    streams = grouping is None and not statement.distinct and (ordered or not sorting)
    plan = SelectPlan(
        loops=(*loops, *items),
        where=where,
        row=outputs.row,
        outputs=outputs.expressions,
        grouping=grouping,
        distinct=statement.distinct,
        sorting=() if streams else sorting,
        streams=streams,
        covered=covered_by_key(statement.where, scope.tables[0], paths[0], scope)
        if len(scope.tables) == 1
        else None,
    )
    return BoundSelect(
        plan=plan,
        outputs=outputs,
        limit=_constant(statement.limit, scope, "Limit"),
        offset=_constant(statement.offset, scope, "Offset"),
        paths=paths,
        advanced=advanced,
        limit_place=statement.limit.place if statement.limit else _NOWHERE,
        offset_place=statement.offset.place if statement.offset else _NOWHERE,
    )


def _constant(expression: syntax.SqlExpression | None, scope: SqlScope, clause: str) -> Any:  # noqa: ANN401  # compiled
    if expression is None:
        return None
    outside = SqlScope(externals=scope.externals)
    try:
        return compile_expression(expression, outside)
    except InvalidRequest as error:
        if error.rule is StatementRule.NO_COLUMN_ANYWHERE:
            raise InvalidRequest(StatementRule.NOT_CONSTANT, clause=clause) from error
        raise


def _is_advanced(
    statement: syntax.SelectStatement, paths: Sequence[AccessPath], *, ordered: bool
) -> bool:
    """Whether the vendor's driver runs a part of it (nosql-wire §6): not one shard's order."""
    if not statement.order and statement.limit is None and statement.offset is None:
        return paths[0].multikey and paths[0].may_repeat
    return not (ordered and paths[0].one_shard) if statement.order else not paths[0].one_shard


# --- FROM ----------------------------------------------------------------------------------------


def _add_tables(statement: syntax.SelectStatement, find: Find, scope: SqlScope) -> None:
    target: ScopeTable | None = None
    for table in statement.tables:
        nested = table.join in ("ancestor", "descendant")
        form = find(table.name) if nested else table_found(find, table.name)
        if form is None:
            raise fault_at(StatementRule.NESTED_MISSING, table.place, table=table.name)
        if target is not None:
            _check_related(table, form, target)
        made = add_table(scope, table, form)
        target = target or made


def _check_related(table: syntax.FromTable, form: TableForm, target: ScopeTable) -> None:
    own, other = target.form.table, form.table
    below, above = own.id in other.path[:-1], other.id in own.path[:-1]
    rules = {
        "ancestor": (above, StatementRule.NOT_ANCESTOR),
        "descendant": (below, StatementRule.NOT_DESCENDANT),
        "left": (above or below, StatementRule.UNRELATED),
    }
    fine, rule = rules.get(table.join, (True, StatementRule.UNRELATED))
    if not fine:
        raise fault_at(rule, table.place, table=table.name, target=target.name)


def _item_loops(statement: syntax.SelectStatement, scope: SqlScope) -> tuple[ItemLoop, ...]:
    loops: list[ItemLoop] = []
    for item in statement.items:
        expression = compile_expression(item.expression, scope)
        slot = scope.new_slot()
        scope.variables[item.variable] = slot
        scope.kinds[slot] = expression.kind
        loops.append(ItemLoop(slot, expression))
    return tuple(loops)


def hinted(statement: syntax.SelectStatement, scope: SqlScope) -> Hints:
    """The hints for the first table. Raises `InvalidRequest` for one of another table."""
    forced: str | None = None
    preferred: tuple[str, ...] = ()
    first = scope.tables[0]
    for place, word, name, indexes in statement.hints:
        if name.lower() != first.name.lower():
            raise fault_at(StatementRule.HINT_TABLE, place, table=first.name)
        names = tuple(index.lower() for index in indexes)
        if word == "FORCE_INDEX":
            forced = names[0]
        elif word == "FORCE_PRIMARY_INDEX":
            forced = ""
        else:
            preferred = names if word == "PREFER_INDEXES" else ("",)
    return Hints(forced, preferred)


def _loops(
    statement: syntax.SelectStatement, scope: SqlScope, calls: Sequence[syntax.CallNode]
) -> tuple[tuple[Loop, ...], tuple[AccessPath, ...], bool]:
    first = scope.tables[0]
    conditions = Conditions(first, scope, frozenset())
    candidates = conditions.candidates(statement.where)
    wanted = WantedRows(
        candidates=candidates,
        order=tuple(_wanted_order(statement, first)) if not statement.items else (),
        groups=_wanted_groups(statement, first),
        extreme=_extreme(statement, first, calls),
        hints=hinted(statement, scope),
    )
    path, ordered = choose_path(first.form, wanted)
    path = replace(path, nothing=conditions.nothing)
    if statement.nested:
        loop = _nested(statement, scope, path)
        alone = len(statement.tables) == 1
        return (loop,), (path,), ordered and (alone or _by_target(statement, first))
    loops: list[Loop] = [TableLoop(0, path)]
    paths = [path]
    for table, bound in zip(statement.tables[1:], scope.tables[1:], strict=True):
        loops.append(_joined(statement, table, bound, scope))
        paths.append(loops[-1].path)  # type: ignore[union-attr]  # a table's
    return tuple(loops), tuple(paths), ordered and len(loops) == 1


def _by_target(statement: syntax.SelectStatement, first: ScopeTable) -> bool:
    """Whether ORDER BY names columns of the target only."""
    return all(path_text(each.expression, first) is not None for each in statement.order)


def _joined(
    statement: syntax.SelectStatement,
    table: syntax.FromTable,
    bound: ScopeTable,
    scope: SqlScope,
) -> TableLoop:
    available = frozenset(range(bound.slot))
    on = table.on if table.join == "left" else statement.where
    found = Conditions(bound, scope, available).candidates(on)
    path, _ = choose_path(bound.form, WantedRows(candidates=found))
    if table.join == "left":
        _check_keys(table, bound, scope, path)
        return TableLoop(bound.slot, path, on=boolean_expression(table.on, scope), outer=True)  # type: ignore[arg-type]  # it has one
    return TableLoop(bound.slot, path)


def _check_keys(
    table: syntax.FromTable, bound: ScopeTable, scope: SqlScope, path: AccessPath
) -> None:
    """A join of ON compares the key columns that the tables have in common."""
    first = scope.tables[0]
    common = min(first.form.key.length, bound.form.key.length)
    if path.index is None and len(path.conditions) >= common:
        return
    name = bound.form.table.primary_key[0]
    text = f"{first.alias}.{name} = {bound.alias}.{name}"
    raise InvalidRequest(StatementRule.JOIN_PREDICATE, table=table.name, text=text)


def _nested(statement: syntax.SelectStatement, scope: SqlScope, path: AccessPath) -> TableLoop:
    bound = list(zip(statement.tables, scope.tables, strict=True))
    ancestors = [
        Ancestor(made.slot, made.form, None if t.on is None else boolean_expression(t.on, scope))
        for t, made in bound
        if t.join == "ancestor"
    ]
    below = [(t, made) for t, made in bound if t.join == "descendant"]
    below.sort(key=lambda each: len(each[1].form.table.path))

    def under(table_id: int, taken: frozenset[int]) -> tuple[Descendant, ...]:
        found: list[Descendant] = []
        for t, made in below:
            ids = made.form.table.path[:-1]
            nearest = [each for each in ids if each in taken]
            if nearest and nearest[-1] == table_id:
                on = None if t.on is None else boolean_expression(t.on, scope)
                inner = under(made.form.id, taken)
                found.append(Descendant(made.slot, made.form, on, inner))
        return tuple(found)

    ids = frozenset({scope.tables[0].form.id, *(made.form.id for _, made in below)})
    ancestors.sort(key=lambda each: each.form.key.length)
    return TableLoop(
        0,
        path,
        ancestors=tuple(ancestors),
        descendants=under(scope.tables[0].form.id, ids),
    )


# --- ORDER BY, GROUP BY, aggregates --------------------------------------------------------------


def _wanted_order(statement: syntax.SelectStatement, table: ScopeTable) -> Iterator[WantedOrder]:
    for each in statement.order:
        path = path_text(each.expression, table)
        text = None if path is None or _is_member(path[0]) else path[0]
        yield WantedOrder(text, each.descending, each.nulls_first)


def _is_member(text: str) -> bool:
    return "[]" in text or "()" in text


def _wanted_groups(statement: syntax.SelectStatement, table: ScopeTable) -> tuple[str | None, ...]:
    expressions: Sequence[syntax.SqlExpression] = statement.groups
    if statement.distinct and statement.outputs is not None and not expressions:
        expressions = [each.expression for each in statement.outputs]
    found = [path_text(each, table) for each in expressions]
    return tuple(None if path is None else path[0] for path in found)


def _extreme(
    statement: syntax.SelectStatement, table: ScopeTable, calls: Sequence[syntax.CallNode]
) -> str | None:
    """The path of the only aggregate, if that is min or max."""
    if len(calls) != 1 or statement.groups or calls[0].name not in ("min", "max"):
        return None
    path = path_text(calls[0].arguments[0], table) if calls[0].arguments else None
    return None if path is None else path[0]


def _aggregate_calls(statement: syntax.SelectStatement) -> list[syntax.CallNode]:
    found: list[syntax.CallNode] = []
    outputs = [each.expression for each in statement.outputs or ()]
    for expression in (*outputs, *(each.expression for each in statement.order)):
        _collect(expression, found, inside=False)
    return found


def _collect(node: Any, found: list[syntax.CallNode], *, inside: bool) -> None:  # noqa: ANN401  # any node
    if isinstance(node, syntax.CallNode) and node.name in AGGREGATE_NAMES:
        if inside:
            raise fault_at(StatementRule.AGGREGATE_NESTED, node.place)
        if node not in found:
            found.append(node)
        inside = True
    for child in children(node):
        _collect(child, found, inside=inside)


def _refuse_aggregates(where: syntax.SqlExpression | None) -> None:
    found: list[syntax.CallNode] = []
    for each in conjuncts(where):
        _collect(each, found, inside=False)
    if found:
        raise fault_at(StatementRule.AGGREGATE_PLACE, found[0].place)


_SUMMED: Final = frozenset(
    ("INTEGER", "LONG", "FLOAT", "DOUBLE", "NUMBER", "JSON", "ANY", "ANYJSONATOMIC", "ANYATOMIC")
)


def _grouping(
    statement: syntax.SelectStatement, scope: SqlScope, calls: Sequence[syntax.CallNode]
) -> SqlGrouping:
    expressions = [(each, compile_expression(each, scope)) for each in statement.groups]
    aggregates = [_aggregate(call, scope) for call in calls]
    for expression, compiled in expressions:
        slot = scope.new_slot()
        scope.replaced.append((expression, slot))
        scope.kinds[slot] = compiled.kind
    grouped = tuple(
        (slot, compiled)
        for (_, slot), (_, compiled) in zip(scope.replaced, expressions, strict=True)
    )
    for call, aggregate in zip(calls, aggregates, strict=True):
        scope.replaced.append((call, aggregate.slot))
    places = tuple(expression.place for expression in statement.groups)
    return SqlGrouping(grouped, tuple(aggregates), places)


def _aggregate(call: syntax.CallNode, scope: SqlScope) -> SqlAggregateCall:
    if len(call.arguments) != (0 if call.star else 1):
        raise fault_at(
            StatementRule.NO_ARITY, call.place, name=call.name, count=len(call.arguments)
        )
    argument = compile_expression(call.arguments[0], scope) if call.arguments else None
    kind = None if argument is None else argument.kind
    name = call.name
    summed = name in ("sum", "avg") and kind is not None and kind.name not in _SUMMED
    compared = (
        name in ("min", "max") and kind is not None and kind.name in ("ARRAY", "MAP", "RECORD")
    )
    if summed or (compared and argument is not None and not argument.many):
        from widerow.wire.nosql.sql.casts import sql_type_text  # noqa: PLC0415  # for the message

        assert kind is not None
        raise fault_at(
            StatementRule.AGGREGATE_INPUT, call.place, name=name, type=sql_type_text(kind)
        )
    slot = scope.new_slot()
    scope.kinds[slot] = _aggregate_kind(name, kind)
    symbols = kind.symbols if kind is not None else ()
    return SqlAggregateCall(slot, name, argument, call.distinct, symbols)


def _aggregate_kind(name: str, kind: syntax.TypeNode | None) -> syntax.TypeNode | None:
    if name == "count":
        return syntax.TypeNode("LONG")
    if name == "array_collect":
        return syntax.TypeNode("ARRAY", element=kind or syntax.TypeNode("JSON"))
    if kind is None or name in ("min", "max"):
        return kind
    if kind.name == "NUMBER":
        return kind
    whole = kind.name in ("INTEGER", "LONG")
    return syntax.TypeNode("LONG" if whole and name == "sum" else "DOUBLE")


_OPERATIONS: Final = {
    syntax.MapOf: "MAP_CONSTRUCTOR",
    syntax.ArrayOf: "ARRAY_CONSTRUCTOR",
    syntax.Case: "CASE",
}


def _outputs(
    statement: syntax.SelectStatement, scope: SqlScope, grouping: SqlGrouping | None
) -> Outputs:
    assert statement.outputs is not None
    if grouping is not None:
        place = statement.outputs[0].expression.place
        for output in statement.outputs:
            _check_grouped(output.expression, scope, output.expression.place, place)
        for each in statement.order:
            _check_grouped(each.expression, scope, each.expression.place, place)
    return compiled_outputs(statement.outputs, scope)


def _check_grouped(node: Any, scope: SqlScope, place: TextPlace, first: TextPlace) -> None:  # noqa: ANN401  # any node
    """What is neither grouped by nor an aggregate must not read a row."""
    if any(node == known for known, _ in scope.replaced):
        return
    names = {table.alias for table in scope.tables} | set(scope.variables)
    reads = isinstance(node, syntax.ColumnNode) or (
        isinstance(node, syntax.VariableNode) and node.name in names
    )
    if reads:
        raise fault_at(StatementRule.GROUPING, place)
    found: list[syntax.CallNode] = []
    _collect(node, found, inside=False)
    if found and not isinstance(node, syntax.Binary | syntax.Unary | syntax.CallNode):
        operation = _OPERATIONS.get(type(node), type(node).__name__.upper())
        raise fault_at(StatementRule.AGGREGATE_INSIDE, first, operation=operation)
    if found and isinstance(node, syntax.CallNode):
        raise fault_at(StatementRule.AGGREGATE_INSIDE, first, operation=f"FN_{node.name.upper()}")
    for child in children(node):
        _check_grouped(child, scope, place, first)


def _sorting(statement: syntax.SelectStatement, scope: SqlScope) -> tuple[Sorting, ...]:
    found: list[Sorting] = []
    for each in statement.order:
        compiled = compile_expression(each.expression, scope)
        symbols = compiled.kind.symbols if compiled.kind is not None else ()
        way = SortWay(descending=each.descending, nulls_first=each.nulls_first, symbols=symbols)
        found.append(Sorting(compiled, way))
    return tuple(found)
