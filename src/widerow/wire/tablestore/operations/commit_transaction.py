"""CommitTransaction (change §B1)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.wire.tablestore.messages import CommitTransactionRequest
from widerow.wire.tablestore.operations.bodies import decoder, text

__all__ = ["call", "decode", "encode"]


@decoder(CommitTransactionRequest)
def decode(sent: CommitTransactionRequest) -> str:
    """The transaction's id. Raises `InvalidRequest`."""
    return text(sent.transaction_id)


def call(engine: TablestoreEngine, instance: str, request: str) -> Plan[None]:
    """Ask the engine."""
    return engine.transactions.commit(instance, request)


def encode(_result: None) -> bytes:
    """CommitTransactionResponse, which is empty."""
    return b""
