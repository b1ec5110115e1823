"""BulkImport and BulkExport: rows of one table in bulk (change §D1, §D2).

BulkImport writes rows one by one and without conditions, and keeps the numbers that rows of a copy
have in an auto-increment column; BulkExport reads a page of a range, as a
row matrix or in PlainBuffer.
"""

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from widerow.engine.budget import Budget
from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.static import check_table_name
from widerow.errors import InvalidRequest
from widerow.limits import BATCH_WRITE_ROWS_MAX
from widerow.model.tablestore.answers import RangePage, RowOutcome
from widerow.model.tablestore.condition import UNCONDITIONAL
from widerow.model.tablestore.requests import BatchWrite, GetRange, TableWrite
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import RangeDirection, RowRange
from widerow.rows.fields import field
from widerow.safepoint import safepoint
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.answers import data_size_field, with_pieces
from widerow.wire.tablestore.operations.batches import encode_failure
from widerow.wire.tablestore.operations.bodies import decoder, text, texts
from widerow.wire.tablestore.operations.reading import selection
from widerow.wire.tablestore.operations.writing import MODIFICATIONS, key_data_size
from widerow.wire.tablestore.plainbuffer import (
    decode_primary_key,
    decode_row_change,
    encode_primary_key,
)
from widerow.wire.tablestore.row_matrix import encode_matrix

__all__ = ["BULK_ACTIONS", "BulkExport", "BulkExported", "BulkImported", "imported_size"]

_COUNTER_BYTES: Final = 8  # what the server puts in the place of the auto-increment marker
_DONE: Final = b"\x08\x01"
_PLAIN: Final = 0  # of DataBlockType
_MATRIX: Final = 1
_IS_PLAIN: Final = b"\x20\x00"  # data_block_type
_IS_MATRIX: Final = b"\x20\x01"


class BulkImported(NamedTuple):
    """What became of the rows of a BulkImport, in the order of the request.

    `sizes`: what each counts, in bytes of names and values of its key and cells.
    """

    table: str
    outcomes: Sequence[RowOutcome]
    sizes: tuple[int, ...]


class BulkExport(NamedTuple):
    """A range to read. `columns`: the names asked for, in their order; None: not as a matrix."""

    request: GetRange
    columns: tuple[str, ...] | None


class BulkExported(NamedTuple):
    """A page to answer. `key_names`: of the table. `columns` as in the request."""

    page: RangePage
    key_names: tuple[str, ...]
    columns: tuple[str, ...] | None


# --- BulkImport ------------------------------------------------------------------------------


@decoder(m.BulkImportRequest)
def _decode_import(sent: m.BulkImportRequest) -> BatchWrite:
    """Rows are counted before any is decoded."""
    table = text(sent.table_name)
    if not sent.rows:
        raise InvalidRequest(TablestoreRule.BATCH_WRITE_TABLE_EMPTY, table=table)
    if len(sent.rows) > BATCH_WRITE_ROWS_MAX:
        raise InvalidRequest(
            TablestoreRule.BATCH_WRITE_COUNT, limit=BATCH_WRITE_ROWS_MAX, count=len(sent.rows)
        )
    changes = tuple([_row(table, row) for row in sent.rows])
    return BatchWrite((TableWrite(table, changes),), declared=True)


def _row(table: str, sent: m.RowInBulkImportRequest) -> RowChange:
    safepoint()
    modification = MODIFICATIONS.get(sent.type)
    if modification is None:
        raise InvalidRequest(TablestoreRule.BATCH_WRITE_TYPE, value=sent.type)
    key, cells = decode_row_change(sent.row_change, modification)
    change = RowChange(table, modification, key, cells, UNCONDITIONAL)
    change.keeps_number = True
    return change


def _import(engine: TablestoreEngine, instance: str, request: BatchWrite) -> Plan[BulkImported]:
    """The rows, each on its own; what they count goes with the answer."""
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


def _encode_import(result: BulkImported) -> bytes:
    """A failed row has an error, any other the bytes that it counts."""
    rows = zip(result.outcomes, result.sizes, strict=True)
    return field(b"\x0a", result.table.encode()) + b"".join(
        [field(b"\x12", _answer(outcome, size)) for outcome, size in rows]
    )


def _answer(outcome: RowOutcome, size: int) -> bytes:
    if outcome.error is None:
        return _DONE + data_size_field(b"\x1a", 0, size)
    return encode_failure(outcome.error)


# --- BulkExport ------------------------------------------------------------------------------


@decoder(m.BulkExportRequest)
def _decode_export(sent: m.BulkExportRequest) -> BulkExport:
    """The range, read forward, and the columns asked for."""
    table = text(sent.table_name)
    kind = sent.data_block_type_hint if sent.HasField("data_block_type_hint") else _MATRIX
    names = tuple(dict.fromkeys(texts(sent.columns_to_get)))
    if kind not in {_PLAIN, _MATRIX}:
        check_table_name(table)
        raise InvalidRequest(TablestoreRule.EXPORT_BLOCK_TYPE, value=kind)
    if kind == _MATRIX and not names:
        check_table_name(table)
        raise InvalidRequest(TablestoreRule.EXPORT_COLUMNS_MISSING)
    # The cells of a GetRange of the latest version: the same names, the same filter.
    read = m.GetRangeRequest(table_name=table, max_versions=1, columns_to_get=names)
    if sent.filter:
        read.filter = sent.filter
    cells = selection(read)
    rows = RowRange(
        decode_primary_key(sent.inclusive_start_primary_key),
        decode_primary_key(sent.exclusive_end_primary_key),
        RangeDirection.FORWARD,
        None,
    )
    return BulkExport(GetRange(table, rows, cells), names if kind == _MATRIX else None)


def _export(
    engine: TablestoreEngine, instance: str, request: BulkExport, budget: Budget | None = None
) -> BulkExported:
    """Raises `InvalidRequest(EXPORT_ROW_SIZE)` for a row of several pages."""
    asked = request.request
    page = engine.rows.get_range(instance, asked, budget)
    if page.resume is not None:
        raise InvalidRequest(TablestoreRule.EXPORT_ROW_SIZE)
    key_names = tuple([name for name, _ in asked.range.start.columns])
    return BulkExported(page, key_names, request.columns)


def _encode_export(result: BulkExported) -> bytes:
    """Without a next key when the range is exhausted (change §D2)."""
    page, key_names, columns = result
    consumed = data_size_field(b"\x0a", page.data_size, 0)
    following = b""
    if page.next_key is not None:
        following = field(b"\x1a", encode_primary_key(*page.next_key))
    if columns is None:
        return with_pieces(consumed, b"\x12", page.pieces, following + _IS_PLAIN)
    attributes = [name for name in columns if name not in key_names]
    matrix = encode_matrix(page.pieces, key_names, attributes, columns)
    return b"".join((consumed, field(b"\x12", *matrix), following, _IS_MATRIX))


BULK_ACTIONS: Final[dict[str, Action]] = {
    "BulkImport": Action(_decode_import, _import, _encode_import),
    "BulkExport": Action(_decode_export, _export, _encode_export, _export),
}
