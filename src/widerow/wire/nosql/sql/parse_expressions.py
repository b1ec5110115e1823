"""Expressions of SQL, read by recursive descent (ddl §2)."""

from decimal import Decimal
from typing import Any, Final

from widerow.errors import InvalidRequest
from widerow.limits import NOSQL_SQL_DEPTH_MAX
from widerow.model.typed.values import JSON_NULL
from widerow.wire.nosql.sql import syntax
from widerow.wire.nosql.sql.items import LongInt, number_literal
from widerow.wire.nosql.sql.lexis import TextPlace, Word, syntax_fault
from widerow.wire.nosql.sql.parse_types import parse_type
from widerow.wire.nosql.sql.statement_rules import StatementRule
from widerow.wire.nosql.sql.words import WordCursor

__all__ = ["parse_expression", "parse_path", "parse_sum"]

_ENDS: Final = frozenset(
    (
        "FROM",
        "WHERE",
        "GROUP",
        "ORDER",
        "LIMIT",
        "OFFSET",
        "RETURNING",
        "AS",
        "THEN",
        "END",
        "AND",
    )
)
_COMPARED: Final = frozenset(
    f"{sign}{any_}" for sign in ("=", "!=", "<", "<=", ">", ">=") for any_ in ("", "any")
)


def parse_expression(words: WordCursor) -> syntax.SqlExpression:
    """An expression: operands of OR."""
    words.deeper()
    place = words.place
    operands = [_and(words)]
    while words.takes("OR"):
        operands.append(_and(words))
    words.back()
    return operands[0] if len(operands) == 1 else syntax.OrNode(place, tuple(operands))


def _and(words: WordCursor) -> syntax.SqlExpression:
    place = words.place
    operands = [_not(words)]
    while words.takes("AND"):
        operands.append(_not(words))
    return operands[0] if len(operands) == 1 else syntax.AndNode(place, tuple(operands))


def _not(words: WordCursor) -> syntax.SqlExpression:
    place = words.place
    if words.next.is_word("NOT"):
        words.take()
        return syntax.NotNode(place, _null(words))
    return _null(words)


def _null(words: WordCursor) -> syntax.SqlExpression:
    place = words.place
    operand = _condition(words)
    if words.takes("IS", "NULL"):
        return syntax.IsNullNode(place, operand, negated=False)
    if words.takes("IS", "NOT", "NULL"):
        return syntax.IsNullNode(place, operand, negated=True)
    return operand


def _condition(words: WordCursor) -> syntax.SqlExpression:
    place = words.place
    if words.next.is_word("EXISTS") and not words.ahead(1).is_sign(",", ")", ".", "["):
        words.take()
        return syntax.Exists(place, _concat(words))
    rows = _tuple_in(words)
    if rows is not None:
        return rows
    left = _concat(words)
    word = words.next
    if word.kind == "sign" and word.text.lower() in _COMPARED:
        sign = words.take().text.lower()
        operator = sign.removesuffix("any")
        right = _concat(words)
        return syntax.ComparisonNode(place, operator, sign != operator, left, right)
    if words.takes("BETWEEN"):
        low = _concat(words)
        words.need("AND")
        return syntax.BetweenNode(place, left, low, _concat(words))
    if words.next.is_word("IN"):
        words.take()
        return _in(words, place, (left,))
    for negated, keywords in ((False, ("IS", "OF")), (True, ("IS", "NOT", "OF"))):
        if words.takes(*keywords):
            words.takes("TYPE")
            return syntax.IsType(place, left, _types(words), negated=negated)
    return left


def _types(words: WordCursor) -> tuple[syntax.TypeNode, ...]:
    words.need_sign("(")
    types = []
    while True:
        only = words.takes("ONLY")
        types.append(parse_type(words, only=only))
        if not words.takes_sign(","):
            words.need_sign(")")
            return tuple(types)


def _tuple_in(words: WordCursor) -> syntax.SqlExpression | None:
    """`(a, b) IN …`, if that is what comes."""
    place, start, parameters = words.place, words.at, words.parameters
    if not words.takes_sign("("):
        return None
    depth, at = 1, words.at
    while depth and words.ahead(at - words.at).kind != "end":  # is there a comma, and then IN?
        word = words.ahead(at - words.at)
        depth += word.is_sign("(", "[", "{") - word.is_sign(")", "]", "}")
        if depth == 1 and word.is_sign(","):
            break
        at += 1
    if depth != 1:
        words.at, words.parameters = start, parameters
        return None
    operands = _list(words, ")")
    words.need("IN")
    return _in(words, place, operands)


def _in(
    words: WordCursor, place: TextPlace, operands: tuple[syntax.SqlExpression, ...]
) -> syntax.SqlExpression:
    if not words.next.is_sign("("):
        return syntax.In(place, operands, (), _path(words))
    start, parameters = words.at, words.parameters
    words.take()
    if len(operands) > 1:
        rows = []
        while True:
            words.need_sign("(")
            rows.append(_list(words, ")"))
            if not words.takes_sign(","):
                words.need_sign(")")
                break
        if any(len(row) != len(operands) for row in rows):
            raise words.unexpected("as many expressions as before IN")
        return syntax.In(place, operands, tuple(rows))
    if words.next.is_sign(")"):
        raise words.unexpected("an expression")
    listed = _list(words, ")")
    if words.next.is_sign("[", ".") and len(listed) == 1:
        words.at, words.parameters = start, parameters
        return syntax.In(place, operands, (), _path(words))
    return syntax.In(place, operands, tuple((each,) for each in listed))


def _list(words: WordCursor, end: str) -> tuple[syntax.SqlExpression, ...]:
    """Expressions up to a closing sign; none if it comes at once."""
    found: list[syntax.SqlExpression] = []
    if words.takes_sign(end):
        return ()
    while True:
        found.append(parse_expression(words))
        if not words.takes_sign(","):
            words.need_sign(end)
            return tuple(found)


def _concat(words: WordCursor) -> syntax.SqlExpression:
    place = words.place
    operands = [parse_sum(words)]
    while words.takes_sign("||"):
        operands.append(parse_sum(words))
    return operands[0] if len(operands) == 1 else syntax.Concat(place, tuple(operands))


def parse_sum(words: WordCursor) -> syntax.SqlExpression:
    """A sum: what LIMIT and OFFSET take."""
    place, first = words.place, _product(words)
    rest: list[tuple[str, syntax.SqlExpression]] = []
    while sign := words.takes_sign("+", "-"):
        rest.append((sign, _product(words)))
    return syntax.Binary(place, first, tuple(rest)) if rest else first


def _product(words: WordCursor) -> syntax.SqlExpression:
    place, first = words.place, _unary(words)
    rest: list[tuple[str, syntax.SqlExpression]] = []
    while True:
        sign = words.takes_sign("*", "/") or ("div" if words.takes("DIV") else "")
        if not sign:
            return syntax.Binary(place, first, tuple(rest)) if rest else first
        rest.append((sign, _unary(words)))


def _unary(words: WordCursor) -> syntax.SqlExpression:
    place = words.place
    sign = words.takes_sign("-", "+")
    if not sign:
        return _path(words)
    words.deeper()
    operand = _unary(words)
    words.back()
    if sign == "-" and isinstance(operand, syntax.LiteralNode) and _is_number(operand.value):
        return syntax.LiteralNode(place, _negative(operand.value))
    return syntax.Unary(place, sign, operand)


def _is_number(value: Any) -> bool:  # noqa: ANN401  # of a literal
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _negative(value: Any) -> Any:  # noqa: ANN401  # a number
    if isinstance(value, Decimal):
        return LongInt(-(2**63)) if value == 2**63 else -value
    if isinstance(value, float):
        return -value
    return number_literal(str(-value))


# --- paths ---------------------------------------------------------------------------------------


def parse_path(words: WordCursor) -> syntax.SqlExpression:
    """A path, such as the target of a clause of UPDATE, which a list in brackets may follow."""
    return _path(words, stop=True)


def _path(words: WordCursor, *, stop: bool = False) -> syntax.SqlExpression:
    path = _primary(words)
    for _ in range(NOSQL_SQL_DEPTH_MAX):
        if words.next.is_sign("."):
            path = _map_step(words, path)
        elif words.next.is_sign("["):
            start, parameters = words.at, words.parameters
            try:
                path = _array_step(words, path)
            except InvalidRequest:
                if not stop:
                    raise
                words.at, words.parameters = start, parameters
                return path
        else:
            return path
    raise syntax_fault(words.place, f"a path has more than {NOSQL_SQL_DEPTH_MAX} steps")


def _map_step(words: WordCursor, source: syntax.SqlExpression) -> syntax.SqlExpression:
    place = words.place
    words.take()
    word = words.next
    if word.kind == "name" and words.ahead(1).is_sign("("):
        name = words.take().text
        words.take()
        if name.lower() in ("keys", "values"):
            made = syntax.Keys if name.lower() == "keys" else syntax.ValuesNode
            condition = None if words.next.is_sign(")") else parse_expression(words)
            words.need_sign(")")
            return made(word.place, source, condition)
        count = len(_list(words, ")"))
        raise InvalidRequest(
            StatementRule.NO_ARITY,
            name=name,
            count=count,
            line=word.place.line,
            column=word.place.column,
        )
    if word.kind in ("name", "text"):
        return syntax.FieldNode(word.place, source, words.take().text)
    if word.kind == "variable":
        words.take()
        return syntax.FieldNode(word.place, source, syntax.VariableNode(word.place, word.text))
    if words.takes_sign("("):
        computed = parse_expression(words)
        words.need_sign(")")
        return syntax.FieldNode(place, source, computed)
    raise words.unexpected("a name")


def _array_step(words: WordCursor, source: syntax.SqlExpression) -> syntax.SqlExpression:
    place = words.place
    words.take()
    if words.takes_sign("]"):
        return syntax.FilterNode(place, source, None)
    low = None if words.next.is_sign(":") else parse_expression(words)
    if words.takes_sign(":"):
        high = None if words.next.is_sign("]") else parse_expression(words)
        words.need_sign("]")
        return syntax.Slice(place, source, low, high)
    words.need_sign("]")
    return syntax.FilterNode(place, source, low)


# --- what a path begins with ---------------------------------------------------------------------


def _primary(words: WordCursor) -> syntax.SqlExpression:
    word = words.next
    if word.kind == "number":
        words.take()
        return syntax.LiteralNode(word.place, number_literal(word.text))
    if word.kind == "text":
        words.take()
        return syntax.LiteralNode(word.place, word.text)
    if word.kind == "variable":
        words.take()
        return syntax.VariableNode(word.place, word.text)
    if word.kind == "name":
        return _named(words, word)
    if words.takes_sign("?"):
        words.parameters += 1
        return syntax.VariableNode(word.place, f"$${words.parameters - 1}")
    if words.takes_sign("("):
        inside = parse_expression(words)
        words.need_sign(")")
        return inside
    if words.takes_sign("["):
        return syntax.ArrayOf(word.place, _list(words, "]"))
    if words.takes_sign("{"):
        return _map(words, word)
    raise words.unexpected("an expression")


def _map(words: WordCursor, word: Word) -> syntax.SqlExpression:
    members: list[tuple[syntax.SqlExpression, syntax.SqlExpression]] = []
    if not words.takes_sign("}"):
        while True:
            name = parse_expression(words)
            words.need_sign(":")
            members.append((name, parse_expression(words)))
            if not words.takes_sign(","):
                words.need_sign("}")
                break
    return syntax.MapOf(word.place, tuple(members))


_CONSTANTS: Final[dict[str, Any]] = {"TRUE": True, "FALSE": False, "NULL": JSON_NULL}


def _named(words: WordCursor, word: Word) -> syntax.SqlExpression:
    place, keyword = word.place, word.text.upper()
    call = words.ahead(1).is_sign("(")
    if keyword in _CONSTANTS and not call and not words.ahead(1).is_sign("."):
        words.take()
        return syntax.LiteralNode(place, _CONSTANTS[keyword])
    if keyword == "CASE" and words.ahead(1).is_word("WHEN"):
        return _case(words)
    if call and keyword == "CAST":
        return _cast(words)
    if call and keyword == "EXTRACT":
        return _extract(words)
    words.take()
    if call:
        return _call(words, word)
    step = words.next.is_sign(".") and words.ahead(1).kind == "name"
    if step and not words.ahead(2).is_sign("("):
        words.take()
        return syntax.ColumnNode(place, word.text, words.take().text)
    return syntax.ColumnNode(place, None, word.text)


def _call(words: WordCursor, word: Word) -> syntax.SqlExpression:
    words.take()
    if word.text == "count" and words.takes_sign("*"):
        words.need_sign(")")
        return syntax.CallNode(word.place, "count", (), star=True)
    distinct = word.text in ("count", "array_collect") and words.takes("DISTINCT")
    return syntax.CallNode(word.place, word.text, _list(words, ")"), distinct=distinct)


def _case(words: WordCursor) -> syntax.SqlExpression:
    place = words.need("CASE")
    whens: list[tuple[syntax.SqlExpression, syntax.SqlExpression]] = []
    while words.takes("WHEN"):
        condition = parse_expression(words)
        words.need("THEN")
        whens.append((condition, parse_expression(words)))
    otherwise = parse_expression(words) if words.takes("ELSE") else None
    words.need("END")
    return syntax.Case(place, tuple(whens), otherwise)


def _cast(words: WordCursor) -> syntax.SqlExpression:
    place = words.place
    words.take()
    words.take()
    source = parse_expression(words)
    words.need("AS")
    kind = parse_type(words)
    words.need_sign(")")
    return syntax.CastNode(place, source, kind)


def _extract(words: WordCursor) -> syntax.SqlExpression:
    place = words.place
    words.take()
    words.take()
    part = words.name().lower()
    words.need("FROM")
    source = parse_expression(words)
    words.need_sign(")")
    return syntax.CallNode(place, part, (source,))
