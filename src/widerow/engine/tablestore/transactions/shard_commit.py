"""Commit of a local transaction that lives in its shard: one transaction of the shard.

It makes the writes again in their order, as the commit in memory does (`commit.py`), and removes
the lock with them. So the lock says how a commit ended whose answer was lost: where it is gone the
transaction is over, and where it stands nothing was written and the commit may be repeated.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from widerow.engine.plan import Plan, single
from widerow.engine.tablestore.bodies import BodyContext
from widerow.engine.tablestore.shard_locks import lock_key, release_shard
from widerow.engine.tablestore.transactions.commit import count_rows, make_rows
from widerow.engine.tablestore.transactions.known_transactions import KnownTransactions, ShardRows
from widerow.engine.tablestore.transactions.row_writes import sequence_of
from widerow.engine.tablestore.transactions.shard_state import NamedTransaction, written_so_far
from widerow.errors import Replan, StorageFailure, WiderowError
from widerow.model.tablestore.answers import RowWritten
from widerow.model.tablestore.schema import Table
from widerow.storage.interface import Outcome, Transaction, Write
from widerow.storage.pending import PendingTransaction, WriteSet

__all__ = ["commit_in_shard"]


class _Ended(NamedTuple):
    """How a transaction ended: the rows that were made, or why none was."""

    made: list[RowWritten]
    refusal: WiderowError | None


def commit_in_shard(
    context: BodyContext,
    known: KnownTransactions,
    find: Callable[[], NamedTransaction],
    asked_us: int,
) -> Plan[None]:
    """A plan of one write; `find`: the transaction by the newest definition of its table.

    `asked_us`: when the commit was asked for. The plan raises `NotFound(TRANSACTION_ENDED)`, and
    what an observer refuses: then none of the rows is made, and the transaction is over.
    """
    planned, named = context.planned(), find()
    table, shard = named.table, named.shard
    shards: tuple[bytes, ...] = (shard, sequence_of(shard), lock_key(shard))
    reads = planned.reads(context.tables)
    if context.observers is not None:
        watch = context.observers.of(table)
        shards, reads = shards + watch.beside(shard), reads + watch.reads

    def body(txn: Transaction) -> _Ended:
        tables = table, planned.newest(context.tables, table, txn)
        txn.get_many((lock_key(shard), *known.keys_of(named.id)))  # in one round trip
        lock, rows = written_so_far(context, known, txn, named)
        changes = WriteSet()
        inner = PendingTransaction(txn, changes, shards, reads, context.key_bytes_max)
        ended = _made(context, inner, rows, tables, asked_us)
        if ended.refusal is None:
            changes.write_to(txn)
        release_shard(txn, shard, lock)
        return ended

    def settled(ended: _Ended) -> None:
        known.drop(named.id)
        count_rows(context, table, shard, ended.made)

    def finish(outcomes: Sequence[Outcome[_Ended]]) -> None:
        refusal = single(outcomes).refusal
        if refusal is not None:
            raise refusal

    write = Write(shards, body, settled=settled, reads=reads)
    again = partial(commit_in_shard, context, known, find, asked_us)
    return Plan((write,), finish, known.held_bytes(named.id), lambda _: again())


def _made(
    context: BodyContext,
    txn: Transaction,
    rows: ShardRows,
    tables: tuple[Table, Table],
    asked_us: int,
) -> _Ended:
    """Make the rows of a transaction in `txn`, or find out what refuses them."""
    if rows.writes:
        txn.get_many([write.key for write in rows.writes])  # those that others have written
    try:
        made = make_rows(context, txn, rows, tables, asked_us)
    except (Replan, StorageFailure):
        raise
    except WiderowError as error:
        return _Ended([], error)
    for written, read_units in zip(made, rows.read_units, strict=True):
        written.read_units = read_units  # of the conditions, which were judged before
    return _Ended(made, None)
