"""Which columns of its rows a search answers (search §5.4)."""

from typing import Final

from widerow.errors import InvalidRequest, Rule
from widerow.limits import READ_COLUMNS_MAX
from widerow.model.search.requests import ColumnReturn, ColumnReturnType
from widerow.wire.tablestore import search_messages as m
from widerow.wire.tablestore.operations.bodies import texts
from widerow.wire.tablestore.operations.search.unfolding import member, members

__all__ = ["decode_columns", "decode_timeout"]

_TYPES: Final = members(ColumnReturnType)


def decode_columns(sent: m.ColumnsToGet) -> ColumnReturn:
    """The columns; without a type those that are named. Raises `InvalidRequest`."""
    names = texts(sent.column_names)
    if len(names) > READ_COLUMNS_MAX:
        raise InvalidRequest(Rule.READ_COLUMN_COUNT, limit=READ_COLUMNS_MAX, count=len(names))
    absent = ColumnReturnType.SPECIFIED if names else ColumnReturnType.NONE
    return ColumnReturn(member(sent, "return_type", _TYPES, absent), names)


def decode_timeout(sent: m.SearchRequest | m.ParallelScanRequest) -> int | None:
    """So many milliseconds a client waits; None where it does not say (search §5.7)."""
    return sent.timeout_ms if sent.timeout_ms > 0 else None
