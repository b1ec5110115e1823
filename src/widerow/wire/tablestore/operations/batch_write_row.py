"""BatchWriteRow (semantics §4.8)."""

from functools import partial
from typing import Final

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule
from widerow.limits import (
    BATCH_WRITE_BYTES_MAX,
    BATCH_WRITE_ROWS_MAX,
    LENGTHY_BODY_BYTES,
    VERSION_BYTES,
)
from widerow.model.tablestore.condition import UNCONDITIONAL
from widerow.model.tablestore.requests import BatchWrite, InTransaction, TableWrite
from widerow.model.tablestore.row import Modification, RowChange
from widerow.safepoint import safepoint
from widerow.wire.tablestore.messages import (
    BatchWriteRowRequest,
    RowInBatchWriteRowRequest,
    TableInBatchWriteRowRequest,
)
from widerow.wire.tablestore.operations.batches import BatchAnswer, encode_batch
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.short_form import ShortEntry, short_batch
from widerow.wire.tablestore.operations.writing import (
    EXPECTATIONS,
    RETURN_TYPES,
    condition,
    key_data_size,
    return_content,
)
from widerow.wire.tablestore.plainbuffer import decode_row_change

__all__ = ["call", "decode", "encode", "is_lengthy"]

_MODIFICATIONS: Final = {modification.value: modification for modification in Modification}


def decode(body: bytes) -> BatchWrite | InTransaction[BatchWrite]:
    """The row changes asked for, table by table. Raises `InvalidRequest` for the whole batch.

    Rows are counted before any is decoded.
    """
    short = short_batch(body)
    if short is None:
        return _decode_message(body)
    request = BatchWrite(
        tuple([_short_table(body, name, entries) for name, entries in short.tables]), short.atomic
    )
    _check_size(len(body), request)
    return request


def _short_table(body: bytes, name: str, entries: list[ShortEntry]) -> TableWrite:
    return TableWrite(name, tuple([_short_row(body, name, entry) for entry in entries]))


def _short_row(body: bytes, table: str, entry: ShortEntry) -> RowChange:
    safepoint()
    start, end, number, expectation, returned = entry
    modification = _MODIFICATIONS[number]
    key, cells = decode_row_change(body, modification, start, end)
    expected, returns = EXPECTATIONS[expectation], RETURN_TYPES[returned]
    return RowChange(table, modification, key, cells, expected, returns)


@decoder(BatchWriteRowRequest)
def _decode_message(sent: BatchWriteRowRequest) -> BatchWrite | InTransaction[BatchWrite]:
    if not sent.tables:
        raise InvalidRequest(Rule.BATCH_WRITE_EMPTY)
    for table in sent.tables:
        if not table.rows:
            raise InvalidRequest(Rule.BATCH_WRITE_TABLE_EMPTY, table=text(table.table_name))
    count = sum(len(table.rows) for table in sent.tables)
    if count > BATCH_WRITE_ROWS_MAX:
        raise InvalidRequest(Rule.BATCH_WRITE_COUNT, limit=BATCH_WRITE_ROWS_MAX, count=count)
    request = BatchWrite(tuple([_table(table) for table in sent.tables]), sent.is_atomic)
    _check_size(sum(len(row.row_change) for table in sent.tables for row in table.rows), request)
    if sent.HasField("transaction_id"):
        return InTransaction(text(sent.transaction_id), request)
    return request


def _table(sent: TableInBatchWriteRowRequest) -> TableWrite:
    name = text(sent.table_name)
    return TableWrite(name, tuple([_row(name, row) for row in sent.rows]))


def _row(table: str, sent: RowInBatchWriteRowRequest) -> RowChange:
    safepoint()
    modification = _MODIFICATIONS.get(sent.type)
    if modification is None:
        raise InvalidRequest(Rule.BATCH_WRITE_TYPE, value=sent.type)
    # One client leaves the condition out (protos §9); no condition is what its callers mean.
    expected = condition(sent.condition) if sent.HasField("condition") else UNCONDITIONAL
    key, cells = decode_row_change(sent.row_change, modification)
    return RowChange(table, modification, key, cells, expected, return_content(sent))


def _check_size(encoded: int, request: BatchWrite) -> None:
    """Refuse more data than the limit: bytes of names, values and versions, as clients count them.

    What is `encoded` is larger than the data in it, so most batches need no second look.
    """
    if encoded <= BATCH_WRITE_BYTES_MAX:
        return
    size = sum(_data_size(change) for table in request.tables for change in table.changes)
    if size > BATCH_WRITE_BYTES_MAX:
        raise InvalidRequest(Rule.BATCH_WRITE_SIZE, limit=BATCH_WRITE_BYTES_MAX, size=size)


def _data_size(change: RowChange) -> int:
    """What a row change counts in capacity units, and each version that it names (semantics §9)."""
    key = key_data_size(change.key, 0)
    versions = sum(cell.version is not None for cell in change.cells) if change.is_dated else 0
    return key + change.data_size + versions * VERSION_BYTES


def call(
    engine: TablestoreEngine, instance: str, request: BatchWrite | InTransaction[BatchWrite]
) -> Plan[BatchAnswer]:
    """Ask the engine; the plan's answer goes with the names of its tables."""
    if isinstance(request, InTransaction):
        batch = request.request
        plan = engine.transactions.batch_write_row(instance, *request)
    else:
        batch = request
        plan = engine.rows.batch_write_row(instance, request)
    return plan.answering(partial(BatchAnswer, tuple([table.table for table in batch.tables])))


def encode(result: BatchAnswer) -> bytes:
    """BatchWriteRowResponse."""
    return encode_batch(result)


def is_lengthy(body: bytes) -> bool:
    """Whether decoding takes a millisecond or more."""
    return len(body) > LENGTHY_BODY_BYTES
