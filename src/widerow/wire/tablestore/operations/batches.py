"""BatchGetRow and BatchWriteRow (semantics §4.8, §5.5).

The engine answers rows in the order asked; the response repeats the names of their tables, so a
call carries them along. Rows are counted before any is decoded. Compiled.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from typing import Final, NamedTuple

from widerow.engine.budget import Budget
from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest
from widerow.limits import (
    BATCH_GET_ROWS_MAX,
    BATCH_WRITE_BYTES_MAX,
    BATCH_WRITE_ROWS_MAX,
    VERSION_BYTES,
)
from widerow.model.tablestore.answers import RowOutcome
from widerow.model.tablestore.condition import UNCONDITIONAL
from widerow.model.tablestore.requests import (
    BatchGet,
    BatchWrite,
    InTransaction,
    TableGet,
    TableWrite,
)
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import Resume
from widerow.rows.cells import PLAIN_HEADER
from widerow.rows.fields import field, varint
from widerow.safepoint import safepoint
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.errors.answers import encode_error, foreign
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.answers import consumed_field
from widerow.wire.tablestore.operations.beside import (
    batch_get_beside,
    batch_write_beside,
    is_beside,
)
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.reading import selection
from widerow.wire.tablestore.operations.short_form import ShortEntry, short_batch
from widerow.wire.tablestore.operations.tokens import decode_token, encode_token
from widerow.wire.tablestore.operations.writing import (
    EXPECTATIONS,
    MODIFICATIONS,
    RETURN_TYPES,
    condition,
    key_data_size,
    return_content,
)
from widerow.wire.tablestore.plainbuffer import decode_primary_key, decode_row_change

__all__ = ["BATCH_ACTIONS", "BatchAnswer", "batch_units", "encode_failure"]

_FAILED: Final = b"\x08\x00"
_DONE: Final = b"\x08\x01"


class BatchAnswer(NamedTuple):
    """The outcomes of a batch, one list a table, and the tables' names in the same order."""

    tables: tuple[str, ...]
    outcomes: Sequence[Sequence[RowOutcome]]


# --- BatchGetRow -----------------------------------------------------------------------------


@decoder(m.BatchGetRowRequest)
def _decode_get(sent: m.BatchGetRowRequest) -> BatchGet:
    """The rows asked for, table by table. A table without rows is fine, no table is not."""
    if not sent.tables:
        raise InvalidRequest(TablestoreRule.BATCH_GET_EMPTY)
    count = sum(len(table.primary_key) for table in sent.tables)
    if count > BATCH_GET_ROWS_MAX:
        raise InvalidRequest(TablestoreRule.BATCH_GET_COUNT, limit=BATCH_GET_ROWS_MAX, count=count)
    return BatchGet(tuple([_table_get(table) for table in sent.tables]))


def _table_get(sent: m.TableInBatchGetRowRequest) -> TableGet:
    cells = selection(sent)
    keys = tuple([decode_primary_key(key) for key in sent.primary_key])
    return TableGet(text(sent.table_name), keys, cells, _resumes(sent))


def _resumes(sent: m.TableInBatchGetRowRequest) -> tuple[Resume | None, ...]:
    """Tokens stand beside the keys, one for each, or there are none at all."""
    tokens = sent.token
    if tokens and len(tokens) != len(sent.primary_key):
        raise InvalidRequest(TablestoreRule.READ_TOKEN)
    return tuple([decode_token(token) for token in tokens])


def _get(
    engine: TablestoreEngine, instance: str, request: BatchGet, budget: Budget | None = None
) -> BatchAnswer:
    names = tuple([table.table for table in request.tables])
    return BatchAnswer(names, batch_get_beside(engine, instance, request, budget))


# --- BatchWriteRow ---------------------------------------------------------------------------


def _decode_write(body: bytes) -> BatchWrite | InTransaction[BatchWrite]:
    """The row changes asked for, table by table."""
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
    modification = MODIFICATIONS[number]
    key, cells = decode_row_change(body, modification, start, end)
    expected, returns = EXPECTATIONS[expectation], RETURN_TYPES[returned]
    return RowChange(table, modification, key, cells, expected, returns)


@decoder(m.BatchWriteRowRequest)
def _decode_message(sent: m.BatchWriteRowRequest) -> BatchWrite | InTransaction[BatchWrite]:
    if not sent.tables:
        raise InvalidRequest(TablestoreRule.BATCH_WRITE_EMPTY)
    for table in sent.tables:
        if not table.rows:
            raise InvalidRequest(
                TablestoreRule.BATCH_WRITE_TABLE_EMPTY, table=text(table.table_name)
            )
    count = sum(len(table.rows) for table in sent.tables)
    if count > BATCH_WRITE_ROWS_MAX:
        raise InvalidRequest(
            TablestoreRule.BATCH_WRITE_COUNT, limit=BATCH_WRITE_ROWS_MAX, count=count
        )
    request = BatchWrite(tuple([_table_write(table) for table in sent.tables]), sent.is_atomic)
    _check_size(sum(len(row.row_change) for table in sent.tables for row in table.rows), request)
    if sent.HasField("transaction_id"):
        return InTransaction(text(sent.transaction_id), request)
    return request


def _table_write(sent: m.TableInBatchWriteRowRequest) -> TableWrite:
    name = text(sent.table_name)
    return TableWrite(name, tuple([_row(name, row) for row in sent.rows]))


def _row(table: str, sent: m.RowInBatchWriteRowRequest) -> RowChange:
    safepoint()
    modification = MODIFICATIONS.get(sent.type)
    if modification is None:
        raise InvalidRequest(TablestoreRule.BATCH_WRITE_TYPE, value=sent.type)
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
        raise InvalidRequest(
            TablestoreRule.BATCH_WRITE_SIZE, limit=BATCH_WRITE_BYTES_MAX, size=size
        )


def _data_size(change: RowChange) -> int:
    """What a row change counts in capacity units, and each version that it names (semantics §9)."""
    key = key_data_size(change.key, 0)
    versions = sum(cell.version is not None for cell in change.cells) if change.is_dated else 0
    return key + change.data_size + versions * VERSION_BYTES


def _write(
    engine: TablestoreEngine, instance: str, request: BatchWrite | InTransaction[BatchWrite]
) -> Plan[BatchAnswer]:
    if isinstance(request, InTransaction):
        batch = request.request
        plan = engine.transactions.batch_write_row(instance, *request)
    elif is_beside([table.table for table in request.tables]):
        batch = request
        plan = batch_write_beside(engine, instance, request)
    else:
        batch = request
        plan = engine.rows.batch_write_row(instance, request)
    return plan.answering(partial(BatchAnswer, tuple([table.table for table in batch.tables])))


# --- answers ---------------------------------------------------------------------------------


def _encode(answer: BatchAnswer) -> bytes:
    """Rows are copied once: lengths are added up before anything is joined."""
    pieces: list[bytes] = []
    for name, outcomes in zip(answer.tables, answer.outcomes, strict=True):
        table, rows = field(b"\x0a", name.encode()), _rows(outcomes)
        pieces.append(b"\x0a%b%b" % (varint(len(table) + sum(map(len, rows))), table))
        pieces += rows
    return b"".join(pieces)


def _rows(outcomes: Iterable[RowOutcome]) -> list[bytes]:
    """The fields of the rows of one table, in pieces."""
    pieces: list[bytes] = []
    for outcome in outcomes:
        written, read = outcome.written, outcome.read
        if written is not None:
            if not written.row:
                pieces.append(_written(written.read_units, written.write_units))
                continue
            row, token = written.row, b""
            done = _DONE + consumed_field(b"\x1a", written.read_units, written.write_units)
        elif read is not None:
            row = read.row
            token = b"" if read.resume is None else field(b"\x2a", encode_token(read.resume))
            done = _DONE + consumed_field(b"\x1a", read.read_units, 0)
        else:
            assert outcome.error is not None, "an outcome is a read, a write or an error"
            pieces.append(field(b"\x12", encode_failure(outcome.error)))
            continue
        # No field for no row: one client's older releases try to read a row from empty bytes.
        if row:
            done = b"%b\x22%b%b" % (done, varint(len(PLAIN_HEADER) + len(row)), PLAIN_HEADER)
        pieces.append(b"\x12%b%b" % (varint(len(done) + len(row) + len(token)), done))
        pieces.append(row)
        if token:
            pieces.append(token)
    return pieces


def encode_failure(error: Exception) -> bytes:
    """A failed row has an error with a message, any other what it consumed (protos §0 rule 6)."""
    _, code, message = foreign(error)
    return _FAILED + field(b"\x12", encode_error(code, message))


def _write_done(read_units: int, write_units: int) -> bytes:
    return field(b"\x12", _DONE, consumed_field(b"\x1a", read_units, write_units))


_written: Final = lru_cache(maxsize=256)(_write_done)  # most rows of a batch cost the same


def batch_units(result: BatchAnswer) -> tuple[int, int]:
    """Of all rows of a batch that did not fail."""
    read = write = 0
    for rows in result.outcomes:
        for outcome in rows:
            if outcome.read is not None:
                read += outcome.read.read_units
            elif outcome.written is not None:
                read += outcome.written.read_units
                write += outcome.written.write_units
    return read, write


BATCH_ACTIONS: Final[dict[str, Action]] = {
    "BatchGetRow": Action(_decode_get, _get, _encode, _get),
    "BatchWriteRow": Action(_decode_write, _write, _encode),
}
