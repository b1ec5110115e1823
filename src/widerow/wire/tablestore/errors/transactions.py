"""What clients are told of local transactions (change §B2)."""

from typing import Final

from widerow.errors import AnyRule, Rule
from widerow.model.tablestore.rules import TablestoreRule
from widerow.wire.tablestore.errors import codes as c
from widerow.wire.tablestore.errors.row import Foreign

__all__ = ["TRANSACTION_ERRORS"]


TRANSACTION_ERRORS: Final[dict[AnyRule, Foreign]] = {
    TablestoreRule.TRANSACTION_KEY: c.INVALID(
        "StartLocalTransaction support only one primary key.",
        "a transaction is begun with another number of key columns than one",
    ),
    TablestoreRule.TRANSACTIONS_DISABLED: c.INVALID(
        "Try to call method using explicit transaction on explicit-transaction-disabled table.",
        "a transaction is begun on a table that was created without them",
    ),
    Rule.KEY_LOCKED: c.ROW_OPERATION_CONFLICT(
        "Data is being modified by the other request.",
        "a local transaction holds the partition key value that is written or locked",
    ),
    TablestoreRule.TRANSACTION_ENDED: c.SESSION_NOT_EXIST(
        "Session not exist or may be timeout.", "the id of a transaction that has ended"
    ),
    TablestoreRule.TRANSACTION_BUSY: c.SESSION_BUSY.ours(
        "The session is busy.", "a second request with a transaction's id while one is at work"
    ),
    TablestoreRule.TRANSACTION_SIZE: c.OUT_OF_TRANSACTION_DATA_SIZE_LIMIT.ours(
        "The data written in the transaction exceeds the limit of {limit} bytes.",
        "more data written in one transaction than it may write",
    ),
    TablestoreRule.TRANSACTION_SCOPE: c.DATA_OUT_OF_RANGE.ours(
        "The data is out of the range of the transaction.",
        "another table than the transaction's, or a write of another partition key value",
    ),
    TablestoreRule.TRANSACTION_ATOMIC_BATCH: c.ROW_OPERATION_CONFLICT(
        "Data is being modified by the other request.",
        "an atomic batch inside a transaction; so each of its rows is answered",
    ),
    TablestoreRule.TRANSACTION_COUNT: c.SERVER_BUSY.ours(
        "Server is busy.", "more transactions open in the instance than it may have"
    ),
    TablestoreRule.TRANSACTION_MEMORY: c.SERVER_BUSY.ours(
        "Server is busy.", "what is written in all open transactions takes more memory than it may"
    ),
}
