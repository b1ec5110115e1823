"""From an exception to what a client of the dialect is told (wire §1.6).

`table.py` has the words; here they are filled in and put into bytes. Batches use the same for
a row that failed.
"""

from collections.abc import Mapping, Sequence
from string import Formatter
from typing import Any, Final

from widerow.errors import (
    Conflict,
    Exhausted,
    Injected,
    InvalidRequest,
    NotFound,
    NotPermitted,
    Unsupported,
)
from widerow.limits import ERROR_MESSAGE_CHARACTERS_MAX, HINT_BYTES_MAX
from widerow.wire.tablestore.errors.table import FAILURES, FOREIGN, UNEXPECTED, FailureAnswer
from widerow.wire.tablestore.messages import Error

__all__ = ["encode_error", "foreign", "hint"]

_BROKEN_RULES: Final = (
    *(InvalidRequest, Conflict, NotFound, NotPermitted, Exhausted, Unsupported),
)
_VARIANT_TYPES: Final = {
    "INTEGER": "VT_INTEGER",
    "DOUBLE": "VT_DOUBLE",
    "BOOLEAN": "VT_BOOLEAN",
    "STRING": "VT_STRING",
    "BINARY": "VT_BLOB",
}

# Facts that a hint may tell. Anything that can be, or hold, a value of a cell is not among them.
_TOLD: Final = frozenset(
    (
        *("action", "bound", "column", "comparator", "count", "date", "direction", "expectation"),
        *("expected", "feature", "index", "instance", "kind", "length", "limit", "marker"),
        *("maximum", "minimum", "mode", "name", "operation", "permission", "reason", "size"),
        *("table", "type", "version"),
    )
)


class _Words(Formatter):
    """Fills templates. A fact that is not there costs its place in the text, not the answer."""

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:  # noqa: ANN401  # the signature of the base class
        return (
            kwargs.get(key, "?") if isinstance(key, str) else super().get_value(key, args, kwargs)
        )

    def convert_field(self, value: Any, conversion: Any) -> Any:  # noqa: ANN401  # the signature of the base class
        if conversion == "v":
            return _VARIANT_TYPES.get(value, value)
        return super().convert_field(value, conversion)


_words: Final = _Words()


def foreign(error: Exception) -> tuple[int, str, str]:
    """Status, code and message for any exception; 500 for those nobody expected."""
    if not isinstance(error, _BROKEN_RULES) or error.rule not in FOREIGN:
        if isinstance(error, Injected):
            return error.status, error.code, error.message
        row = _failure(error).foreign
        return row.status, row.code, row.template
    code, status, message = FOREIGN[error.rule][:3]
    if "{" in message:
        message = _words.vformat(message, (), error.details)[:ERROR_MESSAGE_CHARACTERS_MAX]
    return status, code, message


def _failure(error: Exception) -> FailureAnswer:
    return next((FAILURES[kind] for kind in type(error).__mro__ if kind in FAILURES), UNEXPECTED)


def encode_error(code: str, message: str) -> bytes:
    """The body of every answer that is not a success: an Error (wire §1.6)."""
    return Error(code=code, message=message).SerializeToString()


def hint(error: Exception) -> str:
    """What happened and what to do about it: one line of ASCII for the header `x-widerow-hint`.

    Names, counts and limits of the request, then the rule's advice; at most `HINT_BYTES_MAX` bytes.
    Never the value of a cell.
    """
    if not isinstance(error, _BROKEN_RULES) or error.rule not in FOREIGN:
        if isinstance(error, Injected):
            return f"Fault {error.fault} of /_widerow/faults asked for this error."
        return _failure(error).hint
    advice = error.rule.value.encode("ascii", "backslashreplace").decode()
    told = ", ".join(f"{name}={value!a}" for name, value in error.details.items() if name in _TOLD)
    room = HINT_BYTES_MAX - len(advice) - 2
    return f"{told[:room]}: {advice}" if told else advice
