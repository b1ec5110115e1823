"""Expressions compiled to functions of a frame (ddl §3).

Each gives a sequence of items: none is EMPTY, None is SQL NULL, and only paths, constructors of
sequences and functions give more than one.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeVar

from widerow.errors import InvalidRequest
from widerow.limits import NOSQL_ITEMS_MAX
from widerow.model.typed.types import FieldType
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.arithmetic import OperandPlace, calculated, checked_operand, negated
from widerow.wire.nosql.sql.casts import cast_item, is_of_type, sql_type, sql_type_text
from widerow.wire.nosql.sql.compare import any_is, is_
from widerow.wire.nosql.sql.functions import FUNCTIONS
from widerow.wire.nosql.sql.functions.kinds import CALL, FunctionFault
from widerow.wire.nosql.sql.lexis import TextPlace
from widerow.wire.nosql.sql.names import column_of, table_of_row, variable_of
from widerow.wire.nosql.sql.row_functions import ROW_FUNCTIONS
from widerow.wire.nosql.sql.scope import Compiled, SqlFrame, SqlScope
from widerow.wire.nosql.sql.statement_rules import StatementRule
from widerow.wire.nosql.sql.steps import elements, field_items, filtered, map_members, sliced
from widerow.wire.nosql.sql.texts import item_type_name, text_of

__all__ = [
    "AGGREGATE_NAMES",
    "boolean_expression",
    "compile_expression",
    "member_condition",
    "promoted",
]

Items = Sequence[Any]
T = TypeVar("T", bound=syntax.SqlExpression)
AGGREGATE_NAMES: Final = frozenset(("count", "sum", "avg", "min", "max", "array_collect"))
_EMPTY: Final[Items] = ()
_NULL: Final[Items] = (None,)
_TRUE: Final[Items] = (True,)
_FALSE: Final[Items] = (False,)
BOOLEAN: Final = syntax.TypeNode("BOOLEAN")
STRING: Final = syntax.TypeNode("STRING")


def compile_expression(expression: syntax.SqlExpression, scope: SqlScope) -> Compiled:
    """The function of an expression. Raises `InvalidRequest` for names and types."""
    for known, slot in scope.replaced:
        if known == expression:
            return _replaced(slot, scope)
    return _COMPILE[type(expression)](expression, scope)


def _replaced(slot: int, scope: SqlScope) -> Compiled:
    return Compiled(lambda frame: frame.items[slot], scope.kinds.get(slot))


def _at(place: TextPlace) -> dict[str, int]:
    return {"line": place.line, "column": place.column}


def _fault(rule: StatementRule, place: TextPlace, **details: Any) -> InvalidRequest:  # noqa: ANN401  # of rules
    return InvalidRequest(rule, **_at(place), **details)


def _boolean(value: bool | None) -> Items:  # noqa: FBT001  # the value
    return _TRUE if value else _NULL if value is None else _FALSE


# --- conditions ----------------------------------------------------------------------------------


def promoted(items: Items, place: TextPlace) -> bool | None:
    """What AND, WHERE and CASE take: EMPTY is false. Raises `InvalidRequest` for no boolean."""
    if not items:
        return False
    item = items[0]
    if len(items) == 1 and (item is None or isinstance(item, bool)):
        return item
    raise _fault(StatementRule.PROMOTE, place, value=text_of(item)[:500], type=item_type_name(item))


def boolean_expression(expression: syntax.SqlExpression, scope: SqlScope) -> Compiled:
    """An expression that has to be a BOOLEAN. Raises `InvalidRequest` for one that never is."""
    made = compile_expression(expression, scope)
    kind, place, evaluate = made.kind, expression.place, made.evaluate
    if isinstance(expression, syntax.LiteralNode):
        promoted((expression.value,), place)
    if kind is not None and kind.name not in _MAY_BE_BOOLEAN and not made.many:
        raise _fault(StatementRule.PROMOTE_TYPE, place, type=sql_type_text(kind))
    return Compiled(lambda frame: _boolean(promoted(evaluate(frame), place)), BOOLEAN)


_MAY_BE_BOOLEAN: Final = frozenset(("BOOLEAN", "JSON", "ANY", "ANYATOMIC", "ANYJSONATOMIC"))


def _and(expression: syntax.AndNode, scope: SqlScope) -> Compiled:
    operands = [boolean_expression(each, scope).evaluate for each in expression.operands]

    def evaluate(frame: SqlFrame) -> Items:
        unknown = False
        for operand in operands:
            found = operand(frame)[0]
            if found is False:
                return _FALSE
            unknown = unknown or found is None
        return _NULL if unknown else _TRUE

    return Compiled(evaluate, BOOLEAN)


def _or(expression: syntax.OrNode, scope: SqlScope) -> Compiled:
    operands = [boolean_expression(each, scope).evaluate for each in expression.operands]

    def evaluate(frame: SqlFrame) -> Items:
        unknown = False
        for operand in operands:
            found = operand(frame)[0]
            if found:
                return _TRUE
            unknown = unknown or found is None
        return _NULL if unknown else _FALSE

    return Compiled(evaluate, BOOLEAN)


def _not(expression: syntax.NotNode, scope: SqlScope) -> Compiled:
    operand = boolean_expression(expression.operand, scope).evaluate

    def evaluate(frame: SqlFrame) -> Items:
        found = operand(frame)[0]
        return _NULL if found is None else _FALSE if found else _TRUE

    return Compiled(evaluate, BOOLEAN)


def _is_null(expression: syntax.IsNullNode, scope: SqlScope) -> Compiled:
    operand, negated_, place = (
        compile_expression(expression.operand, scope).evaluate,
        expression.negated,
        expression.operand.place,
    )

    def evaluate(frame: SqlFrame) -> Items:
        items = operand(frame)
        if len(items) > 1:
            raise _fault(StatementRule.SEVERAL_ITEMS, place)
        return _boolean((len(items) == 1 and items[0] is None) != negated_)

    return Compiled(evaluate, BOOLEAN, nullable=False)


def _is_type(expression: syntax.IsType, scope: SqlScope) -> Compiled:
    operand = compile_expression(expression.operand, scope).evaluate
    types, negated_ = expression.types, expression.negated

    def evaluate(frame: SqlFrame) -> Items:
        items = operand(frame)
        found = [is_of_type(items, kind) for kind in types]
        if None in found:
            return _NULL
        return _boolean(any(found) != negated_)

    return Compiled(evaluate, BOOLEAN)


def _exists(expression: syntax.Exists, scope: SqlScope) -> Compiled:
    """A path over members of what is NULL has none of them."""
    source = compile_expression(expression.operand, scope)
    operand, many = source.evaluate, source.many

    def evaluate(frame: SqlFrame) -> Items:
        items = operand(frame)
        return _boolean(bool(items) and not (many and items[0] is None and len(items) == 1))

    return Compiled(evaluate, BOOLEAN, nullable=False)


def _comparison(expression: syntax.ComparisonNode, scope: SqlScope) -> Compiled:
    left = compile_expression(expression.left, scope).evaluate
    right = compile_expression(expression.right, scope).evaluate
    operator, place = expression.operator, expression.place
    if expression.any:
        return Compiled(
            lambda frame: _boolean(any_is(operator, left(frame), right(frame))), BOOLEAN
        )

    def evaluate(frame: SqlFrame) -> Items:
        one, other = left(frame), right(frame)
        for side, items in (("left", one), ("right", other)):
            if len(items) > 1:
                raise _fault(StatementRule.OPERAND_SEVERAL, place, side=side, operator=operator)
        return _boolean(is_(operator, one, other))

    return Compiled(evaluate, BOOLEAN)


def _between(expression: syntax.BetweenNode, scope: SqlScope) -> Compiled:
    place, operand = expression.place, expression.operand
    bounds = tuple(
        syntax.ComparisonNode(place=place, operator=sign, any=False, left=operand, right=bound)
        for sign, bound in ((">=", expression.low), ("<=", expression.high))
    )
    return _and(syntax.AndNode(place, bounds), scope)


def _in(expression: syntax.In, scope: SqlScope) -> Compiled:
    operands = [compile_expression(each, scope).evaluate for each in expression.operands]
    places = [each.place for each in expression.operands]
    if expression.sequence is not None:
        return _in_sequence(expression, operands, scope)
    rows = [[compile_expression(each, scope).evaluate for each in row] for row in expression.rows]

    def evaluate(frame: SqlFrame) -> Items:
        left = [operand(frame) for operand in operands]
        known = _without_looking(left, places)
        if known is not None:
            return known
        unknown = False
        for row in rows:
            found = [_equal(items, each(frame)) for items, each in zip(left, row, strict=True)]
            if all(found):
                return _TRUE
            unknown = unknown or (None in found and False not in found)
        return _NULL if unknown else _FALSE

    return Compiled(evaluate, BOOLEAN)


def _without_looking(left: Sequence[Items], places: Sequence[TextPlace]) -> Items | None:
    """What IN gives for its left side alone: EMPTY is in no list, SQL NULL makes it NULL."""
    for items, place in zip(left, places, strict=True):
        if len(items) > 1:
            raise _fault(StatementRule.IN_SEVERAL, place)
    if not all(left):
        return _FALSE
    return _NULL if any(items[0] is None for items in left) else None


def _equal(left: Items, right: Items) -> bool | None:
    return any_is("=", left, right) if right else False


def _in_sequence(
    expression: syntax.In, operands: list[Callable[[SqlFrame], Items]], scope: SqlScope
) -> Compiled:
    assert expression.sequence is not None
    sequence = compile_expression(expression.sequence, scope).evaluate
    places, place = [each.place for each in expression.operands], expression.sequence.place

    def evaluate(frame: SqlFrame) -> Items:
        left = [operand(frame) for operand in operands]
        known = _without_looking(left, places)
        if known is not None:
            return known
        for item in sequence(frame):
            if isinstance(item, list) and not isinstance(left[0][0], list):
                raise _fault(
                    StatementRule.IN_TYPES,
                    place,
                    left=item_type_name(left[0][0]).upper(),
                    value=text_of(left[0][0])[:500],
                    array=text_of(item)[:500],
                )
            if is_("=", left[0], (item,)):
                return _TRUE
        return _FALSE

    return Compiled(evaluate, BOOLEAN)


# --- values --------------------------------------------------------------------------------------


def _literal(expression: syntax.LiteralNode, scope: SqlScope) -> Compiled:
    del scope
    items: Items = (expression.value,)
    return Compiled(lambda _: items, _literal_type(expression.value), nullable=False)


def _literal_type(value: Any) -> syntax.TypeNode:  # noqa: ANN401  # of a literal
    name = item_type_name(value).upper()
    return syntax.TypeNode("JSON" if name == "ANYJSONATOMIC" else name)


def _unary(expression: syntax.Unary, scope: SqlScope) -> Compiled:
    operand = compile_expression(expression.operand, scope)
    evaluate, place = operand.evaluate, expression.place
    if expression.operator == "+":
        return operand
    return Compiled(lambda frame: (negated(evaluate(frame), place),), operand.kind)


def _binary(expression: syntax.Binary, scope: SqlScope) -> Compiled:
    place = expression.place
    first = compile_expression(expression.first, scope)
    rest = [(sign, compile_expression(each, scope)) for sign, each in expression.rest]
    places = [expression.first.place, *[each.place for _, each in expression.rest]]
    operands = [
        OperandPlace(at, where, each.kind)
        for at, (where, each) in enumerate(
            zip(places, [first, *[each for _, each in rest]], strict=True)
        )
    ]
    steps = [
        (sign, each.evaluate, operand)
        for (sign, each), operand in zip(rest, operands[1:], strict=True)
    ]
    begin, leading = first.evaluate, operands[0]
    kind = _arithmetic_kind([first, *[each for _, each in rest]], [sign for sign, _ in rest])

    def evaluate(frame: SqlFrame) -> Items:
        items: Items = checked_operand(begin(frame), leading)
        for sign, each, operand in steps:
            right = checked_operand(each(frame), operand)
            items = calculated(sign, items, right, frame.context, place)
        return items

    return Compiled(evaluate, kind)


_RANKS: Final = ("INTEGER", "LONG", "FLOAT", "DOUBLE", "NUMBER")


def _arithmetic_kind(operands: Sequence[Compiled], signs: Sequence[str]) -> syntax.TypeNode | None:
    names = [None if each.kind is None else each.kind.name for each in operands]
    if not all(name in _RANKS for name in names):
        return None
    highest = max(_RANKS.index(str(name)) for name in names)
    if "div" in signs:
        highest = max(highest, 3)
    return syntax.TypeNode(_RANKS[highest])


def _concat(expression: syntax.Concat, scope: SqlScope) -> Compiled:
    operands = [compile_expression(each, scope).evaluate for each in expression.operands]

    def evaluate(frame: SqlFrame) -> Items:
        found = [item for operand in operands for item in operand(frame) if item is not None]
        return ("".join(map(text_of, found)),) if found else _NULL

    return Compiled(evaluate, STRING)


def _case(expression: syntax.Case, scope: SqlScope) -> Compiled:
    whens = [
        (boolean_expression(when, scope).evaluate, compile_expression(then, scope))
        for when, then in expression.whens
    ]
    otherwise = (
        None if expression.otherwise is None else compile_expression(expression.otherwise, scope)
    )
    branches = [then for _, then in whens] + ([] if otherwise is None else [otherwise])
    kinds = {each.kind for each in branches}
    steps = [(when, then.evaluate) for when, then in whens]
    last = None if otherwise is None else otherwise.evaluate

    def evaluate(frame: SqlFrame) -> Items:
        for when, then in steps:
            if when(frame)[0]:
                found: Items = then(frame)
                return found
        return _EMPTY if last is None else last(frame)

    atomic = all(kind is not None and kind.name in _JSON_ATOMIC for kind in kinds)
    mixed = syntax.TypeNode("ANYJSONATOMIC") if atomic else None
    return Compiled(
        evaluate,
        kinds.pop() if len(kinds) == 1 else mixed,
        many=any(each.many for each in branches),
        nullable=otherwise is None or any(each.nullable for each in branches),
    )


_JSON_ATOMIC: Final = frozenset(
    ("INTEGER", "LONG", "FLOAT", "DOUBLE", "NUMBER", "STRING", "BOOLEAN", "ANYJSONATOMIC")
)


def _cast(expression: syntax.CastNode, scope: SqlScope) -> Compiled:
    compiled, kind = compile_expression(expression.source, scope), expression.type
    source, declared, place = compiled.evaluate, compiled.kind, expression.place

    def evaluate(frame: SqlFrame) -> Items:
        items = source(frame)
        if not items and kind.quantifier in ("", "+"):
            number = "exactly one" if not kind.quantifier else "at least one"
            raise InvalidRequest(StatementRule.CAST_EMPTY, number=number, type=sql_type_text(kind))
        if len(items) > 1 and kind.quantifier in ("", "?"):
            raise InvalidRequest(StatementRule.CAST_SEVERAL, type=sql_type_text(kind))
        return [cast_item(item, kind, place, declared) for item in items]

    many = kind.quantifier in ("*", "+")
    return Compiled(evaluate, None if kind.name.startswith("ANY") else kind, many=many)


def _array_of(expression: syntax.ArrayOf, scope: SqlScope) -> Compiled:
    operands = [compile_expression(each, scope) for each in expression.items]
    steps = [each.evaluate for each in operands]

    def evaluate(frame: SqlFrame) -> Items:
        return ([item for step in steps for item in step(frame) if item is not None],)

    return Compiled(evaluate, syntax.TypeNode("ARRAY", element=_common(operands)), nullable=False)


def _common(operands: Sequence[Compiled]) -> syntax.TypeNode:
    kinds = {each.kind for each in operands}
    kind = kinds.pop() if len(kinds) == 1 else None
    return syntax.TypeNode("JSON") if kind is None else kind


def _map_of(expression: syntax.MapOf, scope: SqlScope) -> Compiled:
    members_ = [
        (compile_expression(name, scope).evaluate, compile_expression(value, scope))
        for name, value in expression.members
    ]
    steps = [(name, value.evaluate) for name, value in members_]
    place = expression.place

    def evaluate(frame: SqlFrame) -> Items:
        made: dict[str, Any] = {}
        for name, value in steps:
            names = name(frame)
            if not names or names[0] is None:
                continue
            if len(names) != 1 or not isinstance(names[0], str):
                raise _fault(StatementRule.NAME_STEP, place)
            found = value(frame)
            items = [item for item in found if item is not None]
            if items:
                made[str(names[0])] = items[0] if len(items) == 1 else items
        return (made,)

    kind = syntax.TypeNode("MAP", element=_common([value for _, value in members_]))
    return Compiled(evaluate, kind, nullable=False)


# --- names and paths -----------------------------------------------------------------------------


def _column(expression: syntax.ColumnNode, scope: SqlScope) -> Compiled:
    return column_of(expression, scope)


def _variable(expression: syntax.VariableNode, scope: SqlScope) -> Compiled:
    return variable_of(expression, scope)


def _element_of(source: Compiled) -> syntax.TypeNode | None:
    kind = source.kind
    if kind is None or kind.name in ("ARRAY", "MAP"):
        return None if kind is None else kind.element
    return kind


def _field(expression: syntax.FieldNode, scope: SqlScope) -> Compiled:
    if isinstance(expression.source, syntax.VariableNode) and isinstance(expression.name, str):
        row = table_of_row(expression.source, scope)
        if row is not None:
            at = syntax.ColumnNode(expression.place, row.alias, expression.name)
            return column_of(at, scope, of_row=True)
    if isinstance(expression.source, syntax.ColumnNode) and expression.source.alias is None:
        column_of(expression.source, scope)
    source = compile_expression(expression.source, scope)
    steps = source.evaluate
    if isinstance(expression.name, str):
        name = expression.name
        kind, many = _field_kind(source, name, expression)
        return Compiled(lambda frame: field_items(steps(frame), name), kind, many=many)
    chosen, place = compile_expression(expression.name, scope).evaluate, expression.place

    def evaluate(frame: SqlFrame) -> Items:
        names = chosen(frame)
        if not names or names[0] is None:
            return _EMPTY
        if len(names) > 1 or not isinstance(names[0], str):
            raise _fault(StatementRule.NAME_STEP, place)
        return field_items(steps(frame), names[0])

    return Compiled(evaluate, None, many=source.many)


def _field_kind(
    source: Compiled, name: str, expression: syntax.FieldNode
) -> tuple[syntax.TypeNode | None, bool]:
    kind, many = source.kind, source.many
    while kind is not None and kind.name == "ARRAY":
        kind, many = kind.element, True
    if kind is None or kind.name in ("JSON", "ANY"):
        return (kind if kind is not None and kind.name == "JSON" else None), many or kind is None
    if kind.name == "RECORD":
        found = [each for field, each in kind.fields if field.lower() == name.lower()]
        if not found:
            raise _fault(
                StatementRule.NO_FIELD, expression.place, name=name, type=sql_type_text(kind)
            )
        return found[0], many
    return (kind.element if kind.name == "MAP" else None), many


def _members(expression: syntax.Keys | syntax.ValuesNode, scope: SqlScope) -> Compiled:
    if isinstance(expression.source, syntax.ColumnNode) and expression.source.alias is None:
        raise _fault(StatementRule.COLUMN_STEP, expression.source.place)
    source = compile_expression(expression.source, scope)
    keys = isinstance(expression, syntax.Keys)
    kind = source.kind
    while kind is not None and kind.name == "ARRAY":
        kind = kind.element
    value = kind.element if kind is not None and kind.name == "MAP" else None
    kind = STRING if keys else value
    holds, steps = (
        member_condition(expression.condition, scope, ("$value", "$key")),
        source.evaluate,
    )
    if holds is None:
        return Compiled(lambda frame: map_members(steps(frame), None, keys=keys), kind, many=True)

    def evaluate(frame: SqlFrame) -> Items:
        assert holds is not None
        return map_members(steps(frame), lambda *member: holds(frame, *member), keys=keys)

    return Compiled(evaluate, kind, many=True)


_Holds = Callable[[SqlFrame, Any, Any, Any], Items]


def member_condition(
    expression: syntax.SqlExpression | None, scope: SqlScope, names: tuple[str, str]
) -> _Holds | None:
    """A condition on members, whose value and key or position are implicit variables."""
    if expression is None:
        return None
    slots = [scope.new_slot() for _ in names]
    before = {name: scope.variables.get(name) for name in (*names, "$")}
    context = scope.new_slot()
    scope.variables |= {**dict(zip(names, slots, strict=True)), "$": context}
    evaluate = compile_expression(expression, scope).evaluate
    for name, slot in before.items():
        if slot is None:
            scope.variables.pop(name, None)
        else:
            scope.variables[name] = slot
    value_slot, key_slot = slots

    def holds(frame: SqlFrame, value: Any, key: Any, source: Any) -> Items:  # noqa: ANN401  # any items
        frame.items[value_slot] = (value,)
        frame.items[key_slot] = (key,)
        frame.items[context] = (source,)
        found: Items = evaluate(frame)
        return found

    return holds


def _filter(expression: syntax.FilterNode, scope: SqlScope) -> Compiled:
    source = compile_expression(expression.source, scope)
    steps, place = source.evaluate, expression.place
    kind = _element_of(source)
    if expression.condition is None:

        def unnested(frame: SqlFrame) -> Items:
            found: list[Any] = []
            for item in steps(frame):
                found += [None] if item is None else elements(item)
            return found

        return Compiled(unnested, kind, many=True)
    holds = member_condition(expression.condition, scope, ("$element", "$pos"))
    assert holds is not None
    position = isinstance(expression.condition, syntax.LiteralNode) and isinstance(
        expression.condition.value, int
    )
    if position and not isinstance(expression.condition.value, bool):  # type: ignore[attr-defined]  # a literal
        at = int(expression.condition.value)  # type: ignore[attr-defined]  # a literal
        return Compiled(lambda frame: _element_at(steps(frame), at), kind, many=source.many)
    _check_filter(expression.condition, scope)

    def evaluate(frame: SqlFrame) -> Items:
        return filtered(steps(frame), lambda *member: holds(frame, *member), place)

    single = isinstance(expression.condition, syntax.VariableNode | syntax.Binary)
    return Compiled(evaluate, kind, many=source.many or not single)


def _check_filter(expression: syntax.SqlExpression, scope: SqlScope) -> None:
    if isinstance(expression, syntax.LiteralNode) and not isinstance(expression.value, bool | int):
        raise _fault(
            StatementRule.STEP_CONSTANT, expression.place, type=item_type_name(expression.value)
        )
    del scope


def _element_at(items: Items, at: int) -> Items:
    found: list[Any] = []
    for item in items:
        if item is None:
            found.append(None)
            continue
        array = elements(item)
        if 0 <= at < len(array):
            found.append(array[at])
    return found


def _boundary(
    expression: syntax.SqlExpression | None, scope: SqlScope
) -> Callable[[SqlFrame], Items] | None:
    """The function of a position in a slice. Raises `InvalidRequest` for a constant of no use."""
    if expression is None:
        return None
    made = compile_expression(expression, scope)
    if isinstance(expression, syntax.LiteralNode):
        value, kind = expression.value, made.kind
        if kind is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise _fault(StatementRule.STEP_BOUNDARY, expression.place, type=sql_type_text(kind))
    found: Callable[[SqlFrame], Items] = made.evaluate
    return found


def _slice(expression: syntax.Slice, scope: SqlScope) -> Compiled:
    source = compile_expression(expression.source, scope)
    steps, place = source.evaluate, expression.place
    low, high = _boundary(expression.low, scope), _boundary(expression.high, scope)

    def evaluate(frame: SqlFrame) -> Items:
        first = None if low is None else low(frame)
        last = None if high is None else high(frame)
        return sliced(steps(frame), first, last, place)

    return Compiled(evaluate, _element_of(source), many=True)


# --- functions -----------------------------------------------------------------------------------


def _call(expression: syntax.CallNode, scope: SqlScope) -> Compiled:
    name = expression.name
    if name in AGGREGATE_NAMES:
        return _aggregate(expression, scope)
    if name == "seq_transform" and len(expression.arguments) == 2:
        return _transform(expression, scope)
    row_function = ROW_FUNCTIONS.get(name)
    if row_function is not None and expression.arguments:
        first = expression.arguments[0]
        table = table_of_row(first, scope) if isinstance(first, syntax.VariableNode) else None
        if table is None:
            compile_expression(first, scope)
            raise _fault(StatementRule.ROW_ARGUMENT, expression.place, name=name)
        rest = [compile_expression(each, scope).evaluate for each in expression.arguments[1:]]
        slot, place = table.slot, expression.place
        scope.whole.add(slot)
        return Compiled(
            lambda frame: row_function.call(
                frame, frame.rows[slot], [r(frame) for r in rest], place
            ),
            row_function.kind,
        )
    return _plain_call(expression, scope)


def _plain_call(expression: syntax.CallNode, scope: SqlScope) -> Compiled:
    name, place = expression.name, expression.place
    function = FUNCTIONS.get(name)
    arguments = [compile_expression(each, scope) for each in expression.arguments]
    if function is None:
        raise InvalidRequest(StatementRule.NO_FUNCTION, name=name)
    if not function.least <= len(arguments) <= function.most:
        raise _fault(StatementRule.NO_ARITY, place, name=name, count=len(arguments))
    steps, call = [each.evaluate for each in arguments], function.call

    def evaluate(frame: SqlFrame) -> Items:
        try:
            return call([step(frame) for step in steps], frame)
        except FunctionFault as refused:
            raise _refused(refused, expression) from refused

    kind = None
    if function.result is not None:
        kind = sql_type(FieldType(function.result, precision=function.precision))
    return Compiled(evaluate, kind, many=function.result is None)


def _refused(refused: FunctionFault, call: syntax.CallNode) -> InvalidRequest:
    """The error of a function, with the place that its message names."""
    if refused.argument is None:
        return InvalidRequest(StatementRule.FUNCTION, text=str(refused))
    place = call.place if refused.argument == CALL else call.arguments[refused.argument].place
    return _fault(StatementRule.FUNCTION, place, text=str(refused))


def _aggregate(expression: syntax.CallNode, scope: SqlScope) -> Compiled:
    wants = 0 if expression.star else 1
    if len(expression.arguments) != wants:
        raise _fault(
            StatementRule.NO_ARITY,
            expression.place,
            name=expression.name,
            count=len(expression.arguments),
        )
    rule = StatementRule.AGGREGATE_NESTED if scope.aggregates else StatementRule.AGGREGATE_PLACE
    raise _fault(rule, expression.place)


def _transform(expression: syntax.CallNode, scope: SqlScope) -> Compiled:
    source = compile_expression(expression.arguments[0], scope).evaluate
    holds = member_condition(expression.arguments[1], scope, ("$", "$sq1_pos"))
    assert holds is not None

    def evaluate(frame: SqlFrame) -> Items:
        items: list[Any] = []
        for item in source(frame):
            items += holds(frame, item, 0, item)
            if len(items) > NOSQL_ITEMS_MAX:
                raise _fault(StatementRule.ITEMS, expression.place, limit=NOSQL_ITEMS_MAX)
        return items

    return Compiled(evaluate, None, many=True)


_COMPILE: Final[Mapping[type, Callable[[Any, SqlScope], Compiled]]] = {
    syntax.LiteralNode: _literal,
    syntax.ColumnNode: _column,
    syntax.VariableNode: _variable,
    syntax.FieldNode: _field,
    syntax.Keys: _members,
    syntax.ValuesNode: _members,
    syntax.FilterNode: _filter,
    syntax.Slice: _slice,
    syntax.ArrayOf: _array_of,
    syntax.MapOf: _map_of,
    syntax.CallNode: _call,
    syntax.Case: _case,
    syntax.CastNode: _cast,
    syntax.Unary: _unary,
    syntax.Binary: _binary,
    syntax.Concat: _concat,
    syntax.ComparisonNode: _comparison,
    syntax.AndNode: _and,
    syntax.OrNode: _or,
    syntax.NotNode: _not,
    syntax.IsNullNode: _is_null,
    syntax.IsType: _is_type,
    syntax.Exists: _exists,
    syntax.BetweenNode: _between,
    syntax.In: _in,
}
