"""GetRow (semantics §5)."""

from widerow.engine.engine import Engine
from widerow.errors import Rule
from widerow.model.requests import GetRow, RowRead
from widerow.wire.tablestore.messages import GetRowRequest
from widerow.wire.tablestore.operations.answers import consumed_field, with_rows
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.reading import check_unfinished, selection
from widerow.wire.tablestore.plainbuffer import decode_primary_key

__all__ = ["call", "decode", "encode"]


@decoder(GetRowRequest)
def decode(sent: GetRowRequest) -> GetRow:
    """The row and the cells of it that are asked for. Raises `InvalidRequest`."""
    check_unfinished(sent)
    cells = selection(sent, Rule.VERSION_CONDITION_MISSING)
    return GetRow(text(sent.table_name), decode_primary_key(sent.primary_key), cells)


def call(engine: Engine, instance: str, request: GetRow) -> RowRead:
    """Ask the engine."""
    return engine.get_row(instance, request)


def encode(result: RowRead) -> bytes:
    """GetRowResponse; its row is of no bytes where there is none."""
    return with_rows(consumed_field(b"\x0a", result.read_units, 0), b"\x12", result.row)
