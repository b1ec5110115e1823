"""GetRow (semantics §5)."""

from widerow.engine.budget import Budget
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.limits import STAGED_ROW_BYTES_MAX
from widerow.model.tablestore.answers import RowRead
from widerow.model.tablestore.requests import GetRow, InTransaction
from widerow.rows.fields import field
from widerow.wire.tablestore.messages import GetRowRequest
from widerow.wire.tablestore.operations.answers import consumed_field, with_rows
from widerow.wire.tablestore.operations.bodies import parsed, text
from widerow.wire.tablestore.operations.reading import (
    selection,
    whole_rows,
)
from widerow.wire.tablestore.operations.short_form import short_form
from widerow.wire.tablestore.operations.tokens import decode_token, encode_token
from widerow.wire.tablestore.plainbuffer import decode_primary_key

__all__ = ["call", "call_within", "decode", "encode", "is_large"]


def decode(body: bytes) -> GetRow | InTransaction[GetRow]:
    """The row and the cells of it that are asked for. Raises `InvalidRequest`."""
    # Nearly every read asks for whole rows: what is behind the key is 28 and so many versions.
    name, start, end = short_form(body, 2)
    if end >= 0 and body[end] == 0x28 and 0 < body[end + 1] < 0x80:
        key = decode_primary_key(body, start, end)
        return GetRow(name, key, whole_rows(body[end + 1]))
    sent = parsed(GetRowRequest, body)
    table = text(sent.table_name)
    cells = selection(sent)
    request = GetRow(table, decode_primary_key(sent.primary_key), cells, decode_token(sent.token))
    if sent.HasField("transaction_id"):
        return InTransaction(text(sent.transaction_id), request)
    return request


def call(
    engine: TablestoreEngine, instance: str, request: GetRow | InTransaction[GetRow]
) -> RowRead:
    """Ask the engine."""
    if isinstance(request, InTransaction):
        return engine.transactions.get_row(instance, *request)
    return engine.rows.get_row(instance, request)


def call_within(
    engine: TablestoreEngine, instance: str, request: GetRow | InTransaction[GetRow], budget: Budget
) -> RowRead:
    """Ask the engine. Raises `TooLong` where it takes more than `budget`."""
    if isinstance(request, InTransaction):
        return engine.transactions.get_row(instance, *request, budget)
    return engine.rows.get_row(instance, request, budget)


def is_large(result: RowRead) -> bool:
    """Whether the row alone is large."""
    return len(result.row) > STAGED_ROW_BYTES_MAX


def encode(result: RowRead) -> bytes:
    """GetRowResponse; its row is of no bytes where there is none, a token says it goes on."""
    consumed = consumed_field(b"\x0a", result.read_units, 0)
    if result.resume is None:
        return with_rows(consumed, b"\x12", result.row)
    next_token = field(b"\x1a", encode_token(result.resume))
    return with_rows(consumed, b"\x12", result.row, next_token)
