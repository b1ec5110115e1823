"""GetRange (semantics §5.6), in rows or as a row matrix (wire §2.6)."""

from typing import Final, NamedTuple

from google.protobuf.message import DecodeError

from widerow.engine.budget import Budget
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.static import check_table_name
from widerow.errors import InvalidRequest, NotFound, Unsupported
from widerow.limits import LENGTHY_BODY_BYTES, LENGTHY_RANGE_ROWS
from widerow.model.tablestore.answers import RangePage
from widerow.model.tablestore.requests import GetRange, InTransaction
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.selection import RangeDirection, RowRange, Selection
from widerow.rows.fields import field
from widerow.wire.tablestore.messages import GetRangeRequest
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.answers import consumed_field, with_pieces
from widerow.wire.tablestore.operations.beside import get_range_beside
from widerow.wire.tablestore.operations.bodies import decoder, text, texts
from widerow.wire.tablestore.operations.reading import selection
from widerow.wire.tablestore.operations.tokens import decode_token, encode_token
from widerow.wire.tablestore.plainbuffer import decode_primary_key, encode_primary_key
from widerow.wire.tablestore.row_matrix import encode_matrix

__all__ = ["RANGE_ACTIONS", "AskedRange", "MatrixPage", "MatrixRange", "is_lengthy"]

_DIRECTIONS = {direction.value: direction for direction in RangeDirection}
_ROW_MATRIX: Final = 1  # of DataBlockType
_IS_MATRIX: Final = b"\x28\x01"  # data_block_type = 1


class MatrixRange(NamedTuple):
    """A range of which the answer is wanted as a row matrix of these columns."""

    request: GetRange | InTransaction[GetRange]
    key_names: tuple[str, ...]
    columns: tuple[str, ...]


AskedRange = GetRange | InTransaction[GetRange] | MatrixRange
"""A range as it is asked for."""


class MatrixPage(NamedTuple):
    """A page that is answered as a row matrix of these columns."""

    page: RangePage
    key_names: tuple[str, ...]
    columns: tuple[str, ...]

    @property
    def read_units(self) -> int:
        """The read units of the page."""
        return self.page.read_units


@decoder(GetRangeRequest)
def _decode(sent: GetRangeRequest) -> AskedRange:
    """Hints for compression and for caching are left aside, as the protocol lets a server do."""
    cells = selection(sent)
    table = text(sent.table_name)
    rows = _range(sent, table)
    read = GetRange(table, rows, cells, decode_token(sent.token))
    request: GetRange | InTransaction[GetRange] = read
    if sent.HasField("transaction_id"):
        request = InTransaction(text(sent.transaction_id), read)
    if sent.data_block_type_hint != _ROW_MATRIX or not _fits_matrix(read):
        return request
    key_names = tuple([name for name, _ in rows.start.columns])
    names = dict.fromkeys(texts(sent.columns_to_get))
    return MatrixRange(request, key_names, tuple([each for each in names if each not in key_names]))


def _fits_matrix(request: GetRange) -> bool:
    """Whether a row matrix can say all of the answer; what it cannot is answered in rows.

    A matrix names its columns, holds one version of each, and a row of it is whole (wire §2.6).
    """
    cells = request.selection
    return bool(cells.columns) and request.resume is None and _has_one_version(cells)


def _has_one_version(cells: Selection) -> bool:
    times = cells.time_range
    return cells.max_versions == 1 or (times is not None and times.end - times.start == 1)


def _range(sent: GetRangeRequest, table: str) -> RowRange:
    if not sent.return_entire_primary_keys:
        raise Unsupported(
            TablestoreRule.FEATURE_UNSUPPORTED, feature="return_entire_primary_keys=false"
        )
    direction = _DIRECTIONS.get(sent.direction)
    if direction is None:
        raise InvalidRequest(TablestoreRule.RANGE_DIRECTION, value=sent.direction)
    limit = sent.limit if sent.HasField("limit") else None
    if limit is not None and limit <= 0:
        check_table_name(table)  # a wrong name is what gets reported (semantics §1.4)
        raise InvalidRequest(TablestoreRule.RANGE_LIMIT, value=limit)
    return RowRange(
        decode_primary_key(sent.inclusive_start_primary_key),
        decode_primary_key(sent.exclusive_end_primary_key),
        direction,
        limit,
    )


def _get(
    engine: TablestoreEngine, instance: str, request: AskedRange, budget: Budget | None = None
) -> RangePage | MatrixPage:
    """A page without rows, or that ends inside one, is not a matrix."""
    asked = request.request if isinstance(request, MatrixRange) else request
    if isinstance(asked, InTransaction):
        page = engine.transactions.get_range(instance, *asked, budget)
    else:
        page = _read(engine, instance, asked, budget)
    if not isinstance(request, MatrixRange) or not page.pieces or page.resume is not None:
        return page
    return MatrixPage(page, request.key_names, request.columns)


def _read(
    engine: TablestoreEngine, instance: str, request: GetRange, budget: Budget | None
) -> RangePage:
    try:
        return engine.rows.get_range(instance, request, budget)
    except (NotFound, InvalidRequest) as error:
        return get_range_beside(engine, instance, request, budget, error)


def _encode(result: RangePage | MatrixPage) -> bytes:
    """Without a next key when the range is exhausted (protos §0 rule 3)."""
    if isinstance(result, MatrixPage):
        return _encode_matrix(result)
    consumed = consumed_field(b"\x0a", result.read_units, 0)
    following = b""
    if result.next_key is not None:
        following = field(b"\x1a", encode_primary_key(*result.next_key))
    if result.resume is not None:
        following += field(b"\x22", encode_token(result.resume))
    return with_pieces(consumed, b"\x12", result.pieces, following)


def _encode_matrix(result: MatrixPage) -> bytes:
    page = result.page
    parts = [
        consumed_field(b"\x0a", page.read_units, 0),
        field(b"\x12", *encode_matrix(page.pieces, result.key_names, result.columns)),
    ]
    if page.next_key is not None:
        parts.append(field(b"\x1a", encode_primary_key(*page.next_key)))
    return b"".join((*parts, _IS_MATRIX))


def is_lengthy(body: bytes) -> bool:
    """Whether the page may be a large one. A body that cannot be read is refused soon enough."""
    if len(body) > LENGTHY_BODY_BYTES:
        return True
    try:
        limit = GetRangeRequest.FromString(body).limit
    except DecodeError:
        return False
    return not 0 < limit <= LENGTHY_RANGE_ROWS


RANGE_ACTIONS: Final[dict[str, Action]] = {"GetRange": Action(_decode, _get, _encode, _get)}
