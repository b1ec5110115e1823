"""A row change inside a local transaction: made in memory by the code that makes any (change §B5).

The body of the change runs over the published view as the transaction has left it, so conditions,
increments, auto-increment values, versions and what is returned are those of any write. Observers
are told there too, because they may refuse the change; what they write is forgotten, and comes at
the commit, where they are told again.
"""

from collections.abc import Callable

from widerow.engine.tablestore.bodies import RowBody
from widerow.engine.tablestore.transactions.open_transaction import WrittenRows
from widerow.engine.tablestore.writes import RowWrite, write_row
from widerow.errors import Exhausted, InvalidRequest, Replan, Rule
from widerow.keys.layout import SPACE_SEQUENCES
from widerow.limits import (
    INT64_MAX,
    LOCAL_TRANSACTION_BYTES_MAX,
    LOCAL_TRANSACTION_ROW_BYTES,
    REPLANS_MAX,
)
from widerow.model.tablestore.answers import RowWritten
from widerow.model.tablestore.row import RowChange
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.values import KeyMarker, value_bytes
from widerow.storage.interface import Reader, Transaction
from widerow.storage.pending import PendingTransaction, WriteSet

__all__ = ["attempt_row", "keep_sequence", "make_row", "repeat_row", "sequence_of"]


def make_row(
    transaction: WrittenRows,
    view: Reader,
    make_body: Callable[[], RowBody],
    room: Callable[[], int],
) -> RowWritten:
    """Make a change inside a transaction; answers what it would answer outside.

    `view`: what is published. `make_body`: plans the change by the newest definition of the table.
    `room`: how many bytes all transactions together may still take.

    Raises as `attempt_row`, and `Exhausted(SERVER_BUSY)`. The transaction is unchanged then.
    """
    for _ in range(REPLANS_MAX):
        try:
            return attempt_row(transaction, view, make_body(), room)[1]
        except Replan:
            continue  # observers changed since the change was planned
    raise Exhausted(Rule.SERVER_BUSY)


def attempt_row(
    transaction: WrittenRows, view: Reader, body: RowBody, room: Callable[[], int]
) -> tuple[RowWrite, RowWritten]:
    """As `make_row`, of a change that was planned; the change as it was made, and its answer.

    Raises what any row change raises, and `InvalidRequest`: TRANSACTION_SCOPE, TRANSACTION_SIZE;
    `Exhausted(TRANSACTION_MEMORY)`; `Replan`. The transaction is unchanged then.
    """
    if body.shard != transaction.shard:
        raise InvalidRequest(TablestoreRule.TRANSACTION_SCOPE)
    size = _data_bytes(body.change)
    if transaction.data_bytes + size > LOCAL_TRANSACTION_BYTES_MAX:
        raise InvalidRequest(TablestoreRule.TRANSACTION_SIZE, limit=LOCAL_TRANSACTION_BYTES_MAX)
    changes = WriteSet()
    limit = body.context.key_bytes_max
    txn = PendingTransaction(transaction.reader(view), changes, body.shards, body.reads, limit)
    write = body.prepare(txn)
    written = body.make(txn, write)
    _keep(transaction, changes, write, room)
    return write, written


def repeat_row(transaction: WrittenRows, view: Reader, write: RowWrite) -> None:
    """Make a change again that was made in the transaction, in another process or request."""
    changes = WriteSet()
    shards = transaction.shard, sequence_of(transaction.shard)
    write_row(PendingTransaction(transaction.reader(view), changes, shards), write)
    _keep(transaction, changes, write, lambda: INT64_MAX)


def _keep(
    transaction: WrittenRows, changes: WriteSet, write: RowWrite, room: Callable[[], int]
) -> None:
    """Add a change that was made to a transaction. Raises `Exhausted(TRANSACTION_MEMORY)`."""
    own = _of_row(changes, (transaction.shard, sequence_of(transaction.shard)))
    held = _growth(transaction, own) + _request_bytes(write.change)
    if held > room():
        raise Exhausted(TablestoreRule.TRANSACTION_MEMORY)
    transaction.apply(own, write)
    transaction.data_bytes += _data_bytes(write.change)
    transaction.held_bytes += held


def keep_sequence(txn: Transaction, transaction: WrittenRows) -> None:
    """Keep the auto-increment values that a transaction has used, also if its rows are not kept."""
    key = sequence_of(transaction.shard)
    drawn = transaction.overlay.entries.get(key)
    if drawn is not None and (txn.get(key) or b"") < drawn:
        txn.put(key, drawn)


def sequence_of(shard: bytes) -> bytes:
    """The key of the last auto-increment value under a partition key value, from its shard."""
    return SPACE_SEQUENCES + shard[1:]


def _data_bytes(change: RowChange) -> int:
    """The bytes that a change adds to a transaction's size: names and values of key and cells."""
    key = sum(
        len(name.encode()) + (0 if isinstance(value, KeyMarker) else value_bytes(value))
        for name, value in change.key.columns
    )
    return key + change.data_size


def _request_bytes(change: RowChange) -> int:
    return LOCAL_TRANSACTION_ROW_BYTES + len(change.key.encoded) + change.body_bytes


def _of_row(changes: WriteSet, shards: tuple[bytes, bytes]) -> WriteSet:
    """The changes of the row and of its sequence, without those of observers."""
    own = WriteSet()
    own.entries = {key: value for key, value in changes.entries.items() if key.startswith(shards)}
    for start, stop in zip(changes.starts, changes.stops, strict=True):
        if start.startswith(shards):
            own.starts, own.stops = [*own.starts, start], [*own.stops, stop]
    return own


def _growth(transaction: WrittenRows, changes: WriteSet) -> int:
    """The bytes that the overlay grows by; a removed range frees nothing."""
    former = transaction.overlay.entries
    replaced = [former.get(key) for key in changes.entries]
    return changes.size_in_bytes() - sum([0 if value is None else len(value) for value in replaced])
