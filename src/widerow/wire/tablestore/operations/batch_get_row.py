"""BatchGetRow (semantics §5.5)."""

from widerow.engine.budget import Budget
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.errors import InvalidRequest, Rule
from widerow.limits import BATCH_GET_ROWS_MAX
from widerow.model.tablestore.requests import BatchGet, TableGet
from widerow.model.tablestore.selection import Resume
from widerow.wire.tablestore.messages import BatchGetRowRequest, TableInBatchGetRowRequest
from widerow.wire.tablestore.operations.batches import BatchAnswer, encode_batch
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.operations.reading import selection
from widerow.wire.tablestore.operations.tokens import decode_token
from widerow.wire.tablestore.plainbuffer import decode_primary_key

__all__ = ["call", "call_within", "decode", "encode"]


@decoder(BatchGetRowRequest)
def decode(sent: BatchGetRowRequest) -> BatchGet:
    """The rows asked for, table by table. Raises `InvalidRequest` for the batch as a whole.

    Rows are counted before any is decoded. A table without rows is fine, no table is not.
    """
    if not sent.tables:
        raise InvalidRequest(Rule.BATCH_GET_EMPTY)
    count = sum(len(table.primary_key) for table in sent.tables)
    if count > BATCH_GET_ROWS_MAX:
        raise InvalidRequest(Rule.BATCH_GET_COUNT, limit=BATCH_GET_ROWS_MAX, count=count)
    return BatchGet(tuple([_table(table) for table in sent.tables]))


def _table(sent: TableInBatchGetRowRequest) -> TableGet:
    cells = selection(sent)
    keys = tuple([decode_primary_key(key) for key in sent.primary_key])
    return TableGet(text(sent.table_name), keys, cells, _resumes(sent))


def _resumes(sent: TableInBatchGetRowRequest) -> tuple[Resume | None, ...]:
    """Tokens stand beside the keys, one for each, or there are none at all."""
    tokens = sent.token
    if tokens and len(tokens) != len(sent.primary_key):
        raise InvalidRequest(Rule.READ_TOKEN)
    return tuple([decode_token(token) for token in tokens])


def call(engine: TablestoreEngine, instance: str, request: BatchGet) -> BatchAnswer:
    """Ask the engine."""
    return BatchAnswer(_names(request), engine.rows.batch_get_row(instance, request))


def call_within(
    engine: TablestoreEngine, instance: str, request: BatchGet, budget: Budget
) -> BatchAnswer:
    """Ask the engine. Raises `TooLong` where it takes more than `budget`."""
    return BatchAnswer(_names(request), engine.rows.batch_get_row(instance, request, budget))


def _names(request: BatchGet) -> tuple[str, ...]:
    return tuple([table.table for table in request.tables])


def encode(result: BatchAnswer) -> bytes:
    """BatchGetRowResponse."""
    return encode_batch(result)
