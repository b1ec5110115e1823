"""AbortTransaction (change §B1)."""

from widerow.engine.plan import Plan
from widerow.engine.tablestore.engine import TablestoreEngine
from widerow.wire.tablestore.messages import AbortTransactionRequest, AbortTransactionResponse
from widerow.wire.tablestore.operations.bodies import decoder, text

__all__ = ["call", "decode", "encode"]


@decoder(AbortTransactionRequest)
def decode(sent: AbortTransactionRequest) -> str:
    """The transaction's id. Raises `InvalidRequest`."""
    return text(sent.transaction_id)


def call(engine: TablestoreEngine, instance: str, request: str) -> Plan[str]:
    """Ask the engine."""
    return engine.transactions.abort(instance, request)


def encode(result: str) -> bytes:
    """AbortTransactionResponse: the id, for clients that read it as the request (change §0)."""
    return AbortTransactionResponse(transaction_id=result).SerializeToString()
