"""StartLocalTransaction, CommitTransaction and AbortTransaction (change §B1)."""

from typing import Final, NamedTuple

from widerow.engine.tablestore.static import check_table_name
from widerow.model.tablestore.row import PrimaryKey
from widerow.rows.fields import field
from widerow.wire.tablestore import messages as m
from widerow.wire.tablestore.operations.action import Action
from widerow.wire.tablestore.operations.answers import consumed_field
from widerow.wire.tablestore.operations.bodies import decoder, text
from widerow.wire.tablestore.plainbuffer import decode_primary_key

__all__ = ["TRANSACTION_ACTIONS", "TRANSACTION_UNITS", "StartTransaction"]

TRANSACTION_UNITS: Final = (0, 1)  # of reading and writing, of a begin and of an end (change §B3)


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


def _ended(_answer: object) -> bytes:
    """What was consumed, in field 1: one client needs a text there (change §0)."""
    return consumed_field(b"\x0a", *TRANSACTION_UNITS)


TRANSACTION_ACTIONS: Final[dict[str, Action]] = {
    "StartLocalTransaction": Action(
        _start,
        lambda engine, instance, asked: engine.transactions.start(instance, *asked),
        lambda id_: field(b"\x0a", id_.encode()) + consumed_field(b"\x12", *TRANSACTION_UNITS),
    ),
    "CommitTransaction": Action(
        decoder(m.CommitTransactionRequest)(lambda sent: text(sent.transaction_id)),
        lambda engine, instance, asked: engine.transactions.commit(instance, asked),
        _ended,
    ),
    "AbortTransaction": Action(
        decoder(m.AbortTransactionRequest)(lambda sent: text(sent.transaction_id)),
        lambda engine, instance, asked: engine.transactions.abort(instance, asked),
        _ended,
    ),
}
