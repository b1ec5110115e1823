"""BulkExport (change §D2): a page of a range, as a row matrix or in PlainBuffer."""

from typing import Final, NamedTuple

from widerow.engine.budget import Budget
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.static import check_table_name
from widerow.errors import InvalidRequest, Rule
from widerow.model.tablestore.answers import RangePage
from widerow.model.tablestore.requests import GetRange
from widerow.model.tablestore.selection import RangeDirection, RowRange
from widerow.rows.fields import field
from widerow.wire.tablestore.messages import BulkExportRequest, GetRangeRequest
from widerow.wire.tablestore.operations.answers import data_size_field, with_pieces
from widerow.wire.tablestore.operations.bodies import decoder, text, texts
from widerow.wire.tablestore.operations.reading import selection
from widerow.wire.tablestore.plainbuffer import decode_primary_key, encode_primary_key
from widerow.wire.tablestore.row_matrix import encode_matrix

__all__ = ["BulkExport", "BulkExported", "call", "call_within", "decode", "encode"]

_PLAIN: Final = 0  # of DataBlockType
_MATRIX: Final = 1
_IS_PLAIN: Final = b"\x20\x00"  # data_block_type
_IS_MATRIX: Final = b"\x20\x01"


class BulkExport(NamedTuple):
    """A range to read. `columns`: the names asked for, in their order; None: not as a matrix."""

    request: GetRange
    columns: tuple[str, ...] | None


class BulkExported(NamedTuple):
    """A page to answer. `key_names`: of the table. `columns` as in the request."""

    page: RangePage
    key_names: tuple[str, ...]
    columns: tuple[str, ...] | None


@decoder(BulkExportRequest)
def decode(sent: BulkExportRequest) -> BulkExport:
    """The range, read forward, and the columns asked for. Raises `InvalidRequest`."""
    table = text(sent.table_name)
    kind = sent.data_block_type_hint if sent.HasField("data_block_type_hint") else _MATRIX
    names = tuple(dict.fromkeys(texts(sent.columns_to_get)))
    if kind not in {_PLAIN, _MATRIX}:
        check_table_name(table)
        raise InvalidRequest(Rule.EXPORT_BLOCK_TYPE, value=kind)
    if kind == _MATRIX and not names:
        check_table_name(table)
        raise InvalidRequest(Rule.EXPORT_COLUMNS_MISSING)
    # The cells of a GetRange of the latest version: the same names, the same filter.
    read = GetRangeRequest(table_name=table, max_versions=1, columns_to_get=names)
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


def call(engine: TablestoreEngine, instance: str, request: BulkExport) -> BulkExported:
    """Ask the engine. Raises `InvalidRequest(EXPORT_ROW_SIZE)` for a row of several pages."""
    return _exported(engine, instance, request, None)


def call_within(
    engine: TablestoreEngine, instance: str, request: BulkExport, budget: Budget
) -> BulkExported:
    """Ask the engine. Raises `TooLong` where it takes more than `budget`."""
    return _exported(engine, instance, request, budget)


def _exported(
    engine: TablestoreEngine, instance: str, request: BulkExport, budget: Budget | None
) -> BulkExported:
    asked = request.request
    try:
        page = engine.rows.get_range(instance, asked, budget)
    except InvalidRequest as error:
        if error.rule is not Rule.KEY_SIZE:
            raise
        count, expected = error.details["count"], error.details["expected"]
        raise InvalidRequest(Rule.EXPORT_KEY_SIZE, count=count, expected=expected) from error
    if page.resume is not None:
        raise InvalidRequest(Rule.EXPORT_ROW_SIZE)
    key_names = tuple([name for name, _ in asked.range.start.columns])
    return BulkExported(page, key_names, request.columns)


def encode(result: BulkExported) -> bytes:
    """BulkExportResponse; without a next key when the range is exhausted (change §D2)."""
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
