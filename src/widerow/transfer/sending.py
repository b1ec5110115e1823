"""Batches of row changes: sent until every row is stored or refused for good."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from widerow.transfer.client import PASSING, Client, Refused
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.bodies import text

__all__ = ["DELETE", "PUT", "UPDATE", "Change", "send", "send_once"]

PUT: Final = 1
UPDATE: Final = 2
DELETE: Final = 3
_ANY: Final = m.Condition(row_existence=0)
"""The condition that always holds."""

_FATAL: Final = frozenset(
    (
        *("OTSAuthFailed", "OTSNoPermissionAccess", "OTSObjectNotExist"),
        *("OTSQuotaExhausted", "OTSUnsupportOperation"),
    )
)
"""Codes that every other row would be answered with as well."""


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

    A batch that is refused as a whole, so that none of it took effect, is halved until the row that
    causes it is found. Raises: `Refused` where no row could be written, or for an error of the
    whole that passes; what `Client.call_once` does where there is no answer.
    """
    try:
        answer = client.call_once(
            "BatchWriteRow", _request(table, changes), m.BatchWriteRowResponse
        )
    except Refused as error:
        if error.code in _FATAL or error.code in PASSING:
            raise
        if len(changes) == 1:
            return {0: error}
        middle = len(changes) // 2
        refused = send_once(client, table, changes[:middle])
        later = send_once(client, table, changes[middle:])
        return refused | {middle + place: each for place, each in later.items()}
    return {place: error for place, error in enumerate(_errors(answer)) if error is not None}


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
            if error.code in _FATAL:
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
            if told.code in _FATAL:  # a row's error has no hint that would name the table
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
    return _errors(client.call("BatchWriteRow", _request(table, changes), m.BatchWriteRowResponse))


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


def _errors(answer: m.BatchWriteRowResponse) -> list[Refused | None]:
    return [
        None if each.is_ok else Refused(text(each.error.code), text(each.error.message))
        for each in answer.tables[0].rows
    ]
