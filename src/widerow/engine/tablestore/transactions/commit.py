"""Commit of a local transaction: its row writes, made again in their order in one body.

All of them or none, in one write of the shard. Conditions were judged when each write was made, on
the rows as the transaction saw them; the rows below are still the same, so they hold again, by the
same clock and the same definition of the table. Observers are those of now.

A commit owns its transaction from the first time that its body runs, so nothing is added to what
another run of the body would miss. The transaction ends when its group has told how it ended
(`storage/interface.py`, rule 14). Where the store refuses the whole group and nothing was written,
it tells nobody: the transaction is then over when its time is.
"""

from collections.abc import Callable, Sequence
from typing import final

from widerow.engine.plan import Plan
from widerow.engine.tablestore.bodies import BodyContext, write_observed
from widerow.engine.tablestore.transactions.open_transaction import OpenTransaction, WrittenRows
from widerow.engine.tablestore.transactions.row_writes import keep_sequence, sequence_of
from widerow.engine.tablestore.writes import write_row
from widerow.errors import Conflict, Exhausted, NotFound, Replan, Rule
from widerow.keys.layout import ROW_PREFIX_BYTES
from widerow.limits import REPLANS_MAX
from widerow.model.tablestore.answers import RowWritten
from widerow.model.tablestore.rules import TablestoreRule
from widerow.model.tablestore.schema import Table
from widerow.storage.interface import Outcome, Transaction, Write

__all__ = ["Commit", "count_rows", "make_rows"]


@final
class Commit:
    """The commit of one transaction. `end` removes it from the open transactions."""

    __slots__ = ("_asked_us", "_attempts", "_context", "_end", "_transaction")

    def __init__(
        self,
        context: BodyContext,
        transaction: OpenTransaction,
        end: Callable[[OpenTransaction], object],
    ) -> None:
        """`transaction` may get more writes until the body runs."""
        self._context = context
        self._transaction = transaction
        self._end = end
        self._attempts = 0
        self._asked_us = context.clock.now_us()  # one time for all rows

    def plan(self) -> Plan[None]:
        """A plan of one write. It raises what the body raises, and the transaction has ended then.

        Only `Conflict(TRANSACTION_BUSY)` leaves it open. Raises `NotFound(TRANSACTION_ENDED)` where
        the table was dropped.
        """
        transaction, context = self._transaction, self._context
        table = context.tables.by_id(transaction.table.id)
        if table is None:
            self._end(transaction)
            raise NotFound(TablestoreRule.TRANSACTION_ENDED)
        shard = transaction.shard
        shards: tuple[bytes, ...] = (shard, sequence_of(shard))
        reads: tuple[bytes, ...] = ()
        if context.observers is not None:
            watch = context.observers.of(table)
            shards, reads = shards + watch.beside(shard), watch.reads

        def body(txn: Transaction) -> list[RowWritten]:
            return self._run(txn, table)

        write = Write(shards, body, settled=self._settle, doubted=self._doubt, reads=reads)
        return Plan((write,), self._finish, transaction.held_bytes, lambda _: self.plan())

    def _run(self, txn: Transaction, planned: Table) -> list[RowWritten]:
        transaction, context = self._transaction, self._context
        if not transaction.lock.is_held:
            raise NotFound(TablestoreRule.TRANSACTION_ENDED)
        transaction.commit_by(self)
        tables = planned, context.tables.current(planned, txn)
        made = make_rows(context, txn, transaction, tables, self._asked_us)
        keep_sequence(txn, transaction)
        return made

    def _settle(self, made: list[RowWritten]) -> None:
        """End the transaction: its rows are durable and visible. Count them."""
        transaction = self._transaction
        self._end(transaction)
        count_rows(self._context, transaction.table, transaction.shard, made)

    def _doubt(self) -> None:
        """End the transaction: its outcome is unknown until a later body reads the shard."""
        self._end(self._transaction)

    def _finish(self, outcomes: Sequence[Outcome[list[RowWritten]]]) -> None:
        error = outcomes[0].error
        if error is None:
            return
        if isinstance(error, Replan) and self._attempts < REPLANS_MAX:
            self._attempts += 1
            raise error
        if not (isinstance(error, Conflict) and error.rule is TablestoreRule.TRANSACTION_BUSY):
            self._end(self._transaction)
        if isinstance(error, Replan):
            raise Exhausted(Rule.SERVER_BUSY) from error
        raise error


def make_rows(
    context: BodyContext,
    txn: Transaction,
    rows: WrittenRows,
    tables: tuple[Table, Table],
    asked_us: int,
) -> list[RowWritten]:
    """Make the writes of a transaction in their order, and tell observers of each.

    `tables`: the definition that the commit was planned for, and the newest one. `asked_us`: when
    it was asked for. Raises what observers raise, and `Replan`.
    """
    observers = context.observers
    if observers is None:
        return [write_row(txn, write) for write in rows.writes]
    asked = rows.shard, asked_us
    return [write_observed(observers, txn, write, tables, asked) for write in rows.writes]


def count_rows(
    context: BodyContext, table: Table, shard: bytes, made: Sequence[RowWritten]
) -> None:
    """Count rows that are durable, for their partition."""
    partition_key = shard[ROW_PREFIX_BYTES:]
    for written in made:
        context.notes.add(
            table.id,
            partition_key,
            written.read_units,
            written.write_units,
            written.rows,
            written.size,
        )
