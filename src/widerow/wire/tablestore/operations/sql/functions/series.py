"""Functions of SQL over columns of timeseries tables: tags and bins of times (timeseries §12)."""

import re
from collections.abc import Sequence
from typing import Final

from widerow.errors import InvalidRequest
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.timeseries.series import tags_of_text
from widerow.query.expression import FunctionCall
from widerow.wire.tablestore.operations.sql.functions.signature import Function, Functions, taking
from widerow.wire.tablestore.operations.sql.kinds import (
    SqlKind,
    TypedExpression,
    as_text,
    as_whole,
)

__all__ = ["SERIES_FUNCTIONS"]

_SECOND_US: Final = 1_000_000
_UNITS: Final = {
    "s": _SECOND_US,
    "min": 60 * _SECOND_US,
    "h": 3600 * _SECOND_US,
    "d": 86_400 * _SECOND_US,
    "day": 86_400 * _SECOND_US,
}
_WIDTH: Final = re.compile("([1-9][0-9]{0,8}) ?(s|min|h|d|day)", re.IGNORECASE)


def _tag_value(text: str, name: str) -> str | None:
    """The value of a tag; None where the text has none of that name, or is not a text of tags."""
    try:
        return dict(tags_of_text(text)).get(name)
    except InvalidRequest:
        return None


def _time_bin(arguments: Sequence[TypedExpression]) -> TypedExpression:
    """The beginning of the bin that microseconds lie in; bins are counted from 1970 on."""
    time, width = as_whole(arguments[0]), as_text(arguments[1])
    found = _WIDTH.fullmatch(str(width.value)) if width.constant else None
    if found is None:
        raise InvalidRequest(TablestoreRule.SQL_ARGUMENTS, function="TIME_BIN")
    size = int(found[1]) * _UNITS[found[2].lower()]
    call = FunctionCall("", lambda time_us: time_us - time_us % size, (time.expression,))
    return TypedExpression(call, SqlKind.DATETIME)


SERIES_FUNCTIONS: Final[Functions] = {
    "TAG_VALUE_AT": taking("tt", SqlKind.TEXT, _tag_value),
    "TIME_BIN": Function(2, 2, _time_bin),
}
