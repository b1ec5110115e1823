"""What clients are told about local transactions: a part of `error_table.py`.

Codes and texts of change §B2. Statuses that no client shows are ours, and so are texts that are
marked as not published.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from widerow.errors import Rule

__all__ = ["TRANSACTION_ERRORS"]

Answer = tuple[str, int, str, str, bool]

_CONFLICT: Final = ("OTSRowOperationConflict", 409, "Data is being modified by the other request.")

TRANSACTION_ERRORS: Final[Mapping[Rule, Answer]] = MappingProxyType(
    {
        Rule.TRANSACTION_KEY: (
            "OTSParameterInvalid",
            400,
            "StartLocalTransaction support only one primary key.",
            "a transaction is begun with another number of key columns than one",
            True,
        ),
        Rule.TRANSACTIONS_DISABLED: (
            "OTSParameterInvalid",
            400,
            "Try to call method using explicit transaction on explicit-transaction-disabled table.",
            "a transaction is begun on a table that was created without them",
            True,
        ),
        Rule.TRANSACTIONS_SHARED: (
            "OTSUnsupportOperation",
            400,
            "This action is not supported: local transactions on a store that processes share.",
            "a transaction is begun on a store that other processes may write",
            False,
        ),
        Rule.KEY_LOCKED: (
            *_CONFLICT,
            "a local transaction holds the partition key value that is written or locked",
            True,
        ),
        Rule.TRANSACTION_ENDED: (
            "OTSSessionNotExist",
            404,
            "Session not exist or may be timeout.",
            "the id of a transaction that has ended",
            True,
        ),
        Rule.TRANSACTION_BUSY: (
            "OTSSessionBusy",
            409,
            "The session is busy.",
            "a second request with a transaction's id while one is at work",
            False,
        ),
        Rule.TRANSACTION_SIZE: (
            "OTSOutOfTransactionDataSizeLimit",
            400,
            "The data written in the transaction exceeds the limit of {limit} bytes.",
            "more data written in one transaction than it may write",
            False,
        ),
        Rule.TRANSACTION_SCOPE: (
            "OTSDataOutOfRange",
            400,
            "The data is out of the range of the transaction.",
            "another table than the transaction's, or a write of another partition key value",
            False,
        ),
        Rule.TRANSACTION_ATOMIC_BATCH: (
            *_CONFLICT,
            "an atomic batch inside a transaction; so each of its rows is answered",
            True,
        ),
        Rule.TRANSACTION_COUNT: (
            "OTSServerBusy",
            503,
            "Server is busy.",
            "more transactions open in the instance than it may have",
            False,
        ),
        Rule.TRANSACTION_MEMORY: (
            "OTSServerBusy",
            503,
            "Server is busy.",
            "what is written in all open transactions takes more memory than it may",
            False,
        ),
    }
)
"""Code, status, text, what happened, and whether the text is the service's own, for each rule."""
