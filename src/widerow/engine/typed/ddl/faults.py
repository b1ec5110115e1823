"""Errors of statements: texts of the model inside the sentences of the vendor's tools (ddl §1).

The error has the class of the one inside it, which is its cause.
"""

from widerow.engine.typed.ddl.statements import Position
from widerow.errors import Conflict, Exhausted, InvalidRequest, NotFound, Unsupported
from widerow.model.typed.rules import TypedRule

__all__ = ["ModelError", "failed", "failed_at", "failed_creating", "fault"]

ModelError = InvalidRequest | NotFound | Conflict | Exhausted | Unsupported

_FRAMED = frozenset((TypedRule.DDL_FAULT, TypedRule.DDL_FAILED, TypedRule.DDL_CREATING))


def fault(position: Position, text: str) -> InvalidRequest:
    """The error for a fault in the text of a statement, with its place."""
    line, column = position
    return InvalidRequest(TypedRule.DDL_FAULT, line=line, column=column, text=text)


def failed_at(position: Position, error: ModelError) -> ModelError:
    """The error with the position in the statement that it is about."""
    line, column = position
    return _framed(error, TypedRule.DDL_FAULT, line=line, column=column)


def failed(statement: str, what: str, error: ModelError) -> ModelError:
    """The error of a statement that the state of the store refuses; `what`: `table t`."""
    return _framed(error, TypedRule.DDL_FAILED, statement=statement, what=what)


def failed_creating(error: ModelError) -> ModelError:
    """The error of a table definition that is not complete."""
    return _framed(error, TypedRule.DDL_CREATING)


def _framed(error: ModelError, frame: TypedRule, **details: str | int) -> ModelError:
    if error.rule in _FRAMED:
        return error
    framed = type(error)(frame, **details, text=str(error))
    framed.__cause__ = error
    return framed
