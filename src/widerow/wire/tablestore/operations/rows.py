"""GetRow, PutRow, UpdateRow and DeleteRow (semantics §4.2 to §4.4, §5).

Compiled, because every request of one row comes here.
"""

from typing import Final

from widerow.engine.budget import Budget
from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, NotFound
from widerow.limits import STAGED_ROW_BYTES_MAX
from widerow.model.tablestore.answers import RowRead, RowWritten
from widerow.model.tablestore.requests import GetRow, InTransaction
from widerow.model.tablestore.row import Modification, RowChange
from widerow.rows.fields import field
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.answers import consumed_field, with_rows, written
from widerow.wire.tablestore.operations.beside import get_row_beside, write_row_beside
from widerow.wire.tablestore.operations.bodies import parsed, text
from widerow.wire.tablestore.operations.reading import selection, whole_rows
from widerow.wire.tablestore.operations.short_form import short_form
from widerow.wire.tablestore.operations.tokens import decode_token, encode_token
from widerow.wire.tablestore.operations.writing import row_change
from widerow.wire.tablestore.plainbuffer import decode_primary_key

__all__ = ["ROW_ACTIONS", "is_large"]


def _decode_get(body: bytes) -> GetRow | InTransaction[GetRow]:
    # Nearly every read asks for whole rows: what is behind the key is 28 and so many versions.
    name, start, end = short_form(body, 2)
    if end >= 0 and body[end] == 0x28 and 0 < body[end + 1] < 0x80:
        key = decode_primary_key(body, start, end)
        return GetRow(name, key, whole_rows(body[end + 1]))
    sent = parsed(m.GetRowRequest, body)
    table = text(sent.table_name)
    cells = selection(sent)
    request = GetRow(table, decode_primary_key(sent.primary_key), cells, decode_token(sent.token))
    if sent.HasField("transaction_id"):
        return InTransaction(text(sent.transaction_id), request)
    return request


def _get(
    engine: TablestoreEngine,
    instance: str,
    request: GetRow | InTransaction[GetRow],
    budget: Budget | None = None,
) -> RowRead:
    if isinstance(request, InTransaction):
        return engine.transactions.get_row(instance, *request, budget)
    try:
        return engine.rows.get_row(instance, request, budget)
    except (NotFound, InvalidRequest) as error:
        return get_row_beside(engine, instance, request, budget, error)


def is_large(result: RowRead) -> bool:
    """Whether the answer of GetRow is large: its row alone."""
    return len(result.row) > STAGED_ROW_BYTES_MAX


def _encode_read(result: RowRead) -> bytes:
    """The row is of no bytes where there is none; a token says that it goes on."""
    consumed = consumed_field(b"\x0a", result.read_units, 0)
    if result.resume is None:
        return with_rows(consumed, b"\x12", result.row)
    next_token = field(b"\x1a", encode_token(result.resume))
    return with_rows(consumed, b"\x12", result.row, next_token)


def _decode_put(body: bytes) -> RowChange | InTransaction[RowChange]:
    return row_change(body, Modification.PUT, m.PutRowRequest, "row")


def _decode_update(body: bytes) -> RowChange | InTransaction[RowChange]:
    return row_change(body, Modification.UPDATE, m.UpdateRowRequest, "row_change")


def _decode_delete(body: bytes) -> RowChange | InTransaction[RowChange]:
    return row_change(body, Modification.DELETE, m.DeleteRowRequest, "primary_key")


def _write(
    engine: TablestoreEngine, instance: str, request: RowChange | InTransaction[RowChange]
) -> Plan[RowWritten]:
    if isinstance(request, InTransaction):
        return engine.transactions.write_row(instance, *request)
    try:
        return engine.rows.write_row(instance, request)
    except (NotFound, InvalidRequest) as error:
        return write_row_beside(engine, instance, request, error)


ROW_ACTIONS: Final[dict[str, Action]] = {
    "GetRow": Action(_decode_get, _get, _encode_read, _get),
    "PutRow": Action(_decode_put, _write, written),
    "UpdateRow": Action(_decode_update, _write, written),
    "DeleteRow": Action(_decode_delete, _write, written),
}
