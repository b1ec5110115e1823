"""What the writing actions share: conditions and what to return (semantics §4.1, §4.5)."""

from typing import Final

from widerow.errors import InvalidRequest, Rule
from widerow.model.condition import Condition, RowExpectation
from widerow.model.row import (
    NOTHING_RETURNED,
    Modification,
    ReturnContent,
    ReturnType,
    RowChange,
)
from widerow.wire.tablestore import messages
from widerow.wire.tablestore.filters import decode_condition
from widerow.wire.tablestore.operations.bodies import least_bytes, text, texts
from widerow.wire.tablestore.plainbuffer import decode_row_change

__all__ = ["condition", "return_content", "row_change"]

Write = messages.PutRowRequest | messages.UpdateRowRequest | messages.DeleteRowRequest

_EXPECTATIONS: Final = {number.value: Condition(number) for number in RowExpectation}
_RETURN_TYPES: Final = {number.value: ReturnContent(number) for number in ReturnType}


def row_change(write: Write, modification: Modification, row: bytes, size: int) -> RowChange:
    """The change that a single-row write of `size` bytes asks for; `row` is its PlainBuffer.

    Raises `InvalidRequest`. widerow begins no transactions, so no transaction id is valid
    (semantics §7).
    """
    table, condition_sent = text(write.table_name), write.condition
    # Most writes say no more than whether the row is to exist, which they must, in four bytes.
    if size == least_bytes(table, row) + 4:
        expected, returned = _row_condition(condition_sent), NOTHING_RETURNED
    else:
        if write.HasField("transaction_id"):
            raise InvalidRequest(Rule.TRANSACTION_ID)
        expected, returned = condition(condition_sent), return_content(write)
    key, cells = decode_row_change(row, modification)
    return RowChange(table, modification, key, cells, expected, returned)


def condition(sent: messages.Condition) -> Condition:
    """What must hold for the write to be made. Raises `InvalidRequest` (semantics §4.1)."""
    plain = _row_condition(sent)
    if not sent.column_condition:
        return plain
    return Condition(plain.row, decode_condition(sent.column_condition))


def _row_condition(sent: messages.Condition) -> Condition:
    expectation = sent.row_existence
    plain = _EXPECTATIONS.get(expectation)
    if plain is None:
        raise InvalidRequest(Rule.ROW_EXPECTATION, value=expectation)
    return plain


def return_content(write: Write | messages.RowInBatchWriteRowRequest) -> ReturnContent:
    """What the write is to answer besides its success. Raises `InvalidRequest(RETURN_TYPE)`."""
    if not write.HasField("return_content"):
        return _RETURN_TYPES[0]
    sent = write.return_content
    plain = _RETURN_TYPES.get(sent.return_type)
    if plain is None:
        raise InvalidRequest(Rule.RETURN_TYPE, value=sent.return_type)
    names = texts(sent.return_column_names)
    return ReturnContent(plain.type, names) if names else plain
