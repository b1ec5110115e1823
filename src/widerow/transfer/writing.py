"""Writes of one row over the protocol, each sent once (semantics §4)."""

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

from widerow.model.tablestore.row import CellOperation
from widerow.model.values import KeyInput, KeyMarker
from widerow.rows.reading import Row
from widerow.transfer.client import Client
from widerow.transfer.rows import CellEdit, decode_rows, encode_delete, encode_edits
from widerow.wire.tablestore import messages as m

__all__ = ["RowExpected", "WriteIf", "delete_one_row", "put_one_row", "update_one_row"]

_RETURN_KEY = 1
_RETURN_CHANGED = 2


class RowExpected(IntEnum):
    """Whether the row must be there before a write. The numbers are those of the wire."""

    IGNORE = 0
    EXIST = 1
    NOT_EXIST = 2


class WriteIf(NamedTuple):
    """The condition of a write; `filter`: encoded, on the columns of the row, or nothing."""

    row: RowExpected = RowExpected.IGNORE
    filter: bytes = b""

    @property
    def message(self) -> m.Condition:
        """The condition as requests carry it."""
        if not self.filter:
            return m.Condition(row_existence=self.row)
        return m.Condition(row_existence=self.row, column_condition=self.filter)


Key = Sequence[tuple[str, KeyInput]]


def put_one_row(
    client: Client, table: str, key: Key, edits: Sequence[CellEdit], condition: WriteIf
) -> Row | None:
    """Put a row. Returns its key, without columns, if the server has chosen a part of it.

    Raises: `Refused`, `OutcomeUnclear`, `TransferFailed`.
    """
    request = m.PutRowRequest(
        table_name=table, row=encode_edits(key, edits), condition=condition.message
    )
    if KeyMarker.AUTO_INCREMENT in [value for _, value in key]:
        request.return_content.return_type = _RETURN_KEY
    answer = client.call_once("PutRow", request, m.PutRowResponse)
    return next(iter(decode_rows(answer.row)), None)


def update_one_row(
    client: Client, table: str, key: Key, edits: Sequence[CellEdit], condition: WriteIf
) -> Row | None:
    """Update a row. Returns the columns that were incremented, with what they hold now, if any.

    Raises: `Refused`, `OutcomeUnclear`, `TransferFailed`.
    """
    request = m.UpdateRowRequest(
        table_name=table, row_change=encode_edits(key, edits), condition=condition.message
    )
    counted = [each.column for each in edits if each.operation is CellOperation.INCREMENT]
    if counted:
        request.return_content.return_type = _RETURN_CHANGED
        request.return_content.return_column_names.extend(counted)
    answer = client.call_once("UpdateRow", request, m.UpdateRowResponse)
    return next(iter(decode_rows(answer.row)), None)


def delete_one_row(client: Client, table: str, key: Key, condition: WriteIf) -> None:
    """Delete a row; one that is not there is no error unless `condition` wants it.

    Raises: `Refused`, `OutcomeUnclear`, `TransferFailed`.
    """
    request = m.DeleteRowRequest(
        table_name=table, primary_key=encode_delete(key), condition=condition.message
    )
    client.call_once("DeleteRow", request, m.DeleteRowResponse)
