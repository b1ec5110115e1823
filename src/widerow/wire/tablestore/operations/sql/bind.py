"""From the expressions of a statement to those of `widerow/query`: names, kinds, functions."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

from sqlglot import exp

from widerow.errors import InvalidRequest, Unsupported
from widerow.limits import INT64_MAX, SQL_DEPTH_MAX
from widerow.model.tablestore.rules import TablestoreRule
from widerow.query.expression import (
    And,
    Branch,
    Choice,
    Constant,
    Expression,
    FunctionCall,
    IsNull,
    Not,
    Or,
)
from widerow.wire.tablestore.operations.sql.functions.dates import DATE_FUNCTIONS, moved_by
from widerow.wire.tablestore.operations.sql.functions.json import JSON_FUNCTIONS
from widerow.wire.tablestore.operations.sql.functions.numbers import NUMBER_FUNCTIONS, arithmetic
from widerow.wire.tablestore.operations.sql.functions.series import SERIES_FUNCTIONS
from widerow.wire.tablestore.operations.sql.functions.signature import Functions
from widerow.wire.tablestore.operations.sql.functions.texts import (
    TEXT_FUNCTIONS,
    like_pattern,
    matches_like,
)
from widerow.wire.tablestore.operations.sql.kinds import (
    NUMBER_KINDS,
    SqlKind,
    TypedExpression,
    as_bytes,
    as_datetime,
    as_number,
    as_rounded,
    as_text,
    as_time,
    as_truth,
    as_whole,
    literal,
)
from widerow.wire.tablestore.operations.sql.moments import DAY_US
from widerow.wire.tablestore.operations.sql.scope import NameScope
from widerow.wire.tablestore.operations.sql.search_conditions import SEARCH_FUNCTIONS

__all__ = ["SCORE_COLUMN", "WITHOUT_PARENTHESES", "Binder", "comparable", "unsupported"]

SCORE_COLUMN: Final = "score()"
"""The hidden column of scores, where a search index reads the rows; no column has this name."""

_FUNCTIONS: Final[Functions] = {
    **TEXT_FUNCTIONS,
    **NUMBER_FUNCTIONS,
    **DATE_FUNCTIONS,
    **JSON_FUNCTIONS,
    **SERIES_FUNCTIONS,
}
_MOMENTS: Final = frozenset((SqlKind.DATETIME, SqlKind.DATE))


def unsupported(what: str) -> Unsupported:
    """The error for a part of a statement that is not offered."""
    return Unsupported(TablestoreRule.SQL_UNSUPPORTED, detail=what)


_Special = tuple[int, int | None, Callable[[Any, Sequence[exp.Expr]], TypedExpression]]
"""How many arguments a function takes at least and at most, and what binds them."""

_SIGNS: Final = {
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "DIV",
    exp.Mod: "%",
    exp.BitwiseAnd: "&",
    exp.BitwiseOr: "|",
    exp.BitwiseXor: "^",
    exp.BitwiseLeftShift: "<<",
    exp.BitwiseRightShift: ">>",
}
_COMPARISONS: Final = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}


class Binder:
    """Binds expressions to the columns of a scope.

    `known`: what an expression stands for already, such as an aggregate whose value is a column;
    None where it is to be bound. `values_of`: the values of a query of one column, for IN and for
    queries that stand for a value. `now_us`: when the statement began. `draw`: a number from 0 to
    below 1 by chance.
    """

    def __init__(
        self,
        scope: NameScope,
        now_us: int,
        values_of: Callable[[exp.Expr], tuple[list[Any], SqlKind]],
        draw: Callable[[], float],
        known: Callable[[exp.Expr], TypedExpression | None] = lambda _: None,
    ) -> None:
        self._scope = scope
        self._now_us = now_us
        self._values_of = values_of
        self._draw = draw
        self._known = known
        self._clause = "field list"
        self._depth = 0

    def bind(self, node: exp.Expr, clause: str = "field list") -> TypedExpression:
        """The expression, and its kind. Raises `InvalidRequest` and `Unsupported`."""
        self._clause = clause
        return self._bind(node)

    def condition(self, node: exp.Expr, clause: str) -> Expression:
        """The expression as a condition. As `bind`."""
        return as_truth(self.bind(node, clause))

    def _bind(self, node: exp.Expr) -> TypedExpression:
        found = self._known(node)
        if found is not None:
            return found
        bind = self._BINDERS.get(type(node))
        if bind is None:
            raise unsupported(f"{type(node).__name__.upper()} in expressions")
        self._depth += 1
        if self._depth > SQL_DEPTH_MAX:
            raise InvalidRequest(TablestoreRule.SQL_DEPTH)
        try:
            return bind(self, node)
        finally:
            self._depth -= 1

    def _each(self, nodes: Sequence[exp.Expr]) -> list[TypedExpression]:
        return [self._bind(node) for node in nodes]

    # --- values --------------------------------------------------------------------------------

    def _column(self, node: exp.Column) -> TypedExpression:
        name, table = node.name, node.table
        if not table and name.upper() in WITHOUT_PARENTHESES and not node.this.quoted:
            return self._moment(WITHOUT_PARENTHESES[name.upper()])
        return self._scope.find(name, table, self._clause)

    def _literal(self, node: exp.Literal) -> TypedExpression:
        if node.is_string:
            return literal(node.name, SqlKind.TEXT)
        text = node.name
        if text.isascii() and text.isdigit() and int(text) <= INT64_MAX:
            return literal(int(text), SqlKind.LONG)
        number = float(text)
        if number == float("inf"):
            raise InvalidRequest(TablestoreRule.SQL_OVERFLOW)
        return literal(number, SqlKind.DOUBLE)

    def _null(self, _node: exp.Null) -> TypedExpression:
        return literal(None, SqlKind.NULL)

    def _boolean(self, node: exp.Boolean) -> TypedExpression:
        return TypedExpression(Constant(bool(node.this)), SqlKind.LONG, is_condition=True)

    def _hex(self, node: exp.HexString) -> TypedExpression:
        text = node.name
        try:
            return literal(bytes.fromhex(text.zfill(len(text) + len(text) % 2)), SqlKind.BYTES)
        except ValueError as error:
            raise InvalidRequest(TablestoreRule.SQL_SYNTAX, near=text[:80]) from error

    def _paren(self, node: exp.Paren) -> TypedExpression:
        return self._bind(node.this)

    def _negative(self, node: exp.Neg) -> TypedExpression:
        inner = node.this
        if isinstance(inner, exp.Literal) and not inner.is_string and inner.name == str(2**63):
            return literal(-(2**63), SqlKind.LONG)
        number = as_number(self._bind(inner))
        if number.constant and number.value is not None:
            return literal(-number.value, number.kind)
        return arithmetic("-", literal(0, SqlKind.LONG), number)

    def _moment(self, kind: SqlKind) -> TypedExpression:
        """The time of the statement: as a moment, a date or a time of day."""
        now = self._now_us // 1_000_000 * 1_000_000
        day = now // DAY_US * DAY_US
        return literal(
            {SqlKind.DATETIME: now, SqlKind.DATE: day, SqlKind.TIME: now - day}[kind], kind
        )

    def _scalar(self, node: exp.Subquery) -> TypedExpression:
        values, kind = self._values_of(node.this)
        if len(values) > 1:
            raise InvalidRequest(TablestoreRule.SQL_SUBQUERY_ROWS)
        return literal(values[0] if values else None, kind)

    # --- operators -----------------------------------------------------------------------------

    def _arithmetic(self, node: exp.Binary) -> TypedExpression:
        left, right = node.this, node.expression
        sign = _SIGNS[type(node)]
        if isinstance(right, exp.Interval) and sign in "+-":
            return self._interval(self._bind(left), right, -1 if sign == "-" else 1)
        if isinstance(left, exp.Interval) and sign == "+":
            return self._interval(self._bind(right), left, 1)
        return arithmetic(sign, self._bind(left), self._bind(right))

    def _interval(self, typed: TypedExpression, node: exp.Interval, sign: int) -> TypedExpression:
        if node.this is None or node.args.get("unit") is None:
            raise unsupported("INTERVAL without a unit")
        count = as_number(self._bind(node.this))  # sqlglot makes a text of a number here
        return moved_by(typed, count, node.args["unit"].name.upper(), sign)

    def _inverted(self, node: exp.BitwiseNot) -> TypedExpression:
        whole = as_rounded(self._bind(node.this)).expression
        return TypedExpression(FunctionCall("~", operator.invert, (whole,)), SqlKind.LONG)

    def _comparison(self, node: exp.Binary) -> TypedExpression:
        return _compared(
            _COMPARISONS[type(node)], self._bind(node.this), self._bind(node.expression)
        )

    def _null_safe(self, node: exp.NullSafeEQ) -> TypedExpression:
        left, right, _ = comparable(self._bind(node.this), self._bind(node.expression))
        call = FunctionCall("<=>", operator.eq, (left.expression, right.expression), strict=False)
        return _condition(call)

    def _between(self, node: exp.Between) -> TypedExpression:
        value, low, high = self._each([node.this, node.args["low"], node.args["high"]])
        above = _compared(">=", value, low).expression
        return _condition(And((above, _compared("<=", value, high).expression)))

    def _in(self, node: exp.In) -> TypedExpression:
        value = self._bind(node.this)
        query = node.args.get("query")
        if query is not None:
            values, kind = self._values_of(query.this)
            options = [literal(each, kind) for each in values]
        else:
            options = self._each(node.expressions)
        if not options:
            return _condition(Constant(value=False))
        return _one_of(value, options)

    def _like(self, node: exp.Like) -> TypedExpression:
        text, pattern = as_text(self._bind(node.this)), as_text(self._bind(node.expression))
        found = _patterned(text, pattern, like_pattern, matches_like)
        return _condition(Not(found) if node.args.get("negate") else found)

    def _regexp(self, node: exp.RegexpLike) -> TypedExpression:
        text, pattern = as_text(self._bind(node.this)), as_text(self._bind(node.expression))
        if not pattern.constant:
            raise unsupported("REGEXP with a pattern that is not a literal")
        return _condition(_patterned(text, pattern, _safe_pattern, _never))

    def _is(self, node: exp.Is) -> TypedExpression:
        value = self._bind(node.this)
        if isinstance(node.expression, exp.Null):
            return _condition(IsNull(value.expression))
        if isinstance(node.expression, exp.Boolean):
            truth, wanted = as_truth(value), bool(node.expression.this)
            call = FunctionCall("IS", lambda given: given is wanted, (truth,), strict=False)
            return _condition(call)
        raise unsupported("IS with anything but NULL, TRUE and FALSE")

    def _not(self, node: exp.Not) -> TypedExpression:
        return _condition(Not(as_truth(self._bind(node.this))))

    def _and(self, node: exp.And) -> TypedExpression:
        return _condition(And(tuple([as_truth(self._bind(each)) for each in node.flatten()])))

    def _or(self, node: exp.Or) -> TypedExpression:
        return _condition(Or(tuple([as_truth(self._bind(each)) for each in node.flatten()])))

    def _xor(self, node: exp.Xor) -> TypedExpression:
        sides = as_truth(self._bind(node.this)), as_truth(self._bind(node.expression))
        return _condition(FunctionCall("XOR", operator.ne, sides))

    # --- choices -------------------------------------------------------------------------------

    def _case(self, node: exp.Case) -> TypedExpression:
        subject = None if node.this is None else self._bind(node.this)
        branches = []
        for each in node.args["ifs"]:
            tested = self._bind(each.this)
            held = (
                as_truth(tested) if subject is None else _compared("=", subject, tested).expression
            )
            branches.append((held, self._bind(each.args["true"])))
        default = node.args.get("default")
        otherwise = literal(None, SqlKind.NULL) if default is None else self._bind(default)
        return _chosen(branches, otherwise)

    def _cast(self, node: exp.Cast) -> TypedExpression:
        convert = _CASTS.get(node.to.this.name)
        if convert is None:
            raise unsupported(f"CAST AS {node.to.this.name}")
        return convert(self._bind(node.this))

    # --- functions -----------------------------------------------------------------------------

    def _substring(self, node: exp.Substring) -> TypedExpression:
        given = [node.this, node.args.get("start"), node.args.get("length")]
        return self._called("SUBSTRING", [each for each in given if each is not None])

    def _trim(self, node: exp.Trim) -> TypedExpression:
        text, removed = as_text(self._bind(node.this)), node.expression
        where = str(node.args.get("position") or "BOTH").upper()
        cut = literal(" ", SqlKind.TEXT) if removed is None else as_text(self._bind(removed))
        call = FunctionCall("TRIM", _TRIMS[where], (text.expression, cut.expression))
        return TypedExpression(call, SqlKind.TEXT)

    def _function(self, node: exp.Anonymous) -> TypedExpression:
        return self._called(node.name.upper(), node.expressions)

    def _called(self, name: str, nodes: Sequence[exp.Expr]) -> TypedExpression:
        if name in _OF_NOW and not nodes:
            return self._moment(_OF_NOW[name])
        if name == "SCORE" and not nodes and self._scope.has(SCORE_COLUMN):
            return self._scope.find(SCORE_COLUMN, self._scope.columns[0].table, self._clause)
        if name in SEARCH_FUNCTIONS:
            raise Unsupported(
                TablestoreRule.SQL_SEARCH_FUNCTION,
                function=name.lower(),
                field=SEARCH_FUNCTIONS[name],
            )
        special = self._SPECIAL.get(name)
        if special is not None:
            least, most, make = special
            _check_count(name, len(nodes), least, most)
            return make(self, nodes)
        function = _FUNCTIONS.get(name)
        if function is None:
            raise unsupported(f"function {name[:60]}")
        _check_count(name, len(nodes), function.least, function.most)
        return _named(name, function.make(self._each(nodes)))

    def _later(self, nodes: Sequence[exp.Expr]) -> TypedExpression:
        return self._moved(nodes, 1)

    def _earlier(self, nodes: Sequence[exp.Expr]) -> TypedExpression:
        return self._moved(nodes, -1)

    def _modulo(self, nodes: Sequence[exp.Expr]) -> TypedExpression:
        return arithmetic("%", *self._each(nodes))

    def _moved(self, nodes: Sequence[exp.Expr], sign: int) -> TypedExpression:
        interval = nodes[1]
        if not isinstance(interval, exp.Interval):
            raise unsupported("DATE_ADD and DATE_SUB without INTERVAL")
        return self._interval(self._bind(nodes[0]), interval, sign)

    def _if(self, nodes: Sequence[exp.Expr]) -> TypedExpression:
        condition, value, otherwise = self._each(nodes)
        return _chosen([(as_truth(condition), value)], otherwise)

    def _coalesce(self, nodes: Sequence[exp.Expr]) -> TypedExpression:
        *given, last = self._each(nodes)
        return _chosen([(Not(IsNull(each.expression)), each) for each in given], last)

    def _null_if(self, nodes: Sequence[exp.Expr]) -> TypedExpression:
        value, other = self._each(nodes)
        equal = _compared("=", value, other).expression
        return _chosen([(equal, literal(None, SqlKind.NULL))], value)

    def _unit_of(self, nodes: Sequence[exp.Expr]) -> TypedExpression:
        """TIMESTAMPDIFF: its first argument is a unit and no column."""
        unit = literal(nodes[0].name.upper(), SqlKind.TEXT)
        return DATE_FUNCTIONS["TIMESTAMPDIFF"].make([unit, *self._each(nodes[1:])])

    def _unix_now(self, nodes: Sequence[exp.Expr]) -> TypedExpression:
        if not nodes:
            return literal(self._now_us // 1_000_000, SqlKind.LONG)
        return DATE_FUNCTIONS["UNIX_TIMESTAMP"].make(self._each(nodes))

    def _random(self, _nodes: Sequence[exp.Expr]) -> TypedExpression:
        """RAND: a number from 0 to below 1 for each row."""
        return TypedExpression(FunctionCall("RAND", self._draw, ()), SqlKind.DOUBLE)

    # --- tables --------------------------------------------------------------------------------

    _SPECIAL: ClassVar[Mapping[str, _Special]] = {
        "IF": (3, 3, _if),
        "IFNULL": (2, 2, _coalesce),
        "COALESCE": (1, None, _coalesce),
        "NULLIF": (2, 2, _null_if),
        "DATE_ADD": (2, 2, _later),
        "DATE_SUB": (2, 2, _earlier),
        "TIMESTAMPDIFF": (3, 3, _unit_of),
        "UNIX_TIMESTAMP": (0, 1, _unix_now),
        "RAND": (0, 0, _random),
        "MOD": (2, 2, _modulo),
    }
    _BINDERS: ClassVar[Mapping[type, Callable[[Any, Any], TypedExpression]]] = {
        exp.Column: _column,
        exp.Literal: _literal,
        exp.Null: _null,
        exp.Boolean: _boolean,
        exp.HexString: _hex,
        exp.Paren: _paren,
        exp.Neg: _negative,
        exp.Subquery: _scalar,
        exp.BitwiseNot: _inverted,
        exp.NullSafeEQ: _null_safe,
        exp.Between: _between,
        exp.In: _in,
        exp.Like: _like,
        exp.RegexpLike: _regexp,
        exp.Is: _is,
        exp.Not: _not,
        exp.And: _and,
        exp.Or: _or,
        exp.Xor: _xor,
        exp.Case: _case,
        exp.Cast: _cast,
        exp.Substring: _substring,
        exp.Trim: _trim,
        exp.Anonymous: _function,
        **dict.fromkeys(_SIGNS, _arithmetic),
        **dict.fromkeys(_COMPARISONS, _comparison),
    }


def _check_count(name: str, count: int, least: int, most: int | None) -> None:
    if count < least or (most is not None and count > most):
        raise InvalidRequest(TablestoreRule.SQL_ARGUMENTS, function=name)


def _named(name: str, typed: TypedExpression) -> TypedExpression:
    expression = typed.expression
    if isinstance(expression, FunctionCall) and not expression.name:
        call = FunctionCall(name, expression.function, expression.arguments, expression.strict)
        return TypedExpression(call, typed.kind, typed.is_condition)
    return typed


def _condition(expression: Expression) -> TypedExpression:
    return TypedExpression(expression, SqlKind.LONG, is_condition=True)


# --- comparisons -----------------------------------------------------------------------------

_OPERATORS: Final[dict[str, Callable[[Any, Any], bool]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def comparable(
    left: TypedExpression, right: TypedExpression
) -> tuple[TypedExpression, TypedExpression, bool]:
    """Both in a kind in which they compare; whether neither had to become another kind for it.

    Texts with texts, bytes with texts as bytes, moments with texts as moments, and everything else
    as numbers.
    """
    one, other = left.kind, right.kind
    if (
        one is other
        or SqlKind.NULL in (one, other)
        or (one in NUMBER_KINDS and other in NUMBER_KINDS)
    ):
        return left, right, True
    kinds = {one, other}
    if kinds == {SqlKind.TEXT, SqlKind.BYTES}:
        return as_bytes(left), as_bytes(right), False
    if kinds <= _MOMENTS:
        return left, right, True
    if kinds & _MOMENTS and kinds & {SqlKind.TEXT, SqlKind.BYTES, SqlKind.TIME}:
        return as_datetime(left), as_datetime(right), False
    if SqlKind.TIME in kinds and kinds & {SqlKind.TEXT, SqlKind.BYTES}:
        return as_time(left), as_time(right), False
    return as_number(left), as_number(right), False


def _compared(sign: str, left: TypedExpression, right: TypedExpression) -> TypedExpression:
    one, other, _ = comparable(left, right)
    return _condition(FunctionCall(sign, _OPERATORS[sign], (one.expression, other.expression)))


def _one_of(value: TypedExpression, options: Sequence[TypedExpression]) -> TypedExpression:
    """IN: a set where all options are literals of the value's kind, else one after the other."""
    plain = all(each.constant and comparable(value, each)[2] for each in options)
    if not plain:
        return _condition(Or(tuple([_compared("=", value, each).expression for each in options])))
    given = [each.value for each in options]
    allowed = frozenset([each for each in given if each is not None])
    unknown = None in given

    def found(tested: Any) -> bool | None:  # noqa: ANN401  # of the value's kind
        return True if tested in allowed else (None if unknown else False)

    return _condition(FunctionCall("IN", found, (value.expression,)))


def _patterned(
    text: TypedExpression,
    pattern: TypedExpression,
    compile_: Callable[[str], Any],
    match: Callable[[str, str], bool],
) -> Expression:
    if not pattern.constant:
        return FunctionCall("LIKE", match, (text.expression, pattern.expression))
    given = pattern.value
    if given is None:
        return Constant(None)
    tests = compile_(given).fullmatch if compile_ is like_pattern else compile_(given).search
    return FunctionCall("LIKE", lambda each: tests(each) is not None, (text.expression,))


def _never(_text: str, _pattern: str) -> bool:
    raise AssertionError("patterns of REGEXP are literals")


def _safe_pattern(pattern: str) -> Any:  # noqa: ANN401  # re2 has no types
    """RE2's pattern: a search takes time linear in the text, whatever the pattern."""
    import re2  # noqa: PLC0415  # few statements have one

    try:
        return re2.compile(pattern)
    except re2.error as error:
        raise InvalidRequest(TablestoreRule.SQL_PATTERN, pattern=pattern[:80]) from error


# --- choices ---------------------------------------------------------------------------------


def _chosen(
    branches: Sequence[tuple[Expression, TypedExpression]], otherwise: TypedExpression
) -> TypedExpression:
    """A choice whose values have one kind: numbers, or texts where the kinds differ."""
    values = [value for _, value in branches] + [otherwise]
    kinds = {each.kind for each in values} - {SqlKind.NULL}
    conditions = all(each.is_condition or each.kind is SqlKind.NULL for each in values)
    if len(kinds) > 1:
        convert = as_number if kinds <= NUMBER_KINDS else as_text
        values = [convert(each) for each in values]
        kinds = {each.kind for each in values if each.kind is not SqlKind.NULL}
        if len(kinds) > 1:
            values = [_as_double(each) for each in values]
            kinds = {SqlKind.DOUBLE}
    kind = kinds.pop() if kinds else SqlKind.NULL
    made = [
        Branch(held, each.expression) for (held, _), each in zip(branches, values, strict=False)
    ]
    return TypedExpression(
        Choice(tuple(made), values[-1].expression), kind, conditions and kind is SqlKind.LONG
    )


def _as_double(typed: TypedExpression) -> TypedExpression:
    return TypedExpression(FunctionCall("double", float, (typed.expression,)), SqlKind.DOUBLE)


def _binary(typed: TypedExpression) -> TypedExpression:
    return as_bytes(typed)


def _double(typed: TypedExpression) -> TypedExpression:
    return _as_double(as_number(typed))


def _date(typed: TypedExpression) -> TypedExpression:
    return DATE_FUNCTIONS["DATE"].make([typed])


_CASTS: Final[dict[str, Callable[[TypedExpression], TypedExpression]]] = {
    **dict.fromkeys(("BIGINT", "INT", "UBIGINT", "UINT"), as_whole),
    **dict.fromkeys(("CHAR", "VARCHAR", "TEXT", "NCHAR"), as_text),
    **dict.fromkeys(("BINARY", "VARBINARY"), _binary),
    **dict.fromkeys(("DOUBLE", "FLOAT", "DECIMAL"), _double),
    "DATE": _date,
    "DATETIME": as_datetime,
    "TIMESTAMP": as_datetime,
    "TIME": as_time,
}


def _cut(text: str, part: str, *, left: bool, right: bool) -> str:
    while part and left and text.startswith(part):
        text = text[len(part) :]
    while part and right and text.endswith(part):
        text = text[: -len(part)]
    return text


_TRIMS: Final[dict[str, Callable[[str, str], str]]] = {
    "BOTH": lambda text, part: _cut(text, part, left=True, right=True),
    "LEADING": lambda text, part: _cut(text, part, left=True, right=False),
    "TRAILING": lambda text, part: _cut(text, part, left=False, right=True),
}
WITHOUT_PARENTHESES: Final = {
    "CURRENT_TIMESTAMP": SqlKind.DATETIME,
    "CURRENT_DATE": SqlKind.DATE,
    "CURRENT_TIME": SqlKind.TIME,
}
_OF_NOW: Final = {
    "NOW": SqlKind.DATETIME,
    "SYSDATE": SqlKind.DATETIME,
    "CURDATE": SqlKind.DATE,
    "CURTIME": SqlKind.TIME,
    **WITHOUT_PARENTHESES,
}
