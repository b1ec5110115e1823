"""Errors of the store in the words of the shell, where those are others (cli §3, §6)."""

from collections.abc import Mapping
from typing import Final

from widerow.errors import AnyRule, Conflict, InvalidRequest, NotFound, WiderowError
from widerow.model.typed.rules import TypedRule

__all__ = ["worded"]

_TEXTS: Final[Mapping[AnyRule, str]] = {
    TypedRule.NOT_NULL_WITHOUT_DEFAULT: "Not nullable field {field} must have a default value",
    TypedRule.NOT_NULLABLE: "The field can not be null: {field}",
    TypedRule.JSON_NULL: "The field can not be null: {field}",
    TypedRule.TABLE_MISSING: "Table not found: {table}",
}


def worded(error: WiderowError) -> str:
    """What the shell says about `error`."""
    if isinstance(error, (InvalidRequest, NotFound, Conflict)):
        text = _TEXTS.get(error.rule)
        if text is not None:
            return text.format_map(error.details)
    return str(error)
