"""GetRow (semantics §5)."""

from widerow.engine.engine import Engine
from widerow.errors import Rule
from widerow.model.answers import RowRead
from widerow.model.requests import GetRow
from widerow.wire.tablestore.messages import GetRowRequest
from widerow.wire.tablestore.operations.answers import consumed_field, field, with_rows
from widerow.wire.tablestore.operations.bodies import (
    check_complete,
    least_bytes,
    sized_decoder,
    text,
)
from widerow.wire.tablestore.operations.reading import (
    check_no_transaction,
    selection,
    whole_rows,
)
from widerow.wire.tablestore.operations.tokens import decode_token, encode_token
from widerow.wire.tablestore.plainbuffer import decode_primary_key

__all__ = ["call", "decode", "encode"]


@sized_decoder(GetRowRequest, complete=False)
def decode(sent: GetRowRequest, size: int) -> GetRow:
    """The row and the cells of it that are asked for. Raises `InvalidRequest`."""
    table, section, versions = text(sent.table_name), sent.primary_key, sent.max_versions
    # Nearly every read asks for whole rows: with the versions in two bytes it says no more. What
    # is required is there if it is not empty.
    if 0 < versions < 0x80 and table and section and size == least_bytes(table, section) + 2:
        return GetRow(table, decode_primary_key(section), whole_rows(versions))
    check_complete(sent)
    check_no_transaction(sent)
    cells = selection(sent, Rule.VERSION_CONDITION_MISSING)
    return GetRow(table, decode_primary_key(section), cells, decode_token(sent.token))


def call(engine: Engine, instance: str, request: GetRow) -> RowRead:
    """Ask the engine."""
    return engine.get_row(instance, request)


def encode(result: RowRead) -> bytes:
    """GetRowResponse; its row is of no bytes where there is none, a token says it goes on."""
    consumed = consumed_field(b"\x0a", result.read_units, 0)
    if result.resume is None:
        return with_rows(consumed, b"\x12", result.row)
    next_token = field(b"\x1a", encode_token(result.resume))
    return with_rows(consumed, b"\x12", result.row, next_token)
