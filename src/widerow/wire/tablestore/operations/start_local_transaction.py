"""StartLocalTransaction (change §B1)."""

from typing import NamedTuple

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.engine.tablestore.static import check_table_name
from widerow.model.tablestore.row import PrimaryKey
from widerow.wire.tablestore.messages import (
    StartLocalTransactionRequest,
    StartLocalTransactionResponse,
)
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.plainbuffer import decode_primary_key

__all__ = ["StartTransaction", "call", "decode", "encode"]


class StartTransaction(NamedTuple):
    """Begin a transaction on the key value of a table."""

    table: str
    key: PrimaryKey


@decoder(StartLocalTransactionRequest)
def decode(sent: StartLocalTransactionRequest) -> StartTransaction:
    """The table and the partition key value. Raises `InvalidRequest`; the name comes first."""
    table = text(sent.table_name)
    check_table_name(table)
    return StartTransaction(table, decode_primary_key(sent.key))


def call(engine: TablestoreEngine, instance: str, request: StartTransaction) -> Plan[str]:
    """Ask the engine."""
    return engine.transactions.start(instance, request.table, request.key)


def encode(result: str) -> bytes:
    """StartLocalTransactionResponse."""
    return StartLocalTransactionResponse(transaction_id=result).SerializeToString()
