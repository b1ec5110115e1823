"""What a function of SQL is: how it takes its arguments, and what it gives."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from widerow.query.expression import FunctionCall
from widerow.wire.tablestore.operations.sql.kinds import (
    SqlKind,
    TypedExpression,
    as_bytes,
    as_datetime,
    as_number,
    as_text,
    as_time,
    as_whole,
)

__all__ = ["Function", "Functions", "Making", "taking"]

Making = Callable[[Sequence[TypedExpression]], TypedExpression]
"""Makes the expression of a call of its arguments."""


class Function(NamedTuple):
    """A function: `least` to `most` arguments (None: any number), and what a call of it is."""

    least: int
    most: int | None
    make: Making


Functions = Mapping[str, Function]

_TAKERS: dict[str, Callable[[TypedExpression], TypedExpression]] = {
    "t": as_text,
    "b": as_bytes,
    "n": as_number,
    "i": as_whole,
    "d": as_datetime,
    "c": as_time,
    "x": lambda typed: typed,
}


def taking(
    takes: str,
    kind: SqlKind | None,
    function: Callable[..., Any],
    least: int | None = None,
    *,
    strict: bool = True,
) -> Function:
    """A function of arguments that are converted first.

    `takes`: a letter for each argument: t text, b bytes, n number, i integer, d moment, c time, x
    as it is; a `*` at the end repeats the letter before it. `kind`: that of the result; None: that
    of the first argument after its conversion. `least`: how many arguments there must be, all
    unless it is given. `strict`: NULL for an argument that is NULL.
    """
    repeats = takes.endswith("*")
    letters = takes.rstrip("*")

    def make(arguments: Sequence[TypedExpression]) -> TypedExpression:
        padded = letters + letters[-1:] * (len(arguments) - len(letters))
        taken = [_TAKERS[way](each) for way, each in zip(padded, arguments, strict=False)]
        call = FunctionCall("", function, tuple([each.expression for each in taken]), strict)
        return TypedExpression(call, taken[0].kind if kind is None else kind)

    return Function(
        len(letters) if least is None else least, None if repeats else len(letters), make
    )
