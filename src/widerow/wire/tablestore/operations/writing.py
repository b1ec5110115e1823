"""What the writing actions share: conditions and what to return (semantics §4.1, §4.5)."""

from typing import Final

from widerow.errors import InvalidRequest
from widerow.model.tablestore.condition import Condition, RowExpectation
from widerow.model.tablestore.requests import InTransaction
from widerow.model.tablestore.row import (
    Modification,
    PrimaryKey,
    ReturnContent,
    ReturnType,
    RowChange,
)
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyMarker, value_bytes
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.filters import decode_condition
from widerow.wire.tablestore.operations.bodies import parsed, text, texts
from widerow.wire.tablestore.operations.short_form import short_form
from widerow.wire.tablestore.plainbuffer import decode_row_change

__all__ = [
    "EXPECTATIONS",
    "MODIFICATIONS",
    "RETURN_TYPES",
    "condition",
    "key_data_size",
    "return_content",
    "row_change",
]

Write = messages.PutRowRequest | messages.UpdateRowRequest | messages.DeleteRowRequest

EXPECTATIONS: Final = {number.value: Condition(number) for number in RowExpectation}
"""What the numbers of the protocol say of the existence of a row, as conditions of no more."""

MODIFICATIONS: Final = {modification.value: modification for modification in Modification}
"""What the numbers of the protocol say is to be done to a row."""

_SHORT_CONDITIONS: Final = tuple([bytes((0x1A, 2, 8, number)) for number in EXPECTATIONS])
RETURN_TYPES: Final = {number.value: ReturnContent(number) for number in ReturnType}
"""What the numbers of the protocol say is to be returned, without names of columns."""


def row_change(
    body: bytes, modification: Modification, message: type[Write], field: str
) -> RowChange | InTransaction[RowChange]:
    """The change that a single-row write asks for; `field` of `message` holds its PlainBuffer.

    Raises `InvalidRequest`. The short form holds no transaction id.
    """
    change = _short_change(body, modification)
    if change is not None:
        return change
    write = parsed(message, body)
    table = text(write.table_name)
    expected, returned = condition(write.condition), return_content(write)
    key, cells = decode_row_change(getattr(write, field), modification)
    full = RowChange(table, modification, key, cells, expected, returned)
    if write.HasField("transaction_id"):
        return InTransaction(text(write.transaction_id), full)
    return full


def _short_change(body: bytes, modification: Modification) -> RowChange | None:
    """The change in the short form; None where the request has another.

    Short writes end with 1A 02 08 and whether the row is to exist: a condition of no more than
    that. Raises `InvalidRequest` for what is wrong with the row.
    """
    table, start, end = short_form(body, 4)
    if end < 0 or not body.endswith(_SHORT_CONDITIONS):
        return None
    key, cells = decode_row_change(body, modification, start, end)
    return RowChange(table, modification, key, cells, EXPECTATIONS[body[-1]])


def condition(sent: messages.Condition) -> Condition:
    """What must hold for the write to be made. Raises `InvalidRequest` (semantics §4.1)."""
    plain = EXPECTATIONS.get(sent.row_existence)
    if plain is None:
        raise InvalidRequest(TablestoreRule.ROW_EXPECTATION, value=sent.row_existence)
    if not sent.column_condition:
        return plain
    return Condition(plain.row, decode_condition(sent.column_condition))


def return_content(write: Write | messages.RowInBatchWriteRowRequest) -> ReturnContent:
    """What the write is to answer besides its success. Raises `InvalidRequest(RETURN_TYPE)`."""
    if not write.HasField("return_content"):
        return RETURN_TYPES[0]
    sent = write.return_content
    plain = RETURN_TYPES.get(sent.return_type)
    if plain is None:
        raise InvalidRequest(TablestoreRule.RETURN_TYPE, value=sent.return_type)
    names = texts(sent.return_column_names)
    return ReturnContent(plain.type, names) if names else plain


def key_data_size(key: PrimaryKey, marker_bytes: int) -> int:
    """What the names and values of a key count, in bytes; a marker instead of a value so many."""
    return sum(
        len(name.encode()) + (marker_bytes if isinstance(value, KeyMarker) else value_bytes(value))
        for name, value in key.columns
    )
