"""GetRange (semantics §5.6)."""

from google.protobuf.message import DecodeError

from widerow.engine.engine import Engine
from widerow.engine.static import check_table_name
from widerow.errors import InvalidRequest, Rule, Unsupported
from widerow.limits import LENGTHY_RANGE_ROWS
from widerow.model.answers import RangePage
from widerow.model.requests import GetRange
from widerow.model.selection import Direction, RowRange
from widerow.wire.tablestore.messages import GetRangeRequest
from widerow.wire.tablestore.operations.answers import consumed_field, field, with_pieces
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.reading import check_no_transaction, selection
from widerow.wire.tablestore.operations.tokens import decode_token, encode_token
from widerow.wire.tablestore.plainbuffer import decode_primary_key, encode_primary_key

__all__ = ["call", "decode", "encode", "is_lengthy"]

_DIRECTIONS = {direction.value: direction for direction in Direction}


@decoder(GetRangeRequest)
def decode(sent: GetRangeRequest) -> GetRange:
    """The range, and the cells of its rows that are asked for. Raises `InvalidRequest`.

    The hints for the encoding of the answer (`data_block_type_hint`, `compress_type_hint`) and for
    caching are left aside, as the protocol lets a server do.
    """
    check_no_transaction(sent)
    cells = selection(sent)
    table = text(sent.table_name)
    return GetRange(table, _range(sent, table), cells, decode_token(sent.token))


def _range(sent: GetRangeRequest, table: str) -> RowRange:
    if not sent.return_entire_primary_keys:
        raise Unsupported(Rule.FEATURE_UNSUPPORTED, feature="return_entire_primary_keys=false")
    direction = _DIRECTIONS.get(sent.direction)
    if direction is None:
        raise InvalidRequest(Rule.RANGE_DIRECTION, value=sent.direction)
    limit = sent.limit if sent.HasField("limit") else None
    if limit is not None and limit <= 0:
        check_table_name(table)  # a wrong name is what gets reported (semantics §1.4)
        raise InvalidRequest(Rule.RANGE_LIMIT, value=limit)
    return RowRange(
        decode_primary_key(sent.inclusive_start_primary_key),
        decode_primary_key(sent.exclusive_end_primary_key),
        direction,
        limit,
    )


def call(engine: Engine, instance: str, request: GetRange) -> RangePage:
    """Ask the engine."""
    return engine.get_range(instance, request)


def encode(result: RangePage) -> bytes:
    """GetRangeResponse; without a next key when the range is exhausted (protos §0 rule 3)."""
    consumed = consumed_field(b"\x0a", result.read_units, 0)
    following = b""
    if result.next_key is not None:
        following = field(b"\x1a", encode_primary_key(*result.next_key))
    if result.resume is not None:
        following += field(b"\x22", encode_token(result.resume))
    return with_pieces(consumed, b"\x12", result.pieces, following)


def is_lengthy(body: bytes) -> bool:
    """Whether the page may be a large one. A body that cannot be read is refused soon enough."""
    try:
        limit = GetRangeRequest.FromString(body).limit
    except DecodeError:
        return False
    return not 0 < limit <= LENGTHY_RANGE_ROWS
