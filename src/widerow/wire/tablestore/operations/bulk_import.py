"""BulkImport (change §D1): rows of one table, written one by one and without conditions."""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule
from widerow.limits import BATCH_WRITE_ROWS_MAX, LENGTHY_BODY_BYTES
from widerow.model.tablestore.answers import RowOutcome
from widerow.model.tablestore.condition import UNCONDITIONAL
from widerow.model.tablestore.requests import BatchWrite, TableWrite
from widerow.model.tablestore.row import Modification, RowChange
from widerow.rows.fields import field
from widerow.safepoint import safepoint
from widerow.wire.tablestore.errors.answers import encode_error, foreign
from widerow.wire.tablestore.messages import BulkImportRequest, RowInBulkImportRequest
from widerow.wire.tablestore.operations.answers import data_size_field
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.writing import key_data_size
from widerow.wire.tablestore.plainbuffer import decode_row_change

__all__ = ["BulkImported", "call", "decode", "encode", "imported_size", "is_lengthy"]

_MODIFICATIONS: Final = {modification.value: modification for modification in Modification}
_COUNTER_BYTES: Final = 8  # what the server puts in the place of the auto-increment marker
_FAILED: Final = b"\x08\x00"
_DONE: Final = b"\x08\x01"


class BulkImported(NamedTuple):
    """What became of the rows of a BulkImport, in the order of the request.

    `sizes`: what each counts, in bytes of names and values of its key and cells.
    """

    table: str
    outcomes: Sequence[RowOutcome]
    sizes: tuple[int, ...]


@decoder(BulkImportRequest)
def decode(sent: BulkImportRequest) -> BatchWrite:
    """The row changes asked for. Raises `InvalidRequest` for the whole request.

    Rows are counted before any is decoded.
    """
    table = text(sent.table_name)
    if not sent.rows:
        raise InvalidRequest(Rule.BATCH_WRITE_TABLE_EMPTY, table=table)
    if len(sent.rows) > BATCH_WRITE_ROWS_MAX:
        raise InvalidRequest(
            Rule.BATCH_WRITE_COUNT, limit=BATCH_WRITE_ROWS_MAX, count=len(sent.rows)
        )
    changes = tuple([_row(table, row) for row in sent.rows])
    return BatchWrite((TableWrite(table, changes),), declared=True)


def _row(table: str, sent: RowInBulkImportRequest) -> RowChange:
    safepoint()
    modification = _MODIFICATIONS.get(sent.type)
    if modification is None:
        raise InvalidRequest(Rule.BATCH_WRITE_TYPE, value=sent.type)
    key, cells = decode_row_change(sent.row_change, modification)
    return RowChange(table, modification, key, cells, UNCONDITIONAL)


def call(engine: TablestoreEngine, instance: str, request: BatchWrite) -> Plan[BulkImported]:
    """Ask the engine for the rows, each on its own; what they count goes with the answer."""
    (asked,) = request.tables
    sizes = tuple([imported_size(change) for change in asked.changes])
    plan = engine.rows.batch_write_row(instance, request)
    return plan.answering(partial(_imported, asked.table, sizes))


def imported_size(change: RowChange) -> int:
    """What a row counts in the answer, in bytes."""
    return key_data_size(change.key, _COUNTER_BYTES) + change.data_size


def _imported(
    table: str, sizes: tuple[int, ...], outcomes: Sequence[Sequence[RowOutcome]]
) -> BulkImported:
    return BulkImported(table, outcomes[0], sizes)


def encode(result: BulkImported) -> bytes:
    """BulkImportResponse: a failed row has an error, any other the bytes that it counts."""
    rows = zip(result.outcomes, result.sizes, strict=True)
    return field(b"\x0a", result.table.encode()) + b"".join(
        [field(b"\x12", _answer(outcome, size)) for outcome, size in rows]
    )


def _answer(outcome: RowOutcome, size: int) -> bytes:
    if outcome.error is None:
        return _DONE + data_size_field(b"\x1a", 0, size)
    _, code, message = foreign(outcome.error)
    return _FAILED + field(b"\x12", encode_error(code, message))


def is_lengthy(body: bytes) -> bool:
    """Whether decoding takes a millisecond or more."""
    return len(body) > LENGTHY_BODY_BYTES
