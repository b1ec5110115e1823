"""Writes over the protocol (semantics §4): one row, sent once; batches, once or until they end."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from widerow.client.connection import PASSING, Client
from widerow.client.failures import Refused
from widerow.client.rows import CellEdit, decode_rows, encode_delete, encode_edits
from widerow.model.tablestore.condition import RowExpectation
from widerow.model.tablestore.row import CellOperation
from widerow.model.values import KeyInput, KeyMarker
from widerow.rows.plain_values import Row
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.operations.bodies import text

__all__ = [
    "DELETE",
    "FATAL",
    "PUT",
    "UPDATE",
    "Change",
    "WriteIf",
    "delete_one_row",
    "put_one_row",
    "send",
    "send_once",
    "update_one_row",
]

PUT: Final = 1
UPDATE: Final = 2
DELETE: Final = 3
_ANY: Final = m.Condition(row_existence=RowExpectation.IGNORE)
"""The condition that always holds."""

_RETURN_KEY: Final = 1
_RETURN_CHANGED: Final = 2
FATAL: Final = frozenset(
    (
        *(c.AUTH_FAILED, c.NO_PERMISSION_ACCESS, c.OBJECT_NOT_EXIST),
        *(c.QUOTA_EXHAUSTED, c.UNSUPPORT_OPERATION),
    )
)
"""Codes that every other row would be answered with as well."""


class WriteIf(NamedTuple):
    """The condition of a write; `filter`: encoded, on the columns of the row, or nothing."""

    row: RowExpectation = RowExpectation.IGNORE
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

    Raises: `Refused`, `OutcomeUnclear`, `RequestFailed`.
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

    Raises: `Refused`, `OutcomeUnclear`, `RequestFailed`.
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

    Raises: `Refused`, `OutcomeUnclear`, `RequestFailed`.
    """
    request = m.DeleteRowRequest(
        table_name=table, primary_key=encode_delete(key), condition=condition.message
    )
    client.call_once("DeleteRow", request, m.DeleteRowResponse)


class Change(NamedTuple):
    """One change of a row: its kind (the numbers are those of the wire), its bytes."""

    kind: int
    data: bytes
    condition: m.Condition = _ANY


def send(client: Client, table: str, changes: Sequence[Change]) -> dict[int, Refused]:
    """Send up to 200 changes. Returns the errors of those that were refused, by their positions.

    Rows whose error passes are sent again. A batch that is refused as a whole is halved until the
    row that causes it is found. Raises: `Refused` where no row could be written; `Unreachable`.
    """
    refused: dict[int, Refused] = {}
    _send(client, table, changes, list(range(len(changes))), refused)
    return refused


def send_once(client: Client, table: str, changes: Sequence[Change]) -> dict[int, Refused]:
    """Send up to 200 changes one time. Returns the errors of their rows, by their positions.

    Without conditions they go as BulkImport, which keeps numbers of an auto-increment column. A
    batch that is refused as a whole, so that none of it took effect, is halved until the row that
    causes it is found. Raises: `Refused` where no row could be written, or for an error of the
    whole that passes; what `Client.call_once` does where there is no answer.
    """
    try:
        errors = _told_once(client, table, changes)
    except Refused as error:
        if error.code in FATAL or error.code in PASSING:
            raise
        if len(changes) == 1:
            return {0: error}
        middle = len(changes) // 2
        refused = send_once(client, table, changes[:middle])
        later = send_once(client, table, changes[middle:])
        return refused | {middle + place: each for place, each in later.items()}
    return {place: error for place, error in enumerate(errors) if error is not None}


def _told_once(client: Client, table: str, changes: Sequence[Change]) -> list[Refused | None]:
    """The errors of changes that are sent one time: of each row, or None."""
    if any(change.condition != _ANY for change in changes):
        told = client.call_once("BatchWriteRow", _request(table, changes), m.BatchWriteRowResponse)
        return _errors(told.tables[0].rows)
    rows = [m.RowInBulkImportRequest(type=each.kind, row_change=each.data) for each in changes]
    request = m.BulkImportRequest(table_name=table, rows=rows)
    return _errors(client.call_once("BulkImport", request, m.BulkImportResponse).rows)


def _send(
    client: Client,
    table: str,
    changes: Sequence[Change],
    pending: list[int],
    refused: dict[int, Refused],
) -> None:
    began, attempt = client.now_ns(), 0
    while pending:
        try:
            errors = _ask(client, table, [changes[number] for number in pending])
        except Refused as error:
            if error.code in FATAL:
                raise
            if len(pending) == 1:
                refused[pending[0]] = error
                return
            middle = len(pending) // 2
            _send(client, table, changes, pending[:middle], refused)
            _send(client, table, changes, pending[middle:], refused)
            return
        passing: dict[int, Refused] = {}
        for number, told in zip(pending, errors, strict=True):
            if told is None:
                continue
            if told.code in FATAL:  # a row's error has no hint that would name the table
                raise Refused(
                    told.code, told.message, f"table {table} of the instance {client.instance}"
                )
            (passing if told.code in PASSING else refused)[number] = told
        if len(passing) < len(pending):
            began, attempt = client.now_ns(), 0  # a table that is slow still answers
        pending = list(passing)
        if pending:
            client.pause(attempt, began, passing[pending[0]])
        attempt += 1


def _ask(client: Client, table: str, changes: Sequence[Change]) -> list[Refused | None]:
    """One BatchWriteRow: the error of each row, or None."""
    told = client.call("BatchWriteRow", _request(table, changes), m.BatchWriteRowResponse)
    return _errors(told.tables[0].rows)


def _request(table: str, changes: Sequence[Change]) -> m.BatchWriteRowRequest:
    rows = [
        m.RowInBatchWriteRowRequest(
            type=change.kind, row_change=change.data, condition=change.condition
        )
        for change in changes
    ]
    return m.BatchWriteRowRequest(
        tables=[m.TableInBatchWriteRowRequest(table_name=table, rows=rows)]
    )


def _errors(
    rows: Sequence[m.RowInBatchWriteRowResponse] | Sequence[m.RowInBulkImportResponse],
) -> list[Refused | None]:
    return [
        None if each.is_ok else Refused(text(each.error.code), text(each.error.message))
        for each in rows
    ]
