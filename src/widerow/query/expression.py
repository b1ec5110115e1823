"""Expressions over the columns of a relation, in three-valued logic.

An expression is a tree of frozen values. `compiled` makes of it, once, a function that takes a
chunk and gives a value for each of its rows. Conditions are True, False, or None where they are
unknown. What is to the right of a condition that decides, and branches that are not taken, are
evaluated for no row that does not need them, so that their errors are not met.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from widerow.query.relation import Chunk, Values, taken

__all__ = [
    "And",
    "Branch",
    "Choice",
    "Constant",
    "Expression",
    "FunctionCall",
    "InputColumn",
    "IsNull",
    "Not",
    "Or",
    "Vector",
    "columns_read",
    "moved",
    "parts_of",
    "vector_of",
]

Vector = Callable[[Chunk], Values]
"""The values of an expression for the rows of a chunk."""


@dataclass(frozen=True, slots=True)
class InputColumn:
    """The value of the column at `position`."""

    position: int


@dataclass(frozen=True, slots=True)
class Constant:
    """A value that is equal for all rows."""

    value: Any


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """`function` of the arguments' values; `strict`: NULL where one of them is NULL.

    `name` is for descriptions. The function is deterministic and may raise errors of the language.
    """

    name: str
    function: Callable[..., Any]
    arguments: tuple["Expression", ...]
    strict: bool = True


@dataclass(frozen=True, slots=True)
class And:
    """Whether all conditions hold."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Or:
    """Whether one condition holds."""

    parts: tuple["Expression", ...]


@dataclass(frozen=True, slots=True)
class Not:
    """Whether the condition does not hold; unknown stays unknown."""

    part: "Expression"


@dataclass(frozen=True, slots=True)
class IsNull:
    """Whether the value is NULL: never unknown."""

    part: "Expression"


@dataclass(frozen=True, slots=True)
class Branch:
    """The value to take where the condition holds."""

    condition: "Expression"
    value: "Expression"


@dataclass(frozen=True, slots=True)
class Choice:
    """The value of the first branch whose condition holds, or `otherwise`."""

    branches: tuple[Branch, ...]
    otherwise: "Expression"


Expression = InputColumn | Constant | FunctionCall | And | Or | Not | IsNull | Choice


def parts_of(expression: Expression) -> tuple[Expression, ...]:
    """The expressions that one is made of, in their order."""
    match expression:
        case FunctionCall():
            return expression.arguments
        case And() | Or():
            return expression.parts
        case Not() | IsNull():
            return (expression.part,)
        case Choice():
            inner = [each for one in expression.branches for each in (one.condition, one.value)]
            return (*inner, expression.otherwise)
        case _:
            return ()


def columns_read(expression: Expression) -> Iterator[int]:
    """The positions of the columns that an expression reads."""
    if isinstance(expression, InputColumn):
        yield expression.position
    for part in parts_of(expression):
        yield from columns_read(part)


def moved(expression: Expression, place: Callable[[int], Expression]) -> Expression:
    """The expression with each column replaced by `place` of its position."""
    match expression:
        case InputColumn(position):
            return place(position)
        case FunctionCall(name, function, arguments, strict):
            return FunctionCall(name, function, _all_moved(arguments, place), strict)
        case And(parts):
            return And(_all_moved(parts, place))
        case Or(parts):
            return Or(_all_moved(parts, place))
        case Not(part):
            return Not(moved(part, place))
        case IsNull(part):
            return IsNull(moved(part, place))
        case Choice(branches, otherwise):
            changed = [Branch(moved(c.condition, place), moved(c.value, place)) for c in branches]
            return Choice(tuple(changed), moved(otherwise, place))
        case _:
            return expression


def _all_moved(
    parts: tuple[Expression, ...], place: Callable[[int], Expression]
) -> tuple[Expression, ...]:
    return tuple([moved(each, place) for each in parts])


def vector_of(expression: Expression) -> Vector:
    """The function that an expression is of the rows of a chunk."""
    return _COMPILERS[type(expression)](expression)


def _field(expression: InputColumn) -> Vector:
    position = expression.position
    return lambda chunk: chunk.columns[position]


def _literal(expression: Constant) -> Vector:
    value = expression.value
    return lambda chunk: [value] * chunk.rows


def _call(expression: FunctionCall) -> Vector:
    function, arguments = expression.function, expression.arguments
    if not expression.strict:
        vectors = [vector_of(each) for each in arguments]
        if not vectors:
            return lambda chunk: [function() for _ in range(chunk.rows)]
        return lambda chunk: list(map(function, *[each(chunk) for each in vectors]))
    if any(isinstance(each, Constant) and each.value is None for each in arguments):
        return _literal(Constant(None))
    match arguments:
        case (one,):
            return _unary(function, vector_of(one))
        case (one, Constant(value)):
            return _with_right(function, vector_of(one), value)
        case (Constant(value), other):
            return _with_left(function, value, vector_of(other))
        case (one, other):
            return _binary(function, vector_of(one), vector_of(other))
        case _:
            return _strict(function, [vector_of(each) for each in arguments])


def _unary(function: Callable[..., Any], one: Vector) -> Vector:
    return lambda chunk: [None if a is None else function(a) for a in one(chunk)]


def _with_right(function: Callable[..., Any], one: Vector, value: object) -> Vector:
    return lambda chunk: [None if a is None else function(a, value) for a in one(chunk)]


def _with_left(function: Callable[..., Any], value: object, other: Vector) -> Vector:
    return lambda chunk: [None if b is None else function(value, b) for b in other(chunk)]


def _binary(function: Callable[..., Any], one: Vector, other: Vector) -> Vector:
    def run(chunk: Chunk) -> Values:
        pairs = zip(one(chunk), other(chunk), strict=True)
        return [None if a is None or b is None else function(a, b) for a, b in pairs]

    return run


def _strict(function: Callable[..., Any], vectors: list[Vector]) -> Vector:
    def run(chunk: Chunk) -> Values:
        if not vectors:
            return [function() for _ in range(chunk.rows)]
        rows = zip(*[each(chunk) for each in vectors], strict=True)
        return [None if None in row else function(*row) for row in rows]

    return run


def _and(expression: And) -> Vector:
    return _deciding(expression.parts, decided=False)


def _or(expression: Or) -> Vector:
    return _deciding(expression.parts, decided=True)


def _deciding(parts: tuple[Expression, ...], *, decided: bool) -> Vector:
    """Conditions one after another, each for the rows that none before has decided."""
    first, *others = [vector_of(each) for each in parts]

    def run(chunk: Chunk) -> Values:
        found = list(first(chunk))
        for vector in others:
            open_rows = [row for row, truth in enumerate(found) if truth is not decided]
            if not open_rows:
                break
            truths = vector(taken(chunk, open_rows))
            for row, truth in zip(open_rows, truths, strict=True):
                if truth is decided:
                    found[row] = decided
                elif truth is None:
                    found[row] = None
        return found

    return run


def _not(expression: Not) -> Vector:
    part = vector_of(expression.part)
    return lambda chunk: [None if truth is None else not truth for truth in part(chunk)]


def _is_null(expression: IsNull) -> Vector:
    part = vector_of(expression.part)
    return lambda chunk: [value is None for value in part(chunk)]


def _choice(expression: Choice) -> Vector:
    branches = [(vector_of(each.condition), vector_of(each.value)) for each in expression.branches]
    otherwise = vector_of(expression.otherwise)

    def run(chunk: Chunk) -> Values:
        found: list[Any] = [None] * chunk.rows
        rest = list(range(chunk.rows))
        for condition, value in branches:
            truths = condition(taken(chunk, rest))
            met = [row for row, truth in zip(rest, truths, strict=True) if truth is True]
            rest = [row for row, truth in zip(rest, truths, strict=True) if truth is not True]
            _fill(found, met, value, chunk)
        _fill(found, rest, otherwise, chunk)
        return found

    return run


def _fill(found: list[Any], rows: list[int], vector: Vector, chunk: Chunk) -> None:
    if rows:
        for row, value in zip(rows, vector(taken(chunk, rows)), strict=True):
            found[row] = value


_COMPILERS: Final[dict[type, Callable[[Any], Vector]]] = {
    InputColumn: _field,
    Constant: _literal,
    FunctionCall: _call,
    And: _and,
    Or: _or,
    Not: _not,
    IsNull: _is_null,
    Choice: _choice,
}
