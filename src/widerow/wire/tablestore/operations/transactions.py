"""StartLocalTransaction, CommitTransaction and AbortTransaction (change §B1)."""

from typing import Final, NamedTuple

from widerow.engine.tablestore.static import check_table_name
from widerow.model.tablestore.row import PrimaryKey
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.plainbuffer import decode_primary_key

__all__ = ["TRANSACTION_ACTIONS", "StartTransaction"]


class StartTransaction(NamedTuple):
    """Begin a transaction on the key value of a table."""

    table: str
    key: PrimaryKey


@decoder(m.StartLocalTransactionRequest)
def _start(sent: m.StartLocalTransactionRequest) -> StartTransaction:
    """What is wrong with the table's name comes before what is wrong with the key."""
    table = text(sent.table_name)
    check_table_name(table)
    return StartTransaction(table, decode_primary_key(sent.key))


TRANSACTION_ACTIONS: Final[dict[str, Action]] = {
    "StartLocalTransaction": Action(
        _start,
        lambda engine, instance, asked: engine.transactions.start(instance, *asked),
        lambda id_: m.StartLocalTransactionResponse(transaction_id=id_).SerializeToString(),
    ),
    "CommitTransaction": Action(
        decoder(m.CommitTransactionRequest)(lambda sent: text(sent.transaction_id)),
        lambda engine, instance, asked: engine.transactions.commit(instance, asked),
    ),
    # The answer is the id, for clients that read it as the request (change §0).
    "AbortTransaction": Action(
        decoder(m.AbortTransactionRequest)(lambda sent: text(sent.transaction_id)),
        lambda engine, instance, asked: engine.transactions.abort(instance, asked),
        lambda id_: m.AbortTransactionResponse(transaction_id=id_).SerializeToString(),
    ),
}
